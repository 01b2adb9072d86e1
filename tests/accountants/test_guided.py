"""Inverses start from the Gaussian limit: they need few evaluations, and find what a plain search finds."""

import math
from fractions import Fraction
from functools import cache

import pytest

from symshuffle import Rigour, mechanism
from symshuffle.accountants import bounds, experiments, solve
from symshuffle.accountants.gaussian_profile import distance, level, log_profile
from symshuffle.accountants.inverses import solve_eps0, solve_n
from symshuffle.accountants.reduction import reduction
from symshuffle.accountants.search import smallest_meeting
from symshuffle.accountants.solve import epsilon
from symshuffle.mechanisms.continuous import Laplace
from symshuffle.numbers import Exp

MOST = 9
OPEN = {
    "krr": lambda: mechanism("krr").at(k=10),
    "subset-selection": lambda: mechanism("subset-selection").at(k=16, s=4),
    "rappor": lambda: mechanism("rappor").at(D=8),
    "laplace": lambda: Laplace(Exp(Fraction(1))),
}
BUDGETS = ("0.1", "1", "4")
DELTAS = ("1e-4", "1e-8", "1e-12")


@cache
def fixed(name, eps0):
    if name == "laplace":
        return reduction(Laplace(Exp(Fraction(eps0))))
    return reduction(OPEN[name]().at(eps0=eps0))


@pytest.fixture
def count(monkeypatch):
    """How often delta was evaluated, whatever the engine."""
    found, plain = [], bounds.bound_at

    def counted(source, n, order, request):
        found.append(request.rigour)
        return plain(source, n, order, request)

    monkeypatch.setattr(bounds, "bound_at", counted)
    monkeypatch.setattr(experiments, "bound_at", counted)
    return found


# Laplace's law has a continuous part: at few users each value takes a second, and one case stands for them.
LEVELS = [
    (name, eps0, n, delta)
    for name in OPEN
    for eps0 in BUDGETS
    for n in (10**2, 10**4, 10**6, 10**9)
    for delta in DELTAS
    if (name != "laplace" or n >= 10**6 or (n, eps0, delta) == (100, "4", "1e-8"))
]


@pytest.mark.parametrize(("name", "eps0", "n", "delta"), LEVELS)
def test_epsilon_takes_few_evaluations(count, name, eps0, n, delta):
    found = epsilon(fixed(name, eps0), n=n, delta=delta).bracket
    assert len(count) <= MOST
    assert found.width <= Fraction(1, 10**6) * found.upper


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("n", [10**2, 10**4, 10**6, 10**9])
@pytest.mark.parametrize("eps", ["1", "0.1", "0.01"])
@pytest.mark.parametrize("name", ["krr", "subset-selection", "rappor"])
def test_a_budget_takes_few_evaluations(count, name, eps, n, delta):
    found = solve_eps0(OPEN[name](), n=n, eps=eps, delta=delta).bracket
    assert len(count) <= MOST
    assert found.width <= Fraction(1, 10**6) * found.upper


USERS = [
    (name, eps0, share, delta)
    for name, shares in {"krr": ("0.5", "0.1", "0.01"), "rappor": ("0.5", "0.01"), "laplace": ("0.1",)}.items()
    for eps0 in BUDGETS
    for share in shares
    for delta in DELTAS
]


@pytest.mark.parametrize(("name", "eps0", "share", "delta"), [*USERS, ("laplace", "1", "0.01", "1e-12")])
def test_users_take_few_evaluations(count, name, eps0, share, delta):
    found = solve_n(fixed(name, eps0), eps=Fraction(eps0) * Fraction(share), delta=delta).bracket
    assert len(count) <= MOST
    assert found.width == 1


def test_balls_certify_both_ends_and_no_more(count):
    epsilon(fixed("krr", "1"), n=10**6, delta="1e-6", rigour=Rigour.BALL)
    assert len(count) <= MOST
    assert count.count(Rigour.BALL) == 2


@pytest.mark.parametrize(("eps0", "n", "delta"), [("1", 100, "1e-6"), ("4", 100, "1e-8"), ("0.1", 10**6, "1e-10")])
def test_the_plain_search_agrees(eps0, n, delta):
    reduced = fixed("krr", eps0)
    guided = epsilon(reduced, n=n, delta=delta).bracket
    plain = smallest_meeting(
        lambda eps, width: solve.delta(reduced, n=n, eps=eps, rel=width).bracket, Fraction(delta), 1e-6
    )
    assert guided.lower <= plain.meets and plain.above <= guided.upper


@pytest.mark.parametrize("mu", [1e-6, 1e-2, 0.99, 1.01, 3.0])
@pytest.mark.parametrize("ratio", [0.0, 0.5, 5.0, 20.0, 40.0])
def test_the_profile_of_two_gaussians(mu, ratio):
    """Against mpmath, on both sides of either change of formula, and its two inverses."""
    import mpmath

    eps = mu * ratio
    with mpmath.workdps(60):
        a, b = mpmath.mpf(eps) / mu - mpmath.mpf(mu) / 2, mpmath.mpf(eps) / mu + mpmath.mpf(mu) / 2
        exact = float(mpmath.log(mpmath.ncdf(-a) - mpmath.exp(eps) * mpmath.ncdf(-b)))
    found = log_profile(eps, mu)
    assert math.isclose(found, exact, rel_tol=1e-9)
    assert math.isclose(math.exp(distance(eps, found)), mu, rel_tol=1e-8)
    if ratio:
        assert math.isclose(level(mu, found), eps, rel_tol=1e-8)
