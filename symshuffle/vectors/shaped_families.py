"""Families of mechanisms for vectors by two real numbers: a shape and a strength.

A shape may be searched; at any of them delta rises and the error falls with the strength, so that a target decides it.
Parameters are decimals of few digits, hence exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias, final

from symshuffle.errors import InputError
from symshuffle.vectors.mechanisms import BlanketMixedGaussian, ClippedLinear, LocalGaussian, PrivUnit, SphereLinear

DIGITS: Final = 12
"""Decimal digits of the parameters returned."""

Calibrated: TypeAlias = BlanketMixedGaussian | SphereLinear | PrivUnit | ClippedLinear | LocalGaussian
"""Families whose parameters are searched."""


@final
@dataclass(frozen=True, slots=True)
class Family:
    """Mechanisms by a shape, over which a search runs, and a strength, which a target decides.

    Parameters
    ----------
    make : callable
        From shape and strength (both real) to a mechanism; delta rises with the strength, the error falls.
    shapes : tuple of float
        Where the search begins and ends; equal where there is nothing to choose.
    start : callable
        From a shape to a strength to start from.
    """

    make: Callable[[float, float], Calibrated]
    shapes: tuple[float, float]
    start: Callable[[float], float]


def family_by_name(name: str, n: int, dimension: int, noise: float) -> Family:
    """A family, started at the index of the central mechanism of the same guarantee.

    Parameters
    ----------
    name : {"bmg", "sphere-linear", "privunit", "clipped-linear", "gaussian"}
        The family.
    n, dimension : int
        Number of users, length of the vectors.
    noise : float
        Root mean squared error, per coordinate of the mean, of the central Gaussian mechanism of that guarantee.

    Raises
    ------
    InputError
        If the name is another one.
    """
    index = max(noise * math.sqrt(n), 0.5)
    one = Fraction(1)
    match name:
        case "bmg":  # shape: log(1 - gamma); strength: -log(sigma0)

            def mixed(shape: float, strength: float) -> Calibrated:
                return BlanketMixedGaussian(1 - _short(math.exp(shape)), _short(math.exp(-strength)), one, dimension)

            def start(shape: float) -> float:
                gamma = 1 - math.exp(shape)
                return math.log(math.log1p(gamma / (math.exp(2 * shape) * index**2))) / 2

            centre = -2 / 3 * math.log(max(index, 2.0))
            return Family(mixed, (centre - 1.5, min(centre + 1.5, -0.02)), start)
        case "sphere-linear":  # strength: logit of c

            def linear(_: float, strength: float) -> Calibrated:
                return SphereLinear(_short(logistic(strength)), dimension)

            return Family(linear, (0.0, 0.0), lambda _: -math.log(max(index / math.sqrt(dimension), 0.3)))
        case "privunit":  # shape: theta sqrt(d); strength: logit of p, above that of the cap

            def caps(shape: float, strength: float) -> Calibrated:
                theta = _short(shape / math.sqrt(dimension))
                outside = 1 - _below(theta, dimension)
                return PrivUnit(_short(outside + (1 - outside) * logistic(strength)), theta, dimension)

            return Family(caps, (0.0, min(3.0, 0.95 * math.sqrt(dimension))), lambda _: -math.log(max(index, 0.3)))
        case "clipped-linear":  # shape: clip sqrt(d); strength: -log(chi)

            def clipped(shape: float, strength: float) -> Calibrated:
                return ClippedLinear(_short(shape / math.sqrt(dimension)), dimension, _short(math.exp(-strength)))

            lowest = -min(5.0, 0.98 * math.sqrt(dimension))
            return Family(clipped, (lowest, 0.0), lambda _: -math.log(max(index, 0.5)))
        case "gaussian":

            def local(_: float, strength: float) -> Calibrated:
                return LocalGaussian(_short(math.exp(-strength)), dimension)

            return Family(local, (0.0, 0.0), lambda _: -math.log(max(index, 0.5)))
    raise InputError("mechanism", name, "bmg, sphere-linear, privunit, clipped-linear or gaussian")


def _below(theta: Fraction, dimension: int) -> float:
    """The share of the sphere below a height, in doubles."""
    from scipy.special import betainc

    half = (dimension - 1) / 2
    return float(betainc(half, half, (1 + float(theta)) / 2))


def logistic(x: float) -> float:
    """The number in (0, 1) whose log-odds are x."""
    return 1 / (1 + math.exp(-x))


def _short(value: float) -> Fraction:
    """A decimal of :data:`DIGITS` significant digits."""
    return Fraction(f"{value:.{DIGITS}g}")
