"""Channels, datasets and laws of histograms by enumeration, for the fields of a deployment."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias

from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import law_divergence

View: TypeAlias = "Mapping[Any, Fraction]"
"""Law of all that a reader sees."""

CHANNELS: Final[tuple[tuple[str, Channel], ...]] = (
    ("2-RR, lam=3", Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])),
    ("three inputs, unlike", Channel.from_rows([["1/2", "1/2"], ["2/3", "1/3"], ["1/8", "7/8"]])),
    ("erasure of 1/3", Channel.from_rows([["2/3", 0, "1/3"], [0, "2/3", "1/3"]])),
)
ORDERS: Final = (Fraction(6, 5), Fraction(2), Fraction(4))


def message_histogram(rows: Sequence[Sequence[Any]]) -> dict[Any, Fraction]:
    """The law of the histogram of independent messages, by the list of all of them."""
    law: dict[Any, Fraction] = {}
    outputs = range(len(rows[0]))
    for sent in itertools.product(outputs, repeat=len(rows)):
        mass = math.prod((row[y] for row, y in zip(rows, sent, strict=True)), start=Fraction(1))
        if mass:
            key = tuple(sent.count(y) for y in outputs)
            law[key] = law.get(key, Fraction(0)) + mass
    return law


def image(law: View, function: Any) -> dict[Any, Fraction]:
    found: dict[Any, Fraction] = {}
    for key, mass in law.items():
        found[function(key)] = found.get(function(key), Fraction(0)) + mass
    return found


def seen_apart(*laws: View) -> dict[Any, Fraction]:
    """Independent histograms, each seen apart."""
    return {
        tuple(key for key, _ in each): math.prod((mass for _, mass in each), start=Fraction(1))
        for each in itertools.product(*(law.items() for law in laws))
    }


def divergence_of(laws: Sequence[View], order: Fraction) -> Any:
    """The divergence of two laws."""
    first, second = laws
    return law_divergence(first, second, order)


def datasets(channel: Channel, users: int) -> Iterator[tuple[tuple[int, int], tuple[int, ...]]]:
    """The two inputs of the user who differs, and those of the others."""
    inputs = range(channel.num_inputs)
    yield from itertools.product(itertools.permutations(inputs, 2), itertools.product(inputs, repeat=users - 1))


GRID: Final = "three channels, three orders, 2 and 3 users, all datasets, enumerated in rationals"
"""What the checks go through."""
