"""Public functions answer the same question in every spelling of each number, distribution and table, or refuse it."""

import inspect
from fractions import Fraction as F

import numpy as np
import pytest
import sympy as sp

from symshuffle import Channel, SymshuffleError
from symshuffle.accountants.deployment.model import KEYWORDS
from symshuffle.utility import endpoint_law
from tests.soundness.spellings import (
    CALLS,
    KEEP_THEIR_NUMBERS,
    NO_NUMBERS,
    NOT_NUMBERS,
    OF_DELTA,
    SLOW,
    Integer,
    Number,
    Several,
    Table,
    ask,
    content,
    functions,
    made_of_numbers,
    plain,
    spelled,
)

FEW = ("text", "float", "float32", "array", "decimal", "mpf", "arb", "array of doubles", "array of float32")
"""Spellings that the ordinary suite asks in; conformance asks in all."""

FORMULAS = {("utility.law_formulas", "gamma"), ("utility.largest_chi_square", "lam")}
"""Arguments that take expressions of SymPy, and so its constants."""

MARKED = [
    (place, name, argument)
    for place, (name, given) in enumerate(CALLS)
    for argument, mark in given.items()
    if isinstance(mark, Number | Integer | Several | Table)
]
IDS = [f"{name}-{argument}-{place}" for place, name, argument in MARKED]


def variants(mark):
    """The values of a marked argument in other spellings."""
    match mark:
        case Number(value) | Integer(value):
            return spelled(F(value))
        case Several(values):
            found = {way: [spelled(F(v)).get(way, v) for v in values] for way in spelled(F(1))}
            doubles = np.array([float(v) for v in values])
        case Table(rows):
            found = {way: [[spelled(F(v)).get(way, v) for v in row] for row in rows] for way in spelled(F(1))}
            doubles = np.array([[float(v) for v in row] for row in rows])
    return found | {"array of doubles": doubles, "array of float32": doubles.astype(np.float32)}


def same(one, other):
    """Whether two answers agree; numbers that doubles made of doubles as far as rounding explains."""
    if isinstance(one, float) or isinstance(other, float):
        return one == other or abs(float(one) - float(other)) <= 1e-9 * abs(float(one))
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return one == other


def differing(place, argument, ways):
    """The spellings in which a function does not give the answer that it gives to rationals."""
    name, given = CALLS[place]
    base = {key: plain(value) for key, value in given.items()}
    wanted = ask(name, base)
    assert not isinstance(wanted, tuple), wanted
    for way, value in variants(given[argument]).items():
        if ways is None or way in ways:
            found = ask(name, base | {argument: value})
            if not same(found, wanted):
                yield way, found


def answered(place, argument):
    """What is no number and is answered all the same."""
    name, given = CALLS[place]
    base = {key: plain(value) for key, value in given.items()}
    for way, value in NOT_NUMBERS.items():
        match given[argument]:
            case Several(values):
                value = [value] * len(values)  # noqa: PLW2901  # the same in the form of the argument
            case Table(rows):
                value = [[value] * len(row) for row in rows]  # noqa: PLW2901
        found = ask(name, base | {argument: value})
        if not isinstance(found, tuple) and not (way == "constant of SymPy" and (name, argument) in FORMULAS):
            yield way, found


def test_every_argument_that_takes_numbers_is_asked():
    marked = {(name, argument) for _, name, argument in MARKED}
    called = {name for name, _ in CALLS}
    missing = [
        f"{name}: {argument}"
        for name, value in functions().items()
        if not name.startswith(("base.", "mechanisms."))
        for argument in inspect.signature(value).parameters
        if argument not in NO_NUMBERS
        and argument not in SLOW.get(name, set())
        and (name, argument) not in marked
        and not (argument in OF_DELTA and ("delta", argument) in marked and argument in KEYWORDS)
    ]
    assert not missing
    asked = {
        name for name in called if name.rpartition(".")[2][0].islower() and not name.rpartition(".")[0][:1].isupper()
    }
    assert {one for one in asked if "." not in one or one.split(".")[-2][0].islower()} | SLOW.keys() <= set(functions())


def test_every_class_that_users_make_is_asked():
    """The classes that have a constructor with numbers, but for answers and what keeps its numbers for a reason."""
    called = {name for name, _ in CALLS}
    assert [name for name in made_of_numbers() if name not in called | KEEP_THEIR_NUMBERS.keys()] == []


@pytest.mark.parametrize(("place", "name", "argument"), MARKED, ids=IDS)
def test_each_spelling_has_the_same_answer(place, name, argument):
    assert not list(differing(place, argument, FEW))


@pytest.mark.conformance
@pytest.mark.parametrize(("place", "name", "argument"), MARKED, ids=IDS)
def test_every_spelling_has_the_same_answer(place, name, argument):
    assert not list(differing(place, argument, None))


@pytest.mark.parametrize(("place", "name", "argument"), MARKED[::3], ids=IDS[::3])
def test_what_is_no_number_is_refused(place, name, argument):
    assert not list(answered(place, argument))


@pytest.mark.conformance
@pytest.mark.parametrize(("place", "name", "argument"), MARKED, ids=IDS)
def test_what_is_no_number_is_refused_everywhere(place, name, argument):
    assert not list(answered(place, argument))


def test_answers_are_compared_as_data():
    assert content({"a": (F(1, 2), [1.0])}) == {"a": [F(1, 2), [1.0]]}
    assert same([F(1, 2)], [0.5]) and not same([F(1, 2)], [0.6]) and not same({"a": 1}, {"b": 1})


def test_numeric_functions_refuse_formulas():
    with pytest.raises(SymshuffleError, match="lam"):
        endpoint_law(lam=sp.log(3))
    with pytest.raises(SymshuffleError, match="lam"):
        Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]]).is_ldp(sp.log(3))
