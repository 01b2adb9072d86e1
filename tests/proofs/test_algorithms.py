"""Algorithms 1 to 6 turn the law of one experiment into exactly the law of the other."""

from fractions import Fraction

import pytest

from proofs_checks.decomposition._algorithms import (
    blanket_laws,
    common_left_over,
    general_clone_map,
    standard_clone_map,
)
from symshuffle import Channel, InputError
from symshuffle.decompositions import Decomposition

CHANNEL = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]])


def test_an_empty_blanket_leaves_user_one_alone():
    identity = Channel.from_rows([[1, 0], [0, 1]])
    assert blanket_laws(identity, (0, 1), 3) == ({(1, 0): 1}, {(0, 1): 1})


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


def test_more_left_overs_than_users_are_refused():
    for kernel in (
        general_clone_map([CHANNEL.rows[0]], [CHANNEL.rows[2]]),
        standard_clone_map(CHANNEL.rows[0], CHANNEL.rows[1], [CHANNEL.rows[2]]),
    ):
        with pytest.raises(InputError, match="2 users without a shared sample: expected at most the 1 others"):
            kernel((0, 2) if kernel.__qualname__.startswith("general") else (0, 0, 2))
