"""The constants of rounding allowances against the worst that is assumed of doubles: half of each would not do.

Round-off is random and allowances are for the worst case: values alone never show that a constant is too small. Here
the inputs are chosen so that each rounding takes as much as it can, in one direction, and the functions of NumPy are
replaced by ones that are off by as much as the engines assume of them, four units in the last place.
"""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest

from symshuffle.engines import characteristic, contour, convolution, saddle, tilted
from symshuffle.engines.characteristic import Region
from symshuffle.engines.tilted import Window
from symshuffle.law import Law
from symshuffle.numbers import to_arb, working_precision

UNIT = 2.0**-53
ULPS = 4 * 2 * UNIT
HALF_A_UNIT = Fraction(1, 2**53) - Fraction(1, 2**90)
STEEP = 1 + 2.0**-26
"""Of this double and the next one the product lies halfway between two doubles, and is rounded down."""

TURN = 1 + 2.0**-27


class Careless:
    """NumPy with exponentials that are off by four units in the last place, all in one direction."""

    def __init__(self, sign):
        self.sign = sign

    def __getattr__(self, name):
        return getattr(np, name)

    def exp(self, x):
        return np.exp(x) * (1 + self.sign * ULPS)

    def expm1(self, x):
        return np.expm1(x) * (1 + self.sign * ULPS)


class CarelessMath:
    """The same of the library of C."""

    def __getattr__(self, name):
        return getattr(math, name)

    def log1p(self, x):
        return math.log1p(x) * (1 - ULPS)


def test_the_products_are_rounded_by_half_a_unit():
    for scale in (1.0, 2.0**-10, 512.0):
        lost = Fraction(STEEP) * Fraction(TURN * scale) - Fraction(STEEP * TURN * scale)
        assert lost == Fraction(1, 2**53) * Fraction(scale)
    assert float(Fraction(STEEP) + HALF_A_UNIT) == STEEP


def unlucky(scale, rare=Fraction(1, 2**20)):
    """A law that doubles make smaller wherever they can: its atom, its weight, the product with the tilt."""
    value, weight = (Fraction(STEEP) + HALF_A_UNIT) * scale, rare * (1 + HALF_A_UNIT)
    return Law((value, Fraction(0)), (weight, 1 - weight))


def test_the_scale_of_a_contour(monkeypatch):
    """K at very many users: the error of the cumulant against its allowance, of which three quarters are taken."""
    law, c, n = unlucky(Fraction(1)), TURN / 1024, 10**12
    tilt = saddle.tilt(law)
    sound = contour._scale_noise(tilt, n, c, n * tilt.cumulant(c))
    monkeypatch.setattr(saddle, "np", Careless(-1))
    monkeypatch.setattr(saddle, "math", CarelessMath())
    found = tilt.cumulant(c)
    with working_precision(200):
        exact = sum((to_arb(w) * (to_arb(Fraction(c)) * to_arb(v)).exp() for v, w in law.atoms()), flint.arb(0)).log()
        off = abs(float((n * (exact - to_arb(Fraction(found)))).mid()))
    assert 0.75 * sound < off <= sound


def test_the_nodes_of_a_contour(monkeypatch):
    """Steep tilts: the tilted weights are off by twice the exponent, and so is their sum."""
    law = unlucky(Fraction(256), rare=Fraction(1, 2**600))
    zero, one = Fraction(0), law.values[0]
    law = Law((one, zero, -one), (law.weights[0], 1 - 2 * law.weights[0], law.weights[0]))
    c = TURN
    tilt = saddle.tilt(law)
    monkeypatch.setattr(saddle, "np", Careless(-1))
    tilted_weights, noise = tilt.tilted(c), tilt.tilted_noise(c)
    with working_precision(300):
        grown = [to_arb(w) * (to_arb(Fraction(c)) * to_arb(v)).exp() for v, w in law.atoms()]
        total = sum(grown, flint.arb(0))
        off = [
            abs(float(((to_arb(Fraction(x)) * total / g) - 1).mid()))
            for x, g in zip(tilted_weights, grown, strict=True)
        ]
    # A weight, and the sum that it is divided by.
    bound = UNIT * (noise + float(tilted_weights @ noise))
    assert all(lost <= most for lost, most in zip(off, bound, strict=True))
    assert max(lost / most for lost, most in zip(off, bound, strict=True)) > 0.5


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_the_tilted_masses_of_a_transform(monkeypatch, side):
    """What is transformed is above the true masses for the upper side and below them for the lower."""
    # Rounded down and down again for the upper side, up and up again for the lower.
    step = Fraction(STEEP) + HALF_A_UNIT if side == "upper" else Fraction(STEEP) + Fraction(2 * UNIT) - HALF_A_UNIT
    sign = -1 if side == "upper" else 1
    window = Window(TURN, Fraction(0), step, 0, 2048, (1.0, 1.0))
    masses = {0: Fraction(1, 2**900), 512: (1 + HALF_A_UNIT if side == "upper" else 1 - HALF_A_UNIT / 2) / 2}
    seen = []

    def convolve(places, found, n, length):
        seen.append((places, found))
        raise StopIteration

    monkeypatch.setattr(tilted, "convolve", convolve)
    monkeypatch.setattr(tilted, "np", Careless(sign))
    scales = []
    plain = tilted._log_sum
    monkeypatch.setattr(tilted, "_log_sum", lambda *given: scales.append(plain(*given)) or scales[-1])
    with pytest.raises(StopIteration):
        window.side(masses, 1, side)
    (places, found), scale = seen[0], scales[0]
    with working_precision(300):
        for place, mass in zip(places, found, strict=True):
            if mass == 0:
                continue
            true = to_arb(masses[place]) * (to_arb(Fraction(TURN) * step * place) - to_arb(Fraction(scale))).exp()
            over = float((to_arb(Fraction(float(mass))) / true - 1).mid())
            exponent = TURN * float(step) * place
            slack = (2 * exponent + abs(exponent - scale) + 16) * UNIT
            assert (over >= 0) if side == "upper" else (over <= 0)
            if place:
                assert abs(over) < slack / 2  # half of the allowance would leave it on the other side


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_the_stages_of_a_transform(monkeypatch, share):
    """A transform that is off by eight units of its norm per stage, along what it is summed with."""
    length, masses, n = 256, np.array([0.5, 0.5]), 6
    sound = convolution.convolve([0, 1], masses, n, length)
    ramp = np.arange(length, dtype=float)
    true = sum(math.comb(n, k) / 2**n * k for k in range(n + 1))

    def off(spectrum, size):
        found = plain(spectrum, size)
        most = 8 * UNIT * math.log2(size) * np.linalg.norm(found)
        return found + most * ramp / np.linalg.norm(ramp)

    plain = convolution.fft.irfft
    monkeypatch.setattr(convolution.fft, "irfft", off)
    monkeypatch.setattr(convolution, "PER_STAGE", share * convolution.PER_STAGE)
    monkeypatch.setattr(convolution, "_EVALUATION", 0.0)
    total, _ = convolution.convolve([0, 1], masses, n, length).integral(ramp)
    error = float(np.linalg.norm(ramp)) * convolution.convolve([0, 1], masses, n, length).error
    assert sound.error > 0
    assert (abs(total - true) <= error * (1 + 1e-3)) == (share == 1.0)


def test_the_logarithm_of_a_node(monkeypatch):
    """Of two atoms, one of them rare: the wave, its weight, the sum and the logarithm, all off in one direction."""
    law = unlucky(Fraction(1), rare=Fraction(1, 4))
    tilt, c = saddle.tilt(law), 1e-9
    t = np.array([TURN / 64])
    monkeypatch.setattr(characteristic, "np", Careless(-1))
    found, error = Region(0, 1, c, tilt.values, tilt.tilted(c), tilt.tilted_noise(c), 1.0).log_ratio(t)
    with working_precision(200):
        s = flint.acb(to_arb(Fraction(c)), to_arb(Fraction(float(t[0]))))
        ratio = sum((to_arb(w) * (s * to_arb(v)).exp() for v, w in law.atoms()), flint.acb(0))
        ratio /= sum((to_arb(w) * (to_arb(Fraction(c)) * to_arb(v)).exp() for v, w in law.atoms()), flint.arb(0))
        value = flint.acb(to_arb(Fraction(found[0].real)), to_arb(Fraction(found[0].imag)))
        off = float((ratio.log() - value).abs_upper().mid())
    assert error[0] / 8 < off <= error[0]


class Downwards(Careless):
    """NumPy whose exponentials are all too small, whatever their sign."""

    def expm1(self, x):
        found = np.expm1(x)
        return found - ULPS * np.abs(found)


def test_the_tails_of_the_aliases_of_a_contour(monkeypatch):
    """Chernoff's exponent at a slope twenty times as steep as the line, of very many fair coins.

    The cumulants are n times next to nothing, each the difference of two exponentials: rounding moves the exponent by
    about one. What it does at the steep slope is not bounded by what it does on the line.
    """
    n, slope = 10**29, math.sqrt(20 / 10**29)
    law = Law((Fraction(1), Fraction(-1)), (Fraction(1, 2), Fraction(1, 2)))
    plan = saddle.Plan(slope / 20, math.pi / (n * slope), 4, 0.0)
    tilt = saddle.tilt(law)
    seen = characteristic.form(law, tilt, plan, tolerance=0.0)
    monkeypatch.setattr(saddle, "np", Downwards(-1))
    found = contour._aliasing(seen, n, plan)
    c, reach = plan.c, 2 * math.pi / plan.step
    with working_precision(200):
        line, length, coins = to_arb(Fraction(c)), to_arb(Fraction(reach)), flint.arb(n)
        q = (-line * length / 2).exp()
        true = length / 2 * q / (1 - q) ** 2
        tails = []
        for sign, distance in ((-1, length / 2), (1, length)):
            slopes = saddle.tail_slopes(tilt, n, c, 0.0, float(distance.mid()))
            bounds = []
            for steep in map(to_arb, map(Fraction, slopes)):
                growth = coins * ((line + sign * steep).cosh().log() - line.cosh().log())
                bounds.append((growth - steep * distance).exp() / (1 - (-steep * distance).exp()))
            tails.append(min(bounds))
        true += sum(tails, flint.arb(0)) / (line * flint.arb(1).exp())
        over = float((to_arb(Fraction(found)) / true - 1).mid())
        share = float((tails[0] / (line * flint.arb(1).exp()) / true).mid())
    assert 0 <= over < 20 * share
    assert share > 1e-6


def test_the_mean_deviation_of_a_line_is_not_rounded_below_itself():
    """Against rationals: without the allowance about every second law has one that is too small."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        values = [Fraction(int(x), 64) for x in rng.choice(4000, 40, replace=False) - 1500]
        law = Law.from_atoms([(x, Fraction(1, 40)) for x in values])
        tilt, plan = saddle.tilt(law), saddle.Plan(c=0.01, step=0.1, nodes=5, tau=0.1)
        (region,) = characteristic.form(law, tilt, plan, tolerance=1e-9).regions
        weights = [Fraction(x) for x in region.tilted]
        exact = [Fraction(x) for x in region.values]
        middle = sum(w * x for w, x in zip(weights, exact, strict=True))
        assert Fraction(region.deviation) >= sum(w * abs(x - middle) for w, x in zip(weights, exact, strict=True))


def test_the_noise_of_a_cumulant_counts_what_is_taken_out_and_put_back():
    """Where exponentials would overflow the largest exponent is subtracted first, and added in the end."""
    tilt = saddle.Tilt(np.array([1.0, -2.0, 3.0]), np.array([0.5, 0.25, 0.25]))
    for s in (300.0, 900.0):
        shift = 3 * s
        inside = shift + math.log(0.25)
        assert math.isclose(tilt.cumulant(s), inside, rel_tol=1e-12)
        assert math.isclose(tilt.noise(s), (2 + shift) + inside + shift, rel_tol=1e-9)
