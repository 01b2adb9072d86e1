"""Where a statement turns true, or a function is 0 or smallest, between two places.

The statement is decided wherever it is asked. A function that is only known by brackets, and dearly, is searched by
:mod:`symshuffle.accountants.bounds.search` and :mod:`symshuffle.accountants.bounds.guided`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

Place = TypeVar("Place", float, Fraction)


def first_integer(passed: Callable[[int], bool], low: int, high: int) -> int:
    """Smallest integer above ``low`` at which a statement that stays true is true; ``high`` is never asked."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passed(middle) else (middle, high)
    return high


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


def zero_between(function: Callable[[float], float], low: float, high: float, **closeness: Any) -> float:
    """Where a function is 0; the end at which it is smaller, where its sign is the same at both."""
    ends = {low: function(low), high: function(high)}
    if ends[low] * ends[high] >= 0:
        return min((high, low), key=lambda end: abs(ends[end]))
    from scipy.optimize import brentq

    return float(brentq(lambda x: ends[x] if x in ends else function(x), low, high, **closeness))
