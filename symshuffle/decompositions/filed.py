"""Decompositions of named mechanisms from the cells on file, without deriving them again."""

from __future__ import annotations

from functools import cache

import sympy as sp

from symshuffle.base.choices import Others, choice
from symshuffle.decompositions.closed_forms import lines_on_file
from symshuffle.decompositions.counting import Cell
from symshuffle.decompositions.symbolic import SymbolicDecomposition, counted_decomposition
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.registry import is_named
from symshuffle.mechanisms.symbolic import LAM


def filed_decomposition(mechanism: Mechanism, *, others: Others | str = "blanket") -> SymbolicDecomposition:
    """As :func:`counted_decomposition`, from the cells on file where a named mechanism has some: nothing is derived."""
    held = choice(Others, others, "others")
    growing = any(parameter.has_limit for parameter in mechanism.parameters)
    general = mechanism.general or mechanism
    kept = lines_on_file(general.name, growing, held) if is_named(general) else None
    if kept is None:
        return counted_decomposition(mechanism, others=held)
    known, blanket = dict(mechanism.fixed), held is Others.BLANKET
    cells, beta = _read_cells(general, growing, held)
    fixed = [cell.map(lambda weight: weight.subs(known)) for cell in cells]
    told = tuple(cell for cell in fixed if not cell.a == cell.b == cell.c == 0)
    return SymbolicDecomposition(mechanism, told, beta.subs(known) if blanket else sp.Integer(0))


@cache
def _read_cells(general: Mechanism, growing: bool, others: Others) -> tuple[tuple[Cell, ...], sp.Expr]:
    """The cells on file and the left-over, as expressions in the parameters."""
    named = {"lam" if p.symbol == LAM else p.name: p.symbol for p in general.parameters}

    def read(text: str) -> sp.Expr:
        return sp.sympify(text, locals=named)

    cells = []
    for a, b, c, ratios in lines_on_file(general.name, growing, others) or ():
        cells.append(Cell(read(a), read(b), read(c), None if ratios is None else (read(ratios[0]), read(ratios[1]))))
    if others is not Others.BLANKET:
        return tuple(cells), sp.Integer(0)
    return tuple(cells[:-1]), cells[-1].c
