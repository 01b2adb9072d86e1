"""Statements that compare with a threshold hold only for the end that proves them, of values known by two ends."""

from dataclasses import replace
from fractions import Fraction as F
from types import SimpleNamespace

import pytest

from symshuffle import Ball, CertificateError, Exp, NotDecided
from symshuffle.base.choices import members
from symshuffle.base.numbers import enclose
from symshuffle.base.results import Bracket
from symshuffle.collect import intervals
from symshuffle.collect.intervals import Support, exact_tail, exceeds
from symshuffle.design.comparison import branch_and_bound
from symshuffle.design.comparison.matching import MatchKind
from symshuffle.design.shuffled import minorant, search
from symshuffle.design.shuffled.search import STEP, ExactTarget
from symshuffle.design.shuffled.upper import _above
from symshuffle.utility.frontiers.orbit import subset_orbit
from symshuffle.vectors.calibration.search import Calibration, calibrate
from symshuffle.vectors.privacy import conjecture
from tests.fewbits import FINE, few_bits
from tests.soundness.false_shuffled import trace_bound


def between(low, high):
    return Bracket(F(low), F(high), "ball", "given", "")


# Counts.

CHANCES = [(F(1, 2), F(1, 4)), (F(99, 100), F(1, 3)), (F(2, 3), F(1, 10**6))]
NEAR = [F(0), F(1, 10**12), F(1, 10**18), F(1, 10**40)]


@pytest.mark.parametrize("p, q", CHANCES, ids=str)
@pytest.mark.parametrize("balls", [False, True])
def test_a_tail_is_told_from_a_level_next_to_it(monkeypatch, balls, p, q):
    if balls:
        monkeypatch.setattr(intervals, "_LARGEST_EXACT", 1)
    for n, c, m in ((7, 3, 4), (30, 12, 0), (30, 29, 30), (45, 20, 45)):
        tail = exact_tail(c, m, n, p, q)
        for share in NEAR:
            for level in (tail * (1 - share), tail * (1 + share)):
                if level == tail and balls:
                    with pytest.raises(NotDecided):
                        exceeds(c, m, n, p, q, level)
                else:
                    assert exceeds(c, m, n, p, q, level) is (tail > level)


@pytest.mark.parametrize("p, q", CHANCES, ids=str)
def test_ends_of_an_interval_are_those_of_exact_tests(p, q):
    """At levels that are tails themselves, and a little beside them."""
    n = 9
    for c in (0, 3, 5, 9):
        law = Support(n, p, q)
        for m in (1, 4, 8):
            for tail in (exact_tail(c, m, n, p, q), 1 - exact_tail(c + 1, m, n, p, q)):
                for alpha in (2 * tail, 2 * tail * (1 - F(1, 10**20)), 2 * tail * (1 + F(1, 10**20))):
                    if not F(1, 10**90) < alpha < 1:
                        continue
                    low = min((k for k in range(n + 1) if exact_tail(c, k, n, p, q) > alpha / 2), default=n)
                    high = max((k for k in range(n + 1) if 1 - exact_tail(c + 1, k, n, p, q) > alpha / 2), default=0)
                    assert law.interval(c, alpha) == (min(low, high), max(low, high))


# Designs after shuffling.


def test_a_trace_is_excluded_by_the_lower_end_alone(monkeypatch):
    bound = trace_bound()
    bound.verify()
    for low, high in ((F(1, 25), F(1, 15)), (F(1, 20), F(1, 15)), (F(1, 25), F(1, 20))):
        monkeypatch.setattr(minorant, "_evaluated", lambda *_, ends=(low, high): between(*ends))
        with pytest.raises(CertificateError) as caught:
            bound.verify()
        assert caught.value.place == "cells[0].delta"
    monkeypatch.setattr(minorant, "_evaluated", lambda *_: between(F(1, 20) + F(1, 10**30), 1))
    bound.verify()


@pytest.mark.parametrize("bits", [8, 24, 128])
def test_the_ratio_of_a_trace_bound_is_above_the_level(bits):
    for order in (Exp(F(1, 3)), Exp(F(1, 10**6)), F(5, 4), F(10**9 + 1, 10**9)):
        with few_bits(bits):
            found = _above(order)
        assert found >= (order if isinstance(order, F) else enclose(order, FINE).upper)
    assert _above(F(5, 4)) == F(5, 4)


def test_a_mixture_meets_a_target_by_its_upper_end(monkeypatch):
    target = ExactTarget(4, 3, F(5, 4), F(1, 20), None)
    orbits = (subset_orbit(4, 1, F(2)),)
    for ends, met in (((0, F(1, 15)), False), ((0, F(1, 20)), True), ((F(1, 20), F(1, 19)), False)):
        monkeypatch.setattr(search, "evaluate_law", lambda *_, ends=ends, **__: between(*ends))
        assert target.meets(orbits) is met
        assert target.bound(orbits) == ends[1]


@pytest.mark.parametrize("delta", [F(1, 10**9), F(1, 10**40)], ids=["1e-9", "1e-40"])
def test_the_largest_ratio_of_a_size_meets_the_target(delta):
    """Also where a multiple of the step is next to exp(eps), up to which the bound is 0."""
    for order in (1 + F(1, 2 * STEP), F(5, 4) + F(1, 3 * STEP), F(5, 4)):
        target = ExactTarget(4, 2, order, delta, None)
        ratio = target.ratio(1)
        assert ratio == 1 or target.meets((subset_orbit(4, 1, ratio),))


# Comparisons.


def test_a_box_is_excluded_by_lower_ends_alone(monkeypatch):
    search_ = next(value for value in vars(branch_and_bound).values() if hasattr(value, "_risk_at_least"))
    made = object.__new__(search_)
    monkeypatch.setattr(search_, "_values", lambda *_: {})
    monkeypatch.setattr(search_, "_share", lambda *_: F(1))
    family = SimpleNamespace(base="", all_inputs=3, inputs=3, form={"moments": {"chi square": ""}})
    for name, value in {"family": family, "n": 5, "goal": F(2)}.items():
        object.__setattr__(made, name, value)
    for ends, least in (((1, 3), False), ((2, 3), True), ((1, 2), False)):
        noise = SimpleNamespace(risk=lambda _, ends=ends: Ball(F(ends[0]), F(ends[1])))
        monkeypatch.setattr(branch_and_bound, "named_votes", lambda *_, noise=noise, **__: noise)
        assert made._risk_at_least((1, F(1)), F(1)) is least
    order = SimpleNamespace(excess=lambda *_: F(1))
    match = SimpleNamespace(kind="chi-square", value=F(2), delta=F(1, 20))
    object.__setattr__(made, "match", match)
    for ends, beyond in (((1, 3), False), ((2, 3), False), ((F(5, 2), 3), True)):
        monkeypatch.setattr(branch_and_bound, "_ball", lambda *_, ends=ends: Ball(F(ends[0]), F(ends[1])))
        assert made._is_beyond((1, F(1)), order, F(1)) is beyond
    match.kind = next(kind for kind in members(MatchKind) if kind not in ("chi-square", "eps0"))
    monkeypatch.setattr(search_, "_likely", lambda *_: 0.0)
    monkeypatch.setattr(search_, "_doubt", lambda *_: 0.0)
    for name in ("off", "seen", "spared", "alike"):
        object.__setattr__(made, name, [])
    for ends, beyond in (((0, F(1, 15)), False), ((F(1, 20), F(1, 15)), False), ((F(1, 19), F(1, 15)), True)):
        monkeypatch.setattr(search_, "_spent", lambda *_, ends=ends: between(*ends))
        assert made._is_beyond((1, F(1)), order, F(1)) is beyond


# Vectors.


def test_a_calibration_is_confirmed_by_the_upper_end(monkeypatch):
    found = calibrate("sphere-linear", n=50, dimension=1, eps=1, delta=F(1, 100), gap=None)
    found.verify()
    low, high = found.certificate.bracket.lower, found.certificate.bracket.upper
    for ends in ((low, found.goal * 2), (high + F(1, 10**9), found.goal), (0, low - F(1, 10**9)), (0, found.goal * 2)):
        monkeypatch.setattr(Calibration, "_again", lambda _, ends=ends: between(*map(F, ends)))
        if ends[0] <= ends[1]:
            with pytest.raises(CertificateError):
                found.verify()
    for ends in ((0, low), (high, found.goal), (0, found.goal)):  # they overlap, and the target is met
        monkeypatch.setattr(Calibration, "_again", lambda _, ends=ends: between(*ends))
        if high <= found.goal:
            found.verify()
    floor = found.bracket.lower * F(2, 3)
    assert F(replace(found, rmse_floor=floor).gap) >= 1 - floor / found.bracket.upper


def test_a_worst_background_is_told_by_its_own_ends(monkeypatch):
    """A search whose numbers are given: the conjectured value is between 1/10 and 1/8."""
    known = {"attained": F(1, 9), "stuck": None}

    class Given:
        def __init__(self, *_):
            self.aims = known.setdefault("aims", [])

        def constant(self, _):
            return between(F(1, 10), F(1, 8))

        def below(self, aim):
            self.aims.append(aim)
            return 3, known["stuck"]

        def merged(self, _):
            return float(known["attained"])

    monkeypatch.setattr(conjecture, "_Search", Given)
    asked = {"n": 2, "sigma0": 1, "eps": 1, "tolerance": "1/2"}
    found = conjecture.worst_background_on_the_line(**asked)
    assert (found.bracket.lower, found.bracket.upper) == (F(1, 10), F(15, 100))
    assert known["aims"] == [F(15, 100)]
    assert found.excess == F(1, 2)
    found.verify()
    with pytest.raises(CertificateError):
        replace(found, bracket=between(F(1, 9), F(15, 100))).verify()
    known["stuck"] = (F(1), F(1))
    with pytest.raises(CertificateError):
        found.verify()
    with pytest.raises(NotDecided):
        conjecture.worst_background_on_the_line(**asked)
    known["attained"] = F(1, 4)
    found = conjecture.worst_background_on_the_line(**asked)
    assert found.bracket.lower == F(1, 4) and found.bracket.upper == 1
    found.verify()
    with pytest.raises(CertificateError):
        replace(found, bracket=between(F(1, 3), 1)).verify()
    with pytest.raises(CertificateError):
        replace(found, bracket=between(F(1, 5), F(1, 2))).verify()
    known["attained"] = F(1, 9)
    with pytest.raises(CertificateError):
        replace(found, bracket=between(F(1, 20), 1)).verify()


def test_a_search_for_a_background_rounds_outward():
    made = conjecture._Search(2, F(1), F(1, 3), False)
    assert F(made.alpha) >= enclose(Exp(F(1, 3)), FINE).upper
    box = ((F(0), F(1, 3)), (F(-1, 7), F(1, 3)))
    assert F(made._slack(box)) >= F(made.slopes[0]) * F(1, 6) + F(made.slopes[1]) * F(5, 21)
    value = made.constant(F(-1))
    assert value.lower < value.upper < value.lower * F(11, 10)
