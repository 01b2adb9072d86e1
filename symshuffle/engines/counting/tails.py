r"""Upper tails of binomial counts along a path, each updated from the one before, in balls.

For X binomial(N, r), q = 1 - r, :math:`b=P(X=k)` and :math:`T=P(X\ge k)`,

.. math:: T_{N,k+1}=T-b,\quad T_{N,k-1}=T+P(X=k-1),\quad T_{N+1,k}=T+r\,P(X=k-1),\quad T_{N-1,k}=T-\frac kN\,b,

where :math:`P(X=k-1)=b\,\frac k{N-k+1}\frac qr`, and b follows by factors of its own. Only where a path begins a tail
is summed: the terms left out there fall faster than a geometric series with the quotient of the next two.

First moments need nothing else: :math:`E[X;X\ge k]=Nr\,T+kq\,b`, since :math:`X\binom NX=N\binom{N-1}{X-1}`.

Evidence: *proved*; balls carry what every step rounds, so that a long path makes them wide, never wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, final

import flint

from symshuffle.base.errors import NotDecided

NONE: Final = flint.arb(0)
ALL: Final = flint.arb(1)

_GUARD: Final = 8
"""Bits beyond the precision below which the rest of a series is left out, and bounded."""


def multinomial(counts: tuple[int, ...], weights: tuple[flint.arb, ...]) -> flint.arb:
    """The probability of some counts; an exact 0 as weight may have the count 0 only."""
    found = flint.arb(sum(counts) + 1).lgamma()
    for count, weight in zip(counts, weights, strict=True):
        if count:
            found += count * weight.log() - flint.arb(count + 1).lgamma()
    return found.exp()


@final
@dataclass(slots=True)
class Tail:
    """Where a path stands: X binomial(copies, r), and what it has from a count on.

    Parameters
    ----------
    down, spread : arb
        1 - r and its inverse.
    odds, against : arb
        r/(1 - r) and its inverse.
    copies, count : int
        N and k, with 1 <= k <= N.
    mass, tail : arb
        P(X = k) and P(X >= k).
    """

    down: flint.arb
    spread: flint.arb
    odds: flint.arb
    against: flint.arb
    copies: int
    count: int
    mass: flint.arb
    tail: flint.arb

    @classmethod
    def at(cls, up: flint.arb, down: flint.arb, copies: int, count: int) -> Tail:
        """From nothing: by the series that falls, on whichever side of the mean."""
        mass = multinomial((count, copies - count), (up, down))
        odds, against = up / down, down / up
        if count > float(up.mid()) * copies:
            tail = _falling(mass, ((copies - k, k + 1) for k in range(count, copies)), odds)
        else:
            below = mass * count / (copies - count + 1) * against
            tail = 1 - _falling(below, ((k, copies - k + 1) for k in range(count - 1, 0, -1)), against)
        return cls(down, 1 / down, odds, against, copies, count, mass, tail)

    def raise_count(self) -> None:
        """To P(X >= k + 1)."""
        self.tail -= self.mass
        self.mass *= self.odds * (self.copies - self.count) / (self.count + 1)
        self.count += 1

    def lower_count(self) -> None:
        """To P(X >= k - 1)."""
        self.mass *= self.against * self.count / (self.copies - self.count + 1)
        self.tail += self.mass
        self.count -= 1

    def add_copy(self) -> None:
        """One copy more: it counts where all others were one short."""
        mass = self.mass * self.down / (self.copies - self.count + 1)
        self.tail += mass * self.count
        self.mass = mass * (self.copies + 1)
        self.copies += 1

    def drop_copy(self) -> None:
        """One copy less."""
        mass = self.mass / self.copies
        self.tail -= mass * self.count
        self.mass = mass * self.spread * (self.copies - self.count)
        self.copies -= 1

    def move(self, copies: int, count: int) -> None:
        """To another place; copies come first and go last, so that the count stays between 1 and N on the way."""
        while self.copies < copies:
            self.add_copy()
        while self.count < count:
            self.raise_count()
        while self.count > count:
            self.lower_count()
        while self.copies > copies:
            self.drop_copy()


def _falling(first: flint.arb, ratios: Iterable[tuple[int, int]], factor: flint.arb) -> flint.arb:
    """A sum of terms from the first on, given by quotients that fall, times a factor; cut where hardly any is left."""
    total, term, enough = first, first, flint.arb(2) ** -(flint.ctx.prec + _GUARD)
    for numerator, denominator in ratios:
        quotient = factor * numerator / denominator
        if quotient < 1:
            rest = _beyond(term, quotient)
            if rest < enough * total:
                return total + rest.union(NONE)
        term *= quotient
        total += term
    return total


def _beyond(term: flint.arb, quotient: flint.arb) -> flint.arb:
    """Bound on all terms after one, where each is at most this quotient, below 1, of the one before."""
    return term * quotient / (1 - quotient)


def tails(up: flint.arb, down: flint.arb, path: Iterable[tuple[int, int]]) -> Iterator[tuple[flint.arb, flint.arb]]:
    """P(X >= k) for pairs (N, k), one after the other, with P(X = k) where 1 <= k <= N, and 0 in its place elsewhere.

    Parameters
    ----------
    up, down : arb
        r and 1 - r, both above 0.
    path : iterable of (int, int)
        N >= 0 and k. Its length is what it costs: one or two ball products for each unit by which N or k changes.

    Raises
    ------
    NotDecided
        If r is not told from 0 or 1.
    """
    if not (up > 0 and down > 0):
        raise NotDecided("whether a binomial count is ever 0 or all; raise bits")
    at = None
    for copies, count in path:
        if count <= 0 or count > copies:
            at = None
            yield (ALL if count <= 0 else NONE), NONE
            continue
        if at is None:
            at = Tail.at(up, down, copies, count)
        else:
            at.move(copies, count)
        yield at.tail, at.mass
