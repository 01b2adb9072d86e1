"""The contour sum in ball arithmetic: both ends of the bracket are proved.

The sum and its error terms are those of :mod:`symshuffle.engines.contours.contour`, but every number here is a ball:
the constants are dyadic rationals read off the plan, the active nodes are evaluated as complex balls, and an interval
is negligible only if the ball of the characteristic function over the whole interval is small. Doubles enter as
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
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, final

import flint

from symshuffle.base import cost
from symshuffle.base.choices import Arithmetic
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Ball, lower_end, to_arb, upper_end, working_precision
from symshuffle.base.results import Bracket
from symshuffle.channels.law import Law
from symshuffle.engines.contours import saddle
from symshuffle.engines.contours.characteristic import AS_MANY_AS, ROUGH_NODES
from symshuffle.engines.contours.integrand import ContourLine
from symshuffle.engines.registry import Engine

if TYPE_CHECKING:
    from symshuffle.channels.mixed_law import MixedLaw

_SHORT: Final = 8
"""Nodes up to which an interval is evaluated rather than split: cost only."""

_INTERVAL_BITS: Final = 53
"""Precision of the transform over a whole interval: cost only, as its balls are true at any."""

_MOST_TERMS: Final = 30_000_000
"""Terms, one for each atom at each node or interval, beyond which a pass is refused, after about a minute: cost only.
No finer pass follows one of a tenth of them, whatever was aimed at."""

_IN_BALLS: Final = 30
"""Terms of a contour in doubles that take as long as one in balls: cost only."""


@final
@dataclass(frozen=True, slots=True)
class BallContour(Engine):
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

    name: ClassVar[str] = "contour"
    least: ClassVar[Arithmetic] = "ball"
    continuous: ClassVar[bool] = True

    rtol: float = 1e-10
    bits: int = 192
    largest: int = 3_000_000
    goal: Fraction | None = None

    @classmethod
    def for_auto(cls, law: Law | MixedLaw, arithmetic: Arithmetic | None, rtol: float) -> BallContour | None:
        """Engine for the automatic choice in balls or at widths that doubles may not reach, otherwise None."""
        trusted = arithmetic != "ball" and rtol >= 1e-9
        return None if trusted or arithmetic == "exact" else cls(rtol=rtol)

    @classmethod
    def trials(cls, law: Law | MixedLaw) -> tuple[BallContour, ...]:
        """Settings under which a bracket takes about a second, for tests."""
        most = 160_000 // (len(law.values) if isinstance(law, Law) else AS_MANY_AS)
        return tuple(cls(rtol=rtol, largest=most) for rtol in (1e-4, 1e-2))

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
        tilt = saddle.tilt(law if isinstance(law, Law) else law.near(ROUGH_NODES, _INTERVAL_BITS))
        if law.never_positive:
            return Bracket(lower_end(law.singular), upper_end(law.singular), "ball", self.name, "G is never positive")
        attempt = partial(self._attempt, law, n, tilt)
        return saddle.refine(attempt, self.rtol, most=_MOST_TERMS // 10, goal=self.goal)

    def _attempt(self, law: Law | MixedLaw, n: int, tilt: saddle.Tilt, rtol: float) -> tuple[Bracket, int]:
        """One pass with constants chosen for the relative width ``rtol``, and how many terms it took."""
        plan = saddle.choose(tilt, n, rtol=rtol, lattice=law.lattice)
        bits = min(self.bits, 64 - round(math.log2(rtol)))  # 64 for what sums and turns of waves lose: cost only
        with working_precision(bits + max(n.bit_length(), 8)):
            line = ContourLine.of(law, n, plan, rtol)
            largest = min(self.largest, min(_MOST_TERMS, cost.left() // _IN_BALLS) // line.cost)
            upper, lower, nodes, intervals = _sums(line, tilt, largest, rtol)
            cost.add((nodes + intervals) * line.cost * _IN_BALLS)
            upper, lower = upper + line.truncation(), lower - line.truncation() - line.aliasing(tilt)
            scale, singular = line.log_scale.exp() / n, to_arb(law.singular)
            high = Ball.from_arb((upper - line.smoothing_at_zero()) * scale + singular).upper
            low = Ball.from_arb(lower * scale + singular).lower
        # H is never below E[G] nor below 0, beyond its singular part: both are bounds in their own right.
        floor = law.floor + lower_end(law.singular)
        evaluation = (
            f"contour in balls of {bits} bits at c = {plan.c:.4g}, {saddle.describe(plan)}, {nodes} nodes "
            f"evaluated, {intervals} intervals of the other {plan.nodes + 1 - nodes} bounded"
        )
        return Bracket(max(low, floor), high, "ball", self.name, evaluation), (nodes + intervals) * line.cost


def _sums(
    line: ContourLine, tilt: saddle.Tilt, largest: int, rtol: float, *, spare: float = 4.0, far_bits: int = 80
) -> tuple[flint.arb, flint.arb, int, int]:
    """Upper end of the sum for U, lower end of the sum for L, and how many nodes and intervals that took.

    - ``spare``: exponent by which negligible nodes beyond the Gauss rule, each of which costs a lot, stay below the
      width aimed at.
    - ``far_bits``: precision of the nodes there.
    """
    threshold = _negligible_exponent(line, math.sqrt(line.n * tilt.at(line.plan.c).variance), rtol)
    last = line.last
    active, intervals = _intervals(line, tilt, threshold, last + 1, largest)
    upper, lower, nodes = _evaluated(line, active)
    # On the line no kernel is larger than at t = 0: |sinh(a + ib)| >= sinh(a), and sinh(a) >= a.
    each = flint.arb(-threshold).exp() * (1 / line.c**2 + line.tau**2)
    weight = line.step / flint.arb.pi()
    rest = (last + 1 - nodes) * each * weight
    if last < line.plan.nodes:
        beyond = line.tail_bound(last)
        if not beyond < flint.arb(rtol / 1000) * abs(upper) * weight:
            threshold -= saddle.QUIET - spare
            each *= flint.arb(saddle.QUIET - spare).exp()
            active, more = _far_intervals(line, tilt, threshold, last + 1, largest)
            with working_precision(far_bits):
                to_upper, to_lower, evaluated = _evaluated(line, active)
            upper, lower, nodes, intervals = upper + to_upper, lower + to_lower, nodes + evaluated, intervals + more
            beyond = (line.plan.nodes - last - evaluated) * each * weight
        rest += beyond
    return upper * weight + rest, lower * weight - rest, nodes, intervals


def _negligible_exponent(line: ContourLine, spread: float, rtol: float) -> float:
    """Exponent below which an interval may be bounded instead of evaluated."""
    return saddle.QUIET - math.log(rtol) + math.log1p(line.plan.end * spread) + 6


def _evaluated(line: ContourLine, active: list[tuple[int, int]]) -> tuple[flint.arb, flint.arb, int]:
    """Sums for U and L over the nodes of some intervals, and how many those are; intervals that touch are one."""
    joined: list[tuple[int, int]] = []
    for start, stop in active:
        touches = bool(joined) and joined[-1][1] == start
        joined.append((joined.pop()[0] if touches else start, stop))
    upper = without = flint.arb(0)
    nodes = 0
    for start, stop in joined:
        to_upper, to_without = line.sums(start, stop)
        upper, without, nodes = upper + to_upper, without + to_without, nodes + stop - start
    return upper, upper - line.tau**2 * without, nodes


def _intervals(
    line: ContourLine, tilt: saddle.Tilt, threshold: float, last: int, largest: int, *, turn: float = 4.0
) -> tuple[list[tuple[int, int]], int]:
    """Short intervals of nodes before ``last`` to evaluate, and how many others a ball over the whole shows negligible.

    - ``turn``: by how much the spread of G times the length of the first interval turns.
    """
    plan, n = line.plan, line.n
    tilted = tilt.at(plan.c)
    spread = math.sqrt(max(tilted.variance, 0.0))
    width = max(1, math.ceil(turn / max(spread * plan.step, turn / (plan.nodes + 1))))
    if last // width > largest:
        raise saddle.too_many(f"contour in balls at n = {n}", f"over {largest} intervals of {line.cost} terms")
    middle = flint.arb(tilted.mean)
    active: list[tuple[int, int]] = []
    start = negligible = 0
    with working_precision(_INTERVAL_BITS):
        # The common phase exp(-i t middle) leaves the size alone and keeps the balls narrow.
        atoms = [(value - middle, weight) for value, weight in zip(line.values, line.tilted, strict=True)]
        quiet = (flint.arb(-threshold) / n).exp() - line.error
        while start < last:
            stop = min(start + width, last)
            t = (line.step * start).union(line.step * (stop - 1))
            ratio = flint.acb(0)
            for value, weight in atoms:
                ratio += weight * flint.acb(0, t * value).exp()
            if ratio.abs_upper() < quiet:
                negligible, start, width = negligible + 1, stop, 2 * width
            elif width > _SHORT:
                width //= 2
            else:
                active.append((start, stop))
                start = stop
            _check_cost(line, negligible + len(active) * _SHORT, largest)
    return active, negligible


def _check_cost(line: ContourLine, taken: int, largest: int) -> None:
    if taken > largest:
        cost.add(taken * line.cost * _IN_BALLS)
        evaluations = f"over {largest} evaluations of {line.cost} terms"
        raise saddle.too_many(f"contour in balls at n = {line.n}", evaluations)


def _far_intervals(
    line: ContourLine, tilt: saddle.Tilt, threshold: float, first: int, largest: int
) -> tuple[list[tuple[int, int]], int]:
    """The same from ``first`` on, where the segments are transforms, by their decay or by the mean value theorem."""
    active: list[tuple[int, int]] = []
    negligible, stack = 0, [(first, line.plan.nodes + 1)]
    deviation = line.deviation(flint.arb(tilt.at(line.plan.c).mean))
    with working_precision(_INTERVAL_BITS):
        while stack:
            start, stop = stack.pop()
            middle = (start + stop) // 2
            radius = line.step * max(stop - 1 - middle, middle - start)
            quiet = ((flint.arb(-threshold) - line.log_kernel_decay(start)) / line.n).exp()
            if line.decay_bound(start) < quiet or line.ratio(middle).abs_upper() + deviation * radius < quiet:
                negligible += 1
            elif stop - start <= _SHORT:
                active.append((start, stop))
            else:
                stack += [(middle, stop), (start, middle)]
            _check_cost(line, negligible + len(stack) + len(active) * _SHORT, largest)
    return active, negligible
