"""Who sends and how many differ: ranges, roots that are rounded down, chains of neighbours, all by hand."""

from fractions import Fraction

import pytest

from symshuffle import InputError
from symshuffle.accountants.participation import EVERYBODY, Participation, _root, bound_over, group_factor
from symshuffle.choices import Rigour
from symshuffle.numbers import Exp
from symshuffle.results import Bracket

X = Fraction(6, 5)


def test_ranges():
    assert Participation(min_users=1, group=1).min_users == 1
    assert Participation(dropout="0").dropout == 0
    assert Participation(dropout="0.999").dropout == Fraction(999, 1000)
    for wrong in ({"min_users": 0}, {"group": 0}, {"dropout": 1}, {"dropout": "-1/100"}, {"dropout": "x"}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            Participation(**wrong)
    for dropout in (0, "1/2"):
        with pytest.raises(InputError, match="one of the two, not both"):
            Participation(min_users=3, dropout=dropout)


def test_who_is_everybody():
    assert EVERYBODY.everybody and Participation(group=1).everybody
    for who in (Participation(min_users=3), Participation(dropout=0), Participation(group=2)):
        assert not who.everybody
        assert who.to_dict().keys() == {"min_users", "dropout", "group"}
    assert EVERYBODY.to_dict() == {}
    told = Participation(dropout="1/3", group=2).to_dict()
    assert told == {"min_users": None, "dropout": "1/3", "group": 2}
    assert Participation(min_users=3).to_dict() == {"min_users": 3, "dropout": None, "group": 1}


def test_numbers_of_users_that_do_not_fit():
    """As many as there are may differ, and have to send; one more may not."""
    for who, name in ((Participation(group=3), "group"), (Participation(min_users=3), "min_users")):
        who.check(3)
        with pytest.raises(InputError, match=name):
            who.check(2)
    EVERYBODY.check(1)
    EVERYBODY.check(None)
    Participation(group=3, dropout="1/2").check(None)
    with pytest.raises(InputError, match="min_users = 3: expected none where"):
        Participation(min_users=3).check(None)


def test_about_how_many_send_and_how_finely_that_is_answered():
    assert EVERYBODY.expected(9) == 9
    assert Participation(min_users=4).expected(9) == 4
    assert Participation(dropout="1/4").expected(9) == 1 + 8 * 0.75
    assert Participation(dropout="1/4").expected(1) == 1
    for who, width in ((EVERYBODY, 1e-6), (Participation(dropout=0), 1e-6), (Participation(dropout="1/4"), 1e-3)):
        assert who.width(1e-6) == width
        assert who.width(0.1) == 0.1


def test_what_is_supposed():
    assert EVERYBODY.supposed == "" == Participation(group=2).supposed
    assert Participation(min_users=3).supposed.startswith("at least 3 of them send")
    assert "with probability 1/4" in Participation(dropout="1/4").supposed


@pytest.mark.parametrize(
    ("target", "group", "root"),
    [
        (Fraction(9, 4), 2, Fraction(3, 2)),
        (Fraction(27, 8), 3, Fraction(3, 2)),
        (Fraction(1), 5, Fraction(1)),
        (Fraction(300_008, 300_007) ** 2, 2, Fraction(300_008, 300_007)),  # no double is this root
        (Fraction(1 + 2**-30) ** 2, 2, Fraction(1 + 2**-30)),
        (Fraction(7, 5), 1, Fraction(7, 5)),
        (Exp(Fraction(6, 7)), 3, Exp(Fraction(2, 7))),
        (Exp(Fraction(6, 7)), 1, Exp(Fraction(6, 7))),
    ],
)
def test_roots_that_can_be_written(target, group, root):
    assert _root(target, group) == root


@pytest.mark.parametrize("target", [Fraction(2), Fraction(3), Fraction(5), Fraction(101, 100), 1 + Fraction(1, 10**17)])
@pytest.mark.parametrize("group", [2, 3, 7])
def test_other_roots_are_rounded_down_by_little(target, group):
    root = _root(target, group)
    assert root >= 1 and root**group <= target < (root + Fraction(1, 2**48)) ** group


def test_sums_of_powers():
    for group in (1, 2, 3, 6):
        assert group_factor(group, X) == sum(X**i for i in range(group))
    assert group_factor(4, Fraction(1)) == 4


def told(asked, low="0.01", high="0.02", rigour=Rigour.EXACT):
    def at(messages, order, width):
        asked.append((messages, order, width))
        return Bracket(Fraction(low), Fraction(high), rigour, "told", "known")

    return at


@pytest.mark.parametrize(
    ("who", "messages"), [(EVERYBODY, 9), (Participation(min_users=4), 4), (Participation(dropout=0), 9)]
)
def test_as_many_messages_as_are_sure(who, messages):
    asked = []
    found = bound_over(told(asked), who, 9, X, 1e-4, exact=False)
    assert asked == [(messages, X, 1e-4)]
    assert (found.lower, found.upper, found.how) == (Fraction(1, 100), Fraction(2, 100), "known")


def test_more_messages_than_users():
    assert bound_over(told([]), Participation(min_users=9), 9, X, 1e-4, exact=False).upper == Fraction(2, 100)
    with pytest.raises(InputError, match="min_users"):
        bound_over(told([]), Participation(min_users=10), 9, X, 1e-4, exact=False)


def test_others_drop_out():
    """Of two users the other one is there with probability 3/4: both values, by their shares."""

    def at(messages, order, width):
        return Bracket(Fraction(1, messages), Fraction(1, messages), Rigour.EXACT, "told", "known")

    found = bound_over(at, Participation(dropout="1/4"), 2, X, 1e-4, exact=True)
    assert found.exact == Fraction(3, 4) / 2 + Fraction(1, 4)


@pytest.mark.parametrize(("group", "factor"), [(2, 1 + Fraction(3, 2)), (3, 1 + Fraction(3, 2) + Fraction(9, 4))])
def test_a_chain_of_neighbours(group, factor):
    asked = []
    target = Fraction(3, 2) ** group
    found = bound_over(told(asked), Participation(group=group), 9, target, 1e-4, exact=True)
    assert asked == [(9, Fraction(3, 2), 1e-4)]
    assert (found.lower, found.upper) == (factor / 100, factor * 2 / 100)
    assert found.rigour is Rigour.EXACT
    assert found.how == f"{group} steps between neighbours, at most 1: known"


def test_a_chain_is_no_more_than_certain():
    for low, high, ends in (("0.3", "0.5", ("0.75", "1")), ("0.5", "0.9", ("1", "1"))):
        found = bound_over(told([], low, high), Participation(group=2), 9, Fraction(9, 4), 1e-4, exact=True)
        assert (found.lower, found.upper) == tuple(map(Fraction, ends))


@pytest.mark.parametrize(
    ("delivered", "kept"), [(Rigour.EXACT, Rigour.BALL), (Rigour.BALL, Rigour.BALL), (Rigour.FLOAT64, Rigour.FLOAT64)]
)
def test_a_chain_of_exponential_levels_is_no_rational_number(delivered, kept):
    asked = []
    who = Participation(group=2)
    found = bound_over(told(asked, rigour=delivered), who, 9, Exp(Fraction(1, 2)), 1e-4, exact=False)
    assert asked == [(9, Exp(Fraction(1, 4)), 1e-4)]
    assert found.rigour is kept
    factor = 1 + Fraction("1.2840254166877414840734205680624364583363")
    assert found.lower < factor / 100 < found.lower + Fraction(1, 10**30)
    assert found.upper - Fraction(1, 10**30) < factor * 2 / 100 < found.upper
