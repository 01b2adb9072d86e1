"""A function at every point of a grid, into one table that survives being stopped.

The table is a CSV file in a folder of its own, told from that of another sweep by ``sweep.json``. A row is written as
soon as its point is known, and a sweep that is called again computes what is not there yet. In the end rows are put in
the order of the grid, so that only the column ``seconds`` remembers how the table came about.
"""

from __future__ import annotations

import csv
import hashlib
import html
import io
import itertools
import json
import math
import pickle
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, FunctionType
from typing import IO, Any, Final, TypeAlias, final

from symshuffle.base.artifacts import check_destination, write_atomically
from symshuffle.base.documents import LARGEST_LIST, open_text, parse_json, read_text
from symshuffle.base.errors import InputError, SymshuffleError, Unsupported, check_progress
from symshuffle.base.executors import Work, check_executor
from symshuffle.base.numbers import as_integer, counted
from symshuffle.base.rows import FlatRow, Scalar, csv_text, flat

TABLE: Final = "table.csv"
IDENTITY: Final = "sweep.json"

POINT: Final = "point"
REASON: Final = "reason"
SECONDS: Final = "seconds"
OWN: Final = (POINT, REASON, SECONDS)

_INSIDE: Final = re.compile(r"^symshuffle\.(?:[a-z]\w*\.)+(?=\w+(?:\(|$))")
"""The modules in the name of a function of this package."""

_COMMAND: Final = re.compile(r"^symshuffle\.(?:\w+\.)*answer\(\('([\w-]+)'.*", re.DOTALL)
"""The name that a sweep of the command line has, around that of its command."""

Found: TypeAlias = "tuple[FlatRow, str | None, float]"
"""The row of a point, or the reason why there is none, and the seconds."""


class _Journal:
    """The rows so far, in memory and, where there is a folder, in its table."""

    def __init__(self, folder: Path | None, points: Sequence[Mapping[str, object]]) -> None:
        self.table = None if folder is None else folder / TABLE
        self.arguments = list(dict.fromkeys(name for point in points for name in point))
        self.results: list[str] = []
        self.rows: dict[int, dict[str, str]] = {}
        self.failed = 0

    @property
    def columns(self) -> list[str]:
        """The names of the columns: the point, its arguments, results so far, reason and seconds."""
        return [POINT, *self.arguments, *self.results, REASON, SECONDS]

    def open(self) -> None:
        """Read the rows that are there; a last one without its end was being written when the sweep was stopped."""
        assert self.table is not None
        text = ""
        if self.table.exists():
            with open_text(self.table) as stream:
                text = stream.read()
        whole = text[: text.rfind("\n") + 1]
        reader = csv.DictReader(io.StringIO(whole))
        names = list(reader.fieldnames or ())
        if names:
            given = 1 + len(self.arguments)
            if names[:given] != self.columns[:given] or names[-2:] != self.columns[-2:]:
                raise InputError("out", self.table, f"a table with the columns {', '.join(self.columns)} and results")
            self.results = names[given:-2]
            self.rows = {self._point(row, reader.line_num): row for row in reader}
            self.failed = sum(bool(row[REASON]) for row in self.rows.values())
        if not names or whole != text:
            self.rewrite()

    def _point(self, row: Mapping[str | None, Any], line: int) -> int:
        """Number of the point of a row of the table."""
        if None in row or None in row.values():
            raise InputError(f"{self.table}, line {line}", "another number of values", "one for each column")
        return as_integer(row[POINT], f"{self.table}, line {line}, column {POINT}", 0)

    def add(self, i: int, point: Mapping[str, object], found: Found) -> None:
        """Write the row of a point."""
        row, reason, seconds = found
        named = {(f"result.{name}" if name in {*self.arguments, *OWN} else name): cell for name, cell in row.items()}
        cells: dict[str, object] = {POINT: i, **point, **named, REASON: reason, SECONDS: f"{seconds:.6f}"}
        self.rows[i] = {name: "" if cell is None else " ".join(str(cell).split()) for name, cell in cells.items()}
        self.failed += reason is not None
        new = [name for name in named if name not in self.results]
        self.results += new
        if new:  # a column that no row had before: the table is written anew, as a whole
            self.rewrite()
        elif self.table is not None:
            with self.table.open("a", encoding="utf-8", newline="") as stream:
                stream.write(csv_text(self.columns, [self.rows[i]], head=False))

    def rewrite(self) -> None:
        """The table anew from the rows in memory, as a whole; without a folder nothing."""
        if self.table is not None:
            write_atomically(self.table, csv_text(self.columns, self.rows.values()), argument="out")

    def finished(self, points: Sequence[Mapping[str, object]]) -> tuple[FlatRow, ...]:
        """All rows in the order of the grid, columns in that of their first appearance there."""
        self.rows = {i: self.rows[i] for i in range(len(points))}
        first: dict[str, None] = {}
        for row in self.rows.values():
            first.update(dict.fromkeys(name for name in self.results if row.get(name)))
        self.results = [*first, *sorted(set(self.results) - first.keys())]
        self.rewrite()
        return tuple({name: _read(row.get(name, "")) for name in self.columns} for row in self.rows.values())


@contextmanager
def journal_in(
    folder: Path | None, identity: Mapping[str, Any], points: Sequence[Mapping[str, object]]
) -> Iterator[_Journal]:
    """The journal of a sweep; in a folder, as long as no other process writes there."""
    journal = _Journal(folder, points)
    if folder is None:
        yield journal
        return
    check_destination(folder, argument="out", directory=True)
    _claim(folder, identity)
    with (folder / IDENTITY).open("rb") as held, _alone(held, folder):
        journal.open()
        yield journal


def _claim(folder: Path, identity: Mapping[str, Any]) -> None:
    """Make the folder that of this sweep, or refuse it."""
    named = folder / IDENTITY
    if not named.exists():
        if folder.exists() and any(folder.iterdir()):
            raise InputError("out", folder, "a new or empty folder, or that of the same sweep: this holds other files")
        write_atomically(named, json.dumps(identity, indent=2) + "\n", argument="out")
        return
    found = parse_json(read_text(named, "out", LARGEST_LIST)[1], named, "out")
    try:
        asked = _COMMAND.sub(r"\1", str(found["function"]))
        theirs = f"{counted(found['points'], 'point')} of {asked} over {', '.join(found['arguments'])}"
    except (KeyError, TypeError):
        raise InputError("out", folder, f"a folder whose {IDENTITY} can be read") from None
    # Older files name the module of a function of this package as well.
    ours, old = ({**one, "function": _INSIDE.sub("symshuffle.", str(one["function"]))} for one in (identity, found))
    if ours != old:
        raise InputError("out", folder, f"a new folder, or that of the same sweep: this holds another one, {theirs}")


@contextmanager
def _alone(held: IO[bytes], folder: Path) -> Iterator[None]:
    """Nobody else writes to the folder; the system takes the lock back from a process that was killed."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        yield
        return
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise InputError("out", folder, "a folder in which no other process is sweeping") from None
    yield


def _read(text: str) -> Scalar:
    if text in ("", "True", "False"):
        return {"": None, "True": True, "False": False}[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


Grid: TypeAlias = "Mapping[str, Sequence[object]] | Sequence[Mapping[str, object]]"
_Progress: TypeAlias = "Callable[[int, int, int], None]"
"""Told how many points are known, how many there are, and how many of the known ones failed."""

LARGEST_GRID: Final = 1_000_000
_SHOWN: Final = 50
"""Rows of a sweep that a notebook shows."""


@final
@dataclass(frozen=True, slots=True)
class Table:
    """Answers, or numbers, at every point of a grid.

    Parameters
    ----------
    rows : tuple of dict
        One row per point, in the order of the grid: ``point``, the arguments, what the function returned, ``reason``
        (None unless it failed) and ``seconds``. Numbers are read from the table's text, as the nearest doubles.
    resumed : int
        Number of rows that were read from an earlier run of the same sweep.
    table : Path or None
        File of the table; None if nothing was written.
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

    @property
    def columns(self) -> list[str]:
        """Names of the columns: the point, its arguments, results, reason and seconds."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def to_csv(self, path: Path | str) -> None:
        """Write the rows as a CSV file, whole or not at all."""
        check_destination(Path(path), argument="path")
        write_atomically(Path(path), csv_text(self.columns, self.rows), argument="path")

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
        return f"<Table of {counted(len(self.rows), 'point')}, {self.failed} failed, {self.resumed} resumed>"


def check_parquet() -> None:
    """Refuse Parquet where it cannot be written, before anything is computed for it."""
    if find_spec("pyarrow") is None:
        raise Unsupported(f"a Parquet file needs pyarrow, which is not installed; {TABLE} holds the same rows")


def tabulate(
    function: Callable[..., object],
    grid: Grid,
    *,
    out: Path | str | None = None,
    executor: Executor | None = None,
    progress: _Progress | None = None,
) -> Table:
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
    Table
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
    >>> [(row["base"], row["exp"], row["value"]) for row in tabulate(pow, {"base": [2, 3], "exp": [2, 4]}).rows]
    [(2, 2, 4), (2, 4, 16), (3, 2, 9), (3, 4, 81)]
    """
    if not callable(function):
        raise InputError("function", function, "a callable that takes a point as keyword arguments")
    check_progress(progress, 3)
    points = _points(grid)
    if out is not None and (not isinstance(out, Path | str) or out == ""):
        raise InputError("out", out, "a folder, or None")
    if executor is not None:
        check_executor(executor, _tried, function, points[0])
    identity = _identity(function, points)
    with journal_in(None if out is None else Path(out), identity, points) as journal:
        resumed, tell = len(journal.rows), progress or (lambda *_: None)
        left = [i for i in range(len(points)) if i not in journal.rows]
        tell(len(journal.rows), len(points), journal.failed)
        work = Work(partial(_tried, function), ((i, points[i]) for i in left), executor)
        try:
            for i, found in work:
                journal.add(i, points[i], found)
                tell(len(journal.rows), len(points), journal.failed)
        except BaseException:  # an interrupt above all, which may have come in the middle of a line
            for i, found in work.given_up():
                journal.add(i, points[i], found)
            journal.rewrite()
            raise
        return Table(journal.finished(points), resumed, journal.table)


def _points(grid: Any) -> list[Mapping[str, object]]:
    if isinstance(grid, Mapping):
        axes = {name: _values(name, values) for name, values in grid.items()}
        _check_grid(math.prod(map(len, axes.values())) if axes else 0, [axes])
        return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    if isinstance(grid, str) or not isinstance(grid, Sequence):
        raise InputError("grid", grid, "the values of each argument by name, or a list of points")
    points = list(grid)
    for point in points:
        if not isinstance(point, Mapping):
            raise InputError("grid", point, "points that map names to values")
    _check_grid(len(points), points)
    return points


def _values(name: object, values: Any) -> list[object]:
    if isinstance(values, str | bytes | bytearray):
        return [values]
    try:
        return list(values)
    except TypeError:
        raise InputError(f"grid.{name}", values, "a list of values") from None


def _check_grid(size: int, points: Iterable[Mapping[str, object]]) -> None:
    if not 1 <= size <= LARGEST_GRID:
        raise InputError("grid", counted(size, "point"), f"from 1 to {LARGEST_GRID}")
    for name in (name for point in points for name in point):
        if not isinstance(name, str) or name in OWN:
            raise InputError("grid", name, f"names of arguments, none of them {', '.join(OWN)}")


def _identity(function: Any, points: Sequence[Mapping[str, object]]) -> dict[str, Any]:
    """What tells one sweep from another: its function, its points, and the files that they name, by content."""
    digest = hashlib.sha256()
    for point in points:
        digest.update(json.dumps([[name, _content(value)] for name, value in point.items()]).encode())
    inner = getattr(function, "func", None)  # functools.partial: its arguments are part of it
    named = function if inner is None else inner
    digest.update(_content_of_code(named).encode() if inner is None else _content(function).encode())
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


def _content(value: Any) -> str:
    """Return a text that differs for different values, also where both print alike."""
    match value:
        case str() | Path():
            return f"{value!r}{_content_of_file(Path(value))}"
        case Mapping():
            return f"{{{', '.join(f'{_content(name)}: {_content(one)}' for name, one in value.items())}}}"
        case list() | tuple():
            return f"{type(value).__name__}({', '.join(map(_content, value))})"
        case partial():
            return _content((value.func, value.args, value.keywords))
    if callable(value) and hasattr(value, "__qualname__"):
        return _address(value.__module__ or "", value.__qualname__) + _content_of_code(value)
    if is_dataclass(value) and not isinstance(value, type):
        return type(value).__qualname__ + _content({one.name: getattr(value, one.name) for one in fields(value)})
    if hasattr(value, "tobytes") and hasattr(value, "dtype"):
        return f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
    if hasattr(value, "__dataframe__"):
        return hashlib.sha256(pickle.dumps(value)).hexdigest()
    return _text(value)


def _content_of_code(function: Any) -> str:
    """Return a digest of the code of a user's function, its defaults and closure; empty for other callables."""
    if not isinstance(function, FunctionType) or (function.__module__ or "").partition(".")[0] == "symshuffle":
        return ""
    code, held = function.__code__, [cell.cell_contents for cell in function.__closure__ or ()]
    inner = [f"{one.co_code!r}{one.co_consts!r}" if isinstance(one, CodeType) else one for one in code.co_consts]
    parts = [code.co_code, code.co_names, inner, function.__defaults__, function.__kwdefaults__ or {}, held]
    return hashlib.sha256(re.sub(r" at 0x\w+", "", _content(parts)).encode()).hexdigest()


def _content_of_file(path: Path) -> str:
    """Return a digest of a file and of the files named in it; empty where there is none."""
    try:
        found = path.read_bytes() if path.is_file() else b""
    except (OSError, ValueError):
        return ""
    named = {path.parent / one.decode(errors="replace") for one in re.findall(rb'"([^"\n]+\.\w{2,4})"', found)}
    inner = sorted(one.read_bytes() for one in named if one.is_file())
    return hashlib.sha256(b"\0".join([found, *inner])).hexdigest() if found else ""


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
