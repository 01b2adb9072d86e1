"""What n shuffled messages of one pair of inputs reveal, in one order or in the larger one; which order that is."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import flint

from symshuffle.accountants.bounds.evaluate import Request, evaluate
from symshuffle.base.choices import Adjacency, Rigour
from symshuffle.base.numbers import Ball, Real, enclose, to_arb, to_float, working_precision
from symshuffle.base.results import Bracket
from symshuffle.channels.continuous_law import ContinuousPair, LevelledPair, Stretch
from symshuffle.channels.law import NOTHING
from symshuffle.engines.densities.engine import at_most
from symshuffle.vectors.privacy.finite_pair import FinitePair
from symshuffle.vectors.privacy.pairs import Pair, Randomizer, real_pair
from symshuffle.vectors.privacy.rows import likely_larger, rows_of

_ROUGH: Final = 1e-2
"""Relative width at which an order is told to be the smaller one, where no cheaper bound tells."""


def pair_delta(
    pair: Pair, n: int, exp_eps: Real, *, rigour: Rigour | str = Rigour.FLOAT64, rel: float = 1e-8
) -> Bracket:
    """H(n) of one pair in one order."""
    return _value(pair, n, exp_eps, Request.of(rigour=rigour, rel=rel))


def larger_order(
    pair: Pair, n: int, exp_eps: Real, *, rigour: Rigour | str = Rigour.FLOAT64, rel: float = 1e-8
) -> Bracket:
    """The larger H(n) of the two orders of a pair; the smaller one is computed only as finely as that needs."""
    request = Request.of(rigour=rigour, rel=rel)
    one, other = pair, pair.reverse
    if other is one:
        return _value(one, n, exp_eps, request)
    if not likely_larger(rows_of(pair), n, to_float(exp_eps)):
        one, other = other, one
    known = _value(one, n, exp_eps, request)
    if isinstance(other, ContinuousPair):
        if at_most(LevelledPair(other, exp_eps), n, near=max(known.lower, NOTHING))[0] <= known.lower:
            return known
        rough = _value(other, n, exp_eps, replace(request, rel=max(request.rel, _ROUGH)))
        if rough.upper <= known.lower:
            return known
    return larger(known, _value(other, n, exp_eps, request))


def one_user_bound(
    mechanism: Randomizer,
    target: Fraction,
    *,
    exp_eps: Real,
    adjacency: Adjacency,
    rigour: Rigour = Rigour.FLOAT64,
) -> Bracket | None:
    """Around the delta of every number of users, at most that of one user; None where that is above a target.

    A single message of the longest input against that of the null symbol, or of the opposite input: no blanket enters.
    """
    pair, request = real_pair(mechanism, adjacency=adjacency), Request.of(rel=1e-8, rigour=rigour)
    alone = _value(pair, 1, exp_eps, request)
    if alone.upper > target:
        return None
    if pair.reverse is not pair:
        alone = larger(alone, _value(pair.reverse, 1, exp_eps, request))
    if alone.upper > target:
        return None
    how = "at most the value for one user, in closed form"
    return Bracket(Fraction(0), alone.upper, alone.rigour, "none", how)


def _value(pair: Pair, n: int, exp_eps: Real, request: Request) -> Bracket:
    if isinstance(pair, FinitePair):
        return evaluate(pair.law(exp_eps, bits=192), n, request)
    return evaluate(LevelledPair(pair, exp_eps), n, request)


def order_margin(pair: Pair, *, bits: int = 128) -> Ball:
    r"""A number that is positive where (x, other) has the larger bound at small eps, negative where (other, x) has.

    With :math:`L_k=A_k/A_2` and :math:`D=L_0-L_1` the two orders have the same mean, variances that differ by
    :math:`-2(e^\varepsilon-1)(\operatorname{Var}L_0-\operatorname{Var}L_1)` and third cumulants :math:`\pm E[D^3]`. To
    first order of Edgeworth's expansion of :math:`E[S_+]` the difference of the orders has the sign of

    .. math:: E[D^3]-3\operatorname{Var}(D)\,(\operatorname{Var}L_0-\operatorname{Var}L_1).

    Where :math:`A_1` is proportional to :math:`A_2` on its support this is :math:`E[\ell_0^3]>3E[\ell_0^2]^2`.

    An asymptotic criterion; the integrals of a density on the whole line are taken over 40 units on either side.
    """
    if isinstance(pair, FinitePair):
        rows = list(zip(pair.first, pair.second, pair.reference, strict=True))
        cube: Any = sum(
            ((p - q) ** 3 if isinstance(p - q, Fraction) else (p - q) * (p - q) * (p - q)) / (r * r) for p, q, r in rows
        )
        square: Any = sum((p - q) * (p - q) / r for p, q, r in rows)
        spread: Any = sum((p * p - q * q) / r for p, q, r in rows)
        return enclose(cube - 3 * square * spread, bits) if isinstance(cube, Fraction) else cube - 3 * square * spread
    with working_precision(bits):
        cubes, squares, spreads = (
            sum((_moment(s, power) for s in pair.stretches), start=flint.arb(0))
            for power in ("cube", "square", "spread")
        )
        return Ball.from_arb(cubes - 3 * squares * spreads, bits)


def _moment(stretch: Stretch, power: str) -> flint.arb:
    low, high = (
        to_arb(Fraction(sign * 40) if end is None else end) for sign, end in ((-1, stretch.low), (1, stretch.high))
    )

    def function(u: flint.acb, _: bool) -> flint.acb:
        p, q, r = stretch.first(u), stretch.second(u), stretch.reference(u)
        term = {
            "cube": lambda: (p - q) ** 3 / r**2,
            "square": lambda: (p - q) ** 2 / r,
            "spread": lambda: (p * p - q * q) / r,
        }
        return stretch.base(u) * term[power]()

    return flint.acb.integral(function, flint.acb(low), flint.acb(high)).real


def larger(one: Bracket, other: Bracket) -> Bracket:
    """The bracket around the larger of two numbers."""
    first, second = (one, other) if one.upper >= other.upper else (other, one)
    return replace(first, lower=max(first.lower, second.lower))
