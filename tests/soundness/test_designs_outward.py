"""Designs and comparisons written and certified by the end that proves them, of values that are known by two ends."""

from dataclasses import replace
from fractions import Fraction as F
from functools import cache
from types import SimpleNamespace

import pytest

from symshuffle import Exp, NotDecided
from symshuffle.accountants.deployment.model import UNSAID
from symshuffle.base.numbers import enclose
from symshuffle.base.results import Bracket
from symshuffle.design.comparison import branch_and_bound
from symshuffle.design.shuffled import best
from symshuffle.design.shuffled.best import best_shuffled
from symshuffle.utility.frontiers.orbit import subset_orbit
from tests.comparison.test_certified import BUDGET, CENTRAL, LEVEL, matched_risk, rivals
from tests.fewbits import FINE, few_bits


def between(low, high):
    return Bracket(F(low), F(high), "ball", "given", "")


@cache
def design():
    return best_shuffled(2, n=1, exp_eps="5/4", delta="1/10", lam_cap=4)


@pytest.mark.parametrize(
    "low, high", [(F(1, 3), F(2, 3)), (F(1, 7 * 10**9), F(1, 3 * 10**9)), (F(0), F(10, 7))], ids=str
)
def test_what_a_design_writes_is_certified(low, high):
    found = design()
    attained = replace(found.epsilon.attained, lower=low)
    epsilon = replace(found.epsilon, bracket=between(low, high), attained=attained)
    shown = replace(found, delta=replace(found.delta, bracket=between(low, high)), epsilon=epsilon).to_dict()
    assert F(shown["certified_delta"]) >= high and F(shown["certified_eps"]) >= high
    assert F(shown["attained_eps"]) <= low
    assert F(shown["risk"]) == found.risk and F(shown["upper"]) == found.upper
    assert F(shown["least_risk"]) == found.least_risk <= found.risk
    assert F(found.lines.number.split()[1]) >= found.risk


def test_a_design_meets_its_target_by_the_upper_end(monkeypatch):
    orbits, ends = (subset_orbit(4, 1, F(2)),), []
    monkeypatch.setattr(best, "delta_bound", lambda *_, **__: SimpleNamespace(bracket=ends.pop(0)))
    ends[:] = [between(0, F(1, 10)), between(F(1, 40), F(1, 20))]
    assert best._certified([orbits, orbits], UNSAID.with_(n=5), F(5, 4), F(1, 20))[1].bracket == between(
        F(1, 40), F(1, 20)
    )
    for known in ([between(F(1, 100), F(1, 8))], [between(0, F(1, 8)), between(F(1, 50), F(1, 4))]):
        ends[:] = known
        with pytest.raises(NotDecided) as caught:
            best._certified([orbits] * len(known), UNSAID.with_(n=5), F(5, 4), F(1, 20))
        assert "0.125" in str(caught.value)


@pytest.mark.parametrize("bits", [6, 20])
def test_the_ratio_that_a_search_asks_for_is_below_the_level(bits):
    for order in (Exp(F(1, 3)), Exp(F(1, 10**6)), F(5, 4), F(10**9 + 1, 10**9)):
        with few_bits(bits):
            found = best._below(order)
        assert found <= (order if isinstance(order, F) else enclose(order, FINE).lower)


@pytest.mark.parametrize("unit", [1, 16, 1000])
@pytest.mark.parametrize("given", [BUDGET, LEVEL, CENTRAL], ids=["budget", "level", "central"])
def test_a_share_that_is_rounded_excludes_nobody_with_less_risk(monkeypatch, given, unit):
    """The share of messages that show the input, in units that are large."""
    monkeypatch.setitem(branch_and_bound.Rivals._level.__kwdefaults__, "unit", unit)
    risk = matched_risk("olh", 4, 40, given, (("g", 4),))
    search = rivals("olh", 4, 40, given, risk * F(1001, 1000))
    for box in (((4, 4), None), ((3, 9), None), ((4, None), None)):
        assert not search.excludes(box)
