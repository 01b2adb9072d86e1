r"""The mean of two functions of two heights on the sphere, at every angle between their axes.

For u uniform on the sphere of :math:`\mathbb R^d` and :math:`r=\langle x,y\rangle` the addition theorem of Gegenbauer's
polynomials, :math:`P_k(1)=1` and :math:`N_k=1/E[P_k(T)^2]`, gives

.. math:: E[f(\langle u,x\rangle)g(\langle u,y\rangle)]=\sum_kN_ka_kb_kP_k(r),\qquad a_k=E[fP_k],\ b_k=E[gP_k],

and, as :math:`|P_k|\le1`, what lies beyond the K-th term is at most the root of the product of what Bessel's inequality
leaves of both. So a supremum over all angles is that of a polynomial, up to a proved remainder.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final, TypeAlias

import flint

from symshuffle.base.numbers import squared, to_arb

_Piece: TypeAlias = Callable[[Any], Any]
"""A function of the height, analytic on its stretch."""

_MOST_CELLS: Final = 4000
_FINEST: Final = Fraction(1, 2**24)


Heights: TypeAlias = tuple[_Piece, _Piece]
"""A function of a height that is analytic on both sides of one place: below and above it."""


def largest_mean(first: Heights, second: Heights, knot: Fraction, dimension: int, terms: int) -> flint.arb:
    """A ball around the supremum over all angles of E[f g], both functions with their knot at one height.

    - ``knot``: where both change, in (-1, 1).
    - ``dimension``: length of the vectors, at least 2.
    """
    split = to_arb(knot).asin()

    def integral(function: _Piece, low: flint.arb, high: flint.arb) -> flint.arb:
        return _integral(function, low, high, dimension)

    def moments(function: Heights, degree: int, power: int = 1) -> flint.arb:
        """E[f P_k], or E[f^2 P_k]."""
        below, above = (_with_polynomial(piece, degree, dimension, power) for piece in function)
        return integral(below, -_right(), split) + integral(above, split, _right())

    parts = [[moments(one, k) for k in range(terms)] for one in (first, second)]
    counts = [_multiplicity(k, dimension) for k in range(terms)]
    left = []
    for one, own in zip((first, second), parts, strict=True):
        rest = moments(one, 0, 2) - sum((squared(c) * m for c, m in zip(own, counts, strict=True)), start=flint.arb(0))
        left.append(rest.upper().max(flint.arb(0)))  # what the first terms leave of the mean square, never below 0
    rest = (left[0] * left[1]).sqrt()
    low, high = _largest([a * b * m for a, b, m in zip(*parts, counts, strict=True)], dimension)
    ends = [_product(first, second, knot, integral, turned=turned) for turned in (False, True)]
    least = (low - rest).max(ends[0]).max(ends[1])
    return least.lower().union((high + rest).max(least).upper())


def _with_polynomial(piece: _Piece, degree: int, dimension: int, power: int) -> _Piece:
    return lambda t: piece(t) ** power * _polynomials(t, degree, dimension)[-1]


def _product(
    first: Heights,
    second: Heights,
    knot: Fraction,
    integral: Callable[[_Piece, flint.arb, flint.arb], flint.arb],
    *,
    turned: bool,
) -> flint.arb:
    """E[f(T) g(T)], or E[f(T) g(-T)]."""
    split = to_arb(knot).asin()
    if not turned:
        low = integral(lambda t: first[0](t) * second[0](t), -_right(), split)
        return low + integral(lambda t: first[1](t) * second[1](t), split, _right())
    near, far = (split, -split) if knot < 0 else (-split, split)
    between, other = (first[1], second[1]) if knot < 0 else (first[0], second[0])
    return (
        integral(lambda t: first[0](t) * second[1](-t), -_right(), near)
        + integral(lambda t: between(t) * other(-t), near, far)
        + integral(lambda t: first[1](t) * second[0](-t), far, _right())
    )


def _integral(function: _Piece, low: flint.arb, high: flint.arb, dimension: int) -> flint.arb:
    """Over the angle, with the density of the height: a constant times a power of the cosine."""
    half, power = flint.arb(1) / 2, dimension - 2
    scale = (dimension * half).gamma() / ((dimension - 1) * half).gamma() / flint.arb.pi().sqrt()
    found = flint.acb.integral(lambda a, _: function(a.sin()) * a.cos() ** power, flint.acb(low), flint.acb(high))
    value: flint.arb = found.real * scale
    return value


def _right() -> flint.arb:
    return flint.arb.pi() / 2


def _multiplicity(degree: int, dimension: int) -> flint.arb:
    r"""The number :math:`1/E[P_k^2]`: that of independent harmonics of one degree."""
    if degree == 0:
        return flint.arb(1)
    value = Fraction(2 * degree + dimension - 2, degree)
    for j in range(1, degree):
        value *= Fraction(dimension - 2 + j, j)
    return to_arb(value)


def _polynomials(t: Any, degree: int, dimension: int) -> list[Any]:
    """The polynomials up to a degree at a height."""
    found = [t * 0 + 1, t]
    for k in range(1, degree):
        found.append(((2 * k + dimension - 2) * t * found[k] - k * found[k - 1]) / (k + dimension - 2))
    return found[: degree + 1]


def _largest(coefficients: list[flint.arb], dimension: int) -> tuple[flint.arb, flint.arb]:
    """Bounds of the largest value of a sum of polynomials on [-1, 1], by cells with slopes."""

    def value(r: flint.arb) -> flint.arb:
        polynomials = _polynomials(r, len(coefficients) - 1, dimension)
        return sum((c * p for c, p in zip(coefficients, polynomials, strict=True)), start=flint.arb(0))

    def slope(r: flint.arb) -> flint.arb:
        """The derivative of P_k is P_{k-1} in two dimensions more, times k(k + d - 2)/(d - 1)."""
        polynomials = _polynomials(r, max(len(coefficients) - 2, 0), dimension + 2)
        total = flint.arb(0)
        for k in range(1, len(coefficients)):
            total += coefficients[k] * polynomials[k - 1] * k * (k + dimension - 2) / (dimension - 1)
        return total

    best = value(flint.arb(-1)).lower().max(value(flint.arb(1)).lower())
    most = value(flint.arb(-1)).upper().max(value(flint.arb(1)).upper())
    stack = [(Fraction(k, 8), Fraction(k + 1, 8)) for k in range(-8, 8)]
    cells = 0
    while stack:
        low, high = stack.pop()
        cells += 1
        ball, middle = to_arb(low).union(to_arb(high)), to_arb((low + high) / 2)
        steep, at = slope(ball), value(middle)
        best = best.max(at.lower())
        reach = (at + steep * (ball - middle)).upper()
        if (steep < 0 and low == -1) or (steep > 0 and high == 1) or reach <= best:
            continue  # the largest value of the cell is at an end of all angles, or below what is known
        if cells > _MOST_CELLS or high - low < _FINEST:
            most = most.max(reach)
            continue
        stack += [(low, (low + high) / 2), ((low + high) / 2, high)]
    return best, most.max(best)
