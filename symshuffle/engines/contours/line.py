"""The integrand of a contour on its line, in balls: waves of atoms and Gauss nodes, and bounds on what is left out.

Evidence: *proved*, in balls.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

import flint

from symshuffle.base.errors import NotDecided
from symshuffle.base.numbers import ball_arguments, to_arb
from symshuffle.channels.law import Law
from symshuffle.channels.mixed_law import MixedLaw
from symshuffle.engines.contours import saddle
from symshuffle.engines.contours.segments import Segments, dyadic

AS_MANY_AS: Final = 16
"""Atoms that cost as much as the continuous part of a law."""

_OVERHEAD: Final = 8
"""Atoms that cost as much as everything else at a node."""

_TURNS: Final = 16
"""Nodes after which waves are evaluated anew: a turn widens their balls by up to half a bit."""


def turned(angle: flint.arb) -> flint.acb:
    """``exp(i angle)``."""
    sine, cosine = angle.sin_cos()
    return flint.acb(cosine, sine)


@final
@dataclass(frozen=True, slots=True)
class ContourLine:
    """The integrand on the line Re s = c, in balls; M(c)^n exp(tau^2 c^2/2) is taken out as ``exp(log_scale)``."""

    n: int
    plan: saddle.ContourPlan
    c: flint.arb
    tau: flint.arb
    step: flint.arb
    values: tuple[flint.arb, ...]
    weights: tuple[flint.arb, ...]
    tilted: tuple[flint.arb, ...]
    total: flint.arb
    log_scale: flint.arb
    zero: flint.arb
    rule: Segments | None
    error: flint.arb

    @classmethod
    def of(cls, law: Law | MixedLaw, n: int, plan: saddle.ContourPlan, rtol: float) -> ContourLine:
        """The line of a plan whose bracket is to be about ``rtol`` wide."""
        c, tau = dyadic(plan.c), dyadic(plan.tau)
        rule, atoms = None, law
        if isinstance(law, MixedLaw):
            rule = Segments.of(law, n, plan, rtol)
            atoms = law.near(rule.order, flint.ctx.prec)
        values, weights = ball_arguments(atoms.values), ball_arguments(atoms.weights)
        grown = [w * (c * v).exp() for v, w in zip(values, weights, strict=True)]
        total = sum(grown, start=flint.arb(0))
        step = dyadic(plan.step)
        if plan.lattice is not None:
            step = flint.arb.pi() / to_arb(plan.lattice * plan.nodes)
        zero = sum((to_arb(w) for v, w in law.atoms() if isinstance(v, Fraction) and v == 0), start=flint.arb(0))
        log_scale = n * total.log() + (tau * c) ** 2 / 2
        tilted = tuple(g / total for g in grown)
        error = flint.arb(0) if rule is None else rule.error(c) / total
        return cls(
            n, plan, c, tau, step, tuple(values), tuple(weights), tilted, total, log_scale, zero, rule, error.upper()
        )

    @property
    def waves(self) -> int:
        """What one node costs, in atoms."""
        transforms = 0 if self.rule is None else len(self.rule.transforms)
        return max(len(self.values), AS_MANY_AS * transforms) + _OVERHEAD

    def cumulant(self, s: flint.arb) -> flint.arb:
        """``log E exp(s G)``, or a number above it."""
        atoms = zip(self.values, self.weights, strict=True) if self.rule is None else self.rule.above
        return sum((w * (s * v).exp() for v, w in atoms), start=flint.arb(0)).log()

    def ratio(self, index: int) -> flint.acb:
        """``M(c + it)/M(c)`` at a node, M(c) being the sum over atoms and Gauss nodes."""
        return next(self.ratios(index, index + 1))

    def sums(self, start: int, stop: int) -> tuple[flint.arb, flint.arb]:
        """Sums over successive nodes for U, and of the integrand without a kernel, before the factor step/pi."""
        smooth, half = self.tau * self.tau, None if self.plan.lattice is None else to_arb(self.plan.lattice / 2)
        with_kernel = without = flint.arb(0)
        for index, ratio in zip(range(start, stop), self.ratios(start, stop), strict=True):
            t = self.step * index
            s = flint.acb(self.c, t)
            factor = ratio**self.n
            if index == 0 or (half is not None and index == self.plan.nodes):
                factor /= 2  # an end of the sum
            if half is None:
                factor *= flint.acb(-(smooth * t * t) / 2, smooth * self.c * t).exp()
                with_kernel += (factor / (s * s)).real
                without += factor.real
            else:
                with_kernel += (factor * (half / (s * half).sinh()) ** 2).real
        return with_kernel, without

    def ratios(self, start: int, stop: int) -> Iterator[flint.acb]:
        """The same at successive nodes, on one side of the rule's end: from each to the next every wave turns."""
        error = flint.acb(flint.arb(0, self.error), flint.arb(0, self.error))
        far = self.rule is not None and start > self.rule.last
        used = self.rule.atoms if self.rule is not None and far else len(self.values)
        values, weights = self.values[:used], self.tilted[:used]
        turns = [turned(self.step * value) for value in values]
        for first in range(start, stop, _TURNS):
            t = self.step * first
            waves = [turned(t * value) * weight for value, weight in zip(values, weights, strict=True)]
            for index in range(first, min(first + _TURNS, stop)):
                if index > first:
                    waves = [wave * turn for wave, turn in zip(waves, turns, strict=True)]
                ratio = sum(waves, start=error)
                if self.rule is not None and far:
                    s = flint.acb(self.c, self.step * index)
                    ratio += sum((f(s) for f in self.rule.transforms), start=flint.acb(0)) / self.total
                yield ratio

    def silence(self, spread: float, rtol: float) -> float:
        """Exponent below which a stretch may be bounded instead of evaluated."""
        return saddle.QUIET - math.log(rtol) + math.log1p(self.plan.end * spread) + 6

    def truncation(self) -> flint.arb:
        """Bound on both sums beyond the last node."""
        if self.plan.lattice is not None:
            return flint.arb(0)
        end = self.step * self.plan.nodes
        decay = (-((self.tau * end) ** 2) / 2).exp() / (self.tau**2 * end)
        return (1 / end**2 + self.tau**2) * decay / flint.arb.pi() * (1 + self.error) ** self.n

    def far(self, index: int) -> flint.arb:
        """Bound on the size of the ratio from a node on: the atoms in phase, the segments by parts."""
        assert self.rule is not None
        atoms = sum(self.tilted[: self.rule.atoms], start=flint.arb(0))
        return (atoms + self.rule.decay(self.c) / (self.step * index * self.total)).upper()

    def fading(self, index: int) -> flint.arb:
        """Logarithm of what kernel and smoothing leave from a node on, relative to the most they are at t = 0."""
        t = self.step * index
        smooth = self.tau**2
        return ((1 / t**2 + smooth) / (1 / self.c**2 + smooth)).log() - smooth * t**2 / 2

    def beyond(self, index: int) -> flint.arb:
        """Bound on both sums over all nodes after this one, by an integral from it."""
        start = self.step * index
        return self.far(index) ** self.n * (1 / start + self.tau * (flint.arb.pi() / 2).sqrt()) / flint.arb.pi()

    def deviation(self, middle: flint.arb) -> flint.arb:
        """Bound on the tilted mean of ``|G - middle|``: the root of the square's, ``x^2 <= 2 (cosh(hx) - 1)/h^2``."""
        h = 1 / (4 * max(abs(value) for value in self.values).upper())
        around = self.total.log()
        both = (self.cumulant(self.c + sign * h) - around - sign * h * middle for sign in (1, -1))
        square = sum((growth.exp() for growth in both), start=flint.arb(0)) - 2 * (1 - self.error)
        return ((1 + self.error) * square.upper() / h**2).sqrt().upper()

    def stuck(self) -> flint.arb:
        """What the smoothing adds where every copy of G is exactly zero."""
        if self.plan.lattice is not None or not self.zero > 0:
            return flint.arb(0)
        return self.tau / (2 * flint.arb.pi()).sqrt() * (self.n * self.zero.log() - self.log_scale).exp()

    def aliasing(self, tilt: saddle.Tilt) -> flint.arb:
        """Bound on the alias terms, as in the engine in doubles."""
        reach = 2 * flint.arb.pi() / self.step
        q = (-self.c * reach / 2).exp()
        bound = reach / 2 * q / (1 - q) ** 2
        around = self.total.log()
        for sign, distance in ((-1, reach / 2), (1, reach)):
            best: flint.arb | None = None
            for slope in saddle.tail_slopes(tilt, self.n, self.plan.c, self.plan.tau, float(distance.mid())):
                theta = dyadic(sign * slope)
                growth = self.n * (self.cumulant(self.c + theta) - around)
                growth += ((self.c + theta) ** 2 - self.c**2) * self.tau**2 / 2
                tail = (growth - abs(theta) * distance).exp() / (1 - (-abs(theta) * distance).exp())
                if tail.is_finite() and (best is None or tail.upper() < best):
                    best = tail.upper()
            if best is None:
                raise NotDecided("no slope of Chernoff's bound could be evaluated; raise bits")
            bound += best / (self.c * flint.arb(1).exp())
        return bound * (1 + self.error) ** self.n
