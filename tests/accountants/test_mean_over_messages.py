"""The mean of a falling bound over who sends, and Rényi's weight under a line: sums and integrals of their own."""

import itertools
import math
from fractions import Fraction

import flint
import mpmath
import pytest

from symshuffle.accountants import dropout
from symshuffle.accountants.chords import Line, Node
from symshuffle.accountants.composition_bounds import advanced_epsilon, advanced_slack, basic_epsilon
from symshuffle.accountants.dropout import few_counts, mean_over_counts, mean_over_dropouts, partial_cdf
from symshuffle.accountants.orders import BITS, _excess, _stretch, _Weight
from symshuffle.choices import Rigour
from symshuffle.errors import InputError
from symshuffle.numbers import working_precision
from symshuffle.results import Bracket

F = Fraction


def given(low, high=None):
    return Bracket(F(low), F(low if high is None else high), Rigour.FLOAT64, "hand", "given")


def harmonic(m, width):
    return given(F(1, m))


@pytest.mark.parametrize(("users", "q", "rel"), [(12, F(1, 3), 1e-3), (60, F(1, 2), 1e-2), (100, F(9, 10), 1e-3)])
def test_the_mean_of_1_over_m_lies_in_a_bracket_as_wide_as_asked(users, q, rel):
    """E[1/M] for M - 1 binomial of n - 1 at 1 - q is (1 - q**n)/(n (1 - q)), exactly."""
    truth = (1 - q**users) / (users * (1 - q))
    found = mean_over_dropouts(harmonic, users, q, rel)
    assert found.lower <= truth <= found.upper and found.aimed is None
    assert found.upper - found.lower <= F(rel) * found.upper
    if users <= 12:
        assert mean_over_dropouts(harmonic, users, q, rel, exact=True).aimed is None
        assert mean_over_dropouts(harmonic, users, q, rel, exact=True).lower == truth


def test_any_law_of_the_number_will_do():
    """One message with 1/4, three with 1/2, five with 1/4: 1/4 + 1/6 + 1/20."""
    below = {0: 0, 1: F(1, 4), 2: F(1, 4), 3: F(3, 4), 4: F(3, 4), 5: 1}
    found = mean_over_counts(harmonic, 5, lambda m: (F(below[m]),) * 2, (2.0, 1.4), 1e-6, exact=True)
    assert found.lower == found.upper == F(1, 4) + F(1, 6) + F(1, 20)


def test_no_more_numbers_are_looked_at_than_the_limit(monkeypatch):
    monkeypatch.setattr(dropout, "MOST_VALUES", 20)
    seen = set()

    def value(m, width):
        seen.add(m)
        assert width == 1e-9 / 4
        return harmonic(m, width)

    found = mean_over_dropouts(value, 300, F(1, 2), 1e-9)
    truth = (1 - F(1, 2) ** 300) / 150
    assert found.lower <= truth <= found.upper and found.aimed == 1e-9
    assert 14 <= len(seen) <= 30


def test_what_is_next_to_nothing_is_between_0_and_next_to_nothing():
    least = F(1, 2**4000)
    told = dropout._told_from_zero
    assert (told(given(least, 1)).lower, told(given(least, 1)).upper) == (least, 1)
    assert (told(given(least / 2, 1)).lower, told(given(least / 2, 1)).upper) == (0, 1)
    assert (told(given(-1, 1)).lower, told(given(least / 4, least / 2)).upper) == (-1, least)
    assert (told(given(0, 0)).lower, told(given(0, 0)).upper) == (0, 0)


@pytest.mark.parametrize(("users", "q"), [(9, F(1, 3)), (30, F(4, 5))])
def test_numbers_of_messages_have_their_cumulative_probabilities(users, q):
    total = F(0)
    for m in range(users + 2):
        if 1 <= m <= users:
            total += math.comb(users - 1, m - 1) * (1 - q) ** (m - 1) * q ** (users - m)
        low, high = partial_cdf(users, q)(m)
        assert low <= total <= high and high - low < F(1, 10**25)
        if m <= users:
            assert partial_cdf(users, q, exact=True)(m) == (total, total)
    assert total == 1


def test_tails_next_to_nothing_are_not_told_from_it():
    low, high = partial_cdf(10**5, F(1, 10))(1)
    assert (low, high) == (0, F(1, 2**4000))


def test_few_numbers_begin_at_one_and_end_at_all():
    counts = few_counts(10**4, F(1, 4), F(1, 10**6), 1e-2)
    assert counts[0] == 1 and counts[-1] == 10**4 and counts == sorted(set(counts))
    centre, spread = 1 + 9999 * 0.75, math.sqrt(9999 * 0.75 * 0.25)
    inner = counts[1:-1]
    assert partial_cdf(10**4, F(1, 4))(inner[0] - 1)[1] <= F(1, 10**6) < partial_cdf(10**4, F(1, 4))(inner[1] - 1)[1]
    assert centre + 3 * spread < inner[-1] <= centre + 7 * spread
    gaps = {b - a for a, b in itertools.pairwise(inner)}
    assert max(gaps) - min(gaps) <= 1 and max(gaps) <= 2 * spread + 1


# Rényi's weight.


@pytest.mark.parametrize("alpha", [F(1), F(3, 2), F(2), F(7)])
@pytest.mark.parametrize(("left", "right"), [(F(1, 3), F(1, 2)), (F(1), F(5, 2))])
def test_the_integral_under_a_line_is_that_of_quadrature(alpha, left, right):
    """x**(alpha - 2) times a line, and times what it has more than (1 - x)_+."""
    line = Line(F(2), F(3), F(-1, 4))
    with mpmath.workdps(30):
        power = mpmath.mpf(alpha.numerator) / alpha.denominator - 2
        ends = [mpmath.mpf(x.numerator) / x.denominator for x in (left, right)]
        whole = mpmath.quad(lambda x: x**power * (3 - (x - 2) / 4), ends)
        more = mpmath.quad(lambda x: x**power * (3 - (x - 2) / 4 - max(1 - x, 0)), ends)
    floor = Line(F(1), F(0), F(-1) if right <= 1 else F(0))
    with working_precision(BITS):
        weight = _Weight(alpha)
        assert float(weight.under(line, left, right)) == pytest.approx(float(whole), rel=1e-14)
        assert float(_excess(line, floor, left, right, weight)) == pytest.approx(float(more), rel=1e-14)
        assert float(weight.under(line, left, right)) == pytest.approx(float(whole), rel=1e-14)


def test_a_stretch_is_between_the_chord_and_the_highest_line_below():
    """Around 1 to 2, by hand at alpha = 2: chord (1/2 + 1/4)/2; from below 1/2 - (x - 1)/2 then 1/4 - (x - 2)/8, and
    these meet at 4/3; the second is above (1 - x)_+ = 0 everywhere."""
    nodes = [Node(F(x), F(y), F(y)) for x, y in ((F(1, 2), F(3, 4)), (1, F(1, 2)), (2, F(1, 4)), (3, F(1, 8)))]
    with working_precision(BITS):
        found = _stretch(nodes, 1, _Weight(F(2)))
    low = (F(1, 2) + F(1, 3)) / 2 * F(1, 3) + (F(1, 3) + F(1, 4)) / 2 * F(2, 3)
    assert float(found.high) == pytest.approx(3 / 8, rel=1e-15)
    assert float(found.low) == pytest.approx(float(low), rel=1e-15)
    assert isinstance(found.low, flint.arb)


# Simpler theorems.


def test_a_slack_is_a_probability_inside():
    levels = [(F(1, 10), 3), (F(1, 5), 2)]
    for slack in (F(0), F(1), F(-1), F(2)):
        with pytest.raises(InputError, match=r"slack.*\(0, 1\)"):
            advanced_epsilon(levels, slack)
    assert basic_epsilon(levels) == F(7, 10)


def test_the_advanced_theorem_and_back():
    """Drift 3/10 tanh(1/20) + 2/5 tanh(1/10), squares 3/100 + 2/25."""
    levels = [(F(1, 10), 3), (F(1, 5), 2)]
    with mpmath.workdps(40):
        drift = mpmath.mpf(3) / 10 * mpmath.tanh(mpmath.mpf(1) / 20) + mpmath.mpf(2) / 5 * mpmath.tanh(
            mpmath.mpf(1) / 10
        )
        found = advanced_epsilon(levels, F(1, 1000))
        expected = drift + mpmath.sqrt(2 * mpmath.log(1000) * mpmath.mpf(11) / 100)
        assert 0 <= mpmath.mpf(found.numerator) / found.denominator - expected < mpmath.mpf(10) ** -30
    back = advanced_slack(levels, found)
    assert abs(back - F(1, 1000)) < F(1, 10**30)
    assert advanced_slack(levels, F(1, 20)) == 1  # below the drift, 0.0548
    assert advanced_slack([(F(0), 5)], F(0)) == 0 == advanced_slack([], F(0))
    assert 0 < advanced_slack([(F(1, 10), 1)], F(1, 10)) < 1
