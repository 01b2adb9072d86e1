"""Searches between two places, against answers in closed form."""

import math

import pytest

from symshuffle.base.crossings import least_between


@pytest.mark.parametrize(("low", "high", "least"), [(-1.0, 4.0, 0.7), (-1.0, 0.5, 0.5), (0.9, 4.0, 0.9)])
def test_the_least_value_of_a_function_that_falls_and_rises(low, high, least):
    assert least_between(lambda t: math.cosh(t - 0.7), low, high, steps=80) == pytest.approx(least, abs=1e-6)


def test_infinite_values_above_are_left():
    assert least_between(lambda t: math.inf if t > 0.3 else -t, 0.0, 1.0, steps=80) == pytest.approx(0.3, abs=1e-12)


def test_of_equal_values_the_first_are_kept():
    assert least_between(lambda _: 0.0, 2.0, 3.0, steps=80) == pytest.approx(2.0, abs=1e-12)
