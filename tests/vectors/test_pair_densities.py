"""Pairs with densities: both laws, the blanket and the coordinate's law against definitions in SciPy."""

import math
from fractions import Fraction as F

import flint
import numpy as np
import pytest
from scipy import integrate
from scipy.special import gammaln
from scipy.stats import chi, norm

from symshuffle.errors import InputError, Unsupported
from symshuffle.vectors.clipped import clipped_numbers
from symshuffle.vectors.mechanisms import (
    BlanketMixedGaussian,
    ClippedLinear,
    LocalGaussian,
    PrivUnit,
    SphereLinear,
)
from symshuffle.vectors.pairs import real_pair, short_input, worst_pair
from symshuffle.vectors.rounded import rounding_radius

FIELDS = ("base", "first", "second", "reference")


def values(stretch, u):
    return [float(getattr(stretch, name)(flint.acb(u)).real.mid()) for name in FIELDS]


def mixed(gamma, z, mean):
    """Of a message whose informative part is around a mean, relative to N(0, 1)."""
    return gamma + (1 - gamma) * norm.pdf(z, mean) / norm.pdf(z)


MIXED = BlanketMixedGaussian("0.7", "1.5", "0.9")
V = 0.9 / 1.5
PLACES = (-2.3, -0.4, 0.0, 0.9, 3.1)


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
def test_the_mixed_gaussian_against_its_own_blanket(adjacency):
    pair = worst_pair(MIXED, adjacency=adjacency)
    (stretch,) = pair.stretches
    assert (stretch.low, stretch.high) == (None, None) and pair.symmetric is (adjacency == "replace-one")
    for z in PLACES:
        other = 1 if adjacency == "zero-out" else mixed(0.7, z, -V)
        assert values(stretch, z) == pytest.approx([norm.pdf(z), mixed(0.7, z, V), other, 0.7])


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
@pytest.mark.parametrize("mechanism", [MIXED, LocalGaussian("1.5", 4)])
def test_a_real_pair_of_gaussians_has_the_others_opposite(mechanism, adjacency):
    gamma, v = (0.7, V) if mechanism is MIXED else (0, 1 / 1.5)
    pair = real_pair(mechanism, adjacency=adjacency)
    (stretch,) = pair.stretches
    assert not pair.symmetric
    for z in PLACES:
        away = mixed(gamma, z, -v)
        other = 1 if adjacency == "zero-out" else away
        assert values(stretch, z) == pytest.approx([norm.pdf(z), mixed(gamma, z, v), other, away])


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
@pytest.mark.parametrize("mechanism", [MIXED, LocalGaussian("1.5")])
def test_the_largest_blanket_on_the_line_is_the_smaller_of_both_ends(mechanism, adjacency):
    gamma, v = (0.7, V) if mechanism is MIXED else (0, 1 / 1.5)
    pair = worst_pair(mechanism, adjacency=adjacency, blanket="largest")
    assert [(s.low, s.high) for s in pair.stretches] == [(None, 0), (0, None)]
    assert pair.symmetric is (adjacency == "replace-one")
    for z in PLACES:
        other = 1 if adjacency == "zero-out" else mixed(gamma, z, -v)
        least = min(mixed(gamma, z, v), mixed(gamma, z, -v))
        stretch = pair.stretches[z > 0]
        assert values(stretch, z) == pytest.approx([norm.pdf(z), mixed(gamma, z, v), other, least])


def test_a_level_rounds_the_blanket_around_zero_under_zero_out_alone():
    """Between minus and plus the radius the exponent is a parabola that touches both sides."""
    level = F(11, 10)
    radius = rounding_radius(level, reach=F(3, 5), gamma=F(7, 10))
    pair = worst_pair(MIXED, adjacency="zero-out", blanket="largest", exp_eps=level)
    assert [(s.low, s.high) for s in pair.stretches] == [(None, -radius), (-radius, radius), (radius, None)]
    left, middle, right = pair.stretches
    r = float(radius)
    for u, side in ((-r, left), (r, right)):
        assert values(middle, u)[3] == pytest.approx(values(side, u)[3], rel=1e-12)
        assert values(side, u)[3] == pytest.approx(mixed(0.7, -abs(u), V), rel=1e-12)
    tau = r / V
    bend = (r / 3) ** 2 / (2 * tau) + V**2 * tau / 2
    assert values(middle, r / 3)[3] == pytest.approx(0.7 + 0.3 * math.exp(-bend - V**2 / 2))
    assert "(worst: proved)" in pair.about and "rounded around 0" in pair.about
    replaced = worst_pair(MIXED, adjacency="replace-one", blanket="largest", exp_eps=level)
    assert len(replaced.stretches) == 2 and "(worst: proved)" in replaced.about and "rounded" not in replaced.about
    unrounded = worst_pair(MIXED, adjacency="zero-out", blanket="largest")
    assert "worst" not in unrounded.about


def test_past_eight_standard_deviations_the_whole_line_is_rounded():
    def ends(level):
        pair = worst_pair(BlanketMixedGaussian("0.5", 1), adjacency="zero-out", blanket="largest", exp_eps=level)
        return rounding_radius(level, reach=F(1), gamma=F(1, 2)), [(s.low, s.high) for s in pair.stretches]

    below, cut = ends(F(5))
    assert 7 < below <= 8 and cut == [(None, -below), (-below, below), (below, None)]
    above, whole = ends(F(27, 5))
    assert above > 8 and whole == [(None, None)]


def test_a_blanket_rounded_by_more_than_two_in_its_logarithm_gives_way_to_opposite_inputs():
    """Only without a shared part: with one, the blanket never gets small."""

    def found(mechanism, level):
        return worst_pair(mechanism, adjacency="zero-out", blanket="largest", exp_eps=level)

    def taken(level):
        return rounding_radius(level, reach=F(1))

    low, high = F(49, 10), F(51, 10)
    assert taken(low) < 4 < taken(high)
    assert not found(LocalGaussian(1), low).symmetric
    replaced = found(LocalGaussian(1), high)
    assert replaced.symmetric and replaced.about.startswith("the null symbol has the law of the input 0")
    right = replaced.stretches[1]
    assert values(right, 1.3) == pytest.approx([norm.pdf(1.3), mixed(0, 1.3, 1), mixed(0, 1.3, -1), mixed(0, 1.3, -1)])
    assert not found(BlanketMixedGaussian("0.01", 1), high).symmetric
    # Half the length in units of the noise, and the square of the reach counts: at v = 1/3 the radius may be 12.
    far = F(30)
    assert 4 < rounding_radius(far, reach=F(1, 3)) < 12 and not found(LocalGaussian(3), far).symmetric


@pytest.mark.parametrize("mechanism", [BlanketMixedGaussian("0.7", "1.5", "0.9", 5), LocalGaussian("3", 3)])
def test_beyond_the_line_each_class_of_lengths_has_its_farthest_blanket(mechanism):
    gamma, v = (0.7, V) if isinstance(mechanism, BlanketMixedGaussian) else (0, 1 / 3)
    d = mechanism.dimension
    pair = worst_pair(mechanism, adjacency="replace-one", blanket="largest")
    assert pair.symmetric and "(worst: proved)" in pair.about
    masses = [float(s.base(flint.acb(0)).real.mid()) / norm.pdf(0) for s in pair.stretches]
    assert math.fsum(masses) == pytest.approx(1, rel=1e-12)
    below = np.cumsum(masses)
    for k in (0, 3, 7):
        far = chi(d - 1).ppf(below[k])
        assert pair.stretches[k].since == pytest.approx(max(far - math.sqrt(d - 1), 0), abs=1e-3)
        assert (pair.stretches[k].low, pair.stretches[k].high) == (None, None)
        for z in (-1.7, 0.6):
            least = gamma + (1 - gamma) * math.exp(-v * math.hypot(z, far) - v * v / 2)
            expected = [norm.pdf(z) * masses[k], mixed(gamma, z, v), mixed(gamma, z, -v), least]
            assert values(pair.stretches[k], z) == pytest.approx(expected, rel=1e-9)


def test_a_short_input_meets_the_blanket_of_longer_ones():
    pair = short_input(MIXED, length=F(3, 10), reach=F(12, 10))
    assert not pair.symmetric and "length 0.3 " in pair.about and "|x| <= 1.2 " in pair.about
    for z in PLACES:
        found = values(pair.stretches[z > 0], z)
        assert found == pytest.approx([norm.pdf(z), mixed(0.7, z, 0.2), 1, mixed(0.7, -abs(z), 0.8)])
    local = short_input(LocalGaussian(2), length=F(1, 2), reach=F(1))
    assert values(local.stretches[1], 1.1) == pytest.approx(
        [norm.pdf(1.1), mixed(0, 1.1, 0.25), 1, mixed(0, 1.1, -0.5)]
    )


@pytest.mark.parametrize("mechanism", [LocalGaussian(3, 10**5 + 1), BlanketMixedGaussian("0.5", 3, 1, 10**8)])
def test_more_coordinates_than_doubles_hold_are_refused_before_work(mechanism):
    with pytest.raises(Unsupported, match=f"d = {mechanism.dimension}: .* at most 100000 coordinates"):
        worst_pair(mechanism, blanket="largest")
    assert worst_pair(LocalGaussian(3, 10**5), blanket="largest").symmetric


def test_a_gaussian_has_no_blanket_of_its_own():
    with pytest.raises(Unsupported, match="no blanket of its own"):
        worst_pair(LocalGaussian(3))
    for wrong in ({"adjacency": "both"}, {"blanket": "none"}):
        with pytest.raises(InputError):
            worst_pair(MIXED, **wrong)


def height_density(t, d):
    """Of a coordinate of the uniform sphere."""
    return math.exp(gammaln(d / 2) - gammaln((d - 1) / 2)) / math.sqrt(math.pi) * (1 - t * t) ** ((d - 3) / 2)


@pytest.mark.parametrize("d", [2, 3, 6])
@pytest.mark.parametrize(
    ("adjacency", "real"), [("zero-out", 0), ("zero-out", 1), ("replace-one", 0), ("replace-one", 1)]
)
def test_the_linear_density_along_the_angle(adjacency, real, d):
    """With t the sine of a quarter turn times u, dt = (pi/2) cos du."""
    mechanism = SphereLinear("0.4", d)
    pair = (real_pair if real else worst_pair)(mechanism, adjacency=adjacency)
    (stretch,) = pair.stretches
    assert (stretch.low, stretch.high) == (-1, 1)
    assert pair.symmetric is (adjacency == "replace-one" and not real)
    assert (pair.transforms is None) is bool(real)
    for u in (-0.8, 0.1, 0.7):
        t = math.sin(math.pi / 2 * u)
        base = height_density(t, d) * math.pi / 2 * math.cos(math.pi / 2 * u)
        other = 1 if adjacency == "zero-out" else 1 - 0.4 * t
        least = 1 - 0.4 * t if real else 0.6
        assert values(stretch, u) == pytest.approx([base, 1 + 0.4 * t, other, least])


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
def test_transforms_of_the_linear_density_are_those_of_its_own_law(adjacency):
    """E exp(sG) over the sphere of dimension 3, whose coordinate is uniform on [-1, 1]."""
    pair = worst_pair(SphereLinear("0.4", 3), adjacency=adjacency)
    ratio, s = 1.3, 0.7
    for made, order in zip(pair.transforms, (1, -1), strict=True):
        found = made(flint.arb(ratio)).at(flint.acb(s)).real

        def integrand(t, order=order):
            p, q = 1 + 0.4 * t, (1 if adjacency == "zero-out" else 1 - 0.4 * t)
            first, second = (p, q) if order == 1 else (q, p)
            return 0.6 * math.exp(s * (first - ratio * second) / 0.6) / 2

        assert float(found.mid()) == pytest.approx(integrate.quad(integrand, -1, 1)[0], rel=1e-9)


@pytest.mark.parametrize(
    ("adjacency", "real"), [("zero-out", 0), ("zero-out", 1), ("replace-one", 0), ("replace-one", 1)]
)
@pytest.mark.parametrize("clip", ["0.3", "-0.2", "0"])
def test_the_clipped_density_between_its_corners(clip, adjacency, real):
    mechanism = ClippedLinear(clip, 4, 3)
    numbers = clipped_numbers(mechanism)
    gamma, slope, t0 = float(numbers.gamma), float(numbers.slope), float(F(clip))
    pair = (real_pair if real else worst_pair)(mechanism, adjacency=adjacency)
    corners = {t0} if adjacency == "zero-out" and not real else {t0, -t0}
    heights = [-1.0, *sorted(corners), 1.0]
    assert len(pair.stretches) == len(heights) - 1
    assert pair.symmetric is (adjacency == "replace-one" and not real)

    def h(t):
        return gamma + slope * max(t - t0, 0)

    for k, stretch in enumerate(pair.stretches):
        assert (stretch.low, stretch.high) == (k, k + 1)
        start, stop = math.asin(heights[k]), math.asin(heights[k + 1])
        for part in (0.02, 0.6, 0.97):
            angle = start + part * (stop - start)
            t = math.sin(angle)
            base = height_density(t, 4) * math.cos(angle) * (stop - start)
            other = 1 if adjacency == "zero-out" else h(-t)
            assert values(stretch, k + part) == pytest.approx([base, h(t), other, h(-t) if real else gamma], rel=1e-9)


def test_words_name_the_pair_and_the_blanket():
    assert "a unit vector x against the null symbol" in worst_pair(SphereLinear("0.4", 3), adjacency="zero-out").about
    assert "a unit vector x against -x" in worst_pair(PrivUnit("0.8", 0, 3)).about


@pytest.mark.parametrize(
    "mechanism",
    [MIXED, SphereLinear("0.4", 3), ClippedLinear("0.3", 4, 3)],
    ids=lambda mechanism: type(mechanism).__name__,
)
@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
def test_all_functions_take_series(mechanism, adjacency):
    """At the place 0.3 + h every function has the same constant term as at 0.3, and is a series."""
    for stretch in worst_pair(mechanism, adjacency=adjacency).stretches:
        place = 0.3 if stretch.low is None else float(stretch.low) + 0.3
        series = flint.acb_series([place, 1], prec=3)
        for name, value in zip(FIELDS, values(stretch, place), strict=True):
            found = getattr(stretch, name)(series)
            assert isinstance(found, flint.acb_series)
            assert float(found[0].real.mid()) == pytest.approx(value)
