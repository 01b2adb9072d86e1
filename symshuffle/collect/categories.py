"""The categories of a survey by their labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

from symshuffle.base.errors import InputError


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
