r"""H(n) by numerical inversion of the moment generating function, at any n.

For every c > 0, with :math:`M(s)=E e^{sG}`,

.. math:: E[S_+]=\frac1{2\pi i}\int_{\Re s=c}M(s)^n\,\frac{ds}{s^2}.

If the values of G differ by multiples of d, the values of S are r + jd for integers j, where 0 < r <= d, and one period
of the line is enough: summing :math:`P(S=x)=\frac d{2\pi}\int_{-\pi/d}^{\pi/d}M(c+it)^ne^{-(c+it)x}dt` over the
positive x replaces the kernel by

.. math:: d\sum_{j\ge0}(r+jd)e^{-s(r+jd)}=d\,e^{-sr}\Big(\frac r{1-q}+\frac{dq}{(1-q)^2}\Big),\qquad q=e^{-sd}.

The integral is done by Gauss-Legendre panels in mpmath wherever the integrand matters, on two lines; their difference
estimates the error of the panels and of the arithmetic.

*Where it matters.* A law of few atoms has a transform that never dies out: wherever t times every difference of two
atoms is nearly a multiple of 2 pi, :math:`|M|` is nearly what it is at t = 0. The line is cut into boxes; a box is left
out once a bound on all of it is small, and halved otherwise. What is left out is added up as an error.

Behind the end T of what was looked at, the mean of :math:`f=|M(c+it)/M(c)|^{2p}` is bounded by its mean before T. For f
is the characteristic function of a symmetric random variable, so for the triangle w on [-T, T], whose transform is not
negative either, :math:`\int f(t)w(t-a)\,dt\le\int f(t)w(t)\,dt` for every a: no window of length T holds more than four
times the integral of f over [0, T].

Evidence: the identities are proved, and in real numbers both bounds on what lies outside of the panels. That the
difference of two lines is no smaller than the error of either is assumed, and that the rounding of the bounds, which
are evaluated in doubles, is small beside the factors that they leave free: the sum of both is an estimate and no ball.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, final

import numpy as np

from symshuffle.base.doubles import Array
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import counted
from symshuffle.engines.confirm.transform import MpmathLaw, saddle

_PANELS, _RESOLVED = 16, 40.0
"""Panels of the continuous parts, and the angle (t times the spread of G) up to which their nodes serve as atoms."""


@final
@dataclass(frozen=True, slots=True)
class _TiltedLine:
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
    def at(cls, law: MpmathLaw, c: float, n: int) -> _TiltedLine:
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

    def effort(self, found: _LineSurvey) -> float:
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
class _LineSurvey:
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


def survey(
    line: _TiltedLine,
    n: int,
    *,
    digits: int,
    period: float = math.inf,
    max_boxes: int = 30_000_000,
    max_windows: int = 2_000,
    max_smooth: int = 600,
) -> _LineSurvey:
    """Look at the line from t = 0 until what lies beyond is below ``digits`` digits, or costs too much.

    - ``max_boxes``: boxes times atoms that one survey may look at.
    - ``max_windows``: length of all windows, in tilted standard deviations of the integrand, that are worth
      integrating.
    - ``max_smooth``: the same for laws with continuous parts, times the oscillations of their transform at the end.
    """
    found, goal, boxes = _LineSurvey(), line.width * 10.0 ** -(digits + 2), 0
    most = max_windows if line.atoms == len(line.values) else max_smooth
    width = float(np.sqrt(line.weights @ line.values**2))
    start, stop = 0.0, min(max(8 / width, 40 * line.width), period)
    while True:
        block = _LineSurvey(mass=found.mass, end=stop)
        for spent in _look(line, n, start, stop, goal, block):
            boxes += spent
            if boxes > max_boxes or line.effort(found) + line.effort(block) > most:
                if not found.windows:
                    raise Unsupported(
                        f"confirmation at n = {n}: |M(c + it)|^n stays above the digits asked for on the whole line"
                    )
                return found
        windows = found.windows + block.windows
        found = _LineSurvey(windows, found.ignored + block.ignored, block.mass, stop, math.inf)
        found.tail = 0.0 if stop >= period else _tail(line, n, found, lattice=period < math.inf)
        if found.tail <= goal:
            return found
        start, stop = stop, min(2 * stop, period)


def _look(
    line: _TiltedLine, n: int, start: float, stop: float, goal: float, block: _LineSurvey, *, chunk: int = 400_000
) -> Iterator[int]:
    """Sort the boxes of one stretch into the windows, the mass and the ignored part of ``block``.

    A box is settled once its bounds say that its integral does not matter and its mass hardly does, or once it is as
    narrow as a peak; until then it is halved. Of the settled boxes those that may matter become windows, the others are
    added to what is ignored; all of them are added to the mass. What is yielded is the work done since the last time:
    boxes times nodes.

    - ``chunk``: boxes times atoms that are held at once.
    """
    length, kernel = stop - start, min(1.0, (line.c / start) ** 2) if start else 1.0  # which bounds (c/|s|)**2
    # If no box is above the first limit at most an eighth of the goal is ignored; those below the second add at most
    # 2 % to the mass.
    relevant, sizeable = math.log(goal / length / kernel / 8), math.log(0.02 * max(block.mass, line.width) / length)
    half = min(0.3 / math.sqrt(float(line.weights @ line.values**2)), (stop - start) / 2)
    count = math.ceil((stop - start) / (2 * half))
    half = (stop - start) / count / 2
    size = max(1, chunk // len(line.values))
    for first in range(0, count, size):
        centres: Array = np.asarray(start + half * (2.0 * np.arange(first, min(first + size, count)) + 1), dtype=float)
        h = half
        kept: list[tuple[float, float]] = []
        while len(centres):
            yield len(centres) * len(line.values)
            logs = np.log(line.bounds(centres, h)) / 2
            power, mass = n * logs, 2 * (n // 2) * logs
            matters = power > relevant
            settled = ~matters & (mass <= sizeable)
            if h <= line.width / 3:
                settled = np.ones(len(centres), dtype=bool)
            windows = settled & matters
            block.mass += 2 * h * float(np.exp(mass[settled]).sum())
            block.ignored += 2 * h * kernel * float(np.exp(power[settled & ~windows]).sum())
            kept += [(t - h, t + h) for t in centres[windows].tolist()]
            left = centres[~settled]
            h /= 2
            centres = np.sort(np.concatenate([left - h, left + h]))
        block.windows += _merged(kept, line.width)


def _merged(boxes: list[tuple[float, float]], width: float) -> list[tuple[float, float]]:
    """Neighbouring boxes, up to round-off in units of a peak's width, as one window."""
    merged: list[tuple[float, float]] = []
    for a, b in sorted(boxes):
        if merged and a <= merged[-1][1] + 1e-9 * width:
            merged[-1] = (merged[-1][0], b)
        else:
            merged.append((a, b))
    return merged


def _tail(line: _TiltedLine, n: int, found: _LineSurvey, *, lattice: bool) -> float:
    """Bound on what lies beyond the end, with ``(c/t)**2`` for the kernel, or ``(pi/2)**2`` of it on a lattice."""
    c, end = line.c, found.end
    spread = 4 * math.pi**2 / 6 * found.mass * (c / end) ** 2
    share = float(line.weights[: line.atoms].sum()) + line.variation / end
    if line.variation and share < 1:  # beyond here the continuous parts are small, and the atoms are not everything
        spread = min(spread, c * c / end * math.exp(max(n * math.log(share), -700.0)))
    return spread * (math.pi**2 / 4 if lattice else 1.0)


_COARSE_DIGITS, _COARSE_PANEL, _COARSE_DEGREE = 12, 3.0, 3
"""Panel and degree that give these digits of a Gaussian peak, for peaks far out of which no more are needed."""


def by_inversion(law: MpmathLaw, n: int, *, digits: int) -> tuple[Any, Any, str]:
    """E[S_+]/n, an estimate of its error, and what was integrated, in words."""
    c = saddle(law.nodes(), n)
    first, bound, found = _on_line(law, n, c, digits, degree=3)
    width = _TiltedLine.at(law, c, n).width
    second, other, _ = _on_line(law, n, c + min(c, width) / 2, digits, degree=4)
    error = abs(first - second) + min(bound, other) + abs(first) * law.noise(n, c)
    whole = law.lattice is not None and found.tail == 0
    where = f"one period of the lattice {law.context.nstr(law.lattice, 6)}" if whole else "a line"
    return first, error, f"{where}, {counted(len(found.windows), 'peak')} up to t = {found.end:.3g}"


def _on_line(law: MpmathLaw, n: int, c: float, digits: int, *, degree: int) -> tuple[Any, Any, _LineSurvey]:
    """E[S_+]/n from the line of real part c, a bound on what was left out, and the survey of the line."""
    context = law.context
    line = _TiltedLine.at(law, c, n)
    period = math.inf if law.lattice is None else float(context.pi / law.lattice)
    found = survey(line, n, digits=digits, period=period)
    integrand, scale = _integrand(law, n, context.mpf(c), degree)
    total, last = context.mpf(0), 0.0
    for low, b in found.windows:
        a, last = (last if abs(low - last) < 1e-9 * line.width else low), b  # neighbours share an end to the last bit
        needed = digits + 3 + min(0.0, 2 * math.log10(c / a) if a else 0.0)
        # A double ends near the period; the integrand, where it is not small, has to be integrated up to it.
        end = context.mpf(b) if b < period - 1e-9 * line.width else context.pi / law.lattice
        total += _panels(context, integrand, a, end, line, max(needed, 4.0))
    return total * scale, (found.ignored + found.tail) * scale, found


def _integrand(law: MpmathLaw, n: int, c: Any, degree: int) -> tuple[Callable[[Any], Any], Any]:
    """The real part of the integrand divided by its size at t = 0, and the factor that makes its integral E[S_+]/n."""
    context = law.context

    @lru_cache
    def tilted(panels: tuple[int, ...]) -> list[tuple[Any, Any]]:
        parts = zip(law.smooth, panels, strict=True)
        nodes = [node for part, count in parts for node in part.nodes(context, panels=count, degree=degree)]
        return [(v, w * context.exp(c * v)) for v, w in (*law.atoms, *nodes)]

    def panels(t: Any) -> tuple[int, ...]:
        return tuple(1 << part.turns(float(t) + float(c)).bit_length() for part in law.smooth)

    at_zero = sum(q for _, q in tilted(panels(0)))
    scale = context.exp(n * context.log(at_zero)) / (context.pi * c * c * n)

    def integrand(t: Any) -> Any:
        ratio = context.fdot((q, context.expj(v * t)) for v, q in tilted(panels(t))) / at_zero
        return (ratio**n * _kernel(law, context.mpc(c, t)) * c * c).real

    return integrand, scale


def _kernel(law: MpmathLaw, s: Any) -> Any:
    if law.lattice is None:
        return 1 / s**2
    d, r = law.lattice, law.offset
    q = law.context.exp(-s * d)
    rest = -law.context.expm1(-s * d)
    return d * law.context.exp(-s * r) * (r / rest + d * q / rest**2)


def _panels(
    context: Any,
    f: Callable[[Any], Any],
    a: float,
    b: Any,
    line: _TiltedLine,
    digits: float,
    *,
    panel_length: float = 2.0,
    max_degree: int = 7,
) -> Any:
    """The integral of f over [a, b] to about ``digits`` digits of the main peak, panel by panel.

    - ``panel_length``: longest panel, in standard deviations of the integrand.
    - ``max_degree``: highest degree of the rule, ``3 * 2**(degree - 1)`` nodes to a panel.
    """
    coarse = a > 0 and digits <= _COARSE_DIGITS
    longest = (_COARSE_PANEL if coarse else panel_length) * line.width
    panel = longest if a else min(line.width, line.c)  # the pole at 0 is at distance c
    ends = [context.mpf(a)]
    while ends[-1] < b:
        ends.append(min(ends[-1] + panel, b))
        panel = min(longest, 1.3 * panel)
    degree = _COARSE_DEGREE if coarse else max_degree
    epsilon = context.mpf(10) ** -digits * line.width
    total, _ = context._gauss_legendre.summation(f, ends, context.prec, epsilon, degree)
    return total
