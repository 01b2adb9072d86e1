"""The design at few users is at least as accurate as every thinned extreme orbit, by enumeration in rationals."""

import random
from collections import Counter
from fractions import Fraction as F
from itertools import combinations, product

import pytest

from symshuffle.design.shuffled.best import best_shuffled
from tests.slices import marked

STEPS = 400
SLICE = (2, 20, 21)
"""Problems in which thinning wins, for the ordinary suite."""


def thinned_rows(k, s, lam, weight):
    """Rows of subset response of size s and ratio lam, replaced by a blank with probability 1 - weight."""
    blocks = list(combinations(range(k), s))
    total = sum(lam if 0 in block else 1 for block in blocks)
    return [[weight * (lam if x in block else 1) / total for block in blocks] + [1 - weight] for x in range(k)]


def blanket_bound(rows, n, gamma):
    """E[(G_1 + ... + G_n)_+] / n over the blanket of all rows, for the first two of them."""
    law = Counter()
    for column in zip(*rows, strict=True):
        if low := min(column):
            law[(column[0] - gamma * column[1]) / low] += low
    law[F(0)] += 1 - sum(law.values())
    sums = Counter({F(0): F(1)})
    for _ in range(n):
        longer = Counter()
        for (total, p), (value, q) in product(sums.items(), law.items()):
            longer[total + value] += p * q
        sums = longer
    return sum((p * total for total, p in sums.items() if total > 0), start=F(0)) / n


def thinned_traces(k, n, gamma, delta, lam):
    """Trace of each thinned extreme orbit at the largest weight i/STEPS that meets the target."""
    for s in range(1, k):
        met = [F(0), F(1)]
        while met[1] - met[0] > F(1, STEPS):
            middle = F(round(sum(met) / 2 * STEPS), STEPS)
            met[blanket_bound(thinned_rows(k, s, lam, middle), n, gamma) > delta] = middle
        weight = met[1] if blanket_bound(thinned_rows(k, s, lam, met[1]), n, gamma) <= delta else met[0]
        low = F(k) / (s * lam + k - s)
        yield weight * (s * (lam * low - 1) ** 2 + (k - s) * (low - 1) ** 2)


def drawn_problem(seed):
    chance = random.Random(seed)
    k, n = chance.randint(2, 4), chance.randint(1, 4)
    gamma, delta = 1 + F(chance.randint(0, 8), 8), F(1, chance.choice((3, 10, 50, 1000, 10**6)))
    return k, n, gamma, delta, gamma + F(chance.choice((1, 3, 10, 40, 400)), 2)


@pytest.mark.parametrize("seed", [seed if seed in SLICE else marked(seed) for seed in range(30)])
def test_trace_is_at_least_that_of_every_thinned_extreme_orbit(seed):
    k, n, gamma, delta, lam = drawn_problem(seed)
    found = best_shuffled(k, n=n, exp_eps=gamma, delta=delta, lam_cap=lam)
    assert found.trace >= max(thinned_traces(k, n, gamma, delta, lam))
    assert found.delta.bracket.upper <= delta
    assert found.ratio <= lam
    assert found.trace <= found.upper


@pytest.mark.parametrize(
    ("k", "n", "delta", "cap", "trace"),
    [(3, 2, F(1, 10), 20, F(5343, 10**4)), (2, 1, F(1, 10), 3, F(4, 35)), (4, 2, F(1, 50), 20, F(2037, 10**4))],
)
def test_rare_messages_of_a_large_ratio_win_at_few_users(k, n, delta, cap, trace):
    found = best_shuffled(k, n=n, exp_eps=F(5, 4), delta=delta, lam_cap=F(cap))
    assert found.trace >= trace
    assert blanket_bound(found.channel().rows, n, F(5, 4)) <= delta


def test_level_zero_has_an_answer_at_every_delta():
    """Without thinning no ratio above 1 meets eps = 0 at this delta for one user."""
    found = best_shuffled(3, n=1, exp_eps=1, delta=F(1, 10**9), lam_cap=F(4))
    assert found.trace > 0
    assert found.delta.bracket.upper <= F(1, 10**9)


def test_without_a_cap_a_thinned_orbit_is_found_too():
    found = best_shuffled(4, n=2, exp_eps=F(5, 4), delta=F(1, 50))
    assert found.trace > F(23, 100)
