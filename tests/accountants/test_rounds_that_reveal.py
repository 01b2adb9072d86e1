"""Real datasets over rounds of messages that reveal, against the enumeration of the very datasets that are named."""

import itertools
import math
import re
from fractions import Fraction as F

import pytest

import symshuffle
from symshuffle import Channel
from tests.oracles.messages import hockey_stick, largest, messages, product
from tests.slices import some

ONE_SIDED = (
    ((1, 0), (F(1, 2), F(1, 2))),
    ((F(1, 4), F(3, 4)), (1, 0)),
    ((1, 0, 0), (F(1, 2), F(1, 4), F(1, 4))),
    ((F(1, 2), F(1, 2), 0), (F(1, 3), F(1, 3), F(1, 3))),
    ((F(1, 2), F(1, 2), 0), (0, F(1, 3), F(2, 3))),  # both orders reveal, one of them more
    ((F(1, 100), F(99, 100), 0), (F(98, 100), F(1, 100), F(1, 100))),
)


def named(rows, text, times, dropout=F(0)):
    """The laws of both datasets of a sentence such as X0 = (0, 1 x 2), X1 = (1, 1 x 2) in every round."""
    for first, other, count in re.findall(r"X[01] = \((\d+)(?:, (\d+) x (\d+))?\)", text):
        others = [rows[int(other)]] * int(count) if other else []
        yield product(*[messages(rows[int(first)], others, dropout)] * times)


SIZES = ((1, 2, 0), (2, 2, 0), (2, 3, 0), (3, 2, 0), (3, 2, F(1, 3)))


@pytest.mark.parametrize(("rows", "size"), some(itertools.product(ONE_SIDED, SIZES), 12), ids=str)
def test_the_datasets_named_attain_what_is_said(rows, size):
    channel, (n, times, dropout) = Channel.from_rows(rows), size
    for order in (F(1), F(5, 4), F(2), F(7, 2)):
        whom = {"dropout": dropout} if dropout else {}
        asked = symshuffle.Deployment(channel, periods=times)
        answer = symshuffle.delta(asked, n=n, exp_eps=order, attained=True, **whom)
        attained = answer.attained
        true = largest(hockey_stick, *named(rows, attained.datasets, times, F(dropout)), "both", order)
        assert attained.lower <= true <= answer.bracket.upper, (order, attained)
        assert attained.lower >= true * F(95, 100), (order, float(attained.lower), float(true))


@pytest.mark.parametrize("arithmetic", ["float64", "ball"])
def test_a_null_symbol_that_is_told_from_one_side_only(arithmetic):
    rows = ((F(1, 2), F(1, 2), 0), (F(1, 4), F(3, 4), 0))
    asked = symshuffle.Deployment(Channel.from_rows(rows), periods=2)
    answer = symshuffle.delta(
        asked, n=2, exp_eps=2, attained=True, null=(F(1, 3), F(1, 3), F(1, 3)), arithmetic=arithmetic
    )
    assert 0 <= answer.attained.lower <= answer.bracket.upper


def test_eps_of_datasets_that_reveal_on_one_side():
    rows = ONE_SIDED[5]
    asked = symshuffle.Deployment(Channel.from_rows(rows), periods=2)
    answer = symshuffle.epsilon(asked, n=2, delta="0.2", attained=True, rtol=1e-2)
    assert 0 < answer.attained.lower <= answer.bracket.upper
    reached = F(math.exp(float(answer.attained.lower)) * (1 - 1e-9))
    assert largest(hockey_stick, *named(rows, answer.attained.datasets, 2), "both", reached) >= F(1, 5)
