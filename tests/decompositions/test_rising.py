"""When the law of G rises with a parameter in convex order, and when it is not to be believed."""

import itertools
from fractions import Fraction

import pytest
import sympy as sp

from symshuffle import Exp, optimal_decomposition, randomizer
from symshuffle.decompositions.backgrounds import Slope, rises, slope_in
from symshuffle.mechanisms import LAM

D = sp.Symbol("d", integer=True, positive=True)


@pytest.mark.parametrize("lam", [Fraction(5, 4), Fraction(3), Exp(Fraction(1)), Exp(Fraction(8))], ids=str)
@pytest.mark.parametrize(
    "order", [Fraction(1), Fraction(6, 5), Exp(Fraction(1, 10)), Fraction(3), Fraction(9)], ids=str
)
@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_half_block_spreads_with_the_distance(lam, order, direction):
    slope = slope_in(optimal_decomposition(randomizer("half-block").at(k=10, lam=lam)), D)
    assert slope is not None
    assert rises(slope, order, direction, 128)
    falling = tuple((ratios, -weight) for ratios, weight in slope)
    assert not rises(falling, order, direction, 128)


def test_against_the_stop_loss_of_the_laws_themselves():
    source = randomizer("half-block").at(k=10, lam=3)
    order = Fraction(6, 5)
    laws = [optimal_decomposition(source.at(d=d)).law(order) for d in (1, 2, 3, 4, 5)]
    kinks = sorted({value for law in laws for value in law.values})
    for narrow, wide in itertools.pairwise(laws):
        for t in kinks:
            loss = [sum(w * max(v - t, 0) for v, w in law.atoms()) for law in (narrow, wide)]
            assert loss[0] <= loss[1]


def measure(weights: dict[int, int]) -> Slope:
    return tuple(((sp.Integer(v), sp.Integer(0)), sp.Integer(w)) for v, w in weights.items())


def test_a_larger_second_moment_is_not_enough():
    """Mass 0, mean 0, second moment 24, and a stop-loss of -2 at 0: every kink is looked at."""
    weights = {-4: 2, -2: -5, 0: 6, 2: -5, 4: 2}
    assert [sum(w * v**power for v, w in weights.items()) for power in (0, 1, 2)] == [0, 0, 24]
    assert not rises(measure(weights), Fraction(1), "forward", None)
    assert rises(measure({-4: 1, 0: -2, 4: 1}), Fraction(1), "forward", None)


def test_what_is_not_affine_has_no_slope():
    derived = optimal_decomposition(randomizer("half-block").at(k=10, lam=3))
    assert slope_in(derived, D) is not None
    assert slope_in(derived.map(lambda weight: weight.subs(D, D**2)), D) is None
    assert slope_in(derived.map(lambda weight: weight * D), D) is None
    assert slope_in(optimal_decomposition(randomizer("krr")), LAM) is None
