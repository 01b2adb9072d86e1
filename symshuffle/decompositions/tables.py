"""Components of a decomposition keyed by their likelihood ratios, and a leaf's share of a common budget.

Ratios stay symbolic and merge exactly; weights become numbers as soon as the budget is one.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import sympy as sp

from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Ball, Exp, Real
from symshuffle.decompositions.counting import Cell, Ratios
from symshuffle.decompositions.symbolic import evaluate_atom
from symshuffle.mechanisms.symbolic import LAM, constant_of


def root(lam: Real, order: int) -> Real:
    """An exact root of a ratio cap."""
    if isinstance(lam, Exp):
        return Exp(lam.exponent / order)
    root = constant_of(lam) ** sp.Rational(1, order)
    if not root.is_Rational:
        raise Unsupported(f"lam = {lam} has no rational root of order {order}: the explicit channel is not exact")
    return Fraction(int(root.p), int(root.q))


@final
@dataclass(frozen=True, slots=True)
class Budget:
    """A leaf's share of the total budget: the root of order ``order`` of ``lam``, as a symbol or as a number."""

    order: int
    lam: Real | None
    bits: int | None

    @property
    def symbolic(self) -> bool:
        """Whether weights stay expressions."""
        return self.lam is None and self.bits is None

    def split(self, parts: int) -> Budget:
        """The share of each of some coordinates."""
        return Budget(self.order * parts, self.lam, self.bits)

    def ratio(self, expression: sp.Expr) -> sp.Expr:
        """A likelihood ratio at this share."""
        if self.lam is None:
            return expression.subs(LAM, LAM ** sp.Rational(1, self.order))
        exact = isinstance(self.lam, Exp)
        share = (
            constant_of(root(self.lam, self.order)) if exact else constant_of(self.lam) ** sp.Rational(1, self.order)
        )
        return expression.subs(LAM, share)

    def weight(self, expression: sp.Expr) -> Any:
        """A weight at this share: a number once the budget is one, or there is nothing open in the expression."""
        share = self.ratio(expression)
        return share if self.symbolic or share.free_symbols else evaluate_atom(share, self.bits)


@final
@dataclass(frozen=True, slots=True)
class Table:
    """Components keyed by likelihood ratios: ((a/c, b/c), c), those without blanket as (a, b), and the left-over."""

    charged: tuple[tuple[Ratios, Any], ...]
    singular: tuple[tuple[Any, Any], ...]
    beta: Any

    @classmethod
    def of(cls, cells: Sequence[Cell], beta: sp.Expr, budget: Budget) -> Table:
        """The table of a leaf at its share of the budget."""
        charged = [
            ((budget.ratio(cell.ratios[0]), budget.ratio(cell.ratios[1])), budget.weight(cell.c))
            for cell in cells
            if cell.ratios is not None
        ]
        singular = [(budget.weight(cell.a), budget.weight(cell.b)) for cell in cells if cell.ratios is None]
        return cls(_merged(charged), tuple(singular), budget.weight(beta))

    def __mul__(self, other: Table) -> Table:
        both = itertools.product(self.charged, other.charged)
        charged = [((r0 * q0, r1 * q1), c * d) for ((r0, r1), c), ((q0, q1), d) in both]
        lost = itertools.chain(
            itertools.product(self.rows, other.singular), itertools.product(self.singular, other.charged_rows)
        )
        singular = tuple((a * x, b * y) for (a, b), (x, y) in lost)
        beta = self.beta + other.beta - self.beta * other.beta
        return Table(_merged(charged), singular, beta)

    @property
    def charged_rows(self) -> list[tuple[Any, Any]]:
        """Weights (a, b) of the components that the blanket charges."""
        return [(_weight(r0, c), _weight(r1, c)) for (r0, r1), c in self.charged]

    @property
    def rows(self) -> list[tuple[Any, Any]]:
        """Weights (a, b) of all components."""
        return [*self.charged_rows, *self.singular]

    def scaled(self, weight: Any) -> Table:
        """The table of a part that is drawn with this probability."""
        return Table(
            tuple((ratios, weight * c) for ratios, c in self.charged),
            tuple((weight * a, weight * b) for a, b in self.singular),
            weight * self.beta,
        )

    def __add__(self, other: Table) -> Table:
        return Table(
            _merged((*self.charged, *other.charged)), (*self.singular, *other.singular), self.beta + other.beta
        )


def _weight(ratio: sp.Expr, c: Any) -> Any:
    """The product of a symbolic ratio and a weight, in the kind of the weight."""
    if isinstance(c, sp.Basic):
        return ratio * c
    return evaluate_atom(ratio, c.bits if isinstance(c, Ball) else None) * c


def _merged(charged: Sequence[tuple[Ratios, Any]]) -> tuple[tuple[Ratios, Any], ...]:
    found: dict[Ratios, Any] = {}
    for ratios, c in charged:
        found[ratios] = found[ratios] + c if ratios in found else c
    return tuple((ratios, c) for ratios, c in found.items() if not (isinstance(c, sp.Basic | Fraction) and c == 0))
