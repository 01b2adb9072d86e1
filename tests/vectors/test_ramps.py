"""Clipped densities between two finite laws: beside the engine for densities, and beside sums on a lattice."""

import math
from fractions import Fraction as F

import numpy as np
import pytest

from symshuffle import Exp, Unsupported
from symshuffle.base.choices import Relation, members
from symshuffle.vectors import ClippedLinear, calibrate
from symshuffle.vectors.privacy.accounting import larger_between, larger_order
from symshuffle.vectors.privacy.pairs import worst_pair
from tests.slices import some
from tests.vectors.witnesses import on_a_lattice


@pytest.mark.parametrize(
    ("d", "clip", "chi", "n", "adjacency"),
    some(
        [(*one, way) for one in ((10, "0.3", "0.25", 1000), (3, "-0.2", "0.2", 2000)) for way in members(Relation)], 2
    ),
)
def test_both_ends_are_about_the_value_of_the_density(d, clip, chi, n, adjacency):
    one, level = ClippedLinear(clip, d, chi), Exp(F(1, 2))
    sure = larger_order(worst_pair(one, adjacency=adjacency), n, level, rtol=1e-7)
    for rtol in (1e-1, 1e-4 if d == 10 else 1e-3):
        found = larger_between(one, n, exp_eps=level, adjacency=adjacency, rtol=rtol)
        assert found.lower < sure.lower and sure.upper < found.upper <= (1 + F(str(rtol)) * 2) * found.lower


def test_what_is_out_of_reach_is_refused(monkeypatch):
    monkeypatch.setitem(larger_between.__kwdefaults__, "counts", (8,))  # more cells take long before they are too few
    given = {"exp_eps": Exp(F(1, 2)), "adjacency": "zero-out", "rtol": 1e-3}
    with pytest.raises(Unsupported, match="farther apart"):
        larger_between(ClippedLinear("0.3", 10, "0.25"), 100, **given)


def on_heights(one, count=200_001):
    """Mass of the null symbol and density of x relative to it, on a fine grid of heights, in plain doubles."""
    d, clip, chi = one.dimension, float(one.clip), float(one.chi)
    heights = np.linspace(-1, 1, count)
    null = np.maximum(1 - heights**2, 0) ** ((d - 3) / 2)
    null /= null.sum()
    ramp = np.maximum(heights - clip, 0)
    first, second = (float(null @ ramp**k) for k in (1, 2))
    spread = (second - first**2) * chi**2
    slope = (math.sqrt(first**2 + 4 * spread) - first) / (2 * spread)
    return null, 1 - slope * first + slope * ramp


def test_many_coordinates_are_calibrated_at_the_best_clip_with_a_certificate():
    """At n = 1000, d = 100 the density of the order that decides has an atom beside its ramp, and no narrow bracket."""
    asked = {"n": 1000, "dimension": 100, "eps": "1/2", "delta": "1e-5", "adjacency": "zero-out"}
    found = calibrate("clipped-linear", **asked)
    null, toward = on_heights(found.parameters)
    gamma, ratio = float(toward.min()), math.exp(0.5)
    value = on_a_lattice((1 - ratio * toward) / gamma, gamma * null, 1000)
    assert value == pytest.approx(1e-5, rel=1e-2)
    assert F("0.999e-5") < found.certificate.bracket.lower < found.certificate.bracket.upper <= F("1e-5")
    assert found.rmse < 0.0235 and 0 < found.gap < 0.17
