"""Both sides of a tilted transform: ramps, windows, tails, roundings and choices against definitions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F

import numpy as np
import pytest

from symshuffle.engines import tilted
from symshuffle.engines.convolution import Convolution
from symshuffle.engines.tilted import Window, _Shares, contracted, dilated
from symshuffle.errors import Unsupported
from symshuffle.law import Law
from symshuffle.numbers import Ball

UNIT = 2.0**-53
LAW = Law((F(1), F(-1, 2), F(-2)), (F(3, 10), F(1, 2), F(1, 5)))
HALF = Window(0.5, F(-2), F(1, 2), 0, 64, (0.7, 0.9))


def positive(masses, window, n):
    """E[S_+] of n copies of what was rounded."""
    total = F(0)
    for drawn in itertools.product(masses.items(), repeat=n):
        s = sum((window.origin + window.step * j for j, _ in drawn), start=F(0))
        total += math.prod((m for _, m in drawn), start=F(1)) * max(s, F(0))
    return total


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("tilt", [0.05, 0.5, 3.0])
def test_both_sides_are_the_sum_over_all_places(n, tilt):
    """On a lattice that fits all atoms either side is E[S_+] of the law, from its own direction."""
    window = Window(tilt, F(-2), F(1, 2), 0, 32, (0.7, 0.9))
    truth = positive({0: F(1, 5), 3: F(1, 2), 6: F(3, 10)}, window, n)
    assert dilated(LAW, window) == contracted(LAW, window) == {0: F(1, 5), 3: F(1, 2), 6: F(3, 10)}
    low, high = (window.side(rounded(LAW, window), n, side)
                 for rounded, side in ((contracted, "lower"), (dilated, "upper")))  # fmt: skip
    assert low <= truth <= high <= low * (1 + F(1, 10**9))


def test_sums_that_leave_the_window_are_bounded():
    """What is above a short window wraps around: the upper side counts it, the lower one does not."""
    n = 3
    for first, length in ((12, 4), (9, 6), (14, 3)):
        window = Window(0.5, F(-2), F(1, 2), first, length, (0.7, 0.9))
        masses = dilated(LAW, window)
        truth = positive(masses, window, n)
        low, high = window.side(masses, n, "lower"), window.side(masses, n, "upper")
        assert high > truth and (low is None or low < truth)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("first", "length"), [(0, 20), (13, 6), (10, 3), (2, 4)])
def test_the_ramp_is_the_positive_part_times_the_tilt(monkeypatch, sign, first, length):
    """x e^(-cx) at n origins plus steps, 0 up to 0, with 16 + 8cx units towards the side."""
    monkeypatch.setattr(tilted, "UNIT", 1e-3)
    window = Window(0.5, F(-2), F(1, 2), first, length, (0.7, 0.9))
    n = 3
    for k, found in enumerate(window._ramp(n, sign)):
        x = max(n * -2.0 + 0.5 * (first + k), 0.0)
        assert found == pytest.approx(x * math.exp(-0.5 * x) * (1 + sign * (16 + 4 * x) * 1e-3), rel=1e-12)


@pytest.mark.parametrize("n", [1, 4])
def test_the_mass_outside_is_chernoffs_bound_at_both_ends(monkeypatch, n):
    """e^(n log E e^(a S) - a end) and its rounding at either end that a sum can pass."""
    window = Window(0.5, F(-2), F(1, 2), 2, 4, (0.7, 0.9))  # places 2 to 5 of the sum
    places, masses = [0, 3, 6], np.array([0.2, 0.5, 0.3])
    positions = -2 + 0.5 * np.array(places)
    found = window._outside(places, positions, masses, n)
    expected = 0.0
    monkeypatch.setattr(tilted, "UNIT", 1e-3)
    rough = window._outside(places, positions, masses, n)
    rougher = 0.0
    for sign, slope, end in ((-1, 0.7, 2), (1, 0.9, 5)):
        position = n * -2.0 + 0.5 * end
        mean = float((masses * np.exp(sign * slope * positions)).sum())
        exponent = n * math.log(mean) - sign * slope * position
        expected += math.exp(exponent)
        largest = max(abs(slope * x) for x in positions)
        rougher += math.exp(exponent + 1e-3 * (n * 36 * (1 + largest) + 16 * slope * abs(position)))
    assert found == pytest.approx(expected, rel=2e-9) and found > expected
    assert rough == pytest.approx(rougher, rel=2e-9)
    chance = sum(
        math.prod(masses[list(drawn)]) for drawn in itertools.product(range(3), repeat=n)
        if not 2 <= sum(places[i] for i in drawn) <= 5
    )  # fmt: skip
    assert chance <= found


def test_ends_that_no_sum_passes_cost_nothing():
    places, masses = [0, 6], np.array([0.5, 0.5])
    positions = -2 + 0.5 * np.array(places)
    for first, length, sides in ((0, 13, 0), (0, 12, 1), (1, 12, 1), (1, 11, 2)):
        window = Window(0.5, F(-2), F(1, 2), first, length, (0.7, 0.9))  # two copies reach places 0 to 12
        found = window._outside(places, positions, masses, 2)
        one_sided = [math.exp(2 * math.log(float((masses * np.exp(s * a * positions)).sum())) - s * a * (-4 + 0.5 * e))
                     for s, a, e in ((-1, 0.7, first), (1, 0.9, first + length - 1))]  # fmt: skip
        passed = [first > 0, first + length - 1 < 12]
        assert sum(passed) == sides
        assert found == pytest.approx(sum(x for x, p in zip(one_sided, passed, strict=True) if p), rel=1e-8)
    assert window._outside(places, positions, np.zeros(2), 2) == 0


def test_an_atom_without_mass_does_not_count_for_the_ends():
    window = Window(0.5, F(-2), F(1, 2), 2, 4, (0.7, 0.9))
    places, positions = [0, 3, 6], -2 + 0.5 * np.array([0, 3, 6])
    with_none = window._outside(places, positions, np.array([0.2, 0.5, 0.0]), 1)
    alone = [math.exp(math.log(0.2 * math.exp(s * a * -2) + 0.5 * math.exp(s * a * -0.5)) - s * a * (-2 + 0.5 * e))
             for s, a, e in ((-1, 0.7, 2), (1, 0.9, 5))]  # fmt: skip
    assert with_none == pytest.approx(sum(alone), rel=1e-8)


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_a_side_is_total_error_and_outside(monkeypatch, side):
    """The value is M^n times the integral, with its error, with what is outside and with what was dropped over c e."""
    sign, n = (1, 3) if side == "upper" else (-1, 3)
    monkeypatch.setattr(tilted, "convolve", lambda *_: Convolution(np.zeros(64), 0.0))
    monkeypatch.setattr(Convolution, "integral", lambda self, values: (2.0, 0.25))
    monkeypatch.setattr(Window, "_outside", lambda *_: 0.5)
    masses = {0: F(1, 5), 3: F(1, 2), 6: F(3, 10)}
    moment = sum(float(m) * math.exp(0.5 * (-2 + 0.5 * j)) for j, m in masses.items())
    expected = (2.0 + sign * (0.25 + 0.5 / (0.5 * math.e))) * moment**n
    assert float(HALF.side(masses, n, side)) == pytest.approx(expected, rel=1e-8)
    monkeypatch.setattr(Window, "_outside", lambda *_: 1e9)
    assert (HALF.side(masses, n, "lower") is None) and HALF.side(masses, n, "upper") is not None
    monkeypatch.setattr(Window, "_outside", lambda *_: math.inf)
    assert HALF.side(masses, n, "upper") is None
    assert HALF.side({0: F(0)}, n, side) is None
    assert HALF.side(masses, 10**9, side) is None  # e^(n K) is out of reach


def test_what_doubles_do_not_hold_is_added_to_the_upper_side_only(monkeypatch):
    """A mass that is too small is dropped from both sides; 2n times it is the chance that it occurs."""
    seen = []
    monkeypatch.setattr(tilted, "convolve", lambda *given: seen.append(given) or Convolution(np.zeros(64), 0.0))
    monkeypatch.setattr(Convolution, "integral", lambda self, values: (1.0, 0.0))
    monkeypatch.setattr(Window, "_outside", lambda *_: 0.0)
    monkeypatch.setattr(tilted, "_SMALLEST", 1e-3)
    masses = {0: F(1, 10**4), 6: 1 - F(1, 10**4)}
    moment = sum(float(m) * math.exp(0.5 * (-2 + 0.5 * j)) for j, m in masses.items())
    upper, lower = (float(HALF.side(masses, 3, side)) for side in ("upper", "lower"))
    lost = 2 * 3 * (1e-3 * math.exp(-1) / moment + 1e-3) / (0.5 * math.e)
    assert lower == pytest.approx(moment**3, rel=1e-9)
    assert upper == pytest.approx((1 + lost) * moment**3, rel=1e-9)
    assert all(given[1][0] == 0 and given[1][1] > 0 for given in seen)
    # The tilt makes 0.002 smaller than a thousandth: dropped as well.
    small = {0: F(2, 10**3), 6: 1 - F(2, 10**3)}
    moment = sum(float(m) * math.exp(0.5 * (-2 + 0.5 * j)) for j, m in small.items())
    lost = 2 * 3 * (2e-3 * math.exp(-1) / moment + 1e-3) / (0.5 * math.e)
    assert float(HALF.side(small, 3, "upper")) == pytest.approx((1 + lost) * moment**3, rel=1e-9)


def test_the_first_place_of_a_window_is_where_the_ramp_begins():
    """A window that begins behind the transform's length wraps: place 64 + 5 is at index 5."""
    n = 20
    window = Window(0.5, F(-2), F(1, 2), 69, 64, (0.7, 0.9))
    law = {0: F(1, 5), 6: F(4, 5)}
    truth = sum(
        math.comb(n, k) * F(4, 5) ** k * F(1, 5) ** (n - k) * max(F(-2 * n) + 3 * k, F(0)) for k in range(n + 1)
    )
    assert window.side(law, n, "lower") <= truth <= window.side(law, n, "upper") < truth * (1 + F(1, 100))


def test_dilations_split_an_atom_over_its_neighbours():
    window = Window(1.0, F(0), F(1), 0, 8, (1.0, 1.0))
    law = Law((F(1, 4), F(2), F(-1, 3)), (F(1, 2), F(1, 4), F(1, 4)))
    assert dilated(law, window) == {0: F(3, 8) + F(1, 6), 1: F(1, 8), 2: F(1, 4), -1: F(1, 12)}
    ball = Law((Ball(F(0), F(1, 4)), F(2)), (Ball(F(1, 4), F(1, 2)), Ball(F(1, 2), F(3, 4))))
    assert dilated(ball, window) == {0: F(3, 8), 1: F(1, 8), 2: F(3, 4)}  # all upper ends


def test_contractions_borrow_a_counterweight():
    """2/3 rises to 1 with 1/3 of its mass times 1/3 over the arm 2 of the atom 3; 7/3 sinks to 2 with mass from 0."""
    window = Window(1.0, F(0), F(1), 0, 8, (1.0, 1.0))
    rising = Law((F(2, 3), F(3)), (F(1, 2), F(1, 2)))
    loan = F(1, 2) * F(1, 3) / 2
    assert contracted(rising, window) == {1: F(1, 2) + loan, 3: F(1, 2) - loan}
    sinking = Law((F(7, 3), F(0)), (F(1, 2), F(1, 2)))
    loan = F(1, 2) * F(1, 3) / 2
    assert contracted(sinking, window) == {2: F(1, 2) + loan, 0: F(1, 2) - loan}
    alone = Law((F(2, 3), F(1)), (F(1, 2), F(1, 2)))  # the lender is at the place itself: the atom sinks to 0
    assert contracted(alone, window) == {0: F(1, 2), 1: F(1, 2)}
    ball = Law((Ball(F(2), F(5, 2)), F(0)), (Ball(F(1, 4), F(1, 2)), Ball(F(1, 2), F(3, 4))))
    assert contracted(ball, window) == {2: F(1, 4), 0: F(1, 2)}  # all lower ends


def test_a_loan_is_at_most_a_quarter_of_what_the_lender_has():
    """Rising by 1/3 with mass 9/10 needs 3/20 from the arm 2: of a tenth there is 1/40, so that the atom sinks."""
    window = Window(1.0, F(0), F(1), 0, 8, (1.0, 1.0))
    poor = Law((F(2, 3), F(3)), (F(9, 10), F(1, 10)))
    assert contracted(poor, window) == {0: F(9, 10), 3: F(1, 10)}
    exact = Law((F(2, 3), F(3)), (F(3, 5), F(2, 5)))  # 1/10 is just a quarter of 2/5
    assert contracted(exact, window) == {1: F(7, 10), 3: F(3, 10)}
    sinks = Law((F(7, 3), F(0)), (F(9, 10), F(1, 10)))  # a sinking one takes what there is
    assert contracted(sinks, window) == {2: F(9, 10) + F(1, 40), 0: F(3, 40)}
    near = Law((F(2, 3), F(19, 10)), (F(1, 2), F(1, 2)))  # within a step of the place 1: no lender
    assert contracted(near, window)[0] == F(1, 2)


def test_shares_are_sorted_with_the_nearest_places():
    law = Law((F(5, 4), F(-1, 3), Ball(F(2), F(3))), (F(1, 2), F(1, 4), Ball(F(1, 5), F(1, 3))))
    shares = _Shares.of(law, Window(1.0, F(0), F(1), 0, 8, (1.0, 1.0)))
    assert shares.values == [F(-1, 3), F(5, 4), F(2)] and shares.targets == [0, 1, 2]
    assert shares.least == [F(1, 4), F(1, 2), F(1, 5)] and shares.most == [F(1, 4), F(1, 2), F(1, 3)]
    assert list(shares.rising()) == [0] and list(shares.sinking()) == [1]
    assert shares.place(1) == 1


def test_logarithms_of_sums_and_cumulants():
    values, weights = np.array([1.0, -2.0, 0.5]), np.array([0.25, 0.5, 0.25])
    for s in (0.0, 0.7, 900.0, -900.0):
        largest = max(s * values)
        expected = largest + math.log(sum(weights * np.exp(s * values - largest)))
        assert tilted._cumulants(values, weights, np.array([s, 1.0]))[0] == pytest.approx(
            expected, rel=1e-13, abs=1e-15
        )
        assert tilted._log_sum(s * values, weights) == pytest.approx(expected, rel=1e-13, abs=1e-15)
    shares = weights * np.exp(0.3 * values)
    shares /= shares.sum()
    mean = (shares * values).sum()
    assert tilted._spread(values, weights, 0.3) == pytest.approx(math.sqrt((shares * (values - mean) ** 2).sum()))


def test_the_spacing_leads_from_the_least_atom_to_all():
    """-2, -1/2 and 1 are 0, 3 and 6 halves up: a spacing of 3/2."""
    assert tilted._spacing(LAW, F(-2)) == F(3, 2)
    assert tilted._spacing(Law((F(1), F(1, 3), F(0)), (F(1, 2), F(1, 4), F(1, 4))), F(0)) == F(1, 3)
    assert tilted._spacing(Law((Ball(F(1), F(2)), F(0)), (F(1, 2), F(1, 2))), F(0)) is None


def test_steps_fit_the_lattice_or_nearly_all_atoms():
    low, span = F(-2), F(3)
    assert tilted._steps(LAW, low, span, 2, 0.1) == 2 and tilted._steps(LAW, low, span, 3, 0.1) == 2
    assert tilted._steps(LAW, low, span, 1, 0.1) == 0
    # An atom at 3/50 of the range fits 50 steps and 100: of 50 to 101 steps the first is taken, of 51 to 103 the other.
    law = Law((F(0), F(3, 50) + F(1, 10**9), F(1)), (F(1, 3),) * 3)
    assert tilted._steps(law, F(0), F(1), 101, 0.1) == 50
    assert tilted._steps(law, F(0), F(1), 103, 0.1) == 100
    assert tilted._steps(law, F(0), F(1), 31, 0.1) == 0 and 32 <= tilted._steps(law, F(0), F(1), 33, 0.1) <= 33


def test_doubles_of_a_law_are_refused_below_their_range():
    least = F(1e-290)
    law = Law((F(1), F(-1)), (least, 1 - least))
    values, weights = tilted._doubles(law)
    assert values.tolist() == [1.0, -1.0] and weights[0] == 1e-290
    under = least * (1 - F(1, 2**40))
    with pytest.raises(Unsupported, match="weight"):
        tilted._doubles(Law((F(1), F(-1)), (under, 1 - under)))
    with pytest.raises(Unsupported, match="atom"):
        tilted._doubles(Law((F(10**400), F(-1)), (F(1, 2), F(1, 2))))


def test_the_window_that_is_chosen_holds_nearly_all_of_the_sum():
    for n, largest in ((5, 2**9), (400, 2**10), (10**5, 2**14)):
        window = Window.choose(LAW, n, largest)
        assert window.length <= largest * 1.1 and window.origin == -2 and 3 % window.step == 0
        masses = dilated(LAW, window)
        low, high = (window.side(masses, n, side) for side in ("lower", "upper"))
        assert high - low < high * F(1, 10**6)
    assert Window.choose(Law((F(-1), F(0)), (F(1, 2), F(1, 2))), 5, 512) is None
    assert Window.choose(Law((F(1),), (F(1),)), 5, 512) is None


def test_the_tilt_is_where_the_integrand_is_least():
    """Of n K(c) - 2 log c, on a lattice of n K(c) - 2 log sinh(gc/2): no tilt nearby is better."""
    values, weights = np.array([1.0, -0.5, -2.0]), np.array([0.3, 0.5, 0.2])
    for n, spacing in ((3, None), (3, F(3, 2)), (500, None), (500, F(3, 2))):
        c = tilted._best_tilt(values, weights, n, spacing)

        def height(c, n=n, spacing=spacing):
            kernel = math.log(c) if spacing is None else math.log(math.sinh(0.75 * c))
            return n * math.log(sum(weights * np.exp(c * values))) - 2 * kernel

        assert height(c) < min(height(0.95 * c), height(1.05 * c))


def test_the_reach_of_the_tilted_sum_is_chernoffs():
    """(n (K(c +- a) - K(c)) + 60)/a, at the slope that is told, which is the best but for the grid it is taken from."""
    values, weights, n = np.array([1.0, -0.5, -2.0]), np.array([0.3, 0.5, 0.2]), 50
    for (reach, slope), sign in zip(tilted._chernoff(values, weights, n, 0.4), (-1, 1), strict=True):
        k = lambda s: np.logaddexp.reduce(s * values + np.log(weights))  # noqa: E731
        assert reach == pytest.approx((n * (k(0.4 + sign * slope) - k(0.4)) + 60) / slope, rel=1e-9)
        for other in (0.9 * slope, 1.1 * slope):
            assert (n * (k(0.4 + sign * other) - k(0.4)) + 60) / other >= reach * (1 - 1e-3)
