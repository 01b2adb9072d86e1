"""Clone pairs at lam = 3 and 2 by hand, the ends of their ranges, and what makes the weights largest."""

from __future__ import annotations

from fractions import Fraction

import pytest

from symshuffle.channel import Channel
from symshuffle.decompositions.clones import (
    generic_pair,
    intuitive_clone,
    intuitive_clone_pair,
    standard_clone,
    standard_clone_pair,
    stronger_clone,
    two_point_mixture,
    unsound_stronger_clone_pair,
)
from symshuffle.errors import InputError

F = Fraction


def laws(pair) -> tuple:
    return pair.a0, pair.a1, pair.a2


def test_the_three_pairs_at_three():
    """1/(2 lam) = 1/6, 1 - 1/lam = 2/3, lam/(lam + 1) = 3/4, (lam - 1)/(lam + 1) = 1/2."""
    shared = (F(1, 6), F(1, 6), F(2, 3))
    assert laws(intuitive_clone_pair(F(3))) == ((1, 0, 0), (0, 1, 0), shared)
    assert laws(standard_clone_pair(F(3))) == ((F(3, 4), F(1, 4), 0), (F(1, 4), F(3, 4), 0), shared)
    assert laws(generic_pair(F(3))) == ((F(3, 4), F(1, 4), 0), (F(1, 4), F(3, 4), 0), (F(1, 4), F(1, 4), F(1, 2)))


@pytest.mark.parametrize("pair", [intuitive_clone_pair, standard_clone_pair, generic_pair])
def test_levels_of_pairs(pair):
    for lam in (F(1), F(1, 2)):
        with pytest.raises(InputError, match="lam"):
            pair(lam)
    assert sum(pair(1 + F(1, 10**9)).a2) == 1


def test_the_published_pair_of_the_stronger_clone():
    found = unsound_stronger_clone_pair(F(3), F(1, 8))
    assert laws(found) == (
        (F(3, 8), F(1, 8), F(1, 2)), (F(1, 8), F(3, 8), F(1, 2)), (F(1, 8), F(1, 8), F(3, 4)),
    )  # fmt: skip
    assert found.unsound
    assert laws(unsound_stronger_clone_pair(F(3), F(0))) == ((0, 0, 1), (0, 0, 1), (0, 0, 1))
    assert laws(unsound_stronger_clone_pair(F(3), F(1, 4)))[0] == (F(3, 4), F(1, 4), 0)
    for p in (F(-1, 100), F(26, 100)):
        with pytest.raises(InputError, match="p ="):
            unsound_stronger_clone_pair(F(3), p)


def test_the_two_extreme_distributions():
    """lam R0 - R1 over lam - 1 at lam = 2: (2/3 * 2 - 1/3, 1/3 * 2 - 2/3) = (1, 0)."""
    assert two_point_mixture((F(2, 3), F(1, 3)), (F(1, 3), F(2, 3)), F(2)) == ((1, 0), (0, 1))
    assert two_point_mixture((F(1, 2), F(1, 2)), (F(1, 3), F(2, 3)), F(3)) == (
        (F(7, 12), F(5, 12)), (F(1, 4), F(3, 4)),
    )  # fmt: skip
    for first, second in (((F(2, 3), F(1, 3)), (F(1, 3), F(2, 3))), ((F(1, 3), F(2, 3)), (F(2, 3), F(1, 3)))):
        with pytest.raises(InputError, match="lam"):
            two_point_mixture(first, second, F(199, 100))
    # Only the second of the two extremes has a negative mass here: 3/2 * 1/9 - 2/9 < 0 and 3/2 * 2/9 - 1/9 > 0.
    with pytest.raises(InputError, match="lam"):
        two_point_mixture((F(2, 9), F(7, 9)), (F(1, 9), F(8, 9)), F(3, 2))


W = Channel.from_rows([["2/5", "2/5", "1/5"], ["1/5", "2/5", "2/5"], ["1/5", "3/5", "1/5"]])


def test_the_clones_of_a_channel_by_hand():
    """Its ratio cap is 2; at 2 the extremes of rows 0 and 1 are (3/5, 2/5, 0) and (0, 2/5, 3/5)."""
    plain, standard = intuitive_clone(W, (0, 1)), standard_clone(W, (0, 1))
    assert (plain.a, plain.b, plain.c, plain.beta) == ((1, 0), (0, 1), (F(1, 4), F(1, 4)), F(1, 2))
    assert plain.components == (W.rows[0], W.rows[1])
    assert (standard.a, standard.b) == ((F(2, 3), F(1, 3)), (F(1, 3), F(2, 3)))
    assert standard.components == ((F(3, 5), F(2, 5), 0), (0, F(2, 5), F(3, 5)))
    assert intuitive_clone(W, (0, 1), F(4)).beta == F(3, 4)
    for clone in (intuitive_clone, standard_clone, stronger_clone):
        with pytest.raises(InputError, match="ratio cap of the channel, 2"):
            clone(W, (0, 1), lam=F(19, 10))
        assert clone(W, (0, 1), lam=F(2)) == clone(W, (0, 1))


@pytest.mark.parametrize("position", [F(0), F(1, 4), F(1)])
def test_the_stronger_clone_by_its_equations(position):
    """d+ = (1/5, 0, 0), d- = (0, 0, 1/5) at lam = 2; t is the smaller of (R0 - 2 d+ - d-)/3 and (floor - d+ - d-)/2."""
    found = stronger_clone(W, (0, 1), position=position)
    room = [min(a / 3, b / 2) for a, b in ((F(0), F(0)), (F(2, 5), F(2, 5)), (F(0), F(0)))]
    assert room == [0, F(2, 15), 0]
    assert found.first == (F(1, 5), position * room[1], 0)
    assert found.second == (0, position * room[1], F(1, 5))
    assert found.rest == (0, F(2, 5) - 3 * position * room[1], 0)
    assert (found.p_min, found.p_max, found.p) == (F(1, 5), F(1, 3), F(1, 5) + position * F(2, 15))
    assert found.lam == 2
    pair = found.pair_without_guarantee()
    assert pair.unsound
    assert pair.a0[0] == 2 * found.p


def test_other_users_with_fewer_inputs_leave_more_room():
    """Without row 2 the least entries are those of rows 0 and 1; with it alone the floor is row 2."""
    low = Channel.from_rows([["2/5", "2/5", "1/5"], ["1/4", "2/5", "7/20"], ["2/5", "3/20", "9/20"]])
    alone = stronger_clone(low, (0, 1), lam=F(3), others=(0, 1))
    everybody = stronger_clone(low, (0, 1), lam=F(3))
    d = F(3, 40)  # (2/5 - 1/4) / 2, and (7/20 - 1/5) / 2
    floors = {"alone": (F(1, 4), F(2, 5), F(1, 5)), "all": (F(1, 4), F(3, 20), F(1, 5))}
    rooms = {}
    for name, floor in floors.items():
        u, v = (d, F(0), F(0)), (F(0), F(0), d)
        rooms[name] = [
            min((r - 3 * a - b) / 4, (f - a - b) / 2) for r, f, a, b in zip(low.rows[0], floor, u, v, strict=True)
        ]
    assert alone.p_max == d + sum(rooms["alone"])
    assert everybody.p_max == d + sum(rooms["all"])
    assert everybody.p_max < alone.p_max


def test_positions_and_their_ends():
    for position in (F(-1, 10), F(11, 10)):
        with pytest.raises(InputError, match="position"):
            stronger_clone(W, (0, 1), position=position)


def test_the_shared_part_of_the_four_point_clone_is_as_large_as_can_be():
    """The third weight q is the least over outputs of the room left by the clones over what Q asks for there."""
    clone = stronger_clone(W, (0, 1))
    found = clone.four_point(W)
    own = 1 - clone.p - 2 * clone.p  # 2/5
    assert found.a == (F(2, 5), F(1, 5), own)
    assert found.b == (F(1, 5), F(2, 5), own)
    # The least entry at the middle output is 2/5, Q puts all of its mass there: q = 2/5.
    assert found.c == (F(1, 5), F(1, 5), F(2, 5))
    assert found.beta == F(1, 5)
    assert found.components == ((1, 0, 0), (0, 0, 1), (0, 1, 0))
    lower = Channel.from_rows([*W.rows[:2], [F(2, 5), F(3, 10), F(3, 10)]])
    assert stronger_clone(lower, (0, 1)).four_point(lower).c == (F(1, 5), F(1, 5), F(3, 10))


def test_a_clone_without_rest_has_two_components():
    """Randomized response with cap 2: R0 - 2 d+ - d- vanishes, p = 1/3, nothing is left of user 1."""
    rr = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
    found = stronger_clone(rr, (0, 1)).four_point(rr)
    assert (found.a, found.b, found.c) == ((F(2, 3), F(1, 3)), (F(1, 3), F(2, 3)), (F(1, 3), F(1, 3)))
    assert found.beta == F(1, 3)
    assert stronger_clone(rr, (1, 1)).four_point(rr).a == (F(1),)


@pytest.mark.parametrize("position", [F(0), F(1, 3), F(9, 10)])
def test_the_shared_part_touches_the_blanket_where_user_one_has_a_rest(position):
    """Two outputs carry Q and the clones overlap: a larger third weight would leave some input without its rest."""
    rows = [["1/5", "1/10", "2/5", "3/10"], ["1/10", "1/5", "2/5", "3/10"], ["1/10", "1/10", "1/5", "3/5"]]
    channel = Channel.from_rows(rows)
    clone = stronger_clone(channel, (0, 1), position=position, lam=F(4))
    found = clone.four_point(channel)
    spare = [b - s for b, s in zip(channel.blanket(), found.common(), strict=True)]
    assert min(spare) == 0
    assert any(gap == 0 and rest > 0 for gap, rest in zip(spare, clone.rest, strict=True))
    assert sum(rest > 0 for rest in clone.rest) > 1
    assert found.violations(channel, (0, 1)) == []
