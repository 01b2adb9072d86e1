"""Mechanisms whose message names categories or a row of a matrix: k-ary response, subset selection, Hadamard."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from symshuffle.base.errors import InputError
from symshuffle.collect.randomness import Draw, Integers
from symshuffle.collect.scheme import Scheme, counted, response

if TYPE_CHECKING:
    from symshuffle.mechanisms.model import Mechanism


@final
@dataclass(frozen=True)
class Response(Scheme):
    """k-ary randomized response: a message is a category."""

    name: ClassVar[str] = "krr"

    @property
    def alphabet(self) -> int:
        """Categories."""
        return self.k

    @property
    def p(self) -> Fraction:
        """Probability of one's own category."""
        return self.root / (self.root + self.k - 1)

    @property
    def q(self) -> Fraction:
        """Probability of any other category."""
        return 1 / (self.root + self.k - 1)

    @property
    def bits(self) -> int:
        """Bits that name a category."""
        return (self.k - 1).bit_length()

    def mechanism(self, lam: object = None) -> Mechanism:
        """The channel."""
        from symshuffle.mechanisms.registry import mechanism

        return mechanism("krr").at(k=self.k, lam=self.ratio if lam is None else lam)

    def sample(self, values: Integers, draw: Draw) -> Integers:
        """One draw for each message."""
        return response(values, self.k, self.ratio, draw)[:, None]

    def tally(self, messages: Integers, weights: Integers | None = None) -> Integers:
        """Messages that name each category."""
        return counted(messages[:, 0], self.k, weights)


@final
@dataclass(frozen=True)
class Subsets(Scheme):
    """Subset selection: a message is a set of s categories, in ascending order."""

    s: int

    name: ClassVar[str] = "subset-selection"
    integers: ClassVar[tuple[str, ...]] = ("s",)

    def __post_init__(self) -> None:
        if not 1 <= self.s < self.k:
            raise InputError("s", self.s, f"an integer from 1 to {self.k - 1}")

    @property
    def width(self) -> int:
        """Categories in a message."""
        return self.s

    @property
    def alphabet(self) -> int:
        """Categories."""
        return self.k

    @property
    def p(self) -> Fraction:
        """Probability that the subset contains one's own category."""
        return self.s * self.root / (self.s * self.root + self.k - self.s)

    @property
    def q(self) -> Fraction:
        """Probability that it contains any other category."""
        return (self.p * (self.s - 1) + (1 - self.p) * self.s) / (self.k - 1)

    @property
    def bits(self) -> int:
        """Bits that name a subset."""
        return (math.comb(self.k, self.s) - 1).bit_length()

    def mechanism(self, lam: object = None) -> Mechanism:
        """The channel."""
        from symshuffle.mechanisms.registry import mechanism

        return mechanism(self.name).at(k=self.k, s=self.s, lam=self.ratio if lam is None else lam)

    def sample(self, values: Integers, draw: Draw) -> Integers:
        """The own category or not, and a uniform subset of the others by Floyd's algorithm."""
        a, b = self.root.as_integer_ratio()
        inside = draw(self.s * a + (self.k - self.s) * b, len(values)) < self.s * a
        found = np.empty((len(values), self.s), dtype=np.int64)
        for rows, more in ((np.flatnonzero(inside), self.s - 1), (np.flatnonzero(~inside), self.s)):
            others = _subsets(len(rows), self.k - 1, more, draw)
            own = values[rows][:, None]
            others += others >= own
            found[rows, : self.s - more] = own[:, : self.s - more]
            found[rows, self.s - more :] = others
        found.sort(axis=1)
        return found

    def tally(self, messages: Integers, weights: Integers | None = None) -> Integers:
        """Messages that contain each category."""
        repeated = None if weights is None else np.repeat(weights, self.s)
        return counted(messages.reshape(-1), self.k, repeated)

    def wrong(self, messages: Integers) -> Integers:
        """Rows that do not ascend."""
        found: Integers = np.any(messages[:, 1:] <= messages[:, :-1], axis=1)
        return found


def _subsets(rows: int, size: int, chosen: int, draw: Draw) -> Integers:
    """In each row a uniform subset of ``0, ..., size - 1``, in the order in which Floyd's algorithm finds it."""
    found = np.empty((rows, chosen), dtype=np.int64)
    taken = np.zeros((rows, size), dtype=bool)
    at = np.arange(rows)
    for i, last in enumerate(range(size - chosen, size)):
        new = draw(last + 1, rows)
        new = np.where(taken[at, new], last, new)
        taken[at, new] = True
        found[:, i] = new
    return found


@final
@dataclass(frozen=True)
class Hadamard(Scheme):
    """Hadamard response: a message is a row of the matrix; category j is its column j + 1."""

    name: ClassVar[str] = "hadamard"

    @staticmethod
    def near(k: int, found: Mapping[str, int]) -> list[dict[str, int]]:
        """No integers: the order follows from k."""
        del k, found
        return [{}]

    @property
    def order(self) -> int:
        """The smallest power of two above k, at least 4."""
        return max(4, 1 << self.k.bit_length())

    @property
    def alphabet(self) -> int:
        """Rows."""
        return self.order

    @property
    def p(self) -> Fraction:
        """Probability of a row with a plus sign in one's own column."""
        return self.root / (self.root + 1)

    @property
    def q(self) -> Fraction:
        """Half of those rows have a plus sign in any other column, and half of the rest."""
        return Fraction(1, 2)

    @property
    def bits(self) -> int:
        """Bits that name a row."""
        return (self.order - 1).bit_length()

    def mechanism(self, lam: object = None) -> Mechanism:
        """The channel, with columns that stand for no category where k + 1 is no power of two."""
        from symshuffle.mechanisms.registry import mechanism

        return mechanism("hadamard").at(D=self.order, lam=self.ratio if lam is None else lam)

    def sample(self, values: Integers, draw: Draw) -> Integers:
        """A sign for one's own column, and a uniform row that has it."""
        a, b = self.root.as_integer_ratio()
        column = values + 1
        minus = draw(a + b, len(values)) >= a
        row = draw(self.order, len(values))
        odd = np.bitwise_count(row & column) % 2 == 1
        return np.where(odd == minus, row, row ^ (column & -column))[:, None]

    def tally(self, messages: Integers, weights: Integers | None = None) -> Integers:
        """Messages that name each row."""
        return counted(messages[:, 0], self.order, weights)

    def supports(self, tally: Integers) -> Integers:
        """Messages with a plus sign in each column, by the fast Walsh-Hadamard transform."""
        signed, half = tally.copy(), 1
        while half < self.order:
            pairs = signed.reshape(-1, 2, half)
            signed = np.stack((pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]), axis=1).reshape(-1)
            half *= 2
        found: Integers = (tally.sum() + signed[1 : self.k + 1]) // 2
        return found
