"""What users write, read as numbers: one reader for each kind, and one line of refusal that names the argument."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from numbers import Integral
from typing import Any, Final

import flint

from symshuffle.base.errors import InputError
from symshuffle.base.numbers.balls import Ball, Exp, Number, Verdict
from symshuffle.base.numbers.comparisons import less, sums_to_one
from symshuffle.base.numbers.decimals import brief

_RATIONAL: Final = re.compile(r"[+-]?\d+/\d+|[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?(\d{1,4}))?", re.ASCII)
_GROUPED: Final = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+|\d+(?:_\d+)+", re.ASCII)
_LONGEST_TEXT: Final = 1000
LARGEST_PARAMETER: Final = 10**15
"""Integer parameters beyond this are refused: nothing in the package stays accurate there."""


def _is_even(value: int) -> bool:
    return value % 2 == 0


def _is_power_of_two(value: int) -> bool:
    return value > 0 and value.bit_count() == 1


def _is_prime(value: int) -> bool:
    return value > 1 and bool(flint.fmpz(value).is_prime())


KINDS: Final[Mapping[str, Callable[[int], bool]]] = {
    "an even integer": _is_even,
    "a power of 2, an integer": _is_power_of_two,
    "a prime, an integer": _is_prime,
}
"""Kinds of integers that a parameter admits: what a value must be, and whether an integer is."""

_MOST_BITS: Final = 100_000
_LARGEST_EXPONENT: Final = 3000
"""Longer numbers are refused: "1e999999999" would ask for a gigabyte of zeros, and Python prints 4300 digits."""


def parse_rational(text: object, argument: str) -> Fraction:
    """Read a rational number written as ``3``, ``6/5``, ``0.1`` or ``1e-6``, exactly as written.

    A ``float`` is read by its shortest decimal form: ``0.1`` means one tenth.
    """
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

    Examples
    --------
    >>> ungrouped("200,000"), ungrouped("1_000"), ungrouped("0,100")
    ('200000', '1000', '0,100')
    """
    return text.strip().replace(",", "").replace("_", "") if _GROUPED.fullmatch(text.strip()) else text


def as_number(entry: object, argument: str) -> Number:
    """Read one number where every kind is welcome: a fraction, an integer, a ball, text such as ``1/3``, a double.

    NumPy's integers and doubles count as what they are; a truth value is no number.
    """
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
    """Read an integer of a range: an ``int``, one of NumPy, a fraction of denominator 1, or text; no truth value.

    Text may be grouped, as :func:`ungrouped` reads it.

    Examples
    --------
    >>> as_integer("10", "n", 1), as_integer(Fraction(4, 2), "k", 2)
    (10, 2)
    """
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
