"""Cases shared by the sections: random exact channels and ratio laws, and the likelihood ratio of two histograms."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._strategies import channel as channel
from proofs_checks._strategies import distribution as distribution
from proofs_checks._strategies import integers as integers
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import shuffled_law
from symshuffle.utility.likelihood.extremes import endpoint_ratio
from symshuffle.utility.likelihood.law import LikelihoodRatio

ROOT: Final = sp.Symbol("r", positive=True)
"""The root of k - 1."""
ZERO: Final = Fraction(0)
BRR: Final = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
ASYMMETRIC: Final = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/6", "1/2", "1/3"]])


def tied_channel(rng: np.random.Generator, m: int) -> Channel:
    """Two random rows whose first outputs have one ratio and whose last output is neutral."""
    rows = [list(distribution(rng, m)) for _ in range(2)]
    split = Fraction(1, 3)
    return Channel(
        tuple(
            (*(value / 2 for value in (row[0] * split, row[0] * (1 - split), *row[1:])), Fraction(1, 2)) for row in rows
        )
    )


def pair_laws(two: Channel, n: int) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """The histogram laws P and Q of the pair (0, 1), by enumeration."""
    return shuffled_law(two, (0,) * n), shuffled_law(two, (1,) + (0,) * (n - 1))


def capped_ratio(rng: np.random.Generator, lam: Fraction) -> LikelihoodRatio:
    """A random rational ratio law on ``[1/lam, lam]``, mixed with the endpoint law at random."""
    low = 1 / lam
    atoms: list[tuple[Fraction, Fraction]] = []
    for left, right, mass in zip(*(integers(rng, 2, 0, 11) for _ in range(2)), distribution(rng, 2), strict=True):
        below, above = low + (1 - low) * Fraction(left, 12), 1 + (lam - 1) * Fraction(right + 1, 12)
        share = (1 - below) / (above - below)
        atoms += [(above, mass * share), (below, mass * (1 - share))]
    part = Fraction(integers(rng, 1, 0, 3)[0], 3)
    ends = endpoint_ratio(lam).atoms()
    mixed = [(v, w * (1 - part)) for v, w in atoms] + [(v, w * part) for v, w in ends]
    return LikelihoodRatio.from_atoms(mixed)


def ratios(rng: np.random.Generator, count: int) -> Iterator[tuple[Fraction, LikelihoodRatio]]:
    """Random laws under ratio caps 3/2, 2, 3, 5."""
    for trial in range(count):
        lam = (Fraction(3, 2), Fraction(2), Fraction(3), Fraction(5))[trial % 4]
        yield lam, capped_ratio(rng, lam)
