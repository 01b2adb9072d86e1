"""Every engine on every mechanism: no bracket excludes the exact value, and mpmath agrees with it.

The grid is mechanism x n x order x direction. A seeded slice of it runs with the suite; `make conformance` runs it all.
"""

import itertools
import math
import random
from collections.abc import Iterator
from fractions import Fraction

import pytest

from symshuffle.accountants.ball import BallContour
from symshuffle.accountants.confirm import confirm
from symshuffle.accountants.contour import Contour
from symshuffle.accountants.evaluate import evaluate_law
from symshuffle.accountants.exact import Exact, enumerate_ball
from symshuffle.accountants.fft import FFT
from symshuffle.accountants.reduction import laws, reduction
from symshuffle.accountants.sparse import Sparse
from symshuffle.decompositions.symbolic import optimal_decomposition
from symshuffle.law import Law
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.registry import mechanism
from symshuffle.numbers import Ball, Exp

MECHANISMS = [
    ("rr", {}),
    *(("krr", {"k": k}) for k in (2, 3, 10)),
    *(("subset-selection", {"k": k, "s": s}) for k, s in ((2, 1), (3, 2), (10, 4))),
    *(("aug-rr", {"k": k, "p": "2/3"}) for k in (2, 3, 10)),
    ("half-block", {"k": 2, "d": 1}),
    ("half-block", {"k": 10, "d": 5}),
    ("half-block", {"k": 10, "d": 2}),
    *(("identity", {"k": k}) for k in (2, 3, 10)),
    *(("constant", {"k": k}) for k in (2, 3, 10)),
    *(("erasure", {"k": k, "p": "1/3"}) for k in (2, 3, 10)),
]
USERS = (1, 2, 5, 40)
ORDERS = (Fraction(1), Fraction(6, 5), Fraction(5, 2), Fraction(3), Fraction(4))
DIRECTIONS = ("forward", "reverse")
GRID = list(itertools.product(MECHANISMS, USERS, ORDERS, DIRECTIONS))
POINTS = list(itertools.product(MECHANISMS, USERS, DIRECTIONS))
REL = 1e-6
CONFIRMED = 40


def at(name: str, parameters: dict[str, object], **budget: object) -> Mechanism:
    definition = mechanism(name)
    has_budget = any(parameter.name == "lam" for parameter in definition.parameters)
    return definition.at(**(budget if has_budget else {}), **parameters)


def seeded_slice(grid: list, size: int) -> list:
    return random.Random(20261121).sample(grid, size)


def engines(law: Law, n: int) -> Iterator[tuple[str, object]]:
    natural = law.lattice
    yield "fft", FFT(largest=2**18)
    if natural is not None:
        yield "fft on a lattice that fits no atom", FFT(step=natural * Fraction(355, 226) / 7)
    yield "fft in a short window", FFT(largest=2**9)
    yield "sparse", Sparse(rel=REL)
    yield "contour", Contour(rel=REL)
    yield "contour, wide", Contour(rel=1e-2)
    # Off the lattice that irrational atoms hide at order 1, six digits would take seconds.
    yield "balls", BallContour(rel=1e-6 if law.exact else 1e-3)


def check(law: Law, n: int, exact: Fraction) -> None:
    for name, engine in engines(law, n):
        if engine.refusal(law, n) is None:
            bracket = engine.bracket(law, n)
            assert bracket.contains(exact), f"{name}: {bracket} excludes {float(exact)}"
    promised = confirm(law, n, digits=CONFIRMED)
    assert abs(promised.exactly - exact) <= abs(exact) * Fraction(10) ** (1 - CONFIRMED), promised.value


def check_point(name: str, parameters: dict, n: int, order: Fraction, direction: str) -> None:
    decomposition = optimal_decomposition(at(name, parameters, lam=3))
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
    for label, engine in (*engines(law, n), ("exact", Exact(bits=128))):
        if engine.refusal(law, n) is not None:
            continue
        bracket = engine.bracket(law, n)
        assert bracket.lower <= truth.upper and truth.lower <= bracket.upper, f"{label}: {bracket} excludes {truth}"
    value = confirm(law, n, digits=CONFIRMED).exactly
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
    fixed = at(name, parameters, lam=3)
    pair = optimal_decomposition(fixed).numeric().reduction_pair()
    order = Fraction(6, 5)
    found = [evaluate_law(law, n, rigour=None).exact for law in laws(reduction(fixed).bounds[0], order, "both", None)]
    assert max(found) == max(pair.divergence(n, order, direction=direction) for direction in DIRECTIONS)


@pytest.mark.parametrize("n", [10**3, 10**6, 10**9, 10**12])
def test_two_contours_agree_at_any_n(n):
    """Balls and doubles share their constants, not their arithmetic."""
    eps = Fraction(3, 2 * math.isqrt(n))
    law = optimal_decomposition(mechanism("krr").at(k=10, eps0=1)).law(Exp(eps), bits=256)
    fast, certified = Contour(rel=1e-6).bracket(law, n), BallContour(rel=1e-8).bracket(law, n)
    # At n = 10^12 NumPy's complex log1p once cost six digits here: this is no formality.
    assert fast.lower <= certified.upper and certified.lower <= fast.upper
    assert fast.relative_width < 1e-5 + 1e-14 * n
    assert certified.relative_width <= 1e-8


def test_the_slice_misses_no_mechanism():
    drawn = {which[0] for which, *_ in seeded_slice(GRID, 50)}
    assert drawn == {name for name, _ in MECHANISMS}


def test_the_referee_is_no_ball():
    assert not isinstance(Exact().bracket(Law((Fraction(1),), (Fraction(1),)), 2).lower, Ball)
