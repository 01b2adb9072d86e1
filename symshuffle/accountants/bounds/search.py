"""Where a monotone bound meets a target, from both sides: the root search behind every inverse."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias, final

from symshuffle.accountants.bounds.evaluate import Method
from symshuffle.base.choices import Arithmetic, weakest_arithmetic
from symshuffle.base.crossings import halved
from symshuffle.base.errors import Unsupported
from symshuffle.base.levels import LARGEST_LEVEL
from symshuffle.base.numbers import format_decimal, natural_log, shortest
from symshuffle.base.results import Bracket

Bound: TypeAlias = Callable[[Fraction, float], Bracket]
"""From an argument and a relative width to aim at, to a bracket around a monotone function."""

_FIRST: Final = Fraction(1, 2**30)
_SMALLEST: Final = Fraction(1, 2**15360)
"""Argument below which none is looked at: it is below every budget and every target that is read."""

_FAR_APART: Final = 256
"""Ratio of two arguments from which on the middle of their logarithms is tried before any chord."""

_EDGE_STEPS: Final = 12
"""Halvings on either side of arguments that are not told from the target; they narrow a wide bracket only."""

_DEEPEST: Final = 1e6
_FINEST: Final = 1e-9
"""Width that is not passed for the sake of a flat function alone."""


def shortened(x: Fraction) -> Fraction:
    """About x, at least 0, as a rational of few digits, however small it is."""
    return x.limit_denominator(10**12 * max(1, math.ceil(1 / (1000 * x)))) if x else x


@final
@dataclass(frozen=True, slots=True)
class Crossing:
    """A target between two arguments.

    - ``above``: here the function is certainly above the target; 0 where no argument is shown to be above it.
    - ``meets``: here it is certainly at most the target.
    - ``at``: the function at ``meets``.
    - ``before``: the function at ``above``.
    - ``resolved``: whether the two are as close as asked; False where the function is not told from the target
      between them.
    """

    above: Fraction
    meets: Fraction
    at: Bracket
    before: Bracket
    resolved: bool = True

    @property
    def arithmetic(self) -> Arithmetic:
        """Weaker arithmetic of the two values; that of ``at`` alone if ``above`` is 0, which needs no evaluation."""
        return weakest_arithmetic((self.at.arithmetic, self.before.arithmetic)) if self.above else self.at.arithmetic

    def bracket(self, evaluation: str, rtol: float) -> Bracket:
        """Return the bracket of the argument; its ``aimed`` is ``rtol`` if it is wider than that, otherwise None."""
        low, high = sorted((self.above, self.meets))
        return Bracket(
            low, high, self.arithmetic, self.at.engine, evaluation, None if self.resolved else rtol, self.at.pair
        )


def between(bound: Bound, target: Fraction, rtol: float, *, above: Point, meets: Point) -> Crossing:
    """Return the crossing between two points; if the bound is 0 at ``meets``, a simple rational may replace ``meets``.

    A level from which on a bound is 0 is often written short, as ``eps0 = 40`` is: it is the end itself then.
    """
    if meets.value.upper == 0 and meets.x != above.x:
        low, high = sorted((above.x, meets.x))
        scale = Fraction(10) ** -math.floor(natural_log(high) / math.log(10))
        x = simplest_between(low * scale, high * scale) / scale
        if x not in (low, high):
            point = settle(bound, target, rtol, x)
            meets = point if point.value.upper <= target else meets
    return Crossing(above.x, meets.x, meets.value, above.value)


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


@final
@dataclass(frozen=True, slots=True)
class Point:
    """An argument and the function there."""

    x: Fraction
    value: Bracket


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


def mills_guess(start: Fraction, goal: Fraction) -> Fraction:
    r"""About where a privacy profile meets a target, from its value at level 0.

    In the Gaussian limit it is :math:`(\varphi(a)-a\bar\Phi(a))/s` with :math:`a=s\varepsilon`; the value at 0 tells s.
    """
    scale = float(start) * math.sqrt(2 * math.pi)

    def met(a: float) -> bool:
        value = math.exp(-a * a / 2) / math.sqrt(2 * math.pi) - a * math.erfc(a / math.sqrt(2)) / 2
        return scale * value <= float(goal)

    return Fraction(halved(met, 0.0, 40.0, settled=60)[0] * scale)


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
    if zero.value.upper <= target:
        return Crossing(Fraction(0), Fraction(0), zero.value, zero.value)
    # Growing from below keeps every evaluation near the target; far beyond the root the function costs more.
    low, high = zero, settle(bound, target, rtol, min(_FIRST, most))
    if high.value.upper <= target:
        return narrow(bound, target, rtol, **_descended(bound, target, rtol, zero, high))
    while high.value.upper > target:
        if high.x >= most:
            goal = shortest(target)
            if high.value.lower > target:
                left = f"delta is about {float(high.value.upper):.6g} at {what} = {most}"
                raise Unsupported(f"no {what} up to {most} has delta <= {goal}: {left}")
            if high.value.width == 1:  # :func:`tolerant` returns [0, 1] for Unsupported
                raise Unsupported(high.value.evaluation)
            left = format_decimal(high.value.upper, digits=3, up=True)
            raise Unsupported(f"no {what} is shown to have delta <= {goal}: values below {left} are undecided")
        low, before = high if high.value.lower > target else low, high
        high = settle(bound, target, rtol, min(4 * high.x, most))
        if high.value.lower <= target < high.value.upper and _same(before.value, high.value):
            high = settle(bound, target, rtol, most)  # the bound no longer decreases
    return narrow(bound, target, rtol, above=low, meets=high)


def _descended(bound: Bound, target: Fraction, rtol: float, zero: Point, first: Point) -> dict[str, Point]:
    """Return points on both sides of a target that is met at ``first``, a power of 2: within a factor 4 if decided.

    The exponent is doubled until the target is not met, and then halved: the argument may be far below a double.
    """
    above, meets = zero, first
    point = meets
    while point.value.upper <= target:
        meets = point
        if meets.x <= _SMALLEST:
            return {"above": above, "meets": meets}
        point = settle(bound, target, rtol, meets.x * meets.x)
    below = point  # its value is not shown to be <= target
    above = point if point.value.lower > target else above
    while below.x * 4 < meets.x:
        low, high = (x.denominator.bit_length() - 1 for x in (below.x, meets.x))
        point = settle(bound, target, rtol, Fraction(1, 1 << (low + high) // 2))
        if point.value.upper <= target:
            meets = point
        else:
            below = point
            above = point if point.value.lower > target else above
    return {"above": above, "meets": meets}


def _around(bound: Bound, target: Fraction, rtol: float, near: Fraction, most: Fraction) -> Crossing | None:
    """The crossing within a factor 2 of a guess, or None if it is not there."""
    meets = above = None
    for step in (Fraction(1, 50), Fraction(1, 10), Fraction(1)):
        for x in (min(near * (1 + step), most), near / (1 + step)):
            point = settle(bound, target, rtol, x)
            meets = point if point.value.upper <= target and (meets is None or x < meets.x) else meets
            above = point if point.value.lower > target and (above is None or x > above.x) else above
        if meets is not None and above is not None:
            return narrow(bound, target, rtol, above=above, meets=meets)
    return None


def narrow(bound: Bound, target: Fraction, rtol: float, *, above: Point, meets: Point) -> Crossing:
    """Move two arguments on either side of the target together until they are ``rtol`` apart, relative to the larger.

    The function may rise or fall from one to the other. Where no argument between them is told from the target any
    more, the crossing is as wide as that leaves it.
    """
    widest, deepest = 1e-2, 1e3
    while min(above.x, meets.x) > 0 and max(above.x, meets.x) > _FAR_APART * min(above.x, meets.x):
        middle = (natural_log(above.x) + natural_log(meets.x)) / math.log(4)
        point = settle(bound, target, rtol, Fraction(2) ** round(middle))
        meets = point if point.value.upper <= target else meets
        above = point if point.value.lower > target else above
        if point not in (above, meets):
            break
    while abs(meets.x - above.x) > Fraction(rtol) * max(meets.x, above.x):
        if above.x == 0 and meets.x <= _SMALLEST:  # the target may be met at 0: nothing below is tried
            return Crossing(above.x, meets.x, meets.value, above.value, resolved=False)
        before, open_ = (above, meets), []
        for x in _candidates(above, meets, target, rtol, flat=widest < 1e-2):
            if min(above.x, meets.x) < x < max(above.x, meets.x):
                point = settle(bound, target, rtol, x, widest=widest, deepest=deepest)
                meets = point if point.value.upper <= target else meets
                above = point if point.value.lower > target else above
                if point.value.lower <= target < point.value.upper:
                    open_.append(x)
                gap = float(abs(meets.x - above.x) / max(meets.x, above.x))
                widest = _near_enough(point.value, target, widest, gap)
        if before == (above, meets) and deepest < _DEEPEST:
            deepest = _DEEPEST  # where it is as flat as that
        elif before == (above, meets):
            above, meets = _shrunk(bound, target, rtol, above, meets, open_)
            return Crossing(above.x, meets.x, meets.value, above.value, resolved=False)
    return between(bound, target, rtol, above=above, meets=meets)


def _shrunk(
    bound: Bound, target: Fraction, rtol: float, above: Point, meets: Point, open_: list[Fraction]
) -> tuple[Point, Point]:
    """Return the points moved by bisection towards the arguments between them at which the target is undecided."""
    places = [x for x in open_ if min(above.x, meets.x) < x < max(above.x, meets.x)]
    if not places:
        return above, meets
    rises = above.x > meets.x
    next_above, next_meets = (max(places), min(places)) if rises else (min(places), max(places))
    for _ in range(_EDGE_STEPS):
        near = Fraction(rtol) * max(above.x, meets.x) / 8
        if abs(above.x - next_above) > near:
            point = settle(bound, target, rtol, (above.x + next_above) / 2)
            above, next_above = (point, next_above) if point.value.lower > target else (above, point.x)
        if abs(meets.x - next_meets) > near:
            point = settle(bound, target, rtol, (meets.x + next_meets) / 2)
            meets, next_meets = (point, next_meets) if point.value.upper <= target else (meets, point.x)
    return above, meets


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
    while meets.value.upper > goal:
        if meets.x >= most:
            if meets.value.width == 1:
                raise Unsupported(meets.value.evaluation)
            least = f"delta >= {float(meets.value.lower):.6g} at n = {most}"
            raise Unsupported(f"no n up to {most} is shown to have delta <= {shortest(goal)}: {least}")
        above = meets if meets.value.lower > goal else above
        meets = settle(value, goal, rtol, min(Fraction(math.ceil(meets.x * factor)), Fraction(most)))
        factor = min(factor * factor, Fraction(4))
    factor = Fraction(101, 100)
    while above.value.lower <= goal and above.x > 1:
        above = settle(value, goal, rtol, Fraction(math.floor(min(above.x, meets.x) / factor)) or Fraction(1))
        meets = above if above.value.upper <= goal else meets
        factor = min(factor * factor, Fraction(4))
    if above.value.lower <= goal:
        return Crossing(meets.x, meets.x, meets.value, meets.value)
    while meets.x - above.x > max(Fraction(apart) * meets.x, Fraction(1)):
        middle = settle(value, goal, rtol, Fraction(int(meets.x + above.x) // 2))
        if middle.value.upper > goal >= middle.value.lower:  # too close to tell: half a width to either side
            for x in (math.ceil(middle.x * Fraction(1 + rtol / 2)), math.floor(middle.x * Fraction(1 - rtol / 2))):
                beside = settle(value, goal, rtol, Fraction(x))
                meets = beside if beside.value.upper <= goal and x < meets.x else meets
                above = beside if beside.value.lower > goal and x > above.x else above
            break
        meets, above = (middle, above) if middle.value.upper <= goal else (meets, middle)
    return Crossing(above.x, meets.x, meets.value, above.value)


def cross(search: Search, bound: Callable[[Arithmetic | None], Bound], target: Fraction, request: Method) -> Crossing:
    """What a search finds; where balls are asked for, doubles search and two evaluations in balls confirm both ends.

    How wide these may be is read off the doubles. If they do not confirm, the search runs again in balls.
    """
    full = bound(request.arithmetic)
    if request.engine is None and request.arithmetic == "ball":
        try:
            found = search(bound("float64"), target, request.rtol)
        except Unsupported:  # doubles may not resolve what balls do
            return search(full, target, request.rtol)
        if not found.resolved:
            return search(full, target, request.rtol)
        meets = full(found.meets, _fine_enough(found.at, target))
        if meets.upper <= target and found.above == found.meets:
            return Crossing(found.above, found.meets, meets, meets)
        above = full(found.above, _fine_enough(found.before, target))
        if meets.upper <= target < above.lower:
            return Crossing(found.above, found.meets, meets, above)
    return search(full, target, request.rtol)


def _fine_enough(value: Bracket, target: Fraction) -> float:
    """A relative width that tells a value from the target."""
    return min(max(_off(value, target) / 4, 1e-14), 1e-2)


def _off(value: Bracket, target: Fraction) -> float:
    """How far a value is from the target, relative to it; 1 for all that is farther, however small the target is."""
    ratio = value.midpoint / target
    return abs(float(ratio) - 1) if ratio < 2 else 1.0


def _candidates(above: Point, meets: Point, target: Fraction, rtol: float, *, flat: bool) -> Iterator[Fraction]:
    """Arguments to try: just to the right and to the left of the interpolated root, then the middle."""
    guess = _guess(above, meets, target, flat=flat)
    margin = Fraction(rtol) * guess / 3
    for x in (guess + margin, guess - margin, (above.x + meets.x) / 2):
        # A short decimal, but fine enough to tell the candidates apart.
        gap = min(margin, abs(meets.x - above.x))  # may be below the smallest double
        places = max(0, 3 - math.floor(natural_log(gap) / math.log(10)))
        yield Fraction(round(x * 10**places), 10**places)


def _guess(above: Point, meets: Point, target: Fraction, *, flat: bool) -> Fraction:
    """Where the logarithm of the function, interpolated, crosses the target; the middle if that is not to be had."""
    if meets.value.upper == 0:
        return (above.x + meets.x) / 2
    over, under = (
        natural_log(above.value.lower if flat else above.value.upper) - natural_log(target),
        natural_log(target) - natural_log(meets.value.upper),
    )
    share = min(max(over / (over + under), 0.01), 0.99) if over + under > 0 else 0.5
    return above.x + (meets.x - above.x) * Fraction(share)
