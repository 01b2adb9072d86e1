"""Users of unequal budgets, piece by piece; and the blanket variable of Laplace noise by integrals over the line."""

import math
from fractions import Fraction

import mpmath
import pytest

from symshuffle import Channel, InputError, Unsupported
from symshuffle.accountants import unequal
from symshuffle.accountants.baselines import BlanketVariable, standard_clone
from symshuffle.accountants.unequal import Users, unequal_delta, unequal_epsilon
from symshuffle.choices import Rigour
from symshuffle.results import Bracket


def binary(p):
    p = Fraction(p)
    return Channel.from_rows([[p, 1 - p], [1 - p, p]])


CLOSE, OPEN = binary("2/3"), binary("3/4")
"""Both blankets are uniform, of weights 2/3 and 1/2."""


def test_one_user_by_hand():
    """(2 - x)/3 of the first channel is 1/5 at x = 7/5, and 1/3 at x = 1."""
    found = unequal_epsilon([Users(1, CLOSE)], delta="1/5", rel=1e-5)
    assert found.bracket.lower <= Fraction(math.log(1.4)) <= found.bracket.upper
    assert found.bracket.relative_width <= Fraction(1, 10**5)
    assert (found.quantity, found.n) == ("epsilon", 1)
    assert found.bracket.how.startswith("root search on delta(eps); at the upper end: ")
    zero = unequal_epsilon([Users(1, CLOSE)], delta="1/3", rigour="ball").bracket
    assert (zero.lower, zero.upper, zero.rigour) == (0, 0, Rigour.BALL)
    assert unequal_delta([Users(1, CLOSE)], exp_eps="3/2", rigour="exact").bracket.exact == Fraction(1, 6)
    assert unequal_delta([Users(1, CLOSE)], exp_eps="3/2", direction="reverse").direction == "reverse"


def test_the_largest_bound_over_who_differs(monkeypatch):
    """The upper end is the largest, and so is the lower one, whoever has it."""
    asked = []
    told = iter([("0.1", "0.3"), ("0.2", "0.25"), ("0.05", "0.06")])

    def mean(value, users, cdf, guess, rel, *, exact):
        asked.append((users, guess, rel, exact))
        low, high = next(told)
        return Bracket(Fraction(low), Fraction(high), Rigour.FLOAT64, "told", "")

    monkeypatch.setattr(unequal, "mean_over_counts", mean)
    found = unequal_delta([Users(3, CLOSE), Users(2, OPEN), Users(1, binary("7/10"))], eps="0.1", rel=0.125)
    assert (found.bracket.lower, found.bracket.upper) == (Fraction(2, 10), Fraction(3, 10))
    gammas, counts = (2 / 3, 1 / 2, 3 / 5), ((2, 2, 1), (3, 1, 1), (3, 2, 0))
    for (users, (centre, spread), rel, exact), others in zip(asked, counts, strict=True):
        assert (users, rel, exact) == (6, 0.125, False)
        assert centre == pytest.approx(sum(c * g for c, g in zip(others, gammas, strict=True)), rel=1e-12)
        variance = sum(c * g * (1 - g) for c, g in zip(others, gammas, strict=True))
        assert spread == pytest.approx(math.sqrt(variance), rel=1e-12)


def test_a_thousandth_is_aimed_at_where_nothing_is_asked_for(monkeypatch):
    asked = []

    def mean(value, users, cdf, guess, rel, *, exact):
        asked.append((rel, exact))
        return Bracket(Fraction(1), Fraction(1), Rigour.EXACT, "told", "")

    monkeypatch.setattr(unequal, "mean_over_counts", mean)
    unequal_delta([Users(3, CLOSE)], eps="0.1")
    unequal_delta([Users(3, CLOSE)], exp_eps=2, rigour="exact")
    assert asked == [(1e-3, False), (1e-3, True)]
    monkeypatch.setattr(unequal, "smallest_meeting", lambda bound, target, rel: asked.append((target, rel)) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        unequal_epsilon([Users(3, CLOSE)], delta="1/7")
    assert asked[-1] == (Fraction(1, 7), 1e-3)


def test_three_hundred_users_are_the_most_for_rational_numbers(monkeypatch):
    told = Bracket(Fraction(1), Fraction(1), Rigour.EXACT, "told", "")
    monkeypatch.setattr(unequal, "mean_over_counts", lambda *_, **__: told)
    monkeypatch.setattr(unequal, "clones_cdf", lambda *_, **__: None)  # three hundred coins take seconds
    assert unequal_delta([Users(300, CLOSE)], exp_eps=2, rigour="exact").bracket.exact == 1
    with pytest.raises(Unsupported, match="at most 300 users, not 301"):
        unequal_delta([Users(300, CLOSE), Users(1, CLOSE)], exp_eps=2, rigour="exact")


def test_how_many_there_may_be():
    assert Users(100_000, CLOSE).count == 100_000
    with pytest.raises(InputError, match="count"):
        Users(100_001, CLOSE)
    with pytest.raises(InputError, match="at least 2 inputs"):
        Users(1, Channel.from_rows([["1/2", "1/2"]]))
    assert unequal._read([Users(99_999, CLOSE), Users(1, OPEN)])[1].count == 1
    with pytest.raises(Unsupported, match="100001 users"):
        unequal._read([Users(100_000, CLOSE), Users(1, OPEN)])


def test_pairs_that_are_alike_but_for_names_have_one_law():
    """Ternary response: three pairs of inputs, one law. Of three rows that are not alike, three."""
    rows = [[Fraction(1 + (x == y), 4) for y in range(3)] for x in range(3)]
    assert len(unequal._against_blanket(Channel.from_rows(rows)).classes) == 1
    uneven = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/8", "5/8", "1/4"], ["1/8", "1/8", "3/4"]])
    assert len(unequal._against_blanket(uneven).classes) == 3


def test_the_weight_of_a_blanket():
    assert unequal._gamma(CLOSE) == Fraction(2, 3) and unequal._gamma(OPEN) == Fraction(1, 2)


# Baselines.


@pytest.mark.parametrize(("lam", "x"), [("3", "6/5"), ("3/2", "1"), ("10", "4")])
def test_the_blanket_variable_of_laplace_by_integrals(lam, x):
    """R0 and R1 are Laplace densities about 0 and 1; the blanket is the smaller of both, of weight gamma."""
    found = BlanketVariable.laplace(Fraction(lam), Fraction(x))
    with mpmath.workdps(30):
        cap, order = (mpmath.mpf(Fraction(v).numerator) / Fraction(v).denominator for v in (lam, x))
        rate = mpmath.log(cap)

        def density(y):
            return rate / 2 * mpmath.exp(-rate * abs(y))

        def least(y):
            return min(density(y), density(y - 1))

        places = [-40 / rate, 0, mpmath.mpf(1) / 2, 1, 1 + 40 / rate]
        gamma = mpmath.quad(least, places)
        second = gamma * mpmath.quad(lambda y: (density(y) - order * density(y - 1)) ** 2 / least(y), places)
        ends = [gamma * (density(y) - order * density(y - 1)) / least(y) for y in (2, -1)]
        expected = {"gamma": gamma, "drift": order - 1, "second_moment": second}
        expected |= {"smallest": ends[0], "largest": ends[1]}
        for name, value in expected.items():
            assert float(getattr(found, name)) == pytest.approx(float(value), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("lam", [2, 5])
def test_the_standard_clone_of_one_user(lam):
    """Alone he is the binary response of his budget: (lam - x)/(lam + 1); two users at the same level have less."""
    for x in (Fraction(1), Fraction(3, 2)):
        one = standard_clone(Fraction(lam), exp_eps=x, n=1, rigour="exact").exact
        assert one == (lam - x) / (lam + 1)
        assert standard_clone(Fraction(lam), exp_eps=x, n=2, rigour="exact").exact < one
    assert standard_clone(Fraction(lam), exp_eps=Fraction(3, 2), n=3, rigour=None).rigour is Rigour.EXACT
