r"""The tilted characteristic function :math:`M(c+it)/M(c)` on the line of a contour, in doubles with an error bound.

Of a finite law it is one sum over the atoms. The segments of a mixed law are Gauss nodes up to some height of the line
and are given by their transforms beyond it, so that the line has two regions; formulas and bounds are those of
:mod:`symshuffle.channels.mixed_law`.

Evidence. *Proved*: that the two forms are the function, and the bounds on what a form leaves out. *Proved under the
assumption* of :mod:`symshuffle.engines.contours.contour` about NumPy: the errors of the exponentials and of their
pairwise sums, which grow with the logarithm of the number of atoms. *Heuristic*: 10^-12 on top of a size that only
decides which intervals are negligible, eight round-offs of a phase, and the error that SciPy's special function is
allowed.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, final

import numpy as np
import numpy.typing as npt

from symshuffle.base import cost
from symshuffle.base.doubles import UNIT, Array, Complexes
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import AllEnds, to_float
from symshuffle.channels.law import Law
from symshuffle.engines.contours import saddle

if TYPE_CHECKING:
    from symshuffle.channels.mixed_law import MixedLaw

_SLACK: Final = 1e-12
"""Above what the sums over nodes and intervals round where a bound, and no value, is computed."""

_STEPS: Final = 46
"""Round-offs of one term of the sum over the atoms and of the logarithm after it, beside those of its tilted weight."""


_BITS: Final = 80
"""Precision of the finite laws that are made in balls and read as doubles."""

ROUGH_NODES: Final = 40
"""Gauss nodes for the choice of constants: cost only."""

UPPER_CELLS: Final = 64
"""Cells of the law above, in convex order, where an upper bound on the real line is enough: cost only."""

AS_MANY_AS: Final = 16
"""Atoms that cost as much as the continuous part of a law: cost only."""

GAUSS_SHARE: Final = 1e-4
"""Share of the relative width aimed at that the errors of Gauss nodes may take: cost only."""

CHUNK: Final = 1 << 16
"""Nodes, or intervals of them, that are held at once: cost only, but for what summing a chunk rounds."""

_SHORT: Final = 32
"""Nodes up to which an interval is evaluated rather than split: cost only."""

Indices = npt.NDArray[np.int64]


@final
@dataclass(frozen=True, slots=True)
class Region:
    """The nodes from ``first`` to ``last`` of a line, with a form of the characteristic function that serves them.

    - ``noise``: bounds on the relative errors of ``tilted``, in unit round-offs.
    - ``deviation``: above the standard deviation of G under the tilt.
    - ``segments``: ends of the segments that are not among the atoms, at their values ``constant + slope * ratio`` of
      G; the weight is signed, and relative to M(c) as the exponential of ``-log_scale`` is.
    - ``log_scale``: logarithm of M(c).
    """

    first: int
    last: int
    c: float
    values: Array
    tilted: Array
    noise: Array
    deviation: float
    error: float = 0.0
    segments: tuple[tuple[float, float, float, float], ...] = ()
    log_scale: float = 0.0

    def size(self, t: Array, radius: Array) -> Array:
        r"""An upper bound on the size of the function over intervals of a half width r around a place.

        Of atoms its square moves by at most :math:`2r|\Re\bar\varphi\varphi'|+r^2\operatorname{Var}G`, because it is
        :math:`E\cos(t(G-G'))`, with G' a copy of G and both under the tilt; with segments the size moves by
        :math:`r\,E|G-\mu|`.
        """
        mean, largest = float(self.tilted @ self.values), math.sqrt(float(self.tilted @ self.values**2))
        terms = zip(self.values, self.tilted, strict=True)
        waves = (np.array([[w], [1j * w * (v - mean)]]) * np.exp(1j * v * t) for v, w in terms)
        total, slope = _pairwise(waves)
        rounded = _STEPS + len(self.values).bit_length() + 1 + float(self.tilted @ self.noise)
        slack = _SLACK + 2 * UNIT * rounded + 8 * UNIT * largest * t
        if self.segments:
            bound = np.abs(total + self._transform(t)) + slack + self.deviation * radius + self._transform_error()
        else:
            steep = 2 * np.abs((total.conj() * slope).real) + 6 * self.deviation * slack + 8 * UNIT * largest
            bound = np.sqrt((np.abs(total) + slack) ** 2 + radius * steep + (self.deviation * radius) ** 2)
        found: Array = bound + self.error
        return found

    def ceiling(self, t: Array) -> Array:
        """A bound on its size from a height on: the atoms in phase, the segments by parts."""
        by_parts = sum(abs(w) * math.sqrt(r) / abs(b) * self._growth(a + b * r) for a, b, w, r in self.segments)
        bound: Array = float(self.tilted.sum()) + _SLACK + by_parts / t
        return np.minimum(bound, 1.0)

    def log_ratio(self, t: Array) -> tuple[Complexes, Array]:
        """The logarithm of the function, accurate also where it is tiny, with a bound on its error."""
        rounded = self.noise + float(self.tilted @ self.noise) + len(self.values).bit_length() + 1 + _STEPS
        error = np.zeros_like(t)

        def terms() -> Iterator[Complexes]:
            for value, weight, noise in zip(self.values, self.tilted, rounded, strict=True):
                angle = value * t
                term = _turn(angle)
                np.add(error, weight * (noise * np.abs(term) + 6 * np.abs(angle)), out=error)
                yield weight * term

        total, known = _pairwise(terms()), 0.0
        if self.segments:
            total = total + self._transform(t) - (1 - float(self.tilted.sum()))
            known = self._transform_error()
        size = np.abs(1 + total)
        # NumPy's log1p of a complex number loses the real part where it is small, and n of it is what matters.
        squared = 2 * total.real + total.real**2 + total.imag**2
        near = np.log1p(np.maximum(squared, -0.75)) / 2
        result = np.where(size > 0.5, near, np.log(np.maximum(size, 1e-300))) + 1j * np.angle(1 + total)
        # The error of the logarithm is relative to the ratio; the n-th power makes up for it where the ratio vanishes.
        error += 2 * np.minimum(size, 1.0) * np.abs(result)  # and once more when it is multiplied by n
        return result, (UNIT * error + self.error + known) / np.maximum(size, 1e-300)

    def _growth(self, value: float) -> float:
        return math.exp(self.c * value - self.log_scale)

    def _transform_error(self, *, special: float = 1e-13) -> float:
        """Bound on the error of the transforms: of the special function, and of phases that large arguments round.

        - ``special``: above the relative error of the scaled complementary error function of SciPy.
        """
        return sum(
            abs(w) * self._growth(a + b * r) * (8 * special + 8 * UNIT * (2 + abs(a / (b * r)) + abs(self.c * a)))
            for a, b, w, r in self.segments
        )

    def _transform(self, t: Array) -> Complexes:
        """The share of the segments, end by end."""
        from scipy.special import erfcx  # only mixed laws pay for the import

        s = self.c + 1j * t
        total = np.zeros_like(s)
        for a, b, w, r in self.segments:
            root = np.sqrt(-s * (b * r))
            total += w * np.exp(s * (a + b * r) - self.log_scale) * (1 - math.sqrt(math.pi) * root * erfcx(root))
        return total


def enclosure_error(finite: Law, tilt: saddle.Tilt, n: int, c: float) -> float:
    r"""How far H may be from that of the midpoints, where values and weights are balls; relative to M(c)^n.

    Values that are off by r and weights that are off by a share p move :math:`E[S_+]` by at most
    :math:`E[D e^{cS}]` and :math:`E[(\prod(1+p)-1)e^{cS}]/(ce)`, with D the sum of n copies of r and every value
    raised by its r, since :math:`1\{x>0\}\le e^{cx}` and :math:`x_+\le e^{cx}/(ce)`.

    - ``finite``: the atoms of ``tilt`` as they were before they became doubles.
    """
    values, weights = finite.ends
    radii, least = _radii(values), np.array(list(map(float, weights[0])))
    shares = np.divide(_radii(weights), least, out=np.full_like(least, math.inf), where=least > 0)
    tilted = tilt.at(c).weights
    try:
        raised = float(tilted @ np.expm1(c * radii))
        moved = n * float(tilted @ (radii * np.exp(c * radii))) * math.exp((n - 1) * math.log1p(raised))
        heavier = float(tilted @ (shares * np.exp(c * radii))) / (1 + raised)
        weighed = math.exp(n * math.log1p(raised)) * math.expm1(n * math.log1p(heavier)) / (c * math.e)
    except OverflowError:
        raise Unsupported(f"the balls of the law are too wide for a sum of n = {n} copies") from None
    return (moved + weighed) * (1 + 1e-9)


def _radii(ends: AllEnds) -> Array:
    """Halves of the widths of some balls, rounded up; 0 for any other number."""
    widths = np.array(list(map(float, map(operator.sub, *reversed(ends)))))
    found: Array = np.where(widths > 0, np.nextafter(widths / 2, math.inf), 0.0)
    return found


def _turn(angle: Array) -> Complexes:
    """``exp(i angle) - 1`` from sines alone, as NumPy's expm1 has it, in half of its time.

    If sines err by at most four units in the last place, both parts have relative errors of at most 10 * 2^-52.
    """
    found = np.empty(angle.shape, dtype=np.complex128)
    half = np.sin(angle / 2)
    found.real, found.imag = -2 * half * half, np.sin(angle)
    return found


def _pairwise(terms: Iterator[Complexes]) -> Complexes:
    """The sum of some arrays, each of which goes through about as many additions as their number has binary digits."""
    partial: list[tuple[int, Complexes]] = []
    for term in terms:
        level, total = 0, term
        while partial and partial[-1][0] == level:
            total = partial.pop()[1] + total
            level += 1
        partial.append((level, total))
    total = partial.pop()[1]
    while partial:
        total = partial.pop()[1] + total
    return total


@lru_cache(maxsize=32)
def _gauss_atoms(law: MixedLaw, order: int) -> tuple[Law, saddle.Tilt]:
    """The law as far as its transform tells, and in doubles: of many numbers of users they are the same."""
    finite = law.near(order, _BITS)
    return finite, saddle.tilt(finite)


@lru_cache(maxsize=16)
def _upper_tilt(law: MixedLaw) -> saddle.Tilt:
    """A finite law above in convex order, in doubles."""
    return saddle.tilt(law.finite("upper", UPPER_CELLS, _BITS))


def estimate_tilt(law: Law | MixedLaw) -> saddle.Tilt:
    """Atoms good enough to choose constants by."""
    return saddle.tilt(law) if isinstance(law, Law) else _gauss_atoms(law, ROUGH_NODES)[1]


def line_regions(
    law: Law | MixedLaw, tilt: saddle.Tilt, plan: saddle.ContourPlan, *, tolerance: float
) -> tuple[tuple[Region, ...], saddle.Tilt, saddle.Tilt, Law]:
    """The regions of the line of a plan, from its crossing of the real axis upwards, and the law on it.

    The law is there as a tilt, as a tilt whose moment generating function is not below that of the law (of a finite law
    the same one), and as the atoms of the first before they became doubles.

    - ``tolerance``: what a Gauss rule may leave out, relative to M(c).
    """
    near, above, last, error = tilt, tilt, plan.nodes, 0.0
    if isinstance(law, Law):
        finite = law
    else:
        order, height = law.rule(plan.c, end=plan.end, tolerance=tolerance)
        (finite, near), above = _gauss_atoms(law, order), _upper_tilt(law)
        last, error = min(math.floor(height / plan.step), plan.nodes), tolerance
    tilted = near.at(plan.c)
    deviation = math.sqrt(max(tilted.variance, 0.0)) * (1 + 1e-9)
    first = Region(0, last, plan.c, near.values, tilted.weights, tilted.weight_noise, deviation, error)
    if isinstance(law, Law) or last == plan.nodes:
        return (first,), near, above, finite
    atoms = len(law.values)
    far = replace(
        first,
        first=last + 1,
        last=plan.nodes,
        values=near.values[:atoms],
        tilted=first.tilted[:atoms],
        noise=first.noise[:atoms],
        error=0.0,
        segments=tuple(
            (to_float(s.constant), to_float(s.slope), sign * 2 * to_float(s.weight) / math.sqrt(ratio), ratio)
            for s in law.segments
            for sign, ratio in ((1, 1.0), (-1, math.exp(to_float(s.span))))
        ),
        log_scale=tilted.cumulant,
    )
    return (first, far), near, above, finite


def active_intervals(
    region: Region, n: int, plan: saddle.ContourPlan, threshold: float, most: int
) -> tuple[Indices, Indices, float]:
    """Intervals of nodes on which the integrand may matter, and a bound on the sum over all other nodes.

    Every node of the region ends in one of three ways: in a *negligible* interval, whose sum is bounded by its size in
    the middle; in a *short* one that is not negligible, which is kept and evaluated; or in one that is neither, which
    is split.
    """
    stride, atoms = _stride(region, plan), max(len(region.values), 1)
    # On the line no kernel is larger than at t = 0: |sinh(a + ib)| >= sinh(a).
    largest = 1 / plan.c**2 + plan.tau**2
    negligible, active = 0.0, 0
    kept: list[tuple[Indices, Indices]] = []
    for first in range(region.first, region.last + 1, stride * CHUNK):
        starts = np.arange(first, min(first + stride * CHUNK, region.last + 1), stride, dtype=np.int64)
        stops = np.minimum(starts + stride, region.last + 1)
        while len(starts):
            cost.add(2 * atoms * len(starts))
            sizes, decay = stops - starts, _decay(region, n, plan, starts, stops)
            closed = decay < -threshold
            short = ~closed & (sizes <= _SHORT)
            negligible += float((np.exp(decay[closed]) * largest * sizes[closed]).sum())
            kept.append((starts[short], stops[short]))
            active += int(sizes[short].sum())
            starts, stops = _split(starts[~closed & ~short], stops[~closed & ~short])
            if active + len(starts) * _SHORT > most:  # each interval that stays has a short one that is not negligible
                raise saddle.too_many(f"contour at n = {n}", f"over {most} nodes")
    starts, stops = map(np.concatenate, zip(*kept, strict=True))
    return starts, stops, negligible


def _stride(region: Region, plan: saddle.ContourPlan, *, spread: float = 0.2, most: int = 4_000_000) -> int:
    """Nodes of an interval to begin with: as long as the bound on it means something.

    A region with segments begins as one interval, because the bound by parts may close all of it.

    - ``spread``: length of an interval in standard deviations of G under the tilt.
    - ``most``: intervals beyond which the line is refused.
    """
    count = region.last + 1 - region.first
    if region.segments:
        return count
    if not math.isfinite(region.deviation * plan.step):
        raise Unsupported("the squares of atoms of G are beyond the range of doubles; use engine exact, at small n")
    stride = max(1, math.ceil(spread / max(region.deviation * plan.step, spread / count)))
    most = min(most, cost.left() // max(len(region.values), 1))
    if count // stride > most:
        raise saddle.too_many("contour", f"{count // stride} intervals, limit {most}")
    return stride


def _decay(region: Region, n: int, plan: saddle.ContourPlan, starts: Indices, stops: Indices) -> Array:
    r"""Logarithms of bounds on the integrand over intervals of nodes, relative to the largest kernel on the line.

    The tilted characteristic function is at most as large as the region has it around the middle; with segments at
    most the region's ceiling at the left end too, and the kernel at most 1/t^2.
    """
    middle, radius = plan.step * (starts + stops - 1) / 2, plan.step * (stops - 1 - starts) / 2
    left: Array = plan.step * starts.astype(np.float64)
    bound = np.minimum(region.size(middle, radius), 1.0)
    smoothed: Array = -((plan.tau * left) ** 2) / 2
    if region.segments:
        bound = np.minimum(bound, region.ceiling(left))
        smoothed += np.log((1 / left**2 + plan.tau**2) / (1 / plan.c**2 + plan.tau**2))
    decay: Array = n * np.log(bound) + smoothed
    return decay


def _split(starts: Indices, stops: Indices, *, few: int = 128) -> tuple[Indices, Indices]:
    """Each interval as two halves; where they stay few and long as more, because it is then the rounds that cost.

    - ``few``: intervals beyond which one round of halves is enough.
    """
    while len(starts):
        middle = (starts + stops) // 2
        starts, stops = np.concatenate([starts, middle]), np.concatenate([middle, stops])
        if len(starts) > few or int((stops - starts).max()) <= _SHORT:
            break
    return starts, stops
