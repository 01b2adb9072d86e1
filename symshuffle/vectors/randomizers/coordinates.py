"""Functions of one coordinate from which pairs of densities are made, on balls, series and arrays of doubles.

Functions of one coordinate from which pairs of densities are made: on the line, and along an angle of the sphere.

All take balls of a real or complex coordinate, or series of them; numbers that enter are made once for each precision.

Many points of a line at once, in doubles, for the functions that are made for balls: estimates without any claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar, final

import flint

from symshuffle.base.numbers import to_arb, working_precision
from symshuffle.channels.continuous_law import ExponentialOf, Function, PairTransform, TransformBound

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


def latest(function: Function) -> Function:
    """The function, which knows its last value: G and its density are taken at the same point one after the other."""
    known: list[Any] = [None, 0, None]

    def value(u: Any) -> Any:
        if known[0] is not u or known[1] != flint.ctx.prec:
            known[:] = u, flint.ctx.prec, function(u)
        return known[2]

    return value


def constant(value: Fraction) -> Function:
    """The function with this value everywhere."""
    number = enclosed(value)
    return lambda u: u * 0 + number()[0]


_peak = once(lambda: 1 / (2 * flint.arb.pi()).sqrt())


def normal(z: Any) -> Any:
    """The density of N(0, 1)."""
    return (-z * z / 2).exp() * _peak()


def tilted(gamma: Fraction, shift: Fraction) -> Function:
    """Density of a message at distance ``shift`` (in units of sigma0) relative to N(0, 1)."""
    numbers = enclosed(gamma, 1 - gamma, shift, shift * shift / 2)

    def exponent(z: Any) -> Any:
        _, _, slope, half = numbers()
        return slope * z - half

    def density(z: Any) -> Any:
        mass, rest, slope, half = numbers()
        return mass + rest * (slope * z - half).exp()

    return density if gamma else ExponentialOf(exponent)


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


def linear_transform(
    dimension: int, slopes: tuple[Fraction, Fraction], mass: Fraction, *, cancelled: float = 1.5
) -> PairTransform:
    r"""The transform of G for the densities :math:`1+ax` and :math:`1+bx` of a coordinate x of the uniform sphere.

    Against a multiple m of the uniform law :math:`G=g_0+g_1x` is linear, and with :math:`\nu=d/2-1`

    .. math:: E[e^{sG}]=m\,e^{sg_0}\,{}_0F_1(\tfrac d2;\tfrac{z^2}4)=m\,e^{sg_0}\,\Gamma(\tfrac d2)(2/z)^\nu I_\nu(z),
       \qquad z=sg_1.

    Its modulus far up a line: :math:`\pi|I_\nu(z)|\le|K_\nu(z)|+|K_\nu(-z)|` (continuation, either sign of Im z), and

    .. math:: K_\nu(w)=\frac{\sqrt{\pi/2w}\,e^{-w}}{\Gamma(\nu+\frac12)}\int_0^\infty
       e^{-u}u^{\nu-\frac12}\Bigl(1+\frac u{2w}\Bigr)^{\nu-\frac12}du,\qquad|\arg w|<\pi,

    is at most :math:`e^{|w|-\Re w}K_\nu(|w|)` for :math:`\nu\ge\frac12`, as :math:`|1+u/2w|\le1+u/2|w|`; for
    :math:`\nu=0` it is at most :math:`e^{-\Re w}\sqrt{\pi/2|\Im w|}`, as :math:`|1+u/2w|\ge|\Im w|/|w|`. Both fall with
    :math:`|\Im w|`, and so does :math:`|z|^{-\nu}`.

    - ``dimension``: length d of the vectors, at least 2.
    - ``cancelled``: bits that cancel for each unit of the argument of a Bessel function whose series is summed:
      1/log(2) and more.
    """
    numbers, half, order = enclosed(*slopes, mass), Fraction(dimension, 2), Fraction(dimension, 2) - 1

    def made(ratio: flint.arb) -> tuple[Function, TransformBound]:
        def line() -> tuple[flint.arb, flint.arb, flint.arb]:
            a, b, weight = numbers()
            return (1 - ratio) / weight, (a - ratio * b) / weight, weight

        def at(s: flint.acb) -> flint.acb:
            start, slope, weight = line()
            z = s * slope
            # At the middle of the ball, as the series would see its radius times exp(|z|): E exp(zx) moves by less,
            # |x| being at most 1. Far out (|z| >= 2 bits) no bits are added, as no series is summed that cancels.
            middle = flint.acb(z.real.mid(), z.imag.mid())
            moved = (abs(z - middle) * abs(z.real).exp()).upper()
            size, bits = float(abs(middle).mid()), flint.ctx.prec
            with working_precision(bits + (math.ceil(cancelled * size) if size < 2 * bits else 0)):
                bessel = (middle * middle / 4).hypgeom_0f1(flint.acb(to_arb(half)))
            around = flint.acb(flint.arb(0, moved), flint.arb(0, moved))
            return weight * (s * start).exp() * (bessel + around)

        def most(c: flint.arb, height: flint.arb) -> flint.arb:
            start, slope, weight = line()
            x, y = c * slope, abs(height * slope)
            if order:
                size = (x * x + y * y).sqrt()
                decay = size.exp() * size.bessel_k(to_arb(order)) * (2 / size) ** to_arb(order)
            else:
                decay = (flint.arb.pi() / (2 * y)).sqrt()
            return weight * (c * start).exp() * to_arb(half).gamma() * 2 * x.cosh() / flint.arb.pi() * decay

        return at, most

    return made


@final
class Points:
    """An array of doubles, real or complex, that takes the operations of a ball; balls beside it count as midpoints."""

    __slots__ = ("values",)

    def __init__(self, values: NDArray[Any]) -> None:
        self.values = values

    def __add__(self, other: Any) -> Points:
        return Points(self.values + _plain(other))

    def __sub__(self, other: Any) -> Points:
        return Points(self.values - _plain(other))

    def __rsub__(self, other: Any) -> Points:
        return Points(_plain(other) - self.values)

    def __mul__(self, other: Any) -> Points:
        return Points(self.values * _plain(other))

    def __truediv__(self, other: Any) -> Points:
        return Points(self.values / _plain(other))

    def __rtruediv__(self, other: Any) -> Points:
        return Points(_plain(other) / self.values)

    def __pow__(self, power: int) -> Points:
        return Points(self.values**power)

    def __neg__(self) -> Points:
        return Points(-self.values)

    __radd__, __rmul__ = __add__, __mul__

    def exp(self) -> Points:
        """The exponential of each."""
        import numpy as np

        return Points(np.exp(self.values))

    def sqrt(self) -> Points:
        """The root of each."""
        import numpy as np

        return Points(np.sqrt(self.values))


def _plain(other: Any) -> Any:
    if isinstance(other, Points):
        return other.values
    if isinstance(other, flint.arb):
        return float(other.mid())
    return complex(other) if isinstance(other, flint.acb) else other
