"""Wherever something is graded proved, a symbolic comparison tells the statement from a wrong one."""

import pytest

from symshuffle.claims.model import Grade
from symshuffle.claims.registry import load
from symshuffle.claims.run import run

EXCEPTIONS = {"ldp_tradeoff.rem-3.4", "ldp_tradeoff.lem-B.4"}
"""Proved by symbolic comparisons, while their controls are rejected by instances only."""

ELSEWHERE = ("anchored.", "decomposition.", "symshuffle.")
"""These run in the tests of their papers, which assert the same."""

PROVED = [
    claim
    for claim in load().claims
    if Grade.PROVED in (claim.grade, claim.corrected.grade if claim.corrected else None)
    and not claim.id.startswith(ELSEWHERE)
]


@pytest.mark.parametrize("claim", PROVED, ids=lambda claim: claim.id)
def test_a_symbolic_comparison_is_about_the_statement(claim):
    assert run(claim).symbolic_rejection is (claim.id not in EXCEPTIONS)


def test_exceptions_are_proved_claims():
    assert {claim.id for claim in PROVED} >= EXCEPTIONS
