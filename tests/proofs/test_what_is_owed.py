"""Whatever is graded proved says for which quantities, and the certified ones are general in the same sense."""

import pytest

from symshuffle.ledger.claims.beyond import falls, recording
from symshuffle.ledger.claims.model import Grade, Quantifier
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


BY_PROSE = ("def-1", "def-5", "def-8", "thm-1", "thm-12", "thm-6")


@pytest.mark.parametrize("name", BY_PROSE)
def test_a_statement_that_is_wrong_for_large_sizes_falls(name):
    """Those whose induction was once in prose, parameter by parameter."""
    claim = load().claim(f"decomposition.{name}")
    watched, record = recording(claim.printed)
    list(claim.check(watched, seeded(claim.id)))
    cases = {o.of for o in claim.obligations if o.quantifier is Quantifier.CASES}
    for parameter in set(record.parameters) - cases:
        assert falls(claim.check, claim.printed, parameter, lambda: seeded(claim.id)), parameter
