"""The options that say whom a bound covers: taught here once, for every command that bounds something."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Final, final

import typer

from symshuffle.base.choices import Adjacency
from symshuffle.base.numbers import parse_rational

if TYPE_CHECKING:
    from symshuffle.accountants.covering.covered import Whom

COVERING: Final[dict[str, Any]] = {
    "null": Annotated[
        str | None,
        typer.Option(
            "--null",
            help="For `channel`: output law of a null symbol, comma-separated. Neighbours then replace one input "
            "by it.",
        ),
    ],
    "adjacency": Annotated[
        str | None,
        typer.Option("--adjacency", help="Relation of neighbours: replace-one (default) or zero-out (a null symbol)."),
    ],
    "blanket": Annotated[
        str | None,
        typer.Option("--blanket", help="Blanket of a vector mechanism: mechanism (the null symbol's law) or largest."),
    ],
    "min_users": Annotated[
        str | None,
        typer.Option(
            "--min-users", metavar="M", help="At least M of the n users send a message; the bound at M holds."
        ),
    ],
    "dropout": Annotated[
        str | None,
        typer.Option(
            "--dropout", metavar="Q", help="Each other user drops out with probability Q, publicly; rel 1e-3."
        ),
    ],
    "group": Annotated[
        str | None,
        typer.Option("--group", metavar="G", help="Datasets may differ in the inputs of G users (default 1)."),
    ],
}
"""The options from which a command reads whom its bound covers: one for each field of a ``Covering``."""


@final
@dataclass(frozen=True, slots=True)
class CoveringOptions:
    """Whom a bound covers, as it was asked for on the command line."""

    written: dict[str, str]

    @property
    def whom(self) -> Whom:
        """The same as the keywords of a front door."""
        asked: dict[str, Any] = dict(self.written)
        if "null" in asked:
            asked["null"] = [parse_rational(part, "--null") for part in asked["null"].split(",")]
        return asked  # type: ignore[return-value]  # the keys are those of COVERING

    @property
    def of_all_users(self) -> bool:
        """Whether all users send a message, and neighbours differ in one."""
        return not {"min_users", "dropout", "group"} & self.written.keys()

    @property
    def replaces_one(self) -> bool:
        """Whether the adjacency is the default one."""
        return "null" not in self.written and self.written.get("adjacency") in (None, Adjacency.REPLACE_ONE)


NONE_ASKED: Final = CoveringOptions({})


def gathered(
    options: Mapping[str, Any], argument: str, made: Callable[[dict[str, Any]], object]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorator of commands that take several options, all None by default, as one argument."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        shown = inspect.signature(command, eval_str=True)

        @wraps(command)
        def run(**given: Any) -> None:
            values = {name: given.pop(name) for name in options}
            command(**given, **{argument: made(values)})

        here = inspect.Parameter.KEYWORD_ONLY
        more = [inspect.Parameter(name, here, default=None, annotation=option) for name, option in options.items()]
        parameters = []
        for name, one in shown.parameters.items():
            parameters += more if name == argument else [one.replace(kind=here)]
        run.__signature__ = shown.replace(parameters=parameters)  # type: ignore[attr-defined]  # what typer reads
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorate


def given_covering(values: dict[str, Any]) -> CoveringOptions:
    """The options of :data:`COVERING` that were given."""
    return CoveringOptions({name: values[name] for name in COVERING if values[name] is not None})


with_covering: Final = gathered(COVERING, "covering", given_covering)
"""Decorator of a command with the options of :data:`COVERING`, which it receives as ``covering``."""
