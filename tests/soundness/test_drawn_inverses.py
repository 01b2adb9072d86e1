"""Inverses of drawn requests, also of few users, level 0, large delta and delta beyond doubles: both ends, in balls."""

import random
from fractions import Fraction as F

import pytest

from symshuffle import Bracket, SymshuffleError, delta, epsilon, largest_eps0, randomizer, smallest_n
from symshuffle.accountants.bounds.search import integers_around

NAMES = (("rr", {}), ("krr", {"k": 3}), ("krr", {"k": 40}), ("oue", {"D": 5}), ("subset-selection", {"k": 6, "s": 2}))
REL = 1e-4


def drawn(seed):
    chance = random.Random(seed)
    name, values = chance.choice(NAMES)
    eps = chance.choice((F(0), F(chance.randrange(1, 30), 10), F(1, 10 ** chance.randrange(2, 6))))
    goal = F(chance.randrange(1, 10), 10 ** chance.choice((chance.randrange(1, 9), chance.randrange(300, 500))))
    n = chance.choice((1, 2, 3, chance.randrange(4, 30), chance.randrange(30, 3000)))
    return randomizer(name).at(**values), F(chance.randrange(1, 60), 10), eps, goal, n


def at(source, n, eps):
    return delta(source, n=n, eps=eps, arithmetic="ball", rtol=1e-6 if n < 1000 else 1e-3).bracket


@pytest.mark.parametrize("seed", range(40))
def test_the_safe_end_meets_the_target_and_the_other_one_does_not(seed):
    source, eps0, eps, goal, n = drawn(seed)
    fixed = source.at(eps0=eps0)
    try:
        found = epsilon(fixed, n=n, delta=goal, rtol=REL).bracket
    except SymshuffleError:
        assert at(fixed, n, eps0 - F(1, 10**6)).upper > 0  # something is left next to the local budget
    else:
        assert at(fixed, n, found.upper).lower <= goal
        assert found.upper == 0 or at(fixed, n, found.lower).upper > goal
        assert found.width <= F(REL) * found.upper
    try:
        found = largest_eps0(source, n=n, eps=eps, delta=goal, rtol=REL).bracket
    except SymshuffleError:
        assert (
            min(at(source.at(eps0=F(1, 10**9)), n, eps).upper, goal) == goal
            or at(source.at(eps0=40), n, eps).lower <= goal
        )
    else:
        assert at(source.at(eps0=found.lower), n, eps).lower <= goal
        assert at(source.at(eps0=found.upper), n, eps).upper > goal
        assert found.width <= F(REL) * found.upper
    if eps and delta(fixed, n=10**6, eps=eps).bracket.upper < goal:
        found = smallest_n(fixed, eps=eps, delta=goal).bracket
        assert at(fixed, int(found.upper), eps).lower <= goal
        assert found.upper == 1 or at(fixed, int(found.lower), eps).upper > goal


@pytest.mark.parametrize("n", [1, 3])
def test_a_delta_beyond_doubles_is_met_next_to_the_local_budget(n):
    """Of a continuous law: something is left of it at every eps below eps0, and nothing at eps0."""
    found = epsilon(randomizer("laplace").at(eps0=1), n=n, delta=F(1, 10**350), rtol=REL).bracket
    assert 1 - F(REL) <= found.lower <= found.upper <= 1 + F(REL)


@pytest.mark.parametrize("search", ["bisected", "around"])
def test_integers_on_either_side(search):
    """Of 1/n, known between two numbers 0.3 to 0.9 of the upper one apart."""
    chance = random.Random(search)
    for _ in range(60):
        goal, width, place = (
            F(1, chance.randrange(2, 400)),
            F(chance.randrange(30, 91), 100),
            F(chance.randrange(101), 100),
        )

        def value(x: F, _: float, width: F = width, place: F = place) -> Bracket:
            low = (1 - width * place) / x
            return Bracket(low, max(1 / x, low / (1 - width)), "ball", "wide", "made wide")

        start = F(chance.randrange(1, 400)) if search == "around" else F(1)
        apart = 0.1 if search == "around" else 0.0
        found = integers_around(value, goal, 0.1, start, 10**5, apart=apart)
        assert 1 / found.meets.x <= goal
        assert found.above.x == found.meets.x or 1 / found.above.x > goal
