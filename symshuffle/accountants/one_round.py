"""The profile of one round: two-sided values at the levels of a lattice, each computed once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from statistics import NormalDist
from typing import Final, final

from symshuffle.accountants.bounds import bound_at, first_guess, ratio_of, smallest_eps
from symshuffle.accountants.covered import Reduction
from symshuffle.accountants.dominating import Profile
from symshuffle.accountants.dropout import few_counts, means_between, partial_cdf
from symshuffle.accountants.evaluate import Request
from symshuffle.accountants.participation import EVERYBODY
from symshuffle.choices import Question
from symshuffle.errors import Unsupported
from symshuffle.mechanisms.parameters import LARGEST_LEVEL
from symshuffle.results import Bracket

_USUAL: Final = 1e-3
_ROUGH: Final = 1e-2
"""Relative width of values that only say where to look."""

_COUNTS_PER_LEVELS: Final = 12
"""By how much more than a value the noise may differ between numbers of messages: as the step of a lattice lets it."""


@final
@dataclass(frozen=True, slots=True)
class OneRound:
    """Rounds that are alike, with the values of their profile that are known already.

    Parameters
    ----------
    reduced : Reduction
        What every user runs.
    n, times : int
        Number of users, and of rounds.
    request : Request
        Engine, rigour and bits of every value.
    known : dict
        From levels to both orders; it grows.
    of_messages : dict
        With dropout: the same rounds by how many users send; it grows.
    """

    reduced: Reduction
    n: int
    times: int
    request: Request
    known: dict[Fraction, tuple[Bracket, Bracket]] = field(default_factory=dict)
    of_messages: dict[int, OneRound] = field(default_factory=dict)

    @property
    def dropout(self) -> Fraction:
        """With which probability each other user drops out."""
        return self.reduced.participation.dropout or Fraction(0)

    @property
    def usual_width(self) -> float:
        """Of single values and levels: with dropout each is a mean of many."""
        return _ROUGH if self.dropout else _USUAL

    def with_messages(self, m: int) -> OneRound:
        """The same round where exactly m users send, for all others to be told of it."""
        if m not in self.of_messages:
            alone = replace(self.reduced, participation=EVERYBODY)
            self.of_messages[m] = replace(self, reduced=alone, n=m, known={}, of_messages={})
        return self.of_messages[m]

    def values(self, eps: Fraction, width: float) -> tuple[Bracket, Bracket]:
        """Both orders of one round at a level; of a bound the larger of the two stands for both."""
        found = self.known.get(eps)
        if found is None or any(b.width > 2 * Fraction(width) * b.upper and b.aimed is None for b in found):
            if not self.reduced.real or self.reduced.same_both_ways(ratio_of(eps), self.request.bits):
                both = self._delta(eps, width, Question.BOTH)
                found = both, both
            else:
                found = self._delta(eps, width, Question.FORWARD), self._delta(eps, width, Question.REVERSE)
            self.known[eps] = found
        return found

    def smallest(self, delta: Fraction) -> Fraction:
        """The eps of one round, on the safe side."""
        asked = replace(self.request, rel=self.usual_width)
        guess = first_guess(self.reduced, self.n, delta, asked)
        return smallest_eps(self.reduced, self.n, delta, asked, guess).meets

    def alone(self) -> Iterator[tuple[str, OneRound]]:
        """Real neighbouring datasets of this source, each as a part of its own."""
        for datasets, real in self.reduced.real_pairs(self.n):
            yield datasets, replace(self, reduced=real, known={}, of_messages={})

    def _delta(self, eps: Fraction, width: float, question: Question) -> Bracket:
        return bound_at(self.reduced, self.n, ratio_of(eps), replace(self.request, direction=question, rel=width))

    def scale(self) -> float:
        """The parameter of the Gaussian mechanism of equal total variation: no bound, it only sizes the lattice."""
        if self.dropout:
            return self.with_messages(round(self.reduced.participation.expected(self.n))).scale()
        variation = min(float(max(b.upper for b in self.values(Fraction(0), _ROUGH))), 1 - 1e-12)
        return 2 * NormalDist().inv_cdf((1 + variation) / 2)

    def revealed(self) -> tuple[Fraction, Fraction, Fraction]:
        """What is left at the largest level: of both orders from below, and of the larger from above."""
        if self.dropout:  # with fewer messages it is not less
            return self.with_messages(self.n).revealed()
        try:
            forward, reverse = self.values(Fraction(LARGEST_LEVEL), 1e-6)
        except Unsupported:  # out of an engine's reach: then nothing is taken to be revealed
            return Fraction(0), Fraction(0), Fraction(0)
        # A mass at that level is not quite one at infinity; at the levels that are asked about it is by 2^-40 less.
        share = 1 - Fraction(1, 2**40)
        one, other = (max(b.lower, Fraction(0)) * share for b in (forward, reverse))
        return one, other, max(forward.upper, reverse.upper)

    def last_level(self, beyond: Fraction) -> Fraction:
        """A level from which on one round has at most ``beyond`` more than at every level, about the smallest."""
        most = beyond + self.revealed()[2]
        low, high = Fraction(0), Fraction(self.scale() or 1)
        if max(b.upper for b in self.values(low, _ROUGH)) <= most:
            return low
        while max(b.upper for b in self.values(high, _ROUGH)) > most:
            if high >= LARGEST_LEVEL:
                raise Unsupported(f"no level up to {LARGEST_LEVEL} leaves at most {float(most):.3g} to one round")
            low, high = high, min(high * Fraction(3, 2), Fraction(LARGEST_LEVEL))
        while high - low > high / 20:
            middle = (low + high) / 2
            small = max(b.upper for b in self.values(middle, _ROUGH)) <= most
            low, high = (low, middle) if small else (middle, high)
        return high

    def profiles(self, step: Fraction, beyond: Fraction, width: float) -> tuple[Profile, Profile]:
        """Profiles on a lattice, up to a level that leaves at most ``beyond``: for a law above, and for one below.

        They are one and the same, but for dropout: there the number of messages is rounded, down for the one and up for
        the other, so that few numbers have to be asked about and are the same at all levels.
        """
        if not self.dropout:
            last = max(math.ceil(self.last_level(beyond) / step), 2)
            found = [self.values(i * step, width) for i in range(last + 1)]
            own = Profile.of(step, [f for f, _ in found], [r for _, r in found], self.revealed()[:2])
            return own, own
        counts = few_counts(self.n, self.dropout, beyond / 16, _COUNTS_PER_LEVELS * width)
        each, below = [self.with_messages(m) for m in counts], partial_cdf(self.n, self.dropout)
        last = max(math.ceil(each[min(1, len(each) - 1)].last_level(beyond) / step), 2)
        above: list[list[tuple[Fraction, Fraction]]] = [[], []]
        under: list[list[tuple[Fraction, Fraction]]] = [[], []]
        for i in range(last + 1):
            known = [one.values(i * step, width) for one in each]
            for order in (0, 1):
                high, low = means_between(counts, [both[order] for both in known], below)
                above[order].append(high)
                under[order].append(low)
        return (
            Profile.of_ends(step, above[0], above[1], (Fraction(0), Fraction(0))),
            Profile.of_ends(step, under[0], under[1], self.revealed()[:2]),
        )
