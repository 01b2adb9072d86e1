"""Divergences of one user against a constant population, in balls of a few bits, hold what many bits say."""

from fractions import Fraction as F
from types import SimpleNamespace

import pytest

from symshuffle import Ball, Exp, NotDecided
from symshuffle.utility import Contamination, binary_envelope
from symshuffle.utility.frontiers import contamination
from symshuffle.utility.frontiers.leakage import convex_envelope
from tests.fewbits import few_bits

WAYS = ("forward", "reverse")


def brackets(bits, bound, *asked, **named):
    """The bracket of few bits and that of many; where few bits do not decide, that of many twice."""
    truth = bound(*asked, **named).bracket
    try:
        with few_bits(bits):
            return bound(*asked, **named).bracket, truth
    except NotDecided:
        return truth, truth


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("bits", [9, 14])
def test_envelopes_hold_every_count_that_may_be_the_threshold(way, bits):
    """With so few bits the first count above a level may be one of several; levels next to a count are among them."""
    wide = 0
    for n in (1, 2, 5, 60):
        experiment = Contamination(n, way)
        for cap in (Exp(F(1)), Exp(F(1, 9)), Exp(F(7, 2))):
            for gamma in (F(1), Exp(F(1, 200)), Exp(F(1, 11)), F(2)):
                found, truth = brackets(bits, binary_envelope, experiment, lam=cap, gamma=gamma)
                assert 0 <= found.lower <= truth.lower and truth.upper <= found.upper
                wide += found.lower < truth.lower < found.upper
    assert wide > 5


@pytest.mark.parametrize("way", WAYS)
def test_the_threshold_is_looked_for_at_every_count_of_its_place(monkeypatch, way):
    experiment, cap, gamma = Contamination(12, way), Exp(F(1)), F(6, 5)
    truth = binary_envelope(experiment, lam=cap, gamma=gamma).bracket
    for below, above in ((3, 0), (0, 3), (2, 2)):
        known = []

        def from_arb(value, bits, known=known, below=below, above=above):
            known.append(Ball.from_arb(value, bits))
            first = len(known) == 1
            return Ball(known[-1].lower - below, known[-1].upper + above) if first else known[-1]

        monkeypatch.setitem(contamination._envelope.__kwdefaults__, "first", 96)
        monkeypatch.setitem(contamination._envelope.__kwdefaults__, "last", 96)
        monkeypatch.setattr(contamination, "Ball", SimpleNamespace(from_arb=from_arb))
        found = binary_envelope(experiment, lam=cap, gamma=gamma).bracket
        assert len(known) == 2
        assert found.lower <= truth.lower and truth.upper <= found.upper


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("bits", [5, 9, 20])
@pytest.mark.parametrize("name", ["chi-square", "kl", "squared-hellinger", "renyi"])
def test_means_of_convex_functions_hold_theirs(name, way, bits):
    order = F(5, 2) if name == "renyi" else None
    for n in (1, 2, 7):
        for cap in (Exp(F(1)), Exp(F(1, 9)), Exp(F(1, 100)), Exp(F(1, 1000))):
            found, truth = brackets(bits, convex_envelope, n, lam=cap, function=name, order=order, direction=way)
            assert 0 <= found.lower <= truth.lower and truth.upper <= found.upper
