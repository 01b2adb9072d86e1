r"""The optimum of a design program as a formula in ``lam``, proved on intervals with exact end points.

In a Bayes design program over staircase columns every coefficient is an affine function of ``lam``. A basis that is
optimal at one level therefore gives weights, multipliers and value as rational functions of ``lam``; it stays optimal
as long as finitely many polynomials, its weights and its reduced costs, keep their sign. Their real roots above 1 are
isolated exactly, so the interval is a theorem. Walking over the end points gives the optimum on :math:`(1, \infty)`.

Data may be rational, or in a real number field such as :math:`\mathbb Q(\cos(\pi/m))` (:mod:`symshuffle.design.signs`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, final

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from symshuffle.design.problems import DecisionProblem
from symshuffle.design.signs import interval_of_signs, nearby, sign_in_field
from symshuffle.design.symmetries import check_symmetry, detect_symmetry
from symshuffle.errors import InputError, NotDecided
from symshuffle.geometry.linprog import solve
from symshuffle.geometry.symmetry import SymmetryGroup, trivial_group
from symshuffle.lp import LinearProgram, Sense
from symshuffle.mechanisms.symbolic import LAM

_MAX_PIECES: Final = 200
_PERTURBATIONS: Final = ("1/1000", "1/20000", "1/400000")


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
    cost : tuple of two field elements
        The cost is ``cost[0] + cost[1] * lam``; elements of the domain of the program.
    shares : tuple of Fraction
        For every row, the fraction ``s`` of the copies that contain an input of it; the coefficient is
        ``1 - s + s lam``.
    """

    subset: int
    action: int
    copies: int
    cost: tuple[Any, Any]
    shares: tuple[Fraction, ...]


@final
@dataclass(frozen=True)
class ParametricProgram:
    """Minimise the cost of staircase columns under the condition that every input's probabilities sum to 1.

    Parameters
    ----------
    columns : tuple of ParametricColumn
        At least as many as rows.
    row_sizes : tuple of int
        Number of inputs that share a row (an orbit of inputs).
    domain : sympy domain
        The field of the costs: ``sympy.QQ``, or a real number field such as ``QQ.algebraic_field(cos(pi/m))``.
    """

    columns: tuple[ParametricColumn, ...]
    row_sizes: tuple[int, ...]
    domain: Any = sp.QQ

    @cached_property
    def ring(self) -> Any:
        """Polynomials in ``lam`` over the field."""
        return self.domain[LAM]

    @cached_property
    def costs(self) -> tuple[Any, ...]:
        """The costs as elements of the ring."""
        lam = self.ring.gens[0]
        return tuple(self.ring(column.cost[0]) + self.ring(column.cost[1]) * lam for column in self.columns)

    @cached_property
    def coefficients(self) -> tuple[tuple[Any, ...], ...]:
        """The coefficients by column and row, as elements of the ring."""
        lam, one = self.ring.gens[0], self.ring.one
        return tuple(
            tuple(one + self.domain(s.numerator) / self.domain(s.denominator) * (lam - one) for s in column.shares)
            for column in self.columns
        )

    def at(self, lam: Fraction) -> LinearProgram:
        """A rational program at one level; irrational costs are rounded, so that it can only propose a basis."""
        costs = tuple(
            nearby(column.cost[0], self.domain) + lam * nearby(column.cost[1], self.domain) for column in self.columns
        )
        entries = tuple(tuple((i, 1 - s + s * lam) for i, s in enumerate(column.shares)) for column in self.columns)
        rows = len(self.row_sizes)
        return LinearProgram(costs, entries, (Sense.EQ,) * rows, (Fraction(1),) * rows)


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
        The multipliers, one per row of the program.
    conditions : int
        How many sign conditions were decided on the interval.
    """

    lower: sp.Expr
    upper: sp.Expr
    value: sp.Expr
    weights: tuple[tuple[ParametricColumn, sp.Expr], ...]
    bound: tuple[sp.Expr, ...]
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
    check_symmetry(problem, group)
    costs = problem.posterior_costs(problem.required_prior())
    return program_of_costs([[sp.QQ(v.numerator, v.denominator) for v in row] for row in costs], group)


def program_of_costs(costs: Sequence[Sequence[Any]], group: SymmetryGroup, domain: Any = sp.QQ) -> ParametricProgram:
    """The design program of a matrix of costs by action and input, invariant under the group.

    One column per orbit of subsets and action; for a fixed orbit, actions that are worse than another one in both
    coefficients of the cost, hence at every level, are left out.

    Parameters
    ----------
    costs : sequence of sequence of field elements
        Elements of ``domain``.
    group : SymmetryGroup
        It has to permute the rows of ``costs``.
    domain : sympy domain
        The field.
    """
    inputs = group.input_orbits()
    totals = [sum(row, start=domain.zero) for row in costs]
    columns = []
    for orbit in group.subset_orbits():
        inside = [x for x in range(group.m) if orbit.representative >> x & 1]
        kept: list[tuple[int, Any, Any]] = []
        for a, row in enumerate(costs):
            slope = sum((row[x] for x in inside), start=domain.zero)
            constant = totals[a] - slope
            if any(_at_most(c, constant, domain) and _at_most(s, slope, domain) for _, c, s in kept):
                continue
            worse = [k for k in kept if _at_most(constant, k[1], domain) and _at_most(slope, k[2], domain)]
            kept = [k for k in kept if k not in worse] + [(a, constant, slope)]
        shares = tuple(Fraction(r, orbit.size) for r in orbit.incidences)
        columns += [ParametricColumn(orbit.representative, a, orbit.size, (c, s), shares) for a, c, s in kept]
    return ParametricProgram(tuple(columns), tuple(len(block) for block in inputs), domain)


def _at_most(left: Any, right: Any, domain: Any) -> bool:
    return sign_in_field(right - left, domain) >= 0


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
    for basis in _bases(program, lam):
        piece = _piece_of_basis(program, basis, lam)
        if piece is not None:
            return piece
    raise NotDecided(f"no basis that was proposed at lam = {lam} is optimal there")


def _piece_of_basis(program: ParametricProgram, basis: Sequence[int], lam: Fraction) -> Piece | None:
    """The formula of a basis and the interval of its optimality; None where it is not optimal at the level."""
    ring, domain = program.ring, program.domain
    rows = len(program.row_sizes)
    field = ring.get_field()
    matrix = DomainMatrix([[program.coefficients[j][i] for j in basis] for i in range(rows)], (rows, rows), ring)
    weights, det = matrix.solve_den(DomainMatrix([[ring.one]] * rows, (rows, 1), ring))
    duals, dual_det = matrix.transpose().solve_den(DomainMatrix([[program.costs[j]] for j in basis], (rows, 1), ring))
    masses = [weights[k, 0].element for k in range(rows)]
    multipliers = [duals[i, 0].element for i in range(rows)]
    conditions = [mass * det for mass in masses]
    members = set(basis)
    for j, (cost, coefficients) in enumerate(zip(program.costs, program.coefficients, strict=True)):
        if j not in members:
            reduced = cost * dual_det - sum((c * u for c, u in zip(coefficients, multipliers, strict=True)), ring.zero)
            conditions.append(reduced * dual_det)
    interval = interval_of_signs(conditions, lam, domain)
    if interval is None:
        return None
    value = field(sum((program.costs[j] * w for j, w in zip(basis, masses, strict=True)), ring.zero)) / field(det)
    formula = sp.factor(field.to_sympy(value))
    shown = tuple(
        (program.columns[j], sp.factor(field.to_sympy(field(w) / field(det)) / program.columns[j].copies))
        for j, w in zip(basis, masses, strict=True)
        if w
    )
    bound = tuple(sp.factor(field.to_sympy(field(u) / field(dual_det))) for u in multipliers)
    return Piece(*interval, formula, shown, bound, len(conditions))


def _bases(program: ParametricProgram, lam: Fraction) -> Iterator[list[int]]:
    """Candidates for an optimal basis at a level.

    At a degenerate vertex the solver may keep fewer columns than there are rows; slightly different right-hand sides
    then make it name a full basis. Whether that basis is optimal for the true ones is decided exactly afterwards.
    """
    rows = len(program.row_sizes)
    plain = program.at(lam)
    for scale in (0, *_PERTURBATIONS):
        rhs = tuple(1 + Fraction(scale) * Fraction(1 + i * i % 7, 3 + 2 * i) for i in range(rows))
        basis = solve(replace(plain, rhs=rhs)).basis
        if len(basis) == rows:
            yield list(basis)


def derive(source: DecisionProblem | ParametricProgram, group: SymmetryGroup | None = None) -> PiecewiseOptimum:
    """The optimal Bayes risk for every level above 1, as a proved piecewise formula.

    Parameters
    ----------
    source : DecisionProblem or ParametricProgram
        A rational problem, or a program that was built from costs.
    group : SymmetryGroup, optional
        Symmetries of the problem; detected by default.

    Examples
    --------
    >>> from symshuffle.design import smoothed_point_masses
    >>> from symshuffle.geometry.symmetry import symmetric_group
    >>> derive(smoothed_point_masses(3, 1), symmetric_group(3)).expression()
    2/(lambda + 2)
    """
    if isinstance(source, DecisionProblem):
        return piecewise_optimum(bayes_program(source, group or detect_symmetry(source)))
    return piecewise_optimum(source)


def hockey_stick_formula(p: Sequence[Fraction], q: Sequence[Fraction], gamma: Fraction) -> PiecewiseOptimum:
    r"""Minus the largest hockey-stick divergence of the output laws, as a proved piecewise formula.

    A column ``v`` contributes :math:`\max(0, v\cdot(P_0-\gamma P_1))`: minus the cost of the better of two actions.
    """
    loss = [-(a - gamma * b) for a, b in zip(p, q, strict=True)]
    costs = [[sp.QQ(v.numerator, v.denominator) for v in loss], [sp.QQ(0)] * len(loss)]
    return piecewise_optimum(program_of_costs(costs, trivial_group(len(loss))))
