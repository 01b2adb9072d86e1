r"""Bounds for groups of users: chains of neighbours of equal steps, at the best ratio up to the one asked about.

:math:`(p-xyr)_+\le(p-xq)_++x(q-yr)_+` gives :math:`D_{x^g}\le F(x)H(x)`, :math:`F(x)=1+x+\dots+x^{g-1}`. As D falls
with its order, so does the bound that is taken here: the infimum of F(y) H(y) over y from 1 to x, or 1.

The infimum is enclosed. H is convex and falls. If s is at least 0 and H falls by at least s per unit from b to some c,
then F(y) (H(b) + s(b - y)) is at most F(y) H(y) for y up to b. The derivative of that polynomial, the sum of
:math:`i(H(b)+sb-s)y^{i-1}` over i < g less :math:`sgy^{g-1}`, changes sign once, from plus to minus: between a and b it
is nowhere below the smaller one of its values at a and b (claim symshuffle.group-privacy).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, TypeAlias, final

import flint

from symshuffle.base.numbers import (
    DEFAULT_BITS,
    Ball,
    Exp,
    Real,
    enclose,
    lower_end,
    to_arb,
    upper_end,
    usual_bits,
    working_precision,
)
from symshuffle.base.results import Bracket

_Values: TypeAlias = "Callable[[Real, float], Bracket]"
"""From a ratio and a relative width to a bracket around H, which falls with the ratio and is convex."""


_EDGE, _STEPS, _MOST_SPAN = 1e-3, 2**12, 700
"""A share of the way that is taken for none, steps of a share, and a logarithm of what is a double."""

_ONE: Final = (Fraction(1), Fraction(1))


def group_factor(group: int, ratio: Any, *, most_terms: int = 200) -> Any:
    """What the bound for one user at a ratio is multiplied by for a group: the sum of the powers below ``group``.

    - ``most_terms``: powers beyond which the sum of numbers is a ball around the closed form.
    """
    if group > most_terms and isinstance(ratio, Fraction | Ball):
        low, high = (_geometric_sum(group, end) for end in (lower_end(ratio), upper_end(ratio)))
        return low if low == high else Ball(lower_end(low), upper_end(high), DEFAULT_BITS)
    total: Any = Fraction(0)
    for _ in range(group):
        total = 1 + ratio * total
    return total


def _geometric_sum(group: int, ratio: Fraction) -> Fraction | Ball:
    """The sum of the powers below ``group`` of a ratio of at least 1: the ratio is told from 1 by so many bits."""
    if ratio == 1:
        return Fraction(group)
    bits = DEFAULT_BITS + group.bit_length() + usual_bits(ratio)
    with working_precision(bits):
        above = to_arb(ratio - 1)
        return Ball.from_arb((above.log1p() * group).expm1() / above, bits)


def group_root(target: Real, group: int, *, root_bits: int = 96) -> Real:
    """Return a ratio whose power ``group`` is at most the target: the root itself where it is rational.

    - ``root_bits``: bits of a root that is not rational, beyond those that tell it from 1: more bits narrow the bound
      by less than a double shows, and cost where laws are rational.
    """
    if group == 1:
        return target
    if isinstance(target, Exp):
        return Exp(target.exponent / group)
    ends = [flint.fmpz(end).root(group) for end in (target.numerator, target.denominator)]
    root = Fraction(int(ends[0]), int(ends[1]))
    if root**group == target:
        return root
    bits = usual_bits(target) - DEFAULT_BITS + root_bits + group.bit_length()
    with working_precision(bits):
        return max(Ball.from_arb((to_arb(target - 1).log1p() / group).exp(), bits).lower, Fraction(1))


@final
@dataclass(frozen=True, slots=True)
class _Point:
    """A ratio, rational ends around it, and H there."""

    ratio: Real
    ends: tuple[Fraction, Fraction]
    value: Bracket

    @classmethod
    def of(cls, ratio: Real, value: Bracket) -> _Point:
        ball = ratio if isinstance(ratio, Fraction) else enclose(ratio, usual_bits(ratio))
        return cls(ratio, (max(lower_end(ball), Fraction(1)), upper_end(ball)), value)

    @property
    def low(self) -> Fraction:
        """Lower end of H."""
        return max(self.value.lower, Fraction(0))

    def fall_to(self, beyond: _Point) -> Fraction:
        """By how much H falls at least, per unit of the ratio, to a point beyond."""
        return max(self.low - beyond.value.upper, Fraction(0)) / (beyond.ends[1] - self.ends[0])


def group_bound(
    value: _Values,
    order: Real,
    group: int,
    rtol: float,
    *,
    exact: bool,
    chord_width: float = 1e-2,
    corner: float = 8e-3,
    most_points: int = 24,
) -> Bracket:
    """Return the bound for a group at a ratio, from bounds for one user: a probability.

    - ``exact``: whether both ends have to be equal; where they cannot be, the answer is said to be of balls.
    - ``chord_width``: relative width of H at the far end of the first chord, of which a slope is made.
    - ``corner``: relative width at which an infimum below the ratio asked about is left: it often is at a corner of H,
      near which engines take minutes for more digits.
    - ``most_points``: ratios at which H is evaluated for one infimum; then the bracket says how wide it is.
    """
    top = group_root(order, group)
    found = value(top, rtol)
    first = best = _chained(found, top, group)
    if best.upper == 0 or group * found.lower >= best.lower:  # F is at least g, and H falls
        return best
    beyond = _beyond(top)
    points = [_Point.of(top, found), _Point.of(beyond, value(beyond, max(rtol, chord_width)))]
    least, place, share = _by_line(_ONE, points[0], points[1], group), 0, 0.5
    if least < _goal(best, rtol, exact=exact):
        points.insert(0, _Point.of(Fraction(1), value(Fraction(1), rtol / 2)))
        best = min(best, _chained(points[0].value, Fraction(1), group), key=_upper)
        least, place, share = min(_between(points, i, group) for i in range(len(points) - 2))
    while least < _goal(best, rtol if best is first else max(rtol, corner), exact=exact) and len(points) < most_points:
        ratio = _inside(points[place].ratio, points[place + 1].ratio, share)
        points.insert(place + 1, _Point.of(ratio, value(ratio, max(rtol, corner / 8))))
        best = min(best, _chained(points[place + 1].value, ratio, group), key=_upper)
        least, place, share = min(_between(points, i, group) for i in range(len(points) - 2))
    if least >= best.lower:
        return best
    wide = best.upper - least > Fraction(rtol) * best.upper
    arithmetic = "ball" if best.arithmetic == "exact" else best.arithmetic
    return replace(best, lower=least, arithmetic=arithmetic, aimed=rtol if wide else best.aimed)


def _goal(best: Bracket, rtol: float, *, exact: bool) -> Fraction:
    """What the infimum has to be shown not to be below."""
    return best.upper if exact else min(best.lower, best.upper * (1 - Fraction(rtol)))


def _upper(found: Bracket) -> Fraction:
    return found.upper


def _chained(found: Bracket, one: Real, group: int) -> Bracket:
    """F(y) H(y) at a ratio, at most 1."""
    ratio = one if isinstance(one, Fraction) else enclose(one, DEFAULT_BITS)
    factor = group_factor(group, ratio)
    low = min(found.lower * lower_end(factor), Fraction(1))
    high = min(found.upper * upper_end(factor), Fraction(1))
    arithmetic = found.arithmetic if isinstance(factor, Fraction) or found.arithmetic != "exact" else "ball"
    return replace(
        found,
        lower=low,
        upper=high,
        arithmetic=arithmetic,
        evaluation=f"{group} steps between neighbours, at most 1: {found.evaluation}",
    )


def _by_line(left: tuple[Fraction, Fraction], right: _Point, beyond: _Point, group: int) -> Fraction:
    """A number that min(1, F(y) H(y)) is not below from a ratio to another, by the chord from there on."""
    at_left = right.low + right.fall_to(beyond) * max(right.ends[0] - left[1], Fraction(0))
    products = (lower_end(group_factor(group, x)) * h for x, h in ((right.ends[0], right.low), (left[0], at_left)))
    return min(*products, Fraction(1))


def _between(points: list[_Point], i: int, group: int, *, steep: int = 16) -> tuple[Fraction, int, float]:
    """Such a number between two neighbouring points, by the chords on both sides; i, and where the two cross.

    The crossing is given as a share of the way.

    - ``steep``: ratio of two values of H between which a chord does not tell where to look.
    """
    left, right, beyond = points[i : i + 3]
    alone = _by_line(left.ends, right, beyond, group)
    before = points[i - 1] if i else left
    gap = left.ends[0] - before.ends[1]
    if gap <= 0:
        return alone, i, 0.5
    a, b = left.ends[0], right.ends[0]
    fall, slope = (before.value.upper - left.low) / gap, right.fall_to(beyond)
    # H(left) - fall (y - a) and H(right) + slope (b - y): one is above the other on either side of where they cross.
    above, steeper = left.low - right.low - slope * (b - a), fall - slope
    if not 0 < above < steeper * (b - a):
        return alone, i, 0.5
    crossing = a + above / steeper
    height = max(right.low + slope * (b - crossing), Fraction(0))
    both = min(lower_end(group_factor(group, y)) * h for y, h in ((a, left.low), (crossing, height), (b, right.low)))
    chords_tell = left.low <= steep * right.low
    return max(alone, min(both, Fraction(1))), i, float((crossing - a) / (b - a)) if chords_tell else 0.5


def _beyond(ratio: Real, *, chord: Fraction = Fraction(1, 8)) -> Real:
    """A ratio beyond another, where the first chord ends: H should be smaller there, but not by far.

    - ``chord``: how far the first chord reaches, relative to what the ratio asked about is from 1; and as a logarithm,
      at most.
    """
    if isinstance(ratio, Exp):
        return Exp(ratio.exponent + min(ratio.exponent, Fraction(1)) * chord)
    return ratio + (ratio - 1) * chord


def _inside(left: Real, right: Real, share: float) -> Real:
    """A ratio between two, about a share of the way."""
    share = share if _EDGE < share < 1 - _EDGE else 0.5
    if isinstance(right, Exp):
        low = left.exponent if isinstance(left, Exp) else Fraction(0)
        span = float(right.exponent - low)
        if share != 0.5 and 0 < span < _MOST_SPAN:
            share = math.log1p(math.expm1(span) * share) / span
        return Exp(low + (right.exponent - low) * Fraction(round(share * _STEPS), _STEPS))
    low = left if isinstance(left, Fraction) else Fraction(1)
    if share == 0.5 and right > 4 * low:
        return Fraction(math.isqrt(int(low * right)))
    return low + (right - low) * Fraction(round(share * _STEPS), _STEPS)
