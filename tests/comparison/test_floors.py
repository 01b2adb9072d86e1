"""The risk floor of a comparison: nobody at the match has less, however wide the brackets around the levels are."""

import random
from fractions import Fraction as F

import pytest

from symshuffle import compare, largest_eps0, randomizer
from symshuffle.base.numbers import lower_end
from symshuffle.utility.estimation.votes import canonical_votes

CENTRAL = {"n": 1000, "eps": "1/2", "delta": "1/1000000"}


def krr_at(k, n, lam):
    """Pairwise chi-square divergence of k-ary response, and the sum of the variances of its unbiased frequencies."""
    own, other = lam / (lam + k - 1), 1 / (lam + k - 1)
    gap = own - other
    return gap * gap * (1 / own + 1 / other), (own * (1 - own) + (k - 1) * other * (1 - other)) / (n * gap * gap)


def level_of(k, budget):
    """Two rational ratios 10^-80 apart between which k-ary response spends the budget."""
    low, high = F(1), F(10**6)
    while high - low > F(1, 10**80):
        middle = (low + high) / 2
        middle = F(int(middle * 10**90), 10**90)
        low, high = (middle, high) if krr_at(k, 1, middle)[0] <= budget else (low, middle)
    return low, high


def test_the_floor_is_no_risk_at_the_safe_end():
    """At rtol = 1/5 the levels matched are up to a fifth below the match, where sizes 1 have a smaller risk."""
    wide = compare(5, rtol=0.2, mechanisms=["subset-selection"], **CENTRAL).rows[0]
    level = largest_eps0(randomizer("krr").at(k=5), rtol=1e-4, **CENTRAL).bracket.lower
    risk = lower_end(canonical_votes(randomizer("krr").at(k=5, eps0=level)).risk(CENTRAL["n"]))
    assert wide.floor <= risk < F(92, 10**5) < wide.risk.upper
    assert wide.floor > F(3, 4) * risk  # and it still says something


@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize("budget", ["1/7", "5/2"])
def test_the_floor_at_a_chi_square_budget_is_below_the_exact_risk(k, budget):
    """There size 1 is best, and its level is a root: the floor is above the risk there by no digit."""
    floor = compare(k, n=100, budget=budget, mechanisms=["subset-selection"]).rows[0].floor
    low, high = level_of(k, F(budget))
    assert floor <= krr_at(k, 100, low)[1]
    assert floor >= krr_at(k, 100, high)[1] * (1 - F(1, 10**9))


def test_the_floor_at_a_local_level_is_below_the_exact_risk():
    """Three inputs, where size 1 is best: 60 digits of exp(1), rounded up, have a smaller risk than exp(1) itself."""
    floor = compare(3, n=100, eps0=1, mechanisms=["subset-selection"]).rows[0].floor
    above = F("2.71828182845904523536028747135266249775724709369995957496697")
    assert krr_at(3, 100, above)[1] * (1 - F(1, 10**30)) < floor <= krr_at(3, 100, above)[1]


def requests(seed, count):
    random_ = random.Random(seed)
    for _ in range(count):
        yield (
            random_.choice([3, 4, 5]),
            {
                "n": random_.choice([50, 200, 1000]),
                "eps": random_.choice(["1/5", "1/2", "1"]),
                "delta": random_.choice(["1/1000", "1/1000000"]),
            },
            random_.choice([0.05, 0.1, 0.2, 0.3]),
        )


@pytest.mark.parametrize(("k", "given", "rtol"), list(requests(24, 4)))
def test_nobody_at_the_match_is_below_the_floor(k, given, rtol):
    """Against the risk of every subset size at a level that meets the target, found far more finely."""
    (row,) = compare(k, rtol=rtol, mechanisms=["subset-selection"], **given).rows
    assert row.floor is not None
    for size in range(1, k):
        level = largest_eps0(randomizer("subset-selection").at(k=k, s=size), rtol=1e-4, **given).bracket.lower
        risk = canonical_votes(randomizer("subset-selection").at(k=k, s=size, eps0=level)).risk(given["n"])
        assert row.floor <= lower_end(risk), size
