r"""Which lines a law is cut into, and bounds on what they leave out (:mod:`symshuffle.engines.counting.walk`).

Evidence: *proved*, in balls, for whatever windows, exponents and slopes; doubles choose these only.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

import flint
import numpy as np

from symshuffle.base.errors import NotDecided
from symshuffle.base.numbers import Ball, ball_arguments, lower_end, to_arb, upper_end
from symshuffle.channels.law import Law
from symshuffle.engines.contours import saddle
from symshuffle.engines.contours.saddle import Array
from symshuffle.engines.counting.tails import NONE, multinomial
from symshuffle.engines.counting.walk_lines import Cut, Line, line_of

_SPARE: Final = 3.0
"""Exponent by which windows are wider than a Gaussian limit needs."""

_DOUBLINGS: Final = 60
_HALVINGS: Final = 30
"""How far, and how finely, a slope is looked for."""


def beyond(
    n: int, weights: list[flint.arb], values: list[flint.arb], moves: list[flint.arb], place: flint.arb, *, above: bool
) -> flint.arb:
    """Bound on E[exp(Y)] where Q is at least a place (or at most), Y and Q sums over n copies of values and moves."""
    shares = [float((w.log() + v).mid()) for w, v in zip(weights, values, strict=True)]
    slope = _slope(np.exp(np.array(shares) - max(shares)), np.array([float(m.mid()) for m in moves]), float(place) / n)
    phi = to_arb(Fraction(max(slope, 0.0) if above else min(slope, 0.0)))
    one = sum((w * (v + phi * m).exp() for w, v, m in zip(weights, values, moves, strict=True)), start=NONE)
    return (one.log() * n - phi * place).exp()


def _slope(shares: Array, moves: Array, place: float) -> float:
    """The slope at which weighted moves have a mean, about: the best in Chernoff's bound, where any is as true."""
    tilt = saddle.Tilt(moves - place, shares / shares.sum())
    side = -1.0 if tilt.slope(0.0) > 0 else 1.0
    low, high = 0.0, side / max(float(np.abs(tilt.values).max()), 1e-300)
    for _ in range(_DOUBLINGS):
        if tilt.slope(high) * side >= 0:
            break
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if tilt.slope(middle) * side > 0 else (middle, high)
    return low


def _window(n: int, shares: Array, moves: Array, quiet: float) -> tuple[float, float]:
    """Where a sum of moves lies but for about exp(-quiet), by its variance and its largest move (Bernstein)."""
    mean = float(shares @ moves)
    far = np.abs(moves - mean)
    half = math.sqrt(2 * quiet * n * float(shares @ far**2)) + quiet * float(far.max())
    return n * mean - half, n * mean + half


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """The lines of one law, and what they leave out.

    Parameters
    ----------
    law : Law
        Law of G, its atoms rising.
    n : int
        Number of copies.
    values, weights : list of arb
        Its atoms.
    c : Fraction
        The exponent in the bounds on what is left out, above 0.
    counted : list of arb
        1 for the atoms whose number t counts, else 0.
    first, last : int
        The window of that number.
    moves : list of arb
        For four atoms, what each adds to R.
    low, high : arb
        The window of R.
    since, until : int
        For four atoms ``d_0 + 1`` and ``d_1``, else 0.
    """

    law: Law
    n: int
    values: list[flint.arb]
    weights: list[flint.arb]
    c: Fraction
    counted: list[flint.arb]
    first: int
    last: int
    moves: list[flint.arb]
    low: flint.arb
    high: flint.arb
    since: int
    until: int

    @classmethod
    def of(cls, law: Law, n: int, rel: float) -> Plan:
        """Of a law in any order.

        Raises
        ------
        NotDecided
            If the order of two atoms is not known.
        """
        rising = sorted(law.atoms(), key=lambda atom: lower_end(atom[0]) + upper_end(atom[0]))
        law = Law(tuple(value for value, _ in rising), tuple(weight for _, weight in rising), law.singular)
        values, weights = list(ball_arguments(law.values)), list(ball_arguments(law.weights))
        if not all(low < high for low, high in itertools.pairwise(values)):
            raise NotDecided("which of two atoms is larger; raise bits")
        tilt = saddle.tilt(law)
        c = saddle.saddle_point(tilt, n)
        shares, quiet = tilt.tilted(c), _SPARE - math.log(rel)
        quiet += math.log(n) if len(values) == 4 else 0.0  # negative parts are bounded by n
        counted = [1, 0, 0, 1] if len(values) == 4 else [0, 1, 0][: len(values)]
        ends = _window(n, shares, np.array(counted, dtype=float), quiet)
        first, last = (min(max(round(end), 0), n) for end in ends)
        chosen = [flint.arb(k) for k in counted]
        if len(values) < 4:
            return cls(law, n, values, weights, Fraction(c), chosen, first, last, [], NONE, NONE, 0, 0)
        one, a, b, four = values
        turn = (four + one) / 2 - a
        moves = [turn, NONE, b - a, turn]
        ends = _window(n, shares, np.array([float(move.mid()) for move in moves]), quiet)
        low, high = (to_arb(Fraction(end)) for end in ends)
        each = (four - one) / 2
        # S is n a + each d + R: below 0 up to the last d at which the largest R leaves it there.
        since = math.floor(Ball.from_arb(-(n * a + high) / each).lower) + 1
        until = math.ceil(Ball.from_arb(-(n * a + low) / each).upper)
        until = max(min(until, n + 1), -n)
        since = max(min(since, until), -n)
        return cls(law, n, values, weights, Fraction(c), chosen, first, last, moves, low, high, since, until)

    @property
    def count(self) -> int:
        """How many lines there are."""
        return 1 + self.until - self.since

    @property
    def steps(self) -> float:
        """By how much counts change on all lines together, about."""
        length = self.last - self.first + 1
        if len(self.values) < 4:
            return 3.0 * length
        turn, _, gap, _ = (float(move.mid()) for move in self.moves)
        return length * (3 + (self.count - 1) * (2 + abs(turn / gap)))

    def lines(self) -> Iterator[Line]:
        """All of them."""
        if len(self.values) < 4:
            yield self._whole()
            return
        yield self._beyond_band()
        if self.since == self.until:
            return
        factors = Factors.of(self)
        for d in range(self.since, self.until):
            first = max(self.first + (self.first - d) % 2, abs(d))
            if first <= self.last:
                yield self._between(d, first, factors)

    def outside(self) -> flint.arb:
        """Bound on E[S_+] where t is outside of its window, with 0 as its lower end."""
        total = NONE
        if self.first > 0:
            total += self._positive(self.counted, flint.arb(self.first - 1), above=False)
        if self.last < self.n and len(self.values) > 2:
            total += self._positive(self.counted, flint.arb(self.last + 1), above=True)
        return total.union(NONE)

    def above(self) -> flint.arb:
        r"""Bound on :math:`E[S_+;\,d\le d_0]`, where there are four atoms, with 0 as its lower end."""
        return self._positive(self.moves, self.high, above=True).union(NONE) if self.moves else NONE

    def below(self) -> flint.arb:
        r"""Bound on :math:`E[S_-;\,d\ge d_1]`, where there are four atoms, with 0 as its lower end."""
        least = -self.values[0]
        if not self.moves or not least > 0:
            return NONE
        theta = to_arb(self.c) * (self.values[3] - self.values[0]) / 2
        ways = [-theta, NONE, NONE, theta]
        bound = beyond(self.n, self.weights, ways, self.moves, self.low, above=False)
        return (self.n * least * bound * (-theta * self.until).exp()).union(NONE)

    def _positive(self, moves: list[flint.arb], place: flint.arb, *, above: bool) -> flint.arb:
        """Bound on E[S_+] where a sum of moves is at least a place, or at most."""
        c = to_arb(self.c)
        tilted = [c * value for value in self.values]
        return beyond(self.n, self.weights, tilted, moves, place, above=above) / (c * flint.arb(1).exp())

    def _whole(self) -> Line:
        """All counts of at most three atoms: t counts the middle one, X the largest."""
        low, high, (small, large) = self.values[0], self.values[-1], (self.weights[0], self.weights[-1])
        masses: tuple[flint.arb, ...] = (flint.arb(1),)
        copies, start, slope = self.n, low * self.n, NONE
        if len(self.values) == 3:
            copies, slope = self.n - self.first, self.values[1] - low
            masses, start = self._of_count(), self.values[1] * self.first + low * copies
        return line_of(masses, copies, 1, (large, small), (start, slope, high - low))

    def _beyond_band(self) -> Line:
        """S where d is at least d_1: t counts the first atom and the last, X the last."""
        (one, a, b, four), (least, left, right, most) = self.values, self.weights
        mean = (left * a + right * b) / (left + right)
        payoff = one * self.first + mean * (self.n - self.first), one - mean, four - one
        cut = Cut(self.until + self.first - 1, 1, 1)
        return line_of(self._of_count(), self.first, -1, (most, least), payoff, cut)

    def _between(self, d: int, first: int, factors: Factors) -> Line:
        """S_+ at one d: t counts the first atom and the last, X the third."""
        (one, a, b, four), (_, left, right, _) = self.values, self.weights
        length, k, copies = (self.last - first) // 2 + 1, (first - d) // 2, self.n - first
        payoff = four * (k + d) + one * k + a * copies, four + one - 2 * a, b - a
        return line_of(factors.masses(k, d, copies, length), copies, 2, (right, left), payoff)

    def _of_count(self) -> tuple[flint.arb, ...]:
        """The law of what t counts, over its window."""
        own = sum((w * k for w, k in zip(self.weights, self.counted, strict=True)), start=NONE)
        other = sum((w * (1 - k) for w, k in zip(self.weights, self.counted, strict=True)), start=NONE)
        odds, n = own / other, self.n
        start = multinomial((self.first, n - self.first), (own, other))
        return tuple(_run(start, (odds * (n - k) / (k + 1) for k in range(self.first, self.last))))


def _run(start: flint.arb, ratios: Iterable[flint.arb]) -> list[flint.arb]:
    """Numbers of which each is the one before times a ratio."""
    return list(itertools.accumulate(ratios, lambda one, ratio: one * ratio, initial=start))


@final
@dataclass(frozen=True, slots=True)
class Factors:
    """What the counts of the first atom, of the last and of the two between contribute to a probability.

    Parameters
    ----------
    low, high, rest : list of arb
        For each count, from the ones below on, up to one factor for all of a list.
    least, most, fewest : int
        The first count of each.
    """

    low: list[flint.arb]
    high: list[flint.arb]
    rest: list[flint.arb]
    least: int
    most: int
    fewest: int

    @classmethod
    def of(cls, plan: Plan) -> Factors:
        """For all lines between."""
        one, left, right, four = plan.weights
        # At a difference d, first and last counts are (m - d)/2 and (m + d)/2.
        spans = [(-plan.until, -plan.since), (plan.since, plan.until)]
        ranges = [(max((plan.first + low) // 2, 0), (plan.last + high + 1) // 2) for low, high in spans]
        ranges.append((plan.n - plan.last, plan.n - plan.first))
        found = []
        for weight, (first, last) in zip((one, four, left + right), ranges, strict=True):
            start = (first * weight.log() - flint.arb(first + 1).lgamma()).exp()
            found.append(_run(start, (weight / (k + 1) for k in range(first, last))))
        found[2] = [factor * flint.arb(plan.n + 1).lgamma().exp() for factor in found[2]]
        return cls(found[0], found[1], found[2], *(first for first, _ in ranges))

    def masses(self, k: int, d: int, rest: int, length: int) -> tuple[flint.arb, ...]:
        """Probabilities of counts k, k + d and ``rest``, then k + 1, k + d + 1 and two less, and so on."""
        start = rest - self.fewest
        low, high = self.low[k - self.least :], self.high[k + d - self.most :]
        others = self.rest[start : start - 2 * length : -2] if start >= 2 * length else self.rest[start::-2]
        return tuple(f * g * h for f, g, h in zip(low[:length], high[:length], others, strict=True))
