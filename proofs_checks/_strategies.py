"""What every paper's checks draw: random rational distributions and channels, small and reproducible.

Cases that one paper alone needs stand in its ``_cases``, made of these.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from symshuffle.base.errors import InputError
from symshuffle.channels.channel import Channel

Masses: TypeAlias = tuple[Fraction, ...]


def integers(rng: np.random.Generator, count: int, low: int, high: int) -> list[int]:
    """``count`` integers in ``[low, high]``."""
    return [int(value) for value in rng.integers(low, high + 1, size=count)]


def distribution(rng: np.random.Generator, size: int, *, largest: int = 9, zeros: float = 0.0) -> Masses:
    """A rational distribution, proportional to integers up to ``largest``; an entry is 0 with probability ``zeros``.

    Raises
    ------
    InputError
        If ``zeros`` is no probability below 1: no distribution would ever be drawn.
    """
    if isinstance(zeros, bool) or not 0 <= zeros < 1:
        raise InputError("zeros", zeros, "a probability in [0, 1)")
    while True:
        draws = integers(rng, size, 1, largest)
        if zeros:
            draws = [0 if rng.random() < zeros else value for value in draws]
        if sum(draws):
            return tuple(Fraction(value, sum(draws)) for value in draws)


def channel(rng: np.random.Generator, inputs: int, outputs: int, *, largest: int = 9, zeros: float = 0.0) -> Channel:
    """A rational channel; without zeros its ratio cap is finite, and usually not shared by all outputs."""
    return Channel(tuple(distribution(rng, outputs, largest=largest, zeros=zeros) for _ in range(inputs)))


def channels(
    rng: np.random.Generator, number: int, shapes: Sequence[tuple[int, int]], *, largest: int = 5, zeros: float = 0.0
) -> Iterator[Channel]:
    """Several channels, their shapes (inputs, outputs) taken in turn."""
    for inputs, outputs in itertools.islice(itertools.cycle(shapes), number):
        yield channel(rng, inputs, outputs, largest=largest, zeros=zeros)


def labelled_channels(
    rng: np.random.Generator, number: int, shapes: Sequence[tuple[int, int]]
) -> list[tuple[str, Channel]]:
    """As :func:`channels`, each labelled by its matrix."""
    return [(shown(one), one) for one in channels(rng, number, shapes)]


def shown(one: Channel) -> str:
    """The matrix of a channel on one line."""
    return "[" + " | ".join(" ".join(map(str, row)) for row in one.rows) + "]"


def capped_channel(rng: np.random.Generator, inputs: int, outputs: int, lam: Fraction) -> Channel:
    """A rational channel of ratio cap at most ``lam``: columns in ``[1, lam]`` on a grid, completed by one more output.

    Columns are scaled so that the rows fit; what is then missing from 1 is at most a factor ``lam`` apart too.
    """
    columns = [[1 + (lam - 1) * Fraction(v, 6) for v in integers(rng, inputs, 0, 6)] for _ in range(outputs)]
    sums = [sum(column[x] for column in columns) for x in range(inputs)]
    # Row x misses scale - sums[x]; with scale >= max + (max - min)/(lam - 1) the ratio of misses is at most lam.
    scale = max(sums) + (max(sums) - min(sums)) / (lam - 1) + Fraction(1, 2)
    rows = tuple((*(column[x] / scale for column in columns), (scale - sums[x]) / scale) for x in range(inputs))
    return Channel(rows)
