"""What runs at a user: one value to one message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, final

import numpy as np

from symshuffle.collect.categories import Categories
from symshuffle.collect.messages import lines, pack
from symshuffle.collect.randomness import Draw, uniform
from symshuffle.collect.scheme import Scheme

WHO_SHUFFLES: Final = (
    "not shuffled: the plan's eps holds only after whoever collects these messages has removed senders and times, "
    "and has sorted the messages or put them in a uniformly random order, before anybody else sees them"
)
"""What goes with every message of a client."""


@final
@dataclass(frozen=True)
class Client:
    """Randomizer of the value of one user; it does not shuffle.

    Parameters
    ----------
    scheme : Scheme
        The mechanism that runs.
    categories : Categories
        The values that a user may have.
    draw : callable
        Source of uniform integers; default the operating system's randomness.
    """

    scheme: Scheme
    categories: Categories
    draw: Draw = field(default_factory=uniform, repr=False)

    @property
    def about(self) -> str:
        """Who has to shuffle."""
        return WHO_SHUFFLES

    def __call__(self, value: object) -> str:
        """Message of one user, as text."""
        made = self.scheme
        at = np.array([self.categories.index(value, "value")])
        return next(lines(made, pack(made, made.sample(at, self.draw)))).decode().rstrip("\n")

    def messages(self, values: Iterable[object]) -> Iterator[str]:
        """Message of each of some users, in their order: not shuffled."""
        return (self(value) for value in values)
