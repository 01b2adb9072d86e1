"""What takes a channel or a level refuses every other kind by name, wherever it stands; found in the signatures."""

import importlib
import inspect
import pkgutil
from decimal import Decimal
from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pytest

import symshuffle
from symshuffle import Channel, InputError, optimal_decomposition, randomizer
from symshuffle.decompositions.closed_forms import closed_form
from symshuffle.mechanisms.continuous import Laplace
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.likelihood.law import LikelihoodRatio

W = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
WRONG = (object(), True, None, "x", b"x", F(1), 2, [1], Decimal("0.1"), Path("folder.csv"), Channel)
INNER = ("symshuffle.accountants.deployment.listed", "symshuffle.cli")
"""They see only what a front door has read."""


def doors():
    """Every public function and constructor with an argument that is a channel, and the name of that argument."""
    for module in pkgutil.walk_packages(symshuffle.__path__, "symshuffle."):
        if module.name.startswith(INNER) or module.name.endswith("__main__"):
            continue
        here = importlib.import_module(module.name)
        for name, thing in vars(here).items():
            if name.startswith("_") or getattr(thing, "__module__", None) != module.name:
                continue
            found = [(name, thing)] if inspect.isfunction(thing) else []
            if inspect.isclass(thing):
                found = [
                    (f"{name}.{method}", getattr(thing, method))
                    for method, raw in vars(thing).items()
                    if isinstance(raw, classmethod) and not method.startswith("_")
                ]
            for label, door in found:
                for argument, parameter in inspect.signature(door).parameters.items():
                    if parameter.annotation == "Channel":
                        yield pytest.param(door, argument, id=f"{module.name}.{label}-{argument}")


def filled(parameter):
    """A value of the kind that the annotation of another argument says."""
    kind = str(parameter.annotation)
    for part, value in (
        ("Channel", W), ("Population", "fixed"), ("tuple[int, int]", (0, 1)), ("Sequence[int]", (0, 1)),
        ("Sequence", ((F(1), F(0)), (F(0), F(1)))), ("Rows", ((F(1), F(0)), (F(0), F(1)))), ("int", 2),
    ):  # fmt: skip
        if part in kind:
            return value
    return F(2)


@pytest.mark.parametrize(("door", "argument"), list(doors()))
def test_what_is_no_channel_is_refused_by_name(door, argument):
    given = {
        name: filled(parameter)
        for name, parameter in inspect.signature(door).parameters.items()
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
    }
    for value in WRONG:
        with pytest.raises(InputError) as refusal:
            door(**given | {argument: value})
        assert refusal.value.argument == argument


DERIVED = optimal_decomposition(randomizer("krr").at(k=10, eps0="0.1"))
LEVELS = {
    "decomposition": DERIVED.law,
    "closed form": closed_form("krr", {"k": "10"}, eps0="0.1").law,
    "laplace": Laplace(2).mixed_law,
    "laplace, null": Laplace(2).mixed_null_law,
    "laplace, cells": lambda level: Laplace(2).law(level, side="upper"),
    "laplace, background": Laplace(2).background,
    "laplace, null background": Laplace(2).mixed_null_background,
    "lam of laplace": Laplace,
    "lam of channel": W.is_ldp,
}


@pytest.mark.parametrize("place", LEVELS)
def test_what_is_no_level_is_refused_by_name(place):
    for value in (object(), True, "x", b"x", [1], Path("folder.csv"), W, float("nan")):
        with pytest.raises(InputError) as refusal:
            LEVELS[place](value)
        assert refusal.value.argument in ("exp_eps", "lam")
    if place != "lam of laplace":
        with pytest.raises(InputError):
            LEVELS[place](None)


@pytest.mark.parametrize("place", LEVELS)
def test_a_level_is_the_same_in_every_spelling(place):
    read = [LEVELS[place](value) for value in ("6/5", F(6, 5), 1.2, Decimal("1.2"), np.float64(1.2))]
    assert all(found == read[0] for found in read)


MATRICES = (Decimal("0.1"), F(1, 3), W, [W], None, np.float64(1), np.array(1.0), np.zeros((2, 2, 2)), b"ab", [b"ab"], 3)


@pytest.mark.parametrize("rows", MATRICES, ids=lambda one: type(one).__name__)
def test_what_is_no_matrix_is_refused(rows):
    with pytest.raises(InputError) as refusal:
        Channel.from_rows(rows)
    assert refusal.value.argument.startswith("rows")


@pytest.mark.parametrize("value", [None, 3, "a", object(), [2], [-1], [0.5], ["a"]], ids=lambda one: type(one).__name__)
def test_inputs_and_groups_are_lists_of_places(value):
    for name, ask in (("inputs", W.restrict), ("groups", lambda groups: W.merge([groups, [1]]))):
        with pytest.raises(InputError) as refusal:
            ask(value)
        assert refusal.value.argument.startswith(name)
    for ask in (W.tensor, W.push_forward):
        with pytest.raises(InputError):
            ask(value)


def test_calls_that_were_seen():
    for ask in (
        lambda: LikelihoodRatio.of(object(), 0, 2),
        lambda: AnchoredLaw.from_channel(True),
        lambda: DERIVED.law(Path("folder.csv")),
    ):
        with pytest.raises(InputError):
            ask()
