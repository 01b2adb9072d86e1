r"""Formulas of a parametric optimum with the bases that prove them: what is checked, without any search."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import sympy as sp

from symshuffle.base.errors import CertificateError, InputError
from symshuffle.base.numbers import DEFAULT_BITS, Ball, as_precision, enclose
from symshuffle.base.results import well_formed, within
from symshuffle.design.parametric.program import ParametricColumn, ParametricProgram
from symshuffle.design.parametric.signs import interval_of_signs
from symshuffle.mechanisms.symbolic import LAM, evaluate


@final
@dataclass(frozen=True, slots=True)
class OptimalBasis:
    """A basis with the interval of levels on which it is optimal: there its two vectors prove the value.

    - ``lower``, ``upper``: end points; exact algebraic numbers, 1 or infinity.
    - ``value``: the optimal cost as a function of ``lam``.
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
class FormulaPiece:
    """One formula on one interval of levels, with the bases that prove it on parts of the interval.

    - ``lower``, ``upper``: end points; exact algebraic numbers, 1 or infinity.
    - ``value``: the optimal cost as a function of ``lam``.
    - ``bases``: ascending; together they cover the interval. Weights, bound and prior are those of a basis:
      :meth:`basis`.
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
        """Check every basis, and that they prove one formula on all of the interval."""
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

    pieces: tuple[FormulaPiece, ...]
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
        >>> from symshuffle.design.information.formulas import rational_program
        >>> from symshuffle.design.parametric.walk import piecewise_optimum
        >>> p, q = (Fraction(3, 7), Fraction(5, 14), Fraction(3, 14)), (Fraction(2, 7), Fraction(1, 7), Fraction(4, 7))
        >>> measure = chi_square_measure(p, q)
        >>> formula = piecewise_optimum(rational_program(measure, measure.symmetry()))
        >>> [f"{float(eps0):.6f}" for eps0 in formula.breakpoints_eps0()]
        ['2.878806']
        """
        bits = as_precision(bits)
        return tuple(enclose(evaluate(sp.log(level), bits=bits), bits) for level in self.breakpoints)

    def at(self, lam: sp.Expr | Fraction | int) -> FormulaPiece:
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


def between(lower: sp.Expr, upper: sp.Expr) -> Fraction:
    """A rational strictly between two levels, away from simple fractions so as not to sit on a breakpoint."""
    low = sp.Rational(str(sp.N(lower, 30)))
    if upper == sp.oo:
        return Fraction(int(low.p), int(low.q)) * Fraction(137, 97) + Fraction(1, 89)
    high = sp.Rational(str(sp.N(upper, 30)))
    point = low + (high - low) * sp.Rational(41, 89)
    return Fraction(int(point.p), int(point.q)).limit_denominator(10**9)
