"""Extremal channels as cvxpy variables: certificates for linear models, refusals for the rest."""

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

from symshuffle import Exp, InputError, SolverFailure, Unsupported
from symshuffle.base.numbers import less
from symshuffle.design import ExtremalChannel, smoothed_point_masses
from symshuffle.design.decision.tradeoff import smallest_risk


def test_m_ary_testing_by_hand():
    family = ExtremalChannel(4, lam=Fraction(2))
    weights = family.variable()
    # Guess inside the subset: the gain of a column is its largest entry, over m for the uniform prior.
    gain = (family.staircase.max(axis=1) / 4) @ weights
    model = family.certified(cp.Problem(cp.Minimize(1 - gain), family.constraints(weights)))
    assert model.value == Fraction(3, 5) == smallest_risk(smoothed_point_masses(4, 1), 2).value.exact
    channel = family.exact_channel(model)
    assert smoothed_point_masses(4, 1).bayes_risk(channel)[0] == Fraction(3, 5)


def test_more_constraints_and_an_epigraph():
    family = ExtremalChannel(3, lam=Fraction(3))
    weights = family.variable()
    load = family.matrix(weights).T @ np.arange(6)
    constraints = [*family.constraints(weights), weights[0] >= 0.05, weights[1] <= 0.15]
    model = family.certified(cp.Problem(cp.Minimize(cp.max(load)), constraints))
    problem = cp.Problem(cp.Minimize(cp.max(load)), constraints)
    assert float(model.value) == pytest.approx(problem.solve(solver=cp.HIGHS), abs=1e-9)
    assert family.channel(weights).num_inputs == 3


def test_refusals():
    family = ExtremalChannel(3, lam=Fraction(3))
    weights = family.variable()
    base = family.constraints(weights)
    with pytest.raises(Unsupported, match="quadratic"):
        family.certified(cp.Problem(cp.Minimize(cp.sum_squares(weights)), base))
    with pytest.raises(Unsupported, match="not a linear"):
        family.certified(cp.Problem(cp.Maximize(cp.sum(cp.entr(weights))), base))
    with pytest.raises(Unsupported, match="not convex"):
        family.certified(cp.Problem(cp.Maximize(cp.sum_squares(weights)), base))
    with pytest.raises(SolverFailure, match=r"[Ii]nfeasible"):
        family.certified(cp.Problem(cp.Minimize(cp.sum(weights)), [*base, weights[0] >= 2]))
    with pytest.raises(SolverFailure, match="nbounded"):
        family.certified(cp.Problem(cp.Minimize(cp.Variable()), base))
    with pytest.raises(Unsupported, match=r"m = 13: 8190 variables.*compact form.*orbit form"):
        ExtremalChannel(13, lam=Fraction(2))


def test_level_by_budget_is_rounded_down_and_certified():
    family = ExtremalChannel(3, eps0=Fraction(1))
    assert less(family.lam, Exp(Fraction(1)))
    assert less(Exp(Fraction(1)), family.lam + Fraction(1, 2**95))
    weights = family.variable()
    model = family.certified(
        cp.Problem(cp.Maximize(family.staircase.max(axis=1) @ weights), family.constraints(weights))
    )
    risk = 1 - model.value / 3
    exact = smoothed_point_masses(3, 1)
    bracket = smallest_risk(exact, Exp(Fraction(1))).value
    assert risk == exact.bayes_risk(family.exact_channel(model))[0] == 2 / (family.lam + 2)
    assert 0 <= risk - bracket.lower < Fraction(1, 2**90)


@pytest.mark.parametrize(
    ("level", "message"),
    [
        ({}, "lam, eps0 are missing: expected exactly one"),
        ({"lam": Fraction(2), "eps0": Fraction(1)}, "lam, eps0 = 2, 1: expected exactly one"),
        ({"lam": Fraction(1)}, "lam = 1: expected a rational above 1"),
        ({"eps0": Fraction(0)}, "eps0 = 0: expected a number > 0"),
        ({"eps0": -1}, "eps0 = -1: expected a number > 0"),
        ({"lam": "x"}, "lam = x: expected a number"),
        ({"eps0": float("nan")}, "eps0 = nan: expected a finite number"),
        ({"eps0": Fraction(1, 2**120)}, "eps0 = .*: expected a rational of at least"),
    ],
)
def test_levels_out_of_range(level, message):
    with pytest.raises(InputError, match=message):
        ExtremalChannel(3, **level)
