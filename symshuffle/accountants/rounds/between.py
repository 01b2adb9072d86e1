"""Values of a profile of densities between those of two finite laws, whose cells are made once for all levels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final, final

from symshuffle.accountants.bounds.brackets import ratio_of
from symshuffle.accountants.bounds.evaluate import Request, evaluate
from symshuffle.accountants.covering.reduced import Reduction
from symshuffle.accountants.rounds.cells import LineCells, cells_of
from symshuffle.base.choices import Direction, Question, Rigour
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Ball, Real, enclose
from symshuffle.base.results import Bracket
from symshuffle.channels.continuous_law import ContinuousPair, LevelledPair
from symshuffle.engines.registry import engine_class

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
_BITS: Final = 160


@final
@dataclass(frozen=True, slots=True)
class Between:
    """Cells of the pairs of one source; they grow."""

    known: dict[tuple[ContinuousPair, float], LineCells] = field(default_factory=dict)

    def serves(self, reduced: Reduction, n: int) -> bool:
        """Whether every law of a source has densities on a line, and there are users enough."""
        if n < _FEWEST or reduced.bounds or not reduced.mixed:
            return False
        return all(isinstance(f(Fraction(1), Direction.FORWARD, None), LevelledPair) for f in reduced.mixed)

    def bracket(self, reduced: Reduction, n: int, eps: Fraction, width: float, question: Question) -> Bracket:
        """H(n) of the largest law at a level.

        - ``width``: relative width of values beside which a lattice of levels costs as much.
        """
        share = _COARSEST
        while share > max(24 * width, _FINEST):
            share /= _ROUGHER
        asked = Request(rigour=Rigour.FLOAT64, rel=share / 4, goal=_ONE_PASS)
        ends = list(self._ends(reduced, n, eps, question, share, asked))
        low, high = max(low for low, _ in ends), max(high for _, high in ends)
        how = "finite laws on either side in convex order, on cells made once for all levels"
        return Bracket(low, high, Rigour.FLOAT64, BETWEEN, how, aimed=width)

    def _ends(
        self, reduced: Reduction, n: int, eps: Fraction, question: Question, share: float, asked: Request
    ) -> Iterator[tuple[Fraction, Fraction]]:
        """Both ends for each law; of one that is certainly not the largest a wide upper end."""
        ratio = enclose(ratio_of(eps), _BITS)
        places = [
            (pair, way is Direction.REVERSE)
            for family in reduced.mixed
            for pair in [_pair(family(_upto(eps), Direction.FORWARD, None))]
            for way in question.directions
            if not (pair.symmetric and way is Direction.REVERSE and question is Question.BOTH)
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
        self, pair: ContinuousPair, n: int, ratio: Ball, reverse: bool, share: float, asked: Request, *, up: bool
    ) -> Fraction:
        cells = self.known.get((pair, share))
        if cells is None:
            cells = self.known[pair, share] = cells_of(pair, tail=_TAIL, inflation=share)
        law, off = cells.law(ratio.lower if up else ratio.upper, reverse=reverse, up=up)
        try:  # others would refuse so many atoms, one after the other
            found = evaluate(law, n, replace(asked, engine=engine_class("contour").aiming(asked.rel, _BITS)))
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
