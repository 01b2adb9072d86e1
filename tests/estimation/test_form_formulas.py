"""Forms on the simplex and lower bounds on risks, by hand: every identity of the forms, every case of the bounds."""

import dataclasses
import itertools
import math
from fractions import Fraction as F

import pytest

from symshuffle import CertificateError, Channel, InputError, Unsupported
from symshuffle.choices import Population
from symshuffle.estimation import simplex
from symshuffle.estimation.canonical import isotropic_risk, project_on_simplex
from symshuffle.estimation.lower_bounds import (
    bayes_risk,
    best_shrinkage_risk,
    minimax_sandwich,
    van_trees_bound,
)
from symshuffle.estimation.simplex import (
    add,
    bernstein_coefficients,
    dirichlet_bayes_risk,
    dirichlet_mean,
    histogram_forms,
    largest_value,
    linear,
    multiply,
    risk_form,
    value_at,
)
from symshuffle.estimation.worst_risk import _worst

COIN = Channel.from_rows([["3/4", "1/4"], ["1/3", "2/3"]])


def test_forms_are_polynomials():
    left, right = linear([F(1), F(-2)]), linear([F(3), F(0)])
    assert left == {(1, 0): 1, (0, 1): -2} and right == {(1, 0): 3}
    assert multiply(left, right) == {(2, 0): 3, (1, 1): -6}
    assert multiply(left, left) == {(2, 0): 1, (1, 1): -4, (0, 2): 4}
    total = dict(left)
    add(total, right, F(-1, 3))
    assert total == {(1, 0): 0, (0, 1): -2}
    assert value_at({(2, 1): F(5), (0, 3): F(-1)}, (F(1, 2), F(1, 3))) == F(5, 12) - F(1, 27)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_probabilities_of_histograms_at_a_point(n):
    """At a composition the form is the multinomial probability of its mixture."""
    w = (F(2, 5), F(3, 5))
    mixture = [sum(a * row[y] for a, row in zip(w, COIN.rows, strict=True)) for y in range(2)]
    forms = histogram_forms(COIN, n)
    assert set(forms) == {(c, n - c) for c in range(n + 1)}
    for (c, d), form in forms.items():
        assert all(sum(exponent) == n for exponent in form)
        assert value_at(form, w) == math.comb(n, c) * mixture[0] ** c * mixture[1] ** d


def test_means_under_dirichlet_priors():
    """Under (1, 1) the mean of x^a y^b is a! b!/(a + b + 1)!; under (2, 3) that of x is 2/5, of x y 6/30."""
    for a, b in itertools.product(range(3), repeat=2):
        expected = F(math.factorial(a) * math.factorial(b), math.factorial(a + b + 1))
        assert dirichlet_mean({(a, b): F(7)}, [F(1), F(1)]) == 7 * expected
    assert dirichlet_mean({(1, 0): F(1), (0, 1): F(1)}, [F(2), F(3)]) == 1
    assert dirichlet_mean({(1, 1): F(1)}, [F(2), F(3)]) == F(1, 5)


def test_bayes_risks_of_one_user_by_hand():
    """Under the uniform prior on two inputs: twice the variance 1/12, less what the message explains of it."""
    mass = [F(1, 2) * (COIN.rows[0][y] + COIN.rows[1][y]) for y in range(2)]
    first = [COIN.rows[0][y] * F(1, 3) + COIN.rows[1][y] * F(1, 6) for y in range(2)]  # E x^2 = 1/3, E x(1 - x) = 1/6
    explained = sum(a * a / m for a, m in zip(first, mass, strict=True))
    expected = 2 * (F(1, 3) - explained)
    assert dirichlet_bayes_risk(COIN, [F(1), F(1)], n=1) == expected
    for alpha in ([F(1)], [F(1), F(0)], [F(1), F(-1)]):
        with pytest.raises(InputError, match=r"^alpha"):
            dirichlet_bayes_risk(COIN, alpha, n=1)


def test_bayes_risks_under_two_compositions_by_hand():
    """Masses 1/3, 2/3 on the two corners: the posterior of the first corner after each message."""
    prior = [((F(1), F(0)), F(1, 3)), ((F(0), F(1)), F(2, 3))]
    risk = F(0)
    for y in range(2):
        joint = [F(1, 3) * COIN.rows[0][y], F(2, 3) * COIN.rows[1][y]]
        risk += 2 * joint[0] * joint[1] / sum(joint)
    assert bayes_risk(COIN, prior, n=1) == risk
    assert bayes_risk(COIN, prior, n=2) < risk
    for masses in ((F(1, 3), F(2, 3) + F(1, 10**9)), (F(4, 3), F(-1, 3))):
        with pytest.raises(InputError, match=r"^prior"):
            bayes_risk(COIN, [(w, mass) for (w, _), mass in zip(prior, masses, strict=True)], n=1)
    assert bayes_risk(COIN, [*prior, ((F(1, 2), F(1, 2)), F(0))], n=1) == risk


def test_the_risk_of_an_estimator_as_a_form():
    estimates = {(1, 0): (F(2, 3), F(1, 3)), (0, 1): (F(1, 5), F(4, 5))}
    form = risk_form(histogram_forms(COIN, 1), estimates)
    w = (F(2, 5), F(3, 5))
    expected = F(0)
    for y, t in enumerate(estimates.values()):
        chance = w[0] * COIN.rows[0][y] + w[1] * COIN.rows[1][y]
        expected += chance * sum((a - b) ** 2 for a, b in zip(t, w, strict=True))
    assert value_at(form, w) == expected
    assert all(sum(exponent) == 3 for exponent in form)


def test_forms_that_are_too_large(monkeypatch):
    """Three histograms of two messages, three monomials of degree two."""
    monkeypatch.setattr(simplex, "LARGEST_MODEL", 9)
    histogram_forms(COIN, 2)
    monkeypatch.setattr(simplex, "LARGEST_MODEL", 8)
    with pytest.raises(Unsupported, match="about 9 terms"):
        histogram_forms(COIN, 2)


def test_bernstein_coefficients_by_hand():
    """x^2 + 6 x y: 1 at x^2, 6/2 at xy, 0 at y^2."""
    assert bernstein_coefficients({(2, 0): F(1), (1, 1): F(6)}, 2, 2) == {(2, 0): 1, (1, 1): 3, (0, 2): 0}
    found = bernstein_coefficients({(1, 1, 1): F(1)}, 3, 3)
    assert found[1, 1, 1] == F(1, 6) and len(found) == 10


def test_halves_of_a_cell_show_the_same_form():
    """Bernstein coefficients on a half, evaluated there, give the form at the point of the whole cell."""
    form = {(3, 0): F(2), (2, 1): F(-1), (0, 3): F(5), (1, 2): F(1, 3)}
    whole = bernstein_coefficients(form, 3, 2)
    kept_first, kept_second = simplex._halve(whole, 3, 0, 1)
    for t in (F(0), F(1, 3), F(1)):
        for half, corners in ((kept_first, ((1, 0), (F(1, 2), F(1, 2)))), (kept_second, ((F(1, 2), F(1, 2)), (0, 1)))):
            inner = sum(math.comb(3, a) * c * (1 - t) ** a * t**b for (a, b), c in half.items())
            point = [(1 - t) * x + t * y for x, y in zip(*corners, strict=True)]
            assert inner == value_at(form, point)


@pytest.mark.parametrize(
    ("form", "value", "point"),
    [
        ({(1, 1): F(1)}, F(1, 4), (F(1, 2), F(1, 2))),
        ({(2, 0): F(3), (0, 2): F(1)}, F(3), (F(1), F(0))),
        ({(2, 0): F(-1), (0, 2): F(-1)}, F(-1, 2), (F(1, 2), F(1, 2))),
        ({(1, 1, 0): F(1), (0, 0, 2): F(1, 8)}, F(1, 4), (F(1, 2), F(1, 2), F(0))),
        ({(2, 1): F(1)}, F(4, 27), None),
    ],
)
def test_largest_values_by_hand(form, value, point):
    bracket, where = largest_value(form, gap=F(1, 100))
    assert bracket.lower <= value <= bracket.upper <= bracket.lower + F(1, 100)
    assert value_at(form, where) == bracket.lower and sum(where) == 1
    assert point is None or where == point
    for gap in (F(0), F(-1)):
        with pytest.raises(InputError, match=r"^gap"):
            largest_value(form, gap=gap)


@pytest.mark.parametrize(
    ("sizes", "iid", "fixed"),
    [
        # w = (x, 1 - x): 4x + 2(1 - x) - x^2 - (1 - x)^2 + 1/2 is largest at x = 1
        ((4, 2), F(7, 2), F(7, 2)),
        # equal sizes: 2 - 1/2 + 1/2 at the uniform composition
        ((2, 2), F(2), F(3, 2)),
        # 2 + x - x^2 - (1 - x)^2 + 1/2 is largest at x = 3/4: 2 + 3/4 - 9/16 - 1/16 + 1/2
        ((3, 2), F(21, 8), F(5, 2)),
    ],
)
def test_worst_compositions_by_hand(sizes, iid, fixed):
    sizes = tuple(map(F, sizes))
    value, w = _worst(sizes, 2, Population.IID)
    assert value == iid / 2 and sum(w) == 1
    grid = max(x * sizes[0] + (1 - x) * sizes[1] - x * x - (1 - x) ** 2 + F(1, 2) for x in (F(j, 8) for j in range(9)))
    assert grid == iid
    assert _worst(sizes, 2, Population.FIXED) == (fixed / 2, (1, 0))


def test_projections_by_hand():
    assert project_on_simplex([F(1, 2), F(1, 2)]) == (F(1, 2), F(1, 2))
    assert project_on_simplex([F(2), F(1), F(0)]) == (1, 0, 0)
    assert project_on_simplex([F(1), F(1, 2), F(-1)]) == (F(3, 4), F(1, 4), 0)
    assert project_on_simplex([F(0)] * 3) == (F(1, 3),) * 3


def test_van_trees_by_hand():
    assert van_trees_bound(F(3), F(1), dimension=2) == 1
    assert van_trees_bound(F(0), F(1, 2), dimension=1) == 2
    for dimension, prior in ((0, F(1)), (1, F(0)), (1, F(-1))):
        with pytest.raises(InputError):
            van_trees_bound(F(3), prior, dimension=dimension)


@pytest.mark.parametrize(
    ("trace", "n", "value"),
    [
        # k = 2, M = 1/2, K = 1/T; T = 1/2: noise 3/2 at least sqrt(4)/2: M noise/(nM + noise)
        (F(1, 2), 4, F(3, 4) / F(7, 2)),
        (F(1), 4, F(1, 9)),  # noise 1/2 below 1: K/(1 + 2)^2
        (F(2, 3), 4, F(1, 2) / 3),  # noise 1: both formulas agree
        (F(2), 1, F(1, 8)),
        (F(2, 5), 16, F(1, 10)),  # noise 2 at 4 * 1/2: equal; (5/2)/25
    ],
)
def test_the_best_shrinkage_by_hand(trace, n, value):
    assert best_shrinkage_risk(2, trace, n) == value
    worst = []
    for a in (F(j, 60) for j in range(61)):
        noise = isotropic_risk(2, trace, population="iid")
        worst.append(max(a * a / n * (noise - b) + (1 - a) ** 2 * b for b in (F(0), F(1, 2))))
    assert value <= min(worst) <= value * F(101, 100)


def test_shrinkage_by_an_irrational_root():
    found = best_shrinkage_risk(2, F(2), 3)
    assert float(found) == pytest.approx(0.5 / (1 + math.sqrt(3)) ** 2, rel=1e-15)


def test_isotropic_risks_and_traces_that_exist():
    assert isotropic_risk(3, F(2), population="iid") == 2 and isotropic_risk(3, 2, population="fixed") == F(4, 3)
    assert isotropic_risk(3, F(6), population="fixed") == 0 and isotropic_risk(3, 0, population="iid") == math.inf
    for trace in (F(-1, 10**9), 6 + F(1, 10**9)):
        with pytest.raises(InputError, match=r"^trace"):
            isotropic_risk(3, trace, population="iid")


def test_each_bracket_of_the_sandwich_by_its_formula():
    """k = 3, T = 2, n = 50: radius r in the answer, three closed forms in doubles."""
    found = minimax_sandwich(3, F(2), 50)
    found.verify()
    r = float(found.radius)
    assert 0 < r < 1 / (2 * math.sqrt(3))
    lower = 4 / (50 * 2 / (1 - r * r * 12) + 2 * math.pi**2 / r**2)
    assert float(found.lower.upper) == pytest.approx(lower, rel=1e-12)
    assert float(found.canonical.upper) == pytest.approx(2 / 50, rel=1e-12)
    assert found.ratio == found.lower.lower / found.canonical.upper
    assert (found.bracket.lower, found.bracket.upper) == (found.lower.lower, found.upper.upper)
    for change, place in (
        ({"radius": F(0)}, "radius"),
        ({"radius": F(-1, 5)}, "radius"),
        ({"radius": F(2887, 10000)}, "radius"),  # 1/(2 sqrt 3) = 0.28867..
        ({"users": 51}, "lower"),
        ({"canonical": found.upper}, "canonical"),
        ({"upper": found.lower}, "upper"),
    ):
        with pytest.raises(CertificateError, match=f"at {place}"):
            dataclasses.replace(found, **change).verify()
    for trace in (F(6), F(1, 10**6)):
        minimax_sandwich(3, trace, 1).verify()
    for trace in (F(0), F(6) + F(1, 10**9)):
        with pytest.raises(InputError, match=r"^trace"):
            minimax_sandwich(3, trace, 1)
