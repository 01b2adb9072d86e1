"""The mechanisms that can be run: responses that name categories or a row, strings of bits, and local hashing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Final, final

import numpy as np

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers.readers import is_prime
from symshuffle.collect.scheme import INTEGERS, LARGEST_BOUND, Draw, Integers, Scheme, counted, response
from symshuffle.mechanisms.hashing import hyperplane_bits, vector_length

if TYPE_CHECKING:
    from symshuffle.mechanisms.model import Mechanism

LARGEST_K: Final = 10**6
"""Categories beyond which nothing is planned."""

LARGEST_TABLE: Final = 1 << 24
"""Hyperplanes that are counted one by one."""


@final
@dataclass(frozen=True)
class _Subsets(Scheme):
    """A message is a set of s categories, in ascending order: subset selection, or krr at s = 1."""

    s: int = 1

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
    def chances(self) -> tuple[Fraction, Fraction]:
        """That the subset contains one's own category, and any other one."""
        p = self.s * self.root / (self.s * self.root + self.k - self.s)
        return p, (p * (self.s - 1) + (1 - p) * self.s) / (self.k - 1)

    @property
    def bits(self) -> int:
        """Bits that name a subset."""
        return (math.comb(self.k, self.s) - 1).bit_length()

    def sample(self, values: Integers, draw: Draw) -> Integers:
        """The own category or not, and a uniform subset of the others by Floyd's algorithm; of krr one draw."""
        if self.name == "krr":
            return response(values, self.k, self.ratio, draw)[:, None]
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
class _Hadamard(Scheme):
    """Hadamard response: a message is a row of the matrix; category j is its column j + 1."""

    @property
    def alphabet(self) -> int:
        """Rows of the matrix: the smallest power of two above k, at least 4."""
        return max(4, 1 << self.k.bit_length())

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """Of a row with a plus sign in one's own column; half of all rows have one in any other column."""
        return self.root / (self.root + 1), Fraction(1, 2)

    @property
    def shape(self) -> Mapping[str, int]:
        """With columns that stand for no category where k + 1 is no power of two."""
        return {"D": self.alphabet}

    def sample(self, values: Integers, draw: Draw) -> Integers:
        """A sign for one's own column, and a uniform row that has it."""
        a, b = self.root.as_integer_ratio()
        column = values + 1
        minus = draw(a + b, len(values)) >= a
        row = draw(self.alphabet, len(values))
        odd = np.bitwise_count(row & column) % 2 == 1
        return np.where(odd == minus, row, row ^ (column & -column))[:, None]

    def tally(self, messages: Integers, weights: Integers | None = None) -> Integers:
        """Messages that name each row."""
        return counted(messages[:, 0], self.alphabet, weights)

    def supports(self, tally: Integers) -> Integers:
        """Messages with a plus sign in each column, by the fast Walsh-Hadamard transform."""
        signed, half = tally.copy(), 1
        while half < self.alphabet:
            pairs = signed.reshape(-1, 2, half)
            signed = np.stack((pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]), axis=1).reshape(-1)
            half *= 2
        found: Integers = (tally.sum() + signed[1 : self.k + 1]) // 2
        return found


@final
@dataclass(frozen=True)
class _Bits(Scheme):
    """A message is a string of k independent bits; any but the own one is 1 with probability 1/(root + 1).

    The own bit is 1 otherwise (basic one-time RAPPOR, which keeps every bit of the one-hot encoding with probability
    t/(t + 1), t the root), or is uniform (optimized unary encoding, ``oue``).
    """

    is_bits: ClassVar[bool] = True

    def __post_init__(self) -> None:
        most = 50_000  # cost: bits that are sent one by one
        if self.k > most:
            raise InputError("k", self.k, f"at most {most} for {self.name}, which sends a bit for each category")

    @property
    def width(self) -> int:
        """Bits in a message."""
        return self.k

    @property
    def alphabet(self) -> int:
        """Two."""
        return 2

    @property
    def shape(self) -> Mapping[str, int]:
        """Bits."""
        return {"D": self.k}

    @property
    def ratio(self) -> Fraction:
        """The root, of RAPPOR its square."""
        return self.root**2 if self.name == "rappor" else self.root

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """That the own bit is 1, and any other one."""
        other = 1 / (self.root + 1)
        return (1 - other if self.name == "rappor" else Fraction(1, 2)), other

    def sample(self, values: Integers, draw: Draw) -> Integers:
        """One draw for each bit as if none were the own one, which is turned, or drawn once more."""
        a, b = self.root.as_integer_ratio()
        found = draw(a + b, (len(values), self.k)) < b
        own = np.arange(len(values)), values
        found[own] = ~found[own] if self.name == "rappor" else draw(2, len(values)) == 1
        return found.astype(np.uint8)

    def tally(self, messages: Integers, weights: Integers | None = None) -> Integers:
        """Messages with a 1 at each category."""
        if weights is None:
            return np.asarray(messages.sum(axis=0, dtype=np.int64))
        found: Integers = weights @ messages.astype(np.int64)
        return found


@final
@dataclass(frozen=True)
class _Hashing(Scheme):
    """Local hashing to g values (``olh``) or one bit (``blh``): inner products, :mod:`symshuffle.mechanisms.affine`.

    A message is the number of a vector a, and a value c: together they name a hyperplane.
    """

    g: int = 2

    filed: ClassVar[str] = "affine-hashing"

    def __post_init__(self) -> None:
        if not is_prime(self.g):
            raise InputError("g", self.g, "a prime")
        if self.g * self.alphabet > LARGEST_TABLE:
            raise InputError("g", self.g, f"hash values with at most {LARGEST_TABLE} messages, at k = {self.k}")

    @property
    def length(self) -> int:
        """Length of the vectors that stand for categories: the digits of k - 1 to base g."""
        return vector_length(self.k, self.g)

    @property
    def width(self) -> int:
        """Two."""
        return 2

    @property
    def alphabet(self) -> int:
        """Vectors; values are below g."""
        return int(self.g**self.length)

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """That the hyperplane contains one's own category, and any other: values of two are pairwise uniform."""
        return self.root / (self.root + self.g - 1), Fraction(1, self.g)

    @property
    def bits(self) -> int:
        """Bits that name a hyperplane."""
        return hyperplane_bits(self.k, self.g)

    def mechanism(self, lam: object = None) -> Mechanism:
        """The channel of this family, with inputs that stand for no category where k is no power of g."""
        from symshuffle.mechanisms.affine import affine_hashing

        return affine_hashing().at(lam=self.ratio if lam is None else lam, **self.shape)

    @property
    def shape(self) -> Mapping[str, int]:
        """The prime, and the length of the vectors."""
        return {"g": self.g, "m": self.length}

    def _product(self, first: Integers, second: Integers) -> Integers:
        """Inner products of vectors, given by their numbers to base g."""
        found = np.zeros(np.broadcast(first, second).shape, dtype=np.int64)
        for _ in range(self.length):
            found += (first % self.g) * (second % self.g)
            first, second = first // self.g, second // self.g
        return found % self.g

    def sample(self, values: Integers, draw: Draw) -> Integers:
        """A uniform vector, and the response to the value there."""
        vector = draw(self.alphabet, len(values))
        return np.stack((vector, response(self._product(vector, values), self.g, self.root, draw)), axis=1)

    def tally(self, messages: Integers, weights: Integers | None = None) -> Integers:
        """Messages that name each hyperplane."""
        return counted(messages[:, 0] * self.g + messages[:, 1], self.alphabet * self.g, weights)

    def supports(self, tally: Integers) -> Integers:
        """Messages whose hyperplane contains each category."""
        vectors = np.arange(self.alphabet)
        return np.array([tally[vectors * self.g + self._product(vectors, np.array(j))].sum() for j in range(self.k)])

    def wrong(self, messages: Integers) -> Integers:
        """Rows with a value beyond the field."""
        found: Integers = messages[:, 1] >= self.g
        return found


SCHEMES: Final[Mapping[str, type[Scheme]]] = {
    "krr": _Subsets,
    "subset-selection": _Subsets,
    "rappor": _Bits,
    "oue": _Bits,
    "blh": _Hashing,
    "olh": _Hashing,
    "hadamard": _Hadamard,
}
"""Name to class."""


def neighbouring_integers(name: str, k: int, found: Mapping[str, int]) -> list[dict[str, int]]:
    """Integer parameters that can be run, near those that a search found.

    Of ``olh`` these are the primes on both sides of g whose hyperplanes can be counted.
    """
    if name != "olh":
        return [dict(found)]
    below = next((g for g in range(min(found["g"], LARGEST_TABLE), 1, -1) if is_prime(g)), 2)
    above = next(g for g in range(max(found["g"], 2), 2 * found["g"] + 3) if is_prime(g))
    chosen = []
    for g in sorted({below, above}):
        try:
            _Hashing("olh", k, Fraction(2), g)
        except InputError:
            continue
        chosen.append({"g": g})
    return chosen


def root_of(name: str, ratio: Fraction) -> Fraction:
    """The root of a mechanism at a ratio: the ratio, of RAPPOR its square root.

    The square root is exact if it is rational, else rounded down to 80 bits below its leading one.
    """
    exact = Fraction(math.isqrt(ratio.numerator), math.isqrt(ratio.denominator))
    if name != "rappor" or exact**2 == ratio:
        return exact if name == "rappor" else ratio
    shift = 160 + 2 * max(0, ratio.denominator.bit_length() - ratio.numerator.bit_length())
    return Fraction(math.isqrt((ratio.numerator << shift) // ratio.denominator), 1 << (shift // 2))


def scheme(name: str, k: int, root: Fraction, parameters: Mapping[str, int]) -> Scheme:
    """The mechanism of a name."""
    if name not in SCHEMES:
        raise InputError("mechanism", name, "one of " + ", ".join(SCHEMES))
    if not root > 1:
        raise InputError("root", root, "a number > 1")
    if 4 * max(root.as_integer_ratio()) * k > LARGEST_BOUND:
        raise Unsupported(f"a level of {float(root):.3g} with {k} categories takes draws of more than 2**62 outcomes")
    kind = SCHEMES[name]
    integers = INTEGERS.get(name, ())
    if set(parameters) != set(integers):
        raise InputError("parameters", dict(parameters), "values of " + (", ".join(integers) or "nothing"))
    return kind(name, k, root, **parameters)
