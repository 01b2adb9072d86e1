"""What a population says of itself, the root that a group asks one user at, and how numbers of messages are mixed."""

import math
import operator
from fractions import Fraction

import pytest

from symshuffle import (
    InputError,
    Unsupported,
)
from symshuffle.accountants.dropout import mean_over_dropouts, means_between, partial_cdf
from symshuffle.accountants.participation import Participation, bound_over
from symshuffle.numbers import Exp
from symshuffle.results import Bracket, Rigour


@pytest.mark.parametrize(
    ("who", "users", "expected"),
    [
        (Participation(), 7, 7.0),
        (Participation(min_users=3), 7, 3.0),
        (Participation(dropout=Fraction(1, 4)), 9, 7.0),
        (Participation(dropout=Fraction(0)), 9, 9.0),
        (Participation(dropout=Fraction(1, 4)), 1, 1.0),
        (Participation(group=2), 7, 7.0),
    ],
)
def test_about_how_many_send(who, users, expected):
    assert who.expected(users) == expected


def test_what_a_population_says_of_itself():
    assert Participation().to_dict() == {} and Participation().supposed == ""
    assert Participation(dropout=Fraction(1, 4), group=2).to_dict() == {"min_users": None, "dropout": "1/4", "group": 2}
    assert Participation(min_users=3).to_dict() == {"min_users": 3, "dropout": None, "group": 1}
    assert "at least 3 of them" in Participation(min_users=3).supposed
    assert "with probability 1/4" in Participation(dropout=Fraction(1, 4)).supposed
    assert Participation(dropout=Fraction(1, 4)).width(1e-6) == 1e-3 and Participation(min_users=3).width(1e-6) == 1e-6
    assert Participation(dropout=Fraction(1, 4)).width(1e-2) == 1e-2
    assert Participation(dropout=Fraction(0)).width(1e-6) == 1e-6
    assert Participation().everybody and not Participation(group=2).everybody


def test_a_population_fits_a_number_of_users_at_both_edges():
    for who in (Participation(min_users=5), Participation(group=5)):
        who.check(5)
        with pytest.raises(InputError, match="= 5"):
            who.check(4)
    Participation(group=5).check(None)
    with pytest.raises(InputError, match="none where the number of users"):
        Participation(min_users=1).check(None)
    for wrong in ({"dropout": Fraction(1)}, {"dropout": Fraction(-1, 9)}, {"group": 0}, {"min_users": 0}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            Participation(**wrong)
    with pytest.raises(InputError, match="one of the two"):
        Participation(min_users=1, dropout=Fraction(0))


def plain(low, high=None, rigour=Rigour.EXACT):
    return Bracket(Fraction(low), Fraction(low if high is None else high), rigour, "by hand", "known")


@pytest.mark.parametrize(
    ("target", "group", "root", "factor"),
    [
        (Fraction(9, 4), 2, Fraction(3, 2), Fraction(5, 2)),
        (Fraction(27, 8), 3, Fraction(3, 2), Fraction(19, 4)),
        (Fraction(1), 4, Fraction(1), Fraction(4)),
        (Fraction(3), 1, Fraction(3), Fraction(1)),
    ],
)
def test_a_group_asks_one_user_at_the_root_and_multiplies(target, group, root, factor):
    asked = []

    def at(messages, ratio, width):
        asked.append((messages, ratio, width))
        return plain("1/100", "1/50")

    for who, messages in ((Participation(group=group), 6), (Participation(group=group, min_users=4), 4)):
        found = bound_over(at, who, 6, target, 1e-4, exact=True)
        assert asked.pop() == (messages, root, 1e-4)
        assert (found.lower, found.upper, found.rigour) == (factor / 100, factor / 50, Rigour.EXACT)
    with pytest.raises(InputError, match="min_users = 7"):
        bound_over(at, Participation(min_users=7), 6, target, 1e-4, exact=True)


def test_a_group_is_bounded_by_one_and_by_balls_at_an_irrational_ratio():
    found = bound_over(lambda *_: plain("1/3", "3/5"), Participation(group=2), 3, Fraction(4), 1e-4, exact=False)
    assert (found.lower, found.upper) == (1, 1)
    by_level = bound_over(lambda *_: plain("1/50"), Participation(group=3), 3, Exp(Fraction(3, 2)), 1e-4, exact=False)
    assert by_level.rigour is Rigour.BALL and by_level.lower < by_level.upper
    assert float(by_level.upper) == pytest.approx((1 + math.exp(0.5) + math.e) / 50, rel=1e-14)
    in_doubles = bound_over(
        lambda *_: plain("1/50", rigour=Rigour.FLOAT64), Participation(group=2), 3, Exp(Fraction(1)), 1e-4, exact=False
    )
    assert in_doubles.rigour is Rigour.FLOAT64


@pytest.mark.parametrize(("target", "group"), [(Fraction(2), 2), (Fraction(3), 5), (Fraction(10**6 + 1, 10**6), 3)])
def test_an_inexact_root_is_below_by_less_than_doubles_tell(target, group):
    ratios = []
    bound_over(
        lambda m, ratio, w: ratios.append(ratio) or plain("1/50"), Participation(group=group), 3, target, 1, exact=True
    )
    (root,) = ratios
    assert root >= 1 and root**group <= target < (root + Fraction(3, 2**50)) ** group


@pytest.mark.parametrize(
    ("users", "q"), [(1, Fraction(1, 3)), (2, Fraction(1, 3)), (6, Fraction(3, 4)), (40, Fraction(1, 9))]
)
def test_numbers_of_messages_have_their_probabilities(users, q):
    exact, rounded = partial_cdf(users, q, exact=True), partial_cdf(users, q)
    for m in range(users + 3):
        law = sum(
            (math.comb(users - 1, j) * (1 - q) ** j * q ** (users - 1 - j) for j in range(min(m, users))), Fraction(0)
        )
        low, high = rounded(m)
        assert low <= law <= high and high - low < Fraction(1, 2**100)
        if m <= users:
            assert exact(m) == (law, law)


def test_means_of_numbers_rounded_down_and_up():
    """Of values 9, 5, 2 at 1, 2, 4 messages the number 3 counts as 2 above, and as 4 below."""
    masses = {1: Fraction(1, 10), 2: Fraction(3, 10), 3: Fraction(6, 10)}
    values = [plain(9, 10), plain(5, 6), plain(2, 3)]
    above, beneath = means_between([1, 2, 4], values, lambda m: (masses[m], masses[m] + Fraction(1, 100)))
    # one in ten sends 1; two send 2; three send 3; four send 4
    weights = [Fraction(k, 10) for k in (1, 2, 3, 4)]
    high = [masses[m] + Fraction(1, 100) for m in (1, 2, 3)]
    raised = [high[0], high[1] - high[0], high[2] - high[1], 1 - high[2]]
    assert above == (sum(map(operator.mul, weights, (9, 5, 5, 2))), sum(map(operator.mul, raised, (10, 6, 6, 3))))
    assert beneath == (sum(map(operator.mul, weights, (9, 2, 2, 2))), sum(map(operator.mul, raised, (10, 3, 3, 3))))


def test_a_mean_over_counts_names_its_parts_and_its_width():
    def value(m, width):
        assert width == 0.04 / 4
        return plain(Fraction(1, m), rigour=Rigour.BALL)

    exact = mean_over_dropouts(value, 5, Fraction(1, 2), 0.04, exact=True)
    assert exact.lower == exact.upper == sum(Fraction(math.comb(4, j), 16 * (j + 1)) for j in range(5))
    assert exact.aimed is None and exact.rigour is Rigour.BALL and exact.engine == "by hand"
    assert exact.how == "mean over 5 of 5 numbers of messages, weights rounded outward; at n = 5: known"
    with pytest.raises(Unsupported, match="at most 300 users, not 301"):
        mean_over_dropouts(value, 301, Fraction(1, 2), 0.04, exact=True)
    coarse = mean_over_dropouts(lambda m, w: plain("1/4", "1/2"), 5, Fraction(1, 2), 0.04)
    assert (coarse.lower, coarse.upper, coarse.aimed) == (Fraction(1, 4), Fraction(1, 2), 0.04)
    edge = mean_over_dropouts(lambda m, w: plain("1/4", "1/2"), 5, Fraction(1, 2), 0.5)
    assert edge.aimed is None
