"""Where a floor under the error looks for its points: nothing that the floor certifies depends on it."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, TypeAlias

import flint
import numpy as np

from symshuffle.base.crossings import zero_between
from symshuffle.base.doubles import Array
from symshuffle.base.numbers import to_arb, to_float, working_precision
from symshuffle.engines.densities.bromwich_plan import estimate
from symshuffle.vectors.calibration.cells import Cells, cells, error_of
from symshuffle.vectors.calibration.families import roughly, short
from symshuffle.vectors.calibration.floor import Bounded, Target, least_rmse, misses, misses_alone
from symshuffle.vectors.error.risk import err1
from symshuffle.vectors.privacy.accounting import one_user_bound
from symshuffle.vectors.randomizers.mechanisms import (
    BlanketMixedGaussian,
    ClippedLinear,
    LocalGaussian,
    PrivUnit,
    SphereLinear,
)
from symshuffle.vectors.randomizers.sphere import cap_complement, ramp_moments

Staged: TypeAlias = BlanketMixedGaussian | PrivUnit | ClippedLinear


_BITS: Final = 128


def floor_of(
    found: object, target: Target, gap: Fraction, *, max_users: int = 100
) -> tuple[tuple[Bounded, ...], Fraction | None]:
    """Points and rmse of a floor within about ``gap`` of the error of parameters that were found.

    There are no points, and the rmse is None, where no order is known.

    - ``gap``: how far below the error the floor may lie, relatively; up to sixteen times as far where that is out of
      reach.
    """
    match found:
        case BlanketMixedGaussian() | PrivUnit() | ClippedLinear():
            widths = [width for k in range(5) if (width := gap * 2**k) < 1]
            few = isinstance(found, BlanketMixedGaussian) and target.n <= max_users
            last = _staircase(found, target, widths.pop()) if few else ()
            if few and not last:  # where this one stands still, so do those that ask for more
                return (), None
            tries = (_staircase(found, target, width) for width in widths)
            points = next((steps for steps in tries if steps), last)
            if not all(misses(point, target) for point in points):
                return (), None
        case SphereLinear() | LocalGaussian():
            points = _beside(found, target)
        case _:
            return (), None
    return points, least_rmse(points, target.n) if points else None


def _staircase(
    found: Staged, target: Target, gap: Fraction, *, most: int = 2000, beyond: float = 1e-6, still: float = 1e-4
) -> tuple[Bounded, ...]:
    """Points such that every corner between them has about the error asked for; empty if they come to a stand.

    From each point the other parameter of the next is read off the corner between them, and its gamma is the largest
    that misses the target.

    - ``most``: points after which the staircase gives up: it stands still where the floor asked for is not
      below the optimum.
    - ``beyond``: how far beyond the last corner the staircase ends, in the logarithm of 1 - gamma.
    - ``still``: a smaller step, in the same logarithm, is a stand.
    """
    error = to_float(err1(found)) * (1 - float(gap)) ** 2
    points: list[Bounded] = []
    share = 0.0
    last = -beyond - (math.log1p(error) if isinstance(found, BlanketMixedGaussian) else math.log(error) / 2)
    while len(points) < most:
        at = _corner(found, error, -math.expm1(share), target.n)
        if at is None:
            return tuple(points)
        reached = _farthest(found, at, (share, last), target)
        if reached is None or reached > share - still:
            return ()
        points.append(_point(found, -math.expm1(reached), at))
        share = reached
    return ()


def _corner(
    found: Staged, error: float, gamma: float, n: int, *, least: float = 2 / 7, rare: float = 1 / 8
) -> Fraction | None:
    """The other parameter at which the error is as given, at a gamma; None if it is larger everywhere.

    - ``least``: less noise than this, in lengths of the longest input, is excluded together with this much.
    - ``rare``: a cap that a random point hits less often than so often per user is excluded together with
      one of this share.
    """
    if isinstance(found, BlanketMixedGaussian):
        norm = float(found.norm)
        left = error - gamma / (1 - gamma) * norm**2
        return None if left <= 0 else short(max((1 - gamma) * math.sqrt(left / found.dimension), norm * least))
    if (1 - gamma) ** -2 >= error:
        return None
    d, exact = found.dimension, error_of(found)
    rarest = rare / n

    def excess(at: float) -> float:
        with working_precision(_BITS):
            return float(exact(flint.arb(gamma), Fraction(at)).mid()) / error - 1

    def hit(at: float) -> float:
        with working_precision(_BITS):
            return float(cap_complement(-to_arb(Fraction(at)), d).mid()) / rarest - 1

    high = _crossing(hit, 0.0, 1 - 1e-9)
    if excess(high) > 0:
        return short(high)
    if isinstance(found, ClippedLinear) and excess(-1.0) <= 0:
        return Fraction(-1)
    return short(_crossing(excess, -1 + 1e-9, high))


def _crossing(function: Callable[[float], float], low: float, high: float, *, settled: float = 1e-9) -> float:
    return zero_between(function, low, high, xtol=settled)


def _farthest(
    found: Staged,
    at: Fraction,
    between: tuple[float, float],
    target: Target,
    *,
    infinite: float = 1e3,
    margin: float = 2e-3,
    settled: float = 5e-5,
    stride: float = 0.02,
) -> float | None:
    """The logarithm of the least 1 - gamma at which delta is above a target, between two; None if at neither.

    - ``margin``: by how much delta is to exceed the target at a point, by the search's estimate: more than the
      engine's width.
    - ``settled``: how closely the next share is searched.
    - ``stride``: the first step of the search for the next share, in the logarithm of 1 - gamma.
    """
    share, last = between
    n, ratio = target.n, to_float(target.exp_eps)
    wanted = math.log(float(target.goal)) + margin
    rows = cells(found, at, target.adjacency, target.blanket)
    null, first, second, least = _in_doubles(rows)

    def excess(level: float) -> float:
        rest = math.exp(level)
        gamma = 1 - rest
        p, q, blanket = (gamma * null + rest * row for row in (first, second, least))
        value = _larger(p, q, blanket, n, ratio, orders=2 if isinstance(found, PrivUnit) else 1)
        return math.log(value) - wanted if value > 0 else -infinite

    high = min(share - 1e-9, -1e-3)
    if high <= last or not excess(high) > 0:
        return None
    step = stride
    low = max(high - step, last)
    while excess(low) > 0:
        if low == last:
            return last
        high, step = low, 2 * step
        low = max(high - step, last)
    return zero_between(excess, low, high, xtol=settled)


def _in_doubles(rows: Cells) -> tuple[Array, ...]:
    return tuple(np.array([float(mass.mid()) for mass in row]) for row in rows)


def _larger(p: Array, q: Array, blanket: Array, n: int, ratio: float, *, orders: int) -> float:
    """About the bound of cells in both orders, or in the first one, which mostly is the worse one."""
    kept = blanket > 1e-300
    p, q, blanket = p[kept], q[kept], blanket[kept]
    weights = np.append(blanket, max(1 - blanket.sum(), 0.0))
    values = ((one - ratio * other) / blanket for one, other in ((p, q), (q, p))[:orders])
    return max(_estimate(np.append(one, 0.0), weights, n) for one in values)


def _estimate(values: Array, weights: Array, n: int, *, width: float = 1e-5) -> float:
    return estimate(values, weights, n, rtol=width) if values.max() > 0 else 0.0


def _point(found: Staged, gamma: float, at: Fraction) -> Bounded:
    """A mechanism of the family by share and the other parameter, in decimals."""
    if isinstance(found, BlanketMixedGaussian):
        return replace(found, gamma=short(gamma), sigma0=at)
    if at == -1:
        return SphereLinear(short(1 - gamma), found.dimension)
    with working_precision(_BITS):
        height = to_arb(at)
        if isinstance(found, PrivUnit):
            outside = float(cap_complement(height, found.dimension).mid())
            return PrivUnit(short(1 - gamma * outside), at, found.dimension)
        mean, square, _ = ramp_moments(height, found.dimension)
        spread: Any = (square / (mean * mean) - 1).mid()
    return ClippedLinear(at, found.dimension, short(math.sqrt(gamma / float(spread)) / (1 - gamma)))


def _beside(
    found: SphereLinear | LocalGaussian,
    target: Target,
    *,
    glance: float = 0.03,
    nearest: Fraction = Fraction(1, 10**6),
    doublings: int = 18,
) -> tuple[Bounded, ...]:
    """A mechanism of little less error that certainly misses the target."""

    def point(part: Fraction) -> SphereLinear | LocalGaussian:
        if isinstance(found, SphereLinear):
            return SphereLinear(1 - (1 - found.c) * (1 - part), found.dimension)
        return LocalGaussian(found.sigma0 * (1 - part), found.dimension)

    points = [point(nearest * 2**k) for k in range(doublings)]
    asked: Any = {"exp_eps": target.exp_eps, "adjacency": target.adjacency}
    if one_user_bound(points[-1], target.goal, **asked):
        return ()  # all of them meet the target
    if isinstance(found, LocalGaussian) and one_user_bound(found, target.goal, **asked):
        # No engine has a narrow bracket where so few messages are of the blanket, and each takes its time to say so.
        first = bisect_left(points, True, key=lambda one: misses_alone(one, target))
        return tuple(points[first : first + 1])
    first = bisect_left(points, True, key=lambda one: _likely_missed(one, target))
    excluded = next((p for p in points[first:] if misses(p, target, rtol=glance) or misses(p, target)), None)
    return () if excluded is None else (excluded,)


def _likely_missed(point: SphereLinear | LocalGaussian, target: Target, *, excess: float = 3e-6) -> bool:
    """Whether a point is likely to be excluded: by an estimate."""
    n, ratio = target.n, to_float(target.exp_eps)
    if isinstance(point, SphereLinear) or point.dimension == 1:
        value = roughly(point, n, target.exp_eps, target.adjacency, target.blanket)
    else:
        _, p, q, blanket = _in_doubles(cells(point, point.sigma0, target.adjacency, target.blanket))
        value = _larger(p, q, blanket, n, ratio, orders=2)
    return value > float(target.goal) * (1 + excess)
