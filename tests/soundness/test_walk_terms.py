"""Every error term of the walk along lines of counts keeps some bracket true: set to zero, it lets one miss.

Windows are bad on purpose, one end at a time where another term would cover up for the one that is gone.
"""

import itertools
import math
from fractions import Fraction

import flint
import numpy as np
import pytest

from symshuffle.base.errors import NotDecided
from symshuffle.base.numbers import Ball, to_arb, working_precision
from symshuffle.channels.law import Law
from symshuffle.engines.counting import tails, walk_plan
from symshuffle.engines.counting.exact import Exact
from symshuffle.engines.counting.walk import Walk
from symshuffle.engines.counting.walk_lines import Cut, Line
from symshuffle.engines.counting.walk_plan import Plan
from tests.soundness.test_engine_allowances import ATOM, WEIGHT, WITHIN
from tests.soundness.test_engine_terms import missed

TENTHS = tuple(Fraction(k, 10) for k in (1, 2, 3, 4))
THREE = Law((Fraction(1), Fraction(-1, 3), Fraction(-2)), (Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)))
FOUR = Law((Fraction(-2), Fraction(-1, 7), Fraction(1, 3), Fraction(5, 3)), TENTHS[::-1])
NARROW = Law((Fraction(-1), Fraction(-1, 50), Fraction(0), Fraction(1)), TENTHS[::-1])
USERS = 8


def windows(counted=None, rest=None):
    """Windows at fractions of all that is possible, the first for the number that t counts, the second for R."""

    def chosen(n, shares, moves, quiet):
        ends = counted if set(moves.tolist()) <= {0.0, 1.0} else rest
        low, high = ends or (-0.1, 1.1)
        least, most = n * moves.min(), n * moves.max()
        return least + low * (most - least), least + high * (most - least)

    return chosen


def misses(law, ends, patch=lambda at: None):
    exact = Exact(largest_power=10**9).bracket(law, USERS).exact
    with pytest.MonkeyPatch.context() as at:
        at.setattr(walk_plan, "_window", windows(*ends))
        patch(at)
        return missed(lambda: Walk(rel=1e-20).bracket(law, USERS), (exact, exact))


def without(name, *, side=None):
    """A bound that is 0, for one side of a window only if that is given."""
    plain = getattr(Plan, name)

    def gone(self, *given, **named):
        return flint.arb(0) if side is None or named["above"] is side else plain(self, *given, **named)

    return lambda at: at.setattr(Plan, name, gone)


PLACES = (None, *itertools.combinations((-0.1, 0.2, 0.4, 0.5, 0.6, 0.8, 1.1), 2))


@pytest.mark.parametrize("law", [THREE, FOUR, NARROW], ids=["three", "four", "narrow"])
def test_any_windows_hold_the_truth(law):
    pairs = (
        [(one, other) for one in PLACES[::2] for other in PLACES[::3]]
        if law is not THREE
        else [(p, None) for p in PLACES]
    )
    assert not any(misses(law, ends) for ends in pairs)


@pytest.mark.parametrize("law", [THREE, NARROW], ids=["three", "four"])
@pytest.mark.parametrize(("above", "ends"), [(True, (-0.1, 0.5)), (False, (0.5, 1.1))])
def test_either_side_of_the_window_of_counts_is_bounded(law, above, ends):
    assert not misses(law, (ends, None))
    assert not misses(law, (ends, None), without("_positive", side=not above))
    assert misses(law, (ends, None), without("_positive", side=above))


@pytest.mark.parametrize("ends", [(-0.1, 1 - 1 / USERS), (1 / USERS, 1.1)])
def test_a_window_that_leaves_one_count_out_is_bounded(ends):
    law = Law((Fraction(-2), Fraction(1, 3), Fraction(1)), (Fraction(1, 5), Fraction(1, 2), Fraction(3, 10)))
    assert not misses(law, (ends, None))
    assert misses(law, (ends, None), without("outside"))


@pytest.mark.parametrize("rest", [(0.2, 0.7), (0.4, 0.5), (-0.1, 1.1)])
def test_the_sign_of_the_sum_is_certain_on_either_side_of_the_band(monkeypatch, rest):
    """In rationals, at the ends of the window of R, and the band is no wider than that asks for."""
    monkeypatch.setattr(walk_plan, "_window", windows(None, rest))
    for law in (FOUR, NARROW):
        with working_precision(120):
            plan = Plan.of(law, USERS, 1e-9)
            low, high = Ball.from_arb(plan.low).lower, Ball.from_arb(plan.high).upper
        one, middle, _, four = plan.law.values
        base, each = USERS * middle, (four - one) / 2
        if plan.since > -USERS:
            assert base + each * (plan.since - 1) + high <= 0 < base + each * plan.since + high
        if plan.until <= USERS:
            assert base + each * plan.until + low >= 0 > base + each * (plan.until - 1) + low


def test_positive_parts_below_the_band_are_bounded():
    ends = (None, (-0.1, 0.3))
    assert not misses(FOUR, ends)
    assert misses(FOUR, ends, without("above"))


def test_negative_parts_beyond_the_band_are_bounded():
    ends = (None, (0.7, 1.1))
    assert not misses(FOUR, ends)
    assert misses(FOUR, ends, without("below"))


def expected_outside(law, n, values, moves, place, above):
    """E[exp(Y)] where Q is at least a place, or at most, by enumeration."""
    total = 0.0
    for counts in itertools.product(range(n + 1), repeat=len(values)):
        if sum(counts) == n:
            moved = sum(float(m) * k for m, k in zip(moves, counts, strict=True))
            if moved >= place if above else moved <= place:
                ways = math.factorial(n) / math.prod(map(math.factorial, counts))
                chance = math.prod(float(w) ** k for w, k in zip(law.weights, counts, strict=True))
                total += ways * chance * math.exp(sum(float(v) * k for v, k in zip(values, counts, strict=True)))
    return total


@pytest.mark.parametrize("above", [True, False])
def test_chernoffs_bound_holds_on_either_side_of_the_mean(above):
    """Below the mean the best slope has the other sign, and would be a bound on the other side."""
    n, values, moves = 6, (0.3, 0.0, -0.2, 0.1), (1, 0, 0, 1)
    for place in range(n + 1):
        with working_precision(100):
            lists = ([to_arb(w) for w in FOUR.weights], [flint.arb(v) for v in values], [flint.arb(m) for m in moves])
            bound = float(walk_plan.beyond(n, *lists, flint.arb(place), above=above))
        assert bound >= expected_outside(FOUR, n, values, moves, place, above) * (1 - 1e-12)
        whole = expected_outside(FOUR, n, values, moves, 0, True)
        assert bound <= whole * (1 + 1e-12)  # never worse than no slope at all


def test_the_slope_is_the_best_one():
    shares, moves = np.array([0.2, 0.5, 0.3]), np.array([0.0, 1.0, 0.5])
    slope = walk_plan._slope(shares, moves, 0.9)

    def exponent(phi):
        return math.log(float(shares @ np.exp(phi * moves))) - 0.9 * phi

    assert exponent(slope) < min(exponent(0.99 * slope), exponent(1.01 * slope))


def test_a_threshold_in_doubt_is_counted(monkeypatch):
    """The middle of a ball puts S below 0 where it may be above."""
    tiny, rare = Fraction(1, 10**9), Fraction(1, 100)
    law = Law((Fraction(1), Ball(-1 - 3 * tiny, -1 + tiny)), (rare, 1 - rare))
    exact = Exact().bracket(Law((Fraction(1), -1 + tiny), law.weights), 2).exact
    assert not missed(lambda: Walk().bracket(law, 2), (exact, exact))
    monkeypatch.setattr(Cut, "doubtful", lambda *_: False)
    assert missed(lambda: Walk().bracket(law, 2), (exact, exact))


def test_the_width_of_the_doubt_is_counted(monkeypatch):
    tiny, rare = Fraction(1, 10**9), Fraction(1, 100)
    law = Law((Fraction(1), Ball(-1 - 3 * tiny, -1 + tiny)), (rare, 1 - rare))
    exact = Exact().bracket(Law((Fraction(1), -1 + tiny), law.weights), 2).exact
    monkeypatch.setattr(Cut, "width", lambda _: flint.arb(0))
    assert missed(lambda: Walk().bracket(law, 2), (exact, exact))


@pytest.mark.parametrize("length", [1, 5, 40])
def test_thresholds_are_followed_within_their_error(length):
    tiny = Fraction(1, 10**6)
    origin, slope = (
        (Fraction(10, 3) - tiny, Fraction(10, 3) + tiny),
        (Fraction(-1, 7) - tiny / 3, Fraction(-1, 7) + tiny),
    )
    with working_precision(60):
        balls = [to_arb(low).union(to_arb(high)) for low, high in (origin, slope)]
        cut = Cut.of(*balls, length)
    for one, each in itertools.product(origin, slope):
        for t in range(length + 1):
            assert abs((cut.origin + cut.slope * t) - (one + each * t) * 2**cut.point) <= cut.error
    assert cut.error < 3 * tiny * (length + 1) * 2**cut.point


def test_doubt_is_where_a_whole_number_is_within_the_error():
    for part in range(16):
        cut = Cut(16 * 5 + part, 0, 4, 3)
        assert cut.doubtful(0) is (part < 3 or part > 12)
        assert cut.first(0) == 6
    assert not Cut(80, 0, 4, 0).doubtful(0)
    with working_precision(60), pytest.raises(NotDecided, match="from which count"):
        Cut.of(flint.arb(0, 0.3), flint.arb(0, 0.1), 2)


@pytest.mark.parametrize("part", ["values", "weights"])
def test_the_radius_of_balls_is_carried(monkeypatch, part):
    law, (inner, _) = {"values": (ATOM, WITHIN[ATOM]), "weights": (WEIGHT, WITHIN[WEIGHT])}[part]
    exact = Exact().bracket(inner, 3).exact
    assert not missed(lambda: Walk().bracket(law, 3), (exact, exact))
    plain = walk_plan.ball_arguments
    monkeypatch.setattr(walk_plan, "ball_arguments", lambda numbers: [flint.arb(ball.mid()) for ball in plain(numbers)])
    assert missed(lambda: Walk().bracket(law, 3), (exact, exact))


@pytest.mark.parametrize("count", [2, 20, 39])
def test_what_is_cut_off_a_series_is_bounded(monkeypatch, count):
    """On either side of the mean, cut so early that it shows."""
    copies, up = 40, Fraction(1, 2)
    exact = sum(math.comb(copies, k) for k in range(count, copies + 1)) / Fraction(2**copies)

    def holds():
        with working_precision(120):
            ball = Ball.from_arb(tails.Tail.at(to_arb(up), to_arb(1 - up), copies, count).tail)
        return ball.lower <= exact <= ball.upper

    for bits in (117, 110, 100):
        monkeypatch.setattr(tails, "_GUARD", -bits)
        assert holds()
    monkeypatch.setattr(tails, "_beyond", lambda *_: flint.arb(0))
    assert not holds()


def test_the_end_from_which_a_line_is_summed_changes_nothing_but_digits(monkeypatch):
    exact = Exact(largest_power=10**9).bracket(FOUR, USERS).exact
    for distance in (lambda self, t: t, lambda self, t: -t):
        monkeypatch.setattr(Line, "_distance", distance)
        found = Walk(rel=1e-20).bracket(FOUR, USERS)
        assert found.lower <= exact <= found.upper
