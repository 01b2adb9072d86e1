"""Stretches of nodes on a line in doubles on which the integrand may matter; the sum over all others is bounded.

Evidence. *Proved* in exact arithmetic: which nodes are left out, and the bound on their sum. *Proved under an
assumption*: rounding, which is assumed to be as :mod:`symshuffle.engines.contours.contour` says.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from symshuffle.base.doubles import Array
from symshuffle.base.errors import Unsupported
from symshuffle.engines.contours import saddle
from symshuffle.engines.contours.characteristic import Region

Indices = npt.NDArray[np.int64]

CHUNK: Final = 1 << 16
"""Nodes, or stretches, that are held at once."""

_SHORT: Final = 32
_FEW: Final = 256
_MOST_STRETCHES: Final = 4_000_000
_COARSE: Final = 0.2


def loud_stretches(
    region: Region, n: int, plan: saddle.ContourPlan, threshold: float, most: int
) -> tuple[Indices, Indices, float]:
    """Stretches of nodes on which the integrand may matter, and a bound on the sum over all other nodes.

    Every node of the region ends in one of three ways: in a *silent* stretch, whose sum is bounded by its size in the
    middle; in a *short* one that is not silent, which is kept and evaluated; or in one that is neither, which is split.
    """
    count = region.last + 1 - region.first
    stride = _stride(region, plan)
    if count // stride > _MOST_STRETCHES:
        raise saddle.too_many(f"contour at n = {n}", f"{count // stride} stretches")
    # On the line no kernel is larger than at t = 0: |sinh(a + ib)| >= sinh(a).
    largest = 1 / plan.c**2 + plan.tau**2
    silent, loud = 0.0, 0
    kept: list[tuple[Indices, Indices]] = []
    for first in range(region.first, region.last + 1, stride * CHUNK):
        starts = np.arange(first, min(first + stride * CHUNK, region.last + 1), stride, dtype=np.int64)
        stops = np.minimum(starts + stride, region.last + 1)
        while len(starts):
            sizes, decay = stops - starts, _decay(region, n, plan, starts, stops)
            closed = decay < -threshold
            short = ~closed & (sizes <= _SHORT)
            silent += float((np.exp(decay[closed]) * largest * sizes[closed]).sum())
            kept.append((starts[short], stops[short]))
            loud += int(sizes[short].sum())
            starts, stops = _split(starts[~closed & ~short], stops[~closed & ~short])
            if loud + len(starts) * _SHORT > most:  # each stretch that stays has a short one that is not silent
                raise saddle.too_many(f"contour at n = {n}", f"over {most} nodes")
    return np.concatenate([k[0] for k in kept]), np.concatenate([k[1] for k in kept]), silent


def _stride(region: Region, plan: saddle.ContourPlan) -> int:
    """Nodes of a stretch to begin with: as long as the bound on it means something.

    A far region begins as one stretch, because the bound by parts may close all of it.
    """
    count = region.last + 1 - region.first
    if not region.far and not math.isfinite(region.deviation * plan.step):
        raise Unsupported("the squares of atoms of G are beyond the range of doubles; use engine exact, at small n")
    return count if region.far else max(1, math.ceil(_COARSE / max(region.deviation * plan.step, _COARSE / count)))


def _decay(region: Region, n: int, plan: saddle.ContourPlan, starts: Indices, stops: Indices) -> Array:
    r"""Logarithms of bounds on the integrand over stretches of nodes, relative to the largest kernel on the line.

    The tilted characteristic function is at most as large as the region has it around the middle, and at most the
    region's ceiling at the left end.
    """
    middle, radius = plan.step * (starts + stops - 1) / 2, plan.step * (stops - 1 - starts) / 2
    left: Array = plan.step * starts.astype(np.float64)
    bound = np.minimum(region.size(middle, radius), 1.0)
    decay: Array = n * np.log(np.minimum(bound, region.ceiling(left))) - (plan.tau * left) ** 2 / 2
    if region.far:  # there the kernel is at most 1/t^2
        decay += np.log((1 / left**2 + plan.tau**2) / (1 / plan.c**2 + plan.tau**2))
    return decay


def _split(starts: Indices, stops: Indices) -> tuple[Indices, Indices]:
    """Each stretch as two halves; where they stay few and long as more, because it is then the rounds that cost."""
    while len(starts):
        middle = (starts + stops) // 2
        starts, stops = np.concatenate([starts, middle]), np.concatenate([middle, stops])
        if len(starts) > _FEW // 2 or int((stops - starts).max()) <= _SHORT:
            break
    return starts, stops
