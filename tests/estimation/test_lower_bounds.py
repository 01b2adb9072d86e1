from fractions import Fraction

import pytest
import sympy as sp

from symshuffle.design.frontier import trace_frontier
from symshuffle.errors import InputError
from symshuffle.estimation.lower_bounds import cosine_prior, minimax_sandwich, prior_information, van_trees_bound

F = Fraction


def test_prior_information():
    t, r = sp.symbols("t r", positive=True)
    assert prior_information(cosine_prior(t, r), t, -r, r) == sp.pi**2 / r**2
    assert prior_information(30 * t**2 * (1 - t) ** 2, t, 0, 1) == 40


def test_a_prior_that_does_not_vanish_is_refused():
    t = sp.Symbol("t", positive=True)
    with pytest.raises(InputError, match="at both ends"):
        prior_information(sp.Integer(1), t, 0, 1)
    with pytest.raises(InputError, match="total mass"):
        prior_information(t * (1 - t), t, 0, 1)
    with pytest.raises(InputError, match="positive information"):
        van_trees_bound(F(3), F(0), dimension=2)


def test_the_sandwich_closes():
    trace = trace_frontier(3, F("1/1000")).trace.upper
    ratios = [minimax_sandwich(3, trace, n * 1000).ratio for n in (10**2, 10**4, 10**6, 10**8)]
    assert ratios == sorted(ratios)
    assert ratios[-1] > F("0.99")
    for n in (1, 10, 10**5):
        found = minimax_sandwich(3, trace, n)
        assert found.lower.upper <= found.upper.lower <= found.canonical.upper


@pytest.mark.parametrize(
    "call",
    [lambda: minimax_sandwich(1, F(1), 5), lambda: minimax_sandwich(3, F(0), 5), lambda: minimax_sandwich(3, F(1), 0)],
)
def test_out_of_range(call):
    with pytest.raises(InputError):
        call()
