r"""The mean of two functions of two heights on the sphere, at every angle between their axes.

For u uniform on the sphere of :math:`\mathbb R^d` and :math:`r=\langle x,y\rangle` the addition theorem of Gegenbauer's
polynomials, :math:`P_k(1)=1` and :math:`N_k=1/E[P_k(T)^2]`, gives

.. math:: E[f(\langle u,x\rangle)g(\langle u,y\rangle)]=\sum_kN_ka_kb_kP_k(r),\qquad a_k=E[fP_k],\ b_k=E[gP_k],

and, as :math:`|P_k|\le1`, what lies beyond the K-th term is at most the root of the product of what Bessel's inequality
leaves of both. So a supremum over all angles is that of a polynomial, up to a proved remainder.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias, final

import flint

from symshuffle.base.numbers import squared, to_arb

_Piece: TypeAlias = Callable[[Any], Any]
"""A function of the height, analytic on its stretch."""

_MOST_CELLS: Final = 4000
_FINEST: Final = Fraction(1, 2**24)


@final
@dataclass(frozen=True, slots=True)
class Heights:
    """A function of a height that is analytic on both sides of one place.

    - ``below``, ``above``: the function on either side.
    """

    below: _Piece
    above: _Piece


def largest_mean(first: Heights, second: Heights, knot: Fraction, dimension: int, terms: int) -> flint.arb:
    """A ball around the supremum over all angles of E[f g], both functions with their knot at one height.

    - ``knot``: where both change, in (-1, 1).
    - ``dimension``: length of the vectors, at least 2.
    """
    mean = _Mean(knot, dimension)
    products = [(mean.of(first, k) * mean.of(second, k) * _multiplicity(k, dimension), k) for k in range(terms)]
    left = [_left(one, mean, terms) for one in (first, second)]
    rest = (left[0] * left[1]).sqrt()
    low, high = _largest([c for c, _ in products], dimension)
    ends = [mean.product(first, second, turned=turned) for turned in (False, True)]
    least = (low - rest).max(ends[0]).max(ends[1])
    return least.lower().union((high + rest).max(least).upper())


@final
@dataclass(frozen=True, slots=True)
class _Mean:
    """Integrals over the height T of a uniform point, by its angle."""

    knot: Fraction
    dimension: int

    def of(self, function: Heights, degree: int, *, squared: bool = False) -> flint.arb:
        """E[f P_k], or E[f^2 P_k]."""

        def take(piece: _Piece) -> _Piece:
            return lambda t: (piece(t) ** 2 if squared else piece(t)) * _polynomials(t, degree, self.dimension)[-1]

        split = to_arb(self.knot).asin()
        return self._integral(take(function.below), -_right(), split) + self._integral(
            take(function.above), split, _right()
        )

    def product(self, first: Heights, second: Heights, *, turned: bool) -> flint.arb:
        """E[f(T) g(T)], or E[f(T) g(-T)]."""
        split = to_arb(self.knot).asin()
        if not turned:
            low = self._integral(lambda t: first.below(t) * second.below(t), -_right(), split)
            return low + self._integral(lambda t: first.above(t) * second.above(t), split, _right())
        near, far = (split, -split) if self.knot < 0 else (-split, split)
        between = first.above if self.knot < 0 else first.below
        other = second.above if self.knot < 0 else second.below
        return (
            self._integral(lambda t: first.below(t) * second.above(-t), -_right(), near)
            + self._integral(lambda t: between(t) * other(-t), near, far)
            + self._integral(lambda t: first.above(t) * second.below(-t), far, _right())
        )

    def _integral(self, function: _Piece, low: flint.arb, high: flint.arb) -> flint.arb:
        """Over the angle, with the density of the height: a constant times a power of the cosine."""
        half = flint.arb(1) / 2
        scale = (self.dimension * half).gamma() / ((self.dimension - 1) * half).gamma() / flint.arb.pi().sqrt()
        power = self.dimension - 2
        found = flint.acb.integral(lambda a, _: function(a.sin()) * a.cos() ** power, flint.acb(low), flint.acb(high))
        value: flint.arb = found.real * scale
        return value


def _right() -> flint.arb:
    return flint.arb.pi() / 2


def _left(function: Heights, mean: _Mean, terms: int) -> flint.arb:
    """What the first terms leave of the mean square, never below 0."""
    left = mean.of(function, 0, squared=True)
    for k in range(terms):
        left -= squared(mean.of(function, k)) * _multiplicity(k, mean.dimension)
    return left.upper().max(flint.arb(0))


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


__all__ = ["Heights", "largest_mean"]
