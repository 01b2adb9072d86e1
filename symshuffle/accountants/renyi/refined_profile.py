"""The profile of one round, delta as a function of the order, at as many orders as an integral over all of them needs.

What is known between two orders is said by :mod:`symshuffle.accountants.renyi.orders`; here is decided where to look
next.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from typing import Final

import flint

from symshuffle.accountants.bounds.brackets import bound_at, bounds_nothing_from
from symshuffle.accountants.bounds.chords import Node
from symshuffle.accountants.bounds.evaluate import Method
from symshuffle.accountants.deployment.reduced import Reduction
from symshuffle.accountants.renyi.orders import ORDER_BITS, Known, StretchBounds, divergence, stretches, whole_line
from symshuffle.accountants.rounds.one_round import OneRound
from symshuffle.base import cost
from symshuffle.base.choices import DIRECTIONS, Direction, Question
from symshuffle.base.crossings import halved
from symshuffle.base.errors import Unsupported
from symshuffle.base.levels import LARGEST_LEVEL
from symshuffle.base.numbers import enclose_log, format_decimal, lower_end, natural_log, to_arb, working_precision
from symshuffle.base.results import Bracket

_MOST_NODES: Final = 3_000
"""Brackets of one profile, both directions counted, at which refining ends."""

_LEAST_LEVEL: Final = Fraction(1, 10**1000)
"""Where the search for the end of a profile stops."""

_LEAST_ROOT: Final = Fraction(1, 10**300)
"""Below it roots are not taken in doubles."""

_PATIENCE: Final = 4
"""Rounds of refining after which the ends are to be a tenth closer."""

_NEAR_LAST: Final = Fraction(1, 50), Fraction(1, 8)
"""How closely the end of a profile is found, relatively and in nats."""

_DIGITS: Final = 7
"""Digits of an order, or of what it exceeds 1 by."""

_PER_SCALE: Final = 2
"""Levels within the scale of a round on the first grid."""

_EVEN: Final = 32
_GROWTH: Final = Fraction(9, 8)
_LOOK: Final = 4
"""Steps of the first grid that are alike; by how much a longer one exceeds the one before; after how many of these the
rest is looked at."""

_LINEAR: Final = Fraction(1, 1 << 40)
"""Level below which it is told from ``exp(level) - 1`` in no digit of a grid."""


@dataclass(frozen=True, slots=True)
class RefinedProfile:
    """Two-sided values of the profile of one round at rational orders from 1 to one from which on it is 0.

    - ``scale``: parameter, above 0, of the Gaussian mechanism of equal total variation: the unit of the first grid of
      levels.
    - ``forward_ends``, ``reverse_ends``: whether it is 0 there. What reveals something for certain has no end; the
      divergence in the other direction is finite all the same.
    """

    reduced: Reduction
    n: int
    request: Method
    scale: Fraction
    last: Fraction
    forward_ends: bool = True
    reverse_ends: bool = True
    known: dict[Fraction, tuple[Bracket, Bracket]] = field(default_factory=dict)
    known_stretches: dict[Fraction, Known] = field(default_factory=dict)

    @classmethod
    def of(cls, reduced: Reduction, n: int, request: Method) -> RefinedProfile | None:
        """With nothing known but where it ends; None where the messages tell nothing."""
        wanted = Method(arithmetic=request.arithmetic, rtol=max(request.rtol / 50, 1e-12), bits=request.bits)
        both = True
        try:  # before any value is computed, since each of densities costs much
            last = _last(reduced, wanted)
        except Unsupported:
            if request.direction == "both":
                raise
            both, last = False, _last(reduced, replace(wanted, direction=request.direction))
        one, forward = OneRound(reduced, n, 1, wanted), request.direction == "forward"
        if not one.telling:
            return None
        return cls(reduced, n, wanted, one.unit(), last, forward_ends=both or forward, reverse_ends=both or not forward)

    def values(self, x: Fraction) -> tuple[Bracket, Bracket]:
        """Both directions at an order."""
        found = self.known.get(x)
        if found is None:
            one = self._value(x, "forward")
            same = x < self.last and self.reduced.same_both_ways(x, self.request.bits)
            found = self.known[x] = one, one if same else self._value(x, "reverse")
        return found

    def _value(self, x: Fraction, question: Question) -> Bracket:
        if x >= self.last and (self.forward_ends if question == "forward" else self.reverse_ends):
            return Bracket(Fraction(0), Fraction(0), "ball", "none", "G is never positive")
        return bound_at(self.reduced, self.n, x, replace(self.request, direction=question))

    def nodes(self, direction: Direction) -> list[Node]:
        """The profile on all orders."""
        orders = sorted(self.known)
        one, other = (
            [Node(x, self.known[x][place].lower, self.known[x][place].upper) for x in orders] for place in (0, 1)
        )
        if direction == "forward":
            return whole_line(one, other, ends=self.reverse_ends)
        return whole_line(other, one, ends=self.forward_ends)

    def _stretches(self, alpha: Fraction, direction: Direction) -> list[StretchBounds]:
        """What each stretch between two orders adds to the integral."""
        return stretches(self.nodes(direction), alpha, self.known_stretches.setdefault(alpha, {}))

    def ends(self, alpha: Fraction, direction: Direction) -> tuple[Fraction, Fraction]:
        """The divergence, from two sides."""
        with working_precision(ORDER_BITS):
            found = self._stretches(alpha, direction)
            low = divergence(sum((low for low, _ in found), start=flint.arb(0)), alpha)
            high = divergence(sum((high for _, high in found), start=flint.arb(0)), alpha)
        ended = self.forward_ends if direction == "forward" else self.reverse_ends
        # No likelihood ratio is above an order from which on the profile is 0, and no divergence above its logarithm.
        most = min(high.upper, enclose_log(self.last).upper) if ended else high.upper
        return max(low.lower, Fraction(0)), most

    def lower_at(self, orders: Sequence[Fraction], alpha: Fraction, direction: Direction) -> Fraction:
        """What the divergence is not below, from the values at these orders."""
        for x in orders:
            self.values(x)
        return self.ends(alpha, direction)[0]

    def narrowed(self, alpha: Fraction, request: Method) -> Bracket:
        """The Rényi divergence of order alpha, in nats, from as many values as bring both ends as close as asked.

        Where that does not help, or at the limit of values, the bracket is wider and says what was aimed at.
        """
        for x in (Fraction(1), self.last):  # the integral ends where the profile is 0
            self.values(x)
        ways = DIRECTIONS[request.direction]
        self._first(alpha, ways[0])
        widths: list[Fraction] = []
        while True:
            ends = [self.ends(alpha, direction) for direction in ways]
            low, high = (max(end) for end in zip(*ends, strict=True))
            close = high - low <= Fraction(request.rtol) * high
            stuck = len(widths) >= _PATIENCE and (high - low) * 10 > widths[-_PATIENCE] * 9
            if close or stuck or 2 * len(self.known) > _MOST_NODES or not cost.left():
                evaluation = (
                    f"integral over {len(self.known)} orders of the profile, between chords and extended chords"
                )
                return Bracket(
                    low,
                    high,
                    request.arithmetic or "float64",
                    "profile",
                    evaluation,
                    None if close else request.rtol,
                )
            widths.append(high - low)
            self._refine(alpha, ways)

    def _first(self, alpha: Fraction, direction: Direction) -> None:
        """A first grid, from 1 to where what is left hardly counts."""
        eps, step, most = Fraction(0), self.scale / _PER_SCALE, _logarithm(self.last)
        for count in itertools.count():
            step = step if count < _EVEN else step * _GROWTH
            eps += step
            if eps >= most or (x := _order(eps)) >= self.last:
                return
            self.values(x)
            if count > _EVEN and count % _LOOK:
                continue
            found = self._stretches(alpha, direction)
            with working_precision(ORDER_BITS):
                whole = sum((high for _, high in found[:-1]), start=flint.arb(0))
                small = to_arb(Fraction(1, 10**6))
                if found[-1][1] < whole * small and found[0][1] < whole * small:
                    return

    def _refine(self, alpha: Fraction, directions: Sequence[Direction]) -> None:
        """Halve the stretches that keep the ends apart most, seven eighths of what does."""
        orders = sorted(self.known)
        gaps = [0.0] * len(orders)  # the last beyond all orders, where a profile has no end
        begins = 0 if self.forward_ends and self.reverse_ends else 1
        for direction in directions:
            found = self._stretches(alpha, direction)
            for i, share in enumerate(_shares(found), start=-begins):
                place = i - (len(orders) - 1)
                gaps[place if place >= 0 else -place - 1] += share
        left = sum(gaps) / 8
        for i in sorted(range(len(gaps)), key=gaps.__getitem__):
            left -= gaps[i]
            if left < 0 and i == len(orders) - 1:
                self.values(2 * orders[-1])
            elif left < 0:
                middle = _order((_logarithm(orders[i]) + _logarithm(orders[i + 1])) / 2)
                if orders[i] < middle < orders[i + 1]:
                    self.values(middle)


def _shares(found: Sequence[StretchBounds]) -> list[float]:
    """What every stretch has of the distance between the ends."""
    with working_precision(ORDER_BITS):
        gaps = [high - low for low, high in found]
        total = sum(gaps, start=flint.arb(0))
        return [max(float((gap / total).mid()), 0.0) if total > 0 else 0.0 for gap in gaps]


def _logarithm(x: Fraction) -> Fraction:
    if x - 1 < _LINEAR:
        return x - 1
    return Fraction(math.log1p(float(x - 1)) if x < 2 else natural_log(x))


def _order(eps: Fraction) -> Fraction:
    """About exp(eps), a short rational; at the largest level not below it, so that what ends there is over."""
    if eps < _LINEAR:
        return 1 + Fraction(format_decimal(eps, digits=_DIGITS, up=True))
    if eps < 1:
        return 1 + Fraction(f"{math.expm1(eps):.{_DIGITS}g}")
    with localcontext(rounding=ROUND_CEILING if eps >= LARGEST_LEVEL else ROUND_HALF_EVEN) as context:
        power = Decimal(float(eps)).exp()
        context.prec = _DIGITS
        return Fraction(+power)


def _middle(low: Fraction, high: Fraction) -> Fraction:
    """About the geometric mean."""
    if low >= _LEAST_ROOT:
        return Fraction(math.sqrt(low) * math.sqrt(high))
    return Fraction(2) ** round((natural_log(low) + natural_log(high)) / math.log(4))


def _last(reduced: Reduction, request: Method) -> Fraction:
    """An order from which on the profile is certainly 0, about the smallest."""
    top = _order(Fraction(LARGEST_LEVEL))
    if not bounds_nothing_from(reduced, top, request):
        for law in reduced.laws(top, request.direction, request.bits):
            if lower_end(law.singular) > 0:
                raise Unsupported(
                    "the Rényi divergence is infinite: some messages reveal for certain what the user holds; ask for "
                    "delta or epsilon instead"
                )
        raise Unsupported(
            f"delta is not known to be 0 at any level up to {LARGEST_LEVEL}, so that the Rényi divergence may be "
            "infinite; ask for delta or epsilon instead"
        )

    def nothing(level: Fraction) -> bool:
        return bounds_nothing_from(reduced, _order(level), request)

    low, high, fall = Fraction(1, 128), Fraction(1, 64), Fraction(1, 2)
    while low > _LEAST_LEVEL and nothing(low):
        low, high, fall = low * fall, low, fall * fall  # a small budget: far below, in few steps
    while high > 2 * low:
        middle = _middle(low, high)
        low, high = (low, middle) if nothing(middle) else (middle, high)
    while not nothing(high):
        low, high = high, min(2 * high, Fraction(LARGEST_LEVEL))
    share, most = _NEAR_LAST
    return _order(halved(nothing, low, high, settled=lambda low, high: high - low <= min(share * low, most))[1])
