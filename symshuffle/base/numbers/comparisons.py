"""Comparisons of numbers of all kinds: three-valued where balls may overlap, and what is built on them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Final

import flint

from symshuffle.base.numbers.balls import Ball, Exp, Number, Verdict, enclose, to_arb, to_float

FLOAT_SUM_SLACK: Final = 1e-12
"""How far probabilities in doubles may be from summing to 1."""


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
    (low, high), (least, most) = _ends(x), _ends(y)
    if high < least:
        return Verdict.TRUE
    return Verdict.FALSE if low >= most else Verdict.UNDECIDED


def equal(x: Number | Exp | int, y: Number | Exp | int) -> Verdict:
    """Whether ``x == y``; two balls are equal only if both are the same point."""
    if not isinstance(x, Ball | Exp) and not isinstance(y, Ball | Exp):
        return Verdict.of(x == y)
    if isinstance(x, Exp) and isinstance(y, Exp):
        return Verdict.of(x.exponent == y.exponent)
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
        low = sum(map(lower_end, masses), start=Fraction(0))
        return low == 1 if is_exact(masses) else low <= 1 <= sum(map(upper_end, masses), start=Fraction(0))
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
