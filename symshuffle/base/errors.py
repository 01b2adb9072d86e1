"""The ways in which a computation can be refused, and the checks of what kind an argument is.

Every message is one line that names the argument, the value it had, and what would have been accepted.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Final, TypeAlias, TypeVar

T = TypeVar("T")


class SymshuffleError(Exception):
    """Base class of every error that symshuffle raises on purpose."""


class InputError(SymshuffleError, ValueError):
    """An argument is outside its range.

    Parameters
    ----------
    argument : str
        Name of the offending argument, as the caller wrote it.
    value : object
        The value it had; None if it is missing. (An entry of a list is never missing.)
    expected : str
        The allowed range, or the violated invariant and by how much.
    """

    def __init__(self, argument: str, value: object, expected: str) -> None:
        self.argument = argument
        self.value = value
        self.expected = expected
        found = f" = {echo(value)}"
        if value is None and not argument.endswith("]"):
            found = " are missing" if _SEVERAL.fullmatch(argument) else " is missing"
        super().__init__(f"{_beginning(argument)}{found}: expected {expected}")

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str | None, str]]:
        shown = None if self.value is None else echo(self.value)
        return type(self), (self.argument, shown, self.expected)  # the value itself may not travel


_SEVERAL: Final = re.compile(r"[\w-]+(, [\w-]+)+")
"""Names of several arguments."""


def echo(value: object) -> str:
    """Return a value in one line, or the beginning of one longer than 60 characters; a path has 200.

    Python writes no integers of more than 4300 digits. A text with blanks other than single ones between words is
    quoted, so that two short texts are never written alike.
    """
    try:
        text = str(value)
    except ValueError:
        return f"a number too long to write ({type(value).__name__})"
    words = " ".join(text.split())
    if not isinstance(value, str):
        text = words
    elif text != words and not (text[:1] in ("'", '"') and text.isprintable()):
        text = repr(text)
    return _beginning(text, 200 if isinstance(value, PathLike) else 60)


def _beginning(text: str, longest: int = 200) -> str:
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def listed(*values: object) -> str | None:
    """Return the values of several arguments as one text, "none" for what is missing; None if all are missing."""
    texts = ["none" if value is None else str(value) for value in values]
    return ", ".join(texts) if any(value is not None for value in values) else None


class Unsupported(SymshuffleError, ValueError):
    """A meaningful request that no engine here can answer.

    The message names the form that can be answered, where there is one.
    """


class SolverFailure(SymshuffleError, RuntimeError):
    """A numerical solver stopped without an answer.

    Parameters
    ----------
    solver : str
        Name of the solver.
    status : str
        Its own word for what happened.
    problem : str
        A short description of the problem it was given.
    """

    def __init__(self, solver: str, status: str, problem: str) -> None:
        self.solver = solver
        self.status = status
        self.problem = problem
        super().__init__(f"{solver} ended with status {status!r} on {problem}")

    def __reduce__(self) -> tuple[type[SolverFailure], tuple[str, str, str]]:
        return type(self), (self.solver, self.status, self.problem)


class NotDecided(SymshuffleError, ArithmeticError):
    """Comparison of balls that overlap at every precision that was tried."""


class CertificateError(SymshuffleError, ValueError):
    """Part of a certificate does not prove what it should.

    Parameters
    ----------
    place : str
        The part that fails, as a path from the object that was verified: ``"orbits[0].levels"``.
    what : str
        The condition that fails there, and by how much.
    """

    def __init__(self, place: str, what: str) -> None:
        self.place = place
        self.what = what
        super().__init__(f"the certificate fails at {place}: {what}")

    def __reduce__(self) -> tuple[type[CertificateError], tuple[str, str]]:
        return type(self), (self.place, self.what)


def optional(compute: Callable[[], T]) -> tuple[T | None, str]:
    """Return an optional part of an answer and an empty text, or None and the reason why it is missing."""
    try:
        return compute(), ""
    except (SymshuffleError, ArithmeticError, ImportError) as reason:
        return None, " ".join(str(reason).split()) or type(reason).__name__


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
    if isinstance(values, str | bytes) or not (isinstance(values, Sequence) or getattr(values, "ndim", False)):
        raise InputError(argument, values, expected)
    for place, value in enumerate(values):  # type: ignore[arg-type, var-annotated]  # an array is no sequence by its type
        check_kind(value, kind, f"{argument}[{place}]", expected)


def check_progress(progress: object, arguments: int = 2) -> None:
    """Refuse what cannot be called with so many arguments to show how far the work is, before the work begins."""
    if progress is None:
        return
    if not callable(progress):
        raise InputError("progress", progress, "a callable, or None")
    try:
        shown = inspect.signature(progress)
    except (TypeError, ValueError):  # a callable in C without a signature
        return
    try:
        shown.bind(*range(arguments))
    except TypeError:
        raise InputError("progress", f"a callable {shown}", f"a callable of {arguments} arguments, or None") from None
