"""Users of unequal budgets: against all datasets, against equal budgets, against every budget raised; refusals."""

import itertools
from fractions import Fraction

import pytest

from symshuffle import Channel, InputError, Unsupported, delta, mechanism
from symshuffle.accountants.questions.unequal import Users, clones_cdf, unequal_delta, unequal_epsilon

X = Fraction(6, 5)


def krr(k, lam):
    return mechanism("krr").at(k=k, lam=lam).channel()


def test_equal_budgets_are_the_usual_bound_and_mixtures_lie_between():
    alike = unequal_delta([Users(2, krr(3, 3)), Users(3, krr(3, 3))], exp_eps=X, rigour="exact").bracket.exact
    assert alike == delta(krr(3, 3), n=5, exp_eps=X, rigour="exact").bracket.exact
    mixed = unequal_delta([Users(2, krr(3, 2)), Users(3, krr(3, 3))], exp_eps=X, rigour="exact")
    assert delta(krr(3, 2), n=5, exp_eps=X, rigour="exact").bracket.exact < mixed.bracket.exact < alike
    assert "symshuffle.unequal-budgets" in mixed.about and mixed.n == 5


def test_epsilon_meets_its_target():
    users = [Users(20, krr(3, 2)), Users("30", krr(3, 3))]
    found = unequal_epsilon(users, delta="1e-2", rel=1e-2).bracket
    assert unequal_delta(users, eps=found.upper, rel=1e-3).bracket.lower <= Fraction("1e-2")
    assert unequal_delta(users, eps=found.lower * Fraction(99, 100), rel=1e-3).bracket.lower > Fraction("1e-2")


def test_both_ways_to_count_draws_agree():
    coins = ((20, Fraction(1, 3)), (15, Fraction(3, 4)))
    exact, rounded = clones_cdf(coins, exact=True), clones_cdf(coins)
    for m in range(38):
        (value, same), (low, high) = exact(m), rounded(m)
        assert value == same and low <= value <= high and high - low < Fraction(1, 2**100)


def test_what_is_not_covered_is_refused():
    uneven = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/8", "1/8", "3/4"]])
    with pytest.raises(Unsupported, match=r"the blankets of users\[0\] and users\[1\] differ"):
        unequal_delta([Users(2, krr(3, 2)), Users(1, uneven)], exp_eps=X)
    with pytest.raises(Unsupported, match=r"users\[0\] hide nobody"):
        unequal_delta([Users(2, mechanism("identity").at(k=3).channel())], exp_eps=X)
    with pytest.raises(InputError, match="as in users"):
        unequal_delta([Users(2, krr(3, 2)), Users(1, krr(2, 2))], exp_eps=X)
    with pytest.raises(InputError, match="at least one group"):
        unequal_delta([], exp_eps=X)
    with pytest.raises(InputError, match="count = 0: expected an integer from 1 to 100000"):
        Users(0, krr(3, 2))
    with pytest.raises(InputError, match="a channel of rationals"):
        Users(1, mechanism("krr").at(k=3, eps0=1).channel())
    with pytest.raises(Unsupported, match="at most 300 users, not 301"):
        unequal_delta([Users(301, krr(3, 2))], exp_eps=X, rigour="exact")
    with pytest.raises(Unsupported, match="at most 100000"):
        unequal_delta([Users(100_000, krr(3, 2)), Users(1, krr(3, 2))], exp_eps=X)


@pytest.mark.parametrize("exact", [True, False])
def test_draws_from_the_blanket_have_the_probabilities_of_their_coins(exact):
    """Every outcome of two coins of one half and three of a third, one by one; who is asked about is one more."""
    coins = ((2, Fraction(1, 2)), (3, Fraction(1, 3)))
    law = [Fraction(0)] * 6
    for outcome in itertools.product((0, 1), repeat=5):
        mass = Fraction(1)
        for drawn, gamma in zip(outcome, [Fraction(1, 2)] * 2 + [Fraction(1, 3)] * 3, strict=True):
            mass *= gamma if drawn else 1 - gamma
        law[sum(outcome)] += mass
    below = clones_cdf(coins, exact=exact)
    for m in range(-1, 9):
        low, high = below(m)
        assert low <= sum(law[: max(m, 0)], Fraction(0)) <= high <= low + Fraction(1, 2**200)
    assert below(0) == (0, 0) and below(6) == below(7) == (1, 1)


def test_two_users_by_hand():
    """A coin of each blanket: with probability gamma of the other user there are two messages, else one."""
    one, other = krr(2, 2), krr(2, 5)
    found = unequal_delta([Users(1, one), Users(1, other)], exp_eps=X, rigour="exact")

    def alone(lam, m):
        p = Fraction(lam, lam + 1)
        total = Fraction(0)
        for places in itertools.product((0, 1), repeat=m):
            values = [2 * (p - X * (1 - p)) if y else 2 * (1 - p - X * p) for y in places]
            total += max(sum(values), Fraction(0)) / 2**m / m
        return total

    gammas = {2: Fraction(2, 3), 5: Fraction(1, 3)}
    hidden = {a: (1 - gammas[b]) * alone(a, 1) + gammas[b] * alone(a, 2) for a, b in ((2, 5), (5, 2))}
    assert found.bracket.exact == max(hidden.values()) and hidden[2] != hidden[5]
    assert found.to_dict()["neighbours"]["users"] == 2 and found.neighbours.every and found.quantity == "delta"
