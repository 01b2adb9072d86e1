r"""Templates of a privacy profile by one index, and the central Gaussian profile they imitate.

With :math:`a=\chi\varepsilon\sqrt n` the leading template is :math:`f=\varphi(a)/(a^2\chi\sqrt n)`; it is the first
term of :math:`g=(\varphi(a)-a\bar\Phi(a))/(\chi\sqrt n)`, which has the same limit and is far closer at any n.
"""

from __future__ import annotations

from typing import Literal

import flint

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import DEFAULT_BITS, Ball, Number, to_arb, working_precision
from symshuffle.vectors.randomizers.gaussian_integrals import upper_normal


def normal_density(a: flint.arb) -> flint.arb:
    """Density of the standard normal law, at the working precision."""
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
        density = normal_density(a)
        shape = density / (a * a) if order == "leading" else density - a * upper_normal(a)
        return Ball.from_arb(shape / (index * root), bits)


def central_profile(sigma: Number, eps: Number, n: int, *, bits: int = DEFAULT_BITS) -> Ball:
    r"""The exact profile of the central Gaussian mechanism at sensitivity 1/n.

    .. math:: \delta(\varepsilon)=\bar\Phi(a-b)-e^\varepsilon\bar\Phi(a+b),\quad a=\varepsilon\sigma\sqrt n,\;
              b=\frac1{2\sigma\sqrt n}.

    vecmean, equations (8) and (9).

    Examples
    --------
    >>> round(float(central_profile(1, 0, 1)), 12)
    0.382924922548
    """
    guard = 4 * bits + 4 * int(n).bit_length()
    with working_precision(guard):
        scale = to_arb(sigma) * flint.arb(n).sqrt()
        a, b = to_arb(eps) * scale, 1 / (2 * scale)
        return Ball.from_arb(upper_normal(a - b) - to_arb(eps).exp() * upper_normal(a + b), bits)
