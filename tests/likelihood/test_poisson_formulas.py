"""Compound Poisson sums against SciPy's Poisson law; what is left out against the tails themselves."""

import itertools
import math
from fractions import Fraction as F

import flint
import pytest
from scipy.stats import poisson

from symshuffle import Channel, Unsupported
from symshuffle.likelihood import poisson as module
from symshuffle.likelihood.law import LikelihoodRatio
from symshuffle.likelihood.poisson import CompoundPoisson, PoissonProfile, poisson_error, poisson_profile
from symshuffle.numbers import Ball, enclose

SKEWED = LikelihoodRatio.of(Channel.from_rows([["1/6", "1/3", "1/2"], ["1/3", "1/6", "1/2"]]), 0, 1)
"""Ratios 1/2, 1, 2 with probabilities 1/3, 1/2, 1/6."""
TWO = CompoundPoisson((F(-1, 2), F(1)), (F(1), F(3, 4)))


def brute(jumps, rates, kink, most=20):
    """The mean of (S - kink)_+ by direct summation in doubles."""
    tables = [poisson.pmf(range(most), float(rate)) for rate in rates]
    total = 0.0
    for counts in itertools.product(range(most), repeat=len(jumps)):
        size = sum(c * float(j) for c, j in zip(counts, jumps, strict=True)) - float(kink)
        total += max(size, 0) * math.prod(table[c] for c, table in zip(counts, tables, strict=True))
    return total


def test_the_jumps_and_rates_of_a_ratio_law():
    assert CompoundPoisson.of(SKEWED, 6) == CompoundPoisson((F(-1, 2), F(1)), (F(2), F(1)))
    assert CompoundPoisson.of(LikelihoodRatio((F(1),), (F(1),)), 6) == CompoundPoisson((), ())


@pytest.mark.parametrize("kink", [F(0), F(1, 2), F(3), enclose(F(3, 4))])
@pytest.mark.parametrize("upward", [True, False])
def test_the_mean_of_the_hinge_is_the_double_sum(kink, upward):
    value = kink if isinstance(kink, F) else F(3, 4)
    jumps = TWO.jumps if upward else tuple(-j for j in TWO.jumps)
    found = TWO.hinge(kink, upward=upward, bits=40)
    assert float(found) == pytest.approx(brute(jumps, TWO.rates, value), rel=1e-7)
    assert found.upper - found.lower < F(1, 2**22)


def test_balls_are_as_narrow_as_asked():
    one = CompoundPoisson((F(1, 3),), (F(1, 2),)).hinge(F(1, 5), bits=150)
    assert 0 < one.upper - one.lower < F(1, 2**140)
    near = poisson_profile(LikelihoodRatio((F(1),), (F(1),)).dilute(F(1)), 1, direction="reverse", exp_eps=2, bits=60)
    assert near.limit.upper == near.error.upper == 0


def test_upward_is_what_is_meant():
    assert TWO.hinge(F(1, 2), bits=20) == TWO.hinge(F(1, 2), upward=True, bits=20)


def test_a_hinge_below_every_sum_is_the_mean():
    """E N = 7 for one count of jump 1; and E(-N)_+ = 0."""
    one = CompoundPoisson((F(1),), (F(7),))
    found = one.hinge(F(0), bits=80)
    assert found.lower <= 7 <= found.upper
    assert one.hinge(F(0), upward=False, bits=80).upper == 0


@pytest.mark.parametrize(("mean", "last"), [(1, 3), (4, 9), (F(1, 3), 1), (2, 2), (3, 2)])
def test_tails_are_bounded_and_not_by_much(mean, last):
    """First term over one minus the ratio of terms: above the tail, and within the square of that ratio of it."""
    bound = float(module._poisson_tail(flint.arb(float(mean)), last).mid())
    true = float(poisson.sf(last, float(mean)))
    ratio = float(mean) / (last + 2)
    assert true < bound
    first = float(poisson.pmf(last + 1, float(mean)))
    assert bound == pytest.approx(first * (1 + ratio + ratio**2 / (1 - ratio)), rel=1e-6)


def test_masses_are_those_of_the_law():
    found = [float(x.mid()) for x in module._poisson_masses(flint.arb(2.5), 6)]
    assert found == pytest.approx(list(poisson.pmf(range(7), 2.5)), rel=1e-14)


@pytest.mark.parametrize("most", [[6, 9], [9, 6], [8, 8]])
@pytest.mark.parametrize("jumps", [[F(1), F(1, 2)], [F(1), F(-1, 2)], [F(-2), F(3)]])
def test_what_is_left_out_is_bounded_by_the_positive_jumps_there(most, jumps):
    """E[jump_j N_j; N_i > last_i], for each positive jump j and each count i: exact tails, and at most a fifth more."""
    rates = (F(2), F(1))
    bound = float(CompoundPoisson(tuple(jumps), rates)._left_out(jumps, most).mid())
    true = 0.0
    for i, j in itertools.product(range(2), repeat=2):
        if jumps[j] > 0:
            beyond = most[i] - (i == j)
            true += float(jumps[j] * rates[j]) * float(poisson.sf(beyond, float(rates[i])))
    assert true < bound < 1.2 * true


def test_what_is_left_out_counts_balls_by_their_upper_end():
    wide = Ball(F(-1), F(1))
    found = CompoundPoisson((wide,), (F(1),))._left_out([wide], [3])
    assert found.upper() > float(poisson.sf(2, 1))


@pytest.mark.parametrize("rate", [F(1, 1000), F(1), F(30), F(400)])
@pytest.mark.parametrize("bits", [20, 80])
def test_the_last_count_is_beyond_the_mean_and_leaves_little(rate, bits):
    """The ratio of terms beyond it is below 1, as the bound on the tail needs, and the tail is below 2^-bits."""
    last = module._last_count(rate, bits)
    assert last > rate
    assert float(poisson.sf(last, float(rate))) < 2.0**-bits


def test_too_many_vectors_are_refused(monkeypatch):
    most = module._last_count(F(1), 40) + 1
    pair = CompoundPoisson((F(1), F(-1)), (F(1), F(1)))
    monkeypatch.setattr(module, "MOST_TERMS", most**2)
    pair.hinge(F(0), bits=40)
    monkeypatch.setattr(module, "MOST_TERMS", most**2 - 1)
    with pytest.raises(Unsupported, match=f"{most**2} vectors"):
        pair.hinge(F(0), bits=40)


def test_the_error_by_hand():
    """Active 1/2, E|g - 1| = 1/6 + 1/6 = 1/3: half of their product."""
    assert poisson_error(SKEWED) == F(1, 12)


@pytest.mark.parametrize(("way", "order"), [("forward", "5/4"), ("reverse", "5/4"), ("reverse", "1")])
@pytest.mark.parametrize("n", [1, 6])
def test_every_field_of_the_poisson_profile(way, order, n):
    e = F(order)
    scale, kink = (F(1), e - 1) if way == "forward" else (e, 1 - 1 / e)
    found = poisson_profile(SKEWED, n, direction=way, exp_eps=order, bits=26)
    sign = 1 if way == "forward" else -1
    rates = (F(n, 3), F(n, 6))
    value = float(scale) * brute((sign * F(-1, 2), sign * F(1)), rates, n * kink, 20) / n
    assert float(found.limit) == pytest.approx(value, rel=1e-7)
    assert found.error.lower <= scale / 12 <= found.error.upper and found.error.upper < scale / 12 + F(1, 10**6)
    assert (found.n, str(found.direction), found.jumps) == (n, way, CompoundPoisson.of(SKEWED, n))
    curve = SKEWED.profile(n, exp_eps=order, direction=way)
    assert found.bracket.lower <= curve.upper and curve.lower <= found.bracket.upper


@pytest.mark.parametrize(("limit", "low", "high"), [("1/2", "1/4", "3/4"), ("1/4", "0", "1/2"), ("1/8", "0", "3/8")])
def test_the_bracket_around_the_limit(limit, low, high):
    r, tiny = F(1, 64), F(1, 2**40)
    ball, error = (Ball(F(x) - r, F(x) + r) for x in (limit, "1/4"))
    bracket = PoissonProfile(ball, error, TWO, 1, "forward").bracket
    least = max(F(low) - 2 * r, 0)
    assert least - tiny <= bracket.lower <= least <= F(high) + 2 * r <= bracket.upper <= F(high) + 2 * r + tiny
