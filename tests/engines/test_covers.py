"""The coarse rule beyond the last node that is evaluated: its errors are in the bracket, and nothing else changes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F

import flint
import pytest

from symshuffle.base.choices import Rigour
from symshuffle.base.numbers import Ball, to_arb, working_precision
from symshuffle.channels.continuous_law import ContinuousLaw, Piece
from symshuffle.engines.densities import (
    bromwich_line,
    bromwich_plan,
    covers,
    gauss,
    jump_line,
    jump_plan,
    jumps,
    stretches,
)
from symshuffle.engines.densities.bromwich import Bromwich
from symshuffle.engines.densities.covers import Cover

N = 40


@pytest.fixture(scope="module")
def law():
    """G = e^u - 2 with u normal, cut at 4."""
    with working_precision(128):
        mass = 1 - (4 / flint.arb(2).sqrt()).erfc()
        piece = Piece(F(-4), F(4), lambda u: u.exp() - 2, lambda u: (-u * u / 2).exp() / (2 * flint.arb.pi()).sqrt())
        return ContinuousLaw((piece,), Ball.from_arb(1 - mass, 128))


def hand():
    """Values 1 and 3 with weights 1/4 and 1/2, and 1/4 at 0."""
    values = flint.arb(1), flint.arb(3)
    return Cover(values, (flint.arb("0.25"), flint.arb("0.5")), flint.arb("0.25"), flint.arb("0.125"))


def test_a_cover_at_a_height():
    with working_precision(100):
        t = flint.arb("0.7")
        found = hand().along(t, flint.arb(1), 1)[0]
        expected = (
            flint.arb("0.25") * flint.acb(0, t).exp() + flint.arb("0.5") * flint.acb(0, 3 * t).exp() + flint.arb("0.25")
        )
        assert abs(found - expected) < flint.arb("1e-25")


def test_a_cover_relative_to_another_number():
    half = hand().over(flint.arb(2))
    assert (half.weights, half.zero, half.values) == (
        (flint.arb("0.125"), flint.arb("0.25")),
        flint.arb("0.125"),
        hand().values,
    )
    assert half.error == flint.arb("0.0625")


def test_the_spread_of_a_cover():
    """Mean 7/4, and squares 49/64 + 9/64 + 50/64 = 108/64 of a total of 1; of a smaller total less."""
    assert float(hand().spread) == pytest.approx((108 / 64) ** 0.5, rel=1e-12)
    assert float(hand().over(flint.arb(2)).spread) == pytest.approx((108 / 64) ** 0.5 / 2, rel=1e-12)


def test_the_spread_bounds_how_fast_a_cover_moves():
    one = hand()
    with working_precision(100):
        for k in range(30):
            t, by = flint.arb(k) / 7, flint.arb("0.01")
            assert abs(one.along(t + by, by, 1)[0]) - abs(one.along(t, by, 1)[0]) < by * one.spread


def along(law, s):
    """The transform of the pieces of a law, by integrals."""
    return sum((p.integral(lambda u, p=p: (s * p.value(u)).exp()) for p in law.pieces), start=flint.acb(0))


def made(law, monkeypatch, plenty, rel=1e-6):
    monkeypatch.setattr(covers, "_PLENTY", plenty)
    with working_precision(160):
        plan, seen = bromwich_plan.plan_for(law, N, rel)
        return bromwich_line.BromwichLine.of(seen, N, plan)


def test_a_coarse_rule_is_made_where_a_fine_one_takes_many_nodes(law, monkeypatch):
    whole, both = made(law, monkeypatch, 10**9), made(law, monkeypatch, 0)
    assert whole.cover is None
    assert both.cover is not None
    assert len(both.cover.values) < len(whole.rule.values)
    assert both.step * both.nodes < to_arb(F(both.beyond[1]))


def test_it_errs_by_no_more_than_it_says(law, monkeypatch):
    line = made(law, monkeypatch, 0)
    with working_precision(160):
        for share in (0.1, 0.5, 1.0):
            t = to_arb(F(line.beyond[1] * share))
            s = flint.acb(line.c, t)
            truth = along(line.law, s) / line.total + line.zero
            assert abs(truth - line.cover.along(t, t, 1)[0]) < line.cover.error < flint.arb("0.01")
        assert abs(along(line.law, flint.acb(line.c)) / line.total + line.zero - 1) < flint.arb("1e-6")


@pytest.mark.parametrize("rigour", [Rigour.BALL, Rigour.FLOAT64])
def test_brackets_with_and_without_it_agree(law, monkeypatch, rigour):
    found = []
    for plenty in (0, 10**9):
        monkeypatch.setattr(covers, "_PLENTY", plenty)
        found.append(Bromwich(1e-7, rigour).bracket(law, N))
    one, other = found
    assert max(one.lower, other.lower) < min(one.upper, other.upper)
    assert max(one.relative_width, other.relative_width) < 1e-7


def shrunken(monkeypatch, share):
    """Coarse rules that say less than the truth by a share, and say that they may."""
    plain = covers.coarse

    def less(*given, **named):
        found = plain(*given, **named)
        lost = (found.zero + sum(found.weights, flint.arb(0))) * share
        weights = tuple(w * (1 - share) for w in found.weights)
        return Cover(found.values, weights, found.zero * (1 - share), (found.error + lost).upper())

    for module in (bromwich_line, jump_line):
        monkeypatch.setattr(module, "coarse", less)


@pytest.mark.parametrize("kept", [True, False])
def test_the_error_of_a_cover_is_needed_on_stretches(law, monkeypatch, kept):
    """At single nodes, against integrals along the line."""
    shrunken(monkeypatch, flint.arb("0.2"))
    line = made(law, monkeypatch, 0, rel=1e-3)
    line = line if kept else replace(line, cover=replace(line.cover, error=flint.arb(0)))
    with working_precision(160):
        above = []
        for node in (1, 2, 3):
            s = flint.acb(line.c, line.step * node)
            ratio = along(line.law, s) / line.total + line.zero
            part = ratio**N - line.zero**N - line.single * (ratio - line.zero)
            above.append(abs(part / s**2) < line._stretches(node, node))
    assert all(above) == kept


@pytest.mark.parametrize("together", [False, True])
def test_stretches_allow_for_their_length(law, monkeypatch, together):
    """A cosine is 0 in the middle of the stretch of nodes 2 and 3, and at neither."""
    line, halves = made(law, monkeypatch, 0), (flint.arb(1) / 2, flint.arb(1) / 2)
    wave = Cover((flint.arb(-1), flint.arb(1)), halves, flint.arb(0), flint.arb(0))
    plan = replace(line.plan, small=1e9)
    line = replace(line, n=2, plan=plan, step=flint.arb.pi() * 3 / 5, cover=wave, zero=flint.arb(0), least=1)
    monkeypatch.setattr(stretches, "_FIRST", 1 if together else 48)
    with working_precision(160):
        truth = sum((line.step * j).cos() ** 2 / (line.c**2 + (line.step * j) ** 2) for j in (2, 3))
        found = line._stretches(2, 3)
    assert truth <= found * (1 + flint.arb("1e-15"))
    assert found < 4 * truth
    assert not together or found > flint.arb("1.01") * truth


@pytest.fixture
def jumped(law, monkeypatch):
    """Sums with one jump, of a law cut in two."""

    def line(plenty):
        monkeypatch.setattr(covers, "_PLENTY", plenty)
        calm, high = jump_plan.cut_at(law.pieces, 20.0)
        rest, jump = replace(law, pieces=tuple(calm)), jumps._alone(tuple(high))
        atoms = jump_plan.atoms_of(rest.pieces, rest.zero), jump_plan.atoms_of(jump.pieces)
        with working_precision(160):
            return jump_line.JumpLine.of(rest, jump, N, jump_plan.plan_for(*atoms, N, 1e-9))

    return line


def test_lines_of_a_jump_with_and_without_it_agree(jumped):
    whole, both = jumped(10**9), jumped(0)
    assert whole.cover is None
    assert both.cover is not None
    with working_precision(160):
        (low, high), (least, most) = whole.bounds(), both.bounds()
        assert low < most
        assert least < high
        assert (most - least) / most < flint.arb("1e-3")


@pytest.mark.parametrize("kept", [True, False])
def test_the_error_of_a_cover_is_needed_with_a_jump(jumped, monkeypatch, kept):
    shrunken(monkeypatch, flint.arb("0.2"))
    line = jumped(0)
    line = line if kept else replace(line, cover=replace(line.cover, error=flint.arb(0)))

    with working_precision(160):
        above = []
        for node in (1, 2):
            s = flint.acb(line.c, line.step * node)
            truth = (along(line.calm, s) + to_arb(line.calm.zero)) ** (N - 1) * along(line.jump, s) / s**2
            above.append(abs(truth) <= line._stretches(node, node) * line.scale)
    assert all(above) == kept


def test_rules_reach_every_node_that_is_evaluated(law, monkeypatch, jumped):
    """The fine rules up to the last node, the coarse ones up to the height from which all is bounded."""
    asked, plain = [], gauss.rule

    def seen(law, c, *, height, tolerance):
        asked.append(height)
        return plain(law, c, height=height, tolerance=tolerance)

    monkeypatch.setattr(gauss, "rule", seen)
    line = made(law, monkeypatch, 0)
    assert to_arb(F(asked[0])) >= line.step * int(line.beyond[1] / float(line.step.mid()))
    assert asked[1] < asked[0]
    assert to_arb(F(asked[1])) >= line.step * line.nodes
    asked.clear()
    line = jumped(0)
    assert asked[0] > line.height
    with working_precision(160):
        assert all(to_arb(F(height)) >= line.step * line.nodes for height in asked[1:])
