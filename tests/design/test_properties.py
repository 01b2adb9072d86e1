"""Property testers: planted counterexamples are found, true properties survive, and the report never claims a proof."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from symshuffle.base.errors import InputError
from symshuffle.channels.channel import Channel
from symshuffle.design.decision.channel_risk import minimax_risk
from symshuffle.design.decision.problems import smoothed_point_masses
from symshuffle.design.decision.properties import Property, examine, mix_channels
from symshuffle.geometry.extremal import gather
from symshuffle.geometry.groups import symmetric_group

PROBLEM = smoothed_point_masses(3, Fraction(3, 4))


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def bayes(channel: Channel) -> Fraction:
    return PROBLEM.bayes_risk(channel)[0]


def minimax(channel: Channel) -> Fraction:
    return minimax_risk(PROBLEM, channel).value.lower


@pytest.mark.parametrize("which", [Property.DPI, Property.ADDITIVE, Property.QUASI_CONVEX, Property.CONCAVE])
def test_bayes_risk_has_all_properties(which):
    report = examine(bayes, which, num_inputs=3, rng=rng(), trials=100)
    assert report.counterexample is None
    assert str(report).endswith("none found in 100 of 100")


def test_minimax_risk_is_neither_additive_nor_concave():
    for which in (Property.DPI, Property.QUASI_CONVEX):
        assert examine(minimax, which, num_inputs=3, rng=rng(), trials=25).counterexample is None
    for which in (Property.ADDITIVE, Property.CONCAVE):
        found = examine(minimax, which, num_inputs=3, rng=rng(), trials=60).counterexample
        assert found is not None
        if which is Property.CONCAVE:
            combined = mix_channels(found.channels[:2], found.weights)
            assert combined == found.channels[2]
            assert minimax(combined) == found.right < found.left


def test_invariance():
    group = symmetric_group(3)
    assert examine(bayes, Property.INVARIANT, num_inputs=3, rng=rng(), group=group).counterexample is None
    skewed = replace(PROBLEM, prior=(Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)))
    report = examine(lambda c: skewed.bayes_risk(c)[0], Property.INVARIANT, num_inputs=3, rng=rng(), group=group)
    assert "violated" in str(report)
    with pytest.raises(InputError, match="group"):
        examine(bayes, Property.INVARIANT, num_inputs=3, rng=rng())


def test_planted_counterexamples_are_found():
    def outputs(channel: Channel) -> Fraction:
        return -Fraction(gather(channel).num_outputs)

    report = examine(outputs, Property.ADDITIVE, num_inputs=3, rng=rng())
    assert report.counterexample is not None
    grows = examine(lambda c: -outputs(c), Property.DPI, num_inputs=3, rng=rng())
    assert grows.counterexample is not None
    assert grows.decided <= grows.trials


def test_mixing_needs_common_outputs():
    with pytest.raises(InputError, match="outputs"):
        mix_channels([Channel.from_rows([[1]]), Channel.from_rows([["1/2", "1/2"]])], [Fraction(1, 2)] * 2)
