"""Whether an argument is of the kind that a door takes: callers are not type-checked, and are told in one line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from symshuffle.base.errors import InputError

Progress: TypeAlias = Callable[[int, int], None]
"""Told how many of how many pieces of work are done."""

NamedProgress: TypeAlias = Callable[[int, int, str], None]
"""Told how many of how many pieces of work are done, and which one is next."""


def check_kind(value: object, kind: type[Any] | tuple[type[Any], ...], argument: str, expected: str) -> None:
    """Refuse what is not of a kind."""
    if not isinstance(value, kind):
        shown = value if isinstance(value, str | int | float) else type(value).__name__
        raise InputError(argument, shown, expected)


def check_list(values: object, argument: str, expected: str, kind: type[Any] | tuple[type[Any], ...] = object) -> None:
    """Refuse what is no list (arrays and ranges are lists, text is none), or holds something that is not of a kind."""
    if isinstance(values, str | bytes) or not (isinstance(values, Sequence) or hasattr(values, "__array__")):
        raise InputError(argument, values, expected)
    for place, value in enumerate(values):  # type: ignore[arg-type, var-annotated]  # an array is no sequence by its type
        check_kind(value, kind, f"{argument}[{place}]", expected)


def check_progress(progress: object) -> None:
    """Refuse what cannot be called to show how far the work is, before the work begins."""
    if progress is not None and not isinstance(progress, Callable):  # type: ignore[arg-type]
        raise InputError("progress", progress, "a callable, or None")
