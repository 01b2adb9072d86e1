"""Mechanisms by cells: masses by SciPy, blankets that are never too small, errors at both ends, the floor's corners."""

import itertools
import math
from fractions import Fraction as F

import flint
import numpy as np
import pytest
from scipy import stats

from symshuffle.errors import CertificateError, Unsupported
from symshuffle.numbers import to_arb, to_float, working_precision
from symshuffle.results import Bracket, Rigour
from symshuffle.vectors import cells as cell
from symshuffle.vectors import floor
from symshuffle.vectors.cells import cells, cells_of, error_of, share, spread
from symshuffle.vectors.clipped import clipped_numbers
from symshuffle.vectors.floor import Floor, Target, least_error, misses, root
from symshuffle.vectors.mechanisms import BlanketMixedGaussian, ClippedLinear, LocalGaussian, PrivUnit, SphereLinear
from symshuffle.vectors.risk import err1

MIXED = BlanketMixedGaussian("0.7", "1.5", "0.9", 3)
CAPS = PrivUnit("0.8", "0.3", 4)
RAMP = ClippedLinear("-0.2", 4, 3)
LINE = SphereLinear("0.4", 4)


def mids(row):
    return np.array([float(mass.mid()) for mass in row])


def heights(d):
    return stats.beta((d - 1) / 2, (d - 1) / 2, loc=-1, scale=2)


def test_shares_and_spreads_by_definition():
    with working_precision(128):
        shares = [float(share(one).mid()) for one in (MIXED, LocalGaussian(2), LINE, RAMP, CAPS)]
    numbers = clipped_numbers(RAMP)
    cap = heights(4).sf(0.3)
    assert shares == pytest.approx([0.7, 0, 0.6, float(numbers.gamma), 0.2 / (1 - cap)])
    assert [spread(one) for one in (MIXED, LocalGaussian(2), LINE, RAMP, CAPS)] == [F(3, 2), 2, -1, F(-1, 5), F(3, 10)]


def test_a_cap_that_is_avoided_has_no_share():
    with pytest.raises(Unsupported, match="preferred"):
        share(PrivUnit("0.3", 0, 4))
    with pytest.raises(Unsupported):
        share(PrivUnit("0.5", 0, 4))
    assert float(share(PrivUnit("0.5001", 0, 4)).mid()) < 1


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
def test_cells_of_the_line_have_their_normal_masses(adjacency):
    found = cells(MIXED, F(3, 2), adjacency, "mechanism")
    shift = 0.6
    high = shift + 4
    low = -high if adjacency == "replace-one" else -5
    ends = cell._ends(F(3, 5), cell.choice(cell.Adjacency, adjacency, "adjacency"), 120)
    assert len(ends) == 121 and ends == sorted(set(ends)) and 0 in ends
    assert (float(ends[0]), float(ends[-1])) == pytest.approx((low, high))
    places = np.array([-np.inf, *map(float, ends), np.inf])
    for row, mean in (
        (found.null, 0),
        (found.first, shift),
        (found.second, -shift if adjacency == "replace-one" else 0),
    ):
        assert mids(row) == pytest.approx(np.diff(stats.norm.cdf(places - mean)), abs=1e-14)
    assert set(mids(found.least)) == {0.0}
    # far out masses keep their digits
    assert mids(found.null)[-1] == pytest.approx(stats.norm.sf(high), rel=1e-9)
    assert mids(found.null)[-2] == pytest.approx(stats.norm.sf(float(ends[-2])) - stats.norm.sf(high), rel=1e-9)
    assert mids(found.first)[0] == pytest.approx(stats.norm.cdf(low - shift), rel=1e-9)


@pytest.mark.parametrize(("shift", "beyond"), [(F(1, 2), 4), (F(2), 3), (F(4), 1.5), (F(9), 1.5)])
def test_fewer_cells_lie_far_out(shift, beyond):
    ends = cell._ends(shift, cell.Adjacency.ZERO_OUT, 60)
    assert float(ends[-1]) == pytest.approx(float(shift) + beyond) and float(ends[0]) == -5
    widths = [float(b - a) for a, b in itertools.pairwise(ends)]
    assert max(widths) < 1.2 * min(widths) and len(widths) == 60


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
def test_on_the_line_the_largest_blanket_is_the_smaller_mass(adjacency):
    found = cells(LocalGaussian(2), F(2), adjacency, "largest")
    first, least = mids(found.first), mids(found.least)
    ends = cell._ends(F(1, 2), cell.choice(cell.Adjacency, adjacency, "adjacency"), 120)
    places = np.array([-np.inf, *map(float, ends), np.inf])
    assert least == pytest.approx(
        np.diff(stats.norm.cdf(np.array(places) + 0.5)) * (places[1:] > 0) + first * (places[1:] <= 0)
    )
    assert least.sum() <= 1


def test_beyond_the_line_the_blanket_of_a_cell_is_not_too_small_and_little_too_large():
    """exp(-b |y| - b^2/2) under N(0, I_3), by quadrature over the length, against the sum over all cells."""
    found = cells(MIXED, F(3, 2), "replace-one", "largest")
    b = 0.6
    length = np.linspace(0, 12, 40_001)
    true = np.trapezoid(stats.chi(3).pdf(length) * np.exp(-b * length - b * b / 2), length)
    least = mids(found.least).sum()
    assert true <= least < true * 1.01
    for row in (found.null, found.first, found.second):
        assert mids(row).sum() == pytest.approx(1, abs=1e-12)
    # at one cell in the bulk, by sampling its rectangle with a rule in both coordinates
    across = cell._across(3)
    masses = [float(part[0].mid()) for part in across]
    assert sum(masses) == pytest.approx(1, abs=1e-12)
    for mass, low, high, weight in across[:-1]:
        near, far, part = math.sqrt(float(low.mid())), math.sqrt(float(high.mid())), float(weight.mid())
        assert float(mass.mid()) == pytest.approx(stats.chi(2).cdf(far) - stats.chi(2).cdf(near), rel=1e-9)
        v = np.linspace(near, far, 4001)
        square = np.trapezoid(stats.chi(2).pdf(v) * v * v, v) / float(mass.mid())
        assert near**2 + part * (far**2 - near**2) == pytest.approx(square, rel=1e-5)
    assert float(across[-1][0].mid()) == pytest.approx(stats.chi(2).sf(math.sqrt(float(across[-1][1].mid()))), rel=1e-9)


def test_lengths_far_from_zero_have_a_class_below_them():
    across = cell._across(26)
    assert len(across) == 14 and float(across[0][1].mid()) == 0 and float(across[0][2].mid()) == 4.0
    assert len(cell._across(5)) == 13
    assert float(across[-1][1].mid()) == 64.0 and across[-1][1] == across[-1][2]


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
@pytest.mark.parametrize("theta", ["0.3", "0", "-0.3"])
def test_cells_of_caps(theta, adjacency):
    """The pair of cells of PrivUnit: its null masses, and p = gamma null + (1 - gamma) first by definition."""
    mechanism = PrivUnit("0.8", theta, 4)
    pair = cells_of(mechanism, adjacency)
    cap = heights(4).sf(float(F(theta)))
    rows = [[to_float(mass) for mass in row] for row in (pair.first, pair.second, pair.reference)]
    inside, outside = 0.8, 0.2
    low = 0.2 / (1 - cap)
    if adjacency == "zero-out":
        assert rows == [pytest.approx(row) for row in ([inside, outside], [cap, 1 - cap], [low * cap, low * (1 - cap)])]
    elif theta == "0":
        assert rows == [pytest.approx(row) for row in ([0.8, 0.2], [0.2, 0.8], [0.2, 0.2])]
    elif theta == "0.3":
        rest = low * (1 - 2 * cap)
        expected = [0.8, low * cap, rest], [low * cap, 0.8, rest], [low * cap, low * cap, rest]
        assert rows == [pytest.approx(row) for row in expected]
    else:  # what avoids the cap of x: all of it is in the cap of -x
        there = 0.8 / cap * (1 - cap)
        expected = [0.2, 0.8], [there, 1 - there], [low * (1 - cap), low * cap]
        assert rows == [pytest.approx(row) for row in expected]


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
@pytest.mark.parametrize("at", [F(-1, 5), F(3, 10), F(-1)])
def test_cells_of_ramps(at, adjacency):
    """Beside the shared part the density is (T - t0)_+ over its mean; heights are cut between -1 and 1, symmetric."""
    found = cells(RAMP, at, adjacency, "mechanism")
    law, t0 = heights(4), float(at)
    null, first = mids(found.null), mids(found.first)
    assert null.sum() == pytest.approx(1, abs=1e-13) and first.sum() == pytest.approx(1, abs=1e-12)
    assert null == pytest.approx(null[::-1])
    edges = law.ppf(np.clip(np.concatenate([[0], np.cumsum(null)]), 0, 1))
    edges[0], edges[-1] = -1, 1
    t = np.linspace(-1, 1, 400_001)
    density = law.pdf(t) * np.maximum(t - t0, 0)
    total = np.trapezoid(density, t)
    running = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(t))]) / total
    assert np.cumsum(first) == pytest.approx(np.interp(edges[1:], t, running), abs=1e-6)
    other = first[::-1] if adjacency == "replace-one" else null
    assert mids(found.second) == pytest.approx(other)
    assert set(mids(found.least)) == {0.0} and min(abs(edges - t0)) < 1e-7
    assert len(null) >= 120


def test_a_pair_mixes_the_shared_part_in():
    with working_precision(128):
        third = flint.arb(1) / 3
        rows = cell.Cells((third, 2 * third), (third * 0, third * 3), (2 * third, third), (third, third * 0))
        pair = rows.pair(flint.arb(1) / 4)
    found = [[to_float(mass) for mass in row] for row in (pair.first, pair.second, pair.reference)]
    assert found == [pytest.approx(row) for row in ([1 / 12, 11 / 12], [7 / 12, 5 / 12], [1 / 3, 1 / 6])]
    with pytest.raises(Unsupported, match="no blanket of its own"):
        cells(LocalGaussian(2), F(2), "zero-out", "mechanism")


@pytest.mark.parametrize("mechanism", [MIXED, LocalGaussian(2, 3), CAPS, RAMP, LINE], ids=str)
def test_errors_by_share_and_spread_are_those_of_the_mechanism(mechanism):
    with working_precision(128):
        found = float(error_of(mechanism)(share(mechanism), spread(mechanism)).mid())
    assert found == pytest.approx(to_float(err1(mechanism)))


def test_errors_at_the_end_of_the_range_are_limits():
    """No noise at all: (gamma/(1 - gamma)) r^2; a cap that is a point: mean height 1."""
    with working_precision(128):
        gamma = flint.arb("0.25")
        assert float(error_of(MIXED)(gamma, None).mid()) == pytest.approx(0.81 / 3)
        assert float(error_of(CAPS)(gamma, None).mid()) == pytest.approx(16 / 9)
        assert float(error_of(RAMP)(gamma, F(-1)).mid()) == pytest.approx(16 * 16 / 9)


def corner(gamma, sigma0):
    return 3 * (sigma0 / (1 - gamma)) ** 2 + gamma / (1 - gamma)


def test_the_floor_is_the_least_corner_between_points():
    """With points (g, s) falling in noise: corners (0, s1), (g1, s2), (g2, 0 noise)."""
    points = [BlanketMixedGaussian(g, s, 1, 3) for g, s in (("0.5", "1.2"), ("0.7", "0.6"))]
    expected = min(corner(0, 1.2), corner(0.5, 0.6), corner(0.7, 0))
    assert float(least_error(points)) == pytest.approx(expected) and least_error(points) <= F(7, 3)
    assert float(least_error(points[:1])) == pytest.approx(min(corner(0, 1.2), corner(0.5, 0)))
    for wrong, match in (
        (points[::-1], r"points\[1\]: gamma"),
        ([points[0], BlanketMixedGaussian("0.5", "0.6", 1, 3)], r"points\[1\]: gamma"),
        ([points[0], BlanketMixedGaussian("0.7", "1.2", 1, 3)], r"points\[1\]: the other"),
        ([points[0], BlanketMixedGaussian("0.7", "1.3", 1, 3)], r"points\[1\]: the other"),
        ([LocalGaussian(2), LocalGaussian(3)], "2 points"),
    ):
        with pytest.raises(CertificateError, match=match):
            least_error(wrong)
    assert least_error([LocalGaussian(2, 3)]) == 12 and least_error([SphereLinear("0.5", 3)]) == 36


def test_of_caps_and_ramps_the_height_rises():
    caps = [PrivUnit("0.9", "0.1", 4), PrivUnit("0.8", "0.4", 4)]
    with working_precision(128):
        g = [float(share(one).mid()) for one in caps]
        error = error_of(CAPS)
        corners = [
            float(error(flint.arb(gamma), at).mid()) for gamma, at in ((0, F(1, 10)), (g[0], F(2, 5)), (g[1], None))
        ]
    assert g[0] < g[1] and float(least_error(caps)) == pytest.approx(min(corners), rel=1e-9)
    with pytest.raises(CertificateError):
        least_error([caps[0], PrivUnit("0.5", "0.1", 4)])
    # the first of ramps may be a linear density, below which no clip lies: then there is no corner at share 0
    ramps = [SphereLinear("0.6", 4), ClippedLinear("-0.2", 4, 3)]
    with working_precision(128):
        gamma = [share(one) for one in ramps]
        assert gamma[0] < gamma[1]
        expected = min(float(error_of(RAMP)(x, at).mid()) for x, at in ((gamma[0], F(-1, 5)), (gamma[1], None)))
    assert float(least_error(ramps)) == pytest.approx(expected, rel=1e-9)


def test_roots_are_rounded_down():
    assert root(F(4)) == 2 and root(F(1, 4)) == F(1, 2)
    assert 0 < F(2) - root(F(2)) ** 2 < F(1, 2**57)
    assert 0 < F(1, 3) - root(F(1, 3)) ** 2 < F(1, 2**58)


TARGET = Target(50, F(11, 10), F(1, 100), "zero-out", "mechanism")


@pytest.fixture
def bounds(monkeypatch):
    """Brackets by order: of the pair itself and of its reverse."""
    seen = []

    def of(forward, reverse):
        def value(pair, n, order, *, rel):
            seen.append(pair)
            at = forward if len(seen) % 2 == 1 else reverse
            return Bracket(F(at), F(1), Rigour.BALL, "test", "test")

        seen.clear()
        monkeypatch.setattr(floor, "pair_delta", value)
        monkeypatch.setattr(floor, "cells_of", lambda *_: type("Pair", (), {"reverse": None}))
        return seen

    return of


def test_a_point_misses_where_either_order_is_certainly_above(bounds):
    bounds("0.01", "0.01")
    assert not misses(MIXED, TARGET)
    for pair in (("0.0100001", 0), (0, "0.0100001")):
        bounds(*pair)
        assert misses(MIXED, TARGET)
    replaced = Target(50, F(11, 10), F(1, 100), "replace-one", "mechanism")
    seen = bounds(0, 1)
    assert not misses(MIXED, replaced) and len(seen) == 1  # both orders are one
    bounds(0, 1)
    assert misses(CAPS, replaced)


def test_a_floor_is_checked_from_its_points(bounds):
    points = (BlanketMixedGaussian("0.5", "1.2", 1, 3), BlanketMixedGaussian("0.7", "0.6", 1, 3))
    least = root(least_error(points) / 150)
    bounds(1, 1)
    Floor(points, least).verify(TARGET)
    for false, place in ((Floor(points, least + F(1, 10**9)), "floor.rmse"), (Floor((), least), "floor.points")):
        with pytest.raises(CertificateError, match=place):
            false.verify(TARGET)
    bounds(0, 0)
    with pytest.raises(CertificateError, match=r"floor.points\[0\]"):
        Floor(points, least).verify(TARGET)
    assert to_arb(least) > 0


def test_the_corner_without_a_shared_part_counts_but_for_linear_densities():
    """Of the Gaussians 3 * 0.64 at share 0 is least; of the ramps 16 there would be, were it a corner."""
    points = [BlanketMixedGaussian("0.5", "0.8", 1, 3), BlanketMixedGaussian("0.7", "0.3", 1, 3)]
    assert corner(0, 0.8) < min(corner(0.5, 0.3), corner(0.7, 0))
    assert float(least_error(points)) == pytest.approx(corner(0, 0.8))
    assert float(least_error([SphereLinear("0.3", 4), ClippedLinear("-0.2", 4, 20)])) > 16.5


def test_one_parameter_is_decided_by_the_pair_itself(monkeypatch):
    """Cells say less: the linear density and the Gaussian of the line do not need them."""
    monkeypatch.setattr(floor, "cells_of", lambda *_: pytest.fail("cells were made"))
    monkeypatch.setattr(floor, "pair_delta", lambda *_, **__: Bracket(F(1, 50), F(1), Rigour.BALL, "test", "test"))
    assert misses(LINE, TARGET)
    assert misses(LocalGaussian(2), Target(50, F(11, 10), F(1, 100), "zero-out", "largest"))
