"""Inputs of a Gaussian under zero-out: a cell of lengths is below one pair."""

import math
from fractions import Fraction as F

import pytest

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Exp
from symshuffle.vectors.privacy.accounting import pair_delta
from symshuffle.vectors.privacy.cover import alone, cell_delta
from symshuffle.vectors.privacy.pairs import short_input
from symshuffle.vectors.randomizers.mechanisms import LocalGaussian

NOISE = LocalGaussian("4.6")


def test_no_input_exceeds_its_cell():
    most = cell_delta(NOISE, n=1000, low="0.9", high=1, eps="0.004", rel=1e-5)
    end = short_input(NOISE, length=F(1), reach=F(1))
    inside = short_input(NOISE, length=F(19, 20), reach=F(1))
    found = [pair_delta(pair, 1000, Exp(F(4, 1000)), rel=1e-5) for pair in (end, inside, inside.reverse)]
    assert all(one.upper < most.lower for one in found)
    assert most.upper < F(21, 20) * found[0].lower
    assert most.upper < alone(NOISE, 1, eps="0.004").lower


def test_what_is_wrong_is_named():
    for name, low, high in (("high", 1, 2), ("low", 1, "1/2"), ("low", 0, 1)):
        with pytest.raises(InputError, match=name):
            cell_delta(NOISE, n=10, low=low, high=high, eps=1)
    with pytest.raises(InputError, match="length"):
        alone(NOISE, 0, eps=1)


@pytest.mark.parametrize(("sigma", "length", "eps"), [("2", "1", "1/2"), ("1/2", "1/3", "0"), ("1", "3", "2")])
def test_one_message_alone_is_two_normal_tails(sigma, length, eps):
    shift, level = float(F(length) / F(sigma)), float(F(eps))
    tail = [math.erfc((level / shift + sign * shift / 2) / math.sqrt(2)) / 2 for sign in (-1, 1)]
    found = alone(LocalGaussian(sigma), length, eps=eps)
    assert float(found) == pytest.approx(tail[0] - math.exp(level) * tail[1], rel=1e-12)
