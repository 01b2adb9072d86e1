"""Where a call fails on an argument of a wrong kind, the refusal names that argument and no valid one beside it."""

import numpy as np
import pytest
import sympy

import symshuffle
from symshuffle import Channel, Deployment, Group
from symshuffle.base.errors import InputError
from symshuffle.base.kinds import checked
from symshuffle.collect import audit_samples

FAIR = Channel.from_rows([["1/2", "1/2"], ["1/3", "2/3"]])


class Odd:
    """An object that is no number."""


def as_float(channel: Channel, x: object):
    return float(x)


def as_expression(channel: Channel, x: object):
    return sympy.sympify(x, strict=True)


def as_array(subject: Deployment, x: object):
    return np.asarray([x], dtype=float)


def in_list(subject: Deployment, x: int):
    return [1].index(x)


@pytest.mark.parametrize(
    ("function", "subject"), [(as_float, FAIR), (as_expression, FAIR), (as_array, Deployment(Group(FAIR, 5)))]
)
def test_an_object_in_the_wrong_place_is_named_and_no_valid_object_before_it(function, subject):
    with pytest.raises(InputError, match=r"^x = Odd"):
        checked(function)(subject, Odd())
    with pytest.raises(InputError, match=r"^(channel|subject) = Odd"):
        checked(function)(Odd(), Odd())


@pytest.mark.parametrize("value", ["no", "", b"false"])
def test_a_text_is_no_truth_value(value):
    for ask in (
        lambda: symshuffle.delta(FAIR, n=5, eps=1, attained=value),
        lambda: symshuffle.renyi(FAIR, n=5, order=2, attained=value),
        lambda: audit_samples([0] * 300, [0] * 300, disjoint=value),
    ):
        with pytest.raises(InputError, match=r"^(attained|disjoint) = .*expected true or false"):
            ask()
    assert symshuffle.delta(FAIR, n=5, eps=1, attained=np.bool_(True)).attained is not None


def test_a_field_at_its_default_is_not_named():
    """The failure comes from no argument of a wrong kind: it stays as it is."""
    with pytest.raises(ValueError, match="is not in list"):
        checked(in_list)(Deployment(Group(FAIR, 5)), 7)
