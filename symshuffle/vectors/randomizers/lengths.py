r"""Classes of the length of a message across the direction that tells two inputs apart.

With noise in units of sigma0 a message of the null symbol is :math:`N(0,I_d)`: its coordinate u along x and the
length V of the rest are independent, and V has the chi law of d - 1 degrees. The largest blanket of a Gaussian,
:math:`\inf_xR_x=\gamma+(1-\gamma)e^{-b|y|-b^2/2}` relative to :math:`N(0,I)`, depends on both by
:math:`|y|=\sqrt{u^2+V^2}`. On a class :math:`V\le v` its value at V = v is below it, and below every input's
density: a blanket, hence a bound, and one stretch of a line per class.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, TypeAlias

import flint

from symshuffle.base.numbers import to_arb, working_precision
from symshuffle.vectors.randomizers.coordinates import once
from symshuffle.vectors.randomizers.points import Points

_BULK: Final = 3
"""Half length of the range around the middle of the chi law in which classes are narrow."""

_FARTHEST: Final = 40
"""How far beyond the middle the last class ends: the chi law has less than exp(-800) there."""

_FINENESS: Final = 24
"""Narrow classes change the blanket by about one part in so many."""

_NARROWEST: Final = 1 / 2
"""Narrower classes bring the branch points of the length close to the line, and long sums."""

_GRID: Final = 2**12

_APART: Final = 3
_RADII: Final = (9, 12, 16, 22, 40)
"""Classes so far above the middle are cut where coordinate and excess over the middle have these lengths together."""


LengthClass: TypeAlias = tuple[Fraction, Fraction, Fraction]
"""Messages whose rest is between two lengths, in units of sigma0: the nearer one, the farther one, and the half length
of the window of the coordinate from which on the class is needed: how far above the middle it ends."""


def class_places(one: LengthClass, dimension: int) -> Iterator[tuple[Fraction | None, Fraction | None, Fraction]]:
    """Parts of the line of the coordinate, and the half length of the window from which on each is needed.

    Far out in both directions there is next to no message, and what it tells is the most.
    """
    near, _, since = one
    excess, inner = max(near - _middle(dimension), Fraction(0)), Fraction(0)
    if excess < _APART:
        yield None, None, since
        return
    for radius in _RADII:
        if radius <= max(one[2], excess + 1):
            continue
        outer = Fraction(round(math.sqrt(radius**2 - excess**2) * 8), 8)
        if not inner:
            yield -outer, outer, since
        else:
            yield -outer, -inner, since
            yield inner, outer, since
        since, inner = Fraction(radius), outer
    if not inner:
        yield None, None, since
        return
    yield None, -inner, since
    yield inner, None, since


@lru_cache(maxsize=4096)
def mass(near: Fraction, far: Fraction, dimension: int, bits: int) -> flint.arb:
    r"""The probability that a standard normal vector of length ``dimension - 1`` is between two, at a precision.

    The density, proportional to :math:`v^{d-2}e^{-v^2/2}`, is divided by its value near the largest in the class: Arb's
    incomplete gamma functions lose all digits below the middle of many coordinates, and this none.
    """
    k = dimension - 2
    with working_precision(bits):
        half, peak = to_arb(Fraction(dimension - 1, 2)), to_arb(min(max(near, Fraction(max(math.isqrt(k), 1))), far))

        def share(v: flint.acb, _: bool) -> flint.acb:
            return (v / peak) ** k * ((peak - v) * (peak + v) / 2).exp()

        found = flint.acb.integral(share, flint.acb(to_arb(near)), flint.acb(to_arb(far))).real
        logarithm = k * peak.log() - peak**2 / 2 - (half - 1) * flint.arb(2).log() - half.lgamma()
        return flint.arb(found * logarithm.exp())


def _middle(dimension: int) -> Fraction:
    """About the mean of the length."""
    return Fraction(round(math.sqrt(dimension - 1) * _GRID), _GRID)


def length_classes(
    dimension: int, slope: Fraction, share: float, *, least: Fraction = Fraction(0)
) -> tuple[LengthClass, ...]:
    """Classes from 0 on, narrow where most messages are.

    - ``dimension``: length of the vectors, at least 2.
    - ``slope``: how fast the logarithm of the noise's part of the blanket falls with the length.
    - ``share``: the noise's part of the blanket where it is largest, in (0, 1].
    """
    middle = _middle(dimension)
    start = max(middle - _BULK, Fraction(0))
    step = min(1.0, max(1 / (_FINENESS * float(slope) * share), _NARROWEST))
    count = math.ceil((middle + _BULK - start) / Fraction(step))
    width = (middle + _BULK - start) / count
    ends = [start + width * k for k in range(count + 1)]
    if start > 0:
        ends.insert(0, Fraction(0))
    while ends[-1] < middle + _FARTHEST:
        ends.append(ends[-1] + max(Fraction(1), (ends[-1] - middle) / 5))
    ends = [Fraction(0), *(end for end in ends[1:-1] if end >= least), max(ends[-1], least)]
    return tuple((near, far, max(far - middle, Fraction(0))) for near, far in pairwise(ends))


def length_along(far: Fraction) -> Callable[[Any], Any]:
    """The length of a message from its coordinate and the length of the rest, analytic off the cut of the root."""
    squared = once(lambda: to_arb(far * far))

    def length(u: Any) -> Any:
        square = _square(u) + squared()
        if isinstance(square, Points):
            return square.sqrt()
        lead = square[0] if isinstance(square, flint.acb_series) else square
        if lead.real > 0 or not lead.imag.contains(0):
            return square.sqrt()
        return square * flint.acb("nan")  # the branch cut may be met: no bound may be read off such a ball

    return length


def _square(u: Any) -> Any:
    """The square, on balls whose real and imaginary part are squared without going below 0."""
    if isinstance(u, flint.acb_series):
        rest = list(u * u)[1:]
        return flint.acb_series([_square(u[0]), *rest], prec=u.prec)
    if isinstance(u, Points) or u.is_exact():
        return u * u
    return flint.acb(_squared(u.real) - _squared(u.imag), 2 * u.real * u.imag)


def _squared(x: flint.arb) -> flint.arb:
    size = abs(x)
    least, most = size.lower().max(flint.arb(0)), size.upper()
    return (least * least).union(most * most)
