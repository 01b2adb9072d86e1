"""What claims alone need of templates of a privacy profile: the leading one, Mills' bracket, the exponent of decay."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import flint

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import DEFAULT_BITS, Ball, Number, to_arb, working_precision
from symshuffle.vectors.privacy.correspondence import central_profile, normal_density

if TYPE_CHECKING:
    import sympy as sp


def leading_template(chi: Any, eps: Any, n: Any) -> sp.Expr:
    """The leading template f as an expression (vecmean, Lemma 2.6)."""
    import sympy as sp

    root = sp.sqrt(2 * sp.pi) * chi**3 * eps**2 * n ** sp.Rational(3, 2)
    return sp.exp(-(chi**2) * eps**2 * n / 2) / root


def mills_bracket(sigma: Number, eps: Number, n: int, *, bits: int = DEFAULT_BITS) -> tuple[Ball, Ball]:
    r"""Two bounds of the central profile that share its limit, for a > b.

    With the tail ratio :math:`m=\bar\Phi/\varphi` the profile is
    :math:`\varphi(a)e^{\varepsilon/2-b^2/2}\int_{a-b}^{a+b}(-m'(t))\,dt`, and
    :math:`t^{-2}-3t^{-4}\le-m'(t)\le t^{-2}`. Unlike a remainder of order :math:`a^{-5}` on either tail, which exceeds
    the integral once n is large, both bounds are :math:`2b/a^2` up to a factor that tends to 1.
    """
    with working_precision(bits + 32):
        scale = to_arb(sigma) * flint.arb(n).sqrt()
        level = to_arb(eps)
        a, b = level * scale, 1 / (2 * scale)
        if not a > b:
            raise InputError("eps", eps, "a level above 1/(2 sigma^2 n)")
        factor = normal_density(a) * (level / 2 - b * b / 2).exp()
        upper = 2 * b / (a * a - b * b)
        cubes = (1 / (a - b) ** 3 - 1 / (a + b) ** 3) / 3
        return Ball.from_arb(factor * (upper - 3 * cubes), bits), Ball.from_arb(factor * upper, bits)


def decay_exponent(sigma: Fraction, eps: Number, n: int, *, bits: int = DEFAULT_BITS) -> Ball:
    r"""The number :math:`-\log\delta/\log n` of the central Gaussian profile."""
    with working_precision(bits + 32):
        delta = to_arb(central_profile(sigma, eps, n, bits=bits + 32))
        return Ball.from_arb(-delta.log() / flint.arb(n).log(), bits)
