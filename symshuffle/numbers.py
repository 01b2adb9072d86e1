"""Exact rationals, balls and floats, and the one place where they are compared.

A *number* of this package is one of three things:

- a :class:`fractions.Fraction`: exact;
- a :class:`Ball`: a real number known to lie between two dyadic rationals;
- a ``float``: a double without any claim.

A *real constant* given by a user is a ``Fraction`` or an :class:`Exp`, the exponential of a rational; both can
be turned into a ball of any precision, so nothing is lost between the command line and the arithmetic.

Comparing balls has three outcomes. Every comparison therefore returns a :class:`Verdict`, and asking an
undecided verdict for its truth value raises instead of answering "no".
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any, Final, TypeAlias, final

import flint

from symshuffle.errors import InputError, NotDecided

FLOAT_SUM_SLACK: Final = 1e-12
"""How far probabilities in doubles may be from summing to 1."""

DEFAULT_BITS: Final = 128
"""Working precision of balls where the caller names none."""

_RATIONAL: Final = re.compile(r"[+-]?\d+/\d+|[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?(\d{1,4}))?", re.ASCII)
_LONGEST_TEXT: Final = 1000
_LARGEST_EXPONENT: Final = 3000
"""Longer numbers are refused: "1e999999999" would ask for a gigabyte of zeros, and Python prints 4300 digits."""

_BRIEF: Final = 40

MOST_DOUBLINGS: Final = 1 << 24
"""Binary exponents beyond this are rounded outward: as a rational, each end of such a bracket would take megabytes."""

_LONG_BITS: Final = 1 << 12
"""Bits from which a rational is written by way of its logarithm: products of long integers take minutes."""

_EXACT_BITS: Final = 100_000
"""Bits up to which a long rational next to a short decimal is rounded exactly."""


@final
class Verdict(enum.Enum):
    """Outcome of a comparison: true, false, or not decided at the precision at hand."""

    TRUE = "true"
    FALSE = "false"
    UNDECIDED = "undecided"

    @classmethod
    def of(cls, truth: bool) -> Verdict:
        """The verdict of a decided question."""
        return cls.TRUE if truth else cls.FALSE

    def __bool__(self) -> bool:
        if self is Verdict.UNDECIDED:
            raise NotDecided("two balls overlap: the comparison is undecided at this precision; raise `bits`")
        return self is Verdict.TRUE

    def __invert__(self) -> Verdict:
        swap = {Verdict.TRUE: Verdict.FALSE, Verdict.FALSE: Verdict.TRUE}
        return swap.get(self, Verdict.UNDECIDED)

    def __and__(self, other: Verdict) -> Verdict:
        if Verdict.FALSE in (self, other):
            return Verdict.FALSE
        return Verdict.TRUE if self is other is Verdict.TRUE else Verdict.UNDECIDED

    def __or__(self, other: Verdict) -> Verdict:
        return ~(~self & ~other)


@contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Run the body with ``bits`` bits of ball arithmetic, and restore what was set before.

    The setting is global to the process (a property of python-flint), which is why parallel work in this
    package uses processes and never threads.
    """
    with flint.ctx.workprec(bits):
        yield


@final
@dataclass(frozen=True, slots=True)
class Exp:
    """The real number ``e ** exponent`` for a rational exponent.

    Parameters
    ----------
    exponent : Fraction
        For a privacy level ``eps`` this is ``eps`` itself, in nats.
    """

    exponent: Fraction

    def __post_init__(self) -> None:
        if not isinstance(self.exponent, Fraction):
            raise InputError("exponent", self.exponent, "a Fraction (parse_rational reads text and numbers)")

    def __str__(self) -> str:
        return f"exp({self.exponent})"


Real: TypeAlias = "Fraction | Exp"
"""A real constant as a user gives it: rational, or the exponential of a rational."""


def _arb_of_fraction(value: Fraction) -> flint.arb:
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def _fraction_below(exact: flint.arb) -> Fraction:
    """An exact ``arb`` as a rational; one nearer to 0 than ``2**-MOST_DOUBLINGS`` is rounded down to a multiple."""
    mantissa, exponent = (int(part) for part in exact.man_exp())
    if exponent > MOST_DOUBLINGS:
        raise NotDecided(f"a number beyond 2^{MOST_DOUBLINGS} has no place in a ball")
    if exponent >= 0:
        return Fraction(mantissa << exponent)
    if exponent + mantissa.bit_length() < -MOST_DOUBLINGS:
        return Fraction(-1 if mantissa < 0 else 0, 1 << MOST_DOUBLINGS)
    return Fraction(mantissa, 1 << -exponent)


@final
@dataclass(frozen=True, slots=True)
class Ball:
    """A real number known to lie in ``[lower, upper]``; arithmetic rounds outward at ``bits`` bits.

    The end points are exact dyadic rationals, so that a ball can be pickled, hashed and printed; python-flint
    is the arithmetic inside each operation and appears in no field.

    Parameters
    ----------
    lower, upper : Fraction
        End points, ``lower <= upper``.
    bits : int
        Working precision of operations with this ball.
    """

    lower: Fraction
    upper: Fraction
    bits: int = DEFAULT_BITS

    def __post_init__(self) -> None:
        if self.lower > self.upper:
            raise InputError("ball", f"[{self.lower}, {self.upper}]", "lower <= upper")

    @classmethod
    def from_arb(cls, value: flint.arb, bits: int = DEFAULT_BITS) -> Ball:
        """Enclose an ``arb``; a non-finite one is refused."""
        if not value.is_finite():
            raise NotDecided(f"a ball of {bits} bits lost its value (division by an interval around zero?)")
        return cls(_fraction_below(value.lower()), -_fraction_below(-value.upper()), bits)

    @property
    def midpoint(self) -> Fraction:
        """Centre of the ball."""
        return (self.lower + self.upper) / 2

    @property
    def radius(self) -> Fraction:
        """Half of the width."""
        return (self.upper - self.lower) / 2

    def arb(self) -> flint.arb:
        """The ball as an ``arb`` that contains it, at the current working precision or better."""
        with working_precision(max(flint.ctx.prec, self.bits)):
            return _arb_of_fraction(self.lower).union(_arb_of_fraction(self.upper))

    def _combine(self, other: object, operation: str, *, swapped: bool = False) -> Any:
        if not isinstance(other, Ball | Fraction | int):
            return NotImplemented
        bits = min(self.bits, other.bits) if isinstance(other, Ball) else self.bits
        with working_precision(bits):
            left, right = self.arb(), to_arb(other)
            if swapped:
                left, right = right, left
            return Ball.from_arb(getattr(left, operation)(right), bits)

    def __add__(self, other: object) -> Any:
        return self._combine(other, "__add__")

    __radd__ = __add__

    def __mul__(self, other: object) -> Any:
        return self._combine(other, "__mul__")

    __rmul__ = __mul__

    def __sub__(self, other: object) -> Any:
        return self._combine(other, "__sub__")

    def __rsub__(self, other: object) -> Any:
        return self._combine(other, "__sub__", swapped=True)

    def __truediv__(self, other: object) -> Any:
        return self._combine(other, "__truediv__")

    def __rtruediv__(self, other: object) -> Any:
        return self._combine(other, "__truediv__", swapped=True)

    def __neg__(self) -> Ball:
        return Ball(-self.upper, -self.lower, self.bits)

    def __float__(self) -> float:
        return float(self.midpoint)

    def __str__(self) -> str:
        with working_precision(self.bits):
            return str(self.arb().str(20))

    def __repr__(self) -> str:
        return f"Ball({self})"


Number: TypeAlias = "Fraction | Ball | float"
"""An entry of a channel, an atom of a law, a probability: exact, enclosed, or a double."""


def to_arb(value: Number | Exp | int, /) -> flint.arb:
    """Enclose a number or a real constant at the current working precision.

    Doubles are refused: ``arb(0.1)`` does not contain 1/10, and nobody can know which of the two was meant.
    """
    match value:
        case Ball():
            return value.arb()
        case Exp():
            return _arb_of_fraction(value.exponent).exp()
        case Fraction() | int():
            return _arb_of_fraction(Fraction(value))
        case _:
            raise InputError("value", value, "a Fraction, an int, a Ball or an Exp (a double encloses nothing)")


def enclose(value: Number | Exp | int, bits: int = DEFAULT_BITS) -> Ball:
    """The ball of ``bits`` bits around a number or a real constant."""
    with working_precision(bits):
        return Ball.from_arb(to_arb(value), bits)


def to_float(value: Number | Exp | int) -> float:
    """The double nearest to the value (for a ball: to its midpoint)."""
    return float(enclose(value, 128)) if isinstance(value, Exp) else float(value)


def parse_rational(text: object, argument: str) -> Fraction:
    """Read a rational number written as ``3``, ``6/5``, ``0.1`` or ``1e-6``, exactly as written.

    A ``float`` is read by its shortest decimal form: ``0.1`` means one tenth.

    Raises
    ------
    InputError
        If the text is not a finite number in one of these forms.
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


def as_number(entry: object, argument: str) -> Number:
    """Read one number where every kind is welcome: a fraction, an integer, a ball, text such as ``1/3``, a double.

    NumPy's integers and doubles count as what they are; a truth value is no number.

    Raises
    ------
    InputError
        If it is anything else, or not finite.
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

    Raises
    ------
    InputError
        If it is anything else, a double included, or out of range.

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
            read = parse_rational(entry, argument)
        except InputError:
            read = Fraction(1, 2)
        found = int(read) if read.denominator == 1 else None
    if found is None or found < least or (most is not None and found > most):
        raise InputError(
            argument, entry, f"an integer of at least {least}" if most is None else f"an integer from {least} to {most}"
        )
    return found


def as_distribution(masses: Iterable[object], argument: str) -> tuple[Number, ...]:
    """Read probabilities: numbers of at least 0, of sum 1.

    Raises
    ------
    InputError
        If there is none, one is no number or negative, or the sum is not 1 (as :func:`sums_to_one` has it).
    """
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


def is_exact(values: Iterable[Number | Exp]) -> bool:
    """Whether every value is a rational number."""
    return all(isinstance(value, Fraction) for value in values)


def is_enclosed(values: Iterable[Number]) -> bool:
    """Whether no value is a bare double."""
    return not any(isinstance(value, float) for value in values)


def ball_arguments(values: Sequence[Number]) -> list[flint.arb]:
    """All values as ``arb`` at the current working precision; doubles are refused."""
    return [to_arb(value) for value in values]


def less(x: Number | Exp | int, y: Number | Exp | int) -> Verdict:
    """Whether ``x < y``."""
    if not isinstance(x, Ball | Exp) and not isinstance(y, Ball | Exp):
        return Verdict.of(x < y)
    if isinstance(x, Exp) and isinstance(y, Exp):
        return Verdict.of(x.exponent < y.exponent)
    left, right = (v if isinstance(v, Ball) else enclose(v) for v in (x, y))
    if left.upper < right.lower:
        return Verdict.TRUE
    return Verdict.FALSE if left.lower >= right.upper else Verdict.UNDECIDED


def equal(x: Number | Exp | int, y: Number | Exp | int) -> Verdict:
    """Whether ``x == y``; two balls are equal only if both are the same point."""
    if not isinstance(x, Ball | Exp) and not isinstance(y, Ball | Exp):
        return Verdict.of(x == y)
    if isinstance(x, Exp) and isinstance(y, Exp):
        return Verdict.of(x.exponent == y.exponent)
    left, right = (v if isinstance(v, Ball) else enclose(v) for v in (x, y))
    if left.upper < right.lower or right.upper < left.lower:
        return Verdict.FALSE
    points = left.lower == left.upper == right.lower == right.upper
    return Verdict.TRUE if points else Verdict.UNDECIDED


def sums_to_one(masses: Sequence[Number]) -> bool:
    """Whether masses may be probabilities: sum 1 exactly, or as far as balls tell, or within FLOAT_SUM_SLACK."""
    if is_enclosed(masses):
        total: Any = sum(masses, start=Fraction(0))
        return equal(total, 1) is not Verdict.FALSE
    return abs(math.fsum(to_float(mass) for mass in masses) - 1) <= FLOAT_SUM_SLACK


def positive_part(x: Any) -> Any:
    """The positive part ``max(x, 0)`` of a number; of a ball, the enclosure of it."""
    if isinstance(x, Ball):
        return Ball(max(x.lower, Fraction(0)), max(x.upper, Fraction(0)), x.bits)
    return x if x > 0 else type(x)(0)


def minimum(values: Iterable[Any]) -> Any:
    """The smallest of some numbers of one kind; of balls, the enclosure of it."""
    items = list(values)
    if any(isinstance(item, Ball) for item in items):
        balls = [item if isinstance(item, Ball) else enclose(item) for item in items]
        bits = min(ball.bits for ball in balls)
        return Ball(min(ball.lower for ball in balls), min(ball.upper for ball in balls), bits)
    return min(items)


def maximum(values: Iterable[Any]) -> Any:
    """The largest of some numbers of one kind; of balls, the enclosure of it."""
    return -minimum(-value for value in values)


def lower_end(value: Number) -> Fraction:
    """A rational not above the value (a double is taken at its word)."""
    return value.lower if isinstance(value, Ball) else Fraction(value)


def upper_end(value: Number) -> Fraction:
    """A rational not below the value (a double is taken at its word)."""
    return value.upper if isinstance(value, Ball) else Fraction(value)


def format_decimal(value: Fraction, *, digits: int = 17, up: bool) -> str:
    """Write a rational with ``digits`` significant decimal digits, rounded up or down as asked.

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
    written = str(value)
    long = isinstance(value, Fraction) and len(written) > _BRIEF
    return f"about {format_decimal(value, digits=6, up=False)}" if long else written  # type: ignore[arg-type]


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
    """Write the decimal logarithm of a rational, rounded outward: ``-inf`` of zero, ``nan`` of a negative number."""
    if value <= 0:
        return "-inf" if value == 0 else "nan"
    with working_precision(192):
        size = _leading(value.numerator, 192) / _leading(value.denominator, 192)
        ball = Ball.from_arb(size.log() / flint.arb(10).log(), 192)
    return format_decimal(ball.upper if up else ball.lower, digits=digits, up=up)
