"""Numbers as text: rationals as decimals, rounded outward."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import flint

from symshuffle.base.errors import InputError
from symshuffle.base.numbers.balls import Ball, Number, working_precision

_MOST_DIGITS: Final = 100_000
"""Digits that are written within a second."""


_LONG_BITS: Final = 1 << 12
"""Bits from which a rational is written by way of its logarithm: products of long integers take minutes."""

_EXACT_BITS: Final = 100_000
"""Bits up to which a long rational next to a short decimal is rounded exactly."""


def format_decimal(value: Fraction, *, digits: int = 17, up: bool) -> str:
    """Decimal text of a rational with ``digits`` significant digits.

    Parameters
    ----------
    value : Fraction
        The number.
    digits : int
        Significant digits, at least 1.
    up : bool
        True rounds towards plus infinity, False towards minus infinity.

    Returns
    -------
    str
        A decimal that is at least (``up``) or at most the value.

    Examples
    --------
    >>> format_decimal(Fraction(2, 3), digits=4, up=True), format_decimal(Fraction(2, 3), digits=4, up=False)
    ('0.6667', '0.6666')
    """
    digits = int(digits)  # a NumPy integer has a largest value
    if digits > _MOST_DIGITS:
        raise InputError("digits", digits, f"at most {_MOST_DIGITS} digits")
    if value == 0:
        return "0"
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _LONG_BITS:
        return _format_long(value, digits, up=up)
    exponent = _decimal_exponent(abs(value))
    scaled = value * Fraction(10) ** (digits - 1 - exponent)
    mantissa = -((-scaled.numerator) // scaled.denominator) if up else scaled.numerator // scaled.denominator
    return _layout(mantissa, exponent - digits + 1)


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number of things in words."""
    return f"{number} {noun}" if number == 1 else f"{number} {plural or f'{noun}s'}"


def _format_long(value: Fraction, digits: int, *, up: bool) -> str:
    """The same of a rational of many bits, from balls around its leading ones; it may be one unit further out."""
    bits = 4 * digits + 128
    with working_precision(bits):
        size = _leading(abs(value.numerator), bits) / _leading(value.denominator, bits)
        logarithm = size.log() / flint.arb(10).log()
        exponent = math.floor(Ball.from_arb(logarithm, bits).midpoint)
        ball = Ball.from_arb(size * flint.arb(10) ** (digits - 1 - exponent), bits)
        if ball.lower < 10 ** (digits - 1):  # the logarithm was next to an integer
            exponent -= 1
            ball = Ball.from_arb(size * flint.arb(10) ** (digits - 1 - exponent), bits)
    if value < 0:
        ball = -ball
    rounded = math.ceil if up else math.floor
    mantissa = rounded(ball.upper) if up else rounded(ball.lower)
    if rounded(ball.lower) != rounded(ball.upper) and value.numerator.bit_length() < _EXACT_BITS:
        mantissa = rounded(value * Fraction(10) ** (digits - 1 - exponent))  # next to a number of so many digits
    return _layout(mantissa, exponent - digits + 1)


def _leading(value: int, bits: int) -> flint.arb:
    """A ball around a positive integer from its leading bits."""
    cut = max(value.bit_length() - bits, 0)
    leading = flint.arb(value >> cut)
    return (leading.union(leading + 1) if cut else leading) * flint.arb(2) ** cut


def brief(value: Number, longest: int = 40) -> str:
    """The number as it is, or the first digits of a long rational, for messages."""
    written = exact_text(value) if isinstance(value, Fraction) else str(value)
    if isinstance(value, Fraction) and len(written) > longest:
        return f"about {format_decimal(value, digits=6, up=False)}"
    return written


def shortest(value: Fraction) -> str:
    """The number as a decimal where that is exact and short; else as :func:`brief` writes it."""
    low = format_decimal(value, up=False)
    return low if low == format_decimal(value, up=True) else brief(value)


def target_decimal(value: Fraction, *, up: bool) -> str:
    """The number as a decimal where that is exact and short; else 7 digits of it, rounded to one side."""
    low = format_decimal(value, up=False)
    return low if low == format_decimal(value, up=True) else format_decimal(value, digits=7, up=up)


def exact_text(value: Fraction) -> str:
    """All digits of a rational, however many there are: Python refuses to write integers of more than 4300."""
    return str(flint.fmpq(value.numerator, value.denominator))


def _decimal_exponent(value: Fraction) -> int:
    """The integer ``k`` with ``10**k <= value < 10**(k+1)``."""
    bits = value.numerator.bit_length() - value.denominator.bit_length()
    guess = int(bits * 0.30103) - 1
    power = Fraction(10) ** guess
    while power * 10 <= value:
        power, guess = power * 10, guess + 1
    while power > value:
        power, guess = power / 10, guess - 1
    return guess


def _layout(mantissa: int, exponent: int) -> str:
    sign, digits = ("-" if mantissa < 0 else ""), str(abs(mantissa)).rstrip("0") or "0"
    exponent += len(str(abs(mantissa))) - len(digits)
    point = len(digits) + exponent  # position of the decimal point counted from the first digit
    if not -4 < point <= 20:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{fraction}e{point - 1:+03d}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    if point >= len(digits):
        return f"{sign}{digits}{'0' * (point - len(digits))}"
    return f"{sign}{digits[:point]}.{digits[point:]}"


def format_log10(value: Fraction, *, digits: int = 15, up: bool) -> str:
    """Text of the decimal logarithm of a rational, rounded outward.

    Parameters
    ----------
    value : Fraction
        The number.
    digits : int
        Significant digits, at least 1.
    up : bool
        True for an upper bound on the logarithm, False for a lower bound.

    Returns
    -------
    str
        A decimal; ``-inf`` for zero, ``nan`` for a negative number.

    Examples
    --------
    >>> format_log10(Fraction(2), digits=4, up=True), format_log10(Fraction(2), digits=4, up=False)
    ('0.3011', '0.301')
    """
    if value <= 0:
        return "-inf" if value == 0 else "nan"
    with working_precision(192):
        size = _leading(value.numerator, 192) / _leading(value.denominator, 192)
        ball = Ball.from_arb(size.log() / flint.arb(10).log(), 192)
    return format_decimal(ball.upper if up else ball.lower, digits=digits, up=up)
