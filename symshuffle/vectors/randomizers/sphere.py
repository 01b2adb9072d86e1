r"""Projections of a uniform point of the sphere, and numbers of the densities that are made of them.

Projections of a uniform point of the sphere: partial moments of :math:`T=\langle U,e\rangle`; PrivUnit's numbers.

T has density :math:`c_d(1-t^2)^{(d-3)/2}` on [-1, 1] with :math:`c_d=\Gamma(d/2)/(\sqrt\pi\,\Gamma((d-1)/2))`, so
:math:`(1+T)/2` is a beta variable with both parameters :math:`(d-1)/2`. Everything here follows from its distribution
function and two primitives: :math:`-(1-t^2)^{(d-1)/2}/(d-1)` of t times the density, and :math:`t(1-t^2)^{(d-1)/2}`
of :math:`1-dt^2` times the density.

A density on the sphere that is linear above a height and constant below it, in balls.

Its optimality among all densities :math:`h(\langle u,v\rangle)` is in :mod:`symshuffle.vectors.error.optimal`. Vectors
of the ball are rounded to the sphere first, which mixes two laws and so raises no index.

The mean of two functions of two heights on the sphere, at every angle between their axes.

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
from typing import Any, TypeAlias, final

import flint

from symshuffle.base.errors import InputError, NotDecided
from symshuffle.base.levels import takes_eps0
from symshuffle.base.numbers import DEFAULT_BITS, Ball, Real, Verdict, less, minimum, squared, to_arb, working_precision
from symshuffle.vectors.randomizers.mechanisms import ClippedLinear, PrivUnit, SphereLinear


def density_constant(dimension: int) -> flint.arb:
    """The constant c_d of the density of T, at the working precision."""
    half = flint.arb(dimension) / 2
    return half.gamma() / (flint.arb.pi().sqrt() * (half - flint.arb(1) / 2).gamma())


def cap_complement(theta: flint.arb, dimension: int) -> flint.arb:
    """Probability that T < theta, by the beta law of (1 + T)/2."""
    half = (flint.arb(dimension) - 1) / 2
    return ((1 + theta) / 2).beta_lower(half, half, regularized=True)


def partial_moments(theta: flint.arb, dimension: int) -> tuple[flint.arb, flint.arb, flint.arb]:
    r"""The numbers :math:`E[T^j;T<\theta]` for j = 0, 1, 2."""
    mass = cap_complement(theta, dimension)
    edge = density_constant(dimension) * (1 - theta * theta) ** ((flint.arb(dimension) - 1) / 2)
    return mass, -edge / (dimension - 1), (mass - theta * edge) / dimension


@final
@dataclass(frozen=True, slots=True)
class _CapNumbers:
    r"""What PrivUnit's indices and risk are made of.

    - ``alpha``: mean height of the cap, :math:`E[T\mid T\ge\theta]`.
    - ``shrinkage``: the number m with :math:`E[Y]=mv`.
    - ``advantage``: :math:`\Delta=p+q-1`, zero where the mechanism ignores its input.
    - ``high``, ``low``: density on the cap, :math:`p/(1-q)`, and on the rest, :math:`(1-p)/q`.

    vecmean, Appendix A.4.
    """

    q: Ball
    alpha: Ball
    shrinkage: Ball
    advantage: Ball
    high: Ball
    low: Ball

    @property
    def gamma(self) -> Ball:
        """Mass of the uniform blanket, which is the largest one."""
        common: Ball = minimum([self.high, self.low])
        return common


def cap_numbers(mechanism: PrivUnit, *, bits: int = DEFAULT_BITS) -> _CapNumbers:
    """PrivUnit's numbers in balls."""
    with working_precision(bits + 32):
        p, theta, d = to_arb(mechanism.p), to_arb(mechanism.theta), mechanism.dimension
        q, below, _ = partial_moments(theta, d)
        outside = cap_complement(-theta, d)  # 1 - q without cancellation
        alpha = -below / outside
        numbers = (q, alpha, alpha * (p - outside) / q, p - outside, p / outside, (1 - p) / q)
        if not all(number.is_finite() for number in numbers):
            raise NotDecided(f"the cap at theta = {mechanism.theta} in dimension {d} is too small at {bits} bits")
        return _CapNumbers(*(Ball.from_arb(number, bits) for number in numbers))


def cap_numbers_float(mechanism: PrivUnit) -> tuple[float, float, float]:
    """The triple (q, alpha, m) in doubles, by SciPy, from the beta law of :math:`1-T^2`: the second witness."""
    import math

    from scipy.special import betainc, betaln

    p, theta, d = float(mechanism.p), float(mechanism.theta), mechanism.dimension
    tail = 0.5 * float(betainc((d - 1) / 2, 0.5, 1 - theta * theta))
    outside = tail if theta >= 0 else 1 - tail
    q = 1 - tail if theta >= 0 else tail

    edge = math.exp((d - 1) / 2 * math.log1p(-theta * theta) - float(betaln((d - 1) / 2, 0.5))) / (d - 1)
    alpha = edge / outside
    return q, alpha, alpha * (p - outside) / q


def epsilon0(mechanism: PrivUnit | SphereLinear, *, bits: int = DEFAULT_BITS) -> Ball:
    """Local privacy level in nats: the logarithm of the largest ratio of two densities."""
    with working_precision(bits + 32):
        if isinstance(mechanism, SphereLinear):
            c = to_arb(mechanism.c)
            return Ball.from_arb(((1 + c) / (1 - c)).log(), bits)
        numbers = cap_numbers(mechanism, bits=bits + 32)
        ratio = (to_arb(numbers.high) / to_arb(numbers.low)).log()
        return Ball.from_arb(abs(ratio), bits)


@takes_eps0()
def privunit_at(lam: Real, theta: object, dimension: int, *, bits: int = 64) -> PrivUnit:
    r"""PrivUnit with a cap of height theta at the local level :math:`\log\lambda`.

    - ``lam``: ratio cap :math:`e^{\varepsilon_0}`, above 1.
    - ``dimension``: length of the vectors.
    - ``bits``: the probability p of the cap is irrational in general: it is rounded down at this many bits, so that
      the mechanism is never less private than asked.
    """
    if less(1, lam) is not Verdict.TRUE:
        raise InputError("lam", lam, "a number > 1")
    probe = PrivUnit(Fraction(1, 2), theta, dimension)
    with working_precision(bits + 64):
        height = to_arb(probe.theta)
        q, outside = cap_complement(height, dimension), cap_complement(-height, dimension)
        weight = outside * to_arb(lam)
        p = _round_down(weight / (q + weight), bits)
        if not to_arb(p) > outside:
            raise InputError("lam", lam, f"a larger number: at {bits} bits the mechanism would ignore its input")
    return PrivUnit(p, probe.theta, dimension)


@takes_eps0()
def sphere_linear_at(lam: Real, dimension: int, *, bits: int = 64) -> SphereLinear:
    r"""The linear density of local level :math:`\log\lambda`: slope :math:`(\lambda-1)/(\lambda+1)`, rounded down."""
    if less(1, lam) is not Verdict.TRUE:
        raise InputError("lam", lam, "a number > 1")
    with working_precision(bits + 64):
        cap = to_arb(lam)
        return SphereLinear(_round_down((cap - 1) / (cap + 1), bits), dimension)


def _round_down(value: flint.arb, bits: int) -> Fraction:
    """A rational of the given number of binary places, just below a number of (0, 1)."""
    lower: Any = Ball.from_arb(value, bits + 64).lower
    return Fraction((lower.numerator << bits) // lower.denominator, 1 << bits)


def clipped_numbers(mechanism: ClippedLinear, *, bits: int = DEFAULT_BITS) -> tuple[Ball, Ball, Ball]:
    r"""The mass gamma, the slope beta and the shrinkage m of :math:`h(t)=\gamma+\beta(t-t_0)_+`, in balls.

    With :math:`e_j=E[((T-t_0)_+)^j]` the unit mass gives :math:`\gamma=1-\beta e_1`, and the index
    :math:`\beta^2(e_2-e_1^2)=\gamma/\chi^2`: a quadratic equation for the slope.
    """
    with working_precision(bits + 32):
        first, second, cross = ramp_moments(to_arb(mechanism.clip), mechanism.dimension)
        spread = (second - first * first) * to_arb(mechanism.chi) ** 2
        slope = 2 / (first + (first * first + 4 * spread).sqrt())
        gamma, beta, m = (Ball.from_arb(v, bits) for v in (1 - slope * first, slope, slope * cross))
        return gamma, beta, m


def ramp_moments(clip: flint.arb, dimension: int) -> tuple[flint.arb, flint.arb, flint.arb]:
    r"""The numbers :math:`E(T-t_0)_+`, :math:`E((T-t_0)_+)^2` and :math:`E[T(T-t_0)_+]`."""
    mass, mean, square = partial_moments(-clip, dimension)  # of -T below -t0
    mean = -mean
    return mean - clip * mass, square - 2 * clip * mean + clip * clip * mass, square - clip * mean


_Piece: TypeAlias = Callable[[Any], Any]
"""A function of the height, analytic on its stretch."""


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
    low, high = _largest_value([a * b * m for a, b, m in zip(*parts, counts, strict=True)], dimension)
    ends = [_mean_product(first, second, knot, integral, turned=turned) for turned in (False, True)]
    least = (low - rest).max(ends[0]).max(ends[1])
    return least.lower().union((high + rest).max(least).upper())


def _with_polynomial(piece: _Piece, degree: int, dimension: int, power: int) -> _Piece:
    return lambda t: piece(t) ** power * _polynomials(t, degree, dimension)[-1]


def _mean_product(
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


def _largest_value(
    coefficients: list[flint.arb], dimension: int, *, max_cells: int = 4000, finest: Fraction = Fraction(1, 2**24)
) -> tuple[flint.arb, flint.arb]:
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
        if cells > max_cells or high - low < finest:
            most = most.max(reach)
            continue
        stack += [(low, (low + high) / 2), ((low + high) / 2, high)]
    return best, most.max(best)
