"""Options about who sends messages, and the answers of delta and epsilon that they change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.console import Console
from rich.table import Table

from symshuffle.cli.arguments import LAW_BITS
from symshuffle.errors import InputError, Unsupported
from symshuffle.numbers import as_integer, parse_rational

if TYPE_CHECKING:
    from symshuffle.accountants.covered import Reduction
    from symshuffle.accountants.participation import Population
    from symshuffle.choices import Question
    from symshuffle.engines.registry import Engine
    from symshuffle.results import Rigour

DEFAULT_REL: Final = 1e-6
"""Default of ``--rel``, which stands for a wider one with dropout."""

MinUsers = Annotated[
    str | None,
    typer.Option("--min-users", metavar="M", help="At least M of the n users send a message; the bound at M holds."),
]
Dropout = Annotated[
    str | None,
    typer.Option("--dropout", metavar="Q", help="Each other user drops out with probability Q, publicly; rel 1e-3."),
]
Group = Annotated[
    str | None, typer.Option("--group", metavar="G", help="Datasets may differ in the inputs of G users (default 1).")
]


def population(users: int, min_users: str | None, dropout: str | None, group: str | None) -> Population | None:
    """Who sends messages; None where nothing is said about it.

    Raises
    ------
    InputError
        If a number is out of its range, in the words of the command line.
    """
    if min_users is None and dropout is None and group is None:
        return None
    from symshuffle.accountants.participation import Population

    if min_users is not None and dropout is not None:
        raise InputError("--min-users, --dropout", f"{min_users}, {dropout}", "one of the two, not both")
    return Population(
        users,
        None if min_users is None else as_integer(min_users, "--min-users", 1, users),
        None if dropout is None else probability(dropout),
        1 if group is None else as_integer(group, "--group", 1, users),
    )


def probability(text: str) -> Any:
    """The probability of dropping out, checked."""
    found = parse_rational(text, "--dropout")
    if not 0 <= found < 1:
        raise InputError("--dropout", text, "a probability in [0, 1)")
    return found


def show(
    quantity: str,
    who: Population,
    reduced: Reduction,
    wanted: Mapping[str, Any],
    asked: tuple[Question, Engine | None, Rigour | None, float, bool],
    inputs: dict[str, Any],
    as_json: bool,
) -> None:
    """Answer for a population and print it.

    Raises
    ------
    Unsupported
        If a confirmation is asked for.
    """
    from symshuffle.accountants import participation

    direction, engine, rigour, rel, confirm = asked
    if confirm:
        raise Unsupported("--confirm recomputes the bound for n users who all send; leave --min-users, ... away")
    answer = participation.delta if quantity == "delta" else participation.epsilon
    found = answer(
        reduced,
        who,
        **wanted,
        direction=direction,
        engine=engine,
        rigour=rigour,
        rel=participation.REL if who.dropout and rel == DEFAULT_REL else rel,
        bits=LAW_BITS,
    )
    if as_json:
        typer.echo(json.dumps(found.to_dict() | {"inputs": inputs}, indent=2))
        return
    ends = found.bracket.decimals(9)
    table = Table.grid(padding=(0, 2))
    table.add_row(f"{found.quantity} <=", ends["upper"])
    table.add_row("lower end of the bound", ends["lower"])
    if found.bracket.aimed is not None:
        wide = float(found.bracket.relative_width or 0)
        table.add_row("width", f"{wide:.1e}, wider than the {found.bracket.aimed:.1e} that was aimed at")
    table.add_row("rigour", f"{found.bracket.rigour.value}, engine {found.bracket.engine}: {found.how}")
    table.add_row("adjacency", found.neighbours.adjacency.value)
    table.add_row("meaning", found.about)
    Console(highlight=False).print(table)
