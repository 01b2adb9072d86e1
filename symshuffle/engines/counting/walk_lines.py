"""Lines of count vectors: sums over a step t of a binomial tail each (:mod:`symshuffle.engines.counting.walk`).

Evidence: *proved*, in balls and whole numbers; a double only says from which end a line is summed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import flint

from symshuffle.base.errors import NotDecided
from symshuffle.base.numbers import Ball
from symshuffle.engines.counting.tails import NONE, tails


@final
@dataclass(frozen=True, slots=True)
class Line:
    """Count vectors with a step t: X of ``copies`` - ``loss`` t copies is binomial, and S = start + slope t + unit X.

    Parameters
    ----------
    masses : tuple of arb
        The probability of each step, of all counts but X.
    copies, loss : int
        How many copies X is of at t = 0, and how many fewer after each step.
    up, down : arb
        What chance a copy has to count in X, or not.
    start, slope, unit : arb
        The payoff.
    cut : Cut
        Above which X it counts.
    """

    masses: tuple[flint.arb, ...]
    copies: int
    loss: int
    up: flint.arb
    down: flint.arb
    start: flint.arb
    slope: flint.arb
    unit: flint.arb
    cut: Cut

    def expected(self) -> flint.arb:
        """The payoff above the cut, summed over the line; where the cut is in doubt, with that doubt."""
        steps = range(len(self.masses))
        if self._distance(0) < self._distance(len(self.masses) - 1):
            steps = steps[::-1]  # tails that grow lose no digits
        path = [(self.copies - self.loss * t, self.cut.first(t)) for t in steps]
        total, wrong = NONE, NONE
        # What S is on average, T being 1, and how it changes from one step to the next.
        each, share = (self.slope - self.unit * self.up * self.loss) * steps.step, self.unit * self.down
        mean = self.start + self.unit * self.up * path[0][0] + self.slope * steps.start
        for t, (copies, count), (tail, mass) in zip(steps, path, tails(self.up, self.down, path), strict=True):
            if count <= copies:
                total += self.masses[t] * (mean * tail + share * count * mass)
            if self.cut.doubtful(t):
                wrong += self.masses[t]
            mean += each
        doubt = self.cut.width() * self.unit * wrong
        return total + doubt.union(-doubt)

    def _distance(self, t: int) -> float:
        """From the mean to the cut, in standard deviations: a guess of which end of the line has the smaller tails."""
        copies, up = self.copies - self.loss * t, float(self.up.mid())
        return (self.cut.first(t) - copies * up) / math.sqrt(copies * up * (1 - up) + 1)


@final
@dataclass(frozen=True, slots=True)
class Cut:
    """A threshold ``(origin + slope t)/2**point``, off by at most ``error/2**point``: X counts above it.

    Parameters
    ----------
    origin, slope, point : int
        The threshold in fixed point.
    error : int
        Bound on its error, in the same units.
    """

    origin: int
    slope: int
    point: int = 0
    error: int = 0

    @classmethod
    def of(cls, origin: flint.arb, slope: flint.arb, length: int) -> Cut:
        """Around two balls, for steps 0 to ``length``.

        Raises
        ------
        NotDecided
            If it is off by half a count or more.
        """
        point = flint.ctx.prec
        (first, off), (each, more) = (_fixed(number, point) for number in (origin, slope))
        cut = cls(first, each, point, off + length * more)
        if 2 * cut.error >= 2**point:
            raise NotDecided("from which count on a sum is positive; raise bits")
        return cut

    def first(self, t: int) -> int:
        """The first whole number above it."""
        return ((self.origin + t * self.slope) >> self.point) + 1

    def doubtful(self, t: int) -> bool:
        """Whether a whole number is so close that it may be on the other side of the true threshold."""
        part = (self.origin + t * self.slope) & ((1 << self.point) - 1)
        return self.error > 0 and not self.error <= part < (1 << self.point) - self.error

    def width(self) -> flint.arb:
        """How far from the true threshold a number on the wrong side is at most."""
        return flint.arb(self.error) / flint.arb(2) ** self.point


def _fixed(number: flint.arb, point: int) -> tuple[int, int]:
    """A ball in units of ``2**-point``: a whole number, and how far the truth is from it at most."""
    ball = Ball.from_arb(number)
    found = math.floor(ball.midpoint * 2**point)
    return found, math.ceil(max(ball.upper * 2**point - found, found - ball.lower * 2**point))


def line_of(
    masses: tuple[flint.arb, ...],
    copies: int,
    loss: int,
    chances: tuple[flint.arb, flint.arb],
    payoff: tuple[flint.arb, flint.arb, flint.arb],
    cut: Cut | None = None,
) -> Line:
    """A line, X having these chances among its copies; cut where its payoff is 0, if nowhere else."""
    (up, down), (start, slope, unit) = chances, payoff
    if cut is None:
        cut = Cut.of(-start / unit, -slope / unit, len(masses))
    return Line(masses, copies, loss, up / (up + down), down / (up + down), start, slope, unit, cut)
