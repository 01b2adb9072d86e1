"""The contour sum in ball arithmetic: both ends of the bracket are proved.

The sum and its error terms are those of :mod:`symshuffle.engines.contours.contour`, but every number here is a ball:
the constants are dyadic rationals read off the plan, the loud nodes are evaluated as complex balls, and a stretch
counts as silent only if the ball of the characteristic function over the whole stretch is small. Doubles enter as
choices (which constants, which slope in Chernoff's bound), never as evidence.

A continuous part of the law enters as Gauss nodes, with a ball for their error, up to some height of the line; beyond
it integration by parts bounds the rest at once, or, for few users, the transform is evaluated by special functions.

Evidence: *proved*, every term, given that FLINT's balls contain what they stand for. No assumption about NumPy and no
heuristic constant enters an end; a bad choice in doubles makes the bracket wide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, final

import flint

from symshuffle.base.choices import Rigour
from symshuffle.base.errors import NotDecided, Unsupported
from symshuffle.base.numbers import Ball, ball_arguments, lower_end, to_arb, upper_end, working_precision
from symshuffle.base.results import Bracket
from symshuffle.channels.law import Law
from symshuffle.channels.mixed_law import MixedLaw
from symshuffle.engines.contours import saddle
from symshuffle.engines.contours.segments import Segments, dyadic

_RESOLVED: Final = 1e-9
"""Relative width below which doubles are not trusted to reach what was asked: balls answer, or refuse."""

_AS_MANY_AS: Final = 16
"""Atoms that cost as much as the continuous part of a law."""

_OVERHEAD: Final = 8
"""Atoms that cost as much as everything else at a node."""

_SHORT: Final = 8
_COARSE: Final = 0.3
_STRETCH_BITS: Final = 53
_FAR_BITS: Final = 80
_SPARED: Final = 4.0
"""Exponent by which silent nodes beyond the Gauss rule stay below the width aimed at; each of them costs a lot."""

_ROUGH: Final = 40
"""Gauss nodes for the choice of constants."""

_WORTH_IT: Final = 3_000_000
"""Waves, one for each atom at each node or stretch, beyond which no finer pass follows, whatever was aimed at."""

_PRICIEST: Final = 30_000_000
"""Waves beyond which a pass is refused: about a minute."""


@final
@dataclass(frozen=True, slots=True)
class BallContour:
    """Engine that evaluates H(n) as a contour integral in ball arithmetic.

    Parameters
    ----------
    rel : float
        Relative width to aim at, in (0, 1).
    bits : int
        Working precision; the atoms should be known to at least as many bits.
    largest : int
        Limit on the number of intervals and quadrature nodes to evaluate.
    goal : Fraction, optional
        Number with which the value is compared: no finer pass follows a bracket that is far from it.
    """

    least: ClassVar[Rigour] = Rigour.BALL
    continuous: ClassVar[bool] = True

    rel: float = 1e-10
    bits: int = 192
    largest: int = 3_000_000
    goal: Fraction | None = None

    def __post_init__(self) -> None:
        saddle.check_aim(self.rel, self.goal)

    @classmethod
    def aiming(cls, rel: float, bits: int) -> BallContour:
        """Engine with default limits and a relative width; ``bits`` has no effect."""
        return cls(rel=rel)

    @classmethod
    def offered(cls, law: Law | MixedLaw, rigour: Rigour | None, rel: float) -> BallContour | None:
        """Engine for the automatic choice in balls or at narrow widths, otherwise None."""
        trusted = rigour is not Rigour.BALL and rel >= _RESOLVED
        return None if trusted or rigour is Rigour.EXACT else cls(rel=rel)

    @classmethod
    def trials(cls, law: Law | MixedLaw) -> tuple[BallContour, ...]:
        """Settings under which a bracket takes about a second, for tests."""
        most = 160_000 // (len(law.values) if isinstance(law, Law) else _AS_MANY_AS)
        return tuple(cls(rel=rel, largest=most) for rel in (1e-4, 1e-2))

    @property
    def name(self) -> str:
        """Name of the engine."""
        return "contour"

    def refusal(self, law: Law | MixedLaw, n: int) -> str | None:
        """Reason why this engine cannot answer, known before it starts, or None."""
        return None if law.enclosed else "a law of doubles encloses nothing"

    def bracket(self, law: Law | MixedLaw, n: int) -> Bracket:
        """A certified bracket around H(n).

        Raises
        ------
        Unsupported
            If the law consists of doubles, or the width asked for is out of reach.
        NotDecided
            If the balls of the atoms are too wide for the precision.
        """
        if (reason := self.refusal(law, n)) is not None:
            raise Unsupported(f"engine contour in balls: {reason}")
        tilt = saddle.tilt(law if isinstance(law, Law) else law.near(_ROUGH, _STRETCH_BITS))
        if law.never_positive:
            return Bracket(
                lower_end(law.singular), upper_end(law.singular), Rigour.BALL, self.name, "G is never positive"
            )
        return saddle.narrowed(lambda rel: self._attempt(law, n, tilt, rel), self.rel, most=_WORTH_IT, goal=self.goal)

    def _attempt(self, law: Law | MixedLaw, n: int, tilt: saddle.Tilt, rel: float) -> tuple[Bracket, int]:
        """One pass with constants chosen for the relative width ``rel``, and how many waves it took."""
        plan = saddle.choose(tilt, n, rel=rel, lattice=law.lattice)
        with working_precision(self.bits + max(n.bit_length(), 8)):
            line = _Line.of(law, n, plan, rel)
            largest = min(self.largest, _PRICIEST // line.waves)
            upper, lower, nodes, stretches = _sums(line, tilt, largest, rel)
            upper, lower = upper + line.truncation(), lower - line.truncation() - line.aliasing(tilt)
            scale = line.log_scale.exp() / n
            high = Ball.from_arb((upper - line.stuck()) * scale + to_arb(law.singular)).upper
            low = Ball.from_arb(lower * scale + to_arb(law.singular)).lower
        # H is never below E[G] nor below 0, beyond its singular part: both are bounds in their own right.
        floor = law.floor + lower_end(law.singular)
        how = (
            f"contour in balls of {self.bits} bits at c = {plan.c:.4g}, {saddle.describe(plan)}, {nodes} nodes "
            f"evaluated, {stretches} stretches of the other {plan.nodes + 1 - nodes} bounded"
        )
        return Bracket(max(low, floor), high, Rigour.BALL, self.name, how), (nodes + stretches) * line.waves


@final
@dataclass(frozen=True, slots=True)
class _Line:
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
    def of(cls, law: Law | MixedLaw, n: int, plan: saddle.ContourPlan, rel: float) -> _Line:
        c, tau = dyadic(plan.c), dyadic(plan.tau)
        rule, atoms = None, law
        if isinstance(law, MixedLaw):
            rule = Segments.of(law, n, plan, rel)
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
        return max(len(self.values), _AS_MANY_AS * transforms) + _OVERHEAD

    def cumulant(self, s: flint.arb) -> flint.arb:
        """``log E exp(s G)``, or a number above it."""
        atoms = zip(self.values, self.weights, strict=True) if self.rule is None else self.rule.above
        return sum((w * (s * v).exp() for v, w in atoms), start=flint.arb(0)).log()

    def ratio(self, index: int) -> flint.acb:
        """``M(c + it)/M(c)`` at a node, M(c) being the sum over atoms and Gauss nodes."""
        t = self.step * index
        far = self.rule is not None and index > self.rule.last
        ratio = flint.acb(flint.arb(0, self.error), flint.arb(0, self.error))
        stop = self.rule.atoms if self.rule is not None and far else len(self.values)
        for value, weight in zip(self.values[:stop], self.tilted[:stop], strict=True):
            sine, cosine = (t * value).sin_cos()
            ratio += flint.acb(cosine * weight, sine * weight)
        if self.rule is not None and far:
            ratio += sum((f(flint.acb(self.c, t)) for f in self.rule.transforms), start=flint.acb(0)) / self.total
        return ratio

    def node(self, index: int) -> tuple[flint.arb, flint.arb]:
        """Contributions of one node to the sums for U and L, before the factor step/pi."""
        t = self.step * index
        s = flint.acb(self.c, t)
        smooth = self.tau * self.tau
        factor = self.ratio(index) ** self.n
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


def _sums(line: _Line, tilt: saddle.Tilt, largest: int, rel: float) -> tuple[flint.arb, flint.arb, int, int]:
    """Upper end of the sum for U, lower end of the sum for L, and how many nodes and stretches that took."""
    threshold = line.silence(math.sqrt(line.n * tilt.curvature(line.plan.c)), rel)
    last = line.plan.nodes if line.rule is None else line.rule.last
    loud, stretches = _stretches(line, tilt, threshold, last + 1, largest)
    upper, lower, nodes = _evaluated(line, loud)
    # On the line no kernel is larger than at t = 0: |sinh(a + ib)| >= sinh(a), and sinh(a) >= a.
    each = dyadic(-threshold).exp() * (1 / line.c**2 + line.tau**2)
    weight = line.step / flint.arb.pi()
    rest = (last + 1 - nodes) * each * weight
    if last < line.plan.nodes:
        beyond = line.beyond(last)
        if not beyond < dyadic(rel / 1000) * abs(upper) * weight:
            threshold -= saddle.QUIET - _SPARED
            each *= dyadic(saddle.QUIET - _SPARED).exp()
            loud, more = _far_stretches(line, tilt, threshold, last + 1, largest)
            with working_precision(_FAR_BITS):
                to_upper, to_lower, evaluated = _evaluated(line, loud)
            upper, lower, nodes, stretches = upper + to_upper, lower + to_lower, nodes + evaluated, stretches + more
            beyond = (line.plan.nodes - last - evaluated) * each * weight
        rest += beyond
    return upper * weight + rest, lower * weight - rest, nodes, stretches


def _evaluated(line: _Line, loud: list[tuple[int, int]]) -> tuple[flint.arb, flint.arb, int]:
    """Sums over the nodes of some stretches, and how many those are."""
    upper = lower = flint.arb(0)
    for start, stop in loud:
        for index in range(start, stop):
            to_upper, to_lower = line.node(index)
            upper, lower = upper + to_upper, lower + to_lower
    return upper, lower, sum(stop - start for start, stop in loud)


def _stretches(
    line: _Line, tilt: saddle.Tilt, threshold: float, last: int, largest: int
) -> tuple[list[tuple[int, int]], int]:
    """Short stretches of nodes before ``last`` to evaluate, and how many others a ball over the whole shows silent."""
    plan, n = line.plan, line.n
    tilted = tilt.tilted(plan.c)
    centre = float(tilted @ tilt.values)
    slope = float(tilted @ abs(tilt.values - centre))
    width = max(1, math.ceil(_COARSE / max(slope * plan.step, _COARSE / (plan.nodes + 1))))
    if last // width > largest:
        raise saddle.too_many(f"contour in balls at n = {n}", f"over {largest} stretches of {line.waves} waves")
    stack = [(start, min(start + width, last)) for start in range(0, last, width)][::-1]
    middle = dyadic(centre)
    loud: list[tuple[int, int]] = []
    silent = 0
    with working_precision(_STRETCH_BITS):
        # The common phase exp(-i t centre) leaves the size alone and keeps the balls narrow.
        atoms = [(value - middle, weight) for value, weight in zip(line.values, line.tilted, strict=True)]
        quiet = (dyadic(-threshold) / n).exp() - line.error
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
                taken = f"over {largest} evaluations of {line.waves} waves"
                raise saddle.too_many(f"contour in balls at n = {n}", taken)
    return loud, silent


def _far_stretches(
    line: _Line, tilt: saddle.Tilt, threshold: float, first: int, largest: int
) -> tuple[list[tuple[int, int]], int]:
    """The same from ``first`` on, where the segments are transforms, by their decay or by the mean value theorem."""
    loud: list[tuple[int, int]] = []
    silent, stack = 0, [(first, line.plan.nodes + 1)]
    centre = tilt.slope(line.plan.c)
    deviation = line.deviation(dyadic(centre))
    with working_precision(_STRETCH_BITS):
        while stack:
            start, stop = stack.pop()
            middle = (start + stop) // 2
            radius = line.step * max(stop - 1 - middle, middle - start)
            quiet = ((dyadic(-threshold) - line.fading(start)) / line.n).exp()
            if line.far(start) < quiet or line.ratio(middle).abs_upper() + deviation * radius < quiet:
                silent += 1
            elif stop - start <= _SHORT:
                loud.append((start, stop))
            else:
                stack += [(middle, stop), (start, middle)]
            if silent + len(stack) + len(loud) * _SHORT > largest:
                taken = f"over {largest} evaluations of {line.waves} waves"
                raise saddle.too_many(f"contour in balls at n = {line.n}", taken)
    return loud, silent
