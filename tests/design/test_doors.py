"""Doors of the geometry: closed forms as numbers, mechanisms of frontiers, arcs on the circle, laws on templates."""

import itertools
import math
from fractions import Fraction

import pytest
import sympy as sp

import symshuffle as ss
from symshuffle.base.choices import Rigour
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Ball, Exp, enclose
from symshuffle.design.decision.problems import smoothed_point_masses
from symshuffle.design.decision.tradeoff import bayes_tradeoff
from symshuffle.design.named.cardioid import cardioid_program
from symshuffle.design.named.cardioid_formula import cardioid_design, cardioid_tie
from symshuffle.design.parametric.walk import piece_around
from symshuffle.utility.anchored import AnchoredLaw
from symshuffle.utility.frontiers.caps import tie_ratio
from symshuffle.utility.frontiers.frontier import slope_constant, threshold_budget, trace_frontier
from symshuffle.utility.frontiers.orbit import centre_orbit, orbit_mechanism, subset_orbit

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
    from_mechanism = ss.delta(small.mechanism(), n=4, exp_eps=F(6, 5), rigour=Rigour.EXACT)
    from_channel = ss.delta(small.channel(), n=4, exp_eps=F(6, 5), rigour=Rigour.EXACT)
    assert from_mechanism.bracket.upper == from_channel.bracket.upper
    with pytest.raises(Unsupported):
        large.channel()
    with pytest.raises(InputError):
        orbit_mechanism([subset_orbit(3, 1, F(2)), centre_orbit(4)])
    with pytest.raises(InputError):
        orbit_mechanism([subset_orbit(3, 1, F(2), F(1, 2))])


def test_displays_show_law_and_channel():
    assert "any order" in trace_frontier(4, F(2))._repr_html_()
    assert "action" in bayes_tradeoff(smoothed_point_masses(3, F(1)), 2)._repr_html_()


@pytest.mark.parametrize("m", [3, 4, 5, 6])
def test_cardioid_agrees_with_the_program(m):
    program = cardioid_program(m, F(1, 2))
    for lam in (F(11, 10), F(2), F(5), F(20)):
        formula = sp.sympify(str(piece_around(program, lam).value).replace("lambda", "t"))
        found = cardioid_design(m, F(1, 2), lam)
        assert float(found) == pytest.approx(float(formula.subs("t", sp.Rational(lam.numerator, lam.denominator))))
        assert found.bracket.relative_width < F(1, 10**20)


@pytest.mark.parametrize("m", range(3, 11))
def test_arcs_earn_the_most(m):
    """Against all subsets: the largest gain per mass, for several levels."""
    points = [complex(math.cos(2 * math.pi * x / m), math.sin(2 * math.pi * x / m)) for x in range(m)]
    for lam in (1.001, 1.7, 3.0, 9.0, 50.0):
        best = max(
            (abs(sum(points[x] for x in subset)) / (s * lam + m - s), -s)
            for s in range(1, m)
            for subset in itertools.combinations(range(m), s)
        )
        found = cardioid_design(m, F(3, 4), F(lam))
        assert float(found) == pytest.approx(1 - 0.375 * (lam - 1) * best[0])
        if len(found.sizes) == 1:
            s = found.sizes[0]
            gain = math.sin(math.pi * s / m) / math.sin(math.pi / m) / (s * lam + m - s)
            assert gain == pytest.approx(best[0])


def test_cardioid_ties_and_large_circles():
    for m, s in ((7, 1), (12, 3), (1000, 20)):
        tie = cardioid_tie(m, s)
        assert cardioid_design(m, 1, tie.lower - F(1, 10**9)).sizes == (s + 1,)
        assert cardioid_design(m, 1, tie.upper + F(1, 10**9)).sizes == (s,)
    huge = cardioid_design(10**12, F(1, 2), Exp(F(1)))
    near = cardioid_design(10**4, F(1, 2), enclose(Exp(F(1))).lower)
    assert abs(huge.bracket.midpoint - near.bracket.midpoint) < F(1, 10**6)
    wide = cardioid_design(7, 1, 3, rel=1e-300)
    assert wide.bracket.relative_width <= F(1, 10**300)
    for call in (
        lambda: cardioid_design(2, 1, 3),
        lambda: cardioid_design(5, 0, 3),
        lambda: cardioid_design(5, 1, 1),
        lambda: cardioid_tie(5, 4),
    ):
        with pytest.raises(InputError):
            call()
