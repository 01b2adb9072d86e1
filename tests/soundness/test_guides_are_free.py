"""What is listed as a guide is replaced by bad versions: an answer may get wide or be refused, but not wrong.

Every truth comes by another road than the answer: from the exact engine, which no listed guide leads, from a bisection
of its values, from a closed form, or from a minimum in plain doubles.
"""

import importlib
import math
import random
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import symshuffle
from symshuffle.design.decision.tradeoff import bayes_tradeoff
from symshuffle.design.named.weighted import weighted_guessing_problem, weighted_guessing_risk
from symshuffle.engines.ball import BallContour
from symshuffle.engines.contour import Contour
from symshuffle.engines.counts import Counts
from symshuffle.engines.exact import Exact
from symshuffle.errors import NotDecided, Unsupported
from symshuffle.vectors.optimal import bmg_optimal
from tests.guides import GUIDES

KRR = symshuffle.mechanism("krr").at(k=3, lam=3)
OFF_LATTICE = Fraction(1, 5)  # as eps: exp(eps) is irrational, and G has no lattice
N, LEVEL, TARGET = 8, Fraction(6, 5), Fraction(1, 50)
PRIOR = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
Change = Callable[[Any, random.Random], Callable[..., Any]]


def exactly(n, **level):
    return symshuffle.delta(KRR, n=n, engine=Exact(), rigour=None, **level).bracket


@cache
def value():
    found = exactly(N, exp_eps=LEVEL)
    return found.lower, found.upper


@cache
def value_off_lattice():
    found = exactly(N, eps=OFF_LATTICE)
    return found.lower, found.upper


@cache
def crossing():
    """Bisection of exact values, to 1e-3."""
    low, high = Fraction(0), Fraction(2)
    while high - low > Fraction(1, 1000):
        middle = (low + high) / 2
        low, high = (middle, high) if exactly(N, eps=middle).lower > TARGET else (low, middle)
    return low, high


@cache
def fewest():
    n = next(n for n in range(1, 60) if exactly(n, exp_eps=LEVEL).upper <= TARGET)
    return Fraction(n - 1), Fraction(n)


@cache
def least_error():
    """F of bmg_optimal on a grid in doubles: the minimum to a few digits."""
    a = np.linspace(1e-4, 1 - 1e-4, 200_001)
    found = float(((1 / (a**2 * np.log1p((1 - a) / (a * 100) ** 2))) + (1 - a) / a).min())
    return Fraction(found * (1 - 1e-6)), Fraction(found * (1 + 1e-6))


def risk():
    return (weighted_guessing_risk(PRIOR, 3)[0],) * 2


def by(engine, **level):
    level = level or {"exp_eps": LEVEL}
    return lambda: symshuffle.delta(KRR, n=N, engine=engine, rigour=None, rel=1e-1, **level).bracket


DOORS = {
    "contour": (by(Contour(rel=1e-2)), value),
    "smoothed": (by(Contour(rel=1e-1), eps=OFF_LATTICE), value_off_lattice),
    "ball": (by(BallContour(rel=1e-1), eps=OFF_LATTICE), value_off_lattice),
    "counts": (by(Counts(rel=1e-2)), value),
    "epsilon": (lambda: symshuffle.epsilon(KRR, n=N, delta=TARGET, rel=1e-2).bracket, crossing),
    "confirmed": (lambda: symshuffle.epsilon(KRR, n=N, delta=TARGET, rel=1e-2, rigour="ball").bracket, crossing),
    "users": (lambda: symshuffle.solve_n(KRR, exp_eps=LEVEL, delta=TARGET).bracket, fewest),
    "risk": (lambda: bayes_tradeoff(weighted_guessing_problem(PRIOR), 3).value, risk),
    "error": (lambda: bmg_optimal(100, 1).bracket, least_error),
}


def scaled(power):
    """The value times a random factor, or its inverse, up to ten to a power."""
    return lambda old, draw: (
        lambda *given, **named: old(*given, **named) * type(old(*given, **named))(10 ** draw.uniform(-power, power))
    )


def stuck(found) -> Change:
    return lambda old, draw: lambda *given, **named: found


def changed(change) -> Change:
    """The value after a change that may draw."""
    return lambda old, draw: lambda *given, **named: change(old(*given, **named), draw)


def narrower(windows, draw):
    middle = [(low + high) // 2 for low, high in zip(windows.low, windows.high, strict=True)]
    return replace(windows, c=windows.c * 10 ** draw.uniform(-1, 1), low=middle, high=middle)


def elsewhere(windows, draw):
    """Windows that may miss the mean."""
    ends = [sorted(draw.choices(range(N + 1), k=2)) for _ in windows.low]
    return replace(windows, low=[low for low, _ in ends], high=[high for _, high in ends])


def shuffled_basis(found, draw):
    columns, rows = found
    return columns[: len(rows) - 1], rows[: len(rows) - 1]


def moved(found, draw):
    """Places to look at, moved by up to a tenth, and at a width as coarse as any."""
    return [(max(Fraction(1), round(x * Fraction(draw.uniform(0.9, 1.1)))), 1e-3) for x, _ in found]


def below_the_mean(first):
    """Of the likeliest atoms only counts far below the mean, of all others all counts."""
    return lambda old, draw: lambda n, share, quiet: (0, 0) if share * n > first else (0, n)


def above_the_mean(first):
    return lambda old, draw: lambda n, share, quiet: (n, n) if share * n > first else (0, n)


WILD = (scaled(0.5), scaled(2))
S, W, A, G = (
    "symshuffle.engines.saddle.",
    "symshuffle.engines.count_windows.",
    "symshuffle.accountants.search.",
    "symshuffle.accountants.guided.",
)
BAD: dict[str, tuple[str, tuple[Change, ...]]] = {
    S + "saddle_point": ("contour smoothed ball", (*WILD, stuck(1.0))),
    S + "spread_out": ("contour smoothed", (stuck(True), stuck(False))),
    S + "widths": ("contour smoothed", (stuck([0.3]), stuck([0.3, 1e-9]))),
    S + "tail_slopes": ("contour smoothed ball", (stuck([0.05, 0.05]), stuck([1.0, 1.0]), stuck([50.0, 50.0]))),
    S + "_reach": ("contour smoothed ball", (scaled(0.5), stuck(1e-3), stuck(1e3))),
    S + "_tail_exponent": ("contour smoothed ball", (stuck(1e9), scaled(0.5))),
    W + "Windows.choose": ("counts", (changed(narrower), *4 * (changed(elsewhere),))),
    W + "_window": (
        "counts",
        (
            stuck((0, 0)),
            stuck((N, N)),
            stuck((0, N)),
            stuck((3, 5)),
            *map(below_the_mean, (1.2, 2, 3)),
            *map(above_the_mean, (1.2, 2, 3)),
        ),
    ),
    W + "_slope": ("counts", (stuck(0.0), scaled(1))),
    A + "_guess": ("plain", (scaled(0.05), stuck(Fraction(1, 3)))),
    A + "_candidates": ("plain", (stuck([Fraction(1, 3)]), changed(lambda old, draw: reversed([*old])))),
    A + "_fine_enough": ("confirmed", (stuck(1e-2), stuck(0.5))),
    G + "_next": ("users", (stuck([]), stuck([(Fraction(1), 1e-3)]), changed(moved))),
    G + "_predicted": ("users", (stuck(None), stuck((1.0, 0.0, 1e-3)), stuck((60.0, 1.0, 1e3)))),
    G + "interpolation": ("users", (stuck(lambda t: 0.0), stuck(lambda t: 1e3), stuck(lambda t: -t))),
    G + "_useful": ("users", (changed(lambda found, draw: found[:1]),)),
    G + "_inside": ("users", (stuck((0.0, 30.0)), stuck((1.0, 0.0)))),
    G + "_plain": ("blind", (stuck(None), stuck(Fraction(1)), stuck(Fraction(50)))),
    G + "_either_side": ("users", (stuck([Fraction(1)]), stuck([Fraction(5), Fraction(50)]))),
    G + "_finer": ("users", (stuck(1e-3), stuck(1e-13))),
    "symshuffle.geometry.linprog._highs_basis": ("risk", (changed(shuffled_basis), stuck(([], [])), stuck(([0], [0])))),
    "symshuffle.vectors.optimal._guess": ("error", (stuck(Fraction(1, 2)), stuck(Fraction(1, 10**6)))),
}
"""The public doors through which each guide is reached, and its bad versions."""


def owner_of(name):
    """The module or class that holds a guide, and its name there."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            owner = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:-1]:
            owner = getattr(owner, part)
        return owner, parts[-1]
    raise AssertionError(name)


def replaced(patch, name, change, draw):
    """Put a bad version everywhere the guide was imported, and count how often it is asked."""
    owner, last = owner_of(name)
    old, calls = getattr(owner, last), []
    bad = change(old, draw)

    def counted(*given, **named):
        calls.append(1)
        return bad(*given, **named)

    patch.setattr(owner, last, counted)
    for module in [m for key, m in sys.modules.items() if key.startswith("symshuffle.")]:
        if vars(module).get(last) is old:
            patch.setattr(module, last, counted)
    return calls


def reached(patch, door):
    """The door itself; some guides are asked only where others lead nowhere."""
    if door == "plain":
        patch.setattr("symshuffle.accountants.guided._next", lambda *given: [])
        return DOORS["epsilon"]
    if door == "blind":
        patch.setattr("symshuffle.accountants.guided._predicted", lambda *given: None)
        return DOORS["users"]
    return DOORS[door]


def test_every_guide_that_is_listed_is_tried_and_no_other():
    assert set(BAD) == set(GUIDES)
    assert all(len(reason) > 10 for reason in GUIDES.values())


@pytest.mark.parametrize("door", DOORS)
def test_the_truth_that_answers_are_compared_with_is_another_and_sharp(door):
    answer, truth = DOORS[door]
    (low, high), found = truth(), answer()
    assert found.lower <= high
    assert low <= found.upper
    assert high - low <= Fraction(1, 100) * high or door == "users"


@pytest.mark.parametrize(
    ("name", "door", "number"),
    [(name, door, i) for name, (doors, bad) in BAD.items() for door in doors.split() for i in range(len(bad))],
)
def test_an_answer_is_true_whatever_a_guide_says(name, door, number, monkeypatch):
    bad = BAD[name][1]
    answer, truth = DOORS[{"plain": "epsilon", "blind": "users"}.get(door, door)]
    low, high = truth()
    with monkeypatch.context() as patch:
        reached(patch, door)
        calls = replaced(patch, name, bad[number], random.Random(f"{name} {number}"))
        try:
            found = answer()
        except (NotDecided, Unsupported):
            found = None
    assert calls, "the guide was not asked"
    if found is not None:
        assert found.lower <= high, (name, number)
        assert low <= found.upper, (name, number)
        assert math.isfinite(found.upper)
