r"""The largest information measure as a formula in ``lam``.

For relative entropy and mutual information a column contributes a sum of rational functions of ``lam`` times logarithms
of linear ones. A basis of the program over orbits of subsets gives weights and value as such sums, exactly; but where
it stops being optimal is a transcendental number. So optimality is certified on a closed interval with rational ends,
by balls that cover it: there every reduced cost is positive. Between the intervals of two neighbouring formulas lies a
breakpoint, isolated to a relative width of about :math:`10^{-9}`. Towards ``lam = 1`` reduced costs vanish like
:math:`(\lambda-1)^2`: common powers of :math:`\lambda-1` are divided out, and precision grows with the distance.

A sum of rational functions of ``lam`` times logarithms is kept by logarithms of primes and of monic linear
polynomials, which are independent over the rational functions: one that vanishes identically is recognised as zero.
That a sum is positive on an interval is shown by Taylor's theorem in balls that cover it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, TypeAlias, final

import flint
import sympy as sp
from sympy.polys.matrices import DomainMatrix

from symshuffle.base.errors import CertificateError, NotDecided, Unsupported
from symshuffle.base.lp import LinearProgram
from symshuffle.base.numbers import Ball, to_arb, working_precision
from symshuffle.base.results import well_formed, within
from symshuffle.channels.geometry.extremal import check_lam
from symshuffle.channels.geometry.groups import SymmetryGroup
from symshuffle.channels.geometry.linprog import full_bases
from symshuffle.channels.geometry.subset_orbits import SubsetOrbit
from symshuffle.design.information.measures import LogTerm, Measure, check_exchangeable
from symshuffle.design.parametric.program import ParametricColumn, ParametricProgram, program_of_costs
from symshuffle.mechanisms.symbolic import LAM

Logarithm: TypeAlias = "tuple[int, Fraction] | None"
"""The logarithm of ``slope * lam + constant``; None stands for the factor 1."""

LogSum: TypeAlias = "dict[Logarithm, Any]"
"""Polynomials in ``lam`` by the logarithm that they multiply."""


_TOLERANCE: Final = Fraction(1, 1 << 34)
"""Width, in units of :func:`unit_at`, at which the search for the end of an interval stops."""


RING: Final = sp.QQ[LAM]


def column_terms(logs: Iterable[LogTerm], subset: int) -> tuple[tuple[Any, Any, Any], ...]:
    """The value of one column, logarithms of the same ratio taken together."""
    merged: dict[tuple[Any, Any], Any] = {}
    lam = RING.gens[0]
    for term in logs:
        ends = (affine(form, subset) for form in term)
        factor, top, bottom = (RING(sp.QQ(*a.as_integer_ratio())) + lam * sp.QQ(*b.as_integer_ratio()) for a, b in ends)
        if factor and top != bottom:
            merged[top, bottom] = merged.get((top, bottom), RING.zero) + factor
    return tuple((factor, top, bottom) for (top, bottom), factor in merged.items())


def affine(form: Sequence[Fraction], subset: int) -> tuple[Fraction, Fraction]:
    """A linear form on the column of a subset, as constant and coefficient of ``lam``."""
    inside = sum((v for x, v in enumerate(form) if subset >> x & 1), start=Fraction(0))
    return sum(form, start=Fraction(0)) - inside, inside


def log_sum(terms: Iterable[tuple[Any, Any, Any]]) -> LogSum:
    """A sum of multiples of log(top / bottom), by logarithms of primes and of ``lam + c``, which are independent."""
    total: LogSum = {}
    for factor, top, bottom in terms:
        for sign, polynomial in ((1, top), (-1, bottom)):
            leading = polynomial.LC
            if polynomial.degree() > 0:
                shift = polynomial.coeff(1) / leading
                add_to(total, {(1, Fraction(int(shift.numerator), int(shift.denominator))): factor * sign}, RING.one)
            for part, direction in ((leading.numerator, sign), (leading.denominator, -sign)):
                for prime, power in sp.factorint(int(part)).items():
                    add_to(total, {(0, Fraction(int(prime))): factor * (direction * power)}, RING.one)
    return total


def add_to(total: LogSum, other: LogSum, scale: Any) -> None:
    """Add a multiple of another sum, in place; what cancels is left out."""
    for key, polynomial in other.items():
        changed = total.get(key, RING.zero) + polynomial * scale
        if changed:
            total[key] = changed
        else:
            total.pop(key, None)


def away_from_one(total: LogSum) -> LogSum:
    """A sum of logarithms divided by ``lam - 1`` as long as all its polynomials are divisible: its sign is the same."""
    factor = RING.gens[0] - RING.one
    while True:
        divided = {key: divmod(polynomial, factor) for key, polynomial in total.items()}
        if any(rest for _, rest in divided.values()):
            return total
        total = {key: quotient for key, (quotient, _) in divided.items()}


def evaluate_sum(total: LogSum, lam: flint.arb) -> flint.arb:
    """A sum of logarithms at a ball."""
    found = flint.arb(0)
    for key, polynomial in total.items():
        value = _polynomial(polynomial)(lam)
        found += value if key is None else value * (key[0] * lam + to_arb(key[1])).log()
    return found


def _polynomial(polynomial: Any) -> flint.arb_poly:
    lam = RING.gens[0]
    coefficients = [polynomial.coeff(lam**k if k else 1) for k in range(polynomial.degree() + 1)]
    return flint.arb_poly([to_arb(Fraction(int(c.numerator), int(c.denominator))) for c in coefficients])


def positive_between(
    conditions: Sequence[LogSum], bits: int, *, order: int = 8
) -> Callable[[Fraction, Fraction], bool]:
    r"""A test whether all conditions are certainly positive between two levels, by Taylor's theorem.

    On a ball ``B`` around ``c`` a function lies in :math:`\sum_{k<K} f_k(c)(B-c)^k + f_K(B)(B-c)^K` with its Taylor
    coefficients; reduced costs are differences of large terms, so that :math:`f(B)` alone would be far too wide.

    - ``order``: order of the Taylor expansions behind the certificates.
    """
    with working_precision(bits):
        prepared = [[(key, _polynomial(p)) for key, p in condition.items()] for condition in conditions]
        constants = {key: to_arb(key[1]) for condition in conditions for key in condition if key}

    def coefficients(at: flint.arb) -> list[flint.arb_poly]:
        shift = flint.arb_poly([at, 1])
        logs: dict[Logarithm, flint.arb_poly] = {None: flint.arb_poly([1])}
        for key, constant in constants.items():  # Taylor coefficients of the logarithm of a linear function
            value = key[0] * at + constant
            powers = [-((-1 / value) ** k) / k for k in range(1, order + 1)] if key[0] else []
            logs[key] = flint.arb_poly([value.log(), *powers])
        return [sum((p(shift) * logs[key] for key, p in c), start=flint.arb_poly()) for c in prepared]

    def holds(first: Fraction, last: Fraction) -> bool:
        with working_precision(bits):
            lam = to_arb(first).union(to_arb(last))
            centre = lam.mid()
            away = lam - centre
            for inner, outer in zip(coefficients(centre), coefficients(lam), strict=True):
                taylor = flint.arb_poly([*(inner[k] for k in range(order)), outer[order]])
                if not taylor(away) > 0:
                    return False
            return True

    return holds


def reach(holds: Callable[[Fraction, Fraction], bool], start: Fraction, end: Fraction) -> Fraction:
    """How far towards the end the conditions are certified, without a gap from the start."""
    at, step = start, (end - start) / 8
    while at != end and abs(step) > _TOLERANCE * unit_at(at):
        unit = 1 << (48 + _halvings(at + step))
        goal = Fraction(round((at + step) * unit), unit)  # a short denominator, so that ends stay readable
        if abs(goal - start) > abs(end - start):
            goal = end
        at, step = (goal, 2 * step) if holds(at, goal) else (at, step / 4)
    return at


def covered(holds: Callable[[Fraction, Fraction], bool], low: Fraction, high: Fraction) -> bool:
    """Whether the conditions are certified on all of an interval, by halves down to the tolerance of the search."""
    whole = holds(low, high)
    if whole or high - low <= _TOLERANCE * unit_at(low) / 64:
        return whole
    middle = (low + high) / 2
    return covered(holds, low, middle) and covered(holds, middle, high)


def unit_at(level: Fraction) -> Fraction:
    """What widths at a level are compared with: the level, or, next to 1, four times its distance from 1."""
    return min(level, 4 * (level - 1))


def _halvings(level: Fraction) -> int:
    """How many times a distance of 1/4 is halved until it is below the distance of a level from 1; 0 beyond 5/4."""
    return max(0, math.ceil(1 / (4 * (level - 1))).bit_length()) if level < Fraction(5, 4) else 0


def bits_at(level: Fraction, *, least: int = 160) -> int:
    """The precision in which conditions are examined: their terms may cancel to the fourth power of the distance."""
    return least + 4 * _halvings(level)


@final
@dataclass(frozen=True, slots=True)
class _LogPiece:
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
) -> _LogPiece:
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
            raise Unsupported(f"{measure.name} has no formula here: it is no sum of logarithms of linear forms")
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

    def piece(self, lam: Fraction, levels: tuple[Fraction, Fraction]) -> _LogPiece:
        for basis in full_bases(self.at(lam)):
            solved = self.solved(basis)
            holds = positive_between(solved.conditions, bits_at(min(lam, *levels)))
            if holds(lam, lam):
                lower, upper = (reach(holds, lam, end) for end in levels)
                return self.shown(solved, (lower, upper))
        raise NotDecided(f"no basis proposed at lam = 1 + {float(lam - 1):.6g} is certified to be optimal there")

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
        return LinearProgram(costs, entries, ("==",) * self.rows, rhs)

    def shown(self, solved: _Solved, ends: tuple[Fraction, Fraction]) -> _LogPiece:
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
        return _LogPiece(ends[0], ends[1], value, tuple(shown), count, self.measure, self.group, basis)


def rational_program(measure: Measure, group: SymmetryGroup) -> ParametricProgram:
    """The program of minus a rational measure, over orbits of a group of exchangeable inputs.

    Columns are piecewise linear (hockey-stick, total variation) or quotients (chi-square, Fisher information): both
    have polynomial coefficients in ``lam``; :mod:`symshuffle.design.parametric.homotopy` isolates the breakpoints.
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
