"""Users of unequal budgets: against all datasets, against equal budgets, against every budget raised; refusals."""

import itertools
from fractions import Fraction

import pytest

from symshuffle import Channel, Group, InputError, Unsupported, delta, epsilon, randomizer
from symshuffle.accountants.deployment.message_counts import coins_cdf

X = Fraction(6, 5)


def krr(k, lam):
    return randomizer("krr").at(k=k, lam=lam).channel()


def test_equal_budgets_are_the_usual_bound_and_mixtures_lie_between():
    alike = delta([Group(krr(3, 3), 2), Group(krr(3, 3), 3)], exp_eps=X, arithmetic="exact").bracket.exact
    assert alike == delta(krr(3, 3), n=5, exp_eps=X, arithmetic="exact").bracket.exact
    mixed = delta([Group(krr(3, 2), 2), Group(krr(3, 3), 3)], exp_eps=X, arithmetic="exact")
    assert delta(krr(3, 2), n=5, exp_eps=X, arithmetic="exact").bracket.exact < mixed.bracket.exact < alike
    assert "symshuffle.unequal-budgets" in mixed.about and mixed.n == 5


def test_epsilon_meets_its_target():
    users = [Group(krr(3, 2), 20), Group(krr(3, 3), "30")]
    found = epsilon(users, delta="1e-2", rtol=1e-2).bracket
    assert delta(users, eps=found.upper, rtol=1e-3).bracket.lower <= Fraction("1e-2")
    assert delta(users, eps=found.lower * Fraction(99, 100), rtol=1e-3).bracket.lower > Fraction("1e-2")


def test_both_ways_to_count_draws_agree():
    coins = ((20, Fraction(1, 3)), (15, Fraction(3, 4)))
    exact, rounded = coins_cdf(coins, exact=True), coins_cdf(coins)
    for m in range(38):
        (value, same), (low, high) = exact(m), rounded(m)
        assert value == same and low <= value <= high and high - low < Fraction(1, 2**100)


def test_what_is_not_covered_is_refused():
    uneven = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/8", "1/8", "3/4"]])
    with pytest.raises(Unsupported, match=r"the blankets of group\[0\] and group\[1\] differ"):
        delta([Group(krr(3, 2), 2), Group(uneven, 1)], exp_eps=X)
    identity = randomizer("identity").at(k=3).channel()
    with pytest.raises(Unsupported, match=r"group\[0\] hides nobody"):
        delta([Group(identity, 2), Group(identity, 1)], exp_eps=X)
    with pytest.raises(InputError, match=r"as in group\[0\]"):
        delta([Group(krr(3, 2), 2), Group(krr(2, 2), 1)], exp_eps=X)
    with pytest.raises(InputError):
        delta([], exp_eps=X)
    with pytest.raises(InputError, match="count = 0: expected an integer from 1"):
        Group(krr(3, 2), 0)
    with pytest.raises(InputError, match="a channel of rationals"):
        delta([Group(randomizer("krr").at(k=3, eps0=1).channel(), 1), Group(krr(3, 2), 1)], exp_eps=X)
    with pytest.raises(Unsupported, match="at most 300 users, not 301"):
        delta([Group(krr(3, 2), 300), Group(krr(3, 2), 1)], exp_eps=X, arithmetic="exact")
    with pytest.raises(Unsupported, match="at most 100000"):
        delta([Group(krr(3, 2), 100_000), Group(krr(3, 2), 1)], exp_eps=X)


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
    below = coins_cdf(coins, exact=exact)
    for m in range(-1, 9):
        low, high = below(m)
        assert low <= sum(law[: max(m, 0)], Fraction(0)) <= high <= low + Fraction(1, 2**200)
    assert below(0) == (0, 0) and below(6) == below(7) == (1, 1)


def test_two_users_by_hand():
    """A coin of each blanket: with probability gamma of the other user there are two messages, else one."""
    one, other = krr(2, 2), krr(2, 5)
    found = delta([Group(one, 1), Group(other, 1)], exp_eps=X, arithmetic="exact")

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
