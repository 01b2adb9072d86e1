"""The whole ledger: every claim comes out as recorded, with its correction, and rejects its controls."""

import pytest

from symshuffle.ledger import load, run_claim


@pytest.mark.parametrize("claim", load().claims, ids=lambda claim: claim.id)
def test_claim_comes_out_as_recorded(claim):
    outcome = run_claim(claim)
    assert outcome.faults == ()
    assert outcome.verdict == claim.expected, outcome.counterexample
    assert outcome.controls_rejected == len(claim.controls)
    graded = (claim.grade, claim.corrected.grade if claim.corrected else None)
    assert outcome.symbolic_rejection is (True if "proved" in graded else outcome.symbolic_rejection)
    assert outcome.symbolic_rejection is not False
    if claim.corrected is not None:
        assert outcome.corrected is not None
        assert outcome.corrected.grade == claim.corrected.grade
