"""Search for an upper end on the trace: places, slopes and the smallest trace that the certificate excludes."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Exp, Real, enclose
from symshuffle.base.results import passes
from symshuffle.design.shuffled.minorant import StopLossLine, TraceBound, check_line, gaps
from symshuffle.utility.frontiers.orbit import subset_orbit

Doubles = npt.NDArray[np.float64]

_BITS: Final = 1 << 30
_STEPS: Final = 7
_FINE: Final = 0.01
_COARSE: Final = 120
_SAMPLES: Final = 24


def trace_upper(
    k: int, *, n: int, exp_eps: Real, delta: Fraction, lam_cap: Fraction, least: Fraction
) -> tuple[Fraction, TraceBound | None]:
    """Upper end on the trace of exchangeable channels that meet a target under a ratio cap.

    Parameters
    ----------
    k, n : int
        Number of inputs and of users.
    exp_eps : Real
        The target ratio exp(eps).
    delta, lam_cap : Fraction
        The target delta, and the largest likelihood ratio.
    least : Fraction
        A trace that a channel of the class attains.

    Returns
    -------
    trace : Fraction
        No channel of the class that meets the target by the certified bound has a larger trace.
    bound : TraceBound or None
        The proof; None where the largest trace under the cap alone is all that was found.
    """
    cap_trace = max(subset_orbit(k, s, lam_cap).signal for s in range(1, k))
    above = _above(exp_eps)
    if lam_cap <= above:
        return cap_trace, None
    low, high, found = float(least), float(cap_trace), None
    for _ in range(_STEPS):
        trace = Fraction(round((low + high) / 2 * 1024), 1024)
        if not least <= trace < cap_trace:
            break
        bound = TraceBound(k, n, exp_eps, above, delta, lam_cap, trace, lines_for(k, above, lam_cap, trace))
        if _exceeds(bound):
            found, high = bound, float(trace)
        else:
            low = float(trace)
    if found is None:
        return cap_trace, None
    found.verify()
    return found.trace, found


def _exceeds(bound: TraceBound) -> bool:
    try:
        return bound.bound().lower > bound.delta
    except Unsupported:
        return False


def _above(exp_eps: Real) -> Fraction:
    upper = enclose(exp_eps).upper if isinstance(exp_eps, Exp) else Fraction(exp_eps)
    return upper if upper.denominator < _BITS else Fraction(math.ceil(upper * _BITS), _BITS)


def _places(gamma: Fraction, cap: Fraction) -> list[Fraction]:
    """Places from end to end, dense between 1 - exp(eps) and 0, where most of the mass of G is."""
    low, high = 1 - gamma * cap, cap - gamma
    coarse = float(high - low) / _COARSE
    places, c = {low, high, Fraction(0), 1 - gamma}, float(low)
    while c < high:
        away = max(0.0, c, float(1 - gamma) - c)
        c += max(_FINE, min(coarse, away / 8))
        places.add(Fraction(round(c * 4096), 4096))
    return sorted(place for place in places if low <= place <= high)


def lines_for(k: int, gamma: Fraction, cap: Fraction, trace: Fraction) -> tuple[StopLossLine, ...]:
    r"""Lines below the stop-loss shares of all templates, as high as possible at one trace.

    Parameters
    ----------
    k : int
        Number of inputs, at least 2.
    gamma, cap, trace : Fraction
        A ratio of at least :math:`e^\varepsilon`, the cap on likelihood ratios, and the trace.

    Returns
    -------
    tuple of StopLossLine
        Each of them proved by :func:`~symshuffle.design.shuffled.minorant.check_line`, at increasing places.
    """
    return tuple(_line(k, gamma, cap, c, trace) for c in _places(gamma, cap))


def _line(k: int, gamma: Fraction, cap: Fraction, c: Fraction, trace: Fraction) -> StopLossLine:
    """The best line at one place, lowered until it is proved."""
    shares, signals = _points(k, gamma, cap, c)
    goal = float(trace)

    def value(b: float) -> float:
        return b * goal + float(np.min(shares - b * signals))

    low, high = 0.0, float(shares.max()) / float(signals.max()) * 8 + 1e-9
    for _ in range(50):
        first, second = low + 0.382 * (high - low), low + 0.618 * (high - low)
        low, high = (first, high) if value(first) < value(second) else (low, second)
    b = Fraction(math.floor((low + high) / 2 * _BITS), _BITS)
    height = float(np.min(shares - float(b) * signals))
    margin = 1e-7
    while margin < 1:
        line = StopLossLine(c, Fraction(math.floor((height - margin) * _BITS), _BITS), b)
        if passes(partial(check_line, line, k, gamma, cap)):
            return line
        margin *= 4
    return StopLossLine(c, Fraction(0), Fraction(0))  # shares are at least 0


def _points(k: int, gamma: Fraction, cap: Fraction, c: Fraction) -> tuple[Doubles, Doubles]:
    """Shares and signals of the worst laws of a coordinate, on a grid of their minimum."""
    shares, signals = [], []
    # A line's gap is share - a - b S, times a positive factor: read off at three lines.
    at = [list(gaps(StopLossLine(c, Fraction(a), Fraction(b)), k, gamma, cap)) for a, b in ((0, 0), (-1, 0), (0, 1))]
    for (low, high, plain), (_, _, lifted), (_, _, tilted) in zip(*at, strict=True):
        m = np.linspace(float(low), float(high), _SAMPLES)
        base, unit, slope = (
            np.polynomial.polynomial.polyval(m, [float(x) for x in p]) for p in (plain, lifted, tilted)
        )
        factor = unit - base
        kept = factor > 1e-12
        shares.append((base / np.where(kept, factor, 1))[kept])
        signals.append(((base - slope) / np.where(kept, factor, 1))[kept])
    return np.concatenate(shares), np.concatenate(signals)
