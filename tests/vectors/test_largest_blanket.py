"""The largest blanket of a Gaussian beyond one dimension, against a quadrature in both coordinates of the message."""

# No public door shows a cell without mass: one private name is replaced.
import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import flint
import numpy as np
import pytest
from scipy.stats import chi

from symshuffle import Ball, CertificateError, Exp, Unsupported
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.base.numbers import to_arb, working_precision
from symshuffle.channels.continuous_law import ContinuousLaw, Piece
from symshuffle.engines.densities.doubling import merged_and_spread
from symshuffle.vectors import BlanketMixedGaussian, LocalGaussian, SphereLinear, calibrate
from symshuffle.vectors.calibration import search as calibration
from symshuffle.vectors.calibration.families import roughly
from symshuffle.vectors.privacy import gaussian_blanket
from symshuffle.vectors.privacy.accounting import pair_delta
from symshuffle.vectors.privacy.confirmation import confirm_pair
from symshuffle.vectors.privacy.gaussian_blanket import length_along, length_classes, mass, rounding_radius
from symshuffle.vectors.privacy.pairs import worst_pair

MIXED = BlanketMixedGaussian("0.95", "4.6", 1, 3)
USERS, LEVEL = 1000, Fraction(4, 10000)


def by_both_coordinates(gamma, sigma0, d, n, eps):
    """H(n) of (x, null) against the blanket itself: panels along and across x, a line to the left of 0."""
    b = 1 / sigma0
    x, w = np.polynomial.legendre.leggauss(12)
    along = np.concatenate([k + (x + 1) / 2 for k in range(-8, 8)])
    across = np.concatenate([k + (x + 1) / 2 for k in range(math.ceil(math.sqrt(d - 1)) + 8)])
    weights = np.outer(
        np.tile(w / 2, len(across) // 12) * chi(d - 1).pdf(across),
        np.tile(w / 2, 16) * np.exp(-(along**2) / 2) / math.sqrt(2 * math.pi),
    )
    u, v = np.meshgrid(along, across)
    blanket = gamma + (1 - gamma) * np.exp(-b * np.hypot(u, v) - b * b / 2)
    values = ((gamma + (1 - gamma) * np.exp(b * u - b * b / 2) - math.exp(eps)) / blanket).ravel()
    mass = (weights * blanket).ravel()
    mean = mass @ values
    spread = math.sqrt(n * (mass @ values**2 - mean**2))
    s = 1 / spread + 1j * np.arange(2000) * 0.06 / spread
    moments = 1 - mass.sum() + np.array([mass @ np.exp(-z * values) for z in s[:120]])
    terms = (moments**n / s[:120] ** 2).real
    assert abs(terms[-1]) < 1e-13 * abs(terms.sum())
    return (terms.sum() - terms[0] / 2) * 0.06 / spread / math.pi / n + mean


def test_classes_of_the_length_bound_the_blanket_from_below(monkeypatch):
    def bound():
        return pair_delta(worst_pair(MIXED, blanket="largest", adjacency="zero-out"), USERS, Exp(LEVEL), rtol=1e-5)

    exact = by_both_coordinates(0.95, 4.6, 3, USERS, float(LEVEL))
    own = pair_delta(worst_pair(MIXED, adjacency="zero-out"), USERS, Exp(LEVEL), rtol=1e-5)
    line = pair_delta(
        worst_pair(replace(MIXED, dimension=1), blanket="largest", adjacency="zero-out"), USERS, Exp(LEVEL), rtol=1e-5
    )
    found = bound()
    assert float(line.upper) < exact < float(found.lower)
    assert found.upper < own.lower
    assert float(found.upper) < exact * 1.005
    genuine = gaussian_blanket.length_classes  # each class by its near end: no longer below the blanket
    monkeypatch.setattr(
        gaussian_blanket,
        "_least",
        lambda gamma, v, far, least=gaussian_blanket._least: least(gamma, v, nearer[far]),
        raising=True,
    )
    nearer = {c[1]: c[0] + Fraction(1, 1000) for c in genuine(3, 1 / MIXED.sigma0, 0.05)}
    assert float(bound().upper) < exact


def test_every_input_is_below_what_is_answered():
    for source in (MIXED, replace(MIXED, dimension=1), LocalGaussian("4.6"), LocalGaussian("4.6", 3)):
        for adjacency in ("zero-out", "replace-one"):
            pair = worst_pair(source, adjacency=adjacency, blanket="largest", exp_eps=Exp(LEVEL))
            assert "(worst: proved)" in pair.about
            assert ("rounded around 0" in pair.about) == (adjacency == "zero-out")
            found = reduction(source, adjacency=adjacency, blanket="largest")
            assert found.every and "(worst: proved)" in found.pairs and len(found.classes) == 1
        unrounded = worst_pair(source, adjacency="zero-out", blanket="largest")
        assert "proved" not in unrounded.about and "rounded" not in unrounded.about
    replaced = worst_pair(MIXED, adjacency="replace-one", blanket="largest")
    assert replaced.reverse.stretches[0].since == replaced.stretches[0].since


def hinges(level, v, gamma, radius, lengths, weight, w=0):
    """Of (R_x - level R_0 - weight b)/(1 - gamma) at some lengths, b rounded within a radius, by a sum on a grid."""
    y = np.linspace(-14, 18, 8001)
    far = np.hypot(y, w)
    steep = np.where(far < radius, (far**2 / radius + radius) * v / 2, v * far) if radius else v * far
    least = gamma + (1 - gamma) * np.exp(-steep - v * v / 2)
    mass = np.exp(-y * y / 2) / math.sqrt(2 * math.pi) * (y[1] - y[0])
    return [
        float(mass @ np.maximum(gamma + (1 - gamma) * np.exp(x * y - x * x / 2) - level - weight * least, 0))
        for x in lengths
    ]


def test_hinges_rise_with_the_input_against_the_rounded_blanket_and_fall_against_the_largest_itself():
    draw, falls = np.random.default_rng(7), {1: 0.0, Fraction(1, 2): 0.0, 0: 0.0}
    for _ in range(120):
        v = Fraction(draw.uniform(0.05, 2)).limit_denominator(1000)
        level = math.exp(draw.choice([0.02, 1, 2.5]) * draw.uniform())
        gamma = Fraction(draw.choice([0, draw.uniform()])).limit_denominator(100)
        radius = rounding_radius(Fraction(level), reach=v, gamma=gamma)
        lengths = float(v) * np.sort(draw.uniform(size=2) ** 2)
        top = float(gamma + (1 - gamma) * Fraction(math.exp(-v * (v + radius) / 2)))
        for share in (1, Fraction(1, 2), 0):
            for order in (level, 1 / level):
                weight = -abs(order - 1 + 1e-3) / top * math.exp(draw.uniform(-1, 3))
                one, other = hinges(order, float(v), float(gamma), float(radius * share), lengths, weight)
                falls[share] = max(falls[share], one - other)
    assert falls[1] < 1e-9 < 1e-3 < falls[Fraction(1, 2)] < falls[0]


def test_from_the_radius_on_a_length_across_needs_no_rounding():
    level, v = 2.0, Fraction(1, 2)
    radius = rounding_radius(Fraction(2), reach=v)
    lengths, weights = np.linspace(0, 0.5, 6), -np.exp(np.linspace(0.1, 3, 12))
    assert all(np.diff(hinges(level, 0.5, 0, 0, lengths, k, float(radius))).min() > -1e-9 for k in weights)
    assert min(np.diff(hinges(level, 0.5, 0, 0, lengths, k, float(radius) / 4)).min() for k in weights) < -1e-5


def test_the_rounded_blanket_is_below_the_largest_and_meets_it():
    v, gamma, level = Fraction(1, 2), Fraction(1, 3), Exp(Fraction(1, 2))
    sharp, round_ = (
        worst_pair(BlanketMixedGaussian(gamma, 2), adjacency="zero-out", blanket="largest", exp_eps=at).stretches
        for at in (None, level)
    )
    radius = rounding_radius(level, reach=v, gamma=gamma)
    assert [s.high for s in round_] == [-radius, radius, None] and round_[1].low == -radius
    a = (math.exp(0.5) - 1 / 3) * 1.5
    assert float(radius) == pytest.approx(max(a - 1, (a - 1) / 2 + a * math.expm1(1 / 8) / 8) / 2, rel=3e-6)
    for k in range(-4, 5):
        u = flint.acb(radius.numerator * k) / (4 * radius.denominator)
        low, high = round_[1].reference(u).real, sharp[k > 0].reference(u).real
        assert abs(low - high) < 1e-14 if abs(k) == 4 else low < high


def test_far_up_the_blanket_is_rounded_everywhere_or_inputs_are_replaced():
    high = worst_pair(BlanketMixedGaussian("0.9", 1), adjacency="zero-out", blanket="largest", exp_eps=Fraction(99))
    assert [(s.low, s.high) for s in high.stretches] == [(None, None)]
    kept, replaced = (
        worst_pair(LocalGaussian(1), adjacency="zero-out", blanket="largest", exp_eps=Fraction(at)) for at in (3, 6)
    )
    assert not kept.symmetric and len(kept.stretches) == 3
    assert replaced.symmetric and "law of the input 0" in replaced.about and "(worst: proved)" in replaced.about


def test_no_pair_of_a_line_has_a_larger_hinge_than_opposite_ends():
    y = np.linspace(-14, 14, 4001)
    weight = np.exp(-y * y / 2) / math.sqrt(2 * math.pi) * (y[1] - y[0])
    draw = np.random.default_rng(12)
    for _ in range(60):
        v, alpha, k = draw.uniform(0.1, 2.5), math.exp(0.7 * draw.normal()), draw.normal() * draw.choice([0.1, 1, 5])
        gamma, across = draw.choice([0, draw.uniform()]), draw.choice([0, draw.uniform(0, 4)])
        least = gamma + (1 - gamma) * np.exp(-v * np.hypot(y, across) - v * v / 2)

        def hinge(p, q, gamma=gamma, alpha=alpha, taken=k * least):
            one, other = (gamma + (1 - gamma) * np.exp(x * y - x * x / 2) for x in (p, q))
            return weight @ np.maximum(one - alpha * other - taken, 0)

        p, q = draw.uniform(-v, v, 2)
        if across > 0:
            q = -math.copysign(q, p)
        assert max(hinge(p, q), hinge(q, p)) <= hinge(v, -v) + 1e-6
    assert hinge(v, -v) > hinge(v, v)


def test_the_unmixed_gaussian_beyond_the_line():
    line = worst_pair(LocalGaussian(6, 1), blanket="largest", adjacency="zero-out").law(
        Exp(Fraction(1)), tail=Fraction(1, 10**10)
    )
    assert 0 < sum(line.missing) <= Fraction(1, 10**10)
    one, two = (
        pair_delta(
            worst_pair(LocalGaussian("4.6", d), blanket="largest", adjacency="zero-out"),
            1000,
            Exp(Fraction(4, 1000)),
            rtol=1e-3,
        )
        for d in (1, 2)
    )
    exact = by_both_coordinates(0, 4.6, 2, 1000, 0.004)
    assert float(one.upper) < exact < float(two.lower) and float(two.upper) < exact * 1.05


@pytest.mark.parametrize("dimension", [2, 3, 50])
def test_classes_cover_the_lengths(dimension):
    classes = length_classes(dimension, Fraction(1, 4), 0.5)
    assert classes[0][0] == 0
    assert all(a[1] == b[0] for a, b in pairwise(classes))
    with working_precision(128):
        masses = [mass(c[0], c[1], dimension, flint.ctx.prec) for c in classes]
        assert abs(1 - sum(masses)) < 1e-30
    middle = max(range(len(classes)), key=lambda k: float(masses[k].mid()))
    low, high = (float(x) for x in classes[middle][:2])
    assert float(masses[middle].mid()) == pytest.approx(chi(dimension - 1).cdf(high) - chi(dimension - 1).cdf(low))


def test_no_bound_is_read_off_across_the_branch_cut():
    length = length_along(Fraction(1))
    box = flint.acb(flint.arb(0, 0.1), flint.arb(2, 0.1))
    assert not length(box).is_finite()
    assert length(flint.acb(flint.arb(0, 3))).is_finite()
    real = length(flint.acb_series([flint.acb(2), 1], prec=2))
    assert float(real[1].real.mid()) == pytest.approx(2 / math.sqrt(5))


def test_the_independent_quadrature_does_not_claim_it():
    with pytest.raises(Unsupported, match="dimension 1"):
        confirm_pair(MIXED, n=USERS, exp_eps=Exp(LEVEL), blanket="largest", adjacency="zero-out")


def test_cells_without_visible_mass_count_as_zero():
    law = worst_pair(SphereLinear("0.05", 64), adjacency="zero-out").law(
        Exp(Fraction(1, 1000)), tail=Fraction(1, 10**20)
    )
    below, above = merged_and_spread(law, 60)
    assert below.weights.sum() == pytest.approx(1) and above.weights.sum() == pytest.approx(1)


def test_what_such_cells_hold_is_allowed_for():
    hidden = Piece(
        Fraction(0), Fraction(1), lambda u: u * 0 + 100, lambda u: u * 0 + flint.arb(0, 0.001)
    )  # up to 0.001 of mass at the value 100
    below, above = merged_and_spread(ContinuousLaw((hidden,), Ball(Fraction(1), Fraction(1))), 4)
    assert min(below.shift, above.shift) >= 0.1


def test_calibration_against_the_largest_blanket_needs_less_noise(monkeypatch):
    found = calibrate(
        "bmg", n=10**4, dimension=1, eps="0.02", delta="1e-5", adjacency="zero-out", blanket="largest", gap=None
    )
    assert found.blanket == "largest" and "certainly met" in found.about
    own = roughly(found.parameters, found.users, found.exp_eps, found.adjacency, "mechanism")
    assert own > found.goal
    asked = []

    def noted(*_, blanket, **__):
        asked.append(blanket)
        raise Unsupported("noted")

    monkeypatch.setattr(calibration.solve, "delta", noted)
    with pytest.raises(CertificateError):
        found.verify()
    assert asked == ["largest"]  # it is computed again against the blanket it names


def test_beyond_the_line_the_first_class_reaches_the_radius():
    """There the blanket is below the rounded one only on classes that are far enough from 0."""
    reach, ratio = Fraction(1, 3), Exp(Fraction(6, 5))
    radius = rounding_radius(ratio, reach=reach)
    plain = length_classes(2, reach, 1.0)
    assert plain[0][1] < radius
    rounded_up = length_classes(2, reach, 1.0, least=radius)
    assert rounded_up[0][0] == 0 and rounded_up[0][1] >= radius and rounded_up[-1][1] == plain[-1][1]
    pair = worst_pair(LocalGaussian(3, 2), adjacency="zero-out", blanket="largest", exp_eps=ratio)
    # every class has one part that holds 0
    middles = [s for s in pair.stretches if (s.low is None or s.low < 0) and (s.high is None or s.high > 0)]
    at_0 = [stretch.reference(flint.acb(0)).real for stretch in middles]
    most = (-to_arb(reach) * to_arb(radius) - to_arb(reach * reach / 2)).exp()
    assert len(at_0) == len(rounded_up) and all(value < most * (1 + 1e-12) for value in at_0)
