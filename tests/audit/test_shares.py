"""Exact coverage of each confidence end, and forecasts of power against enumeration."""

from fractions import Fraction as F

import pytest

from symshuffle.collect.audit.shares import Power, about_runs, least_runs, lower_share, upper_share
from tests.audit.systems import binomial

LEVELS = [F(1, 20), F(1, 400)]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("runs", [1, 5, 12])
def test_each_end_is_wrong_with_at_most_its_level_and_nearly_with_it(runs, level):
    """The worst probabilities lie just beyond the ends themselves: there the error is all but the level."""
    low = [lower_share(c, runs, level) for c in range(runs + 1)]
    up = [upper_share(c, runs, level) for c in range(runs + 1)]
    grid = [F(i, 97) for i in range(98)]
    below = [p * (1 - F(1, 10**6)) for p in low[1:]]
    above = [1 - (1 - p) * (1 - F(1, 10**6)) for p in up[:-1]]
    worst = [F(0), F(0)]
    for p in [*grid, *low, *up, *below, *above]:
        law = binomial(runs, p)
        worst[0] = max(worst[0], sum(mass for c, mass in enumerate(law) if low[c] > p))
        worst[1] = max(worst[1], sum(mass for c, mass in enumerate(law) if up[c] < p))
    for error in worst:
        assert error <= level
        assert error > level * (1 - F(1, 10**3))


@pytest.mark.parametrize("level", LEVELS)
def test_ends_of_another_level_or_another_count_would_be_wrong(level):
    """Near misses: ends at twice the level, and of one hit more, are wrong too often."""
    runs = 12
    for ends in (
        [lower_share(c, runs, 2 * level) for c in range(runs + 1)],
        [lower_share(min(c + 1, runs), runs, level) for c in range(runs + 1)],
    ):
        errors = [
            sum(mass for c, mass in enumerate(binomial(runs, p)) if ends[c] > p)
            for p in (end * (1 - F(1, 10**6)) for end in ends)
        ]
        assert max(errors) > level


def test_ends_of_many_runs_are_mirrored_and_close():
    for count, runs in ((0, 10**6), (1, 10**6), (499_000, 10**6), (10**6, 10**6)):
        low, up = lower_share(count, runs, F(1, 800)), upper_share(count, runs, F(1, 800))
        mirrored = 1 - upper_share(runs - count, runs, F(1, 800))
        assert low <= F(count, runs) <= up
        assert abs(low - mirrored) < F(1, 10**8)


def exact_power(runs, p0, p1, ratio, delta, level):
    low = [lower_share(c, runs, level) for c in range(runs + 1)]
    up = [upper_share(c, runs, level) for c in range(runs + 1)]
    first, second = binomial(runs, p0), binomial(runs, p1)
    return sum(
        a * b
        for c, a in enumerate(first)
        for d, b in enumerate(second)
        if low[c] - ratio * up[d] > delta
    )  # fmt: skip


@pytest.mark.parametrize("runs", [20, 33])
@pytest.mark.parametrize(("p0", "p1"), [(F(3, 4), F(1, 4)), (F(9, 10), F(1, 100)), (F(1), F(0)), (F(1, 2), F(0))])
@pytest.mark.parametrize(("ratio", "delta"), [(F(3), F(0)), (F(1), F(1, 10)), (F(2), F(1, 20))])
def test_power_is_that_of_enumeration(runs, p0, p1, ratio, delta):
    level = F(1, 50)
    exact = exact_power(runs, p0, p1, ratio, delta, level)
    found = Power(float(ratio), float(delta), float(level)).at(runs, float(p0), float(p1))
    assert abs(found - float(exact)) < 1e-9
    if p0 - ratio * p1 <= delta:
        assert exact <= 2 * level


@pytest.mark.parametrize(("ratio", "delta"), [(F(3), F(0)), (F(20), F(1, 10)), (F(1), F(1, 2))])
def test_least_runs_are_those_of_the_most_extreme_outcome(ratio, delta):
    level = F(1, 40)
    least = least_runs(ratio, delta, level)
    for runs in (least - 1, least):
        reached = lower_share(runs, runs, level) - ratio * upper_share(0, runs, level) > delta
        assert reached is (runs == least)


def test_forecasts_are_where_power_crosses():
    test = Power(3.0, 0.0, 1 / 400)
    runs = test.runs(0.8, 0.2)
    assert test.at(runs, 0.8, 0.2) >= 0.9 > test.at(runs * 98 // 100, 0.8, 0.2)
    ratio = test.caught(1000, 0.75)
    assert test.at(1000, 0.75, 0.75 / ratio) >= 0.9 > test.at(1000, 0.75, 0.75 / ratio * 1.01)
    assert test.at(1000, 0.85, 0.85 / ratio) >= 0.9
    assert test.runs(0.75, 0.25) is None
    assert test.caught(5, 0.75) is None
    assert (about_runs(None), about_runs(123456)) == ("no number of runs", "about 120000 runs")
