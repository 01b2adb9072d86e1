r"""Real neighbouring datasets of constant backgrounds, and whether one pair of inputs dominates all others.

If all other users hold the same input :math:`x_2`, then :math:`D(M(X_0)\Vert M(X_1))` is exactly
:math:`\frac1n E[(\sum G_i)_+]` with :math:`A_2=R(x_2)` (decomposition, Theorem 14): no left-over, no loss. Every such
value is a lower bound on the privacy of the mechanism, attained by datasets that can be written down.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, final

import sympy as sp

from symshuffle.base.choices import Direction, Others, replace_choice
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Real, Verdict
from symshuffle.decompositions.calculated import spreads
from symshuffle.decompositions.closed_forms import constant_datasets
from symshuffle.decompositions.counting import Ratios
from symshuffle.decompositions.symbolic import SymbolicDecomposition, counted_decomposition, evaluate_atom
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.symbolic import Parameter, chart, constant_of, normal_form, positive

_PLACE: Final = {"first": 0, "second": 1, "third": 2}


@final
@dataclass(frozen=True, slots=True)
class ConstantBackground:
    """A pair of datasets that differ in one user while all others hold one and the same input."""

    mechanism: Mechanism
    others: Others

    def __post_init__(self) -> None:
        replace_choice(Others, self, "others")
        if self.others == "blanket":
            raise InputError("others", self.others, "third, second or first: an input that all others hold")

    @property
    def cells(self) -> SymbolicDecomposition:
        """The exact decomposition of the shuffled pair; it has no left-over."""
        return counted_decomposition(self.mechanism, others=self.others)

    def datasets(self, n: int) -> str:
        """The two datasets in words, for inputs called 0, 1, 2, or by their numbers where the mechanism has them."""
        pair = self.mechanism.pair
        if not pair.listed:
            return constant_datasets(self.others, n, "" if pair.value is None else str(pair))
        names, place = pair.listed[0], _PLACE[self.others]
        return f"X0 = ({names[0]}, {names[place]} x {n - 1}), X1 = ({names[1]}, {names[place]} x {n - 1})"


def constant_backgrounds(mechanism: Mechanism) -> Iterator[ConstantBackground]:
    """The constant backgrounds that the mechanism's description reaches, the one expected to be worst first."""
    mechanism = mechanism.with_defaults()
    third = ("third",) if reaches(mechanism) else ()
    for others in (*third, "second", "first"):
        yield ConstantBackground(mechanism, others)


def reaches(mechanism: Mechanism) -> bool:
    """Whether the mechanism has a third input and can count the states of triples of inputs."""
    general = mechanism.general or mechanism
    known = all(c.knows(3) for c in general.classes) or all(c.size == 0 or c.knows(3) for c in mechanism.classes)
    return known and _more_than_two(mechanism.inputs, mechanism.parameters)


@lru_cache(maxsize=256)
def _more_than_two(inputs: sp.Expr, parameters: tuple[Parameter, ...]) -> bool:
    """Whether there are three inputs whatever the open parameters are: at every budget the same question."""
    return positive(inputs - 2, chart(parameters)) is Verdict.TRUE


@final
@dataclass(frozen=True, slots=True)
class Slope:
    r"""Likelihood ratios, and by how much their weight in the blanket grows with a parameter d that tells pairs apart.

    Where the ratios are free of d and the weights affine in it, the laws of G are :math:`\mu_d=\mu_0+d\,\nu` for one
    signed measure :math:`\nu` of total mass and mean 0. If :math:`\int(v-t)_+\,d\nu(v)\ge0` for all t, then
    :math:`\mu_d` rises with d in convex order, and with it every :math:`E[(G_1+\dots+G_n)_+]`. The integral is
    piecewise linear in t, 0 at both ends, with kinks at the atoms: finitely many numbers decide.
    """

    atoms: tuple[tuple[Ratios, sp.Expr], ...]

    def spreads(self, exp_eps: Real, direction: Direction, bits: int | None) -> bool:
        """Whether the law of G certainly rises with the parameter in convex order at a target ratio."""
        target = constant_of(exp_eps, "exp_eps")
        atoms = []
        for ratios, weight in self.atoms:
            first, second = ratios if direction == "forward" else ratios[::-1]
            atoms.append((evaluate_atom(first - target * second, bits), evaluate_atom(weight, bits)))
        return spreads(atoms)


def slope_in(decomposition: SymbolicDecomposition, parameter: sp.Symbol) -> Slope | None:
    """The slope of the laws of G in an open parameter; None where they are not affine in it."""
    atoms: list[tuple[Ratios, sp.Expr]] = []
    for cell in decomposition.cells:
        if cell.ratios is None or any(ratio.has(parameter) for ratio in cell.ratios):
            return None
        rate = normal_form(sp.diff(cell.c, parameter))
        if rate.has(parameter):
            return None
        atoms.append((cell.ratios, rate))
    rate = normal_form(sp.diff(decomposition.beta, parameter))
    if rate.has(parameter):
        return None
    atoms.append(((sp.Integer(0), sp.Integer(0)), rate))
    sums = [sum(rate for _, rate in atoms), *(sum(r[side] * rate for r, rate in atoms) for side in (0, 1))]
    if any(normal_form(total) != 0 for total in sums):
        return None
    return Slope(tuple((ratios, rate) for ratios, rate in atoms if rate != 0))
