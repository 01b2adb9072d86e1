"""Questions at the edges of the domain: each is answered, its ends are certified, and it takes seconds."""

import itertools
import math
import random
import signal
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import pytest

from symshuffle import (
    Law,
    SymshuffleError,
    any_ldp,
    delta,
    epsilon,
    largest_eps0,
    privacy_loss_distribution,
    profile,
    randomizer,
    renyi,
    smallest_n,
    tradeoff,
)
from symshuffle.accountants import amplification_curve
from symshuffle.accountants.bounds import rare_atoms
from symshuffle.accountants.bounds.evaluate import Method, evaluate
from symshuffle.accountants.bounds.rare_atoms import without_rare_atoms
from symshuffle.accountants.renyi import refined_profile
from symshuffle.base.numbers import Ball, Exp, to_arb, working_precision
from symshuffle.base.results import Bracket

RATIONAL = Method(arithmetic="exact")
SECONDS = 20


def exactly(law: Law, n: int) -> F:
    """H(n), in rationals."""
    value = evaluate(law, n, RATIONAL).exact
    assert value is not None
    return value


def drawn_law(chance: random.Random) -> Law:
    """A law of a few values, some of little weight, with a mean that is usually below 0."""
    size = chance.randint(2, 5)
    values = chance.sample([F(x) for x in (-60, -7, -3, -1, 0, 1, 2, 5, 40, 900)], size)
    shares = [F(1, chance.choice((1, 2, 5, 60, 4000, 10**6))) for _ in values]
    total = sum(shares)
    return Law(tuple(values), tuple(share / total for share in shares), F(chance.choice((0, 0, 1)), 7))


@pytest.mark.parametrize("seed", range(60))
def test_a_law_without_its_rare_atoms_brackets_the_bound(seed, monkeypatch):
    chance = random.Random(f"rare {seed}")
    law, n = drawn_law(chance), chance.randint(1, 6)
    monkeypatch.setattr(rare_atoms, "_RARE", (F(1, chance.choice((20, 300))),))
    monkeypatch.setattr(rare_atoms, "_FAR_FROM_ONE", 1)

    def answer(common: Law) -> Bracket:
        return evaluate(common, n, RATIONAL)

    found = without_rare_atoms(law, n, 1e-6, answer)
    if found is None:
        pytest.skip("no atom is rare, or all are")
    assert found.lower <= exactly(law, n) <= found.upper
    assert found.aimed is None or found.width > F(1e-6) * found.upper


@pytest.mark.parametrize("sides", [(F(9, 10), F(1)), (F(1), F(11, 10))], ids=["up to it", "from it"])
@pytest.mark.parametrize("seed", range(40))
def test_rare_atoms_apart_have_weights_and_masses_at_their_own_ends(seed, sides, monkeypatch):
    """Probabilities that are known by balls, of a law that is at an end of all of them."""
    chance = random.Random(f"rare {seed}")
    law, n = replace(drawn_law(chance), singular=F(1, 7)), chance.randint(1, 6)
    monkeypatch.setattr(rare_atoms, "_RARE", (F(1, chance.choice((20, 300))),))
    monkeypatch.setattr(rare_atoms, "_FAR_FROM_ONE", 1)
    answers: list[Bracket] = []

    def answer(common: Law) -> Bracket:
        answers.append(evaluate(common, n, RATIONAL))
        return answers[-1]

    if without_rare_atoms(law, n, 1e-6, answer) is None:
        pytest.skip("no atom is rare, or all are")
    known = F(1) if chance.randint(0, 1) else rare_atoms._RARE[0]
    weights = tuple(Ball(*(end * w for end in sides)) if w < known else w for w in law.weights)
    unsure = Law(law.values, weights, Ball(*(end / 7 for end in sides)))
    found = without_rare_atoms(unsure, n, 1e-6, lambda _: answers.pop(0))  # of the same parts
    assert found.lower <= exactly(law, n) <= found.upper


@pytest.mark.parametrize("n", [1, 3])
def test_what_the_largest_atom_adds_is_at_the_upper_end_of_its_weight(n, monkeypatch):
    monkeypatch.setattr(rare_atoms, "_RARE", (F(1, 20),))
    values, weight = (F(-1), F(1), F(30)), F(1, 30)
    law, unsure = (Law(values, (F(1, 2), F(7, 15), w)) for w in (weight, Ball(weight * F(9, 10), weight)))
    found = without_rare_atoms(unsure, n, 1e-6, lambda common: evaluate(common, n, RATIONAL))
    assert found.lower <= exactly(law, n) <= found.upper


def test_of_wide_answers_each_end_is_used_on_its_own_side(monkeypatch):
    """An answer twice too wide widens both ends: the lower one is made of the lower end, the upper of the upper."""
    monkeypatch.setattr(rare_atoms, "_RARE", (F(1, 10),))
    law = Law((F(-1), F(1), F(30)), (F(1, 2), F(9, 20), F(1, 20)))

    def answer(common: Law) -> Bracket:
        value = exactly(common, 3)
        return Bracket(value / 2, 2 * value, "ball", "", "")

    found = without_rare_atoms(law, 3, 1e-6, answer)
    narrow = without_rare_atoms(law, 3, 1e-6, lambda common: evaluate(common, 3, RATIONAL))
    assert found is not None and narrow is not None
    assert found.lower < narrow.lower <= exactly(law, 3) <= narrow.upper < found.upper


def krr(budget: str, k: int = 3) -> Any:
    """Randomized response of k inputs."""
    return randomizer("krr").at(k=k, eps0=budget)


def oue(budget: str) -> Any:
    """Optimized unary encoding of ten values."""
    return randomizer("oue").at(D=10, eps0=budget)


def test_a_message_seen_with_a_tiny_probability_hides_nobody():
    """Of unary encoding the one bit that is set is set by no other user: half of the time it tells the input."""
    found = delta(oue("5000"), n=10**6, eps="1e-9").bracket
    assert found.aimed is None
    assert F(1, 2) - F(1, 10**5) <= found.lower <= found.upper <= F(1, 2) * (1 + F(1, 10**6))


@pytest.mark.parametrize("n", [10, 10**9])
@pytest.mark.parametrize("source", [any_ldp(eps0="1e-400"), krr("1e-400")], ids=["any-ldp", "krr"])
def test_a_divergence_grows_with_the_square_of_a_small_budget(source, n):
    """A budget 10^-400 has 10^-400 times the loss, and its square times the divergence, of one at 10^-4."""
    found = renyi(source, n=n, order=2).bracket
    larger = any_ldp(eps0="1e-4") if source == any_ldp(eps0="1e-400") else krr("1e-4")
    near = renyi(larger, n=n, order=2).bracket
    scale = F(10) ** (2 * 396)
    assert found.aimed is None
    assert found.lower * scale <= near.upper * F(1001, 1000)
    assert near.lower <= found.upper * scale * F(1001, 1000)


def test_fewest_users_of_a_small_budget_and_target():
    asked = {"eps": "1e-401", "delta": "1e-1000"}
    found = smallest_n(krr("1e-400"), **asked).bracket
    assert found.upper - found.lower == 1
    for n, above in ((found.lower, True), (found.upper, False)):
        value = delta(krr("1e-400"), n=int(n), eps="1e-401", rtol=1e-9).bracket
        assert value.lower > F(1, 10**1000) if above else value.upper <= F(1, 10**1000)


def pair_divergence(budget: F, k: int, alpha: F) -> Ball:
    """The divergence of two rows of k-ary randomized response, in closed form."""
    with working_precision(8000):
        lam = to_arb(Exp(budget))
        total = lam + k - 1
        if alpha == 1:
            return Ball.from_arb((lam - 1) * to_arb(budget) / total, 8000)
        order = to_arb(alpha)
        log = to_arb(budget)
        ratios = (log * order).exp() + (log * (1 - order)).exp() + (k - 2)
        return Ball.from_arb((ratios / total).log() / (order - 1), 8000)


@pytest.mark.parametrize("alpha", ["1", "1.001", "2", "64", "10000"])
@pytest.mark.parametrize(
    ("budget", "k"), [("1e-400", 3), ("1e-12", 3), ("8", 1000), ("40", 3), ("750", 3), ("5000", 3)]
)
def test_of_one_user_the_divergence_is_that_of_two_rows(budget, k, alpha):
    found = renyi(krr(budget, k), n=1, order=alpha).bracket
    truth = pair_divergence(F(budget), k, F(alpha))
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper
    assert found.aimed is not None or found.width <= found.upper / 1000
    assert found.upper <= F(budget) * F(1000001, 1000000)


def test_the_last_order_is_not_below_the_largest_level():
    last = refined_profile._order(F(5000))
    with working_precision(8000):
        assert Ball.from_arb(to_arb(Exp(F(5000))), 8000).upper <= last


@pytest.mark.parametrize("factor", [F(1, 10**6), F(1, 30), F(30), F(10**6)])
def test_a_grid_that_starts_far_off_ends_at_the_same_divergence(factor, monkeypatch):
    """Where to look first is a guess: whether it is far below or above the scale of a round, the ends hold."""
    plain = refined_profile.OneRound.unit
    monkeypatch.setattr(refined_profile.OneRound, "unit", lambda one: plain(one) * factor)
    for budget, alpha in (("1", "2"), ("1e-12", "1.5"), ("40", "64")):
        found = renyi(krr(budget), n=1, order=alpha).bracket
        truth = pair_divergence(F(budget), 3, F(alpha))
        assert found.lower <= truth.upper and truth.lower <= found.upper


def test_no_laplace_noise_is_too_strong():
    for n in (1, 51, 10**9):
        found = delta(randomizer("laplace").at(eps0="1e-400"), n=n, eps=0).bracket
        assert 0 <= found.lower <= found.upper <= F(1, 10**400)
    alone = delta(randomizer("laplace").at(eps0="1e-400"), n=1, eps=0).bracket
    assert alone.width <= alone.upper / 10**6  # one half of the budget
    assert abs(alone.upper * 2 * 10**400 - 1) < F(1, 10**6)


class Late(Exception):
    """A question took longer than it may."""


@contextmanager
def limited(seconds: int) -> Any:
    """Stop after so many seconds of this process."""

    def late(*_: object) -> None:
        raise Late

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


OPEN = {"krr": randomizer("krr").at(k=3), "oue": randomizer("oue").at(D=10), "any-ldp": any_ldp()}
BUDGETS = ("1e-400", "1e-12", "40", "750", "5000")
USERS = (1, 2, 51, 10**9)
LEVELS = ("0", "1e-401", "1e-9", "1", "39", "700", "4999")
TARGETS = ("1e-1000", "1e-320", "1e-9", "0.1", str(1 - F(1, 10**12)))
ORDERS = ("1", "1.5", "2", "64", "10000")

CELLS = [
    *itertools.product(("delta",), OPEN, BUDGETS, USERS, LEVELS, ("",)),
    *itertools.product(("epsilon",), OPEN, BUDGETS, USERS, ("",), TARGETS),
    *itertools.product(("renyi",), OPEN, BUDGETS, USERS, ORDERS, ("",)),
    *itertools.product(("smallest-n",), OPEN, BUDGETS, (1,), LEVELS[:4], TARGETS[:4]),
    *itertools.product(("largest-eps0",), OPEN, BUDGETS[:1], USERS[:3], LEVELS, TARGETS),
    *itertools.product(("curves", "tradeoff"), OPEN, BUDGETS, USERS, ("",), ("",)),
    *itertools.product(("pld",), OPEN, BUDGETS[1:], USERS, ("",), ("",)),
]
"""Question, source, budget, users, level or order, target. A budget of 10^-400 has no losses in doubles, and of
10^9 users the values next to the largest budget that meets a target take a contour some seconds each."""


def source_of(name: str, budget: str) -> Any:
    """A source by name."""
    return any_ldp(eps0=budget) if name == "any-ldp" else OPEN[name].at(eps0=budget)


def check_ends(found: Bracket) -> None:
    """A bracket has its ends in order."""
    assert 0 <= found.lower <= found.upper


def check_cell(cell: Any) -> None:
    """A question is answered; it is refused only where a value of delta shows that there is no answer."""
    question, name, budget, n, level, target = cell
    source = source_of(name, budget)
    if question == "delta":
        check_ends(delta(source, n=n, eps=level).bracket)
    elif question == "epsilon":
        check_ends(epsilon(source, n=n, delta=target).bracket)
    elif question == "renyi":
        check_ends(renyi(source, n=n, order=level).bracket)
    elif question == "smallest-n":
        try:
            check_ends(smallest_n(source, eps=level, delta=target).bracket)
        except SymshuffleError:
            assert delta(source, n=10**15, eps=level).bracket.upper > F(target)
    elif question == "largest-eps0":
        try:
            check_ends(largest_eps0(OPEN[name], n=n, eps=level, delta=target).bracket)
        except SymshuffleError:
            assert delta(source_of(name, "5000"), n=n, eps=level).bracket.lower <= F(target)
    elif question == "curves":
        profile(source, n=n, eps=LEVELS[:5])
        amplification_curve(source, delta="1e-9", users=[n, 2 * n])
    elif question == "tradeoff":
        ends = tradeoff(source, n=n, type_i=[0, "1/2", 1], num_levels=6).points
        assert all(0 <= point.y.lower <= 1 for point in ends)
    else:
        assert math.isfinite(float(privacy_loss_distribution(source, n=n).law.infinity))


def drawn(kind: str, size: int) -> list[Any]:
    """Some of the cells of a question."""
    own = [cell for cell in CELLS if cell[0] == kind]
    return random.Random(f"edges {kind}").sample(own, size)


SLICE = [
    cell for kind in ("delta", "epsilon", "renyi", "smallest-n", "largest-eps0", "curves") for cell in drawn(kind, 5)
]


@pytest.mark.parametrize("cell", SLICE, ids=lambda cell: "-".join(map(str, cell)))
def test_edges_are_answered(cell):
    check_cell(cell)


TOO_LONG = {
    ("renyi", "oue", "40", 10**9, "10000", ""): "values down to 10^-5000000 count at so large an order: minutes in "
    "rationals of as many digits",
}
"""Cells that take longer than they may, and why; one that no longer does fails here, to be taken off the list."""


def listed(cell: Any) -> Any:
    """A cell, expected to be late where it is listed."""
    reason = TOO_LONG.get(cell)
    late = () if reason is None else (pytest.mark.xfail(raises=Late, reason=reason),)
    return pytest.param(cell, marks=late, id="-".join(map(str, cell)))


@pytest.mark.conformance
@pytest.mark.parametrize("cell", [listed(cell) for cell in CELLS])
def test_edges_are_answered_in_full(cell):
    with limited(SECONDS):
        check_cell(cell)
