"""Rounds of bounds whose lower ends are far off: no upper end of an answer rests on a lower end of one round."""

from dataclasses import replace
from fractions import Fraction as F

import pytest

from symshuffle import delta, epsilon, randomizer
from symshuffle.accountants.bounds.evaluate import Method
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.accountants.rounds import one_round, over_rounds

KRR = randomizer("krr").at(k=3, lam=3)
REVEALING = randomizer("erasure").at(k=3, p="9/10")


def asked(source, few, **named):
    """The answer for three rounds, its simpler forms, and whether something is told at all."""
    over_rounds._kept.cache_clear()
    found = (delta if "eps" in named else epsilon)(source, n=few, periods=3, rtol=0.9, **named)
    return found.bracket, dict(found.simpler)


def half(bracket):
    return replace(bracket, lower=bracket.upper / 2, aimed=1e-9)


@pytest.fixture
def unsure(monkeypatch):
    """Values of one round with lower ends at half of the upper ones, and known no closer."""
    exact = one_round.bound_at

    def wide(*given, **named):
        return half(exact(*given, **named))

    def change():
        monkeypatch.setattr(one_round, "bound_at", wide)

    yield change
    over_rounds._kept.cache_clear()


@pytest.mark.parametrize(
    "source, few, named",
    [
        (KRR, 20, {"eps": "1/2"}),
        (KRR, 20, {"delta": "1/100"}),
        (REVEALING, 20, {"eps": "1/2"}),
        (REVEALING, 4, {"delta": "1/2"}),
    ],
    ids=["delta", "epsilon", "revealed delta", "revealed epsilon"],
)
def test_upper_ends_stay_where_they_are(unsure, source, few, named):
    sound, simpler = asked(source, few, **named)
    unsure()
    found, again = asked(source, few, **named)
    assert sound.lower <= found.upper
    assert again.keys() == simpler.keys()
    for name, value in simpler.items():
        assert again[name] >= value * F(99, 100)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("target", [F(1, 10), F(1, 100)], ids=str)
def test_the_eps_of_one_round_meets_its_target(unsure, target, wide):
    """Also where levels are known already that meet it by their lower ends only."""
    reduced = reduction(KRR)
    if wide:
        unsure()
    part = one_round.OneRound(reduced, 20, 1, Method(arithmetic="ball"))
    for eps in (F(1, 10), F(1, 3), F(1, 2)):
        part.values(eps, 1e-2)
    found = part.smallest(target)
    assert delta(KRR, n=20, eps=found, arithmetic="ball").bracket.lower <= target
    assert part.variation >= delta(KRR, n=20, eps=0).bracket.lower


def test_what_a_round_reveals_is_between_its_ends(unsure):
    """Of the erasure channel a tenth is revealed, to each of several users."""
    truth = delta(REVEALING, n=4, eps=20).bracket
    unsure()
    part = one_round.OneRound(reduction(REVEALING), 4, 1, Method(arithmetic="ball"))
    for low, high in part.revealed():
        assert low <= truth.upper and truth.lower <= high
        assert low < truth.lower * F(3, 4)


def test_simpler_bounds_are_probabilities():
    over_rounds._kept.cache_clear()
    found = delta(REVEALING, n=20, periods=20, eps=1, rtol=0.9)
    assert dict(found.simpler)["basic"] == 1
    assert all(0 <= value <= 1 for _, value in found.simpler)
