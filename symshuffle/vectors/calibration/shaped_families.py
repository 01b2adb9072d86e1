"""Families of mechanisms for vectors by two real numbers: a shape and a strength.

A shape may be searched; at any of them delta rises and the error falls with the strength, so that a target decides it.
Parameters are decimals of few digits, hence exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias, final

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import to_arb, working_precision
from symshuffle.vectors.randomizers.clipped import ramp_moments
from symshuffle.vectors.randomizers.mechanisms import (
    BlanketMixedGaussian,
    ClippedLinear,
    LocalGaussian,
    PrivUnit,
    SphereLinear,
)

DIGITS: Final = 12
"""Decimal digits of the parameters returned."""

Calibrated: TypeAlias = BlanketMixedGaussian | SphereLinear | PrivUnit | ClippedLinear | LocalGaussian
"""Families whose parameters are searched."""


SHAPES: Final = {"bmg": "gamma", "privunit": "theta", "clipped-linear": "clip"}
"""The parameter that is the shape of a family, which may be given instead of searched."""

_LARGEST_NOISE: Final = 30.0
_LEAST_NOISE: Final = -4.0
"""Ends of a strength, of minus a logarithm of noise, from where it starts: less noise is seen by no loose target."""

_FLATTEST: Final = -30.0
_STEEPEST: Final = 13.0
"""Ends of a strength, of log-odds: a target that is met there is met by all, or by none."""

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


def family_by_name(name: str, n: int, dimension: int, noise: float, shape: Fraction | None = None) -> ShapedFamily:
    """A family, started at the index of the central mechanism of the same guarantee.

    - ``shape``: the parameter of :data:`SHAPES`, where it is not to be searched.
    """
    index, root, one = max(noise * math.sqrt(n), 0.5), math.sqrt(dimension), Fraction(1)
    loud = (-math.log(index) - _LARGEST_NOISE, -math.log(index) - _LEAST_NOISE)
    odds, flat = (_FLATTEST, _STEEPEST), (_FLATTEST, -math.log(_LEAST_SHARE))
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
            found = ShapedFamily(mixed, (centre - 6, -0.02), centre, start, loud)
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
            found = ShapedFamily(clipped, (-widest, widest), 0.0, lambda _: -math.log(max(index, 0.5)), loud)
        case "gaussian":

            def local(_: float, strength: float) -> Calibrated:
                return LocalGaussian(short(math.exp(-strength)), dimension)

            found = ShapedFamily(local, (0.0, 0.0), 0.0, lambda _: -math.log(max(index, 0.5)), loud)
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


def short(value: float) -> Fraction:
    """A decimal of :data:`DIGITS` significant digits."""
    return Fraction(f"{value:.{DIGITS}g}")
