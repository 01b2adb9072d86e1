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
from typing import Any, Final, final

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from symshuffle.design.parametric_program import ParametricColumn, ParametricProgram, bayes_program, minimax_program
from symshuffle.design.problems import DecisionProblem
from symshuffle.design.signs import interval_of_signs
from symshuffle.design.symmetries import detect_symmetry
from symshuffle.errors import InputError, NotDecided
from symshuffle.geometry.groups import SymmetryGroup
from symshuffle.geometry.linprog import full_bases
from symshuffle.mechanisms.symbolic import LAM

_MAX_PIECES: Final = 200


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
