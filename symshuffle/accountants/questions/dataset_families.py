"""Families of datasets that are tried against a bound: constant backgrounds, and those of two types."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np

from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Number
from symshuffle.channels.channel import Channel
from symshuffle.decompositions.model import Decomposition

InputPairs: TypeAlias = Sequence[tuple[int, int]]
"""Ordered pairs of inputs."""

WEIGHTS: Final = tuple(Fraction(j, 8) for j in range(1, 8))
"""Weights of the second type that a two-type search tries."""

LARGEST_SEARCH: Final = 100_000_000
"""Families of datasets times outputs beyond which a two-type search is refused."""


def count_families(inputs: int, outputs: int, n: int) -> int:
    """How many constant and two-type families a channel has, with the pairs of inputs before them.

    - ``inputs``, ``outputs``: shape of the channel.
    """
    mixtures = math.comb(inputs, 2) if n > 1 else 0
    if math.perm(inputs, 2) * (inputs + mixtures) * outputs > LARGEST_SEARCH:
        raise Unsupported(
            f"a channel with {inputs} inputs and {outputs} outputs has too many families of datasets to search: "
            f"at most {LARGEST_SEARCH} families times outputs"
        )
    return math.perm(inputs, 2) * (inputs + mixtures * len(WEIGHTS))


def distinct_families(channel: Channel, n: int, pairs: InputPairs) -> list[tuple[str, Decomposition]]:
    """One family of datasets of each kind, with its exact decomposition.

    Two families are of a kind if they show the same probabilities at as many outputs: their laws of G are then equal.
    """
    inputs = range(channel.num_inputs)
    constant = np.arange(len(inputs))[:, None]
    mixtures = np.column_stack(np.triu_indices(len(inputs), 1)) if n > 1 else np.empty((0, 2), dtype=np.int64)
    names: dict[Number, int] = {}
    rows = np.array([[names.setdefault(entry, len(names)) for entry in row] for row in channel.rows], dtype=np.int64)
    kinds: dict[tuple[int, bytes], tuple[int, ...]] = {}
    for pair in pairs:
        shown = rows[pair[0]] * len(names) + rows[pair[1]]
        for others in (constant, mixtures):
            codes = np.broadcast_to(shown, (len(others), len(shown)))
            for x in others.T:
                codes = codes * len(names) + rows[x]
            found, where = np.unique(np.sort(codes, axis=1), axis=0, return_index=True)
            for key, index in zip(found, where, strict=True):
                kinds.setdefault((others.shape[1], key.tobytes()), (*pair, *map(int, others[index])))
    return [family for chosen in kinds.values() for family in _families(channel, n, *chosen)]


def _families(channel: Channel, n: int, first: int, second: int, *others: int) -> Iterator[tuple[str, Decomposition]]:
    """The families of a pair of inputs and one or two types, each with its exact decomposition."""
    a, b, *held = (channel.rows[x] for x in (first, second, *others))
    if len(others) == 1:
        datasets = f"X0 = ({first}; {others[0]} x {n - 1}), X1 = ({second}; {others[0]} x {n - 1})"
        yield datasets, Decomposition(a, b, held[0], Fraction(0))
        return
    for weight in WEIGHTS:
        mixed: tuple[Any, ...] = tuple((1 - weight) * p + weight * q for p, q in zip(*held, strict=True))
        drawn = f"{n - 1} users holding {others[1]} with probability {weight} and {others[0]} otherwise"
        yield f"X0 = ({first}; {drawn}), X1 = ({second}; the same)", Decomposition(a, b, mixed, Fraction(0))
