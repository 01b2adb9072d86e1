"""The clone decompositions are decompositions, refuse what they must, and p has exactly the range that they report."""

from fractions import Fraction

import pytest

from symshuffle.channel import Channel
from symshuffle.decompositions.blanket import primary_decomposition
from symshuffle.decompositions.clones import (
    generic_pair,
    intuitive_clone,
    standard_clone,
    standard_clone_pair,
    stronger_clone,
    two_point_mixture,
    unsound_stronger_clone_pair,
)
from symshuffle.errors import InputError
from symshuffle.mechanisms.finite import rr
from symshuffle.numbers import enclose
from symshuffle.shuffled import shuffled_divergence

CHANNEL = Channel.from_rows(
    [["1/5", "1/10", "2/5", "3/10"], ["1/10", "1/5", "2/5", "3/10"], ["1/10", "1/10", "1/5", "3/5"]]
)
PAIR = (0, 1)


@pytest.mark.parametrize("lam", [None, Fraction(3)])
@pytest.mark.parametrize("clone", [intuitive_clone, standard_clone])
def test_clones_decompose_the_channel(clone, lam):
    assert clone(CHANNEL, PAIR, lam).violations(CHANNEL, PAIR) == []


def test_the_two_point_mixture_of_equal_rows_is_the_row():
    row = CHANNEL.rows[0]
    assert two_point_mixture(row, row, Fraction(2)) == (row, row)


@pytest.mark.parametrize("position", [Fraction(0), Fraction(1, 3), Fraction(1)])
def test_the_four_point_clone_decomposes_the_channel(position):
    clone = stronger_clone(CHANNEL, PAIR, position=position)
    assert clone.p_min <= clone.p <= clone.p_max
    assert clone.four_point(CHANNEL).violations(CHANNEL, PAIR) == []


def test_a_clone_made_for_one_background_is_refused_for_the_channel():
    own = stronger_clone(CHANNEL, PAIR, others=(0, 1), position=Fraction(1))
    with pytest.raises(InputError, match="channel = a row without the clones"):
        own.four_point(CHANNEL)


def test_equal_rows_need_no_clones():
    clone = stronger_clone(CHANNEL, (0, 0), lam=Fraction(2))
    assert clone.p == 0
    assert clone.four_point(CHANNEL).violations(CHANNEL, (0, 0)) == []


def test_the_unsound_pair_is_exceeded():
    clone = stronger_clone(CHANNEL, PAIR)
    truth = shuffled_divergence(CHANNEL, (0, 2), (1, 2), Fraction(3, 2))
    assert truth == Fraction(1, 50)
    assert clone.pair_without_guarantee().divergence(2, Fraction(3, 2)) == Fraction(1, 100)
    assert clone.four_point(CHANNEL).reduction_pair().divergence(2, Fraction(3, 2)) >= truth


def test_the_generic_pair_is_the_blanket_of_binary_randomized_response():
    blanket = primary_decomposition(rr().channel(lam=3), PAIR).reduction_pair()
    assert generic_pair(Fraction(3)) == blanket
    assert unsound_stronger_clone_pair(Fraction(3), Fraction(1, 4)) == blanket
    for n in (1, 2, 3):
        assert blanket.divergence(n, 2) <= standard_clone_pair(Fraction(3)).divergence(n, 2)


def test_clones_in_balls_enclose_the_exact_pair():
    ball = standard_clone_pair(enclose(Fraction(3)))
    exact = standard_clone_pair(Fraction(3))
    for enclosed, value in zip((*ball.a0[:2], *ball.a2), (*exact.a0[:2], *exact.a2), strict=True):
        assert enclosed.lower <= value <= enclosed.upper


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: standard_clone_pair(Fraction(1)), "lam = 1: expected a ratio cap"),
        (lambda: standard_clone(CHANNEL, PAIR, Fraction(3, 2)), "at least the ratio cap of the channel, 2"),
        (lambda: two_point_mixture(*CHANNEL.rows[:2], Fraction(3, 2)), "lam = 3/2: expected a bound"),
        (lambda: unsound_stronger_clone_pair(Fraction(2), Fraction(1, 2)), "p = 1/2: expected .* 1/3"),
        (lambda: stronger_clone(CHANNEL, PAIR, position=Fraction(2)), "position = 2"),
    ],
)
def test_refusals_name_the_argument_and_its_range(call, message):
    with pytest.raises(InputError, match=message):
        call()
