"""Mechanisms whose message stands for a string of bits, one for each category: RAPPOR, OUE, and local hashing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Final, final

import numpy as np

from symshuffle.base.errors import InputError
from symshuffle.collect.randomness import Draw, Integers
from symshuffle.collect.scheme import Scheme, counted, response

if TYPE_CHECKING:
    from symshuffle.mechanisms.model import Mechanism

LARGEST_TABLE: Final = 1 << 24
"""Hyperplanes that are counted one by one."""

_LONGEST: Final = 50_000
"""Categories beyond which bits are not sent one by one."""


class _Bits(Scheme):
    """A message is a string of k independent bits."""

    is_bits: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.k > _LONGEST:
            raise InputError("k", self.k, f"at most {_LONGEST} for {self.name}, which sends a bit for each category")

    @property
    def width(self) -> int:
        """Bits in a message."""
        return self.k

    @property
    def alphabet(self) -> int:
        """Two."""
        return 2

    @property
    def bits(self) -> int:
        """A bit for each category."""
        return self.k

    def mechanism(self, lam: object = None) -> Mechanism:
        """The channel."""
        from symshuffle.mechanisms.registry import mechanism

        return mechanism(self.name).at(D=self.k, lam=self.ratio if lam is None else lam)

    def tally(self, messages: Integers, weights: Integers | None = None) -> Integers:
        """Messages with a 1 at each category."""
        if weights is None:
            return np.asarray(messages.sum(axis=0, dtype=np.int64))
        found: Integers = weights @ messages.astype(np.int64)
        return found


@final
@dataclass(frozen=True)
class Rappor(_Bits):
    """Basic one-time RAPPOR: every bit of the one-hot encoding is kept with probability t/(t + 1), t the root."""

    name: ClassVar[str] = "rappor"

    @staticmethod
    def root_of(ratio: Fraction) -> Fraction:
        """The square root of the ratio, rounded down to 80 bits below its leading one."""
        shift = 160 + 2 * max(0, ratio.denominator.bit_length() - ratio.numerator.bit_length())
        return Fraction(math.isqrt((ratio.numerator << shift) // ratio.denominator), 1 << (shift // 2))

    @property
    def ratio(self) -> Fraction:
        """The square of the root."""
        return self.root**2

    @property
    def p(self) -> Fraction:
        """Probability that the own bit is 1."""
        return self.root / (self.root + 1)

    @property
    def q(self) -> Fraction:
        """Probability that any other bit is 1."""
        return 1 / (self.root + 1)

    def sample(self, values: Integers, draw: Draw) -> Integers:
        """One draw for each bit; the own one is turned."""
        a, b = self.root.as_integer_ratio()
        found = draw(a + b, (len(values), self.k)) < b
        found[np.arange(len(values)), values] ^= True
        return found.astype(np.uint8)


@final
@dataclass(frozen=True)
class OptimizedUnary(_Bits):
    """Optimized unary encoding: the own bit is uniform, every other one is 1 with probability 1/(ratio + 1)."""

    name: ClassVar[str] = "oue"

    @property
    def p(self) -> Fraction:
        """Probability that the own bit is 1."""
        return Fraction(1, 2)

    @property
    def q(self) -> Fraction:
        """Probability that any other bit is 1."""
        return 1 / (self.root + 1)

    def sample(self, values: Integers, draw: Draw) -> Integers:
        """One draw for each bit, and one more for the own one."""
        a, b = self.root.as_integer_ratio()
        found = draw(a + b, (len(values), self.k)) < b
        found[np.arange(len(values)), values] = draw(2, len(values)) == 1
        return found.astype(np.uint8)


@dataclass(frozen=True)
class _Hashing(Scheme):
    """Local hashing by inner products over GF(g), see :mod:`symshuffle.mechanisms.affine`: a message is (a, c)."""

    g: int

    def __post_init__(self) -> None:
        if not _is_prime(self.g):
            raise InputError("g", self.g, "a prime")
        if self.g ** (self.length + 1) > LARGEST_TABLE:
            raise InputError("g", self.g, f"hash values with at most {LARGEST_TABLE} messages, at k = {self.k}")

    @property
    def length(self) -> int:
        """Length of the vectors that stand for categories: the digits of k - 1 to base g."""
        length, size = 1, self.g
        while size < self.k:
            length, size = length + 1, size * self.g
        return length

    @property
    def functions(self) -> int:
        """Number of vectors a."""
        return int(self.g**self.length)

    @property
    def width(self) -> int:
        """The number of the vector a, and the value c."""
        return 2

    @property
    def alphabet(self) -> int:
        """Vectors; values are below g."""
        return self.functions

    @property
    def p(self) -> Fraction:
        """Probability that the hyperplane contains one's own category."""
        return self.root / (self.root + self.g - 1)

    @property
    def q(self) -> Fraction:
        """Probability that it contains any other one: values of two categories are pairwise uniform."""
        return Fraction(1, self.g)

    @property
    def bits(self) -> int:
        """Bits that name a hyperplane."""
        return (self.functions * self.g - 1).bit_length()

    def mechanism(self, lam: object = None) -> Mechanism:
        """The channel of this family, with inputs that stand for no category where k is no power of g."""
        from symshuffle.mechanisms.affine import affine_hashing

        return affine_hashing().at(g=self.g, m=self.length, lam=self.ratio if lam is None else lam)

    def _product(self, first: Integers, second: Integers) -> Integers:
        """Inner products of vectors, given by their numbers to base g."""
        found = np.zeros(np.broadcast(first, second).shape, dtype=np.int64)
        for _ in range(self.length):
            found += (first % self.g) * (second % self.g)
            first, second = first // self.g, second // self.g
        return found % self.g

    def sample(self, values: Integers, draw: Draw) -> Integers:
        """A uniform vector, and the response to the value there."""
        vector = draw(self.functions, len(values))
        return np.stack((vector, response(self._product(vector, values), self.g, self.root, draw)), axis=1)

    def tally(self, messages: Integers, weights: Integers | None = None) -> Integers:
        """Messages that name each hyperplane."""
        return counted(messages[:, 0] * self.g + messages[:, 1], self.functions * self.g, weights)

    def supports(self, tally: Integers) -> Integers:
        """Messages whose hyperplane contains each category."""
        vectors = np.arange(self.functions)
        return np.array([tally[vectors * self.g + self._product(vectors, np.array(j))].sum() for j in range(self.k)])

    def wrong(self, messages: Integers) -> Integers:
        """Rows with a value beyond the field."""
        found: Integers = messages[:, 1] >= self.g
        return found


@final
@dataclass(frozen=True)
class BinaryHashing(_Hashing):
    """Local hashing to one bit."""

    g: int = 2

    name: ClassVar[str] = "blh"

    @staticmethod
    def near(k: int, found: Mapping[str, int]) -> list[dict[str, int]]:
        """No integers."""
        del k, found
        return [{}]


@final
@dataclass(frozen=True)
class LocalHashing(_Hashing):
    """Local hashing to g values."""

    name: ClassVar[str] = "olh"
    integers: ClassVar[tuple[str, ...]] = ("g",)

    @staticmethod
    def near(k: int, found: Mapping[str, int]) -> list[dict[str, int]]:
        """The primes on both sides of the value that was found, whose hyperplanes can be counted."""
        below = next((g for g in range(min(found["g"], LARGEST_TABLE), 1, -1) if _is_prime(g)), 2)
        above = next(g for g in range(max(found["g"], 2), 2 * found["g"] + 3) if _is_prime(g))
        chosen = []
        for g in sorted({below, above}):
            try:
                LocalHashing(k, Fraction(2), g)
            except InputError:
                continue
            chosen.append({"g": g})
        return chosen


def _is_prime(number: int) -> bool:
    return number >= 2 and all(number % divisor for divisor in range(2, math.isqrt(number) + 1))
