"""Search for an upper end on the trace: places, slopes, cells, and the smallest trace that the certificate excludes."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

from symshuffle.accountants.bounds.evaluate import evaluate_law
from symshuffle.base.choices import Arithmetic
from symshuffle.base.errors import CertificateError, Unsupported
from symshuffle.base.numbers import Exp, Real, enclose
from symshuffle.design.shuffled.lines import HighestLines
from symshuffle.design.shuffled.minorant import TraceBound, cell_sides, law_below, second_moment
from symshuffle.utility.frontiers.orbit import subset_orbit

_BITS: Final = 1 << 30
_STEPS: Final = 7
_FINE: Final = 0.01
_COARSE: Final = 120
_SPARE: Final = Fraction(1002, 1000)
"""The law below has to exceed delta by this factor before lines are proved."""

_WIDTH: Final = 1e-3
_KEPT: Final = 4
"""Sets of lines that are kept: they are the same for all users, deltas and traces."""

_DIVIDED: Final = 3
_MOST_CELLS: Final = 24
"""Cells that are tried at one trace."""

_NARROWEST: Final = 0.002
"""A cell whose ends are nearer to each other, relative to the smallest second moment, is not divided."""


def trace_upper(
    k: int, *, n: int, exp_eps: Real, delta: Fraction, lam_cap: Fraction, least: Fraction
) -> tuple[Fraction, TraceBound | None]:
    """Upper end on the trace of exchangeable channels that meet a target under a ratio cap, by the certified bound.

    The proof is None where the largest trace under the cap alone is all that was found.
    """
    cap_trace = max(subset_orbit(k, s, lam_cap).signal for s in range(1, k))
    above = _above(exp_eps)
    if lam_cap <= above:
        return cap_trace, None
    search = _Search(k, n, above, delta, lam_cap)
    high, found = cap_trace, list[tuple[Fraction, tuple[Fraction, ...]]]()
    for steps, most in ((_STEPS, 1), (_DIVIDED, _MOST_CELLS)):  # by one cell first, which is quick
        low = least
        for _ in range(steps):
            trace = Fraction(round((low + high) * 512), 1024)
            if not least <= trace < high:
                break
            ends = search.divided(trace, found[-1][1] if found else (), most)
            if ends is None:
                low = trace
            else:
                high = trace
                found.append((trace, ends))
    for trace, ends in reversed(found):
        bound = search.proof(exp_eps, trace, ends)
        try:
            bound.verify()
        except (CertificateError, Unsupported):
            continue  # rounding took too much
        return trace, bound
    return cap_trace, None


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


@lru_cache(_KEPT)
def _highest(k: int, gamma: Fraction, cap: Fraction) -> HighestLines:
    return HighestLines(k, gamma, cap, _places(gamma, cap))


class _Search:
    """Lines of one target, and the cells in which their law exceeds delta."""

    def __init__(self, k: int, n: int, gamma: Fraction, delta: Fraction, cap: Fraction) -> None:
        self.k, self.n, self.gamma, self.delta, self.cap = k, n, gamma, delta, cap
        self.places = _places(gamma, cap)

    def divided(self, trace: Fraction, ends: tuple[Fraction, ...], most: int) -> tuple[Fraction, ...] | None:
        """Ends of cells in each of which the law below exceeds delta; None if more than ``most`` would be tried."""
        # The second moments of k-ary response of this trace, and at the cap: about the ends of what occurs.
        second, shift = map(float, second_moment(self.k, self.gamma))
        moment = second * (1 + float(trace) / self.k) - shift
        start = moment / (1 - math.sqrt(float(trace) / (self.k * (self.k - 1))))
        top = moment * float(self.cap)
        waiting, done, tried = cell_sides(ends)[::-1], [], 0
        while waiting:
            low, high = waiting.pop()
            tried += 1
            if self._exceeds(trace, low, high):
                done += [] if high is None else [high]
                continue
            bottom, roof = max(float(low) / start - 1, 0.0), (top if high is None else float(high)) / start - 1
            middle = math.sqrt((bottom + _NARROWEST) * (roof + _NARROWEST)) - _NARROWEST
            if tried + len(waiting) >= most or roof - bottom < _NARROWEST:
                return None
            end = Fraction(round(start * (1 + middle) * 4096), 4096)
            waiting += [(end, high), (low, end)]
        return tuple(done)

    def _exceeds(self, trace: Fraction, low: Fraction, high: Fraction | None) -> bool:
        try:
            heights = _highest(self.k, self.gamma, self.cap).heights(trace, low, high)
            law = law_below(heights, self.places, self.gamma)
            return evaluate_law(law, self.n, arithmetic=Arithmetic.FLOAT64, rtol=_WIDTH).lower > _SPARE * self.delta
        except Unsupported:
            return False

    def proof(self, exp_eps: Real, trace: Fraction, ends: tuple[Fraction, ...]) -> TraceBound:
        """The best lines of every cell, each lowered until it is proved."""
        cells = _highest(self.k, self.gamma, self.cap).proved(trace, cell_sides(ends))
        return TraceBound(self.k, self.n, exp_eps, self.gamma, self.delta, self.cap, trace, ends, cells)


def trace_proof(
    k: int,
    *,
    n: int,
    exp_eps: Real,
    delta: Fraction,
    lam_cap: Fraction,
    trace: Fraction,
    ends: tuple[Fraction, ...] = (),
) -> TraceBound:
    """Proof that no channel of the class has this trace, not yet verified: the best lines of each cell.

    - ``ends``: increasing second moments of G that divide the channels into cells.
    """
    return _Search(k, n, _above(exp_eps), delta, lam_cap).proof(exp_eps, trace, ends)
