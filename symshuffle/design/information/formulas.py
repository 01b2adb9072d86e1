r"""The largest information measure as a formula in ``lam``.

For relative entropy and mutual information a column contributes a sum of rational functions of ``lam`` times logarithms
of linear ones. A basis of the program over orbits of subsets gives weights and value as such sums, exactly; but where
it stops being optimal is a transcendental number. So optimality is certified on a closed interval with rational ends,
by balls that cover it: there every reduced cost is positive. Between the intervals of two neighbouring formulas lies a
breakpoint, isolated to a relative width of about :math:`10^{-9}`. Towards ``lam = 1`` reduced costs vanish like
:math:`(\lambda-1)^2`: common powers of :math:`\lambda-1` are divided out, and precision grows with the distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, final

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from symshuffle.base.errors import CertificateError, NotDecided, Unsupported
from symshuffle.base.lp import LinearProgram, Sense
from symshuffle.base.numbers import Ball, to_arb, working_precision
from symshuffle.base.results import well_formed, within
from symshuffle.channels.geometry.extremal import check_lam
from symshuffle.channels.geometry.groups import SymmetryGroup
from symshuffle.channels.geometry.linprog import full_bases
from symshuffle.channels.geometry.subset_orbits import SubsetOrbit
from symshuffle.design.information.log_sums import (
    RING,
    LogSum,
    add_to,
    affine,
    away_from_one,
    bits_at,
    column_terms,
    covered,
    evaluate_sum,
    log_sum,
    positive_between,
    reach,
)
from symshuffle.design.information.measures import Measure, check_exchangeable
from symshuffle.design.parametric.program import ParametricColumn, ParametricProgram, program_of_costs


@final
@dataclass(frozen=True, slots=True)
class LogPiece:
    """A formula that is optimal on a closed interval of levels, certified in ball arithmetic.

    - ``weights``: the optimal orbits with the weight of one subset.
    - ``conditions``: how many functions were shown to be positive on the interval.
    - ``basis``: representatives of the orbits of the optimal basis: all that the proof needs besides the measure.
    """

    lower: Fraction
    upper: Fraction
    value: sp.Expr
    weights: tuple[tuple[SubsetOrbit, sp.Expr], ...]
    conditions: int
    measure: Measure = field(repr=False)
    group: SymmetryGroup = field(repr=False)
    basis: tuple[int, ...] = field(repr=False)

    @well_formed()
    def verify(self) -> None:
        """Solve for the basis again and show on the whole interval that it is optimal, from the measure alone."""
        if not 1 < self.lower <= self.upper:
            raise CertificateError("levels", f"[{self.lower}, {self.upper}] is no interval of levels above 1")
        with within("group"):
            check_exchangeable(self.measure, self.group)
        program = _LogProgram.of(self.measure, self.group)
        places = {orbit.representative: j for j, orbit in enumerate(program.orbits)}
        if len(set(self.basis)) != program.rows or not places.keys() >= set(self.basis):
            raise CertificateError("basis", f"{self.basis} are not {program.rows} representatives of orbits")
        solved = program.solved([places[y] for y in self.basis])
        shown = program.shown(solved, (self.lower, self.upper))
        if dict(shown.weights) != dict(self.weights):
            raise CertificateError("weights", "they are not those of the basis")
        if shown.value != self.value:
            raise CertificateError("value", f"{self.value} is shown, {shown.value} is that of the basis")
        holds = positive_between(solved.conditions, bits_at(self.lower))
        if shown.conditions != self.conditions or not covered(holds, self.lower, self.upper):
            raise CertificateError("conditions", f"not all {shown.conditions} are shown to be positive on the interval")


def logarithmic_piece(
    measure: Measure, lam: Fraction, levels: tuple[Fraction, Fraction], *, group: SymmetryGroup | None = None
) -> LogPiece:
    """The formula that is optimal at one level, and the part of an interval around it on which that is certified."""
    return _LogProgram.of(measure, group or measure.symmetry()).piece(check_lam(lam), levels)


@final
@dataclass(frozen=True, slots=True)
class _Solved:
    """A basis (places of orbits), its weights times a common denominator, and what has to be positive around it."""

    basis: tuple[int, ...]
    weights: tuple[Any, ...]
    det: Any
    conditions: tuple[LogSum, ...]


@final
@dataclass(frozen=True, slots=True)
class _LogProgram:
    """One column per orbit of subsets, one row per orbit of inputs, in polynomials of ``lam``."""

    measure: Measure
    group: SymmetryGroup
    orbits: tuple[SubsetOrbit, ...]
    shares: tuple[tuple[Fraction, ...], ...]
    """By orbit, the part of its subsets that hold any one input of each orbit of inputs."""
    coefficients: tuple[tuple[Any, ...], ...]
    terms: tuple[tuple[tuple[Any, Any, Any], ...], ...]
    """The value of a column: factor, top and bottom of every logarithm."""

    @classmethod
    def of(cls, measure: Measure, group: SymmetryGroup) -> _LogProgram:
        if not measure.logs:
            raise Unsupported(f"a formula of {measure.name}: it is no sum of logarithms of linear forms")
        orbits = tuple(group.subset_orbits())
        lam, one = RING.gens[0], RING.one
        rows = range(len(group.input_orbits()))
        shares = tuple(tuple(Fraction(o.incidences[i], o.size) for i in rows) for o in orbits)
        coefficients = tuple(
            tuple(one + sp.QQ(s.numerator, s.denominator) * (lam - one) for s in row) for row in shares
        )
        terms = tuple(column_terms(measure.logs, o.representative) for o in orbits)
        return cls(measure, group, orbits, shares, coefficients, terms)

    @property
    def rows(self) -> int:
        """How many orbits of inputs there are."""
        return len(self.coefficients[0])

    def solved(self, basis: Sequence[int]) -> _Solved:
        """The weights of a basis, and what must not be negative: weights and reduced costs, times squares."""
        rows, others = len(basis), [j for j in range(len(self.orbits)) if j not in basis]
        matrix = DomainMatrix([[self.coefficients[j][i] for j in basis] for i in range(rows)], (rows, rows), RING)
        sides = [[RING.one] * rows, *(self.coefficients[j] for j in others)]
        right = DomainMatrix([[side[i] for side in sides] for i in range(rows)], (rows, len(sides)), RING)
        found, det = matrix.solve_den(right)
        weights, *columns = ([found[k, s].element for k in range(rows)] for s in range(len(sides)))
        conditions: list[LogSum] = [{None: weight * det} for weight in weights if weight]
        sums = [log_sum(terms) for terms in self.terms]
        for j, numerators in zip(others, columns, strict=True):
            total: LogSum = {}
            for i, y in zip(basis, numerators, strict=True):
                add_to(total, sums[i], y * det)
            add_to(total, sums[j], -det * det)
            if total:
                conditions.append(total)
        return _Solved(tuple(basis), tuple(weights), det, tuple(map(away_from_one, conditions)))

    def piece(self, lam: Fraction, levels: tuple[Fraction, Fraction]) -> LogPiece:
        for basis in full_bases(self.at(lam)):
            solved = self.solved(basis)
            holds = positive_between(solved.conditions, bits_at(min(lam, *levels)))
            if holds(lam, lam):
                lower, upper = (reach(holds, lam, end) for end in levels)
                return self.shown(solved, (lower, upper))
        raise NotDecided(f"no basis that was proposed at lam = 1 + {float(lam - 1):.6g} is optimal there for certain")

    def at(self, lam: Fraction) -> LinearProgram:
        r"""A rational program at one level whose costs are close to the true ones; it can only propose a basis.

        An entry is :math:`1+(\lambda-1)s`. From every row but the first the first one is subtracted, and the difference
        divided by :math:`\lambda-1`: the bases are the same, and the rows do not become parallel as ``lam`` goes to 1.
        """
        bits = bits_at(lam)
        with working_precision(bits):
            values = [evaluate_sum(log_sum(terms), to_arb(lam)) for terms in self.terms]
            costs = tuple(-Ball.from_arb(value, bits).midpoint for value in values)
        first = [1 + (lam - 1) * shares[0] for shares in self.shares]
        entries = tuple(
            ((0, entry), *((i, share - shares[0]) for i, share in enumerate(shares) if i))
            for entry, shares in zip(first, self.shares, strict=True)
        )
        rhs = (Fraction(1), *(Fraction(0),) * (self.rows - 1))
        return LinearProgram(costs, entries, (Sense.EQ,) * self.rows, rhs)

    def shown(self, solved: _Solved, ends: tuple[Fraction, Fraction]) -> LogPiece:
        """The piece in SymPy."""
        ratios = RING.get_field()
        value, shown = sp.Integer(0), []
        for j, weight in zip(solved.basis, solved.weights, strict=True):
            if weight:
                mass = sp.factor(ratios.to_sympy(ratios(weight) / ratios(solved.det)))
                logs = (
                    sp.factor(RING.to_sympy(f)) * sp.log(sp.factor(ratios.to_sympy(ratios(t) / ratios(b))))
                    for f, t, b in self.terms[j]
                )
                value += mass * sum(logs, start=sp.Integer(0))
                shown.append((self.orbits[j], sp.factor(mass / self.orbits[j].size)))
        basis = tuple(self.orbits[j].representative for j in solved.basis)
        count = len(solved.conditions)
        return LogPiece(ends[0], ends[1], value, tuple(shown), count, self.measure, self.group, basis)


def rational_program(measure: Measure, group: SymmetryGroup) -> ParametricProgram:
    """The program of minus a rational measure, over orbits of a group of exchangeable inputs.

    Columns are piecewise linear (hockey-stick, total variation) or quotients (chi-square, Fisher information): both
    have polynomial coefficients in ``lam``, of which :mod:`symshuffle.design.parametric.walk` isolates the breakpoints.
    """
    if measure.positive_part is not None:
        gain = [sp.QQ(-v.numerator, v.denominator) for v in measure.positive_part]
        return program_of_costs([gain, [sp.QQ(0)] * len(gain)], group)
    if measure.quotient is None:
        raise Unsupported(
            f"an exact formula of {measure.name}: only hockey-stick, chi-square and Fisher information have one"
        )
    columns = []
    for orbit in group.subset_orbits():
        (a0, a1), (b0, b1) = (affine(form, orbit.representative) for form in measure.quotient)
        price, scale = (-a0 * a0, -2 * a0 * a1, -a1 * a1), (b0, b1)
        if not b0 and not b1:  # the function is 0 where the bottom vanishes
            price, scale = (Fraction(0),) * 3, (Fraction(1), Fraction(0))
        exact = [tuple(sp.QQ(c.numerator, c.denominator) for c in part) for part in (price, scale)]
        shares = tuple(Fraction(r, orbit.size) for r in orbit.incidences)
        columns.append(ParametricColumn(orbit.representative, 0, orbit.size, (exact[0],), shares, exact[1]))
    return ParametricProgram(tuple(columns), tuple(len(block) for block in group.input_orbits()))
