r"""The two integrals that the indices of Gaussian randomizers need, in balls, with every supremum proved.

Noise has unit variance here: inputs of length up to :math:`b=r/\sigma_0`, :math:`E_x(z)=e^{\langle
x,z\rangle-|x|^2/2}`, and a message at x has density :math:`\gamma+AE_x` against the standard normal law,
:math:`A=1-\gamma`.

**Upper index.** Let :math:`J(x_1,x)=E[(E_{x_1}-1)^2/(\gamma+AE_x)]`. A Gaussian change of measure makes it a function
of :math:`\rho=|x_1|`, :math:`\tau=|x|` and :math:`c=\langle x_1,x\rangle` alone. It rises in :math:`\rho` at fixed
:math:`(c,\tau)`; rises in :math:`\tau` at fixed :math:`(\rho,c)`, because :math:`1/(\gamma+Av)` is convex; and falls
in c. So the supremum is at :math:`x=-x_1`, :math:`|x_1|=b`: one integral on the line, the same in every dimension
(claim ``symshuffle.vecmean-bmg-upper-index``).

**Lower index against the largest blanket.** The least density over the ball is :math:`\gamma+Ae^{-b|z|-b^2/2}`; with
w its inverse, :math:`g(\rho)=E[(E_{\rho e}-1)^2w(|Z|)]=e^{\rho^2}W(2\rho)-2W(\rho)+W(0)`, :math:`W(\rho)=E\,w(|Z+\rho
e|)`. W rises because w does, and :math:`W'\le bA'W` with :math:`A'=1-\gamma w(0)`, so g rises on :math:`[A'b,b]`.
Below :math:`A'b`, either :math:`g\le(A'^2/\gamma)(e^{b^2}-1)\le g(b)` or finitely many cells, on each of which W is
taken at the two ends, show that g stays below g(b). For :math:`\gamma=0` W is convex, and g rises throughout.
"""

from __future__ import annotations

from typing import Any

import flint

from symshuffle.base.errors import NotDecided

_MOST_CELLS = 256
"""Cells after which the search below A'b gives up."""


def upper_normal(z: flint.arb) -> flint.arb:
    """The upper tail of the standard normal law, at the working precision."""
    return (z / flint.arb(2).sqrt()).erfc() / 2


def _integral(integrand: Any, lower: flint.arb, upper: flint.arb) -> flint.arb:
    tolerance = flint.arb(2) ** (-flint.ctx.prec)
    value = flint.acb.integral(integrand, flint.acb(lower), flint.acb(upper), rel_tol=tolerance, abs_tol=tolerance)
    if not value.is_finite():
        raise NotDecided(f"an integral did not converge at {flint.ctx.prec} bits")
    return value.real


def _reach(shift: flint.arb) -> flint.arb:
    """A distance beyond which a normal tail is below the working precision: never below its shift."""
    return abs(shift) + flint.arb(_margin())


def _margin() -> int:
    """How far beyond its shift an integral goes, at least 0: what is further is bounded and joined."""
    return int((1.4 * flint.ctx.prec) ** 0.5) + 2


def upper_variance(gamma: flint.arb, b: flint.arb) -> flint.arb:
    r"""The supremum of J over the ball of radius b, without the factor :math:`A^2`; ``gamma`` may be 0."""
    if gamma == 0:
        a = b * b
        return (4 * a).exp() - 2 * (2 * a).exp() + a.exp()
    rest, half = 1 - gamma, b * b / 2

    def integrand(z: flint.acb, _: bool) -> flint.acb:
        toward, away = (b * z - half).exp(), (-b * z - half).exp()
        return (toward - 1) ** 2 / (gamma + rest * away) * (-z * z / 2).exp()

    reach = _reach(3 * b)
    body = _integral(integrand, -reach, reach) / (2 * flint.arb.pi()).sqrt()
    # Right of the reach (E - 1)^2 <= E^2, a normal shifted by 2b; left of it (E - 1)^2 <= 1; the weight is <= 1/gamma.
    tail = ((b * b).exp() * upper_normal(reach - 2 * b) + upper_normal(reach)) / gamma
    return body + tail.union(0)


def mean_weight(gamma: flint.arb, b: flint.arb, dimension: int, rho: flint.arb) -> flint.arb:
    r"""The number :math:`W(\rho)=E\,w(|Z+\rho e|)`, by the noncentral chi law of the length."""
    rest, half, d = 1 - gamma, b * b / 2, flint.arb(dimension)
    scale = 2 ** (1 - d / 2) * (d / 2).rgamma() * (-rho * rho / 2).exp()

    def integrand(length: flint.acb, _: bool) -> flint.acb:
        density = length ** (dimension - 1) * (-length * length / 2).exp()
        spread = (rho * rho * length * length / 4).hypgeom_0f1(flint.acb(d / 2))
        if gamma == 0:
            return density * spread * (b * length + half).exp()
        return density * spread / (gamma + rest * (-b * length - half).exp())

    reach = _reach(rho + (b if gamma == 0 else 0)) + d.sqrt()
    body = scale * _integral(integrand, flint.arb(0), reach)
    # Beyond the reach s = |Z| > start; there w <= 1/gamma, or w <= exp(b (s + rho) + b^2/2) and b s <= b s^2/start.
    start = reach - rho
    if gamma > 0:
        return body + (_chi_tail(d, start) / gamma).union(0)
    spare = 1 - 2 * b / start
    return body + ((b * rho + half).exp() * spare ** (-d / 2) * _chi_tail(d, start * spare.sqrt())).union(0)


def _chi_tail(d: flint.arb, start: flint.arb) -> flint.arb:
    return (start * start / 2).gamma_upper(d / 2, regularized=1)


def largest_blanket_variance(gamma: flint.arb, b: flint.arb, dimension: int) -> flint.arb:
    r"""The supremum of g over [0, b], without the factor :math:`A^2`; ``gamma`` may be 0."""

    def weight(rho: flint.arb) -> flint.arb:
        return mean_weight(gamma, b, dimension, rho)

    at_zero = weight(flint.arb(0))
    value = (b * b).exp() * weight(2 * b) - 2 * weight(b) + at_zero
    if gamma == 0:
        return value
    floor = gamma + (1 - gamma) * (-b * b / 2).exp()
    share = 1 - gamma / floor
    if not share * share * floor <= gamma:
        _cover(weight, at_zero, share * b, value)
    return value


def _cover(weight: Any, at_zero: flint.arb, end: flint.arb, value: flint.arb) -> None:
    """Show that g < value on [0, end], cell by cell."""
    cells = 8
    while cells <= _MOST_CELLS:
        points = [end * i / cells for i in range(cells + 1)]
        low = [weight(rho) for rho in points]
        if all(
            (points[i + 1] ** 2).exp() * weight(2 * points[i + 1]) - 2 * low[i] + at_zero < value for i in range(cells)
        ):
            return
        cells *= 4
    raise NotDecided(f"{_MOST_CELLS} cells do not show which input is worst against the largest blanket")
