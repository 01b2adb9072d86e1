"""Algorithm 7 and the settings of the FFT accountant: roundings, lengths, allowances and refusals by hand."""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pytest

from symshuffle.engines import fft
from symshuffle.engines.exact import Exact
from symshuffle.engines.fft import FFT
from symshuffle.engines.tilted import Window
from symshuffle.errors import InputError, Unsupported
from symshuffle.law import Law
from symshuffle.numbers import Ball
from symshuffle.results import Rigour

LAW = Law((F(1), F(-1, 3), F(-2)), (F(3, 10), F(1, 2), F(1, 5)), F(1, 9))


def test_sums_are_long_enough_for_all_roundings():
    """Three copies from floor(-2/0.7) = -3 to ceil(1/0.7) = 2: 16 places; and the next length that is fast."""
    assert fft._length(LAW, 3, F(7, 10)) == 16
    assert fft._length(LAW, 5, F(7, 10)) == 27  # 26 is no product of small primes, 27 is
    assert fft._length(LAW, 1, F(1)) == 4
    assert fft._length(LAW, 2**40, F(1)) == 3 * 2**40 + 1  # beyond any memory it is not rounded up
    ball = Law((Ball(F(1), F(8, 5)), Ball(F(-2), F(-1))), (F(1, 2), F(1, 2)))
    assert fft._length(ball, 1, F(7, 10)) == 3 - -3 + 1 + 1  # 7 is no fast real length, 8 is


@pytest.mark.parametrize("n", [1, 3])
def test_the_positive_part_in_units_of_the_lattice(n):
    """Places -2, 0, 3 with masses 1/4, 1/2, 1/4: over all sums of n of them."""
    places, masses = [-2, 0, 3], np.array([0.25, 0.5, 0.25])
    truth = {0: 1.0}
    for _ in range(n):
        new = {}
        for s, p in truth.items():
            for j, m in zip(places, masses, strict=True):
                new[s + j] = new.get(s + j, 0.0) + p * m
        truth = new
    value, error = fft._positive_part(places, masses, n)
    assert value == pytest.approx(sum(p * max(s, 0) for s, p in truth.items()), rel=1e-13)
    assert abs(value - sum(p * max(s, 0) for s, p in truth.items())) <= error < 1e-11
    assert fft._positive_part([2, 5], np.array([0.5, 0.5]), 2)[0] == pytest.approx(7.0)  # all above 0: the mean


@pytest.mark.parametrize("n", [1, 4])
def test_algorithm_7_is_h_of_the_rounded_laws(n):
    """Atoms down and up to multiples of 7/10, by the exact engine; the allowance lies outside of them."""
    step = F(7, 10)
    low, high, _ = fft._algorithm_7(LAW, n, step)
    down, up = (Law.from_atoms((rounding(v / step) * step, w) for v, w in LAW.atoms())
                for rounding in (math.floor, math.ceil))  # fmt: skip
    below, above = Exact().bracket(down, n).exact, Exact().bracket(up, n).exact
    assert below - F(1, 10**12) < low < below <= above < high < above + F(1, 10**12)
    found = FFT(step=step).bracket(LAW, n)
    assert found.lower == max(low, F(0)) + F(1, 9) and found.upper == min(high + F(1, 9), LAW.ceiling)


def test_wide_weights_are_counted_from_below_and_above():
    law = Law((F(1), F(-1)), (Ball(F(1, 4), F(1, 2)), Ball(F(1, 2), F(3, 4))))
    low, high, _ = fft._algorithm_7(law, 1, F(1))
    assert float(low) == pytest.approx(0.25) and float(high) == pytest.approx(0.5)


def test_laws_that_need_no_transform():
    ball = Ball(F(-1, 2), F(1, 4))
    assert fft._settled(Law((F(-1), F(0)), (F(1, 2), F(1, 2))))[:2] == (0, 0)
    assert fft._settled(Law((ball,), (F(1),)))[:2] == (0, F(1, 4))
    assert fft._settled(Law((F(1, 3),), (F(1),)))[:2] == (F(1, 3), F(1, 3))
    tiny = F(1e-290)
    under = tiny * (1 - F(1, 2**50))
    assert fft._settled(Law((under, F(-1)), (F(1, 2), F(1, 2))))[:2] == (0, under)
    assert fft._settled(Law((tiny, F(-1)), (F(1, 2), F(1, 2)))) is None
    assert fft._settled(LAW) is None
    found = FFT().bracket(Law((F(1, 3),), (F(1),), F(1, 9)), 50)
    assert found.lower == found.upper == F(4, 9)


@pytest.mark.parametrize("n", [2, 9])
def test_transforms_grow_until_they_are_good_enough(monkeypatch, n):
    """Each eight times as long as the one before, the last as long as is allowed; both ends are of the last."""
    lengths, plain = [], Window.choose
    monkeypatch.setattr(Window, "choose", lambda law, n, points: lengths.append(points) or plain(law, n, points))
    monkeypatch.setattr(fft, "_FIRST", 64)
    rough = Law((F(1), F(355, 997), F(-113, 991)), (F(1, 5), F(1, 3), F(7, 15)))
    engine = FFT(largest=10_000, rel=1e-12)
    low, high, _ = engine._tilted(rough, n)
    assert lengths == [64, 512, 4096, 10_000]
    truth = Exact(largest_power=0).bracket(rough, n).exact
    assert low <= truth <= high
    lengths.clear()
    low, high, _ = FFT(largest=10_000, rel=0.5)._tilted(rough, n)
    assert len(lengths) < 4 and high - low <= high / 2 and low <= truth <= high


def test_sides_that_say_nothing_are_zero_and_one_users_largest_value(monkeypatch):
    monkeypatch.setattr(Window, "side", lambda *_: None)
    low, high, _ = FFT(largest=512)._tilted(LAW, 3)
    assert (low, high) == (0, 1)
    assert FFT(largest=512).bracket(LAW, 3).upper == LAW.ceiling == F(3, 10) + F(1, 9)
    monkeypatch.setattr(Window, "side", lambda self, masses, n, side: F(1) if side == "lower" else F(2))
    assert FFT(largest=512)._tilted(LAW, 4)[:2] == (F(1, 4), F(1, 2))


def test_refusals():
    assert FFT(step=F(7, 10), largest=16).refusal(LAW, 3) is None
    assert "16 points" in FFT(step=F(7, 10), largest=15).refusal(LAW, 3)
    assert FFT(largest=1).refusal(Law((F(1, 3),), (F(1),)), 10**9) is None
    assert FFT(largest=40).refusal(LAW, 10**9) is not None and FFT().refusal(LAW, 100) is None
    rare = F(1, 10**300)
    assert "weight" in FFT().refusal(Law((F(1), F(-1)), (rare, 1 - rare)), 3)
    with pytest.raises(Unsupported, match="engine fft at n = 3"):
        FFT(step=F(7, 10), largest=15).bracket(LAW, 3)


def test_settings():
    assert FFT.offered(LAW, None, 1e-3) is None and FFT.aiming(1e-3, 64) == FFT()
    fine, short, stepped = FFT.trials(LAW)
    assert fine.largest == stepped.largest == 2**18 and short.largest == 512 and fine.rel == 1e-2
    assert stepped.step == F(1, 3) * F(355, 226) / 7
    many = Law(tuple(F(k) for k in range(16)), (F(1, 16),) * 16)
    assert FFT.trials(many)[0].largest == 2**17
    ball = Law((Ball(F(1), F(2)), F(-1)), (F(1, 2), F(1, 2)))
    assert FFT.trials(ball)[2].step == 3 * F(355, 226) / 7
    assert FFT.trials(Law((Ball(F(1), F(1)),), (F(1),)))[2].step == F(355, 226) / 7
    for wrong in ({"step": F(0)}, {"step": F(-1)}, {"step": 0.5}, {"rel": 0.0}, {"rel": 1.0}):
        with pytest.raises(InputError):
            FFT(**wrong)
    assert FFT(step=F(1, 10**9)).step == F(1, 10**9) and FFT().name == "fft"


def test_a_bracket_is_no_lower_than_the_mean_and_no_higher_than_one_user():
    law = Law((F(2), F(-1)), (F(9, 10), F(1, 10)), F(1, 3))
    found = FFT(step=F(3, 2)).bracket(law, 4)
    assert found.lower == law.mean + F(1, 3) and found.upper <= law.ceiling
    assert found.rigour is Rigour.FLOAT64
