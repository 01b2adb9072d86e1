"""Sums told apart by their jumps: every error term of the bracket is seen to be needed."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction as F

import flint
import pytest

from symshuffle.choices import Rigour
from symshuffle.continuous_law import ContinuousLaw, Piece
from symshuffle.engines import bromwich, bromwich_plan, jumps
from symshuffle.engines.bromwich import Bromwich
from symshuffle.engines.waves import waves
from symshuffle.numbers import Ball, to_arb, working_precision
from symshuffle.vectors import BlanketMixedGaussian
from symshuffle.vectors.accounting import pair_delta
from symshuffle.vectors.pairs import worst_pair

N = 20
ERROR = 1e-6


@pytest.fixture(scope="module")
def law():
    """G = e^u - 3 with u normal, cut at 4: its upper tail is that of a log-normal law."""
    with working_precision(128):
        mass = 1 - (4 / flint.arb(2).sqrt()).erfc()
        piece = Piece(F(-4), F(4), lambda u: u.exp() - 3, lambda u: (-u * u / 2).exp() / (2 * flint.arb.pi()).sqrt())
        return ContinuousLaw((piece,), Ball.from_arb(1 - mass, 128))


@pytest.fixture(scope="module")
def truth(law):
    return Bromwich(1e-8, Rigour.FLOAT64).bracket(law, N)


def cut_at(law, threshold, most=2):
    calm, high = jumps._cut(law.pieces, threshold)
    return jumps.Split(replace(law, pieces=tuple(calm)), tuple(high), most)


def bracket(law, threshold, error=ERROR):
    return jumps.bracket(law, cut_at(law, threshold), N, rigour=Rigour.BALL, error=error, bits=160)


def misses(found, truth):
    return found.upper < truth.lower or found.lower > truth.upper


def test_a_threshold_in_the_tail_gives_a_true_bracket(law, truth):
    found = bracket(law, 45)
    assert found.lower < truth.lower
    assert truth.upper < found.upper < truth.upper * F(1001, 1000)


def test_sums_of_two_jumps_are_needed(law, truth, monkeypatch):
    assert not misses(bracket(law, 20), truth)
    monkeypatch.setattr(jumps, "_several", lambda *_: flint.arb(0))
    assert misses(bracket(law, 20), truth)


def test_the_bound_on_several_jumps_is_above_them_and_not_far(law):
    """Against the mean of the positive parts of all terms where two of them are jumps, by other integrals."""
    cut = cut_at(law, 3)
    with working_precision(128):
        found = float(jumps._several(cut, N))
        high = replace(law, pieces=cut.jumps, zero=Ball.from_arb(flint.arb(0)))
        mass = sum(piece.integral(lambda u: u * 0 + 1).real for piece in cut.jumps)
        mean, calm = float(high.positive_mean), float(cut.calm.positive_mean)
        p = float(mass)
    exact = mean * (1 - (1 - p) ** (N - 1)) + calm * (1 - (1 - p) ** (N - 1) - (N - 1) * p * (1 - p) ** (N - 2))
    assert exact < found < 60 * exact


def test_sums_of_one_jump_are_needed(law, truth, monkeypatch):
    monkeypatch.setattr(jumps, "_one_jump", lambda *_, **__: (flint.arb(0), flint.arb(0)))
    assert misses(bracket(law, 20), truth)


def test_what_is_next_to_nothing_still_counts(law, line):
    """With a large error allowed a bin is bounded at once, and so are sums without a jump: by Chernoff's bound."""
    cut = cut_at(law, 20)
    with working_precision(160):
        low, high = jumps._one_jump(cut.calm, cut.jumps, N, error=10.0)
        fine = ends(line)[1]
    assert low == 0
    assert fine < high < 40 * fine
    calm = jumps._without(cut.calm, N, rigour=Rigour.BALL, error=10.0, bits=160)
    narrow = Bromwich(1e-3, Rigour.FLOAT64).bracket(cut.calm, N)
    assert calm.lower == 0
    assert narrow.upper < calm.upper < 40 * narrow.upper


@pytest.fixture(scope="module")
def line(law):
    cut = cut_at(law, 20)
    return made(cut)


def made(cut, **changes):
    calm, jump = cut.calm, replace(cut.calm, pieces=cut.jumps, zero=Ball.from_arb(flint.arb(0)))
    atoms = jumps._atoms(calm.pieces, calm.zero), jumps._atoms(cut.jumps)
    plan = replace(jumps._plan(*atoms, N, 1e-9), **changes)
    with working_precision(160):
        c = to_arb(F(plan.c))
        sizes = jumps._expectation(calm, c), jumps._expectation(jump, c)
        return jumps._JumpLine.of(calm, jump, N, plan, sizes)


def ends(line):
    with working_precision(160):
        value, rest = line.value(), line.rest()
        return (value - rest - line.aliases(value + rest)) * line.scale, (value + rest) * line.scale


def test_aliases_are_needed(law, line):
    low, high = ends(line)
    for share in (0.3, 0.4):
        coarse = made(cut_at(law, 20), period=line.plan.period * share)
        with working_precision(160):
            value = coarse.value()
            over = value * coarse.scale - high
            bound = coarse.aliases(value + coarse.rest()) * coarse.scale
        assert over > 0  # without the bound the lower end would be above the truth
        assert over < bound
        assert low <= high


@pytest.mark.parametrize("side", ["right", "left"])
def test_aliases_of_either_side_are_needed(law, line, side):
    """On a line far to one side only the aliases of the other one are seen."""
    c = line.plan.c * (0.4 if side == "right" else 2.5)
    theta = {"right": 40 * c, "left": 1.02 * c}[side]
    coarse = made(cut_at(law, 20), c=c, slope=theta, period=line.plan.period * 0.25)
    _, high = ends(line)
    with working_precision(160):
        value = coarse.value()
        over = value * coarse.scale - high
        assert 0 < over < coarse.aliases(value + coarse.rest()) * coarse.scale


def test_nodes_that_are_left_out_are_bounded(line):
    """A line that stops early misses what its stretches hold."""
    few = replace(line, nodes=max(2, line.nodes // 8))
    with working_precision(160):
        off = abs(few.value() - line.value())
        assert off > line.rest()
        assert off < few.rest()
        assert few._stretches(few.nodes + 1, few.end) * few.step / flint.arb.pi() > off


def test_what_is_beyond_the_height_is_bounded(line):
    """With the height moved down to a few nodes, the bound that holds from there on is all there is."""
    few = max(2, line.nodes // 8)
    height = few * 2 * math.pi / line.plan.period
    with working_precision(160):
        c = to_arb(F(line.plan.c))
        sizes = jumps._expectation(line.calm, c), jumps._expectation(line.jump, c)
        atom = to_arb(line.calm.zero)
        still = ((atom + jumps.gauss.far(line.calm, c, height, sizes[0])) / sizes[0]).upper()
        low = replace(line, nodes=few, height=height * (1 - 1e-9), far=flint.arb(still.min(flint.arb(1))) ** (N - 1))
        off = abs(low.value() - line.value())
        assert off < low.rest()
        assert off > replace(low, far=flint.arb(0)).rest()


def test_errors_of_both_rules_are_in_the_sum(line):
    with working_precision(160):
        plain = line.value().rad()
        for k in (0, 1):
            rules = list(line.rules)
            rules[k] = replace(rules[k], error=line.totals[k] * flint.arb("1e-6"))
            wide = replace(line, rules=tuple(rules)).value().rad()
            moved = list(line.tilted)
            moved[k] = tuple(w * flint.arb("1.000001") for w in moved[k])
            assert wide > 1000 * plain
            assert abs(replace(line, tilted=tuple(moved)).value() - line.value()) < wide


def test_sums_below_a_mass_of_one_on_a_line_to_the_left(law, monkeypatch):
    """E[S_+] = E[S] + E[(-S)_+] holds on an event, with E[S] = n E[G; calm] (mass of the others)."""
    calm = cut_at(law, 20).calm
    right = Bromwich(1e-6, Rigour.FLOAT64).bracket(calm, N)

    def left(seen, n, rel):
        return bromwich_plan.choose(bromwich_plan.rough(seen.mirrored), n, 1e-9), seen.mirrored

    monkeypatch.setattr(bromwich, "plan_for", left)
    other = Bromwich(1e-6, Rigour.FLOAT64).bracket(calm, N)
    assert not misses(other, right)
    assert other.width < F(1, 10**4) * right.upper


def test_sums_of_waves_are_those_term_by_term():
    values, weights = [flint.arb(k) / 7 for k in range(-3, 5)], [flint.arb(1) / (k + 2) for k in range(8)]
    step = flint.arb("0.3")
    for count in (1, 2, 7, 16, 17):
        found = waves(values, weights, step, count)
        assert len(found) == count
        for j, sum_ in enumerate(found):
            direct = sum(
                (w * flint.acb(0, step * j * v).exp() for v, w in zip(values, weights, strict=True)), flint.acb(0)
            )
            assert sum_.overlaps(direct)
            assert sum_.real.rad() < 1e-12
    assert waves([], [], step, 3) == [flint.acb(0)] * 3


def test_one_large_value_decides_and_the_bracket_is_narrow():
    """Of gamma = 1/2 and sigma0 = 2 a line for the whole transform loses thirteen digits more than doubles have."""
    pair = worst_pair(BlanketMixedGaussian("0.5", 2), adjacency="zero-out")
    found = pair_delta(pair, 1000, F(33, 20), rel=1e-8)
    assert found.width <= F(1, 10**8) * found.upper
    assert "jumps" in found.how
    # The rest of the sum is nearly normal, around 999 E[G]: one large value on top of it.
    law = pair.law(F(33, 20), tail=F(1, 10**60), bits=512)
    with working_precision(512):
        mean, spread = -0.65 * 999, math.sqrt(999 * ((math.exp(0.25) - 1 + 1.3**2) / 2 - 0.65**2))

        def one(u):
            return flint.acb(law.pieces[0].value(u).real + mean).real

        total, width = 0.0, 1 / 256
        for k in range(int(10 / width), int(17 / width)):
            u = (k + 0.5) * width
            gap = float(one(flint.acb(u)))
            z = gap / spread
            gain = spread * (math.exp(-z * z / 2) / math.sqrt(2 * math.pi) + z * math.erfc(-z / math.sqrt(2)) / 2)
            total += gain * float(law.pieces[0].density(flint.acb(u)).real) * width
    assert abs(total / float(found.upper) - 1) < 0.02
