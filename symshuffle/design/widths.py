"""How narrow a design's bracket has to be, and what is said where it is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, Final, Protocol, TypeVar

from symshuffle.base.choices import Rigour
from symshuffle.base.numbers import as_width
from symshuffle.base.results import Bracket


class Valued(Protocol):
    """A design, as a dataclass: whatever else it holds, its optimum lies in a bracket."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def value(self) -> Bracket:
        """Both ends of the optimum."""


Solved = TypeVar("Solved", bound=Valued)

REL: Final = 1e-20
"""Relative width of a bracket where the caller names none."""


def check_rel(rel: float) -> None:
    """Refuse a relative width that is no number in (0, 1)."""
    as_width(rel)


def narrowed(solve_at: Callable[[int], Solved], rel: float, precisions: Sequence[int]) -> Solved:
    """Solve with more and more bits until the bracket is as narrow as asked; the last one says where it is not."""
    check_rel(rel)
    for bits in precisions:
        found = solve_at(bits)
        if found.value.width <= Fraction(rel) * abs(found.value.upper):
            return found
        if found.value.rigour is Rigour.EXACT:
            break  # rational ends with a gap, which more bits do not close
    return replace(found, value=replace(found.value, aimed=rel))
