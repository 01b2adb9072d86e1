"""Extremal channels as cvxpy variables: certificates for linear models, refusals for the rest."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

from symshuffle.design import bayes_tradeoff, smoothed_point_masses
from symshuffle.design.modelling import ExtremalChannel
from symshuffle.errors import SolverFailure, Unsupported


def test_m_ary_testing_by_hand():
    family = ExtremalChannel(4, Fraction(2))
    weights = family.variable()
    # Guess inside the subset: the gain of a column is its largest entry, over m for the uniform prior.
    gain = (family.staircase.max(axis=1) / 4) @ weights
    model = family.certified(cp.Problem(cp.Minimize(1 - gain), family.constraints(weights)))
    assert model.value == Fraction(3, 5) == bayes_tradeoff(smoothed_point_masses(4, 1), 2).value.exact
    channel = family.exact_channel(model)
    assert smoothed_point_masses(4, 1).bayes_risk(channel)[0] == Fraction(3, 5)


def test_more_constraints_and_an_epigraph():
    family = ExtremalChannel(3, Fraction(3))
    weights = family.variable()
    load = family.matrix(weights).T @ np.arange(6)
    constraints = [*family.constraints(weights), weights[0] >= 0.05, weights[1] <= 0.15]
    model = family.certified(cp.Problem(cp.Minimize(cp.max(load)), constraints))
    problem = cp.Problem(cp.Minimize(cp.max(load)), constraints)
    assert float(model.value) == pytest.approx(problem.solve(solver=cp.HIGHS), abs=1e-9)
    assert family.channel(weights).num_inputs == 3


def test_refusals():
    family = ExtremalChannel(3, Fraction(3))
    weights = family.variable()
    base = family.constraints(weights)
    with pytest.raises(Unsupported, match="quadratic"):
        family.certified(cp.Problem(cp.Minimize(cp.sum_squares(weights)), base))
    with pytest.raises(Unsupported, match="not a linear"):
        family.certified(cp.Problem(cp.Maximize(cp.sum(cp.entr(weights))), base))
    with pytest.raises(Unsupported, match="not convex"):
        family.certified(cp.Problem(cp.Maximize(cp.sum_squares(weights)), base))
    with pytest.raises(SolverFailure, match="Infeasible"):
        family.certified(cp.Problem(cp.Minimize(cp.sum(weights)), [*base, weights[0] >= 2]))
    with pytest.raises(SolverFailure, match="nbounded"):
        family.certified(cp.Problem(cp.Minimize(cp.Variable()), base))
    with pytest.raises(Unsupported, match="m = 13"):
        ExtremalChannel(13, Fraction(2))
