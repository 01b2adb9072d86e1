"""The aliases of a trapezoid rule on a line: enumerated, and the two tails of their bound one by one."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from symshuffle.engines import contour, saddle
from symshuffle.engines.characteristic import form
from symshuffle.law import Law

LAW = Law((Fraction(1), Fraction(-1), Fraction(0)), (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)))
N = 5
SMOOTH = saddle.Plan(c=0.4, step=0.25, nodes=80, tau=0.3)


def seen(plan):
    return form(LAW, saddle.tilt(LAW), plan, tolerance=0.0)


@pytest.mark.parametrize("n", [1, 4])
@pytest.mark.parametrize(("c", "step"), [(0.4, 0.5), (2.0, 0.5), (0.05, 0.1)])
def test_the_aliases_are_enumerated_and_bounded(n, c, step):
    """The terms exp(-cmX) E(S + Z + mX)_+ of both signs of m, by the sum over all values of S and a Gaussian Z."""
    plan = saddle.Plan(c=c, step=step, nodes=4, tau=0.5)
    reach = 2 * math.pi / step
    moment = sum(float(w) * math.exp(c * float(v)) for v, w in LAW.atoms())
    sums = {0: 1.0}
    for _ in range(n):
        new = {}
        for s, p in sums.items():
            for v, w in LAW.atoms():
                new[s + int(v)] = new.get(s + int(v), 0.0) + p * float(w)
        sums = new

    def positive(x):
        """E(x + Z)_+."""
        z = x / plan.tau
        return x * math.erfc(-z / math.sqrt(2)) / 2 + plan.tau * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    total = sum(
        math.exp(-c * m * reach) * sum(p * positive(s + m * reach) for s, p in sums.items())
        for m in (*range(-3, 0), *range(1, 60))
    )
    total /= moment**n * math.exp((plan.tau * c) ** 2 / 2)
    bound = contour._aliasing(seen(plan), n, plan)
    assert total <= bound
    q = math.exp(-c * reach / 2)
    assert bound >= reach / 2 * q / (1 - q) ** 2
    if (
        c < 0.1
    ):  # close to 0 nearly all of them are sums moved up by whole periods: twice as far as they are bounded for
        assert bound < 30 * total


@pytest.mark.parametrize("sign", [1, -1])
def test_each_tail_of_the_aliases_is_chernoffs_series(monkeypatch, sign):
    """At one slope a: the sum over m of e^(-a m d) Q-mean of e^(+-aY), d = X/2 below and X above, over c e."""
    n, c, plan = 4, 0.4, saddle.Plan(c=0.4, step=2.0, nodes=4, tau=0.5)
    reach, slope = math.pi, 0.7
    exponents = {}
    plain = saddle.tail_exponent

    def one_side(*given):
        exponents[math.copysign(1, given[-1])] = given
        return plain(*given) if given[-1] * sign > 0 else 500.0

    monkeypatch.setattr(saddle, "tail_slopes", lambda *_: [slope])
    monkeypatch.setattr(saddle, "tail_exponent", one_side)
    form_of = seen(plan)
    above = saddle.Tilt(form_of.tilt.values * 1.1, form_of.tilt.weights)
    bound = contour._aliasing(replace(form_of, above=above), n, plan)

    def moment(s, wider=1.0):
        return sum(float(w) * math.exp(s * wider * float(v)) for v, w in LAW.atoms())

    distance = reach if sign > 0 else reach / 2
    theta = sign * slope
    mean = (moment(c + theta, 1.1) / moment(c)) ** n * math.exp(0.25 * ((c + theta) ** 2 - c * c) / 2)
    x = math.exp(-slope * distance)
    q = math.exp(-c * reach / 2)
    expected = reach / 2 * q / (1 - q) ** 2 + mean * x / (1 - x) / (c * math.e)
    assert bound == pytest.approx(expected, rel=1e-9)
    assert set(exponents) == {1.0, -1.0}


def test_a_slope_whose_bound_overflows_bounds_nothing(monkeypatch):
    form_of = seen(SMOOTH)
    monkeypatch.setattr(saddle, "tail_slopes", lambda *_: [0.5, 0.6])
    for exponent, finite in ((-699.0, True), (-701.0, False), (-math.inf, False)):
        monkeypatch.setattr(saddle, "tail_exponent", lambda *_, exponent=exponent: exponent)
        assert math.isfinite(contour._aliasing(form_of, N, SMOOTH)) == finite
    # The better of two slopes counts, and a slope of 0 gives a series that does not converge.
    monkeypatch.setattr(saddle, "tail_exponent", lambda *given: 1.0 if abs(given[-1]) == 0.5 else 3.0)
    better = contour._aliasing(form_of, N, SMOOTH)
    monkeypatch.setattr(saddle, "tail_exponent", lambda *given: 3.0)
    monkeypatch.setattr(saddle, "tail_slopes", lambda *_: [0.6])
    assert better == pytest.approx(contour._aliasing(form_of, N, SMOOTH), rel=1e-9)
    monkeypatch.setattr(saddle, "tail_slopes", lambda *_: [0.0])
    assert contour._aliasing(form_of, N, SMOOTH) == math.inf


def test_the_rounding_of_chernoffs_exponent_is_24_units(monkeypatch):
    """Twelve of each cumulant and of their difference, n times, and of the product with the distance."""
    form_of = seen(SMOOTH)
    monkeypatch.setattr(saddle, "tail_slopes", lambda *_: [0.5])
    monkeypatch.setattr(saddle, "tail_exponent", lambda *given: 3.0 if given[-1] > 0 else 500.0)
    monkeypatch.setattr(contour, "UNIT", 1e-3)
    reach = 2 * math.pi / SMOOTH.step
    tilt, q = form_of.tilt, math.exp(-0.4 * reach / 2)
    lost = 24e-3 * (N * (tilt.noise(0.9) + tilt.noise(0.4)) + 0.5 * reach)
    expected = reach / 2 * q / (1 - q) ** 2 + math.exp(lost - 3.0) / (1 - math.exp(-0.5 * reach)) / (0.4 * math.e)
    assert contour._aliasing(form_of, N, SMOOTH) == pytest.approx(expected, rel=1e-9)
