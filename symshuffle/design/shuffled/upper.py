r"""Search for an upper end on the trace: places, lines, cells, and the smallest trace that the certificate excludes.

A line :math:`a+bS+dV` is highest at a trace and a second moment where a linear program in (a, b, d) has its optimum.
Only the objective depends on them, so that the optimum is at one of the vertices of a polytope, which are found once
from samples. Nothing is proved by them: a line that is kept is lowered to its smallest gap, and then checked exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from flint import fmpq, fmpq_poly

from symshuffle.accountants.bounds.evaluate import evaluate_law
from symshuffle.base.errors import CertificateError, Unsupported
from symshuffle.base.numbers import Exp, Real, enclose
from symshuffle.base.results import passes
from symshuffle.design.shuffled.minorant import (
    StopLossLine,
    TraceBound,
    cell_sides,
    check_line,
    gaps,
    law_below,
    second_moment,
)
from symshuffle.utility.frontiers.orbit import subset_orbit

Doubles = npt.NDArray[np.float64]

_BITS: Final = 1 << 30
"""Denominator of rounded lines and levels: cost only, since what is rounded is proved afterwards."""


class _HighestLines:
    """The highest lines at some places, for any trace and cell of second moments."""

    def __init__(self, k: int, gamma: Fraction, cap: Fraction, places: Sequence[Fraction]) -> None:
        self._pieces = [_Pieces.of(k, gamma, cap, c) for c in places]
        lines = [one.lines() for one in self._pieces]
        self._starts = np.cumsum([0, *map(len, lines)])
        self._lines = np.vstack(lines).T.copy()

    def heights(self, trace: Fraction, low: Fraction, high: Fraction | None, *, margin: float = 1e-7) -> list[Fraction]:
        """How high a line may be at each place, by samples: nothing is proved."""
        highest = np.maximum.reduceat(self._at(trace, low, high), self._starts[:-1])
        return [rounded(height - margin) for height in highest.tolist()]

    def proved(
        self, trace: Fraction, cells: Sequence[tuple[Fraction, Fraction | None]]
    ) -> tuple[tuple[StopLossLine, ...], ...]:
        """The best lines of each cell, each lowered until it is proved."""
        heights = np.array([self._at(trace, *sides) for sides in cells])
        found = []
        for pieces, start, stop in zip(self._pieces, self._starts, self._starts[1:], strict=False):
            best, lines = np.unique(start + heights[:, start:stop].argmax(axis=1), return_inverse=True)
            proved = pieces.proved(*self._lines[1:, best])
            found.append([proved[i] for i in lines])
        return tuple(zip(*found, strict=True))

    def _at(self, trace: Fraction, low: Fraction, high: Fraction | None) -> Doubles:
        a, b, d = self._lines
        up = a + b * float(trace) + d * float(low)
        down = -math.inf if high is None else a + b * float(trace) + d * float(high)
        return np.where(d >= 0, up, down)


@dataclass(frozen=True, slots=True)
class _Pieces:
    """What limits lines at one place, on intervals of m = min u: share, signal and second moment of the worst law.

    - ``low``, ``high``: ends of the intervals.
    - ``share``, ``signal``, ``factor``: coefficients by rows; both are multiplied by the factor.
    - ``convex``: intervals that matter where the difference is convex in a coordinate; the others where it is concave.
    """

    k: int
    gamma: Fraction
    cap: Fraction
    c: Fraction
    low: Doubles
    high: Doubles
    share: Doubles
    signal: Doubles
    factor: Doubles
    convex: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, k: int, gamma: Fraction, cap: Fraction, c: Fraction) -> _Pieces:
        # A line's gap is share - a - b S - d V, times a positive factor: read off at four lines.
        none, one = Fraction(0), Fraction(1)
        three: tuple[StopLossLine, ...] = (c, none, none, none), (c, -one, none, none), (c, none, one, none)
        rows: list[tuple[Any, ...]] = []
        for (low, high, plain), (_, _, lifted), (_, _, tilted) in zip(
            *(list(gaps(line, k, gamma, cap)) for line in three), strict=True
        ):
            rows.append((low, high, plain, plain - tilted, lifted - plain, False))
        m = fmpq_poly([0, 1])
        signal = (1 - m) ** 2 * fmpq(k, k - 1)
        second, shift = (fmpq(x.numerator, x.denominator) for x in second_moment(k, gamma))
        for low, high, bent in gaps((c, none, none, -one), k, gamma, cap):
            rows.append((low, high, bent - second * (1 + signal / k) + shift, m * signal, m, True))
        lows, highs, *polynomials, convex = zip(*rows, strict=True)
        start, end = (np.array([float(x) for x in ends]) for ends in (lows, highs))
        share, signals, factor = map(_coefficients, polynomials)
        return cls(k, gamma, cap, c, start, end, share, signals, factor, np.array(convex))

    def worst(self, m: Doubles, least: float) -> tuple[Doubles, Doubles, Doubles]:
        """Share, signal and second moment where min u is m, of shape (..., intervals, points); no share is infinite.

        - ``least``: a share is infinite where its factor is at most this.
        """
        factor = _values(self.factor, m)
        kept = factor > least
        factor = np.where(kept, factor, 1.0)
        share = np.where(kept, _values(self.share, m) / factor, math.inf)
        signal = np.where(kept, _values(self.signal, m) / factor, 0.0)
        second, shift = map(float, second_moment(self.k, self.gamma))
        return share, signal, (second * (1 + signal / self.k) - shift) / m

    def turn(self, b: Doubles, d: Doubles) -> Doubles:
        """The m below which a line's difference is convex in a coordinate; 0 if it is nowhere."""
        fall = -float(second_moment(self.k, self.gamma)[0]) * d
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(fall > 0, fall / (self.k * b), 0.0)

    def proved(
        self, b: Doubles, d: Doubles, *, grids: int = 3, points: int = 64, slack: float = 1e-6
    ) -> list[StopLossLine]:
        """The highest lines of some slopes that are proved, but for a margin.

        - ``grids``, ``points``: for the smallest gap, so many grids of so many points, each around the best point.
        """
        at = self.turn(b, d)[:, None]
        start = np.where(self.convex, self.low, np.maximum(self.low, at))
        end = np.where(self.convex, np.minimum(self.high, at), self.high)
        empty = start > end
        start, end = np.where(empty, self.low, start), np.where(empty, self.high, end)
        heights = np.full(len(b), math.inf)
        for _ in range(grids):
            m = start[..., None] + (end - start)[..., None] * np.linspace(0.0, 1.0, points)
            share, signal, moment = self.worst(m, slack)
            gap = share - b[:, None, None] * signal - d[:, None, None] * moment
            lowest = np.argmin(gap, axis=-1)[..., None]
            least = np.take_along_axis(gap, lowest, -1)[..., 0]
            heights = np.minimum(heights, np.where(empty, math.inf, least).min(axis=-1))
            start, end = (np.take_along_axis(m, np.clip(lowest + step, 0, points - 1), -1)[..., 0] for step in (-1, 1))
        return [self._proved(*line) for line in zip(heights.tolist(), b.tolist(), d.tolist(), strict=True)]

    def _proved(self, height: float, b: float, d: float, margin: float = 1e-8) -> StopLossLine:
        while margin < 1:
            lowered = self.c, rounded(height - margin), rounded(b), rounded(d)
            if passes(partial(check_line, lowered, self.k, self.gamma, self.cap)):
                return lowered
            margin *= 8
        return self.c, Fraction(0), Fraction(0), Fraction(0)  # shares are at least 0

    def lines(self, *, samples: int = 64, slack: float = 1e-6) -> Doubles:
        """Rows of (a, b, d): the lines that are highest somewhere, by samples. The first one is 0."""
        m = self.low[:, None] + (self.high - self.low)[:, None] * np.linspace(0.0, 1.0, samples)
        share, signal, moment = self.worst(m, slack**2)
        convex = np.broadcast_to(self.convex[:, None], m.shape)[kept := np.isfinite(share)]
        rows = np.column_stack([signal[kept], moment[kept], share[kept]])
        found, bent, least = _corners(rows[~convex]), rows[convex], m[kept][convex]
        falls = found[:, 2] < 0
        height, b, d = found[falls].T
        gap = bent[:, 2] - np.outer(b, bent[:, 0]) - np.outer(d, bent[:, 1])
        gap = np.where(least < self.turn(b, d)[:, None], gap, math.inf).min(axis=1)
        if (lowered := gap < height - slack).any():  # the rows that were left out matter
            found[np.flatnonzero(falls)[lowered], 0] = gap[lowered]
            found = np.vstack([found, _corners(rows)])
        found = np.vstack([np.zeros(3), found])
        found[:, 1:] = np.floor(found[:, 1:] * _BITS) / _BITS
        return found


def _corners(rows: Doubles, *, steepest: float = 64.0) -> Doubles:
    """Rows of (a, b, d) at the corners of a + b S + d V <= P, given rows of (S, V, P), for slopes in their ranges.

    Slopes are at most ``steepest``: in a cell without channels lines could be as high as one likes.
    Those of the part with d = 0 are among them: there a line turns from one end of a cell to the other.
    """
    from scipy.spatial import HalfspaceIntersection, QhullError

    lowest = -2 * steepest * (np.abs(rows[:, :2]).max() + 1)
    found = [np.empty((0, 3))]
    for slopes in (1, 2):
        below = np.column_stack([np.ones(len(rows)), rows[:, :slopes], -rows[:, 2]])
        ranges = np.zeros((2 * slopes + 1, slopes + 2))
        ranges[:3, :2], ranges[:3, -1] = [[-1, 0], [0, -1], [0, 1]], [lowest * 2, 0, -steepest]
        if slopes == 2:
            ranges[3:, 2:] = [[-1, -steepest], [1, -steepest]]
        inner = np.array([lowest * 1.5, 1.0, 0.0][: slopes + 1])
        with suppress(QhullError):  # then there are fewer lines
            corners = HalfspaceIntersection(np.vstack([below, ranges]), inner).intersections
            corners[:, 1] = corners[:, 1].clip(0.0)  # but for rounding they are at least 0
            found.append(np.pad(corners[corners[:, 0] > lowest], ((0, 0), (0, 2 - slopes))))
    return np.vstack(found)


def _coefficients(polynomials: Sequence[fmpq_poly]) -> Doubles:
    size = 1 + max(0, *(p.degree() for p in polynomials))
    return np.array([[float(p[j]) for j in range(size)] for p in polynomials])


def _values(rows: Doubles, m: Doubles) -> Doubles:
    return np.asarray(np.polynomial.polynomial.polyval(m, rows.T[:, :, None], tensor=False), dtype=np.float64)


def rounded(x: float) -> Fraction:
    """A short rational at most x."""
    return Fraction(math.floor(x * _BITS), _BITS)


def trace_upper(
    k: int,
    *,
    n: int,
    exp_eps: Real,
    delta: Fraction,
    lam_cap: Fraction,
    least: Fraction,
    searches: tuple[tuple[int, int], ...] = ((7, 1), (3, 24)),
) -> tuple[Fraction, TraceBound | None]:
    """Upper end on the trace of exchangeable channels that meet a target under a ratio cap, by the certified bound.

    The proof is None where the largest trace under the cap alone is all that was found.

    - ``searches``: how many traces are tried, and in how many cells each; by one cell first, which is quick.
    """
    cap_trace = max(subset_orbit(k, s, lam_cap).signal for s in range(1, k))
    above = _above(exp_eps)
    if lam_cap <= above:
        return cap_trace, None
    search = _Search(k, n, above, delta, lam_cap)
    high, found = cap_trace, list[tuple[Fraction, tuple[Fraction, ...]]]()
    for steps, most in searches:
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


def _places(gamma: Fraction, cap: Fraction, *, fine: float = 0.01, pieces: int = 120) -> list[Fraction]:
    """Places from end to end, dense between 1 - exp(eps) and 0, where most of the mass of G is."""
    low, high = 1 - gamma * cap, cap - gamma
    coarse = float(high - low) / pieces
    places, c = {low, high, Fraction(0), 1 - gamma}, float(low)
    while c < high:
        away = max(0.0, c, float(1 - gamma) - c)
        c += max(fine, min(coarse, away / 8))
        places.add(Fraction(round(c * 4096), 4096))
    return sorted(place for place in places if low <= place <= high)


@lru_cache(maxsize=4)  # they are the same for all users, deltas and traces
def _highest(k: int, gamma: Fraction, cap: Fraction) -> _HighestLines:
    return _HighestLines(k, gamma, cap, _places(gamma, cap))


class _Search:
    """Lines of one target, and the cells in which their law exceeds delta."""

    def __init__(self, k: int, n: int, gamma: Fraction, delta: Fraction, cap: Fraction) -> None:
        self.k, self.n, self.gamma, self.delta, self.cap = k, n, gamma, delta, cap
        self.places = _places(gamma, cap)

    def divided(
        self, trace: Fraction, ends: tuple[Fraction, ...], most: int, *, narrowest: float = 0.002
    ) -> tuple[Fraction, ...] | None:
        """Ends of cells in each of which the law below exceeds delta; None if more than ``most`` would be tried.

        - ``narrowest``: width of a cell, relative to the smallest second moment, that is not divided.
        """
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
            middle = math.sqrt((bottom + narrowest) * (roof + narrowest)) - narrowest
            if tried + len(waiting) >= most or roof - bottom < narrowest:
                return None
            end = Fraction(round(start * (1 + middle) * 4096), 4096)
            waiting += [(end, high), (low, end)]
        return tuple(done)

    def _exceeds(self, trace: Fraction, low: Fraction, high: Fraction | None, rtol: float = 1e-3) -> bool:
        """Whether the law below exceeds delta, and by twice the width of its bracket: lines lose a little."""
        try:
            heights = _highest(self.k, self.gamma, self.cap).heights(trace, low, high)
            law = law_below(heights, self.places, self.gamma)
            found = evaluate_law(law, self.n, arithmetic="float64", rtol=rtol)
            return found.lower > (1 + 2 * Fraction(str(rtol))) * self.delta
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
