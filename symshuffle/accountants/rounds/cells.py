r"""A pair of densities between two finite laws on cells of the line, made once for all levels.

With :math:`D=(p-q)/r` and :math:`B=q/r` for the densities of the pair and of the reference measure, both orders are
linear: :math:`G=D-(x-1)B` and :math:`G'=-xD-(x-1)B` at the ratio x. On a cell D and B have known ranges and means, so
that G has: the atom at its mean is below G in convex order, the law of that mean on the two ends of its range above it.
H(n) rises in that order. Beyond the outermost cells G is taken to be 0, which moves H(n) by the masses of the pair
there (:mod:`symshuffle.channels.continuous_law`); a mass that is off by r moves it by r times the largest value.

Evidence: *proved*, in balls and rationals; the values of the two laws are an engine's.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final, final

import flint

from symshuffle.accountants.bounds.brackets import ratio_of
from symshuffle.accountants.bounds.evaluate import Method, evaluate
from symshuffle.accountants.deployment.reduced import Reduction
from symshuffle.base.choices import DIRECTIONS, Question
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Ball, Real, enclose, to_arb, working_precision
from symshuffle.base.results import Bracket
from symshuffle.channels.continuous_law import ContinuousPair, LevelledPair, Stretch
from symshuffle.channels.law import Law
from symshuffle.engines.registry import engine_class

_BITS: Final = 128
_PLACES: Final = 96
"""Binary places of the numbers of a law."""

_FIRST: Final = 8
_MOST: Final = 600
"""Cells of a stretch to begin with, and of all stretches in the end."""

_SHARE: Final = 0.2
_FELT: Final = 1e-18
"""Range of D on a cell as a share of the deviation, or of its end, beyond which it is halved; and the share of the mean
below which it is not."""

_WIDEST: Final = 40

_Ends = tuple[int, int]
"""A number between two multiples of 2^-96."""


@final
@dataclass(frozen=True, slots=True)
class LineCell:
    """Probability of a cell under the reference measure, and what D and B are there, in multiples of 2^-96."""

    mass: int
    unsure: int
    means: tuple[_Ends, _Ends]
    ranges: tuple[_Ends, _Ends]

    @property
    def square(self) -> float:
        """About the share of the second moment of D."""
        return math.ldexp(self.mass, -_PLACES) * math.ldexp(self.means[0][0], -_PLACES) ** 2

    def is_steep(self, deviation: float) -> bool:
        """Whether a long tail of D would be put far out: the range is wide beside its end, where that is felt."""
        low, high = (math.ldexp(end, -_PLACES) for end in self.ranges[0])
        far = max(abs(low), abs(high))
        felt = math.ldexp(self.mass, -_PLACES) * far > _FELT * deviation
        return felt and high - low > max(deviation * _SHARE, far * _SHARE)

    @property
    def spread(self) -> float:
        """About the largest variance of D that the law above has and the law below has not."""
        low, high = self.ranges[0]
        return math.ldexp(self.mass, -_PLACES) * math.ldexp(high - low, -_PLACES) ** 2 / 4


@final
@dataclass(frozen=True, slots=True)
class LineCells:
    """A pair of densities on cells.

    - ``outside``: at most the masses of the two laws outside of all cells.
    """

    cells: tuple[LineCell, ...]
    outside: tuple[Fraction, Fraction]

    def law(self, ratio: Fraction, *, reverse: bool, up: bool) -> tuple[Law, Fraction]:
        """Finite law above or below that of G in convex order, and by how much H(n) may be beyond its own.

        - ``ratio``: end of an enclosure of x, at least 1 itself; rounded down for the law above, up for the law below.
        - ``up``: whether the law is above.
        """
        one = 1 << _PLACES
        x = max(_scaled(ratio, up=not up), one)
        first, second = (-x if reverse else one), x - one
        values, weights, rest, unsure = [], [], one, 0
        for cell in self.cells:
            low, high = (_end(first, second, cell.ranges, up=side) for side in (False, True))
            unsure += cell.unsure * max(abs(low), abs(high))
            mean = min(max(_end(first, second, cell.means, up=up), low), high)
            rest -= cell.mass
            share = cell.mass if not up or low == high else -(-cell.mass * (mean - low) // (high - low))
            values += [high if up else mean, low]
            weights += [share, cell.mass - share]
        atoms = [(v, w) for v, w in zip([0, *values], [rest, *weights], strict=True) if w]
        own, other = self.outside[::-1] if reverse else self.outside
        off = (own if up else Fraction(x, one) * other) + Fraction(unsure, one * one)
        return Law(tuple(Fraction(v, one) for v, _ in atoms), tuple(Fraction(w, one) for _, w in atoms)), off


def _end(first: int, second: int, ends: tuple[_Ends, _Ends], *, up: bool) -> int:
    """An end of ``first D - second B``, rounded away, for D and B between their ends; ``second`` is at least 0."""
    found = first * ends[0][1 if up == (first > 0) else 0] - second * ends[1][0 if up else 1]
    return -(-found >> _PLACES) if up else found >> _PLACES


def _scaled(value: Fraction, *, up: bool) -> int:
    scaled = value * (1 << _PLACES)
    return math.ceil(scaled) if up else math.floor(scaled)


def cells_of(pair: ContinuousPair, *, tail: Fraction, inflation: float) -> LineCells:
    """Cells so fine that the two laws differ by a small share of the variance of D."""
    with working_precision(_BITS):
        parts, outside = _window(pair.stretches, tail)
        heap: list[tuple[float, int, LineCell, Stretch, Fraction, Fraction]] = []
        count = 0

        def add(stretch: Stretch, low: Fraction, high: Fraction) -> None:
            nonlocal count
            cell = _cell(stretch, low, high)
            count += 1
            heapq.heappush(heap, (-cell.spread, count, cell, stretch, low, high))

        for stretch, low, high in parts:
            for k in range(_FIRST):
                add(stretch, low + (high - low) * Fraction(k, _FIRST), low + (high - low) * Fraction(k + 1, _FIRST))
        while len(heap) <= _MOST:
            deviation = math.sqrt(sum(place[2].square for place in heap))
            wide = [place for place in heap if place[2].is_steep(deviation)]
            if not wide and -sum(place[0] for place in heap) <= inflation * deviation**2:
                return LineCells(tuple(place[2] for place in heap), outside)
            for place in wide:
                heap.remove(place)
            heapq.heapify(heap)
            for _, _, _, stretch, low, high in wide or [heapq.heappop(heap) for _ in range(max(len(heap) // 4, 1))]:
                add(stretch, low, (low + high) / 2)
                add(stretch, (low + high) / 2, high)
    raise Unsupported(f"over {_MOST} cells")


def _window(
    stretches: Sequence[Stretch], tail: Fraction
) -> tuple[list[tuple[Stretch, Fraction, Fraction]], tuple[Fraction, Fraction]]:
    """Stretches with their ends, and at most the masses of both laws outside of them."""
    for half in range(4, _WIDEST + 1):
        parts = [
            (s, Fraction(-half) if s.low is None else s.low, Fraction(half) if s.high is None else s.high)
            for s in stretches
            if s.since <= half
        ]
        parts = [(s, low, high) for s, low, high in parts if low < high]
        masses = [
            1 - sum((_integral(s, (part,), low, high) for s, low, high in parts), start=flint.arb(0))
            for part in ("first", "second")
        ]
        first, second = (max(Ball.from_arb(mass, _BITS).upper, Fraction(0)) for mass in masses)
        if max(first, second) < tail:
            return parts, (first, second)
    raise Unsupported(f"no window of half length {_WIDEST} leaves less than {float(tail):.1e} outside")


def _integral(stretch: Stretch, parts: tuple[str, ...], low: Fraction, high: Fraction) -> flint.arb:
    """Mass of one density on an interval, or of the difference of two."""
    named = [getattr(stretch, part) for part in parts]

    def density(u: flint.acb, _: bool) -> flint.acb:
        value = named[0](u) if len(named) == 1 else named[0](u) - named[1](u)
        found: flint.acb = value * stretch.base(u)
        return found

    return flint.acb.integral(density, flint.acb(to_arb(low)), flint.acb(to_arb(high))).real


def _cell(stretch: Stretch, low: Fraction, high: Fraction) -> LineCell:
    mass = _integral(stretch, ("reference",), low, high)
    ends = Ball.from_arb(mass, _BITS)
    least = max(_scaled(ends.lower, up=False), 0)
    unsure = max(_scaled(ends.upper, up=True), 0) - least
    ranges = _range(stretch, low, high, 0), _range(stretch, low, high, 1)
    means = (
        _mean(stretch, parts, low, high, mass, ends)
        for parts, ends in zip((("first", "second"), ("second",)), ranges, strict=True)
    )
    return LineCell(least, unsure, (next(means), next(means)), ranges)


def _mean(
    stretch: Stretch, parts: tuple[str, ...], low: Fraction, high: Fraction, mass: flint.arb, within: _Ends
) -> _Ends:
    """Enclosure of the mean of D or B on a cell."""
    mean = _integral(stretch, parts, low, high) / mass
    if not mean.is_finite():
        return within
    inside = Ball.from_arb(mean, _BITS)
    return max(within[0], _scaled(inside.lower, up=False)), min(within[1], _scaled(inside.upper, up=True))


def _range(stretch: Stretch, low: Fraction, high: Fraction, which: int) -> _Ends:
    """All values of D or B on a cell: by the mean value theorem, where a derivative is known there."""

    def value(u: Any) -> Any:
        top = stretch.first(u) - stretch.second(u) if which == 0 else stretch.second(u)
        return top / stretch.reference(u)

    cell = flint.acb(to_arb(low).union(to_arb(high)))
    found = value(cell).real
    try:
        slope = value(flint.acb_series([cell, 1], prec=2))[1].real
    except ValueError:
        slope = flint.arb("nan")
    if slope.is_finite():
        if slope > 0 or slope < 0:
            one, other = (value(flint.acb(to_arb(end))).real for end in (low, high))
            better = one.union(other)
        else:
            middle = flint.acb(to_arb((low + high) / 2))
            better = value(middle).real + slope * (cell - middle).real
        if not found.is_finite() or better.rad() < found.rad():
            found = better
    if not found.is_finite():
        raise Unsupported("a density ratio could not be enclosed on a cell")
    ball = Ball.from_arb(found, _BITS)
    return _scaled(ball.lower, up=False), _scaled(ball.upper, up=True)


BETWEEN: Final = "cells"
"""How the engine of such a value is called."""

MOST_LEVEL: Final = 20
"""Level in nats beyond which the numbers of a cell are not known well enough."""

_FEWEST: Final = 200
"""Users below which sums of finitely many values are not spread out, so that no contour is short."""

_TAIL: Final = Fraction(1, 10**24)
_FINEST, _COARSEST = 2e-4, 1e-2
"""Smallest and largest share of the variance by which the two laws differ."""

_ONE_PASS: Final = Fraction(10**6)
"""Number that every value is far from, so that no second pass is made: the two laws differ by far more."""

_ROUGHER: Final = 4.0
_RATIO_BITS: Final = 160


@final
@dataclass(frozen=True, slots=True)
class Between:
    """Cells of the pairs of one source; they grow."""

    known: dict[tuple[ContinuousPair, float], LineCells] = field(default_factory=dict)

    def serves(self, reduced: Reduction, n: int) -> bool:
        """Whether every law of a source has densities on a line, and there are users enough."""
        if n < _FEWEST or reduced.bounds or not reduced.mixed:
            return False
        return all(isinstance(f(Fraction(1), "forward", None), LevelledPair) for f in reduced.mixed)

    def bracket(self, reduced: Reduction, n: int, eps: Fraction, width: float, question: Question) -> Bracket:
        """H(n) of the largest law at a level.

        - ``width``: relative width of values beside which a lattice of levels costs as much.
        """
        share = _COARSEST
        while share > max(24 * width, _FINEST):
            share /= _ROUGHER
        asked = Method(arithmetic="float64", rtol=share / 4, goal=_ONE_PASS)
        ends = list(self._ends(reduced, n, eps, question, share, asked))
        low, high = max(low for low, _ in ends), max(high for _, high in ends)
        evaluation = "finite laws on either side in convex order, on cells made once for all levels"
        return Bracket(low, high, "float64", BETWEEN, evaluation, aimed=width)

    def _ends(
        self, reduced: Reduction, n: int, eps: Fraction, question: Question, share: float, asked: Method
    ) -> Iterator[tuple[Fraction, Fraction]]:
        """Both ends for each law; of one that is certainly not the largest a wide upper end."""
        ratio = enclose(ratio_of(eps), _RATIO_BITS)
        places = [
            (pair, way == "reverse")
            for family in reduced.mixed
            for pair in [_pair(family(_upto(eps), "forward", None))]
            for way in DIRECTIONS[question]
            if not (pair.symmetric and way == "reverse" and question == "both")
        ]
        lows = [self._end(pair, n, ratio, reverse, share, asked, up=False) for pair, reverse in places]
        largest = max(lows)
        for (pair, reverse), low in zip(places, lows, strict=True):
            if low < largest:
                high = self._end(pair, n, ratio, reverse, _COARSEST, asked, up=True)
                if high <= largest:
                    yield low, high
                    continue
            yield low, self._end(pair, n, ratio, reverse, share, asked, up=True)

    def _end(
        self, pair: ContinuousPair, n: int, ratio: Ball, reverse: bool, share: float, asked: Method, *, up: bool
    ) -> Fraction:
        cells = self.known.get((pair, share))
        if cells is None:
            cells = self.known[pair, share] = cells_of(pair, tail=_TAIL, inflation=share)
        law, off = cells.law(ratio.lower if up else ratio.upper, reverse=reverse, up=up)
        try:  # others would refuse so many atoms, one after the other
            found = evaluate(
                law, n, replace(asked, engine=engine_class("contour").with_tolerance(asked.rtol, _RATIO_BITS))
            )
        except Unsupported:
            found = evaluate(law, n, asked)
        return found.upper + off if up else max(found.lower - off, Fraction(0))


def _pair(law: object) -> ContinuousPair:
    assert isinstance(law, LevelledPair)
    return law.pair


def _upto(eps: Fraction) -> Real:
    """A level at least as large: few of them, for sources whose worst pair depends on the level up to which it is."""
    top = Fraction(1, 1 << 12)
    while top < eps:
        top *= 4
    return ratio_of(top)
