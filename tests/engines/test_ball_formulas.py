"""The contour in balls, formula by formula, against doubles of the definitions: nodes, rests, tails and offers."""

from __future__ import annotations

import cmath
import math
from dataclasses import replace
from fractions import Fraction as F
from types import SimpleNamespace

import flint
import pytest

from symshuffle.engines import ball, saddle
from symshuffle.engines.ball import BallContour
from symshuffle.engines.exact import Exact
from symshuffle.engines.segments import dyadic
from symshuffle.errors import InputError, NotDecided, Unsupported
from symshuffle.law import Law
from symshuffle.numbers import working_precision
from symshuffle.results import Rigour

LAW = Law((F(1), F(-1), F(0)), (F(1, 4), F(1, 2), F(1, 4)))
ATOMS = [(float(v), float(w)) for v, w in LAW.atoms()]
N = 5
SMOOTH = saddle.Plan(c=0.4, step=0.25, nodes=80, tau=0.3)
PERIOD = saddle.Plan(c=0.4, step=math.pi / 16, nodes=16, tau=0.0, lattice=F(1))


def line(plan=SMOOTH, n=N, law=LAW):
    with working_precision(128):
        return ball._Line.of(law, n, plan, 1e-3)


def moment(s):
    return sum(w * cmath.exp(s * v) for v, w in ATOMS)


def near(found, expected, rel=1e-9):
    return math.isclose(float(found.mid() if hasattr(found, "mid") else found), expected, rel_tol=rel)


def test_the_line_of_a_plan():
    one, half = line(), line(replace(PERIOD, lattice=F(1, 2), nodes=8))
    assert near(one.log_scale, N * math.log(moment(0.4).real) + (0.3 * 0.4) ** 2 / 2)
    assert near(one.total, moment(0.4).real) and near(one.zero, 0.25) and one.error == 0
    assert [float(w) for w in one.tilted] == pytest.approx([w * math.exp(0.4 * v) / moment(0.4).real for v, w in ATOMS])
    assert near(one.step, 0.25) and near(half.step, math.pi * 2 / 8)
    assert near(one.cumulant(flint.arb("0.7")), math.log(moment(0.7).real))
    assert one.waves == 3 + 8
    parts = SimpleNamespace(transforms=(None, None))
    assert replace(one, rule=parts).waves == 2 * 16 + 8
    assert replace(one, rule=SimpleNamespace(transforms=()), values=one.values * 9).waves == 27 + 8


@pytest.mark.parametrize("plan", [SMOOTH, PERIOD])
def test_nodes_are_those_of_the_integrand(plan):
    one = line(plan)
    for i in (0, 1, 7, 16):
        t = plan.step * i
        s = complex(plan.c, t)
        ratio = moment(s) / moment(plan.c)
        factor = ratio**N * cmath.exp(plan.tau**2 * (s * s - plan.c**2) / 2)
        kernel = 1 / s**2 if plan.lattice is None else (0.5 / cmath.sinh(s / 2)) ** 2
        end = 0.5 if i == 0 or (i == 16 and plan.lattice is not None) else 1.0
        with working_precision(128):
            upper, lower = one.node(i)
            found = one.ratio(i)
        assert float(upper) == pytest.approx(end * (factor * kernel).real, rel=1e-9, abs=1e-14)
        assert float(lower) == pytest.approx(end * (factor * (kernel - plan.tau**2)).real, rel=1e-9, abs=1e-14)
        assert complex(float(found.real), float(found.imag)) == pytest.approx(ratio, abs=1e-12)
    with working_precision(128):
        wide = replace(one, error=flint.arb("1e-3")).ratio(3)
    assert near(wide.real.rad(), 1e-3, 1e-6) and near(wide.imag.rad(), 1e-3, 1e-6)


def test_the_threshold_of_silence_leaves_room_for_the_whole_line():
    assert line().silence(2.5, 1e-3) == pytest.approx(46 - math.log(1e-3) + math.log(1 + 20 * 2.5) + 6)


@pytest.mark.parametrize("error", ["0", "0.125"])
def test_the_truncation_is_the_tail_of_the_smoothing_and_of_the_error(error):
    """(1/T^2 + tau^2) e^(-(tau T)^2/2)/(tau^2 T pi) times (1 + error)^n."""
    tau, end = 0.3, 20.0
    expected = (1 / end**2 + tau**2) * math.exp(-((tau * end) ** 2) / 2) / (tau**2 * end) / math.pi
    with working_precision(128):
        found = replace(line(), error=flint.arb(error)).truncation()
    assert near(found, expected * (1 + float(error)) ** N)
    assert line(PERIOD).truncation() == 0


def test_what_is_stuck_at_zero():
    """tau/sqrt(2 pi) P(all 0), over e^scale; nothing on a lattice, nor without an atom at 0."""
    one = line()
    with working_precision(128):
        assert near(one.stuck(), 0.3 / math.sqrt(2 * math.pi) * 0.25**N / math.exp(float(one.log_scale)))
        assert line(PERIOD).stuck() == 0
        assert line(law=Law((F(1), F(-1)), (F(1, 3), F(2, 3)))).stuck() == 0


def far_line():
    """Of the three atoms the first two stay, and a segment is at most 0.7/t."""
    rule = SimpleNamespace(atoms=2, last=8, decay=lambda c: flint.arb("0.7"), transforms=())
    return replace(line(), rule=rule)


def test_far_from_the_real_line_atoms_are_in_phase_and_segments_decay():
    one, total = far_line(), moment(0.4).real
    atoms = (0.25 * math.exp(0.4) + 0.5 * math.exp(-0.4)) / total
    with working_precision(128):
        assert near(one.far(10), atoms + 0.7 / (2.5 * total))
        t = 2.5
        fading = math.log((1 / t**2 + 0.09) / (1 / 0.16 + 0.09)) - 0.09 * t**2 / 2
        assert near(one.fading(10), fading)
        expected = (atoms + 0.7 / (2.5 * total)) ** N * (1 / t + 0.3 * math.sqrt(math.pi / 2)) / math.pi
        assert near(one.beyond(10), expected)


@pytest.mark.parametrize("error", [0.0, 0.01])
def test_the_deviation_is_the_root_of_the_second_difference(error):
    """x^2 <= 2 (cosh(hx) - 1)/h^2 with h a quarter of the inverse of the largest value; errors count on either side."""
    one, middle = line(), -0.2
    with working_precision(128):
        found = float(replace(one, error=flint.arb(error)).deviation(flint.arb(middle)))
    total = moment(0.4).real
    both = sum(w * math.exp(0.4 * v) / total * 2 * math.cosh((v - middle) / 4) for v, w in ATOMS)
    assert found == pytest.approx(math.sqrt((1 + error) * (both - 2 * (1 - error)) * 16), rel=1e-6)
    distance = sum(w * math.exp(0.4 * v) / total * abs(v - middle) for v, w in ATOMS)
    assert distance <= found


@pytest.mark.parametrize("error", ["0", "0.125"])
def test_the_aliases_are_chernoffs_series_on_either_side(monkeypatch, error):
    """X/2 q/(1 - q)^2, and of each side the better slope: e^(growth - a d)/(1 - e^(-a d)) over c e."""
    c, tau, n, plan = 0.4, 0.5, 4, saddle.Plan(c=0.4, step=2.0, nodes=4, tau=0.5)
    monkeypatch.setattr(saddle, "tail_slopes", lambda *_: [0.7, 1.1])
    reach = math.pi
    q = math.exp(-c * reach / 2)
    expected = reach / 2 * q / (1 - q) ** 2
    for sign, distance in ((-1, reach / 2), (1, reach)):
        tails = []
        for slope in (0.7, 1.1):
            theta = c + sign * slope
            mean = (moment(theta).real / moment(c).real) ** n * math.exp(tau**2 * (theta**2 - c**2) / 2)
            x = math.exp(-slope * distance)
            tails.append(mean * x / (1 - x))
        expected += min(tails) / (c * math.e)
    with working_precision(128):
        found = replace(line(plan, n), error=flint.arb(error)).aliasing(saddle.tilt(LAW))
        assert near(found, expected * (1 + float(error)) ** n, 1e-7)
        monkeypatch.setattr(saddle, "tail_slopes", lambda *_: [0.0])
        with pytest.raises(NotDecided, match="raise bits"):
            line(plan, n).aliasing(saddle.tilt(LAW))


@pytest.mark.parametrize("plan", [SMOOTH, PERIOD])
@pytest.mark.parametrize("threshold", [60.0, 2.0])
def test_the_sums_are_those_of_their_nodes_and_a_rest_for_each_silent_one(monkeypatch, plan, threshold):
    """A silent node adds at most e^-threshold (1/c^2 + tau^2); half a line's sum is weighed with step/pi."""
    monkeypatch.setattr(ball._Line, "silence", lambda *_: threshold)
    monkeypatch.setattr(ball, "_SHORT", 2)
    one, last = line(plan), plan.nodes
    with working_precision(128):
        upper, lower, nodes, stretches = ball._sums(one, saddle.tilt(LAW), 10**5, 1e-3)
        loud, silent = ball._stretches(one, saddle.tilt(LAW), threshold, last + 1, 10**5)
        high, low, count = ball._evaluated(one, loud)
        weight = float(one.step) / math.pi
        rest = (last + 1 - count) * math.exp(-threshold) * (1 / plan.c**2 + plan.tau**2) * weight
    assert (nodes, stretches) == (count, silent)
    assert float(upper) == pytest.approx(float(high) * weight + rest, rel=1e-12)
    assert float(lower) == pytest.approx(float(low) * weight - rest, rel=1e-12)
    assert (count == last + 1) == (threshold == 60.0)
    every = [one.node(i) for i in range(last + 1)]
    assert float(lower) <= float(sum(x for _, x in every)) * weight * (1 + 1e-12)
    assert float(upper) >= float(sum(x for x, _ in every)) * weight * (1 - 1e-12)


def test_stretches_begin_as_long_as_the_function_moves_little(monkeypatch):
    """Over 0.3 of the mean distance; with no distance at all the whole line is one stretch."""
    one = line()
    monkeypatch.setattr(ball, "_SHORT", 200)
    with working_precision(128):
        loud, silent = ball._stretches(one, saddle.tilt(LAW), 10**4, 81, 10**5)
    shares = [w * math.exp(0.4 * v) / moment(0.4).real for v, w in ATOMS]
    mean = sum(v * w for (v, _), w in zip(ATOMS, shares, strict=True))
    distance = sum(abs(v - mean) * w for (v, _), w in zip(ATOMS, shares, strict=True))
    width = math.ceil(0.3 / (distance * 0.25))
    assert silent == 0 and loud == [(i, min(i + width, 81)) for i in range(0, 81, width)]
    still = Law((F(1),), (F(1),))
    with working_precision(128):
        assert ball._stretches(line(law=still), saddle.tilt(still), 10**4, 81, 10**5) == ([(0, 81)], 0)


def test_too_many_stretches_are_refused(monkeypatch):
    one, tilt = line(), saddle.tilt(LAW)
    with working_precision(128):
        width = len(range(81)) // len(ball._stretches(one, tilt, 10**4, 81, 10**5)[0]) + 1
        with pytest.raises(Unsupported, match="stretches of 11 waves"):
            ball._stretches(one, tilt, 10**4, 81, 81 // width - 1)
        loud, silent = ball._stretches(one, tilt, 10**4, 81, 10**5)
        most = len(loud) * ball._SHORT + silent
        assert ball._stretches(one, tilt, 10**4, 81, most)[0] == loud
        with pytest.raises(Unsupported, match="evaluations of 11 waves"):
            ball._stretches(one, tilt, 10**4, 81, most - 1)


@pytest.mark.parametrize("n", [3, 7])
@pytest.mark.parametrize("law", [LAW, Law((F(2, 3), F(-1, 7), F(0)), (F(1, 4), F(1, 2), F(1, 4)), F(1, 5))])
def test_the_bracket_is_narrow_around_the_exact_value(law, n):
    truth = Exact().bracket(law, n).exact
    found = BallContour(rel=1e-6).bracket(law, n)
    assert found.lower <= truth <= found.upper and found.width <= F(1, 10**6) * found.upper
    assert found.rigour is Rigour.BALL and found.engine == "contour"


def test_a_pass_returns_what_it_cost():
    law, tilt = LAW, saddle.tilt(LAW)
    bracket, cost = BallContour()._attempt(law, N, tilt, 1e-3)
    nodes, stretches = (int(bracket.how.split(word)[0].split()[-1]) for word in (" nodes evaluated", " stretches"))
    assert cost == (nodes + stretches) * 11


def test_a_coarse_bracket_is_never_below_the_mean_nor_the_singular_part():
    law = Law((F(2), F(-1)), (F(9, 10), F(1, 10)), F(1, 3))
    found = BallContour(rel=0.9).bracket(law, 3)
    assert found.lower >= law.mean + F(1, 3)
    never = BallContour().bracket(Law((F(-1), F(0)), (F(1, 2), F(1, 2)), F(1, 8)), 3)
    assert never.lower == never.upper == F(1, 8) and never.rigour is Rigour.BALL


def test_offers_and_refusals():
    offered = BallContour.offered
    assert offered(LAW, Rigour.BALL, 1e-3) == BallContour(rel=1e-3) == BallContour.aiming(1e-3, 64)
    assert offered(LAW, None, 1e-9) is None and offered(LAW, Rigour.FLOAT64, 1e-9) is None
    assert offered(LAW, None, 0.99e-9) == BallContour(rel=0.99e-9) == offered(LAW, Rigour.FLOAT64, 0.99e-9)
    assert offered(LAW, Rigour.EXACT, 1e-3) is None and offered(LAW, Rigour.EXACT, 1e-12) is None
    assert {engine.largest for engine in BallContour.trials(LAW)} == {160_000 // 3}
    assert {engine.largest for engine in BallContour.trials(None)} == {10_000}
    assert BallContour().refusal(LAW, 3) is None
    doubles = Law((1.0, -1.0), (0.5, 0.5))
    with pytest.raises(Unsupported, match="doubles"):
        BallContour().bracket(doubles, 3)
    for rel in (0.0, 1.0, -1.0):
        with pytest.raises(InputError, match="rel"):
            BallContour(rel=rel)


@pytest.mark.parametrize("value", [0.1, -3.0, 2.0**-1000, 1e300])
def test_doubles_are_read_as_the_rationals_they_are(value):
    with working_precision(64):
        found = dyadic(value)
        assert found.is_exact() and F(float(found)) == F(value)
