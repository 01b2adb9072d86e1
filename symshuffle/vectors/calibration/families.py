"""Families of mechanisms by shape and strength, and estimates of their bound on delta.

Families of mechanisms for vectors by two real numbers: a shape and a strength.

A shape may be searched; at any of them delta rises and the error falls with the strength, so that a target decides it.
Parameters are decimals of few digits, hence exact.

About the bound on delta of a mechanism, in milliseconds and without any claim: for searches certified afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final, TypeAlias, final

import numpy as np

from symshuffle.base.choices import Blanket, Relation
from symshuffle.base.doubles import Array
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Real, to_arb, to_float, working_precision
from symshuffle.engines.contours import saddle
from symshuffle.engines.densities.bromwich_plan import ceiling, estimate
from symshuffle.engines.densities.doubling import Atoms, positive_part
from symshuffle.vectors.privacy.pairs import Randomizer, real_pair, worst_pair
from symshuffle.vectors.privacy.rows import rows_of
from symshuffle.vectors.randomizers.mechanisms import (
    BlanketMixedGaussian,
    ClippedLinear,
    LocalGaussian,
    PrivUnit,
    SphereLinear,
)
from symshuffle.vectors.randomizers.sphere import clipped_numbers, ramp_moments

Calibrated: TypeAlias = BlanketMixedGaussian | SphereLinear | PrivUnit | ClippedLinear | LocalGaussian
"""Families whose parameters are searched."""


SHAPES: Final = {"bmg": "gamma", "privunit": "theta", "clipped-linear": "clip"}
"""The parameter that is the shape of a family, which may be given instead of searched."""


_LEAST_SHARE: Final = 1e-3
"""Least mass of the blanket of a density on the sphere: less saves no larger share of the error, and costs digits."""


@final
@dataclass(frozen=True, slots=True)
class ShapedFamily:
    """Mechanisms by a shape, over which a search runs, and a strength, which a target decides.

    - ``make``: from shape and strength (both real) to a mechanism; delta rises with the strength, the error falls.
    - ``shapes``: the least and the largest shape; equal where there is nothing to choose.
    - ``centre``: the shape at which the search begins.
    - ``start``: from a shape to a strength to start from.
    """

    make: Callable[[float, float], Calibrated]
    shapes: tuple[float, float]
    centre: float
    start: Callable[[float], float]
    strengths: tuple[float, float]


def family_by_name(
    name: str,
    n: int,
    dimension: int,
    noise: float,
    shape: Fraction | None = None,
    *,
    noises: tuple[float, float] = (-30.0, 4.0),
    odds: tuple[float, float] = (-30.0, 13.0),
) -> ShapedFamily:
    """A family, started at the index of the central mechanism of the same guarantee.

    - ``shape``: the parameter of :data:`SHAPES`, where it is not to be searched.
    - ``noises``: ends of a strength, of minus a logarithm of noise, from where it starts: no loose target sees less.
    - ``odds``: ends of a strength, of log-odds: a target that is met there is met by all, or by none.
    """
    index, root, one = max(noise * math.sqrt(n), 0.5), math.sqrt(dimension), Fraction(1)
    by_noise = (noises[0] - math.log(index), noises[1] - math.log(index))
    flat = (odds[0], -math.log(_LEAST_SHARE))
    match name:
        case "bmg":  # shape: log(1 - gamma); strength: -log(sigma0)

            def gamma(at: float) -> Fraction:
                return 1 - short(math.exp(at)) if shape is None else shape

            def mixed(at: float, strength: float) -> Calibrated:
                return BlanketMixedGaussian(gamma(at), short(math.exp(-strength)), one, dimension)

            def start(at: float) -> float:
                share = float(gamma(at))
                return math.log(math.log1p(share / ((1 - share) ** 2 * index**2))) / 2

            centre = -2 / 3 * math.log(max(index, 2.0))
            found = ShapedFamily(mixed, (centre - 6, -0.02), centre, start, by_noise)
        case "sphere-linear":  # strength: logit of c

            def linear(_: float, strength: float) -> Calibrated:
                return SphereLinear(short(logistic(strength)), dimension)

            found = ShapedFamily(linear, (0.0, 0.0), 0.0, lambda _: -math.log(max(index / root, 0.3)), flat)
        case "privunit":  # shape: theta sqrt(d); strength: logit of p, above that of the cap

            def caps(at: float, strength: float) -> Calibrated:
                theta = short(at / root) if shape is None else shape
                probe = PrivUnit(one / 2, theta, dimension)  # a height that is given is refused by its own name
                outside = 1 - _below(probe.theta, dimension)
                return PrivUnit(short(outside + (1 - outside) * logistic(strength)), theta, dimension)

            widest = 0.999 * root
            found = ShapedFamily(caps, (-widest, widest), 0.0, lambda _: -math.log(max(index, 0.3)), odds)
        case "clipped-linear":  # shape: clip sqrt(d); strength: -log(chi)

            def clipped(at: float, strength: float) -> Calibrated:
                clip = short(at / root) if shape is None else shape
                return ClippedLinear(clip, dimension, short(max(math.exp(-strength), _least_index(clip, dimension))))

            widest = 0.98 * root
            found = ShapedFamily(clipped, (-widest, widest), 0.0, lambda _: -math.log(max(index, 0.5)), by_noise)
        case "gaussian":

            def local(_: float, strength: float) -> Calibrated:
                return LocalGaussian(short(math.exp(-strength)), dimension)

            found = ShapedFamily(local, (0.0, 0.0), 0.0, lambda _: -math.log(max(index, 0.5)), by_noise)
        case _:
            raise InputError("mechanism", name, "bmg, sphere-linear, privunit, clipped-linear or gaussian")
    return found if shape is None else replace(found, shapes=(0.0, 0.0), centre=0.0)


def _below(theta: Fraction, dimension: int) -> float:
    """The share of the sphere below a height, in doubles."""
    from scipy.special import betainc

    half = (dimension - 1) / 2
    return float(betainc(half, half, (1 + float(theta)) / 2))


@lru_cache(maxsize=8)
def _least_index(clip: Fraction, dimension: int) -> float:
    """The index at which the blanket of a clipped density has its least mass, in doubles."""
    with working_precision(128):
        mean, square, _ = ramp_moments(to_arb(clip), dimension)
        spread = float((square / (mean * mean)).mid()) - 1
    return math.sqrt(_LEAST_SHARE / spread) if spread > 0 else 0.0


def logistic(x: float) -> float:
    """The number in (0, 1) whose log-odds are x."""
    return 1 / (1 + math.exp(-x))


def short(value: float, *, digits: int = 12) -> Fraction:
    """A decimal of so many significant digits."""
    return Fraction(f"{value:.{digits}g}")


def roughly(
    mechanism: Randomizer,
    n: int,
    order: Real,
    adjacency: Relation,
    blanket: Blanket,
    *,
    fine: bool = True,
    enough: float = 0.0,
    felt: float = 1e-9,
) -> float:
    """About the bound on delta in its worse order; 0 where no likelihood ratio exceeds the level.

    - ``fine``: whether to integrate to many digits; otherwise to a few, and of densities on the sphere the leading
      term at the saddle point, a few parts in a hundred off. Gaussians have tails too long for it.
    - ``enough``: the value for one user, which no larger number exceeds, is returned where it is at most this.
    - ``felt``: mass from which on what no node stands for is no rounding.
    """
    spread = isinstance(mechanism, SphereLinear | ClippedLinear) and mechanism.dimension > 1
    ratio = to_float(order)
    alone = of_one_user(mechanism, order, adjacency)
    if alone <= enough:
        return alone
    if isinstance(mechanism, SphereLinear | ClippedLinear) and spread:
        rows = _on_sphere(mechanism, adjacency)
    else:
        pair = worst_pair(mechanism, adjacency=adjacency, blanket=blanket, exp_eps=order)
        rows = rows_of(pair, fine=fine)
    p, q, weight = rows
    weights = np.append(weight, max(1 - float(weight.sum()), 0.0))
    orders = [np.append(g, 0.0) for g in (p - ratio * q, q - ratio * p)]
    # With opposite inputs both directions have one law.
    orders = orders[:1] if adjacency == "replace-one" else orders
    if spread and not fine:
        return min(alone, max(_leading(values, weights, n) for values in orders))
    # What no node stands for has likelihood ratios beyond doubles: it adds its mass, however many users there are.
    beyond = max(1 - float(weight @ p), 1 - float(weight @ q))
    add = summed(mechanism, n)
    return min(alone, _of_all(orders, weights, n, fine=fine, add=add) + (beyond if beyond > felt else 0.0))


def summed(mechanism: Randomizer, n: int, *, max_users: int = 100) -> bool:
    """Whether estimates are by sums, a few parts in 10^4 off: of few Gaussians, whose transform falls late."""
    return n <= max_users and isinstance(mechanism, BlanketMixedGaussian | LocalGaussian)


def of_one_user(mechanism: Randomizer, order: Real, adjacency: Relation) -> float:
    """About the larger order for one user, whatever the blanket."""
    if isinstance(mechanism, SphereLinear | ClippedLinear) and mechanism.dimension > 1:
        return _of_one(_on_sphere(mechanism, adjacency), to_float(order))
    return _of_one(rows_of(real_pair(mechanism, adjacency=adjacency), fine=True), to_float(order))


def _of_one(rows: Array, ratio: float) -> float:
    """The larger order for one user, and the mass that no node stands for."""
    p, q, weight = rows
    return max(float(np.maximum(g, 0) @ weight) for g in (p - ratio * q, q - ratio * p)) + max(1 - float(p @ weight), 0)


def _of_all(orders: list[Array], weights: Array, n: int, *, fine: bool, add: bool) -> float:
    """About the larger order for all users."""
    first, *others = sorted(orders, key=lambda values: -ceiling(values, weights, n))
    found = _of_one_order(first, weights, n, fine=fine, add=add) if ceiling(first, weights, n) > 0 else 0.0
    for values in others:  # often far below, with a transform that falls slowly there
        if ceiling(values, weights, n) > found:
            found = max(found, _of_one_order(values, weights, n, fine=fine, add=add))
    return found


def _of_one_order(
    values: Array,
    weights: Array,
    n: int,
    *,
    fine: bool,
    add: bool,
    widths: tuple[float, float] = (1e-8, 1e-4),
    bins: tuple[int, int] = (500, 200),
    enough: float = 1e-3,
) -> float:
    """By the transform, or at least what sums merged into their means have."""
    found = _added(values, weights, n, bins[not fine]) if add else 0.0
    if found > enough:
        return found
    about = estimate(values, weights, n, rtol=widths[not fine])
    return max(found, about) if found > 0 else about


def _added(values: Array, weights: Array, n: int, bins: int, *, lost_share: float = 1e-4) -> float:
    """By sums merged into their means, where roundings are next to nothing; 0 otherwise."""
    try:
        none = Atoms(np.array([0.0]), np.array([1.0]), 0.0, 0.0)
        atoms = Atoms(values, weights, 0.0, 0.0).plus(none, bins, spread=False)
        found, lost = positive_part(atoms, n, bins, spread=False)
    except Unsupported:
        return 0.0
    return found / n if lost < lost_share * found else 0.0


def _leading(values: Array, weights: Array, n: int) -> float:
    if float(values.max()) <= 0:
        return 0.0
    tilt = saddle.Tilt(values, weights / weights.sum())
    c = saddle.saddle_point(tilt, n)
    tilted = tilt.at(c)
    return math.exp(n * tilted.cumulant) / (c * c * n * math.sqrt(2 * math.pi * (n * tilted.variance + 2 / c**2)))


def _on_sphere(
    mechanism: SphereLinear | ClippedLinear,
    adjacency: Relation,
    *,
    nodes: int = 10,
    panel: float = 1.0,
    farthest: float = 9.0,
) -> Array:
    """Along the angle: the densities of x and of the other, relative to the least one, and the mass of that."""
    d = mechanism.dimension
    corners, clip, gamma, slope = [0.0], -1.0, 1 - to_float(getattr(mechanism, "c", Fraction(0))), 0.0
    if isinstance(mechanism, SphereLinear):
        slope = float(mechanism.c)
    else:
        gamma, slope, _ = map(to_float, clipped_numbers(mechanism, bits=64))
        clip = float(mechanism.clip)
        corners = sorted({math.asin(clip), -math.asin(clip)})
    reach = min(math.pi / 2, farthest / math.sqrt(d))
    ends = [-reach, *(a for a in corners if -reach < a < reach), reach]
    node, mass = np.polynomial.legendre.leggauss(nodes)
    angles, weights = [], []
    for low, high in pairwise(ends):
        count = max(1, math.ceil((high - low) * math.sqrt(d) / panel))
        edges = low + (high - low) / count * np.arange(count)
        half = (high - low) / count / 2
        angles.append((edges[:, None] + half * (1 + node)).ravel())
        weights.append(np.tile(half * mass, count))
    angle, weight = np.concatenate(angles), np.concatenate(weights)
    with working_precision(64):
        scale = float((to_arb(Fraction(d, 2)).gamma() / to_arb(Fraction(d - 1, 2)).gamma()).mid()) / math.sqrt(math.pi)
    uniform = scale * weight * np.cos(angle) ** (d - 2)
    toward, away = (gamma + slope * np.maximum(sign * np.sin(angle) - clip, 0) for sign in (1, -1))
    other = np.ones_like(angle) if adjacency == "zero-out" else away
    return np.array([toward / gamma, other / gamma, uniform * gamma])
