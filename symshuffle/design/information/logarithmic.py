r"""The largest logarithmic information measure as a formula in ``lam``, certified by balls on stated intervals.

For relative entropy and mutual information a column contributes a sum of rational functions of ``lam`` times logarithms
of linear ones. A basis of the program over orbits of subsets gives the weights as rational functions and the value as
such a sum, exactly; but where the basis stops being optimal is a transcendental number. So optimality is certified on
a closed interval with rational ends, by balls that cover it: there every reduced cost is positive. Between the
intervals of two neighbouring formulas lies a breakpoint, isolated to a relative width of about :math:`10^{-9}`.

Reduced costs are kept as sums over logarithms of primes and of monic linear polynomials, which are independent over the
rational functions; one that vanishes identically (two columns that are always equally good) is recognised as zero.

Towards ``lam = 1`` all columns become parallel and reduced costs vanish like :math:`(\lambda-1)^2`. Powers of
:math:`\lambda-1` common to all terms of a condition are therefore divided out, precision grows with
:math:`\log\frac1{\lambda-1}`, and widths are relative to the distance from 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, TypeAlias, final

import flint
import sympy as sp
from sympy.polys.matrices import DomainMatrix

from symshuffle.design.information.maximum import check_exchangeable
from symshuffle.design.information.measures import LogTerm, Measure
from symshuffle.errors import CertificateError, InputError, NotDecided, Unsupported
from symshuffle.geometry.extremal import check_lam
from symshuffle.geometry.groups import SubsetOrbit, SymmetryGroup
from symshuffle.geometry.linprog import full_bases
from symshuffle.lp import LinearProgram, Sense
from symshuffle.mechanisms.symbolic import LAM
from symshuffle.numbers import Ball, to_arb, working_precision
from symshuffle.results import well_formed, within

Logarithm: TypeAlias = "tuple[int, Fraction] | None"
"""The logarithm of ``slope * lam + constant``; None stands for the factor 1."""

LogSum: TypeAlias = "dict[Logarithm, Any]"
"""Polynomials in ``lam`` by the logarithm that they multiply."""

_BITS: Final = 160
_TOLERANCE: Final = Fraction(1, 1 << 34)
"""Width, in units of :func:`_unit`, at which the search for the end of an interval stops."""

_ORDER: Final = 8
"""Order of the Taylor expansions behind the certificates."""

_GAP: Final = Fraction(1, 1 << 28)
"""Width, in units of :func:`_unit`, of a gap between two pieces that counts as the isolation of one breakpoint."""

_SHARES: Final = tuple(Fraction(n, 89) for n in (1, 41, 11, 71))
"""Where in an interval the next formula is looked for: levels that are unlikely to be breakpoints."""

_RING: Final = sp.QQ[LAM]


@final
@dataclass(frozen=True, slots=True)
class LogPiece:
    """A formula that is optimal on a closed interval of levels, certified in ball arithmetic.

    Parameters
    ----------
    lower, upper : Fraction
        The interval; the formula may be optimal a little beyond.
    value : sympy.Expr
        The largest value of the measure as a function of ``lam``.
    weights : tuple of (SubsetOrbit, sympy.Expr)
        The optimal orbits with the weight of one subset.
    conditions : int
        How many functions were shown to be positive on the interval.
    measure : Measure
        What is maximised.
    group : SymmetryGroup
        Permutations of exchangeable inputs by which the program was reduced.
    basis : tuple of int
        The representatives of the orbits that make the optimal basis: all that the proof needs besides the measure.
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
        """Solve for the basis again and show on the whole interval that it is optimal, from the measure alone.

        Raises
        ------
        CertificateError
            At ``levels`` (not an interval above 1), ``group`` where inputs are not exchangeable, ``basis`` (an orbit
            that is none), ``weights`` or ``value`` where the formulas shown are others than those of the basis, or
            ``conditions`` (their number, or one is not shown to be positive on the interval).
        """
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
        holds = _positive(solved.conditions, _bits(self.lower))
        if shown.conditions != self.conditions or not _covered(holds, self.lower, self.upper):
            raise CertificateError("conditions", f"not all {shown.conditions} are shown to be positive on the interval")


@final
@dataclass(frozen=True, slots=True)
class LogFormula:
    """The maximum on a stated interval of levels, as pieces with small gaps in which the breakpoints lie.

    Parameters
    ----------
    pieces : tuple of LogPiece
        In rising order.
    levels : (Fraction, Fraction)
        The interval.
    """

    pieces: tuple[LogPiece, ...]
    levels: tuple[Fraction, Fraction]

    @well_formed()
    def verify(self) -> None:
        """Check every piece, and that no more than small gaps of the interval are left between them.

        Raises
        ------
        CertificateError
            At ``pieces[i]`` (a piece fails, or is of another measure than the first) or ``gaps[i]`` (pieces do not
            follow each other closely, or the ends of the interval).
        """
        for i, piece in enumerate(self.pieces):
            with within(f"pieces[{i}]"):
                piece.verify()
            if piece.measure != self.pieces[0].measure:
                raise CertificateError(f"pieces[{i}].measure", "it is another one than that of the first piece")
        ends = [self.levels[0], *(end for piece in self.pieces for end in (piece.lower, piece.upper)), self.levels[1]]
        for i, (before, after) in enumerate(zip(ends[::2], ends[1::2], strict=True)):
            if not 0 <= after - before <= _GAP * _unit(before):
                raise CertificateError(f"gaps[{i}]", f"from {before} to {after}")

    @property
    def breakpoints(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """Intervals that isolate the breakpoints: one formula is optimal below, another one above."""
        pairs = zip(self.pieces[:-1], self.pieces[1:], strict=True)
        return tuple((before.upper, after.lower) for before, after in pairs)

    def breakpoints_eps0(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """The same as budgets ``eps0 = log(lam)`` in nats, rounded outward.

        Examples
        --------
        >>> from symshuffle.design.information.measures import kullback_leibler
        >>> p, q = (Fraction(3, 7), Fraction(5, 14), Fraction(3, 14)), (Fraction(2, 7), Fraction(1, 7), Fraction(4, 7))
        >>> formula = logarithmic_formula(kullback_leibler(p, q), (Fraction(10), Fraction(40)))
        >>> [(f"{float(low):.6f}", f"{float(high):.6f}") for low, high in formula.breakpoints_eps0()]
        [('3.180653', '3.180653')]
        """
        with working_precision(_BITS):
            ends = [tuple(Ball.from_arb(to_arb(level).log(), _BITS) for level in pair) for pair in self.breakpoints]
        return tuple((first.lower, last.upper) for first, last in ends)


def logarithmic_formula(
    measure: Measure, levels: tuple[Fraction, Fraction], *, group: SymmetryGroup | None = None
) -> LogFormula:
    """The largest value of a logarithmic measure on a closed interval of levels above 1.

    Raises
    ------
    Unsupported
        If the measure is not a sum of logarithms.
    NotDecided
        If no formula could be certified in some part of the interval.
    """
    lower, upper = check_lam(levels[0]), check_lam(levels[1])
    if not lower < upper:
        raise InputError("levels", f"{lower}, {upper}", "two levels, the smaller first")
    program = _LogProgram.of(measure, group or measure.symmetry())
    pieces = list(_fill(program, lower, upper))
    return LogFormula(tuple(pieces), (lower, upper))


def _fill(program: _LogProgram, lower: Fraction, upper: Fraction) -> Iterator[LogPiece]:
    """Certified pieces in an interval of levels, until only gaps of the size of the tolerance are left."""
    if upper - lower <= _GAP * _unit(lower):
        return
    piece = _piece_inside(program, lower, upper)
    yield from _fill(program, lower, piece.lower)
    yield piece
    yield from _fill(program, piece.upper, upper)


def _piece_inside(program: _LogProgram, lower: Fraction, upper: Fraction) -> LogPiece:
    for share in _SHARES:
        try:
            return program.piece(_short(lower + (upper - lower) * share), (lower, upper))
        except NotDecided:
            continue
    raise NotDecided(f"no formula was certified inside 1 + {float(lower - 1):.12g} < lam < 1 + {float(upper - 1):.12g}")


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
        lam, one = _RING.gens[0], _RING.one
        rows = range(len(group.input_orbits()))
        shares = tuple(tuple(Fraction(o.incidences[i], o.size) for i in rows) for o in orbits)
        coefficients = tuple(
            tuple(one + sp.QQ(s.numerator, s.denominator) * (lam - one) for s in row) for row in shares
        )
        terms = tuple(_terms(measure.logs, o.representative) for o in orbits)
        return cls(measure, group, orbits, shares, coefficients, terms)

    @property
    def rows(self) -> int:
        """How many orbits of inputs there are."""
        return len(self.coefficients[0])

    def solved(self, basis: Sequence[int]) -> _Solved:
        """The weights of a basis and its conditions."""
        ones = [_RING.one] * len(basis)
        others = [j for j in range(len(self.orbits)) if j not in basis]
        (weights, *columns), det = self._solve(basis, [ones, *(self.coefficients[j] for j in others)])
        conditions = self._conditions(basis, weights, dict(zip(others, columns, strict=True)), det)
        return _Solved(tuple(basis), tuple(weights), det, tuple(conditions))

    def piece(self, lam: Fraction, levels: tuple[Fraction, Fraction]) -> LogPiece:
        for basis in full_bases(self.at(lam)):
            solved = self.solved(basis)
            holds = _positive(solved.conditions, _bits(min(lam, *levels)))
            if holds(lam, lam):
                lower, upper = (_reach(holds, lam, end) for end in levels)
                return self.shown(solved, (lower, upper))
        raise NotDecided(f"no basis that was proposed at lam = 1 + {float(lam - 1):.6g} is optimal there for certain")

    def at(self, lam: Fraction) -> LinearProgram:
        r"""A rational program at one level whose costs are close to the true ones; it can only propose a basis.

        An entry is :math:`1+(\lambda-1)s`. From every row but the first the first one is subtracted, and the difference
        divided by :math:`\lambda-1`: the bases are the same, and the rows do not become parallel as ``lam`` goes to 1.
        """
        bits = _bits(lam)
        with working_precision(bits):
            values = [_evaluate(_log_sum(terms), to_arb(lam)) for terms in self.terms]
            costs = tuple(-Ball.from_arb(value, bits).midpoint for value in values)
        first = [1 + (lam - 1) * shares[0] for shares in self.shares]
        entries = tuple(
            ((0, entry), *((i, share - shares[0]) for i, share in enumerate(shares) if i))
            for entry, shares in zip(first, self.shares, strict=True)
        )
        rhs = (Fraction(1), *(Fraction(0),) * (self.rows - 1))
        return LinearProgram(costs, entries, (Sense.EQ,) * self.rows, rhs)

    def _solve(self, basis: Sequence[int], sides: Sequence[Sequence[Any]]) -> tuple[list[list[Any]], Any]:
        """Columns in terms of a basis: numerators by column, and their common denominator."""
        rows = len(basis)
        matrix = DomainMatrix([[self.coefficients[j][i] for j in basis] for i in range(rows)], (rows, rows), _RING)
        right = DomainMatrix([[side[i] for side in sides] for i in range(rows)], (rows, len(sides)), _RING)
        found, det = matrix.solve_den(right)
        return [[found[k, s].element for k in range(rows)] for s in range(len(sides))], det

    def _conditions(
        self, basis: Sequence[int], weights: Sequence[Any], others: Mapping[int, Sequence[Any]], det: Any
    ) -> list[LogSum]:
        """Weights and reduced costs, times the square of the determinant, that are not identically zero."""
        conditions: list[LogSum] = [{None: weight * det} for weight in weights if weight]
        sums = [_log_sum(terms) for terms in self.terms]
        for j, numerators in others.items():
            total: LogSum = {}
            for i, y in zip(basis, numerators, strict=True):
                _add(total, sums[i], y * det)
            _add(total, sums[j], -det * det)
            if total:
                conditions.append(total)
        return list(map(_away_from_one, conditions))

    def shown(self, solved: _Solved, ends: tuple[Fraction, Fraction]) -> LogPiece:
        """The piece in SymPy."""
        ratios = _RING.get_field()
        value, shown = sp.Integer(0), []
        for j, weight in zip(solved.basis, solved.weights, strict=True):
            if weight:
                mass = sp.factor(ratios.to_sympy(ratios(weight) / ratios(solved.det)))
                logs = (
                    sp.factor(_RING.to_sympy(f)) * sp.log(sp.factor(ratios.to_sympy(ratios(t) / ratios(b))))
                    for f, t, b in self.terms[j]
                )
                value += mass * sum(logs, start=sp.Integer(0))
                shown.append((self.orbits[j], sp.factor(mass / self.orbits[j].size)))
        basis = tuple(self.orbits[j].representative for j in solved.basis)
        count = len(solved.conditions)
        return LogPiece(ends[0], ends[1], value, tuple(shown), count, self.measure, self.group, basis)


def _terms(logs: Iterable[LogTerm], subset: int) -> tuple[tuple[Any, Any, Any], ...]:
    """The value of one column, logarithms of the same ratio taken together."""
    merged: dict[tuple[Any, Any], Any] = {}
    for term in logs:
        factor, top, bottom = (_affine(form, subset) for form in (term.factor, term.top, term.bottom))
        if factor and top != bottom:
            merged[top, bottom] = merged.get((top, bottom), _RING.zero) + factor
    return tuple((factor, top, bottom) for (top, bottom), factor in merged.items())


def _affine(form: Sequence[Fraction], subset: int) -> Any:
    """A linear form on the column of a subset, as a polynomial in ``lam``."""
    inside = sum((v for x, v in enumerate(form) if subset >> x & 1), start=Fraction(0))
    outside = sum(form, start=Fraction(0)) - inside
    constant, slope = (_RING(sp.QQ(v.numerator, v.denominator)) for v in (outside, inside))
    return constant + slope * _RING.gens[0]


def _log_sum(terms: Iterable[tuple[Any, Any, Any]]) -> LogSum:
    """A sum of logarithms of ratios, by independent logarithms."""
    total: LogSum = {}
    for factor, top, bottom in terms:
        for sign, polynomial in ((1, top), (-1, bottom)):
            leading = polynomial.LC
            if polynomial.degree() > 0:
                shift = polynomial.coeff(1) / leading
                _add(total, {(1, Fraction(int(shift.numerator), int(shift.denominator))): factor * sign}, _RING.one)
            for part, direction in ((leading.numerator, sign), (leading.denominator, -sign)):
                for prime, power in sp.factorint(int(part)).items():
                    _add(total, {(0, Fraction(int(prime))): factor * (direction * power)}, _RING.one)
    return total


def _add(total: LogSum, other: LogSum, scale: Any) -> None:
    for key, polynomial in other.items():
        changed = total.get(key, _RING.zero) + polynomial * scale
        if changed:
            total[key] = changed
        else:
            total.pop(key, None)


def _away_from_one(total: LogSum) -> LogSum:
    """A sum of logarithms divided by ``lam - 1`` as long as all its polynomials are divisible: its sign is the same."""
    factor = _RING.gens[0] - _RING.one
    while True:
        divided = {key: divmod(polynomial, factor) for key, polynomial in total.items()}
        if any(rest for _, rest in divided.values()):
            return total
        total = {key: quotient for key, (quotient, _) in divided.items()}


def _evaluate(total: LogSum, lam: flint.arb) -> flint.arb:
    """A sum of logarithms at a ball."""
    found = flint.arb(0)
    for key, polynomial in total.items():
        found += _polynomial(polynomial)(lam) * _logarithm(key, lam)
    return found


def _polynomial(polynomial: Any) -> flint.arb_poly:
    lam = _RING.gens[0]
    coefficients = [polynomial.coeff(lam**k if k else 1) for k in range(polynomial.degree() + 1)]
    return flint.arb_poly([to_arb(Fraction(int(c.numerator), int(c.denominator))) for c in coefficients])


def _logarithm(key: Logarithm, lam: flint.arb) -> flint.arb:
    if key is None:
        return flint.arb(1)
    slope, constant = key
    return (slope * lam + to_arb(constant)).log()


def _positive(conditions: Sequence[LogSum], bits: int) -> Callable[[Fraction, Fraction], bool]:
    r"""A test whether all conditions are certainly positive between two levels, by Taylor's theorem.

    On a ball ``B`` around ``c`` a function lies in :math:`\sum_{k<K} f_k(c)(B-c)^k + f_K(B)(B-c)^K` with its Taylor
    coefficients; reduced costs are differences of large terms, so that :math:`f(B)` alone would be far too wide.
    """
    with working_precision(bits):
        prepared = [[(key, _polynomial(p)) for key, p in condition.items()] for condition in conditions]
        constants = {key: to_arb(key[1]) for condition in conditions for key in condition if key}

    def coefficients(at: flint.arb) -> list[flint.arb_poly]:
        shift = flint.arb_poly([at, 1])
        logs: dict[Logarithm, flint.arb_poly] = {None: flint.arb_poly([1])}
        logs |= {key: _log_series(key[0], key[0] * at + constant) for key, constant in constants.items()}
        return [sum((p(shift) * logs[key] for key, p in c), start=flint.arb_poly()) for c in prepared]

    def holds(first: Fraction, last: Fraction) -> bool:
        with working_precision(bits):
            lam = to_arb(first).union(to_arb(last))
            centre = lam.mid()
            away = lam - centre
            for inner, outer in zip(coefficients(centre), coefficients(lam), strict=True):
                taylor = flint.arb_poly([*(inner[k] for k in range(_ORDER)), outer[_ORDER]])
                if not taylor(away) > 0:
                    return False
            return True

    return holds


def _log_series(slope: int, value: flint.arb) -> flint.arb_poly:
    """The Taylor coefficients of the logarithm of a linear function, from its value and slope."""
    if not slope:
        return flint.arb_poly([value.log()])
    powers = [-((-1 / value) ** k) / k for k in range(1, _ORDER + 1)]
    return flint.arb_poly([value.log(), *powers])


def _reach(holds: Callable[[Fraction, Fraction], bool], start: Fraction, end: Fraction) -> Fraction:
    """How far towards the end the conditions are certified, without a gap from the start."""
    at, step = start, (end - start) / 8
    while at != end and abs(step) > _TOLERANCE * _unit(at):
        goal = _short(at + step)
        if abs(goal - start) > abs(end - start):
            goal = end
        at, step = (goal, 2 * step) if holds(at, goal) else (at, step / 4)
    return at


def _covered(holds: Callable[[Fraction, Fraction], bool], low: Fraction, high: Fraction) -> bool:
    """Whether the conditions are certified on all of an interval, by halves down to the tolerance of the search."""
    whole = holds(low, high)
    if whole or high - low <= _TOLERANCE * _unit(low) / 64:
        return whole
    middle = (low + high) / 2
    return _covered(holds, low, middle) and _covered(holds, middle, high)


def _unit(level: Fraction) -> Fraction:
    """What widths at a level are compared with: the level, or, next to 1, four times its distance from 1."""
    return min(level, 4 * (level - 1))


def _halvings(level: Fraction) -> int:
    """How many times a distance of 1/4 is halved until it is below the distance of a level from 1; 0 beyond 5/4."""
    return max(0, math.ceil(1 / (4 * (level - 1))).bit_length()) if level < Fraction(5, 4) else 0


def _bits(level: Fraction) -> int:
    """The precision in which conditions are examined: their terms may cancel to the fourth power of the distance."""
    return _BITS + 4 * _halvings(level)


def _short(level: Fraction) -> Fraction:
    """A nearby rational with a short denominator, so that ends stay readable."""
    unit = 1 << (48 + _halvings(level))
    return Fraction(round(level * unit), unit)
