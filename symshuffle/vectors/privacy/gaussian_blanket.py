r"""The largest blanket of a Gaussian: classes of the length across, and rounding around 0.

Classes of the length of a message across the direction that tells two inputs apart.

With noise in units of sigma0 a message of the null symbol is :math:`N(0,I_d)`: its coordinate u along x and the
length V of the rest are independent, and V has the chi law of d - 1 degrees. The largest blanket of a Gaussian,
:math:`\inf_xR_x=\gamma+(1-\gamma)e^{-b|y|-b^2/2}` relative to :math:`N(0,I)`, depends on both by
:math:`|y|=\sqrt{u^2+V^2}`. On a class :math:`V\le v` its value at V = v is below it, and below every input's
density: a blanket, hence a bound, and one stretch of a line per class.

The largest blanket of a Gaussian, rounded around 0: under zero-out the longest input is then worst, at every level.

Noise is in units of sigma0, u is the coordinate along an input of length x up to v, :math:`E_x=e^{xu-x^2/2}` and
:math:`B=e^{-L}` the noise's part of a blanket. Against :math:`L=v|u|` itself the law of G does not rise in convex
order with x: next to x = 0 some hinges fall. They rise for every even L that rises with :math:`|u|`, with a concave
slope of :math:`L'(u)\le u/\tau` on u > 0, where

.. math:: \tau=\max\Bigl(a-1,\;\frac{a-1}2+\frac a8\bigl(e^{v^2/2}-1\bigr)\Bigr),\qquad
   a=\frac{e^\varepsilon-\gamma}{1-\gamma}.

The smallest such L above :math:`v|u|` is :math:`u^2/2\tau+v^2\tau/2` up to :math:`|u|=v\tau` and the same beyond. On a
length V across, :math:`L=v\sqrt{u^2+V^2}` is one by itself as soon as :math:`V\ge v\tau`.

*Proof.* A hinge of :math:`(R_x-\alpha R_\bot)/b`, or of the other order over :math:`-\alpha` (with :math:`1/\alpha` for
:math:`\alpha`), is up to a factor that of :math:`E_x-\beta-kB`, where :math:`\beta\le a` if :math:`k<0`. As
:math:`\partial_x(E_x\varphi)=-\partial_u\varphi(u-x)`, its slope in x is the sum of :math:`\varphi(u-x)` over the left
ends of the set W of gain less that over the right ends. Far to the right W holds everything.

- :math:`k\ge0`: right of 0, W is a half line. A right end r < 0 is followed by a left end nearer to x: one left of 0,
  or that of the half line, which is at most -r because :math:`E_x(-r)>E_x(r)`.
- :math:`k<0`: for :math:`\beta\le0` W is the line. Else :math:`E_x-kB` rises left of 0, so that there W is an interval
  up to 0, and a right end r > 0 has a left end p before it, both where :math:`E_x<\beta`. At both
  :math:`\psi-L=\ln(1/|k|)` with :math:`\psi=-\ln(\beta-E_x)`, so that :math:`r>|p|` and, at the midpoint
  :math:`\theta x=(p+r)/2>0`, by Hadamard's inequality for the strictly convex slope
  :math:`\psi'=xE_x/(\beta-E_x)=\sum_{j\ge1}x(E_x/\beta)^j`,

  .. math:: \frac{(r-p)\theta x}\tau\ge L(r)-L(p)=\psi(r)-\psi(p)>(r-p)\,\psi'(\theta x),
     \qquad\text{or}\qquad \theta\bigl(\beta e^{x^2(1/2-\theta)}-1\bigr)>\tau.

  For :math:`\theta<1` that is false: from 1/2 on the left side is below a - 1, and before it the exponential is below
  its chord, :math:`1+(1-2\theta)(e^{v^2/2}-1)`, and :math:`\theta(1-2\theta)\le1/8`. So :math:`\theta\ge1`: p is at
  least as near to x as r, and :math:`\varphi(p-x)\ge\varphi(r-x)`.

Claim ``symshuffle.vecmean-worst-pair-largest-null``. A smaller blanket is a blanket: what is bounded is every input.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeAlias

import flint

from symshuffle.base.choices import Relation
from symshuffle.base.crossings import first_integer
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Ball, Real, Verdict, less, to_arb, working_precision
from symshuffle.channels.continuous_law import ContinuousPair, ExponentialOf, Function, Scaled, Stretch
from symshuffle.vectors.randomizers.coordinates import Points, constant, enclosed, latest, normal, once, tilted
from symshuffle.vectors.randomizers.mechanisms import BlanketMixedGaussian, LocalGaussian

LengthClass: TypeAlias = tuple[Fraction, Fraction, Fraction]
"""Messages whose rest is between two lengths, in units of sigma0: the nearer one, the farther one, and the half length
of the window of the coordinate from which on the class is needed: how far above the middle it ends."""


def class_places(
    one: LengthClass, dimension: int, *, cut_from: int = 3, radii: tuple[int, ...] = (9, 12, 16, 22, 40)
) -> Iterator[tuple[Fraction | None, Fraction | None, Fraction]]:
    """Parts of the line of the coordinate, and the half length of the window from which on each is needed.

    Far out in both directions there is next to no message, and what it tells is the most.
    """
    near, _, since = one
    excess, inner = max(near - _middle(dimension), Fraction(0)), Fraction(0)
    if excess < cut_from:
        yield None, None, since
        return
    for radius in radii:
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


def _middle(dimension: int, *, grid: int = 2**12) -> Fraction:
    """About the mean of the length."""
    return Fraction(round(math.sqrt(dimension - 1) * grid), grid)


def length_classes(
    dimension: int,
    slope: Fraction,
    share: float,
    *,
    least: Fraction = Fraction(0),
    bulk: int = 3,
    farthest: int = 40,
    fineness: int = 24,
    narrowest: float = 0.5,
) -> tuple[LengthClass, ...]:
    """Classes from 0 on, narrow where most messages are.

    - ``dimension``: length of the vectors, at least 2.
    - ``slope``: how fast the logarithm of the noise's part of the blanket falls with the length.
    - ``share``: the noise's part of the blanket where it is largest, in (0, 1].
    """
    middle = _middle(dimension)
    start = max(middle - bulk, Fraction(0))
    step = min(1.0, max(1 / (fineness * float(slope) * share), narrowest))
    count = math.ceil((middle + bulk - start) / Fraction(step))
    width = (middle + bulk - start) / count
    ends = [start + width * k for k in range(count + 1)]
    if start > 0:
        ends.insert(0, Fraction(0))
    while ends[-1] < middle + farthest:
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


def sufficient_curvature(level: Any, growth: Any) -> Any:
    r"""The two numbers of which :math:`\tau` is the larger, from a and :math:`e^{v^2/2}-1`."""
    return level - 1, (level - 1) / 2 + level * growth / 8


def rounding_radius(
    exp_eps: Real, *, reach: Fraction, gamma: Fraction = Fraction(0), digits: int = 20, bits: int = 128
) -> Fraction:
    r"""How far from 0 the largest blanket is rounded: :math:`v\tau`, or a little more.

    - ``exp_eps``: target ratio, at least 1; the radius serves all smaller ones too.
    - ``reach``: largest length v of an input in units of sigma0, above 0.
    - ``gamma``: the part of every message that does not depend on the input, in [0, 1).

    Examples
    --------
    >>> round(float(rounding_radius(Fraction(251, 250), reach=Fraction(10, 46))), 6)
    0.001087
    """
    if less(exp_eps, 1) is Verdict.TRUE:
        raise InputError("exp_eps", exp_eps, "a number >= 1")
    if not reach > 0:
        raise InputError("reach", reach, "a length > 0")
    if not 0 <= gamma < 1:
        raise InputError("gamma", gamma, "a number in [0, 1)")
    with working_precision(bits):
        level = (to_arb(exp_eps) - to_arb(gamma)) / to_arb(1 - gamma)
        first, second = sufficient_curvature(level, to_arb(reach * reach / 2).expm1())
        found = Ball.from_arb(to_arb(reach) * first.max(second), bits).upper
    unit = Fraction(2) ** (found.numerator.bit_length() - found.denominator.bit_length() - digits)
    return math.ceil(found / unit) * unit


def rounded(gamma: Fraction, reach: Fraction, radius: Fraction) -> Function:
    """The blanket relative to N(0, 1), from minus the radius to the radius."""
    numbers = enclosed(gamma, 1 - gamma, reach / (2 * radius), reach * (radius + reach) / 2)

    def density(u: Any) -> Any:
        mass, rest, bend, least = numbers()
        return mass + rest * (-bend * u * u - least).exp()

    return density


def pair_in_words(adjacency: Relation) -> str:
    """The pair of inputs in words."""
    other = "the null symbol" if adjacency == "zero-out" else "-x"
    return f"a unit vector x against {other}"


def largest_blanket_pair(
    mechanism: BlanketMixedGaussian | LocalGaussian,
    adjacency: Relation,
    exp_eps: Real | None = None,
    *,
    whole_line: int = 8,
    most: int = 10**5,
) -> ContinuousPair:
    """The worst pair of a Gaussian randomizer against its largest blanket, which is rounded for zero-out at a level.

    - ``most``: most coordinates: in more of them ratios leave the range of doubles.
    """
    sigma0, dimension, gamma, norm = mechanism.sigma0, mechanism.dimension, Fraction(0), Fraction(1)
    if isinstance(mechanism, BlanketMixedGaussian):
        gamma, norm = mechanism.gamma, mechanism.norm
    if dimension > most:
        raise Unsupported(f"d = {dimension}: against a largest blanket at most {most} coordinates")
    v, symmetric = norm / sigma0, adjacency == "replace-one"
    level = None if symmetric else exp_eps
    if level is not None and not gamma and not _is_rounded(level, sigma0):
        opposite = largest_blanket_pair(mechanism, "replace-one")
        return replace(opposite, about=f"the null symbol has the law of the input 0, hence {opposite.about}")
    # For zero-out the end of the ball is worst against the blanket rounded within this radius.
    radius = rounding_radius(level, reach=v, gamma=gamma) if level is not None else Fraction(0)
    near, right = tilted(gamma, v), tilted(gamma, -v)  # the smallest density is that of the opposite end
    other = right if symmetric else constant(Fraction(1))
    worst = " (worst: proved)" if symmetric or radius else ""
    about = f"{pair_in_words(adjacency)}%s{worst}, blanket inf over |x| <= {norm} of R_x"
    about += ", rounded around 0" if radius else ""
    if dimension == 1:
        ends: list[tuple[Fraction | None, Fraction | None, Function]] = [(None, -radius, near), (radius, None, right)]
        if radius > whole_line:  # beyond the radius the rounded one is below the blanket as well
            ends = [(None, None, rounded(gamma, v, radius))]
        elif radius:
            ends.insert(1, (-radius, radius, rounded(gamma, v, radius)))
        on_the_line = tuple(Stretch(low, high, normal, near, other, least) for low, high, least in ends)
        return ContinuousPair(on_the_line, about % " on the line", symmetric)
    classes = length_classes(dimension, v, 1 - float(gamma), least=radius)
    stretches = (
        Stretch(low, high, _weighed(part, dimension), near, other, _least(gamma, v, part[1]), since)
        for part in classes
        for low, high, since in class_places(part, dimension)
    )
    about = (about % "") + f", bounded below on {len(classes)} classes of |y| across x"
    return ContinuousPair(tuple(stretches), about, symmetric)


def _is_rounded(exp_eps: Real, sigma0: Fraction) -> bool:
    """Whether the largest blanket of an unmixed Gaussian is rounded at a level, for zero-out."""
    last = last_rounded(sigma0)
    return last is not None and less(last, exp_eps) is Verdict.FALSE


@lru_cache(maxsize=64)
def last_rounded(sigma0: Fraction, *, most: Fraction = Fraction(5, 2), order_bits: int = 20) -> Fraction | None:
    """The largest ratio exp(eps) at which the largest blanket of an unmixed Gaussian is rounded for zero-out.

    None where rounding takes too much from it at every level. Any smaller ratio would serve as well.

    - ``most``: twice the logarithm of what rounding may take from an unmixed Gaussian's blanket at 0; beyond,
      brackets are wide.
    - ``order_bits``: binary digits of the largest ratio at which an unmixed Gaussian's blanket is rounded.
    """
    v, unit = 1 / sigma0, Fraction(1, 1 << order_bits)

    def affordable(steps: int) -> bool:
        return rounding_radius(1 + steps * unit, reach=v) * v <= most

    if v * v > 2 * most or not affordable(0):  # at least v^2/2 is taken at once
        return None
    top = math.ceil(most / (v * v) / unit) + 1
    return 1 + (first_integer(lambda steps: not affordable(steps), 0, top) - 1) * unit


def _weighed(part: LengthClass, dimension: int) -> Function:
    """The normal density of the coordinate, times the mass of a class of lengths."""
    return Scaled(normal, once(lambda: mass(part[0], part[1], dimension, flint.ctx.prec)))


def _least(gamma: Fraction, v: Fraction, far: Fraction) -> Function:
    """The largest blanket at the far end of a class of lengths, relative to N(0, 1)."""
    numbers, length = enclosed(gamma, 1 - gamma, v, v * v / 2), length_along(far)

    def exponent(u: Any) -> Any:
        _, _, slope, half = numbers()
        return -slope * length(u) - half

    def density(u: Any) -> Any:
        mass, rest, slope, half = numbers()
        return mass + rest * (-slope * length(u) - half).exp()

    return latest(density) if gamma else ExponentialOf(latest(exponent))
