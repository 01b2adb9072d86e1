"""Known values, with more digits than the engines promise, and where they come from."""

from fractions import Fraction

import pytest

from symshuffle import delta, epsilon, randomizer
from symshuffle.engines import BallContour, Contour

TEN = randomizer("krr", k=10, eps0=1)


@pytest.mark.parametrize(
    ("n", "eps"), [(10**3, "0.0801610467"), (10**4, "0.0232533087"), (10**5, "0.0066384729"), (10**6, "0.0018544101")]
)
def test_epsilon_of_ten_ary_response(n: int, eps: str) -> None:
    """10-RR, eps0 = 1, delta = 1e-6: two-dimensional lattice sums of another tool, right to seven digits."""
    bracket = epsilon(TEN, n=n, delta="1e-6", rtol=1e-8).bracket
    assert bracket.width < Fraction(eps) / 10**7
    assert abs(bracket.midpoint / Fraction(eps) - 1) < Fraction(2, 10**7)


def test_delta_of_a_thousand_users() -> None:
    """10-RR, eps0 = 23/20, eps = 1/10, n = 1000: certified lattice sum in 300-bit balls."""
    golden = Fraction("1.043370325604652614960391e-6")
    at = randomizer("krr", k=10, eps0="23/20")
    ball = delta(at, n=1000, eps="1/10", arithmetic="ball", rtol=1e-8, bits=256).bracket
    assert ball.lower <= golden + Fraction(1, 10**29)
    assert ball.upper >= golden - Fraction(1, 10**29)
    assert ball.width < golden / 10**8


@pytest.mark.parametrize(
    ("n", "value"),
    [(1, Fraction(7, 24)), (2, Fraction(11, 48)), (5, Fraction(1999, 15552)), (8, Fraction(186401, 2239488))],
)
def test_exact_values_of_four_ary_response(n: int, value: Fraction) -> None:
    """4-RR, lam = 3, exp(eps) = 5/4: exact histograms."""
    at = randomizer("krr", k=4, lam=3)
    assert delta(at, n=n, exp_eps="5/4", arithmetic="exact").bracket.exact == value


def test_far_below_the_range_of_transforms() -> None:
    """10-RR, lam = 3, exp(eps) = 3/2, n = 1000: delta = 6.0879e-63, where a plain transform returns noise."""
    at = randomizer("krr", k=10, lam=3)
    bracket = delta(at, n=1000, exp_eps="3/2", engine=Contour()).bracket
    assert abs(bracket.midpoint / Fraction("6.0879e-63") - 1) < Fraction(1, 10**4)
    certified = delta(at, n=1000, exp_eps="3/2", engine=BallContour(), arithmetic="ball").bracket
    assert bracket.lower <= certified.upper
    assert certified.lower <= bracket.upper
