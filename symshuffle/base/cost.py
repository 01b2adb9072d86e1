"""How much work a call has done, in terms of sums and not in seconds: answers do not depend on the machine.

A question of a user has some number of terms to spend (:func:`question`). Engines say what they spent (:func:`add`);
where nothing is left, searches end with what they know, and values are those of a bound that costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeVar

MOST: Final = 150_000_000
"""Terms of a contour in doubles that a question may take, about ten seconds: cost only."""

_COUNT: ContextVar[list[int] | None] = ContextVar("cost", default=None)
"""Terms that were spent, terms that may be, and 1 once nothing was left of a share; None outside of a question."""

_FORGOTTEN: Final[list[Any]] = []

F = TypeVar("F", bound=Callable[..., Any])


def add(terms: float) -> None:
    """Count terms as spent."""
    count = _COUNT.get()
    if count is not None:
        count[0] += int(terms)


def left() -> int:
    """Terms that may still be spent, at least 0; outside of a question all that one has."""
    count = _COUNT.get()
    if count is None:
        return MOST
    count[2] |= count[0] >= count[1]
    return max(count[1] - count[0], 0)


@contextmanager
def question() -> Iterator[None]:
    """Give a question what it may spend, also as a decorator; a question that it asks itself takes from that.

    Programs that ask many questions, as a comparison, a plan or a design, have no limit of their own.
    """
    if _COUNT.get() is not None:
        yield
        return
    count = [0, MOST, 0]
    token = _COUNT.set(count)
    try:
        yield
    finally:
        _COUNT.reset(token)
        for kept in _FORGOTTEN if count[2] else ():
            kept.cache_clear()


@contextmanager
def part(of: int) -> Iterator[int]:
    """Give one of so many values, at least 1 of them, its share of what is left, and return that share."""
    count = _COUNT.get()
    if count is None:
        yield MOST
        return
    most, share = count[1], left() // of
    count[1] = count[0] + share
    try:
        yield share
    finally:
        count[1] = most


def forgotten(kept: F) -> F:
    """Return a function with a cache, which forgets what it holds when a question has spent all: it may be wide."""
    _FORGOTTEN.append(kept)
    return kept
