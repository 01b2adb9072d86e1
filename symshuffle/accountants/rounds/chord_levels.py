r"""A privacy profile between the levels at which it is known: chords of a convex function of :math:`e^\varepsilon`.

It is below the chord of the two known levels around, and above the chords of the two before and of the two after,
extended; it falls, from 1 at the ratio 0. Each line takes the ends of the values that only move it away.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import flint

from symshuffle.accountants.rounds.dominating import Ends
from symshuffle.base.numbers import Ball, to_arb, working_precision

_BITS: Final = 256


def ends_at(known: Sequence[tuple[Fraction, Ends]], levels: Sequence[Fraction]) -> list[Ends]:
    """Return both ends of a profile at some levels.

    - ``known``: levels in nats, rising, and both ends there; at least two.
    - ``levels``: levels in nats, none below the first known one.
    """
    places, found = [level for level, _ in known], []
    with working_precision(_BITS):
        for level in levels:
            i = bisect_left(places, level)
            at = i < len(places) and places[i] == level
            found.append(known[i][1] if at else _between(known, i - 1, level))
    return found


def level_below(known: Sequence[tuple[Fraction, Ends]], delta: Fraction) -> Fraction | None:
    """Return a level at which a profile is at most ``delta``, by the chord that crosses it; None if no value is."""
    i = next((i for i, (_, ends) in enumerate(known) if ends[1] <= delta), None)
    if not i:
        return None if i is None else known[0][0]
    (low, (_, above)), (high, (_, beneath)) = known[i - 1], known[i]
    with working_precision(_BITS):
        share = to_arb((above - delta) / (above - beneath))
        further = Ball.from_arb((share * to_arb(high - low).expm1()).log1p(), _BITS).upper
    return min(low + further, high)


def widest(
    known: Sequence[tuple[Fraction, Ends]], levels: Sequence[Fraction], share: Fraction, least: Fraction
) -> list[int]:
    """Return the middle of the levels behind each known one, up to the next, at one of which both ends are far apart.

    - ``levels``: rising levels in nats.
    - ``share``, ``least``: Ends are far apart if they differ by more than this share of the upper one, of at least
      ``least``, and what the ends at both known levels differ by.
    """
    places, ends, found = [level for level, _ in known], ends_at(known, levels), []
    starts = [*(bisect_left(levels, place) for place in places), len(levels)]
    for i, (start, last) in enumerate(itertools.pairwise(starts)):
        first = start + (start < last and levels[start] == places[i])
        allowed = sum(high - low for _, (low, high) in known[i : i + 2])
        if any(high - low > allowed + share * max(high, least) for low, high in ends[first:last]):
            found.append((first + last) // 2)
    return found


def _between(known: Sequence[tuple[Fraction, Ends]], i: int, level: Fraction) -> Ends:
    """Lower and upper end at a level between the i-th known one and the next, or above the last, by chords of both."""
    left, (left_low, left_high) = known[i]
    low, high = Fraction(0), left_high
    if i > 0:
        before, (_, top) = known[i - 1]
        lines = [_line(left, left_low, before, max(top, left_low), level)]
    else:  # from 1 at the ratio 0
        lines = [to_arb(left_low) - to_arb(1 - left_low) * to_arb(level - left).expm1()]
    if i + 1 < len(known):
        right, (low, top) = known[i + 1]
        high = min(Ball.from_arb(_line(left, left_high, right, top, level), _BITS).upper, high)
        if i + 2 < len(known):
            after, (_, top) = known[i + 2]
            lines.append(_line(right, low, after, min(top, low), level))
    low = max(low, *(Ball.from_arb(line, _BITS).lower for line in lines))
    return min(low, high), high


def _line(one: Fraction, value: Fraction, other: Fraction, there: Fraction, level: Fraction) -> flint.arb:
    """Height of the line through two values, linear in the exponential of the level."""
    share = to_arb(level - one).expm1() / to_arb(other - one).expm1()
    return to_arb(value) + to_arb(there - value) * share
