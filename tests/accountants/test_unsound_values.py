"""Reductions that bound nothing: their laws by the printed formula, their values by hand, the first counterexample."""

from fractions import Fraction

import pytest

from symshuffle.accountants.unsound import UnsoundReduction, unsound_variation_ratio
from symshuffle.channel import Channel
from symshuffle.decompositions.model import ReductionPair
from symshuffle.errors import InputError

SKEW = Channel.from_rows([["1/10", "9/10", 0], ["1/5", "4/5", 0], ["3/5", "2/5", 0]])
"""The ratio cap is 6 (3/5 by 1/10); no row of the first two is more than 9/4 times another one."""


def test_the_laws_of_the_variation_ratio():
    """beta = 1/10, alpha = beta/5, q = 9/4; the last message, which nobody sends, counts for nothing."""
    found = unsound_variation_ratio(SKEW, (0, 1)).pair
    alpha, clone = Fraction(1, 50), Fraction(6, 50) / Fraction(9, 4)
    assert found.a0 == (6 * alpha, alpha, 1 - 7 * alpha)
    assert found.a1 == (alpha, 6 * alpha, 1 - 7 * alpha)
    assert found.a2 == (clone, clone, 1 - 2 * clone)
    assert found.unsound
    assert unsound_variation_ratio(SKEW, (1, 0)).pair == found


def test_randomized_response():
    """At k = 3, lam = 2: beta = 1/4, q = 2, so that 1/2, 1/4, 1/4 stand beside 1/4, 1/4, 1/2."""
    rows = [[Fraction(1 + (x == y), 4) for y in range(3)] for x in range(3)]
    found = unsound_variation_ratio(Channel.from_rows(rows), (0, 1)).pair
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    assert (found.a0, found.a1, found.a2) == (
        (half, quarter, quarter),
        (quarter, half, quarter),
        (quarter, quarter, half),
    )


@pytest.mark.parametrize("x", [Fraction(1), Fraction(6, 5), Fraction(3, 2)])
def test_the_larger_direction_of_a_pair(x):
    """Of one user: sums over the components, in either order."""
    first, second = (Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 5), Fraction(4, 5))
    orders = (first, second), (second, first)
    both = [sum(max(a - x * b, Fraction(0)) for a, b in zip(*order, strict=True)) for order in orders]
    for pair in orders:
        reduction = UnsoundReduction("told", ReductionPair(*pair, (Fraction(1, 2), Fraction(1, 2)), unsound=True))
        assert reduction.value_without_guarantee(x, 1) == max(both)


def flat():
    """A reduction that claims 0 of everything."""
    even = (Fraction(1, 2), Fraction(1, 2))
    return UnsoundReduction("flat", ReductionPair(even, even, even, unsound=True))


BINARY = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])


def test_the_first_counterexample_has_the_fewest_users_and_the_first_target_that_is_exceeded():
    """One user of binary response has (2 - x)/3, which exceeds 0 below x = 2 only."""
    targets = [Fraction(2), Fraction(7, 4), Fraction(3, 2)]
    found = flat().counterexample(BINARY, (1, 0), targets=targets, most_users=3)
    assert (found.first, found.second, found.exp_eps) == ((1,), (0,), Fraction(7, 4))
    assert (found.claimed, found.real) == (0, Fraction(1, 12))
    assert flat().counterexample(BINARY, (0, 1), targets=[Fraction(2)], most_users=3) is None  # equal is not beyond
    assert flat().counterexample(BINARY, (0, 1), targets=targets, most_users=0) is None


def test_counterexamples_are_looked_for_up_to_the_last_user():
    """Of one user the claim is the truth; two of ternary response exceed it."""
    rows = [[Fraction(1 + (x == y), 4) for y in range(3)] for x in range(3)]
    channel = Channel.from_rows(rows)
    reduction, target = unsound_variation_ratio(channel, (0, 1)), [Fraction(17, 10)]
    assert reduction.counterexample(channel, (0, 1), targets=target, most_users=1) is None
    found = reduction.counterexample(channel, (0, 1), targets=target, most_users=2)
    assert (found.first, found.second) == ((0, 0), (1, 0))
    assert found.real == Fraction(3, 80)


def test_two_inputs_that_nobody_tells_apart():
    same = Channel.from_rows([["1/2", "1/2"], ["1/2", "1/2"]])
    with pytest.raises(InputError, match="ratio cap 1"):
        unsound_variation_ratio(same, (0, 1))
