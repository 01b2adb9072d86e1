"""Whatever is graded proved says for which quantities, and the certified ones are general in the same sense."""

import pytest

from symshuffle.ledger.claims.model import parameters
from symshuffle.ledger.claims.registry import load

PROVED = [
    claim for claim in load().claims if "proved" in (claim.grade, claim.corrected.grade if claim.corrected else None)
]


@pytest.mark.parametrize("claim", PROVED, ids=lambda claim: claim.id)
def test_what_is_proved_says_for_what(claim):
    assert any(obligation.quantifier == "for all" for obligation in claim.obligations)


ONCE_WEAKER = (
    *(f"decomposition.{name}" for name in ("def-1", "def-5", "def-8", "thm-1", "thm-12", "thm-6")),
    "vecmean.A.4-step6", "anchored.eq-1.3", "symshuffle.alphabets-poisson-window", "vecmean.lem-A.3",
    "vecmean.lem-3.4", "vecmean.lem-2.6", "alphabets.def-8.0", "anchored.def-2.4", "anchored.eq-1.1",
    "anchored.rem-3.5", "anchored.thm-7.9", "anchored.cor-7.10", "anchored.sec-10.phase", "ldp_tradeoff.eq-3",
    "ldp_tradeoff.eq-4-6", "ldp_tradeoff.scaling",
)  # fmt: skip
"""Statements of which only cases were shown, or an induction in prose, or one clause of several."""


@pytest.mark.parametrize("name", ONCE_WEAKER)
def test_what_is_proved_of_all_sizes_is_not_owed_for_cases_alone(name):
    """That the check falls for each, where the statement is wrong beyond a million, is a part of how a claim is run."""
    claim = load().claim(name)
    assert claim in PROVED
    cases = {o.of for o in claim.obligations if o.quantifier == "cases"}
    assert set(parameters(claim.printed)) - cases
