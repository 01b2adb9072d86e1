"""Constants of a contour: choices, of which poor ones would make a bracket wide and dear."""

from fractions import Fraction

import numpy as np
import pytest

from symshuffle.engines import saddle

LAWS = {
    "few": ([-1.0, 0.0, 2.0], [0.5, 0.3, 0.2]),
    "rare jump": ([-0.01, 0.02, 50.0], [0.6, 0.399999, 0.000001]),
    "skew": ([-3.0, -0.1, 0.4], [0.05, 0.5, 0.45]),
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("sign", [1, -1])
def test_slopes_nearly_optimise_chernoffs_bound(name, sign):
    """Against two thousand slopes on a logarithmic scale: the exponent found is within one per cent of the largest."""
    tilt = saddle.Tilt(*map(np.array, LAWS[name]))
    n, tau = 1000, 0.0
    c = saddle.saddle_point(tilt, n)
    distance = 8 * (abs(n * tilt.slope(c)) + np.sqrt(n * tilt.curvature(c)))
    found = saddle.tail_slopes(tilt, n, c, tau, distance)[0 if sign > 0 else 1]
    every = np.geomspace(found / 1e3, found * 1e3, 2000)
    exponents = [saddle.tail_exponent(tilt, n, c, tau, distance, sign * theta) for theta in every]
    reached = saddle.tail_exponent(tilt, n, c, tau, distance, sign * found)
    assert reached >= 0.99 * max(exponents)
    assert saddle.tail_exponent(tilt, n, c, tau, distance, sign * found / 2) < 0.99 * reached


def test_slopes_of_several_tilts_are_those_of_each():
    tilt = saddle.Tilt(*map(np.array, LAWS["skew"]))
    tilts = np.array([-2.0, 0.0, 0.5, 700.0])
    assert tilt.slopes(tilts) == pytest.approx([tilt.slope(s) for s in tilts], rel=1e-12)


@pytest.mark.parametrize("n", [1, 1000])
@pytest.mark.parametrize("values", [[1.0], [1.0, -3.0]])
def test_a_minimum_at_infinity_is_not_crept_towards(values, n, monkeypatch):
    """On a lattice of one positive atom the pull falls to that of the atom: 70,000 of Newton's steps once."""
    calls, slope = [], saddle.Tilt.slope
    monkeypatch.setattr(saddle.Tilt, "slope", lambda self, c: calls.append(c) or slope(self, c))
    weights = np.full(len(values), 1 / len(values))
    c = saddle.saddle_point(saddle.Tilt(np.array(values), weights), n, Fraction(1))
    assert len(calls) < 200
    assert 0 < c <= 2 * saddle._STEEPEST
