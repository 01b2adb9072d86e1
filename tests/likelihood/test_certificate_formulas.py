"""Each closed form of the certificates against laws that attain it, on both sides of every case."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import linprog

from symshuffle import InputError
from symshuffle.likelihood.certificates import (
    Hinge,
    canonical_certificate,
    chi_square_certificate,
    elementary_bound,
    hinge_range,
    lower_certificate,
    lower_hinge_bound,
    quarter_bound,
    range_bound,
    square_root,
    two_moment_bound,
)
from symshuffle.numbers import Ball, Exp, enclose


def mean_hinge(law, kink):
    """The mean of (u - kink)_+ under atoms (value, mass), with the moments that the law must have."""
    assert sum(w for _, w in law) == 1 and sum(u * w for u, w in law) == 0
    return sum(u * u * w for u, w in law), sum(max(u - kink, 0) * w for u, w in law)


def around(low, high):
    """The law of mean 0 on two atoms."""
    return ((low, high / (high - low)), (high, -low / (high - low)))


def test_the_hinge_of_a_level_in_both_directions():
    """E(L - 1 - c)_+ with c = e - 1 is E(L - e)_+; e E(1 - L - (1 - 1/e))_+ is E(1 - eL)_+ (values at L = 1/3, 3)."""
    assert Hinge.of("forward", exp_eps=2) == Hinge(F(1), F(1))
    assert Hinge.of("reverse", exp_eps=2) == Hinge(F(2), F(1, 2))
    for ratio in (F(1, 3), F(3)):
        way = Hinge.of("forward", exp_eps=F(3, 2))
        assert way.scale * max(ratio - 1 - way.kink, 0) == max(ratio - F(3, 2), 0)
        way = Hinge.of("reverse", exp_eps=F(3, 2))
        assert way.scale * max(1 - ratio - way.kink, 0) == max(1 - F(3, 2) * ratio, 0)
    ball = Hinge.of("reverse", eps=1)
    assert float(ball.scale) == pytest.approx(math.e, rel=1e-15)
    assert float(ball.kink) == pytest.approx(1 - 1 / math.e, rel=1e-15)


def test_how_far_the_variable_reaches():
    """L is in [1/3, 3], so L - 1 is in [-2/3, 2] and 1 - L in [-2, 2/3]."""
    assert hinge_range("forward", F(3)) == (F(2, 3), F(2))
    assert hinge_range("reverse", F(3)) == (F(2), F(2, 3))
    assert hinge_range("forward", 1) == (0, 0)


@pytest.mark.parametrize(("low", "high"), [(F(-1), F(3)), (F(-2), F(5)), (F(-3), F(1))])
def test_the_two_moment_bound_is_attained_by_two_atoms_around_the_kink(low, high):
    kink = (low + high) / 2
    if kink < 0:
        return
    variance, value = mean_hinge(around(low, high), kink)
    assert two_moment_bound(variance, kink) == value


def test_the_quarter_bound_touches_at_twice_the_kink():
    """u^2/(4c) - (u - c) = (u - 2c)^2/(4c) >= 0, an equality at u = 2c; the elementary form is four times as large."""
    for u in (F(-1), F(6, 7), F(5)):
        assert quarter_bound(u**2, F(3, 7)) - (u - F(3, 7)) == (u - F(6, 7)) ** 2 / F(12, 7)
    assert elementary_bound(F(5), F(3, 7)) == F(35, 3)
    assert quarter_bound(F(5), F(3, 7)) == F(35, 12)


def largest_on_a_grid(variance, kink, below, above):
    """The same supremum as a linear program over laws on a fine grid."""
    grid = np.linspace(-float(below), float(above), 1201)
    moments = np.vstack([np.ones_like(grid), grid, grid**2])
    values = np.maximum(grid - float(kink), 0)
    found = linprog(-values, A_eq=moments, b_eq=[1, 0, float(variance)], bounds=(0, None))
    least = linprog(values, A_eq=moments, b_eq=[1, 0, float(variance)], bounds=(0, None))
    return -found.fun, least.fun


@pytest.mark.parametrize(
    ("variance", "kink", "below", "above"),
    [
        (F(1, 4), F(1, 4), F(1), F(2)),  # both atoms fit
        (F(7, 4), F(1, 4), F(1), F(2)),  # the lower end is in the way: variance above 1 + 2/4
        (F(3, 2), F(1, 4), F(1), F(2)),  # just fits
        (F(1), F(3, 2), F(3), F(2)),  # the upper end is in the way: variance above -2
        (F(3, 4), F(1, 2), F(2), F(1)),  # the upper end, just above 1 - 1
        (F(1, 2), F(3, 4), F(2), F(1)),
        (F(3, 2), F(0), F(2), F(1)),  # at the kink 0
        (F(1, 2), F(0), F(1), F(1)),
    ],
)
def test_the_best_bounds_from_a_range_are_the_linear_program(variance, kink, below, above):
    highest, lowest = largest_on_a_grid(variance, kink, below, above)
    assert float(range_bound(variance, kink, below, above)) == pytest.approx(highest, rel=2e-5)
    claimed = lower_hinge_bound(variance, kink, below, above)
    assert max(float(claimed), 0) <= lowest + 1e-9
    if variance >= kink * below:
        assert lowest == pytest.approx(max(float(claimed), 0), abs=2e-3)


def test_each_case_of_the_range_bound_is_attained_exactly():
    """Laws on two atoms: around the kink; with one at the lower end; with one at the upper end; none beyond it."""
    for low, high, kink, below, above in (
        (F(-1), F(2), F(1, 2), F(2), F(3)),
        (F(-1), F(2), F(1, 4), F(1), F(3)),
        (F(-1), F(2), F(3, 4), F(4), F(2)),
    ):
        variance, value = mean_hinge(around(low, high), kink)
        assert range_bound(variance, kink, below, above) == value > 0
    assert range_bound(F(1), F(2), F(1), F(2)) == 0
    assert range_bound(F(1), F(2), F(1), F(21, 10)) > 0


def test_the_lower_hinge_bound_is_attained_on_the_ends_and_the_kink():
    """Masses 7/12, 1/6, 1/4 at -1, 1/2, 2 have mean 0, variance 13/8 and mean hinge 3/8."""
    law = ((F(-1), F(7, 12)), (F(1, 2), F(1, 6)), (F(2), F(1, 4)))
    assert mean_hinge(law, F(1, 2)) == (F(13, 8), F(3, 8))
    assert lower_hinge_bound(F(13, 8), F(1, 2), F(1), F(2)) == F(3, 8)


@pytest.mark.parametrize(
    ("form", "forward", "reverse"),
    [
        # variance 6/2 = 3; kink 1 forward, 1/2 reverse with scale 2
        ("elementary", F(3), F(12)),
        ("quarter", F(3, 4), F(3)),
        ("two-moment", F(1, 2), math.sqrt(3.25) - 0.5),
    ],
)
def test_forms_of_the_certificate_by_hand(form, forward, reverse):
    assert chi_square_certificate(F(6), 2, exp_eps=2, direction="forward", form=form) == forward
    found = chi_square_certificate(F(6), 2, exp_eps=2, direction="reverse", form=form)
    assert float(found) == pytest.approx(float(reverse), rel=1e-15)


def test_the_range_form_is_attained_by_the_endpoint_law_of_one_user():
    """At chi-square 4/3 and cap 3 nothing but 1/3, 3 with masses 3/4, 1/4 is left: 1/4 (3 - 2), and 3/4 (1 - 2/3)."""
    for way, value in (("forward", F(1, 4)), ("reverse", F(1, 4))):
        assert chi_square_certificate(F(4, 3), 1, exp_eps=2, direction=way, form="range", lam=F(3)) == value
        assert lower_certificate(F(4, 3), 1, lam=F(3), exp_eps=2, direction=way) == value


def test_the_default_form_and_the_larger_direction():
    """Variance 2: forward (sqrt 3 - 1)/2, reverse 2 (3/2 - 1/2)/2 = 1."""
    assert chi_square_certificate(F(8), 4, exp_eps=2, direction="reverse") == 1
    assert canonical_certificate(F(8), 4, exp_eps=2) == 1
    assert float(canonical_certificate(F(8), 4, eps=0)) == pytest.approx(math.sqrt(2) / 2, rel=1e-15)


def test_the_lower_certificate_by_hand():
    """Variance 1/2; forward (1/2 - 2/3 c)/(8/3), reverse e (1/2 - 2 a)/(8/3); 0 where that is negative, or beyond."""
    found = lower_certificate(F(1), 2, lam=F(3), exp_eps=F(5, 4), direction="forward")
    assert found == (F(1, 2) - F(1, 6)) * F(3, 8)
    found = lower_certificate(F(1), 2, lam=F(3), exp_eps=F(10, 9), direction="reverse")
    assert found == F(10, 9) * (F(1, 2) - F(1, 5)) * F(3, 8)
    assert lower_certificate(F(1), 2, lam=F(3), exp_eps=F(7, 4), direction="forward") == 0
    assert lower_certificate(F(1), 2, lam=F(3), exp_eps=2, direction="forward") == 0
    assert lower_certificate(F(1), 2, lam=F(3), exp_eps=4, direction="reverse") == 0
    assert lower_certificate(F(1), 2, lam=F(3), eps=0, direction="forward") == F(3, 16)


def test_who_is_refused_and_who_just_is_not():
    ask = {"exp_eps": 2, "direction": "forward"}
    assert chi_square_certificate(F(0), 1, **ask) == 0
    for chi in (0.5, F(-1, 10**9)):
        with pytest.raises(InputError, match=r"^chi_square"):
            chi_square_certificate(chi, 1, **ask)
    with pytest.raises(InputError, match=r"^n = 0"):
        chi_square_certificate(F(1), 0, **ask)
    for form in ("elementary", "quarter"):
        with pytest.raises(InputError, match=r"^eps = 0"):
            chi_square_certificate(F(1), 1, eps=0, direction="forward", form=form)
        assert chi_square_certificate(F(1), 1, eps=F(1, 10**6), direction="forward", form=form).lower > 0
    with pytest.raises(InputError, match=r"^lam = None"):
        chi_square_certificate(F(1), 1, **ask, form="range")
    with pytest.raises(InputError, match=r"^chi_square"):
        chi_square_certificate(F(4, 3) + F(1, 10**9), 1, **ask, form="range", lam=F(3))
    for lam, level in ((F(3), {"eps": 1}), (Exp(F(1)), {"exp_eps": 2})):
        with pytest.raises(InputError, match=r"^form = range"):
            chi_square_certificate(F(1, 2), 1, **level, direction="forward", form="range", lam=lam)
    with pytest.raises(InputError, match=r"^form = range"):
        chi_square_certificate(Ball(F(1, 2), F(3, 4)), 1, **ask, form="range", lam=F(3))


def test_square_roots_are_exact_where_they_are_rational_and_enclosed_where_not():
    assert square_root(F(0)) == 0 and square_root(F(9, 4)) == F(3, 2) and square_root(49) == 7
    for value in (2, F(9, 2), F(2, 9), enclose(F(2))):
        root = square_root(value)
        exact = value if isinstance(value, int | F) else F(2)
        assert isinstance(root, Ball)
        assert root.lower**2 <= exact <= root.upper**2
        assert root.upper - root.lower < F(1, 2**100)
    assert square_root(Ball(F(-1, 2**40), F(1, 2**40))).lower <= 0
    assert square_root(sp.Symbol("x", positive=True) ** 2) == sp.Symbol("x", positive=True)
