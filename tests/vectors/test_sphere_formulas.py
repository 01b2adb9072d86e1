"""The sphere, clipped densities, contenders, indices and zonal means: against quadrature over the height."""

import math
from dataclasses import replace
from fractions import Fraction as F

import flint
import numpy as np
import pytest
from scipy import integrate
from scipy.stats import beta

from symshuffle.channel import Channel
from symshuffle.errors import CertificateError, InputError, NotDecided, Unsupported
from symshuffle.numbers import to_float, working_precision
from symshuffle.results import Bracket, Rigour
from symshuffle.vectors import compare, sphere, zonal
from symshuffle.vectors.clipped import best_density, clipped_numbers, ramp_moments
from symshuffle.vectors.compare import contenders, privunit_constant, privunit_error, sphere_linear_error, takeover
from symshuffle.vectors.finite import FiniteRandomizer
from symshuffle.vectors.frames import kashin_coefficients, one_coefficient_error
from symshuffle.vectors.indices import shuffle_index
from symshuffle.vectors.mechanisms import (
    BlanketMixedGaussian,
    ClippedLinear,
    LocalGaussian,
    LocalLaplace,
    PrivUnit,
    SphereLinear,
)
from symshuffle.vectors.risk import affine_risk, best_shrinkage, err1, errn, hcr_bound
from symshuffle.vectors.zonal import Heights


def law(d):
    return beta((d - 1) / 2, (d - 1) / 2, loc=-1, scale=2)


def mean(function, d, low=-1.0, high=1.0):
    """Against c (1 - t^2)^((d - 3)/2)."""
    constant = math.gamma(d / 2) / math.gamma((d - 1) / 2) / math.sqrt(math.pi)
    return integrate.quad(lambda t: function(t) * constant * (1 - t * t) ** ((d - 3) / 2), low, high)[0]


@pytest.mark.parametrize("d", [3, 4, 9])
@pytest.mark.parametrize("theta", [-0.4, 0.0, 0.3])
def test_moments_of_a_height(theta, d):
    with working_precision(100):
        found = [float(x.mid()) for x in sphere.partial_moments(flint.arb(theta), d)]
        ramps = [float(x.mid()) for x in ramp_moments(flint.arb(theta), d)]
        constant = float(sphere.density_constant(d).mid())
    assert found == pytest.approx([mean(lambda t, j=j: t**j, d, -1, theta) for j in range(3)], abs=1e-9)
    above = [lambda t: t - theta, lambda t: (t - theta) ** 2, lambda t: t * (t - theta)]
    assert ramps == pytest.approx([mean(one, d, theta, 1) for one in above], abs=1e-9)
    assert constant == pytest.approx(law(d).pdf(0))


@pytest.mark.parametrize(("p", "theta"), [("0.8", "0.3"), ("0.8", "-0.3"), ("0.2", "0.3")])
def test_numbers_of_caps(p, theta):
    mechanism, t0 = PrivUnit(p, theta, 4), float(F(theta))
    numbers = sphere.cap_numbers(mechanism)
    cap, chance = law(4).sf(t0), float(F(p))
    height = mean(lambda t: t, 4, t0, 1) / cap
    m = chance * height + (1 - chance) * mean(lambda t: t, 4, -1, t0) / (1 - cap)
    expected = 1 - cap, height, m, chance - cap, chance / cap, (1 - chance) / (1 - cap)
    names = ("q", "alpha", "shrinkage", "advantage", "high", "low")
    assert [float(getattr(numbers, name)) for name in names] == pytest.approx(expected, rel=1e-7)
    assert float(numbers.gamma) == pytest.approx(min(expected[4:]))
    assert sphere.cap_numbers_float(mechanism) == pytest.approx((1 - cap, height, m))
    ratio = abs(math.log(expected[4] / expected[5]))
    assert float(sphere.epsilon0(mechanism)) == pytest.approx(ratio)
    assert float(sphere.epsilon0(SphereLinear("0.5", 3))) == pytest.approx(math.log(3))


def test_local_levels_are_met_from_below():
    found = sphere.privunit_at(F(3), "0.2", 4)
    level = float(sphere.epsilon0(found))
    assert level == pytest.approx(math.log(3)) and sphere.epsilon0(found).upper <= F(math.log(3)) + F(1, 10**15)
    assert (found.p * 2**64).denominator == 1 and found.theta == F(1, 5)
    linear = sphere.sphere_linear_at(F(4), 3)
    assert 0 <= F(3, 5) - linear.c < F(1, 2**63)
    for wrong in (F(1), F(1, 2)):
        with pytest.raises(InputError, match="lam"):
            sphere.sphere_linear_at(wrong, 3)
        with pytest.raises(InputError, match="lam"):
            sphere.privunit_at(wrong, 0, 3)
    with pytest.raises(InputError, match="larger"):
        sphere.privunit_at(1 + F(1, 2**70), 0, 3)


@pytest.mark.parametrize("clip", ["-0.3", "0", "0.4"])
def test_a_clipped_density_has_mass_one_and_its_index(clip):
    numbers, t0 = clipped_numbers(ClippedLinear(clip, 4, 3)), float(F(clip))
    gamma, slope = float(numbers.gamma), float(numbers.slope)

    def h(t):
        return gamma + slope * max(t - t0, 0)

    ramp = gamma * law(4).cdf(t0) + mean(h, 4, t0, 1)
    assert ramp == pytest.approx(1)
    square = (gamma - 1) ** 2 * law(4).cdf(t0) + mean(lambda t: (h(t) - 1) ** 2, 4, t0, 1)
    assert square == pytest.approx(gamma / 9)
    assert float(numbers.shrinkage) == pytest.approx(mean(lambda t: t * (h(t) - gamma), 4, t0, 1))


def test_the_best_density_is_bounded_from_both_sides():
    found = best_density(5, 4)
    found.verify()
    assert found.bracket.relative_width < 1e-12
    for clip in ("-0.9", "-0.3", "0.3"):
        other = 1 / float(clipped_numbers(ClippedLinear(clip, 4, 5)).shrinkage) ** 2 - 1
        assert other > float(found.bracket.upper)
    assert float(found.bracket.upper) == pytest.approx(1 / float(clipped_numbers(found.mechanism).shrinkage) ** 2 - 1)
    assert found.excess == pytest.approx(float(found.bracket.upper) / 100 - 1)
    assert F(float(found)) >= found.bracket.upper
    low, high = found.bracket.lower, found.bracket.upper
    for ends, place in (((low * F(99, 100), low * F(999, 1000)), "upper"), ((high * F(1001, 1000), high * 2), "lower")):
        with pytest.raises(CertificateError, match=place):
            replace(found, bracket=Bracket(*ends, Rigour.BALL, "duality", "test")).verify()
    told = found.to_dict()
    assert (told["dimension"], told["chi"], told["clip"]) == (4, "5", str(found.mechanism.clip))
    # At the optimum the loss slope E(t0 - T)_+ is 1/(2 chi^2).
    t0, slope = float(found.mechanism.clip), float(clipped_numbers(found.mechanism).slope)
    assert slope * mean(lambda t: t0 - t, 4, -1, t0) == pytest.approx(1 / 50)


def test_contenders_by_their_formulas():
    # chi^2 c^2 = d (1 - c) at chi = 2, d = 3: 4 c^2 + 3 c - 3 = 0.
    c = (-3 + math.sqrt(9 + 48)) / 8
    assert float(sphere_linear_error(F(2), 3)) == pytest.approx(9 / c**2)
    # caps of half the sphere: 4 t^2 + t - 1 = 0, and heights above 0 have the mean 1/2 in dimension 3.
    t = (-1 + math.sqrt(17)) / 8
    assert float(privunit_error(F(2), 3)) == pytest.approx(4 / t**2)
    alpha, q = 0.65, 0.65
    assert float(privunit_constant(F(3, 10), 3)) == pytest.approx(q / ((1 - q) * 3 * alpha**2))
    assert float(privunit_constant(F(0), 3)) == pytest.approx(4 / 3)
    for theta in (F(1), F(-1)):
        with pytest.raises(InputError, match="theta"):
            privunit_constant(theta, 3)


def test_contenders_come_in_order_and_each_is_tuned(monkeypatch):
    """With an index of sqrt(sigma0^2 - 1) for the Gaussian, or of a fifth of the noise, its noise is known."""

    def index(of):
        def known(mechanism, side, **given):
            assert side == "lower" and str(given["blanket"]) == "largest"
            return type("Index", (), {"inverse_square": 1 / of(mechanism.sigma0) ** 2})

        monkeypatch.setattr(compare, "shuffle_index", known)

    index(lambda sigma0: F(math.sqrt(sigma0**2 - 1)))
    found = contenders(3, 2, bits=64)
    assert len(found) == 5 and [one.bracket.upper for one in found] == sorted(one.bracket.upper for one in found)
    for one in found:
        assert one.excess == pytest.approx(float(one.bracket.upper) / 18 - 1)
    by_name = {one.name: one.bracket for one in found}
    assert float(by_name["clipped linear density"].upper) == pytest.approx(float(best_density(3, 2).bracket.upper) + 1)
    assert by_name["Gaussian"].lower <= 20 <= by_name["Gaussian"].upper and by_name["Gaussian"].relative_width < 1e-7
    index(lambda sigma0: sigma0 / 5)
    far = compare._gaussian_error(F(3), 2)
    assert far.lower <= 450 <= far.upper and far.upper - far.lower < F(1, 10**4)
    for wrong in ({"chi": 0}, {"dimension": 1}):
        with pytest.raises(InputError):
            contenders(**{"chi": 3, "dimension": 2} | wrong)


def test_the_takeover_is_the_first_dimension_in_which_the_order_has_turned(monkeypatch):
    def line(start, slope):
        return lambda chi, d, bits: Bracket(start + slope * d, start + slope * d, Rigour.BALL, "index", "test")

    fake = {"one": line(F(0), F(2)), "two": line(F(101, 2), F(1)), "never": line(F(1000), F(3))}
    monkeypatch.setattr(compare, "_ERRORS", fake)
    assert takeover(3, "one", "two") == 51  # 2 d exceeds d + 50.5 from there on
    for most, found in ((33, None), (64, 51)):
        if found is None:
            with pytest.raises(NotDecided, match="up to dimension"):
                takeover(3, "one", "two", most=most)
        else:
            assert takeover(3, "one", "two", most=most) == found
    with pytest.raises(NotDecided):
        takeover(3, "one", "never", most=1000)
    with pytest.raises(InputError, match="first"):
        takeover(3, "two", "one")
    fake["two"] = line(F(50), F(1))  # equal in dimension 50
    with pytest.raises(NotDecided, match="not told apart in dimension 50"):
        takeover(3, "one", "two")
    for wrong, name in (((0, "one", "two"), "chi"), ((3, "x", "two"), "first"), ((3, "one", "x"), "then")):
        with pytest.raises(InputError, match=name):
            takeover(*wrong)


def chi(mechanism, side, **given):
    return float(shuffle_index(mechanism, side, bits=64, **given).bracket.midpoint)


def test_indices_by_variances_over_the_height():
    linear = SphereLinear("0.4", 3)
    assert chi(linear, "lower") ** -2 == pytest.approx(mean(lambda t: (0.4 * t) ** 2, 3) / 0.6)
    assert chi(linear, "upper") ** -2 == pytest.approx(mean(lambda t: (0.4 * t) ** 2 / (1 - 0.4 * t), 3))
    assert chi(SphereLinear("0.4", 1), "upper") ** -2 == pytest.approx((0.16 / 1.4 + 0.16 / 0.6) / 2)
    assert chi(ClippedLinear("0.1", 3, 5), "lower") == pytest.approx(5)
    caps = PrivUnit("0.8", "0.3", 3)
    high, low = 0.8 / 0.35, 0.2 / 0.65
    own = 0.35 * (high - 1) ** 2 + 0.65 * (low - 1) ** 2
    assert chi(caps, "lower") ** -2 == pytest.approx(own / low)
    same = 0.35 * (high - 1) ** 2 / high + 0.65 * (low - 1) ** 2 / low
    apart = 0.35 * (high - 1) ** 2 / low + 0.35 * (low - 1) ** 2 / high + 0.3 * (low - 1) ** 2 / low
    assert chi(caps, "upper") ** -2 == pytest.approx(max(same, apart))
    with pytest.raises(InputError, match="p = 1/2"):
        shuffle_index(PrivUnit("1/2", 0, 3), "lower")


def test_indices_of_noise_by_quadrature():
    def density(y, x):
        return math.exp(-abs(y - x) / 0.5)

    def line(function):
        return integrate.quad(function, -30, 30, points=[-1, 0, 1], limit=400)[0]

    upper = line(lambda y: (density(y, 1) - density(y, 0)) ** 2 / density(y, -1))
    assert chi(LocalLaplace("0.5"), "upper") ** -2 == pytest.approx(upper)
    lower = line(lambda y: (density(y, 1) - density(y, 0)) ** 2 / density(abs(y), -1))
    assert chi(LocalLaplace("0.5"), "lower") ** -2 == pytest.approx(lower)
    mixed = BlanketMixedGaussian("0.7", 2, "0.8", 3)
    assert chi(mixed, "lower") ** -2 == pytest.approx(0.09 * math.expm1(0.16) / 0.7)
    with pytest.raises(Unsupported):
        shuffle_index(LocalGaussian(2), "lower")


def test_the_largest_mean_of_two_ramps_over_all_angles():
    """In dimension 3 by sampling: the mean of f(<u,x>) g(<u,y>) is largest at equal directions for equal ramps."""
    ramp = Heights(lambda t: t * 0 + flint.acb(1) / 2, lambda t: t + flint.acb(1) / 2)
    falling = Heights(lambda t: t * 0 + 1, lambda t: 1 / (1 + t))
    with working_precision(60):
        found = zonal.largest_mean(ramp, ramp, F(0), 3, 12)
        opposite = zonal.largest_mean(ramp, falling, F(0), 3, 12)
    equal = mean(lambda t: (0.5 + max(t, 0)) ** 2, 3)
    assert found.contains(equal) or abs(float(found.mid()) - equal) < 1e-12
    apart = mean(lambda t: (0.5 + max(t, 0)) / (1 + max(-t, 0)), 3)
    assert float(opposite.lower()) <= apart * (1 + 1e-12) and apart <= float(opposite.upper()) * (1 + 1e-12)
    assert float(found.rad()) < 0.01 and float(opposite.rad()) < 0.01


@pytest.mark.parametrize("d", [2, 3, 5])
def test_polynomials_are_orthogonal_with_their_multiplicities(d):
    t, weight = np.polynomial.legendre.leggauss(200)
    angle = t * math.pi / 2
    weight = weight * np.cos(angle) ** (d - 2)
    weight /= weight.sum()
    rows = np.array([[float(p.mid()) for p in zonal._polynomials(flint.arb(float(x)), 4, d)] for x in np.sin(angle)]).T
    gram = (rows * weight) @ rows.T
    with working_precision(60):
        counts = [float(zonal._multiplicity(k, d).mid()) for k in range(5)]
    assert gram == pytest.approx(np.diag([1 / n for n in counts]), abs=1e-12)
    assert [float(p.mid()) for p in zonal._polynomials(flint.arb(1), 4, d)] == pytest.approx([1] * 5)


def test_the_largest_value_of_a_sum_of_polynomials():
    """In dimension 3, P_2 = (3 r^2 - 1)/2: r/2 - P_2 is largest at r = 1/6, at 13/24; P_1 and -P_1 at an end."""
    with working_precision(60):
        for coefficients, most in (((0, 0.5, -1), 13 / 24), ((0, 1), 1), ((0, -1), 1), ((0.25,), 0.25), ((0, 0, 1), 1)):
            low, high = zonal._largest([flint.arb(c) for c in coefficients], 3)
            assert float(low) <= most * (1 + 1e-12) and most <= float(high) * (1 + 1e-12)
            assert float(high - low) < 1e-6


@pytest.mark.parametrize(
    ("mechanism", "at_zero", "slope"),
    [
        (BlanketMixedGaussian("0.75", "0.5", "0.5", 3), 12, 3),
        (SphereLinear("0.5", 3), 36, -1),
        (LocalLaplace("0.5"), 0.5, 0),
        (LocalGaussian("0.5", 3), 0.75, 0),
        (PrivUnit("0.8", "0.3", 3), 1 / (0.8 * 0.65 - 0.2 * 0.35) ** 2, -1),
    ],
)
def test_errors_are_affine_in_the_square_of_the_input(mechanism, at_zero, slope):
    a, b, most = affine_risk(mechanism)
    assert (to_float(a), to_float(b)) == pytest.approx((at_zero, slope))
    assert most == (F(1, 4) if isinstance(mechanism, BlanketMixedGaussian) else 1)
    assert to_float(err1(mechanism)) == pytest.approx(at_zero + max(slope, 0) * float(most))
    assert to_float(err1(mechanism, on_sphere=True)) == pytest.approx(at_zero + slope * float(most))
    assert to_float(errn(mechanism, 7)) == pytest.approx(to_float(err1(mechanism)) / 7)


def test_the_best_shrinkage_minimises_the_worst_case():
    for a, b in ((F(3), F(2)), (F(36), F(-1)), (F(2), F(-1)), (F(1), F(0)), (F(5, 4), F(-1))):
        for n in (1, 4):
            found = best_shrinkage(a, b, n=n)
            grid = np.linspace(0.01, 1, 30_001)
            ends = [grid**2 * float(a + b * s) / n + (1 - grid) ** 2 * float(s) for s in (0, 1)]
            worst = np.maximum(*ends)
            assert to_float(found.risk) == pytest.approx(worst.min(), rel=1e-4)
            assert to_float(found.factor) == pytest.approx(grid[worst.argmin()], abs=1e-3)


def test_the_lower_bound_by_the_upper_index():
    found = hcr_bound(SphereLinear("0.4", 3))
    assert float(found.midpoint) == pytest.approx(3 * chi(SphereLinear("0.4", 3), "upper") ** 2)
    assert found.upper < err1(SphereLinear("0.4", 3)) and found.relative_width < 1e-15


def test_finite_randomizers_by_sums():
    channel = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"]])
    given = (F(1, 3), F(1, 3), F(1, 3))
    one = FiniteRandomizer(channel, given, F(3, 4), given)
    assert one.inverse_square_lower() == F(4, 3) * 3 * (F(1, 36) + 2 * F(1, 144))
    assert one.inverse_square_upper() == max(
        F(1, 36) * 2 + 2 * F(1, 144) * 4, F(1, 36) * 4 + F(1, 144) * 2 + F(1, 144) * 4
    )
    assert one.residuals() == ((1, 0, 0), (0, 1, 0))
    assert one.privacy_variance(0, (F(0), F(1, 2), F(1, 2))) == math.inf
    assert FiniteRandomizer(channel, (F(1, 2), F(1, 4), F(1, 4)), F(3, 4), given).privacy_variance(0, given) == 0
    with pytest.raises(InputError, match=r"gamma \* blanket\[1\]"):
        FiniteRandomizer(channel, given, F(751, 1000), given)
    for gamma in (F(0), F(1001, 1000)):
        with pytest.raises(InputError, match="gamma"):
            FiniteRandomizer(channel, given, gamma, given)


def test_frames_and_single_coefficients():
    z, constant = kashin_coefficients([[1, 0], [0, 1]], [3, 4])
    assert z == pytest.approx([3, 4]) and constant == pytest.approx(math.sqrt(2) * 4 / 5)
    half = math.sqrt(0.5)
    z, constant = kashin_coefficients([[half, half]], [1])
    assert z == pytest.approx([half, half]) and constant == pytest.approx(1)
    for wrong in ([0, 0], [1, 2, 3]):
        with pytest.raises(InputError, match="vector"):
            kashin_coefficients([[1, 0], [0, 1]], wrong)
    t = (-1 + math.sqrt(1 + 4 * 9)) / 18  # 9 t^2 + t = 1
    assert one_coefficient_error(1.5, 4, 3.0) == pytest.approx(4 * (1.5 / t) ** 2)
    for wrong, name in (((0.99, 4, 3.0), "constant"), ((1.0, 4, 0.0), "chi"), ((1.0, 0, 3.0), "dimension")):
        with pytest.raises(InputError, match=name):
            one_coefficient_error(*wrong)
