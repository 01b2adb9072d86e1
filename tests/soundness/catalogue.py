"""All false certificates, and the true ones that they were made from; tests/conditions.py reads them too."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction as F
from typing import Any

from proofs_checks._convex_order import convex_order
from symshuffle.channels.geometry.orders import blackwell
from symshuffle.design.decision.modelling import CertifiedModel
from symshuffle.design.decision.tradeoff import smallest_risk
from tests.soundness import false_answers, false_bound_files, false_claim_files, false_laws  # each enters its own
from tests.soundness.false_certificates import CASES, E1
from tests.soundness.false_designs import CONSTANT, GUESSED, ORDERED, channel_risk, design, guessing, two_levels
from tests.soundness.false_formulas import bayes_formula, formula
from tests.soundness.false_frontiers import frontier
from tests.soundness.false_likelihood import quotient, sandwich, worst
from tests.soundness.false_measures import largest, logs
from tests.soundness.false_orders import COARSE, FINE, INNER, OUTER, SPREAD, lacking, larger, separation
from tests.soundness.false_programs import program
from tests.soundness.false_shuffled import trace_bound

__all__ = ["CASES", "false_answers", "false_bound_files", "false_claim_files", "false_laws", "true_ones", "true_pairs"]


def true_ones() -> Iterator[Any]:
    """What the false certificates were made from, and a few more: all of them verify."""
    yield from (frontier(), frontier(4, F("0.0696599"), F("7/5")), frontier(4, F("1/10"), E1), frontier(6, math.inf))
    yield from (design(), design(E1), smallest_risk(ORDERED, F(3)), smallest_risk(ORDERED, E1), channel_risk())
    yield from (two_levels(), program(), CertifiedModel(F(1), program(), F(0), False), lacking(), larger())
    yield from map(largest, ("rational", "logarithmic", "level", "grouped", "many"))
    yield from (formula(), bayes_formula(), logs(), sandwich(), quotient(), worst(), trace_bound())


def true_pairs() -> Iterator[Callable[[], None]]:
    """Checks of true certificates that are given what they speak about."""
    yield lambda: convex_order(INNER, OUTER).verify(INNER, OUTER)
    yield lambda: convex_order(OUTER, INNER).verify(OUTER, INNER)
    yield lambda: convex_order(INNER, SPREAD).verify(INNER, SPREAD)
    yield lambda: blackwell(FINE, COARSE).verify(FINE, COARSE)
    yield lambda: separation().verify(COARSE, FINE)
    yield lambda: CONSTANT.verify(ORDERED)
    yield lambda: guessing().verify(GUESSED)
