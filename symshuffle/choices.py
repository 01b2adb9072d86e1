"""Choices between named possibilities: one enumeration per notion, one reader for all.

Members are text, so that ``"forward"`` and ``Direction.FORWARD`` are the same to a caller; at a public door anything
that is no member's value is refused.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar, final

from symshuffle.errors import InputError

E = TypeVar("E", bound=StrEnum)


@final
class Direction(StrEnum):
    """Which divergence of an ordered pair: ``D(M(X0) || M(X1))``, or the one back."""

    FORWARD = "forward"
    REVERSE = "reverse"


@final
class Question(StrEnum):
    """Which divergence is asked for: one direction, or the larger of the two."""

    FORWARD = "forward"
    REVERSE = "reverse"
    BOTH = "both"

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The directions to evaluate."""
        return tuple(Direction) if self is Question.BOTH else (Direction(self.value),)


@final
class Criterion(StrEnum):
    """Which risk is minimised: the average over a prior, or the worst."""

    BAYES = "bayes"
    MINIMAX = "minimax"


@final
class Population(StrEnum):
    """How the users' inputs arise from a composition: exactly so many hold each, or each user draws."""

    FIXED = "fixed"
    IID = "iid"


def choice(kind: type[E], value: object, argument: str) -> E:
    """The member that a caller means, given itself or by its text.

    Raises
    ------
    InputError
        If it is neither.

    Examples
    --------
    >>> choice(Direction, "reverse", "direction")
    <Direction.REVERSE: 'reverse'>
    """
    if isinstance(value, str):
        try:
            return kind(value)
        except ValueError:
            pass
    raise InputError(argument, value, "one of " + ", ".join(kind))
