"""Concave risks at vertices: a Bayes risk, and one that no linear program covers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.channels.channel import Channel
from symshuffle.design.decision.problems import smoothed_point_masses
from symshuffle.design.decision.tradeoff import bayes_tradeoff
from symshuffle.design.decision.vertices import minimise_concave
from symshuffle.geometry.groups import cyclic_group, symmetric_group

LAM = Fraction(3)
PROBLEM = smoothed_point_masses(4, Fraction(2, 3))


def bayes(channel: Channel) -> Fraction:
    return PROBLEM.bayes_risk(channel)[0]


def test_bayes_risk_with_and_without_symmetry():
    exact = bayes_tradeoff(PROBLEM, LAM).value.exact
    for group in (None, cyclic_group(4), symmetric_group(4)):
        value, channel = minimise_concave(bayes, 4, LAM, group=group)
        assert value == exact == bayes(channel)


def test_a_concave_function_of_a_bayes_risk():
    value, channel = minimise_concave(lambda c: -((1 - bayes(c)) ** 2) + 1, 4, LAM)
    assert value == 1 - (1 - bayes(channel)) ** 2


def test_refusals():
    with pytest.raises(Unsupported, match="m = 7: more than"):
        minimise_concave(bayes, 7, LAM)
    with pytest.raises(InputError, match="group"):
        minimise_concave(bayes, 4, LAM, group=cyclic_group(5))
