"""The normal side against enumeration, quadrature and closed forms in mpmath; every term of every error by itself."""

import itertools
import math
from fractions import Fraction as F

import flint
import mpmath as mp
import pytest

from symshuffle import Channel, InputError, Unsupported
from symshuffle.likelihood import normal
from symshuffle.likelihood.extremes import endpoint_ratio
from symshuffle.likelihood.law import LikelihoodRatio
from symshuffle.likelihood.normal import (
    BERRY_ESSEEN,
    NormalProfile,
    average_atoms,
    berry_esseen_bound,
    gaussian_profile,
    kolmogorov_distance,
    lower_profile,
    normal_hinge,
    normal_profile,
    scaled_level,
    scaled_limit,
    wasserstein_bound,
)
from symshuffle.numbers import Ball

THREE = endpoint_ratio(F(3))
SKEWED = LikelihoodRatio.of(Channel.from_rows([["1/6", "1/3", "1/2"], ["1/3", "1/6", "1/2"]]), 0, 1)
"""Ratios 1/2, 1, 2 with probabilities 1/3, 1/2, 1/6: variance 1/4, third absolute moment 5/24."""


def enumerated(ratio, n, under):
    found = {}
    for drawn in itertools.product(ratio.atoms(), repeat=n):
        value = sum((v for v, _ in drawn), F(0)) / n
        mass = math.prod((w for _, w in drawn), start=F(1)) * (value if under == "Q" else 1)
        found[value] = found.get(value, 0) + mass
    return sorted(found.items())


@pytest.mark.parametrize("under", ["P", "Q"])
@pytest.mark.parametrize(("ratio", "n"), [(THREE, 1), (THREE, 4), (SKEWED, 3), (THREE.dilute(F(0)), 2)])
def test_the_law_of_the_average_is_the_enumeration(ratio, n, under):
    assert list(average_atoms(ratio, n, under=under)) == enumerated(ratio, n, under)


def test_gaps_in_the_lattice_carry_no_atoms():
    """Ratios 1/2, 3/4, 3 at places 0, 1, 10 of the lattice: four of its eleven places between are empty."""
    ratio = LikelihoodRatio((F(1, 2), F(3, 4), F(3)), (F(1, 8), F(3, 4), F(1, 8)))
    assert [value for value, _ in average_atoms(ratio, 1)] == [F(1, 2), F(3, 4), F(3)]
    assert list(average_atoms(ratio, 2)) == enumerated(ratio, 2, "P")


def test_laws_that_are_not_written_out(monkeypatch):
    """1/3 and 3 have lattice step 8/3, so n users need n + 1 places."""
    monkeypatch.setattr(normal, "LARGEST_ATOMS", 6)
    assert len(average_atoms(THREE, 5)) == 6
    with pytest.raises(Unsupported, match="7 places"):
        average_atoms(THREE, 6)
    with pytest.raises(Unsupported, match="rationals"):
        average_atoms(LikelihoodRatio((Ball(F(1), F(1)),), (F(1),)), 2)
    with pytest.raises(InputError, match=r"^n = 0"):
        average_atoms(THREE, 0)


@pytest.mark.parametrize("under", ["P", "Q"])
@pytest.mark.parametrize(("ratio", "n"), [(THREE, 1), (THREE, 3), (SKEWED, 1), (SKEWED, 4), (THREE.reverse(), 2)])
def test_the_distance_from_normal_is_the_largest_gap_at_an_atom(ratio, n, under):
    with mp.workdps(50):
        mu = mp.sqrt(mp.mpf(ratio.chi_square.numerator) / ratio.chi_square.denominator / n)
        best, below = mp.mpf(0), mp.mpf(0)
        for value, mass in enumerated(ratio, n, under):
            centred = value - 1
            normal_below = mp.ncdf(mp.mpf(centred.numerator) / centred.denominator / mu)
            above = below + mp.mpf(mass.numerator) / mass.denominator
            best = max(best, abs(below - normal_below), abs(above - normal_below))
            below = above
        found = kolmogorov_distance(ratio, n, under=under)
        distances = [mp.mpf(end.numerator) / end.denominator for end in (found.lower, found.upper)]
        assert distances[0] < best < distances[1]
    assert found.upper - found.lower < F(1, 2**100)


def test_the_bound_of_berry_and_esseen_by_hand():
    """Third moment 5/24 over (1/4)^(3/2) = 1/8 is 5/3; under Q half of sqrt(1/4/n) more."""
    assert SKEWED.third_absolute_moment == F(5, 24) and SKEWED.chi_square == F(1, 4)
    bound = berry_esseen_bound(SKEWED, 4)
    assert bound.lower <= BERRY_ESSEEN * F(5, 3) / 2 <= bound.upper
    bound = berry_esseen_bound(SKEWED, 4, under="Q")
    assert bound.lower <= BERRY_ESSEEN * F(5, 3) / 2 + F(1, 8) <= bound.upper
    bound = berry_esseen_bound(SKEWED, 9, constant=F(1))
    assert bound.lower <= F(5, 9) <= bound.upper
    assert bound.upper - bound.lower < F(1, 2**100)
    assert F(4748, 10000) == BERRY_ESSEEN


def test_the_bound_on_wasserstein_distance_by_hand():
    """(5/24) / (1/4 * 5) = 1/6; and it is above the distance itself for two atoms."""
    assert wasserstein_bound(SKEWED, 5) == F(1, 6)
    with pytest.raises(InputError, match=r"^n = 0"):
        wasserstein_bound(SKEWED, 0)


@pytest.mark.parametrize(("mu", "kink"), [("1/2", "0"), ("1/2", "1/3"), ("2", "5"), ("1/100", "1/50")])
def test_the_normal_hinge_is_its_integral(mu, kink):
    scale, level = mp.mpf(float(F(mu))), mp.mpf(float(F(kink)))
    value = mp.quad(lambda z: (scale * z - level) * mp.npdf(z), [level / scale, level / scale + 4, mp.inf])
    found = normal_hinge(flint.arb(float(F(mu))), flint.arb(float(F(kink))))
    assert float(found.mid()) == pytest.approx(float(value), rel=1e-12)


@pytest.mark.parametrize(("mu", "order"), [("1", "1"), ("1", "3/2"), ("1/3", "5/4"), ("5/2", "2")])
def test_the_gaussian_curve_is_the_integral_of_its_densities(mu, order):
    """The densities cross at z = (log order)/mu + mu/2; beyond it N(mu, 1) exceeds order times N(0, 1)."""
    m, e = mp.mpf(F(mu).numerator) / F(mu).denominator, mp.mpf(F(order).numerator) / F(order).denominator
    start = mp.log(e) / m + m / 2
    value = mp.quad(lambda z: mp.npdf(z, m, 1) - e * mp.npdf(z), [start, start + 5, start + 20])
    assert float(gaussian_profile(F(mu), exp_eps=order)) == pytest.approx(float(value), rel=1e-11)


@pytest.mark.parametrize("mu", [0.5, F(0), F(-1), Ball(F(-1), F(1))])
def test_gaussian_parameters_that_are_refused(mu):
    with pytest.raises(InputError, match=r"^mu = "):
        gaussian_profile(mu, eps=0)
    assert 0 < float(gaussian_profile(F(1, 10**6), eps=0)) < 1e-6


def point(value, radius=F(0)):
    return Ball(value - radius, value + radius)


@pytest.mark.parametrize(
    ("limit", "gaussian", "error", "gaussian_error", "low", "high"),
    [
        ("1/2", "1/2", "1/8", "1/4", "3/8", "5/8"),
        ("1/2", "5/8", "1/4", "1/4", "3/8", "3/4"),
        ("1/2", "3/8", "1/4", "1/4", "1/4", "5/8"),
        ("1/8", "1/8", "1/4", "1/2", "0", "3/8"),
    ],
)
def test_the_bracket_takes_what_both_approximations_leave(limit, gaussian, error, gaussian_error, low, high):
    """Each with radii of 1/64, so that all the outer ends count."""
    r = F(1, 64)
    balls = [point(F(text), r) for text in (limit, gaussian, error, gaussian_error)]
    bracket = NormalProfile(*balls, 1, "forward").bracket
    moved_low = max(F(low) - 2 * r, 0)
    tiny = F(1, 2**40)
    assert moved_low - tiny <= bracket.lower <= moved_low <= F(high) + 2 * r <= bracket.upper <= F(high) + 2 * r + tiny


@pytest.mark.parametrize(("way", "order"), [("forward", "1"), ("forward", "3/2"), ("reverse", "3/2")])
@pytest.mark.parametrize("n", [1, 16])
def test_every_field_of_the_normal_profile(way, order, n):
    """mu = 1/2/sqrt n; error s (5/24)/(1/4)/(2n) = 5s/(12n); the Gaussian one s/2 sqrt(e^(mu^2) - 1 - mu^2) more."""
    e = F(order)
    scale, kink = (1, e - 1) if way == "forward" else (e, 1 - 1 / e)
    found = normal_profile(SKEWED, n, direction=way, exp_eps=order)
    mu = 0.5 / math.sqrt(n)
    value = mp.quad(lambda z: (mu * z - float(kink)) * mp.npdf(z), [float(kink) / mu, float(kink) / mu + 5, mp.inf])
    assert float(found.limit) == pytest.approx(float(scale * value), rel=1e-12)
    assert found.error.lower <= scale * F(5, 12 * n) <= found.error.upper
    more = float(scale) / 2 * float(mp.sqrt(mp.expm1(mu**2) - mu**2))
    assert float(found.gaussian_error) == pytest.approx(float(scale * F(5, 12 * n)) + more, rel=1e-13)
    assert abs(found.gaussian.midpoint - gaussian_profile(F(1, 2) / int(math.sqrt(n)), exp_eps=order).midpoint) < 1e-30
    assert (found.n, str(found.direction)) == (n, way)
    lower = lower_profile(SKEWED, n, direction=way, exp_eps=order)
    assert lower == found.bracket.lower
    curve = SKEWED.profile(n, exp_eps=order, direction=way)
    assert found.bracket.lower <= curve.upper and curve.lower <= found.bracket.upper


@pytest.mark.parametrize("bits", [80, 200])
def test_balls_are_as_narrow_as_asked(bits):
    near = normal_profile(SKEWED, 7, direction="reverse", exp_eps=F(5, 4), bits=bits)
    balls = (near.limit, near.gaussian, near.error, near.gaussian_error, scaled_limit(F(1, 2), bits=bits))
    for ball in (*balls, gaussian_profile(F(1, 3), exp_eps=2, bits=bits)):
        assert 0 < ball.upper - ball.lower < F(1, 2 ** (bits - 4))


def test_the_second_error_is_the_root_of_a_second_moment():
    """E (e^(mZ - m^2/2) - 1 - mZ)^2 = e^(m^2) - 1 - m^2, by quadrature at m = 3/4."""
    m = mp.mpf(3) / 4
    square = mp.quad(lambda z: (mp.exp(m * z - m * m / 2) - 1 - m * z) ** 2 * mp.npdf(z), [-mp.inf, 0, 4, mp.inf])
    assert float(square) == pytest.approx(math.expm1(9 / 16) - 9 / 16, rel=1e-12)


def test_levels_on_the_scale_of_the_standard_deviation():
    """At variance 1/4 and four users mu = 1/4."""
    assert abs(scaled_level(SKEWED, 4, F(3)) - F(3, 4)) < F(1, 10**30)
    assert abs(scaled_level(THREE, 3, F(1)) - F(2, 3)) < F(1, 10**30)
    assert scaled_level(SKEWED, 4, F(0)) == 0
    with pytest.raises(InputError, match=r"^t = "):
        scaled_level(SKEWED, 4, F(-1, 10**9))
    assert float(scaled_limit(F(0))) == pytest.approx(1 / math.sqrt(2 * math.pi), rel=1e-15)
    value = mp.quad(lambda z: (z - 2) * mp.npdf(z), [2, 6, mp.inf])
    assert float(scaled_limit(F(2))) == pytest.approx(float(value), rel=1e-12)


@pytest.mark.parametrize("call", [wasserstein_bound, berry_esseen_bound, kolmogorov_distance])
def test_a_constant_ratio_has_no_score(call):
    with pytest.raises(InputError, match="point mass"):
        call(LikelihoodRatio((F(1),), (F(1),)), 3)
