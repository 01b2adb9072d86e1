"""Real datasets over rounds of messages that reveal, against the enumeration of the very datasets that are named."""

import itertools
import math
import re
from collections import Counter
from fractions import Fraction as F

import pytest

import symshuffle
from symshuffle import Channel
from tests.slices import some

ONE_SIDED = (
    ((1, 0), (F(1, 2), F(1, 2))),
    ((F(1, 4), F(3, 4)), (1, 0)),
    ((1, 0, 0), (F(1, 2), F(1, 4), F(1, 4))),
    ((F(1, 2), F(1, 2), 0), (F(1, 3), F(1, 3), F(1, 3))),
    ((F(1, 2), F(1, 2), 0), (0, F(1, 3), F(2, 3))),  # both orders reveal, one of them more
    ((F(1, 100), F(99, 100), 0), (F(98, 100), F(1, 100), F(1, 100))),
)


def histograms(rows, data):
    """The law of the histogram of outputs of a dataset."""
    found = Counter()
    outputs = range(len(rows[0]))
    for seen in itertools.product(outputs, repeat=len(data)):
        mass = math.prod((F(rows[x][y]) for x, y in zip(data, seen, strict=True)), start=F(1))
        found[tuple(sorted(seen))] += mass
    return found


def of_messages(rows, data, dropout):
    """The law where each user but the first drops out with a probability, publicly."""
    found = Counter()
    for sends in itertools.product((False, True), repeat=len(data) - 1):
        share = math.prod((1 - dropout if one else dropout for one in sends), start=F(1))
        left = (data[0], *(x for x, one in zip(data[1:], sends, strict=True) if one))
        for seen, mass in histograms(rows, left).items():
            found[seen] += share * mass
    return found


def named(text):
    """The two datasets of a sentence such as X0 = (0, 1 x 2), X1 = (1, 1 x 2) in every round."""
    found = []
    for first, other, times in re.findall(r"X[01] = \((\d+)(?:, (\d+) x (\d+))?\)", text):
        found.append((int(first), *([int(other)] * int(times or 0) if other else ())))
    return found


def over_rounds(one, other, times, order):
    """The larger of both directions of the product."""
    laws = [(F(1), F(1))]
    for _ in range(times):
        laws = [(p * one[y], q * other[y]) for p, q in laws for y in {*one, *other}]
    return max(sum(max(p - order * q, F(0)) for p, q in laws), sum(max(q - order * p, F(0)) for p, q in laws))


SIZES = ((1, 2, 0), (2, 2, 0), (2, 3, 0), (3, 2, 0), (3, 2, F(1, 3)))


@pytest.mark.parametrize(("rows", "size"), some(itertools.product(ONE_SIDED, SIZES), 12), ids=str)
def test_the_datasets_named_attain_what_is_said(rows, size):
    channel, (n, times, dropout) = Channel.from_rows(rows), size
    for order in (F(1), F(5, 4), F(2), F(7, 2)):
        whom = {"dropout": dropout} if dropout else {}
        asked = symshuffle.rounds(channel, times)
        answer = symshuffle.delta(asked, n=n, exp_eps=order, attain=True, **whom)
        attained = answer.attained
        one, other = (of_messages(rows, data, F(dropout)) for data in named(attained.datasets))
        true = over_rounds(one, other, times, order)
        assert attained.lower <= true <= answer.bracket.upper, (order, attained)
        assert attained.lower >= true * F(95, 100), (order, float(attained.lower), float(true))


@pytest.mark.parametrize("rigour", ["float64", "ball"])
def test_a_null_symbol_that_is_told_from_one_side_only(rigour):
    rows = ((F(1, 2), F(1, 2), 0), (F(1, 4), F(3, 4), 0))
    asked = symshuffle.rounds(Channel.from_rows(rows), 2)
    answer = symshuffle.delta(asked, n=2, exp_eps=2, attain=True, null=(F(1, 3), F(1, 3), F(1, 3)), rigour=rigour)
    assert 0 <= answer.attained.lower <= answer.bracket.upper


def test_eps_of_datasets_that_reveal_on_one_side():
    rows = ONE_SIDED[5]
    asked = symshuffle.rounds(Channel.from_rows(rows), 2)
    answer = symshuffle.epsilon(asked, n=2, delta="0.2", attain=True, rel=1e-2)
    assert 0 < answer.attained.lower <= answer.bracket.upper
    one, other = (histograms(rows, data) for data in named(answer.attained.datasets))
    reached = math.exp(float(answer.attained.lower))
    assert over_rounds(one, other, 2, F(reached * (1 - 1e-9))) >= F(1, 5)
