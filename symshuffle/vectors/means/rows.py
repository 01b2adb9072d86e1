"""Vectors of the unit ball in blocks, from an array or a file that is never held whole."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from symshuffle.base.documents import check_cells, check_comment, check_no_messages, has_names, open_text
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import as_header
from symshuffle.vectors.randomizers.sampling import LENGTH_SLACK

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float64]

BLOCK_ENTRIES: Final = 1 << 20
"""Numbers of a block: 8 MB, of which a sampler makes a few copies."""


_AMBIGUOUS: Final = (1, 2)
"""Numbers of columns 0, 1, ... that may be a vector: its length is at most 1."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Vectors of one length, which can be gone through more than once.

    - ``dimension``: length d of each.
    - ``blocks``: starts to go through them: arrays of shape (rows, d), of :data:`BLOCK_ENTRIES` numbers or one row.
    - ``header``: whether a first line of names was skipped; None where lines cannot have names.
    """

    name: str
    dimension: int
    blocks: Callable[[], Iterator[Vectors]]
    place: Callable[[int], str]
    header: bool | None = None


def survey(rows: Rows) -> tuple[int, Vectors, float, tuple[float, float]]:
    """Check every vector; their number, mean, mean squared length, and smallest and largest coordinate of all."""
    import numpy as np

    count, total, squares = 0, np.zeros(rows.dimension), 0.0
    lowest, highest = math.inf, -math.inf
    for block in rows.blocks():
        square = np.einsum("ij,ij->i", block, block)
        wrong = ~(np.isfinite(block).all(axis=1) & (square <= (1 + LENGTH_SLACK) ** 2))
        if wrong.any():
            row = int(np.argmax(wrong))
            _refuse_row(rows.place(count + row), block[row])
        count += len(block)
        total += block.sum(axis=0)
        squares += float(square.sum())
        if block.size:
            lowest, highest = min(lowest, float(block.min())), max(highest, float(block.max()))
    if count == 0:
        raise InputError(rows.name, "no rows", "at least one vector")
    return count, total / count, squares / count, (lowest, highest)


def _refuse_row(place: str, row: Vectors) -> None:
    import numpy as np

    finite = np.isfinite(row)
    if not finite.all():
        column = int(np.argmin(finite))
        raise InputError(f"{place}, column {column + 1}", row[column], "a finite number")
    length = math.hypot(*map(float, row))  # scales, so that no square overflows
    shown = f"{length:.12g}" if length < math.inf else f"above {sys.float_info.max:.3g}"
    raise InputError(place, f"norm {shown}", "a vector of length at most 1 (nothing is clipped)")


def array_rows(data: Any, name: str = "data") -> Rows:
    """The rows of an array, or of what NumPy makes one of; a memory map stays one."""
    import numpy as np

    try:
        array = np.asarray(data)
    except ValueError:  # ragged
        raise InputError(name, "rows of different lengths", "an array of shape (n, d)") from None
    dimension = _check_matrix(array, name)
    return Rows(name, dimension, lambda: _slices(lambda: array, dimension), lambda row: f"{name}[{row}]")


def file_rows(path: Path, header: bool | None = None) -> Rows:
    """The rows of a ``.npy`` or ``.csv`` file, read anew at every pass.

    A CSV file has one vector per line, numbers separated by commas. A first line that begins with ``#`` is skipped, and
    after it one of names; a line that has neither numbers nor names is refused, and so are numbers of columns that may
    be a vector, ``0`` and ``0,1``, also as ``00,+1``.

    - ``header``: whether there is a line of names; by default as for a matrix in a file.
    """
    header = as_header(header)
    kind = path.suffix.lower()
    if kind not in (".npy", ".csv"):
        raise InputError("data", path, "a .csv or .npy file")
    if not path.is_file():
        raise InputError("data", path, "a file that exists")
    try:
        if kind == ".npy" and header:
            raise InputError("header", header, "False or None with a .npy file, which has no line of names")
        return _npy(path) if kind == ".npy" else _csv(path, header)
    except OSError as error:
        raise InputError("data", path, f"a readable file ({error.strerror or error})") from None


def _check_matrix(array: NDArray[Any], name: str) -> int:
    if array.dtype.kind not in "fiu":
        raise InputError(name, f"entries of type {array.dtype}", "real numbers")
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(name, f"shape {array.shape}", "shape (n, d) with n and d at least 1")
    return int(array.shape[1])


def _slices(opened: Callable[[], NDArray[Any]], dimension: int) -> Iterator[Vectors]:
    """Blocks of a matrix that is opened anew for each, so that the pages of a map are let go of."""
    import numpy as np

    step = max(1, BLOCK_ENTRIES // dimension)
    for start in itertools.count(0, step):
        block = np.array(opened()[start : start + step], dtype=np.float64)
        if not len(block):
            return
        yield block


def _npy(path: Path) -> Rows:
    import numpy as np

    def opened() -> NDArray[Any]:
        mapped: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        return mapped

    try:
        dimension = _check_matrix(opened(), str(path))
    except (ValueError, EOFError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("data", path, f"an array of numbers in NumPy's format ({error})") from None
    return Rows(str(path), dimension, lambda: _slices(opened, dimension), lambda row: f"{path}, row {row + 1}")


def _csv(path: Path, header: bool | None) -> Rows:
    try:
        first = list(itertools.islice(_lines(path), 3))
    except UnicodeDecodeError:
        raise InputError("data", path, "a text file in UTF-8") from None
    if first and first[0][1].lstrip().startswith("#"):
        check_no_messages(first[0][1], "data", path, "vectors")
        check_comment(first[0][1], f"{path}, line 1", "numbers separated by commas")
        del first[0]
    if first and header is None:
        cells = [[field.strip().strip('"') for field in line.split(",")] for _, line in first[:2]]
        second, where = cells[1] if len(cells) > 1 else None, f"{path}, line {first[0][0]}"
        header = has_names(cells[0], second, where, "a number", " (or say header=True)", _AMBIGUOUS)
    if len(first) <= bool(header):
        raise InputError("data", path, "at least one line of numbers")
    number, line = first[bool(header)]
    skipped, dimension = number - 1, line.count(",") + 1

    def blocks() -> Iterator[Vectors]:
        lines = _lines(path, skipped)
        while chunk := list(itertools.islice(lines, max(1, BLOCK_ENTRIES // dimension))):
            yield _parsed(path, chunk, dimension)

    # Rows are lines, as _lines lets nothing empty stand between two of them.
    return Rows(str(path), dimension, blocks, lambda row: f"{path}, line {skipped + row + 1}", header)


def _lines(path: Path, skip: int = 0) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers from 1 on, without empty ones at the end."""
    empty = 0
    with open_text(path) as file:
        for number, line in enumerate(file, start=1):
            if number <= skip:
                continue
            if not line.strip():
                empty = empty or number
            elif empty:
                raise InputError(f"{path}, line {empty}", "empty", "numbers separated by commas")
            else:
                if line.splitlines() != [line.rstrip("\n")]:
                    check_cells(line.split(","), f"{path}, line {number}", "a number")
                yield number, line


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return field.isascii() and "_" not in field


def _parsed(path: Path, chunk: Sequence[tuple[int, str]], dimension: int) -> Vectors:
    import numpy as np

    texts = [line for _, line in chunk]
    try:
        block: Vectors = np.loadtxt(texts, delimiter=",", comments=None, ndmin=2)
        if block.shape == (len(chunk), dimension):
            return block
    except ValueError:
        pass
    for number, line in chunk:
        fields = line.strip().split(",")
        if len(fields) != dimension:
            raise InputError(f"{path}, line {number}", f"{len(fields)} numbers", f"{dimension}, as in the first row")
        for column, field in enumerate(fields, start=1):
            if not _is_number(field):
                raise InputError(f"{path}, line {number}, column {column}", repr(field), "a number")
    raise InputError("data", path, "numbers that NumPy's loadtxt reads")
