r"""Which order of a pair has the larger bound, on a whole range of levels, at a given number of users.

With the means :math:`X=\frac1n\sum_iA_0/A_2` and :math:`Y=\frac1n\sum_iA_1/A_2` of n i.i.d. terms, both of mean 1,
the profiles are

.. math:: h(x)=E(X-xY)_+,\qquad r(x)=E(Y-xX)_+=x\,h(1/x)+1-x,\qquad x=e^\varepsilon\ge1,

convex and falling, and equal at x = 1. Hence, for every randomizer, adjacency, blanket and n:

- *Between two levels* the one is below its chord and the other above the chords before and after it, extended. Where
  the first of these lines is below the others, the order is settled on the whole stretch.
- *From x = 1 on*, where the profiles meet in :math:`v=h(1)`: if :math:`r(l)\le\frac{(l+1)v-(l-1)}2` then
  :math:`h\ge r` on :math:`[1,l]`, and likewise with h and r exchanged. The right side is the tangent at 1 of a profile
  that is the same in both orders.
- *On all levels* if the law of the likelihood ratio :math:`T=X/Y` under Y, less that of 1/T under X, changes its sign
  once, from - to +, on t > 1: then :math:`h\ge r` on :math:`[1,\infty)`.
- *Finitely many ratios*: both profiles are piecewise linear with corners at the values of T and 1/T, and the signs at
  the corners settle everything (:func:`which_order` does so where there are few histograms).

No number of moments settles it: see the claims ``symshuffle.vecmean-order-*``.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb
from typing import Any, Final, final

from symshuffle.accountants.bounds.chords import Node, height, line_above, lines_below, meetings
from symshuffle.accountants.deployment.group import check_n
from symshuffle.base.choices import Arithmetic, Direction, Larger, choice, members, replace_choice
from symshuffle.base.errors import CertificateError, InputError, NotDecided, Unsupported
from symshuffle.base.levels import read_target
from symshuffle.base.numbers import Ball, Exp, Real, as_integer, check_rational, is_exact, to_arb, working_precision
from symshuffle.base.results import Bracket
from symshuffle.channels.continuous_law import ContinuousPair
from symshuffle.vectors.privacy.accounting import pair_delta
from symshuffle.vectors.privacy.pairs import FinitePair, Pair

_FIRST: Final = 4
"""Stretches to begin with."""

_EVALUATIONS: Final = 250
"""Levels at which both profiles are bracketed, at most, where nothing else is said."""


@final
@dataclass(frozen=True, slots=True)
class OrderComparison:
    """Which order of a pair has the larger bound, stretch by stretch of a range of levels.

    - ``low``, ``high``: the range of ``exp(eps)``.
    - ``orders``: values of ``exp(eps)`` that cut a range at least as wide into stretches.
    - ``arithmetic``: how both profiles are known: exact for finitely many histograms, in doubles with an allowance, or
      in balls.
    """

    pair: Pair
    n: int
    low: Real
    high: Real
    orders: tuple[Fraction, ...]
    verdicts: tuple[Larger, ...]
    arithmetic: Arithmetic

    def __post_init__(self) -> None:
        replace_choice(Arithmetic, self, "arithmetic")
        object.__setattr__(self, "n", as_integer(self.n, "n", 1))
        for order in (*self.orders, *(end for end in (self.low, self.high) if not isinstance(end, Exp))):
            check_rational(order, "orders")
        object.__setattr__(self, "verdicts", tuple(choice(Larger, one, "verdicts") for one in self.verdicts))

    @property
    def larger(self) -> Larger:
        """The verdict on the whole range."""
        found = set(self.verdicts) - {"equal"}
        if {"forward", "reverse"} <= found:
            return "crossing"
        return "undecided" if "undecided" in found else next(iter(found), "equal")

    @property
    def undecided(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """The stretches of ``exp(eps)`` that are left open."""
        cut = zip(itertools.pairwise(self.orders), self.verdicts, strict=True)
        return tuple(ends for ends, verdict in cut if verdict == "undecided")

    def verify(self) -> None:
        """Evaluate both profiles again and check what is said of every stretch."""
        if len(self.orders) != len(self.verdicts) + 1 or list(self.orders) != sorted(set(self.orders)):
            raise CertificateError("orders", "not rising, or not one more than verdicts")
        if self.orders[0] < 1 or not _covers(self.low, self.high, self.orders[0], self.orders[-1]):
            raise CertificateError("orders", "they do not cover the range of levels")
        profiles = _Profiles(self.pair, self.n, self.arithmetic)
        for i, verdict in enumerate(self.verdicts):
            try:
                following = profiles.follows(self.orders, i)
            except (InputError, NotDecided, Unsupported) as reason:
                raise CertificateError("pair", f"not comparable: {reason}") from reason
            if verdict not in following:
                raise CertificateError(f"verdicts[{i}]", f"{verdict} does not follow on this stretch")

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: the verdict, and the stretches where neighbours of the same verdict are one."""
        cut = zip(itertools.pairwise(self.orders), self.verdicts, strict=True)
        pieces = []
        for verdict, group in itertools.groupby(cut, key=lambda one: one[1]):
            ends = [pair for pair, _ in group]
            pieces.append({"from": float(ends[0][0]), "to": float(ends[-1][1]), "larger": verdict})
        return {
            "about": self.about,
            "larger": self.larger,
            "exp_eps": pieces,
            "arithmetic": self.arithmetic,
        }

    @property
    def about(self) -> str:
        """What is compared."""
        return f"both orders at n = {self.n}: {self.pair.about}"


def which_order(
    pair: Pair,
    n: int,
    *,
    low: object = 0,
    high: object,
    arithmetic: Arithmetic = "float64",
    evaluations: int = _EVALUATIONS,
) -> OrderComparison:
    """Order of a pair with the larger bound on all levels in a range, for n users.

    Parameters
    ----------
    pair : Pair
        A result of :func:`~symshuffle.vectors.privacy.pairs.worst_pair`, or any ``FinitePair``: two laws and a blanket.
    n : int
        Number of users, at least 1.
    low, high : number or text
        Ends of the range of eps, in nats, ``0 <= low < high``.
    arithmetic : Arithmetic
        Doubles with an allowance, or balls. A pair in rationals with few histograms is decided exactly.
    evaluations : int
        Largest number of levels at which both profiles are bracketed. Levels that are not settled then are reported as
        undecided.

    Returns
    -------
    OrderComparison
        ``larger`` says which order is the larger one; ``verify()`` checks the record.

    Raises
    ------
    InputError
        If an argument is out of range, or the blanket misses an output of the pair.
    Unsupported
        If an engine cannot bracket a profile.

    Notes
    -----
    vecmean, Appendix C, asks for the larger of the two. See the module for the proof.

    Examples
    --------
    >>> from symshuffle.vectors.privacy.pairs import worst_pair
    >>> from symshuffle.vectors.randomizers.mechanisms import SphereLinear
    >>> found = which_order(worst_pair(SphereLinear("1/2", 1), adjacency="zero-out"), 5, high=1)
    >>> found.larger, found.arithmetic
    ('reverse', 'exact')
    >>> found.verify()
    """
    n = check_n(n)
    start, end = read_target(eps=low), read_target(eps=high)
    most, asked = as_integer(evaluations, "evaluations", _FIRST + 1), choice(Arithmetic, arithmetic, "arithmetic")
    first, last = _rational(start, up=False), _rational(end, up=True)
    if not first < last:
        raise InputError("high", high, f"a level above low = {low}")
    if isinstance(pair, FinitePair):
        _dominated(pair)
    if _few(pair, n):
        profiles = _Profiles(pair, n, "exact")
        orders, verdicts = profiles.at_corners(first, last)
    else:
        profiles = _Profiles(pair, n, asked)
        orders, verdicts = _refined(profiles, first, last, most)
    return OrderComparison(pair, n, start, end, tuple(orders), tuple(verdicts), profiles.arithmetic)


def _refined(profiles: _Profiles, first: Fraction, last: Fraction, most: int) -> tuple[list[Fraction], list[Larger]]:
    """Halve the widest stretch that is not settled, until all are, or are short, or enough was spent."""
    orders = [first + (last - first) * Fraction(k, _FIRST) for k in range(_FIRST + 1)]
    while True:
        verdicts = [profiles.best(orders, i) for i in range(len(orders) - 1)]
        added = {x for x in _finer(orders, verdicts, most) if first < x < last} - set(orders)
        if not added or len(orders) >= most:
            return orders, verdicts
        orders = sorted({*orders, *added})


def _finer(
    orders: Sequence[Fraction], verdicts: Sequence[Larger], most: int, *, finest: Fraction = Fraction(1, 1000)
) -> list[Fraction]:
    """Levels at which to look next: the middles of wide stretches that are open, the widest first.

    - ``finest``: the share of the range below which an undecided one is left.
    """
    open_ones = [i for i, verdict in enumerate(verdicts) if verdict == "undecided"]
    wide = [i for i in open_ones if orders[i + 1] - orders[i] > (orders[-1] - orders[0]) * finest]
    widest = sorted(wide, key=lambda k: orders[k] - orders[k + 1])[: max(most - len(orders), 0)]
    return [(orders[i] + orders[i + 1]) / 2 for i in widest]


@final
@dataclass(slots=True)
class _Profiles:
    """Both profiles of a pair, kept where they were evaluated."""

    pair: Pair
    n: int
    arithmetic: Arithmetic
    seen: dict[Fraction, tuple[Bracket, Bracket]] = field(default_factory=dict)
    sums: _Sums | None = None

    def at(self, order: Fraction) -> tuple[Bracket, Bracket]:
        """Brackets of both profiles."""
        if order not in self.seen:
            self.seen[order] = tuple(  # type: ignore[assignment]
                pair_delta(one, self.n, order, arithmetic=self.arithmetic, rtol=1e-9)
                for one in (self.pair, self.pair.reverse)
            )
        return self.seen[order]

    def follows(self, orders: Sequence[Fraction], i: int) -> set[Larger]:
        """All verdicts that follow on a stretch."""
        if isinstance(self.pair, ContinuousPair) and self.pair.symmetric:
            return {"equal", "forward", "reverse", "undecided"}
        if _few(self.pair, self.n):
            points = [orders[i], *self._corners(orders[i], orders[i + 1]), orders[i + 1]]
            return _of_signs([self._counted().gap(x) for x in points])
        near = orders[max(i - 1, 0) : i + 3]
        brackets = [self.at(x) for x in near]
        ahead, behind = (
            [Node(x, both[k].lower, both[k].upper) for x, both in zip(near, brackets, strict=True)] for k in (0, 1)
        )
        place = min(i, 1)
        found: set[Larger] = {"undecided"}
        for verdict, (above, below) in zip(members(Direction), ((ahead, behind), (behind, ahead)), strict=True):
            if (orders[i] == 1 and _from_one(above, below)) or _apart(above, below, place):
                found.add(verdict)
        return found

    def best(self, orders: Sequence[Fraction], i: int) -> Larger:
        """The verdict that says most."""
        found = self.follows(orders, i)
        return next(one for one in ("equal", "forward", "reverse", "undecided") if one in found)

    def at_corners(self, first: Fraction, last: Fraction) -> tuple[list[Fraction], list[Larger]]:
        """Stretches between which the sign of the difference changes, exactly."""
        sums, orders, verdicts = self._counted(), [first], list[Larger]()
        points = [first, *self._corners(first, last), last]
        for (x, one), (y, other) in itertools.pairwise((x, sums.gap(x)) for x in points):
            ends = [(y, (one, other))]
            if one * other < 0:
                root = x + (y - x) * one / (one - other)
                ends = [(root, (one, Fraction(0))), (y, (Fraction(0), other))]
            for end, gaps in ends:
                said = _of_signs(gaps)
                verdict = next(v for v in ("equal", "forward", "reverse") if v in said)
                if verdicts and verdicts[-1] == verdict:
                    orders[-1] = end
                else:
                    orders.append(end)
                    verdicts.append(verdict)
        return orders, verdicts

    def _counted(self) -> _Sums:
        if self.sums is None:
            assert isinstance(self.pair, FinitePair)
            self.sums = _Sums.of(self.pair, self.n)
        return self.sums

    def _corners(self, first: Fraction, last: Fraction) -> list[Fraction]:
        """Where either profile may have a corner, inside an interval."""
        ratios = self._counted().ratios
        corners = {*ratios, *(1 / t for t in ratios if t)}
        return sorted(x for x in corners if first < x < last)


def _of_signs(gaps: Sequence[Fraction]) -> set[Larger]:
    """What follows where the difference is linear between points at which it has these values."""
    found: set[Larger] = {"undecided"}
    found |= {"forward"} if min(gaps) >= 0 else set()
    found |= {"reverse"} if max(gaps) <= 0 else set()
    return found | ({"equal"} if len(found) == 3 else set())


def _apart(above: Sequence[Node], below: Sequence[Node], i: int) -> bool:
    """Whether the lines below the one are above the chord of the other on stretch i: a convex function, at corners."""
    lines, chord = lines_below(above, i), line_above(below, i)
    left, right = above[i].x, above[i + 1].x
    return all(
        max(height(line, x) for line in lines) >= height(chord, x) for x in (left, right, *meetings(lines, left, right))
    )


def _from_one(above: Sequence[Node], below: Sequence[Node]) -> bool:
    """Whether the one is at least the other from order 1 to the next, where they begin at the same height."""
    height, end = max(above[0].low, below[0].low), above[1].x
    return bool(below[1].high <= tangent_at_one(end, height))


def tangent_at_one(x: Any, height: Any) -> Any:
    r"""The tangent at order 1 of a profile of that height that is the same in both orders: :math:`v-(1-v)(x-1)/2`."""
    return ((x + 1) * height - (x - 1)) / 2


@final
@dataclass(frozen=True, slots=True)
class _Sums:
    """The law of (X, Y) by rising ratio X/Y, as sums over the ratios below: of the mass times X, and times Y."""

    ratios: tuple[Fraction, ...]
    ahead: tuple[Fraction, ...]
    behind: tuple[Fraction, ...]
    never: Fraction

    @classmethod
    def of(cls, pair: FinitePair, n: int) -> _Sums:
        """Histogram by histogram. ``never`` is the mean of X where Y is 0."""
        rows = [(p / r, q / r, r) for p, q, r in zip(pair.first, pair.second, pair.reference, strict=True) if r]
        rest = 1 - sum((r for *_, r in rows), start=Fraction(0))
        states: dict[tuple[int, Fraction, Fraction], Fraction] = {(n, Fraction(0), Fraction(0)): Fraction(1)}
        for a, b, mass in [*rows, (Fraction(0), Fraction(0), rest)][:-1]:
            step: dict[tuple[int, Fraction, Fraction], Fraction] = defaultdict(Fraction)
            for (left, x, y), weight in states.items():
                for c in range(left + 1):
                    step[left - c, x + c * a, y + c * b] += weight * comb(left, c) * mass**c
            states = step
        by_ratio: dict[Fraction, tuple[Fraction, Fraction]] = {}
        never = Fraction(0)
        for (left, x, y), weight in states.items():
            mass = weight * rest**left / n
            if y:
                known = by_ratio.get(x / y, (Fraction(0), Fraction(0)))
                by_ratio[x / y] = known[0] + mass * x, known[1] + mass * y
            else:
                never += mass * x
        ratios = tuple(sorted(t for t, (x, y) in by_ratio.items() if x or y))
        ahead, behind = (
            tuple(itertools.accumulate((by_ratio[t][k] for t in ratios), initial=Fraction(0))) for k in (0, 1)
        )
        return cls(ratios, ahead, behind, never)

    def gap(self, x: Fraction) -> Fraction:
        """The profile of the pair less that of its reverse."""
        at = bisect_right(self.ratios, x)
        forward = self.never + self.ahead[-1] - self.ahead[at] - x * (self.behind[-1] - self.behind[at])
        at = bisect_left(self.ratios, 1 / x)
        return forward - (self.behind[at] - x * self.ahead[at])


def _few(pair: Pair, n: int, *, most: int = 20_000) -> bool:
    """Whether a pair is in rationals and has at most so many histograms."""
    if not isinstance(pair, FinitePair) or not is_exact((*pair.first, *pair.second, *pair.reference)):
        return False
    kinds = sum(1 for r in pair.reference if r)
    return comb(n + kinds, kinds) <= most


def _dominated(pair: FinitePair) -> None:
    """Refuse a blanket without mass where the pair has some."""
    for y, (p, q, r) in enumerate(zip(pair.first, pair.second, pair.reference, strict=True)):
        if is_exact((r,)) and r == 0 and not (is_exact((p, q)) and p == q == 0):
            raise InputError(f"reference[{y}]", r, "a mass above 0 where either law has one")


def _rational(order: Real, *, up: bool) -> Fraction:
    """A rational next to ``exp(eps)``: at least 1, and on the outer side."""
    if isinstance(order, Fraction):
        return order
    with working_precision(96):
        ball = Ball.from_arb(to_arb(order), 96)
    return ball.upper if up else max(ball.lower, Fraction(1))


def _covers(low: Real, high: Real, first: Fraction, last: Fraction) -> bool:
    return first <= _rational(low, up=False) and _rational(high, up=True) <= last
