"""Functions of one coordinate from which pairs of densities are made: on the line, and along an angle of the sphere.

All take balls of a real or complex coordinate, or series of them; numbers that enter are made once for each precision.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

import flint

from symshuffle.continuous_law import Function
from symshuffle.numbers import to_arb

T = TypeVar("T")


def once(make: Callable[[], T]) -> Callable[[], T]:
    """What depends on the working precision alone, made once for each: it enters at thousands of points."""
    made: dict[int, T] = {}

    def known() -> T:
        bits = flint.ctx.prec
        if bits not in made:
            made[bits] = make()
        return made[bits]

    return known


def enclosed(*values: Fraction) -> Callable[[], tuple[flint.arb, ...]]:
    """Rationals as balls of the working precision."""
    return once(lambda: tuple(map(to_arb, values)))


def constant(value: Fraction) -> Function:
    """The function with this value everywhere."""
    number = enclosed(value)
    return lambda u: u * 0 + number()[0]


def normal(z: Any) -> Any:
    """The density of N(0, 1)."""
    return (-z * z / 2).exp() / (2 * flint.arb.pi()).sqrt()


def tilted(gamma: Fraction, shift: Fraction) -> Function:
    """Density of a message at distance ``shift`` (in units of sigma0) relative to N(0, 1)."""
    numbers = enclosed(gamma, 1 - gamma, shift, shift * shift / 2)

    def density(z: Any) -> Any:
        mass, rest, slope, half = numbers()
        return mass + rest * (slope * z - half).exp()

    return density


def sphere_constant(dimension: int) -> Callable[[], flint.arb]:
    """The factor that makes ``cos^(d-2)``, of the angle whose sine is a coordinate of the sphere, a density."""

    def factor() -> flint.arb:
        half = to_arb(Fraction(dimension - 1, 2))
        return (half + to_arb(Fraction(1, 2))).gamma() / half.gamma() / flint.arb.pi().sqrt()

    return once(factor)


def sine(angle: Any) -> Any:
    """By exponentials, which series have."""
    turned = (angle * flint.acb(0, 1)).exp()
    return (turned - 1 / turned) / flint.acb(0, 2)


def cosine(angle: Any) -> Any:
    """By exponentials, which series have."""
    turned = (angle * flint.acb(0, 1)).exp()
    return (turned + 1 / turned) / 2


__all__ = ["constant", "cosine", "enclosed", "normal", "once", "sine", "sphere_constant", "tilted"]
