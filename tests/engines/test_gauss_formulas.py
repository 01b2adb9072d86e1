"""Gauss rules for densities: rules, panels, ellipses, masses and expectations of laws in closed form."""

from __future__ import annotations

import math
from fractions import Fraction as F

import flint
import pytest

from symshuffle.continuous_law import ContinuousLaw, Piece
from symshuffle.engines import gauss
from symshuffle.errors import NotDecided
from symshuffle.numbers import Ball, working_precision

RISING = Piece(F(0), F(2), lambda u: 3 * u - 1, lambda u: u * 0 + flint.arb("0.25"))
LAW = ContinuousLaw((RISING,), Ball(F(1, 2), F(1, 2)))
"""G = 0 with probability a half, else uniform on [-1, 5]."""

ZERO = flint.arb(0)


@pytest.mark.parametrize("order", [1, 2, 5])
def test_rules_are_exact_for_polynomials_below_twice_their_order(order):
    with working_precision(100):
        nodes = gauss.gauss(order, 100)
        for degree in range(2 * order + 1):
            found = float(sum((w * x**degree for x, w in nodes), start=ZERO))
            exact = 2 / (degree + 1) if degree % 2 == 0 else 0.0
            assert (abs(found - exact) < 1e-14) == (degree < 2 * order)


@pytest.mark.parametrize("slope", [0.5, -0.25])
@pytest.mark.parametrize("centre", [0.0, 0.75])
@pytest.mark.parametrize("power", [0, 1, 2])
def test_expectations_against_a_fine_sum(slope, centre, power):
    cells = 20_000
    points = [-1 + 6 * (k + 0.5) / cells for k in range(cells)]
    truth = sum((g - centre) ** power * math.exp(slope * g) for g in points) / (2 * cells) + (-centre) ** power / 2
    with working_precision(80):
        assert float(gauss.expectation(LAW, flint.arb(slope), power, flint.arb(centre))) == pytest.approx(
            truth, rel=1e-6
        )
        if centre == 0:
            assert float(gauss.expectation(LAW, flint.arb(slope), power)) == pytest.approx(truth, rel=1e-6)


def test_the_range_of_a_piece_is_the_tighter_of_two():
    """Of 3u - 1 both are exact; of u - u the formula is wide and the derivative 0; of a pole neither says anything."""
    with working_precision(80):
        assert [float(x) for x in gauss.range_of(RISING)] == pytest.approx([-1, 5], rel=1e-6)
        nothing = Piece(F(0), F(2), lambda u: u - u, RISING.density)
        least, most = gauss.range_of(nothing)
        assert -1e-12 < float(least) <= 0 <= float(most) < 1e-12
        square = Piece(F(-1), F(1), lambda u: u * u, RISING.density)
        least, most = (float(x) for x in gauss.range_of(square))
        assert least <= 0 and 1 <= most < 1.1
        with pytest.raises(NotDecided):
            gauss.range_of(Piece(F(-1), F(1), lambda u: 1 / u, RISING.density))


def test_panels_are_equal_and_at_most_three_halves_long():
    for high, count in ((F(3, 2), 1), (F(8, 5), 2), (F(3), 2), (F(31, 10), 3)):
        panels = list(gauss._panels(Piece(F(0), high, RISING.value, RISING.density)))
        assert panels == [(high * k / count, high * (k + 1) / count) for k in range(count)]


def test_the_mass_of_a_panel_bounds_its_share():
    """The integral of e^(cG) p from above: by the larger end of each of four cells, or of as many as told."""
    with working_precision(80):
        for cells in (1, 4, 16):
            found = float(gauss.mass(RISING, F(0), F(1), flint.arb("0.5"), cells=cells))
            expected = sum(0.25 / cells * math.exp(0.5 * (3 * (k + 1) / cells - 1)) for k in range(cells))
            assert found == pytest.approx(expected, rel=1e-6)
        assert gauss.mass(RISING, F(0), F(1), ZERO) == gauss.mass(RISING, F(0), F(1), ZERO, cells=4)


def test_the_axes_of_an_ellipse_have_the_sum_that_is_told():
    """Half length 1/2, foci at the ends: the sum of the semi-axes is rho/2, the difference of squares 1/4."""
    with working_precision(80):
        centre, wide, tall = (float(x) for x in gauss._axes(F(1), F(2), 2.5))
    assert centre == 1.5 and wide + tall == pytest.approx(1.25) and wide**2 - tall**2 == pytest.approx(0.25)


@pytest.mark.parametrize("top", [0.0, 4.0])
def test_the_bound_on_an_ellipse_is_near_its_largest_value(top):
    """Of e^(c G + T |Im G|) p, G = 3u - 1: on the curve by a fine grid of angles."""
    c, (mid, wide, tall) = 0.5, (0.5, 0.5 * (2.5 + 0.4) / 2, 0.5 * (2.5 - 0.4) / 2)

    def size(a):
        return 0.25 * math.exp(c * (3 * (mid + wide * math.cos(a)) - 1) + top * 3 * tall * math.sin(a))

    true = max(size(math.pi * k / 4000) for k in range(4001))
    with working_precision(80):
        given = (RISING, F(0), F(1), flint.arb(c), flint.arb(top), 2.5)
        covered, seen = gauss._on_ellipse(*given), gauss._on_ellipse(*given, points=7)
    assert true <= float(covered) < 2.2 * true
    largest = max(size(math.pi * k / 6) for k in range(7))
    assert float(seen) == pytest.approx(largest, rel=1e-9)
    pole = Piece(F(0), F(1), lambda u: 1 / (u - flint.arb("0.5") - wide), RISING.density)
    assert gauss._on_ellipse(pole, F(0), F(1), flint.arb(c), flint.arb(top), 2.5) is None


def test_the_price_is_a_quarter_of_the_turns():
    """|G| moves by 3 over a panel of length 1: at height 8 that are 24/4 nodes; panels of no mass are left out."""
    panels = [(RISING, F(0), F(1)), (RISING, F(1), F(2))]
    with working_precision(80):
        assert gauss.price(panels, ZERO, height=8.0, share=1e-9) == pytest.approx(12.0)
        assert gauss.price(panels[:1], ZERO, height=8.0, share=1e-9) == pytest.approx(6.0)
        assert gauss.price(panels, ZERO, height=8.0, share=10.0) == 0


def test_the_slope_is_the_real_part_of_the_derivative():
    with working_precision(80):
        cube = Piece(F(0), F(1), lambda u: u * u * u, RISING.density)
        assert float(gauss.slope(cube, flint.acb(2, 1))) == pytest.approx(3 * (4 - 1))
        pole = Piece(F(0), F(1), lambda u: 1 / u, RISING.density)
        assert not gauss.slope(pole, flint.acb(flint.arb(0, 1))).is_finite()


def test_the_modulus_at_all_heights_falls_where_the_path_is_moved():
    """Up by y where G = 3u - 1 rises, Im G = 3y: e^(c(3x - 1) - 3 T y)/4; on the falling side the bound is infinite."""
    half, c, top = flint.arb("0.5"), flint.arb("0.5"), flint.arb(4)
    with working_precision(80):
        still = 0.25 * math.exp(0.25)
        assert float(gauss.modulus(RISING, half, ZERO, ZERO, c, top)) == pytest.approx(still)
        y = flint.arb("0.25")
        assert float(gauss.modulus(RISING, half, y, y, c, top)) == pytest.approx(still * math.exp(-3))
        assert not gauss.modulus(RISING, half, -y, -y, c, top).is_finite()
        falling = Piece(F(0), F(2), lambda u: 1 - 3 * u, RISING.density)
        down = float(gauss.modulus(falling, half, -y, -y, c, top))
        assert down == pytest.approx(0.25 * math.exp(-0.25 - 3))
        # From the line up to y nothing less than the value on the line is known.
        assert float(gauss.modulus(RISING, half, ZERO, y, c, top)) == pytest.approx(still, rel=1e-6)


def test_rules_err_by_no_more_than_they_say():
    with working_precision(128):
        found = gauss.rule(LAW, flint.arb("0.5"), height=3.0, tolerance=1e-6)
        assert found.error < 1e-6
        for t in (0.0, 1.5, 3.0):
            s = complex(0.5, t)
            point = flint.acb(0.5, t)
            sums = sum((w * (point * v).exp() for v, w in zip(found.values, found.weights, strict=True)), flint.acb(0))
            z = complex(float(sums.real), float(sums.imag))
            exact = (pow(math.e, 5 * s) - pow(math.e, -s)) / (12 * s)
            assert abs(z - exact) <= float(found.error) + 1e-12
        whole = gauss.rule(LAW, flint.arb("0.5"), height=3.0, tolerance=1e6)  # all panels are too little to matter
        mass = sum(gauss.mass(RISING, low, high, flint.arb("0.5")) for low, high in gauss._panels(RISING))
        assert not whole.values and float(whole.error) == pytest.approx(float(mass), rel=1e-6)
