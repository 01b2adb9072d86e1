r"""The largest rational information measure as a formula in ``lam``, proved on intervals with exact end points.

The function of a column is piecewise linear (hockey-stick, total variation) or a quotient (chi-square, Fisher
information). In both cases the program over orbits of subsets has polynomial coefficients in ``lam``, and
:mod:`symshuffle.design.parametric.walk` isolates the breakpoints exactly. Formulas are for minus the measure, which is
a minimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import sympy as sp

from symshuffle.base.errors import Unsupported
from symshuffle.design.information.measures import Measure
from symshuffle.design.parametric.program import ParametricColumn, ParametricProgram, program_of_costs
from symshuffle.geometry.groups import SymmetryGroup


def rational_program(measure: Measure, group: SymmetryGroup) -> ParametricProgram:
    """The program of minus a measure, over orbits of exchangeable inputs.

    - ``group``: permutations of exchangeable inputs, such as ``measure.symmetry()``.
    """
    if measure.positive_part is not None:
        gain = [sp.QQ(-v.numerator, v.denominator) for v in measure.positive_part]
        return program_of_costs([gain, [sp.QQ(0)] * len(gain)], group)
    if measure.quotient is not None:
        return _quotient_program(*measure.quotient, group)
    raise Unsupported(
        f"an exact formula of {measure.name}: only hockey-stick, chi-square and Fisher information have one"
    )


def _quotient_program(top: Sequence[Fraction], bottom: Sequence[Fraction], group: SymmetryGroup) -> ParametricProgram:
    columns = []
    for orbit in group.subset_orbits():
        (a0, a1), (b0, b1) = (_affine(form, orbit.representative) for form in (top, bottom))
        price, scale = (-a0 * a0, -2 * a0 * a1, -a1 * a1), (b0, b1)
        if not b0 and not b1:  # the function is 0 where the bottom vanishes
            price, scale = (Fraction(0),) * 3, (Fraction(1), Fraction(0))
        exact = [tuple(sp.QQ(c.numerator, c.denominator) for c in part) for part in (price, scale)]
        shares = tuple(Fraction(r, orbit.size) for r in orbit.incidences)
        columns.append(ParametricColumn(orbit.representative, 0, orbit.size, (exact[0],), shares, exact[1]))
    return ParametricProgram(tuple(columns), tuple(len(block) for block in group.input_orbits()))


def _affine(form: Sequence[Fraction], subset: int) -> tuple[Fraction, Fraction]:
    """A linear form on the column of a subset, as constant and coefficient of ``lam``."""
    inside = sum((v for x, v in enumerate(form) if subset >> x & 1), start=Fraction(0))
    return sum(form, start=Fraction(0)) - inside, inside
