"""The terms that a continuous part brings into a contour: each covers what it stands for, and nothing does without it.

The transform of a segment is known in closed form, by complementary error functions; the Gauss nodes, the bound by
parts, the mean distance and the special function in doubles are held against it, node by node.

No public door shows one term alone, so that private names are called and set here.
"""

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import flint
import numpy as np
import pytest
import scipy.special

from symshuffle import Exp
from symshuffle.base.numbers import to_arb, working_precision
from symshuffle.channels.mixed_law import MixedLaw, quadrature_error, segment_decay, segment_transform
from symshuffle.engines.contours import ball, contour, saddle
from symshuffle.engines.contours.characteristic import Region, estimate_tilt, line_regions
from symshuffle.engines.contours.integrand import ContourLine
from symshuffle.mechanisms import Laplace

N = 50
BITS = 192


@cache
def law():
    return Laplace(Exp(Fraction(1))).mixed_law(Exp(Fraction(1, 24)), bits=BITS)


def plan(nodes=400, step=0.5):
    return saddle.ContourPlan(c=0.3, step=step, nodes=nodes, tau=0.01)


def transform(s):
    """The moment generating function, in closed form."""
    atoms = sum((to_arb(w) * (s * to_arb(v)).exp() for v, w in law().atoms()), start=flint.acb(0))
    return atoms + sum((segment_transform(segment.numbers, s) for segment in law().segments), start=flint.acb(0))


def at(line, index):
    """The ratio of a line at a node, its denominator being the sum of its Gauss rule."""
    return transform(flint.acb(line.c, line.step * index)) / line.total


@pytest.fixture
def coarse(monkeypatch):
    """A line on which a rule of low order goes far up."""
    monkeypatch.setattr(MixedLaw, "rule", lambda self, c, *, end, tolerance: (24, end / 4))
    with working_precision(BITS):
        yield ContourLine.of(law(), N, plan(), 1e-2)


def test_the_gauss_nodes_in_balls_are_off_by_no_more_than_is_told(coarse):
    nodes = range(0, coarse.last + 1, 9)
    off = [abs((coarse.ratio(i) - at(coarse, i)).real.mid()) for i in nodes]
    assert all((coarse.ratio(i) - at(coarse, i)).contains(flint.acb(0)) for i in nodes)
    careless = replace(coarse, error=flint.arb(0))
    assert not all((careless.ratio(i) - at(careless, i)).contains(flint.acb(0)) for i in nodes)
    assert max(off) > 1e-25


def test_beyond_the_gauss_nodes_the_line_is_the_closed_form(coarse):
    for i in range(coarse.last + 1, 401, 37):
        assert (coarse.ratio(i) - at(coarse, i)).contains(flint.acb(0))


def test_the_bound_by_parts_covers_each_segment(coarse):
    """And half of it would not do."""
    for segment in (one.numbers for one in law().segments):
        decay = segment_decay(segment, coarse.c)
        used = [segment_transform(segment, flint.acb(coarse.c, x)).abs_upper() * x / decay for x in range(1, 600)]
        assert all(x <= 1 for x in used)
        assert any(x > 0.5 for x in used) == (segment[1] < 0)  # the larger end is the one of the larger density


def test_what_is_far_in_balls_counts_all_segments(coarse):
    alone = replace(coarse, num_atoms=0)
    for i in range(coarse.last + 1, 401, 7):
        each = [segment_decay(one.numbers, coarse.c) / (coarse.step * i * coarse.total) for one in law().segments]
        assert sum(each, start=flint.arb(0)).upper() <= alone.decay_bound(i) * (1 + flint.arb(2) ** -60)
        assert at(coarse, i).abs_upper() <= coarse.decay_bound(i)


def test_what_is_beyond_covers_the_nodes_there(coarse, monkeypatch):
    """All nodes after one, as they would be evaluated; without the smoothing's share the lower sum is not covered."""
    line = replace(coarse, n=1, tau=flint.arb(2))
    start = line.last
    upper, lower, _ = ball._evaluated(line, [(start + 1, 401)])
    weight = line.step / flint.arb.pi()
    assert (abs(upper) * weight).upper() < line.tail_bound(start).lower()
    assert (abs(lower) * weight).upper() < line.tail_bound(start).lower()


def test_the_mean_distance_in_balls_is_no_less_than_it_is():
    with working_precision(BITS):
        coarse = ContourLine.of(law(), N, plan(), 1e-2)
        middle = flint.arb(estimate_tilt(law()).at(0.3).mean)
        fine = law().near(192, BITS)
        grown = [(to_arb(v), to_arb(w) * (coarse.c * to_arb(v)).exp()) for v, w in fine.atoms()]
        whole = sum((w for _, w in grown), start=flint.arb(0))
        distance = sum((w * abs(v - middle) for v, w in grown), start=flint.arb(0)) / whole
        root = (sum((w * (v - middle) ** 2 for v, w in grown), start=flint.arb(0)) / whole).sqrt()
        assert distance.upper() < coarse.deviation(middle).lower()
        assert root.upper() < coarse.deviation(middle).lower() < 2 * root


def regions(order, monkeypatch):
    """Both regions of a line in doubles, with what its Gauss rule may leave out as its bound tells."""
    height = plan().end / 4
    monkeypatch.setattr(MixedLaw, "rule", lambda self, c, *, end, tolerance: (order, height))
    with working_precision(BITS):
        c = flint.arb(plan().c)
        left_out = sum((quadrature_error(s.numbers, order, c, flint.arb(height)) for s in law().segments), flint.arb(0))
        tolerance = float((left_out / transform(flint.acb(c)).real).upper())
    return line_regions(law(), estimate_tilt(law()), plan(), tolerance=tolerance)[0]


def off(region, indices):
    """How far the logarithm in doubles is from the closed form, and its bound."""
    t = plan().step * np.array(indices, dtype=float)
    found, error = region.log_ratio(t)
    lost = []
    with working_precision(BITS):
        whole = transform(flint.acb(flint.arb(plan().c))).real
        for value, height in zip(found, t, strict=True):
            true = (transform(flint.acb(flint.arb(plan().c), flint.arb(float(height)))) / whole).log()
            turn = round((value.imag - float(true.imag.mid())) / (2 * math.pi)) * 2 * math.pi
            lost.append(abs(complex(value - turn * 1j) - complex(float(true.real.mid()), float(true.imag.mid()))))
    return np.array(lost), error


def test_the_gauss_nodes_in_doubles_are_off_by_no_more_than_is_told(monkeypatch):
    near, _ = regions(16, monkeypatch)
    lost, error = off(near, range(0, near.last + 1, 9))
    assert (lost <= error).all()
    lost, error = off(replace(near, error=0.0), range(0, near.last + 1, 9))
    assert not (lost <= error).all()


def test_the_special_function_in_doubles_may_be_off_by_what_is_assumed_of_it(monkeypatch):
    _, far = regions(48, monkeypatch)
    plain = scipy.special.erfcx
    monkeypatch.setattr(scipy.special, "erfcx", lambda z: plain(z) * (1 + 1e-13))
    indices = range(far.first, far.last + 1, 11)
    lost, error = off(far, indices)
    assert (lost <= error).all()
    monkeypatch.setattr(Region, "_transform_error", lambda self: 0.0)
    lost, error = off(far, indices)
    assert not (lost <= error).all()


def test_the_bound_by_parts_covers_the_segments_in_doubles(monkeypatch):
    _, far = regions(48, monkeypatch)
    t = plan().step * np.arange(far.first, far.last + 1)
    with working_precision(64):
        whole = transform(flint.acb(flint.arb(plan().c))).real
        points = [flint.acb(flint.arb(plan().c), flint.arb(float(x))) for x in t]
        true = np.array([float((transform(s) / whole).abs_upper()) for s in points])
        shares = (
            sum((segment_transform(one.numbers, s) for one in law().segments), start=flint.acb(0)) for s in points
        )
        segments = np.array([float((share / whole).abs_upper()) for share in shares])
    assert (true <= far.ceiling(t)).all()
    assert (segments <= replace(far, tilted=0 * far.tilted).ceiling(t)).all()
    for k in (0, 2):  # the two ends of a segment
        one = replace(far, tilted=0 * far.tilted, segments=far.segments[k : k + 2])
        share = [float((segment_transform(law().segments[k // 2].numbers, s) / whole).abs_upper()) for s in points]
        assert 0.25 < (np.array(share) / one.ceiling(t)).max() <= 1
    fading = (1 / np.abs(plan().c + 1j * t) ** 2 + plan().tau ** 2) * np.exp(-((plan().tau * t) ** 2) / 2)
    for n in (1, 3):
        assert float((true**n * fading).sum()) <= contour._tail_bound(far, n, plan()) * (1 + 1e-9)
