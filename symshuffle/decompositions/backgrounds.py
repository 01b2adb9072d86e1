r"""Real neighbouring datasets of constant backgrounds, and whether one pair of inputs dominates all others.

If all other users hold the same input :math:`x_2`, then :math:`D(M(X_0)\Vert M(X_1))` is exactly
:math:`\frac1n E[(\sum G_i)_+]` with :math:`A_2=R(x_2)` (decomposition, Theorem 14): no left-over, no loss. Every such
value is a lower bound on the privacy of the mechanism, attained by datasets that can be written down.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, TypeAlias

import sympy as sp

from symshuffle.base.choices import Direction, Others
from symshuffle.base.numbers import Real, Verdict
from symshuffle.decompositions.calculated import spreads
from symshuffle.decompositions.closed_forms import constant_datasets
from symshuffle.decompositions.counting import Ratios
from symshuffle.decompositions.symbolic import SymbolicDecomposition, evaluate_atom
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.symbolic import Parameter, chart, constant_of, normal_form, positive

Slope: TypeAlias = "tuple[tuple[Ratios, sp.Expr], ...]"
"""Likelihood ratios, and by how much their weight in the blanket grows with a parameter d that tells pairs apart."""

_PLACE: Final = {"first": 0, "second": 1, "third": 2}


def datasets(mechanism: Mechanism, others: Others, n: int) -> str:
    """The two datasets of a constant background in words: inputs are 0, 1, 2, or have the mechanism's numbers."""
    pair = mechanism.with_defaults().pair
    if not pair.listed:
        return constant_datasets(others, n, "" if pair.value is None else str(pair))
    names, place = pair.listed[0], _PLACE[others]
    return f"X0 = ({names[0]}, {names[place]} x {n - 1}), X1 = ({names[1]}, {names[place]} x {n - 1})"


def constant_backgrounds(mechanism: Mechanism) -> tuple[Others, ...]:
    """The constant backgrounds that the mechanism's description reaches, the one expected to be worst first."""
    return ("third", "second", "first") if reaches(mechanism.with_defaults()) else ("second", "first")


def reaches(mechanism: Mechanism) -> bool:
    """Whether the mechanism has a third input and can count the states of triples of inputs."""
    general = mechanism.general or mechanism
    known = all(c.knows(3) for c in general.classes) or all(c.size == 0 or c.knows(3) for c in mechanism.classes)
    return known and _more_than_two(mechanism.inputs, mechanism.parameters)


@lru_cache(maxsize=256)
def _more_than_two(inputs: sp.Expr, parameters: tuple[Parameter, ...]) -> bool:
    """Whether there are three inputs whatever the open parameters are: at every budget the same question."""
    return positive(inputs - 2, chart(parameters)) is Verdict.TRUE


def rises(slope: Slope, exp_eps: Real, direction: Direction, bits: int | None) -> bool:
    r"""Whether the law of G certainly rises with a parameter in convex order at a target ratio.

    Where likelihood ratios are free of d and weights affine in it, the laws of G are :math:`\mu_d=\mu_0+d\,\nu` for
    one signed measure :math:`\nu` of total mass and mean 0. If :math:`\int(v-t)_+\,d\nu(v)\ge0` for all t, then
    :math:`\mu_d` rises with d in convex order, and with it every :math:`E[(G_1+\dots+G_n)_+]`. The integral is
    piecewise linear in t, 0 at both ends, with kinks at the atoms: finitely many numbers decide.
    """
    target = constant_of(exp_eps, "exp_eps")
    atoms = []
    for ratios, weight in slope:
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
    return tuple((ratios, rate) for ratios, rate in atoms if rate != 0)
