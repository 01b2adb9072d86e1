"""What the doors of growing alphabets refuse, and what they say."""

from fractions import Fraction as F

import pytest

from symshuffle import Channel, mechanism
from symshuffle.base.choices import Population
from symshuffle.base.errors import InputError
from symshuffle.utility.frontiers.caps import check_budget, matched_ratio
from symshuffle.utility.frontiers.equivariant import (
    optimal_equivariant_risk,
    smallest_reciprocal_sum,
    thinned_subset_selection,
)
from symshuffle.utility.likelihood.extremes import dilute, half_block_channel
from symshuffle.utility.likelihood.families import GRR, HALF_BLOCK
from symshuffle.utility.likelihood.law import require_common_support


def fixed(k, budget, **cap):
    return optimal_equivariant_risk(k, budget, n=10, population=Population.FIXED, **cap)


@pytest.mark.parametrize(
    ("door", "argument", "said"),
    [
        (lambda: half_block_channel(5, F(2)), "k", "even"),
        (lambda: HALF_BLOCK.at(lam=2).size(5), "k", "even integer"),
        (lambda: mechanism("half-block").at(k=5), "k", "even integer"),
        (lambda: dilute(half_block_channel(4, F(2)), F(3, 2)), "eta", "[0, 1]"),
        (lambda: GRR.at(lam=2).diluted(2).size(4), "eta", "[0, 1]"),
        (lambda: mechanism("aug-rr").at(k=4, p=2), "p", "[0, 1]"),
        (lambda: thinned_subset_selection(4, 1, F(2), F(2)), "share", "(0, 1]"),
        (lambda: check_budget(F(0)), "budget", "> 0"),
        (lambda: matched_ratio(10, 1, F(5), lam_cap=F(2)), "budget", "(0, 0.136364]"),
        (lambda: fixed(10, F(5), lam_cap=F(2)), "budget", "(0, 0.285714]"),
        (lambda: fixed(2, F(1)), "k", "from 3 "),
        (lambda: smallest_reciprocal_sum(2, F(5, 2)), "k", "from 3 "),
        (lambda: GRR.at(lam=1), "lam", "> 1"),
    ],
)
def test_refusals(door, argument, said):
    with pytest.raises(InputError) as caught:
        door()
    assert caught.value.argument == argument
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_rows_of_different_support_name_the_output():
    channel = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/2", "0", "1/2"]])
    with pytest.raises(InputError, match="output") as caught:
        require_common_support(channel)
    assert "1" in str(caught.value)
