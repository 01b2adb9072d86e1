"""Equality of expressions: drawn ones against their values in mpmath, written in two ways or off by a little."""

import mpmath
import numpy as np
import pytest
import sympy as sp

from symshuffle.base.numbers import Verdict
from symshuffle.mechanisms.symbolic import LAM, proportional, same_function, vanishes

K, S = sp.symbols("k s", positive=True, integer=True)
X, Y = sp.symbols("x y", positive=True)

ALIKE = (
    (sp.binomial(K, S), sp.binomial(K - 1, S) + sp.binomial(K - 1, S - 1)),
    (LAM**2 - 1, (LAM - 1) * (LAM + 1)),
    (X ** (S + 2) / Y ** (-S), X**2 * X**S * Y**S),
    (X ** (2 * S) - Y ** (2 * S), (X**S - Y**S) * (X**S + Y**S)),
    (
        (sp.sqrt(X) + 1) * (X ** sp.Rational(1, 4) - 1),
        (X ** sp.Rational(3, 4) - 1) + X ** sp.Rational(1, 4) - sp.sqrt(X),
    ),
    (sp.factorial(S + 3) / sp.gamma(S), S * (S + 1) * (S + 2) * (S + 3)),
    (sp.gamma(X - 2), sp.gamma(X + 1) / (X * (X - 1) * (X - 2))),
    (sp.Rational(1, 2) ** S + sp.Rational(2, 3) ** S, 2 ** (-S) * (1 + 2 ** (2 * S) / 3**S)),
    (sp.exp(X + 2 * Y), sp.exp(X) * sp.exp(Y) ** 2),
    (sp.exp(X) * (1 + sp.log(Y)) / (1 - Y**2), sp.exp(X) / (1 - Y) / (1 + Y) * (1 + sp.log(Y))),
    (1 / X + 1 / Y + 1 / (X * Y), (X + Y + 1) / (X * Y)),
)


def at_some_points(expression, points=3):
    """The largest absolute value at points that are no whole numbers, relative to its terms."""
    free = sorted(expression.free_symbols, key=str)
    with mpmath.workdps(60):
        value = sp.lambdify(free, expression, "mpmath")
        scale = sp.lambdify(free, sum(map(abs, sp.Add.make_args(expression))), "mpmath")
        there = [
            [mpmath.mpf(31 * i + 29 * j * (j + 1) + 40) / 17 for j in range(len(free))] for i in range(1, points + 1)
        ]
        return max(abs(value(*point)) / abs(scale(*point)) for point in there)


@pytest.mark.parametrize(("left", "right"), ALIKE, ids=lambda one: str(one)[:30])
def test_what_is_equal_is_told_from_what_is_nearly_so(left, right):
    assert at_some_points(left - right) < 1e-50
    assert vanishes(left - right)
    assert same_function(left, right) is Verdict.TRUE
    for symbol in sorted((left - right).free_symbols, key=str):
        for wrong in (left * (1 + symbol / 10**9), left.subs(symbol, symbol + 1), left + 1 / symbol):
            assert at_some_points(wrong - right) > 1e-12
            assert not vanishes(wrong - right)
            assert same_function(wrong, right) is Verdict.FALSE


def test_drawn_expressions_are_equal_only_where_their_values_are():
    random = np.random.default_rng(0)
    leaves = (X, Y, sp.sqrt(X), X**S, 2**-S, sp.binomial(S + 2, S), sp.gamma(Y + 1), sp.exp(X - Y), sp.Integer(3))

    def drawn(depth):
        if depth == 0:
            return leaves[random.integers(len(leaves))]
        left, right = drawn(depth - 1), drawn(depth - 1)
        return (left + right, left * right, left - 2 * right, left / right)[random.integers(4)]

    equal = 0
    for k in range(150):
        one, other = (drawn(1), drawn(1)) if k % 2 else (drawn(2), drawn(2))
        product = sp.expand(one * (one + other))
        assert vanishes(product - one**2 - one * other)
        assert not vanishes(product - one**2 + one * other / leaves[random.integers(len(leaves))])
        same = vanishes(one - other)
        equal += same
        assert same == (one == other or at_some_points(one - other) < 1e-50)
    assert equal > 0


def test_what_is_too_long_for_one_way_is_decided_in_another():
    shifted = sp.gamma(X + 40) / sp.gamma(X + 38) - (X + 38) * (X + 39)
    assert same_function(shifted, 0) is Verdict.TRUE
    assert same_function(sp.gamma(X + 40) / sp.gamma(X + 9), sp.gamma(X + 40) / sp.gamma(X + 8)) is Verdict.FALSE
    assert same_function((X + Y + 1) ** 60 - (X + Y + 1) ** 60 * X / X, 0) is Verdict.TRUE
    assert same_function(LAM, LAM + sp.Rational(1, 10**90)) is Verdict.FALSE  # nearer than balls see
    assert same_function(sp.sin(X) ** 2 + sp.cos(X) ** 2, 1) is Verdict.TRUE  # between unknowns


def test_what_is_assumed_of_a_symbol_is_true_of_the_points():
    for a, b in (sp.symbols("a b", negative=True), sp.symbols("a b", positive=True)):
        verdict = same_function(sp.sqrt(a**2 + 2 * a * b + b**2) * (1 if a.is_positive else -1), a + b)
        assert verdict is not Verdict.FALSE  # the root is not taken apart, but nobody says that they differ


def test_vectors_are_proportional():
    assert proportional((X, X * Y, X**2), (1, Y, X))
    assert not proportional((X, X * Y, X**2), (1, Y, X + 1))
