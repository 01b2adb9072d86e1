"""What is run in several rounds: how many there may be, whose users count, what is one round."""

from fractions import Fraction

import pytest

from symshuffle import Channel, InputError, rounds
from symshuffle.accountants.plan import MOST_ROUNDS, Round, Rounds, plan_of, unrolled

BINARY = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])


def test_the_number_of_rounds():
    assert (Round(BINARY, 1).times, Round(BINARY, MOST_ROUNDS).times) == (1, 10**6)
    for times in (0, 10**6 + 1, 1.5):
        with pytest.raises(InputError, match="rounds"):
            rounds(BINARY, times)
    halves = rounds(BINARY, 5 * 10**5)
    assert Rounds(halves.parts * 2).times == 10**6
    with pytest.raises(InputError, match="rounds = 1000001"):
        Rounds((*halves.parts * 2, Round(BINARY, 1)))
    with pytest.raises(InputError, match="rounds = none"):
        Rounds(())


def test_the_users_of_a_round():
    assert Round(BINARY, 2).n is None
    found = Round(BINARY, Fraction(2), Fraction(7))
    assert (type(found.n), found.n, type(found.times)) == (int, 7, int)
    with pytest.raises(InputError, match="n = 0"):
        rounds(BINARY, 2, n=0)


def test_whose_users_count():
    """Those of the question fill the gaps; where there are none they are one too many."""
    own, open_ = Round(BINARY, 2, 5), Round(BINARY, 3)
    assert Rounds((own, open_)).for_users(9).parts == (own, Round(BINARY, 3, 9))
    assert Rounds((own, own)).for_users(None).parts == (own, own)
    with pytest.raises(InputError, match="n = 9: expected none"):
        Rounds((own, own)).for_users(9)
    for parts in ((own, open_), (open_,)):
        with pytest.raises(InputError, match="n = None: expected a number of users"):
            Rounds(parts).for_users(None)
    with pytest.raises(InputError, match="n = 0"):
        Rounds((open_,)).for_users(0)


def test_what_is_a_plan():
    one, two = rounds(BINARY, 1, n=5), rounds(BINARY, 2)
    assert plan_of(one) is one
    assert plan_of([one, two]).parts == (*one.parts, *two.parts)
    assert plan_of(((one),)).parts == one.parts
    for source in (BINARY, [], [one, BINARY], [[1, 0], [0, 1]]):
        assert plan_of(source) is None


def test_one_round_is_a_source_with_its_users():
    assert unrolled(BINARY, 4) == (None, BINARY, 4)
    assert unrolled(rounds(BINARY, 1, n=5), None) == (None, BINARY, 5)
    assert unrolled(rounds(BINARY, 1), 6) == (None, BINARY, 6)
    for source, n in ((rounds(BINARY, 2), 6), ([rounds(BINARY, 1), rounds(BINARY, 1)], 6)):
        plan, only, users = unrolled(source, n)
        assert (plan.times, only, users) == (2, BINARY, 6)
        assert all(part.n == 6 for part in plan.parts)
    with pytest.raises(InputError, match="n"):
        unrolled(BINARY, None)
