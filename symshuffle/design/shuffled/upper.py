"""Search for an upper end on the trace: places, slopes, cells, and the smallest trace that the certificate excludes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from flint import fmpq_poly

from symshuffle.accountants.bounds.evaluate import evaluate_law
from symshuffle.base.choices import Rigour
from symshuffle.base.errors import CertificateError, Unsupported
from symshuffle.base.numbers import Exp, Real, enclose
from symshuffle.base.results import passes
from symshuffle.base.solvers import highspy, silent
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
_STEPS: Final = 7
_FINE: Final = 0.01
_COARSE: Final = 120
_SAMPLES: Final = 64
_GRID: Final = 64
_ZOOMS: Final = 3
_FIRST_MARGIN: Final = 1e-8
_SPARE: Final = Fraction(1002, 1000)
"""The law below has to exceed delta by this factor before lines are proved."""

_WIDTH: Final = 1e-3
_MARGIN: Final = 1e-7
_SLACK: Final = 1e-6
_STEEPEST: Final = 64.0
"""Slopes are at most this: in a cell without channels lines could be as high as one likes."""

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


class _Search:
    """Lines of one target: how templates spend mass at each place, sampled once."""

    def __init__(self, k: int, n: int, gamma: Fraction, delta: Fraction, cap: Fraction) -> None:
        self.k, self.n, self.gamma, self.delta, self.cap = k, n, gamma, delta, cap
        self.places = _places(gamma, cap)
        self.highest = [_Lines.sampled(k, gamma, cap, c) for c in self.places]

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
        heights = [line.height(trace, low, high) for line in self._lines(trace, low, high)]
        try:
            law = law_below(heights, self.places, self.gamma)
            return evaluate_law(law, self.n, rigour=Rigour.FLOAT64, rel=_WIDTH).lower > _SPARE * self.delta
        except Unsupported:
            return False

    def proof(self, exp_eps: Real, trace: Fraction, ends: tuple[Fraction, ...]) -> TraceBound:
        """The best lines of every cell, each lowered until it is proved."""
        cells = tuple(
            tuple(_proved(line, self.k, self.gamma, self.cap) for line in self._lines(trace, *sides))
            for sides in cell_sides(ends)
        )
        return TraceBound(self.k, self.n, exp_eps, self.gamma, self.delta, self.cap, trace, ends, cells)

    def _lines(self, trace: Fraction, low: Fraction, high: Fraction | None) -> list[StopLossLine]:
        with silent():
            return [one.at(trace, low, high) for one in self.highest]


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


def _proved(line: StopLossLine, k: int, gamma: Fraction, cap: Fraction) -> StopLossLine:
    """The highest line of the same slopes that is proved, but for a margin."""
    base, lifted = (list(gaps(replace(line, a=a), k, gamma, cap)) for a in (Fraction(0), Fraction(-1)))
    height = math.inf
    for (low, high, plain), (_, _, other) in zip(base, lifted, strict=True):
        start, end = float(low), float(high)
        for _ in range(_ZOOMS):  # smallest quotient of two polynomials, by grids
            m = np.linspace(start, end, _GRID)
            factor = _values(other, m) - _values(plain, m)
            quotient = np.where(factor > _SLACK, _values(plain, m) / np.where(factor > _SLACK, factor, 1), math.inf)
            at = int(np.argmin(quotient))
            height = min(height, float(quotient[at]))
            start, end = m[max(at - 1, 0)], m[min(at + 1, _GRID - 1)]
    margin = _FIRST_MARGIN
    while margin < 1:
        lowered = replace(line, a=_rounded(height - margin))
        if passes(partial(check_line, lowered, k, gamma, cap)):
            return lowered
        margin *= 8
    return StopLossLine(line.c, Fraction(0), Fraction(0))  # shares are at least 0


def _rounded(x: float) -> Fraction:
    return Fraction(math.floor(x * _BITS), _BITS)


@dataclass(frozen=True, slots=True)
class _Lines:
    """The highest line at one place, by a linear program that is solved again for every trace and cell.

    Shares, signals and second moments of the worst laws of a coordinate are sampled. The last ``convex`` rows bound
    templates whose smallest coordinate, ``least``, is where the difference is convex.
    """

    k: int
    gamma: Fraction
    c: Fraction
    shares: Doubles
    signals: Doubles
    moments: Doubles
    least: Doubles
    convex: int
    models: dict[int, Any] = field(default_factory=dict)

    @classmethod
    def sampled(cls, k: int, gamma: Fraction, cap: Fraction, c: Fraction) -> _Lines:
        """The lines at a place."""
        # A line's gap is share - a - b S - d V, times a positive factor: read off at four lines.
        second, shift = map(float, second_moment(k, gamma))
        zero = StopLossLine(c, Fraction(0), Fraction(0))
        others = replace(zero, a=Fraction(-1)), replace(zero, b=Fraction(1))
        found: list[tuple[Doubles, ...]] = []
        for (low, high, plain), (_, _, lifted), (_, _, tilted) in zip(
            *(list(gaps(line, k, gamma, cap)) for line in (zero, *others)), strict=True
        ):
            m = np.linspace(float(low), float(high), _SAMPLES)
            base, unit, slope = (_values(p, m) for p in (plain, lifted, tilted))
            factor = unit - base
            kept = factor > 1e-12
            signal = (base - slope)[kept] / factor[kept]
            found.append((base[kept] / factor[kept], signal, (second * (1 + signal / k) - shift) / m[kept], m[kept]))
        concave = sum(len(part[0]) for part in found)
        for low, high, bent in gaps(replace(zero, d=Fraction(-1)), k, gamma, cap):
            m = np.linspace(float(low), float(high), _SAMPLES)
            square = 1 + (1 - m) ** 2 / (k - 1)
            moment = (second * square - shift) / m
            found.append((_values(bent, m) / m - moment, k * square - k, moment, m))
        shares, signals, moments, least = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return cls(k, gamma, c, shares, signals, moments, least, len(shares) - concave)

    def at(self, trace: Fraction, low: Fraction, high: Fraction | None) -> StopLossLine:
        """The line, highest for a trace and a cell, up to rounding and without a proof."""
        best, value = StopLossLine(self.c, Fraction(0), Fraction(0)), 0.0
        for rows in (len(self.shares) - self.convex, len(self.shares)):
            solved = self._solve(rows, float(trace), float(low), None if high is None else float(high))
            if solved is None:
                continue
            reached, b, d = solved
            slopes = max(_rounded(b), Fraction(0)), max(_rounded(d), Fraction(0)) if high is None else _rounded(d)
            line = StopLossLine(self.c, _rounded(self._gap(*map(float, slopes)) - _MARGIN), *slopes)
            if (height := float(line.height(trace, low, high))) > value:
                best, value = line, height
            if height > reached - _SLACK:
                break  # the rows that were left out do not matter
        return best

    def _solve(self, rows: int, v: float, x: float, y: float | None) -> tuple[float, float, float] | None:
        """Largest a + b v + d x (or d y for d < 0) with a + b S + d V at most the shares; and b, d."""
        if rows not in self.models:
            self.models[rows] = self._model(rows)
        model = self.models[rows]
        model.changeColsCost(4, np.arange(4, dtype=np.int32), np.array([-1.0, -v, -x, y or 0.0]))
        model.changeColBounds(3, 0.0, 0.0 if y is None else _STEEPEST)
        model.run()
        if model.getModelStatus() != highspy().HighsModelStatus.kOptimal:
            return None
        _, b, up, down = model.getSolution().col_value
        return -model.getObjectiveValue(), b, up - down

    def _model(self, rows: int) -> Any:
        """The linear program of some rows: columns a, b and both parts of d."""
        highs = highspy()
        lp = highs.HighsLp()
        lp.num_col_, lp.num_row_ = 4, rows
        lp.col_cost_, lp.col_upper_ = np.zeros(4), np.array([math.inf, _STEEPEST, _STEEPEST, _STEEPEST])
        lp.col_lower_ = np.array([-math.inf, 0.0, 0.0, 0.0])
        lp.row_lower_, lp.row_upper_ = np.full(rows, -math.inf), self.shares[:rows]
        lp.a_matrix_.format_ = highs.MatrixFormat.kColwise
        lp.a_matrix_.start_ = np.arange(5, dtype=np.int32) * rows
        lp.a_matrix_.index_ = np.tile(np.arange(rows, dtype=np.int32), 4)
        moments = self.moments[:rows]
        lp.a_matrix_.value_ = np.concatenate([np.ones(rows), self.signals[:rows], moments, -moments])
        model = highs.Highs()
        for name, value in (("output_flag", False), ("presolve", "off"), ("threads", 1)):
            model.setOptionValue(name, value)
        model.passModel(lp)
        return model

    def _gap(self, b: float, d: float) -> float:
        """How far a line through 0 with these slopes may be lifted."""
        gaps_of = self.shares - b * self.signals - d * self.moments
        concave = len(gaps_of) - self.convex
        turned = self.k * b * self.least + float(second_moment(self.k, self.gamma)[0]) * d < 0
        return float(min(gaps_of[:concave].min(), gaps_of[concave:][turned[concave:]].min(initial=math.inf)))


def _values(p: fmpq_poly, m: Doubles) -> Doubles:
    return np.asarray(np.polynomial.polynomial.polyval(m, [float(x) for x in p.coeffs()] or [0.0]), dtype=np.float64)
