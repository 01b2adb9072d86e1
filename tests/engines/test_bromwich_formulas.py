"""Bromwich's integral of the uniform law on [-1, 1] beside an atom at 0, whose transform is 0.2 + 0.8 sinh(s)/s."""

from __future__ import annotations

import cmath
import math
from dataclasses import replace
from fractions import Fraction as F

import flint
import numpy as np
import pytest

from symshuffle.continuous_law import ContinuousLaw, Piece
from symshuffle.engines import bromwich, bromwich_plan, saddle
from symshuffle.engines.bromwich import Bromwich, _Line
from symshuffle.engines.bromwich_plan import Plan
from symshuffle.errors import InputError, Unsupported
from symshuffle.numbers import Ball, working_precision
from symshuffle.results import Rigour

UNIFORM = ContinuousLaw((Piece(F(-1), F(1), lambda u: u, lambda u: u * 0 + flint.arb("0.4")),), Ball(F(1, 5), F(1, 5)))
PLAN = Plan(c=0.5, step=0.5, far=40.0, slope=1.25, small=1e-3, size=1.0)
N = 6


def moment(s):
    return 0.2 + 0.8 * cmath.sinh(s) / s


@pytest.fixture(scope="module")
def line():
    with working_precision(128):
        return _Line.of(UNIFORM, N, PLAN)


def single():
    """n p^(n-1) of the tilted probability of 0."""
    return N * (0.2 / moment(0.5).real) ** (N - 1)


def test_the_line_of_a_plan(line):
    total = moment(0.5).real
    assert line.least == 2  # 6 * 0.19^5 is above a thousandth
    assert float(line.total.mid()) == pytest.approx(total, rel=1e-9)
    assert float(line.log_scale.mid()) == pytest.approx(N * math.log(total), rel=1e-9)
    assert float(line.zero.mid()) == pytest.approx(0.2 / total, rel=1e-9)
    assert float(line.single.mid()) == pytest.approx(single(), rel=1e-9)
    # E[G_+] is 0.4/2, and sums of one term have the share n p^(n-1) of it, over M(c)^n.
    assert float(line.alone.mid()) == pytest.approx(N * 0.2 ** (N - 1) * 0.2 / total**N, rel=1e-9)
    assert float(sum(line.tilted).mid()) == pytest.approx(1 - 0.2 / total, rel=1e-9)
    whole = replace(line, least=1)
    assert whole.single == 0
    with working_precision(128):
        assert _Line.of(UNIFORM, 1, PLAN).alone == 0


def test_sums_of_one_term_are_taken_out_where_they_count():
    for small, worth in ((0.49, True), (0.5, False), (0.51, False)):
        assert bromwich._worth(2, flint.arb("0.25"), replace(PLAN, small=small)) == worth
    assert not bromwich._worth(1, flint.arb("0.25"), replace(PLAN, small=1e-9))


def integrand(t, least, n=N):
    s, total = complex(0.5, t), moment(0.5).real
    zero = 0.2 / total
    ratio = moment(s) / total
    one = n * zero ** (n - 1) * (ratio - zero) if least > 1 else 0
    return (ratio**n - zero**n - one) / s**2


@pytest.mark.parametrize("least", [1, 2])
def test_the_sum_over_nodes_is_that_of_the_integrand(line, least):
    chosen = replace(line, least=least, nodes=20)
    expected = sum(integrand(0.5 * k, least).real * (0.5 if k == 0 else 1) for k in range(21))
    with working_precision(128):
        total, nothing = chosen.sum_in_balls()
        quick, allowance = chosen.sum_in_doubles()
    assert nothing == 0 and float(total.mid()) == pytest.approx(expected, rel=1e-9)
    assert float(quick.mid()) == pytest.approx(expected, rel=1e-9) and 0 < allowance < 1e-2 * abs(expected)


def test_the_ratio_is_the_transform_over_its_largest_value(line):
    with working_precision(128):
        for t in (0.0, 1.0, 7.0):
            found = line.ratio(flint.arb(t))
            expected = moment(complex(0.5, t)) / moment(0.5)
            assert complex(float(found.real.mid()), float(found.imag.mid())) == pytest.approx(expected, abs=1e-5)
            assert abs(found - flint.acb(expected.real, expected.imag)) < line.error * 2 + flint.arb("1e-12")


def test_the_aliases_of_either_side(line):
    """m > 0: e^(-cmX) (value + mX/M^n); m < 0: e^(-(a - c)|m|X) (M(a)/M(c))^n/(e a)."""
    value, reach = 0.75, 2 * math.pi / 0.5
    right = sum(math.exp(-0.5 * m * reach) * (value + m * reach / moment(0.5).real ** N) for m in range(1, 200))
    left = sum(math.exp(-0.75 * m * reach) for m in range(1, 200)) * (moment(1.25) / moment(0.5)).real ** N
    with working_precision(128):
        found = line.aliases(flint.arb(value))
    assert float(found) == pytest.approx(right + left / (math.e * 1.25), rel=1e-6)


@pytest.mark.parametrize("least", [1, 2])
def test_the_rest_covers_the_nodes_that_are_not_evaluated(line, least):
    """step/pi times all of them, up to where the bound at all heights takes over."""
    chosen = replace(line, least=least, nodes=10)
    with working_precision(128):
        found = float(chosen.rest().upper())
    missing = sum(abs(integrand(0.5 * k, least)) for k in range(11, 20_000)) * 0.5 / math.pi
    assert missing <= found < 30 * missing + 1e-3


def test_the_bound_beyond_the_height_is_that_of_some_terms(line):
    """sum over k >= least of (n choose k) z^k p^(n-k) by its bound, over pi times the height of the last node."""
    total = moment(0.5).real
    share, zero = 0.01, 0.2 / total
    chosen = replace(line, beyond=(line.total * flint.arb("0.01"), 10.0), nodes=30)
    with working_precision(128):
        found = float(chosen.rest().upper())
    expected = 15 * share**2 * (zero + share) ** 4 / (math.pi * 15)
    assert found == pytest.approx(expected, rel=1e-6)
    assert chosen._stretches(31, 30) == 0


def truth():
    """H(N): E[S_+] of k uniform terms by Irwin and Hall, over the number k of terms that are not 0."""

    def positive(k):
        terms = (F((-1) ** j * math.comb(k, j)) * max(F(k, 2) - j, F(0)) ** (k + 1) for j in range(k + 1))
        return 2 * sum(terms, start=F(0)) / math.factorial(k + 1)

    return sum(math.comb(N, k) * F(4, 5) ** k * F(1, 5) ** (N - k) * positive(k) for k in range(1, N + 1)) / N


def test_a_bracket_of_the_uniform_law_and_what_its_tails_may_hold():
    cut = replace(UNIFORM, missing=(F(1, 100), F(1, 50)))
    wide = Bromwich(1e-2, Rigour.FLOAT64).bracket(cut, N)
    assert 0.02 <= float(wide.upper - truth()) < 0.022 and 0.01 <= float(truth() - wide.lower) < 0.012
    assert wide.rigour is Rigour.FLOAT64


def test_settings():
    for rel in (0.0, 1.0):
        with pytest.raises(InputError, match="rel"):
            Bromwich(rel)
    with pytest.raises(InputError, match="rigour"):
        Bromwich(0.1, Rigour.EXACT)
    assert Bromwich().name == "bromwich" and PLAN.period == pytest.approx(4 * math.pi)


def test_doubles_and_how_far_balls_reach_from_them():
    numbers = (flint.arb(1, 0.25), flint.arb("-0.5"))
    assert bromwich._doubles(numbers).tolist() == [1.0, -0.5]
    off = bromwich._off(numbers, [1.5, -0.5])
    assert 0.75 <= off[0] < 0.7501 and off[1] == 0


def test_too_many_terms_are_refused(line, monkeypatch):
    terms = len(line.tilted)
    chosen = replace(line, nodes=20)
    monkeypatch.setattr(bromwich, "_MOST_TERMS", 20 * terms)
    with working_precision(128):
        assert chosen.sum_in_balls()
        monkeypatch.setattr(bromwich, "_MOST_TERMS", 20 * terms - 1)
        with pytest.raises(Unsupported, match="20 nodes"):
            chosen.sum_in_balls()


TWO = (np.array([1.0, -1.0]), np.array([0.3, 0.7]))


def test_a_ceiling_is_chernoffs_bound_at_its_best():
    values, weights = TWO
    c = saddle.saddle_point(saddle.Tilt(values, weights), 9)
    k = math.log(0.3 * math.exp(c) + 0.7 * math.exp(-c))
    assert bromwich_plan.ceiling(values, 5 * weights, 9) == pytest.approx(math.exp(9 * k) / (math.e * c * 9), rel=1e-9)
    assert bromwich_plan.ceiling(-np.abs(values), weights, 9) == 0
    assert bromwich_plan.ceiling(np.array([0.0, -1.0]), weights, 9) == 0


@pytest.mark.parametrize(("n", "rel"), [(8, 1e-6), (40, 1e-9)])
def test_plans_leave_each_error_its_share(n, rel):
    """Both aliases are e^-2 below a hundredth of rel; the size is that of a Gaussian sum with the kernel 1/s^2."""
    tilt = saddle.Tilt(*TWO)
    plan = bromwich_plan.choose(tilt, n, rel)
    c, k = plan.c, tilt.cumulant(plan.c)
    assert c == saddle.saddle_point(tilt, n)
    size = 1 / (c * c * math.sqrt(2 * math.pi * (n * tilt.curvature(c) + 2 / c**2)))
    assert plan.size == pytest.approx(size, rel=1e-12) and plan.small == pytest.approx(rel / 100 * size, rel=1e-12)
    assert plan.far == pytest.approx(4 / math.sqrt(tilt.curvature(c)), rel=1e-12) and plan.slope > c
    right = math.exp(-c * plan.period - n * k) * plan.period
    left = math.exp(-(plan.slope - c) * plan.period + n * (tilt.cumulant(plan.slope) - k)) / plan.slope
    assert max(right, left) < rel / 100 * math.exp(-2) * size * 1.0001


def test_the_rough_rule_of_a_law_is_its_cumulant():
    about = bromwich_plan.rough(UNIFORM)
    for s in (0.5, -1.0, 3.0):
        assert about.cumulant(s) == pytest.approx(math.log(moment(s).real), rel=1e-9)


def test_an_estimate_is_about_the_integral():
    roots, shares = np.polynomial.legendre.leggauss(40)
    values, weights = np.concatenate([[0.0], roots]), np.concatenate([[0.2], 0.4 * shares])
    assert bromwich_plan.estimate(values, weights, N, rel=1e-5) == pytest.approx(float(truth()), rel=1e-3)
