"""Every check notices its statement off by one per cent, or turned round; and which do not (tests/near_misses.py)."""

import pytest

from symshuffle.claims.registry import load
from tests.near_misses import claims, noticed, off

NOT_NOTICED = {
    "anchored.eq-1.1": "returns distributions: off by one per cent they are none, and refused before they are compared",
    "anchored.conv-5.3": "the value is infinite",
    "anchored.sec-9.2": "a sentence about gaps in whole per cents, which are inequalities with room",
    "alphabets.thm-6.2v": "a bound that is four times too large, which the correction says",
    "alphabets.lem-6.3": "an absolute constant that is not known to be sharp",
    "alphabets.cor-6.6": "a bound that follows from the former, with its factor",
    "vecmean.rem-3.9": "a constant of order 1, sampled",
    "vecmean.A.4-step6": "a limit that is approached from a distance of more than one per cent",
    "decomposition.thm-7": "what is compared is a ratio of the rows that it returns",
    "decomposition.baseline-clone": "an upper bound of the literature with prefactors that are not sharp",
    "symshuffle.vecmean-order-criterion": "a criterion of sign at cases that are not near its change",
    "symshuffle.vecmean-clipped-rate": "an upper bound with room at twelve cases",
    "symshuffle.vecmean-chua-small-n": "a statement up to a tolerance of 1 or 10 per cent, which it says",
    "symshuffle.vecmean-direct-optimum": "a gain of 0.026 per cent, told in words",
}
"""Inequalities with room, and values that have no near miss: their own controls are what can be refused."""

NO_VALUE = {
    "anchored.def-2.4", "anchored.def-3.3", "anchored.def-6.1", "anchored.table-1", "anchored.table-2",
    "alphabets.def-6.1", "vecmean.eq-C.1", "decomposition.fig-1", "symshuffle.anchored-table-programs",
    "symshuffle.alphabets-exact-delta", "symshuffle.vecmean-fresh-null-law",
    "symshuffle.vecmean-worst-norm",
}  # fmt: skip
"""Statements that return channels, laws, texts or tables of text."""


@pytest.mark.parametrize("claim", [claim.id for claim in claims()])
def test_a_check_notices_one_per_cent(claim):
    expected = None if claim in NO_VALUE else claim not in NOT_NOTICED
    assert noticed(load().claim(claim)) is expected


def test_what_is_listed_are_claims_with_controls():
    for name in {*NO_VALUE, *NOT_NOTICED}:
        assert load().claim(name).controls


def test_near_misses_are_near():
    assert off(200, 1) == 202
    assert off((1, 0.5, "x"), -1) == (0, 0.495, "x")
    assert off({"a": True}, 1) == {"a": False}
    assert off(lambda x: x + 99, 1)(1) == 101
