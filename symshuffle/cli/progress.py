"""How far long work is, on standard error.

Every command says after two seconds, on a terminal, that it is at work; those that know how much there is to do draw a
bar instead.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Timer
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.progress import Progress

_drawn: Final = Event()
"""Set once a bar is on the screen: then nothing else has to be said."""


def progress(*, logged: bool = False) -> Progress:
    """A bar with the item at hand, in a terminal; ``logged`` leaves its last state in a file or pipe as well."""
    _drawn.set()
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(file=sys.stderr)  # that of now: a sweep sends that of its points elsewhere
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    return Progress(*columns, console=console, transient=not logged, disable=not (logged or console.is_terminal))


@contextmanager
def after_a_while(what: str, seconds: float = 2.0) -> Iterator[None]:
    """One line on standard error if the work takes longer than that, nobody drew a bar, and someone is watching."""

    def say() -> None:
        if not _drawn.is_set() and sys.stderr.isatty():
            sys.stderr.write(f"{what} ...\n")
            sys.stderr.flush()

    _drawn.clear()
    timer = Timer(seconds, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
