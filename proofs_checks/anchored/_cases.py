"""Cases shared by the sections: two small channels, random exact ones, and gauges."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Final

import numpy as np

from proofs_checks._gauges import Gauge, householder
from proofs_checks._strategies import capped_channel as capped_channel
from proofs_checks._strategies import channel as channel
from proofs_checks._strategies import distribution as distribution
from proofs_checks._strategies import integers as integers
from symshuffle.channels.channel import Channel
from symshuffle.channels.geometry.linear import Vector, product
from symshuffle.channels.law import Law
from symshuffle.utility.frontiers.convex_order import exact_atoms

EXAMPLE: Final = Channel.from_rows([["3/5", "1/5", "1/5"], ["1/4", "1/2", "1/4"], ["1/6", "1/3", "1/2"]])
"""A 3-input channel without symmetry, of ratio cap 18/5."""

WITH_ZERO: Final = Channel.from_rows([["1/2", "1/2", "0"], ["1/4", "1/4", "1/2"], ["1/3", "1/6", "1/2"]])
"""A 3-input channel that is not LDP."""


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
