r"""The optimum of a design program as a formula in ``lam``, proved on intervals with exact end points.

In a design program over staircase columns every coefficient is an affine function of ``lam``. That holds for the Bayes
criterion and for the minimax criterion, where the largest risk is one more variable and every orbit of parameters one
more row. A basis that is optimal at one level therefore gives weights, multipliers and value as rational functions of
``lam``; it stays optimal as long as finitely many polynomials, its weights and its reduced costs, keep their sign.
Their real roots above 1 are isolated exactly, so the interval is a theorem. Walking over the end points gives the
optimum on :math:`(1, \infty)`.

Data may be rational, or in a real number field such as :math:`\mathbb Q(\cos(\pi/m))`
(:mod:`symshuffle.design.parametric.signs`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, final

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from symshuffle.base.choices import Criterion, choice
from symshuffle.base.errors import CertificateError, InputError, NotDecided
from symshuffle.base.numbers import DEFAULT_BITS, Ball, as_precision, enclose
from symshuffle.base.results import well_formed, within
from symshuffle.design.decision.problems import DecisionProblem
from symshuffle.design.decision.symmetries import detect_symmetry
from symshuffle.design.parametric.program import ParametricColumn, ParametricProgram, bayes_program, minimax_program
from symshuffle.design.parametric.signs import interval_of_signs
from symshuffle.geometry.groups import SymmetryGroup
from symshuffle.geometry.linprog import full_bases
from symshuffle.mechanisms.symbolic import LAM, evaluate

_MAX_PIECES: Final = 200


@final
@dataclass(frozen=True, slots=True)
class OptimalBasis:
    """A basis with the interval of levels on which it is optimal: there its two vectors prove the value.

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

    @well_formed()
    def verify(self, program: ParametricProgram) -> None:
        """Check both vectors as identities in ``lam``, and every sign on the whole interval.

        Raises
        ------
        CertificateError
            At ``weights`` (a row, a sign), ``prior`` (its sum, a sign), ``bound`` (its sum, a reduced cost) or
            ``value`` (the weights, or an orbit of parameters, cost more).
        """
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
        found = interval_of_signs(conditions, _between(self.lower, self.upper), program.domain)
        if found is None:
            raise CertificateError(place, f"a negative entry inside [{self.lower}, {self.upper}]")
        if not (found[0] <= self.lower and self.upper <= found[1]):
            raise CertificateError(place, f"no negative entry on [{found[0]}, {found[1]}] only")


@final
@dataclass(frozen=True, slots=True)
class Piece:
    """One formula on one interval of levels, with the bases that prove it on parts of the interval.

    Parameters
    ----------
    lower, upper : sympy.Expr
        End points; exact algebraic numbers, 1 or infinity.
    value : sympy.Expr
        The optimal cost as a function of ``lam``.
    bases : tuple of OptimalBasis
        Ascending; together they cover the interval. Weights, bound and prior are those of a basis: :meth:`basis`.
    """

    lower: sp.Expr
    upper: sp.Expr
    value: sp.Expr
    bases: tuple[OptimalBasis, ...]

    @property
    def conditions(self) -> int:
        """How many sign conditions were decided."""
        return sum(basis.conditions for basis in self.bases)

    def basis(self, lam: sp.Expr | Fraction | int) -> OptimalBasis:
        """The basis that is optimal at a level of the interval."""
        level = _level(lam)
        found = next((basis for basis in self.bases if basis.lower <= level <= basis.upper), None)
        if found is None:
            raise InputError("lam", lam, f"a level from {self.lower} to {self.upper}")
        return found

    @well_formed()
    def verify(self, program: ParametricProgram) -> None:
        """Check every basis, and that they prove one formula on all of the interval.

        Raises
        ------
        CertificateError
            At ``bases[i]`` with the part of the basis, or at ``bases`` where they leave a gap or prove another formula.
        """
        reached = self.lower
        for i, basis in enumerate(self.bases):
            with within(f"bases[{i}]"):
                basis.verify(program)
            if sp.simplify(basis.value - self.value) != 0:
                raise CertificateError("bases", f"basis {i} proves {basis.value}, where {self.value} is claimed")
            if basis.lower > reached:
                raise CertificateError("bases", f"nothing is proved between {reached} and {basis.lower}")
            reached = sp.Max(reached, basis.upper)
        if reached < self.upper:
            raise CertificateError("bases", f"nothing is proved between {reached} and {self.upper}")


@final
@dataclass(frozen=True, slots=True)
class PiecewiseOptimum:
    """Optimum of a program for every level above 1, as adjacent pieces.

    Parameters
    ----------
    pieces : tuple of Piece
        In rising order of the level ``lam``; together they cover all levels above 1.
    program : ParametricProgram
        The program that was solved.
    """

    pieces: tuple[Piece, ...]
    program: ParametricProgram

    @property
    def breakpoints(self) -> tuple[sp.Expr, ...]:
        """The levels at which the formula changes."""
        return tuple(piece.upper for piece in self.pieces[:-1])

    def breakpoints_eps0(self, *, bits: int = DEFAULT_BITS) -> tuple[Ball, ...]:
        """The same as budgets ``eps0 = log(lam)`` in nats, as balls.

        Examples
        --------
        >>> from symshuffle.design.information.measures import chi_square_measure
        >>> from symshuffle.design.information.rational import rational_program
        >>> p, q = (Fraction(3, 7), Fraction(5, 14), Fraction(3, 14)), (Fraction(2, 7), Fraction(1, 7), Fraction(4, 7))
        >>> measure = chi_square_measure(p, q)
        >>> formula = piecewise_optimum(rational_program(measure, measure.symmetry()))
        >>> [f"{float(eps0):.6f}" for eps0 in formula.breakpoints_eps0()]
        ['2.878806']
        """
        bits = as_precision(bits)
        return tuple(enclose(evaluate(sp.log(level), bits=bits), bits) for level in self.breakpoints)

    def at(self, lam: sp.Expr | Fraction | int) -> Piece:
        """Piece that contains a level.

        ``.at(lam).basis(lam)`` has the weights, the bound and the prior there.
        """
        level = _level(lam)
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

    @well_formed()
    def verify(self) -> None:
        """Check every piece, and that the pieces cover all levels above 1.

        Raises
        ------
        CertificateError
            At ``pieces[i].bases[j]`` with the part of the basis, or at ``pieces`` where they leave a gap.
        """
        reached: sp.Expr = sp.Integer(1)
        for i, piece in enumerate(self.pieces):
            with within(f"pieces[{i}]"):
                piece.verify(self.program)
            if piece.lower > reached:
                raise CertificateError("pieces", f"nothing is proved between {reached} and {piece.lower}")
            reached = piece.upper
        if reached != sp.oo:
            raise CertificateError("pieces", f"nothing is proved beyond {reached}")


def _level(lam: sp.Expr | Fraction | int) -> sp.Expr:
    return sp.Rational(lam.numerator, lam.denominator) if isinstance(lam, Fraction) else sp.sympify(lam)


def piecewise_optimum(program: ParametricProgram) -> PiecewiseOptimum:
    """Derive the optimum for all levels above 1, with a proof on every interval.

    Raises
    ------
    NotDecided
        If no basis that the solver proposed at some level is exactly optimal.
    """
    bases: list[OptimalBasis] = []
    _cover(program, sp.Integer(1), sp.oo, bases)
    bases.sort(key=lambda basis: basis.lower)
    return PiecewiseOptimum(tuple(_joined(bases)), program)


def _cover(program: ParametricProgram, lower: sp.Expr, upper: sp.Expr, bases: list[OptimalBasis]) -> None:
    """Fill an open interval of levels with optimal bases; recursion ends because there are finitely many of them."""
    if len(bases) > _MAX_PIECES:
        raise NotDecided(f"more than {_MAX_PIECES} pieces; restrict the levels")
    basis = basis_at(program, _between(lower, upper))
    bases.append(basis)
    if basis.lower > lower:
        _cover(program, lower, basis.lower, bases)
    if basis.upper < upper:
        _cover(program, basis.upper, upper, bases)


def _between(lower: sp.Expr, upper: sp.Expr) -> Fraction:
    """A rational strictly between two levels, away from simple fractions so as not to sit on a breakpoint."""
    low = sp.Rational(str(sp.N(lower, 30)))
    if upper == sp.oo:
        return Fraction(int(low.p), int(low.q)) * Fraction(137, 97) + Fraction(1, 89)
    high = sp.Rational(str(sp.N(upper, 30)))
    point = low + (high - low) * sp.Rational(41, 89)
    return Fraction(int(point.p), int(point.q)).limit_denominator(10**9)


def _joined(bases: Iterable[OptimalBasis]) -> list[Piece]:
    """Neighbouring bases with one formula make one piece; each keeps its own interval and vectors."""
    joined: list[Piece] = []
    for basis in bases:
        if joined and basis.lower > joined[-1].upper:
            raise NotDecided(f"no piece found between {joined[-1].upper} and {basis.lower}")
        if joined and joined[-1].value == basis.value:
            last = joined[-1]
            joined[-1] = replace(last, upper=sp.Max(last.upper, basis.upper), bases=(*last.bases, basis))
        else:
            joined.append(_alone(basis))
    return joined


def _alone(basis: OptimalBasis) -> Piece:
    return Piece(basis.lower, basis.upper, basis.value, (basis,))


def basis_at(program: ParametricProgram, lam: Fraction) -> OptimalBasis:
    """A basis that is optimal at a level, on the largest interval around it on which it stays optimal."""
    for basis in full_bases(program.at(lam)):
        # The largest price has no sign; it has to be basic, or its reduced cost would be one more equation.
        usable = program.largest is None or program.largest in basis
        found = _vectors_of_basis(program, basis, lam) if usable else None
        if found is not None:
            return found
    raise NotDecided(f"no basis that was proposed at lam = {lam} is optimal there")


def _vectors_of_basis(program: ParametricProgram, basis: Sequence[int], lam: Fraction) -> OptimalBasis | None:
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
    return OptimalBasis(*interval, value, shown, bound[:inputs], prior, len(conditions))


def piece_around(program: ParametricProgram, lam: Fraction) -> Piece:
    """The formula at a level on the largest interval on which it is optimal, through several bases where needed."""
    piece = _alone(basis_at(program, lam))
    while piece.upper < sp.oo:
        beyond = basis_at(program, _between(piece.upper, piece.upper * (1 + sp.Rational(1, 10**6))))
        if beyond.value != piece.value or not beyond.lower <= piece.upper < beyond.upper:
            break
        piece = replace(piece, upper=beyond.upper, bases=(*piece.bases, beyond))
    while piece.lower > 1:
        below = basis_at(program, _between(piece.lower - (piece.lower - 1) / 10**6, piece.lower))
        if below.value != piece.value or not below.lower < piece.lower <= below.upper:
            break
        piece = replace(piece, lower=below.lower, bases=(below, *piece.bases))
    return piece


def derive(
    source: DecisionProblem | ParametricProgram,
    group: SymmetryGroup | None = None,
    *,
    criterion: Criterion | str = Criterion.BAYES,
) -> PiecewiseOptimum:
    """Optimal Bayes or minimax risk as a proved piecewise formula in the level.

    The formula holds for every level ``lam = exp(eps0)`` above 1.

    Parameters
    ----------
    source : DecisionProblem or ParametricProgram
        A rational problem, or a program that was built from costs.
    group : SymmetryGroup, optional
        Symmetries of the problem; detected by default.
    criterion : Criterion or str
        ``"bayes"``, or ``"minimax"`` for the worst case over parameters; for a problem.

    Returns
    -------
    PiecewiseOptimum
        Adjacent pieces that cover all levels above 1, each with its proof.

    Raises
    ------
    InputError
        If the criterion is unknown, the problem has no prior for the Bayes risk, or the group does not act on the
        problem.
    NotDecided
        If the search finds no proved piece around some level, or too many pieces.

    Examples
    --------
    >>> from symshuffle.design import smoothed_point_masses
    >>> from symshuffle.geometry.groups import symmetric_group
    >>> derive(smoothed_point_masses(3, 1), symmetric_group(3)).expression()
    2/(lambda + 2)
    """
    minimax = choice(Criterion, criterion, "criterion") is Criterion.MINIMAX
    if isinstance(source, DecisionProblem):
        group = group or detect_symmetry(source, criterion=criterion)
        return piecewise_optimum((minimax_program if minimax else bayes_program)(source, group))
    return piecewise_optimum(source)
