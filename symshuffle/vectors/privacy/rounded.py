r"""The largest blanket of a Gaussian, rounded around 0: under zero-out the longest input is then worst, at every level.

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
from fractions import Fraction
from typing import Any, Final

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Ball, Real, Verdict, less, to_arb, working_precision
from symshuffle.channels.continuous_law import Function
from symshuffle.vectors.randomizers.coordinates import enclosed

_BITS: Final = 128

_DIGITS: Final = 20
"""Binary digits of a radius: it is rounded up, and any larger one serves."""


def sufficient_curvature(level: Any, growth: Any) -> Any:
    r"""The two numbers of which :math:`\tau` is the larger, from a and :math:`e^{v^2/2}-1`."""
    return level - 1, (level - 1) / 2 + level * growth / 8


def rounding_radius(exp_eps: Real, *, reach: Fraction, gamma: Fraction = Fraction(0)) -> Fraction:
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
    with working_precision(_BITS):
        level = (to_arb(exp_eps) - to_arb(gamma)) / to_arb(1 - gamma)
        first, second = sufficient_curvature(level, to_arb(reach * reach / 2).expm1())
        found = Ball.from_arb(to_arb(reach) * first.max(second), _BITS).upper
    unit = Fraction(2) ** (found.numerator.bit_length() - found.denominator.bit_length() - _DIGITS)
    return math.ceil(found / unit) * unit


def rounded(gamma: Fraction, reach: Fraction, radius: Fraction) -> Function:
    """The blanket relative to N(0, 1), from minus the radius to the radius."""
    numbers = enclosed(gamma, 1 - gamma, reach / (2 * radius), reach * (radius + reach) / 2)

    def density(u: Any) -> Any:
        mass, rest, bend, least = numbers()
        return mass + rest * (-bend * u * u - least).exp()

    return density
