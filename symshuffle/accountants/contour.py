r"""Contour engine: a smoothed inverse Laplace transform whose cost does not grow with n and whose two sides are bounds.

Let :math:`Z\sim N(0,\tau^2)` be independent of :math:`S=G_1+\dots+G_n`. Then

.. math::

   L=\frac1{2\pi i}\int_{\Re s=c} e^{nK(s)+\tau^2s^2/2}\,(s^{-2}-\tau^2)\,ds\;\le\;E[S_+]\;\le\;
   U=\frac1{2\pi i}\int_{\Re s=c} e^{nK(s)+\tau^2s^2/2}\,s^{-2}\,ds ,

by Jensen's inequality on the right and by :math:`E(x+Z)_+-x_+\le\tau\varphi(x/\tau)` on the left. Three errors stand
between these integrals and a finite sum:

- *Aliasing.* The trapezoid rule of step h returns U plus the terms :math:`e^{-cmX}E(S+Z+mX)_+`, X = 2 pi/h, m != 0.
  They are non-negative: the sum for U is an upper bound as it stands, and the lower side subtracts a bound on them, obtained
  under the tilted law from Chernoff's inequality.
- *Truncation* at t = T, since :math:`|M(c+it)|\le M(c)`.
- *Rounding*: a running bound in doubles, or ball arithmetic throughout (:mod:`symshuffle.accountants.ball_contour`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

import numpy as np
import numpy.typing as npt

from symshuffle.accountants import saddle
from symshuffle.errors import InputError, Unsupported
from symshuffle.law import Law
from symshuffle.numbers import lower_end, to_float, upper_end
from symshuffle.results import Bracket, Rigour

_UNIT: Final = 2.0**-53
_CHUNK: Final = 1 << 16


@final
@dataclass(frozen=True, slots=True)
class Contour:
    """Smoothed contour integral in double precision.

    Parameters
    ----------
    rel : float
        Relative width to aim at, in (0, 1).
    largest : int
        Most nodes to evaluate.
    """

    rel: float = 1e-6
    largest: int = 200_000_000

    def __post_init__(self) -> None:
        if not 0 < self.rel < 1:
            raise InputError("rel", self.rel, "a relative width in (0, 1)")

    @property
    def name(self) -> str:
        """Name of the engine."""
        return "contour"

    def refusal(self, law: Law, n: int) -> str | None:
        """Why this engine cannot answer, or None if it can."""
        if max(to_float(value) for value in law.values) <= 0:
            return None
        plan = saddle.choose(_tilt(law), n, rel=self.rel)
        return None if plan.nodes <= self.largest else f"relative width {self.rel} needs {plan.nodes} nodes"

    def bracket(self, law: Law, n: int) -> Bracket:
        """A bracket around H(n), both sides bounds up to the stated rounding allowance.

        Raises
        ------
        Unsupported
            If :meth:`refusal` gives a reason.
        """
        tilt = _tilt(law)
        if float(tilt.values.max()) <= 0:
            how = "G is never positive"
            return Bracket(lower_end(law.singular), upper_end(law.singular), Rigour.FLOAT64, self.name, how)
        plan = saddle.choose(tilt, n, rel=self.rel)
        if plan.nodes > self.largest:
            raise Unsupported(f"engine contour at n = {n}: {plan.nodes} nodes for rel = {self.rel}; ask for less")
        scale = n * tilt.cumulant(plan.c) + (plan.tau * plan.c) ** 2 / 2  # everything below is relative to exp(scale)
        upper, lower, allowance = _trapezoid(tilt, n, plan)
        missing = _truncation(plan)
        alias = _aliasing(tilt, n, plan)
        # log M(c) is a log1p of a sum of expm1, so its error is relative to the terms and not to 1.
        terms = float(tilt.weights @ np.abs(np.expm1(plan.c * tilt.values) * (1 + np.abs(plan.c * tilt.values))))
        rounding = allowance + 8 * _UNIT * (n * terms + 16)
        floor = max(Fraction(0), lower_end(law.mean) * n)
        low = max(_scaled(lower - missing - alias - rounding * abs(upper), scale), floor)
        high = _scaled(upper + missing + rounding * abs(upper), scale)
        how = (
            f"contour at c = {plan.c:.4g}, smoothing tau = {plan.tau:.4g}, {plan.nodes} nodes, "
            f"relative rounding allowance {rounding:.1g}"
        )
        return Bracket(
            low / n + lower_end(law.singular), high / n + upper_end(law.singular), Rigour.FLOAT64, self.name, how
        )


def _tilt(law: Law) -> saddle.Tilt:
    return saddle.Tilt(np.array([to_float(v) for v in law.values]), np.array([to_float(w) for w in law.weights]))


def _scaled(value: float, log_scale: float) -> Fraction:
    """``value * exp(log_scale)`` as a rational, also where the exponential leaves the range of doubles."""
    doublings = math.floor(log_scale / math.log(2))
    return Fraction(value * math.exp(log_scale - doublings * math.log(2))) * Fraction(2) ** doublings


def _trapezoid(tilt: saddle.Tilt, n: int, plan: saddle.Contour) -> tuple[float, float, float]:
    """The trapezoid sums for U and L, and a bound on their rounding error, all relative to the value at t = 0."""
    c, tau = plan.c, plan.tau
    grown = tilt.weights * np.exp(c * tilt.values - max(0.0, float((c * tilt.values).max())))
    tilted = grown / grown.sum()
    upper = lower = noise = 0.0
    for first in range(0, plan.nodes + 1, _CHUNK):
        t = plan.step * np.arange(first, min(first + _CHUNK, plan.nodes + 1), dtype=np.float64)
        half = np.where(t == 0, 0.5, 1.0)
        log_ratio, error = _log_ratio(tilted, tilt.values, t)
        kernel = half * np.exp(n * log_ratio - (tau * t) ** 2 / 2 + 1j * (tau * tau * c) * t)
        s = c + 1j * t
        inverse_square = 1 / (s * s)
        upper += float((kernel * inverse_square).real.sum())
        lower += float((kernel * (inverse_square - tau * tau)).real.sum())
        size = np.abs(kernel) * (np.abs(inverse_square) + tau * tau)
        noise += float((size * (n * error + 16 * _UNIT)).sum())
    weight = plan.step / math.pi
    return upper * weight, lower * weight, noise / max(upper, 1e-300)


def _log_ratio(
    tilted: npt.NDArray[np.float64], values: npt.NDArray[np.float64], t: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.complex128], npt.NDArray[np.float64]]:
    """``log E_Q exp(i t G)`` under the tilted law, accurate also where it is tiny, with a bound on its error."""
    total = np.zeros_like(t, dtype=np.complex128)
    error = np.zeros_like(t)
    for weight, value in zip(tilted, values, strict=True):
        angle = value * t
        wave = np.expm1(1j * angle)
        total += weight * wave
        error += weight * (np.abs(wave) + np.abs(angle))
    size = np.abs(1 + total)
    with np.errstate(divide="ignore"):
        result = np.log1p(total)
    # Where the ratio vanishes its power does too; the error of the logarithm is relative to the ratio.
    return result, np.where(size > 1e-3, 6 * _UNIT * error / np.maximum(size, 1e-3), 1e-3)


def _truncation(plan: saddle.Contour) -> float:
    """Bound on both sums beyond the last node, relative to the value at t = 0."""
    end = plan.step * plan.nodes
    decay = math.exp(-((plan.tau * end) ** 2) / 2) / (plan.tau**2 * end)
    return (end**-2 + plan.tau**2) * decay / math.pi


def _aliasing(tilt: saddle.Tilt, n: int, plan: saddle.Contour) -> float:
    """Bound on the alias terms, relative to the value at t = 0.

    Under the tilted law Q of Y = S + Z the term of index m is E_Q[exp(-c y) y_+] at y = Y + m X. For m > 0 it is at
    most (m X/2) exp(-c m X/2) where Y > -m X/2, and at most 1/(c e) elsewhere; for m < 0 at most Q(Y > |m| X)/(c e).
    """
    c, reach = plan.c, 2 * math.pi / plan.step
    q = math.exp(-c * reach / 2)
    series = reach / 2 * q / (1 - q) ** 2
    tails = 0.0
    for sign, distance in ((-1, reach / 2), (1, reach)):
        best = math.inf
        for slope in saddle.tail_slopes(tilt, n, c, plan.tau, distance):
            exponent = saddle.tail_exponent(tilt, n, c, plan.tau, distance, sign * slope)
            ratio = math.exp(-slope * distance)
            best = min(best, math.exp(-exponent) / (1 - ratio) if exponent > -700 else math.inf)
        tails += best
    return series + tails / (c * math.e)
