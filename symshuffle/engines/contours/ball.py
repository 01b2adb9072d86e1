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

from symshuffle.base.choices import Arithmetic
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Ball, lower_end, read_options, to_arb, upper_end, working_precision
from symshuffle.base.results import Bracket
from symshuffle.channels.law import Law
from symshuffle.channels.mixed_law import MixedLaw
from symshuffle.engines.contours import saddle
from symshuffle.engines.contours.line import AS_MANY_AS, ContourLine, turned
from symshuffle.engines.contours.segments import dyadic

_RESOLVED: Final = 1e-9
"""Relative width below which doubles are not trusted to reach what was asked: balls answer, or refuse."""

_SHORT: Final = 8
_COARSE: Final = 4.0
_STRETCH_BITS: Final = 53
_FAR_BITS: Final = 80
_SPARED: Final = 4.0
"""Exponent by which silent nodes beyond the Gauss rule stay below the width aimed at; each of them costs a lot."""

_SPARE_BITS: Final = 64
"""Bits beyond those of the width aimed at and of the number of users: for what sums and turns of waves lose."""

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
    rtol : float
        Relative width to aim at, in (0, 1).
    bits : int
        Largest working precision, to which max(8, log2(n)) bits are added for n users. The atoms should be known to at
        least as many bits.
    largest : int
        Limit on the number of intervals and quadrature nodes to evaluate.
    goal : Fraction, optional
        Number with which the value is compared: no finer pass follows a bracket that is far from it.
    """

    least: ClassVar[Arithmetic] = Arithmetic.BALL
    continuous: ClassVar[bool] = True

    rtol: float = 1e-10
    bits: int = 192
    largest: int = 3_000_000
    goal: Fraction | None = None

    def __post_init__(self) -> None:
        read_options(self)

    @classmethod
    def aiming(cls, rtol: float, bits: int) -> BallContour:
        """Engine with default limits and a relative width; ``bits`` has no effect."""
        return cls(rtol=rtol)

    @classmethod
    def offered(cls, law: Law | MixedLaw, arithmetic: Arithmetic | None, rtol: float) -> BallContour | None:
        """Engine for the automatic choice in balls or at narrow widths, otherwise None."""
        trusted = arithmetic is not Arithmetic.BALL and rtol >= _RESOLVED
        return None if trusted or arithmetic is Arithmetic.EXACT else cls(rtol=rtol)

    @classmethod
    def trials(cls, law: Law | MixedLaw) -> tuple[BallContour, ...]:
        """Settings under which a bracket takes about a second, for tests."""
        most = 160_000 // (len(law.values) if isinstance(law, Law) else AS_MANY_AS)
        return tuple(cls(rtol=rtol, largest=most) for rtol in (1e-4, 1e-2))

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
                lower_end(law.singular), upper_end(law.singular), Arithmetic.BALL, self.name, "G is never positive"
            )
        return saddle.narrowed(
            lambda rtol: self._attempt(law, n, tilt, rtol), self.rtol, most=_WORTH_IT, goal=self.goal
        )

    def _attempt(self, law: Law | MixedLaw, n: int, tilt: saddle.Tilt, rtol: float) -> tuple[Bracket, int]:
        """One pass with constants chosen for the relative width ``rtol``, and how many waves it took."""
        plan = saddle.choose(tilt, n, rtol=rtol, lattice=law.lattice)
        bits = min(self.bits, _SPARE_BITS - round(math.log2(rtol)))
        with working_precision(bits + max(n.bit_length(), 8)):
            line = ContourLine.of(law, n, plan, rtol)
            largest = min(self.largest, _PRICIEST // line.waves)
            upper, lower, nodes, stretches = _sums(line, tilt, largest, rtol)
            upper, lower = upper + line.truncation(), lower - line.truncation() - line.aliasing(tilt)
            scale = line.log_scale.exp() / n
            high = Ball.from_arb((upper - line.stuck()) * scale + to_arb(law.singular)).upper
            low = Ball.from_arb(lower * scale + to_arb(law.singular)).lower
        # H is never below E[G] nor below 0, beyond its singular part: both are bounds in their own right.
        floor = law.floor + lower_end(law.singular)
        evaluation = (
            f"contour in balls of {bits} bits at c = {plan.c:.4g}, {saddle.describe(plan)}, {nodes} nodes "
            f"evaluated, {stretches} stretches of the other {plan.nodes + 1 - nodes} bounded"
        )
        return Bracket(max(low, floor), high, Arithmetic.BALL, self.name, evaluation), (nodes + stretches) * line.waves


def _sums(line: ContourLine, tilt: saddle.Tilt, largest: int, rtol: float) -> tuple[flint.arb, flint.arb, int, int]:
    """Upper end of the sum for U, lower end of the sum for L, and how many nodes and stretches that took."""
    threshold = line.silence(math.sqrt(line.n * tilt.curvature(line.plan.c)), rtol)
    last = line.plan.nodes if line.rule is None else line.rule.last
    loud, stretches = _stretches(line, tilt, threshold, last + 1, largest)
    upper, lower, nodes = _evaluated(line, loud)
    # On the line no kernel is larger than at t = 0: |sinh(a + ib)| >= sinh(a), and sinh(a) >= a.
    each = dyadic(-threshold).exp() * (1 / line.c**2 + line.tau**2)
    weight = line.step / flint.arb.pi()
    rest = (last + 1 - nodes) * each * weight
    if last < line.plan.nodes:
        beyond = line.beyond(last)
        if not beyond < dyadic(rtol / 1000) * abs(upper) * weight:
            threshold -= saddle.QUIET - _SPARED
            each *= dyadic(saddle.QUIET - _SPARED).exp()
            loud, more = _far_stretches(line, tilt, threshold, last + 1, largest)
            with working_precision(_FAR_BITS):
                to_upper, to_lower, evaluated = _evaluated(line, loud)
            upper, lower, nodes, stretches = upper + to_upper, lower + to_lower, nodes + evaluated, stretches + more
            beyond = (line.plan.nodes - last - evaluated) * each * weight
        rest += beyond
    return upper * weight + rest, lower * weight - rest, nodes, stretches


def _evaluated(line: ContourLine, loud: list[tuple[int, int]]) -> tuple[flint.arb, flint.arb, int]:
    """Sums for U and L over the nodes of some stretches, and how many those are."""
    upper = without = flint.arb(0)
    for start, stop in _joined(loud):
        to_upper, to_without = line.sums(start, stop)
        upper, without = upper + to_upper, without + to_without
    return upper, upper - line.tau**2 * without, sum(stop - start for start, stop in loud)


def _joined(stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Stretches in their order, those that touch made one."""
    joined: list[tuple[int, int]] = []
    for start, stop in stretches:
        touches = bool(joined) and joined[-1][1] == start
        joined.append((joined.pop()[0] if touches else start, stop))
    return joined


def _stretches(
    line: ContourLine, tilt: saddle.Tilt, threshold: float, last: int, largest: int
) -> tuple[list[tuple[int, int]], int]:
    """Short stretches of nodes before ``last`` to evaluate, and how many others a ball over the whole shows silent."""
    plan, n = line.plan, line.n
    spread = math.sqrt(max(tilt.curvature(plan.c), 0.0))
    width = max(1, math.ceil(_COARSE / max(spread * plan.step, _COARSE / (plan.nodes + 1))))
    if last // width > largest:
        raise saddle.too_many(f"contour in balls at n = {n}", f"over {largest} stretches of {line.waves} waves")
    middle = dyadic(tilt.slope(plan.c))
    loud: list[tuple[int, int]] = []
    start = silent = 0
    with working_precision(_STRETCH_BITS):
        # The common phase exp(-i t middle) leaves the size alone and keeps the balls narrow.
        atoms = [(value - middle, weight) for value, weight in zip(line.values, line.tilted, strict=True)]
        quiet = (dyadic(-threshold) / n).exp() - line.error
        while start < last:
            stop = min(start + width, last)
            t = (line.step * start).union(line.step * (stop - 1))
            ratio = flint.acb(0)
            for value, weight in atoms:
                ratio += weight * turned(t * value)
            if ratio.abs_upper() < quiet:
                silent, start, width = silent + 1, stop, 2 * width
            elif width > _SHORT:
                width //= 2
            else:
                loud.append((start, stop))
                start = stop
            if silent + len(loud) * _SHORT > largest:
                taken = f"over {largest} evaluations of {line.waves} waves"
                raise saddle.too_many(f"contour in balls at n = {n}", taken)
    return loud, silent


def _far_stretches(
    line: ContourLine, tilt: saddle.Tilt, threshold: float, first: int, largest: int
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
