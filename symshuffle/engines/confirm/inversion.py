r"""H(n) by numerical inversion of the moment generating function, at any n.

For every c > 0, with :math:`M(s)=E e^{sG}`,

.. math:: E[S_+]=\frac1{2\pi i}\int_{\Re s=c}M(s)^n\,\frac{ds}{s^2}.

If the values of G differ by multiples of d, the values of S are r + jd for integers j, where 0 < r <= d, and one period
of the line is enough: summing :math:`P(S=x)=\frac d{2\pi}\int_{-\pi/d}^{\pi/d}M(c+it)^ne^{-(c+it)x}dt` over the
positive x replaces the kernel by

.. math:: d\sum_{j\ge0}(r+jd)e^{-s(r+jd)}=d\,e^{-sr}\Big(\frac r{1-q}+\frac{dq}{(1-q)^2}\Big),\qquad q=e^{-sd}.

The integral is done by Gauss-Legendre panels in mpmath wherever the integrand matters, on two lines; their difference
estimates the error of the panels and of the arithmetic.

Evidence: the identities are proved, and what lies outside of the panels is bounded. That the difference of two lines is
no smaller than the error of either is assumed: the sum of both is an estimate and no ball.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from symshuffle.engines.confirm.survey import LineSurvey, TiltedLine, describe, survey
from symshuffle.engines.confirm.transform import MpmathLaw, saddle

_PANEL: Final = 2.0
"""Longest panel, in standard deviations of the integrand."""

_DEGREE: Final = 7
"""Highest degree of the rule, 3 * 2**(degree - 1) nodes to a panel."""

_COARSE_DIGITS, _COARSE_PANEL, _COARSE_DEGREE = 12, 3.0, 3
"""Panel and degree that give these digits of a Gaussian peak, for peaks far out of which no more are needed."""


def by_inversion(law: MpmathLaw, n: int, *, digits: int) -> tuple[Any, Any, str]:
    """E[S_+]/n, an estimate of its error, and what was integrated, in words."""
    c = saddle(law.nodes(), n)
    first, bound, found = _on_line(law, n, c, digits, degree=3)
    width = TiltedLine.at(law, c, n).width
    second, other, _ = _on_line(law, n, c + min(c, width) / 2, digits, degree=4)
    error = abs(first - second) + min(bound, other) + abs(first) * law.noise(n, c)
    where = f"one period of the lattice {law.context.nstr(law.lattice, 6)}" if _whole(law, found) else "a line"
    return first, error, f"{where}, {describe(found)}"


def _whole(law: MpmathLaw, found: LineSurvey) -> bool:
    return law.lattice is not None and found.tail == 0


def _on_line(law: MpmathLaw, n: int, c: float, digits: int, *, degree: int) -> tuple[Any, Any, LineSurvey]:
    """E[S_+]/n from the line of real part c, a bound on what was left out, and the survey of the line."""
    context = law.context
    line = TiltedLine.at(law, c, n)
    period = math.inf if law.lattice is None else float(context.pi / law.lattice)
    found = survey(line, n, digits=digits, period=period)
    integrand, scale = _integrand(law, n, context.mpf(c), degree)
    total, last = context.mpf(0), 0.0
    for low, b in found.windows:
        a, last = (last if abs(low - last) < 1e-9 * line.width else low), b  # neighbours share an end to the last bit
        needed = digits + 3 + min(0.0, 2 * math.log10(c / a) if a else 0.0)
        # A double ends near the period; the integrand, where it is not small, has to be integrated up to it.
        end = context.mpf(b) if b < period - 1e-9 * line.width else context.pi / law.lattice
        total += _panels(context, integrand, a, end, line, max(needed, 4.0))
    return total * scale, (found.ignored + found.tail) * scale, found


def _integrand(law: MpmathLaw, n: int, c: Any, degree: int) -> tuple[Callable[[Any], Any], Any]:
    """The real part of the integrand divided by its size at t = 0, and the factor that makes its integral E[S_+]/n."""
    context = law.context

    @lru_cache
    def tilted(panels: tuple[int, ...]) -> list[tuple[Any, Any]]:
        parts = zip(law.smooth, panels, strict=True)
        nodes = [node for part, count in parts for node in part.nodes(context, panels=count, degree=degree)]
        return [(v, w * context.exp(c * v)) for v, w in (*law.atoms, *nodes)]

    def panels(t: Any) -> tuple[int, ...]:
        return tuple(1 << part.turns(float(t) + float(c)).bit_length() for part in law.smooth)

    at_zero = sum(q for _, q in tilted(panels(0)))
    scale = context.exp(n * context.log(at_zero)) / (context.pi * c * c * n)

    def integrand(t: Any) -> Any:
        ratio = context.fdot((q, context.expj(v * t)) for v, q in tilted(panels(t))) / at_zero
        return (ratio**n * _kernel(law, context.mpc(c, t)) * c * c).real

    return integrand, scale


def _kernel(law: MpmathLaw, s: Any) -> Any:
    if law.lattice is None:
        return 1 / s**2
    d, r = law.lattice, law.offset
    q = law.context.exp(-s * d)
    rest = -law.context.expm1(-s * d)
    return d * law.context.exp(-s * r) * (r / rest + d * q / rest**2)


def _panels(context: Any, f: Callable[[Any], Any], a: float, b: Any, line: TiltedLine, digits: float) -> Any:
    """The integral of f over [a, b] to about ``digits`` digits of the main peak, panel by panel."""
    coarse = a > 0 and digits <= _COARSE_DIGITS
    longest = (_COARSE_PANEL if coarse else _PANEL) * line.width
    panel = longest if a else min(line.width, line.c)  # the pole at 0 is at distance c
    ends = [context.mpf(a)]
    while ends[-1] < b:
        ends.append(min(ends[-1] + panel, b))
        panel = min(longest, 1.3 * panel)
    degree = _COARSE_DEGREE if coarse else _DEGREE
    epsilon = context.mpf(10) ** -digits * line.width
    total, _ = context._gauss_legendre.summation(f, ends, context.prec, epsilon, degree)
    return total
