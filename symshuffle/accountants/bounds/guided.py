r"""A search that starts from the Gaussian limit, where a bound meets a target after few evaluations.

As n grows a profile tends to that of two Gaussians at a distance :math:`\mu`. The :math:`\log\mu` of each value seen
hardly bends over the logarithm of the argument (eps, n or eps0): its interpolation tells where to look next.

Evidence: none is needed of what is guessed here. The ends of a crossing are values of the bound itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import attrgetter, itemgetter
from typing import Final, TypeAlias, final

from symshuffle.accountants.bounds.gaussian_limit import distance, log_profile, rising_root
from symshuffle.accountants.bounds.search import Bound, Crossing, Point, between, narrow, shortened
from symshuffle.base import cost
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import natural_log

_FAR: Final = 1.4
"""Step in the logarithm of the argument beyond which no interpolation is trusted."""

_UNKNOWN: Final = 0.1
"""What stands for the distance of a second value where there is one only."""

_BLURRED: Final = 2
"""Values that may leave open which side of the target they are on, before the next ones are asked for more finely."""

_LEAST_ARGUMENT: Final = Fraction(1, 2**900)
"""Below it no guide is followed, which computes in doubles: a plain search takes over."""

_FLATTEST: Final = 1e-5
_WIDEST: Final = 1e-3
_NARROWEST: Final = 1e-13


@final
@dataclass(frozen=True, slots=True)
class Guide:
    """What is known of a bound before it is evaluated.

    - ``start``: where to look first; a start above ``most`` is taken for ``most``.
    - ``most``: the largest argument; none above it is looked at.
    - ``eps``: the level at all arguments; None where the argument is the level.
    - ``slope``: about the derivative of ``log mu`` in the logarithm of the argument.
    - ``whole``: whether arguments are integers, and neighbours are asked for.
    - ``zero``: whether a falling function is 0 at an argument.
    - ``edge``: up to where a rising function may be 0.
    """

    start: float
    eps: float | None
    slope: float
    falling: bool
    whole: bool
    most: Fraction
    zero: Callable[[Fraction], bool] | None = None
    edge: Fraction | None = None


def guided(bound: Bound, target: Fraction, rtol: float, guide: Guide, *, patience: int = 16) -> Crossing | None:
    """The crossing near a guess; None where the guide leads nowhere, and a plain search has to be made.

    - ``patience``: evaluations after which a search without a guide takes over.
    """
    seen: dict[Fraction, Point] = {}
    start = min(guide.start, float(guide.most))
    plan = [(_rounded(start, 1e-3 if rtol < _WIDEST / 100 else rtol, guide), _WIDEST if rtol < _WIDEST / 100 else rtol)]
    left = Fraction(0)  # up to there it is not 0, where that was asked
    above = meets = None
    looks = 0
    while looks < patience and cost.left():  # where nothing is left values take next to none, and are wide
        looks += 1
        x, width = plan.pop(0)
        try:
            point = Point(x, bound(x, width))
        except Unsupported:
            return None
        seen.pop(x, None)
        seen[x] = point
        if point.y.upper == 0 and guide.zero is not None:
            left, right = _around_first_zero(guide.zero, left, x, rtol)
            if right < _LEAST_ARGUMENT:
                return None
            seen.pop(right, None)
            point = seen[right] = Point(right, point.y)
        if point.y.upper == 0 and guide.edge is not None and x < guide.edge:
            plan = [(guide.edge, width)]
        if x == 0 and point.y.upper <= target:
            return Crossing(point, point)
        above, meets = _nearer(above, meets, point, target, guide)
        if above is not None and meets is not None:
            gap = abs(meets.x - above.x)
            if gap == 1 if guide.whole else gap <= Fraction(rtol) * max(above.x, meets.x):
                found = Crossing(above, meets)
                return between(bound, target, rtol, found) if meets.y.upper == 0 and not guide.whole else found
        if x >= guide.most and (above if guide.falling else meets) is not None and not (above and meets):
            return None
        if not plan:
            plan = _next(seen, target, rtol, guide, above, meets)
            if not plan:
                return None
    if above is None or meets is None or guide.whole:
        return None
    return narrow(bound, target, rtol, Crossing(above, meets))


def _around_first_zero(
    zero: Callable[[Fraction], bool], low: Fraction, x: Fraction, rtol: float
) -> tuple[Fraction, Fraction]:
    """Arguments around the smallest one at which a falling function is 0: at the second it is.

    - ``low``: an argument at which it is known not to be 0, or 0.
    """
    while x - low > Fraction(rtol) / 10 * x and x >= _LEAST_ARGUMENT:
        half = (low + x) / 2
        middle = shortened(half)
        middle = middle if low < middle < x else half  # few digits tell arguments so close from neither end
        low, x = (low, middle) if zero(middle) else (middle, x)
    return low, x


def _nearer(
    above: Point | None, meets: Point | None, point: Point, target: Fraction, guide: Guide
) -> tuple[Point | None, Point | None]:
    """The points next to the crossing on either side, of those that are certified to be on one, with one more."""
    sign = 1 if guide.falling else -1
    if point.y.lower > target and (above is None or sign * (point.x - above.x) >= 0):
        return point, meets
    if point.y.upper <= target and (meets is None or sign * (point.x - meets.x) <= 0):
        return above, point
    return above, meets


def _next(
    seen: Mapping[Fraction, Point],
    target: Fraction,
    rtol: float,
    guide: Guide,
    above: Point | None,
    meets: Point | None,
    *,
    creeping: int = 8,
) -> list[tuple[Fraction, float]]:
    """Where to look next, and how closely: once at the likely crossing, or on both sides of it to finish.

    - ``creeping``: evaluations from which on every fourth is in the middle of both sides.
    """
    points, both = list(seen.values()), above is not None and meets is not None
    zeros = min(points, key=attrgetter("y.upper")).y.upper == 0
    edge = _edge(points, guide) if zeros else None
    if edge is not None and above is not None:
        found = _predicted_beside(points, target, edge, above, meets)
    else:
        found = _predicted(points, target, guide, above, meets)
    if found is None or (both and len(seen) >= creeping and len(seen) % 4 == 0):
        x = _plain(target, guide, above, meets, points)
        return [] if x is None else [(x, _WIDEST)]
    root, off, steep = found
    fine = 1 / root if guide.whole else rtol
    if off > fine / 5 or (not both and len(seen) >= creeping):
        end = above or meets
        if not both and end is not None and len(seen) > 3:  # what creeps towards the target is stepped over
            further = (2 ** (len(seen) - 3) - 1) * math.log(root / end.x)
            root = min(root * math.exp(min(max(further, -_FAR), _FAR)), float(guide.most))
        x = _rounded(root, min(fine / 10, 1e-3), guide)
        if x not in seen:
            return [(x, min(max(steep * max(fine / 10, off / 30), _NARROWEST), _WIDEST))]
    return _either_side(seen, target, root, steep * fine / 8, rtol, guide, above, meets)


def _edge(points: Sequence[Point], guide: Guide) -> Fraction | None:
    """The argument next to which the function is known to be 0, of those where that was found and is to be asked."""
    zeros = []
    for point in points:
        if point.y.upper == 0:
            zeros.append(point.x)
    if not zeros or (guide.zero is None and guide.edge not in zeros):
        return None
    return min(zeros) if guide.falling else max(zeros)


def _either_side(
    seen: Mapping[Fraction, Point],
    target: Fraction,
    root: float,
    width: float,
    rtol: float,
    guide: Guide,
    above: Point | None,
    meets: Point | None,
) -> list[tuple[Fraction, float]]:
    """Arguments just behind and just before a likely crossing, each with a width that tells more than it did before."""
    # Values that tell no side at these widths mean that the function is flatter than its guide.
    blurred = -_BLURRED
    for point in seen.values():
        blurred += point.y.lower <= target < point.y.upper
    width = min(max(width / 30.0 ** max(blurred, 0), _NARROWEST), _WIDEST)
    # A side that is known closer to the crossing need not be looked at again.
    behind, before = (meets, above) if guide.falling else (above, meets)
    found = []
    for sign in (1, -1):
        if guide.whole:
            x = Fraction(math.ceil(root) - (sign < 0))
        else:
            x = _rounded(root * (1 + sign * rtol / 3), rtol / 30, guide)
        known = (behind is not None and root <= behind.x <= x) or (before is not None and x <= before.x <= root)
        if not known and not (guide.whole and not 1 <= x <= guide.most):
            last = float(seen[x].y.relative_width or 0) if x in seen else math.inf
            found.append((x, max(min(width, last / 30), _NARROWEST)))
    return found


def _predicted(
    points: Sequence[Point],
    target: Fraction,
    guide: Guide,
    above: Point | None,
    meets: Point | None,
    *,
    flat: int = 30,
) -> tuple[float, float, float] | None:
    """The likely crossing, about how far off it may be relative to itself, and how steep the function is there.

    - ``flat``: how many times a function is flatter than its guide where this is not believed.
    """
    goal, sign = natural_log(target), -1 if guide.falling else 1
    low, high = _inside(points[-1], guide, above, meets)
    known = []
    for point in points:
        if point.x > 0 and point.y.lower + point.y.upper > 0:
            known.append(_seen(point, guide))
    if not known or low >= high:
        return None
    last, _, _, first_steep = known[-1]
    steep = first_steep
    found: list[_Seen] = []
    near: list[_Seen] = []

    def excess(t: float) -> float:
        mu = math.exp(min(max(interpolated(near, t) + guide.slope * t, -40.0), 5.0))
        return sign * (log_profile(math.exp(t) if guide.eps is None else guide.eps, mu) - goal)

    for most in (1, 3, 3, 2, 1):  # the nearest values are those next to the crossing, once it is known
        if most < len(found) and steep < first_steep / flat:
            break  # fewer values would have the slope of the guide
        near = _useful(known, last, steep)[:most]
        try:
            if excess(low) < 0 < excess(high):
                last = rising_root(excess, low, high)
                steep = max(abs(excess(last + 1e-4) - excess(last - 1e-4)) / 2e-4, _FLATTEST)
                found = near
        except (ValueError, OverflowError):
            continue
        if most == 3 and found is near and _useful(known, last, steep)[:3] == near:
            break
    if not found:
        return None
    gaps = []
    for place, *_ in found:
        gaps.append(abs(place - last))
    gaps = [*sorted(gaps), _UNKNOWN]
    off = gaps[0] * gaps[1] * (gaps[2] if len(gaps) > 3 else 1) + found[0][2] / steep
    return math.exp(last), off, steep


def _inside(last: Point, guide: Guide, above: Point | None, meets: Point | None) -> tuple[float, float]:
    """Logarithms between which the crossing is to be looked for."""
    at = math.log(last.x or Fraction(guide.start or 1) / 2**10)
    before, behind = (above, meets) if guide.falling else (meets, above)
    low, high = at - _FAR, min(at + _FAR, math.log(guide.most))
    if before is not None:
        low = math.log(before.x) if before.x > 0 else low
        high = max(high, low + _FAR) if behind is None else high
    if behind is not None:
        high = math.log(behind.x)
        low = min(low, high - _FAR) if before is None else low
    return low, high


_Seen: TypeAlias = "tuple[float, float, float, float]"
"""A value as the interpolation sees it: logarithms of the argument and of mu, its relative half width, the slope."""


def _seen(point: Point, guide: Guide) -> _Seen:
    """A value as the interpolation sees it; the slope of the function there is known from the guide only."""
    middle = point.y.midpoint
    t, value = math.log(point.x), natural_log(middle)
    y = distance(float(point.x) if guide.eps is None else guide.eps, value)
    try:
        near = math.exp(t + 1e-3) if guide.eps is None else guide.eps
        moved = log_profile(near, math.exp(y + guide.slope * 1e-3))
    except (ValueError, OverflowError):
        moved = value
    noise = float((point.y.upper - point.y.lower) / middle) / 2
    return t, y - guide.slope * t, noise, max(abs(moved - value) * 1e3, 1e-3)


def _useful(known: Sequence[_Seen], at: float, steep: float) -> list[_Seen]:
    """The nearest values whose widths do not blur the slope between them."""
    order = []
    for one in known:
        order.append((abs(one[0] - at) + one[2] / steep, one))
    found: list[_Seen] = []
    for _, one in sorted(order, key=itemgetter(0)):
        for other in found:
            if 20 * (one[2] + other[2]) >= steep * abs(one[0] - other[0]):
                break
        else:
            found.append(one)
    return found


def interpolated(points: Sequence[Sequence[float]], t: float) -> float:
    """The polynomial through at most three points, of which place and height come first, by divided differences."""
    x, first = points[0][:2]
    if len(points) == 1:
        return first
    y, second = points[1][:2]
    slope = (second - first) / (y - x)
    if len(points) == 2:
        return first + slope * (t - x)
    z, third = points[2][:2]
    bend = ((third - second) / (z - y) - slope) / (z - x)
    return first + (t - x) * (slope + bend * (t - y))


def _predicted_beside(
    seen: Sequence[Point], target: Fraction, edge: Fraction, above: Point, meets: Point | None
) -> tuple[float, float, float] | None:
    """As :func:`_predicted`, next to an argument on the other side of which the function is 0.

    There it is about a power of the distance to that argument, at last the first.
    """
    goal, sign = natural_log(target), 1 if above.x < edge else -1
    known = [
        (natural_log(sign * (edge - point.x)), natural_log(point.y.midpoint))
        for point in seen
        if point.y.midpoint > 0 and sign * (edge - point.x) > 0
    ]
    high = natural_log(sign * (edge - above.x))
    low = natural_log(sign * (edge - meets.x)) if meets is not None and sign * (edge - meets.x) > 0 else high - 40
    last = known[-1][0]
    for _ in range(2):
        near = sorted(dict(known).items(), key=lambda pair: abs(pair[0] - last))[:3]
        heights = [(u, v - u) for u, v in near]

        def excess(u: float, heights: Sequence[tuple[float, float]] = heights) -> float:
            return interpolated(heights, u) + u - goal

        if not excess(low) < 0 < excess(high):
            return None
        last = rising_root(excess, low, high)
    x = float(edge) - sign * math.exp(last)
    share = math.exp(last) / x
    gaps = [*sorted(abs(place - last) for place, _ in heights), _UNKNOWN]
    off = gaps[0] * gaps[1] * (gaps[2] if len(gaps) > 3 else 1) * share
    return x, off, abs(excess(last + 1e-4) - excess(last - 1e-4)) / 2e-4 / share


def _plain(
    target: Fraction,
    guide: Guide,
    above: Point | None,
    meets: Point | None,
    seen: Sequence[Point],
    *,
    below_zero: Fraction = Fraction(15, 16),
) -> Fraction | None:
    """Without a prediction: the chord between both ends or, by turns, their middle; else a step towards the target.

    - ``below_zero``: where to look first below an argument at which the function is 0.
    """
    if above is None or meets is None:
        at = seen[-1].x or Fraction(guide.start or 1) / 2**10
        x = at * 2 if (above is not None) == guide.falling else at / 2
        if meets is not None and meets.y.upper == 0 and guide.zero is not None:
            x = at * below_zero
        return _rounded(float(x), 1e-2, guide) if x <= guide.most else None
    if len(seen) % 4 == 0:
        share = Fraction(1, 2)
    else:
        share = (above.y.midpoint - target) / (above.y.midpoint - meets.y.midpoint)
        share = min(max(share, Fraction(1, 50)), 1 - max(meets.y.midpoint / target, Fraction(1, 10**6)) / 50)
    x = above.x + (meets.x - above.x) * share
    return Fraction(round(x)) if guide.whole else shortened(x)


def _rounded(x: float, fine: float, guide: Guide) -> Fraction:
    """A short decimal that is relatively as close as asked; an integer where these are asked for."""
    if guide.whole:
        return Fraction(min(max(round(x), 1), int(guide.most)))
    if x <= 0:
        return Fraction(0)
    places = max(0, 1 - math.floor(math.log10(x) + math.log10(fine)))
    return min(Fraction(round(Fraction(x) * 10**places), 10**places), guide.most)
