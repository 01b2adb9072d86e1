"""Numbers as text: rationals as decimals, rounded outward, and readers, one for each kind, of what users write."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from numbers import Integral
from typing import Any, Final

import flint

from symshuffle.base.errors import InputError
from symshuffle.base.numbers.balls import Ball, Exp, Number, Verdict, less, sums_to_one, working_precision

_BRIEF: Final = 40

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


def brief(value: Number) -> str:
    """The number as it is, or the first digits of a long rational, for messages."""
    written = exact_text(value) if isinstance(value, Fraction) else str(value)
    if isinstance(value, Fraction) and len(written) > _BRIEF:
        return f"about {format_decimal(value, digits=6, up=False)}"
    return written


def shortest(value: Fraction) -> str:
    """The number as a decimal where that is exact and short; else as :func:`brief` writes it."""
    low, up = (format_decimal(value, up=side) for side in (False, True))
    return low if low == up else brief(value)


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


_RATIONAL: Final = re.compile(r"[+-]?\d+/\d+|[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?(\d{1,4}))?", re.ASCII)
_GROUPED: Final = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+|\d+(?:_\d+)+", re.ASCII)
_LONGEST_TEXT: Final = 1000
LARGEST_PARAMETER: Final = 10**15
"""Integer parameters beyond this are refused: nothing in the package stays accurate there."""


def _is_even(value: int) -> bool:
    return value % 2 == 0


def _is_power_of_two(value: int) -> bool:
    return value > 0 and value.bit_count() == 1


def is_prime(value: int) -> bool:
    """Whether an integer is a prime."""
    return value > 1 and bool(flint.fmpz(value).is_prime())


KINDS: Final[Mapping[str, Callable[[int], bool]]] = {
    "an even integer": _is_even,  # functions with names, as mechanisms are pickled
    "a power of 2, an integer": _is_power_of_two,
    "a prime, an integer": is_prime,
}
"""Kinds of integers that a parameter admits: what a value must be, and whether an integer is."""

_MOST_BITS: Final = 100_000
_LARGEST_EXPONENT: Final = 3000
"""Longer numbers are refused: "1e999999999" would ask for a gigabyte of zeros, and Python prints 4300 digits."""


def parse_rational(text: object, argument: str) -> Fraction:
    """Read a rational as ``3``, ``6/5``, ``0.1`` or ``1e-6``, exactly; a double by its shortest decimal form."""
    if isinstance(text, Fraction):
        return text
    written = str(text).strip()
    shown = text if len(written) <= 50 else f"{written[:47]}..."
    if len(written) > _LONGEST_TEXT:
        raise InputError(argument, shown, f"a number of at most {_LONGEST_TEXT} characters")
    form = _RATIONAL.fullmatch(written)
    if isinstance(text, bool) or form is None:
        raise InputError(argument, shown, f"a number such as 3, 6/5, 0.1 or 1e-6 (exponents to {_LARGEST_EXPONENT})")
    if int(form[1] or 0) > _LARGEST_EXPONENT:
        raise InputError(argument, shown, f"an exponent from -{_LARGEST_EXPONENT} to {_LARGEST_EXPONENT}")
    try:
        return Fraction(written)
    except ZeroDivisionError:
        raise InputError(argument, shown, "a denominator other than 0") from None


def ungrouped(text: str) -> str:
    """An integer written in groups, as ``200,000`` or ``200_000``, without their marks; any other text as it is.

    Commas separate groups of three; what could be a decimal comma (``0,100``) is no such integer.
    """
    return text.strip().replace(",", "").replace("_", "") if _GROUPED.fullmatch(text.strip()) else text


def as_number(entry: object, argument: str) -> Number:
    """Read a number of any kind: a fraction, an integer or double (also of NumPy), a ball, text such as ``1/3``."""
    if isinstance(entry, Fraction | Ball):
        return entry
    if isinstance(entry, str):
        return parse_rational(entry, argument)
    if _is_truth_value(entry):
        raise InputError(argument, entry, "a rational, a ball or a double")
    if isinstance(entry, Integral):
        return Fraction(int(entry))
    try:
        value = float(entry)  # type: ignore[arg-type]  # NumPy scalars are floats without being `float`
    except (TypeError, ValueError):
        raise InputError(argument, entry, "a rational, a ball or a double") from None
    if not math.isfinite(value):
        raise InputError(argument, entry, "a finite number")
    return value


def as_constant(entry: object, argument: str) -> Number | Exp:
    """The same where the exponential of a rational is welcome too."""
    return entry if isinstance(entry, Exp) else as_number(entry, argument)


def as_integer(entry: object, argument: str, least: int, most: int | None = None) -> int:
    """Read an integer of a range: an ``int``, one of NumPy, a fraction of denominator 1, or text, maybe grouped."""
    found: int | None = None
    if isinstance(entry, Integral) and not _is_truth_value(entry):
        found = int(entry)
    elif isinstance(entry, str | Fraction):
        try:
            read = parse_rational(ungrouped(entry) if isinstance(entry, str) else entry, argument)
        except InputError:
            read = Fraction(1, 2)
        found = int(read) if read.denominator == 1 else None
    if found is None or found < least or (most is not None and found > most):
        raise InputError(
            argument, entry, f"an integer of at least {least}" if most is None else f"an integer from {least} to {most}"
        )
    return found


def as_precision(bits: object) -> int:
    """Read the number of bits of a ball, from 2 to 100,000, as :func:`as_integer` does; argument ``bits``."""
    return as_integer(bits, "bits", 2, _MOST_BITS)


def as_width(rel: Any) -> float:
    """Check a relative width to aim at, a number in (0, 1) that is no text, and return it; argument ``rel``."""
    try:
        inside = not isinstance(rel, str) and 0 < float(as_number(rel, "rel")) < 1
    except (InputError, TypeError, OverflowError):
        inside = False
    if not inside:
        raise InputError("rel", rel, "a relative width, a number in (0, 1)")
    width: float = rel
    return width


def as_distribution(masses: Iterable[object], argument: str) -> tuple[Number, ...]:
    """Read probabilities: numbers of at least 0, of sum 1."""
    read = tuple(as_number(mass, f"{argument}[{y}]") for y, mass in enumerate(masses))
    for y, mass in enumerate(read):
        if less(mass, 0) is Verdict.TRUE:
            raise InputError(f"{argument}[{y}]", mass, "a probability of at least 0")
    if not read or not sums_to_one(read):
        total: Any = sum(read, start=Fraction(0))
        short = "" if isinstance(total, Ball) else f", which is {brief(total - 1)} off"
        raise InputError(argument, f"sum {brief(total)}{short}", "probabilities of sum 1")
    return read


def _is_truth_value(entry: object) -> bool:
    """Whether it is Python's or NumPy's; the latter is not told from a number by its type's bases."""
    return isinstance(entry, bool) or type(entry).__name__ in ("bool_", "bool")
