"""How far long work is, on standard error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


def progress(*, logged: bool = False) -> Progress:
    """A bar with the item at hand, in a terminal; ``logged`` leaves its last state in a file or pipe as well."""
    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    return Progress(*columns, console=console, transient=not logged, disable=not (logged or console.is_terminal))


@contextmanager
def after_a_while(what: str, seconds: float = 2.0) -> Iterator[None]:
    """One line on standard error if the work takes longer than that."""
    timer = Timer(seconds, lambda: Console(stderr=True).print(f"{what} ...", highlight=False))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
