"""The shuffled experiment by enumeration, against the definition with message sequences."""

import itertools
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symshuffle import Channel, Exp, InputError, Unsupported
from symshuffle.base import enclose
from symshuffle.channels import shuffled_divergence
from symshuffle.channels.shuffled import (
    backgrounds,
    count_histograms,
    histogram_law,
    shuffled_law,
    worst_shuffled_divergence,
)
from symshuffle.testing import channels, ratios

CHANNEL = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/6", "1/2", "1/3"], ["1/4", "1/4", "1/2"]])


def by_sequences(channel, dataset):
    """Sum over all message sequences, sorted as the shuffler leaves them."""
    law = Counter()
    for messages in itertools.product(range(channel.num_outputs), repeat=len(dataset)):
        mass = Fraction(1)
        for x, y in zip(dataset, messages, strict=True):
            mass *= channel.rows[x][y]
        if mass:
            law[tuple(messages.count(y) for y in range(channel.num_outputs))] += mass
    return dict(law)


@given(channels(max_inputs=3, max_outputs=3), st.lists(st.integers(0, 1), min_size=1, max_size=4))
def test_histograms_are_shuffled_messages(channel, dataset):
    law = shuffled_law(channel, dataset)
    assert law == by_sequences(channel, dataset)
    assert sum(law.values()) == 1
    assert law == shuffled_law(channel, dataset[::-1])


@given(channels(max_inputs=3, max_outputs=3), ratios(), st.integers(1, 3))
def test_worst_background_is_the_largest(channel, gamma, n):
    value, background = worst_shuffled_divergence(channel, (0, 1), n, gamma)
    others = list(itertools.product(range(channel.num_inputs), repeat=n - 1))
    assert value == max(shuffled_divergence(channel, (0, *rest), (1, *rest), gamma) for rest in others)
    assert value == shuffled_divergence(channel, (0, *background), (1, *background), gamma)


def test_counts():
    assert count_histograms(5, 3) == len(histogram_law([CHANNEL.rows[0]] * 5))
    assert len(list(backgrounds(3, 4))) == count_histograms(4, 3)


def test_balls_enclose():
    exact = shuffled_law(CHANNEL, (0, 1, 2))
    enclosed = shuffled_law(Channel(tuple(tuple(map(enclose, row)) for row in CHANNEL.rows)), (0, 1, 2))
    assert exact.keys() == enclosed.keys()
    assert all(enclosed[h].lower <= exact[h] <= enclosed[h].upper for h in exact)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: shuffled_law(CHANNEL, (0, 3)), r"dataset\[1\] = 3: expected an integer from 0 to 2"),
        (lambda: histogram_law([]), "at least 1"),
        (lambda: histogram_law([(1,), (Fraction(1, 2),) * 2]), r"users\[1\] = 2 masses: expected 1"),
        (lambda: shuffled_divergence(CHANNEL, (0,), (0, 1), 1), "two datasets of the same size"),
        (lambda: worst_shuffled_divergence(CHANNEL, (0, 7), 2, 1), r"= 7: expected an integer from 0 to 2"),
        (lambda: shuffled_divergence(CHANNEL, (0,), (1,), -1), "gamma = -1"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: shuffled_law(CHANNEL, (0,) * 10_000),
        lambda: worst_shuffled_divergence(CHANNEL, (0, 1), 500, 1),
        lambda: worst_shuffled_divergence(
            Channel(((enclose(Exp(Fraction(-1))), 1 - enclose(Exp(Fraction(-1)))),) * 2), (0, 1), 2, 1
        ),
    ],
)
def test_explosive_sizes_and_balls_are_refused(call):
    with pytest.raises(Unsupported):
        call()
