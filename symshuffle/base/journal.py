"""The table of a sweep on its way: rows in memory and in a folder that belongs to one sweep and one process."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, TypeAlias

from symshuffle.base.artifacts import check_destination, write_atomically
from symshuffle.base.errors import InputError
from symshuffle.base.rows import FlatRow, Scalar

TABLE: Final = "table.csv"
IDENTITY: Final = "sweep.json"

POINT: Final = "point"
REASON: Final = "reason"
SECONDS: Final = "seconds"
OWN: Final = (POINT, REASON, SECONDS)

_INSIDE: Final = re.compile(r"^symshuffle\.(?:[a-z]\w*\.)+(?=\w+(?:\(|$))")
"""The modules in the name of a function of this package."""

Found: TypeAlias = "tuple[FlatRow, str | None, float]"
"""The row of a point, or the reason why there is none, and the seconds."""


class Journal:
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
        text = self.table.read_text(encoding="utf-8") if self.table.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        reader = csv.DictReader(io.StringIO(whole))
        names = list(reader.fieldnames or ())
        if names:
            given = 1 + len(self.arguments)
            if names[:given] != self.columns[:given] or names[-2:] != self.columns[-2:]:
                raise InputError("out", self.table, f"a table with the columns {', '.join(self.columns)} and results")
            self.results = names[given:-2]
            self.rows = {int(row[POINT]): row for row in reader}
            self.failed = sum(bool(row[REASON]) for row in self.rows.values())
        if not names or whole != text:
            self.rewrite()

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
                stream.write(_lines(self.columns, [self.rows[i]]))

    def rewrite(self) -> None:
        """The table anew from the rows in memory, as a whole; without a folder nothing."""
        if self.table is not None:
            write_atomically(self.table, _lines(self.columns, self.rows.values(), head=True), argument="out")

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
) -> Iterator[Journal]:
    """The journal of a sweep; in a folder, as long as no other process writes there."""
    journal = Journal(folder, points)
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
    try:
        found = json.loads(named.read_text(encoding="utf-8"))
        theirs = f"{found['points']} points of {found['function']} over {', '.join(found['arguments'])}"
    except (ValueError, KeyError, TypeError, OSError):
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


def _lines(columns: Sequence[str], rows: Any, *, head: bool = False) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    if head:
        writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _read(text: str) -> Scalar:
    if text in ("", "True", "False"):
        return {"": None, "True": True, "False": False}[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
