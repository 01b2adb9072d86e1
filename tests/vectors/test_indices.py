"""Indices against enumeration, quadrature, and grids of inputs that may never exceed the claimed supremum."""

import itertools
import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from scipy import integrate, stats

from symshuffle.channel import Channel
from symshuffle.errors import InputError, NotDecided, Unsupported
from symshuffle.vectors import (
    BlanketMixedGaussian,
    ClippedLinear,
    LocalGaussian,
    LocalLaplace,
    PrivUnit,
    SphereLinear,
    gaussian_integrals,
    zonal,
)
from symshuffle.vectors.clipped import clipped_numbers
from symshuffle.vectors.finite import FiniteRandomizer
from symshuffle.vectors.gaussian_integrals import largest_blanket_variance
from symshuffle.vectors.indices import Blanket, shuffle_index
from symshuffle.vectors.zonal import Heights, largest_mean


def chi(mechanism, side, blanket=Blanket.MECHANISM):
    return float(shuffle_index(mechanism, side, blanket=blanket).bracket.midpoint)


@pytest.mark.parametrize(
    ("gamma", "sigma0", "lower", "upper"),
    [
        ("0.95", "4.6", 88.6131845643649865, 90.7951022184303641),
        ("0.5", "1", 1.07886672658797521, 1.16371473438241975),
        ("0.1", "0.7", 0.135775344681032392, 0.144310428317187073),
        ("0.9", "0.5", 1.29582500081595289, 1.29651544945039528),
    ],
)
def test_known_digits(gamma, sigma0, lower, upper):
    mechanism = BlanketMixedGaussian(gamma, sigma0)
    assert chi(mechanism, "lower") == pytest.approx(lower, rel=1e-14)
    assert chi(mechanism, "upper") == pytest.approx(upper, rel=1e-14)
    largest = chi(mechanism, "lower", Blanket.LARGEST)
    assert lower < largest < upper


@pytest.mark.parametrize(("gamma", "sigma0"), [(0.1, 0.7), (0.5, 1.0), (0.9, 0.6)])
def test_no_input_on_a_grid_exceeds_the_upper_index(gamma, sigma0):
    found = 1 / chi(BlanketMixedGaussian(str(gamma), str(sigma0)), "upper") ** 2
    # Directions in the plane: x1 along the first axis, the reference at any angle.
    z, w = np.polynomial.hermite_e.hermegauss(80)
    points, weights = np.array(list(itertools.product(z, z))), np.outer(w, w).ravel() / (2 * math.pi)

    def tilt(x):
        return np.exp(points @ x - x @ x / 2)

    best = 0.0
    for r1, r, angle in itertools.product((0.5, 1.0), (0.0, 0.5, 1.0), np.linspace(0, math.pi, 7)):
        x1 = np.array([r1, 0.0]) / sigma0
        x = r * np.array([math.cos(angle), math.sin(angle)]) / sigma0
        best = max(best, weights @ ((1 - gamma) ** 2 * (tilt(x1) - 1) ** 2 / (gamma + (1 - gamma) * tilt(x))))
    assert best == pytest.approx(found, rel=1e-5)
    assert best <= found * (1 + 1e-5)


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize(("gamma", "b"), [(0.05, 1.5), (0.6, 0.4), (0.0, 0.5)])
def test_largest_blanket_variance_is_the_largest_over_lengths(d, gamma, b):
    found = float(largest_blanket_variance(flint.arb(gamma), flint.arb(b), d))

    def variance(rho):
        def radial(length, power):
            u = rho * length * power
            odd = math.sinh(u) / u if u else 1.0
            return (math.cosh(u) if d == 1 else odd) * math.exp(-power * rho * rho / 2)

        def integrand(length):
            density = math.sqrt(2 / math.pi) * length ** (d - 1) * math.exp(-length * length / 2)
            weight = 1 / (gamma + (1 - gamma) * math.exp(-b * length - b * b / 2))
            return density * weight * (radial(length, 2) - 2 * radial(length, 1) + 1)

        return integrate.quad(integrand, 0, 30, limit=400)[0]

    assert variance(b) == pytest.approx(found, rel=1e-7)
    assert max(variance(rho) for rho in np.linspace(0, b, 21)) <= found * (1 + 1e-7)


def test_gaussian_upper_index_is_the_closed_form_and_its_own_blanket_is_refused():
    assert chi(LocalGaussian(20, 7), "upper") == pytest.approx(19.8879370591653, rel=1e-13)
    with pytest.raises(Unsupported, match="largest"):
        shuffle_index(LocalGaussian(1), "lower")
    assert chi(LocalGaussian(1000, 1), "lower", Blanket.LARGEST) == pytest.approx(999.2018, rel=1e-5)


@pytest.mark.parametrize(("p", "theta", "d"), [("0.6", "0", 2), ("0.3", "0.4", 2), ("0.8", "-0.5", 2)])
def test_privunit_indices_against_arcs(p, theta, d):
    mechanism = PrivUnit(p, theta, d)
    half = math.acos(float(theta))
    grid = (np.arange(200_000) + 0.5) * 2 * math.pi / 200_000 - math.pi
    inside = half / math.pi
    high, low = float(p) / inside, (1 - float(p)) / (1 - inside)

    def density(angle):
        return np.where(np.cos(grid - angle) >= float(theta), high, low)

    own = (density(0.0) - 1) ** 2
    assert 1 / (own.mean() / min(high, low)) ** 0.5 == pytest.approx(chi(mechanism, "lower"), rel=1e-4)
    worst = max((own / density(angle)).mean() for angle in np.linspace(0, math.pi, 25))
    assert worst**-0.5 == pytest.approx(chi(mechanism, "upper"), rel=1e-4)


def test_randomized_response_is_the_linear_density_on_two_points():
    response = FiniteRandomizer.from_channel(Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]]))
    linear = SphereLinear("1/2", 1)
    for side in ("lower", "upper"):
        assert shuffle_index(response, side).inverse_square == shuffle_index(linear, side).inverse_square


@pytest.mark.parametrize("d", [2, 3, 6])
def test_linear_density_upper_index_against_quadrature(d):
    c = 0.6
    moment = integrate.quad(lambda a: math.sin(a) ** (d - 2) * math.cos(a) ** 2 / (1 + c * math.cos(a)), 0, math.pi)[0]
    mass = integrate.quad(lambda a: math.sin(a) ** (d - 2), 0, math.pi)[0]
    assert chi(SphereLinear("0.6", d), "upper") == pytest.approx((c * c * moment / mass) ** -0.5, rel=1e-9)


def test_laplace_upper_index_against_a_grid_of_inputs():
    b = 0.8
    y = np.linspace(-30, 30, 400_001)
    step = y[1] - y[0]

    def law(x):
        return np.exp(-np.abs(y - x) / b) / (2 * b)

    pairs = itertools.product((0.3, 1.0), np.linspace(-1, 1, 9))
    worst = max(float(((law(x1) - law(0)) ** 2 / law(x)).sum() * step) for x1, x in pairs)
    assert worst**-0.5 == pytest.approx(chi(LocalLaplace("0.8"), "upper"), rel=1e-5)


def test_an_index_says_what_it_is():
    found = shuffle_index(BlanketMixedGaussian("0.95", "4.6"), "lower")
    assert Fraction(float(found)) <= found.bracket.lower
    assert "zero-out" in found.about and found.to_dict()["side"] == "lower"
    with pytest.raises(Unsupported, match="upper"):
        float(shuffle_index(BlanketMixedGaussian("0.95", "4.6"), "upper"))
    with pytest.raises(InputError, match="p = 1/2"):
        shuffle_index(PrivUnit("1/2", 0, 3), "lower")
    with pytest.raises(InputError, match="side"):
        shuffle_index(LocalGaussian(1), "both")


def test_a_blanket_that_is_none_is_refused_with_the_place():
    channel = Channel.from_rows([["1/2", "1/2"], ["1/4", "3/4"]])
    law = (Fraction(1, 2), Fraction(1, 2))
    assert FiniteRandomizer(channel, law, Fraction(1, 2), law).inverse_square_lower() == Fraction(1, 2)
    with pytest.raises(InputError, match="output 0 at input 1"):
        FiniteRandomizer(channel, law, Fraction(501, 1000), law)
    assert FiniteRandomizer(channel, law, Fraction(1, 2), law).with_largest_blanket().gamma == Fraction(3, 4)


def test_tails_beyond_the_reach_are_inside_the_ball(monkeypatch):
    gamma, b = flint.arb("0.3"), flint.arb("0.8")
    full = gaussian_integrals.upper_variance(gamma, b), largest_blanket_variance(gamma, b, 3)
    plain = largest_blanket_variance(flint.arb(0), b, 3)
    # Stop the integrals early: what is cut off is a visible share, and the bounds have to make up for it.
    monkeypatch.setattr(gaussian_integrals, "_reach", lambda shift: abs(shift) + 2)
    monkeypatch.setattr(gaussian_integrals, "_cover", lambda *_: None)
    short = gaussian_integrals.upper_variance(gamma, b), largest_blanket_variance(gamma, b, 3)
    for wide, narrow in zip((*short, largest_blanket_variance(flint.arb(0), b, 3)), (*full, plain), strict=True):
        assert wide.contains(narrow)
        assert wide.rad() > 1e-4 * narrow


@pytest.mark.parametrize("d", [1, 2, 3, 7, 40])
def test_the_tail_of_a_length_is_that_of_the_chi_law(d):
    for start in (0.3, 1.0, 4.0, 9.0):
        found = gaussian_integrals._chi_tail(flint.arb(d), flint.arb(start))
        assert float(found.mid()) == pytest.approx(stats.chi(d).sf(start), rel=1e-10)


@pytest.mark.parametrize("sigma0", ["0.7", "2"])
def test_the_upper_index_of_the_gaussian_depends_on_no_blanket(sigma0):
    """E[(E_1 - 1)^2 / E_-1] on the line, by quadrature."""
    b = 1 / float(sigma0)

    def density(z):
        tilted = [math.exp(side * b * z - b * b / 2) for side in (1, -1)]
        return (tilted[0] - 1) ** 2 / tilted[1] * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    variance = integrate.quad(density, -12, 12 + 3 * b, limit=200)[0]
    for blanket in Blanket:
        found = chi(LocalGaussian(sigma0, 3), "upper", blanket)
        assert found == pytest.approx(variance**-0.5, rel=1e-8)
        assert found > chi(LocalGaussian(sigma0, 3), "lower", Blanket.LARGEST)


def test_cells_do_not_accept_a_supremum_that_is_none():
    gamma, b = flint.arb("0.05"), flint.arb("1.5")
    true = largest_blanket_variance(gamma, b, 1)

    def weight(rho):
        return gaussian_integrals.mean_weight(gamma, b, 1, rho)

    end = b * 95 / 100
    gaussian_integrals._cover(weight, weight(flint.arb(0)), end, true)
    with pytest.raises(NotDecided, match="cells"):
        gaussian_integrals._cover(weight, weight(flint.arb(0)), end, true / 2)


@pytest.mark.parametrize(("gamma", "b"), [("0.02", "2.5"), ("0.2", "1.2"), ("0.5", "0.3"), ("0.9", "3")])
def test_the_largest_blanket_is_never_worse(gamma, b):
    mixed = BlanketMixedGaussian(gamma, 1 / Fraction(b), 1, 4)
    own, largest = (shuffle_index(mixed, "lower", blanket=blanket).bracket for blanket in Blanket)
    assert own.upper < largest.lower
    assert largest.upper < shuffle_index(mixed, "upper").bracket.lower


def test_the_clipped_upper_index_is_that_of_the_line_where_nothing_is_clipped():
    chi = Fraction("2.449489742783178")  # of the linear density of slope 1/2 in dimension 3
    found = shuffle_index(ClippedLinear("-0.999999", 3, chi), "upper")
    assert float(found.bracket.lower) == pytest.approx(
        float(shuffle_index(SphereLinear("1/2", 3), "upper").bracket.lower)
    )
    assert found.bracket.relative_width < Fraction(1, 10**9)


@pytest.mark.parametrize(("clip", "chi"), [("-0.1", 3), ("0.5", 1)])
def test_the_clipped_upper_index_against_sums_over_a_circle(clip, chi):
    """On a circle both heights are cosines: sums over a fine grid, at every one of 200 angles."""
    mechanism = ClippedLinear(clip, 2, chi)
    numbers = clipped_numbers(mechanism)
    angle = (np.arange(20000) + 0.5) * np.pi / 10000

    def density(at):
        return float(numbers.gamma) + float(numbers.slope) * np.maximum(np.cos(at) - float(clip), 0)

    seen = max(float(((density(angle) - 1) ** 2 / density(angle - turn)).mean()) for turn in np.linspace(0, np.pi, 200))
    bracket = shuffle_index(mechanism, "upper").bracket
    assert float(bracket.lower) <= seen**-0.5 * (1 + 1e-7)
    assert float(bracket.upper) >= seen**-0.5 * (1 - 1e-4)
    assert bracket.relative_width < Fraction(1, 1000)
    assert bracket.lower >= chi  # no index of privacy below the lower one


@pytest.mark.parametrize("terms", [3, 5, 9])
def test_what_is_left_of_a_zonal_series_is_inside_the_ball(terms):
    """On a circle E|cos a||cos b| is least, 1/pi, at right angles: the largest of its negative is at neither end."""
    height = Heights(lambda t: -t, lambda t: t)
    minus = Heights(lambda t: t, lambda t: -t)
    found = largest_mean(height, minus, Fraction(0), 2, terms)
    assert found.lower() < -1 / flint.arb.pi() < found.upper()
    middle = Fraction(1, 2)  # the largest of E[T T'] is at equal axes, 1/d; one term less leaves the whole of it
    same = Heights(lambda t: t, lambda t: t)
    assert largest_mean(same, same, middle, 5, terms).overlaps(flint.arb(1) / 5)


def test_the_largest_value_of_a_series_may_lie_between_all_places_looked_at():
    """In three dimensions 0.6 P_1 - P_2 is largest at 1/5, where it is 0.56."""
    low, high = zonal._largest([flint.arb(0), flint.arb("0.6"), flint.arb(-1)], 3)
    truth = flint.arb(56) / 100
    assert low <= truth.upper()
    assert high >= truth.lower()
    assert high - low < 1e-6
