"""Cases shared by the sections: random rational channels with a null law and a blanket, and randomized response."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from proofs_checks._strategies import channel as channel
from proofs_checks._strategies import distribution as distribution
from symshuffle.channels.channel import Channel
from symshuffle.vectors.randomizers.mechanisms import FiniteRandomizer


def kernel(rng: np.random.Generator, m: int, z: int) -> Channel:
    """A random kernel from m outputs to z, every third time a deterministic merge."""
    if rng.integers(3) == 0:
        target = [int(value) for value in rng.integers(0, z, size=m)]
        return Channel(tuple(tuple(Fraction(int(t == j)) for j in range(z)) for t in target))
    return channel(rng, m, z)


def randomizer(rng: np.random.Generator, k: int, m: int) -> FiniteRandomizer:
    """A random channel with its largest blanket, or a smaller one inside it."""
    full = FiniteRandomizer.from_channel(channel(rng, k, m))
    if rng.integers(2) == 0:
        return full
    share = Fraction(int(rng.integers(1, 5)), 5)
    other = distribution(rng, m)
    floor = [full.gamma * mass for mass in full.blanket]
    gamma = share * min(a / b for a, b in zip(floor, other, strict=True))
    return FiniteRandomizer(full.channel, other, gamma, other)


def response(p: Fraction) -> FiniteRandomizer:
    """Randomized response with its largest blanket."""
    return FiniteRandomizer.from_channel(Channel(((p, 1 - p), (1 - p, p))))
