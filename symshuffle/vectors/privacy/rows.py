"""A pair of inputs in doubles, for choices and estimates: both likelihood ratios against the blanket, and its mass."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symshuffle.base.doubles import Array
from symshuffle.base.numbers import to_float, working_precision
from symshuffle.channels.continuous_law import ContinuousPair
from symshuffle.engines.densities.bromwich_plan import ceiling
from symshuffle.vectors.privacy.pairs import FinitePair
from symshuffle.vectors.randomizers.coordinates import Points


def rows_of(
    pair: FinitePair | ContinuousPair,
    *,
    fine: bool = False,
    half_lengths: tuple[int, int] = (8, 24),
    outside: float = 1e-10,
    nodes: tuple[int, int, int] = (10, 28, 16),
    max_stretches: int = 6,
) -> Array:
    """Both ratios and the mass of the blanket, at its classes or at the nodes of Gauss's rules: shape ``(3, m)``.

    - ``half_lengths``: of the first window on a line and of the last; ``outside``: what the first law may have outside.
    - ``nodes``: of a panel; where many digits are wanted of ``max_stretches`` stretches or less, and of more of them.
    """
    if isinstance(pair, FinitePair):
        rows = [row for row in zip(pair.first, pair.second, pair.reference, strict=True) if to_float(row[2]) > 0]
        return np.array([[to_float(p / r), to_float(q / r), to_float(r)] for p, q, r in rows]).T
    half, many = half_lengths[0], nodes[1] if len(pair.stretches) <= max_stretches else nodes[2]
    while True:
        found = _in_window(pair, half, many if fine else nodes[0])
        if abs(1 - float(found[0] @ found[2])) < outside or half >= half_lengths[1]:
            return found
        half += half_lengths[0] // 2


def likely_larger(rows: Array, n: int, ratio: float) -> bool:
    """Whether the order of the rows, not the other one, is likely to have the larger H(n): no claim."""
    p, q, weight = rows
    forward, back = (
        ceiling(np.append(g, 0.0), np.append(weight, max(1 - float(weight.sum()), 0.0)), n)
        for g in (p - ratio * q, q - ratio * p)
    )
    return forward >= back


def _in_window(pair: ContinuousPair, half: int, nodes: int, *, lightest: float = 1e-22, panels: int = 16) -> Array:
    rows = []
    node, mass = np.polynomial.legendre.leggauss(nodes)
    with working_precision(64), np.errstate(all="ignore"):
        for s in pair.stretches:
            low, high = float(-half if s.low is None else s.low), float(half if s.high is None else s.high)
            count = max(panels if s.low is not None and s.high is not None else 1, math.ceil(high - low))
            width = (high - low) / count
            u: Any = Points((low + width * (np.arange(count)[:, None] + (1 + node) / 2)).ravel())
            parts: Any = (f(u) for f in (s.first, s.second, s.reference, s.base))
            p, q, r, base = (part.values.real for part in parts)
            weight = r * base * np.tile(mass * width / 2, count)
            kept = (p + q + r) * weight > lightest * r
            rows.append(np.array([p[kept] / r[kept], q[kept] / r[kept], weight[kept]]))
    return np.concatenate(rows, axis=1)
