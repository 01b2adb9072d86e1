"""The Laplace mechanism against its closed forms and against quadrature of its densities."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from symshuffle import Exp, delta
from symshuffle.engines import Contour
from symshuffle.mechanisms import Laplace

ONE = Exp(Fraction(1))
TENTH = Exp(Fraction(1, 10))


def ratio(y: float, budget: float, target: float) -> tuple[float, float]:
    """G and the blanket density at an output, from the two densities."""
    zero, one = (budget / 2 * math.exp(-budget * abs(y - x)) for x in (0, 1))
    return (zero - math.exp(target) * one) / min(zero, one), min(zero, one)


def test_two_users_against_quadrature() -> None:
    """H(2) = E[(G_1 + G_2)_+]/2 by integrating the densities on a grid of both outputs."""
    knots = [-30, 0, 0.5, 1, 31]

    def inner(first: float) -> mpmath.mpf:
        here, weight = ratio(float(first), 1.0, 0.1)
        pieces = lambda y: max(0.0, here + ratio(float(y), 1.0, 0.1)[0]) * ratio(float(y), 1.0, 0.1)[1]  # noqa: E731
        residual = max(0.0, here) * (1 - math.exp(-0.5))
        return weight * (mpmath.quad(pieces, knots, maxdegree=4) + residual)

    context_digits = mpmath.mp.dps
    both = mpmath.quad(inner, knots, maxdegree=3)
    assert mpmath.mp.dps == context_digits
    # One user on the blanket and the other not is counted once above; the other order is its mirror image.
    single = mpmath.quad(lambda y: max(0.0, ratio(float(y), 1.0, 0.1)[0]) * ratio(float(y), 1.0, 0.1)[1], knots)
    quadrature = float(both + (1 - math.exp(-0.5)) * single) / 2
    bracket = delta(Laplace(ONE, cells=60), n=2, eps="1/10", rtol=1e-4).bracket
    assert abs(float(bracket.midpoint) - quadrature) < 2e-4


def test_sides_close_in_with_the_square_of_the_cells() -> None:
    def gap(cells: int) -> float:
        below, above = (
            Contour(rtol=1e-6).bracket(Laplace(ONE, cells=cells).law(TENTH, side=side), 300)  # type: ignore[arg-type]
            for side in ("lower", "upper")
        )
        return float(above.lower - below.upper)

    gaps = [gap(cells) for cells in (10, 20, 40)]
    assert gaps[0] > 3 * gaps[1] > 9 * gaps[2] > 0


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_mean_is_kept(side: str) -> None:
    law = Laplace(ONE, cells=9).law(TENTH, side=side, bits=200)  # type: ignore[arg-type]
    assert abs(float(law.mean) - (1 - math.exp(0.1))) < 1e-15
    assert abs(sum(float(w) for w in law.weights) - 1) < 1e-15


def test_mass_of_both_ends() -> None:
    law = Laplace(ONE, cells=1).law(TENTH, side="lower", bits=200)
    top = max(law.atoms(), key=lambda atom: float(atom[0]))
    assert abs(float(top[1]) - math.exp(-1) / 2) < 1e-15


def test_wrong_domains_and_cells() -> None:
    with pytest.raises(ValueError, match="domain = tri: expected one of binary, unit"):
        Laplace(ONE, domain="tri")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cells = 0: expected an integer from 1"):
        Laplace(ONE, cells=0)


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_an_end_against_the_middle_of_the_interval(direction: str) -> None:
    """One user: noise of half the shift in closed form. Two: both laws by sums over outputs, at quantiles of theirs."""
    half = 1 - math.exp((0.1 - 0.5) / 2)
    asked = {"eps": "1/10", "adjacency": "zero-out", "direction": direction, "rtol": 1e-6}
    one = delta(Laplace(ONE), n=1, **asked).bracket
    assert float(one.lower) <= half * (1 + 1e-9) and half <= float(one.upper) * (1 + 1e-9)
    found = delta(Laplace(ONE, domain="unit"), n=2, attained=True, **asked)
    assert "every input" in found.about or "all pairs" in found.about

    def noise(y: np.ndarray, x: float) -> np.ndarray:
        return np.asarray(np.exp(-np.abs(y - x)) / 2)

    share = (np.arange(4000) + 0.5) / 4000
    for held, mass, expected in ((0.5, math.exp(-0.5), found.bracket.midpoint), (1.0, 1.0, found.attained.lower)):
        y = held - np.sign(share - 0.5) * np.log(1 - 2 * np.abs(share - 0.5))
        first, null = noise(y, 0), noise(y, 0.5)
        gap = first - math.exp(0.1) * null if direction == "forward" else null - math.exp(0.1) * first
        gap = gap / noise(y, held) / mass
        both = np.maximum(gap[:, None] + gap[None, :], 0).mean()
        two = (mass**2 * both + 2 * mass * (1 - mass) * np.maximum(gap, 0).mean()) / 2
        assert float(expected) == pytest.approx(two, rel=1e-4)


def test_zero_out_is_below_replace_one_and_known_in_balls() -> None:
    found = delta(Laplace(ONE), n=1000, eps="1/20", adjacency="zero-out", arithmetic="ball", rtol=1e-10)
    assert found.bracket.upper < delta(Laplace(ONE), n=1000, eps="1/20").bracket.lower
    floats = delta(Laplace(ONE), n=1000, eps="1/20", adjacency="zero-out").bracket
    assert floats.lower <= found.bracket.upper and found.bracket.lower <= floats.upper
    assert delta(Laplace(ONE), n=5, eps="1/2", adjacency="zero-out").bracket.upper == 0
