"""Searches between two places, against answers in closed form."""

import math
import random

import pytest
from scipy.fft import next_fast_len

from symshuffle.base.crossings import first_positive, least_between, smooth_integer, zero_between


@pytest.mark.parametrize(("low", "high", "least"), [(-1.0, 4.0, 0.7), (-1.0, 0.5, 0.5), (0.9, 4.0, 0.9)])
def test_the_least_value_of_a_function_that_falls_and_rises(low, high, least):
    assert least_between(lambda t: math.cosh(t - 0.7), low, high, steps=80) == pytest.approx(least, abs=1e-6)


def test_infinite_values_above_are_left():
    assert least_between(lambda t: math.inf if t > 0.3 else -t, 0.0, 1.0, steps=80) == pytest.approx(0.3, abs=1e-12)


def test_of_equal_values_the_first_are_kept():
    assert least_between(lambda _: 0.0, 2.0, 3.0, steps=80) == pytest.approx(2.0, abs=1e-12)


def test_lengths_of_transforms_are_those_of_scipy():
    draw = random.Random(5)
    for n in (*range(1, 3000), *(draw.randrange(1, 10**9) for _ in range(300))):
        assert smooth_integer(n) == next_fast_len(n, real=True)


SHAPES = {
    "steep": lambda root: lambda x: math.expm1(30 * (x - root)),
    "flat": lambda root: lambda x: (x - root) ** 9,
    "bent": lambda root: lambda x: math.atan(1e6 * (x - root)),
    "falling": lambda root: lambda x: math.log(root) - math.log(x),
    "a step": lambda root: lambda x: 1.0 if x >= root else -1.0,
    "infinite above": lambda root: lambda x: math.inf if x > root + 0.1 else x - root,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_zero_is_found_as_closely_as_asked_and_in_few_values(shape):
    draw = random.Random(shape)
    for _ in range(40):
        root, close = draw.uniform(0.05, 2.9), 10.0 ** draw.randrange(-12, -2)
        seen = []

        def value(x, root=root, seen=seen):
            seen.append(x)
            return SHAPES[shape](root)(x)

        found = zero_between(value, 0.01, 3.0, xtol=close)
        assert abs(found - root) <= 2 * close + 1e-14 and all(0.01 <= x <= 3.0 for x in seen)
        halvings = math.log2(3 / close)
        assert len(seen) <= 4 + 2 * halvings


def test_without_a_change_of_sign_the_better_end_is_taken():
    assert zero_between(lambda x: x + 1, 0.0, 2.0) == 0.0
    assert zero_between(lambda x: x - 5, 0.0, 2.0) == 2.0
    assert zero_between(lambda x: x, 0.0, 2.0) == 0.0


GROWING = {
    "a line": (lambda i, turn: i - turn + 0.5, 6),
    "a logarithm": (lambda i, turn: math.log(i + 1) - math.log(turn + 0.5), 14),
    "infinite below": (lambda i, turn: -math.inf if i < turn - 90 else i - turn + 0.5, 26),
    "infinite above": (lambda i, turn: math.inf if i >= turn + 90 else i - turn + 0.5, 26),
    "a step": (lambda i, turn: 1.0 if i >= turn else -1.0, 28),
    "0 below": (lambda i, turn: max(0.0, i - turn + 1.0), 40),
}


@pytest.mark.parametrize("shape", GROWING)
def test_the_first_integer_of_a_positive_value_is_found_in_few_values(shape):
    function, most = GROWING[shape]
    draw = random.Random(shape)
    for _ in range(60):
        turn, seen = draw.randrange(1, 10**6), []

        def value(i, turn=turn, seen=seen):
            seen.append(i)
            return function(i, turn)

        assert first_positive(value, 0, 10**6) == turn
        assert len(seen) == len(set(seen)) <= most, len(seen)
    assert first_positive(lambda _: -1.0, 3, 9) == 9


def test_noise_leaves_a_value_that_is_positive_beside_one_that_is_not():
    draw = random.Random(1)
    for _ in range(200):
        known = {i: i - 50 + draw.uniform(-20, 20) for i in range(1, 100)} | {0: -60.0, 100: 60.0}
        found = first_positive(known.__getitem__, 0, 100)
        assert known[found] > 0 >= known[found - 1]
