"""What counts outside of windows contribute, enumerated and by Chernoff's bound at a given slope."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F

import flint
import pytest

from symshuffle.engines import count_windows
from symshuffle.engines.count_windows import Windows, steps_of
from symshuffle.law import Law
from symshuffle.numbers import working_precision

LAW = Law((F(1), F(-1, 2), F(-2)), (F(3, 10), F(1, 2), F(1, 5)))
N = 6


def windows(low, high, c=0.5, n=N):
    return Windows(LAW, n, c, F(1), list(low), list(high))


def outside(low, high, n=N):
    """E[S_+] over the counts of which at least one is outside of its window."""
    total = F(0)
    for counts in itertools.product(range(n + 1), repeat=3):
        if sum(counts) == n and not all(a <= k <= b for a, k, b in zip(low, counts, high, strict=True)):
            chance = F(math.factorial(n))
            for k, w in zip(counts, LAW.weights, strict=True):
                chance *= w**k / math.factorial(k)
            total += chance * max(sum(k * v for k, v in zip(counts, LAW.values, strict=True)), F(0))
    return total


def test_the_steps_of_some_windows():
    """The two longest are convolved, with at most as many rows as the others leave; the others are enumerated."""
    assert steps_of([3.0, 5.0]) == 1 * 5 + 1  # nothing is left free: one row
    assert steps_of([2.0, 3.0, 5.0]) == 3 * 5 + 2
    assert steps_of([2.0, 4.0, 3.0, 5.0]) == 7 * 5 + 8
    assert steps_of([2.0, 40.0, 3.0, 5.0]) == 8 * 5 + 80  # no more rows than the two windows together
    found = windows([0, 1, 2], [5, 2, 4])
    assert found.order == [1, 2, 0]
    assert found.steps == (2 + 1) * 6 + 2


@pytest.mark.parametrize("c", [0.1, 0.5, 1.5])
@pytest.mark.parametrize(
    ("low", "high"),
    [((0, 0, 0), (3, 6, 6)), ((0, 2, 0), (6, 6, 6)), ((0, 0, 0), (6, 6, 1)), ((2, 1, 0), (5, 4, 2)), ((6, 0, 0),) * 2],
)
def test_the_rest_is_at_least_what_lies_outside(low, high, c):
    with working_precision(100):
        rest = windows(low, high, c).rest()
    assert float(rest.upper()) >= float(outside(low, high))
    assert rest.lower() <= 0


def test_windows_of_all_counts_leave_nothing():
    with working_precision(100):
        assert windows((0, 0, 0), (N, N, N)).rest() == 0


@pytest.mark.parametrize("above", [True, False])
def test_each_side_is_chernoffs_bound(monkeypatch, above):
    """e^(-theta k) (M(c) + (e^theta - 1) w e^(cv))^n / (e c), theta the slope where its sign is the side's."""
    c, k = 0.5, 4 if above else 1
    low, high = ((0, 0, 0), (N, k - 1, N)) if above else ((0, k + 1, 0), (N, N, N))
    moment = sum(float(w) * math.exp(c * float(v)) for v, w in LAW.atoms())
    part = 0.5 * math.exp(-0.25)
    seen = []
    for slope in (0.7, -0.7):
        monkeypatch.setattr(
            count_windows, "_slope", lambda n, share, count, s=slope: seen.append((n, share, count)) or s
        )
        theta = slope if (slope > 0) == above else 0.0
        expected = math.exp(-theta * k) * (moment + math.expm1(theta) * part) ** N / (math.e * c)
        with working_precision(100):
            assert float(windows(low, high, c).rest().upper()) == pytest.approx(expected, rel=1e-7)
    for n, share, count in seen:
        assert (n, count) == (N, k) and share == pytest.approx(part / moment, rel=1e-9)


def test_chernoffs_bound_is_attained_by_a_certain_count():
    """Where all mass is at one atom, its count is n: the bound at k = n is E[e^(cS)] itself, at any slope."""
    with working_precision(100):
        for slope in (0.3, 2.0):
            found = count_windows._chernoff(5, flint.arb(3), flint.arb(3), 5, slope)
            assert float(found) == pytest.approx(3.0**5)
        two = count_windows._chernoff(2, flint.arb(1), flint.arb("0.25"), 1, math.log(3))
        assert float(two) == pytest.approx((1 + 2 * 0.25) ** 2 / 3)


def test_the_choice_covers_all_but_the_width_asked_for():
    for n, rel in ((40, 1e-3), (40, 1e-12), (300, 1e-6)):
        with working_precision(100):
            chosen = Windows.choose(LAW, n, rel)
            rest = chosen.rest()
        assert all(0 <= a <= b <= n for a, b in zip(chosen.low, chosen.high, strict=True))
        assert chosen.c > 0 and chosen.rho > 0 and chosen.law is LAW and chosen.n == n
        moment = math.log(sum(float(w) * math.exp(chosen.c * float(v)) for v, w in LAW.atoms()))
        assert float(chosen.rho) == pytest.approx(n * math.exp(-moment), rel=1e-9)
        assert float(rest.upper()) < rel * math.exp(n * moment) / (math.e * chosen.c)
