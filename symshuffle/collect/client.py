"""What runs at a user: one value to one message; the categories of a survey by their labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, final

import numpy as np

from symshuffle.base.errors import InputError
from symshuffle.collect.messages import lines, pack
from symshuffle.collect.scheme import Draw, Scheme, uniform


@final
@dataclass(frozen=True)
class Categories:
    """Labels of k categories, which are numbered from 0."""

    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for i, label in enumerate(self.labels, start=1):
            if not isinstance(label, str) or not label.strip() or label != label.strip():
                raise InputError(f"label {i}", repr(label), "a text without blanks at its ends, not empty")
            if label in seen:
                raise InputError(f"label {i}", label, "a label that no other category has")
            seen.add(label)

    @classmethod
    def of(cls, labels: Sequence[str], k: int) -> Categories:
        """Categories of these labels, or numbered ones if there are none."""
        if labels and len(labels) != k:
            raise InputError("labels", f"{len(labels)} labels", f"k = {k} of them")
        return cls(tuple(labels) or tuple(str(j) for j in range(k)))

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Label to number."""
        return {label: j for j, label in enumerate(self.labels)}

    def index(self, value: object, place: str) -> int:
        """Number of a category by its label."""
        found = self.places.get(str(value))
        if found is None:
            known = ", ".join(self.labels[:5]) + (", ..." if len(self.labels) > 5 else "")
            shown = "an empty cell" if value in (None, "") else value
            raise InputError(place, shown, f"one of the {len(self.labels)} categories of the plan ({known})")
        return found


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
