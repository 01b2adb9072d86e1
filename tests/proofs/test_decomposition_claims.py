"""Every claim of the paper comes out as recorded, with its corrections, and rejects its controls."""

import pytest

from symshuffle.claims.registry import load
from symshuffle.claims.run import run

OWN = {"symshuffle.generic-bound", "symshuffle.parallel-between"}
CLAIMS = [claim for claim in load().claims if claim.paper == "decomposition" or claim.id in OWN]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_claim_comes_out_as_recorded(claim):
    outcome = run(claim)
    assert outcome.faults == ()
    assert outcome.verdict is claim.expected, outcome.counterexample
    assert outcome.controls_rejected == len(claim.controls)
    assert outcome.symbolic_rejection is not False
    if claim.corrected is not None:
        assert outcome.corrected is not None
        assert outcome.corrected.grade is claim.corrected.grade
