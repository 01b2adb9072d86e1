"""The shuffled experiment itself, by enumeration: every histogram of messages with its probability.

This is the object that all bounds of the package speak about. It is exact and small: nothing here knows of
decompositions, laws of G or engines, which makes it their referee.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias

from symshuffle.base.errors import InputError, Unsupported, check_kind, check_list
from symshuffle.base.numbers import Ball, Number, as_integer
from symshuffle.channels.channel import Channel
from symshuffle.channels.divergences import hockey_stick

Tally: TypeAlias = tuple[int, ...]
HistogramLaw: TypeAlias = Mapping[Tally, Number]

LARGEST_ENUMERATION: Final = 2_000_000
"""Histograms beyond which enumeration is refused."""


def count_histograms(n: int, cells: int) -> int:
    """Number of ways to write ``n`` as an ordered sum of ``cells`` non-negative integers."""
    return math.comb(n + cells - 1, cells - 1)


def histogram_law(users: Sequence[Sequence[Number]]) -> dict[Tally, Any]:
    """Law of the histogram of independent draws, one from each given distribution.

    - ``users``: ``users[i][y]`` is the probability that user ``i`` sends message ``y``; all on the same messages.
    """
    if not users:
        raise InputError("users", "0 distributions", "at least 1")
    cells = len(users[0])
    for i, user in enumerate(users):
        if len(user) != cells:
            raise InputError(f"users[{i}]", f"{len(user)} masses", f"{cells}, as in users[0]")
    size = count_histograms(len(users), cells)
    if size > LARGEST_ENUMERATION:
        raise Unsupported(
            f"n = {len(users)} users with {cells} messages have {size} histograms; enumeration stops at "
            f"{LARGEST_ENUMERATION}: use an engine of symshuffle.accountants on the law of G instead"
        )
    law: dict[Tally, Any] = {(0,) * cells: Fraction(1)}
    for user in users:
        grown: dict[Tally, Any] = {}
        for histogram, mass in law.items():
            for y, probability in enumerate(user):
                if isinstance(probability, Fraction | float) and probability == 0:
                    continue
                key = (*histogram[:y], histogram[y] + 1, *histogram[y + 1 :])
                grown[key] = grown.get(key, Fraction(0)) + mass * probability
        law = grown
    return law


def shuffled_law(channel: Channel, dataset: Sequence[int]) -> dict[Tally, Any]:
    """Law of the shuffled messages of a dataset, as histograms over the outputs of the channel.

    decomposition, Definition 4; anchored, equation (1.1).
    """
    check_kind(channel, Channel, "channel", "a channel, as Channel.from_rows(...)")
    last = channel.num_inputs - 1
    return histogram_law([channel.rows[as_integer(x, f"dataset[{i}]", 0, last)] for i, x in enumerate(dataset)])


def law_divergence(first: HistogramLaw, second: HistogramLaw, gamma: Number | int) -> Any:
    """Hockey-stick divergence of order ``gamma`` between two laws of histograms.

    Parameters
    ----------
    first, second : mapping of Histogram to Number
        Probability of each histogram; a histogram that is missing has probability 0.
    gamma : Number
        Order of the divergence, at least 0.

    Returns
    -------
    Number
        The divergence, of the kind of the probabilities.

    Raises
    ------
    InputError
        If ``gamma`` is negative, or an argument is no distribution.

    Examples
    --------
    >>> response = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
    >>> law_divergence(shuffled_law(response, [0, 0]), shuffled_law(response, [0, 1]), 1)
    Fraction(2, 9)
    """
    support = sorted(first.keys() | second.keys())
    return hockey_stick(
        [first.get(h, Fraction(0)) for h in support], [second.get(h, Fraction(0)) for h in support], gamma
    )


def shuffled_divergence(channel: Channel, first: Sequence[int], second: Sequence[int], gamma: Number | int) -> Any:
    r"""Hockey-stick divergence of the shuffled messages of two datasets.

    It is :math:`D_\gamma(M(X_0)\Vert M(X_1))`, by enumeration of all histograms.

    Parameters
    ----------
    channel : Channel
        The local randomizer, applied by every user.
    first, second : sequence of int
        The input of each user in X0 and in X1, each from 0 to k - 1; as many users in both.
    gamma : Number
        Order of the divergence, at least 0; ``exp(eps)`` for a level eps.

    Returns
    -------
    Number
        The divergence, of the kind of the channel's entries.

    Raises
    ------
    InputError
        If the datasets differ in size, an input is out of range, or ``gamma`` is negative.

    Examples
    --------
    >>> rr = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
    >>> shuffled_divergence(rr, [0, 0], [0, 1], 1)
    Fraction(2, 9)
    """
    for name, dataset in (("first", first), ("second", second)):
        check_list(dataset, name, "a dataset, the list of its users' inputs")
    if len(first) != len(second):
        raise InputError("datasets", f"{len(first)} and {len(second)} users", "two datasets of the same size")
    return law_divergence(shuffled_law(channel, first), shuffled_law(channel, second), gamma)


def backgrounds(num_inputs: int, users: int) -> Iterator[tuple[int, ...]]:
    """All multisets of inputs that the other ``users`` may hold."""
    return itertools.combinations_with_replacement(range(num_inputs), users)


def worst_shuffled_divergence(
    channel: Channel, pair: tuple[int, int], n: int, gamma: Number | int
) -> tuple[Any, tuple[int, ...]]:
    """Largest hockey-stick divergence over all inputs of the other users.

    The datasets are ``(pair[0], *background)`` and ``(pair[1], *background)``; the maximum is over all backgrounds of
    ``n - 1`` users.

    Parameters
    ----------
    channel : Channel
        The local randomizer; of rationals or doubles.
    pair : tuple of int
        Input of the differing user in the first and in the second dataset.
    n : int
        Number of users, the differing one included; at least 1.
    gamma : Number
        Order of the divergence, at least 0.

    Returns
    -------
    value : Number
        The largest divergence.
    background : tuple of int
        Inputs of the other ``n - 1`` users that attain it.

    Raises
    ------
    InputError
        If ``n`` is below 1, an input is out of range, or ``gamma`` is negative.
    Unsupported
        If the channel has balls as entries, or the search would enumerate more than ``LARGEST_ENUMERATION`` histograms
        in all.

    Examples
    --------
    >>> response = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
    >>> worst_shuffled_divergence(response, (0, 1), 3, 1)
    (Fraction(5, 27), (0, 1))
    """
    n = as_integer(n, "n", 1)
    if any(isinstance(entry, Ball) for row in channel.rows for entry in row):
        raise Unsupported("a worst background needs comparable numbers: give the channel rationals or doubles")
    work = count_histograms(n - 1, channel.num_inputs) * count_histograms(n, channel.num_outputs)
    if work > LARGEST_ENUMERATION:
        raise Unsupported(
            f"all backgrounds of n = {n} users have {work} histograms to enumerate, beyond {LARGEST_ENUMERATION}: "
            "search constant backgrounds with an engine instead"
        )
    values = (
        (shuffled_divergence(channel, (pair[0], *background), (pair[1], *background), gamma), background)
        for background in backgrounds(channel.num_inputs, n - 1)
    )
    return max(values, key=lambda found: found[0])
