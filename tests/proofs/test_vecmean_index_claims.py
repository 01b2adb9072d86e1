"""Claims of vecmean on indices, risks and the reduction to one user come out as recorded and reject their controls."""

import pytest

from symshuffle.claims.registry import catalogue, load
from symshuffle.claims.run import run

ACCOUNTING = ("vecmean.alg-1", "vecmean.sec-4", "vecmean.thm-4.1", "vecmean.prop-4.2", "vecmean.eq-59", "vecmean.eq-C")
MODULES = ("section2", "section3", "section33", "appendix_a", "appendix_b", "beyond")
CLAIMS = [claim for claim in load().claims if claim.check.__module__.rpartition(".")[2] in MODULES]
CLAIMS = [claim for claim in CLAIMS if claim.check.__module__.startswith("proofs_checks.vecmean.")]


def test_sections_2_and_3_and_appendices_a_and_b_are_covered():
    wanted = {entry for entry in catalogue() if entry.startswith("vecmean.") and not entry.startswith(ACCOUNTING)}
    assert wanted <= {claim.id for claim in CLAIMS}


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
