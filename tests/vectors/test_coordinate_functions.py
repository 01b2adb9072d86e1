"""Functions of one coordinate, classes of lengths, the rounded blanket and what one message tells, by SciPy."""

import cmath
import itertools
import math
from fractions import Fraction as F

import flint
import numpy as np
import pytest
from scipy import integrate
from scipy.special import gamma as gamma_function
from scipy.stats import chi, norm

from symshuffle.errors import InputError
from symshuffle.numbers import working_precision
from symshuffle.results import Bracket, Rigour
from symshuffle.vectors import coordinates, cover
from symshuffle.vectors.cover import alone, cell_delta
from symshuffle.vectors.lengths import LengthClass, length_along, length_classes
from symshuffle.vectors.mechanisms import BlanketMixedGaussian, LocalGaussian
from symshuffle.vectors.rounded import rounded, rounding_radius, sufficient_curvature


def mid(ball):
    return float(ball.real.mid()) if isinstance(ball, flint.acb) else float(ball.mid())


@pytest.mark.parametrize("z", [-1.3, 0.0, 2.1])
def test_densities_of_a_coordinate(z):
    at = flint.acb(z)
    assert mid(coordinates.normal(at)) == pytest.approx(norm.pdf(z))
    expected = 0.3 + 0.7 * norm.pdf(z, 0.8) / norm.pdf(z)
    assert mid(coordinates.tilted(F(3, 10), F(4, 5))(at)) == pytest.approx(expected)
    assert mid(coordinates.constant(F(3, 10))(at)) == pytest.approx(0.3)
    assert mid(coordinates.sine(at)) == pytest.approx(math.sin(z))
    assert mid(coordinates.cosine(at)) == pytest.approx(math.cos(z))
    turned = flint.acb(z, 0.5)
    assert complex(coordinates.sine(turned)) == pytest.approx(cmath.sin(complex(z, 0.5)))
    assert complex(coordinates.cosine(turned)) == pytest.approx(cmath.cos(complex(z, 0.5)))


@pytest.mark.parametrize("d", [2, 3, 4, 9])
def test_the_constant_of_the_sphere_makes_a_density(d):
    factor = mid(coordinates.sphere_constant(d)())
    assert factor * integrate.quad(lambda a: math.cos(a) ** (d - 2), -math.pi / 2, math.pi / 2)[0] == pytest.approx(1)


def test_what_depends_on_the_precision_is_made_once_for_each():
    made = []
    known = coordinates.once(lambda: made.append(flint.ctx.prec) or len(made))
    with working_precision(100):
        assert known() == known() == 1
    with working_precision(200):
        assert known() == 2
    assert made == [100, 200]
    with working_precision(200):
        (third,) = coordinates.enclosed(F(1, 3))()
        assert third.contains(flint.arb(1) / 3) and third.rad() < flint.arb(2) ** -190


SLOPES = F(2, 5), F(-2, 5)


def transform_by_quadrature(d, s, ratio):
    """E exp(sG) for G = ((1 + a x) - ratio (1 + b x)) / m over the height x, in complex doubles."""
    scale = gamma_function(d / 2) / gamma_function((d - 1) / 2) / math.sqrt(math.pi)

    def value(angle):
        x = math.sin(angle)
        g = ((1 + 0.4 * x) - ratio * (1 - 0.4 * x)) / 0.6
        return 0.6 * cmath.exp(s * g) * scale * math.cos(angle) ** (d - 2)

    parts = (
        integrate.quad(lambda a, p=p: getattr(value(a), p), -math.pi / 2, math.pi / 2)[0] for p in ("real", "imag")
    )
    return complex(*parts)


@pytest.mark.parametrize("d", [2, 3, 6])
@pytest.mark.parametrize("s", [0.3, complex(0.4, 2.5), complex(-1, 12)])
def test_the_transform_of_a_linear_ratio(d, s):
    with working_precision(128):
        made = coordinates.linear_transform(d, SLOPES, F(3, 5))(flint.arb(1.25))
        found = made.at(flint.acb(complex(s).real, complex(s).imag))
    expected = transform_by_quadrature(d, s, 1.25)
    assert complex(found) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("d", [2, 3, 6, 7])
def test_the_transform_far_up_a_line_is_below_its_bound_and_not_by_much(d):
    """The bound falls; at its peaks the transform is at least a thirtieth of it, where the line is near 0."""
    with working_precision(128):
        made = coordinates.linear_transform(d, SLOPES, F(3, 5))(flint.arb(1.25))
        c = flint.arb(0.2)
        bounds = [mid(made.most(c, flint.arb(h))) for h in (5, 20, 60)]
        assert bounds == sorted(bounds, reverse=True)
        for h, bound in zip((5, 20, 60), bounds, strict=True):
            seen = [abs(complex(made.at(flint.acb(0.2, h + k / 4)))) for k in range(16)]
            assert bound / 12 < max(seen) <= bound
            below = [abs(complex(made.at(flint.acb(0.2, -h - k / 4)))) for k in range(16)]
            assert max(below) <= bound


def test_a_ball_of_arguments_is_moved_by_its_own_radius():
    """The transform at a ball holds the transform at all of its points."""
    with working_precision(128):
        made = coordinates.linear_transform(3, SLOPES, F(3, 5))(flint.arb(1.25))
        wide = made.at(flint.acb(flint.arb(0.5, 0.1), flint.arb(1, 0.1)))
        for x in (0.4, 0.5, 0.6):
            for y in (0.9, 1, 1.1):
                assert wide.overlaps(made.at(flint.acb(x, y)))
        assert wide.rad() < 1


def test_a_class_has_the_mass_of_the_chi_law():
    for d in (2, 3, 9):
        law = chi(d - 1)
        part = LengthClass(F(1, 2), F(9, 4), F(0))
        assert mid(part.mass(d)) == pytest.approx(law.cdf(2.25) - law.cdf(0.5), rel=1e-12)


@pytest.mark.parametrize(("d", "slope", "share"), [(2, F(1), 1.0), (26, F(1, 2), 0.3), (101, F(3), 1.0)])
def test_classes_follow_one_another_and_are_narrow_in_the_bulk(d, slope, share):
    classes = length_classes(d, slope, share)
    middle = F(round(math.sqrt(d - 1) * 4096), 4096)
    assert classes[0].near == 0
    for left, right in itertools.pairwise(classes):
        assert left.far == right.near < right.far
    step = min(1.0, max(1 / (24 * float(slope) * share), 0.5))
    for part in classes:
        assert part.since == max(part.far - middle, 0)
        if middle - 3 < part.near and part.far <= middle + 3:
            assert part.far - part.near <= step
        elif part.near >= middle + 3:
            assert part.far - part.near == max(1, (part.near - middle) / 5)
    assert classes[-1].near < middle + 40 <= classes[-1].far
    # Beyond the middle by 3 there is an end, before it by 3 the first one (or 0).
    ends = [part.far for part in classes]
    assert middle + 3 in ends and (middle <= 3 or classes[0].far == middle - 3)


def test_the_first_class_reaches_what_is_asked_for():
    least = F(7, 2)
    classes = length_classes(5, F(1), 1.0, least=least)
    plain = length_classes(5, F(1), 1.0)
    assert classes[0].near == 0 and classes[0].far == min(part.far for part in plain if part.far >= least)
    at_an_end = plain[4].far
    assert length_classes(5, F(1), 1.0, least=at_an_end)[0].far == at_an_end


def test_the_length_by_both_coordinates_off_the_cut():
    length = length_along(F(2))
    assert mid(length(flint.acb(1.5))) == pytest.approx(2.5)
    assert complex(length(flint.acb(1, 1))) == pytest.approx(cmath.sqrt(4 + complex(1, 1) ** 2))
    assert not length(flint.acb(0, 3)).is_finite() and not length(flint.acb(0, 2)).is_finite()
    assert length(flint.acb(0, 1.9)).is_finite()
    assert complex(length(flint.acb(0.5, 3))) == pytest.approx(cmath.sqrt(4 + complex(0.5, 3) ** 2))
    # A ball around 0 is squared without going below 0: the length is between 2 and its value at the end.
    found = length(flint.acb(flint.arb(0, 1)))
    assert float(found.real.lower()) > 1.9999 and float(found.real.upper()) < 2.2361
    assert not length(flint.acb_series([flint.acb(0, 3), 1], prec=3))[0].is_finite()
    series = length(flint.acb_series([1.5, 1], prec=3))
    assert mid(series[0]) == pytest.approx(2.5) and mid(series[1]) == pytest.approx(1.5 / 2.5)
    assert mid(series[2]) == pytest.approx((1 - 0.36) / 2.5 / 2)


def test_the_radius_of_rounding_is_reach_times_the_larger_curvature():
    """a = (e^eps - gamma)/(1 - gamma), tau the larger of a - 1 and (a - 1)/2 + (a/8)(e^(v^2/2) - 1)."""
    assert sufficient_curvature(F(3), F(2)) == (F(2), F(1) + F(3, 4))
    for level, reach, gamma in ((1.02, 0.5, 0.9), (3.0, 0.5, 0.0), (1.001, 1.5, 0.2)):
        a = (level - gamma) / (1 - gamma)
        tau = max(a - 1, (a - 1) / 2 + a / 8 * math.expm1(reach**2 / 2))
        found = rounding_radius(F(str(level)), reach=F(str(reach)), gamma=F(str(gamma)))
        assert reach * tau <= float(found) * (1 + 1e-15) and float(found) <= reach * tau * (1 + 2**-18)
        assert found.denominator & (found.denominator - 1) == 0 and found.numerator < 2**21


def test_the_rounded_blanket_is_a_parabola_in_its_exponent():
    """L = u^2/(2 tau) + v^2 tau/2 + v^2/2 with tau = radius/v."""
    found = rounded(F(1, 5), F(1, 2), F(3, 10))
    tau, v = 0.6, 0.5
    for u in (-0.3, 0.0, 0.1):
        expected = 0.2 + 0.8 * math.exp(-(u * u) / (2 * tau) - v * v * tau / 2 - v * v / 2)
        assert mid(found(flint.acb(u))) == pytest.approx(expected)


MIXED = BlanketMixedGaussian("0.8", 2, "0.9")


@pytest.mark.parametrize("mechanism", [MIXED, LocalGaussian(2, 5)])
def test_what_one_message_tells_is_the_profile_of_two_normal_laws(mechanism):
    """Of N(1/4, 1) against N(0, 1), by quadrature of the positive part."""
    z = np.linspace(-10, 10, 200_001)
    gain = np.maximum(norm.pdf(z, 0.25) - 1.1 * norm.pdf(z), 0)
    found = alone(mechanism, "1/2", exp_eps="1.1")
    assert float(found.upper) == pytest.approx(np.trapezoid(gain, z), rel=1e-6)
    assert found.lower <= found.upper and float(alone(mechanism, "1e-3", exp_eps=3).upper) < 1e-30
    with pytest.raises(InputError, match="length"):
        alone(mechanism, 0, eps=1)


@pytest.mark.parametrize(
    ("low", "high", "name"),
    [(0, "1/2", "low"), ("0.51", "1/2", "low"), ("1/10", "0.901", "high"), ("1/10", 0, "high"), ("-1/2", "1/2", "low")],
)
def test_cells_of_lengths_are_within_the_ball(low, high, name):
    with pytest.raises(InputError, match=f"^{name} "):
        cell_delta(MIXED, n=10, low=low, high=high, eps="0.1")


def test_a_cell_is_bounded_by_its_longest_input_and_a_wider_blanket(monkeypatch):
    """F(x, v) <= F(l, v l/k): inputs from 0.3 to 0.6 in a ball of radius 0.9 against the blanket of 1.8."""
    seen = []
    pair = type("Pair", (), {"reverse": "back"})
    monkeypatch.setattr(cover, "short_input", lambda _, **given: seen.append(given) or pair)

    def value(one, n, order, *, rel):
        ends = (F(1, 5), F(1, 4)) if one == "back" else (F(1, 10), F(1, 8))
        return Bracket(*ends, Rigour.BALL, "test", "test")

    monkeypatch.setattr(cover, "pair_delta", value)
    found = cell_delta(MIXED, n=10, low="0.3", high="0.6", eps="0.1")
    assert seen == [{"length": F(3, 5), "reach": F(9, 5)}]
    assert (found.lower, found.upper) == (F(1, 5), F(1, 4))
    cell_delta(LocalGaussian(2), n=10, low="1/2", high=1, eps="0.1")
    assert seen[1] == {"length": F(1), "reach": F(2)}
    cell_delta(MIXED, n=10, low="0.9", high="0.9", eps="0.1")
    assert seen[2] == {"length": F(9, 10), "reach": F(9, 10)}


def test_the_latest_value_is_known_at_its_point_and_precision_alone():
    asked = []
    function = coordinates.latest(lambda u: asked.append(u) or u + 1)
    one, other = flint.arb(1), flint.arb(1)
    with working_precision(64):
        assert function(one) == function(one) == 2
        assert len(asked) == 1
        assert function(other) == 2  # an equal point is another one: nothing is known of its ball
        assert len(asked) == 2
    with working_precision(128):
        assert function(other) == 2
    assert len(asked) == 3
