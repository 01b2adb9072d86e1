"""The sum of losses on a lattice, term by term: windows, folds, error terms, and the aliases of a period."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np
import pytest
from scipy import fft, optimize

from symshuffle.accountants import period
from symshuffle.accountants import rounds as transforms
from symshuffle.accountants.dominating import LatticeLaw
from symshuffle.accountants.losses import Losses
from symshuffle.accountants.period import Period
from symshuffle.accountants.rounds import Tilted
from symshuffle.choices import Side
from symshuffle.errors import Unsupported
from symshuffle.numbers import working_precision

F = Fraction
STEP = F(1, 4)
ONE = LatticeLaw(STEP, -3, (0.125, 0.0, 0.5, 0.0, 0.25, 0.0625), F(1, 16))
TWO = LatticeLaw(STEP, 1, (0.5, 0.375), F(1, 8))
SUM = Losses(((ONE, 3), (TWO, 2)), Side.UPPER)


def outcomes(losses):
    """Every sum of finite losses in steps, with its mass."""
    found = {0: 1.0}
    for law, times in losses.parts:
        for _ in range(times):
            more = {}
            for (a, p), (k, q) in itertools.product(found.items(), enumerate(law.masses)):
                more[a + law.first + k] = more.get(a + law.first + k, 0.0) + p * q
            found = more
    return {place: mass for place, mass in found.items() if mass}


def kernel(y, c):
    return math.exp(-c * y) * -math.expm1(-y) if y > 0 else 0.0


# The period in balls.


@pytest.mark.parametrize(("c", "level"), [(0.3, 2), (2.0, 2), (2.0, 7), (0.7, -3)])
def test_the_bound_on_the_aliases_is_the_sum_over_all_periods(c, level):
    """Sums within half a period have their aliases at 1, 3, 5, ... halves and beyond; others at one place where the
    kernel is largest, y exp(-c y), and then a period apart. What is beyond half a period is bounded by Chernoff."""
    points, h, masses = 16, float(STEP), outcomes(SUM)
    half = h * points / 2
    tilted = {place: mass * math.exp(c * h * place) for place, mass in masses.items()}
    near = sum(tilted.values()) * math.fsum(math.exp(-c * half * (2 * m + 1)) for m in range(400))

    def beyond(sign):
        def bound(log_by):
            by = math.exp(log_by)
            place = h * level + sign * half
            return math.fsum(p * math.exp(sign * by * (h * k - place)) for k, p in tilted.items())

        return min(
            optimize.minimize_scalar(bound, bounds=ends, method="bounded").fun for ends in ((-12, -2), (-2, 3), (2, 5))
        )

    most = max(y * math.exp(-c * y) for y in np.linspace(0.9, 1.1, 201) / c)
    far = most + math.fsum(math.exp(-2 * c * half * m) for m in range(1, 400))
    expected = near + far * (beyond(1) + beyond(-1))
    with working_precision(period.BITS):
        found = float(Period(SUM, c, points, ())._aliases(level))
    assert expected * (1 - 1e-6) < found < expected * 1.01
    actual = math.fsum(
        p * kernel(h * (k - level + m * points), c) for k, p in tilted.items() for m in range(-60, 60) if m
    )
    assert actual <= found


def test_the_mean_over_few_points_is_the_sum_of_all_aliases():
    """Poisson summation: with 16 points the mean is the value at the level and at its aliases, tilted."""
    c, points, level, h = 0.9, 16, 1, float(STEP)
    with working_precision(period.BITS):
        terms = []
        for k in range(points // 2 + 1):
            s = flint.acb(c, 2 * flint.arb.pi() * k / (h * points))
            shape = (h / 2 * flint.arb(1)).sinh() / ((h * s / 2).sinh() * (h * (s + 1) / 2).sinh()) / 2
            moments = sum((p * (s * h * place).exp() for place, p in outcomes(SUM).items()), start=flint.acb(0))
            terms.append(shape * moments)
        made = Period(SUM, c, points, tuple(terms))
        found = made.value(level)
    over = math.fsum(
        p * kernel(h * (k - level + m * points), c) * math.exp(c * h * (k - level))
        for k, p in outcomes(SUM).items()
        for m in range(-60, 60)
    )
    assert float(found - SUM.revealed) == pytest.approx(over, rel=1e-12)
    low = Period(replace(SUM, side=Side.LOWER), c, points, tuple(terms))
    with working_precision(period.BITS):
        off = float(low._aliases(level)) * math.exp(-c * h * level)
    assert float(low.value(level) - low.losses.revealed) == pytest.approx(max(over - off, 0), abs=1e-12)


@pytest.mark.parametrize("c", [0.0, 0.4, 2.5])
def test_the_logarithm_of_a_moment_is_that_of_all_sums(c):
    expected = math.log(math.fsum(p * math.exp(c * float(STEP) * place) for place, p in outcomes(SUM).items()))
    with working_precision(period.BITS):
        assert float(Period(SUM, 1.0, 16, ())._log_moment(c)) == pytest.approx(expected, abs=1e-12)


def test_the_terms_on_a_line_are_the_transform_by_the_kernel():
    made, h = Period.at(SUM, 3.0), float(STEP)
    assert made.points % 2 == 0 and len(made.terms) == made.points // 2 + 1
    for k in (0, 1, 5, made.points // 2):
        s = complex(3.0, 2 * math.pi * k / (h * made.points))
        kernels = sum(1 / ((s + 2j * math.pi * m / h) * (s + 1 + 2j * math.pi * m / h)) for m in range(-4000, 4001))
        moments = sum(p * np.exp(s * h * place) for place, p in outcomes(SUM).items())
        assert complex(made.terms[k]) == pytest.approx(kernels * moments / h, rel=1e-4)


def test_the_moments_of_all_rounds():
    made = Period(SUM, 1.0, 16, ())
    for c in (0.0, 1.5):
        expected = math.log(math.fsum(p * math.exp(c * float(STEP) * k) for k, p in outcomes(SUM).items()))
        assert float(made._log_moment(c)) == pytest.approx(expected, rel=1e-13)


def test_periods_end_at_their_limit(monkeypatch):
    points = Period.at(SUM, 2.0).points
    monkeypatch.setattr(period, "_MOST_POINTS", points)
    assert Period.at(SUM, 2.0).points == points
    monkeypatch.setattr(period, "_MOST_POINTS", points - 1)
    with pytest.raises(Unsupported, match=f"takes {points} points, above {points - 1}"):
        Period.at(SUM, 2.0)


# Transforms in doubles.


@pytest.mark.parametrize("tilt", [0.0, 1.5])
def test_the_window_leaves_out_what_it_says(monkeypatch, tilt):
    """At an exponent of 3 the tilted mass outside is at most 2 exp(-3), and the window is shorter than all places."""
    many = Losses(((ONE, 30),), Side.UPPER)
    monkeypatch.setattr(transforms, "_OUTSIDE", 3.0)
    first, length = transforms._window(many, tilt)
    masses = np.array([1.0])
    for _ in range(30):
        masses = np.convolve(masses, ONE.array)
    places = np.arange(len(masses)) - 90
    tilted = masses * np.exp(tilt * float(STEP) * (places - places.mean()))
    tilted /= tilted.sum()
    outside = tilted[(places < first) | (places >= first + length)].sum()
    assert outside <= 2 * math.exp(-3)
    assert first > -90 and length < 150
    above = tilted[places >= first + length].sum(), tilted[places < first].sum()
    assert max(above) <= math.exp(-3)


def test_no_window_is_longer_than_the_places_of_the_sum():
    """Three rounds from -3 to 2 and two from 1 to 2: from -7 to 10."""
    first, length = transforms._window(SUM, 0.5)
    assert (first, length) == (-7, fft.next_fast_len(18, real=True))
    assert transforms._window(Losses(((TWO, 1),), Side.UPPER), 0.5) == (1, 16)


def test_windows_end_at_the_longest_transform(monkeypatch):
    monkeypatch.setattr(transforms, "_LONGEST", 16)
    assert transforms._window(Losses(((TWO, 1),), Side.UPPER), 0.5) == (1, 16)
    monkeypatch.setattr(transforms, "_LONGEST", 15)
    with pytest.raises(Unsupported, match="has 16 points, above 15"):
        transforms._window(Losses(((TWO, 1),), Side.UPPER), 0.5)


@pytest.mark.parametrize("up", [True, False])
def test_masses_are_tilted_folded_and_rounded(monkeypatch, up):
    """With a unit of 1e-6 every share of the rounding is seen: four of the logarithm's size, 64 for the fold."""
    law, tilt, unit = LatticeLaw(F(1, 2), 3, (0.25, 0.5, 0.0, 1e-300, 0.125), F(1, 8)), 2.0, 1e-6
    monkeypatch.setattr(transforms, "UNIT", unit)
    found, scale = transforms._folded(law, tilt, 4, up=up)
    weights = [p * math.exp(tilt * (3 + k) / 2) for k, p in enumerate(law.masses)]
    assert scale == pytest.approx(math.log(sum(weights)), rel=1e-14)
    sign, expected = (1 if up else -1), [0.0] * 4
    for k, (p, weight) in enumerate(zip(law.masses, weights, strict=True)):
        if not p:
            continue
        blur = 4 * unit * (abs(math.log(p)) + tilt * (3 + k) / 2 + scale + 8)
        mass = weight / sum(weights) * (1 + sign * blur)
        if mass < 1e-290:
            mass = 1e-290 if up else 0.0
        expected[k % 4] += mass * (1 + sign * 64 * unit)
    assert found.tolist() == pytest.approx(expected, rel=1e-13, abs=0)


@pytest.mark.parametrize("side", list(Side))
@pytest.mark.parametrize("c", [0.0, 0.5])
def test_a_value_and_every_term_of_its_error(monkeypatch, side, c):
    """By hand from four masses at places 2 to 5: rounding, transforms in the 2-norm, and what is outside."""
    law = LatticeLaw(STEP, 0, (0.5, 0.25), F(1, 4))
    masses, unit = np.array([0.25, 0.25, 0.25, 0.125]), 1e-4
    made = Tilted(Losses(((law, 5),), side), c, 2, masses, 1e-3, F(1, 3))
    left = 1 - 0.75**5
    sign = 1 if side is Side.UPPER else -1
    for level in (-1, 2, 3, 4):
        ys = [(place - level) * 0.25 for place in range(2, 6)]
        plain = [kernel(y, c) for y in ys]
        lead = math.exp(1 / 3 - c * 0.25 * level)
        alone = math.fsum(k * p for k, p in zip(plain, masses, strict=True))
        norm = math.sqrt(math.fsum(k * k for k in plain))
        with monkeypatch.context() as at:
            at.setattr(transforms, "_SLACK", -700.0)
            assert float(made.value(level)) - left == pytest.approx(
                lead * (alone + sign * 1e-3 * norm), rel=2e-9, abs=1e-14
            )
            at.setattr(transforms, "UNIT", unit)
            blurred = [k * (1 + sign * 4 * unit * (c * y + 8)) for k, y in zip(plain, ys, strict=True)]
            norm = math.sqrt(math.fsum(k * k for k in blurred))
            total = math.fsum(k * p for k, p in zip(blurred, masses, strict=True))
            used = max(sum(y > 0 for y in ys), 2)
            error = norm * 1e-3 + 2 * unit * (math.log2(used) + 20) * total
            assert float(made.value(level)) - left == pytest.approx(lead * (total + sign * error), rel=1e-8, abs=1e-14)
        with monkeypatch.context() as at:
            at.setattr(transforms, "_SLACK", transforms._OUTSIDE - math.log(100))
            most = max(kernel(y, c) for y in np.linspace(0.001, 60, 4001))
            found = abs((float(made.value(level)) - left) / lead - alone) - 1e-3 * math.sqrt(
                math.fsum(k * k for k in plain)
            )
            bound = 0.02 * (1.0 if c == 0 else 1 / (math.e * c))
            if alone > bound + 1e-3:
                assert found == pytest.approx(bound, rel=1e-6)
                assert bound >= 0.02 * most


def test_nothing_is_taken_off_below_0():
    law = LatticeLaw(STEP, 0, (0.5, 0.5), F(0))
    made = Tilted(Losses(((law, 5),), Side.LOWER), 0.5, 2, np.full(4, 0.25), 1.0, F(0))
    assert made.value(2) == 0
    assert made.value(9) == 0 == replace(made, error=0.0).value(5)


def test_the_error_of_the_transforms_in_the_two_norm(monkeypatch):
    """A product of spectra is off by the errors of its factors, one by one, times all that the others are at most."""
    stage, unit = 1e-3, 1e-5
    monkeypatch.setattr(transforms, "PER_STAGE", stage)
    monkeypatch.setattr(transforms, "UNIT", unit)
    made = Tilted.at(SUM, 0.5)
    length = len(made.masses)
    per, most, spread, scale = stage * math.log2(length), 1.0, 0.0, 0.0
    for law, times in SUM.parts:
        folded, log_scale = transforms._folded(law, 0.5, length, up=True)
        norm = math.sqrt(math.fsum(folded**2))
        largest = math.fsum(folded) + per * math.sqrt(length) * norm + 4 * unit
        assert largest > 1
        for _ in range(times):
            most, spread, scale = most * largest, spread + per * norm, scale + log_scale
    expected = most * spread + (per + 8 * unit * (5 + 2)) * math.sqrt(math.fsum(made.masses**2))
    assert made.error == pytest.approx(expected * (1 + 1e-6), rel=1e-9)
    assert float(made.scale) == pytest.approx(scale, rel=1e-13)


def test_the_masses_of_the_sum_stand_at_their_places():
    """Against all outcomes, the mass that the tilt gives them, by the factor that was taken out."""
    made = Tilted.at(SUM, 0.5)
    expected = np.zeros(len(made.masses))
    for place, mass in outcomes(SUM).items():
        expected[place - made.first] += mass * math.exp(0.5 * float(STEP) * place - float(made.scale))
    assert made.masses == pytest.approx(expected, abs=1e-12)
    assert 0 < made.error < 1e-12
