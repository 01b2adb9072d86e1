"""Where a statement turns true, or a function is 0 or smallest, between two places.

The statement is decided wherever it is asked. A function that is only known by brackets, and dearly, is searched by
:mod:`symshuffle.accountants.bounds.search` and :mod:`symshuffle.accountants.bounds.guided`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

Place = TypeVar("Place", float, Fraction)


def first_integer(passed: Callable[[int], bool], low: int, high: int) -> int:
    """Smallest integer above ``low`` at which a statement that stays true is true; ``high`` is never asked."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passed(middle) else (middle, high)
    return high


def first_positive(function: Callable[[int], float], low: int, high: int) -> int:
    """Smallest integer above ``low`` at which a function that grows is above 0; ``high`` if there is none before it.

    Few values are asked where the function is smooth. It may be infinite.
    """
    seen: dict[int, float] = {}

    def at(x: float) -> float:
        place = round(x)
        if place not in seen:
            seen[place] = function(place)
        return seen[place]

    zero_between(at, low, high, xtol=0.5)
    high = min((place for place, value in seen.items() if value > 0), default=high)
    low = max((place for place, value in seen.items() if place < high and not value > 0), default=low)
    return first_integer(lambda place: at(place) > 0, low, high)


def smooth_integer(least: int) -> int:
    """Smallest integer from ``least`` on without a prime factor above 5: a length of quick transforms."""
    found, fives = 1 << (least - 1).bit_length(), 1
    while fives < found:
        odd = fives
        while odd < found:
            rest = -(-least // odd)
            found = min(found, odd << (rest - 1).bit_length())
            odd *= 3
        fives *= 5
    return found


def halved(
    passed: Callable[[Place], bool], low: Place, high: Place, *, settled: Callable[[Place, Place], bool] | int
) -> tuple[Place, Place]:
    """Two places with the turn of a statement between them, false at the first one and true at the second.

    ``settled`` is the number of halvings, or says of two places whether they are close enough.
    """
    count = 0
    while count < settled if isinstance(settled, int) else not settled(low, high):
        middle = (low + high) / 2
        low, high = (low, middle) if passed(middle) else (middle, high)
        count += 1
    return low, high


def least_between(function: Callable[[float], float], low: float, high: float, *, steps: int) -> float:
    """Where a function that falls and then rises is smallest, by golden section; of equal values the first ones."""
    share = (math.sqrt(5) - 1) / 2
    for _ in range(steps):
        left, right = high - share * (high - low), low + share * (high - low)
        low, high = (low, right) if function(left) <= function(right) else (left, high)
    return (low + high) / 2


def zero_between(
    function: Callable[[float], float], low: float, high: float, *, xtol: float = 2e-12, rtol: float = 1e-15
) -> float:
    """Where a function is 0 (Chandrupatla's method); where both ends have one sign, the one at which it is smaller."""
    a, b, fa, fb = high, low, function(high), function(low)
    if fa * fb >= 0:
        return min((a, b), key=lambda end: abs(fa if end == a else fb))
    share = 0.5
    while True:
        x = a + share * (b - a)
        fx = function(x)
        a, b, c, fa, fb, fc = (x, b, a, fx, fb, fa) if (fx > 0) == (fa > 0) else (x, a, b, fx, fa, fb)
        best = a if abs(fa) < abs(fb) else b
        least = (max(rtol, 1e-15) * abs(best) + xtol) / abs(b - a)
        if fx == 0 or least > 0.5:
            return x if fx == 0 else best
        across, along = (a - b) / (c - b), (fa - fb) / (fc - fb) if fc != fb else math.nan
        share = 0.5
        if along * along < across and (1 - along) * (1 - along) < 1 - across:
            share = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        share = min(max(share, least), 1 - least)
