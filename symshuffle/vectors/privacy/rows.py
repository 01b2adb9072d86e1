"""A pair of inputs in doubles, for choices and estimates: both likelihood ratios against the blanket, and its mass."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from symshuffle.base.doubles import Array
from symshuffle.base.numbers import to_float, working_precision
from symshuffle.channels.continuous_law import ContinuousPair
from symshuffle.engines.densities.bromwich_plan import ceiling
from symshuffle.vectors.privacy.pairs import FinitePair
from symshuffle.vectors.randomizers.coordinates import Points

_HALF: Final = 8
_WIDEST: Final = 24
_OUTSIDE: Final = 1e-10
"""Half length of the first window on a line and of the last, and what the first law may have outside of it."""

_LIGHTEST: Final = 1e-22
"""A node is left out where all three laws have less there."""

_NODES: Final = 10
_MORE: Final = 28
_FEWER: Final = 16
_FEW: Final = 6
_PANELS: Final = 16
"""Nodes of a panel; where many digits are wanted of a few stretches, and of more of them. Panels have length 1, and a
stretch with ends has so many at least."""


def rows_of(pair: FinitePair | ContinuousPair, *, fine: bool = False) -> Array:
    """Both ratios and the mass of the blanket, at its classes or at the nodes of Gauss's rules: shape ``(3, m)``."""
    if isinstance(pair, FinitePair):
        rows = [row for row in zip(pair.first, pair.second, pair.reference, strict=True) if to_float(row[2]) > 0]
        return np.array([[to_float(p / r), to_float(q / r), to_float(r)] for p, q, r in rows]).T
    half, many = _HALF, _MORE if len(pair.stretches) <= _FEW else _FEWER
    while True:
        found = _in_window(pair, half, many if fine else _NODES)
        if abs(1 - float(found[0] @ found[2])) < _OUTSIDE or half >= _WIDEST:
            return found
        half += _HALF // 2


def likely_larger(rows: Array, n: int, ratio: float) -> bool:
    """Whether the order of the rows, not the other one, is likely to have the larger H(n): no claim."""
    p, q, weight = rows
    forward, back = (
        ceiling(np.append(g, 0.0), np.append(weight, max(1 - float(weight.sum()), 0.0)), n)
        for g in (p - ratio * q, q - ratio * p)
    )
    return forward >= back


def _in_window(pair: ContinuousPair, half: int, nodes: int) -> Array:
    rows = []
    node, mass = np.polynomial.legendre.leggauss(nodes)
    with working_precision(64), np.errstate(all="ignore"):
        for s in pair.stretches:
            low, high = float(-half if s.low is None else s.low), float(half if s.high is None else s.high)
            count = max(_PANELS if s.low is not None and s.high is not None else 1, math.ceil(high - low))
            width = (high - low) / count
            u: Any = Points((low + width * (np.arange(count)[:, None] + (1 + node) / 2)).ravel())
            parts: Any = (f(u) for f in (s.first, s.second, s.reference, s.base))
            p, q, r, base = (part.values.real for part in parts)
            weight = r * base * np.tile(mass * width / 2, count)
            kept = (p + q + r) * weight > _LIGHTEST * r
            rows.append(np.array([p[kept] / r[kept], q[kept] / r[kept], weight[kept]]))
    return np.concatenate(rows, axis=1)
