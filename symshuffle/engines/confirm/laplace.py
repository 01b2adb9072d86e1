r"""The amplification variable of Laplace noise, from its densities alone.

Noise of scale 1/eps0 on a bit has the densities :math:`f_x(y)=\frac{\varepsilon_0}2e^{-\varepsilon_0|y-x|}`. The
blanket takes each output at the smaller of both, which is also the smallest over all inputs in [0, 1]; with the
remaining probability it shows nothing and G is 0. Nothing here knows the finite laws by which engines approach it.

Evidence: the densities are those of a proved decomposition; that tanh-sinh quadrature reaches the digits it
says is assumed.
"""

from __future__ import annotations

from typing import Any

from symshuffle.base.numbers import Exp, Real
from symshuffle.engines.confirm.transform import MpmathLaw, Smooth, as_mpf, context_for


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
    parts = (Smooth(context.mpf(0), half, smaller, value, slope), Smooth(half, context.mpf(1), smaller, value, slope))
    return MpmathLaw(context, tuple(atoms), parts, context.mpf(0))


def one_user(law: MpmathLaw) -> Any:
    """E[G_+], by quadrature over the outputs, which is what one user's shuffled experiment is worth."""
    total = sum((max(v, 0) * w for v, w in law.atoms), start=law.context.mpf(0))
    for part in law.smooth:
        ends = [part.lower, *_crossings(law.context, part), part.upper]
        total += law.context.quad(lambda y, p=part: p.density(y) * max(p.value(y), 0), ends)
    return total


def _crossings(context: Any, part: Smooth) -> list[Any]:
    """Where G changes sign inside the interval, so that the positive part is smooth between the ends."""
    low, high = part.lower, part.upper
    if part.value(low) * part.value(high) >= 0:
        return []
    return [context.findroot(part.value, (low, high), solver="anderson", tol=context.eps**1.5)]


def _read(context: Any, constant: Real) -> Any:
    return context.exp(as_mpf(context, constant.exponent)) if isinstance(constant, Exp) else as_mpf(context, constant)
