r"""Bounds on H(n) for few copies: laws of sums by doubling, kept small by merging atoms below and spreading them above.

Merging the atoms of a bin into their mean lowers a law in convex order, spreading each to the ends of its bin raises
it, and sums of independent numbers keep the order. So :math:`H(n)=\frac1nE[(\sum G_i)_+]` lies between the two. All
numbers that are added are positive, so that rounding is bounded by counting terms.

Evidence. *Proved*: the order. *Proved under an assumption*: rounding, if additions and products of doubles are rounded
to nearest, in whatever order NumPy adds them. Edges of bins are choices, whose accuracy does not matter. *Heuristic*:
the constants 16, 32 and 8 of the few operations per step, and the factors 1.01 and 1 + 10^-9 for bounds that are
themselves computed in doubles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from symshuffle.base.doubles import UNIT, Array


@final
@dataclass(frozen=True, slots=True)
class Atoms:
    """A law in doubles: values are off by at most ``shift`` in the mean, no weight by more than a share ``share``.

    - ``values``, ``weights``: atoms, shape ``(m,)``, in rising order of the values.
    """

    values: Array
    weights: Array
    shift: float
    share: float

    @property
    def size(self) -> float:
        """A bound on the mean of the absolute value."""
        return float(self.weights @ np.abs(self.values)) * (1 + 2 * self.share + 1e-9) + self.shift

    def plus(self, other: Atoms, bins: int, *, spread: bool) -> Atoms:
        """The sum with an independent number of another law, binned."""
        values = np.add.outer(self.values, other.values).ravel()
        weights = np.multiply.outer(self.weights, other.weights).ravel()
        low, high = float(values.min()), float(values.max())
        # Narrow bins where the mass is, wide ones along a long tail.
        middle = float(weights @ values)
        scale = math.sqrt(max(float(weights @ (values - middle) ** 2), 1e-300))
        turned = np.linspace(math.asinh((low - middle) / scale), math.asinh((high - middle) / scale), bins + 1)
        edges = middle + scale * np.sinh(turned)
        edges[0], edges[-1] = low, high
        edges = np.unique(edges)
        if len(edges) < 2:
            return Atoms(np.array([low]), np.array([weights.sum()]), self.shift + other.shift, 1.0)
        place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
        left, width = edges[:-1], np.diff(edges)
        inside = np.clip((values - left[place]) / width[place], 0.0, 1.0)
        count = len(edges) - 1
        most = float(np.bincount(place, minlength=count).max())
        top = np.bincount(place, weights * inside, minlength=count)
        largest = max(abs(low), abs(high))
        shift = self.shift + other.shift + UNIT * (16 * largest + (2 * most + 32) * float(width.max()))
        share = (self.share + other.share + (2 * most + 8) * UNIT) * 1.01
        if spread:
            bottom = np.bincount(place, weights * (1 - inside), minlength=count)
            found, mass = edges, np.concatenate([bottom, [0.0]]) + np.concatenate([[0.0], top])
        else:
            total = np.bincount(place, weights, minlength=count)
            kept = total > 0
            found, mass = left[kept] + width[kept] * (top[kept] / total[kept]), total[kept]
        keep = mass > 0
        return Atoms(found[keep], mass[keep], shift, share)

    def positive_mean(self, other: Atoms) -> tuple[float, float]:
        """The mean of the positive part of the sum with an independent number, and a bound on the error."""
        order = np.argsort(other.values)
        values, weights = other.values[order], other.weights[order]
        mass = np.concatenate([np.cumsum(weights[::-1])[::-1], [0.0]])
        mean = np.concatenate([np.cumsum((weights * values)[::-1])[::-1], [0.0]])
        first = np.searchsorted(values, -self.values, side="right")
        total = math.fsum(self.weights * (mean[first] + self.values * mass[first]))
        noise = self.share + other.share + UNIT * (4 * len(values) + 64)
        return total, 1.01 * noise * (self.size + other.size) + self.shift + other.shift


def positive_part(atoms: Atoms, n: int, bins: int, *, spread: bool) -> tuple[float, float]:
    """``E[(G_1 + ... + G_n)_+]`` of the law or of one on the side told, and a bound on the rounding."""
    if n == 1:
        return atoms.positive_mean(Atoms(np.array([0.0]), np.array([1.0]), 0.0, 0.0))
    half = _sum(atoms, n // 2, bins, spread=spread)
    other = half if n % 2 == 0 else half.plus(atoms, bins, spread=spread)
    return half.positive_mean(other)


def _sum(atoms: Atoms, n: int, bins: int, *, spread: bool) -> Atoms:
    if n == 1:
        return atoms
    half = _sum(atoms, n // 2, bins, spread=spread)
    double = half.plus(half, bins, spread=spread)
    return double if n % 2 == 0 else double.plus(atoms, bins, spread=spread)


__all__ = ["Atoms", "positive_part"]
