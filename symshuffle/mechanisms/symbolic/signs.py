"""Expressions as functions of their parameters: signs on whole ranges, by their coefficients; equality, limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import sympy as sp

from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Verdict, less
from symshuffle.mechanisms.symbolic.constants import LAM, evaluate, normal_form, root_order
from symshuffle.mechanisms.symbolic.ranges import Parameter


def chart(parameters: Iterable[Parameter]) -> dict[sp.Symbol, sp.Expr]:
    """Write each open parameter by a slack that runs over the non-negative reals.

    A parameter with bounds ``[l, u]`` becomes ``(l + u t)/(1 + t)``, one with a lower bound only ``l + t``. A rational
    function whose numerator and denominator have non-negative coefficients in the slacks is then non-negative on the
    whole range: a proof by inspection.
    """
    written: dict[sp.Symbol, sp.Expr] = {}
    for i, parameter in enumerate(parameters):
        slack = sp.Symbol(f"t{i}", nonnegative=True)
        lower = parameter.lower.subs(written)
        if parameter.upper is None:
            written[parameter.symbol] = lower + slack
        else:
            written[parameter.symbol] = (lower + parameter.upper.subs(written) * slack) / (1 + slack)
    return written


def nonnegative(expression: sp.Expr, slacks: Mapping[sp.Symbol, sp.Expr]) -> Verdict:
    """Whether an expression is at least 0 on the whole range that a chart describes.

    ``TRUE`` and ``FALSE`` (negative everywhere) are proofs; ``UNDECIDED`` means that the signs of the coefficients
    do not settle it. Binomials that survive the normal form, and powers with a symbolic exponent, count as
    non-negative unknowns.
    """
    reduced = normal_form(expression)
    if reduced.is_number:
        return ~less(evaluate(reduced), 0)
    unknowns = reduced.atoms(sp.binomial, sp.gamma, sp.factorial, sp.exp)
    unknowns |= {power for power in reduced.atoms(sp.Pow) if power.exp.free_symbols}
    hidden = {atom: sp.Dummy(nonnegative=True) for atom in unknowns}
    written = reduced.xreplace(hidden).subs(_without_roots(reduced, slacks))
    numerator, denominator = sp.fraction(sp.cancel(sp.together(written)))
    signs = {_coefficient_sign(numerator), _coefficient_sign(denominator)}
    if None in signs:
        return Verdict.UNDECIDED
    return Verdict.TRUE if len(signs) == 1 or numerator == 0 else Verdict.FALSE


def _without_roots(expression: sp.Expr, slacks: Mapping[sp.Symbol, sp.Expr]) -> dict[sp.Symbol, sp.Expr]:
    """The chart with ``lam`` written as a power, so that its roots in the expression are polynomials."""
    return {**slacks, LAM: slacks[LAM] ** root_order(expression)} if LAM in slacks else dict(slacks)


def positive(expression: sp.Expr, slacks: Mapping[sp.Symbol, sp.Expr]) -> Verdict:
    """Whether an expression is above 0 on the whole range: as :func:`nonnegative`, and not 0 at any of its corners.

    A corner has every slack at 0, or at infinity where that is the upper end of a bounded parameter.
    """
    weak = nonnegative(expression, slacks)
    if weak is not Verdict.TRUE:
        return weak
    written = sp.cancel(normal_form(expression).subs(slacks))
    bounded = {t for one in slacks.values() for t in sp.denom(sp.together(one)).free_symbols} & written.free_symbols
    corners = [written]
    for slack in sorted(bounded, key=str):
        corners = [end for corner in corners for end in (corner.subs(slack, 0), sp.limit(corner, slack, sp.oo))]
    corners = [corner.subs(dict.fromkeys(corner.free_symbols, 0)) for corner in corners]
    return Verdict.of(True) if all(corner.is_positive for corner in corners) else Verdict.UNDECIDED


def _coefficient_sign(polynomial: sp.Expr) -> int | None:
    """+1 or -1 if all coefficients of a polynomial have that sign (0 counts as +1), None if they are mixed."""
    symbols = sorted(polynomial.free_symbols, key=str)
    if not polynomial.is_polynomial(*symbols):  # a root of another parameter than lam
        return None
    coefficients = sp.Poly(polynomial, *symbols).coeffs() if symbols else [polynomial]
    if any(not coefficient.is_real for coefficient in coefficients):
        return None
    if all(coefficient.is_nonnegative for coefficient in coefficients):
        return 1
    return -1 if all(coefficient.is_nonpositive for coefficient in coefficients) else None


def sign_factor(expression: sp.Expr, slacks: dict[sp.Symbol, sp.Expr]) -> sp.Expr:
    """The part of a rational function that decides its sign in the interior of a range.

    Factors of one sign on the range (by the signs of their coefficients in the slacks, a proof) are replaced by that
    sign, and so are even powers.
    """
    numerator, denominator = sp.fraction(normal_form(expression))
    rest = sp.Integer(1)
    for part in (numerator, denominator):
        coefficient, factors = sp.factor_list(part)
        rest *= sp.sign(coefficient)
        for factor, power in factors:
            if power % 2 == 0:
                continue
            match nonnegative(factor, slacks):
                case Verdict.TRUE:
                    pass
                case Verdict.FALSE:
                    rest *= -1
                case _:
                    rest *= factor
    return sp.expand(rest)


def smallest(expressions: Sequence[sp.Expr], slacks: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """The expression that is smallest on the whole range.

    - ``expressions``: the expressions, at least one.
    """
    for candidate in expressions:
        if all(nonnegative(other - candidate, slacks) is Verdict.TRUE for other in expressions):
            return candidate
    written = ", ".join(map(str, expressions))
    raise Unsupported(f"which of {written} is smallest depends on the open parameters: give them values with .at(...)")


def large_limit(expression: sp.Expr, symbol: sp.Symbol, slacks: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """The limit of an expression as an integer symbol grows, where it stands in exponents of bases of at least 1."""
    reduced = sp.expand_power_base(normal_form(expression), force=True)
    large = sp.Dummy("large", positive=True)
    growing = {}
    for power in reduced.atoms(sp.Pow):
        if not power.exp.has(symbol):
            continue
        rate = power.exp.diff(symbol)
        if nonnegative(power.base - 1, slacks) is not Verdict.TRUE or not rate.is_number:
            raise Unsupported(f"the limit of {power} for large {symbol} is not decided: give the parameters values")
        growing[power] = power.base ** (power.exp - rate * symbol) * large**rate
    exponential = reduced.xreplace(growing)
    return normal_form(sp.limit(sp.limit(exponential, large, sp.oo), symbol, sp.oo))
