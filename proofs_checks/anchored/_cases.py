"""Cases shared by the sections: two small channels, random exact ones, and gauges."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Final

import numpy as np

from symshuffle.anchored import Gauge, householder
from symshuffle.anchored.linear import Vector, product
from symshuffle.channel import Channel
from symshuffle.frontiers.convex_order import exact_atoms
from symshuffle.law import Law

EXAMPLE: Final = Channel.from_rows([["3/5", "1/5", "1/5"], ["1/4", "1/2", "1/4"], ["1/6", "1/3", "1/2"]])
"""A 3-input channel without symmetry, of ratio cap 18/5."""

WITH_ZERO: Final = Channel.from_rows([["1/2", "1/2", "0"], ["1/4", "1/4", "1/2"], ["1/3", "1/6", "1/2"]])
"""A 3-input channel that is not LDP."""


def integers(rng: np.random.Generator, count: int, low: int, high: int) -> list[int]:
    """``count`` integers in ``[low, high]``."""
    return [int(value) for value in rng.integers(low, high + 1, size=count)]


def distribution(rng: np.random.Generator, size: int, *, zeros: float = 0.0) -> Vector:
    """A random rational distribution; each entry is zero with probability ``zeros``."""
    while True:
        draws = [0 if rng.random() < zeros else value for value in integers(rng, size, 1, 9)]
        if sum(draws):
            return tuple(Fraction(value, sum(draws)) for value in draws)


def channel(rng: np.random.Generator, k: int, m: int, *, zeros: float = 0.0) -> Channel:
    """A random rational channel with ``k`` inputs and ``m`` outputs, some of which may be null."""
    return Channel(tuple(distribution(rng, m, zeros=zeros) for _ in range(k)))


def capped_channel(rng: np.random.Generator, k: int, m: int, lam: Fraction) -> Channel:
    """A random rational channel of ratio cap at most ``lam``: columns in ``[1, lam]``, completed by a flat one.

    Column entries ``c`` are scaled so that the rows fit; what is missing from 1 is at most a factor ``lam`` apart too,
    by adding a constant to it where needed.
    """
    columns = [[1 + (lam - 1) * Fraction(v, 6) for v in integers(rng, k, 0, 6)] for _ in range(m)]
    sums = [sum(column[x] for column in columns) for x in range(k)]
    # Row x misses scale - sums[x]; with scale >= max + (max - min)/(lam - 1) the ratio of misses is at most lam.
    scale = max(sums) + (max(sums) - min(sums)) / (lam - 1) + Fraction(1, 2)
    rows = tuple((*(column[x] / scale for column in columns), (scale - sums[x]) / scale) for x in range(k))
    return Channel(rows)


@cache
def gauges() -> tuple[Gauge, Gauge]:
    """Two different rational gauges for four inputs: a reflection, and the same followed by a rotation."""
    first = householder(4)
    third, two = Fraction(1, 3), Fraction(2, 3)
    rotation = ((third, two, two), (two, third, -two), (two, -two, third))
    return first, Gauge(product(first.rows, rotation))


def same_law(left: Law, right: Law) -> bool:
    """Whether two rational laws have the same atoms."""
    return sorted(exact_atoms(left)) == sorted(exact_atoms(right))


def random_ratio(rng: np.random.Generator, lam: Fraction, atoms: int) -> Law:
    """A random law of mean one on [1/lam, lam] that is not the endpoint law."""
    low = 1 / lam
    while True:
        values = [low + (lam - low) * Fraction(v, 12) for v in integers(rng, atoms, 1, 11)]
        weights = distribution(rng, atoms)
        mean = sum((v * w for v, w in zip(values, weights, strict=True)), start=Fraction(0))
        end = lam if mean < 1 else low
        if mean == 1:
            return Law.from_atoms(zip(values, weights, strict=True))
        share = (1 - end) / (mean - end)  # share * mean + (1 - share) * end = 1
        return Law.from_atoms([*((v, w * share) for v, w in zip(values, weights, strict=True)), (end, 1 - share)])


def template(rng: np.random.Generator, k: int) -> Vector:
    """A random template with positive entries."""
    return tuple(k * entry for entry in distribution(rng, k))
