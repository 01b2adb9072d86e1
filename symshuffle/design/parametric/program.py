"""Design programs whose coefficients are polynomials in ``lam``: columns, rows, and how problems become them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import sympy as sp

from symshuffle.base.choices import Criterion
from symshuffle.base.lp import LinearProgram, Sense
from symshuffle.design.decision.invariant import InvariantProblem
from symshuffle.design.decision.problems import DecisionProblem
from symshuffle.design.parametric.signs import nearby, sign_in_field
from symshuffle.geometry.groups import SymmetryGroup
from symshuffle.mechanisms.symbolic import LAM


@final
@dataclass(frozen=True, slots=True)
class ParametricColumn:
    """One column of a program whose coefficients are affine in ``lam``.

    - ``subset``: the subset of inputs where the column is ``lam``, as a bit mask; for an orbit, its representative.
    - ``prices``: what one unit of weight costs, as ``price[0] + price[1] * lam + ...``: once for a Bayes program, for
      every orbit of parameters in a minimax program.
    - ``shares``: for every row, the fraction ``s`` of the copies that contain an input of it; the coefficient is ``1
      - s + s lam``.
    - ``scale``: A polynomial that is positive above 1, by which the whole column is multiplied, for costs that are
      quotients: the cost is then price over scale.
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

    - ``columns``: at least as many as rows.
    - ``domain``: the field of the prices: ``sympy.QQ``, or a real number field such as
      ``QQ.algebraic_field(cos(pi/m))``.
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
        return LinearProgram(costs, entries, (Sense.EQ,) * self.num_rows, tuple(map(Fraction, self.rhs)), free)


def bayes_program(problem: DecisionProblem, group: SymmetryGroup) -> ParametricProgram:
    """The Bayes design program of a rational problem, reduced by a group of its symmetries."""
    return _rational_program(InvariantProblem.of(problem, group, criterion=Criterion.BAYES))


def minimax_program(problem: DecisionProblem, group: SymmetryGroup) -> ParametricProgram:
    """The minimax design program of a rational problem, reduced by a group of its symmetries.

    If the group moves every parameter to every other one, the uniform prior is least favourable, and the program is the
    Bayes program under it.
    """
    return _rational_program(InvariantProblem.of(problem, group, criterion=Criterion.MINIMAX))


def _rational_program(reduced: InvariantProblem) -> ParametricProgram:
    # Subsets are listed up to the group here, so a representative has to be paired with every action.
    orbits = range(len(reduced.parameters))
    priors = [reduced.prior([Fraction(int(i == j)) for i in orbits]) for j in orbits] or [reduced.prior(())]
    prices = [
        [[sp.QQ(v.numerator, v.denominator) for v in row] for row in reduced.problem.posterior_costs(prior)]
        for prior in priors
    ]
    return _program(prices, reduced.group, sp.QQ, tuple(len(orbit) for orbit in reduced.parameters))


def program_of_costs(costs: Sequence[Sequence[Any]], group: SymmetryGroup, domain: Any = sp.QQ) -> ParametricProgram:
    """The design program of a matrix of costs by action and input, invariant under the group.

    - ``costs``: elements of ``domain``.
    - ``group``: it has to permute the rows of ``costs``.
    """
    return _program([costs], group, domain, ())


def _program(
    prices: Sequence[Sequence[Sequence[Any]]], group: SymmetryGroup, domain: Any, parameter_sizes: tuple[int, ...]
) -> ParametricProgram:
    """One column per orbit of subsets and action.

    For a fixed orbit, actions whose prices are all at least those of another one, in both coefficients and hence at
    every level, are left out.
    """
    totals = [[sum(row, start=domain.zero) for row in matrix] for matrix in prices]
    columns = []
    for orbit in group.subset_orbits():
        inside = [x for x in range(group.m) if orbit.representative >> x & 1]
        kept: list[tuple[int, tuple[tuple[Any, Any], ...]]] = []
        for a in range(len(prices[0])):
            slopes = [sum((matrix[a][x] for x in inside), start=domain.zero) for matrix in prices]
            offered = tuple((total[a] - slope, slope) for total, slope in zip(totals, slopes, strict=True))
            if not any(_at_most(other, offered, domain) for _, other in kept):
                kept = [pair for pair in kept if not _at_most(offered, pair[1], domain)] + [(a, offered)]
        shares = tuple(Fraction(r, orbit.size) for r in orbit.incidences)
        columns += [ParametricColumn(orbit.representative, a, orbit.size, found, shares) for a, found in kept]
    sizes = tuple(len(block) for block in group.input_orbits())
    return ParametricProgram(tuple(columns), sizes, domain, parameter_sizes)


def _at_most(left: Any, right: Any, domain: Any) -> bool:
    """Whether prices are at most others in all coefficients."""
    pairs = ((a, b) for low, high in zip(left, right, strict=True) for a, b in zip(low, high, strict=True))
    return all(sign_in_field(b - a, domain) >= 0 for a, b in pairs)
