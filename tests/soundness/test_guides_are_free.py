"""What is listed as a guide is replaced by bad versions: an answer may get wide or be refused, but not wrong."""

import importlib
import math
import random
import sys
from fractions import Fraction

import pytest

from symshuffle.errors import NotDecided, Unsupported
from tests.guides import GUIDES
from tests.soundness.guide_doors import BAD, DOORS


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
