"""Closed forms as functions of the ratio cap: quotients of polynomials in its root, over the rationals."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import flint

from symshuffle.base.numbers import Exp, Real
from symshuffle.decompositions.calculated import LARGEST_COMPARED
from symshuffle.decompositions.quotient_texts import OpenQuotient, QuotientTexts, terms_of


def quotient_of(text: str, values: Mapping[str, Fraction | int]) -> OpenQuotient:
    """The function of ``lam`` that a text denotes, all other names having rational values.

    Examples
    --------
    >>> quotient_of("lam/(lam + k - 1)", {"k": 3}) == quotient_of("1 - 2/(2 + lam)", {})
    True
    >>> str(quotient_of("(lam - 1)**2/(lam - sqrt(lam))", {}))
    '(sqrt(lambda) - 1)*(sqrt(lambda) + 1)**2/sqrt(lambda)'
    """
    rationals = {name: Fraction(value) for name, value in values.items()}
    return QuotientTexts(rationals, None, root=True, longest=LARGEST_COMPARED).read(text)


def as_quotient(value: OpenQuotient | flint.fmpq | Fraction | int) -> OpenQuotient:
    """A number as a quotient; a quotient as it is."""
    return value if isinstance(value, OpenQuotient) else quotient_of("0", {}) + value


def polynomials(value: OpenQuotient) -> tuple[flint.fmpq_poly, flint.fmpq_poly]:
    """Numerator and denominator in ``t`` with ``lam = t^2``, the denominator with leading coefficient 1."""
    above, below = (
        flint.fmpq_poly([known.get(power, 0) for power in range(max(known, default=0) + 1)])
        for known in ({powers[0]: number for powers, number in terms_of(one)} for one in (value.top, value.bottom))
    )
    leading = below.coeffs()[-1]
    return above / leading, below / leading


def falls(value: OpenQuotient) -> bool:
    """Whether it certainly falls from ``lam = 1`` on: its derivative has no positive coefficient in ``t - 1``."""
    one, other = polynomials(value)
    slope = one * other.derivative() - one.derivative() * other
    return all(coefficient >= 0 for coefficient in slope(flint.fmpq_poly([1, 1])).coeffs())


def level_between(one: OpenQuotient, other: OpenQuotient, lam: Real, level: Real) -> bool:
    """Whether ``one`` is ``other`` times a level, at a value of ``lam``: decided, unless ``lam`` is a square.

    The root of an exponential is transcendental: two polynomials in it with rational coefficients are the same one, or
    differ. Of a rational ``lam`` its root has degree 2.

    Examples
    --------
    >>> from symshuffle.base.numbers import Exp
    >>> root, unit = quotient_of("sqrt(lam)", {}), quotient_of("1", {})
    >>> [level_between(root, unit, Exp(Fraction(1)), Exp(eps)) for eps in (Fraction(1, 2), Fraction(1, 3))]
    [True, False]
    """
    (a, b), (c, d) = polynomials(one), polynomials(other)
    left, right = a * d, c * b
    if isinstance(lam, Fraction):
        of_root = flint.fmpq_poly([flint.fmpq(-lam.numerator, lam.denominator), 0, 1])
        left, right = left % of_root, right % of_root
    if not left or not right:
        return not left and not right
    if isinstance(level, Fraction):
        return bool(left == right * flint.fmpq(level.numerator, level.denominator))
    power = left.degree() - right.degree()
    return isinstance(lam, Exp) and power * lam.exponent == 2 * level.exponent and bool(left == right.left_shift(power))
