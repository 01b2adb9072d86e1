"""How commands print an answer: four lines, the same with the full text below them, or one JSON object."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from symshuffle.base.results import Bracket


def print_json(found: Any, inputs: dict[str, Any], **beside: Any) -> None:
    """Print an answer with what was asked, as one JSON object."""
    typer.echo(json.dumps({**found.to_dict(), **beside, "inputs": inputs}, indent=2))


def print_answer(
    found: Any,
    explanation: Iterable[tuple[str, str]],
    *,
    explain: bool,
    inputs: dict[str, Any],
    as_json: bool,
    asked: Iterable[tuple[str, str]] = (),
    beside: Mapping[str, Any] | None = None,
) -> None:
    """Print an answer in the form that was asked for.

    - ``found``: whatever has ``lines`` and ``to_dict``.
    - ``explanation``: what ``--explain`` adds to the first lines.
    """
    if as_json:
        print_json(found, inputs, **(beside or {}))
        return
    print_rows([*found.lines.rows, *asked, *(explanation if explain else ())])


def print_rows(rows: Iterable[tuple[str, str]]) -> None:
    """Print names and values below each other."""
    table = Table.grid(padding=(0, 2))
    for row in rows:
        table.add_row(*row)
    Console(highlight=False).print(table)


def width(bracket: Bracket) -> list[tuple[str, str]]:
    """The row of a bracket that is wider than was asked for."""
    if bracket.aimed is None:
        return []
    wide = float(bracket.relative_width or 0)
    return [("width", f"{wide:.1e}, wider than the {bracket.aimed:.1e} that was aimed at")]


def known(found: Any) -> list[tuple[str, str]]:
    """The rows that say how an answer is known, and for which adjacency."""
    bracket = found.bracket
    rigour = f"{bracket.rigour.value}, engine {bracket.engine}: {bracket.how}"
    return [("rigour", rigour), ("adjacency", found.neighbours.adjacency.value)]
