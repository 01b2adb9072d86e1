r"""The mechanisms that run: with a rational ratio, exactly sampled, and read by counting supports.

A message *supports* a set of categories. A user who holds category ``j`` supports it with probability ``p``, and every
other category with probability ``q < p``, the same for all of them. So the number of messages that support ``j`` is
:math:`\mathrm{Bin}(n_j,p)+\mathrm{Bin}(n-n_j,q)` with :math:`n_j` users who hold it, and
:math:`(C_j-nq)/(p-q)` is an unbiased estimate of :math:`n_j`.

Messages are rows of integers. Samplers draw uniform integers and compare them with integers; nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, final

import numpy as np

from symshuffle.base.errors import InputError
from symshuffle.collect.randomness import LARGEST_BOUND, Draw, Integers

if TYPE_CHECKING:
    from symshuffle.mechanisms.model import Mechanism

LARGEST_K: Final = 10**6
"""Categories beyond which nothing is planned."""

LARGEST_TABLE: Final = 1 << 24
"""Different messages that are counted one by one."""


class Scheme(Protocol):
    """A mechanism with k categories and all parameters fixed."""

    name: ClassVar[str]
    integers: ClassVar[tuple[str, ...]]

    @property
    def k(self) -> int:
        """Number of categories."""

    @property
    def root(self) -> Fraction:
        """Rational number above 1 that fixes the level: the ratio, of RAPPOR its root."""

    @staticmethod
    def near(k: int, found: Mapping[str, int]) -> list[dict[str, int]]:
        """Integer parameters that can be run, near those that a search found."""

    @staticmethod
    def root_of(ratio: Fraction) -> Fraction:
        """The root at a ratio, rounded down."""

    @property
    def parameters(self) -> Mapping[str, int]:
        """Integer parameters that are not k."""

    @property
    def ratio(self) -> Fraction:
        """Largest likelihood ratio of a message, exp(eps0)."""

    @property
    def p(self) -> Fraction:
        """Probability that a message supports the category of its user."""

    @property
    def q(self) -> Fraction:
        """Probability that it supports any other category."""

    @property
    def width(self) -> int:
        """Integers in a message."""

    @property
    def alphabet(self) -> int:
        """Integers are below it, in every place of a message."""

    @property
    def bits(self) -> int:
        """Bits that name a message."""

    def mechanism(self, lam: object = None) -> Mechanism:
        """The channel that is accounted for; at another level if one is given."""

    def sample(self, values: Integers, draw: Draw) -> Integers:
        """One message for each value, as rows."""

    def tally(self, messages: Integers, weights: Integers | None = None) -> Integers:
        """What has to be known of messages to count supports: additive over messages."""

    def supports(self, tally: Integers) -> Integers:
        """Number of messages that support each category."""

    def wrong(self, messages: Integers) -> Integers:
        """Which rows, of integers in range, are no messages."""


def _all_right(messages: Integers) -> Integers:
    return np.zeros(len(messages), dtype=bool)


def _counted(places: Integers, size: int, weights: Integers | None) -> Integers:
    """How often each place occurs, each with its weight."""
    if weights is None:
        return np.bincount(places, minlength=size).astype(np.int64)
    found = np.zeros(size, dtype=np.int64)
    np.add.at(found, places, weights)
    return found


def _response(own: Integers, size: int, ratio: Fraction, draw: Draw) -> Integers:
    """k-ary response: one's own symbol with weight ``ratio``, every other one with weight 1."""
    a, b = ratio.as_integer_ratio()
    found = draw(a + b * (size - 1), len(own))
    other = (found - a) // b
    other += other >= own
    return np.where(found < a, own, other)


@final
@dataclass(frozen=True, slots=True)
class Response:
    """k-ary randomized response: a message is a category."""

    k: int
    root: Fraction
    name: ClassVar[str] = "krr"
    integers: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def near(k: int, found: Mapping[str, int]) -> list[dict[str, int]]:
        """No integers."""
        del k, found
        return [{}]

    @staticmethod
    def root_of(ratio: Fraction) -> Fraction:
        """The ratio."""
        return ratio

    @property
    def parameters(self) -> Mapping[str, int]:
        """No integers."""
        return {}

    @property
    def ratio(self) -> Fraction:
        """Largest likelihood ratio."""
        return self.root

    @property
    def p(self) -> Fraction:
        """Probability of one's own category."""
        return self.root / (self.root + self.k - 1)

    @property
    def q(self) -> Fraction:
        """Probability of any other category."""
        return 1 / (self.root + self.k - 1)

    @property
    def width(self) -> int:
        """One integer."""
        return 1

    @property
    def alphabet(self) -> int:
        """Categories."""
        return self.k

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
        return _response(values, self.k, self.ratio, draw)[:, None]

    def tally(self, messages: Integers, weights: Integers | None = None) -> Integers:
        """Messages that name each category."""
        return _counted(messages[:, 0], self.k, weights)

    def supports(self, tally: Integers) -> Integers:
        """The tally itself."""
        return tally

    def wrong(self, messages: Integers) -> Integers:
        """No row."""
        return _all_right(messages)


SCHEMES: Final[Mapping[str, Any]] = {"krr": Response}
"""Name to class, of the mechanisms that can be run."""


def scheme(name: str, k: int, root: Fraction, parameters: Mapping[str, int]) -> Scheme:
    """The mechanism of a name.

    Raises
    ------
    InputError
        If there is none, a parameter is wrong, or a draw would have too many outcomes.
    """
    if name not in SCHEMES:
        raise InputError("mechanism", name, "one of " + ", ".join(SCHEMES))
    if not root > 1:
        raise InputError("root", root, "a number > 1")
    if max(root.as_integer_ratio()) * k * 4 > LARGEST_BOUND:
        raise InputError("root", root, "a fraction with fewer digits")
    try:
        made: Scheme = SCHEMES[name](k=k, root=root, **parameters)
    except TypeError:
        raise InputError("parameters", dict(parameters), f"those of {name}") from None
    return made
