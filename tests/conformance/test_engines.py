"""Every engine on every mechanism: no bracket excludes the exact value, and mpmath agrees with it.

The grid is mechanism x n x order x direction. A seeded slice of it runs with the suite; `make conformance` runs it all.
"""

import itertools
import math
import random
from collections.abc import Iterator
from fractions import Fraction

import pytest

from symshuffle.accountants.bounds.evaluate import evaluate_law
from symshuffle.accountants.deployment.reduced import laws
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Ball, Exp
from symshuffle.base.results import Bracket
from symshuffle.channels.law import Law
from symshuffle.decompositions.symbolic import optimal_decomposition
from symshuffle.engines.confirm import recompute
from symshuffle.engines.contours.ball import BallContour
from symshuffle.engines.contours.contour import Contour
from symshuffle.engines.counting.exact import Exact
from symshuffle.engines.registry import Engine, engine_classes
from symshuffle.mechanisms import registry
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.registry import mechanism
from tests.oracles import enumerate_ball
from tests.slices import some

MECHANISMS = [(name, dict(values)) for name in registry.MECHANISMS for values in registry.EXAMPLES[name]]
RATIONAL = 4
"""The budget at which every probability of every mechanism is rational."""
USERS = (1, 2, 5, 40)
ORDERS = (Fraction(1), Fraction(6, 5), Fraction(5, 2), Fraction(4), Fraction(5))
DIRECTIONS = ("forward", "reverse")
GRID = list(itertools.product(MECHANISMS, USERS, ORDERS, DIRECTIONS))
POINTS = list(itertools.product(MECHANISMS, USERS, DIRECTIONS))
CONFIRMED = 40


def at(name: str, parameters: dict[str, object], **budget: object) -> Mechanism:
    definition = mechanism(name)
    has_budget = any(parameter.name == "lam" for parameter in definition.parameters)
    return definition.at(**(budget if has_budget else {}), **parameters)


def seeded_slice(grid: list, size: int) -> list:
    return random.Random(20261121).sample(grid, size)


def engines(law: Law) -> Iterator[tuple[str, Engine]]:
    """All engines of the registry, at all settings under which their brackets have to hold."""
    for label, kind in engine_classes():
        for engine in kind.trials(law):
            # Off the lattice that irrational atoms hide at order 1, narrow balls would take seconds.
            if label != "ball" or law.exact or engine.rtol > 1e-3:
                yield f"{label}: {engine}", engine


def answer(engine: Engine, law: Law, n: int) -> Bracket | None:
    """The bracket, or None where the engine refuses before it starts or on its way: trials are limited to a second."""
    try:
        return engine.bracket(law, n) if engine.refusal(law, n) is None else None
    except Unsupported:
        return None


def check(law: Law, n: int, exact: Fraction) -> None:
    for name, engine in engines(law):
        bracket = answer(engine, law, n)
        assert bracket is None or bracket.contains(exact), f"{name}: {bracket} excludes {float(exact)}"
    promised = recompute(law, n, digits=CONFIRMED)
    assert abs(promised.exactly - exact) <= abs(exact) * Fraction(10) ** (1 - CONFIRMED), promised.value


def check_point(name: str, parameters: dict, n: int, order: Fraction, direction: str) -> None:
    decomposition = optimal_decomposition(at(name, parameters, lam=RATIONAL))
    law = decomposition.law(order, direction=direction)
    assert law.exact
    exact = Exact().bracket(law, n).exact
    assert exact is not None
    if n <= 5:
        assert exact == decomposition.numeric().reduction_pair().divergence(n, order, direction=direction)
    check(law, n, exact)


def check_irrational(name: str, parameters: dict, n: int, order: Exp, direction: str) -> None:
    law = optimal_decomposition(at(name, parameters, eps0=1)).law(order, direction=direction, bits=320)
    if math.comb(n + len(law.values) - 1, n) > 4_000:
        return
    truth = enumerate_ball(law, n, bits=256)
    for label, engine in engines(law):
        bracket = answer(engine, law, n)
        if bracket is None:
            continue
        assert bracket.lower <= truth.upper and truth.lower <= bracket.upper, f"{label}: {bracket} excludes {truth}"
    value = recompute(law, n, digits=CONFIRMED).exactly
    assert abs(value - truth.midpoint) <= truth.midpoint * Fraction(10) ** (1 - CONFIRMED) + truth.radius


@pytest.mark.parametrize(("which", "n", "order", "direction"), seeded_slice(GRID, 50))
def test_rational_slice(which, n, order, direction):
    check_point(*which, n, order, direction)


@pytest.mark.parametrize(("which", "n", "direction"), seeded_slice(POINTS, 12))
@pytest.mark.parametrize("order", [Exp(Fraction(1, 10)), Exp(Fraction(1))], ids=str)
def test_irrational_slice(which, n, direction, order):
    check_irrational(*which, n, order, direction)


@pytest.mark.conformance
@pytest.mark.parametrize(("which", "n", "order", "direction"), GRID)
def test_rational_grid(which, n, order, direction):
    check_point(*which, n, order, direction)


@pytest.mark.conformance
@pytest.mark.parametrize(("which", "n", "direction"), POINTS)
@pytest.mark.parametrize("order", [Fraction(1), *(Exp(Fraction(i, 10)) for i in (1, 5, 10, 12))], ids=str)
def test_irrational_grid(which, n, direction, order):
    check_irrational(*which, n, order, direction)


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize(("name", "parameters"), MECHANISMS)
def test_both_directions_at_the_front_door(name, parameters, n):
    """The larger of both directions, by the front door, is the larger brute-force divergence of the reduction pair."""
    fixed = at(name, parameters, lam=RATIONAL)
    pair = optimal_decomposition(fixed).numeric().reduction_pair()
    order = Fraction(6, 5)
    found = [
        evaluate_law(law, n, arithmetic=None).exact for law in laws(reduction(fixed).bounds[0], order, "both", None)
    ]
    assert max(found) == max(pair.divergence(n, order, direction=direction) for direction in DIRECTIONS)


@pytest.mark.parametrize("n", some([10**3, 10**6, 10**9, 10**12], 2))
def test_two_contours_agree_at_any_n(n):
    """Balls and doubles share their constants, not their arithmetic."""
    eps = Fraction(3, 2 * math.isqrt(n))
    law = optimal_decomposition(mechanism("krr").at(k=10, eps0=1)).law(Exp(eps), bits=256)
    fast, certified = Contour(rtol=1e-6).bracket(law, n), BallContour(rtol=1e-8).bracket(law, n)
    # At n = 10^12 NumPy's complex log1p once cost six digits here: this is no formality.
    assert fast.lower <= certified.upper and certified.lower <= fast.upper
    assert fast.relative_width < 1e-5 + 1e-14 * n
    assert certified.relative_width <= 1e-8


def test_the_slice_misses_no_mechanism():
    drawn = {which[0] for which, *_ in seeded_slice(GRID, 50)}
    assert drawn == {name for name, _ in MECHANISMS}


def test_the_referee_is_no_ball():
    assert not isinstance(Exact().bracket(Law((Fraction(1),), (Fraction(1),)), 2).lower, Ball)
