"""Floors of families: cells say no more than densities, points exclude what they should, false floors fall."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from symshuffle import CertificateError, Exp, Law, Unsupported
from symshuffle.engines.densities.bromwich_plan import estimate
from symshuffle.vectors import BlanketMixedGaussian, ClippedLinear, LocalGaussian, PrivUnit, SphereLinear, err1
from symshuffle.vectors.calibration.cells import cells_of
from symshuffle.vectors.calibration.floor import (
    Target,
    at_least,
    check_floor,
    least_error,
    least_rmse,
    misses,
    misses_alone,
)
from symshuffle.vectors.calibration.staircase import floor_of
from symshuffle.vectors.privacy.accounting import pair_delta
from symshuffle.vectors.privacy.pairs import worst_pair
from tests.slices import some
from tests.soundness.test_exaggerated import case, hockey

F = Fraction
RATIO = F(11, 10)


@pytest.mark.parametrize(
    ("mechanism", "adjacency", "blanket", "at_least"),
    [
        (BlanketMixedGaussian("0.2", "1.6"), "replace-one", "largest", F(98, 100)),
        (ClippedLinear("-0.3", 5, "2"), "replace-one", "mechanism", F(98, 100)),
        (ClippedLinear("0.2", 5, "2"), "zero-out", "mechanism", F(98, 100)),
        (PrivUnit("0.6", "0.3", 5), "replace-one", "mechanism", F(999, 1000)),
        (PrivUnit("0.6", "0.3", 5), "zero-out", "mechanism", F(999, 1000)),
        (PrivUnit("0.9", "-0.3", 5), "zero-out", "mechanism", F(999, 1000)),
    ],
)
def test_cells_say_little_less_than_the_density(mechanism, adjacency, blanket, at_least):
    true = pair_delta(worst_pair(mechanism, adjacency=adjacency, blanket=blanket), 300, RATIO, rtol=1e-3)
    low = pair_delta(cells_of(mechanism, adjacency, blanket), 300, RATIO, rtol=1e-3)
    assert low.lower <= true.upper
    assert low.upper > true.lower * at_least


@pytest.mark.parametrize(("gamma", "dimension"), [("0.2", 2), ("0.6", 4)])
def test_cells_against_the_largest_blanket_of_vectors(gamma, dimension):
    """The witness is a fine grid of the coordinate and the length across, in doubles, the blanket at its points."""
    from scipy.stats import chi, norm

    sigma, n = 1.5, 300
    shift, g = 1 / sigma, float(F(gamma))
    u, step = np.linspace(-8, 8, 161, retstep=True)
    ends = np.linspace(0, 7, 43)
    v = (ends[1:] + ends[:-1]) / 2
    weights = np.outer(norm.pdf(u) * step, np.diff(chi.cdf(ends, dimension - 1)))
    first, second = (g + (1 - g) * np.exp(s * shift * u - shift**2 / 2)[:, None] for s in (1, -1))
    blanket = g + (1 - g) * np.exp(-shift * np.hypot(u[:, None], v) - shift**2 / 2)
    reference = (weights * blanket).ravel()
    values = ((first - 1.1 * second) / blanket).ravel()
    true = estimate(np.append(values, 0), np.append(reference, 1 - reference.sum()), n, rtol=1e-5)
    found = pair_delta(
        cells_of(BlanketMixedGaussian(gamma, "1.5", 1, dimension), "replace-one", "largest"), n, RATIO, rtol=1e-3
    )
    assert found.upper < true * 1.001
    assert found.lower > true * 0.98


def test_caps_above_half_the_sphere_say_no_more_than_all_four_cells():
    mechanism = PrivUnit("0.9", "-0.3", 3)
    whole = worst_pair(mechanism)
    part = cells_of(mechanism, "replace-one")
    for one, other in ((part, whole), (part.reverse, whole.reverse)):
        assert pair_delta(one, 300, RATIO, rtol=1e-3).lower <= pair_delta(other, 300, RATIO, rtol=1e-3).upper
    assert len(part.first) == 2


def target(adjacency, blanket="mechanism", goal="1e-4"):
    return Target(1000, Exp(F(1, 2)), F(goal), adjacency, blanket)


FOUND = {
    "privunit": (PrivUnit("0.75", "0.6", 3), "replace-one", F(1, 4)),
    "clipped": (ClippedLinear("-0.4", 3, "0.7"), "replace-one", F(2, 5)),
    "cap against null": (PrivUnit("0.8", "0.6", 3), "zero-out", F(1, 4)),
}


@pytest.fixture(scope="module")
def floors():
    return {
        name: (floor_of(found, target(adjacency), gap), target(adjacency))
        for name, (found, adjacency, gap) in FOUND.items()
    }


@pytest.mark.parametrize("name", FOUND)
def test_floors_hold_and_what_is_below_them_misses_the_target(name, floors):
    """Random parameters of less error, caps above half the sphere among them, against the density itself."""
    (points, rmse), goal = floors[name]
    check_floor(points, rmse, goal)
    rng = np.random.default_rng(7)
    bar = rmse**2 * goal.n * 3
    seen = 0
    while seen < (1 if name == "clipped" else 5):
        height = F(str(round(rng.uniform(-0.9, 0.9), 3)))
        level = F(str(round(rng.uniform(0.02, 0.98), 3)))
        one = ClippedLinear(height, 3, level) if name == "clipped" else PrivUnit(level, height, 3)
        if not err1(one).upper < bar:
            continue
        pair = worst_pair(one, adjacency=goal.adjacency)
        assert pair_delta(pair, goal.n, goal.exp_eps, rtol=1e-3).lower > goal.goal, one
        seen += 1


@pytest.mark.parametrize("name", FOUND)
def test_false_floors_fall(name, floors):
    (points, rmse), goal = floors[name]
    assert len(points) >= 2
    swapped = (points[1], points[0], *points[2:])
    for false, place in (
        ((points, rmse * F(1001, 1000)), "floor.rmse"),
        ((points[:-1], rmse), "floor.rmse"),
        ((points[1:], rmse), "floor.rmse"),
        (((), rmse), "floor.points"),
        ((swapped, rmse), r"floor.points\[1\]"),
        (((points[0], *points), rmse), r"floor.points\[1\]"),
    ):
        with pytest.raises(CertificateError, match=place):
            check_floor(*false, goal)
    with pytest.raises(CertificateError, match="may meet"):
        check_floor(points, rmse, replace(goal, goal=goal.goal * 2))


MIXED = BlanketMixedGaussian("0.2", 2, 1, 3), BlanketMixedGaussian("0.4", 1, 1, 3)


@pytest.mark.parametrize(
    "other",
    [
        replace(MIXED[1], dimension=5),
        replace(MIXED[1], norm=F(1, 2)),
        LocalGaussian(1, 3),
        ClippedLinear("0.1", 3, "0.5"),
    ],
    ids=str,
)
@pytest.mark.parametrize("place", [0, 1])
def test_points_of_another_family_exclude_nothing(other, place):
    """In another dimension, or for shorter inputs, a point that misses the target says nothing of this one."""
    assert least_error(MIXED) > 0
    points = (other, MIXED[1]) if place == 0 else (MIXED[0], other)
    with pytest.raises(CertificateError, match=r"floor\.points\[0\].*another family"):
        least_error(points)
    with pytest.raises(CertificateError, match="another family"):
        check_floor(points, F(0), target("zero-out"))


def test_a_linear_density_begins_a_floor_of_clipped_ones_of_its_dimension_alone():
    clipped = ClippedLinear("0.1", 3, "0.9")
    assert least_error((SphereLinear("0.9", 3), clipped)) > 0
    for points in ((SphereLinear("0.9", 4), clipped), (clipped, SphereLinear("0.9", 3))):
        with pytest.raises(CertificateError, match="another family"):
            least_error(points)


def test_the_other_parameter_has_to_turn():
    """Gamma rises, but the height of the cap falls: the corner between them would be read off the wrong side."""
    with pytest.raises(CertificateError, match="turn to less noise"):
        least_error((PrivUnit("0.9", "0.5", 3), PrivUnit("0.5", "0.2", 3)))
    with pytest.raises(CertificateError, match="gamma does not certainly rise"):
        least_error((PrivUnit("0.5", "0.2", 3), PrivUnit("0.9", "0.5", 3)))
    with pytest.raises(CertificateError, match="turn to less noise"):
        least_error((BlanketMixedGaussian("0.2", "1"), BlanketMixedGaussian("0.3", "2")))


@pytest.mark.parametrize("one", [SphereLinear("0.3", 2), SphereLinear("0.7", 4), LocalGaussian("1/3", 3)], ids=str)
def test_an_error_that_is_known_at_one_point_is_its_lower_end(one):
    assert 0 < least_error((one,)) <= err1(one)


def test_corners_of_shorter_inputs_and_of_the_ends():
    """The error at a corner is the library's own at a mechanism next to it."""
    half = BlanketMixedGaussian("0.5", "2", "1/2", 3)
    far = replace(half, sigma0=F(1, 10**9))
    assert float(least_error((replace(half, sigma0=F(10**6)),))) == pytest.approx(float(err1(far)))
    cap = PrivUnit("0.9", "0.2", 3)
    assert float(least_error((cap,))) <= float(err1(PrivUnit("0.999999999", "0.2", 3)))
    linear, clipped = SphereLinear("0.1", 3), ClippedLinear("0", 3, "30")
    assert float(least_error((linear,))) == pytest.approx(float(err1(linear)))
    # no clip is below that of the linear density: the corner is at its share and the next clip, of mean height 2/3
    assert float(least_error((linear, clipped))) == pytest.approx(225)


def test_avoided_caps_and_gaussians_without_a_blanket_are_refused():
    goal = target("replace-one")
    with pytest.raises(Unsupported, match="is not certified to prefer its cap"):
        misses(PrivUnit("0.1", "0", 3), goal)
    with pytest.raises(Unsupported, match="no blanket of its own"):
        misses(LocalGaussian("3", 2), goal)
    with pytest.raises(CertificateError, match=r"floor\.points"):
        check_floor((PrivUnit("0.1", "0", 3),), F(1), goal)


def test_a_gaussian_beyond_the_line_has_a_point_beside_it():
    """Against the true largest blanket, of which the accountant's classes of lengths are below."""
    goal = Target(500, Exp(F(1, 10)), F(1, 10**3), "replace-one", "largest")
    noisy, loud = LocalGaussian("4", 2), LocalGaussian("2", 2)
    rmse = least_rmse((loud,), 500)
    check_floor((loud,), rmse, goal)
    for point, claimed in ((loud, rmse * F(1001, 1000)), (noisy, rmse)):
        with pytest.raises(CertificateError, match="floor"):
            check_floor((point,), claimed, goal)
    with pytest.raises(CertificateError, match="one is meant"):
        least_error((loud, loud))


@pytest.mark.parametrize(
    ("n", "adjacency"), some([(n, way) for n in (1, 2, 6) for way in ("zero-out", "replace-one")], 3)
)
def test_a_gaussian_is_excluded_where_no_other_message_is_of_the_blanket(n, adjacency):
    """The closed form says no more than the density, of one user as much as its cells, and something of several."""
    point = LocalGaussian("0.5", 1)
    true = pair_delta(worst_pair(point, adjacency=adjacency, blanket="largest"), n, F(3, 2), rtol=1e-3)
    above, below = (Target(n, F(3, 2), true.upper * share, adjacency, "largest") for share in (F(1), F(2, 5)))
    assert not misses_alone(point, above)
    assert misses_alone(point, below)
    if n == 1:
        assert misses_alone(point, Target(1, F(3, 2), true.upper * F(98, 100), adjacency, "largest"))


def test_what_a_point_of_a_floor_reveals_at_least():
    draw = random.Random("at least")
    for k in range(60):
        one, n = case(draw, balls=k % 4 > 0), draw.randrange(2, 6)
        low = at_least(one.law, n)
        assert one.holds(n, low, F(10)), (one, n, low)
        law = Law(one.law.values, one.law.weights) if not k % 4 else None
        if law is not None:
            assert at_least(law, n) >= F(999, 1000) * hockey([(v, F(0), w) for v, w in law.atoms()], n)
