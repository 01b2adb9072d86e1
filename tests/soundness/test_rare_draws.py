"""Laws of which some atoms are rare among n draws: sums over how often they are drawn bracket the bound."""

import random
import re
import time
from dataclasses import replace
from fractions import Fraction as F

import pytest

from symshuffle import (
    Law,
    SymshuffleError,
    delta,
    epsilon,
    largest_eps0,
    privacy_loss_distribution,
    randomizer,
    smallest_n,
)
from symshuffle.accountants.bounds import rare_draws
from symshuffle.accountants.bounds.evaluate import Method, evaluate
from symshuffle.accountants.bounds.rare_draws import by_rare_draws
from symshuffle.accountants.rounds import privacy_loss_distribution as losses
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Ball
from symshuffle.base.results import Bracket
from symshuffle.engines.contours.contour import Contour

RATIONAL = Method(arithmetic="exact")


def exactly(law: Law, n: int) -> F:
    """H(n), in rationals."""
    value = evaluate(law, n, RATIONAL).exact
    assert value is not None
    return value


def drawn_law(chance: random.Random) -> Law:
    """A law of common atoms of about 1, and of rare ones of up to some hundreds, on both sides."""
    common = chance.sample([F(x, 2) for x in (-4, -3, -2, -1, 0, 1)], chance.randint(1, 3))
    rare = chance.sample([F(x) for x in (-900, -35, 17, 60, 200, 2000)], chance.randint(1, 3))
    weights = [F(1, chance.choice((1, 2, 5))) for _ in common] + [F(1, chance.choice((60, 900, 10**6))) for _ in rare]
    return Law((*common, *rare), tuple(w / sum(weights) for w in weights), F(chance.choice((0, 1)), 7))


@pytest.mark.parametrize("valued", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_sums_over_rare_draws_bracket_the_bound(seed, valued, monkeypatch):
    """Whatever is taken to be rare, after however many draws the sum ends."""
    chance = random.Random(f"draws {seed}")
    law, n = drawn_law(chance), chance.randint(2, 6)
    for name, limit in (("_SELDOM", F(2)), ("_FAR", 1), ("_FEWEST", 1)):
        monkeypatch.setattr(rare_draws, name, limit)
    truth, seen = exactly(law, n), []

    def narrow(found: Bracket) -> bool:
        seen.append(found)
        return found.width <= found.upper / 10**6

    def answer(other: Law, messages: int) -> Bracket | None:
        value = exactly(other, messages)
        return Bracket(value, value, "exact", "exact", "") if valued else None

    by_rare_draws(law, n, answer, narrow)
    if rare_draws.split(law, n) is None:
        pytest.skip("no atom is rare and far beyond the others, or all are rare")
    assert seen
    for found in seen:
        assert found.lower <= truth <= found.upper


@pytest.mark.parametrize("valued", [False, True])
@pytest.mark.parametrize("sides", [(F(9, 10), F(1)), (F(1), F(2))], ids=["up to it", "from it"])
@pytest.mark.parametrize("seed", range(12))
def test_sums_over_rare_draws_take_weights_and_masses_at_their_own_ends(seed, sides, valued, monkeypatch):
    """Probabilities that are known by balls, of a law that is at an end of all of them."""
    chance = random.Random(f"draws {seed}")
    law, n, seen = drawn_law(chance), 6, []
    for name, limit in (("_SELDOM", F(2)), ("_FAR", 1), ("_FEWEST", 1)):
        monkeypatch.setattr(rare_draws, name, limit)
    law = replace(law, singular=F(1, 7))
    weights = [Ball(*(end * w for end in sides)) for w in law.weights]
    truth = exactly(law, n)
    groups = rare_draws.split(law, n)
    if groups is None:
        pytest.skip("no atom is rare and far beyond the others, or all are rare")
    common = [weight for _, weight in groups[0]]

    def answer(other: Law, messages: int) -> Bracket | None:
        value = exactly(Law(other.values, tuple(w / sum(common) for w in common)), messages)
        return Bracket(value, value, "exact", "exact", "") if valued else None

    def narrow(found: Bracket) -> bool:
        seen.append(found)
        return len(seen) > 2

    by_rare_draws(Law(law.values, tuple(weights), Ball(*(end / 7 for end in sides))), n, answer, narrow)
    for found in seen:
        assert found.lower <= truth <= found.upper


def test_a_value_is_the_same_with_and_without_rare_draws(monkeypatch):
    """A contour, which takes a hundred times as long, has the same number: of no rare draw, one, and two."""
    source = randomizer("oue").at(D=10, eps0="30")
    quick = [delta(source, n=10**5, eps=eps, rtol=1e-4).bracket for eps in ("15", "18.5")]
    monkeypatch.setattr(rare_draws, "by_rare_draws", lambda *_: None)
    slow = [delta(source, n=10**5, eps=eps, rtol=1e-2).bracket for eps in ("15", "18.5")]
    for one, other in zip(quick, slow, strict=True):
        assert other.lower <= one.upper and one.lower <= other.upper
        assert one.width <= one.upper / 10**4


@pytest.mark.parametrize("eps", ["1e-401", "1", "19", "19.97", "20.1", "21"])
def test_values_where_rare_draws_decide_take_no_time(eps):
    """Around 20 the drift of a billion users cancels a bit that is set by chance: two of them decide."""
    started = time.process_time()
    found = delta(randomizer("oue").at(D=10, eps0="40"), n=10**9, eps=eps).bracket
    assert found.aimed is None and found.lower > 0 and found.width <= found.upper / 10**6
    assert time.process_time() - started < 5


def test_levels_and_users_where_rare_draws_decide():
    source = randomizer("oue").at(D=10, eps0="40")
    found = epsilon(source, n=10**9, delta="1e-9").bracket
    above, below = (delta(source, n=10**9, eps=end).bracket for end in (found.lower * F(999, 1000), found.upper))
    assert below.lower <= F(1, 10**9) <= above.upper
    with pytest.raises(SymshuffleError):
        smallest_n(source, eps="1e-9", delta="1e-9")


def test_rare_sums_of_a_small_budget_are_those_of_a_lattice():
    """Atoms next to multiples of one number: what that neglects is felt only where a sum is at least 0."""
    started = time.process_time()
    found = delta(randomizer("oue").at(D=10, eps0="1e-400"), n=10**6, eps="1e-401").bracket
    assert time.process_time() - started < 5
    near = delta(randomizer("oue").at(D=10, eps0="1e-9"), n=10**6, eps="1e-10", rtol=1e-3).bracket
    assert "in units of" in found.evaluation
    assert found.aimed is None and found.width <= found.upper / 10**6
    assert found.lower * 10**391 <= near.upper * F(101, 100)
    assert near.lower <= found.upper * 10**391 * F(101, 100)


def test_atoms_next_to_0_are_0_on_a_lattice():
    """At a level next to 0 the law is next to that of level 0, and takes no contour of millions of nodes."""
    tiny = Ball(F(1, 10**40), F(2, 10**40))
    law = Law((-tiny, tiny * F(10**40), -tiny * F(10**40)), (F(1, 2), F(1, 4), F(1, 4)))
    assert law.in_units() is None  # a wide ball is no multiple
    near = Law((Ball(F(1, 10**40), F(2, 10**40)), F(1), F(-1)), (F(1, 2), F(1, 4), F(1, 4))).in_units()
    assert near is not None and sorted(near[0].values) == [-1, 0, 1] and near[2] <= F(2, 10**40)
    started = time.process_time()
    found, plain = (
        largest_eps0(randomizer("oue").at(D=10), n=51, eps=eps, delta="0.1").bracket for eps in ("1e-401", 0)
    )
    assert time.process_time() - started < 10
    assert found.lower <= plain.upper and plain.lower <= found.upper
    assert found.width <= found.upper / 10**5


@pytest.mark.parametrize(("name", "parameters"), [("krr", {"k": 3}), ("oue", {"D": 10})])
def test_the_usual_step_of_a_large_budget_leaves_few_levels(name, parameters, monkeypatch):
    monkeypatch.setattr(losses, "_USUAL_LEVELS", 100)
    found = privacy_loss_distribution(randomizer(name).at(eps0="5000", **parameters), n=2, rtol=1e-2)
    assert len(found.law.masses) <= 203
    assert found.law.step * (len(found.law.masses) // 2) >= 4999


def test_a_step_that_is_too_small_is_refused_with_one_that_is_not():
    source = randomizer("krr").at(k=3, eps0="4301")
    with pytest.raises(InputError) as refused:
        privacy_loss_distribution(source, n=1, step="0.1")
    assert F(re.search(r"at least ([0-9.]+)", str(refused.value))[1]) * 20_000 >= 4301


def test_rare_draws_of_a_density_take_no_contour(monkeypatch):
    asked, bracket = [], Contour.bracket
    monkeypatch.setattr(Contour, "bracket", lambda self, law, n: (asked.append(law.kind), bracket(self, law, n))[1])
    found = delta(randomizer("laplace").at(eps0="40", domain="binary"), n=10, eps="1/1000", adjacency="zero-out")
    assert "atoms" not in asked
    assert 0 < found.bracket.relative_width < F(1, 10**4)


def test_more_rare_values_than_python_nests_calls():
    rare = tuple(F(10**9 + i) for i in range(1100))
    law = Law((F(0), F(-1), *rare), (F(1, 2) - F(1100, 10**14), F(1, 2), *[F(1, 10**14)] * 1100))
    found = evaluate(law, 20, Method(rtol=1e-4))
    assert "up to 1 of 20 draws are rare values" in found.evaluation
    assert found.relative_width < F(1, 10**4)
