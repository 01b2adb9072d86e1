r"""The moment generating function :math:`M(s)=E e^{sG}` of one law in mpmath, as both routes see it.

That of Laplace noise comes from its densities alone: noise of scale 1/eps0 on a bit has the densities
:math:`f_x(y)=\frac{\varepsilon_0}2e^{-\varepsilon_0|y-x|}`. The blanket takes each output at the smaller of both, which
is also the smallest over all inputs in [0, 1]; with the remaining probability it shows nothing and G is 0. Nothing here
knows the finite laws by which engines approach it.

Evidence: the densities are those of a proved decomposition, and the saddle point only chooses a line, on which every
value is right. That the guard digits cover the rounding of mpmath, and that tanh-sinh quadrature reaches the digits it
says, is assumed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Any, final

import mpmath

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Ball, Exp, Number, Real
from symshuffle.channels.law import Law


@final
@dataclass(frozen=True, slots=True)
class _Smooth:
    """A continuous part of a law of G, parametrised over an interval of outputs."""

    lower: Any
    upper: Any
    density: Callable[[Any], Any]
    value: Callable[[Any], Any]
    slope: Callable[[Any], Any]

    def nodes(self, context: Any, *, panels: int, degree: int = 3) -> list[tuple[Any, Any]]:
        """Gauss-Legendre nodes as atoms (value, weight); ``3 * 2**(degree - 1)`` to a panel."""
        rule, found = context._gauss_legendre, []
        ends = context.linspace(self.lower, self.upper, panels + 1)
        for low, high in pairwise(ends):
            for y, weight in rule.get_nodes(low, high, degree, context.prec):
                found.append((self.value(y), weight * self.density(y)))
        return found

    def turns(self, t: float) -> int:
        """Panels of about half an oscillation of exp(itG) each, over which 12 nodes are good to twenty digits."""
        return 1 + int(abs(t) * float(abs(self.value(self.upper) - self.value(self.lower))) / 4)

    def variation(self, context: Any, c: float) -> float:
        """A number V with ``|moment(c + it)| <= V / t``: integrate by parts and add up the amplitude's variation."""
        ys = context.linspace(self.lower, self.upper, 200)
        amplitude = [float(self.density(y) * context.exp(c * self.value(y)) / abs(self.slope(y))) for y in ys]
        steps = sum(abs(b - a) for a, b in pairwise(amplitude))
        return 1.1 * (amplitude[0] + amplitude[-1] + steps)


@final
@dataclass(frozen=True, slots=True)
class MpmathLaw:
    """A law in mpmath numbers.

    - ``lattice``: A spacing d such that all values differ by multiples of d; None where none is known.
    - ``offset``: on a lattice, the smallest positive number that the sum of all users can be.
    - ``blur``: largest radius of a value and largest relative radius of a weight, for atoms given as balls.
    """

    context: Any
    atoms: tuple[tuple[Any, Any], ...]
    smooth: tuple[_Smooth, ...]
    singular: Any
    lattice: Any = None
    offset: Any = None
    blur: tuple[float, float] = (0.0, 0.0)

    def nodes(self, panels: int = 2) -> list[tuple[Any, Any]]:
        """The atoms, and the continuous parts by as many panels, which is enough for moderate arguments."""
        parts = (part.nodes(self.context, panels=panels) for part in self.smooth)
        return [*self.atoms, *(node for part in parts for node in part)]

    def noise(self, n: int, c: float) -> float:
        """Relative error of H(n), seen from the tilt c, that comes from the width of the atoms."""
        return n * (c * self.blur[0] + self.blur[1])


def transform(law: Law, n: int, *, digits: int) -> MpmathLaw:
    """Read a law at a precision that leaves ``digits`` digits of H(n)."""
    context = context_for(n, digits)
    values = [_midpoint(value) for value in law.values]
    merged: dict[Fraction, Fraction] = {}
    for value, weight in zip(values, law.weights, strict=True):
        merged[value] = merged.get(value, Fraction(0)) + _midpoint(weight)
    atoms = tuple((as_mpf(context, v), as_mpf(context, w)) for v, w in sorted(merged.items(), reverse=True))
    if not all(abs(v) < 1e300 for v, _ in atoms) or 0 < atoms[0][0] < 1e-300:
        raise Unsupported("confirmation needs atoms within the range of doubles, in which it chooses what matters")
    blur = max(map(_radius, law.values)), max(_radius(w) / _midpoint(w) for w in law.weights)
    spacing = _spacing(sorted(merged), blur[0])
    offset = None
    if spacing is not None:
        offset = (n * max(merged)) % spacing or spacing
    singular = as_mpf(context, _midpoint(law.singular))
    d, r = (None if x is None else as_mpf(context, x) for x in (spacing, offset))
    return MpmathLaw(context, atoms, (), singular, d, r, (float(blur[0]), float(blur[1])))


def context_for(n: int, digits: int) -> Any:
    """An mpmath context that can lose the digits of n, which the n-th power of M costs, twice."""
    context = mpmath.MPContext()
    context.dps = digits + 20 + 2 * math.ceil(math.log10(n + 1))
    return context


def as_mpf(context: Any, number: Fraction) -> Any:
    """A rational, rounded once."""
    return context.mpf(number.numerator) / context.mpf(number.denominator)


def _midpoint(number: Number) -> Fraction:
    return number.midpoint if isinstance(number, Ball) else Fraction(number)


def _radius(number: Number) -> Fraction:
    return number.radius if isinstance(number, Ball) else Fraction(0)


def _spacing(values: Sequence[Fraction], radius: Fraction, *, max_denominator: int = 10**6) -> Fraction | None:
    """The coarsest d of which all differences are multiples, as far as the radius of the values can tell.

    - ``max_denominator``: denominator up to which two differences of balls are recognised as commensurable.
    """
    differences = [value - values[0] for value in values[1:]]
    if not differences:
        return None
    if not radius:
        unit = math.lcm(*(x.denominator for x in differences))
        return Fraction(reduce(math.gcd, (int(x * unit) for x in differences)), unit)
    widest = differences[-1]
    shares = [(x / widest).limit_denominator(max_denominator) for x in differences]
    # A share of six digits that fits to the last digit of a ball is no accident; elsewhere there is no lattice.
    if any(abs(share * widest - x) > 8 * radius for share, x in zip(shares, differences, strict=True)):
        return None
    return widest / math.lcm(*(share.denominator for share in shares))


def saddle(nodes: Sequence[tuple[Any, Any]], n: int) -> float:
    """The c > 0 at which the tilted mean of the sum is 2/c, where the integrand crosses the real line lowest."""
    top = max(value for value, _ in nodes)
    if top <= 0:
        raise InputError("law", "never positive", "a positive value of G")

    def pull(c: float) -> float:
        tilted = [(v, w * w.context.exp(c * (v - top))) for v, w in nodes]
        return float(n * c * sum(v * q for v, q in tilted) / sum(q for _, q in tilted))

    low = high = 1 / (n * float(top))
    while pull(high) < 2:
        low, high = high, 2 * high
    while high > 1.001 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if pull(middle) > 2 else (middle, high)
    return high


def laplace_transform(lam: Real, exp_eps: Real, n: int, *, digits: int) -> MpmathLaw:
    """The law of G with its two continuous parts, the outputs in (0, 1/2) and in (1/2, 1)."""
    context = context_for(n, digits)
    ratio, x = _read(context, lam), _read(context, exp_eps)
    eps0 = context.log(ratio)

    def density(y: Any, at: int) -> Any:
        return eps0 / 2 * context.exp(-eps0 * abs(y - at))

    def smaller(y: Any) -> Any:
        return min(density(y, 0), density(y, 1))

    def value(y: Any) -> Any:
        return (density(y, 0) - x * density(y, 1)) / smaller(y)

    def slope(y: Any) -> Any:
        # Of f0/f1 - x below 1/2, of 1 - x f1/f0 above; the other ratio is constant 1.
        first, second = density(y, 0), density(y, 1)
        return -2 * eps0 * first / second if 2 * y < 1 else -2 * eps0 * x * second / first

    outside = 1 / (2 * ratio)  # the mass of one density behind the other input
    hidden = 1 - 1 / context.sqrt(ratio)
    atoms = [(ratio - x, outside), (context.mpf(0), hidden), (1 - x * ratio, outside)]
    half = context.mpf(1) / 2
    parts = (_Smooth(context.mpf(0), half, smaller, value, slope), _Smooth(half, context.mpf(1), smaller, value, slope))
    return MpmathLaw(context, tuple(atoms), parts, context.mpf(0))


def laplace_null_transform(lam: Real, exp_eps: Real, n: int, *, digits: int, reverse: bool) -> MpmathLaw:
    """The law of G of the end 0 against noise around 1/2, which has the law of the blanket.

    The ratio of the two changes on (0, 1/2) only. Forward, the end comes first.
    """
    context = context_for(n, digits)
    ratio, x = _read(context, lam), _read(context, exp_eps)
    eps0, root = context.log(ratio), context.sqrt(ratio)

    def quotient(likelihood: Any) -> Any:
        """G where the end's density is this multiple of the blanket's: noise around 1/2 is sqrt(lam) times it."""
        return root - x * likelihood if reverse else likelihood - x * root

    def likelihood(y: Any) -> Any:
        return context.exp(eps0 * (1 - 2 * y))

    def density(y: Any) -> Any:
        return eps0 / 2 * context.exp(eps0 * (y - 1))

    def slope(y: Any) -> Any:
        return (2 * x if reverse else -2) * eps0 * likelihood(y)

    atoms = [
        (quotient(ratio), 1 / (2 * ratio)),
        (context.mpf(0), 1 - 1 / root),
        (quotient(context.mpf(1)), 1 / (2 * root)),
    ]
    part = _Smooth(context.mpf(0), context.mpf(1) / 2, density, lambda y: quotient(likelihood(y)), slope)
    return MpmathLaw(context, tuple(atoms), (part,), context.mpf(0))


def one_user(law: MpmathLaw) -> Any:
    """E[G_+], by quadrature over the outputs, which is what one user's shuffled experiment is worth."""
    total = sum((max(v, 0) * w for v, w in law.atoms), start=law.context.mpf(0))
    for part in law.smooth:
        ends = [part.lower, *_crossings(law.context, part), part.upper]
        total += law.context.quad(lambda y, p=part: p.density(y) * max(p.value(y), 0), ends)
    return total


def _crossings(context: Any, part: _Smooth) -> list[Any]:
    """Where G changes sign inside the interval, so that the positive part is smooth between the ends."""
    low, high = part.lower, part.upper
    if part.value(low) * part.value(high) >= 0:
        return []
    return [context.findroot(part.value, (low, high), solver="anderson", tol=context.eps**1.5)]


def _read(context: Any, constant: Real) -> Any:
    return context.exp(as_mpf(context, constant.exponent)) if isinstance(constant, Exp) else as_mpf(context, constant)
