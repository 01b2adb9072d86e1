r"""Where on a vertical line :math:`|M(c+it)|^n` is not negligible, in doubles.

A law of few atoms has a transform that never dies out: wherever t times every difference of two atoms is nearly a
multiple of 2 pi, :math:`|M|` is nearly what it is at t = 0. The line is cut into boxes; a box is left out once a bound
on all of it is small, and halved otherwise. What is left out is added up as an error.

Behind the end T of what was looked at, the mean of :math:`f=|M(c+it)/M(c)|^{2p}` is bounded by its mean before T. For f
is the characteristic function of a symmetric random variable, so for the triangle w on [-T, T], whose transform is not
negative either, :math:`\int f(t)w(t-a)\,dt\le\int f(t)w(t)\,dt` for every a: no window of length T holds more than four
times the integral of f over [0, T].

Evidence: both bounds are proved in real numbers. They are evaluated in doubles with no bound on the rounding, which is
assumed to be small beside the factors that the bounds leave free.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, final

import numpy as np

from symshuffle.base.doubles import Array
from symshuffle.base.errors import Unsupported
from symshuffle.engines.confirm.transform import MpmathLaw

_MOST_BOXES: Final = 30_000_000
"""Boxes times atoms that one survey may look at."""

MOST_WINDOWS: Final = 2_000
"""Length of all windows, in tilted standard deviations of the integrand, that are worth integrating."""

MOST_SMOOTH: Final = 600
"""The same for laws with continuous parts, times the oscillations of their transform at the far end."""

_CHUNK: Final = 400_000
_PANELS, _RESOLVED = 16, 40.0
"""Panels of the continuous parts, and the angle (t times the spread of G) up to which their nodes serve as atoms."""


@final
@dataclass(frozen=True, slots=True)
class TiltedLine:
    """The tilted law on the line of real part c, in doubles.

    - ``width``: standard deviation of ``|M(c + it)|**n`` around t = 0.
    - ``variation``: A number V such that the continuous parts contribute at most V/t to ``|M(c + it)/M(c)|``.
    """

    c: float
    width: float
    values: Array
    weights: Array
    atoms: int
    variation: float

    @classmethod
    def at(cls, law: MpmathLaw, c: float, n: int) -> TiltedLine:
        """The line of one law."""
        context, nodes = law.context, law.nodes(panels=_PANELS)
        raw = [w * context.exp(c * v) for v, w in nodes]
        total = sum(raw)
        mean = sum(v * q for (v, _), q in zip(nodes, raw, strict=True)) / total
        values = np.array([float(v - mean) for v, _ in nodes])
        weights = np.array([float(q / total) for q in raw])
        spread = math.sqrt(n * float(weights @ values**2))
        variation = sum(part.variation(context, c) for part in law.smooth) / float(total) if law.smooth else 0.0
        return cls(c, 1 / spread, values, weights, len(law.atoms), variation)

    def effort(self, found: LineSurvey) -> float:
        """What integrating the windows costs."""
        turns = 1.0 if self.atoms == len(self.values) else 1 + found.end * float(np.ptp(self.values)) / 8
        return found.length / self.width * turns

    def bounds(self, t: Array, half: float) -> Array:
        """Upper bounds on ``|M(c + it)/M(c)|**2`` over boxes with centres t."""
        near = self.atoms == len(self.values) or float(t[-1]) * np.ptp(self.values) < _RESOLVED
        v, q = (self.values, self.weights) if near else (self.values[: self.atoms], self.weights[: self.atoms])
        waves = np.exp(1j * np.multiply.outer(t, v)) * q
        sums, slopes = waves.sum(axis=1), waves @ (1j * v)
        curvature = float(q.sum() * (q @ v**2) - (q @ v) ** 2)
        squared = np.abs(sums) ** 2 + 2 * np.abs((sums.conj() * slopes).real) * half + curvature * half * half
        squared += 4e-16 * (2 + float(q @ np.abs(v)) * t)  # what rounding the angles does
        rest = 0.0 if near else np.minimum(1 - q.sum(), self.variation / np.maximum(t - half, half))
        found: Array = np.minimum((np.sqrt(squared) + rest) ** 2, 1.0)
        return found


@final
@dataclass(slots=True)
class LineSurvey:
    """What was found on one line; lengths are in units of t.

    - ``ignored``: bound on the integral of ``|M(c + it)/M(c)|**n (c/|s|)**2`` over the rest, up to ``end``.
    - ``mass``: bound on the integral of ``|M(c + it)/M(c)|**n``, or one power less if n is odd, up to ``end``.
    - ``tail``: bound on the integral beyond ``end``, as ``ignored``.
    """

    windows: list[tuple[float, float]] = field(default_factory=list)
    ignored: float = 0.0
    mass: float = 0.0
    end: float = 0.0
    tail: float = math.inf

    @property
    def length(self) -> float:
        """Total length of the windows."""
        return sum(b - a for a, b in self.windows)


def survey(line: TiltedLine, n: int, *, digits: int, period: float = math.inf) -> LineSurvey:
    """Look at the line from t = 0 until what lies beyond is below ``digits`` digits, or costs too much."""
    found, goal, boxes = LineSurvey(), line.width * 10.0 ** -(digits + 2), 0
    most = MOST_WINDOWS if line.atoms == len(line.values) else MOST_SMOOTH
    width = float(np.sqrt(line.weights @ line.values**2))
    start, stop = 0.0, min(max(8 / width, 40 * line.width), period)
    while True:
        block = LineSurvey(mass=found.mass, end=stop)
        for spent in _look(line, n, start, stop, goal, block):
            boxes += spent
            if boxes > _MOST_BOXES or line.effort(found) + line.effort(block) > most:
                if not found.windows:
                    raise Unsupported(
                        f"confirmation at n = {n}: |M(c + it)|^n stays above the digits asked for on the whole line"
                    )
                return found
        windows = found.windows + block.windows
        found = LineSurvey(windows, found.ignored + block.ignored, block.mass, stop, math.inf)
        found.tail = 0.0 if stop >= period else _tail(line, n, found, lattice=period < math.inf)
        if found.tail <= goal:
            return found
        start, stop = stop, min(2 * stop, period)


def _look(line: TiltedLine, n: int, start: float, stop: float, goal: float, block: LineSurvey) -> Iterator[int]:
    """Sort the boxes of one stretch into the windows, the mass and the ignored part of ``block``.

    A box is settled once its bounds say that its integral does not matter and its mass hardly does, or once it is as
    narrow as a peak; until then it is halved. Of the settled boxes those that may matter become windows, the others are
    added to what is ignored; all of them are added to the mass. What is yielded is the work done since the last time:
    boxes times nodes.
    """
    limits = _Limits.of(line, start, stop, goal, block.mass)
    half = min(0.3 / math.sqrt(float(line.weights @ line.values**2)), (stop - start) / 2)
    count = math.ceil((stop - start) / (2 * half))
    half = (stop - start) / count / 2
    size = max(1, _CHUNK // len(line.values))
    for first in range(0, count, size):
        centres: Array = np.asarray(start + half * (2.0 * np.arange(first, min(first + size, count)) + 1), dtype=float)
        h = half
        kept: list[tuple[float, float]] = []
        while len(centres):
            yield len(centres) * len(line.values)
            logs = np.log(line.bounds(centres, h)) / 2
            power, mass = n * logs, 2 * (n // 2) * logs
            matters = power > limits.relevant
            settled = ~matters & (mass <= limits.sizeable)
            if h <= line.width / 3:
                settled = np.ones(len(centres), dtype=bool)
            windows = settled & matters
            block.mass += 2 * h * float(np.exp(mass[settled]).sum())
            block.ignored += 2 * h * limits.kernel * float(np.exp(power[settled & ~windows]).sum())
            kept += [(t - h, t + h) for t in centres[windows].tolist()]
            left = centres[~settled]
            h /= 2
            centres = np.sort(np.concatenate([left - h, left + h]))
        block.windows += _merged(kept, line.width)


@final
@dataclass(frozen=True, slots=True)
class _Limits:
    """When a box of one stretch is settled.

    - ``kernel``: bound on ``(c/|s|)**2`` over the stretch.
    - ``relevant``: A box matters where ``log |M(c + it)/M(c)|**n`` may be above this: if no box does, at most an
      eighth of the goal is ignored.
    - ``sizeable``: the logarithm of the mass above which a box is halved: boxes below add at most 2 % to the mass.
    """

    kernel: float
    relevant: float
    sizeable: float

    @classmethod
    def of(cls, line: TiltedLine, start: float, stop: float, goal: float, mass: float) -> _Limits:
        """For a stretch, before which there is so much mass."""
        kernel = min(1.0, (line.c / start) ** 2) if start else 1.0
        length = stop - start
        return cls(kernel, math.log(goal / length / kernel / 8), math.log(0.02 * max(mass, line.width) / length))


def _merged(boxes: list[tuple[float, float]], width: float) -> list[tuple[float, float]]:
    """Neighbouring boxes, up to round-off in units of a peak's width, as one window."""
    merged: list[tuple[float, float]] = []
    for a, b in sorted(boxes):
        if merged and a <= merged[-1][1] + 1e-9 * width:
            merged[-1] = (merged[-1][0], b)
        else:
            merged.append((a, b))
    return merged


def _tail(line: TiltedLine, n: int, found: LineSurvey, *, lattice: bool) -> float:
    """Bound on what lies beyond the end, with ``(c/t)**2`` for the kernel, or ``(pi/2)**2`` of it on a lattice."""
    c, end = line.c, found.end
    spread = 4 * math.pi**2 / 6 * found.mass * (c / end) ** 2
    share = float(line.weights[: line.atoms].sum()) + line.variation / end
    if line.variation and share < 1:  # beyond here the continuous parts are small, and the atoms are not everything
        spread = min(spread, c * c / end * math.exp(max(n * math.log(share), -700.0)))
    return spread * (math.pi**2 / 4 if lattice else 1.0)


def describe(found: LineSurvey) -> str:
    """How much was found, in words."""
    return f"{len(found.windows)} peak{'s' if len(found.windows) > 1 else ''} up to t = {found.end:.3g}"
