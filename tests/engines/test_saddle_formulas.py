"""The cumulant function, its derivatives and its round-off against mpmath, and the passes of a contour."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from symshuffle.engines import saddle
from symshuffle.errors import Unsupported
from symshuffle.law import Law
from symshuffle.results import Bracket, Rigour

VALUES, WEIGHTS = (2.0, -0.5, 0.0, -3.0), (0.125, 0.25, 0.5, 0.125)
TILT = saddle.Tilt(np.array(VALUES), np.array(WEIGHTS))
TILTS = (1e-14, 1e-3, 0.7, -0.2, -1.5, 3.0, 299.0, 301.0, 460.0, -250.0)
"""Next to 0, where growth is small or next to -1, and where an exponential leaves the doubles."""


def exact(s, function):
    """Mean of a function of G under the tilt s, and the logarithm of the moment generating function."""
    with mp.workdps(60):
        grown = [mp.mpf(w) * mp.exp(mp.mpf(s) * mp.mpf(v)) for v, w in zip(VALUES, WEIGHTS, strict=True)]
        total = mp.fsum(grown)
        mean = mp.fsum(g * function(mp.mpf(v)) for v, g in zip(VALUES, grown, strict=True)) / total
        return mean, mp.log(total)


@pytest.mark.parametrize("s", TILTS)
def test_the_cumulant_and_its_derivatives_are_those_of_the_definition(s):
    mean, log = exact(s, lambda v: v)
    square, _ = exact(s, lambda v: (v - mean) ** 2)
    assert TILT.cumulant(s) == pytest.approx(float(log), rel=1e-13)
    assert TILT.slope(s) == pytest.approx(float(mean), rel=1e-13)
    assert TILT.slopes(np.array([s, 0.0]))[0] == pytest.approx(float(mean), rel=1e-13)
    assert TILT.curvature(s) == pytest.approx(float(square), rel=1e-11)
    for i, value in enumerate(VALUES):
        share, _ = exact(s, lambda v, value=value: mp.mpf(v == value))
        assert TILT.tilted(s)[i] == pytest.approx(float(share), rel=1e-12)


@pytest.mark.parametrize("s", TILTS)
def test_the_noise_of_a_cumulant_is_the_propagation_of_what_each_term_is_off_by(s):
    """Each ``expm1`` is off by (1 + |x|) shares of itself; where terms are summed as they are, each by 2 + |x|."""
    _, log = exact(s, lambda v: v)
    growth = float(mp.expm1(log))
    largest = max(s * v for v in VALUES)
    if growth > -0.5 and largest < 600:
        with mp.workdps(60):
            each = [w * abs(mp.expm1(mp.mpf(s) * v)) * (1 + abs(s * v)) for v, w in zip(VALUES, WEIGHTS, strict=True)]
            expected = mp.fsum(each) / mp.exp(log)
    else:
        taken_out = largest if largest >= 600 else 0.0
        expected = exact(s, lambda v: 2 + abs(s * v))[0] + abs(log) + abs(taken_out)
    assert TILT.noise(s) == pytest.approx(float(expected), rel=1e-9)


@pytest.mark.parametrize("s", TILTS)
def test_the_noise_of_tilted_weights(s):
    """Two round-offs of the exponent, one more of what is taken out of it, eight of exp and four of the products."""
    largest = max(s * v for v in VALUES)
    for v, bound in zip(VALUES, TILT.tilted_noise(s), strict=True):
        moved = abs(s * v - largest) if largest >= 600 else 0.0
        assert bound == pytest.approx(12 + 2 * abs(s * v) + moved, rel=1e-12)


def test_exponents_are_moved_only_where_they_do_not_fit():
    """An exponential below 1 throughout is moved up to 1; one beyond e^600 down to it."""
    for exponents, shift in (([0.0, -5.0], 0.0), ([599.0, 1.0], 0.0), ([600.0, 1.0], 600.0), ([-3.0, -800.0], -3.0)):
        assert saddle._shift(np.array(exponents)) == shift


def test_a_growth_next_to_minus_one_is_not_used():
    """Where all exponents are very negative 1 + growth would cancel: the logarithm keeps its digits."""
    below = saddle.Tilt(np.array([-1.0, -2.0]), np.array([0.5, 0.5]))
    assert below.cumulant(100.0) == pytest.approx(-100 + math.log(0.5 * (1 + math.exp(-100))), rel=1e-15)
    assert below._growth(np.array([-100.0, -200.0])) is None
    assert below._growth(np.array([-1.0, -2.0])) is None
    assert below._growth(np.array([-0.1, -0.2])) == pytest.approx((math.expm1(-0.1) + math.expm1(-0.2)) / 2)
    assert below._growth(np.array([700.0, 1.0])) is None


def test_laws_that_doubles_do_not_hold_are_refused():
    least = Fraction(1e-300)
    law = Law((Fraction(1), Fraction(-1)), (least, 1 - least))
    assert saddle.tilt(law).weights[0] == 1e-300
    under = least * Fraction(1 - 2.0**-50)
    with pytest.raises(Unsupported, match="weight"):
        saddle.tilt(Law((Fraction(1), Fraction(-1)), (under, 1 - under)))
    with pytest.raises(Unsupported, match="atom of G is beyond"):
        saddle.tilt(Law((Fraction(10**400), Fraction(-1)), (Fraction(1, 2), Fraction(1, 2))))


def test_the_steepest_slopes_bring_the_farthest_atom_to_the_end_of_doubles():
    assert saddle._steepest(TILT, 0.4, 1) == pytest.approx(600 / 2.0)
    assert saddle._steepest(TILT, 0.4, -1) == pytest.approx(0.4 + 600 / 3.0)
    positive = saddle.Tilt(np.array([2.0, 0.5]), np.array([0.5, 0.5]))
    assert saddle._steepest(positive, 0.4, -1) == pytest.approx(0.4 + 600 / 2.0)
    assert saddle._steepest(saddle.Tilt(np.array([2.0, 0.0]), np.array([0.5, 0.5])), 0.4, -1) == pytest.approx(300.4)


@pytest.mark.parametrize("theta", [0.05, -0.3, 1.7, -2.0])
@pytest.mark.parametrize("tau", [0.0, 0.3])
def test_the_exponent_of_chernoffs_bound_on_the_tilted_smoothed_sum(theta, tau):
    """-log E_Q exp(theta (Y - d)): n tilted cumulants and those of a Gaussian moved by the tilt."""
    n, c, distance = 7, 0.4, 11.0
    with mp.workdps(40):
        growth = n * (exact(c + theta, mp.mpf)[1] - exact(c, mp.mpf)[1])
        gaussian = mp.mpf(tau) ** 2 * (mp.mpf(theta) * c + mp.mpf(theta) ** 2 / 2)
        expected = float(abs(theta) * distance - growth - gaussian)
    assert saddle.tail_exponent(TILT, n, c, tau, distance, theta) == pytest.approx(expected, rel=1e-12)


def test_slopes_beyond_the_doubles_bound_nothing():
    c = 0.4
    for sign in (1, -1):
        steepest = saddle._steepest(TILT, c, sign)
        assert saddle.tail_exponent(TILT, 7, c, 0.1, 11.0, sign * 1.009 * steepest) > -math.inf
        assert saddle.tail_exponent(TILT, 7, c, 0.1, 11.0, sign * 1.011 * steepest) == -math.inf


def attempts(monkeypatch, outcomes, *, spread=False, most=100, rel=0.25):
    """The bracket of several passes whose relative widths and costs are given, and for which widths they were made."""
    made = []
    monkeypatch.setattr(saddle, "widths", lambda rel, spread=False: iter([0.3, 0.2, 0.1]))

    def attempt(width):
        made.append(width)
        found = outcomes[len(made) - 1]
        if found is None:
            raise Unsupported("too wide")
        relative, cost = found
        return Bracket(Fraction(4) * (1 - relative), Fraction(4), Rigour.BALL, str(len(made)), ""), cost

    return saddle.narrowed(attempt, rel, most=most, spread=spread), made


def test_passes_end_where_the_width_is_reached(monkeypatch):
    """As soon as width <= rel times the upper end: 1 of 4 is a quarter."""
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    assert attempts(monkeypatch, [(half, 1), (quarter, 1)])[1] == [0.3, 0.2]
    assert attempts(monkeypatch, [(half, 1), (quarter + Fraction(1, 100), 1), (half, 1)])[1] == [0.3, 0.2, 0.1]
    assert attempts(monkeypatch, [(quarter, 1)])[0].engine == "1"


def test_passes_end_where_they_cost_too_much(monkeypatch):
    half = Fraction(1, 2)
    assert attempts(monkeypatch, [(half, 100), (half, 101)])[1] == [0.3, 0.2]
    assert attempts(monkeypatch, [(half, math.inf)])[1] == [0.3]


def test_a_later_pass_out_of_reach_leaves_the_one_before(monkeypatch):
    half = Fraction(1, 2)
    found, made = attempts(monkeypatch, [(half, 1), None])
    assert (found.engine, made) == ("1", [0.3, 0.2])
    with pytest.raises(Unsupported, match="too wide"):
        attempts(monkeypatch, [None])


def test_a_first_pass_for_the_width_asked_for_gives_way_to_a_coarser_one(monkeypatch):
    quarter = Fraction(1, 4)
    found, made = attempts(monkeypatch, [None, (quarter, 1)], spread=True)
    assert (found.engine, made) == ("2", [0.3, 0.3])
    with pytest.raises(Unsupported):
        attempts(monkeypatch, [None, None], spread=True)


@pytest.mark.parametrize("rel", [1e-2, 1e-6])
@pytest.mark.parametrize("n", [3, 500])
def test_the_smoothed_line_is_as_wide_and_as_long_as_told(rel, n):
    """Half of rel is the gap (tau c)^2; the last node is the first at which exp(-(tau t)^2/2) is below e^-46 rel."""
    plan = saddle.choose(TILT, n, rel=rel)
    assert plan.lattice is None and plan.end == plan.step * plan.nodes
    assert (plan.tau * plan.c) ** 2 == pytest.approx(rel / 2, rel=1e-12)
    quiet = 46 - math.log(rel)
    assert (plan.tau * plan.end) ** 2 / 2 >= quiet > (plan.tau * (plan.end - plan.step)) ** 2 / 2
    c = saddle.saddle_point(TILT, n)
    assert plan.c == c
    assert plan.step == pytest.approx(2 * math.pi / saddle._reach(TILT, n, c, plan.tau, quiet))


def test_a_lattice_is_used_where_its_period_is_the_shorter_line():
    """Half a period is pi/g: as long as the smoothed line it is taken, longer it is not."""
    rel, n = 1e-4, 20
    smooth = saddle.choose(TILT, n, rel=rel)
    length = math.sqrt(2 * (46 - math.log(rel))) / smooth.tau
    for share, used in ((1.001, True), (0.999, False)):
        spacing = Fraction(math.pi / length * share)
        plan = saddle.choose(TILT, n, rel=rel, lattice=spacing)
        assert (plan.lattice is not None) == used
    lattice = Fraction(1, 2)
    plan = saddle.choose(TILT, n, rel=rel, lattice=lattice)
    assert (plan.tau, plan.lattice, plan.c) == (0.0, lattice, saddle.saddle_point(TILT, n, lattice))
    assert plan.step * plan.nodes == pytest.approx(2 * math.pi, rel=1e-14)
    reach = saddle._reach(TILT, n, plan.c, 0.0, 46 - math.log(rel))
    assert plan.nodes - 1 < reach / float(lattice) / 2 <= plan.nodes


def test_what_counts_as_negligible():
    assert math.exp(-saddle.QUIET) == pytest.approx(1e-20, rel=0.1)
    assert float(np.finfo(float).eps) / 2 == saddle.UNIT
