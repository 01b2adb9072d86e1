"""Readers of numbers, each with the name of the argument for messages; every argument of a caller is read here.

A ``str`` is read by its digits, a ``float`` (and NumPy's ``float64``, which is one) by its shortest decimal form, and a
number of any other type by its value. Truth values, infinities and constants that are not rational are refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational
from numbers import Real as RealNumber
from typing import Any, Final

import flint

from symshuffle.base.errors import InputError
from symshuffle.base.numbers.balls import Ball, Exp, Number

_RATIONAL: Final = re.compile(r"[+-]?\d+/\d+|[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?(\d{1,4}))?", re.ASCII)
_GROUPED: Final = re.compile(r"[1-9]\d{0,2}(?:(?:,\d{3})+|(?:_\d{3})+)", re.ASCII)
_POINTED: Final = re.compile(r"[1-9]\d{0,2}(?:\.000)+", re.ASCII)
"""Text that is an integer with decimals in some countries, and a thousand times it in others."""

_LONGEST_TEXT: Final = 1000
LARGEST_PARAMETER: Final = 10**15
"""Integer parameters beyond this are refused: nothing in the package stays accurate there."""

_MOST_BITS: Final = 100_000
"""Bits of a ball, and doublings or halvings of a binary number, beyond which it is refused: it would fill memory."""

_LARGEST_EXPONENT: Final = 3000
"""Longer numbers are refused: "1e999999999" would ask for a gigabyte of zeros, and Python prints 4300 digits."""

_EXPECTED: Final = f"a number such as 3, 6/5, 0.1 or 1e-6 (exponents to {_LARGEST_EXPONENT})"
_EXPONENTS: Final = f"an exponent from -{_LARGEST_EXPONENT} to {_LARGEST_EXPONENT}"


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


def parse_rational(value: object, argument: str) -> Fraction:
    """Read a rational: text such as ``3``, ``6/5``, ``0.1`` or ``1e-6``, or a number of any type.

    A ``float`` is the shortest decimal that it shows, so that 0.1 is one tenth. A number of another type (of NumPy,
    SymPy, mpmath, gmpy2, python-flint or the standard library) is the rational that it is: ``numpy.float32(0.1)`` is
    13421773/134217728. A ball is read if its radius is 0.

    Raises
    ------
    InputError
        If the value is a truth value, no number, not finite, not rational, or too long.
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, str):
        return _of_text(value, argument)
    if type(value) is int:
        return Fraction(value)
    value = scalar(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InputError(argument, value, f"a finite number, {_EXPECTED.removeprefix('a number ')}")
        return Fraction(repr(float(value)))
    is_time = type(value).__name__ == "timedelta64"  # an integer to NumPy
    found = None if is_truth_value(value) or is_time else _by_value(value, argument)
    if found is None:
        constant = _is_constant(value) or (is_expression(value) and not getattr(value, "free_symbols", ()))
        owner = "mpmath" if _is_constant(value) else "SymPy"
        also = f"; a constant of {owner} that is not rational is not read: give its decimals" if constant else ""
        raise InputError(argument, value, f"{_EXPECTED}{also}")
    return found


def parse_inside(value: object, argument: str, interval: str) -> Fraction:
    """Read a rational inside of an interval, written as ``(0, 1]`` or ``[0, inf)``."""
    read = parse_rational(value, argument)
    low, high = interval[1:-1].split(", ")
    above = read > Fraction(low) if interval[0] == "(" else read >= Fraction(low)
    if above and (high == "inf" or (read < Fraction(high) if interval[-1] == ")" else read <= Fraction(high))):
        return read
    bound = f"{'>' if interval[0] == '(' else '>='} {low}"
    raise InputError(argument, value, f"a number {bound}" if high == "inf" else f"a number in {interval}")


def _of_text(text: str, argument: str) -> Fraction:
    written = text.strip()
    if len(written) > _LONGEST_TEXT:
        raise InputError(argument, text, f"a number of at most {_LONGEST_TEXT} characters")
    form = _RATIONAL.fullmatch(written)
    if form is None:
        raise InputError(argument, text, _EXPECTED)
    if int(form[1] or 0) > _LARGEST_EXPONENT:
        raise InputError(argument, text, _EXPONENTS)
    try:
        return Fraction(written)
    except ZeroDivisionError:
        raise InputError(argument, text, "a denominator other than 0") from None


def scalar(value: object) -> Any:
    """The number in an array of no dimension, maybe masked, which is no number; any other value as it is."""
    if getattr(value, "ndim", None) == 0 and type(value).__name__ in ("ndarray", "MaskedArray"):
        return value[()]  # type: ignore[index]  # an array
    return value


def is_truth_value(entry: object) -> bool:
    """Whether it is Python's or NumPy's; the latter is not distinguished from a number by its type's bases."""
    return isinstance(entry, bool) or type(entry).__name__ in ("bool_", "bool")


def as_truth(entry: object, argument: str, expected: str = "true or false") -> bool:
    """Read a truth value, Python's or NumPy's."""
    value = scalar(entry)
    if not is_truth_value(value):
        raise InputError(argument, entry, expected)
    return bool(value)


def as_header(header: object) -> bool | None:
    """Read whether a table has a line of names, None where it is to be found out; argument ``header``."""
    return None if header is None else as_truth(header, "header", "True, False or None")


def _by_value(value: Any, argument: str) -> Fraction | None:
    """The rational that a number of another type than ``float`` is; None for what is no rational number."""
    if isinstance(value, Integral):
        return Fraction(int(value))
    if isinstance(value, Rational):  # also of SymPy and gmpy2
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, flint.fmpz):
        return Fraction(int(value))
    if isinstance(value, flint.fmpq):
        return Fraction(int(value.p), int(value.q))
    if isinstance(value, Ball):
        return value.lower if value.lower == value.upper else None
    if isinstance(value, Decimal):
        if not value.is_finite():
            return None
        if value and not -_LARGEST_EXPONENT <= value.adjusted() <= _LARGEST_EXPONENT:
            raise InputError(argument, value, _EXPONENTS)
        return Fraction(value)
    parts = binary_parts(value)
    if parts is not None:
        mantissa, exponent = parts
        if abs(exponent) > _MOST_BITS:
            raise InputError(argument, value, f"a number from 2^-{_MOST_BITS} to 2^{_MOST_BITS}")
        return Fraction(mantissa) * Fraction(2) ** exponent
    if isinstance(value, RealNumber) and hasattr(value, "as_integer_ratio"):  # NumPy's other widths, gmpy2.mpfr
        try:
            numerator, denominator = value.as_integer_ratio()
        except (OverflowError, ValueError):  # infinite, or no number
            return None
        return Fraction(int(numerator), int(denominator))
    return None


def is_expression(value: object) -> bool:
    """Whether a value is an expression of SymPy other than a rational number or a ``Float``."""
    return hasattr(value, "free_symbols") and not (value.is_Rational or value.is_Float)  # type: ignore[attr-defined]


def _is_constant(value: object) -> bool:
    """Whether a value is a constant of mpmath, as ``mpmath.pi``: it has the digits of the precision that is set."""
    return type(value).__name__ == "constant" and type(value).__module__.startswith("mpmath")


def binary_parts(value: Any) -> tuple[int, int] | None:
    """Mantissa and exponent of a finite number of mpmath, SymPy (``Float``) or python-flint; None for others."""
    if isinstance(value, flint.arb):
        if not (value.is_finite() and value.is_exact()):
            return None
        mantissa, exponent = value.man_exp()
        return int(mantissa), int(exponent)
    if isinstance(value, flint.arf):
        if not value.is_finite():
            return None
        mantissa, exponent = value.man_exp()
        return int(mantissa), int(exponent)
    parts = None if _is_constant(value) else getattr(value, "_mpf_", None)
    if isinstance(parts, tuple) and len(parts) == 4:
        sign, mantissa, exponent, _ = parts
        if not mantissa and exponent:  # infinite, or no number
            return None
        return (-int(mantissa) if sign else int(mantissa)), int(exponent)
    return None


def ungrouped(text: str) -> str:
    """An integer in groups of three, as ``200,000`` or ``200_000``, without their marks; any other text as it is.

    What could be a decimal comma (``0,100``) is no such integer.
    """
    return text.strip().replace(",", "").replace("_", "") if _GROUPED.fullmatch(text.strip()) else text


def parse_number(entry: object, argument: str) -> Fraction | Ball:
    """The same where a ball is welcome too: one of this package, or one of python-flint."""
    if isinstance(entry, Ball):
        return entry
    if isinstance(entry, flint.arb) and entry.is_finite() and not entry.is_exact():
        return Ball.from_arb(entry)
    return parse_rational(entry, argument)


def as_number(entry: object, argument: str) -> Number:
    """The same where arithmetic in doubles is asked for by doubles: those, also NumPy's, stay what they are."""
    value = scalar(entry)
    if isinstance(value, float) or is_numpy_float(value):
        if not math.isfinite(value):
            raise InputError(argument, entry, "a finite number")
        return float(value)
    return parse_number(value, argument)


def is_numpy_float(value: object) -> bool:
    """Whether a value is a floating-point number of NumPy, of any width."""
    return type(value).__module__ == "numpy" and isinstance(value, RealNumber) and not isinstance(value, Integral)


def parse_constant(entry: object, argument: str) -> Fraction | Exp:
    """Read a real constant: a rational, or the exponential of one."""
    return entry if isinstance(entry, Exp) else parse_rational(entry, argument)


def as_integer(entry: object, argument: str, least: int, most: int | None = None) -> int:
    """Read an integer of a range: a number of any type whose value is one, or text, maybe in groups of three."""
    found: int | None = None
    if type(entry) is int:
        found = entry
    elif isinstance(entry, str) and _POINTED.fullmatch(entry.strip()):
        few, many = entry.strip().partition(".")[0], entry.strip().replace(".", "")
        raise InputError(argument, entry, f"{few} or {many}, without a point")
    else:
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


def as_width(rtol: object) -> float:
    """Read a relative width to aim at, a number from 1e-300 to below 1, as a double; argument ``rtol``."""
    try:
        width = rtol if type(rtol) is float else float(parse_rational(rtol, "rtol"))
    except (InputError, OverflowError):
        width = 0.0
    if not 1e-300 <= width < 1:
        raise InputError("rtol", rtol, "a relative width, a number in (0, 1), at least 1e-300")
    return width
