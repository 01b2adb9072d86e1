"""Real numbers between two doubles: what an enclosure costs where no more than doubles is asked for.

Every end is rounded to nearest by the processor and then moved one double outward, so that an operation encloses
whatever its operands enclose, under the one assumption that sums, products, quotients and square roots of doubles are
rounded to nearest.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, final

from symshuffle.base.errors import NotDecided
from symshuffle.base.numbers.balls import Ball, Exp, Real, enclose

DOUBLE_BITS: Final = sys.float_info.mant_dig
_EXP_BITS: Final = 80
_EXPONENT: Final = 64
"""Largest exponent of a power: each product moves both ends."""


@final
@dataclass(frozen=True, slots=True)
class Span:
    """A real number known to lie in ``[low, high]``."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not 0 <= self.high - self.low < math.inf:
            raise NotDecided(f"doubles do not enclose the number: [{self.low}, {self.high}]")

    @classmethod
    def outward(cls, low: float, high: float) -> Span:
        """Around ends that were rounded to nearest."""
        return cls(math.nextafter(low, -math.inf), math.nextafter(high, math.inf))

    @classmethod
    def around(cls, value: Real | Span) -> Span:
        """Around a real constant; of a span, itself."""
        match value:
            case Span():
                return value
            case Exp():
                return _exponential(value)
        if value.denominator == 1 and abs(value.numerator) <= 1 << DOUBLE_BITS:
            return cls(float(value), float(value))
        return _nearest(value, value)

    @classmethod
    def within(cls, ball: Ball) -> Span:
        """Around a ball."""
        return _nearest(ball.lower, ball.upper)

    def ball(self) -> Ball:
        """The same enclosure as a ball of 53 bits."""
        return Ball(Fraction(self.low), Fraction(self.high), DOUBLE_BITS)

    @property
    def has_zero(self) -> bool:
        """Whether the number may be 0."""
        return self.low <= 0 <= self.high

    def __add__(self, other: Span) -> Span:
        return Span.outward(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Span) -> Span:
        return Span.outward(self.low - other.high, self.high - other.low)

    def __neg__(self) -> Span:
        return Span(-self.high, -self.low)

    def __mul__(self, other: Span) -> Span:
        if self.low >= 0 <= other.low:
            return Span.outward(self.low * other.low, self.high * other.high)
        ends = [x * y for x in (self.low, self.high) for y in (other.low, other.high)]
        return Span.outward(min(ends), max(ends))

    def __truediv__(self, other: Span) -> Span:
        if other.has_zero:
            raise NotDecided("whether a denominator is 0 is not decided in doubles")
        ends = [x / y for x in (self.low, self.high) for y in (other.low, other.high)]
        return Span.outward(min(ends), max(ends))

    def power(self, exponent: Fraction) -> Span:
        """The number to a small integer or to one half."""
        if exponent == Fraction(1, 2) and self.low >= 0:
            root = Span.outward(math.sqrt(self.low), math.sqrt(self.high))
            return Span(max(root.low, 0.0), root.high)
        if exponent.denominator != 1 or abs(exponent) > _EXPONENT:
            raise NotDecided(f"a power with exponent {exponent} is not evaluated in doubles")
        found = Span(1.0, 1.0)
        for _ in range(abs(exponent.numerator)):
            found = found * self
        return found if exponent >= 0 else Span(1.0, 1.0) / found


@lru_cache(maxsize=256)
def _exponential(value: Exp) -> Span:
    """Around an exponential: both of its ends are read off one ball."""
    return Span.within(enclose(value, _EXP_BITS))


def _nearest(low: Fraction, high: Fraction) -> Span:
    """Around two rationals; Python rounds a quotient of integers to nearest."""
    try:
        ends: tuple[Any, Any] = float(low), float(high)
    except OverflowError:
        raise NotDecided("a number is beyond the range of doubles") from None
    return Span.outward(*ends)
