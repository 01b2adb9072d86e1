"""Counting: the cells of a pair of inputs over what stands in for the other users, from the classes of a mechanism.

There is one loop for all of them. What is asked for are *roles*: the inputs of both users that are compared and, where
the others all hold one input, that input; equal numbers stand for one and the same input. Without a third role the
others are represented by the blanket, which is smallest over all inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final, TypeAlias

import sympy as sp

from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Verdict
from symshuffle.decompositions.calculated import Cell
from symshuffle.mechanisms.display import factored
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.outputs import OutputClass
from symshuffle.mechanisms.symbolic import LAM, nonnegative, normal_form, positive, proportional, smallest

_KEPT: Final = 1 << 12
"""Expressions whose normal forms are kept: most stand in the cells of several roles."""

Ratios: TypeAlias = "tuple[sp.Expr, sp.Expr]"
"""Likelihood ratios (a/c, b/c) of a cell."""


def _cell(*weights: sp.Expr) -> Cell:
    """The cell of three weights in normal form."""
    a, b, c = map(_normal, weights)
    return Cell(a, b, c, None if c == 0 else (_normal(a / c), _normal(b / c)))


@cache
def count_cells(mechanism: Mechanism, roles: tuple[int, ...]) -> tuple[tuple[Cell, ...], sp.Expr]:
    """Merged cells of the weights in some roles, and the mass outside the blanket, in the open parameters."""
    slacks, over_blanket = mechanism.chart, len(roles) == 2
    cells: list[Cell] = []
    for output_class in mechanism.classes:
        if output_class.size == 0:
            continue
        floor = (_blanket(output_class, slacks),) if over_blanket else ()
        for shown, count in output_class.shown(mechanism.inputs, roles):
            if _normal(count) != 0:
                _merge(cells, _cell(*(count * weight for weight in (*shown, *floor))))
    if not over_blanket:
        return tuple(cells), sp.Integer(0)
    for weight in (weight for cell in cells for weight in (cell.a, cell.b, cell.c)):
        if nonnegative(weight, slacks) is Verdict.FALSE:
            raise Unsupported(f"the derived weight {weight} is negative: the mechanism is no channel in this range")
    beta = _normal(1 - sum(cell.c for cell in cells))
    chart = tuple(slacks.items())
    return tuple(cell.map(lambda e: _factored(e, chart)) for cell in cells), _factored(beta, chart)


def _blanket(output_class: OutputClass, slacks: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """Smallest probability of an output of the class over all inputs; counts must show which states occur in it."""
    occurring = []
    for state in output_class.states:
        if output_class.pair_counts is not None or positive(state.count, slacks) is Verdict.TRUE:
            occurring.append(state.probability)
        elif state.count != 0:
            raise Unsupported(
                f"whether any input is in state {state.name} of class {output_class.name} depends on the open "
                "parameters: give them values with .at(...)"
            )
    return smallest(occurring, slacks)


def _merge(cells: list[Cell], new: Cell) -> None:
    """Add a cell to a list, merging it with the cell of the same ratios if there is one."""
    if new.a == new.b == new.c == 0:
        return
    for i, cell in enumerate(cells):
        if _differ(cell.ratios, new.ratios):
            continue
        if _proportional((cell.a, cell.b, cell.c), (new.a, new.b, new.c)):
            cells[i] = _cell(cell.a + new.a, cell.b + new.b, cell.c + new.c)
            return
    cells.append(new)


def _differ(first: Ratios | None, second: Ratios | None) -> bool:
    """Whether two pairs of ratios are rationals at one point, and differ there: then they are no equal functions."""
    if first is None or second is None:
        return False
    ends = _at_a_point(first), _at_a_point(second)
    return ends[0] != ends[1] and all(value.is_Rational for pair in ends for value in pair)


@lru_cache(_KEPT)
def _at_a_point(ratios: Ratios) -> tuple[sp.Expr, ...]:
    """Values where lambda has rational roots, and other symbols are integers that their names give."""
    symbols = {symbol for ratio in ratios for symbol in ratio.free_symbols}
    point = {symbol: sp.Integer(5 + sum(map(ord, str(symbol))) % 31) for symbol in symbols - {LAM}}
    return tuple(ratio.xreplace({LAM: sp.Integer(1 << 12), **point}) for ratio in ratios)


_normal = lru_cache(_KEPT)(normal_form)
_proportional = lru_cache(_KEPT)(proportional)


@lru_cache(_KEPT)
def _factored(expression: sp.Expr, chart: tuple[tuple[sp.Symbol, sp.Expr], ...]) -> sp.Expr:
    return factored(expression, dict(chart))
