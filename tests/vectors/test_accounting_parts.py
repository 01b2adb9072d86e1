"""Bounds of vectors part by part: the larger of two brackets, both orders, margins by hand, families of the doors."""

import math
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from scipy.stats import norm

from symshuffle.choices import Adjacency, Blanket
from symshuffle.continuous_law import LevelledPair
from symshuffle.errors import CertificateError, InputError
from symshuffle.law import Law
from symshuffle.numbers import Exp, to_float
from symshuffle.results import Bracket, Rigour, SafeEnd
from symshuffle.vectors import accounting, calibration, reduction
from symshuffle.vectors.accounting import VectorBound, larger, order_margin, vector_delta, vector_epsilon
from symshuffle.vectors.calibration import Calibration, calibrate
from symshuffle.vectors.floor import Floor
from symshuffle.vectors.mechanisms import BlanketMixedGaussian, ClippedLinear, LocalGaussian, PrivUnit, SphereLinear
from symshuffle.vectors.one_parameter import half_sphere, linear_density, sloped_delta
from symshuffle.vectors.pairs import FinitePair, worst_pair
from symshuffle.vectors.risk import err1
from symshuffle.vectors.shaped_families import family_by_name, logistic


def ends(low, high, engine="test"):
    return Bracket(F(low), F(high), Rigour.BALL, engine, "test")


def test_the_larger_of_two_has_both_larger_ends():
    one, other = ends("0.1", "0.5", "one"), ends("0.2", "0.3", "other")
    for found in (larger(one, other), larger(other, one)):
        assert (found.lower, found.upper, found.engine) == (F(1, 5), F(1, 2), "one")
    assert larger(ends(0, 1, "one"), ends("0.5", 1, "other")).engine == "one"


def test_a_bound_of_both_orders():
    bound = VectorBound(ends("0.1", "0.2"), ends("0.3", "0.4"), ends("0.05", "0.06"), ends("0.01", "0.07"), "words")
    assert bound.bracket == ends("0.3", "0.4") and bound.safe is SafeEnd.UPPER
    assert (bound.lower.lower, bound.lower.upper) == (F(1, 20), F(7, 100))
    assert replace(bound, real_forward=None).lower is None and replace(bound, real_reverse=None).lower is None
    told = bound.to_dict()
    assert told["orders"] == {"forward": bound.forward.decimals(), "reverse": bound.reverse.decimals()}
    assert told["upper"] == ends("0.3", "0.4").decimals()["upper"] and told["rigour"] == "ball"
    assert set(told["real_pair"]) == {"forward", "reverse"}
    assert set(replace(bound, real_forward=None).to_dict()["real_pair"]) == {"reverse"}


LINE = SphereLinear("1/3", 1)


def by_hand(p, q, r, n, x):
    """H(n) over all counts of three kinds of messages."""
    rest = 1 - sum(r)
    total = 0.0
    for a in range(n + 1):
        for b in range(n + 1 - a):
            weight = math.comb(n, a) * math.comb(n - a, b) * r[0] ** a * r[1] ** b * rest ** (n - a - b)
            total += weight * max(a * (p[0] - x * q[0]) / r[0] + b * (p[1] - x * q[1]) / r[1], 0)
    return total / n


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
def test_both_orders_of_a_bit_and_a_real_pair(adjacency):
    """One bit, p = (2/3, 1/3), against the null law or the opposite one, five users, ratio 6/5."""
    bound = vector_delta(LINE, n=5, exp_eps="1.2", adjacency=adjacency)
    p = (2 / 3, 1 / 3)
    q = (0.5, 0.5) if adjacency == "zero-out" else (1 / 3, 2 / 3)
    for found, one, two, r in (
        (bound.forward, p, q, (1 / 3, 1 / 3)),
        (bound.reverse, q, p, (1 / 3, 1 / 3)),
        (bound.real_forward, p, q, (1 / 3, 2 / 3)),
        (bound.real_reverse, q, p, (1 / 3, 2 / 3)),
    ):
        assert float(found.midpoint) == pytest.approx(by_hand(one, two, r, 5, 1.2), rel=1e-7)
    assert vector_delta(LINE, n=5, exp_eps="1.2", adjacency=adjacency, lower=False).lower is None
    assert "n = 5" in bound.about and adjacency in bound.about


def test_the_least_level_meets_the_target_from_both_sides():
    found = vector_epsilon(LINE, n=5, delta="0.05", adjacency="zero-out", rel=1e-6)
    p, q, r = (2 / 3, 1 / 3), (0.5, 0.5), (1 / 3, 1 / 3)

    def worse(eps):
        return max(by_hand(p, q, r, 5, math.exp(eps)), by_hand(q, p, r, 5, math.exp(eps)))

    assert worse(float(found.upper)) <= 0.05 * (1 + 1e-9) and worse(float(found.lower)) > 0.05 * (1 - 1e-5)
    assert 0 < found.upper - found.lower < F(1, 10**5)
    met = vector_epsilon(LINE, n=5, delta="0.9", adjacency="zero-out")
    assert (met.lower, met.upper) == (0, 0)


def test_a_curve_is_a_list_of_bounds():
    found = accounting.curve(LINE, n=5, levels=[F(0), F(1, 10)], adjacency="zero-out")
    assert [one.real_forward for one in found] == [None, None]
    assert float(found[1].forward.midpoint) == pytest.approx(
        by_hand((2 / 3, 1 / 3), (0.5, 0.5), (1 / 3, 1 / 3), 5, math.exp(0.1)), rel=1e-6
    )


def test_the_margin_of_a_finite_pair():
    """E[D^3] - 3 Var(D)(Var L_0 - Var L_1), all by sums in rationals."""
    p, q, r = (F(3, 4), F(1, 4)), (F(1, 2), F(1, 2)), (F(1, 4), F(1, 5))
    cube = sum((a - b) ** 3 / c**2 for a, b, c in zip(p, q, r, strict=True))
    square = sum((a - b) ** 2 / c for a, b, c in zip(p, q, r, strict=True))
    spread = sum((a * a - b * b) / c for a, b, c in zip(p, q, r, strict=True))
    found = order_margin(FinitePair(p, q, r, "a test"))
    assert found.lower <= cube - 3 * square * spread <= found.upper
    assert found.upper - found.lower < F(1, 10**30)


def test_the_margin_of_a_density_is_that_of_its_integrals():
    pair = worst_pair(BlanketMixedGaussian("0.8", 2), adjacency="zero-out")
    z = np.linspace(-12, 14, 200_001)
    p = 0.8 + 0.2 * norm.pdf(z, 0.5) / norm.pdf(z)
    base = norm.pdf(z)
    cube, square, spread = (
        np.trapezoid(base * term, z) for term in ((p - 1) ** 3 / 0.64, (p - 1) ** 2 / 0.8, (p * p - 1) / 0.8)
    )
    assert float(order_margin(pair).midpoint) == pytest.approx(cube - 3 * square * spread, rel=1e-6)


def test_the_blanket_that_is_meant_and_the_families_of_a_pair():
    assert reduction.usual_blanket(LocalGaussian(2)) is Blanket.LARGEST
    assert reduction.usual_blanket(LINE) is Blanket.MECHANISM
    finite, none = reduction.families(worst_pair(LINE, adjacency="zero-out"))
    assert none is None
    laws = [finite(F(6, 5), direction, None) for direction in ("forward", "reverse")]
    assert all(isinstance(law, Law) for law in laws)
    assert sorted(map(to_float, laws[0].values)) == pytest.approx(sorted([0, (2 / 3 - 0.6) * 3, (1 / 3 - 0.6) * 3]))
    assert sorted(map(to_float, laws[1].values)) == pytest.approx(sorted([0, (0.5 - 0.8) * 3, (0.5 - 0.4) * 3]))
    pair = worst_pair(SphereLinear("1/3", 3), adjacency="zero-out")
    empty, mixed = reduction.families(pair)
    assert empty is None
    assert mixed(F(2), "forward", None) == LevelledPair(pair, F(2))
    assert mixed(F(2), "reverse", None).pair.stretches[0].first is pair.stretches[0].second


def test_a_real_pair_in_words():
    words = reduction._describe(BlanketMixedGaussian("0.8", 2, "0.5"), Adjacency.ZERO_OUT)(7)
    assert words == "X0 = (x, -x x 6), X1 = (null, -x x 6), |x| = 1/2"
    assert reduction._describe(LINE, Adjacency.REPLACE_ONE)(3) == "X0 = (x, -x x 2), X1 = (-x, -x x 2), |x| = 1"


@pytest.mark.parametrize(
    ("name", "shape", "strength", "made"),
    [
        ("bmg", math.log(0.25), -math.log(3), BlanketMixedGaussian("0.75", 3, 1, 16)),
        ("sphere-linear", 0.0, math.log(3), SphereLinear("0.75", 16)),
        ("gaussian", 0.0, -math.log(3), LocalGaussian(3, 16)),
        ("clipped-linear", -1.0, -math.log(3), ClippedLinear("-0.25", 16, 3)),
        ("privunit", 0.0, math.log(3), PrivUnit("0.875", 0, 16)),
    ],
)
def test_families_by_shape_and_strength(name, shape, strength, made):
    found = family_by_name(name, 100, 16, 0.2).make(shape, strength)
    assert type(found) is type(made) and found.dimension == 16
    for field in type(made).__dataclass_fields__:
        assert float(getattr(found, field)) == pytest.approx(float(getattr(made, field)), rel=1e-10, abs=1e-10)


def test_shapes_are_searched_between_ends_and_names_are_known():
    """At index 0.2 sqrt(100) = 2: gamma around 1 - 2^(-2/3) by e^1.5 either way, at most e^-0.02 of share."""
    low, high = family_by_name("bmg", 100, 16, 0.2).shapes
    assert low == pytest.approx(-2 / 3 * math.log(2) - 1.5) and high == -0.02
    assert family_by_name("privunit", 100, 4, 0.2).shapes == (0.0, pytest.approx(1.9))
    assert family_by_name("privunit", 100, 400, 0.2).shapes == (0.0, 3.0)
    assert family_by_name("clipped-linear", 100, 4, 0.2).shapes == (pytest.approx(-1.96), 0.0)
    assert family_by_name("clipped-linear", 100, 400, 0.2).shapes == (-5.0, 0.0)
    for name in ("sphere-linear", "gaussian"):
        assert family_by_name(name, 100, 16, 0.2).shapes == (0.0, 0.0)
    with pytest.raises(InputError, match="mechanism = other"):
        family_by_name("other", 100, 16, 0.2)
    assert logistic(0.0) == 0.5 and logistic(math.log(4)) == pytest.approx(0.8)


def test_slopes_of_both_families_and_no_ratio_above_the_level():
    assert linear_density(F(1, 3), 4) == SphereLinear("1/3", 4) and half_sphere(F(1, 3), 4) == PrivUnit("2/3", 0, 4)
    for mechanism in (SphereLinear("1/3", 1), PrivUnit("2/3", 0, 4), PrivUnit("1/3", 0, 4)):
        # Largest ratios: 4/3 forward, 3/2 in reverse against the null symbol; 2 between opposite inputs.
        for adjacency, at, some in (("zero-out", "1.49", 1), ("zero-out", "1.5", 0), ("replace-one", "1.99", 1)):
            found = sloped_delta(mechanism, 3, F(at), adjacency, 1e-6)
            assert (found.upper > 0) is bool(some)
        assert sloped_delta(mechanism, 3, F(2), "replace-one", 1e-6).exact == 0
        low = sloped_delta(mechanism, 3, F("1.2"), "zero-out", 1e-6)
        bound = vector_delta(mechanism, n=3, exp_eps=F("1.2"), adjacency="zero-out", lower=False).bracket
        assert float(low.midpoint) == pytest.approx(float(bound.midpoint), rel=1e-5)


MIXED = BlanketMixedGaussian("0.9", 2, 1, 3)


def test_the_error_of_a_calibration_is_the_root_of_the_risk():
    found = calibration._error(MIXED, 50)
    true = math.sqrt(float(err1(MIXED)) / 150)
    assert found.lower**2 <= err1(MIXED) / 150 <= found.upper**2 and found.relative_width < 1e-15
    assert float(found.midpoint) == pytest.approx(true)


def test_families_of_a_floor():
    same = calibration._same_family
    assert same(BlanketMixedGaussian("0.5", 1, 1, 3), MIXED)
    assert not same(BlanketMixedGaussian("0.5", 1, "0.9", 3), MIXED)
    assert not same(BlanketMixedGaussian("0.5", 1, 1, 2), MIXED) and not same(LocalGaussian(1, 3), MIXED)
    ramp = ClippedLinear("0.1", 3, 2)
    assert same(SphereLinear("0.5", 3), ramp) and not same(SphereLinear("0.5", 4), ramp)
    assert same(PrivUnit("0.5", "0.1", 3), PrivUnit("0.7", "0.2", 3))


@pytest.fixture
def found():
    bound = VectorBound(ends("0.009", "0.01"), ends("0.001", "0.002"), None, None, "words")
    error = calibration._error(MIXED, 50)
    given = (MIXED, error, 0.1, bound, 50, Exp(F(1, 10)), F(1, 100), Adjacency.ZERO_OUT, "words")
    return Calibration(*given)


def test_a_calibration_is_checked_on_both_sides(found, monkeypatch):
    def again(low, high):
        bound = VectorBound(ends(low, high), ends(0, 0), None, None, "words")
        monkeypatch.setattr(calibration, "vector_delta", lambda *_, **__: bound)

    again("0.0095", "0.01")
    found.verify()
    with pytest.raises(CertificateError, match="above"):
        replace(found, goal=F("0.00999")).verify()
    for low, high in (("0.001", "0.0089"), ("0.0101", "0.0102")):
        again(low, high)
        with pytest.raises(CertificateError, match="certificate"):
            replace(found, goal=F(1, 2)).verify()
    again("0.0095", "0.01")
    for bracket in (found.bracket.scaled(F(1001, 1000)), found.bracket.scaled(F(999, 1000))):
        with pytest.raises(CertificateError, match="rmse"):
            replace(found, bracket=bracket).verify()
    wide = ends(found.bracket.lower / 2, found.bracket.upper * 2)
    replace(found, bracket=wide).verify()
    stranger = Floor((LocalGaussian(1, 3),), F(0))
    with pytest.raises(CertificateError, match=r"floor.points"):
        replace(found, floor=stranger).verify()


def test_the_gap_is_the_share_that_could_be_saved(found):
    assert found.gap is None and found.to_dict()["certificate"]["gap"] is None
    near = replace(found, floor=Floor((MIXED,), found.bracket.upper * F(3, 4)))
    assert near.gap == pytest.approx(0.25) and F(near.gap) >= F(1, 4)
    told = near.to_dict()
    assert told["parameters"] == {"gamma": "0.9", "sigma0": "2", "norm": "1", "dimension": 3}
    assert told["certificate"]["excluded"] == [{"gamma": "0.9", "sigma0": "2"}]
    assert told["certificate"]["rmse_floor"] == pytest.approx(0.75 * found.rmse)
    assert found.safe is SafeEnd.UPPER and found.rmse >= found.bracket.upper and told["gaussian_rmse"] == 0.1


def test_a_quick_value_is_near_the_bound():
    """Of a bit by hand; of a mixed Gaussian the larger order as mpmath has it (tests/vectors/test_accounting.py)."""
    value = calibration._roughly(worst_pair(LINE, adjacency="zero-out"), 30, F("1.05"))
    p, q, r = (2 / 3, 1 / 3), (0.5, 0.5), (1 / 3, 1 / 3)
    assert value == pytest.approx(max(by_hand(p, q, r, 30, 1.05), by_hand(q, p, r, 30, 1.05)), rel=1e-3)
    pair = worst_pair(BlanketMixedGaussian("0.95", "4.6"), adjacency="zero-out")
    assert calibration._roughly(pair, 1000, Exp(F(4, 10**4))) == pytest.approx(2.3791353e-5, rel=1e-4)
    swapped = calibration._roughly(pair.reverse, 1000, Exp(F(4, 10**4)))
    assert swapped == pytest.approx(2.3791353e-5, rel=1e-4)


def test_searches_of_one_variable():
    assert calibration._root(lambda x: 3 * (x - 2), 0.5) == pytest.approx(2, abs=1e-7)
    assert calibration._root(math.sinh, 1.0) == pytest.approx(0, abs=1e-7)
    assert calibration._lowest(lambda x: 1 + (x - 0.3) ** 2, -1.0, 2.0) == pytest.approx(0.3, abs=5e-3)
    assert calibration._lowest(lambda x: math.inf if x < 0 else 1 + x, -1.0, 2.0) == pytest.approx(0, abs=0.05)
    assert calibration._lowest(lambda _: 1.0, 0.5, 0.5) == 0.5


@pytest.mark.parametrize(
    ("wrong", "name"), [({"delta": 0}, "delta"), ({"delta": 1}, "delta"), ({"gap": 0}, "gap"), ({"gap": 1}, "gap")]
)
def test_targets_of_a_calibration(wrong, name):
    with pytest.raises(InputError, match=f"^{name} "):
        calibrate("bmg", **{"n": 50, "dimension": 2, "eps": 1, "delta": "1e-3"} | wrong)
