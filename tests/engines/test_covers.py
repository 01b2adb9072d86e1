"""The coarse rule beyond the last node that is evaluated: its errors are in the bracket, and nothing else changes."""

# No public door shows one term alone, so that private names are called and set here.
from dataclasses import replace
from fractions import Fraction as F

import flint
import pytest

from symshuffle.base.numbers import Ball, to_arb, working_precision
from symshuffle.channels.continuous_law import ContinuousLaw, Piece
from symshuffle.engines.densities import beyond, bromwich, bromwich_plan, jump_plan, jumps
from symshuffle.engines.densities.gauss import QuadratureRule

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
    return QuadratureRule(values, (flint.arb("0.25"), flint.arb("0.5")), flint.arb("0.25"), flint.arb("0.125"))


def test_the_spread_bounds_how_fast_a_cover_moves():
    one = hand()
    with working_precision(100):
        for k in range(30):
            t, by = flint.arb(k) / 7, flint.arb("0.01")
            assert abs(one.along(t + by, by, 1)[0]) - abs(one.along(t, by, 1)[0]) < by * one.spread


def along(law, s):
    """The transform of the pieces of a law, by integrals."""
    return sum((p.integral(lambda u, p=p: (s * p.value(u)).exp()) for p in law.pieces), start=flint.acb(0))


def made(law, monkeypatch, plenty, rtol=1e-6):
    monkeypatch.setitem(beyond.coarse.__kwdefaults__, "plenty", plenty)
    with working_precision(160):
        plan, seen = bromwich_plan.plan_for(law, N, rtol)
        return bromwich.BromwichLine.of(seen, N, plan)


def test_it_errs_by_no_more_than_it_says(law, monkeypatch):
    line = made(law, monkeypatch, 0)
    with working_precision(160):
        for share in (0.1, 0.5, 1.0):
            t = to_arb(F(line.beyond[1] * share))
            s = flint.acb(line.c, t)
            truth = along(line.law, s) / line.total + line.zero
            assert abs(truth - line.cover.along(t, t, 1)[0]) < line.cover.error < flint.arb("0.01")
        assert abs(along(line.law, flint.acb(line.c)) / line.total + line.zero - 1) < flint.arb("1e-6")


def shrunken(monkeypatch, share):
    """Coarse rules that say less than the truth by a share, and say that they may."""
    plain = beyond.coarse

    def less(*given, **named):
        found = plain(*given, **named)
        lost = (found.zero + sum(found.weights, flint.arb(0))) * share
        weights = tuple(w * (1 - share) for w in found.weights)
        return QuadratureRule(found.values, weights, found.zero * (1 - share), (found.error + lost).upper())

    for module in (bromwich, jumps):
        monkeypatch.setattr(module, "coarse", less)


@pytest.mark.parametrize("kept", [True, False])
def test_the_error_of_a_cover_is_needed_on_stretches(law, monkeypatch, kept):
    """At single nodes, against integrals along the line."""
    shrunken(monkeypatch, flint.arb("0.2"))
    line = made(law, monkeypatch, 0, rtol=1e-3)
    line = line if kept else replace(line, cover=replace(line.cover, error=flint.arb(0)))
    with working_precision(160):
        above = []
        for node in (1, 2, 3):
            s = flint.acb(line.c, line.step * node)
            ratio = along(line.law, s) / line.total + line.zero
            part = ratio**N - line.zero**N - line.single * (ratio - line.zero)
            above.append(abs(part / s**2) < line._stretches(node, node))
    assert all(above) == kept


@pytest.fixture
def jumped(law, monkeypatch):
    """Sums with one jump, of a law cut in two."""

    def line(plenty):
        monkeypatch.setitem(beyond.coarse.__kwdefaults__, "plenty", plenty)
        calm, high = jump_plan.cut_at(law.pieces, 20.0)
        rest, jump = replace(law, pieces=tuple(calm)), jumps._alone(tuple(high))
        atoms = bromwich_plan.atoms_of(rest.pieces, rest.zero), bromwich_plan.atoms_of(jump.pieces)
        with working_precision(160):
            return jumps.JumpLine.of(rest, jump, N, jump_plan.jump_plan_for(*atoms, N, 1e-9))

    return line


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
