r"""Whether a parameter that tells pairs of inputs apart spreads the law of G, so that one pair dominates all others.

Let the likelihood ratios of a decomposition be free of a parameter d, and its weights affine in d. The laws of G are
then :math:`\mu_d=\mu_0+d\,\nu` for one signed measure :math:`\nu` of total mass and mean 0. If
:math:`\int(v-t)_+\,d\nu(v)\ge0` for all t, then :math:`\mu_d` rises with d in convex order, and with it every
:math:`E[(G_1+\dots+G_n)_+]`. As a function of t the integral is piecewise linear, 0 at both ends, with kinks at the
atoms: finitely many numbers decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import sympy as sp

from symshuffle.base.choices import Direction, choice
from symshuffle.base.numbers import Real
from symshuffle.decompositions.calculated import spreads
from symshuffle.decompositions.counting import Ratios
from symshuffle.decompositions.symbolic import SymbolicDecomposition, evaluate_atom
from symshuffle.mechanisms.symbolic import constant_of, normal_form


@final
@dataclass(frozen=True, slots=True)
class Slope:
    """The signed measure: likelihood ratios, and by how much their weight in the blanket grows with the parameter."""

    atoms: tuple[tuple[Ratios, sp.Expr], ...]

    def spreads(self, exp_eps: Real, direction: Direction | str, bits: int | None) -> bool:
        """Whether the law of G certainly rises with the parameter in convex order at a target ratio."""
        direction = choice(Direction, direction, "direction")
        target = constant_of(exp_eps)
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
