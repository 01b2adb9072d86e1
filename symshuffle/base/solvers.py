"""Solvers of other libraries, run without a word on standard output: that belongs to the answer.

Options that make a solver silent come too late: HiGHS 1.16 says who it is while a solver is made, before it can be told
anything. So standard output is closed while a solver is imported, made and run, for Python and for libraries in C.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from typing import Any

from symshuffle.base.errors import SolverFailure

_lock = threading.Lock()
_inside: list[ExitStack] = []
"""One entry per block that was entered; the first one knows how standard output is opened again."""


@contextmanager
def silent() -> Iterator[None]:
    """Discard all that is written to standard output inside the block.

    Blocks may be nested, and entered by several threads: standard output is open again when the last one is left. What
    other threads write to it in the meantime is discarded, too. Standard error, where progress is shown, stays open.
    """
    with _lock:
        _inside.append(ExitStack() if _inside else _closed())
    try:
        yield
    finally:
        with _lock:
            first = _inside[0]
            _inside.pop()
            if not _inside:
                first.close()


def highspy() -> Any:
    """The library of HiGHS, loaded on first use; it publishes few types."""
    with silent():
        import highspy as library
    return library


def cvxpy() -> Any:
    """The modelling library, loaded on first use; it publishes most of its names without types."""
    with silent():
        import cvxpy as library
    return library


def solve_model(problem: Any, solver: str, **options: Any) -> None:
    """Solve a problem of cvxpy; its fields then hold what was found."""
    with silent():
        problem.solve(solver=solver, **options)


def highs_optimum(problem: Any, description: str, **options: Any) -> float:
    """Optimal value of a cvxpy problem by HiGHS with its options; anything but an optimum is an error."""
    cp = cvxpy()
    try:
        solve_model(problem, cp.HIGHS, highs_options=options)
    except cp.error.SolverError as error:
        raise SolverFailure("HiGHS", str(error).splitlines()[0], description) from None
    if problem.status != cp.OPTIMAL:
        raise SolverFailure("HiGHS", problem.status, description)
    return float(problem.value)


def linprog(*program: Any, **options: Any) -> Any:
    """What ``scipy.optimize.linprog`` finds."""
    with silent():
        from scipy.optimize import linprog as solve

        return solve(*program, **options)


def _closed() -> ExitStack:
    """Close standard output; what is returned opens it again."""
    if sys.stdout is not None and not getattr(sys.stdout, "closed", False):
        sys.stdout.flush()
    _flush_c()
    with ExitStack() as undo:
        sink = undo.enter_context(open(os.devnull, "w"))
        with suppress(OSError):  # there may be no descriptor 1
            copy = os.dup(1)
            undo.callback(os.close, copy)
            undo.callback(os.dup2, copy, 1)
            os.dup2(sink.fileno(), 1)
        undo.callback(_flush_c)
        undo.enter_context(redirect_stdout(sink))
        return undo.pop_all()


def _flush_c() -> None:
    """Write out what libraries in C have in their buffers: it would come later, and elsewhere."""
    import ctypes

    ctypes.CDLL(None if os.name == "posix" else "ucrtbase").fflush(None)
