"""Divergences between two finite distributions, and the shuffled experiment itself, by enumeration of its histograms.

All divergences accept fractions, balls or doubles (text such as ``1/3`` too), refuse masses that are no probabilities
of sum 1, are directed (the second argument is the reference), and are ``math.inf`` where the first argument puts mass
on a point that the second one misses. Enumeration knows of no decomposition, law of G or engine: it is their referee.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias

from symshuffle.base.errors import InputError, Unsupported, check_list
from symshuffle.base.numbers import (
    Ball,
    Number,
    Verdict,
    as_distribution,
    as_integer,
    as_number,
    equal,
    exact_sum,
    is_exact,
    less,
    positive_part,
)
from symshuffle.channels.channel import Channel, check_channel


def _aligned(p: Sequence[Number], q: Sequence[Number]) -> Iterator[tuple[Any, Any]]:
    for name, masses in (("p", p), ("q", q)):
        check_list(masses, name, "a list of probabilities")
    if len(p) != len(q):
        raise InputError("p, q", f"{len(p)} and {len(q)} masses", "two distributions on the same points")
    return zip(as_distribution(p, "p"), as_distribution(q, "q"), strict=True)


def hockey_stick(p: Sequence[Number], q: Sequence[Number], gamma: Number | int) -> Any:
    r"""Hockey-stick divergence of two distributions at order ``gamma``.

    It is :math:`D_\gamma(P\Vert Q)=\sum_y (p_y-\gamma q_y)_+`. At ``gamma = 1`` it is the total variation distance; at
    ``gamma = exp(eps)`` it is the smallest delta for which the pair is (eps, delta)-indistinguishable in this
    direction.

    Parameters
    ----------
    p, q : sequence of Number
        Masses on the same points.
    gamma : Number
        Order, at least 0.

    Returns
    -------
    Number
        The divergence, a probability, of the kind of the masses.

    Raises
    ------
    InputError
        If ``gamma`` is negative, the lengths differ, or an argument is no distribution.

    Notes
    -----
    decomposition, Definition 1.

    Examples
    --------
    >>> hockey_stick([Fraction(2, 3), Fraction(1, 3)], [Fraction(1, 3), Fraction(2, 3)], 1)
    Fraction(1, 3)
    """
    order: Any = as_number(gamma, "gamma")
    if less(order, 0) is Verdict.TRUE:
        raise InputError("gamma", gamma, "a number of at least 0")
    return exact_sum(positive_part(a - order * b) for a, b in _aligned(p, q))


def chi_square(p: Sequence[Number], q: Sequence[Number]) -> Any:
    r"""Chi-square divergence of two distributions, with 0/0 = 0.

    It is :math:`\chi^2(P\Vert Q)=\sum_y (p_y-q_y)^2/q_y`.

    Parameters
    ----------
    p, q : sequence of Number
        Masses on the same points, each of sum 1.

    Returns
    -------
    Number
        The divergence, of the kind of the masses; the double ``inf`` if ``p`` has mass where ``q`` has none.

    Raises
    ------
    InputError
        If the lengths differ, or an argument is no distribution.

    Examples
    --------
    >>> chi_square([Fraction(2, 3), Fraction(1, 3)], [Fraction(1, 3), Fraction(2, 3)])
    Fraction(1, 2)
    """
    return _sum_over_support(p, q, lambda a, b: (a - b) * (a - b) / b)


def _sum_over_support(
    p: Sequence[Number], q: Sequence[Number], term: Callable[[Any, Any], Any], start: Any = Fraction(0)
) -> Any:
    total = start
    for a, b in _aligned(p, q):
        if equal(b, 0):
            if not equal(a, 0):
                return math.inf
            continue
        total = total + term(a, b)
    return total


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
    exact = all(map(is_exact, users))
    law: dict[Tally, Any] = {(0,) * cells: 1 if exact else Fraction(1)}
    over = 1
    for user in users:
        steps: Sequence[Any] = user
        if exact:  # whole numbers over one denominator
            scale = math.lcm(*(mass.denominator for mass in steps))
            steps, over = [int(mass * scale) for mass in steps], over * scale
        grown: dict[Tally, Any] = {}
        for histogram, mass in law.items():
            for y, probability in enumerate(steps):
                if isinstance(probability, int | Fraction | float) and probability == 0:
                    continue
                key = (*histogram[:y], histogram[y] + 1, *histogram[y + 1 :])
                grown[key] = grown.get(key, 0) + mass * probability
        law = grown
    return {histogram: Fraction(mass, over) for histogram, mass in law.items()} if exact else law


def shuffled_law(channel: Channel, dataset: Sequence[int]) -> dict[Tally, Any]:
    """Law of the shuffled messages of a dataset, as histograms (decomposition, Definition 4; anchored, (1.1))."""
    check_channel(channel)
    check_list(dataset, "dataset", "a dataset, the list of its users' inputs")
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
    check_channel(channel)
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
