"""Both ends of the best trace after shuffling, on a grid of inputs, users, targets and caps."""

from fractions import Fraction as F

import pytest

from symshuffle.design import TraceBound
from symshuffle.design.shuffled.best import best_shuffled
from symshuffle.utility.frontiers.orbit import subset_orbit

pytestmark = pytest.mark.conformance

GRID = [
    (2, 1, "0", "1/4", 6),
    (2, 10, "1/2", "1e-2", 4),
    (3, 5, "1", "1e-2", 8),
    (3, 40, "1/4", "1e-4", 5),
    (4, 20, "1", "1e-3", 6),
    (4, 200, "1/2", "1e-4", 8),
    (5, 60, "1", "1e-2", 3),
    (5, 1000, "1/4", "1e-6", 2),
    (6, 50, "2", "1e-3", 10),
    (8, 300, "1", "1e-5", 10),
    (8, 500, "1/4", "1e-5", 3),
    (12, 1000, "1/2", "1e-6", 20),
]


@pytest.mark.parametrize(("k", "n", "eps", "delta", "cap"), GRID)
def test_lower_end_is_at_most_the_upper(k, n, eps, delta, cap):
    found = best_shuffled(k, n=n, eps=eps, delta=delta, lam_cap=F(cap))
    assert found.ratio <= cap
    assert found.delta.bracket.upper <= F(delta)
    assert found.delta.attained is None or found.delta.attained.lower <= found.delta.bracket.upper
    assert found.trace <= found.upper
    assert found.least_risk <= found.risk
    if found.bound is None:
        assert found.upper == max(subset_orbit(k, s, F(cap)).signal for s in range(1, k))
    else:
        proof = TraceBound.from_dict(found.bound.to_dict())
        proof.verify()
        assert (proof.k, proof.n, proof.delta, proof.lam_cap) == (k, n, F(delta), cap)
        assert proof.trace == found.upper
