"""Whether two expressions agree as functions of their symbols."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, Final, TypeAlias

import flint
import sympy as sp

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Verdict, less, working_precision
from symshuffle.mechanisms.symbolic.constants import evaluate, fold, normal_form

BITS: Final = 256
"""Precision of the balls in which a difference is looked at."""

LONGEST: Final = 20_000
"""Products of terms that are still multiplied out; beyond, other ways to decide are shorter."""

NEAR: Final = ((7, 3), (31, -3), (11, 3), (41, -3), (16, 3))
"""Where two expressions are looked at: the first coordinate, and the step to the next. Rising and falling ones:
``binomial(k, s)`` is 0 at all points with k < s."""

FAR: Final = (2_000_003, 3)
"""The same, beyond all sizes that anybody enumerates."""

SHIFT: Final = 24
"""The largest whole number by which the argument of a gamma function is moved."""


def check_expression(value: object, argument: str) -> None:
    """Refuse what SymPy reads as no expression: a table, a truth value, a collection."""
    try:
        read = sp.sympify(value)
    except (sp.SympifyError, TypeError, ValueError):
        read = None
    if not isinstance(read, sp.Expr):
        raise InputError(argument, value, "an expression of SymPy or a number")


def same_function(left: Any, right: Any) -> Verdict:
    """Whether two expressions agree as functions of their symbols.

    True only by a normal form, false only by an exact evaluation at a rational point; otherwise undecided.
    """
    difference = sp.sympify(left) - sp.sympify(right)
    if _differs(difference):
        return Verdict.FALSE
    if vanishes(difference):
        return Verdict.TRUE
    difference = normal_form(difference)
    if difference == 0 or sp.simplify(difference) == 0:
        return Verdict.TRUE
    for point in _points(difference, NEAR):
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
    pairs = ((i, j) for i in range(len(first)) for j in range(i + 1, len(first)))
    crossed = (first[i] * second[j] - first[j] * second[i] for i, j in pairs)
    return all(vanishes(one) or normal_form(one) == 0 for one in crossed)


def _points(expression: sp.Expr, starts: Sequence[tuple[int, int]]) -> Iterator[dict[sp.Symbol, sp.Integer]]:
    """Points of whole numbers, as far as what is assumed of the symbols allows them."""
    symbols = sorted(expression.free_symbols, key=str)
    for start, step in starts:
        if all(_allows(symbol, start + step * i) for i, symbol in enumerate(symbols)):
            yield {symbol: sp.Integer(start + step * i) for i, symbol in enumerate(symbols)}


@cache
def _allows(symbol: sp.Symbol, value: int) -> bool:
    """Whether nothing that is assumed of a symbol is false of a whole number."""
    there = sp.Integer(value)
    return all(getattr(there, f"is_{name}") in (truth, None) for name, truth in symbol.assumptions0.items())


def _differs(difference: sp.Expr) -> bool:
    """Whether the difference is surely not 0 at one of the points, in balls; False where that is not shown."""
    with working_precision(BITS):
        for point in _points(difference, (*NEAR, FAR)):
            try:
                value = fold(difference, point)
            except (InputError, OverflowError):  # a function that has no balls
                return False
            if value.is_finite() and not value.contains(0):
                return True
    return False


def vanishes(expression: sp.Expr) -> bool:
    """Whether an expression is 0 as a rational function of independent unknowns; False where that is not shown.

    Unknowns are symbols, their roots, powers with a symbol in the exponent, gamma functions at arguments that do not
    differ by a whole number, and any other function. What holds between them is not used: this is a quick way to say
    yes, and no way to say no.
    """
    orders: dict[sp.Expr, int] = {}
    try:
        written = _write(expression, orders)
        context = flint.fmpq_mpoly_ctx.get([f"x{i}" for i in range(max(len(orders), 1))], flint.Ordering.degrevlex)
        unknowns = {node: (x, order) for (node, order), x in zip(orders.items(), context.gens(), strict=False)}
        upper, lower = _ratio(written, unknowns, context)
    except _TooLong:
        return False
    return bool(upper == 0) and bool(lower != 0)


class _TooLong(Exception):
    """Multiplying out takes longer than other ways to decide."""


_Written: TypeAlias = tuple[Any, ...]
"""A number, an unknown to a rational power, or a sum, a product or a whole power of such."""


def _write(node: sp.Expr, orders: dict[sp.Expr, int]) -> _Written:
    """An expression by numbers and unknowns; ``orders`` learns the unknowns and the roots in which they occur."""
    if node.is_Rational:
        return ("number", flint.fmpq(int(node.p), int(node.q)))
    if node.is_Add or node.is_Mul:
        return ("sum" if node.is_Add else "product", *(_write(part, orders) for part in node.args))
    if node.is_Pow or isinstance(node, sp.exp):
        base, exponent = node.as_base_exp()
        return _power(base, exponent, orders)
    if isinstance(node, sp.binomial):
        n, k = node.args
        below = ("product", _gamma(k + 1, orders), _gamma(n - k + 1, orders))
        return ("product", _gamma(n + 1, orders), ("power", below, -1))
    if isinstance(node, sp.factorial):
        return _gamma(node.args[0] + 1, orders)
    if isinstance(node, sp.gamma):
        return _gamma(node.args[0], orders)
    return _unknown(node, sp.Integer(1), orders)


def _unknown(node: sp.Expr, power: sp.Rational, orders: dict[sp.Expr, int]) -> _Written:
    orders[node] = math.lcm(orders.get(node, 1), int(power.q))
    return ("unknown", node, Fraction(int(power.p), int(power.q)))


def _power(base: sp.Expr, exponent: sp.Expr, orders: dict[sp.Expr, int]) -> _Written:
    """``b**(s + 2 t + 3)`` is the product of ``b**s``, the square of ``b**t`` and the cube of b."""
    if base.is_Rational and not base.is_Integer and base > 0:
        above, below = sp.Integer(base.p), sp.Integer(base.q)
        return ("product", _power(above, exponent, orders), _power(below, -exponent, orders))
    factors: list[_Written] = []
    for term in sp.Add.make_args(sp.expand(exponent)):
        times, rest = term.as_coeff_Mul()
        if not times.is_Rational:
            raise _TooLong
        if rest != 1:
            factors.append(_unknown(sp.Pow(base, rest, evaluate=False), times, orders))
        elif times.is_Integer:
            factors.append(("power", _write(base, orders), int(times)))
        else:
            factors.append(_unknown(base, times, orders))
    return ("product", *factors)


def _gamma(argument: sp.Expr, orders: dict[sp.Expr, int]) -> _Written:
    """By the function at the same argument without its whole part: ``gamma(x + 2) = x (x + 1) gamma(x)``."""
    constant, rest = sp.expand(argument).as_coeff_Add()
    shift = int(sp.floor(constant)) if constant.is_Rational else 0
    if abs(shift) > SHIFT:
        raise _TooLong
    start = rest + constant - shift
    if start == 0:
        start, shift = start + 1, shift - 1
    steps = range(shift) if shift > 0 else range(shift, 0)
    moved = ("product", *(_write(start + step, orders) for step in steps))
    return ("product", _unknown(sp.gamma(start), sp.Integer(1), orders), ("power", moved, 1 if shift > 0 else -1))


def _ratio(written: _Written, unknowns: dict[sp.Expr, tuple[Any, int]], context: Any) -> tuple[Any, Any]:
    """Numerator and denominator, two polynomials."""
    one = context.constant(1)
    match written:
        case ("number", value):
            return context.constant(value), one
        case ("unknown", node, power):
            x, order = unknowns[node]
            raised = x ** abs(int(power * order))
            return (raised, one) if power > 0 else (one, raised)
        case ("power", base, exponent):
            upper, lower = _ratio(base, unknowns, context)
            if max(len(upper), len(lower)) > 1 and abs(exponent) * max(len(upper), len(lower)) > SHIFT**2:
                raise _TooLong
            upper, lower = upper ** abs(exponent), lower ** abs(exponent)
            return (upper, lower) if exponent >= 0 else (lower, upper)
        case ("product", *parts):
            upper, lower = one, one
            for part in parts:
                more, less_ = _ratio(part, unknowns, context)
                upper, lower = _times(upper, more), _times(lower, less_)
            return upper, lower
        case (_, *parts):
            upper, lower = context.constant(0), one
            for part in parts:
                more, below = _ratio(part, unknowns, context)
                if below == lower:
                    upper = upper + more
                    continue
                common = lower.gcd(below)
                mine, theirs = lower / common, below / common
                upper, lower = _times(upper, theirs) + _times(more, mine), _times(lower, theirs)
            return upper, lower
    raise AssertionError(written)


def _times(left: Any, right: Any) -> Any:
    if len(left) * len(right) > LONGEST:
        raise _TooLong
    return left * right
