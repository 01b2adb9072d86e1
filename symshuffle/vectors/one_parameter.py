"""Densities on the sphere with one slope, as steep as a guarantee at finitely many users allows.

:class:`~symshuffle.vectors.mechanisms.SphereLinear` of slope t and half-sphere sampling,
:class:`~symshuffle.vectors.mechanisms.PrivUnit` at height 0 with :math:`p=(1+t)/2`, both have likelihood ratios
between 1 - t and 1 + t. A larger slope is a dilation of G, so the bound on delta rises with it and the error falls.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Final, TypeAlias

from symshuffle.choices import Adjacency, choice
from symshuffle.errors import Unsupported
from symshuffle.numbers import Real, Verdict, less, natural_log
from symshuffle.results import Bracket, Rigour
from symshuffle.vectors.accounting import larger, pair_delta
from symshuffle.vectors.mechanisms import PrivUnit, SphereLinear
from symshuffle.vectors.pairs import worst_pair
from symshuffle.vectors.shaped_families import logistic

Sloped: TypeAlias = SphereLinear | PrivUnit

_DIGITS: Final = 10
_STEP: Final = 0.25
_STEEPEST: Final = 13.0
"""Steps and end of the search, in log(t/(1 - t))."""

_FAR: Final = 1e3
"""Stands for the logarithm of infinity."""

_SEARCH_REL: Final = 1e-5
_FINAL_REL: Final = 1e-6

_TRIES: Final = 40
"""Slopes that are tried next to the one that the search found."""


def linear_density(slope: Fraction, dimension: int) -> Sloped:
    """The density ``1 + t <u, x>``."""
    return SphereLinear(slope, dimension)


def half_sphere(slope: Fraction, dimension: int) -> Sloped:
    """PrivUnit at height 0, whose constant is the smallest of all heights (vecmean, Proposition 3.7)."""
    return PrivUnit((1 + slope) / 2, Fraction(0), dimension)


def steepest(
    family: Callable[[Fraction, int], Sloped],
    *,
    n: int,
    dimension: int,
    order: Real,
    goal: Fraction,
    adjacency: Adjacency,
    start: float = 0.1,
) -> tuple[Sloped, Bracket]:
    """The mechanism of a family of largest slope that meets a target, and its certified bound on delta.

    The law of G of the linear density lies, in convex order, below the law on its two ends, which is that of dimension
    1: so its slope starts from there, where bounds cost nothing.

    That the target is met is certified; that no larger slope is certified to meet it is the search's word.

    Parameters
    ----------
    family : callable
        :func:`linear_density` or :func:`half_sphere`.
    n, dimension : int
        Number of users and length of the vectors.
    order : Real
        The level, as ratio exp(eps).
    goal : Fraction
        Target delta in (0, 1).
    adjacency : {"zero-out", "replace-one"}
        Which datasets are neighbours.
    start : float
        Slope at which the search starts.

    Raises
    ------
    Unsupported
        If no slope near the end of the search is certified.
    """
    from scipy.optimize import brentq

    spread = family is linear_density and dimension > 1
    if spread:
        line, bound = steepest(
            linear_density, n=n, dimension=1, order=order, goal=goal, adjacency=adjacency, start=start
        )
        known = SphereLinear(_slope(line), dimension), bound
        start = float(_slope(line))

    @cache
    def excess(x: float) -> float:
        try:
            value = sloped_delta(family(_rounded(logistic(x)), dimension), n, order, adjacency, _SEARCH_REL).upper
        except Unsupported:  # beyond the engine's rule: not certified, so not taken
            return _FAR
        return _log(value) - math.log(goal)

    first = min(max(start, 1e-8), 1 - 1e-5)
    low = high = math.log(first / (1 - first))
    while not spread and excess(low) > 0:
        high, low = low, low - _STEP
        if low < -_DIGITS * math.log(10) / 2:
            raise Unsupported(f"no slope above {logistic(low):.1g} meets delta = {float(goal):.3g}")
    high = low + _STEP if spread else high
    while high < _STEEPEST and excess(high) <= 0:
        low, high = high, high + _STEP
    found = low
    if 0 < excess(high) < _FAR and excess(low) <= 0:
        found = float(brentq(excess, low, high, xtol=1e-7))
    elif spread and low <= math.log(first / (1 - first)):
        return known
    slope = _rounded(logistic(found - 1e-7))
    for _ in range(_TRIES):
        mechanism = family(slope, dimension)
        try:
            bound = sloped_delta(mechanism, n, order, adjacency, _FINAL_REL)
        except Unsupported:
            if spread:
                return known
            raise
        if bound.upper <= goal:
            return mechanism, bound
        slope = _rounded(float(slope) * (1 - 1e-6))
    raise Unsupported(f"the bound does not meet delta = {float(goal):.3g} next to the slope {float(slope):.6g}")


def sloped_delta(mechanism: Sloped, n: int, order: Real, adjacency: Adjacency | str, rel: float) -> Bracket:
    """The bound on delta in the larger order; 0 where no likelihood ratio exceeds the level.

    For PrivUnit this needs height 0, where both densities lie at the same distance from 1.
    """
    slope = _slope(mechanism)
    adjacency = choice(Adjacency, adjacency, "adjacency")
    pair = worst_pair(mechanism, adjacency=adjacency)
    forward, reverse = 1 + slope, 1 / (1 - slope)
    ratios = (forward, reverse) if adjacency is Adjacency.ZERO_OUT else (forward * reverse, forward * reverse)
    brackets = [
        pair_delta(one, n, order, rel=rel) if less(order, ratio) is Verdict.TRUE else _NONE
        for one, ratio in zip((pair, pair.reverse), ratios, strict=True)
    ]
    return larger(brackets[0], brackets[1])


_NONE: Final = Bracket(Fraction(0), Fraction(0), Rigour.EXACT, "exact", "no likelihood ratio exceeds exp(eps)")


def _slope(mechanism: Sloped) -> Fraction:
    return mechanism.c if isinstance(mechanism, SphereLinear) else abs(2 * mechanism.p - 1)


def _log(value: Fraction) -> float:
    """The logarithm of a rational, also of one that is 0 as a double."""
    return natural_log(value) if value > 0 else -_FAR


def _rounded(value: float) -> Fraction:
    return Fraction(math.floor(value * 10**_DIGITS), 10**_DIGITS)
