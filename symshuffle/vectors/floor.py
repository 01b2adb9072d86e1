r"""What no parameters of a family can beat: a certified floor under the error that meets a target.

For a blanket-mixed Gaussian the bound falls, and the error rises, in both parameters: a message that may be replaced
by a fresh blanket message has a larger :math:`\gamma`, one with noise added a larger :math:`\sigma_0`, and whoever
reads can add blanket messages; for the largest blanket too, because the infimum of what is processed is no smaller
than the processed infimum (claim ``symshuffle.vecmean-mixed-gaussian-order``). So parameters that certainly miss the
target exclude all that are smaller in both. Points that rise in :math:`\gamma` and fall in :math:`\sigma_0` leave a
staircase: what is not excluded has, at one of its corners, no larger error.

That a point misses the target is read off a mechanism that says less: of each message only the cell of the line in
which it falls, and a blanket with at least the mass of the true one in each (:mod:`symshuffle.vectors.cells`). This is
a finite law, milliseconds where the density takes a second, and it still bites where the density has a tail too long
for any rule.

Families with one parameter need one point: a linear density of smaller slope is one of larger slope whose message may
be replaced by a uniform one, and a Gaussian of more noise is one of less noise with some added. Either way the blanket
of the bound contains what the same step makes of the blanket before it, so that the bound falls too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final, TypeAlias, final

import numpy as np
import numpy.typing as npt

from symshuffle.choices import Adjacency, Blanket, replace_choice
from symshuffle.engines.bromwich_plan import estimate
from symshuffle.errors import CertificateError, NotDecided, Unsupported
from symshuffle.numbers import Real, enclose, to_float
from symshuffle.vectors.accounting import pair_delta
from symshuffle.vectors.cells import cells_in_doubles, cells_of
from symshuffle.vectors.mechanisms import BlanketMixedGaussian, LocalGaussian, SphereLinear
from symshuffle.vectors.pairs import FinitePair, Pair, worst_pair
from symshuffle.vectors.risk import err1, mixed_gaussian_risk

Bounded: TypeAlias = BlanketMixedGaussian | SphereLinear | LocalGaussian

Array: TypeAlias = npt.NDArray[np.float64]

_REL: Final = 1e-3
_MOST: Final = 600
"""Points after which the staircase gives up: it stands still where the floor asked for is not below the optimum."""

_LEAST: Final = 2 / 7
"""Less noise than this, in lengths of the longest input, is excluded together with this much."""

_BEYOND: Final = 1e-6
"""How far beyond the last corner the staircase ends, in the logarithm of 1 - gamma."""

_FAR: Final = 1e3
"""Stands for the logarithm of infinity."""

_WIDENED: Final = 5
_MARGIN: Final = 2e-3
"""By how much delta is to exceed the target at a point, by the search's estimate: more than the engine's width."""


@final
@dataclass(frozen=True, slots=True)
class Target:
    """What a bound on delta is compared with.

    Parameters
    ----------
    n : int
        Number of users.
    exp_eps : Real
        The level, as ratio.
    goal : Fraction
        The delta to be met.
    adjacency : {"zero-out", "replace-one"}
        Which datasets are neighbours.
    blanket : {"mechanism", "largest"}
        The blanket of the bound.
    """

    n: int
    exp_eps: Real
    goal: Fraction
    adjacency: Adjacency
    blanket: Blanket

    def __post_init__(self) -> None:
        replace_choice(Adjacency, self, "adjacency")
        replace_choice(Blanket, self, "blanket")


@final
@dataclass(frozen=True, slots=True)
class Floor:
    r"""A lower bound on the error of every mechanism of a family that meets a target by its bound.

    Parameters
    ----------
    points : tuple of mechanism
        Each certainly misses the target: of a blanket-mixed Gaussian by rising gamma and falling sigma0, otherwise one.
    rmse : Fraction
        Root of the least error at the corners between them, per user and coordinate.
    """

    points: tuple[Bounded, ...]
    rmse: Fraction

    def verify(self, target: Target) -> None:
        """Decide every point again, and the corners.

        Raises
        ------
        CertificateError
            If a point is not certainly excluded, they are out of order, or the floor is above a corner.
        """
        if not self.points:
            raise CertificateError("floor.points", "none is given")
        least = _root(_least(self.points) / (target.n * self.points[0].dimension))
        if self.rmse > least:
            raise CertificateError("floor.rmse", f"{float(self.rmse):.9g} is claimed, {float(least):.9g} is left")
        for k, point in enumerate(self.points):
            try:
                missed = misses(point, target)
            except Unsupported as reason:
                raise CertificateError(f"floor.points[{k}]", str(reason)) from reason
            if not missed:
                raise CertificateError(f"floor.points[{k}]", f"{point} may meet delta = {float(target.goal):.6g}")


def floor_of(found: object, target: Target, gap: Fraction) -> Floor | None:
    """A floor within about ``gap`` of the error of parameters that were found; None where no order is known.

    Parameters
    ----------
    found : mechanism
        The best parameters known: where the search for points starts, without any bearing on what they certify.
    target : Target
        What is to be met.
    gap : Fraction
        How far below the error the floor may lie, relatively; up to 16 times as far where cells say too little.
    """
    match found:
        case BlanketMixedGaussian():
            gaps = (gap * 2**k for k in range(_WIDENED) if gap * 2**k < 1)
            points = next(filter(None, (_staircase(found, target, wider) for wider in gaps)), ())
        case SphereLinear() | LocalGaussian():
            points = _beside(found, target)
        case _:
            return None
    if not points or not all(misses(point, target) for point in points):
        return None
    return Floor(points, _root(_least(points) / (target.n * points[0].dimension)))


def misses(mechanism: Bounded, target: Target) -> bool:
    """Whether the bound on delta of a mechanism is certainly above a target, in one order of the pair.

    Raises
    ------
    Unsupported
        If the mechanism has no such blanket.
    """
    if isinstance(mechanism, BlanketMixedGaussian) or (
        isinstance(mechanism, LocalGaussian) and mechanism.dimension > 1
    ):
        pair: Pair = cells_of(mechanism, target.adjacency, target.blanket)
    else:
        pair = worst_pair(mechanism, adjacency=target.adjacency, blanket=target.blanket, exp_eps=target.exp_eps)
    for one in (pair, pair.reverse):
        try:
            rel = _REL if isinstance(pair, FinitePair) else 1e-8
            if pair_delta(one, target.n, target.exp_eps, rel=rel).lower > target.goal:
                return True
        except (Unsupported, NotDecided):
            continue
    return False


def _least(points: Sequence[Bounded]) -> Fraction:
    """The least error of parameters that no point excludes.

    Raises
    ------
    CertificateError
        If the points are out of order.
    """
    one = points[0]
    if isinstance(one, BlanketMixedGaussian):
        steps: list[Any] = list(points)
        for k, (before, after) in enumerate(pairwise(steps)):
            if not (before.gamma < after.gamma and before.sigma0 > after.sigma0):
                raise CertificateError(f"floor.points[{k + 1}]", "gamma does not rise or sigma0 does not fall")
        gammas = [Fraction(0), *(p.gamma for p in steps)]
        noises = [*(p.sigma0 for p in steps), Fraction(0)]
        least: Fraction = min(
            sum(mixed_gaussian_risk(g, s, one.dimension)) for g, s in zip(gammas, noises, strict=True)
        )
        return least
    if len(points) != 1:
        raise CertificateError("floor.points", f"{len(points)} points where one is meant")
    return enclose(err1(one), 128).lower


def _root(value: Fraction) -> Fraction:
    return Fraction(math.isqrt(math.floor(value * 4**60)), 2**60)


def _staircase(found: BlanketMixedGaussian, target: Target, gap: Fraction) -> tuple[Bounded, ...]:
    """Points such that every corner between them has about the error asked for; empty if they come to a stand.

    From each point the noise of the next is read off the corner between them, and its gamma is the largest that misses
    the target.
    """
    d = found.dimension
    error = float(err1(found)) * (1 - float(gap)) ** 2
    wanted = math.log(float(target.goal)) + _MARGIN
    points: list[Bounded] = []
    gamma, share, last = 0.0, 0.0, -math.log1p(error) - _BEYOND
    while (left := error - gamma / (1 - gamma)) > 0 and len(points) < _MOST:
        noise = max((1 - gamma) * math.sqrt(left / d), float(found.norm) * _LEAST)
        reached = _farthest(float(found.norm) / noise, d, (share, last), wanted, target)
        if reached is None or reached >= share:
            return ()
        share = reached
        point = BlanketMixedGaussian(_decimal(-math.expm1(share)), _decimal(noise), found.norm, d)
        points.append(point)
        gamma = float(point.gamma)
    return tuple(points) if len(points) < _MOST else ()


def _farthest(
    shift: float, dimension: int, between: tuple[float, float], wanted: float, target: Target
) -> float | None:
    """The logarithm of the least 1 - gamma at which delta is above a target, between two; None if at neither."""
    share, last = between
    n, ratio, adjacency = target.n, to_float(target.exp_eps), target.adjacency
    null, along, opposite, shared = cells_in_doubles(shift, dimension, adjacency, target.blanket)

    def excess(at: float) -> float:
        rest = math.exp(at)
        gamma = 1 - rest
        first, second, blanket = (gamma * null + rest * other for other in (along, opposite, shared))
        kept = blanket > 1e-300
        other = null if adjacency is Adjacency.ZERO_OUT else second
        values = np.append((first - ratio * other)[kept] / blanket[kept], 0.0)
        weights = np.append(blanket[kept], max(1 - blanket.sum(), 0.0))
        value = estimate(values, weights, n, rel=1e-5) if values.max() > 0 else 0.0
        return math.log(value) - wanted if value > 0 else -_FAR

    from scipy.optimize import brentq

    high = min(share - 1e-9, -1e-3)
    if not excess(high) > 0:
        return None
    step = 0.02
    low = max(high - step, last)
    while excess(low) > 0:
        if low == last:
            return last
        high, step = low, 2 * step
        low = max(high - step, last)
    return float(brentq(excess, low, high, xtol=5e-5))


def _beside(found: SphereLinear | LocalGaussian, target: Target) -> tuple[Bounded, ...]:
    """A mechanism of a little less error that certainly misses the target."""
    for k in range(8):
        part = Fraction(1, 10**7) * 8**k
        if isinstance(found, SphereLinear):
            point: Bounded = SphereLinear(1 - (1 - found.c) * (1 - part), found.dimension)
        else:
            point = LocalGaussian(found.sigma0 * (1 - part), found.dimension)
        if misses(point, target):
            return (point,)
    return ()


def _decimal(value: float) -> Fraction:
    return Fraction(f"{value:.12g}")


__all__ = ["Floor", "Target", "floor_of", "misses"]
