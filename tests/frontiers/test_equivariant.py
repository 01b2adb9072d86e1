from fractions import Fraction

import pytest

from proofs_checks.alphabets._equivariant import response_mixture
from symshuffle import InputError, Unsupported
from symshuffle.mechanisms.finite import augmented_randomized_response
from symshuffle.utility import AnchoredLaw, worst_canonical_risk
from symshuffle.utility.frontiers.certificate import orbit_mixture
from symshuffle.utility.frontiers.equivariant import matched_risk, optimal_equivariant_risk, thinning_gain
from symshuffle.utility.frontiers.orbit import Orbit

F = Fraction


def test_the_low_budget_optimum_is_attained_by_augmented_response():
    bracket, found = optimal_equivariant_risk(5, F("1/8"), n=3, population="fixed")
    law = AnchoredLaw.from_channel(augmented_randomized_response().at(k=5, p="1/2", lam=2).channel())
    found.verify()
    assert bracket.exact == worst_canonical_risk(law, n=3, population="fixed")[0]
    assert law.pairwise_budget() == F("1/8")


def test_calibrated_response_is_worse_below_the_threshold_and_optimal_above():
    assert thinning_gain(10, F("3/22")).lower > F("1.0315")
    above = thinning_gain(10, F(2))
    assert above.lower == 1
    assert above.upper < 1 + F(1, 10**15)


def test_no_limit_on_the_number_of_inputs():
    k = 10**9
    bracket, found = optimal_equivariant_risk(k, F("1/10"), n=10**6, population="fixed")
    assert 0 < bracket.lower <= bracket.upper
    assert bracket.relative_width < F(1, 10**12)
    assert found.k == k
    assert matched_risk(k, 1, F("1/10"), n=10**6, population="fixed").upper > bracket.lower


def test_mixtures_of_responses_match_orbits():
    channel = response_mixture(3, [(F("1/2"), F(2)), (F("1/4"), F(1))], [F("1/8"), F("1/8")])
    high = Orbit(F("1/2"), ((1, F("3/2")), (2, F("3/4"))))
    flat = Orbit(F("1/2"), ((3, F(1)),))
    assert AnchoredLaw.from_channel(channel) == orbit_mixture([high, flat])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: optimal_equivariant_risk(5, F(0), n=1, population="iid"), "budget = 0"),
        (
            lambda: optimal_equivariant_risk(10, F("1/2"), n=1, population="iid", lam_cap=F(2)),
            r"budget = 1/2: expected a number in \(0, 0.2857142\]",
        ),
    ],
)
def test_refusals_are_one_line(call, message):
    with pytest.raises(InputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_large_laws_are_not_written_out():
    with pytest.raises(Unsupported, match="k = 13"):
        orbit_mixture([Orbit(F(1), ((13, F(1)),))])
