"""The contour sum in ball arithmetic: both ends of the bracket are theorems.

The sum and its error terms are those of :mod:`symshuffle.accountants.contour`, but every number here is a ball: the
constants are dyadic rationals read off the plan, the loud nodes are evaluated as complex balls, and a stretch counts
as silent only if the ball of the characteristic function over the whole stretch is small. Doubles enter as choices
(which constants, which slope in Chernoff's bound), never as evidence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

import flint

from symshuffle.accountants import saddle
from symshuffle.errors import InputError, NotDecided, Unsupported
from symshuffle.law import Law
from symshuffle.numbers import Ball, ball_arguments, lower_end, to_arb, upper_end, working_precision
from symshuffle.results import Bracket, Rigour

_SHORT: Final = 8
_COARSE: Final = 0.3
_STRETCH_BITS: Final = 53
_WORTH_IT: Final = 200_000
"""Evaluations beyond which no finer pass follows: the width reached is returned, whatever was aimed at."""


@final
@dataclass(frozen=True, slots=True)
class BallContour:
    """Contour integral in ball arithmetic.

    Parameters
    ----------
    rel : float
        Relative width to aim at, in (0, 1).
    bits : int
        Working precision; the atoms should be known to at least as many bits.
    largest : int
        Most stretches and nodes to evaluate.
    """

    rel: float = 1e-10
    bits: int = 192
    largest: int = 3_000_000

    def __post_init__(self) -> None:
        if not 0 < self.rel < 1:
            raise InputError("rel", self.rel, "a relative width in (0, 1)")

    @property
    def name(self) -> str:
        """Name of the engine."""
        return "contour"

    def refusal(self, law: Law, n: int) -> str | None:
        """Why this engine cannot answer, or None if it can (a width out of reach shows only on the way)."""
        return None if law.enclosed else "a law of doubles encloses nothing"

    def bracket(self, law: Law, n: int) -> Bracket:
        """A certified bracket around H(n).

        Raises
        ------
        Unsupported
            If the law consists of doubles, or the width asked for is out of reach.
        NotDecided
            If the balls of the atoms are too wide for the precision.
        """
        reason = self.refusal(law, n)
        if reason is not None:
            raise Unsupported(f"engine contour in balls: {reason}")
        tilt = saddle.tilt(law)
        if all(upper_end(value) <= 0 for value in law.values):
            ends = lower_end(law.singular), upper_end(law.singular)
            return Bracket(*ends, Rigour.BALL, self.name, "G is never positive")
        for rel in saddle.widths(self.rel):
            bracket, evaluated = self._attempt(law, n, tilt, rel)
            if bracket.width <= Fraction(self.rel) * bracket.upper or evaluated > _WORTH_IT:
                break
        return bracket

    def _attempt(self, law: Law, n: int, tilt: saddle.Tilt, rel: float) -> tuple[Bracket, int]:
        """One pass with constants chosen for the relative width ``rel``, and how many evaluations it took."""
        plan = saddle.choose(tilt, n, rel=rel, lattice=law.lattice)
        with working_precision(self.bits + max(n.bit_length(), 8)):
            line = _Line.of(law, n, plan)
            upper, lower, nodes, stretches = _sums(line, tilt, self.largest, rel)
            upper, lower = upper + line.truncation(), lower - line.truncation() - line.aliasing(tilt)
            scale = line.log_scale.exp() / n
            high = Ball.from_arb((upper - line.stuck()) * scale + to_arb(law.singular)).upper
            low = Ball.from_arb(lower * scale + to_arb(law.singular)).lower
        # H is never below E[G] nor below 0, beyond its singular part: both are bounds in their own right.
        floor = max(Fraction(0), lower_end(law.mean)) + lower_end(law.singular)
        how = (
            f"contour in balls of {self.bits} bits at c = {plan.c:.4g}, {saddle.describe(plan)}, {nodes} nodes "
            f"evaluated, {stretches} stretches of the other {plan.nodes + 1 - nodes} bounded"
        )
        return Bracket(max(low, floor), high, Rigour.BALL, self.name, how), nodes + stretches


def _dyadic(value: float) -> flint.arb:
    exact = Fraction(value)
    return flint.arb(flint.fmpq(exact.numerator, exact.denominator))


@final
@dataclass(frozen=True, slots=True)
class _Line:
    """The integrand on the line Re s = c, in balls; M(c)^n exp(tau^2 c^2/2) is taken out as ``exp(log_scale)``."""

    n: int
    plan: saddle.Plan
    c: flint.arb
    tau: flint.arb
    step: flint.arb
    values: tuple[flint.arb, ...]
    weights: tuple[flint.arb, ...]
    tilted: tuple[flint.arb, ...]
    log_scale: flint.arb
    zero: flint.arb

    @classmethod
    def of(cls, law: Law, n: int, plan: saddle.Plan) -> _Line:
        values, weights = ball_arguments(law.values), ball_arguments(law.weights)
        c, tau = _dyadic(plan.c), _dyadic(plan.tau)
        grown = [w * (c * v).exp() for v, w in zip(values, weights, strict=True)]
        total = sum(grown, start=flint.arb(0))
        step = _dyadic(plan.step)
        if plan.lattice is not None:
            step = flint.arb.pi() / to_arb(plan.lattice * plan.nodes)
        zero = sum((to_arb(w) for v, w in law.atoms() if isinstance(v, Fraction) and v == 0), start=flint.arb(0))
        log_scale = n * total.log() + (tau * c) ** 2 / 2
        tilted = tuple(g / total for g in grown)
        return cls(n, plan, c, tau, step, tuple(values), tuple(weights), tilted, log_scale, zero)

    def cumulant(self, s: flint.arb) -> flint.arb:
        """``log E exp(s G)``."""
        terms = (w * (s * v).exp() for v, w in zip(self.values, self.weights, strict=True))
        return sum(terms, start=flint.arb(0)).log()

    def node(self, index: int) -> tuple[flint.arb, flint.arb]:
        """Contributions of one node to the sums for U and L, before the factor step/pi."""
        t = self.step * index
        ratio = flint.acb(0)
        for value, weight in zip(self.values, self.tilted, strict=True):
            sine, cosine = (t * value).sin_cos()
            ratio += flint.acb(cosine * weight, sine * weight)
        s = flint.acb(self.c, t)
        smooth = self.tau * self.tau
        factor = ratio**self.n
        if self.plan.lattice is None:
            factor *= flint.acb(-(smooth * t * t) / 2, smooth * self.c * t).exp()
            kernel = 1 / (s * s)
        else:
            half = to_arb(self.plan.lattice / 2)
            kernel = (half / (s * half).sinh()) ** 2
        alone = index == 0 or (self.plan.lattice is not None and index == self.plan.nodes)
        end_weight = flint.arb(0.5) if alone else flint.arb(1)
        return (factor * kernel).real * end_weight, (factor * (kernel - smooth)).real * end_weight

    def silence(self, spread: float, rel: float) -> float:
        """Exponent below which a stretch may be bounded instead of evaluated."""
        return saddle.QUIET - math.log(rel) + math.log1p(self.plan.end * spread) + 6

    def truncation(self) -> flint.arb:
        """Bound on both sums beyond the last node."""
        if self.plan.lattice is not None:
            return flint.arb(0)
        end = self.step * self.plan.nodes
        decay = (-((self.tau * end) ** 2) / 2).exp() / (self.tau**2 * end)
        return (1 / end**2 + self.tau**2) * decay / flint.arb.pi()

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
        around = self.cumulant(self.c)
        for sign, distance in ((-1, reach / 2), (1, reach)):
            best: flint.arb | None = None
            for slope in saddle.tail_slopes(tilt, self.n, self.plan.c, self.plan.tau, float(distance.mid())):
                theta = _dyadic(sign * slope)
                growth = self.n * (self.cumulant(self.c + theta) - around)
                growth += ((self.c + theta) ** 2 - self.c**2) * self.tau**2 / 2
                tail = (growth - abs(theta) * distance).exp() / (1 - (-abs(theta) * distance).exp())
                if tail.is_finite() and (best is None or tail.upper() < best):
                    best = tail.upper()
            if best is None:
                raise NotDecided("no slope of Chernoff's bound could be evaluated; raise bits")
            bound += best / (self.c * flint.arb(1).exp())
        return bound


def _sums(line: _Line, tilt: saddle.Tilt, largest: int, rel: float) -> tuple[flint.arb, flint.arb, int, int]:
    """Upper end of the sum for U, lower end of the sum for L, and how many nodes and stretches that took."""
    upper = lower = flint.arb(0)
    threshold = line.silence(math.sqrt(line.n * tilt.curvature(line.plan.c)), rel)
    loud, stretches = _stretches(line, tilt, threshold, largest)
    nodes = 0
    for start, stop in loud:
        for index in range(start, stop):
            to_upper, to_lower = line.node(index)
            upper, lower, nodes = upper + to_upper, lower + to_lower, nodes + 1
    silent = line.plan.nodes + 1 - nodes
    # On the line no kernel is larger than at t = 0: |sinh(a + ib)| >= sinh(a), and sinh(a) >= a.
    rest = silent * _dyadic(-threshold).exp() * (1 / line.c**2 + line.tau**2)
    weight = line.step / flint.arb.pi()
    return (upper + rest) * weight, (lower - rest) * weight, nodes, stretches


def _stretches(line: _Line, tilt: saddle.Tilt, threshold: float, largest: int) -> tuple[list[tuple[int, int]], int]:
    """Short stretches of nodes to evaluate, and how many stretches were found silent by a ball over the whole of each.

    Raises
    ------
    Unsupported
        If that takes more than ``largest`` stretches.
    """
    plan, n = line.plan, line.n
    tilted = tilt.tilted(plan.c)
    centre = float(tilted @ tilt.values)
    slope = float(tilted @ abs(tilt.values - centre))
    width = max(1, math.ceil(_COARSE / max(slope * plan.step, _COARSE / (plan.nodes + 1))))
    last = plan.nodes + 1
    if last // width > largest:
        raise Unsupported(f"engine contour in balls at n = {n}: over {largest} stretches for this width")
    stack = [(start, min(start + width, last)) for start in range(0, last, width)][::-1]
    middle = _dyadic(centre)
    loud: list[tuple[int, int]] = []
    silent = 0
    with working_precision(_STRETCH_BITS):
        # The common phase exp(-i t centre) leaves the size alone and keeps the balls narrow.
        atoms = [(value - middle, weight) for value, weight in zip(line.values, line.tilted, strict=True)]
        quiet = (_dyadic(-threshold) / n).exp()
        while stack:
            start, stop = stack.pop()
            t = (line.step * start).union(line.step * (stop - 1))
            real = imaginary = flint.arb(0)
            for value, weight in atoms:
                sine, cosine = (t * value).sin_cos()
                real += weight * cosine
                imaginary += weight * sine
            if flint.acb(real, imaginary).abs_upper() < quiet:
                silent += 1
            elif stop - start <= _SHORT:
                loud.append((start, stop))
            else:
                halfway = (start + stop) // 2
                stack += [(halfway, stop), (start, halfway)]
            if silent + len(stack) + len(loud) * _SHORT > largest:
                raise Unsupported(f"engine contour in balls at n = {n}: over {largest} evaluations for this width")
    return loud, silent
