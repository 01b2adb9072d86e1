"""Cyclic convolutions by transforms against exact ones, and each part of what they may be off by."""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pytest

from symshuffle.engines import convolution
from symshuffle.engines.convolution import Convolution, convolve, integer_power

UNIT = 2.0**-53
PLACES, MASSES = [0, 1, 3], [F(1, 2), F(1, 4), F(1, 8)]


def exact(n, length):
    """The n-fold cyclic convolution in rationals."""
    found = [F(1)] + [F(0)] * (length - 1)
    for _ in range(n):
        new = [F(0)] * length
        for j, mass in enumerate(found):
            for place, share in zip(PLACES, MASSES, strict=True):
                new[(j + place) % length] += mass * share
        found = new
    return found


@pytest.mark.parametrize(("n", "length"), [(1, 4), (3, 5), (5, 7), (5, 16), (4, 2)])
def test_sums_wrap_around_at_the_length(n, length):
    found = convolve(PLACES, np.array(MASSES, dtype=float), n, length)
    assert found.masses.tolist() == pytest.approx([float(x) for x in exact(n, length)], abs=1e-15)
    off = math.sqrt(sum((F(float(x)) - y) ** 2 for x, y in zip(found.masses, exact(n, length), strict=True)))
    assert off <= found.error < 1e-12


@pytest.mark.parametrize(("n", "length"), [(3, 8), (5, 7)])
@pytest.mark.parametrize("heavier", [1, 2])
def test_the_error_is_that_of_each_frequency_and_of_the_stages(n, length, heavier):
    """(m + 4) evaluations of 16 units, n times at the (n-1)-th power, and their conjugates; 8 units per stage."""
    masses = np.array(MASSES, dtype=float) * heavier
    found = convolve(PLACES, masses, n, length)
    frequencies = [sum(m * np.exp(-2j * np.pi * k * p / length) for p, m in zip(PLACES, masses, strict=True))
                   for k in range(length // 2 + 1)]  # fmt: skip
    each = 7 * 16 * UNIT
    most = max(1.0, masses.sum()) ** n
    drift = [most * n * each * min(abs(f) + each, 1.0) ** (n - 1) for f in frequencies]
    spectral = math.sqrt(2 / length * sum(d * d for d in drift))
    stages = 8 * UNIT * math.log2(length) * math.sqrt(sum(float(x) ** 2 for x in found.masses))
    assert found.error == pytest.approx(spectral + stages, rel=1e-9, abs=0)


def test_masses_of_sum_above_one_are_counted_with_the_error_of_the_sum(monkeypatch):
    monkeypatch.setattr(convolution, "_EVALUATION", 0.01)
    monkeypatch.setattr(convolution, "PER_STAGE", 0.0)
    found = convolve([0], np.array([1.0]), 3, 1)
    each = 5 * 0.01
    assert found.error == pytest.approx(math.sqrt(2) * (1 + each) ** 3 * 3 * each)
    small = convolve([0], np.array([0.5]), 3, 1)
    assert small.error == pytest.approx(math.sqrt(2) * 3 * each * (0.5 + each) ** 2)


def test_one_stage_at_the_least():
    """A transform of one point is no transform; it is counted as one stage."""
    found = convolve([0], np.array([1.0]), 1, 1)
    assert found.masses.tolist() == [1.0]
    assert found.error == pytest.approx(math.sqrt(2) * 5 * 16 * UNIT + 8 * UNIT, rel=1e-9, abs=0)


def test_an_integral_is_the_sum_with_cauchy_schwarz_and_its_own_rounding():
    masses, values = np.array([0.5, -0.25, 0.125]), np.array([3.0, 4.0, 0.0])
    total, error = Convolution(masses, 1e-3).integral(values)
    assert total == 0.5
    own = 2 * UNIT * (math.log2(3) + 20) * (1.5 + 1.0)
    assert error == pytest.approx(5e-3 * (1 + 1e-9) + own, rel=1e-12)
    assert Convolution(masses, 0.0).integral(values)[1] == pytest.approx(own, rel=1e-12, abs=0)
    one = Convolution(np.array([0.5]), 0.0).integral(np.array([2.0]))
    assert one[1] == pytest.approx(2 * UNIT * 21, rel=1e-12, abs=0)  # log2 of 2 at the least


def test_powers_by_squaring():
    base = np.array([1.5 + 0.5j, -1j, 0j, 2.0])
    for n in range(12):
        expected = np.ones(4, dtype=complex)
        for _ in range(n):
            expected = expected * base
        assert integer_power(base, n) == pytest.approx(expected, rel=1e-14)
    assert base.tolist() == [1.5 + 0.5j, -1j, 0j, 2.0]


def test_constants():
    assert (convolution.UNIT, convolution._EVALUATION, convolution.PER_STAGE) == (UNIT, 16 * UNIT, 8 * UNIT)
