"""Coverage of intervals as rationals, over all populations of up to eight users, and controls that have to fail."""

import itertools
from fractions import Fraction as F
from math import comb

import numpy as np
import pytest

from symshuffle import InputError
from symshuffle.collect import Support
from symshuffle.collect.intervals import _by_balls, exact_tail
from tests.collect.cases import PARAMETERS, law_of, small, supported

CONFIDENCES = (F(1, 2), F(4, 5), F(19, 20))
MOST = 8


def binomial(n, p):
    return [comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)]


def count_law(n, m, p, q):
    """Law of the support count, by convolution."""
    law = [F(0)] * (n + 1)
    for (i, a), (j, b) in itertools.product(enumerate(binomial(m, p)), enumerate(binomial(n - m, q))):
        law[i + j] += a * b
    return law


def coverage(law, ends, m):
    return sum(weight for count, weight in enumerate(law) if ends[count][0] <= m <= ends[count][1])


def pairs():
    """Probabilities of own and other supports of every mechanism at every small k."""
    for name in PARAMETERS:
        for k in (2, 3, 4):
            if (name, k) != ("subset-selection", 2):
                made = small(name, k).scheme
                yield made.p, made.q


@pytest.mark.parametrize("n", range(1, MOST + 1))
def test_each_interval_covers_every_population(n):
    for p, q in set(pairs()):
        for confidence in CONFIDENCES:
            ends = [Support(n, p, q).interval(c, 1 - confidence) for c in range(n + 1)]
            assert all(coverage(count_law(n, m, p, q), ends, m) >= confidence for m in range(n + 1))


@pytest.mark.parametrize("side", [0, 1])
def test_an_end_moved_in_by_one_does_not_cover(side):
    n, confidence = 8, F(4, 5)
    p, q = small("krr", 3).scheme.p, small("krr", 3).scheme.q
    ends = [Support(n, p, q).interval(c, 1 - confidence) for c in range(n + 1)]
    moved = [(low + (side == 0), high - (side == 1)) for low, high in ends]
    assert min(coverage(count_law(n, m, p, q), moved, m) for m in range(n + 1)) < confidence


def test_a_wrong_probability_does_not_cover():
    """p off by 10 % at n = 200: the same counts, read with another plan."""
    n, p, q = 200, F(2, 3), F(1, 6)
    for wrong in (p * F(9, 10), p * F(11, 10)):
        ends = [Support(n, wrong, q).interval(c, F(1, 20)) for c in range(n + 1)]
        assert coverage(count_law(n, 150, p, q), ends, 150) < F(19, 20)
    ends = [Support(n, p, q).interval(c, F(1, 20)) for c in range(n + 1)]
    assert all(coverage(count_law(n, m, p, q), ends, m) >= F(19, 20) for m in (0, 1, 50, 100, 199, 200))


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_band_covers_all_categories_at_once(name, k):
    """Joint law of the support counts at every composition, with integer weights."""
    if (name, k) == ("subset-selection", 2):
        return
    plan = small(name, k)
    laws = [law_of(plan, j) for j in range(k)]
    unit = max(weight.denominator for law in laws for weight in law.values())
    moves = []
    for law in laws:
        weights = {}
        for message, weight in law.items():
            step = tuple(int(j in supported(plan, message)) for j in range(k))
            weights[step] = weights.get(step, 0) + int(weight * unit)
        assert sum(weights.values()) == unit and unit**MOST < 2**63
        moves.append(weights)
    covers = {}
    for n in range(1, MOST + 1):
        law = Support(n, plan.scheme.p, plan.scheme.q)
        for confidence in CONFIDENCES:
            ends = [law.interval(c, (1 - confidence) / k) for c in range(n + 1)]
            covers[n, confidence] = np.array(
                [[low <= m <= high for low, high in ends] + [False] * (MOST - n) for m in range(n + 1)]
            )
    seen = 0

    def visit(joint, composition, first):
        nonlocal seen
        n = sum(composition)
        if n:
            seen += 1
            for confidence in CONFIDENCES:
                inside = joint
                for j, m in enumerate(composition):
                    mask = covers[n, confidence][m]
                    inside = inside * mask.reshape([-1 if i == j else 1 for i in range(k)])
                assert F(int(inside.sum()), unit**n) >= confidence, (composition, confidence)
        if n == MOST:
            return
        for j in range(first, k):
            after = np.zeros_like(joint)
            for step, weight in moves[j].items():
                to = tuple(slice(s, None) for s in step)
                of = tuple(slice(None, MOST + 1 - s) for s in step)
                after[to] += weight * joint[of]
            visit(after, tuple(m + (i == j) for i, m in enumerate(composition)), j)

    start = np.zeros((MOST + 1,) * k, dtype=np.int64)
    start[(0,) * k] = 1
    visit(start, (0,) * k, 0)
    assert seen == comb(MOST + k, k) - 1


def test_intervals_are_the_exact_inversions():
    """Against the definition, at random counts, in rationals."""
    rng = np.random.default_rng(7)
    for _ in range(60):
        n, b = int(rng.integers(1, 40)), int(rng.integers(1, 30))
        q, p = F(b, 40), F(int(rng.integers(b + 1, 40)), 40)
        c, alpha = int(rng.integers(0, n + 1)), F(int(rng.integers(1, 999)), 1000)
        laws = [count_law(n, m, p, q) for m in range(n + 1)]
        low = next((m for m in range(n + 1) if sum(laws[m][c:]) > alpha / 2), n)
        high = next((m for m in range(n, -1, -1) if sum(laws[m][: c + 1]) > alpha / 2), 0)
        assert Support(n, p, q).interval(c, alpha) == (min(low, high), max(low, high))


def test_ties_with_the_level_are_decided_by_integers():
    """P(C >= 1) of a user who does not hold the item is q: at alpha / 2 = q the end is 1, for less it is 0."""
    law = Support(1, F(3, 4), F(1, 4))
    assert law.interval(1, F(1, 2))[0] == 1
    assert law.interval(1, F(1, 2) - F(1, 10**40))[0] == 0


@pytest.mark.parametrize("n", [200, 20_001, 50_000])
def test_levels_next_to_a_tail_are_told_apart(n):
    """P(C >= 1) of nobody is 1 - (1 - q)^n, and P(C <= n - 1) of everybody 1 - p^n: the ends jump just there.

    Users are few enough for integers, and too many for them.
    """
    q = F(1, 3 * n)
    law, mirror = Support(n, F(1, 2), q), Support(n, 1 - q, F(1, 2))
    tail = 1 - (1 - q) ** n
    for near in (F(1, 10**8), F(1, 10**20), F(1, 10**60)):
        assert law.interval(1, 2 * tail * (1 - near))[0] == 0
        assert law.interval(1, 2 * tail * (1 + near))[0] == 1
        assert mirror.interval(n - 1, 2 * tail * (1 - near))[1] == n
        assert mirror.interval(n - 1, 2 * tail * (1 + near))[1] == n - 1


def test_mean_width_is_that_of_the_gaussian_interval():
    """n = 200,000: at most 1.01 times 2 z sd, at the counts that are expected."""
    n, z = 200_000, 1.959963984540054
    for p, q in ((F(2, 3), F(1, 50)), (F(1, 2), F(1, 4))):
        exact = gauss = 0.0
        for m in range(0, 20_001, 2_000):
            low, high = Support(n, p, q).interval(round(m * p + (n - m) * q), F(1, 20))
            exact += high - low
            sd = float(m * p * (1 - p) + (n - m) * q * (1 - q)) ** 0.5 / float(p - q)
            gauss += min(m, z * sd) + z * sd  # nobody holds fewer than 0
        assert exact <= 1.01 * gauss


@pytest.mark.parametrize("q", [F(1, 10**30), F(1, 3), 1 - F(1, 10**30)])
def test_messages_that_always_support_are_answered(q):
    """p = 1 against probabilities next to it, and the balls of many users against integers."""
    for count in range(10):
        found = Support(9, F(1), q).interval(count, F(1, 20))
        if q == F(1, 3):
            assert found == Support(9, 1 - F(1, 10**30), q).interval(count, F(1, 20))
        assert found[1] <= count, "each user in the category sends a message that supports it"
    for level in (F(1, 10), F(1, 10**6)):
        assert _by_balls(5, 3, 9, F(1), F(1, 3), level, 128) == (exact_tail(5, 3, 9, F(1), F(1, 3)) > level)
    assert _by_balls(2, 3, 9, F(1), F(1, 3), F(1) - F(1, 10**6), 128), "three users send three"


@pytest.mark.parametrize(
    ("p", "q"), [(F(1, 3), F(1, 3)), (F(1, 4), F(1, 3)), (F(1, 2), F(0)), (F(3, 2), F(1, 3)), ("x", 0)]
)
def test_probabilities_outside_of_their_range_are_refused(p, q):
    with pytest.raises(InputError, match=r"^p"):
        Support(9, p, q)
