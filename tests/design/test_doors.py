"""Doors of the geometry: closed forms as numbers, mechanisms of frontiers, displays."""

import math
from fractions import Fraction

import pytest

import symshuffle as ss
from symshuffle import Ball, InputError, Unsupported
from symshuffle.design import smoothed_point_masses
from symshuffle.design.decision.tradeoff import smallest_risk
from symshuffle.utility import AnchoredLaw, slope_constant, threshold_budget, tie_ratio, trace_frontier
from symshuffle.utility.frontiers.orbit import centre_orbit, orbit_mechanism, subset_orbit
from tests.shown import as_html

F = Fraction


def test_closed_forms_are_numbers_where_k_is_one():
    assert slope_constant(2) == F(1, 2)
    assert slope_constant(10) == F(45, 8)
    assert threshold_budget(5) == F(1, 4)
    root = math.sqrt(6)
    for found, expected in (
        (slope_constant(7), 42 / (1 + root) ** 2),
        (threshold_budget(7), (1 - 1 / root) ** 2),
        (tie_ratio(7, 1), math.sqrt(15)),
    ):
        assert isinstance(found, Ball)
        assert float(found) == pytest.approx(expected)
    for call in (
        lambda: slope_constant(1),
        lambda: threshold_budget(True),
        lambda: tie_ratio(5),
        lambda: tie_ratio(5, 3),
        lambda: tie_ratio(5, 0),
    ):
        with pytest.raises(InputError):
            call()


@pytest.mark.parametrize(("k", "budget"), [(4, F(1, 8)), (4, F(2)), (3, F(0)), (5, math.inf)])
def test_the_mechanism_of_a_frontier_has_its_law(k, budget):
    found = trace_frontier(k, budget)
    assert AnchoredLaw.from_channel(found.channel()) == found.law()
    if budget != math.inf:
        assert AnchoredLaw.from_channel(found.channel()).pairwise_budget() <= budget


def test_a_frontier_feeds_the_accountant_at_any_size():
    large = trace_frontier(10_000, F(1))
    bound = ss.delta(large.mechanism(), n=1000, eps=F(1, 2))
    assert 0 < bound.bracket.lower < 1
    small = trace_frontier(4, F(2))
    from_mechanism = ss.delta(small.mechanism(), n=4, exp_eps=F(6, 5), arithmetic="exact")
    from_channel = ss.delta(small.channel(), n=4, exp_eps=F(6, 5), arithmetic="exact")
    assert from_mechanism.bracket.upper == from_channel.bracket.upper
    with pytest.raises(Unsupported):
        large.channel()
    with pytest.raises(InputError):
        orbit_mechanism([subset_orbit(3, 1, F(2)), centre_orbit(4)])
    with pytest.raises(InputError):
        orbit_mechanism([subset_orbit(3, 1, F(2), F(1, 2))])


def test_displays_show_law_and_channel():
    assert "any order" in as_html(trace_frontier(4, F(2)))
    assert "action" in as_html(smallest_risk(smoothed_point_masses(3, F(1)), 2))
