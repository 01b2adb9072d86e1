"""Curves are monotone in eps, n, delta, order and noise; upper ends, too, up to the widths that they state."""

import itertools
import random
from fractions import Fraction as F
from typing import Any

import pytest

from symshuffle import SymshuffleError, any_ldp, delta, profile, randomizer, renyi, tradeoff
from symshuffle.accountants import amplification_curve
from symshuffle.vectors import BlanketMixedGaussian, LocalGaussian, LocalLaplace

NAMED = (
    ("rr", {}),
    ("krr", {"k": 10}),
    ("oue", {"D": 10}),
    ("subset-selection", {"k": 10, "s": 4}),
    ("blh", {}),
    ("hadamard", {"D": 8}),
    ("laplace", {"domain": "binary"}),
)
BUDGETS = ("1e-3", "0.1", "1", "4", "12", "40")
USERS, FEW = (1, 2, 3, 10, 100, 1000), (1, 2, 3, 10)
LEVELS = (F(0), F(1, 10**6), F(1, 1000), F(1, 100), F(1, 10), F(1, 2), F(1), F(3), F(11), F(20), F(39))
KINDS = ("profile", "group", "dropout", "zero-out", "amplification", "f-dp", "renyi", "budget")


def check_falls(found: list[Any], said: object) -> None:
    """Of brackets of numbers that fall, no later one is above an earlier one, and no end above by more than a width."""
    for before, after in itertools.combinations(found, 2):
        assert after.lower <= before.upper, said
        width = max([F(2, 10**6), *(one.relative_width for one in (before, after) if one.upper)])
        assert after.upper <= before.upper * (1 + width), said


def answers(asked: Any) -> Any:
    """What is answered; None where the library refuses in one line."""
    try:
        return asked()
    except SymshuffleError as refusal:
        assert "\n" not in str(refusal)
        return None


def known(found: list[Any]) -> list[Any]:
    """All that was answered."""
    return [one for one in found if one is not None]


def check_curve(seed: int, sources: Any = NAMED, many: Any = USERS) -> None:
    """One drawn curve."""
    chance = random.Random(f"curve {seed}")
    kind, (name, values), budget, n = (chance.choice(one) for one in (KINDS, sources, BUDGETS, many))
    said = f"{kind} {name} {budget} {n}"
    source = randomizer(name).at(eps0=budget, **values)
    if kind == "amplification":
        goal = chance.choice(("1e-12", "1e-6", "1e-2", "1/2"))
        curve = answers(lambda: amplification_curve(source, delta=goal, users=many))
        check_falls([] if curve is None else [point.y for point in curve.points], said)
        return
    if kind == "f-dp":
        alphas = [F(i, 8) for i in range(9)]
        curve = answers(lambda: tradeoff(source, n=n, type_i=alphas, num_levels=12))
        ends = [] if curve is None else [point.y.lower for point in curve.points]
        assert all(after <= before for before, after in itertools.pairwise(ends)), said
        return
    if kind == "renyi":
        orders = [answers(lambda a=a: renyi(source, n=min(n, 100), order=a).bracket) for a in (64, 8, 3, 2, "3/2")]
        check_falls(known(orders), said)
        return
    if kind == "budget":
        level = chance.choice(LEVELS)
        of = (lambda b: any_ldp(eps0=b)) if chance.random() < 0.5 else (lambda b: randomizer("krr").at(k=10, eps0=b))
        check_falls(known([answers(lambda b=b: delta(of(b), n=n, eps=level).bracket) for b in BUDGETS[::-1]]), said)
        return
    whom: dict[str, Any] = {
        "profile": {},
        "group": {"group_size": min(2, n)},
        "zero-out": {"adjacency": "zero-out"},
    }.get(kind, {"dropout": "1/3"})
    curve = answers(lambda: profile(source, n=min(n, 10) if "dropout" in whom else n, eps=LEVELS, **whom))
    check_falls([] if curve is None else [point.y for point in curve.points], said)
    if kind != "dropout":
        level = chance.choice(LEVELS)
        users = [m for m in many if m >= whom.get("group_size", 1)]
        check_falls(known([answers(lambda m=m: delta(source, n=m, eps=level, **whom).bracket) for m in users]), said)


@pytest.mark.parametrize("seed", range(22))
def test_curves_are_monotone(seed):
    check_curve(seed, NAMED[:4], FEW)


@pytest.mark.conformance
@pytest.mark.parametrize("seed", range(600))
def test_curves_are_monotone_in_full(seed):
    check_curve(seed)


NOISY = {
    "gaussian": lambda s: LocalGaussian(sigma0=s),
    "laplace": lambda s: LocalLaplace(scale=F(s)),
    "bmg": lambda s: BlanketMixedGaussian(gamma="1/4", sigma0=s),
}


def check_noise(family: str, n: int, adjacency: str) -> None:
    """More noise, more users and larger eps: smaller delta."""
    for eps in ("0", "1/10", "1", "3"):
        found = [
            answers(lambda s=s, e=eps: delta(NOISY[family](s), n=n, eps=e, adjacency=adjacency, rtol=1e-3).bracket)
            for s in ("1/2", "1", "2", "8")
        ]
        check_falls(known(found), f"{family} {n} {adjacency} {eps}")


@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_vectors_are_monotone_in_noise(family):
    check_noise(family, 1, "replace-one")


@pytest.mark.conformance
@pytest.mark.parametrize("adjacency", ["replace-one", "zero-out"])
@pytest.mark.parametrize("n", [1, 20, 10**4])
@pytest.mark.parametrize("family", NOISY)
def test_vectors_are_monotone_in_noise_in_full(family, n, adjacency):
    check_noise(family, n, adjacency)


@pytest.mark.parametrize("eps", ["2", "3"])
def test_an_upper_end_without_a_lower_one_is_not_that_of_one_user(eps):
    noisy = delta(BlanketMixedGaussian(gamma="1/4", sigma0=8), n=10**4, eps=eps, rtol=1e-3).bracket
    assert noisy.upper < F(1, 10**140)
