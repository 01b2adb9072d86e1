"""Where a monotone bound meets a target, from both sides: the root search behind every inverse."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Final, TypeAlias, final

from symshuffle.accountants.bounds.evaluate import Method
from symshuffle.base import cost
from symshuffle.base.choices import Arithmetic, weakest_arithmetic
from symshuffle.base.errors import Unsupported
from symshuffle.base.levels import LARGEST_LEVEL
from symshuffle.base.numbers import format_decimal, natural_log, shortest
from symshuffle.base.results import Bracket

Bound: TypeAlias = Callable[[Fraction, float], Bracket]
"""From an argument and a relative width to aim at, to a bracket around a monotone function."""

BoundAt: TypeAlias = Callable[[Arithmetic | None, Fraction, float], Bracket]
"""The same from the weakest arithmetic that is accepted, an argument and a width."""

_FIRST: Final = Fraction(1, 2**30)
_SMALLEST: Final = Fraction(1, 2**15360)
"""Argument below which none is looked at: it is below every budget and every target that is read."""

_DEEPEST: Final = 1e6
_FINEST: Final = 1e-9
"""Width that is not passed for the sake of a flat function alone."""


def shortened(x: Fraction) -> Fraction:
    """About x, at least 0, as a rational of few digits, however small it is."""
    return x.limit_denominator(10**12 * max(1, math.ceil(1 / (1000 * x)))) if x else x


@final
@dataclass(frozen=True, slots=True)
class Point:
    """An exact argument, and the bracket around a function there."""

    x: Fraction
    y: Bracket


@final
@dataclass(frozen=True, slots=True)
class Crossing:
    """A target between two arguments.

    - ``above``: here the function is certainly above the target; its argument is 0 where none is shown to be above it.
    - ``meets``: here it is certainly at most the target.
    - ``resolved``: whether the two are as close as asked; False where the function is not told from the target
      between them.
    """

    above: Point
    meets: Point
    resolved: bool = True

    @property
    def places(self) -> tuple[Fraction, Fraction]:
        """Both arguments."""
        return self.above.x, self.meets.x

    @property
    def gap(self) -> Fraction:
        """How far apart they are."""
        return abs(self.meets.x - self.above.x)

    def with_point(self, point: Point, target: Fraction) -> Crossing:
        """Return the crossing with a point in place of the end on whose side it is; unchanged if it is on neither."""
        if point.y.upper <= target:
            return Crossing(self.above, point)
        return Crossing(point, self.meets) if point.y.lower > target else self

    def bracket(self, evaluation: str, rtol: float) -> Bracket:
        """Return the bracket of the argument; its ``aimed`` is ``rtol`` if it is wider than that, otherwise None.

        Its arithmetic is the weaker one of the two values, but for an argument 0, which needs no value.
        """
        at, (low, high) = self.meets.y, sorted((self.above.x, self.meets.x))
        weakest = weakest_arithmetic((at.arithmetic, self.above.y.arithmetic)) if self.above.x else at.arithmetic
        return Bracket(low, high, weakest, at.engine, evaluation, None if self.resolved else rtol, at.pair)


def between(bound: Bound, target: Fraction, rtol: float, found: Crossing) -> Crossing:
    """Return a crossing; if the bound is 0 at its end ``meets``, a simple rational may replace that end.

    A level from which on a bound is 0 is often written short, as ``eps0 = 40`` is: it is the end itself then.
    """
    if found.meets.y.upper == 0 and found.gap:
        low, high = sorted(found.places)
        scale = Fraction(10) ** -math.floor(natural_log(high) / math.log(10))
        x = simplest_between(low * scale, high * scale) / scale
        if x not in (low, high):
            point = settle(bound, target, rtol, x)
            return Crossing(found.above, point) if point.y.upper <= target else found
    return found


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """Rational of smallest denominator in [low, high], for ``0 <= low < high``."""
    floors: list[int] = []  # partial quotients that the continued fractions of both ends share
    while math.ceil(low) > high:
        floors.append(math.floor(low))
        low, high = 1 / (high - floors[-1]), 1 / (low - floors[-1])
    found = Fraction(math.ceil(low))
    for floor in reversed(floors):
        found = floor + 1 / found
    return found


Search: TypeAlias = Callable[[Bound, Fraction, float], Crossing]
"""A way to look for a crossing."""


def settle(
    bound: Bound, target: Fraction, rtol: float, x: Fraction, *, widest: float = 1e-2, deepest: float = 1e3
) -> Point:
    """The function at x, as finely as it takes to tell it from the target, but not much finer than ``rtol``.

    Finer than ``rtol`` is needed where the function is flat. The coarser bracket stands, undecided, where the engine
    refuses a finer width, or has missed two widths and the finer one has not helped.
    """
    coarse = {max(width, rtol) for width in (1e-2, 1e-4, rtol)}
    flat = {max(rtol / factor, min(rtol, _FINEST)) for factor in (30, deepest)}
    first, *finer = sorted({min(width, widest) for width in coarse | flat}, reverse=True)
    value = bound(x, first)
    for width in finer:
        if value.upper <= target or value.lower > target:
            break
        before = value
        try:
            value = bound(x, width)
        except Unsupported:
            break
        if before.aimed is not None and value.aimed is not None and value.width > before.width / 2:
            break
        if _same(before, value) and value.width > Fraction(width) * value.upper:
            break  # a closed form has one width
    return Point(x, value)


def tolerant(bound: Bound) -> Bound:
    """Return a bound on a probability that is [0, 1] where ``bound`` raises Unsupported, so that a search continues."""

    def value(x: Fraction, width: float) -> Bracket:
        try:
            return bound(x, width)
        except Unsupported as reason:
            return Bracket(Fraction(0), Fraction(1), "float64", "none", str(reason), aimed=width)

    return value


def _same(one: Bracket, other: Bracket) -> bool:
    return (one.lower, one.upper) == (other.lower, other.upper)


def smallest_meeting(
    bound: Bound,
    target: Fraction,
    rtol: float,
    near: Fraction | None = None,
    *,
    most: Fraction = Fraction(LARGEST_LEVEL),
    what: str = "eps",
) -> Crossing:
    """Return a crossing around the smallest argument in [0, most] at which a decreasing function is <= ``target``."""
    if near is not None and near > 0:
        found = _around(bound, target, rtol, min(near, most), most)
        if found is not None:
            return found
    zero = settle(bound, target, rtol, Fraction(0))
    if zero.y.upper <= target:
        return Crossing(zero, zero)
    # Growing from below keeps every evaluation near the target; far beyond the root the function costs more.
    low, high = zero, settle(bound, target, rtol, min(_FIRST, most))
    if high.y.upper <= target:
        return narrow(bound, target, rtol, _descended(bound, target, rtol, zero, high))
    factor = 4
    while high.y.upper > target:
        if high.x >= most:
            goal = shortest(target)
            if high.y.lower > target:
                left = f"delta is about {float(high.y.upper):.6g} at {what} = {most}"
                raise Unsupported(f"no {what} up to {most} has delta <= {goal}: {left}")
            if high.y.width == 1 and high.y.engine == "none":  # :func:`tolerant` returns [0, 1] for Unsupported
                raise Unsupported(high.y.evaluation)
            left = format_decimal(high.y.upper, digits=3, up=True)
            raise Unsupported(
                f"no {what} up to {most} is certified to have delta <= {goal}: at {most} it is at most {left}"
            )
        low, before = high if high.y.lower > target else low, high
        high = settle(bound, target, rtol, min(factor * high.x, most))
        factor = factor**2 if _same(before.y, high.y) else 4  # a bound that does not fall yet is asked few times
        if high.y.lower <= target < high.y.upper and _same(before.y, high.y):
            high = settle(bound, target, rtol, most)  # the bound no longer decreases
    return narrow(bound, target, rtol, Crossing(low, high))


def _descended(bound: Bound, target: Fraction, rtol: float, zero: Point, first: Point) -> Crossing:
    """Return a crossing of a target that is met at ``first``, a power of 2: within a factor 4 if decided.

    The exponent is doubled until the target is not met, and then halved: the argument may be far below a double.
    """
    above, meets = zero, first
    point = meets
    while point.y.upper <= target:
        meets = point
        if meets.x <= _SMALLEST:
            return Crossing(above, meets)
        point = settle(bound, target, rtol, meets.x * meets.x)
    below = point  # its value is not shown to be <= target
    above = point if point.y.lower > target else above
    while below.x * 4 < meets.x:
        low, high = (x.denominator.bit_length() - 1 for x in (below.x, meets.x))
        point = settle(bound, target, rtol, Fraction(1, 1 << (low + high) // 2))
        if point.y.upper <= target:
            meets = point
        else:
            below = point
            above = point if point.y.lower > target else above
    return Crossing(above, meets)


def _around(bound: Bound, target: Fraction, rtol: float, near: Fraction, most: Fraction) -> Crossing | None:
    """The crossing within a factor 2 of a guess, or None if it is not there."""
    meets = above = None
    for step in (Fraction(1, 50), Fraction(1, 10), Fraction(1)):
        for x in (min(near * (1 + step), most), near / (1 + step)):
            point = settle(bound, target, rtol, x)
            meets = point if point.y.upper <= target and (meets is None or x < meets.x) else meets
            above = point if point.y.lower > target and (above is None or x > above.x) else above
        if meets is not None and above is not None:
            return narrow(bound, target, rtol, Crossing(above, meets))
    return None


def narrow(bound: Bound, target: Fraction, rtol: float, ends: Crossing, *, far_apart: int = 256) -> Crossing:
    """Move two arguments on either side of the target together until they are ``rtol`` apart, relative to the larger.

    The function may rise or fall from one to the other. Where no argument between them is told from the target any
    more, the crossing is as wide as that leaves it.

    - ``far_apart``: ratio of two arguments from which on the middle of their logarithms is tried before any chord.
    """
    widest, deepest = 1e-2, 1e3
    while min(ends.places) > 0 and max(ends.places) > far_apart * min(ends.places):
        middle = sum(map(natural_log, ends.places)) / math.log(4)
        before, ends = ends, ends.with_point(settle(bound, target, rtol, Fraction(2) ** round(middle)), target)
        if ends is before:
            break
    while ends.gap > Fraction(rtol) * max(ends.places):
        if ends.above.x == 0 and ends.meets.x <= _SMALLEST:  # the target may be met at 0: nothing below is tried
            return replace(ends, resolved=False)
        before, open_ = ends, []
        for x in _candidates(ends, target, rtol, flat=widest < 1e-2):
            if min(ends.places) < x < max(ends.places):
                point = settle(bound, target, rtol, x, widest=widest, deepest=deepest)
                ends = ends.with_point(point, target)
                if point.y.lower <= target < point.y.upper:
                    open_.append(x)
                widest = _near_enough(point.y, target, widest, float(ends.gap / max(ends.places)))
        if before is ends and deepest < _DEEPEST:
            deepest = _DEEPEST  # where it is as flat as that
        elif before is ends:
            return _shrunk(bound, target, rtol, ends, open_)
    return between(bound, target, rtol, ends)


def _shrunk(
    bound: Bound, target: Fraction, rtol: float, ends: Crossing, open_: list[Fraction], *, edge_steps: int = 12
) -> Crossing:
    """Return the crossing moved by bisection towards the arguments between them at which the target is undecided.

    - ``edge_steps``: halvings on either side of arguments that are not told from the target; they narrow a wide bracket
      only.
    """
    above, meets = ends.above, ends.meets
    places = [x for x in open_ if min(ends.places) < x < max(ends.places)]
    if not places:
        return replace(ends, resolved=False)
    rises = above.x > meets.x
    next_above, next_meets = (max(places), min(places)) if rises else (min(places), max(places))
    for _ in range(edge_steps):
        near = Fraction(rtol) * max(above.x, meets.x) / 8
        if abs(above.x - next_above) > near:
            point = settle(bound, target, rtol, (above.x + next_above) / 2)
            above, next_above = (point, next_above) if point.y.lower > target else (above, point.x)
        if abs(meets.x - next_meets) > near:
            point = settle(bound, target, rtol, (meets.x + next_meets) / 2)
            meets, next_meets = (point, next_meets) if point.y.upper <= target else (meets, point.x)
    return Crossing(above, meets, resolved=False)


def _near_enough(value: Bracket, target: Fraction, widest: float, gap: float) -> float:
    """A width to ask for first where a value was as close to the target, over a gap of arguments so much wider."""
    off = _off(value, target)
    return min(widest, max(30 * off, 1e-7)) if 100 * off < gap else widest


def integers_around(
    value: Bound, goal: Fraction, rtol: float, start: Fraction, most: int, *, apart: float = 0.0
) -> Crossing:
    """Two positive integers on either side of a target of a falling function, from a guess.

    Steps away from the guess grow from 1 % to a factor of 4.

    - ``apart``: how far apart they may be, relatively; 0 for neighbours, or what the engine tells from the target.
    """
    meets = above = settle(value, goal, rtol, max(start, Fraction(1)))
    factor = Fraction(101, 100)
    while meets.y.upper > goal:
        if meets.x >= most:
            if meets.y.width == 1 and meets.y.engine == "none":
                raise Unsupported(meets.y.evaluation)
            least = f"delta >= {format_decimal(meets.y.lower, digits=6, up=False)} at n = {most}"
            raise Unsupported(f"no n up to {most} is certified to have delta <= {shortest(goal)}: {least}")
        above = meets if meets.y.lower > goal else above
        meets = settle(value, goal, rtol, min(Fraction(math.ceil(meets.x * factor)), Fraction(most)))
        factor = min(factor * factor, Fraction(4))
    factor = Fraction(101, 100)
    while above.y.lower <= goal and above.x > 1:
        above = settle(value, goal, rtol, Fraction(math.floor(min(above.x, meets.x) / factor)) or Fraction(1))
        meets = above if above.y.upper <= goal else meets
        factor = min(factor * factor, Fraction(4))
    if above.y.lower <= goal and meets.x == 1:
        return Crossing(meets, meets)
    if above.y.lower <= goal:  # one user is not told from the target
        return Crossing(Point(Fraction(0), above.y), meets, resolved=False)
    while meets.x - above.x > max(Fraction(apart) * meets.x, Fraction(1)):
        middle = settle(value, goal, rtol, Fraction(int(meets.x + above.x) // 2))
        if middle.y.upper > goal >= middle.y.lower:  # too close to tell: half a width to either side
            for x in (math.ceil(middle.x * Fraction(1 + rtol / 2)), math.floor(middle.x * Fraction(1 - rtol / 2))):
                beside = settle(value, goal, rtol, Fraction(x))
                meets = beside if beside.y.upper <= goal and x < meets.x else meets
                above = beside if beside.y.lower > goal and x > above.x else above
            break
        meets, above = (middle, above) if middle.y.upper <= goal else (meets, middle)
    return Crossing(above, meets)


def cross(search: Search, bound: BoundAt, target: Fraction, request: Method) -> Crossing:
    """What a search finds; where balls are asked for, doubles search and two evaluations in balls confirm both ends.

    How wide these may be is read off the doubles. If they do not confirm, the search runs again in balls. Where balls
    would take more work than a question has, and nobody asked for them, what doubles found is returned.
    """
    full = partial(bound, request.arithmetic)
    if request.engine is None and request.arithmetic == "ball":
        try:
            found = search(partial(bound, "float64"), target, request.rtol)
        except Unsupported:  # doubles may not resolve what balls do
            return search(full, target, request.rtol)
        if request.lenient and not cost.left():
            return found
        if not found.resolved:
            return search(full, target, request.rtol)
        meets = Point(found.meets.x, full(found.meets.x, _fine_enough(found.meets.y, target)))
        if request.lenient and meets.y.aimed is not None:
            return found
        if meets.y.upper <= target and found.above.x == found.meets.x:
            return Crossing(meets, meets)
        above = Point(found.above.x, full(found.above.x, _fine_enough(found.above.y, target)))
        if request.lenient and above.y.aimed is not None:
            return found
        if meets.y.upper <= target < above.y.lower:
            return Crossing(above, meets)
    return search(full, target, request.rtol)


def _fine_enough(value: Bracket, target: Fraction) -> float:
    """A relative width that tells a value from the target."""
    return min(max(_off(value, target) / 4, 1e-14), 1e-2)


def _off(value: Bracket, target: Fraction) -> float:
    """How far a value is from the target, relative to it; 1 for all that is farther, however small the target is."""
    ratio = value.midpoint / target
    return abs(float(ratio) - 1) if ratio < 2 else 1.0


def _candidates(ends: Crossing, target: Fraction, rtol: float, *, flat: bool) -> Iterator[Fraction]:
    """Arguments to try: just to the right and to the left of the interpolated root, then the middle."""
    guess = _guess(ends.above, ends.meets, target, flat=flat)
    margin = Fraction(rtol) * guess / 3
    for x in (guess + margin, guess - margin, (ends.above.x + ends.meets.x) / 2):
        # A short decimal, but fine enough to tell the candidates apart.
        gap = min(margin, ends.gap)  # may be below the smallest double
        places = max(0, 3 - math.floor(natural_log(gap) / math.log(10)))
        yield Fraction(round(x * 10**places), 10**places)


def _guess(above: Point, meets: Point, target: Fraction, *, flat: bool) -> Fraction:
    """Where the logarithm of the function, interpolated, crosses the target; the middle if that is not to be had."""
    if meets.y.upper == 0:
        return (above.x + meets.x) / 2
    over, under = (
        natural_log(above.y.lower if flat else above.y.upper) - natural_log(target),
        natural_log(target) - natural_log(meets.y.upper),
    )
    share = min(max(over / (over + under), 0.01), 0.99) if over + under > 0 else 0.5
    return above.x + (meets.x - above.x) * Fraction(share)
