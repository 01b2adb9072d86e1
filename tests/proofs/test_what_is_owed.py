"""Whatever is graded proved says for which quantities, and the certified ones are general in the same sense."""

import pytest

from symshuffle.ledger.claims.model import Grade, Quantifier
from symshuffle.ledger.claims.obligations import Runs, falls, recording
from symshuffle.ledger.claims.registry import load
from symshuffle.ledger.claims.run import seeded

PROVED = [
    claim
    for claim in load().claims
    if Grade.PROVED in (claim.grade, claim.corrected.grade if claim.corrected else None)
]


@pytest.mark.parametrize("claim", PROVED, ids=lambda claim: claim.id)
def test_what_is_proved_says_for_what(claim):
    assert any(obligation.quantifier is Quantifier.FOR_ALL for obligation in claim.obligations)


ONCE_WEAKER = (
    *(f"decomposition.{name}" for name in ("def-1", "def-5", "def-8", "thm-1", "thm-12", "thm-6")),
    "vecmean.A.4-step6", "anchored.eq-1.3", "symshuffle.alphabets-poisson-window", "vecmean.lem-A.3",
    "vecmean.lem-3.4", "vecmean.lem-2.6", "alphabets.def-8.0", "anchored.def-2.4", "anchored.eq-1.1",
    "anchored.rem-3.5", "anchored.thm-7.9", "anchored.cor-7.10", "anchored.sec-10.phase", "ldp_tradeoff.eq-3",
    "ldp_tradeoff.eq-4-6", "ldp_tradeoff.scaling",
)  # fmt: skip
"""Statements of which only cases were shown, or an induction in prose, or one clause of several."""


@pytest.mark.parametrize("name", ONCE_WEAKER)
def test_a_statement_that_is_wrong_for_large_sizes_falls(name):
    """Parameter by parameter: right wherever a check enumerates, and off by one beyond a million."""
    claim = load().claim(name)
    watched, record = recording(claim.printed)
    list(claim.check(watched, seeded(claim.id)))
    cases = {o.of for o in claim.obligations if o.quantifier is Quantifier.CASES}
    assert set(record.parameters) - cases
    for parameter in set(record.parameters) - cases:
        assert falls(claim.check, claim.printed, parameter, Runs(lambda: seeded(claim.id))), parameter
