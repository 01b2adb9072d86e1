"""Programs with coefficients in ``lam``, and formulas of their optima with the bases that prove them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import sympy as sp

from symshuffle.base.choices import Criterion
from symshuffle.base.errors import CertificateError, InputError
from symshuffle.base.lp import LinearProgram
from symshuffle.base.numbers import DEFAULT_BITS, Ball, as_precision, enclose
from symshuffle.base.results import well_formed, within
from symshuffle.channels.geometry.groups import SymmetryGroup
from symshuffle.design.decision.invariant import InvariantProblem
from symshuffle.design.decision.problems import Problem
from symshuffle.design.parametric.signs import interval_of_signs, nearby, sign_in_field
from symshuffle.mechanisms.symbolic import LAM, evaluate


@final
@dataclass(frozen=True, slots=True)
class ParametricColumn:
    """One column of a program whose coefficients are affine in ``lam``.

    - ``subset``: inputs where the column is ``lam``, as a bit mask; for an orbit, its representative.
    - ``prices``: cost of one unit of weight, as ``price[0] + price[1] * lam + ...``, by orbit of parameters.
    - ``shares``: by row, the fraction ``s`` of the copies that contain an input of it: ``1 - s + s lam``.
    - ``scale``: a polynomial, positive above 1, that multiplies the column: costs are price over scale.
    """

    subset: int
    action: int
    copies: int
    prices: tuple[tuple[Any, ...], ...]
    shares: tuple[Fraction, ...]
    scale: tuple[Any, ...] = (1,)


@final
@dataclass(frozen=True)
class ParametricProgram:
    """Minimise the price of staircase columns under the condition that every input's probabilities sum to 1.

    Its variables are the total weights of the columns; in a minimax program, where the largest price is minimised,
    also one slack per orbit of parameters and, last, that largest price, which has no sign.

    - ``domain``: the field of the prices: ``sympy.QQ``, or a real number field.
    - ``parameter_sizes``: for a minimax program, the sizes of the orbits of parameters; empty for a Bayes program.
    """

    columns: tuple[ParametricColumn, ...]
    row_sizes: tuple[int, ...]
    domain: Any = sp.QQ
    parameter_sizes: tuple[int, ...] = ()

    @property
    def num_rows(self) -> int:
        """One per orbit of inputs, and one per orbit of parameters."""
        return len(self.row_sizes) + len(self.parameter_sizes)

    @property
    def largest(self) -> int | None:
        """The index of the largest price among the variables, for a minimax program."""
        return len(self.columns) + len(self.parameter_sizes) if self.parameter_sizes else None

    @cached_property
    def ring(self) -> Any:
        """Polynomials in ``lam`` over the field."""
        return self.domain[LAM]

    @cached_property
    def costs(self) -> tuple[Any, ...]:
        """The costs of all variables, as elements of the ring."""
        if self.parameter_sizes:
            return (*[self.ring.zero] * (len(self.columns) + len(self.parameter_sizes)), self.ring.one)
        return tuple(self.polynomial(column.prices[0]) for column in self.columns)

    @cached_property
    def coefficients(self) -> tuple[tuple[Any, ...], ...]:
        """The coefficients of all variables by row, as elements of the ring."""
        lam, one, zero = self.ring.gens[0], self.ring.one, self.ring.zero
        found = []
        for column in self.columns:
            shares = [self.domain(s.numerator) / self.domain(s.denominator) for s in column.shares]
            prices = [self.polynomial(price) for price in column.prices] if self.parameter_sizes else []
            scale = self.polynomial(column.scale)
            found.append((*((one + s * (lam - one)) * scale for s in shares), *prices))
        inputs, parameters = [zero] * len(self.row_sizes), range(len(self.parameter_sizes))
        found += [(*inputs, *(one if i == j else zero for i in parameters)) for j in parameters]
        if self.parameter_sizes:
            found.append((*inputs, *(-one for _ in parameters)))
        return tuple(found)

    @property
    def rhs(self) -> tuple[int, ...]:
        """The right-hand sides: 1 for inputs, 0 for parameters."""
        return (*[1] * len(self.row_sizes), *[0] * len(self.parameter_sizes))

    def polynomial(self, coefficients: Sequence[Any]) -> Any:
        """The element of the ring with these coefficients, constant first."""
        lam = self.ring.gens[0]
        return sum((self.ring(c) * lam**k for k, c in enumerate(coefficients)), self.ring.zero)

    def at(self, lam: Fraction) -> LinearProgram:
        """A rational program at one level; irrational prices are rounded, so that it can only propose a basis."""
        level = self.domain(lam.numerator) / self.domain(lam.denominator)

        def number(element: Any) -> Fraction:
            return nearby(element.evaluate(0, level), self.domain)

        costs = tuple(number(cost) for cost in self.costs)
        entries = tuple(tuple((i, number(c)) for i, c in enumerate(column) if c) for column in self.coefficients)
        free = frozenset() if self.largest is None else frozenset({self.largest})
        return LinearProgram(costs, entries, ("==",) * self.num_rows, tuple(map(Fraction, self.rhs)), free)


def program_of_problem(problem: Problem, group: SymmetryGroup, *, criterion: Criterion) -> ParametricProgram:
    """The design program of a rational problem, reduced by a group of its symmetries.

    A minimax program is the Bayes program under the uniform prior where the group moves every parameter to every other.
    """
    reduced = InvariantProblem.of(problem, group, criterion=criterion)
    # Subsets are listed up to the group here, so a representative has to be paired with every action.
    orbits = range(len(reduced.parameters))
    priors = [reduced.prior([Fraction(int(i == j)) for i in orbits]) for j in orbits] or [reduced.prior(())]
    prices = [
        [[sp.QQ(v.numerator, v.denominator) for v in row] for row in reduced.problem.posterior_costs(prior)]
        for prior in priors
    ]
    return _program(prices, group, sp.QQ, tuple(len(orbit) for orbit in reduced.parameters))


def program_of_costs(costs: Sequence[Sequence[Any]], group: SymmetryGroup, domain: Any = sp.QQ) -> ParametricProgram:
    """The design program of costs in ``domain`` by action and input; the group has to permute their rows."""
    return _program([costs], group, domain, ())


def _program(
    prices: Sequence[Sequence[Sequence[Any]]], group: SymmetryGroup, domain: Any, parameter_sizes: tuple[int, ...]
) -> ParametricProgram:
    """One column per orbit of subsets and action, but for actions that cost no less than another at every level."""

    def at_most(left: Any, right: Any) -> bool:
        pairs = ((a, b) for low, high in zip(left, right, strict=True) for a, b in zip(low, high, strict=True))
        return all(sign_in_field(b - a, domain) >= 0 for a, b in pairs)

    totals = [[sum(row, start=domain.zero) for row in matrix] for matrix in prices]
    columns = []
    for orbit in group.subset_orbits():
        inside = [x for x in range(group.m) if orbit.representative >> x & 1]
        kept: list[tuple[int, tuple[tuple[Any, Any], ...]]] = []
        for a in range(len(prices[0])):
            slopes = [sum((matrix[a][x] for x in inside), start=domain.zero) for matrix in prices]
            offered = tuple((total[a] - slope, slope) for total, slope in zip(totals, slopes, strict=True))
            if not any(at_most(other, offered) for _, other in kept):
                kept = [pair for pair in kept if not at_most(offered, pair[1])] + [(a, offered)]
        shares = tuple(Fraction(r, orbit.size) for r in orbit.incidences)
        columns += [ParametricColumn(orbit.representative, a, orbit.size, found, shares) for a, found in kept]
    sizes = tuple(len(block) for block in group.input_orbits())
    return ParametricProgram(tuple(columns), sizes, domain, parameter_sizes)


@final
@dataclass(frozen=True, slots=True)
class OptimalBasis:
    """A basis with the interval of levels on which it is optimal: there its two vectors prove the value.

    - ``lower``, ``upper``: exact algebraic numbers, 1 or infinity; ``value``, ``weights`` and ``bound`` depend on
      ``lam``.
    - ``weights``: the optimal columns with the weight of one copy.
    - ``bound``: the multipliers, one per orbit of inputs; they sum to the value.
    """

    lower: sp.Expr
    upper: sp.Expr
    value: sp.Expr
    weights: tuple[tuple[ParametricColumn, sp.Expr], ...]
    bound: tuple[sp.Expr, ...]
    prior: tuple[sp.Expr, ...]
    conditions: int

    @well_formed()
    def verify(self, program: ParametricProgram) -> None:
        """Check both vectors as identities in ``lam``, and every sign on the whole interval."""
        with within("weights"):
            columns = {column: j for j, column in enumerate(program.columns)}
            field = program.ring.get_field()
            total = {columns[c]: field.from_sympy(w) * c.copies / field(program.polynomial(c.scale))
                     for c, w in self.weights}  # fmt: skip
        with within("bound"):
            value = field.from_sympy(self.value)
            bound, prior = ([field.from_sympy(entry) for entry in part] for part in (self.bound, self.prior))
        inputs, parameters = len(program.row_sizes), len(program.parameter_sizes)
        if len(bound) != inputs:
            raise CertificateError("bound", f"{len(bound)} multipliers for {inputs} orbits of inputs")
        if len(prior) != parameters:
            raise CertificateError("prior", f"{len(prior)} entries for {parameters} orbits of parameters")
        spent = [sum((x * field(program.coefficients[j][i]) for j, x in total.items()), field.zero)
                 for i in range(inputs + parameters)]  # fmt: skip
        # Over a number field quotients are not reduced: only the difference of equal ones is always zero.
        if any(row - field.one for row in spent[:inputs]):
            raise CertificateError("weights", "the probabilities of an input do not sum to 1")
        paid = [*spent[inputs:]] or [sum((x * field(program.costs[j]) for j, x in total.items()), field.zero)]
        if sum(bound, field.zero) - value:
            raise CertificateError("bound", "its entries do not sum to the value")
        if parameters and sum(prior, field.zero) - field.one:
            raise CertificateError("prior", "its entries do not sum to 1")
        reduced = []
        for j in range(len(program.columns)):
            prices = program.coefficients[j]
            cost = sum((p * field(c) for p, c in zip(prior, prices[inputs:], strict=True)), field(program.costs[j]))
            reduced.append(cost - sum((u * field(c) for u, c in zip(bound, prices[:inputs], strict=True)), field.zero))
        self._check_signs("weights", total.values(), program)
        self._check_signs("prior", prior, program)
        self._check_signs("bound", reduced, program)
        self._check_signs("value", [value - risk for risk in paid], program)

    def _check_signs(self, place: str, entries: Iterable[Any], program: ParametricProgram) -> None:
        """Refuse rational functions that are negative somewhere on the interval."""
        conditions = [entry.numer * entry.denom for entry in entries]
        found = interval_of_signs(conditions, between(self.lower, self.upper), program.domain)
        if found is None:
            raise CertificateError(place, f"a negative entry inside [{self.lower}, {self.upper}]")
        if not (found[0] <= self.lower and self.upper <= found[1]):
            raise CertificateError(place, f"no negative entry on [{found[0]}, {found[1]}] only")


@final
@dataclass(frozen=True, slots=True)
class PiecewiseOptimum:
    """Optimum of a program for every level of an interval, with its proof.

    Parameters
    ----------
    bases : tuple of OptimalBasis
        In rising order of the level ``lam``; together they cover the interval.
    program : ParametricProgram
        The program that was solved.
    lower, upper : sympy.Expr
        Ends of the interval: exact algebraic numbers; by default 1 and infinity.
    """

    bases: tuple[OptimalBasis, ...]
    program: ParametricProgram
    lower: sp.Expr = sp.S.One
    upper: sp.Expr = sp.oo

    @property
    def pieces(self) -> tuple[PiecewiseOptimum, ...]:
        """The optimum on adjacent intervals with one formula each, in rising order."""
        groups = (tuple(group) for _, group in itertools.groupby(self.bases, key=lambda basis: basis.value))
        return tuple(
            PiecewiseOptimum(group, self.program, group[0].lower, sp.Max(*(basis.upper for basis in group)))
            for group in groups
        )

    @property
    def value(self) -> sp.Expr:
        """The formula of the first piece."""
        return self.bases[0].value

    @property
    def conditions(self) -> int:
        """How many sign conditions were decided."""
        return sum(basis.conditions for basis in self.bases)

    @property
    def breakpoints(self) -> tuple[sp.Expr, ...]:
        """The levels at which the formula changes."""
        return tuple(piece.upper for piece in self.pieces[:-1])

    def breakpoints_eps0(self, *, bits: int = DEFAULT_BITS) -> tuple[Ball, ...]:
        """The same as budgets ``eps0 = log(lam)`` in nats, as balls.

        Examples
        --------
        >>> from symshuffle.design.information.measures import chi_square_measure
        >>> from symshuffle.design.information.formulas import rational_program
        >>> from symshuffle.design.parametric.homotopy import piecewise_optimum
        >>> p, q = (Fraction(3, 7), Fraction(5, 14), Fraction(3, 14)), (Fraction(2, 7), Fraction(1, 7), Fraction(4, 7))
        >>> measure = chi_square_measure(p, q)
        >>> formula = piecewise_optimum(rational_program(measure, measure.symmetry()))
        >>> [f"{float(eps0):.6f}" for eps0 in formula.breakpoints_eps0()]
        ['2.878806']
        """
        bits = as_precision(bits)
        return tuple(enclose(evaluate(sp.log(level), bits=bits), bits) for level in self.breakpoints)

    def at(self, lam: sp.Expr | Fraction | int) -> OptimalBasis:
        """The basis that is optimal at a level of the interval: its value, weights, bound and prior."""
        level = sp.Rational(lam.numerator, lam.denominator) if isinstance(lam, Fraction) else sp.sympify(lam)
        found = next((basis for basis in self.bases if basis.lower <= level <= basis.upper), None)
        if not level > 1 or found is None:
            raise InputError("lam", lam, f"a number above 1, from {self.lower} to {self.upper}")
        return found

    def expression(self) -> sp.Expr:
        """The optimum as a ``sympy.Piecewise`` in ``lam``."""
        *pieces, last = self.pieces
        if not pieces:
            return last.value
        return sp.Piecewise(*((piece.value, piece.upper >= LAM) for piece in pieces), (last.value, True))

    @well_formed()
    def verify(self) -> None:
        """Check every basis, and that they cover the interval; errors are at ``bases``, or one of them."""
        reached = self.lower
        for i, basis in enumerate(self.bases):
            with within(f"bases[{i}]"):
                basis.verify(self.program)
            if basis.lower > reached:
                raise CertificateError("bases", f"nothing is proved between {reached} and {basis.lower}")
            reached = sp.Max(reached, basis.upper)
        if reached < self.upper:
            raise CertificateError("bases", f"nothing is proved between {reached} and {self.upper}")


def between(lower: sp.Expr, upper: sp.Expr) -> Fraction:
    """A rational strictly between two levels, away from simple fractions so as not to sit on a breakpoint."""
    low = sp.Rational(str(sp.N(lower, 30)))
    if upper == sp.oo:
        return Fraction(int(low.p), int(low.q)) * Fraction(137, 97) + Fraction(1, 89)
    high = sp.Rational(str(sp.N(upper, 30)))
    point = low + (high - low) * sp.Rational(41, 89)
    return Fraction(int(point.p), int(point.q)).limit_denominator(10**9)
