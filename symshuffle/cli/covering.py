"""The options that say whom a bound covers, and the option that writes its proof."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, final

import typer

from symshuffle.base.artifacts import check_destination, write_atomically
from symshuffle.base.choices import Adjacency
from symshuffle.base.numbers import parse_rational

if TYPE_CHECKING:
    from symshuffle.accountants.covering.covered import Whom


@final
@dataclass(frozen=True, slots=True)
class CoveringOptions:
    """Whom a bound covers, as it was asked for: an option for each field of a ``Covering``."""

    null: Annotated[
        str | None,
        typer.Option(
            "--null",
            help="For `channel`: output law of a null symbol, comma-separated. Neighbours then replace one input "
            "by it.",
        ),
    ] = None
    adjacency: Annotated[
        str | None,
        typer.Option("--adjacency", help="Relation of neighbours: replace-one (default) or zero-out (a null symbol)."),
    ] = None
    blanket: Annotated[
        str | None,
        typer.Option("--blanket", help="Blanket of a vector mechanism: mechanism (the null symbol's law) or largest."),
    ] = None
    min_users: Annotated[
        str | None,
        typer.Option(
            "--min-users", metavar="M", help="At least M of the n users send a message; the bound at M holds."
        ),
    ] = None
    dropout: Annotated[
        str | None,
        typer.Option(
            "--dropout", metavar="Q", help="Each other user drops out with probability Q, publicly; rel 1e-3."
        ),
    ] = None
    group: Annotated[
        str | None,
        typer.Option("--group", metavar="G", help="Datasets may differ in the inputs of G users (default 1)."),
    ] = None

    @property
    def written(self) -> dict[str, str]:
        """The options that were given."""
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def whom(self) -> Whom:
        """The same as the keywords of a front door."""
        asked: dict[str, Any] = self.written
        if self.null is not None:
            asked["null"] = [parse_rational(part, "--null") for part in self.null.split(",")]
        return asked  # type: ignore[return-value]  # the keys are the fields

    @property
    def of_all_users(self) -> bool:
        """Whether all users send a message, and neighbours differ in one."""
        return self.min_users is self.dropout is self.group is None

    @property
    def replaces_one(self) -> bool:
        """Whether the adjacency is the default one."""
        return self.null is None and self.adjacency in (None, Adjacency.REPLACE_ONE)


NONE_ASKED: Final = CoveringOptions()

Proof = Annotated[
    Path | None,
    typer.Option(
        "--proof",
        metavar="FILE",
        help="Write a file that proves the upper end; `symshuffle check FILE`, or bound.py alone, checks it.",
    ),
]


def write_proof(file: Path | None, source: Any, covering: CoveringOptions, **question: Any) -> None:
    """Write the proof of an answer where one is asked for, and say on standard error what was proved.

    The question is that of :func:`symshuffle.prove` if it names a level, otherwise that of ``prove_epsilon``.
    """
    if file is None:
        return
    from symshuffle.accountants.questions.proof import prove, prove_epsilon
    from symshuffle.ledger.recheck import bound

    check_destination(file, argument="--proof")
    door = prove if question.keys() & {"eps", "exp_eps"} else prove_epsilon
    content = door(source, **question, **covering.whom)
    write_atomically(file, json.dumps(content, indent=1) + "\n", argument="--proof")
    rounding = getattr(source, "rounding", None)
    of = "" if rounding is None else f"; it is about {rounding}"
    typer.echo(f"{file} proves {bound.check(content)}{of}", err=True)
