r"""The highest lines below stop-losses at one place, for every trace and cell at once.

A line :math:`a+bS+dV` is highest at a trace and a second moment where a linear program in (a, b, d) has its optimum.
Only the objective depends on them, so that the optimum is at one of the vertices of a polytope, which are found once
from samples. Nothing is proved by them: a line that is kept is lowered to its smallest gap, and then checked exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from flint import fmpq, fmpq_poly

from symshuffle.base.results import passes
from symshuffle.design.shuffled.minorant import StopLossLine, check_line, gaps, second_moment

Doubles = npt.NDArray[np.float64]

_BITS: Final = 1 << 30
_SAMPLES: Final = 64
_GRID: Final = 64
_ZOOMS: Final = 3
_FIRST_MARGIN: Final = 1e-8
_MARGIN: Final = 1e-7
_SLACK: Final = 1e-6
_NO_FACTOR: Final = 1e-12
_COEFFICIENTS: Final = 5
"""Of the polynomials: their degree is at most 4."""

_STEEPEST: Final = 64.0
"""Slopes are at most this: in a cell without channels lines could be as high as one likes."""


class HighestLines:
    """The highest lines at some places, for any trace and cell of second moments."""

    def __init__(self, k: int, gamma: Fraction, cap: Fraction, places: Sequence[Fraction]) -> None:
        self._pieces = [_Pieces.of(k, gamma, cap, c) for c in places]
        lines = [one.lines() for one in self._pieces]
        self._starts = np.cumsum([0, *map(len, lines)])
        self._lines = np.vstack(lines).T.copy()

    def heights(self, trace: Fraction, low: Fraction, high: Fraction | None) -> list[Fraction]:
        """How high a line may be at each place, by samples: nothing is proved."""
        highest = np.maximum.reduceat(self._at(trace, low, high), self._starts[:-1])
        return [rounded(height - _MARGIN) for height in highest.tolist()]

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
        zero = StopLossLine(c, Fraction(0), Fraction(0))
        others = replace(zero, a=Fraction(-1)), replace(zero, b=Fraction(1))
        rows: list[tuple[Any, ...]] = []
        for (low, high, plain), (_, _, lifted), (_, _, tilted) in zip(
            *(list(gaps(line, k, gamma, cap)) for line in (zero, *others)), strict=True
        ):
            rows.append((low, high, plain, plain - tilted, lifted - plain, False))
        m = fmpq_poly([0, 1])
        signal = (1 - m) ** 2 * fmpq(k, k - 1)
        second, shift = (fmpq(x.numerator, x.denominator) for x in second_moment(k, gamma))
        for low, high, bent in gaps(replace(zero, d=Fraction(-1)), k, gamma, cap):
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

    def proved(self, b: Doubles, d: Doubles) -> list[StopLossLine]:
        """The highest lines of some slopes that are proved, but for a margin."""
        at = self.turn(b, d)[:, None]
        start = np.where(self.convex, self.low, np.maximum(self.low, at))
        end = np.where(self.convex, np.minimum(self.high, at), self.high)
        empty = start > end
        start, end = np.where(empty, self.low, start), np.where(empty, self.high, end)
        heights = np.full(len(b), math.inf)
        for _ in range(_ZOOMS):  # smallest gap, by grids
            m = start[..., None] + (end - start)[..., None] * np.linspace(0.0, 1.0, _GRID)
            share, signal, moment = self.worst(m, _SLACK)
            gap = share - b[:, None, None] * signal - d[:, None, None] * moment
            lowest = np.argmin(gap, axis=-1)[..., None]
            least = np.take_along_axis(gap, lowest, -1)[..., 0]
            heights = np.minimum(heights, np.where(empty, math.inf, least).min(axis=-1))
            start, end = (np.take_along_axis(m, np.clip(lowest + step, 0, _GRID - 1), -1)[..., 0] for step in (-1, 1))
        return [self._proved(*line) for line in zip(heights.tolist(), b.tolist(), d.tolist(), strict=True)]

    def _proved(self, height: float, b: float, d: float) -> StopLossLine:
        margin = _FIRST_MARGIN
        while margin < 1:
            lowered = StopLossLine(self.c, rounded(height - margin), rounded(b), rounded(d))
            if passes(partial(check_line, lowered, self.k, self.gamma, self.cap)):
                return lowered
            margin *= 8
        return StopLossLine(self.c, Fraction(0), Fraction(0))  # shares are at least 0

    def lines(self) -> Doubles:
        """Rows of (a, b, d): the lines that are highest somewhere, by samples. The first one is 0."""
        m = self.low[:, None] + (self.high - self.low)[:, None] * np.linspace(0.0, 1.0, _SAMPLES)
        share, signal, moment = self.worst(m, _NO_FACTOR)
        convex = np.broadcast_to(self.convex[:, None], m.shape)[kept := np.isfinite(share)]
        rows = np.column_stack([signal[kept], moment[kept], share[kept]])
        found, bent, least = _corners(rows[~convex]), rows[convex], m[kept][convex]
        falls = found[:, 2] < 0
        height, b, d = found[falls].T
        gap = bent[:, 2] - np.outer(b, bent[:, 0]) - np.outer(d, bent[:, 1])
        gap = np.where(least < self.turn(b, d)[:, None], gap, math.inf).min(axis=1)
        if (lowered := gap < height - _SLACK).any():  # the rows that were left out matter
            found[np.flatnonzero(falls)[lowered], 0] = gap[lowered]
            found = np.vstack([found, _corners(rows)])
        found = np.vstack([np.zeros(3), found])
        found[:, 1:] = np.floor(found[:, 1:] * _BITS) / _BITS
        return found


def _corners(rows: Doubles) -> Doubles:
    """Rows of (a, b, d) at the corners of a + b S + d V <= P, given rows of (S, V, P), for slopes in their ranges.

    Those of the part with d = 0 are among them: there a line turns from one end of a cell to the other.
    """
    from scipy.spatial import HalfspaceIntersection, QhullError

    lowest = -2 * _STEEPEST * (np.abs(rows[:, :2]).max() + 1)
    found = [np.empty((0, 3))]
    for slopes in (1, 2):
        below = np.column_stack([np.ones(len(rows)), rows[:, :slopes], -rows[:, 2]])
        ranges = np.zeros((2 * slopes + 1, slopes + 2))
        ranges[:3, :2], ranges[:3, -1] = [[-1, 0], [0, -1], [0, 1]], [lowest * 2, 0, -_STEEPEST]
        if slopes == 2:
            ranges[3:, 2:] = [[-1, -_STEEPEST], [1, -_STEEPEST]]
        inner = np.array([lowest * 1.5, 1.0, 0.0][: slopes + 1])
        with suppress(QhullError):  # then there are fewer lines
            corners = HalfspaceIntersection(np.vstack([below, ranges]), inner).intersections
            corners[:, 1] = corners[:, 1].clip(0.0)  # but for rounding they are at least 0
            found.append(np.pad(corners[corners[:, 0] > lowest], ((0, 0), (0, 2 - slopes))))
    return np.vstack(found)


def _coefficients(polynomials: Sequence[fmpq_poly]) -> Doubles:
    return np.array([[float(p[j]) for j in range(_COEFFICIENTS)] for p in polynomials])


def _values(rows: Doubles, m: Doubles) -> Doubles:
    return np.asarray(np.polynomial.polynomial.polyval(m, rows.T[:, :, None], tensor=False), dtype=np.float64)


def rounded(x: float) -> Fraction:
    """A short rational at most x."""
    return Fraction(math.floor(x * _BITS), _BITS)
