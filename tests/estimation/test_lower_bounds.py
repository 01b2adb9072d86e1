import math
from fractions import Fraction

import pytest
import sympy as sp

from proofs_checks._estimation import cosine_prior, prior_information, shrunken_iid_risk
from symshuffle import InputError
from symshuffle.base import Verdict
from symshuffle.base.numbers import less
from symshuffle.mechanisms import krr
from symshuffle.utility import AnchoredLaw, trace_frontier
from symshuffle.utility.estimation.canonical import worst_canonical_risk
from symshuffle.utility.estimation.lower_bounds import (
    bayes_risk,
    best_shrinkage_risk,
    minimax_sandwich,
    van_trees_bound,
)

F = Fraction


def test_prior_information():
    t, r = sp.symbols("t r", positive=True)
    assert prior_information(cosine_prior(t, r), t, -r, r) == sp.pi**2 / r**2
    assert prior_information(30 * t**2 * (1 - t) ** 2, t, 0, 1) == 40


def test_the_information_of_a_prior_is_positive():
    with pytest.raises(InputError, match="positive information"):
        van_trees_bound(F(3), F(0), dimension=2)


def test_the_sandwich_closes():
    trace = trace_frontier(3, F("1/1000")).trace.upper
    ratios = [minimax_sandwich(3, trace, n * 1000).ratio for n in (10**2, 10**4, 10**6, 10**8)]
    assert ratios == sorted(ratios)
    assert ratios[-1] > F("0.99")
    for n in (1, 10, 10**5):
        found = minimax_sandwich(3, trace, n)
        assert found.lower.upper <= found.upper.lower <= found.canonical.upper


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize(("k", "lam"), [(2, 3), (3, 4)])
def test_minimax_values_of_few_users_are_bracketed_by_a_bayes_risk_and_a_shrunken_estimate(k, lam, n):
    channel = krr().at(k=k, lam=lam).channel()
    law = AnchoredLaw.from_channel(channel)
    vertices = [tuple(F(int(i == j)) for j in range(k)) for i in range(k)]
    prior = [(vertex, F("9/10") / k) for vertex in vertices] + [((F(1, k),) * k, F("1/10"))]
    lower, upper = bayes_risk(channel, prior, n=n), best_shrinkage_risk(k, law.trace(), n)
    assert lower > 0
    assert less(upper, lower) is Verdict.FALSE
    assert less(upper, worst_canonical_risk(law, n=n, population="iid")[0]) is Verdict.TRUE


def test_best_shrinkage_is_attained():
    law = AnchoredLaw.from_channel(krr().at(k=5, lam=2).channel())
    value = best_shrinkage_risk(5, law.trace(), 4)
    constant, largest = 16 / law.trace(), F("4/5")
    factor = 4 * largest / (4 * largest + constant - largest)
    vertex = (F(1), *(F(0),) * 4)
    assert value == shrunken_iid_risk(law, vertex, n=4, factor=factor)
    assert value < F("16/5")


def test_bayes_risk_of_a_certain_composition_is_zero():
    assert bayes_risk(krr().at(k=2, lam=3).channel(), [((F("1/3"), F("2/3")), F(1))], n=3) == 0
    with pytest.raises(InputError, match="sum 1/2"):
        bayes_risk(krr().at(k=2, lam=3).channel(), [((F("1/3"), F("2/3")), F("1/2"))], n=3)


@pytest.mark.parametrize(("k", "trace"), [(1, F(1)), (3, F(0)), (3, F(7)), (3, math.inf)])
def test_sandwiches_need_a_trace_that_exists(k, trace):
    with pytest.raises(InputError):
        minimax_sandwich(k, trace, 10)
