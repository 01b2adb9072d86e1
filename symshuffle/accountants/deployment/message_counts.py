"""Laws of the number of messages: a least number, users who drop out, users who are hidden with a probability each.

The bound H(n) never rises with n, so H(m) covers m messages and more. Several groups and dummies have the mean of H
over a random number of messages, from values at some numbers and the tails of its law on both sides; where users of one
group drop out, that mean is a value of one law (:meth:`symshuffle.channels.law.Law.thinning`).
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Final, TypeAlias

import flint

from symshuffle.base.choices import Arithmetic, weakest_arithmetic
from symshuffle.base.numbers import (
    DEFAULT_BITS,
    Ball,
    to_arb,
    working_precision,
)
from symshuffle.base.results import Bracket

VALUES_OF_A_MEAN: Final = 20
"""About as many as a mean takes at the usual widths."""

LARGEST_EXACT: Final = 300
"""Users up to which the mean over dropouts is a rational number."""

_NEGLIGIBLE: Final = Fraction(1, 2**4000)
"""Ends below it are rounded outward, to 0 or to it: rationals of a million digits are not added."""

_BITS: Final = 4 * DEFAULT_BITS
"""Precision of products of coins: what is far from their mean is a small difference of large numbers."""

_STARTS: Final = (-30, -12, -8, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 5)
"""Where intervals begin, in deviations from the mean number of messages."""


def mean_over_counts(
    value: Callable[[int, float], Bracket],
    users: int,
    below: Cdf,
    around: tuple[float, float],
    rtol: float,
    *,
    exact: bool = False,
    most_values: int = 2000,
) -> Bracket:
    """The mean of a bound that never rises with a number of messages, which is 1 for certain and more by chance.

    - ``most_values``: numbers of messages at which H is evaluated for one level; then the bracket says how wide it is.
    """
    at = cache(lambda m: value(m, rtol / 4) if exact else _told_from_zero(value(m, rtol / 4)))
    share = rtol / 4
    centre, spread = around
    starts = {1, users, *(min(max(1 + round(centre + z * spread), 1), users) for z in _STARTS)}
    nodes = sorted(range(1, users + 1) if exact else starts)
    heap: list[tuple[Fraction, int, int]] = []

    def push(left: int, right: int) -> Fraction:
        """What the numbers from left to right - 1 leave open."""
        if right - left <= 1:
            return Fraction(0)
        mass = below(right - 1)[1] - below(left - 1)[0]
        open_ = max(mass, Fraction(0)) * max(at(left).upper - at(right).lower, Fraction(0))
        heapq.heappush(heap, (-open_, left, right))
        return open_

    left_open = sum((push(*pair) for pair in itertools.pairwise(nodes)), start=Fraction(0))
    chosen = set(nodes)
    while heap and len(chosen) < most_values:
        high = _upper_side(sorted(chosen), at, below)
        if left_open <= Fraction(share) * high or high <= 4 * _NEGLIGIBLE:
            break
        for _ in range(max(1, len(chosen) // 8)):  # several at a time: the sum above is not free
            if not heap:
                break
            size, left, right = heapq.heappop(heap)
            middle = (left + right) // 2
            chosen.add(middle)
            left_open += size + push(left, middle) + push(middle, right)
    low, high = _sides(sorted(chosen), at, below)
    weights: Arithmetic = "exact" if exact else "ball"
    arithmetic = weakest_arithmetic((weights, *(at(m).arithmetic for m in chosen)))
    count = f"{len(chosen)} of {users} numbers of messages, weights rounded outward"
    found = Bracket(
        low, high, arithmetic, at(users).engine, f"mean over {count}; at n = {users}: {at(users).evaluation}"
    )
    return found if found.width <= Fraction(rtol) * high else replace(found, aimed=rtol)


def means_between(
    counts: list[int], found: Sequence[Bracket], below: Cdf
) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
    """Both ends of two means, above and below that of a falling bound: of numbers rounded down, and rounded up.

    Either is a mean with one law at every level, so it is the profile of a mixture if the bound is one of messages.
    """
    highs = list(itertools.accumulate((one.upper for one in found), min))
    lows = list(itertools.accumulate((max(one.lower, Fraction(0)) for one in reversed(found)), max))[::-1]
    masses = [below(right - 1) for right in counts[1:]]
    own = [right == left + 1 for left, right in itertools.pairwise(counts)]

    def rounded_up(ends: list[Fraction]) -> list[Fraction]:
        return [*(here if alone else after for here, after, alone in zip(ends, ends[1:], own, strict=False)), ends[-1]]

    under, over = ([mass[end] for mass in masses] for end in (0, 1))
    above = _mean(lows, under), _mean(highs, over)
    return above, (_mean(rounded_up(lows), under), _mean(rounded_up(highs), over))


def _mean(falling: list[Fraction], below: list[Fraction]) -> Fraction:
    """The sum of falling values by the probabilities of being before each next one."""
    steps = (mass * (here - after) for mass, (here, after) in zip(below, itertools.pairwise(falling), strict=True))
    return sum(steps, start=falling[-1])


Cdf: TypeAlias = "Callable[[int], tuple[Fraction, Fraction]]"
"""From m to both ends of the probability of at most m messages."""


def _told_from_zero(found: Bracket) -> Bracket:
    """The same bracket where its ends are above what is negligible; else its ends rounded outward to that and to 0."""
    low = found.lower if found.lower >= _NEGLIGIBLE else min(found.lower, Fraction(0))
    return replace(found, lower=low, upper=max(found.upper, _NEGLIGIBLE)) if found.upper else found


def _upper_side(nodes: list[int], at: Callable[[int], Bracket], below: Cdf) -> Fraction:
    """The upper one of both sides alone."""
    return _mean([*itertools.accumulate((at(m).upper for m in nodes), min)], [below(m - 1)[1] for m in nodes[1:]])


def _sides(nodes: list[int], at: Callable[[int], Bracket], below: Cdf) -> tuple[Fraction, Fraction]:
    """Both sides of the mean from values at some numbers, the first and the last included."""
    above, beneath = means_between(nodes, [at(m) for m in nodes], below)
    return beneath[0], above[1]


def exact_sums(coins: tuple[tuple[int, Fraction], ...]) -> Cdf:
    """The same of one more than a sum of independent coins, in rationals."""
    masses = [Fraction(1)]
    for count, chance in coins:
        for _ in range(count):
            padded = [Fraction(0), *masses, Fraction(0)]
            masses = [(1 - chance) * b + chance * a for a, b in itertools.pairwise(padded)]
    sums = [Fraction(0), *itertools.accumulate(masses)]
    return lambda m: (sums[min(max(m, 0), len(masses))],) * 2


@lru_cache(maxsize=64)
def partial_cdf(users: int, absent: Fraction, *, exact: bool = False) -> Cdf:
    """From m to both ends of the probability that at most m messages are sent, one of them for certain."""
    others = users - 1

    @cache
    def in_balls(m: int) -> tuple[Fraction, Fraction]:
        if m < 1:
            return Fraction(0), Fraction(0)
        if m >= users:
            return Fraction(1), Fraction(1)
        with working_precision(DEFAULT_BITS):
            # P(Bin(N, p) <= k) is the regularised incomplete beta function of N - k and k + 1 at 1 - p.
            found = to_arb(absent).beta_lower(flint.arb(others - m + 1), flint.arb(m), True)
            ball = Ball.from_arb(found)
        low, high = max(ball.lower, Fraction(0)), min(ball.upper, Fraction(1))
        return (Fraction(0), _NEGLIGIBLE) if high < _NEGLIGIBLE else (low, high)

    return exact_sums(((others, 1 - absent),)) if exact else in_balls


@lru_cache(maxsize=32)
def coins_cdf(coins: tuple[tuple[int, Fraction], ...], *, exact: bool = False) -> Cdf:
    """From m to both ends of the probability of at most m messages: one for certain, the others by coins."""
    if exact:
        return exact_sums(coins)
    if len(coins) == 1 and coins[0][1] < 1:
        return partial_cdf(coins[0][0] + 1, 1 - coins[0][1])
    total, below = 1 + sum(count for count, _ in coins), _ball_sums(coins)

    @cache
    def ends(m: int) -> tuple[Fraction, Fraction]:
        if m < 1:
            return Fraction(0), Fraction(0)
        return (Fraction(1), Fraction(1)) if m >= total else below(m)

    return ends


def _ball_sums(coins: tuple[tuple[int, Fraction], ...]) -> Callable[[int], tuple[Fraction, Fraction]]:
    with working_precision(_BITS):
        product = flint.arb_poly([1])
        for count, chance in coins:
            product *= flint.arb_poly([1 - to_arb(chance), to_arb(chance)]) ** count
        sums = list(itertools.accumulate(product.coeffs()))

    def ends(m: int) -> tuple[Fraction, Fraction]:
        with working_precision(_BITS):
            ball = Ball.from_arb(sums[m - 1], _BITS)
        return max(ball.lower, Fraction(0)), min(ball.upper, Fraction(1))

    return ends
