r"""What every mechanism that runs has in common: a rational level, an exact sampler, and supports of messages.

A message *supports* a set of categories. A user who holds category ``j`` supports it with probability ``p``, and every
other category with probability ``q < p``, the same for all of them. So the number of messages that support ``j`` is
:math:`C_j\sim\mathrm{Bin}(n_j,p)+\mathrm{Bin}(n-n_j,q)` with :math:`n_j` users who hold it, and
:math:`(C_j-nq)/(p-q)` is an unbiased estimate of :math:`n_j`.

Messages are rows of integers. Samplers draw uniform integers and compare them with integers; nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from symshuffle.collect.randomness import Draw, Integers

if TYPE_CHECKING:
    from symshuffle.mechanisms.model import Mechanism


@dataclass(frozen=True)
class Scheme(ABC):
    """A mechanism with all parameters fixed.

    - ``root``: number above 1 that fixes the level: the ratio exp(eps0); of RAPPOR its square root.
    """

    k: int
    root: Fraction

    name: ClassVar[str]
    """Name in the registry of mechanisms."""
    is_bits: ClassVar[bool] = False
    """Whether a message is a string of bits, one for each category."""
    integers: ClassVar[tuple[str, ...]] = ()
    """Names of the integer parameters other than k."""

    @staticmethod
    def near(k: int, found: Mapping[str, int]) -> list[dict[str, int]]:
        """Integer parameters that can be run, near those that a search found."""
        del k
        return [dict(found)]

    @staticmethod
    def root_of(ratio: Fraction) -> Fraction:
        """The root at a ratio, rounded down."""
        return ratio

    @property
    def parameters(self) -> Mapping[str, int]:
        """Integer parameters other than k."""
        return {name: getattr(self, name) for name in self.integers}

    @property
    def ratio(self) -> Fraction:
        """Largest likelihood ratio of a message, exp(eps0)."""
        return self.root

    @property
    def width(self) -> int:
        """Integers in a message."""
        return 1

    @property
    @abstractmethod
    def alphabet(self) -> int:
        """Integers are below it, in every place of a message."""

    @property
    @abstractmethod
    def p(self) -> Fraction:
        """Probability that a message supports the category of its user."""

    @property
    @abstractmethod
    def q(self) -> Fraction:
        """Probability that a message supports any other category."""

    @property
    @abstractmethod
    def bits(self) -> int:
        """Bits that name a message."""

    @abstractmethod
    def mechanism(self, lam: object = None) -> Mechanism:
        """The channel that is accounted for; at another level if one is given."""

    @abstractmethod
    def sample(self, values: Integers, draw: Draw) -> Integers:
        """One message for each value, as rows."""

    @abstractmethod
    def tally(self, messages: Integers, weights: Integers | None = None) -> Integers:
        """What has to be known of messages to count supports: additive over messages."""

    def supports(self, tally: Integers) -> Integers:
        """Number of messages that support each category."""
        return tally

    def wrong(self, messages: Integers) -> Integers:
        """Which rows of integers below ``alphabet`` are no messages."""
        return np.zeros(len(messages), dtype=bool)


def counted(places: Integers, size: int, weights: Integers | None) -> Integers:
    """How often each place occurs, each with its weight."""
    if weights is None:
        return np.bincount(places, minlength=size).astype(np.int64)
    found = np.zeros(size, dtype=np.int64)
    np.add.at(found, places, weights)
    return found


def response(own: Integers, size: int, ratio: Fraction, draw: Draw) -> Integers:
    """k-ary response: one's own symbol with weight ``ratio``, each of the ``size - 1`` others with weight 1."""
    a, b = ratio.as_integer_ratio()
    found = draw(a + b * (size - 1), len(own))
    other = (found - a) // b
    other += other >= own
    return np.where(found < a, own, other)
