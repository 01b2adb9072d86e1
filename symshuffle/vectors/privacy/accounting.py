"""What n shuffled messages of one pair of inputs reveal, in one order or in the larger one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from symshuffle.accountants.bounds.evaluate import Method, evaluate
from symshuffle.base.choices import Arithmetic, Relation, weakest_arithmetic
from symshuffle.base.numbers import Real, to_float
from symshuffle.base.results import Bracket
from symshuffle.channels.continuous_law import ContinuousPair, LevelledPair
from symshuffle.channels.law import NOTHING
from symshuffle.engines.densities.engine import at_most
from symshuffle.vectors.privacy.finite_pair import FinitePair
from symshuffle.vectors.privacy.pairs import Pair, Randomizer, real_pair
from symshuffle.vectors.privacy.rows import likely_larger, rows_of

_ROUGH: Final = 1e-2
"""Relative width at which an order is told to be the smaller one, where no cheaper bound tells."""


def pair_delta(pair: Pair, n: int, exp_eps: Real, *, arithmetic: Arithmetic = "float64", rtol: float = 1e-8) -> Bracket:
    """H(n) of one pair in one order."""
    return _value(pair, n, exp_eps, Method.of(arithmetic=arithmetic, rtol=rtol))


def larger_order(
    pair: Pair, n: int, exp_eps: Real, *, arithmetic: Arithmetic = "float64", rtol: float = 1e-8
) -> Bracket:
    """The larger H(n) of the two orders of a pair; the smaller one is computed only as finely as that needs."""
    request = Method.of(arithmetic=arithmetic, rtol=rtol)
    one, other = pair, pair.reverse
    if other is one:
        return _value(one, n, exp_eps, request)
    if not likely_larger(rows_of(pair), n, to_float(exp_eps)):
        one, other = other, one
    known = _value(one, n, exp_eps, request)
    if isinstance(other, ContinuousPair):
        if at_most(LevelledPair(other, exp_eps), n, near=max(known.lower, NOTHING))[0] <= known.lower:
            return known
        rough = _value(other, n, exp_eps, replace(request, rtol=max(request.rtol, _ROUGH), goal=known.lower))
        if rough.upper <= known.lower:
            return known
    return larger(known, _value(other, n, exp_eps, request))


def one_user_bound(
    mechanism: Randomizer,
    target: Fraction,
    *,
    exp_eps: Real,
    adjacency: Relation,
    arithmetic: Arithmetic = "float64",
) -> Bracket | None:
    """Around the delta of every number of users, at most that of one user; None where that is above a target.

    A single message of the longest input against that of the null symbol, or of the opposite input: no blanket enters.
    """
    pair, request = real_pair(mechanism, adjacency=adjacency), Method.of(rtol=1e-8, arithmetic=arithmetic)
    alone = _value(pair, 1, exp_eps, request)
    if alone.upper > target:
        return None
    if pair.reverse is not pair:
        alone = larger(alone, _value(pair.reverse, 1, exp_eps, request))
    if alone.upper > target:
        return None
    evaluation = "at most the value for one user, in closed form"
    return Bracket(Fraction(0), alone.upper, alone.arithmetic, "none", evaluation)


def _value(pair: Pair, n: int, exp_eps: Real, request: Method) -> Bracket:
    if isinstance(pair, FinitePair):
        return evaluate(pair.law(exp_eps, bits=192), n, request)
    return evaluate(LevelledPair(pair, exp_eps), n, request)


def larger(one: Bracket, other: Bracket) -> Bracket:
    """The bracket around the larger of two numbers."""
    first, second = (one, other) if one.upper >= other.upper else (other, one)
    weakest = weakest_arithmetic((first.arithmetic, second.arithmetic))
    return replace(first, lower=max(first.lower, second.lower), arithmetic=weakest)
