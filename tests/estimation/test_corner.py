import itertools
import math
from fractions import Fraction

import pytest

from proofs_checks._estimation import (
    best_cube_side,
    cramer_rao_trace,
    cube_bound,
    cube_slope,
    fisher_information,
)
from symshuffle import Channel, InputError
from symshuffle.mechanisms.finite import half_block, krr
from symshuffle.utility import AnchoredLaw, bayes_risk
from symshuffle.utility.estimation.canonical import canonical_risk, inverse_trace
from symshuffle.utility.estimation.lower_bounds import (
    corner_van_trees,
    near_vertex_bound,
    sharp_cube_bound,
    two_regime_bound,
)

F = Fraction
RESPONSE = krr().at(k=3, lam=2).channel()
LAW = AnchoredLaw.from_channel(RESPONSE)
CHI = LAW.pairwise_budget()


def test_information_at_uniform_and_at_a_vertex():
    assert cramer_rao_trace(LAW, [F("1/3")] * 3, n=4) == inverse_trace(LAW) / 4
    vertex = cramer_rao_trace(LAW, [F(1), F(0), F(0)], n=1)
    assert vertex / (2 / CHI) == F("15/8")


def test_the_canonical_estimator_obeys_cramer_rao():
    for w in ([F("1/3")] * 3, [F("1/2"), F("1/4"), F("1/4")], [F("98/100"), F("1/100"), F("1/100")]):
        risk = canonical_risk(LAW, w, n=5, population="iid")
        assert cramer_rao_trace(LAW, w, n=5) <= risk
        assert near_vertex_bound(3, CHI, rho=1 - max(w), n=5) <= risk


def test_singular_information():
    law = AnchoredLaw.from_channel(half_block().at(k=4, lam=3).channel())
    assert cramer_rao_trace(law, [F("1/4")] * 4, n=1) == math.inf
    assert len(fisher_information(law, [F("1/4")] * 4)) == 4


def uniform_cube(k, h):
    """The prior of the cube argument: a corner, and a fair bit of height h for every other input."""
    prior = []
    for bits in itertools.product((0, 1), repeat=k - 1):
        moved = [h * bit for bit in bits]
        prior.append(((1 - sum(moved), *moved), F(1, 2 ** (k - 1))))
    return prior


@pytest.mark.parametrize("n", [1, 3, 6])
@pytest.mark.parametrize("h", [F("1/4"), F("1/8"), F("1/100")])
def test_cube_bounds_lie_below_the_bayes_risk_of_their_own_prior(n, h):
    exact = bayes_risk(RESPONSE, uniform_cube(3, h), n=n)
    assert cube_bound(3, CHI, n=n, h=h).upper <= exact
    assert sharp_cube_bound(3, CHI, n=n, h=h).upper <= exact


def test_van_trees_at_a_corner_loses_to_any_bayes_risk_of_its_cube():
    t = [F(j, 40) for j in range(1, 40)]
    weights = [F(round(10**6 * math.cos(math.pi * (2 * x - 1) / 2) ** 2)) for x in map(float, t)]
    total, h = sum(weights), F("1/3")
    channel = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
    chi = AnchoredLaw.from_channel(channel).pairwise_budget()
    prior = [((1 - h * x, h * x), w / total) for x, w in zip(t, weights, strict=True)]
    for n in (1, 10, 40):
        # the discretised cosine prior is close to the continuous one; its exact Bayes risk is above the bound
        assert corner_van_trees(2, chi, n=n, h=h).upper <= bayes_risk(channel, prior, n=n) * F("101/100")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sharp_cube_bound(3, CHI, n=2, h=F("1/2")), r"h = 1/2: expected a side in \(0, 1/2\)"),
        (lambda: corner_van_trees(3, F(0), n=2), "budget"),
        (lambda: near_vertex_bound(3, CHI, rho=F(1), n=2), "rho"),
        (lambda: two_regime_bound(1, CHI, n=2), "k = 1"),
        (lambda: two_regime_bound(3, 0.5, n=2), "budget"),
        (lambda: two_regime_bound(3, CHI, n=0), "n = 0"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize(("k", "chi", "n"), [(3, F(1), 1), (5, F(1, 10), 40), (100, F(2), 10**6)])
def test_no_side_of_a_cube_is_better_than_the_best_one(k, chi, n):
    side = best_cube_side(k, chi, n=n)
    assert cube_slope(k - 1, chi, n, side.lower) > 0 >= cube_slope(k - 1, chi, n, side.upper)
    best = sharp_cube_bound(k, chi, n=n, h=side.lower)
    sides = [F(j, 50 * (k - 1)) for j in range(1, 50)]
    assert all(sharp_cube_bound(k, chi, n=n, h=h).lower <= best.upper for h in sides)
    assert sharp_cube_bound(k, chi, n=n).upper >= best.lower * F(10**9 - 1, 10**9)
