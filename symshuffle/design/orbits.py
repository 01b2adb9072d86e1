r"""Mixtures of orbit laws in short, and lines above all templates: the two halves of a frontier certificate.

The upper half rests on a reduction. Take a line :math:`\eta B+c` and maximise :math:`S-\eta B` over the templates whose
ratios are at most :math:`\lambda`. Scaled to :math:`[1,\lambda]^k`, with :math:`P,Q,R` the sums of the coordinates,
their squares and their reciprocals, :math:`S=k^2Q/P^2-k` and :math:`B=(QR/P-k)/(k-1)`; the derivative in coordinate
:math:`v` is :math:`g(v)/v^2` for one cubic

.. math:: g(v)=Av^3+bv^2+D,\qquad A=\frac{2k^2}{P^2}-\frac{2eR}P,\quad D=\frac{eQ}P>0,\quad e=\frac\eta{k-1}.

A maximiser has :math:`g\le0` at the lower end and :math:`g\ge0` at the upper end. The cubic has no linear term, so it
has at most two positive roots, it is positive before them and, if there are two, negative between them: a coordinate
strictly between the ends sits at the second root, and two of them there could be pulled apart with gain, since that
needs :math:`A>2D/v^3`, which is :math:`g'(v)>0`. So **at most one coordinate is strictly between the ends**, and a
line is above all templates if it is above ``k - 1`` curves in one variable: finitely many polynomials over Q, whose
signs are decided exactly. Without a cap only the singleton curve is left (claim
``symshuffle.anchored-joint-frontier``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import sympy as sp

from symshuffle.anchored.law import (
    AnchoredLaw,
    check_template,
    mix,
    orbit_law,
    template_budget,
    template_signal,
)
from symshuffle.anchored.linear import Vector, row_dependence
from symshuffle.errors import InputError, Unsupported
from symshuffle.estimation.canonical import Population, isotropic_risk
from symshuffle.mechanisms.symbolic import constant_of
from symshuffle.results import Bracket

LARGEST_LAW: Final = 12
"""Inputs beyond which a law is given by its orbits and not by all its atoms."""

_RATIO: Final = sp.Symbol("t")


@final
@dataclass(frozen=True, slots=True)
class Orbit:
    """The exchangeable law of one template, in short, with its share of a mixture.

    Parameters
    ----------
    weight : Fraction
        Share of the mixture.
    levels : tuple of (int, Fraction)
        How many coordinates of the template have which value; the counts sum to the number of inputs.
    """

    weight: Fraction
    levels: tuple[tuple[int, Fraction], ...]

    @property
    def signal(self) -> Fraction:
        """Trace of the orbit law."""
        return sum((count * (value - 1) ** 2 for count, value in self.levels), start=Fraction(0))

    @property
    def budget(self) -> Fraction | float:
        """Pairwise chi-square divergence of the orbit law; infinite if a level is 0."""
        if any(value == 0 for _, value in self.levels):
            return math.inf
        k = sum(count for count, _ in self.levels)
        squares = sum((count * value**2 for count, value in self.levels), start=Fraction(0))
        reciprocals = sum((count / value for count, value in self.levels), start=Fraction(0))
        return (squares * reciprocals - k * k) / (k * (k - 1))

    @property
    def ratio(self) -> Fraction | float:
        """Largest ratio of two levels."""
        values = [value for _, value in self.levels]
        return max(values) / min(values) if min(values) else math.inf

    def template(self) -> Vector:
        """One template of the orbit, highest level first."""
        return tuple(value for count, value in sorted(self.levels, key=lambda level: -level[1]) for _ in range(count))


def subset_orbit(k: int, s: int, lam: Fraction, weight: Fraction = Fraction(1)) -> Orbit:
    """The orbit of the template with ``s`` coordinates ``lam`` times as high as the others."""
    low = k / (s * lam + k - s)
    return Orbit(weight, ((s, lam * low), (k - s, low)))


def centre_orbit(k: int, weight: Fraction = Fraction(1)) -> Orbit:
    """The orbit of the template 1: an output that says nothing."""
    return Orbit(weight, ((k, Fraction(1)),))


@final
@dataclass(frozen=True, slots=True)
class DualCertificate:
    r"""A line above all templates: :math:`S\le\eta B+c` for every template of ratio at most ``lam_cap``.

    Parameters
    ----------
    k : int
        Number of inputs.
    eta, intercept : Fraction
        The line, both at least 0.
    lam_cap : Fraction or None
        Largest ratio of two coordinates; None for no cap.
    """

    k: int
    eta: Fraction
    intercept: Fraction
    lam_cap: Fraction | None = None

    def curves(self) -> Iterator[tuple[sp.Poly, Fraction | None]]:
        r"""Polynomials :math:`(\eta B+c-S)\,tP^2` in the one free ratio ``t``, to be at least 0 on ``[1, lam_cap]``."""
        cap = self.lam_cap
        for high in range(self.k - 1 if cap is not None else 1):
            yield self._curve(high, cap if cap is not None else Fraction(1)), cap

    def _curve(self, high: int, cap: Fraction) -> sp.Poly:
        """With ``high`` coordinates at the cap, one at ``t``, the others at 1."""
        k, top = sp.Integer(self.k), constant_of(cap)
        eta, intercept = constant_of(self.eta), constant_of(self.intercept)
        flat = self.k - 1 - high
        total = sp.Poly(_RATIO + flat + high * top, _RATIO)
        squares = sp.Poly(_RATIO**2 + flat + high * top**2, _RATIO)
        reciprocals = sp.Poly((flat + high / top) * _RATIO + 1, _RATIO)  # times t
        ratio = sp.Poly(_RATIO, _RATIO)
        square = total * total
        budget = (squares * reciprocals * total - ratio * square * k) * (1 / (k - 1))
        signal = ratio * squares * k**2 - ratio * square * k
        return budget * eta + ratio * square * intercept - signal

    def holds(self) -> bool:
        """Whether the line is above all templates, decided over Q."""
        if self.eta < 0 or self.intercept < 0:
            return False
        return all(_nonnegative(polynomial, cap) for polynomial, cap in self.curves())

    def bound(self, budget: Fraction | float) -> Fraction:
        """The largest trace at this budget that the line allows."""
        return self.intercept if self.eta == 0 else self.eta * Fraction(budget) + self.intercept

    def proves(self, budget: Fraction | float, trace: Fraction) -> bool:
        """Whether the line is valid and allows no more than this trace."""
        return self.holds() and self.bound(budget) <= trace


def _nonnegative(polynomial: sp.Poly, cap: Fraction | None) -> bool:
    """Whether a rational polynomial is at least 0 on [1, cap], or on [1, oo): only roots of odd multiplicity matter."""
    if polynomial.is_zero:
        return True
    low, high = sp.Integer(1), sp.oo if cap is None else constant_of(cap)
    for factor, power in polynomial.sqf_list()[1]:
        if power % 2:
            at_ends = sum(factor.eval(end) == 0 for end in {low, high} - {sp.oo})
            if factor.count_roots(low, high) > at_ends:
                return False
    probe: Any = low + 1 if cap is None else (low + high) / 2
    while polynomial.eval(probe) == 0:
        probe = (probe + low) / 2
    return bool(polynomial.eval(probe) > 0)


def attains(orbits: Sequence[Orbit], budget: Fraction | float, trace: Fraction) -> bool:
    """Whether a mixture of orbit laws is within the budget and has this trace."""
    weights = [orbit.weight for orbit in orbits]
    signal = sum((orbit.weight * orbit.signal for orbit in orbits), start=Fraction(0))
    spent = sum(orbit.weight * orbit.budget for orbit in orbits)
    return min(weights) > 0 and sum(weights) == 1 and signal == trace and spent <= budget


@final
@dataclass(frozen=True, slots=True)
class Frontier:
    """The best trace under a budget, with a law that attains the lower end and a certificate of the upper end.

    Parameters
    ----------
    k : int
        Number of inputs.
    budget : Fraction or inf
        Cap on all pairwise chi-square divergences.
    trace : Bracket
        Around the optimum; exact rationals at both ends.
    orbits : tuple of Orbit
        A mixture of orbit laws within both caps whose trace is the lower end.
    certificate : DualCertificate
        The line that proves the upper end.
    """

    k: int
    budget: Fraction | float
    trace: Bracket
    orbits: tuple[Orbit, ...]
    certificate: DualCertificate

    def verify(self) -> bool:
        """Check the law and the certificate in rational arithmetic, without any search."""
        cap = self.certificate.lam_cap
        allowed = cap is None or all(orbit.ratio <= cap for orbit in self.orbits)
        primal = allowed and attains(self.orbits, self.budget, self.trace.lower)
        return primal and self.certificate.proves(self.budget, self.trace.upper)

    def law(self) -> AnchoredLaw:
        """The law itself, atom by atom.

        Raises
        ------
        Unsupported
            For more than 12 inputs: orbits of subset templates grow like binomials; use ``orbits``.
        """
        if self.k > LARGEST_LAW:
            raise Unsupported(f"k = {self.k}: laws are written out up to k = {LARGEST_LAW}; `orbits` has them in short")
        return mix([orbit_law(orbit.template()) for orbit in self.orbits], [orbit.weight for orbit in self.orbits])

    def risk_constant(self, population: Population) -> Bracket:
        """``n`` times the smallest worst-case canonical risk under the budget (anchored, Theorem 7.6)."""
        if self.trace.lower == 0:
            raise InputError("budget", self.budget, "a number > 0 (at budget 0 the canonical risk is infinite)")
        ends = [isotropic_risk(self.k, value, population=population) for value in (self.trace.upper, self.trace.lower)]
        return Bracket(ends[0], ends[1], self.trace.rigour, "closed form", "from the trace, decreasing")


def slope_certificate(u: Sequence[Fraction]) -> tuple[Fraction, bool]:
    r"""An exact certificate of :math:`S(u)\le\kappa_kB(u)` for one template, although :math:`\kappa_k` is irrational.

    With :math:`m=k-1` the inequality is equivalent to :math:`x\ge\sqrt m` for :math:`x=\frac12(kmB/S-k)`, that is, to
    :math:`x>0` and :math:`x^2\ge m`.

    Returns
    -------
    margin : Fraction
        :math:`x^2-m`; zero exactly at the extremal template.
    holds : bool
        Whether :math:`x>0` and the margin is at least 0.

    Raises
    ------
    InputError
        For the template 1, where both sides are 0, and for a zero coordinate, where the budget is infinite.

    Notes
    -----
    anchored, Lemma 7.2.
    """
    check_template(u)
    signal, budget = template_signal(u), template_budget(u)
    if signal == 0 or not isinstance(budget, Fraction):
        raise InputError("template", tuple(map(str, u)), "a template other than 1 with positive coordinates")
    k = len(u)
    x = (k * (k - 1) * budget / signal - k) / 2
    margin = x * x - (k - 1)
    return margin, x > 0 and margin >= 0


def reduce_mixture(
    points: Sequence[tuple[Fraction, Fraction]], weights: Sequence[Fraction]
) -> tuple[tuple[int, Fraction], ...]:
    """Write a point of a planar convex hull with at most three of the points, by indices and weights.

    While more than three are left, an affine dependence is subtracted until a weight vanishes (anchored, Lemma 7.8).
    """
    if len(points) != len(weights) or not points:
        raise InputError("weights", f"{len(weights)} weights", f"one per point, of which there are {len(points)}")
    left = [(i, weight) for i, weight in enumerate(weights) if weight]
    while (relation := row_dependence([(Fraction(1), *points[i]) for i, _ in left])) is not None:
        step = min(weight / c for (_, weight), c in zip(left, relation, strict=True) if c > 0)
        shifted = ((i, weight - step * c) for (i, weight), c in zip(left, relation, strict=True))
        left = [(i, weight) for i, weight in shifted if weight]
    return tuple(left)
