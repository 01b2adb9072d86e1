"""Expressions as functions of their symbols: normal forms, equality, limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Verdict, less
from symshuffle.mechanisms.symbolic.constants import evaluate, normal_form
from symshuffle.mechanisms.symbolic.signs import nonnegative


def same_function(left: Any, right: Any) -> Verdict:
    """Whether two expressions agree as functions of their symbols.

    True only by a normal form, false only by an exact evaluation at a rational point; otherwise undecided.
    """
    difference = normal_form(sp.sympify(left) - sp.sympify(right))
    if difference == 0 or sp.simplify(difference) == 0:
        return Verdict.TRUE
    symbols = sorted(difference.free_symbols, key=str)
    # Both rising and falling points: binomial(k, s) is 0 at all points with k < s.
    for start, step in ((7, 3), (31, -3), (11, 3), (41, -3), (16, 3)):
        point = {symbol: sp.Integer(start + step * i) for i, symbol in enumerate(symbols)}
        value = difference.subs(point)
        if value.is_number and value.is_finite and value.is_Rational and value != 0:
            return Verdict.FALSE
        if value.is_number and value.is_finite and not value.is_Rational:
            ball = evaluate(value)
            if less(ball, 0) is Verdict.TRUE or less(0, ball) is Verdict.TRUE:
                return Verdict.FALSE
    return Verdict.UNDECIDED


def proportional(first: Sequence[sp.Expr], second: Sequence[sp.Expr]) -> bool:
    """Whether two vectors of expressions are proportional (all cross products agree)."""
    return all(
        normal_form(first[i] * second[j] - first[j] * second[i]) == 0
        for i in range(len(first))
        for j in range(i + 1, len(first))
    )


def large_limit(expression: sp.Expr, symbol: sp.Symbol, slacks: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """The limit of an expression as an integer symbol grows, where it stands in exponents of bases of at least 1."""
    reduced = sp.expand_power_base(normal_form(expression), force=True)
    large = sp.Dummy("large", positive=True)
    growing = {}
    for power in reduced.atoms(sp.Pow):
        if not power.exp.has(symbol):
            continue
        rate = power.exp.diff(symbol)
        if nonnegative(power.base - 1, slacks) is not Verdict.TRUE or not rate.is_number:
            raise Unsupported(f"the limit of {power} for large {symbol} is not decided: give the parameters values")
        growing[power] = power.base ** (power.exp - rate * symbol) * large**rate
    exponential = reduced.xreplace(growing)
    return normal_form(sp.limit(sp.limit(exponential, large, sp.oo), symbol, sp.oo))
