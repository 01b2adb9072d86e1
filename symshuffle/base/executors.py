"""Independent pieces of work, here or by the workers of any executor of :mod:`concurrent.futures`.

What a process pool is for one machine, ``dask.distributed.Client(...).get_executor()`` is for several: both have
``submit``, and nothing else is asked of an executor.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import pickle
import queue
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, Generic, NoReturn, TypeVar

from symshuffle.base import cost
from symshuffle.base.errors import InputError, SolverFailure, SymshuffleError, check_progress

T = TypeVar("T")
R = TypeVar("R")

MOST_JOBS: Final = 256
"""Upper end of ``jobs``: beyond it a typing error starts more processes than a machine has."""

_AT_ONCE: Final = 1000
"""Pieces of work that an executor has at a time: enough for any cluster, few enough to take back."""


@contextmanager
def processes(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """A pool of freshly started workers (a fork would inherit precision); an exception in the block ends them."""
    if not 1 <= jobs <= MOST_JOBS:
        raise InputError("jobs", jobs, f"an integer from 1 to {MOST_JOBS}")
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin) as pool:
        try:
            yield pool
        except BaseException:  # an interrupt, or a consumer that went away: nobody waits for the work at hand
            workers = list((getattr(pool, "_processes", None) or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.terminate()
            raise
        # Waited for: an interpreter that ends beside a pool that is still ending writes a traceback of its own.
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def workers(jobs: int) -> Iterator[Executor | None]:
    """A pool of at most one process per core, or None where one process is enough.

    Processes beyond the number of cores would only cost the time of their start.
    """
    if (jobs := min(jobs, os.cpu_count() or 1)) == 1:
        yield None
        return
    with processes(jobs) as pool:
        yield pool


def _begin() -> None:
    """In a worker: Ctrl-C reaches the whole process group, and the parent ends its workers itself, if it can."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that was killed leaves workers behind that wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def check_executor(executor: object, *sent: object) -> None:
    """Refuse what is no executor, and for processes what cannot be sent to them, before any work is done.

    A pool of threads is refused: balls have one precision for the whole process.
    """
    if isinstance(executor, type) or not callable(getattr(executor, "submit", None)):
        raise InputError("executor", executor, "an executor of concurrent.futures, as ProcessPoolExecutor(4), or None")
    if isinstance(executor, ThreadPoolExecutor):
        raise InputError("executor", type(executor).__name__, "an executor of processes: threads share their precision")
    if isinstance(executor, ProcessPoolExecutor):
        try:
            pickle.dumps(sent)
        except Exception as error:
            refuse_work(executor, error)


def refuse_work(executor: object, error: Exception) -> NoReturn:
    """Say in one line why an executor did not do its work."""
    name = type(executor).__name__
    if isinstance(error, BrokenExecutor):
        raise SolverFailure(name, "a worker died", "the work that it had at hand") from error
    why = " ".join(f"{type(error).__name__}: {error}".split())
    allowed = f"work that it can send to its workers, such as a function at the top of a module ({why})"
    raise InputError("executor", name, allowed) from error


def mapped(
    function: Callable[[T], R],
    items: Sequence[T],
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[R]:
    """The values of a function, in the order of its arguments."""
    check_progress(progress)
    if executor is not None:
        check_executor(executor, function, *items[:1])
    found: dict[int, Any] = {}

    def shared(item: T) -> tuple[Any, BaseException | None]:
        with cost.part(len(items) - len(found)):
            return _tried(function, item)

    work = Work(shared if executor is None else partial(_tried, function), enumerate(items), executor)
    try:
        for i, (value, raised) in work:
            if raised is not None:
                raise raised
            found[i] = value
            if progress is not None:
                progress(len(found), len(items))
    finally:
        work.given_up()
    return [found[i] for i in range(len(items))]


class Work(Generic[T, R]):
    """The values of a function with the places of its arguments, as they become known.

    A value that an executor has found stays in ``running`` until it is taken, so that an interrupt loses none.
    """

    def __init__(self, function: Callable[[T], R], items: Iterable[tuple[int, T]], executor: Executor | None) -> None:
        self.function, self.executor, self.waiting = function, executor, iter(items)
        self.running: dict[Future[R], int] = {}
        self.done: queue.SimpleQueue[Future[R]] = queue.SimpleQueue()

    def __iter__(self) -> Iterator[tuple[int, R]]:
        if self.executor is None:
            yield from ((i, self.function(item)) for i, item in self.waiting)
            return
        self._submit(self.executor, _AT_ONCE)
        while self.running:
            future = self.done.get()
            yield self.running[future], _result(self.executor, future)
            del self.running[future]
            self._submit(self.executor, 1)

    def _submit(self, executor: Executor, most: int) -> None:
        for i, item in itertools.islice(self.waiting, most):
            try:
                future = executor.submit(self.function, item)
            except Exception as error:
                refuse_work(executor, error)
            self.running[future] = i
            future.add_done_callback(self.done.put)

    def given_up(self) -> list[tuple[int, R]]:
        """Take back what has not begun; what is done all the same."""
        left = [(i, future) for future, i in self.running.items() if not future.cancel() and future.done()]
        return [(i, future.result()) for i, future in left if future.exception() is None]


_NOT_SENT: Final = ("pickle", "Can't get local object")
"""Words of errors by which Python says, before and since 3.13, that something cannot be sent to a process."""


def _tried(function: Callable[[T], R], item: T) -> tuple[R | None, Exception | None]:
    """In a worker: the value, or what the function raised. What else comes out of a future is the executor's."""
    try:
        return function(item), None
    except SymshuffleError as error:
        return None, error


def _result(executor: Executor, future: Future[R]) -> R:
    try:
        return future.result()
    except (BrokenExecutor, pickle.PickleError) as error:
        refuse_work(executor, error)
    except (TypeError, AttributeError) as error:
        if not any(words in str(error) for words in _NOT_SENT):
            raise
        refuse_work(executor, error)
