"""The profile of one round: two-sided values at the levels of a lattice, each computed once."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from statistics import NormalDist
from typing import Final, final

from symshuffle.accountants.bounds.brackets import (
    bound_at,
    bounds_nothing_from,
    first_guess,
    ratio_of,
    smallest_eps,
)
from symshuffle.accountants.bounds.evaluate import Method
from symshuffle.accountants.deployment.reduced import Reduction
from symshuffle.accountants.rounds.cells import BETWEEN, MOST_LEVEL, Between
from symshuffle.accountants.rounds.chord_levels import ends_at, level_below, widest
from symshuffle.accountants.rounds.dominating import Ends, Profile
from symshuffle.base import cost
from symshuffle.base.choices import Question
from symshuffle.base.crossings import halved
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.levels import LARGEST_LEVEL
from symshuffle.base.numbers import format_decimal
from symshuffle.base.results import Bracket

ROUND_WIDTH: Final = 1e-3
_ROUGH: Final = 1e-2
"""Relative width of values that only say where to look."""

_LEAST_VARIATION: Final = Fraction(1, 10**90)
"""Of rounds that tell less the squares of losses come near the end of the range of doubles."""

_LINEAR: Final = Fraction(1, 10**6)
"""Total variation below which the parameter is a multiple of it."""

_MOST_LEVELS_OF_PAIR: Final = 1_000
"""To which level real datasets are followed farther in the order in which they reveal less."""

_NEAR_END: Final = Fraction(4, 5)
_AT_END: Final = Fraction(1, 10**9)
"""Share of the last level above which a profile that ends is cut off by its end, and how closely that is found."""


_CHORDS_PER_VALUE: Final = 128
"""By how much more than a value what chords say between levels may be open: eps then moves by less than by the step of
the lattice, since a chord errs by about a fifth of that, and delta falls by a multiple of what eps rises."""

_CHORD: Final = 400
"""Terms that take as long as both ends at a level between known ones: cost only."""

_LEAST_FELT: Final = 10_000
"""The target of one round, in what may be left beyond the last level: smaller values are to be known as well as it."""

_FLATTER: Final = 100
"""By how much less than its width a value is known from those around it, where it is not computed."""

_FARTHER: Final = Fraction(1, 20), Fraction(1, 3)
"""How much farther than necessary the last level may be; and that of densities, each value of which costs much."""


def _too_wide(found: Bracket, width: float) -> bool:
    """Whether a value is to be had more narrowly."""
    if found.width <= 2 * Fraction(width) * found.upper:
        return False
    return found.aimed is None or (found.engine == BETWEEN and found.aimed > 2 * width)


@final
@dataclass(frozen=True, slots=True)
class OneRound:
    """Rounds that are alike, with the values of their profile that are known already.

    - ``request``: engine, arithmetic and bits of every value.
    """

    reduced: Reduction
    n: int
    times: int
    request: Method
    known: dict[Fraction, tuple[Bracket, Bracket]] = field(default_factory=dict)
    cells: Between = field(default_factory=Between)
    trial: list[bool] = field(default_factory=list)

    @property
    def dense(self) -> bool:
        """Whether values are put between those of two finite laws, since the source has densities and doubles do."""
        asked, source = self.request.arithmetic == "float64" and self.request.engine is None, self.reduced
        return asked and source.steps == 1 and not source.cases and self.cells.serves(source, self.messages)

    @property
    def messages(self) -> int:
        """Fewest honest messages of a round: the smallest batch, or all users, less the colluding ones.

        Independent dropout is not applied.
        """
        return self.reduced.group.messages(self.n)

    def values(self, eps: Fraction, width: float) -> tuple[Bracket, Bracket]:
        """Both orders of one round at a level; of a bound the larger of the two stands for both.

        A profile falls: where no work is left, what is known at a smaller level is taken for its upper end.
        """
        found = self.known.get(eps)
        if found is None or (any(_too_wide(b, width) for b in found) and cost.left()):
            nearer = [] if cost.left() else [level for level in self.known if level < eps]
            if nearer:
                one, other = (replace(b, lower=Fraction(0), aimed=width) for b in self.known[max(nearer)])
                found = one, other
            elif not self.reduced.real or self.reduced.same_both_ways(ratio_of(eps), self.request.bits):
                both = self._delta(eps, width, "both")
                found = both, both
            else:
                found = self._delta(eps, width, "forward"), self._delta(eps, width, "reverse")
            self.known[eps] = found
        return found

    def smallest(self, delta: Fraction) -> Fraction:
        """The eps of one round, on the safe side."""
        if self.dense:
            last = self.last_level(delta)  # its values are kept in ``self.known``
            both = [self._known(way, self.known, Fraction(0), delta) for way in (0, 1)]
            return max((level_below(known, delta) or last for known in both), default=last)
        asked = replace(self.request, rtol=ROUND_WIDTH)
        guess = first_guess(self.reduced, self.n, delta, asked)
        return smallest_eps(self.reduced, self.n, delta, asked, guess).meets.x

    def alone(self) -> Iterator[tuple[str, OneRound]]:
        """Real neighbouring datasets of this source, each as a part of its own."""
        for datasets, real in self.reduced.real_pairs(self.n):
            yield datasets, replace(self, reduced=real, known={}, cells=Between(), trial=[])

    def _delta(self, eps: Fraction, width: float, question: Question) -> Bracket:
        if self.dense and eps <= MOST_LEVEL and self._cells_serve():
            with suppress(Unsupported):
                return self.cells.bracket(self.reduced, self.messages, eps, width, question)
        return bound_at(self.reduced, self.n, ratio_of(eps), replace(self.request, direction=question, rtol=width))

    def _cells_serve(self) -> bool:
        """Whether cells bracket the total variation: of many users and a long tail their finite laws do not."""
        if not self.trial:
            self.trial.append(False)
            with suppress(Unsupported):
                found = self.cells.bracket(self.reduced, self.messages, Fraction(0), _ROUGH, "both")
                self.trial[0] = found.upper <= 2 * found.lower
        return self.trial[0]

    @property
    def variation(self) -> Fraction:
        """The total variation, rounded up."""
        return max(b.upper for b in self.values(Fraction(0), _ROUGH))

    @property
    def telling(self) -> bool:
        """Whether the messages tell anything: decided by a rational."""
        return self.variation > 0

    def unit(self) -> Fraction:
        """Parameter mu of the Gaussian mechanism with the same total variation; a scale for grids, not a bound."""
        variation = self.variation
        if variation < _LINEAR:  # inv_cdf is linear here; (1 + variation) / 2 loses digits in doubles
            return variation * Fraction(math.sqrt(2 * math.pi))
        return Fraction(2 * NormalDist().inv_cdf((1 + min(float(variation), 1 - 1e-12)) / 2))

    def scale(self) -> float:
        """Return :meth:`unit` as a double; refuse a total variation below 1e-90, for the range of doubles."""
        if 0 < self.variation < _LEAST_VARIATION:
            shown = format_decimal(self.variation, digits=4, up=True)
            least = format_decimal(_LEAST_VARIATION, digits=4, up=True)
            asked = f"0, or at least {least}; the bound at a larger local budget covers a smaller one"
            raise InputError("total variation of one round", shown, asked)
        return float(self.unit())

    def revealed(self) -> tuple[Ends, Ends]:
        """What is left of both orders at the largest level, from below and from above."""
        try:
            forward, reverse = self.values(Fraction(LARGEST_LEVEL), 1e-6)
        except Unsupported:  # out of an engine's reach: then nothing is taken to be revealed
            return (Fraction(0), Fraction(0)), (Fraction(0), Fraction(0))
        # A mass at that level is not quite one at infinity; at the levels that are asked about it is by 2^-40 less.
        share = 1 - Fraction(1, 2**40)
        one, other = ((max(b.lower, Fraction(0)) * share, b.upper) for b in (forward, reverse))
        return one, other

    def last_level(self, beyond: Fraction) -> Fraction:
        """A level from which on one round has at most ``beyond`` more than at every level, about the smallest."""
        most = beyond + max(high for _, high in self.revealed())
        found = self._last(most, most)
        if found is None:
            least = format_decimal(beyond, digits=3, up=False)
            raise Unsupported(f"no level up to {LARGEST_LEVEL} leaves at most {least} to one round")
        return found

    def end_within(self, level: Fraction) -> Fraction | None:
        """The last level with a value above 0, from below, where that is not far below ``level``; None elsewhere."""
        low, high = level * _NEAR_END, level * Fraction(101, 100)
        if not self._ends_at(high) or self._ends_at(low):
            return None
        return halved(self._ends_at, low, high, settled=lambda low, high: high - low <= high * _AT_END)[0]

    def _ends_at(self, level: Fraction) -> bool:
        """Whether the profile is known to be 0 from a level on."""
        return bounds_nothing_from(self.reduced, ratio_of(level), self.request)

    def _last(self, *most: Fraction) -> Fraction | None:
        """About the smallest level at which either order has at most so much; None if there is none."""

        def small(level: Fraction) -> bool:
            both = zip(self.values(level, _ROUGH), most, strict=True)
            return all(found.upper <= limit for found, limit in both)

        low, high = Fraction(0), Fraction(self.scale() or 1)
        if small(low):
            return low
        while not small(high):
            if high >= LARGEST_LEVEL:
                return None
            low, high = high, min(high * Fraction(3, 2), Fraction(LARGEST_LEVEL))
        return halved(small, low, high, settled=lambda low, high: high - low <= high * _FARTHER[self.dense])[1]

    def _levels(self, beyond: Fraction, step: Fraction) -> int:
        """The number of the last level on a lattice.

        Of a pair either order is to be reached: what one reveals is the other's loss far below 0, and a law below it
        would lose that.
        """
        last = self.last_level(beyond)
        if self.reduced.real:
            farther = self._last(*(beyond + high for _, high in self.revealed()))
            most = max(last, step * _MOST_LEVELS_OF_PAIR)
            last = max(last, most if farther is None else min(farther, most))
        return max(math.ceil(last / step), 2)

    def _ends(self, levels: list[Fraction], beyond: Fraction, width: float) -> tuple[list[Ends], list[Ends]]:
        """Both orders at rising levels; of densities those between the ones that chords leave open."""
        if not self.dense:
            return self._ends_of_steps(levels, width)
        share, least = Fraction(_CHORDS_PER_VALUE * width), beyond * _LEAST_FELT
        self.values(levels[0], width)
        asked = {levels[0]}
        while True:
            both = [self._known(way, asked, 2 * Fraction(width), least) for way in (0, 1)]
            wanted = {i for known in both for i in widest(known, levels, share, least)}
            cost.add(2 * _CHORD * len(levels))
            if not (wanted and cost.left()):
                return ends_at(both[0], levels), ends_at(both[1], levels)
            for i in wanted:
                likely = max(ends_at(known, levels[i : i + 1])[0][1] for known in both)
                self.values(levels[i], min(width * max(1.0, float(least / likely)), _ROUGH))
                asked.add(levels[i])

    def _ends_of_steps(self, levels: list[Fraction], width: float) -> tuple[list[Ends], list[Ends]]:
        """Both orders at rising levels.

        Profiles fall: between two levels that enclose a value narrowly enough it is not computed.
        """
        values: list[tuple[Bracket, Bracket]] = [self.values(levels[0], width)] * len(levels)
        values[-1] = self.values(levels[-1], width)
        between = [(0, len(levels) - 1)]
        while between:
            i, j = between.pop()
            if j - i < 2:
                continue
            around = [replace(a, lower=b.lower) for a, b in zip(values[i], values[j], strict=True)]
            if all(value.width <= Fraction(width) / _FLATTER * value.upper for value in around):
                values[i + 1 : j] = [(around[0], around[1])] * (j - i - 1)
            else:
                middle = (i + j) // 2
                values[middle] = self.values(levels[middle], width)
                between += [(middle, j), (i, middle)]
        one, other = ([(value[way].lower, value[way].upper) for value in values] for way in (0, 1))
        return one, other

    def _known(
        self, way: int, asked: Container[Fraction], width: Fraction, least: Fraction
    ) -> list[tuple[Fraction, Ends]]:
        """Known values of one order by level: those asked for, and others no wider than asked."""
        found = []
        for level in sorted(self.known):
            value = self.known[level][way]
            if level in asked or value.width <= width * max(value.upper, least):
                found.append((level, (max(value.lower, Fraction(0)), min(value.upper, Fraction(1)))))
        return found

    def profile(self, step: Fraction, beyond: Fraction, width: float) -> Profile:
        """The profile on a lattice, up to a level that leaves at most ``beyond``."""
        one, other = self.revealed()
        lows = one[0], other[0]
        last = self._levels(beyond, step)
        forward, reverse = self._ends([i * step for i in range(last + 1)], beyond, width)
        return Profile.of_ends(step, forward, reverse, lows)
