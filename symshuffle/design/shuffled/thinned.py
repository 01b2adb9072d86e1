r"""Thinned extreme orbits: a client sends the message of a subset orbit with probability w, else a constant (blank).

Of channels that meet a target at few users the most accurate ones are often of this kind: a large ratio, rarely sent.
The trace is w times that of the orbit. Thinning is a post-processing of the message, so that the bound grows with w.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import Final

from symshuffle.base.crossings import first_positive
from symshuffle.base.errors import Unsupported
from symshuffle.design.shuffled.search import STEP, ExactTarget, sizes_tried, trace_of
from symshuffle.utility.frontiers.orbit import Orbit, centre_orbit, subset_orbit

WEIGHT_STEP: Final = 1 << 40
"""Weights are multiples of 1/WEIGHT_STEP, or shorter rationals between two of them."""

_SHORT: Final = 1 << 20
"""Largest denominator of a rational that is preferred to a multiple of 1/WEIGHT_STEP."""

_ROUGH: Final = 1e-4
_WIDTH: Final = 1e-6
"""Relative widths of bounds: to see whether an orbit can win, and of the certificate of an answer."""

_RATIO_FACTOR: Final = 4
"""Ratios below the largest one are tried in steps of this factor; influences the trace found, not its certificate."""

_UNCAPPED: Final = 1 << 10
"""Without a cap, the largest excess of a ratio over 1 that is tried, in units of that of the best unthinned orbit."""


def thin(orbit: Orbit, weight: Fraction) -> tuple[Orbit, ...]:
    """Return the mixture of an orbit, with probability ``weight``, and a constant message otherwise."""
    k = sum(count for count, _ in orbit.levels)
    return (replace(orbit, weight=weight), *((centre_orbit(k, 1 - weight),) if weight < 1 else ()))


def best_thinned(target: ExactTarget, least: Fraction, ratio: Fraction) -> tuple[Orbit, ...] | None:
    """Thinned subset orbit of the largest trace that meets the target, above ``least``; None if there is none.

    All subset sizes are tried up to 24 inputs (beyond, a grid), at the cap and at smaller ratios by factors of 4.
    ``ratio`` is the largest one at which an orbit meets the target without thinning: where there is no cap, ratios are
    tried from 1024 times its excess over 1 on.
    """
    best, found = least, None
    for tried in _ratios(target, ratio):
        for s in sizes_tried(target.k):
            orbit = subset_orbit(target.k, s, tried)
            weight = largest_weight(orbit, target, best / orbit.signal)
            if weight is not None:
                found = thin(orbit, weight)
                best = trace_of(found)
    return found


def _ratios(target: ExactTarget, ratio: Fraction) -> Iterator[Fraction]:
    """Ratios to try, in decreasing order, all above exp(eps): up to it an orbit meets the target unthinned."""
    now = 1 + (max(ratio, target.exp_eps, Fraction(2)) - 1) * _UNCAPPED if target.cap is None else target.cap
    while now > max(target.exp_eps, 1 + Fraction(1, STEP)):
        yield now
        now = 1 + (now - 1) / _RATIO_FACTOR


def largest_weight(orbit: Orbit, target: ExactTarget, least: Fraction) -> Fraction | None:
    """Largest weight at most 1, above ``least``, at which a thinned orbit meets the target; None if there is none."""

    def excess(steps: int, rtol: float = _WIDTH) -> float:
        with suppress(Unsupported):
            return target.excess(thin(orbit, Fraction(steps, WEIGHT_STEP)), rtol)
        return inf

    low = int(least * WEIGHT_STEP) + 1
    if low > WEIGHT_STEP or excess(low, _ROUGH) > 0:
        return None
    if excess(WEIGHT_STEP) <= 0:
        return Fraction(1)
    first = first_positive(excess, low - 1, WEIGHT_STEP)
    weight, above = Fraction(first - 1, WEIGHT_STEP), Fraction(first, WEIGHT_STEP)
    short = weight.limit_denominator(_SHORT)
    return short if weight < short < above and target.meets(thin(orbit, short), _WIDTH) else weight
