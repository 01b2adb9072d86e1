r"""The optimum of a design program as a formula in ``lam``, proved on intervals with exact end points.

In a design program over staircase columns every coefficient is an affine function of ``lam``. That holds for the Bayes
criterion and for the minimax criterion, where the largest risk is one more variable and every orbit of parameters one
more row. A basis that is optimal at one level therefore gives weights, multipliers and value as rational functions of
``lam``; it stays optimal as long as finitely many polynomials, its weights and its reduced costs, keep their sign.
Their real roots above 1 are isolated exactly, so the interval is a theorem. Walking over the end points gives the
optimum on :math:`(1, \infty)`.

Data may be rational, or in a real number field such as :math:`\mathbb Q(\cos(\pi/m))` (:mod:`symshuffle.design.signs`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, final

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from symshuffle.design.invariant import InvariantProblem
from symshuffle.design.problems import DecisionProblem
from symshuffle.design.signs import interval_of_signs, nearby, sign_in_field
from symshuffle.design.symmetries import detect_symmetry
from symshuffle.errors import InputError, NotDecided
from symshuffle.geometry.groups import SymmetryGroup
from symshuffle.geometry.linprog import full_bases
from symshuffle.lp import LinearProgram, Sense
from symshuffle.mechanisms.symbolic import LAM

_MAX_PIECES: Final = 200


@final
@dataclass(frozen=True, slots=True)
class ParametricColumn:
    """One column of a program whose coefficients are affine in ``lam``.

    Parameters
    ----------
    subset : int
        The subset of inputs where the column is ``lam``, as a bit mask; for an orbit, its representative.
    action : int
        The action taken.
    copies : int
        Number of subsets in the orbit; the variable of the program is their total weight.
    prices : tuple of tuples of field elements
        What one unit of weight costs, as ``price[0] + price[1] * lam + ...``: once for a Bayes program, for every orbit
        of parameters in a minimax program.
    shares : tuple of Fraction
        For every row, the fraction ``s`` of the copies that contain an input of it; the coefficient is
        ``1 - s + s lam``.
    scale : tuple of field elements
        A polynomial that is positive above 1, by which the whole column is multiplied, for costs that are quotients:
        the cost is then price over scale.
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

    Parameters
    ----------
    columns : tuple of ParametricColumn
        At least as many as rows.
    row_sizes : tuple of int
        Number of inputs that share a row (an orbit of inputs).
    domain : sympy domain
        The field of the prices: ``sympy.QQ``, or a real number field such as ``QQ.algebraic_field(cos(pi/m))``.
    parameter_sizes : tuple of int
        For a minimax program, the sizes of the orbits of parameters; empty for a Bayes program.
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


@final
@dataclass(frozen=True, slots=True)
class Piece:
    """The optimum on one interval of levels.

    Parameters
    ----------
    lower, upper : sympy.Expr
        End points; exact algebraic numbers, 1 or infinity.
    value : sympy.Expr
        The optimal cost as a function of ``lam``.
    weights : tuple of (ParametricColumn, sympy.Expr)
        The optimal columns with the weight of one copy.
    bound : tuple of sympy.Expr
        The multipliers, one per orbit of inputs; they sum to the value.
    prior : tuple of sympy.Expr
        For a minimax program, the least favourable probability of every orbit of parameters; empty otherwise.
    conditions : int
        How many sign conditions were decided on the interval.
    """

    lower: sp.Expr
    upper: sp.Expr
    value: sp.Expr
    weights: tuple[tuple[ParametricColumn, sp.Expr], ...]
    bound: tuple[sp.Expr, ...]
    prior: tuple[sp.Expr, ...]
    conditions: int


@final
@dataclass(frozen=True, slots=True)
class PiecewiseOptimum:
    """The optimum for every level above 1, as adjacent pieces."""

    pieces: tuple[Piece, ...]

    @property
    def breakpoints(self) -> tuple[sp.Expr, ...]:
        """The levels at which the formula changes."""
        return tuple(piece.upper for piece in self.pieces[:-1])

    def at(self, lam: sp.Expr | Fraction | int) -> Piece:
        """The piece that contains a level."""
        level = sp.Rational(lam.numerator, lam.denominator) if isinstance(lam, Fraction) else sp.sympify(lam)
        if not level > 1:
            raise InputError("lam", lam, "a number above 1")
        return next(piece for piece in self.pieces if level <= piece.upper)

    def expression(self) -> sp.Expr:
        """The optimum as a ``sympy.Piecewise`` in ``lam``."""
        if len(self.pieces) == 1:
            return self.pieces[0].value
        return sp.Piecewise(
            *((piece.value, piece.upper >= LAM) for piece in self.pieces[:-1]), (self.pieces[-1].value, True)
        )


def bayes_program(problem: DecisionProblem, group: SymmetryGroup) -> ParametricProgram:
    """The Bayes design program of a rational problem, reduced by a group of its symmetries."""
    return _rational_program(InvariantProblem.of(problem, group, minimax=False))


def minimax_program(problem: DecisionProblem, group: SymmetryGroup) -> ParametricProgram:
    """The minimax design program of a rational problem, reduced by a group of its symmetries.

    If the group moves every parameter to every other one, the uniform prior is least favourable, and the program is the
    Bayes program under it.
    """
    return _rational_program(InvariantProblem.of(problem, group, minimax=True))


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

    Parameters
    ----------
    costs : sequence of sequence of field elements
        Elements of ``domain``.
    group : SymmetryGroup
        It has to permute the rows of ``costs``.
    domain : sympy domain
        The field.
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


def piecewise_optimum(program: ParametricProgram) -> PiecewiseOptimum:
    """Derive the optimum for all levels above 1, with a proof on every interval.

    Raises
    ------
    NotDecided
        If no basis that the solver proposed at some level is exactly optimal.
    """
    pieces: list[Piece] = []
    _cover(program, sp.Integer(1), sp.oo, pieces)
    pieces.sort(key=lambda piece: piece.lower)
    return PiecewiseOptimum(tuple(_joined(pieces)))


def _cover(program: ParametricProgram, lower: sp.Expr, upper: sp.Expr, pieces: list[Piece]) -> None:
    """Fill an open interval of levels with pieces; recursion ends because there are finitely many bases."""
    if len(pieces) > _MAX_PIECES:
        raise NotDecided(f"more than {_MAX_PIECES} pieces; restrict the levels")
    piece = piece_at(program, _between(lower, upper))
    pieces.append(piece)
    if piece.lower > lower:
        _cover(program, lower, piece.lower, pieces)
    if piece.upper < upper:
        _cover(program, piece.upper, upper, pieces)


def _between(lower: sp.Expr, upper: sp.Expr) -> Fraction:
    """A rational strictly between two levels, away from simple fractions so as not to sit on a breakpoint."""
    low = sp.Rational(str(sp.N(lower, 30)))
    if upper == sp.oo:
        return Fraction(int(low.p), int(low.q)) * Fraction(137, 97) + Fraction(1, 89)
    high = sp.Rational(str(sp.N(upper, 30)))
    point = low + (high - low) * sp.Rational(41, 89)
    return Fraction(int(point.p), int(point.q)).limit_denominator(10**9)


def _joined(pieces: Iterable[Piece]) -> list[Piece]:
    """Neighbouring pieces with one formula become one; overlaps are cut."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and piece.lower > joined[-1].upper:
            raise NotDecided(f"no piece found between {joined[-1].upper} and {piece.lower}")
        if joined and joined[-1].value == piece.value:
            last = joined[-1]
            upper, conditions = sp.Max(last.upper, piece.upper), last.conditions + piece.conditions
            joined[-1] = replace(last, upper=upper, conditions=conditions)
        else:
            joined.append(piece)
    return joined


def piece_at(program: ParametricProgram, lam: Fraction) -> Piece:
    """The formula that is optimal at a level, and the largest interval around it on which its basis stays optimal."""
    for basis in full_bases(program.at(lam)):
        # The largest price has no sign; it has to be basic, or its reduced cost would be one more equation.
        usable = program.largest is None or program.largest in basis
        piece = _piece_of_basis(program, basis, lam) if usable else None
        if piece is not None:
            return piece
    raise NotDecided(f"no basis that was proposed at lam = {lam} is optimal there")


def _piece_of_basis(program: ParametricProgram, basis: Sequence[int], lam: Fraction) -> Piece | None:
    """The formula of a basis and the interval of its optimality; None where it is not optimal at the level."""
    ring, domain = program.ring, program.domain
    rows, inputs = program.num_rows, len(program.row_sizes)
    field = ring.get_field()
    matrix = DomainMatrix([[program.coefficients[j][i] for j in basis] for i in range(rows)], (rows, rows), ring)
    weights, det = matrix.solve_den(DomainMatrix([[ring(b)] for b in program.rhs], (rows, 1), ring))
    duals, dual_det = matrix.transpose().solve_den(DomainMatrix([[program.costs[j]] for j in basis], (rows, 1), ring))
    masses = {j: weights[k, 0].element for k, j in enumerate(basis)}
    multipliers = [duals[i, 0].element for i in range(rows)]
    conditions = [mass * det for j, mass in masses.items() if j != program.largest]
    for j, (cost, coefficients) in enumerate(zip(program.costs, program.coefficients, strict=True)):
        if j not in masses:
            reduced = cost * dual_det - sum((c * u for c, u in zip(coefficients, multipliers, strict=True)), ring.zero)
            conditions.append(reduced * dual_det)
    interval = interval_of_signs(conditions, lam, domain)
    if interval is None:
        return None

    def quotient(top: Any, bottom: Any) -> sp.Expr:
        return sp.factor(field.to_sympy(field(top) / field(bottom)))

    value = quotient(sum((program.costs[j] * w for j, w in masses.items()), ring.zero), det)
    shown = tuple(
        (
            program.columns[j],
            quotient(w * program.polynomial(program.columns[j].scale), det * program.columns[j].copies),
        )
        for j, w in masses.items()
        if w and j < len(program.columns)
    )
    bound = tuple(quotient(u, dual_det) for u in multipliers)
    prior = tuple(-u for u in bound[inputs:])
    return Piece(*interval, value, shown, bound[:inputs], prior, len(conditions))


def piece_around(program: ParametricProgram, lam: Fraction) -> Piece:
    """The formula at a level on the largest interval on which it is optimal, through several bases where needed."""
    piece = piece_at(program, lam)
    while piece.upper < sp.oo:
        beyond = piece_at(program, _between(piece.upper, piece.upper * (1 + sp.Rational(1, 10**6))))
        if beyond.value != piece.value or beyond.upper <= piece.upper:
            break
        piece = replace(piece, upper=beyond.upper, conditions=piece.conditions + beyond.conditions)
    while piece.lower > 1:
        below = piece_at(program, _between(piece.lower - (piece.lower - 1) / 10**6, piece.lower))
        if below.value != piece.value or below.lower >= piece.lower:
            break
        piece = replace(piece, lower=below.lower, conditions=piece.conditions + below.conditions)
    return piece


def derive(
    source: DecisionProblem | ParametricProgram, group: SymmetryGroup | None = None, *, minimax: bool = False
) -> PiecewiseOptimum:
    """The optimal Bayes or minimax risk for every level above 1, as a proved piecewise formula.

    Parameters
    ----------
    source : DecisionProblem or ParametricProgram
        A rational problem, or a program that was built from costs.
    group : SymmetryGroup, optional
        Symmetries of the problem; detected by default.
    minimax : bool
        Whether the worst case over parameters is meant; for a problem.

    Examples
    --------
    >>> from symshuffle.design import smoothed_point_masses
    >>> from symshuffle.geometry.groups import symmetric_group
    >>> derive(smoothed_point_masses(3, 1), symmetric_group(3)).expression()
    2/(lambda + 2)
    """
    if isinstance(source, DecisionProblem):
        group = group or detect_symmetry(source, minimax=minimax)
        return piecewise_optimum((minimax_program if minimax else bayes_program)(source, group))
    return piecewise_optimum(source)
