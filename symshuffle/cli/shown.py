"""How commands print an answer: as one JSON object, or as a table that ends with what every answer says."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from symshuffle.base.results import Bracket


def print_json(found: Any, inputs: dict[str, Any], **beside: Any) -> None:
    """Print an answer with what was asked, as one JSON object."""
    typer.echo(json.dumps({**found.to_dict(), **beside, "inputs": inputs}, indent=2))


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
