"""Indices against enumeration, quadrature, and grids of inputs that may never exceed the claimed supremum."""

# No public door stops an integral early, so that private names are set.
import itertools
import math
from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest
from scipy import integrate

from symshuffle import Channel, InputError, NotDecided, Unsupported
from symshuffle.base.choices import Blanket, members
from symshuffle.base.numbers import to_arb, working_precision
from symshuffle.vectors import BlanketMixedGaussian, ClippedLinear, LocalGaussian, LocalLaplace, PrivUnit, SphereLinear
from symshuffle.vectors.error.indices import shuffle_index
from symshuffle.vectors.randomizers import gaussian as gaussian_integrals
from symshuffle.vectors.randomizers.gaussian import largest_blanket_variance
from symshuffle.vectors.randomizers.mechanisms import FiniteRandomizer
from symshuffle.vectors.randomizers.sphere import clipped_numbers, largest_mean


def chi(mechanism, side, blanket="mechanism"):
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
    largest = chi(mechanism, "lower", "largest")
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
    for blanket in members(Blanket):
        assert chi(LocalGaussian(20, 7), "upper", blanket) == pytest.approx(19.8879370591653, rel=1e-13)
    with pytest.raises(Unsupported, match="largest"):
        shuffle_index(LocalGaussian(1), "lower")
    assert chi(LocalGaussian(1000, 1), "lower", "largest") == pytest.approx(999.2018, rel=1e-5)


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


def test_cells_do_not_accept_a_supremum_that_is_none():
    gamma, b = flint.arb("0.05"), flint.arb("1.5")
    true = largest_blanket_variance(gamma, b, 1)

    def weight(rho):
        return gaussian_integrals.mean_weight(gamma, b, 1, rho)

    end = b * 95 / 100
    gaussian_integrals._cover(weight, weight(flint.arb(0)), end, true)
    with pytest.raises(NotDecided, match="cells"):
        gaussian_integrals._cover(weight, weight(flint.arb(0)), end, true / 2)


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
    gamma, slope, _ = map(float, clipped_numbers(mechanism))
    angle = (np.arange(20000) + 0.5) * np.pi / 10000

    def density(at):
        return gamma + slope * np.maximum(np.cos(at) - float(clip), 0)

    seen = max(float(((density(angle) - 1) ** 2 / density(angle - turn)).mean()) for turn in np.linspace(0, np.pi, 200))
    bracket = shuffle_index(mechanism, "upper").bracket
    assert float(bracket.lower) <= seen**-0.5 * (1 + 1e-7)
    assert float(bracket.upper) >= seen**-0.5 * (1 - 1e-4)
    assert bracket.relative_width < Fraction(1, 1000)
    assert bracket.lower >= chi  # no index of privacy below the lower one


@pytest.mark.parametrize("terms", [3, 5, 9])
def test_what_is_left_of_a_zonal_series_is_inside_the_ball(terms):
    """On a circle E|cos a||cos b| is least, 1/pi, at right angles: the largest of its negative is at neither end."""
    height = (lambda t: -t, lambda t: t)
    minus = (lambda t: t, lambda t: -t)
    found = largest_mean(height, minus, Fraction(0), 2, terms)
    assert found.lower() < -1 / flint.arb.pi() < found.upper()
    middle = Fraction(1, 2)  # the largest of E[T T'] is at equal axes, 1/d; one term less leaves the whole of it
    same = (lambda t: t, lambda t: t)
    assert largest_mean(same, same, middle, 5, terms).overlaps(flint.arb(1) / 5)


@pytest.mark.parametrize("dimension", [2, 3, 7])
def test_the_largest_mean_of_squares_is_between_the_ends(dimension):
    """E[(t + t^2)(s - a t^2)] = r/d - a (1 + 2 r^2)/(d (d + 2)) at the cosine r of the angle."""
    a = Fraction(83 * (dimension + 2), 100)
    first, second = 2 * (lambda t: t + t * t,), 2 * (lambda t: t - to_arb(a) * t * t,)
    found = largest_mean(first, second, Fraction(1, 3), dimension, 5)
    r = Fraction(100, 332)
    assert found.overlaps(to_arb((r - Fraction(83, 100) * (1 + 2 * r * r)) / dimension)) and found.rad() < 1e-6


def test_a_coefficient_around_zero_is_squared():
    """A power of a ball whose middle is 0 would be no number, and so would the largest mean."""
    first, second = 2 * (lambda t: t + t * t,), 2 * (lambda t: t - t * t,)
    with working_precision(80):
        found = largest_mean(first, second, Fraction(-2, 5), 7, 12)
    assert found.overlaps(flint.arb(2) / 21) and found.rad() < 1e-6


@pytest.mark.parametrize("knot", [Fraction(-2, 5), Fraction(1, 3)])
@pytest.mark.parametrize("dimension", [3, 4, 7])
def test_the_largest_mean_over_axes_by_quadrature(knot, dimension):
    """A point by its height over one axis and over the next one; both axes at 41 angles."""

    def law(d):
        angle = (np.arange(400) + 0.5) * math.pi / 400 - math.pi / 2
        return np.sin(angle), np.cos(angle) ** (d - 2) / (np.cos(angle) ** (d - 2)).sum()

    pair = (lambda t: t + 2, lambda t: 3 - t), (lambda t: t * t, lambda t: t * 0 + 5)
    (t, mass), (s, share) = law(dimension), law(dimension - 1)
    first, second = (lambda h, one=one: np.where(h < float(knot), one[0](h), one[1](h)) for one in pair)
    across = np.multiply.outer(np.sqrt(1 - t * t), s)
    means = [
        (mass * first(t)) @ second(r * t[:, None] + math.sqrt(1 - r * r) * across) @ share
        for r in np.linspace(-1, 1, 41)
    ]
    found = largest_mean(*pair, knot, dimension, 8)
    assert float(found.lower()) <= 1.01 * max(means)
    assert 0.99 * max(means) <= float(found.upper()) <= 1.05 * max(means)


MIXED = tuple(
    (Fraction(gamma), Fraction(b))
    for gamma, b in (("0", "1/3"), ("0", "1"), ("1/2", "1"), ("9/10", "1/3"), ("1/20", "3/2"))
)


def mp(x):
    return mpmath.mpf(x.numerator) / x.denominator


@pytest.mark.parametrize(("gamma", "b"), MIXED)
def test_the_upper_variance_by_quadrature(gamma, b):
    with mpmath.workdps(30):
        g, c = mp(gamma), mp(b)

        def integrand(z):
            toward, away = mpmath.exp(c * z - c * c / 2), mpmath.exp(-c * z - c * c / 2)
            return (toward - 1) ** 2 / (g + (1 - g) * away) * mpmath.npdf(z)

        expected = mpmath.quad(integrand, [-14, -6, 0, 3 * c, 6 + 3 * c, 14 + 3 * c])
    with working_precision(100):
        found = gaussian_integrals.upper_variance(to_arb(gamma), to_arb(b))
        assert found.rad() < found.mid() * flint.arb("1e-15")
        assert float(found) == pytest.approx(float(expected), rel=1e-14)


@pytest.mark.parametrize(
    ("dimension", "gamma", "b", "rho", "tolerance"),
    [(1, "0", "1", "2", 1e-3), (2, "0", "1/2", "0", 1e-4), (3, "1/2", "1", "1", 1e-6), (7, "9/10", "1/3", "2/3", 1e-8)],
)
def test_the_mean_weight_by_quadrature(dimension, gamma, b, rho, tolerance):
    """Over the coordinate along the shift and the length of the rest, each with its own law; kinks cost digits."""
    g, c, r = (float(Fraction(v)) for v in (gamma, b, rho))

    def weight(length):
        return 1 / (g + (1 - g) * np.exp(-c * length - c * c / 2))

    along, masses = np.polynomial.legendre.leggauss(160)
    across, shares = 6 + 6 * along, 6 * masses
    along, masses = 12 * along, 12 * masses
    line = masses * np.exp(-along * along / 2) / math.sqrt(2 * math.pi)
    if dimension == 1:
        expected = float(line @ weight(np.abs(along + r)))
    else:
        k = dimension - 1
        law = shares * across ** (k - 1) * np.exp(-across * across / 2) * 2 ** (1 - k / 2) / math.gamma(k / 2)
        expected = float(line @ weight(np.hypot.outer(along + r, across)) @ law)
    with working_precision(60):
        found = gaussian_integrals.mean_weight(
            to_arb(Fraction(gamma)), to_arb(Fraction(b)), dimension, to_arb(Fraction(rho))
        )
        assert found.rad() < flint.arb("1e-10")
    assert float(found) == pytest.approx(expected, rel=tolerance)


@pytest.mark.parametrize(("c", "d"), [("1/2", 2), ("9/10", 3), ("1/5", 8)])
def test_the_upper_index_of_the_linear_density_by_quadrature(c, d):
    """E[(1 + cT)^2/(1 - cT)] - 1 at opposite inputs is E[(cT)^2...]: by the density of the height."""
    slope = float(Fraction(c))
    expected = mpmath.quad(
        lambda a: mpmath.cos(a) ** (d - 2) * (slope * mpmath.sin(a)) ** 2 / (1 - slope * mpmath.sin(a)),
        [-mpmath.pi / 2, 0, mpmath.pi / 2],
    ) / mpmath.quad(lambda a: mpmath.cos(a) ** (d - 2), [-mpmath.pi / 2, mpmath.pi / 2])
    found = shuffle_index(SphereLinear(c, d), "upper")
    assert float(found.inverse_square) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize("scale", ["1/2", "1", "3"])
def test_the_indices_of_laplace_noise_by_quadrature(scale):
    """At x1 = 1 against x = -1 above; below against exp(-(1 + |y|)/s)/(2s), the least density of all inputs."""
    s = float(Fraction(scale))

    def noise(y, x):
        return mpmath.exp(-abs(y - x) / s) / (2 * s)

    cuts = [-40 * s - 1, -1, 0, 1, 1 + 40 * s]
    upper = shuffle_index(LocalLaplace(scale), "upper")
    expected = mpmath.quad(lambda y: (noise(y, 1) - noise(y, 0)) ** 2 / noise(y, -1), cuts)
    assert float(upper.inverse_square) == pytest.approx(float(expected), rel=1e-9)
    lower = shuffle_index(LocalLaplace(scale), "lower", blanket="largest")
    expected = mpmath.quad(lambda y: (noise(y, 1) - noise(y, 0)) ** 2 / (mpmath.exp(-(1 + abs(y)) / s) / (2 * s)), cuts)
    assert float(lower.inverse_square) == pytest.approx(float(expected), rel=1e-9)
