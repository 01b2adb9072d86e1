r"""What every mechanism that runs has in common: a rational level, an exact sampler, and supports of messages.

A message *supports* a set of categories. A user who holds category ``j`` supports it with probability ``p``, and every
other category with probability ``q < p``, the same for all of them. So the number of messages that support ``j`` is
:math:`C_j\sim\mathrm{Bin}(n_j,p)+\mathrm{Bin}(n-n_j,q)` with :math:`n_j` users who hold it, and
:math:`(C_j-nq)/(p-q)` is an unbiased estimate of :math:`n_j`.

Messages are rows of integers. Samplers draw uniform integers and compare them with integers; nothing else.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from symshuffle.base.errors import Unsupported

if TYPE_CHECKING:
    from symshuffle.decompositions.closed_forms import ClosedForm
    from symshuffle.mechanisms.model import Mechanism
    from symshuffle.utility.estimation.votes import VoteNoise

Integers: TypeAlias = npt.NDArray[Any]
"""An array of integers."""

LARGEST_BOUND: Final = 1 << 62
"""Numbers of equally likely outcomes beyond which nothing is drawn."""

Draw: TypeAlias = Callable[[int, int | tuple[int, ...]], Integers]
"""A source of independent integers, each uniform on ``0, ..., bound - 1``: of a bound and the shape of the array."""

INTEGERS: Final[Mapping[str, tuple[str, ...]]] = {"subset-selection": ("s",), "olh": ("g",)}
"""Names of the integer parameters other than k, of the mechanisms that have some."""


def uniform(source: Callable[[int], bytes] = os.urandom) -> Draw:
    """Uniform integers from a source of uniform bytes.

    A word of 1, 2, 4 or 8 bytes is cut into ``bound`` equal shares; words beyond the last share are drawn again.
    """

    def draw(bound: int, shape: int | tuple[int, ...]) -> Integers:
        if not 1 <= bound <= LARGEST_BOUND:
            raise Unsupported(f"{bound} equally likely outcomes are not drawn (limit 2**62)")
        if bound == 1:
            return np.zeros(shape, dtype=np.int64)
        # The narrowest words of which at most one in 64 is drawn again.
        width = next(w for w in (1, 2, 4, 8) if w == 8 or 256**w >= 64 * bound)
        share = 256**width // bound
        kind = np.dtype(f"<u{width}")
        last = kind.type(share * bound - 1)
        size = int(np.prod(shape))
        words = np.frombuffer(source(size * width), kind)
        wrong = np.flatnonzero(words > last)
        if len(wrong):
            words = words.copy()
        while len(wrong):
            again = np.frombuffer(source(len(wrong) * width), kind)
            words[wrong] = again
            wrong = wrong[again > last]
        found: Integers = (words // kind.type(share)).astype(np.int64) if share > 1 else words.astype(np.int64)
        return found.reshape(shape)

    return draw


def random_order(size: int, draw: Draw) -> Integers:
    """A permutation of ``0, ..., size - 1``, each with the same probability: keys are drawn until all differ."""
    while True:
        keys = draw(LARGEST_BOUND, size)
        order: Integers = np.argsort(keys)
        ranked = keys[order]
        if not np.any(ranked[1:] == ranked[:-1]):
            return order


@dataclass(frozen=True)
class Scheme(ABC):
    """A mechanism with all parameters fixed.

    - ``name``: in the registry of mechanisms.
    - ``root``: number above 1 that fixes the level: the ratio exp(eps0); of RAPPOR its square root.
    """

    name: str
    k: int
    root: Fraction

    filed: ClassVar[str] = ""
    """Name of the closed form on file of what runs, where that is not the mechanism of this name."""
    is_bits: ClassVar[bool] = False
    """Whether a message is a string of bits, one for each category."""

    @property
    def parameters(self) -> Mapping[str, int]:
        """Integer parameters other than k."""
        return {name: getattr(self, name) for name in INTEGERS.get(self.name, ())}

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
    def chances(self) -> tuple[Fraction, Fraction]:
        """Probabilities that a message supports the category of its user, and any other one."""

    @property
    def p(self) -> Fraction:
        """Probability that a message supports the category of its user."""
        return self.chances[0]

    @property
    def q(self) -> Fraction:
        """Probability that a message supports any other category."""
        return self.chances[1]

    @property
    def noise(self) -> VoteNoise:
        """Variances of one user's part in an estimated share."""
        from symshuffle.utility.estimation.votes import VoteNoise

        p, q = self.chances
        apart = (p - q) ** 2
        return VoteNoise(p * (1 - p) / apart, q * (1 - q) / apart, self.k, "support count")

    @property
    def bits(self) -> int:
        """Bits that name a message."""
        return (int(self.alphabet**self.width) - 1).bit_length()

    @property
    def shape(self) -> Mapping[str, int]:
        """Integer parameters of the channel that is accounted for."""
        return {"k": self.k, **self.parameters}

    def mechanism(self, lam: object = None) -> Mechanism:
        """The channel that is accounted for; at another level if one is given."""
        from symshuffle.mechanisms.registry import mechanism

        return mechanism(self.name).at(lam=self.ratio if lam is None else lam, **self.shape)

    def source(self, lam: object = None, **whom: object) -> ClosedForm | Mechanism:
        """As :meth:`mechanism`, off the file of closed forms where that will do: for what bounds ask."""
        from symshuffle.decompositions.closed_forms import closed_form

        values = {name: str(value) for name, value in self.shape.items()}
        level, name = self.ratio if lam is None else lam, self.filed or self.name
        known = None if whom.get("null") is not None else closed_form(name, values, lam=level, surveys=True)
        return self.mechanism(lam) if known is None else known

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
