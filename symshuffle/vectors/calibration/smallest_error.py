"""The shape and the strength of a family with the smallest error that meets a target: the search of every calibration.

Shapes are compared by cheap values of the bound (:mod:`symshuffle.vectors.calibration.families`). Nothing that is
reported depends on them: the answer is a mechanism whose bracket meets the target.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, Final

import numpy as np

from symshuffle.base.choices import Blanket, Relation
from symshuffle.base.crossings import halved, zero_between
from symshuffle.base.errors import InputError, NotDecided, Unsupported
from symshuffle.base.numbers import Real, format_decimal, shortest, to_float
from symshuffle.base.results import Bracket
from symshuffle.vectors.calibration.families import Calibrated, ShapedFamily, of_one_user, roughly, summed
from symshuffle.vectors.calibration.floor import Target
from symshuffle.vectors.error.risk import err1
from symshuffle.vectors.privacy.accounting import larger_between, larger_order, one_user_bound
from symshuffle.vectors.privacy.pairs import Pair, worst_pair
from symshuffle.vectors.randomizers.mechanisms import BlanketMixedGaussian, ClippedLinear, LocalGaussian, PrivUnit

_FAR: Final = 1e3
"""Stands for the logarithm of infinity: no value, hence not taken."""


_BESIDE: Final = 1e-2
"""Step of the slope by which an excess of the bracket is taken back, its least and its largest value."""


_WIDTHS: Final = (1e-6, 1e-4, 1e-2)
"""Relative widths of the bracket, the next one where the engines refuse."""

_CROWD: Final = 50
"""The least one between two finite laws, and the users from which on these are asked."""


_NO_VALUE: Final = (Unsupported, NotDecided, InputError, ArithmeticError, ValueError)


def found_for(
    family: ShapedFamily, target: Target, *, max_shapes: int = 6, distance: float = 0.2
) -> tuple[Calibrated, Bracket]:
    """The mechanism of smallest error that is found and certified to meet a target, and its bound on delta."""
    try:
        _refused(family, target)  # of some families before a search
    except Unsupported:
        raise
    except _NO_VALUE:
        pass
    errors = _errors_by_shape(family, target)
    kept = sorted((shape for shape, (error, _) in errors.items() if math.isfinite(error)), key=lambda x: errors[x][0])
    if not kept:
        _refused(family, target)
        raise Unsupported(f"no parameters were found at which delta is about {float(target.goal):.3g} or less")
    failed: list[float] = []
    reason = ""
    for shape in kept:
        if any(abs(shape - other) < distance for other in failed):
            continue
        try:
            return _certified(family, target, shape, errors[shape][1])
        except Unsupported as error:
            reason = reason or str(error)
        failed.append(shape)
        if len(failed) == max_shapes:
            break
    raise Unsupported(f"parameters were found, but no bracket shows that they meet the target: {reason}")


def estimated_error(family: ShapedFamily, target: Target) -> float:
    """Approximate least squared error of one user at a target; infinite if the search finds none."""
    return min(error for error, _ in _errors_by_shape(family, target).values())


def _refused(family: ShapedFamily, target: Target) -> None:
    """Raise what keeps a family from having any bound, where that is why nothing was found."""
    middle = family.make(family.centre, family.start(family.centre))
    worst_pair(middle, adjacency=target.adjacency, blanket=target.blanket, exp_eps=target.exp_eps)


def _errors_by_shape(
    family: ShapedFamily,
    target: Target,
    *,
    points: int = 9,
    largest: float = 1e200,
    coarse: float = 1e-3,
    settled: float = 2e-2,
) -> dict[float, tuple[float, float]]:
    """About the error at the largest strength that meets the target, and that strength, at the shapes looked at.

    - ``coarse``: how closely a strength is searched to compare shapes.
    - ``settled``: how closely the best shape is searched.
    """
    seen: dict[float, tuple[float, float]] = {}
    shift = 0.0  # of the strength found from the one to start from, at the shape seen last

    def error(shape: float) -> float:
        nonlocal shift
        if shape not in seen:
            start = family.start(shape)
            close = coarse if family.shapes[0] < family.shapes[1] else _BESIDE
            strength = _strongest(_excess(family, target, shape), start + shift, family.strengths, close)
            value = math.inf
            if strength is not None:
                shift = strength - start
                value = _value(lambda: to_float(err1(family.make(shape, strength))), math.inf)
            seen[shape] = value, strength or 0.0
        return seen[shape][0]

    low, high = family.shapes
    if low == high:
        error(low)
        return seen
    if math.isinf(error(family.centre)):
        for shape in np.linspace(low, high, points):
            error(float(shape))
    best = min(seen, key=lambda x: seen[x][0])
    for sign in (1, -1):
        for shape in _ever_farther(best, sign, low, high):
            if error(shape) > error(best):
                break
            best = shape
    below, above = (
        max((x for x in seen if x < best), default=low),
        min((x for x in seen if x > best), default=high),
    )
    if math.isfinite(error(best)) and below < above:
        from scipy.optimize import minimize_scalar

        def height(x: float) -> float:
            return math.log(min(error(float(x)), largest))

        minimize_scalar(height, bounds=(below, above), method="bounded", options={"xatol": settled})
    return seen


def _ever_farther(start: float, sign: int, low: float, high: float, *, first: float = 0.5) -> Iterator[float]:
    shape, step = start, first
    while low < shape < high:
        shape = min(max(shape + sign * step, low), high)
        step *= 1.5
        yield shape


def _excess(family: ShapedFamily, target: Target, shape: float, *, fine: bool = False) -> Callable[[float], float]:
    """By how much the logarithm of the bound exceeds that of the target, by strength."""
    wanted = math.log(float(target.goal))

    @cache
    def excess(strength: float) -> float:
        def value() -> float:
            mechanism = family.make(shape, strength)
            asked = target.n, target.exp_eps, target.adjacency, target.blanket
            found = roughly(mechanism, *asked, fine=fine, enough=float(target.goal))
            if found < 0:  # all digits cancelled
                return _FAR
            return math.log(found) - wanted if found else -_FAR

        return _value(value, _FAR)

    return excess


def _value(function: Callable[[], float], otherwise: float) -> float:
    """A value, or another where there is no mechanism or no value."""
    try:
        with np.errstate(all="ignore"):
            found = function()
    except _NO_VALUE:
        return otherwise
    return otherwise if math.isnan(found) else found


def _strongest(
    excess: Callable[[float], float],
    start: float,
    ends: tuple[float, float],
    close: float,
    step: float = 0.1,
    *,
    longest: float = 0.4,
    weaker: float = 0.25,
) -> float | None:
    """The largest strength without an excess, looked for in steps from a first one on; None if there is none.

    - ``longest``: the longest step of a search: beyond a crossing an estimate may be far too low.
    - ``weaker``: how much weaker it is that must meet the target too, where a search comes from the stronger side.
    """
    low, high = ends
    at = min(max(start, low), high)
    met = excess(at) <= 0
    while True:
        after = min(at + step, high) if met else max(at - step, low)
        if after == at:
            return at if met else None
        if (excess(after) <= 0) is not met:
            again = max(after - weaker, low)
            if met or excess(again) <= 0:
                break
            after = again
        at, step = after, min(2 * step, longest)
    below, above = (at, after) if met else (after, at)
    # Where there is no value, or none above 0, a secant says nothing.
    while above - below > close and max(-excess(below), excess(above)) >= _FAR:
        middle = (below + above) / 2
        below, above = (middle, above) if excess(middle) <= 0 else (below, middle)
    if above - below <= close or not excess(below) < 0:
        return below
    return zero_between(excess, below, above, xtol=close / 10)  # shapes are compared by it


def _certified(
    family: ShapedFamily,
    target: Target,
    shape: float,
    start: float,
    *,
    close_of_sums: float = 1e-5,
    slopes: tuple[float, float] = (1e-2, 50.0),
    shortfalls: tuple[float, float] = (1e-4, 1e-5),
    widths_below: int = 4,
    loose_by: tuple[int, int] = (100, 1),
    back: float = 1.0,
    tries: int = 8,
    finest: float = 1e-9,
) -> tuple[Calibrated, Bracket]:
    """A mechanism of a shape whose bracket meets the target, near the strongest one that does.

    - ``close_of_sums``: how closely a strength is searched where estimates are by sums.
    - ``slopes``: least and largest value of the slope by which an excess of the bracket is taken back.
    - ``shortfalls``: how far below the best strength the value for one user serves without an engine, for few users and
      many.
    - ``widths_below``: by how many widths delta is to be below the target at the first strength that is certified.
    - ``loose_by``: a bracket is loose if it is so many times as wide as asked; of few users, if besides it is so wide
      relatively.
    - ``back``: the longest step back.
    - ``tries``: strengths that are tried next to the one found, and shapes, where no bracket is narrow
      enough at the best one.
    - ``finest``: how closely a strength is searched at the last shape.
    """
    excess = _excess(family, target, shape, fine=True)
    close = close_of_sums if summed(family.make(shape, start), target.n) else finest
    nearest = _strongest(excess, start, family.strengths, close, _BESIDE / 2)
    if nearest is None:
        raise Unsupported("by an estimate, no strength meets the target")
    slope = min(max((excess(nearest) - excess(nearest - _BESIDE)) / _BESIDE, slopes[0]), slopes[1])
    said = ""
    alone = _of_one_user(family, target, shape, nearest)
    short = shortfalls[target.n >= _CROWD]
    if alone is not None and alone[0] >= nearest - short:
        return alone[1:]
    one = family.make(shape, nearest)
    widths = _widths(one, target.n)
    hopeless = False  # a width next to one at which densities of few users were refused, or nothing was decided
    for rtol in widths:
        if hopeless and rtol < widths[-1]:
            continue
        margin = widths_below if widths is _WIDTHS else 1
        strength = nearest - margin * rtol / slope if excess(nearest) > -1 else nearest
        for k in range(tries):
            mechanism = family.make(shape, strength)
            alone = _of_one_user(family, target, shape, strength) if alone is None else alone
            if alone is not None and alone[0] >= strength:
                return alone[1:]
            try:
                bound = _bound(mechanism, target, rtol)
            except (Unsupported, NotDecided) as error:
                said, hopeless = str(error), target.n < _CROWD and not isinstance(mechanism, PrivUnit)
                break
            if bound.upper <= target.goal:
                return mechanism, bound
            hopeless = bound.lower == 0
            end = format_decimal(bound.upper, digits=3, up=True)
            said = f"delta is at most {end}, where {shortest(target.goal)} is asked"
            loose = max(loose_by[0] * Fraction(rtol), Fraction(loose_by[1] if target.n < _CROWD else 0))
            if bound.upper > (1 + loose) * bound.lower and rtol < widths[-1]:
                break  # an engine of less width may serve a larger one
            over = math.log(bound.upper / target.goal)
            strength -= min(2**k * (over + rtol) / slope, back)
        else:
            break
    if alone is not None:
        return alone[1:]
    raise Unsupported(said)


def _widths(
    mechanism: Calibrated,
    n: int,
    *,
    of_users: tuple[float, ...] = (3e-4, 1e-3, 1e-2),
    of_sums: tuple[float, ...] = (1e-4, 1e-2),
    of_lengths: float = 1e-5,
) -> tuple[float, ...]:
    """Relative widths of the bracket, the next one where the engines refuse."""
    lengths = isinstance(mechanism, LocalGaussian) and mechanism.dimension > 1
    if n < _CROWD and isinstance(mechanism, LocalGaussian | BlanketMixedGaussian | ClippedLinear):
        return of_users[lengths:]
    if summed(mechanism, n):
        return of_sums
    return (of_lengths, *_WIDTHS[1:]) if lengths else _WIDTHS


@lru_cache(maxsize=16)
def _pair(mechanism: Calibrated, adjacency: Relation, blanket: Blanket, exp_eps: Real) -> Pair:
    """The worst pair, kept for a moment: what is known of its densities serves brackets of several widths."""
    return worst_pair(mechanism, adjacency=adjacency, blanket=blanket, exp_eps=exp_eps)


def _bound(mechanism: Calibrated, target: Target, rtol: float, *, least_width: float = 1e-4) -> Bracket:
    """A bracket of the larger order, for a clipped density that has none by finite laws on either side."""
    pair = _pair(mechanism, target.adjacency, target.blanket, target.exp_eps)
    if not isinstance(mechanism, ClippedLinear) or mechanism.dimension == 1 or target.n < _CROWD:
        return larger_order(pair, target.n, target.exp_eps, rtol=rtol)
    try:  # in balls what has no narrow bracket is refused at once
        return larger_order(pair, target.n, target.exp_eps, arithmetic="ball", rtol=rtol)
    except (Unsupported, NotDecided):
        asked: Any = {"exp_eps": target.exp_eps, "adjacency": target.adjacency}
        return larger_between(mechanism, target.n, rtol=max(rtol, least_width), **asked)


def _of_one_user(
    family: ShapedFamily,
    target: Target,
    shape: float,
    near: float,
    *,
    share: float = 1.001,
    halvings: int = 16,
    steps: tuple[float, ...] = (-1e-4, -1e-5, -1e-6, 0.0, 1e-6, 1e-5, 1e-4),
    alone: float = 1e-6,
) -> tuple[float, Calibrated, Bracket] | None:
    """The largest strength next to one at which the value for one user meets the target; None if none does.

    - ``alone``: how closely the strength is searched at which the value for one user meets the target.
    """
    asked: Any = {"exp_eps": target.exp_eps, "adjacency": target.adjacency}
    about = _value(lambda: of_one_user(family.make(shape, near), target.exp_eps, target.adjacency), _FAR)
    if about > share * float(target.goal):
        return None
    low, high = (min(max(near + sign * _BESIDE, family.strengths[0]), family.strengths[1]) for sign in (-1, 1))

    def at(strength: float) -> tuple[float, Calibrated, Bracket] | None:
        mechanism = family.make(shape, strength)
        met = one_user_bound(mechanism, target.goal, **asked)
        return None if met is None else (strength, mechanism, met)

    def met(strength: float) -> bool:
        value = _value(lambda: of_one_user(family.make(shape, strength), target.exp_eps, target.adjacency), _FAR)
        return value <= float(target.goal)

    while met(high) and high < family.strengths[1]:
        low, high = high, min(high + 4 * _BESIDE, family.strengths[1])
    likely = high if met(high) else halved(met, high, low, settled=halvings)[1]
    missed = strength = likely
    for back in steps:
        strength = min(max(likely - back, family.strengths[0]), family.strengths[1])
        found = at(strength)
        if found is not None:
            break
        missed = strength
    while found is not None and missed - strength > alone:
        middle = (strength + missed) / 2
        closer = at(middle)
        strength, missed, found = (strength, middle, found) if closer is None else (middle, missed, closer)
    return found
