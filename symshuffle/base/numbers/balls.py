"""The three kinds of number, the exponential of a rational, and comparisons, three-valued where balls may overlap."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from operator import attrgetter
from typing import Any, Final, TypeAlias, final

import flint

from symshuffle.base.errors import InputError, NotDecided

DEFAULT_BITS: Final = 128
"""Working precision of balls where the caller names none."""

MOST_DOUBLINGS: Final = 1 << 24
"""Binary exponents beyond this are rounded outward: as a rational, each end of such a bracket would take megabytes."""


@final
class Verdict(enum.Enum):
    """Outcome of a comparison: true, false, or undecided at the given precision."""

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


def working_precision(bits: int) -> AbstractContextManager[Any]:
    """Return a context in which ball arithmetic has ``bits`` bits; what was set before is restored.

    The setting is global to the process (a property of python-flint), which is why parallel work in this package uses
    processes and never threads.
    """
    return flint.ctx.workprec(bits)


def check_rational(value: object, argument: str) -> None:
    """Refuse what is neither a Fraction nor an integer: a double is no exact number, however short it is written."""
    if isinstance(value, bool) or not isinstance(value, Fraction | Integral):
        raise InputError(argument, value, "a Fraction or an integer (parse_rational reads a double as a decimal)")


@final
@dataclass(frozen=True, slots=True)
class Exp:
    """Real number ``e ** exponent`` for a rational exponent.

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


def usual_bits(*numbers: Real) -> int:
    """Working precision where the caller names none: more next to 1, of which differences are taken."""
    least = Fraction(1)
    for x in numbers:
        level = abs(x.exponent) if isinstance(x, Exp) else abs(x - 1)
        least = min(least, level or least)
    return DEFAULT_BITS + max(0, math.ceil(1 / least).bit_length() - 32)


def _fraction_below(exact: flint.arb) -> Fraction:
    """An exact ``arb`` as a rational; one nearer to 0 than ``2**-MOST_DOUBLINGS`` is rounded down to a multiple."""
    mantissa, exponent = map(int, exact.man_exp())
    if exponent > MOST_DOUBLINGS:
        raise NotDecided(f"a number beyond 2^{MOST_DOUBLINGS} is too large for a ball")
    if exponent >= 0:
        return Fraction(mantissa << exponent)
    if exponent + mantissa.bit_length() < -MOST_DOUBLINGS:
        return Fraction(-1 if mantissa < 0 else 0, 1 << MOST_DOUBLINGS)
    return Fraction(mantissa, 1 << -exponent)


@final
@dataclass(frozen=True, slots=True)
class Ball:
    """Real number in an interval ``[lower, upper]``, with outward rounding.

    Arithmetic rounds outward at ``bits`` bits. The end points are exact dyadic rationals, so that a ball can be
    pickled, hashed and printed; python-flint is the arithmetic inside each operation and appears in no field.

    Parameters
    ----------
    lower, upper : Fraction
        End points, ``lower <= upper``.
    bits : int
        Working precision of operations with this ball.

    Raises
    ------
    InputError
        If an end point is neither a Fraction nor an integer, or ``lower > upper``.
    """

    lower: Fraction
    upper: Fraction
    bits: int = DEFAULT_BITS

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            if type(end := getattr(self, name)) is not Fraction:
                check_rational(end, name)
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
        """An ``arb`` that contains the ball, at its precision or the current one."""
        return to_arb(self)

    def _combine(self, other: object, operation: str, *, swapped: bool = False) -> Any:
        if not isinstance(other, Ball | Fraction | int):
            return NotImplemented
        bits = min(self.bits, other.bits) if isinstance(other, Ball) else self.bits
        with working_precision(bits):
            left, right = to_arb(self), to_arb(other)
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
        # The midpoint, rounded once by the division of integers: to reduce the fraction would be dearer.
        low, high = self.lower, self.upper
        numerator = low.numerator * high.denominator + high.numerator * low.denominator
        return numerator / (2 * low.denominator * high.denominator)

    def __str__(self) -> str:
        with working_precision(self.bits):
            return str(to_arb(self).str(20))

    def __repr__(self) -> str:
        return f"Ball({self})"


Number: TypeAlias = "Fraction | Ball | float"
"""An entry of a channel, an atom of a law, a probability: exact, enclosed, or a double."""


def squared(x: flint.arb) -> flint.arb:
    """``x * x``: in python-flint a power of a ball whose middle is 0 is no number."""
    return x * x


def to_arb(value: Number | Exp | int, /) -> flint.arb:
    """Enclose a number or a real constant at the current precision; a double, which encloses nothing, is refused."""
    match value:
        case Ball():
            with working_precision(max(flint.ctx.prec, value.bits)):
                return to_arb(value.lower).union(to_arb(value.upper))
        case Exp():
            return to_arb(value.exponent).exp()
        case Fraction() | int():
            return flint.arb(flint.fmpq(value.numerator, value.denominator))
        case _:
            raise InputError("value", value, "a Fraction, an int, a Ball or an Exp (a double encloses nothing)")


def from_flint(values: Iterable[Any], bits: int = DEFAULT_BITS) -> list[Fraction | Ball]:
    """Rationals and balls of python-flint, and integers, as numbers of this package."""
    found: list[Fraction | Ball] = []
    for value in values:
        if isinstance(value, flint.arb):
            found.append(Ball.from_arb(value, bits))
        else:
            found.append(Fraction(value) if isinstance(value, int) else Fraction(int(value.p), int(value.q)))
    return found


def enclose(value: Number | Exp | int, bits: int = DEFAULT_BITS) -> Ball:
    """Ball that contains a number or a real constant.

    Parameters
    ----------
    value : Fraction, int, Ball or Exp
        What to enclose.
    bits : int
        Working precision.

    Returns
    -------
    Ball
        With rational end points.

    Raises
    ------
    InputError
        If the value is a double, which encloses nothing.

    Examples
    --------
    >>> ball = enclose(Exp(Fraction(1)))
    >>> ball.lower < ball.upper, round(float(ball), 9)
    (True, 2.718281828)
    """
    with working_precision(bits):
        return Ball.from_arb(to_arb(value), bits)


def to_float(value: Number | Exp | int) -> float:
    """The double nearest to the value (for a ball: to its midpoint)."""
    return float(enclose(value, 128)) if isinstance(value, Exp) else float(value)


def to_floats(values: Iterable[Number]) -> tuple[float, ...]:
    """The doubles nearest to some numbers; ``OverflowError`` where one is beyond their range."""
    return tuple(map(float, values))


def natural_log(value: Fraction) -> float:
    """About the logarithm of a rational above 0, which may lie beyond the range of doubles."""
    return math.log(value.numerator) - math.log(value.denominator)


def enclose_log(value: Fraction) -> Ball:
    """Ball that contains the logarithm of a rational above 0, with all its digits next to 1 too."""
    with working_precision(DEFAULT_BITS):
        return Ball.from_arb(to_arb(value - 1).log1p())


FLOAT_SUM_SLACK: Final = 1e-12
"""How far probabilities in doubles may be from summing to 1."""


def is_exact(values: Iterable[Number | Exp]) -> bool:
    """Whether every value is a rational number."""
    return set(map(type, values)) <= {Fraction}


def is_enclosed(values: Iterable[Number]) -> bool:
    """Whether every value is a rational number or a ball."""
    return set(map(type, values)) <= {Fraction, Ball, int}


def ball_arguments(values: Sequence[Number]) -> list[flint.arb]:
    """All values as ``arb`` at the current working precision; doubles are refused."""
    return list(map(to_arb, values))


def less(x: Number | Exp | int, y: Number | Exp | int) -> Verdict:
    """Whether ``x < y``."""
    if not isinstance(x, Ball | Exp) and not isinstance(y, Ball | Exp):
        return Verdict.TRUE if x < y else Verdict.FALSE
    if isinstance(x, Exp) or isinstance(y, Exp):
        x, y = _as_power(x), _as_power(y)
        if isinstance(x, Exp) and isinstance(y, Exp):
            return Verdict.TRUE if x.exponent < y.exponent else Verdict.FALSE
    (low, high), (least, most) = _ends(x), _ends(y)
    if high < least:
        return Verdict.TRUE
    return Verdict.FALSE if low >= most else Verdict.UNDECIDED


def _as_power(value: Number | Exp | int) -> Number | Exp | int:
    """The number itself; 1 as ``exp(0)``, beside an ``Exp``, which no ball tells from 1 where its exponent is tiny."""
    return Exp(Fraction(0)) if not isinstance(value, Ball | Exp) and value == 1 else value


def equal(x: Number | Exp | int, y: Number | Exp | int) -> Verdict:
    """Whether ``x == y``; two balls are equal only if both are the same point."""
    if not isinstance(x, Ball | Exp) and not isinstance(y, Ball | Exp):
        return Verdict.TRUE if x == y else Verdict.FALSE
    if isinstance(x, Exp) or isinstance(y, Exp):
        x, y = _as_power(x), _as_power(y)
        if isinstance(x, Exp) and isinstance(y, Exp):
            return Verdict.TRUE if x.exponent == y.exponent else Verdict.FALSE
    (low, high), (least, most) = _ends(x), _ends(y)
    if high < least or most < low:
        return Verdict.FALSE
    return Verdict.TRUE if low == high == least == most else Verdict.UNDECIDED


def _ends(value: Number | Exp | int) -> tuple[Any, Any]:
    """Numbers that it lies between, both itself where it is rational; a double, which encloses nothing, is refused."""
    if not isinstance(value, Ball | Fraction | int):
        value = enclose(value)
    return (value.lower, value.upper) if isinstance(value, Ball) else (value, value)


def sums_to_one(masses: Sequence[Number]) -> bool:
    """Whether masses may be probabilities: sum 1 exactly, or as far as balls tell, or within FLOAT_SUM_SLACK."""
    if is_enclosed(masses):
        lowest, highest = both_ends(masses)
        low = exact_sum(lowest)
        return bool(low == 1 if is_exact(masses) else low <= 1 <= exact_sum(highest))
    return abs(math.fsum(to_float(mass) for mass in masses) - 1) <= FLOAT_SUM_SLACK


def exact_sum(values: Iterable[Any]) -> Any:
    """The sum of numbers; of fractions over one denominator: many take one greatest common divisor, not one each."""
    terms = list(values)
    if not is_exact(terms):
        return sum(terms, start=Fraction(0))
    denominator, numerator = math.lcm(*set(map(attrgetter("denominator"), terms))), 0
    for term in terms:
        numerator += term.numerator * (denominator // term.denominator)
    return Fraction(numerator, denominator)


def mean_and_variance(values: Sequence[Number], weights: Sequence[Number]) -> tuple[Any, Any]:
    """Mean and variance of a law; of balls, enclosures at the least precision among them."""
    bits = min([number.bits for number in (*values, *weights) if isinstance(number, Ball)], default=0)
    with working_precision(bits or DEFAULT_BITS):
        atoms: list[tuple[Any, Any]] = list(zip(values, weights, strict=True))
        mean: Any = Fraction(0)
        if bits:
            atoms = list(zip(ball_arguments(values), ball_arguments(weights), strict=True))
            mean = flint.arb(0)
        variance = mean
        for value, weight in atoms:
            mean += value * weight
        for value, weight in atoms:
            distance = value - mean
            variance += distance * distance * weight
        return (Ball.from_arb(mean, bits), Ball.from_arb(variance, bits)) if bits else (mean, variance)


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


AllEnds: TypeAlias = "tuple[tuple[Fraction, ...], tuple[Fraction, ...]]"
"""Lower ends of some numbers, and their upper ends."""


def both_ends(values: Sequence[Number]) -> AllEnds:
    """Rationals not above some numbers, and rationals not below them (a double is taken at its word)."""
    return tuple(map(lower_end, values)), tuple(map(upper_end, values))
