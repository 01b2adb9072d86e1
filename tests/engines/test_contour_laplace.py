"""The contour engines on the Laplace law itself, against the two finite laws that enclose it and the closed form."""

import itertools
import math
from fractions import Fraction

import pytest

from symshuffle import Exp, delta, epsilon, largest_eps0, smallest_n
from symshuffle.base import Arithmetic
from symshuffle.engines import FFT, BallContour, Contour, Exact
from symshuffle.mechanisms import Laplace
from tests.slices import some

MILLION = 10**6
LEVELS = {Fraction(1, 10): Fraction(1, 30), Fraction(1): Fraction(1, 4), Fraction(4): Fraction(1)}
LARGE = {Fraction(1, 10): Fraction(1, 5000), Fraction(1): Fraction(3, 1000), Fraction(4): Fraction(15, 1000)}


def mechanism(eps0: Fraction, cells: int = 200) -> Laplace:
    return Laplace(Exp(eps0), cells=cells)


def level(eps0: Fraction, n: int) -> Fraction:
    return LARGE[eps0] if n == MILLION else LEVELS[eps0] if n < 1000 else LEVELS[eps0] / 6


@pytest.mark.parametrize(("eps0", "n"), some(itertools.product(LEVELS, (1, 2, 10, 1000, MILLION)), 6))
def test_new_bracket_is_inside_the_finite_ones(eps0: Fraction, n: int) -> None:
    target, coarse = Exp(level(eps0, n)), mechanism(eps0, cells=8)
    found = delta(mechanism(eps0), n=n, exp_eps=target).bracket
    low, high = (Contour(rtol=1e-4).bracket(coarse.law(target, side=side), n) for side in ("lower", "upper"))
    assert low.lower <= found.lower <= found.upper <= high.upper
    assert found.width <= Fraction(1, 10**6) * found.upper


@pytest.mark.parametrize(
    ("eps0", "n", "rtol"),
    some(
        [
            *((eps0, n, rtol) for eps0 in list(LEVELS)[:2] for n, rtol in ((10, 1e-2), (1000, 1e-8), (MILLION, 1e-8))),
            (Fraction(4), 100, 1e-2),
            (Fraction(4), MILLION, 1e-8),
        ],
        4,
    ),
)
def test_balls_and_doubles_agree(eps0: Fraction, n: int, rtol: float) -> None:
    law = mechanism(eps0).mixed_law(Exp(level(eps0, n)), bits=192)
    balls, doubles = BallContour(rtol=rtol).bracket(law, n), Contour(rtol=1e-6).bracket(law, n)
    assert max(balls.lower, doubles.lower) <= min(balls.upper, doubles.upper)
    assert balls.width <= Fraction(rtol) * balls.upper


@pytest.mark.parametrize("eps0", [Fraction(1, 10), Fraction(1), Fraction(4), Fraction(12)])
@pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 3), Fraction(99, 100)])
def test_one_user_is_the_hockey_stick_of_laplace(eps0: Fraction, share: Fraction) -> None:
    eps = share * eps0
    truth = Fraction(-math.expm1((float(eps) - float(eps0)) / 2))
    closed = delta(mechanism(eps0), n=1, eps=eps, arithmetic="ball").bracket
    assert abs(closed.midpoint - truth) < Fraction(1, 10**15)
    assert closed.width < Fraction(1, 10**30)


@pytest.mark.parametrize("eps0", LEVELS)
def test_contour_of_one_user_encloses_the_closed_form(eps0: Fraction) -> None:
    law = mechanism(eps0).mixed_law(Exp(eps0 / 3))
    contour, closed = Contour(rtol=1e-4).bracket(law, 1), law.positive_mean()
    assert contour.lower <= closed.lower <= closed.upper <= contour.upper


def test_large_budgets() -> None:
    asked, target = mechanism(Fraction(12), cells=40), Exp(Fraction(1))
    found = Contour(rtol=1e-6).bracket(asked.mixed_law(target), 10**5)
    low, high = (Contour(rtol=1e-3).bracket(asked.law(target, side=side), 10**5) for side in ("lower", "upper"))
    assert low.lower <= found.lower <= found.upper <= high.upper
    assert found.width <= Fraction(1, 10**6) * found.upper


@pytest.mark.parametrize("eps", ["1", "2"])
@pytest.mark.parametrize("arithmetic", ["ball", "float64"])
def test_from_the_local_budget_on_nothing_is_left(eps: str, arithmetic: Arithmetic) -> None:
    bracket = delta(mechanism(Fraction(1)), n=1000, eps=eps, arithmetic=arithmetic).bracket
    assert bracket.lower == bracket.upper == 0


def test_level_zero_is_total_variation() -> None:
    bracket = delta(mechanism(Fraction(1)), n=5000, eps=0, arithmetic="ball", rtol=1e-8).bracket
    assert 0 < bracket.width <= Fraction(1, 10**8) * bracket.upper


@pytest.mark.parametrize("engine", [FFT(), Exact()])
def test_other_engines_keep_to_the_finite_laws(engine: FFT | Exact) -> None:
    coarse = mechanism(Fraction(1), cells=4)
    bracket = delta(coarse, n=2, eps="1/4", engine=engine, arithmetic=None).bracket
    truth = delta(coarse, n=2, eps="1/4").bracket
    assert bracket.lower <= truth.lower <= truth.upper <= bracket.upper


@pytest.mark.parametrize("n", [5, 10**4])
def test_inverses_resolve_at_the_default_width(n: int) -> None:
    target = "0.001" if n == 5 else "1e-6"
    eps = epsilon(mechanism(Fraction(1)), n=n, delta=target).bracket
    assert 0 < eps.width <= Fraction(1, 10**6) * eps.upper
    assert delta(mechanism(Fraction(1)), n=n, eps=eps.upper).bracket.upper <= Fraction(target)
    assert delta(mechanism(Fraction(1)), n=n, eps=eps.lower).bracket.lower > Fraction(target)


def test_budget_and_users() -> None:
    eps0 = largest_eps0(Laplace(), n=10**4, eps="0.05", delta="1e-6").bracket
    assert 0 < eps0.width <= Fraction(1, 10**6) * eps0.upper
    users = smallest_n(mechanism(Fraction(1)), eps="0.05", delta="1e-4").bracket
    assert users.upper - users.lower == 1


def test_real_pair_stays_below_the_bound() -> None:
    found = delta(mechanism(Fraction(1)), n=1000, eps="0.05", attained=True, arithmetic="ball", rtol=1e-8)
    assert found.attained is not None
    assert 0 < found.attained.lower < found.bracket.lower
    coarse = mechanism(Fraction(1), cells=12).background(Exp(Fraction(1, 20)), direction="reverse")
    finite = Contour(rtol=1e-4).bracket(coarse, 1000)
    assert finite.lower <= found.attained.lower <= finite.upper * Fraction(102, 100)
