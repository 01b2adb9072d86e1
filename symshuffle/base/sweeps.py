"""A function at every point of a grid, into one table that survives being stopped.

The table is a CSV file in a folder of its own. A row is written as soon as its point is known, a point that failed is a
row with its reason, and a sweep that is called again with the same function and grid computes what is not there yet.
Beside the table lies ``sweep.json``, by which a folder is told from that of another sweep. When all rows are there the
table is put in the order of the grid, so that only the column ``seconds`` remembers how it came about.
"""

from __future__ import annotations

import hashlib
import html
import io
import itertools
import json
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeAlias, final

from symshuffle.base.artifacts import write_atomically
from symshuffle.base.errors import InputError, SymshuffleError, Unsupported, check_progress
from symshuffle.base.executors import Work, check_executor
from symshuffle.base.journal import OWN, REASON, TABLE, journal_in
from symshuffle.base.rows import FlatRow, flat

Grid: TypeAlias = "Mapping[str, Sequence[object]] | Sequence[Mapping[str, object]]"
_Progress: TypeAlias = "Callable[[int, int, int], None]"
"""Told how many points are known, how many there are, and how many of the known ones failed."""

LARGEST_GRID: Final = 1_000_000
_SHOWN: Final = 50
"""Rows of a sweep that a notebook shows."""


@final
@dataclass(frozen=True, slots=True)
class Sweep:
    """The table of a sweep.

    - ``rows``: in the order of the grid: ``point`` (its number there), the arguments, what the function returned,
      ``reason`` (None unless it failed) and ``seconds``. Numbers are read from the table's text, as the nearest
      doubles.
    """

    rows: tuple[FlatRow, ...]
    resumed: int
    table: Path | None

    @property
    def failed(self) -> int:
        """How many points have a reason instead of a result."""
        return sum(row[REASON] is not None for row in self.rows)

    def to_rows(self) -> list[FlatRow]:
        """The rows, for a data frame."""
        return [dict(row) for row in self.rows]

    def to_parquet(self, path: Path | str) -> None:
        """Write the rows as a Parquet file, whole or not at all."""
        check_parquet()
        import pyarrow
        import pyarrow.parquet

        content = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(self.to_rows()), content)
        write_atomically(Path(path), content.getvalue(), argument="path")

    def _repr_html_(self) -> str:
        """The first rows, of columns that are not empty in all of them."""
        some = self.rows[:_SHOWN]
        heads = [
            name
            for name in dict.fromkeys(head for row in some for head in row)
            if any(row.get(name) is not None for row in some)
        ]

        def cells(tag: str, values: Iterable[object]) -> str:
            short = (f"{value:.7g}" if isinstance(value, float) else str(value) for value in values)
            return "<tr>" + "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in short) + "</tr>"

        body = "".join(cells("td", ("" if row.get(name) is None else row[name] for name in heads)) for row in some)
        more = f"<p>and {len(self.rows) - _SHOWN} more rows</p>" if len(self.rows) > _SHOWN else ""
        return f"<table>{cells('th', heads)}{body}</table>{more}"

    def __repr__(self) -> str:
        return f"<Sweep of {len(self.rows)} points, {self.failed} failed, {self.resumed} resumed>"


def check_parquet() -> None:
    """Refuse Parquet where it cannot be written, before anything is computed for it."""
    if find_spec("pyarrow") is None:
        raise Unsupported(f"a Parquet file needs pyarrow, which is not installed; {TABLE} holds the same rows")


def sweep(
    function: Callable[..., object],
    grid: Grid,
    *,
    out: Path | str | None = None,
    executor: Executor | None = None,
    progress: _Progress | None = None,
) -> Sweep:
    """Table of the values of a function at every point of a grid.

    Parameters
    ----------
    function : callable
        Takes a point as keyword arguments; returns a number, a text, a mapping of these, or a result of this package
        (:func:`symshuffle.base.rows.flat`). An exception it raises becomes the reason of a row without result. For
        processes it has to be picklable, as functions at the top of a module are.
    grid : mapping of str to sequence, or sequence of mapping
        The values of each argument, all combinations of which are points (the last varies fastest); or the points.
        Values have to print the same in every process, as numbers, texts and this package's objects do.
    out : path, optional
        A folder for the table: a new or empty one, or that of the same sweep, which is then resumed. Without it nothing
        is written.
    executor : Executor, optional
        Computes the points: an executor of :mod:`concurrent.futures`, or any with its ``submit``; without one, points
        are computed in this process.
    progress : callable, optional
        Called with the number of points computed so far, of all points, and of failed ones.

    Returns
    -------
    Sweep
        The rows in the order of the grid, how many of them were resumed, and the file of the table or None.

    Raises
    ------
    InputError
        If the grid is empty, larger than 10^6 points or uses a name of the table's own; the folder holds something
        else; or the executor cannot send the work.
    SolverFailure
        If a worker dies. As after any interruption, the rows so far are kept.

    Examples
    --------
    >>> [(row["base"], row["exp"], row["value"]) for row in sweep(pow, {"base": [2, 3], "exp": [2, 4]}).rows]
    [(2, 2, 4), (2, 4, 16), (3, 2, 9), (3, 4, 81)]
    """
    if not callable(function):
        raise InputError("function", function, "a callable that takes a point as keyword arguments")
    check_progress(progress)
    points = _points(grid)
    if out is not None and (not isinstance(out, Path | str) or out == ""):
        raise InputError("out", out, "a folder, or None")
    if executor is not None:
        check_executor(executor, _tried, function, points[0])
    identity = _identity(function, points)
    with journal_in(None if out is None else Path(out), identity, points) as journal:
        resumed = len(journal.rows)
        left = [i for i in range(len(points)) if i not in journal.rows]

        def told() -> None:
            if progress is not None:
                progress(len(journal.rows), len(points), journal.failed)

        told()
        work = Work(partial(_tried, function), ((i, points[i]) for i in left), executor)
        try:
            for i, found in work:
                journal.add(i, points[i], found)
                told()
        except BaseException:  # an interrupt above all, which may have come in the middle of a line
            for i, found in work.given_up():
                journal.add(i, points[i], found)
            journal.rewrite()
            raise
        return Sweep(journal.finished(points), resumed, journal.table)


def _points(grid: Any) -> list[Mapping[str, object]]:
    if isinstance(grid, Mapping):
        axes = {name: _values(name, values) for name, values in grid.items()}
        size = math.prod(map(len, axes.values())) if axes else 0
        _check_size(size)
        _check_names(axes)
        return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    if isinstance(grid, str) or not isinstance(grid, Sequence):
        raise InputError("grid", grid, "the values of each argument by name, or a list of points")
    points = list(grid)
    _check_size(len(points))
    for point in points:
        if not isinstance(point, Mapping):
            raise InputError("grid", point, "points that map names to values")
        _check_names(point)
    return points


def _values(name: object, values: Any) -> list[object]:
    if isinstance(values, str):
        return [values]
    try:
        return list(values)
    except TypeError:
        raise InputError(f"grid.{name}", values, "a list of values") from None


def _check_size(size: int) -> None:
    if not 1 <= size <= LARGEST_GRID:
        raise InputError("grid", f"{size} points", f"from 1 to {LARGEST_GRID}")


def _check_names(names: Mapping[str, object]) -> None:
    for name in names:
        if not isinstance(name, str) or name in OWN:
            raise InputError("grid", name, f"names of arguments, none of them {', '.join(OWN)}")


def _identity(function: Any, points: Sequence[Mapping[str, object]]) -> dict[str, Any]:
    """What tells one sweep from another: its function by name, its points by their texts."""
    digest = hashlib.sha256()
    for point in points:
        digest.update(json.dumps([[name, _text(value)] for name, value in point.items()]).encode())
    inner = getattr(function, "func", None)  # functools.partial: its arguments are part of it
    named = function if inner is None else inner
    name = _address(getattr(named, "__module__", ""), getattr(named, "__qualname__", type(named).__name__))
    bound = "" if inner is None else _text((function.args, sorted(function.keywords.items())))
    return {
        "function": name + bound,
        "points": len(points),
        "arguments": sorted(points[0]),
        "digest": digest.hexdigest(),
    }


def _address(module: str, name: str) -> str:
    """The name by which users import a function; modules of this package may move, public names do not."""
    package, *inner = module.split(".")
    if package != "symshuffle":
        return f"{module}.{name}"
    import symshuffle

    return ".".join([package, *(() if name in dir(symshuffle) else inner[:1]), name])


def _text(value: object) -> str:
    text = repr(value)
    if " at 0x" in text:
        raise InputError("grid", text, "values that print the same in every process, or a sweep could not be resumed")
    return text


def _tried(function: Callable[..., object], point: Mapping[str, object]) -> tuple[FlatRow, str | None, float]:
    """In a worker: the row, or in one line why there is none, and the seconds."""
    begun = time.perf_counter()
    row: FlatRow = {}
    reason = None
    try:
        row = flat(function(**point))
    except SymshuffleError as error:
        reason = str(error)
    except Exception as error:  # whatever a function of the user's raises is the reason of its row
        reason = f"{type(error).__name__}: {error}"
    return row, reason, time.perf_counter() - begun
