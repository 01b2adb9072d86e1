"""Probabilities of at most so many messages of several groups: both ends, in balls of few bits."""

from fractions import Fraction as F

import pytest

from symshuffle.accountants.deployment import message_counts
from symshuffle.accountants.deployment.message_counts import coins_cdf, exact_sums

COINS = ((3, F(1, 3)), (4, F(2, 7)))


@pytest.mark.parametrize("bits", [8, 20])
def test_sums_of_coins_are_on_both_sides(monkeypatch, bits):
    monkeypatch.setattr(message_counts, "_BITS", bits)
    coins_cdf.cache_clear()
    found, exact = coins_cdf(COINS), exact_sums(COINS)
    ends = [(found(m), exact(m)[0]) for m in range(9)]
    coins_cdf.cache_clear()
    assert all(0 <= low <= truth <= high <= 1 for (low, high), truth in ends)
    assert sum(low < high for (low, high), _ in ends) > 3
