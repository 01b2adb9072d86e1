"""Counting: the cells of a pair of inputs over what stands in for the other users, from the classes of a mechanism.

There is one loop for all of them. What is asked for are *roles*: the inputs of both users that are compared and, where
the others all hold one input, that input; equal numbers stand for one and the same input. Without a third role the
others are represented by the blanket, which is smallest over all inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias, final

import sympy as sp

from symshuffle.base.choices import Others
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Verdict
from symshuffle.mechanisms.display import factored
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.outputs import OutputClass
from symshuffle.mechanisms.symbolic import nonnegative, normal_form, positive, proportional, smallest

Ratios: TypeAlias = "tuple[sp.Expr, sp.Expr]"
"""Likelihood ratios (a/c, b/c) of a cell."""


def roles_of(differs: bool, others: Others) -> tuple[int, ...]:
    """The roles of the inputs, where the two differ or not, and the others hold this."""
    pair = (0, 1) if differs else (0, 0)
    held = {Others.BLANKET: (), Others.FIRST: (0,), Others.SECOND: pair[1:], Others.THIRD: (max(pair) + 1,)}
    return (*pair, *held[others])


@final
@dataclass(frozen=True, slots=True)
class Cell:
    """One component of a symbolic decomposition.

    - ``a``, ``b``, ``c``: its weight in both rows of the pair and in the blanket.
    - ``ratios``: the likelihood ratios ``(a/c, b/c)``; None for a cell that the blanket does not charge.
    """

    a: sp.Expr
    b: sp.Expr
    c: sp.Expr
    ratios: Ratios | None

    @classmethod
    def of(cls, a: sp.Expr, b: sp.Expr, c: sp.Expr) -> Cell:
        """The cell of three weights in normal form."""
        return cls(a, b, c, None if c == 0 else (normal_form(a / c), normal_form(b / c)))

    def map(self, function: Callable[[sp.Expr], sp.Expr]) -> Cell:
        """The cell with a function applied to every expression in it."""
        ratios = None if self.ratios is None else (function(self.ratios[0]), function(self.ratios[1]))
        return Cell(function(self.a), function(self.b), function(self.c), ratios)


@cache
def count_cells(mechanism: Mechanism, roles: tuple[int, ...]) -> tuple[tuple[Cell, ...], sp.Expr]:
    """The merged cells of some roles, and the weight of the left-over, in the parameters left open."""
    slacks, over_blanket = mechanism.chart, len(roles) == 2
    cells: list[Cell] = []
    for output_class in mechanism.classes:
        if output_class.size == 0:
            continue
        floor = (_blanket(output_class, slacks),) if over_blanket else ()
        for shown, count in output_class.shown(mechanism.inputs, roles):
            if normal_form(count) != 0:
                _merge(cells, Cell.of(*(normal_form(count * weight) for weight in (*shown, *floor))))
    if not over_blanket:
        return tuple(cells), sp.Integer(0)
    for weight in (weight for cell in cells for weight in (cell.a, cell.b, cell.c)):
        if nonnegative(weight, slacks) is Verdict.FALSE:
            raise Unsupported(f"the derived weight {weight} is negative: the mechanism is no channel in this range")
    beta = normal_form(1 - sum(cell.c for cell in cells))
    return tuple(cell.map(lambda e: factored(e, slacks)) for cell in cells), factored(beta, slacks)


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
        if proportional((cell.a, cell.b, cell.c), (new.a, new.b, new.c)):
            cells[i] = Cell.of(*(normal_form(x + y) for x, y in ((cell.a, new.a), (cell.b, new.b), (cell.c, new.c))))
            return
    cells.append(new)
