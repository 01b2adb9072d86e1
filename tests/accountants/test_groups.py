"""Bounds for groups of users: above the truth, falling with eps and n, and inverse to each other."""

import itertools
import random
import time
from fractions import Fraction as F

import pytest

from symshuffle import Channel, delta, epsilon, randomizer, total_variation
from symshuffle.accountants.deployment.groups import group_bound, group_factor
from symshuffle.accountants.questions.proof import prove
from symshuffle.base.numbers import Ball, Exp, lower_end, upper_end
from symshuffle.base.results import Bracket
from symshuffle.channels.shuffled import shuffled_divergence
from tests.fewbits import few_bits

HADAMARD = randomizer("hadamard").at(D=8, eps0=12)
WIDTH, FEW_DIGITS = 1 + F(1, 10**5), 1 + F(1, 100)


def drawn_rows(chance: random.Random, k: int, outputs: int) -> list[list[F]]:
    """Rows of very unlike entries: then chains of smaller steps are the better ones."""
    rows = [[F(1, chance.choice((1, 2, 10, 1000, 10**5))) for _ in range(outputs)] for _ in range(k)]
    return [[entry / sum(row) for entry in row] for row in rows]


@pytest.mark.parametrize("seed", range(6))
def test_a_bound_for_a_group_is_above_every_pair_of_datasets(seed):
    chance = random.Random(f"group {seed}")
    k, n = chance.choice(((2, 2), (2, 3), (3, 2), (3, 3)))
    channel = Channel.from_rows(drawn_rows(chance, k, 3))
    group = chance.randint(2, n)
    for ratio in (F(1), F(9, 4), F(36), F(10**4), F(10**8)):
        found = delta(channel, n=n, group_size=group, exp_eps=ratio)
        for others in itertools.combinations_with_replacement(range(k), n - group):
            for first, second in itertools.product(itertools.combinations_with_replacement(range(k), group), repeat=2):
                truth = shuffled_divergence(channel, (*first, *others), (*second, *others), ratio)
                assert truth <= found.bracket.upper


@pytest.mark.parametrize("group", [2, 3, 7])
def test_a_bound_for_a_group_falls_with_eps_and_n(group):
    levels = [F(0), F(1, 10**6), F(1, 100), F(1, 2), F(3), F(12), F(24), F(36), F(83), F(85)]
    before: list[Bracket] = []
    for n in (group, 10, 1000):
        values = [delta(HADAMARD, n=n, group_size=group, eps=eps).bracket for eps in levels]
        for larger, smaller in (*itertools.pairwise(values), *zip(before, values, strict=False)):
            assert smaller.upper <= max(larger.upper * WIDTH, smaller.lower * FEW_DIGITS)
            assert smaller.lower <= larger.upper
        before = values


def test_epsilon_of_a_group_is_the_smallest_that_meets():
    at_small = delta(HADAMARD, n=3, group_size=2, eps="1e-6").bracket
    assert at_small.upper < 1
    assert delta(HADAMARD, n=3, group_size=2, eps=20).bracket.upper <= at_small.upper * WIDTH
    assert epsilon(HADAMARD, n=3, group_size=2, delta=at_small.upper).bracket.lower <= F("1e-6")


def kinked(ratio: F | Exp, width: float) -> Bracket:
    """Convex and falling: steep up to 2, nearly flat up to 100, then 0."""
    x = ratio if isinstance(ratio, F) else F(2) ** round(ratio.exponent / F("0.693147180559945309"))
    value = max(F(9, 10) - F(8, 10) * (x - 1), F(1, 10) - (x - 2) / 980, F(0))
    return Bracket(value, value, "exact", "test", "kinked")


@pytest.mark.parametrize("group", [2, 3, 6])
def test_the_infimum_over_smaller_ratios_is_enclosed(group):
    for root in (F(3, 2), F(2), F(5, 2), F(20), F(99)):
        found = group_bound(kinked, root**group, group, 1e-6, exact=False)
        grid = [1 + (root - 1) * F(i, 200) for i in range(201)]
        least = min(min(group_factor(group, y) * kinked(y, 0).upper, F(1)) for y in grid)
        assert found.lower <= least
        assert found.width <= found.upper / 100


def test_an_exact_bound_for_a_group_stays_exact():
    krr = randomizer("krr").at(k=3, lam=3)
    for root in (F(1), F(6, 5), F(2), F(3)):
        found = delta(krr, n=4, group_size=2, exp_eps=root**2, arithmetic="exact").bracket
        assert found.exact == (1 + root) * delta(krr, n=4, exp_eps=root, arithmetic="exact").bracket.exact
    large = randomizer("krr").at(k=10, lam=20)
    found = delta(large, n=10, group_size=2, exp_eps=9, arithmetic="exact").bracket
    assert found.upper < min(1, 4 * delta(large, n=10, exp_eps=3, arithmetic="exact").bracket.exact)


def test_a_proof_is_found_where_smaller_steps_are_better():
    rows = randomizer("krr").at(k=3, lam=1000).channel()
    assert delta(rows, n=10, exp_eps=9, group_size=2).bracket.upper < delta(rows, n=10, exp_eps=3).bracket.lower * 4
    assert F(prove(delta(rows, n=10, exp_eps=9, group_size=2)).statement["delta"]) <= 1


@pytest.mark.parametrize("who", [{"dropout": "1/3"}, {"min_batch_size": 2}, {"adjacency": "zero-out"}])
def test_a_group_falls_with_eps_whoever_sends(who):
    krr = randomizer("krr").at(k=3, eps0=12)
    values = [delta(krr, n=4, group_size=2, eps=eps, **who).bracket for eps in (0, "0.1", 2, 10, 20, 23, 25)]
    for larger, smaller in itertools.pairwise(values):
        assert smaller.upper <= larger.upper * (1 + F(1, 250))


@pytest.mark.parametrize("ratio", [F(1), 1 + F(1, 10**30), F(101, 100), F(3)])
def test_the_factor_of_a_large_group_encloses_the_sum(ratio):
    for group in (201, 300):
        factor, total = group_factor(group, ratio), sum(ratio**i for i in range(group))
        assert lower_end(factor) <= total <= upper_end(factor) <= total * (1 + F(1, 10**60))


def test_a_group_of_any_size_is_answered_at_once():
    begun = time.process_time()
    rows = [["3/4", "1/4"], ["1/4", "3/4"]]
    assert total_variation(rows, n=10**9, group_size=10**9).bracket.upper == 1
    bounds = [delta(rows, n=10**9, eps="1/2", group_size=10**k).bracket for k in range(2, 7)]
    assert all(one.upper <= other.upper for one, other in itertools.pairwise(bounds))
    assert all(one.aimed is None for one in bounds)
    assert time.process_time() - begun < 10


@pytest.mark.parametrize("bits", [24, 128])
@pytest.mark.parametrize("ratio", [F(101, 100), F(10**30 + 1, 10**30), Ball(F(11, 10), F(12, 10))], ids=str)
def test_the_factor_of_a_large_group_is_between_its_ends(ratio, bits):
    low, high = (sum(end**i for i in range(250)) for end in (lower_end(ratio), upper_end(ratio)))
    with few_bits(bits):
        factor = group_factor(250, ratio)
    assert lower_end(factor) <= low <= high <= upper_end(factor)
