"""What is run in several rounds: sources, how often each, and for how many users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, final

from symshuffle.accountants.bounds.evaluate import check_n
from symshuffle.accountants.covering.reduction import Source, check_source
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import as_integer

MOST_ROUNDS: Final = 10**6

WIDTH_OF_EPS: Final = 1e-3
"""Relative width of eps of several rounds that is aimed at where none is asked for: a tenth of it takes three times as
many levels."""

WIDTH_OF_DELTA: Final = 1e-2
"""The same of delta, which moves by a few dozen times what eps moves."""


@final
@dataclass(frozen=True, slots=True)
class Round:
    """Some rounds that are alike.

    - ``n``: number of users (at least so many) in each; None leaves it to the question.
    """

    source: Source
    times: int
    n: int | None = None

    def __post_init__(self) -> None:
        check_source(self.source)
        object.__setattr__(self, "times", as_integer(self.times, "rounds", 1, MOST_ROUNDS))
        if self.n is not None:
            object.__setattr__(self, "n", check_n(self.n))


@final
@dataclass(frozen=True, slots=True)
class Rounds:
    """A fixed list of rounds of shuffled messages.

    - ``parts``: in any order: the bound does not depend on it.
    """

    parts: tuple[Round, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise InputError("rounds", "none", "at least one round")
        if self.times > MOST_ROUNDS:
            raise InputError("rounds", self.times, f"an integer from 1 to {MOST_ROUNDS}")

    @property
    def times(self) -> int:
        """The number of rounds in all."""
        return sum(part.times for part in self.parts)

    def for_users(self, n: object) -> Rounds:
        """Each part with its number of users, where ``n`` is the one of the question, or None."""
        if n is None:
            if any(part.n is None for part in self.parts):
                raise InputError("n", None, "a number of users")
            return self
        if all(part.n is not None for part in self.parts):
            raise InputError("n", n, "none: every round has its own")
        given = check_n(n)
        return Rounds(tuple(part if part.n is not None else replace(part, n=given) for part in self.parts))


def rounds(source: Source, times: int, *, n: int | None = None) -> Rounds:
    """A source repeated for several rounds, each with fresh randomness.

    The result stands wherever a source does: :func:`symshuffle.delta`, :func:`symshuffle.epsilon` and the others bound
    all rounds together. A list of such results is a sequence of different rounds.

    Parameters
    ----------
    source : Source
        What every user runs in each round, with fresh randomness.
    times : int
        The number of rounds, from 1 to 10^6, fixed before the first.
    n : int, optional
        Number of users in each of these rounds; by default that of the question.

    Returns
    -------
    Rounds
        The rounds, to be passed as the ``source`` of a question.

    Raises
    ------
    InputError
        If the number of rounds or of users is out of range.

    Examples
    --------
    >>> from symshuffle import epsilon, mechanism
    >>> weekly = rounds(mechanism("krr").at(k=4, eps0=1), 7)
    >>> round(float(epsilon(weekly, n=10_000, delta="1e-6").bracket.upper), 3)
    0.097
    """
    return Rounds((Round(source, times, n),))


def plan_of(source: Any) -> Rounds | None:
    """The rounds that a source consists of: itself, or a list of them; None for a source of one round."""
    if isinstance(source, Rounds):
        return source
    if isinstance(source, Sequence) and source and all(isinstance(part, Rounds) for part in source):
        return Rounds(tuple(one for part in source for one in part.parts))
    return None


def unrolled(source: Any, n: Any) -> tuple[Rounds | None, Any, int]:
    """A plan of several rounds with their users, or None; the source and the users, where there is one round only."""
    plan = plan_of(source)
    if plan is None:
        return None, source, check_n(n)
    plan = plan.for_users(n)
    only = plan.parts[0]
    return (None if plan.times == 1 else plan), only.source, check_n(only.n)
