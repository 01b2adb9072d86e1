"""The profile of two Gaussians, to which profiles tend as n grows: values, distances and levels in doubles.

Evidence: none is needed. What is computed here tells a search where to look, and is never a bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from symshuffle.base.crossings import halved

_NODES: list[tuple[float, float]] = []
"""Gauss's rule of eight nodes on [0, 1]."""

for _x, _w in (
    (0.1834346424956498, 0.3626837833783620),
    (0.5255324099163290, 0.3137066458778873),
    (0.7966664774136267, 0.2223810344533745),
    (0.9602898564975363, 0.1012285362903763),
):
    _NODES += [(0.5 - _x / 2, _w / 2), (0.5 + _x / 2, _w / 2)]


def log_profile(eps: float, mu: float) -> float:
    """``log delta_mu(eps)``, the profile of two Gaussians at distance ``mu > 0``, also where doubles end."""
    a, b = eps / mu - mu / 2, eps / mu + mu / 2
    if a < -30:
        return 0.0  # all of the mass but exp(-450)
    if mu < 1:  # no difference of nearly equal ratios: the derivative of Mills' ratio is integrated
        parts = []
        for u, w in _NODES:
            parts.append(w * _fall(a + mu * u))
        gap = mu * math.fsum(parts)
    else:
        gap = _mills(a) - _mills(b)
    return -a * a / 2 - math.log(2 * math.pi) / 2 + math.log(gap)


def _mills(x: float) -> float:
    """``(1 - Phi(x)) / phi(x)``."""
    if x < 30:
        return math.sqrt(math.pi / 2) * math.exp(x * x / 2) * math.erfc(x / math.sqrt(2))
    return (1 - _fall(x)) / x


def _fall(x: float) -> float:
    """Minus the derivative of Mills' ratio."""
    if x < 30:
        return 1 - x * _mills(x)
    y = 1 / (x * x)
    return y * (1 - y * (3 - y * (15 - 105 * y)))


@lru_cache(maxsize=1024)
def distance(eps: float, log_delta: float) -> float:
    """``log mu`` of the two Gaussians that have this delta at this eps."""
    return rising_root(lambda y: log_profile(eps, math.exp(y)) - log_delta, -30.0, 4.0)


def level(mu: float, log_delta: float) -> float:
    """The eps at which two Gaussians at distance mu have this delta; 0 if they have less everywhere."""
    if log_profile(0.0, mu) <= log_delta:
        return 0.0
    return math.exp(
        rising_root(lambda t: log_delta - log_profile(math.exp(t), mu), math.log(mu) - 30, math.log(mu) + 5)
    )


def mills_guess(start: Fraction, goal: Fraction) -> Fraction:
    r"""About where a privacy profile meets a target, from its value at level 0.

    In the Gaussian limit it is :math:`(\varphi(a)-a\bar\Phi(a))/s` with :math:`a=s\varepsilon`; the value at 0 tells s.
    """
    scale = float(start) * math.sqrt(2 * math.pi)

    def met(a: float) -> bool:
        value = math.exp(-a * a / 2) / math.sqrt(2 * math.pi) - a * math.erfc(a / math.sqrt(2)) / 2
        return scale * value <= float(goal)

    return Fraction(halved(met, 0.0, 40.0, settled=60)[0] * scale)


def rising_root(rising: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function is 0, by secants that keep both sides and halve where they creep.

    Arithmetic that fails (a value beyond the doubles) counts as below 0.
    """
    try:
        at_low, at_high = rising(low), rising(high)
    except (ValueError, OverflowError):
        at_low, at_high = -math.inf, math.inf
    for turn in range(120):
        if high - low <= 1e-15 * max(1.0, abs(low)):
            break
        x = (low + high) / 2
        if turn % 3 and math.isfinite(at_low) and math.isfinite(at_high) and at_low < 0 < at_high:
            x = low - at_low * (high - low) / (at_high - at_low)
            x = min(max(x, low + (high - low) * 1e-3), high - (high - low) * 1e-3)
        try:
            value = rising(x)
        except (ValueError, OverflowError):  # mu below what doubles resolve
            value = -math.inf
        if value < 0:
            low, at_low = x, value
        else:
            high, at_high = x, value
    return (low + high) / 2
