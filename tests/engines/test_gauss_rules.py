"""Rules of Gauss and bounds far up the line: what they are bounds on, and how much work they take."""

from collections import Counter
from fractions import Fraction as F

import flint
import pytest

from symshuffle import continuous_law
from symshuffle.continuous_law import ContinuousLaw, Piece
from symshuffle.engines import gauss
from symshuffle.numbers import Ball, Exp, to_arb, working_precision
from symshuffle.vectors.mechanisms import BlanketMixedGaussian
from symshuffle.vectors.pairs import worst_pair

RATIO = Exp(F(89, 4_000_000))


def fresh_pair():
    return worst_pair(BlanketMixedGaussian("0.95", "4.6"), adjacency="zero-out")


def counted(monkeypatch, module, name):
    """Counts the calls of a function."""
    calls, plain = [], getattr(module, name)

    def function(*given, **named):
        calls.append(named)
        return plain(*given, **named)

    monkeypatch.setattr(module, name, function)
    return calls


def test_masses_are_integrated_once_for_all_levels_and_both_orders(monkeypatch):
    """A level may look at windows that another did not: three masses of each, once, whoever asks."""
    pair = fresh_pair()
    alone = fresh_pair().law(Exp(F(1)), tail=F(1, 10**9))
    plain, asked = continuous_law._integral, Counter()

    def counted_by_window(function, low, high):
        asked[low, high] += 1
        return plain(function, low, high)

    monkeypatch.setattr(continuous_law, "_integral", counted_by_window)
    pair.law(RATIO, tail=F(1, 10**9))
    first = len(asked)
    known = pair.law(Exp(F(1)), tail=F(1, 10**9))
    pair.reverse.law(RATIO, tail=F(1, 10**9))
    assert set(asked.values()) == {3}
    assert 0 < first <= len(asked) < 2 * first
    assert known.missing == alone.missing and known.zero.lower == alone.zero.lower and known.zero == alone.zero


def test_masses_are_known_at_the_precision_that_is_asked_for():
    """A coarse value that was kept is not taken for a fine one; nor another window, or another law, for this one."""
    pair = fresh_pair()
    coarse, fine = (pair.law(RATIO, tail=F(1, 10**9), bits=bits).zero for bits in (64, 256))
    assert fine.upper - fine.lower < F(1, 2**200) < coarse.upper - coarse.lower
    wide = pair.law(RATIO, tail=F(1, 10**30), bits=256)
    assert max(wide.missing) < F(1, 10**30) and wide.zero.upper < fine.lower


def test_one_ellipse_of_a_panel_is_covered(monkeypatch):
    """Ellipses are ranked by a few points of each; the one that was best is covered, and another where it fails."""
    with working_precision(160):
        law = fresh_pair().law(RATIO, tail=F(1, 10**13), bits=160)
        panels = [panel for piece in law.pieces for panel in gauss._panels(piece)]
        arcs, boxes = (counted(monkeypatch, gauss, name) for name in ("_on_ellipse", "_analytic"))
        found = gauss.rule(law, flint.arb(4), height=20.0, tolerance=1e-8)
    covered = [named for named in arcs if "points" not in named]
    assert 0 < len(boxes) <= len(covered) <= len(panels)
    assert len(found.values) <= 160


def even(width=F(1), density=lambda u: u * 0 + flint.arb(1) / 2):
    """The value u with a density on an interval."""
    return ContinuousLaw((Piece(-width, width, lambda u: u, density),), Ball(F(0), F(0)))


@pytest.mark.parametrize("near", [F(1, 20), F(1, 5)])
def test_a_pole_beside_a_panel_is_seen(near):
    """A density with a pole off the line is bounded on larger ellipses; the rule errs by no more than it says."""
    squared = to_arb(near) ** 2
    law = even(density=lambda u: 1 / (u * u + squared))
    with working_precision(128):
        rule = gauss.rule(law, flint.arb(1), height=1.0, tolerance=1e-4)
        found = sum((w * v.exp() for v, w in zip(rule.values, rule.weights, strict=True)), start=flint.arb(0))
        assert abs(found - gauss.expectation(law, flint.arb(1))) < rule.error < 1e-4


@pytest.mark.parametrize("allowed", [1e-3, 1e-7, 1e-12])
def test_the_error_of_an_order_is_that_of_the_ellipse_below_a_pole(allowed):
    """A pole between the ellipses of sizes 1.7 and 2.5: the rule errs by about 2.08 to the power of -2m."""
    with working_precision(128):
        squared = to_arb(F(4, 5)) ** 2
        piece = Piece(F(-1), F(1), lambda u: u * 0, lambda u: 1 / (u * u + squared))
        order, error = gauss.order_for(piece, F(-1), F(1), flint.arb(0), flint.arb(0), allowed)
        nodes = gauss.gauss(order, 128)
        found = sum((w / (x * x + squared) for x, w in nodes), start=flint.arb(0))
        off = abs(found - 2 * (1 / squared.sqrt()).atan() / squared.sqrt())
    assert off < error < allowed and error < off * 2**order * 10


@pytest.mark.parametrize("size", [1.7, 6.5])
def test_chebyshev_polynomials_are_what_the_bound_is_made_for(size):
    """The first even one that a rule gets wrong is off by a good part of what its size on an ellipse lets it be."""
    with working_precision(128):
        rho = to_arb(F(size))
        order, error = gauss._least_order((rho**24 + rho**-24) / 2, F(-1), F(1), size, 1e9)
        found = sum((w * (24 * x.acos()).cos() for x, w in gauss.gauss(order, 128)), start=flint.arb(0))
        off = abs(found - flint.arb(2) / (1 - 24**2))
    assert order == 12 and off < error < 8 * off


@pytest.mark.parametrize("size", [1.3, 1.7])
def test_the_error_of_an_order_is_that_of_all_polynomials_beyond_it(size):
    """A Chebyshev polynomial is off by at most 4 half lengths, its coefficient by at most twice the bound on it."""
    with working_precision(128):
        rho = to_arb(F(size))
        order, error = gauss._least_order(flint.arb(1), F(-3), F(1), size, 1e9)
        series = sum((2 * 4 * 2 * rho ** (-2 * k) for k in range(order, order + 400)), start=flint.arb(0))
        assert abs(error / series - 1) < 1e-12
