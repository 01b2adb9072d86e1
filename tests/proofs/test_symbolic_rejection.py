"""Wherever something is graded proved, a symbolic comparison tells the statement from a wrong one."""

import pytest

from symshuffle.claims.model import Grade
from symshuffle.claims.registry import load
from symshuffle.claims.run import run

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
    assert run(claim).symbolic_rejection
