r"""Templates of a privacy profile by one index, and the central Gaussian profile they imitate.

With :math:`a=\chi\varepsilon\sqrt n` the leading template is :math:`f=\varphi(a)/(a^2\chi\sqrt n)`; it is the first
term of :math:`g=(\varphi(a)-a\bar\Phi(a))/(\chi\sqrt n)`, which has the same limit and is far closer at any n.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import flint

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import DEFAULT_BITS, Ball, Number, to_arb, working_precision
from symshuffle.vectors.randomizers.gaussian_integrals import upper_normal

if TYPE_CHECKING:
    import sympy as sp


def leading_template(chi: Any, eps: Any, n: Any) -> sp.Expr:
    """The leading template f as an expression (vecmean, Lemma 2.6)."""
    import sympy as sp

    root = sp.sqrt(2 * sp.pi) * chi**3 * eps**2 * n ** sp.Rational(3, 2)
    return sp.exp(-(chi**2) * eps**2 * n / 2) / root


def _normal_density(a: flint.arb) -> flint.arb:
    return (-a * a / 2).exp() / (2 * flint.arb.pi()).sqrt()


def profile_template(
    chi: Number, eps: Number, n: int, *, order: Literal["leading", "mills"] = "mills", bits: int = DEFAULT_BITS
) -> Ball:
    """A template of the shuffled profile at (eps, n) for one index.

    - ``chi``: an index, above 0.
    - ``eps``: level in nats, above 0.
    - ``order``: the template f of the paper, or g with the whole tail ratio.

    vecmean, Lemma 2.6: a template is an asymptotic value, no bound at any n.
    """
    if order not in ("leading", "mills"):
        raise InputError("order", order, "leading or mills")
    with working_precision(4 * bits):
        index, level = to_arb(chi), to_arb(eps)
        if not (index > 0 and level > 0):
            raise InputError("eps" if index > 0 else "chi", eps if index > 0 else chi, "a number > 0")
        root = flint.arb(n).sqrt()
        a = index * level * root
        density = _normal_density(a)
        shape = density / (a * a) if order == "leading" else density - a * upper_normal(a)
        return Ball.from_arb(shape / (index * root), bits)


def central_profile(sigma: Number, eps: Number, n: int, *, bits: int = DEFAULT_BITS) -> Ball:
    r"""The exact profile of the central Gaussian mechanism at sensitivity 1/n.

    .. math:: \delta(\varepsilon)=\bar\Phi(a-b)-e^\varepsilon\bar\Phi(a+b),\quad a=\varepsilon\sigma\sqrt n,\;
              b=\frac1{2\sigma\sqrt n}.

    vecmean, equations (8) and (9).

    Examples
    --------
    >>> round(float(central_profile(Fraction(1), Fraction(0), 1)), 12)
    0.382924922548
    """
    guard = 4 * bits + 4 * int(n).bit_length()
    with working_precision(guard):
        scale = to_arb(sigma) * flint.arb(n).sqrt()
        a, b = to_arb(eps) * scale, 1 / (2 * scale)
        return Ball.from_arb(upper_normal(a - b) - to_arb(eps).exp() * upper_normal(a + b), bits)


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
        factor = _normal_density(a) * (level / 2 - b * b / 2).exp()
        upper = 2 * b / (a * a - b * b)
        cubes = (1 / (a - b) ** 3 - 1 / (a + b) ** 3) / 3
        return Ball.from_arb(factor * (upper - 3 * cubes), bits), Ball.from_arb(factor * upper, bits)


def decay_exponent(sigma: Fraction, eps: Number, n: int, *, bits: int = DEFAULT_BITS) -> Ball:
    r"""The number :math:`-\log\delta/\log n` of the central Gaussian profile."""
    with working_precision(bits + 32):
        delta = to_arb(central_profile(sigma, eps, n, bits=bits + 32))
        return Ball.from_arb(-delta.log() / flint.arb(n).log(), bits)
