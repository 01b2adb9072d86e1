"""Optima and multipliers of models of cvxpy in rationals, against enumeration of all vertices."""

import random
from fractions import Fraction as F
from itertools import combinations

import cvxpy as cp
import numpy as np
import pytest

from symshuffle.design import ExtremalChannel
from symshuffle.design.decision.coefficients import recognise


def solved(matrix, rhs):
    """Solution of a square rational system; None if it is singular."""
    rows = [[*row, b] for row, b in zip(matrix, rhs, strict=True)]
    for i in range(len(rows)):
        pivot = next((r for r in range(i, len(rows)) if rows[r][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for r in range(len(rows)):
            if r != i and rows[r][i]:
                rows[r] = [x - rows[r][i] * y for x, y in zip(rows[r], rows[i], strict=True)]
    return [row[-1] for row in rows]


def largest(gain, equations, ends):
    """Largest gain over points of at least 0 with equations, by all bases."""
    best = None
    for basis in combinations(range(len(gain)), len(equations)):
        point = solved([[row[j] for j in basis] for row in equations], ends)
        if point is not None and min(point) >= 0:
            value = sum(gain[j] * x for j, x in zip(basis, point, strict=True))
            best = value if best is None else max(best, value)
    return best


def drawn_model(seed):
    """Level, gain and one more row of weights with its end, all rational, and whether it is minimised."""
    chance = random.Random(seed)
    lam = 1 + F(chance.randint(1, 40), chance.choice((1, 2, 3, 7, 12)))
    staircase = [[lam if y >> x & 1 else F(1) for x in range(3)] for y in range(1, 7)]
    parts = [F(chance.randint(-9, 9), chance.choice((1, 3, 7, 10, 11))) for _ in range(3)]
    gain = [sum(p * v for p, v in zip(parts, row, strict=True)) + F(chance.randint(0, 6), 9) for row in staircase]
    row = [F(chance.randint(0, 5), chance.choice((1, 3, 6))) for _ in gain]
    middle = 1 / (lam + 2)  # response to singletons and to their complements both have few of these weights
    end = sum(row) * middle * F(chance.randint(3, 9), 8)
    return lam, staircase, gain, row, end, chance.random() < 0.5


@pytest.mark.parametrize("seed", range(25))
def test_optimum_and_multipliers_are_those_of_the_rational_model(seed):
    lam, staircase, gain, row, end, minimised = drawn_model(seed)
    family = ExtremalChannel(3, lam=lam)
    weights = family.variable()
    load = np.array([float(v) for v in gain]) @ weights
    rows = [*family.constraints(weights), np.array([float(v) for v in row]) @ weights <= float(end)]
    problem = cp.Problem(cp.Minimize(load) if minimised else cp.Maximize(load), rows)
    sign = -1 if minimised else 1
    equations = [[*(one[x] for one in staircase), F(0)] for x in range(3)] + [[*row, F(1)]]
    best = largest([*(sign * v for v in gain), F(0)], equations, [F(1)] * 3 + [end])
    if best is None:
        return
    model = family.certified(problem)
    model.verify()
    assert model.value == sign * best == model.posed.exact
    channel, limit = model.duals
    # The Lagrangian of cvxpy: -sign * gain + channel * (S x - 1) + limit * (row x - end), at most 0 where x is free.
    assert limit >= 0
    assert sum(channel) + limit * end == best
    reduced = [
        sum(y * v for y, v in zip(channel, one, strict=True)) + limit * r - sign * g
        for one, r, g in zip(staircase, row, gain, strict=True)
    ]
    assert min(reduced) >= 0
    point = model.solution.primal()[:6]
    assert all(x == 0 or r == 0 for x, r in zip(point, reduced, strict=True))
    assert limit == 0 or sum(r * x for r, x in zip(row, point, strict=True)) == end
    assert rows[0].dual_value == pytest.approx([float(y) for y in channel])
    assert rows[1].dual_value == pytest.approx(float(limit))
    assert problem.value == pytest.approx(float(model.value))
    problem.solve(solver=cp.HIGHS)
    assert rows[1].dual_value >= -1e-9
    assert rows[0].dual_value.sum() + rows[1].dual_value * float(end) == pytest.approx(float(best))


@pytest.mark.parametrize("lam", [F(5, 3), "5/3"])
def test_coefficients_of_the_staircase_are_exact(lam):
    family = ExtremalChannel(3, lam=lam)
    weights = family.variable()
    gain = (family.staircase.max(axis=1) / 3) @ weights
    model = family.certified(cp.Problem(cp.Maximize(gain), family.constraints(weights)))
    assert model.value == F(5, 11)
    assert model.duals == ((F(5, 33),) * 3,)
    assert "lam = 5/3" in model.about


def test_a_double_is_the_level_that_its_decimal_shows():
    family = ExtremalChannel(3, lam=5 / 3)
    weights = family.variable()
    gain = (family.staircase.max(axis=1) / 3) @ weights
    model = family.certified(cp.Problem(cp.Maximize(gain), family.constraints(weights)))
    assert family.lam == F("1.6666666666666667")
    assert model.value == family.lam / (family.lam + 2)
    assert str(family.lam) in model.about


@pytest.mark.parametrize("sense", [cp.Minimize, cp.Maximize])
def test_signs_and_values_of_multipliers_are_those_of_the_solver(sense):
    family = ExtremalChannel(3, lam=F(3))
    weights = family.variable()
    load = family.matrix(weights).T @ np.array([1.0, 2.0, 5.0, 3.0, 7.0, 4.0])
    sign = 1 if sense is cp.Minimize else -1
    goal = sign * cp.max(sign * load) + 0.25
    rows = [*family.constraints(weights), weights[1:3] <= 0.25, weights[0] >= 0.04, cp.sum(weights) == 0.5]
    model = family.certified(problem := cp.Problem(sense(goal), rows))
    mine = [np.array(one.dual_value, dtype=float) for one in rows]
    for told, exact in zip(mine, model.duals, strict=True):
        assert told == pytest.approx(np.array(exact, dtype=float))
    problem.solve(solver=cp.HIGHS)
    assert problem.value == pytest.approx(float(model.value))
    for told, row in zip(mine, rows, strict=True):
        assert told == pytest.approx(np.asarray(row.dual_value, dtype=float), abs=1e-9)


def test_a_constraint_that_is_convex_has_its_multiplier():
    family = ExtremalChannel(3, lam=F(3))
    weights = family.variable()
    limit = cp.max(family.matrix(weights).T @ np.arange(6)) <= 2.5
    model = family.certified(cp.Problem(cp.Maximize(weights[0] + weights[5]), [*family.constraints(weights), limit]))
    mine = limit.dual_value
    assert float(model.duals[1]) == pytest.approx(float(mine))
    cp.Problem(cp.Maximize(weights[0] + weights[5]), [*family.constraints(weights), limit]).solve(solver=cp.HIGHS)
    assert float(mine) == pytest.approx(float(limit.dual_value), abs=1e-9)


def test_irrational_coefficients_are_rounded_and_their_effect_is_enclosed():
    """The optimum is linear in the scale of the objective, and the limit is on a part of it."""
    family = ExtremalChannel(3, lam=F(3))
    weights = family.variable()
    rows = [*family.constraints(weights), np.pi * weights[0] <= np.exp(-2)]
    model = family.certified(cp.Problem(cp.Maximize(np.sqrt(2) * cp.sum(weights[:3])), rows))
    model.verify()
    assert 0 < model.posed.width < F(1, 10**14)
    assert model.posed.lower <= model.value <= model.posed.upper
    assert model.posed.width in [model.posed.upper - model.posed.lower]
    worse = family.certified(cp.Problem(cp.Maximize(weights[0]), [*rows, np.pi * weights[1] == np.exp(-3)]))
    assert worse.posed is None
    assert "not enclosed" in worse.about


def test_all_models_within_the_tolerance_are_enclosed():
    """Models of other doubles nearby, each solved exactly as the shortest decimals of its coefficients."""
    family = ExtremalChannel(3, lam=F(3))
    weights = family.variable()

    def model(up):
        price = np.array([np.sqrt(s) for s in (2, 3, 5, 6, 7, 8)])
        limit = np.array([np.log(s) for s in (2, 3, 5, 6, 7, 8)])
        price, limit = (np.array([np.nextafter(v, v + up) for v in row]) for row in (price, limit))
        rows = [*family.constraints(weights), limit @ weights <= np.nextafter(np.log(3) * 0.7, 1 + up)]
        return family.certified(cp.Problem(cp.Maximize(price @ weights), rows))

    plain = model(0.0)
    for other in (model(1.0), model(-1.0)):
        assert other.value != plain.value
        assert plain.posed.lower <= other.value <= plain.posed.upper


@pytest.mark.parametrize("lam", [F(5, 3), F(7, 2), F(22, 7), F(1 << 100, 3**60)])
def test_products_and_means_with_the_level_are_recognised(lam):
    lam = max(lam, 1 / lam)
    for scale in (F(1), F(1, 3), F(2, 7), F(-5, 12)):
        assert recognise(float(lam) * float(scale), lam) == lam * scale
    for s in (1, 2):
        assert recognise((s * float(lam) + 3 - s) / 3, lam) == (s * lam + 3 - s) / 3
    for value in (F(1, 3), F(1, 10), F(-123456789, 10**6), F(0), F(10**9), F(1, 3000), F(2**15, 3)):
        assert recognise(float(value), lam) == value
    assert recognise(2**0.5, lam) is None
    assert recognise(float(F(1234567, 7654321)), lam) is None
