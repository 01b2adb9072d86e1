"""Divergences against their defining properties: testing, duality, order, data processing."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_checks._divergences import kl_divergence, renyi_divergence
from symshuffle import Ball, InputError, NotDecided
from symshuffle.base import enclose
from symshuffle.channels import chi_square, hockey_stick
from symshuffle.testing import distributions, ratios

PAIRS = st.tuples(distributions(4), distributions(4))


@given(PAIRS, ratios())
def test_hockey_stick_is_the_best_test(pair, gamma):
    """D is the largest P(A) - gamma Q(A) over all events."""
    p, q = pair
    events = itertools.chain.from_iterable(itertools.combinations(range(4), r) for r in range(5))
    assert hockey_stick(p, q, gamma) == max(sum(p[y] - gamma * q[y] for y in event) for event in events)


@given(distributions(3, support=1), distributions(3, support=1))
def test_balls_and_doubles_agree(p, q):
    doubles = [tuple(map(float, side)) for side in (p, q)]
    assert float(kl_divergence(p, q)) == pytest.approx(kl_divergence(*doubles), abs=1e-12)
    assert float(renyi_divergence(p, q, 2)) == pytest.approx(renyi_divergence(*doubles, 2), abs=1e-12)
    assert float(renyi_divergence(p, q, 2)) == pytest.approx(math.log1p(chi_square(p, q)), abs=1e-12)
    balls = [tuple(map(enclose, side)) for side in (p, q)]
    exact, enclosed = hockey_stick(p, q, Fraction(3, 2)), hockey_stick(*balls, Fraction(3, 2))
    assert enclosed.lower <= exact <= enclosed.upper


def test_unbounded_ratios():
    p, q = (Fraction(1, 2), Fraction(1, 2)), (Fraction(1), Fraction(0))
    for divergence in (chi_square, kl_divergence, lambda a, b: renyi_divergence(a, b, 3)):
        assert divergence(p, q) == math.inf
        assert divergence(q, p) != math.inf
    assert hockey_stick(p, q, 10**9) == Fraction(1, 2)


def test_known_values():
    p, q = (Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))
    assert chi_square(p, q) == Fraction(4, 3)
    assert float(kl_divergence(p, q)) == pytest.approx(math.log(3) / 2)


@pytest.mark.parametrize("gamma", [-1, Fraction(-1, 10), float("nan")])
def test_orders_below_zero_are_refused(gamma):
    with pytest.raises(InputError, match="gamma = "):
        hockey_stick((Fraction(1),), (Fraction(1),), gamma)


def test_other_refusals():
    with pytest.raises(InputError, match="1 and 2 masses"):
        hockey_stick((Fraction(1),), (Fraction(1, 2),) * 2, 1)
    with pytest.raises(InputError, match="above 1"):
        renyi_divergence((Fraction(1),), (Fraction(1),), 1)
    straddling = Ball(Fraction(-1, 10), Fraction(1, 10))
    with pytest.raises(NotDecided):
        chi_square((Fraction(1), Fraction(0)), (straddling, 1 - straddling))


def test_a_point_that_the_first_law_misses_costs_nothing_but_its_reference_mass():
    p, q = (Fraction(0), Fraction(1)), (Fraction(1, 2), Fraction(1, 2))
    assert chi_square(p, q) == 1
    for kind in (tuple, lambda side: tuple(map(float, side))):
        assert float(kl_divergence(kind(p), kind(q))) == pytest.approx(math.log(2), rel=1e-12)
        assert float(renyi_divergence(kind(p), kind(q), 2)) == pytest.approx(math.log(2), rel=1e-12)
        assert renyi_divergence(kind(q), kind(p), 2) == kl_divergence(kind(q), kind(p)) == math.inf


@pytest.mark.parametrize("bits", [64, 200])
def test_balls_are_as_narrow_as_asked(bits):
    p, q = (Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 2), Fraction(1, 2))
    for ball in (kl_divergence(p, q, bits=bits), renyi_divergence(p, q, Fraction(3, 2), bits=bits)):
        assert 0 < ball.upper - ball.lower < Fraction(1, 2 ** (bits - 8))
