"""Algorithms 1 to 6 turn the law of one experiment into exactly the law of the other."""

import itertools
from fractions import Fraction

import pytest

from symshuffle.base.errors import InputError
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import shuffled_law
from symshuffle.decompositions.blanket import primary_decomposition, privacy_blanket, simplified_decomposition
from symshuffle.decompositions.clones import standard_clone
from symshuffle.decompositions.model import Decomposition
from symshuffle.decompositions.postprocessing import (
    blanket_laws,
    blanket_map,
    blanket_to_primary,
    blanket_to_simplified,
    clone_to_blanket,
    common_left_over,
    general_clone_map,
    push_forward,
    standard_clone_map,
)

CHANNEL = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]])
ERASURE = Channel.from_rows([["1/2", 0, "1/2"], [0, "1/2", "1/2"], ["1/2", 0, "1/2"]])
PAIR = (0, 1)


@pytest.mark.parametrize("background", [(), (2,), (0, 2), (1, 1)])
@pytest.mark.parametrize("side", [0, 1])
def test_maps_to_the_shuffled_messages(background, side):
    n = len(background) + 1
    target = shuffled_law(CHANNEL, (PAIR[side], *background))
    clone = standard_clone(CHANNEL, PAIR)
    law = clone.reduction_pair().histogram_laws(n)[side]
    left_overs = [clone.left_over(CHANNEL.rows[x]) for x in background]
    assert push_forward(law, general_clone_map(clone.components, left_overs)) == target
    assert push_forward(law, standard_clone_map(*clone.components, left_overs)) == target
    rests = [privacy_blanket(CHANNEL).left_overs[x] for x in background]
    assert push_forward(blanket_laws(CHANNEL, PAIR, n)[side], blanket_map(rests, messages=3)) == target


@pytest.mark.parametrize("channel", [CHANNEL, ERASURE])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_blanket_is_the_primary_decomposition(channel, n):
    laws = blanket_laws(channel, PAIR, n)
    pair = primary_decomposition(channel, PAIR).reduction_pair()
    for law, target in zip(laws, pair.histogram_laws(n), strict=True):
        assert push_forward(law, blanket_to_primary(n)) == target


def test_the_simplified_decomposition_is_a_merge():
    groups = ((0,), (1,), (2,))
    pair = simplified_decomposition(CHANNEL, PAIR).reduction_pair()
    for law, target in zip(blanket_laws(CHANNEL, PAIR, 3), pair.histogram_laws(3), strict=True):
        assert push_forward(law, blanket_to_simplified(groups, 3)) == target


def test_an_empty_blanket_leaves_user_one_alone():
    identity = Channel.from_rows([[1, 0], [0, 1]])
    assert blanket_laws(identity, PAIR, 3) == ({(1, 0): 1}, {(0, 1): 1})


@pytest.mark.parametrize("n", [1, 2, 3])
def test_any_decomposition_maps_to_the_blanket(n):
    clone = standard_clone(CHANNEL, PAIR)
    whole = primary_decomposition(CHANNEL, PAIR)
    for decomposition in (clone, whole):
        kernel = clone_to_blanket(decomposition.components, *common_left_over(decomposition, CHANNEL))
        laws = decomposition.reduction_pair().histogram_laws(n)
        for law, target in zip(laws, blanket_laws(CHANNEL, PAIR, n), strict=True):
            image = {h: p for h, p in push_forward(law, kernel).items() if p}
            assert image == target


def test_a_shared_part_beyond_the_blanket_is_refused():
    quarter = Fraction(1, 4)
    greedy = Decomposition(
        CHANNEL.rows[0],
        CHANNEL.rows[1],
        (quarter, quarter, 2 * quarter),
        Fraction(0),
        tuple(tuple(Fraction(int(y == z)) for z in range(3)) for y in range(3)),
    )
    with pytest.raises(InputError, match="shared part at output 2 = 1/2: expected at most the blanket, 1/4"):
        common_left_over(greedy, CHANNEL)


def test_kernels_are_stochastic():
    kernel = general_clone_map([CHANNEL.rows[0], CHANNEL.rows[1]], [CHANNEL.rows[2]] * 2)
    for counts in itertools.product(range(3), repeat=3):
        if sum(counts) == 3:
            assert sum(kernel(counts).values()) == 1


def test_more_left_overs_than_users_are_refused():
    for kernel in (
        general_clone_map([CHANNEL.rows[0]], [CHANNEL.rows[2]]),
        standard_clone_map(CHANNEL.rows[0], CHANNEL.rows[1], [CHANNEL.rows[2]]),
    ):
        with pytest.raises(InputError, match="2 users without a shared sample: expected at most the 1 others"):
            kernel((0, 2) if kernel.__qualname__.startswith("general") else (0, 0, 2))
