r"""Contour engine: an inverse Laplace transform whose cost does not grow with n and whose two sides are bounds.

Let :math:`Z\sim N(0,\tau^2)` be independent of :math:`S=G_1+\dots+G_n`. Then

.. math::

   L=\frac1{2\pi i}\int_{\Re s=c} e^{nK(s)+\tau^2s^2/2}\,(s^{-2}-\tau^2)\,ds\;\le\;E[S_+]\;\le\;
   U=\frac1{2\pi i}\int_{\Re s=c} e^{nK(s)+\tau^2s^2/2}\,s^{-2}\,ds ,

by Jensen's inequality on the right and by :math:`E(x+Z)_+-x_+\le\tau\varphi(x/\tau)` on the left. What the smoothing
adds where all copies are within r of 0 is at least :math:`P(|G|\le r)^n(\tau/\sqrt{2\pi}-nr/2)`, because
:math:`E(x+Z)_+-x_+` is convex on each side of 0 with slopes up to 1/2, and is taken off again.

If G lives on a lattice of spacing g, no smoothing is needed: the integrand is periodic but for its kernel, and
:math:`\sum_m (s+2\pi i m/g)^{-2}=(g/2)^2/\sinh^2(gs/2)` folds the line to one period.

Four errors stand between these integrals and the finite sum, each with a bound:

- *Aliasing.* The trapezoid rule of step h returns U plus the terms :math:`e^{-cmX}E(S+Z+mX)_+`, X = 2 pi/h, m != 0.
  They are non-negative: the sum for U is an upper bound as it stands, and the lower side subtracts a bound on them,
  obtained under the tilted law from Chernoff's inequality.
- *Truncation* at the last node (none on a lattice), since :math:`|M(c+it)|\le M(c)`.
- *Negligible intervals*, where the n-th power is negligible, are bounded instead of evaluated.
- *Rounding*: a running bound in doubles here; :mod:`symshuffle.engines.contours.ball` does the same sum in ball
  arithmetic.

Evidence. *Proved* in exact arithmetic, for any constants: smoothing, aliasing, truncation, negligible intervals, what
the mass at 0 adds (in balls), what the radii of balls in the law may change. *Proved under an assumption*: rounding.
It is assumed that additions and products of doubles are rounded to nearest; that NumPy's ``exp``, ``expm1``, ``log1p``,
``sinh``, ``sin`` and ``cos`` and those of ``math`` are off by at most four units in the last place (NumPy promises
none; its tests ask for fewer); that ``ndarray.sum`` adds in blocks of 128 and then pairwise, which costs a term 28
round-offs in a chunk of 2^16. Sums over the atoms are pairwise or ``fsum``, so that their constants grow with the
logarithm of the number of atoms. *Heuristic*: the allowance of 12 units for the few operations on real numbers that
scale a finished sum, and 10^-12 wherever a bound (of an interval or of a ratio) is itself computed in doubles.

A law with a continuous part has two forms, near the real line and far from it
(:mod:`symshuffle.engines.contours.characteristic`); the far region is bounded at once where the atoms alone stay small.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, final

import flint
import numpy as np

from symshuffle.base import cost
from symshuffle.base.choices import Arithmetic
from symshuffle.base.doubles import UNIT
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import (
    MOST_DOUBLINGS,
    Ball,
    both_ends,
    format_decimal,
    lower_end,
    to_arb,
    upper_end,
    working_precision,
)
from symshuffle.base.results import Bracket
from symshuffle.channels.law import Law
from symshuffle.engines.contours import saddle
from symshuffle.engines.contours.characteristic import (
    AS_MANY_AS,
    CHUNK,
    GAUSS_SHARE,
    Indices,
    Region,
    active_intervals,
    enclosure_error,
    estimate_tilt,
    line_regions,
)
from symshuffle.engines.registry import Engine

if TYPE_CHECKING:
    from symshuffle.channels.mixed_law import MixedLaw

_LONG_PASS: Final = 20_000_000
"""Terms, one for each atom at each node, of a pass after which no finer one follows: cost only."""


_FAR_BELOW: Final = 700.0
"""Exponent below which terms are not computed; correct at any value, as nothing is subtracted then."""


@final
@dataclass(frozen=True, slots=True)
class Contour(Engine):
    """Engine that evaluates H(n) as a contour integral in double precision.

    Parameters
    ----------
    rtol : float
        Relative width to aim at, in (0, 1); the result is wider where sums of G accumulate near 0 without being 0.
    largest : int
        Limit on the number of quadrature nodes.
    goal : Fraction, optional
        Number with which the value is compared: no finer pass follows a bracket that is far from it.
    """

    name: ClassVar[str] = "contour"
    least: ClassVar[Arithmetic] = "float64"
    continuous: ClassVar[bool] = True

    rtol: float = 1e-6
    largest: int = 50_000_000
    goal: Fraction | None = None

    @classmethod
    def for_auto(cls, law: Law | MixedLaw, arithmetic: Arithmetic | None, rtol: float) -> Contour | None:
        """Engine for the automatic choice where doubles reach the width, otherwise None."""
        return cls(rtol=rtol) if arithmetic in (None, "float64") and rtol >= UNIT else None

    @classmethod
    def trials(cls, law: Law | MixedLaw) -> tuple[Contour, ...]:
        """Settings under which a bracket takes about a second, for tests."""
        most = 8_000_000 // (len(law.values) if isinstance(law, Law) else AS_MANY_AS)
        return tuple(cls(rtol=rtol, largest=most) for rtol in (1e-4, 1e-2, 1e-6, 0.3))

    def refusal(self, law: Law | MixedLaw, n: int) -> str | None:
        """None: whether the width can be reached is found only while computing."""
        return None

    def bracket(self, law: Law | MixedLaw, n: int) -> Bracket:
        """Bracket around H(n); both ends are bounds up to the stated rounding allowance.

        Raises
        ------
        Unsupported
            If the width asked for would take more than ``largest`` nodes.
        """
        tilt = estimate_tilt(law)
        if float(tilt.values.max()) <= 0:
            # Decided by the ends of the atoms, as a positive atom may be 0 as a double.
            most = max(Fraction(0), *both_ends(law.values)[1])
            ends = lower_end(law.singular), upper_end(law.singular) + most
            shown = format_decimal(most, digits=2, up=True)
            return Bracket(*ends, "float64", self.name, f"G is never above {shown}")
        return saddle.refine(
            partial(self._attempt, law, n, tilt),
            self.rtol,
            most=_LONG_PASS // len(tilt.values),
            spread=saddle.is_spread_out(tilt, n),
            goal=self.goal,
        )

    def _attempt(self, law: Law | MixedLaw, n: int, rough: saddle.Tilt, rtol: float) -> tuple[Bracket, float]:
        """One pass with constants chosen for the relative width ``rtol``, and how many nodes it took.

        Infinitely many where the radii of the law alone take the width asked for, which no constants change.
        """
        plan = saddle.choose(rough, n, rtol=rtol, lattice=law.lattice, quick=True)
        regions, tilt, above, finite = line_regions(law, rough, plan, tolerance=GAUSS_SHARE * rtol / n)
        # Everything below is relative to exp(scale).
        scale = n * tilt.at(plan.c).cumulant + (plan.tau * plan.c) ** 2 / 2
        upper, lower, rounding, negligible, evaluated = _trapezoid(regions, n, plan, self.largest, rtol)
        rounding += _scale_noise(tilt, n, plan.c, scale) * abs(upper)
        enclosure = enclosure_error(finite, tilt, n, plan.c)
        around = negligible + _truncation(plan) + rounding + enclosure
        # H is never below E[G] nor below 0: both are bounds in their own right, not repairs of this one.
        floor = law.floor * n
        if not math.isfinite(upper + around):
            raise Unsupported(f"engine contour at n = {n}: the line at c = {plan.c:.4g} bounds nothing")
        below = lower - around - _aliasing(tilt, above, n, plan)
        low = max(_scaled(below, scale, up=False), floor) if math.isfinite(below) else floor
        high = _scaled(upper + around, scale, up=True) - _smoothing_at_zero(law, n, plan, scale)
        evaluation = (
            f"contour at c = {plan.c:.4g}, {saddle.describe(plan)}, {evaluated} of {plan.nodes + 1} nodes "
            f"evaluated, relative rounding allowance {rounding / (abs(upper) or math.inf):.1g}"
        )
        bracket = Bracket(
            low / n + lower_end(law.singular),
            high / n + upper_end(law.singular),
            "float64",
            self.name,
            evaluation,
        )
        return bracket, math.inf if enclosure > self.rtol * abs(upper) else evaluated


def _scale_noise(tilt: saddle.Tilt, n: int, c: float, scale: float) -> float:
    """Bound on the relative error of exp(scale): of n cumulants, of their sum, and of the powers of 2 in it."""
    return 12 * UNIT * (n * tilt.at(c).noise + abs(scale) + 16)


def _scaled(value: float, log_scale: float, *, up: bool) -> Fraction:
    """``value * exp(log_scale)`` as a rational, also where the exponential leaves the range of doubles.

    Below ``2**-MOST_DOUBLINGS`` it is rounded to a multiple of that: the digits would fill the memory.
    """
    doublings = math.floor(log_scale / math.log(2))
    if doublings < -MOST_DOUBLINGS - _FAR_BELOW:
        return Fraction((value > 0) if up else -(value < 0), 1 << MOST_DOUBLINGS)
    return Fraction(value * math.exp(log_scale - doublings * math.log(2))) * Fraction(2) ** doublings


def _smoothing_at_zero(law: Law | MixedLaw, n: int, plan: saddle.ContourPlan, scale: float) -> Fraction:
    """At most what the smoothing adds where every copy of G is within the plan's radius of 0, exactly 0 at radius 0.

    In balls: a weight close to 1 loses n round-offs in its n-th power, and this term alone is subtracted above.
    """
    if plan.tau == 0:
        return Fraction(0)
    radius, weight = Fraction(plan.radius), Fraction(0)
    ends = law.ends if isinstance(law, Law) else (both_ends(law.values), both_ends(law.weights))
    for low, high, share in zip(*ends[0], ends[1][0], strict=True):
        weight += share if -radius <= low and high <= radius else 0
    # Where that is far below exp(scale), nothing need be subtracted, and its digits would fill the memory.
    if weight <= 0 or n * math.log(weight) < scale - _FAR_BELOW:
        return Fraction(0)
    with working_precision(128 + n.bit_length()):
        least = to_arb(Fraction(plan.tau)) / (2 * flint.arb.pi()).sqrt() - to_arb(n * radius / 2)
        added = least * (n * to_arb(weight).log()).exp()
        return max(Ball.from_arb(added, 128).lower, Fraction(0))


def _trapezoid(
    regions: tuple[Region, ...],
    n: int,
    plan: saddle.ContourPlan,
    largest: int,
    rtol: float,
    *,
    spare: float = 7.0,
) -> tuple[float, float, float, float, int]:
    """Trapezoid sums for U and L relative to the integrand's scale, bounds on rounding and the rest, and nodes taken.

    - ``spare``: exponent by which nodes that are not evaluated stay below the width aimed at.
    """
    negligible, evaluated = 0.0, 0
    parts: list[tuple[float, float, float]] = []
    for region in regions:
        if region.segments:
            beyond = _tail_bound(region, n, plan)
            if beyond < rtol / 1000 * abs(math.fsum(upper for upper, *_ in parts)):
                negligible += beyond
                break
        # Where all nodes are negligible, their sum is about this share of the integral times the end times the spread.
        threshold = spare - math.log(rtol) + math.log1p(plan.end * math.sqrt(n) * region.deviation)
        if plan.lattice is not None:  # its kernel, and with it the integral, falls like exp(-c step)
            threshold += plan.c * float(plan.lattice)
        atoms = max(len(region.values), 1)
        most = min(largest, cost.left() // atoms)
        starts, stops, closed = active_intervals(region, n, plan, threshold, most)
        negligible, evaluated = negligible + closed, evaluated + int((stops - starts).sum())
        if evaluated > most:
            nodes = f"{evaluated} nodes of {len(region.values)} atoms, limit {most}"
            raise saddle.too_many(f"contour at n = {n}", nodes)
        cost.add(int((stops - starts).sum()) * (atoms + AS_MANY_AS * len(region.segments)))
        for indices in _chunks(starts, stops):
            parts.append(_nodes(region, n, plan, indices))
    upper, lower, noise = map(math.fsum, zip(*parts, strict=True)) if parts else (0.0, 0.0, 0.0)
    weight = plan.step / math.pi
    return upper * weight, lower * weight, noise * weight, negligible * weight, evaluated


def _nodes(
    region: Region, n: int, plan: saddle.ContourPlan, indices: Indices, *, per_node: int = 64
) -> tuple[float, float, float]:
    """Contributions of some nodes to the sums for U and L, and to the bound on the rounding error.

    - ``per_node``: round-offs of one node: kernel and products take 36 of them, the pairwise sum of a chunk 28.
    """
    t = plan.step * indices.astype(np.float64)
    log_ratio, error = region.log_ratio(t)
    # Of kernel and sum over the nodes, and of the exponent of the smoothing.
    steep = 0.0 if plan.lattice is None else 4 * plan.c * float(plan.lattice)
    kernel_error = (per_node + steep + 2 * (plan.tau * t) ** 2 + 4 * plan.tau**2 * plan.c * t) * UNIT
    weights = np.where(indices == 0, 0.5, 1.0)  # nodes that stand for themselves and not for a conjugate pair
    if plan.lattice is not None:
        weights[indices == plan.nodes] = 0.5
    factor = weights * np.exp(n * log_ratio - (plan.tau * t) ** 2 / 2 + 1j * (plan.tau**2 * plan.c) * t)
    # The transform of the positive part on the line: 1/s^2, or its sum over the periods of a lattice.
    s, half = plan.c + 1j * t, 0.0 if plan.lattice is None else float(plan.lattice) / 2
    root = half / np.sinh(half * s) if half else 1 / s
    kernel = root * root
    noise = np.abs(factor) * (np.abs(kernel) + plan.tau**2) * (n * error + kernel_error)
    return float((factor * kernel).real.sum()), float((factor * (kernel - plan.tau**2)).real.sum()), float(noise.sum())


def _tail_bound(region: Region, n: int, plan: saddle.ContourPlan) -> float:
    """Bound on both sums over a whole far region, by an integral from the node before it."""
    if region.first <= 1:
        return math.inf
    start = plan.step * (region.first - 1)
    largest = float(region.ceiling(np.full(1, start))[0]) ** n
    return largest * (1 / start + plan.tau * math.sqrt(math.pi / 2)) / plan.step


def _chunks(starts: Indices, stops: Indices) -> Iterator[Indices]:
    """Node indices of some intervals, in arrays of bounded length."""
    sizes = stops - starts
    ends = np.cumsum(sizes)
    for first in range(0, int(ends[-1]) if len(ends) else 0, CHUNK):
        flat = np.arange(first, min(first + CHUNK, int(ends[-1])))
        stretch = np.searchsorted(ends, flat, side="right")
        yield starts[stretch] + (flat - (ends[stretch] - sizes[stretch]))


def _truncation(plan: saddle.ContourPlan) -> float:
    """Bound on both sums beyond the last node, relative to the value at t = 0."""
    if plan.lattice is not None:
        return 0.0
    decay = math.exp(-((plan.tau * plan.end) ** 2) / 2) / (plan.tau**2 * plan.end)
    return (plan.end**-2 + plan.tau**2) * decay / math.pi


def _aliasing(near: saddle.Tilt, tilt: saddle.Tilt, n: int, plan: saddle.ContourPlan) -> float:
    """Bound on the alias terms, relative to the value at t = 0.

    Under the tilted law Q of Y = S + Z the term of index m is E_Q[exp(-c y) y_+] at y = Y + m X. For m > 0 it is at
    most (m X/2) exp(-c m X/2) where Y > -m X/2, and at most 1/(c e) elsewhere; for m < 0 at most Q(Y > |m| X)/(c e).
    Chernoff's bound holds with any larger moment generating function (``tilt``) in it, and the smaller M(c) (``near``)
    below it.
    """
    tilted = tilt.at(plan.c)
    excess = n * (tilted.cumulant - near.at(plan.c).cumulant)
    c, reach = plan.c, 2 * math.pi / plan.step
    q = math.exp(-c * reach / 2)
    series = reach / 2 * q / (1 - q) ** 2
    tails, slopes = 0.0, saddle.tail_slopes(tilt, n, c, plan.tau, reach / 2)
    for sign, distance in ((-1, reach / 2), (1, reach)):
        best = math.inf
        for slope in slopes:  # any slope gives a bound; the nearer distance has the larger tail
            exponent = saddle.tail_exponent(tilt, n, c, plan.tau, distance, sign * slope) - excess
            exponent -= 24 * UNIT * (n * (tilt.at(c + sign * slope).noise + tilted.noise) + slope * distance)
            ratio = math.exp(-slope * distance)
            best = min(best, math.exp(-exponent) / (1 - ratio) if exponent > -700 and ratio < 1 else math.inf)
        tails += best
    return series + tails / (c * math.e)
