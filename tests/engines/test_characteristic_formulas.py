"""The tilted characteristic function in doubles: values, sizes, allowances and forms against closed forms."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import mpmath as mp
import numpy as np
import pytest

from symshuffle.engines import characteristic, saddle
from symshuffle.engines.characteristic import Region, form, rough_tilt
from symshuffle.engines.exact import Exact
from symshuffle.errors import Unsupported
from symshuffle.law import Law
from symshuffle.mixed_law import MixedLaw, Segment
from symshuffle.numbers import Ball

UNIT = 2.0**-53
VALUES, WEIGHTS = (Fraction(1), Fraction(-3, 2), Fraction(1, 4)), (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))
LAW = Law(VALUES, WEIGHTS)
PLAN = saddle.Plan(c=0.4, step=0.25, nodes=80, tau=0.3)
T = np.array([0.0, 0.01, 1.3, 2.0, 7.5])


def region(law=LAW, plan=PLAN):
    return form(law, saddle.tilt(law), plan, tolerance=0.0).regions[0]


def ratio(t, c=0.4):
    s = mp.mpc(c, t)
    moment = lambda z: mp.fsum(float(w) * mp.exp(z * float(v)) for v, w in LAW.atoms())  # noqa: E731
    return moment(s) / moment(mp.mpf(c))


def test_the_logarithm_of_the_ratio_is_that_of_the_definition():
    found, error = region().log_ratio(T)
    for value, t, off in zip(found, T, error, strict=True):
        expected = complex(mp.log(ratio(t)))
        assert abs(value - expected) <= max(off, 1e-18) and off < 1e-13


def test_a_ratio_next_to_zero_keeps_a_finite_logarithm():
    """Two atoms of the same weight cancel at pi: the logarithm is that of 1e-300 at the least, and so is the error."""
    two = Region(0, 10, 0.0, np.array([0.0, 1.0]), np.array([0.5, 0.5]), np.array([1.0, 1.0]), 0.5)
    found, error = two.log_ratio(np.array([math.pi, math.pi - 1e-3]))
    assert found[0].real < -30 and np.isfinite(error).all()
    assert found[1].real == pytest.approx(math.log(math.sin(5e-4)), rel=1e-9)
    zero = replace(two, values=np.array([0.0, 0.0]), tilted=np.array([0.5, -0.5]))  # no law, but a ratio of exactly 0
    found, error = zero.log_ratio(np.array([1.0]))
    assert found[0].real == pytest.approx(0.0, abs=1e-300)  # 1 + 0: nothing was turned


@pytest.mark.parametrize("t", [0.02, 1.5, 40.0])
def test_the_error_of_a_logarithm_is_the_sum_of_its_round_offs(t):
    """Of each wave (noise of its weight, of the sum of weights, 36 and the depth of the sum) and its phase, 6 units."""
    one = region()
    noise = one.noise + float(one.tilted @ one.noise) + 36 + (3).bit_length() + 1
    each = sum(
        float(w) * (k * abs(mp.expm1(1j * v * t)) + 6 * abs(v * t))
        for v, w, k in zip(one.values, one.tilted, noise, strict=True)
    )
    size = abs(ratio(t))
    expected = UNIT * (each + 2 * min(size, 1) * abs(mp.log(ratio(t)))) / size
    _, error = one.log_ratio(np.array([t]))
    assert error[0] == pytest.approx(float(expected), rel=1e-9, abs=0)
    left_out = replace(one, error=1e-3).log_ratio(np.array([t]))[1]
    assert left_out[0] == pytest.approx(float(1e-3 / size + expected), rel=1e-9, abs=0)


def test_the_size_is_the_modulus_and_its_allowances(monkeypatch):
    one = region()
    true = np.array([float(abs(ratio(t))) for t in T])
    assert (one.size(T) >= true).all() and (one.size(T) <= true + 2e-12).all()
    assert replace(one, error=0.25).size(T) == pytest.approx(one.size(T) + 0.25, rel=1e-12)
    monkeypatch.setattr(characteristic, "UNIT", 1e-3)
    monkeypatch.setattr(characteristic, "_SLACK", 0.5)
    largest = float(one.tilted @ np.abs(one.values))
    expected = true + 0.5 + 2e-3 * (36 + 3 + float(one.tilted @ one.noise)) + 8e-3 * largest * T
    assert one.size(T) == pytest.approx(expected, rel=1e-9)


def test_a_finite_law_is_one_region():
    """The whole line, its tilted weights, and the mean distance from the tilted mean."""
    one, shares = region(), [float(w) * math.exp(0.4 * float(v)) for v, w in LAW.atoms()]
    total = sum(shares)
    mean = sum(float(v) * w for v, w in zip(VALUES, shares, strict=True)) / total
    distance = sum(abs(float(v) - mean) * w for v, w in zip(VALUES, shares, strict=True)) / total
    assert (one.first, one.last, one.c, one.error, one.far) == (0, 80, 0.4, 0.0, False)
    assert one.deviation == pytest.approx(distance, rel=2e-9)
    assert one.tilted == pytest.approx([w / total for w in shares], rel=1e-12)
    assert one.noise.tolist() == saddle.tilt(LAW).tilted_noise(0.4).tolist()


def test_a_ceiling_is_one_where_there_is_no_segment():
    assert region().ceiling(T).tolist() == [1.0] * len(T)


def test_sums_are_pairwise():
    """Of 2^k + j terms none goes through more than k + 1 additions, counted by terms that carry their depth."""

    class Term:
        def __init__(self, total, depth):
            self.total, self.depth = total, depth

        def __add__(self, other):
            return Term(self.total + other.total, max(self.depth, other.depth) + 1)

    for m in (1, 2, 3, 7, 8, 9, 100, 1025):
        found = characteristic._pairwise(Term(k, 0) for k in range(m))
        assert found.total == m * (m - 1) // 2
        assert found.depth <= m.bit_length()
        one = replace(region(), values=np.zeros(m))
        assert found.depth <= one._depth == m.bit_length() + 1


def test_a_radius_is_half_the_width_of_a_ball():
    assert characteristic._radius(Fraction(1, 3)) == 0.0
    assert characteristic._radius(Ball(Fraction(1), Fraction(2))) == math.nextafter(0.5, 1)
    assert characteristic._radius(Ball(Fraction(1), Fraction(1))) == 0.0


def blurred(values=(0, 0, 0), weights=(0, 0, 0)):
    """The law with balls of some radii, and its form."""
    law = Law(
        tuple(Ball(v - r, v + r) if r else v for v, r in zip(VALUES, values, strict=True)),
        tuple(Ball(w - r, w + r) if r else w for w, r in zip(WEIGHTS, weights, strict=True)),
    )
    return replace(form(LAW, saddle.tilt(LAW), PLAN, tolerance=0.0), finite=law)


@pytest.mark.parametrize("n", [1, 6])
def test_the_blur_of_values_is_the_mean_of_what_they_move(n):
    """n r-weighted tilted means times (1 + E(e^(cr) - 1))^(n-1): E[D e^(cS)] with every value raised by its radius."""
    radii = (Fraction(1, 8), Fraction(0), Fraction(1, 16))
    found = blurred(values=radii)
    moment = sum(float(w) * math.exp(0.4 * float(v)) for v, w in LAW.atoms())
    pairs = list(zip(LAW.atoms(), radii, strict=True))
    grown = [float(w) * math.exp(0.4 * (float(v) + float(r))) / moment for (v, w), r in pairs]
    expected = n * sum(g * float(r) for g, r in zip(grown, radii, strict=True)) * sum(grown) ** (n - 1)
    assert found.blur(n, 0.4) == pytest.approx(expected, rel=1e-8)
    assert blurred().blur(n, 0.4) == 0.0


@pytest.mark.parametrize("n", [1, 6])
def test_the_blur_of_weights_is_that_of_their_product(n):
    """((1 + E p)^n - 1)/(c e), shares p taken of the lower ends; with radii of values these are raised first."""
    weights = (Fraction(1, 100), Fraction(0), Fraction(1, 50))
    lows = [w - r for w, r in zip(WEIGHTS, weights, strict=True)]
    moment = sum(float(w) * math.exp(0.4 * float(v)) for v, w in LAW.atoms())
    for radii in ((Fraction(0),) * 3, (Fraction(1, 8), Fraction(0), Fraction(1, 16))):
        grown = [float(w) * math.exp(0.4 * (float(v) + float(r))) / moment
                 for (v, w), r in zip(LAW.atoms(), radii, strict=True)]  # fmt: skip
        whole = sum(grown)
        heavier = sum(g * float(r / low) for g, r, low in zip(grown, weights, lows, strict=True)) / whole
        moved = n * sum(g * float(r) for g, r in zip(grown, radii, strict=True)) * whole ** (n - 1)
        expected = moved + whole**n * ((1 + heavier) ** n - 1) / (0.4 * math.e)
        assert blurred(values=radii, weights=weights).blur(n, 0.4) == pytest.approx(expected, rel=1e-8)


def test_the_blur_covers_the_laws_at_the_ends_of_the_balls():
    radius, n = Fraction(1, 50), 4
    plan_form = blurred(values=(radius, 0, 0))
    moment = sum(float(w) * math.exp(0.4 * float(v)) for v, w in LAW.atoms())
    middle = Exact().bracket(LAW, n).exact
    for sign in (1, -1):
        moved = Law((VALUES[0] + sign * radius, *VALUES[1:]), WEIGHTS)
        off = abs(float(n * (Exact().bracket(moved, n).exact - middle)))
        assert off <= plan_form.blur(n, 0.4) * moment**n <= 30 * off


def test_balls_too_wide_for_many_users_are_refused():
    with pytest.raises(Unsupported, match="too wide"):
        blurred(values=(Fraction(1), 0, 0)).blur(10**6, 0.4)


SEGMENTS = (
    Segment(Fraction(-1), Fraction(1, 2), Fraction(1, 4), Fraction(1)),
    Segment(Fraction(1), Fraction(-1, 3), Fraction(1, 8), Fraction(1, 2)),
)


def mixed():
    """Two atoms beside two segments, of which one falls; the masses add up to 1."""
    masses = sum((s.moments(192)[0] for s in SEGMENTS), start=Fraction(0))
    return MixedLaw((Fraction(1, 3), Fraction(-2)), (Fraction(1, 5), Fraction(4, 5) - masses), SEGMENTS)


ROOTS, SHARES = np.polynomial.legendre.leggauss(80)


@cache
def points():
    """Values and weights of the atoms, and of NumPy's Gauss rule on each segment: a + b e^u against w e^(-u/2)."""
    found = [(float(v), float(w if isinstance(w, Fraction) else w.midpoint)) for v, w in mixed().atoms()]
    for x in SEGMENTS:
        u = float(x.span) * (1 + ROOTS) / 2
        values = float(x.constant) + float(x.slope) * np.exp(u)
        weights = float(x.weight) * float(x.span) / 2 * SHARES * np.exp(-u / 2)
        found += list(zip(values, weights, strict=True))
    values, weights = map(np.array, zip(*found, strict=True))
    return values, weights


def transform(s):
    """The moment generating function by these."""
    values, weights = points()
    return (weights * np.exp(s * values)).sum()


@pytest.fixture(scope="module")
def regions():
    law = mixed()
    with pytest.MonkeyPatch.context() as at:
        at.setattr(MixedLaw, "rule", lambda self, c, *, end, tolerance: (48, 8.1))
        return form(law, rough_tilt(law), PLAN, tolerance=1e-13)


def test_both_forms_of_a_mixed_law_are_its_transform(regions):
    near, far = regions.regions
    assert (near.first, near.last, far.first, far.last) == (0, 32, 33, 80)  # 8.1 over steps of a quarter
    whole = transform(0.4)
    for one, indices in ((near, [0, 3, 32]), (far, [33, 60, 80])):
        t = 0.25 * np.array(indices, dtype=float)
        found, error = one.log_ratio(t)
        sizes, ceilings = one.size(t), one.ceiling(t)
        for k, height in enumerate(t):
            true = transform(complex(0.4, height)) / whole
            assert abs(np.exp(found[k]) - true) < 1e-11
            assert error[k] < 1e-10
            assert abs(true) <= sizes[k] <= abs(true) + 3e-12 + one.error + one._doubt()
            assert abs(true) <= ceilings[k] <= 1
    assert near.error == 1e-13 and far.error == 0.0 and not near.far and far.far


def test_the_ceiling_of_a_far_region_is_atoms_and_ends_by_parts(regions):
    """Each end of a segment adds 2w e^(c g)/(|b| t) over M(c), g its value there."""
    far = regions.regions[1]
    whole = transform(0.4)
    atoms = sum(w * math.exp(0.4 * v) for v, w in list(zip(*points(), strict=True))[:2])
    by_parts = sum(
        2 * float(x.weight) / abs(float(x.slope)) * math.exp(0.4 * (float(x.constant) + float(x.slope) * r))
        for x in SEGMENTS
        for r in (1.0, math.exp(float(x.span)))
    )
    t = np.array([20.0, 1e-9])
    found = far.ceiling(t)
    assert found[0] == pytest.approx((atoms + by_parts / 20) / whole, rel=1e-9)
    assert found[1] == 1.0


def test_the_doubt_of_transforms_counts_function_and_phase(regions):
    """Eight times what the special function is off by, and eight round-offs of two and of the phases a/(br) and ca."""
    far = regions.regions[1]
    whole = transform(0.4)
    expected = 0.0
    for x in SEGMENTS:
        a, b = float(x.constant), float(x.slope)
        for r in (1.0, math.exp(float(x.span))):
            share = 2 * float(x.weight) / math.sqrt(r) * math.exp(0.4 * (a + b * r)) / whole
            expected += share * 8 * (1e-13 + UNIT * (2 + abs(a / (b * r)) + abs(0.4 * a)))
    assert far._doubt() == pytest.approx(expected, rel=1e-9, abs=0)
    assert regions.regions[0]._doubt() == 0


def test_what_a_mixed_law_is_on_the_real_line(regions):
    """The law above has a larger moment generating function, the deviation is the root of the variance."""
    for s in (0.4, 1.3, -0.7):
        true = math.log(transform(s))
        assert regions.tilt.cumulant(s) == pytest.approx(true, abs=1e-12)
        assert true < regions.above.cumulant(s) < true + 1e-3
    near, far = regions.regions
    values, weights = points()
    shares = weights * np.exp(0.4 * values) / transform(0.4)
    deviation = math.sqrt(float(shares @ (values - shares @ values) ** 2))
    assert near.deviation == far.deviation == pytest.approx(deviation, rel=1e-9)
    assert far.log_scale == pytest.approx(math.log(transform(0.4)), abs=1e-12)


def test_a_rule_that_holds_the_whole_line_needs_no_far_region(monkeypatch):
    law = mixed()
    for height, last in ((20.0, 80), (25.0, 80), (19.99, 79)):
        monkeypatch.setattr(MixedLaw, "rule", lambda self, c, *, end, tolerance, height=height: (24, height))
        found = form(law, rough_tilt(law), PLAN, tolerance=1e-5).regions
        assert found[0].last == last and len(found) == (1 if last == 80 else 2)
