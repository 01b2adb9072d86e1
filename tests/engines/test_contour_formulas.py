"""Each formula of the contour in doubles: kernels, nodes, stretches, bounds, scales against independent arithmetic."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from symshuffle.engines import contour, saddle
from symshuffle.engines.characteristic import Region, form
from symshuffle.engines.contour import Contour
from symshuffle.engines.exact import Exact
from symshuffle.errors import InputError, Unsupported
from symshuffle.law import Law
from symshuffle.numbers import MOST_DOUBLINGS, Ball
from symshuffle.results import Rigour

UNIT = 2.0**-53
VALUES, WEIGHTS = (Fraction(1), Fraction(-1), Fraction(0)), (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))
LAW = Law(VALUES, WEIGHTS)
N = 5
SMOOTH = saddle.Plan(c=0.4, step=0.25, nodes=80, tau=0.3)
PERIOD = saddle.Plan(c=0.4, step=math.pi / 16, nodes=16, tau=0.0, lattice=Fraction(1))


def seen(plan):
    return form(LAW, saddle.tilt(LAW), plan, tolerance=0.0)


def ratio(plan, t):
    """M(c + it)/M(c) of the three atoms."""
    atoms = [(float(v), float(w)) for v, w in LAW.atoms()]
    moment = lambda s: mp.fsum(w * mp.exp(s * v) for v, w in atoms)  # noqa: E731
    return moment(mp.mpc(plan.c, t)) / moment(mp.mpf(plan.c))


@pytest.mark.parametrize("plan", [SMOOTH, PERIOD])
def test_kernels_are_the_transform_of_the_positive_part(plan):
    """1/s^2, or on a lattice of spacing g its sum over all periods 2 pi i/g, which mpmath adds up."""
    for t, found in zip((0.0, 0.3, 2.9), contour._kernel(plan, np.array([0.0, 0.3, 2.9])), strict=True):
        s = mp.mpc(plan.c, t)
        if plan.lattice is None:
            expected = 1 / s**2
        else:
            turn = 2j * mp.pi / float(plan.lattice)
            expected = mp.nsum(lambda m, s=s, turn=turn: 1 / (s + m * turn) ** 2, [-mp.inf, mp.inf])
        assert complex(found) == pytest.approx(complex(expected), rel=1e-9)
    halved = replace(PERIOD, lattice=Fraction(1, 2))
    s = 0.4 + 1j
    assert contour._kernel(halved, np.array([1.0]))[0] == pytest.approx((0.25 / np.sinh(0.25 * s)) ** 2)


def test_nodes_without_a_conjugate_count_half():
    """The first on any line; on a period of a lattice the last one too, which is its own conjugate."""
    indices = np.array([0, 1, 15, 16])
    assert contour._end_weights(PERIOD, indices).tolist() == [0.5, 1, 1, 0.5]
    assert contour._end_weights(replace(SMOOTH, nodes=16), indices).tolist() == [0.5, 1, 1, 1]


@pytest.mark.parametrize("plan", [SMOOTH, PERIOD])
def test_the_contributions_of_nodes_are_those_of_the_integrand(plan):
    (region,) = seen(plan).regions
    indices = np.array([0, 1, 7, 16])
    upper, lower, noise = contour._nodes(region, N, plan, indices)
    high = low = spoilt = mp.mpf(0)
    _, error = region.log_ratio(plan.step * indices)
    steep = 0 if plan.lattice is None else 4 * plan.c
    for i, off in zip(indices, error, strict=True):
        t = plan.step * float(i)
        s = mp.mpc(plan.c, t)
        factor = ratio(plan, t) ** N * mp.exp(mp.mpf(plan.tau) ** 2 * (s**2 - plan.c**2) / 2)
        kernel = 1 / s**2 if plan.lattice is None else (mp.mpf("0.5") / mp.sinh(s / 2)) ** 2
        if i == 0 or (plan.lattice is not None and i == plan.nodes):
            factor /= 2
        high += (factor * kernel).real
        low += (factor * (kernel - plan.tau**2)).real
        # 36 round-offs of kernel and products and 28 of the sum; the exponent of the smoothing, of its turn, of sinh.
        rounded = (36 + 28 + steep + 2 * (plan.tau * t) ** 2 + 4 * plan.tau**2 * plan.c * t) * UNIT
        spoilt += abs(factor) * (abs(kernel) + plan.tau**2) * (N * off + rounded)
    assert upper == pytest.approx(float(high), rel=1e-12)
    assert lower == pytest.approx(float(low), rel=1e-12)
    assert noise == pytest.approx(float(spoilt), rel=1e-9, abs=0)


def test_indices_of_stretches_come_in_chunks(monkeypatch):
    monkeypatch.setattr(contour, "_CHUNK", 4)
    starts, stops = np.array([2, 10, 20]), np.array([5, 16, 21])
    chunks = [chunk.tolist() for chunk in contour._chunks(starts, stops)]
    assert chunks == [[2, 3, 4, 10], [11, 12, 13, 14], [15, 20]]
    assert list(contour._chunks(np.array([], dtype=np.int64), np.array([], dtype=np.int64))) == []


def test_stretches_are_halved_until_they_are_many_or_short():
    """Halves cover what they are halves of; a few long ones are halved on until 129 of them, or as short as 128."""
    starts, stops = contour._split(np.array([0]), np.array([129]))
    assert sorted(zip(starts.tolist(), stops.tolist(), strict=True)) == [(0, 64), (64, 129)]
    for length, pieces in ((129, 2), (256, 2), (257, 4), (512, 4), (10**6, 256)):
        starts, stops = contour._split(np.array([3]), np.array([3 + length]))
        order = np.argsort(starts)
        assert len(starts) == pieces
        assert starts[order[0]] == 3 and stops[order[-1]] == 3 + length
        assert (starts[order[1:]] == stops[order[:-1]]).all()
    assert len(contour._split(np.array([], dtype=np.int64), np.array([], dtype=np.int64))[0]) == 0
    many = np.arange(128) * 10_000
    assert len(contour._split(many, many + 9_000)[0]) == 256


def test_a_stretch_begins_as_long_as_its_bound_means_something():
    """Over it the function moves by a fifth of its largest value; a far region begins as one."""
    (region,) = seen(SMOOTH).regions
    stride = contour._stride(region, SMOOTH)
    assert (stride - 1) * region.deviation * SMOOTH.step < 0.2 <= stride * region.deviation * SMOOTH.step
    count = SMOOTH.nodes + 1
    assert contour._stride(replace(region, deviation=0.0), SMOOTH) == count
    assert contour._stride(replace(region, deviation=1e9), SMOOTH) == 1
    far = replace(region, first=11, segments=((1.0, 1.0, 1.0, 1.0),))
    assert contour._stride(far, SMOOTH) == count - 11


@pytest.mark.parametrize("plan", [SMOOTH, PERIOD])
def test_the_bound_on_a_stretch_is_above_each_node_of_it(plan):
    """The function in the middle plus the mean distance times half the width; smoothing as of the left end."""
    (region,) = seen(plan).regions
    starts, stops = np.array([0, 3, 9, 9]), np.array([1, 8, 10, 17])
    found = contour._decay(region, N, plan, starts, stops)
    mean = mp.re((ratio(plan, 1e-6) - ratio(plan, -1e-6)) / 2e-6 / 1j)
    for start, stop, bound in zip(starts, stops, found, strict=True):
        nodes = [abs(ratio(plan, plan.step * i)) ** N * math.exp(-((plan.tau * plan.step * i) ** 2) / 2)
                 for i in range(start, stop)]  # fmt: skip
        assert max(map(float, nodes)) <= math.exp(bound) * (1 + 1e-12)
        middle, radius = plan.step * (start + stop - 1) / 2, plan.step * (stop - 1 - start) / 2
        weights = [float(w) * math.exp(plan.c * float(v)) for v, w in LAW.atoms()]
        distance = sum(w * abs(float(v) - float(mean)) for w, v in zip(weights, VALUES, strict=True)) / sum(weights)
        most = min(float(abs(ratio(plan, middle))) + distance * radius, 1.0)
        expected = N * math.log(most) - (plan.tau * plan.step * start) ** 2 / 2
        assert bound == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_far_from_the_real_line_the_kernel_has_fallen():
    """There it is at most 1/t^2, and the bound is relative to 1/c^2, with the share of the smoothing on both."""
    (region,) = seen(SMOOTH).regions
    far = replace(region, segments=((0.0, 1.0, 0.0, 1.0),))
    starts, stops = np.array([20]), np.array([24])
    t, tau = 5.0, SMOOTH.tau
    fallen = math.log((1 / t**2 + tau**2) / (1 / 0.4**2 + tau**2))
    expected = contour._decay(region, N, SMOOTH, starts, stops) + fallen
    assert contour._decay(far, N, SMOOTH, starts, stops) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("plan", [SMOOTH, PERIOD])
@pytest.mark.parametrize("threshold", [1.0, 4.0, 60.0])
def test_every_node_is_evaluated_or_bounded(plan, threshold):
    """What is left out is below e^-threshold times the largest kernel each, and what is told of it is at least that."""
    (region,) = seen(plan).regions
    plan = replace(plan, nodes=plan.nodes)
    starts, stops, silent = contour._loud_stretches(region, N, plan, threshold, 10**6)
    kept = {i for a, b in zip(starts, stops, strict=True) for i in range(a, b)}
    left = [i for i in range(plan.nodes + 1) if i not in kept]
    largest = 1 / plan.c**2 + plan.tau**2
    size = [float(abs(ratio(plan, plan.step * i)) ** N) * math.exp(-((plan.tau * plan.step * i) ** 2) / 2)
            for i in left]  # fmt: skip
    assert sum(size) * largest <= silent <= len(left) * largest * math.exp(-threshold)
    assert all(x <= math.exp(-threshold) for x in size)


def test_long_stretches_are_split_and_short_ones_kept(monkeypatch):
    (region,) = seen(SMOOTH).regions
    plan, monkeypatch_value = replace(SMOOTH, nodes=1000, step=0.001), 8
    region = replace(region, last=1000, deviation=0.0)  # one stretch to begin with
    monkeypatch.setattr(contour, "_SHORT", monkeypatch_value)
    starts, stops, silent = contour._loud_stretches(region, N, plan, 60.0, 10**4)
    assert silent == 0 and int((stops - starts).sum()) == 1001 and int((stops - starts).max()) <= 8
    with pytest.raises(Unsupported, match="over 124 nodes"):  # an eighth of what is split already
        contour._loud_stretches(region, N, plan, 60.0, 124)
    with pytest.raises(Unsupported, match="over 1000 nodes"):
        contour._loud_stretches(region, N, plan, 60.0, 1000)
    assert len(contour._loud_stretches(region, N, plan, 60.0, 1001)[0])
    monkeypatch.setattr(contour, "_MOST_STRETCHES", 1)
    wild = replace(region, deviation=0.2 / (0.001 * 334))  # three stretches of 334
    with pytest.raises(Unsupported, match="2 stretches"):
        contour._loud_stretches(wild, N, plan, 60.0, 10**4)
    monkeypatch.setattr(contour, "_MOST_STRETCHES", 2)
    assert len(contour._loud_stretches(wild, N, plan, 60.0, 10**4)[0])
    monkeypatch.setattr(contour, "_MOST_STRETCHES", 1)
    assert len(contour._loud_stretches(replace(wild, first=400), N, plan, 60.0, 10**4)[0])  # 601 nodes are one


def test_stretches_are_looked_at_in_chunks(monkeypatch):
    (region,) = seen(SMOOTH).regions
    whole = contour._loud_stretches(region, N, SMOOTH, 4.0, 10**4)
    monkeypatch.setattr(contour, "_CHUNK", 3)
    parts = contour._loud_stretches(region, N, SMOOTH, 4.0, 10**4)
    assert sorted(parts[0].tolist()) == sorted(whole[0].tolist()) and sorted(parts[1]) == sorted(whole[1])
    assert parts[2] == pytest.approx(whole[2], rel=1e-12)
    one_by_one = replace(region, deviation=1e9)
    for last in range(9, 14):  # also where a chunk holds a single node
        starts, stops, _ = contour._loud_stretches(replace(one_by_one, last=last), N, SMOOTH, 60.0, 10**4)
        assert sorted(starts.tolist()) == list(range(last + 1)) and (stops == starts + 1).all()


@pytest.mark.parametrize("tau", [0.1, 0.3])
def test_the_truncation_is_the_tail_of_the_smoothing(tau):
    """The integral of e^(-(tau t)^2/2) from T on is below e^(-(tau T)^2/2)/(tau^2 T), and nearly that."""
    plan = saddle.Plan(c=0.4, step=0.5, nodes=80, tau=tau)
    tail = mp.quad(lambda t: (1 / t**2 + tau**2) * mp.exp(-((tau * t) ** 2) / 2), [40, 60, 120]) / mp.pi
    bound = contour._truncation(plan)
    assert tail <= bound < (1 + 3 / (tau * 40) ** 2) * tail
    assert contour._truncation(PERIOD) == 0


def test_what_lies_beyond_a_node_is_bounded_by_an_integral():
    """From T on the ceiling times the integrals of 1/t^2 and of tau^2 e^(-(tau t)^2/2), by the step of the sum."""
    (region,) = seen(SMOOTH).regions
    far = replace(region, first=21, tilted=region.tilted / 2, segments=((0.0, 1.0, 0.0, 1.0),))
    start, tau = 5.0, SMOOTH.tau
    expected = 0.5**N * (1 / start + tau * math.sqrt(math.pi / 2)) / 0.25
    assert contour._beyond(far, N, SMOOTH) == pytest.approx(expected, rel=1e-9)
    t = 0.25 * np.arange(21, 4000)
    assert 0.5**N * float((1 / t**2 + tau**2 * np.exp(-((tau * t) ** 2) / 2)).sum()) <= expected
    assert contour._beyond(replace(far, first=1), N, SMOOTH) == math.inf
    assert contour._beyond(replace(far, first=2), N, SMOOTH) < math.inf


def test_thresholds_leave_room_for_a_whole_line_of_silent_nodes(monkeypatch):
    """e^7 below rel over the length of the line in standard deviations; a lattice's integral falls like e^(-cg)."""
    for plan, lattice in ((SMOOTH, 0.0), (PERIOD, 0.4)):
        given = []
        plain = contour._loud_stretches
        monkeypatch.setattr(
            contour, "_loud_stretches", lambda *a, plain=plain, given=given: given.append(a) or plain(*a)
        )
        contour._trapezoid(seen(plan), N, plan, 10**5, 0.01)
        monkeypatch.undo()
        deviation = seen(plan).regions[0].deviation
        expected = 7 - math.log(0.01) + math.log(1 + plan.end * math.sqrt(N) * deviation) + lattice
        assert given[0][3] == pytest.approx(expected, rel=1e-12)


def test_scaled_numbers_are_products_beyond_the_doubles():
    for value, log in ((0.75, 3.0), (-0.3, -5000.0), (1.5, 1e5), (2.0, -700.5)):
        with mp.workdps(30):
            expected = mp.mpf(value) * mp.exp(mp.mpf(log))
            found = contour._scaled(value, log, up=True)
            assert abs(mp.mpf(found.numerator) / found.denominator / expected - 1) < 1e-13 + 4e-16 * abs(log)
    below = -(MOST_DOUBLINGS + 702) * math.log(2)
    tiny = Fraction(1, 2**MOST_DOUBLINGS)
    assert contour._scaled(0.5, below, up=True) == tiny and contour._scaled(-0.5, below, up=False) == -tiny
    assert contour._scaled(-0.5, below, up=True) == 0 == contour._scaled(0.5, below, up=False)
    assert contour._scaled(0.0, below, up=True) == 0 == contour._scaled(0.0, below, up=False)


def test_what_the_smoothing_adds_at_zero():
    """tau/sqrt(2 pi) times the chance that all copies are 0, to 100 digits; nothing far below the scale."""
    plan = replace(SMOOTH, tau=0.3)
    with mp.workdps(40):
        there = mp.mpf(0.3) / mp.sqrt(2 * mp.pi) * mp.mpf("0.25") ** N
        found = contour._stuck(LAW, N, plan, 0.0)
        assert 0 < 1 - mp.mpf(found.numerator) / found.denominator / there < 1e-30 or found > 0
        assert abs(mp.mpf(found.numerator) / found.denominator / there - 1) < 1e-15
        assert mp.mpf(found.numerator) / found.denominator <= there
    assert contour._stuck(LAW, N, PERIOD, 0.0) == 0
    assert contour._stuck(Law((Fraction(1), Fraction(-1)), (Fraction(1, 2),) * 2), N, plan, 0.0) == 0
    edge = N * math.log(0.25)
    assert contour._stuck(LAW, N, plan, edge + 699) > 0
    assert contour._stuck(LAW, N, plan, edge + 701) == 0
    near = Law((Ball(Fraction(-1, 10), Fraction(1, 10)), Fraction(1)), (Fraction(1, 2),) * 2)
    assert contour._stuck(near, N, plan, 0.0) == 0  # a ball around 0 need not be 0


def test_the_scale_is_off_by_n_cumulants_and_by_its_own_digits():
    tilt = saddle.tilt(LAW)
    assert contour._scale_noise(tilt, 7, 0.4, -3.0) == pytest.approx(12 * UNIT * (7 * tilt.noise(0.4) + 3 + 16), abs=0)


def test_offers_end_at_the_round_off_of_doubles():
    assert Contour.offered(LAW, None, UNIT) == Contour(rel=UNIT) == Contour.offered(LAW, Rigour.FLOAT64, UNIT)
    assert Contour.offered(LAW, None, UNIT * 0.99) is None
    assert Contour.offered(LAW, Rigour.BALL, 1e-3) is None and Contour.offered(LAW, Rigour.EXACT, 1e-3) is None
    assert {engine.largest for engine in Contour.trials(LAW)} == {8_000_000 // 3}
    assert {engine.largest for engine in Contour.trials(None)} == {8_000_000 // 16}
    assert Contour().refusal(LAW, 10**9) is None


@pytest.mark.parametrize("rel", [0.0, 1.0, -1.0, math.nan])
def test_widths_are_in_the_open_unit_interval(rel):
    with pytest.raises(InputError, match="rel"):
        Contour(rel=rel)


def test_a_law_that_doubles_round_to_zero_or_below():
    """The atoms are read off their ends: what is above 0 counts, what is not does not."""
    tiny = Fraction(1, 10**400)
    law = Law((tiny, Fraction(-1)), (Fraction(1, 2), Fraction(1, 2)), Fraction(1, 8))
    found = Contour().bracket(law, 3)
    assert (found.lower, found.upper) == (Fraction(1, 8), Fraction(1, 8) + tiny)
    never = Contour().bracket(Law((Fraction(-1), Fraction(0)), (Fraction(1, 2), Fraction(1, 2)), Fraction(1, 8)), 3)
    assert never.lower == never.upper == Fraction(1, 8) and never.rigour is Rigour.FLOAT64


def test_singular_mass_and_mean_bound_a_coarse_bracket():
    """Nothing pulls the lower end below E[G], nor below the singular part."""
    law = Law((Fraction(2), Fraction(-1)), (Fraction(9, 10), Fraction(1, 10)), Fraction(1, 3))
    found = Contour(rel=0.9).bracket(law, 40)
    truth = Exact().bracket(law, 40).exact
    assert found.lower <= truth <= found.upper and found.lower >= law.mean + Fraction(1, 3)
    fine = Contour(rel=1e-6).bracket(law, 4)
    assert fine.lower <= Exact().bracket(law, 4).exact <= fine.upper < fine.lower * (1 + Fraction(1, 10**5))
    rare = Law((Fraction(1), Fraction(-3)), (Fraction(1, 5), Fraction(4, 5)), Fraction(1, 3))
    assert Contour(rel=0.99).bracket(rare, 60).lower >= Fraction(1, 3)


def test_too_many_nodes_are_refused_and_just_enough_are_not(monkeypatch):
    plan = replace(SMOOTH, nodes=50)
    whole = contour._trapezoid(seen(plan), N, plan, 51, 1e-300)
    assert whole.evaluated == 51 and whole.silent == 0
    with pytest.raises(Unsupported, match="nodes"):
        contour._trapezoid(seen(plan), N, plan, 50, 1e-300)
    monkeypatch.setattr(contour, "_PRICIEST", 3 * 51)
    assert contour._trapezoid(seen(plan), N, plan, 100, 1e-300).evaluated == 51
    monkeypatch.setattr(contour, "_PRICIEST", 3 * 51 - 1)
    with pytest.raises(Unsupported, match="51 nodes of 3 atoms"):
        contour._trapezoid(seen(plan), N, plan, 100, 1e-300)


@pytest.mark.parametrize("plan", [SMOOTH, PERIOD])
def test_the_trapezoid_sum_is_that_of_its_nodes(plan):
    """step/pi times the sum over half the line, and of the noise and the silent nodes alike."""
    form_of = seen(plan)
    found = contour._trapezoid(form_of, N, plan, 10**5, 1e-300)
    upper, lower, noise = contour._nodes(form_of.regions[0], N, plan, np.arange(plan.nodes + 1))
    share = plan.step / math.pi
    assert (found.upper, found.lower) == pytest.approx((upper * share, lower * share), rel=1e-12)
    assert found.rounding == pytest.approx(noise * share, rel=1e-9, abs=0)
    few = contour._trapezoid(form_of, N, plan, 10**5, 0.5)
    region = form_of.regions[0]
    threshold = 7 - math.log(0.5) + math.log1p(plan.end * math.sqrt(N) * region.deviation)
    threshold += 0 if plan.lattice is None else plan.c
    starts, stops, silent = contour._loud_stretches(region, N, plan, threshold, 10**5)
    assert few.silent == pytest.approx(silent * share, rel=1e-12, abs=0)
    assert few.evaluated == int((stops - starts).sum())


def test_a_far_region_is_bounded_at_once_where_that_is_next_to_nothing(monkeypatch):
    (region,) = seen(SMOOTH).regions
    near, far = replace(region, last=40), replace(region, first=41, segments=((0.0, 1.0, 0.0, 1.0),))
    both = replace(seen(SMOOTH), regions=(near, far))
    whole = abs(contour._nodes(near, N, SMOOTH, np.arange(41))[0])
    for share, closed in ((0.999, True), (1.0, False), (1.001, False)):
        monkeypatch.setattr(contour, "_beyond", lambda *_, share=share: share * (1e-9 / 1000 * whole))
        found = contour._trapezoid(both, N, SMOOTH, 10**5, 1e-9)
        assert (found.evaluated <= 41) == closed or found.silent > 0
        if closed:
            near_alone = contour._trapezoid(replace(both, regions=(near,)), N, SMOOTH, 10**5, 1e-9)
            extra = found.silent - near_alone.silent
            assert extra == pytest.approx(share * whole * 1e-12 * SMOOTH.step / math.pi, rel=1e-6, abs=0)
        else:
            assert found.upper != contour._trapezoid(replace(both, regions=(near,)), N, SMOOTH, 10**5, 1e-9).upper


def test_radii_that_take_the_width_end_the_passes(monkeypatch):
    """Where the balls alone are wider than asked no finer pass follows: its cost is infinite."""

    def attempt(radius, rel=1e-3):
        law = Law((Ball(1 - radius, 1 + radius), Fraction(-1)), (Fraction(1, 2),) * 2)
        return Contour(rel=rel)._attempt(law, 4, saddle.tilt(law), rel)

    bracket, cost = attempt(Fraction(1, 10))
    assert cost == math.inf and bracket.width > Fraction(1, 10)
    assert attempt(Fraction(1, 10**9))[1] < 10**6


def test_regions_know_whether_they_are_far():
    (region,) = seen(SMOOTH).regions
    assert not region.far and replace(region, segments=((0.0, 1.0, 0.0, 1.0),)).far
    assert isinstance(region, Region)
