"""Sums over counts: tables, tails, planes and their noise by enumeration of all counts in rationals."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F

import flint
import numpy as np
import pytest

from symshuffle.engines import counts
from symshuffle.engines.count_windows import Windows, steps_of
from symshuffle.engines.counts import Counts, _Table, _Tails
from symshuffle.engines.exact import Exact
from symshuffle.errors import InputError, Unsupported
from symshuffle.law import Law
from symshuffle.numbers import Ball, working_precision
from symshuffle.results import Rigour

THREE = Law((F(2), F(-1), F(-1, 2)), (F(1, 5), F(1, 2), F(3, 10)), F(1, 9))
FOUR = Law((F(2), F(-1), F(-1, 2), F(5)), (F(1, 5), F(1, 2), F(1, 4), F(1, 20)))
FIVE = Law((F(2), F(-1), F(-1, 2), F(5), F(-3)), (F(1, 5), F(1, 4), F(1, 4), F(1, 20), F(1, 4)))
TWO = Law((F(1), F(-2)), (F(1, 3), F(2, 3)))
UNIT = 2.0**-53


def windows(low, high, *, law=THREE, n=6, rho=F(2)):
    return Windows(law, n, 0.5, rho, list(low), list(high))


def tables(chosen, bits):
    with working_precision(160):
        return [_Table.of(chosen, i, bits) for i in chosen.order]


@pytest.mark.parametrize("bits", [None, 80])
def test_a_table_holds_powers_over_factorials(bits):
    """(rho w)^k / k! for k = 1..6 relative to that of the middle count 3, at rho w = 1."""
    with working_precision(160):
        table = _Table.of(windows([0, 1, 0], [6, 6, 6]), 1, bits)
    assert (table.first, table.last, table.peak) == (1, 6, 3)
    assert table.counts.tolist() == [1, 2, 3, 4, 5, 6]
    truth = [F(6, math.factorial(k)) for k in range(1, 7)]
    scale = 2**table.point
    assert [float(F(x) / scale) for x in table.factors] == pytest.approx([float(x) for x in truth], rel=1e-15)
    off = max(abs(F(x) / scale / t - 1) for x, t in zip(table.factors, truth, strict=True))
    assert off <= table.noise
    if bits is None:
        assert table.point == 0 and table.value == -1.0 and table.error == 0
        assert table.noise == pytest.approx(2 * UNIT, rel=1e-6)
    else:
        # The steepest factor is 1/20 or 6 = e^1.79, on the other side e^4.79 for 6/720.
        assert table.point == bits + math.ceil(math.log2(120)) and table.value == -(2**bits)
        assert table.noise == pytest.approx(F(2, 1 + min(table.factors[0], table.factors[-1])), rel=1e-6)
    assert table.range == pytest.approx(math.log(120))


@pytest.mark.parametrize(("rho", "weight", "middle"), [(F(2), F(1, 2), 1), (F(30), F(1, 2), 6), (F(9), F(1, 2), 4)])
def test_the_range_is_that_of_the_largest_and_smallest_factor(rho, weight, middle):
    law = Law((F(2), F(-1)), (1 - weight, weight))
    with working_precision(160):
        table = _Table.of(windows([0, 1], [6, 6], law=law, rho=rho), 1, None)
    base = float(rho * weight)
    logs = [k * math.log(base) - math.lgamma(k + 1) if base != 1 else -math.lgamma(k + 1) for k in range(1, 7)]
    largest = max(abs(x - logs[2]) for x in logs)
    assert table.range == pytest.approx(largest, rel=1e-9)
    assert max(range(1, 7), key=lambda k: logs[k - 1] + 1e-12 * k) == middle or base == 1


def test_the_error_of_an_atom_is_its_distance_from_the_ends_of_its_ball():
    wide = Law((Ball(F(1), F(2)), F(1, 3)), (F(1, 2), F(1, 2)))
    with working_precision(160):
        ball, third = (_Table.of(windows([0, 0], [3, 3], law=wide), i, None) for i in (0, 1))
        fixed = _Table.of(windows([0, 0], [3, 3], law=wide), 1, 4)
    assert (ball.value, ball.error) == (1.5, F(1, 2))
    assert third.value == 1 / 3 and third.error == abs(F(1 / 3) - F(1, 3))
    assert fixed.value == round(16 / 3) and fixed.error == F(1, 3) - F(5, 16)


def test_wide_weights_widen_the_noise():
    """Factors at the ends of a window are products of as many weights: three times their radius from the peak on."""
    radius = F(1, 10**6)
    law = Law((F(1), F(-1)), (Ball(F(1, 2) - radius, F(1, 2) + radius),) * 2)
    with working_precision(160):
        table = _Table.of(windows([0, 0], [6, 6], law=law), 0, None)
    assert 2 * 3 * 2 * radius <= table.noise < F(101, 100) * 2 * 3 * 2 * radius


def test_fixed_points_are_rounded_down():
    with working_precision(100):
        assert counts._fixed(flint.arb(5), 3) == 40
        assert counts._fixed(flint.arb("0.3125"), 3) == 2 and counts._fixed(flint.arb("0.3125"), 4) == 5
        assert counts._fixed(flint.arb("0.3125"), 0) == 0 and counts._fixed(flint.arb(4), 0) == 4


@pytest.mark.parametrize("bits", [None, 100])
@pytest.mark.parametrize(("law", "n"), [(THREE, 6), (FOUR, 5)])
def test_the_scale_makes_a_product_of_factors_a_probability(law, n, bits):
    size = len(law.values)
    chosen = windows([0] * size, [n, n - 1, n, 2][:size], law=law, n=n)
    found = tables(chosen, bits)
    with working_precision(160):
        scale = float(counts._scale(chosen, found))
    drawn = [2, 1, *([0] * (size - 3)), n - 3]
    product = math.prod(
        float(F(t.factors[k - t.first]) / 2**t.point)
        for t, k in zip(found, (drawn[i] for i in chosen.order), strict=True)
    )
    chance = math.factorial(n) * math.prod(
        float(w) ** k / math.factorial(k) for w, k in zip(law.weights, drawn, strict=True)
    )
    assert scale * product == pytest.approx(chance, rel=1e-12)


@pytest.mark.parametrize("bits", [None, 100])
@pytest.mark.parametrize(
    ("law", "n", "low", "high"),
    [
        (THREE, 6, (0, 0, 0), (6, 6, 6)), (THREE, 6, (1, 2, 0), (4, 5, 3)), (FOUR, 5, (0, 1, 0, 0), (5, 4, 3, 2)),
        (Law((F(1), F(-2)), (F(1, 3), F(2, 3))), 7, (2, 1), (6, 5)), (THREE, 6, (0, 5, 0), (2, 6, 1)),
        (FIVE, 5, (0, 1, 0, 0, 0), (5, 4, 3, 2, 3)),
    ],
)  # fmt: skip
def test_the_counts_in_the_windows_are_all_visited(law, n, low, high, bits):
    """Against the sum over all count vectors within the windows, in rationals; the error covers the difference."""
    chosen = windows(low, high, law=law, n=n)
    found = tables(chosen, bits)
    with working_precision(160):
        scale = counts._scale(chosen, found)
        total, error = counts._visited(n, found, bits)
        value, off = float(scale) * float(total), float(scale) * float(error)
    truth = F(0)
    for drawn in itertools.product(*(range(a, b + 1) for a, b in zip(low, high, strict=True))):
        if sum(drawn) == n:
            chance = F(math.factorial(n))
            for k, w in zip(drawn, law.weights, strict=True):
                chance *= w**k / math.factorial(k)
            truth += chance * max(sum(k * v for k, v in zip(drawn, law.values, strict=True)), F(0))
    assert value == pytest.approx(float(truth), rel=1e-12)
    assert off < 1e-11 * float(truth) + 1e-13


def test_the_noise_of_a_sum_in_doubles(monkeypatch):
    """Those of the tables, and of cumulative sums, planes and products: 2 windows, terms, four a table and 40 units."""
    chosen = windows((0, 0, 0), (6, 6, 6))
    found = tables(chosen, None)
    total, error = counts._visited(6, found, None)
    monkeypatch.setattr(counts, "UNIT", 0.0)
    _, less = counts._visited(6, found, None)
    # Of the one free atom seven counts are left; the value of S is off by 8 (3 + 2) n units of the largest atom.
    tails = _Tails.of(6, found[:-2], *sorted(found[-2:], key=lambda t: t.value))
    _, mass, terms = tails.plane(6, (), found[:-2])
    noise = sum(float(t.noise) for t in found)
    whole = noise + (2 * 7 + terms + 4 * 3 + 40) * UNIT
    off = 8 * 5 * 6 * UNIT * 2
    expected = 1.01 * whole * float(total) + off * float(mass)
    assert terms == 7 and float(error) == pytest.approx(expected, rel=1e-6, abs=0)
    assert float(less) == pytest.approx(1.01 * noise * float(total), rel=1e-6, abs=0)


def test_atoms_that_rounding_may_exchange_are_refused():
    """Two atoms have to be four times as far apart as n copies may be off."""

    def visited(gap):
        radius = F(1, 1000)
        law = Law((Ball(F(1) - radius, F(1) + radius), F(1) + gap), (F(1, 2), F(1, 2)))
        return counts._visited(5, tables(windows((0, 0), (5, 5), law=law, n=5), 60), 60)

    assert visited(F(21, 1000))
    with pytest.raises(Unsupported, match="too close"):
        visited(F(20, 1000) - F(1, 10**6))


def test_tails_are_cumulative_sums_of_the_split_of_some_copies():
    """Row m, column p + 1: the factors of j copies below and m - j above for j up to p; then their sums."""
    chosen = windows((0, 1), (3, 4), law=Law((F(1), F(-1)), (F(1, 2), F(1, 2))), n=5)
    by_value = sorted(tables(chosen, None), key=lambda t: t.value)
    below, above = by_value
    tails = _Tails.of(5, [], below, above)
    assert tails.first == 5 and tails.masses.shape == (1, 5)
    each = [below.factors[j - 1] * (above.factors[5 - j] if 0 <= 5 - j <= 3 else 0.0) for j in range(1, 5)]
    masses = np.concatenate([[0.0], np.cumsum(each)])
    assert tails.masses[0] == pytest.approx(masses) and tails.moments[0] == pytest.approx(np.cumsum(masses))


def test_refusals_by_law_users_and_price(monkeypatch):
    assert "doubles" in Counts().refusal(Law((1.0, -1.0), (0.5, 0.5)), 3)
    assert Counts().refusal(Law((F(1),), (F(1),)), 10**9) is None
    assert Counts().refusal(Law((F(0), F(-1)), (F(1, 2), F(1, 2))), 10**9) is None
    assert Counts().refusal(Law((F(1), F(-1)), (Ball(F(0), F(1, 2)), F(3, 4))), 3) is not None
    monkeypatch.setattr(counts, "_MOST_USERS", 7)
    assert Counts().refusal(THREE, 7) is None and "7 users" in Counts().refusal(THREE, 8)
    rel, n = 1e-4, 7
    spread = math.sqrt(-8 * math.log(rel))
    sizes = sorted(min(n, 4 + spread * math.sqrt(n * float(w * (1 - w)))) for w in THREE.weights)
    assert max(sizes) == n
    steps = steps_of(sizes)
    assert Counts(rel=rel, largest=math.ceil(steps)).refusal(THREE, n) is None
    assert Counts(rel=rel, largest=math.ceil(steps) - 1).refusal(THREE, n) is not None
    monkeypatch.setattr(counts, "_MOST_USERS", 10**6)
    n = 10_000
    steps = steps_of(sorted(4 + spread * math.sqrt(n * float(w * (1 - w))) for w in THREE.weights))
    assert Counts(rel=rel, largest=math.ceil(steps)).refusal(THREE, n) is None
    assert Counts(rel=rel, largest=math.floor(steps)).refusal(THREE, n) is not None


def test_windows_much_larger_than_foreseen_and_tables_beyond_doubles_are_refused(monkeypatch):
    n, engine = 40, Counts(rel=0.1)
    with working_precision(160):
        steps = Windows.choose(THREE, n, 0.1).steps
    monkeypatch.setattr(Counts, "refusal", lambda *_: None)
    assert Counts(rel=0.1, largest=math.ceil(steps / 4)).bracket(THREE, n)
    with pytest.raises(Unsupported, match="steps"):
        Counts(rel=0.1, largest=math.ceil(steps / 4) - 1).bracket(THREE, n)
    with working_precision(160):
        chosen = Windows.choose(THREE, n, 0.1)
        reach = sum(_Table.of(chosen, i, None).range for i in chosen.order)
    monkeypatch.setattr(counts, "_RANGE", reach * 1.001)
    assert engine.bracket(THREE, n)
    monkeypatch.setattr(counts, "_RANGE", reach * 0.999)
    with pytest.raises(Unsupported, match="range of doubles"):
        engine.bracket(THREE, n)
    assert Counts(rel=0.1, bits=64).bracket(THREE, n)


@pytest.mark.parametrize("bits", [None, 128])
@pytest.mark.parametrize(
    ("law", "n"), [(THREE, 1), (THREE, 9), (FOUR, 4), (Law((F(1), F(-2)), (F(1, 3), F(2, 3))), 20)]
)
def test_brackets_are_narrow_around_the_exact_value(law, n, bits):
    truth = Exact().bracket(law, n).exact
    found = Counts(rel=1e-9, bits=bits).bracket(law, n)
    assert found.lower <= truth <= found.upper and found.width <= F(1, 10**8) * found.upper
    assert found.rigour is (Rigour.FLOAT64 if bits is None else Rigour.BALL)


def test_one_atom_or_none_above_zero():
    one = Counts().bracket(Law((Ball(F(-1), F(1, 2)),), (F(1),), F(1, 8)), 10)
    assert one.lower == F(1, 8) and F(5, 8) <= one.upper < F(5, 8) + F(1, 10**8)
    above = Counts(bits=64).bracket(Law((F(1, 2),), (F(1),), F(1, 8)), 10**9)
    assert (above.lower, above.upper, above.rigour) == (F(5, 8), F(5, 8), Rigour.BALL)
    never = Counts().bracket(Law((F(-1), F(0)), (F(1, 2), F(1, 2)), F(1, 8)), 10)
    assert never.lower == never.upper == F(1, 8) and never.rigour is Rigour.FLOAT64


def test_a_coarse_bracket_is_never_below_the_mean():
    law = Law((F(2), F(-1)), (F(9, 10), F(1, 10)), F(1, 3))
    assert Counts(rel=0.9).bracket(law, 6).lower >= law.mean + F(1, 3)


def test_offers_and_settings():
    offered = Counts.offered
    assert offered(THREE, Rigour.EXACT, 1e-3) is None
    quick, fine = offered(THREE, None, 1e-6), offered(THREE, None, 1e-8)
    assert quick.bits is None and fine.largest == 10 * quick.largest and fine.rel == 1e-8
    assert offered(THREE, None, 0.5).largest == round(quick.largest / 10)
    assert offered(THREE, None, 1e-11).bits is None and offered(THREE, None, 0.99e-11).bits == 64 + 37
    assert offered(THREE, Rigour.BALL, 0.25).bits == 66
    assert offered(THREE, None, 1e-30).largest == Counts().largest
    assert Counts.aiming(1e-3, 77) == Counts(rel=1e-3, bits=77) and Counts().name == "counts"
    for rel in (0.0, 1.0):
        with pytest.raises(InputError, match="rel"):
            Counts(rel=rel)
