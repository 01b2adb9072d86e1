"""The integrand of a contour on its line, in balls: waves of atoms and Gauss nodes, and bounds on what is left out.

The segments of a mixed law are Gauss nodes up to the node ``last`` of the line and transforms beyond it; bounds are
those of :mod:`symshuffle.channels.mixed_law`. Where the moment generating function is needed on the real line, an upper
bound will do: a finite law above, in convex order, gives one.

Evidence: *proved*, in balls.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, final

import flint

from symshuffle.base.errors import NotDecided
from symshuffle.base.numbers import ball_arguments, to_arb
from symshuffle.channels.law import Law
from symshuffle.engines.contours import saddle
from symshuffle.engines.contours.characteristic import AS_MANY_AS, GAUSS_SHARE, UPPER_CELLS

if TYPE_CHECKING:
    from symshuffle.channels.mixed_law import MixedLaw, SegmentNumbers


def _grown(atoms: Iterable[tuple[flint.arb, flint.arb]], s: flint.arb) -> list[flint.arb]:
    """The terms of ``E exp(s G)``, one for each atom, a value and its weight."""
    return [weight * (s * value).exp() for value, weight in atoms]


@final
@dataclass(frozen=True, slots=True)
class ContourLine:
    """The integrand on the line Re s = c, in balls; M(c)^n exp(tau^2 c^2/2) is taken out as ``exp(log_scale)``.

    - ``values``, ``weights``: the atoms, ``num_atoms`` of them, and the Gauss nodes, shape ``(m,)`` each.
    - ``error``: bound on the error of the Gauss nodes up to the node ``last``, relative to M(c).
    - ``segments``: the segments of the law, of which the transforms are taken after that node.
    - ``cost``: what one node costs, in atoms; all but the atoms costs as much as 8.
    - ``above``: atoms whose moment generating function is not below that of the law; for a finite law the same atoms.
    """

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
    error: flint.arb
    last: int
    num_atoms: int
    segments: tuple[SegmentNumbers, ...]
    above: tuple[tuple[flint.arb, flint.arb], ...]
    cost: int

    @classmethod
    def of(cls, law: Law | MixedLaw, n: int, plan: saddle.ContourPlan, rtol: float) -> ContourLine:
        """The line of a plan whose bracket is to be about ``rtol`` wide."""
        c, tau = flint.arb(plan.c), flint.arb(plan.tau)
        segments: tuple[SegmentNumbers, ...] = ()
        atoms, last, error, upper = law, plan.nodes, flint.arb(0), law
        if not isinstance(law, Law):
            from symshuffle.channels.mixed_law import quadrature_error

            order, height = law.rule(plan.c, end=plan.end, tolerance=GAUSS_SHARE * rtol / n)
            last, segments = min(math.floor(height / plan.step), plan.nodes), tuple(s.numbers for s in law.segments)
            error = sum((quadrature_error(s, order, c, flint.arb(height)) for s in segments), start=error)
            atoms, upper = law.near(order, flint.ctx.prec), law.finite("upper", UPPER_CELLS, flint.ctx.prec)
        values, weights = ball_arguments(atoms.values), ball_arguments(atoms.weights)
        terms = tuple(zip(values, weights, strict=True))
        above = terms
        if upper is not atoms:
            above = tuple(zip(ball_arguments(upper.values), ball_arguments(upper.weights), strict=True))
        grown = _grown(terms, c)
        total, zero = sum(grown, start=flint.arb(0)), flint.arb(0)
        step = flint.arb(plan.step) if plan.lattice is None else flint.arb.pi() / to_arb(plan.lattice * plan.nodes)
        for value, weight in zip(law.values, weights, strict=False):  # Gauss nodes come last
            zero += weight if isinstance(value, Fraction) and value == 0 else 0
        log_scale = n * total.log() + (tau * c) ** 2 / 2
        numbers = tuple(values), tuple(weights), tuple([g / total for g in grown]), total, log_scale, zero
        taken = max(len(values), AS_MANY_AS * len(segments)) + 8
        ends = (error / total).upper(), last, len(law.values), segments, above, taken
        return cls(n, plan, c, tau, step, *numbers, *ends)

    def cumulant(self, s: flint.arb) -> flint.arb:
        """``log E exp(s G)``, or a number above it."""
        return sum(_grown(self.above, s), start=flint.arb(0)).log()

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

    def ratios(self, start: int, stop: int, *, refresh: int = 16) -> Iterator[flint.acb]:
        """The same at successive nodes, on one side of ``last``: from each to the next every wave turns.

        - ``refresh``: nodes after which waves are evaluated anew: a turn widens their balls by up to half a bit.
        """
        error = flint.acb(flint.arb(0, self.error), flint.arb(0, self.error))
        far = start > self.last
        used = self.num_atoms if far else len(self.values)
        values, weights = self.values[:used], self.tilted[:used]
        turns = [flint.acb(0, self.step * value).exp() for value in values]
        for first in range(start, stop, refresh):
            t = self.step * first
            waves = [flint.acb(0, t * value).exp() * weight for value, weight in zip(values, weights, strict=True)]
            for index in range(first, min(first + refresh, stop)):
                if index > first:
                    waves = [wave * turn for wave, turn in zip(waves, turns, strict=True)]
                ratio = sum(waves, start=error)
                if far:
                    from symshuffle.channels.mixed_law import segment_transform

                    s = flint.acb(self.c, self.step * index)
                    ratio += sum((segment_transform(f, s) for f in self.segments), start=flint.acb(0)) / self.total
                yield ratio

    def truncation(self) -> flint.arb:
        """Bound on both sums beyond the last node."""
        if self.plan.lattice is not None:
            return flint.arb(0)
        end = self.step * self.plan.nodes
        decay = (-((self.tau * end) ** 2) / 2).exp() / (self.tau**2 * end)
        return (1 / end**2 + self.tau**2) * decay / flint.arb.pi() * (1 + self.error) ** self.n

    def decay_bound(self, index: int) -> flint.arb:
        """Bound on the size of the ratio from a node on: the atoms in phase, the segments by parts."""
        from symshuffle.channels.mixed_law import segment_decay

        atoms = sum(self.tilted[: self.num_atoms], start=flint.arb(0))
        decay = sum((segment_decay(segment, self.c) for segment in self.segments), start=flint.arb(0))
        return (atoms + decay / (self.step * index * self.total)).upper()

    def log_kernel_decay(self, index: int) -> flint.arb:
        """Logarithm of what kernel and smoothing leave from a node on, relative to the most they are at t = 0."""
        t = self.step * index
        smooth = self.tau**2
        return ((1 / t**2 + smooth) / (1 / self.c**2 + smooth)).log() - smooth * t**2 / 2

    def tail_bound(self, index: int) -> flint.arb:
        """Bound on both sums over all nodes after this one, by an integral from it."""
        start = self.step * index
        return self.decay_bound(index) ** self.n * (1 / start + self.tau * (flint.arb.pi() / 2).sqrt()) / flint.arb.pi()

    def deviation(self, middle: flint.arb) -> flint.arb:
        """Bound on the tilted mean of ``|G - middle|``: the root of the square's, ``x^2 <= 2 (cosh(hx) - 1)/h^2``."""
        h = 1 / (4 * max(abs(value) for value in self.values).upper())
        around = self.total.log()
        both = (self.cumulant(self.c + sign * h) - around - sign * h * middle for sign in (1, -1))
        square = sum((growth.exp() for growth in both), start=flint.arb(0)) - 2 * (1 - self.error)
        return ((1 + self.error) * square.upper() / h**2).sqrt().upper()

    def smoothing_at_zero(self) -> flint.arb:
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
                theta = flint.arb(sign * slope)
                growth = self.n * (self.cumulant(self.c + theta) - around)
                growth += ((self.c + theta) ** 2 - self.c**2) * self.tau**2 / 2
                tail = (growth - abs(theta) * distance).exp() / (1 - (-abs(theta) * distance).exp())
                if tail.is_finite() and (best is None or tail.upper() < best):
                    best = tail.upper()
            if best is None:
                raise NotDecided("no slope of Chernoff's bound could be evaluated; raise bits")
            bound += best / (self.c * flint.arb(1).exp())
        return bound * (1 + self.error) ** self.n
