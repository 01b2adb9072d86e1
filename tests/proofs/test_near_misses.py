"""Every check notices its statement off by one per cent, or turned round; and which do not (tests/near_misses.py)."""

import pytest

from symshuffle.ledger.claims.registry import load
from tests.near_misses import claims, noticed, off

NOT_NOTICED = {
    "alphabets.thm-6.2v": "four times the sharp bound, as it says; a quarter less 1 per cent is its control",
    "alphabets.lem-6.3": "an absolute constant that is admissible; the least one is not known",
    "alphabets.cor-6.6": "the same for both orders; a quarter less 1 per cent is its control",
    "decomposition.baseline-clone": "an upper bound of the literature whose prefactors leave room of a factor",
    "symshuffle.vecmean-order-criterion": "a sign, which a factor does not change; exact equality is not claimed",
    "symshuffle.ratio-pairs": "keys that group outputs, as good multiplied by a constant; infinity is its control",
    "symshuffle.vecmean-chua-small-n": "a statement up to a tolerance of 1 or 10 per cent, which it says",
}
"""Inequalities with room, and values that have no near miss: their own controls are what can be refused."""

NO_VALUE = {
    "anchored.def-3.3", "anchored.def-6.1", "anchored.table-1", "anchored.table-2",
    "alphabets.def-6.1", "symshuffle.anchored-table-programs",
    "symshuffle.alphabets-exact-delta", "symshuffle.vecmean-fresh-null-law",
    "symshuffle.vecmean-worst-norm", "symshuffle.same-record-twice",
}  # fmt: skip
"""Statements that return channels, laws, texts or tables of text."""


@pytest.mark.parametrize("claim", [one.id for one in claims() if one.id not in {*NO_VALUE, *NOT_NOTICED}])
def test_a_check_notices_one_per_cent(claim):
    assert noticed(load().claim(claim)) is True


@pytest.mark.conformance
@pytest.mark.parametrize("claim", sorted({*NO_VALUE, *NOT_NOTICED}))
def test_what_is_listed_needs_to_be(claim):
    assert noticed(load().claim(claim)) is (None if claim in NO_VALUE else False)


def test_what_is_listed_are_claims_with_controls():
    for name in {*NO_VALUE, *NOT_NOTICED}:
        assert load().claim(name).controls


def test_near_misses_are_near():
    assert off(200, 1) == 202
    assert off((1, 0.5, "x"), -1) == (0, 0.495, "x")
    assert off({"a": True}, 1) == {"a": False}
    assert off(lambda x: x + 99, 1)(1) == 101
