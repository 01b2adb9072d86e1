"""What is listed as a guide is replaced by bad versions: an answer may get wide or be refused, but not wrong."""

import importlib
import math
import random
import sys
from fractions import Fraction

import flint
import pytest

from symshuffle.base.errors import NotDecided, Unsupported
from symshuffle.base.numbers import working_precision
from tests.guides import GUIDES, SEEN_THROUGH, tuned
from tests.soundness.guide_doors import DOORS


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
        patch.setattr("symshuffle.accountants.bounds.guided._next", lambda *given: [])
        return DOORS["epsilon"]
    if door == "blind":
        patch.setattr("symshuffle.accountants.bounds.guided._predicted", lambda *given: None)
        return DOORS["users"]
    return DOORS[door]


@pytest.mark.parametrize("door", DOORS)
def test_the_truth_that_answers_are_compared_with_is_another_and_sharp(door):
    answer, truth = DOORS[door]
    (low, high), found = truth(), answer()
    assert found.lower <= high
    assert low <= found.upper
    assert high - low <= Fraction(1, 100) * high or door == "users"


@pytest.mark.parametrize(
    ("name", "door", "number"),
    [(name, door, i) for name, (doors, bad) in GUIDES.items() for door in doors.split() for i in range(len(bad))],
)
def test_an_answer_is_true_whatever_a_guide_says(name, door, number, monkeypatch):
    bad = GUIDES[name][1]
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


def moved(constant, draw):
    """A constant between half and twice of it, of its own type."""
    if isinstance(constant, tuple):
        return tuple(sorted((moved(one, draw) for one in constant), reverse=constant[0] > constant[-1]))
    if isinstance(constant, int):
        return max(1, round(constant * 2 ** draw.uniform(-1, 1)))
    return constant * type(constant)(2 ** draw.uniform(-1, 1))


def turned(patch, module, names, draw):
    """Move constants of a module, wherever they were imported."""
    owner = importlib.import_module(module)
    for name in names:
        if "." in name:
            where, key = tuned(module, name)
            patch.setitem(where, key, moved(where[key], draw))
            continue
        old = getattr(owner, name)
        new = moved(old, draw)
        for other in [m for key, m in sys.modules.items() if key.startswith("symshuffle.")]:
            if vars(other).get(name) is old:
                patch.setattr(other, name, new)


@pytest.mark.parametrize(
    ("module", "door", "number"),
    [(name, door, i) for name, (doors, _) in SEEN_THROUGH.items() for door in doors.split() for i in range(3)],
)
def test_an_answer_is_true_however_it_is_tuned(module, door, number, monkeypatch):
    answer, truth = DOORS[door]
    low, high = truth()
    names = SEEN_THROUGH[module][1].split()
    with monkeypatch.context() as patch:
        turned(patch, f"symshuffle.{module}", names, random.Random(f"{module} {number}"))
        try:
            found = answer()
        except (NotDecided, Unsupported):
            return
    assert found.lower <= high
    assert low <= found.upper


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("door", ["ball", "confirmed", "laplace_in_balls", "density", "few", "rounds", "period"])
def test_an_answer_is_true_at_whatever_precision_balls_are_computed(door, number, monkeypatch):
    answer, truth = DOORS[door]
    low, high = truth()
    draw, asked = random.Random(f"{door} {number}"), []

    def precision(bits):
        asked.append(bits)
        return flint.ctx.workprec(max(24, int(bits * draw.uniform(0.5, 1.3))))

    with monkeypatch.context() as patch:
        for module in [m for key, m in sys.modules.items() if key.startswith("symshuffle.")]:
            if vars(module).get("working_precision") is working_precision:
                patch.setattr(module, "working_precision", precision)
        try:
            found = answer()
        except (NotDecided, Unsupported):
            found = None
    assert asked
    if found is not None:
        assert found.lower <= high
        assert low <= found.upper
