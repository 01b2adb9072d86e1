from dataclasses import replace
from fractions import Fraction

import pytest

from symshuffle.base.choices import Population, Rigour
from symshuffle.base.errors import CertificateError, InputError
from symshuffle.channels.shuffled import shuffled_divergence
from symshuffle.utility.anchored import AnchoredLaw
from symshuffle.utility.estimation.canonical import worst_canonical_risk
from symshuffle.utility.frontiers.equivariant import response_mixture
from symshuffle.utility.frontiers.private_response import canonical_delta, plain_response, thinned_response

F = Fraction
TARGET = {"gamma": F("3/2"), "delta": F("1/100")}


@pytest.mark.parametrize("n", [1, 2, 4])
def test_delta_is_that_of_the_histograms(n):
    channel = response_mixture(3, [(F("2/3"), F(4))], [F("1/3")])
    pair = (0, *(0,) * (n - 1)), (1, *(0,) * (n - 1))
    exact = canonical_delta(3, n, lam=F(4), share=F("2/3"), gamma=F("6/5"), rigour=Rigour.EXACT)
    assert exact.exact == max(
        shuffled_divergence(channel, *pair, F("6/5")), shuffled_divergence(channel, *pair[::-1], F("6/5"))
    )


def test_the_answers_meet_the_target_and_thinning_is_never_worse():
    plain = plain_response(5, 20, **TARGET)
    found = thinned_response(5, 20, **TARGET, ratios=[plain.lam * F("5/4"), plain.lam * F("3/2")])
    for answer in (plain, found):
        answer.verify()
        assert answer.bracket.upper <= TARGET["delta"]
        assert float(answer) >= answer.bracket.upper
        assert answer.to_dict()["k"] == 5
        assert "delta" in repr(answer)
        assert answer.about in answer._repr_html_()
    assert found.risk(Population.FIXED) <= plain.risk(Population.FIXED)
    beyond = canonical_delta(5, 20, lam=plain.lam + F(1, 128), share=F(1), gamma=F("3/2"))
    assert beyond.lower > TARGET["delta"]


def test_signal_budget_and_risk_are_those_of_the_channel():
    plain = plain_response(4, 6, **TARGET)
    law = AnchoredLaw.from_channel(response_mixture(4, [(F("1/2"), plain.lam)], [F("1/2")]))
    half = replace(plain, share=F("1/2"))
    assert (half.budget, 12 * half.signal) == (law.pairwise_budget(), law.trace())
    assert half.risk(Population.IID) == worst_canonical_risk(law, n=6, population=Population.IID)[0]


def test_false_answers_are_refused():
    plain = plain_response(4, 6, **TARGET)
    with pytest.raises(CertificateError, match="target"):
        replace(plain, target=plain.bracket.lower / 2).verify()
    with pytest.raises(CertificateError, match="enclosure"):
        replace(plain, lam=plain.lam * 2).verify()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plain_response(4, 6, gamma=F("1/2"), delta=F("1/10")), "gamma"),
        (lambda: plain_response(4, 6, gamma=F(2), delta=F(1)), "delta"),
        (lambda: thinned_response(2, 6, gamma=F(2), delta=F("1/10")), "k = 2"),
        (lambda: canonical_delta(4, 6, lam=F(2), share=F(0), gamma=F(2)), "share"),
        (lambda: canonical_delta(4, 0, lam=F(2), share=F(1), gamma=F(2)), "n = 0"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_the_smallest_level_is_total_variation():
    found = plain_response(3, 6, gamma=F(1), delta=F("1/2"))
    assert canonical_delta(3, 6, lam=found.lam, share=F(1), gamma=F(1), rigour="ball").upper <= F("1/2")
