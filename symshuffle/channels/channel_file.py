"""Reading a channel from a file: a matrix of probabilities as CSV or JSON, one row per input.

Entries are integers, fractions ``p/q`` or decimals, all read as the rationals they denote. Rows sum to 1 exactly, or
are rounded decimals that sum to 1 within their last digits; such rows are divided by their sums
(:mod:`symshuffle.base.numbers.tables`).
"""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any, Final

from symshuffle.base.documents import (
    check_cells,
    check_comment,
    check_no_messages,
    has_names,
    parse_json,
    read_text,
    split_lines,
)
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import as_header, counted, parse_rational
from symshuffle.channels.channel import Channel

LARGEST_FILE: Final = 5_000_000
"""Bytes; a larger matrix would compare more pairs of inputs than anyone waits for."""

_LARGEST_INPUTS: Final = 32

_REMEDY: Final = " (or say header=True)"
_AMBIGUOUS: Final = (2,)
"""Numbers of columns 0, 1, ... that may be a row: 0 and 1 have the sum 1."""

_VALUE: Final = "a probability such as 0.25, 1/4 or 1"
_BLANKS: Final = re.compile(r"[^\S\v\f\x1c-\x1e\x85\u2028\u2029]+")
_ROW: Final = re.compile(r"rows\[(\d+)\](?:\[(\d+)\])?")


def read_channel(path: Path | str, *, header: bool | None = None) -> Channel:
    """Channel read from a CSV or JSON file.

    Parameters
    ----------
    path : Path or str
        ``*.json``: a list of rows, or an object with that list as its only key, ``rows``; anything else is read as CSV,
        or as columns separated by blanks where there is no comma. Blank lines and lines that start with ``#`` are
        skipped.
    header : bool, optional
        Whether the first line of a CSV file has names of columns. By default it has if every cell is a name, which
        begins with a letter or ``_`` and cannot be a number, or if they are the numbers 0, 1, 2, ... of the columns.
        The only line has none. Refused are the first line ``0,1``, which may be a row, also as ``00,+1``, and one of
        which some cell is neither a probability nor such a name.

    Returns
    -------
    Channel
        One row per input, in the order of the file; its ``rounding`` is not None where the file holds rounded rows,
        which were divided by their sums, and its ``header`` says whether a first line of names was skipped.

    Raises
    ------
    InputError
        If the file cannot be read, an entry is not a number (file, row and column are named), rows differ in length, a
        row does not sum to 1 (the message says which and by how much), or there are no rows, or too many to compare all
        pairs. Lines and columns of a CSV file count from 1; ``rows[x][y]`` in JSON count from 0.
    """
    path, text = read_text(path, "file", LARGEST_FILE)
    header = as_header(header)
    if path.suffix.lower() == ".json":
        if header:
            raise InputError("header", header, "False or None with a JSON file, which has no line of names")
        rows, numbers, named = _json_rows(text, path), None, False
    else:
        rows, numbers, named = _csv_rows(text, path, header)
    if not rows:
        raise InputError("file", path, "at least one row of probabilities")
    if len(rows) > _LARGEST_INPUTS:
        raise InputError(str(path), f"{len(rows)} rows", f"at most {_LARGEST_INPUTS}: all pairs are compared")
    try:
        _check_lengths(rows)
        found = Channel.from_rows(
            [[_entry(value, f"rows[{x}][{y}]") for y, value in enumerate(row)] for x, row in enumerate(rows)]
        )
    except InputError as error:
        raise InputError(_place(path, error.argument, numbers), error.value, error.expected) from None
    object.__setattr__(found, "header", named)
    return found


def _check_lengths(rows: list[list[Any]]) -> None:
    """Refuse the first row that has another number of values than the first one."""
    for x, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise InputError(f"rows[{x}]", counted(len(row), "value"), f"{len(rows[0])}, as in the first row")


def _place(path: Path, argument: str, numbers: list[int] | None) -> str:
    """Return the place of ``rows[x][y]`` in a file: by line and column from 1, in JSON as it is.

    - ``numbers``: the lines of the rows; None in JSON.
    """
    found = _ROW.fullmatch(argument)
    if found is None or numbers is None:
        return f"{path}: {argument}"
    column = "" if found[2] is None else f", column {int(found[2]) + 1}"
    return f"{path}, line {numbers[int(found[1])]}{column}"


def _csv_rows(text: str, path: Path, header: bool | None) -> tuple[list[list[str]], list[int], bool]:
    """The rows without a line of names, their lines, and whether there was one."""
    found, numbers = _split(text, path)
    if not found:
        return [], [], False
    first, where = found[0], f"{path}, line {numbers[0]}"
    if header is None:
        header = len(found) > 1 and has_names(first, found[1], where, _VALUE, _REMEDY, _AMBIGUOUS)
        if header and len(first) != len(found[1]):
            raise InputError(where, f"{len(first)} names", f"{len(found[1])}, one for each column")
    return (found[1:], numbers[1:], True) if header else (found, numbers, False)


def _split(text: str, path: Path) -> tuple[list[list[str]], list[int]]:
    """The cells of every line that is not blank or a comment, and the numbers of these lines in the file."""
    kept = []
    check_no_messages(text, "file", path, "a matrix of probabilities")
    for number, line in enumerate(split_lines(text), start=1):
        check_comment(line, f"{path}, line {number}", f"probabilities, each {_VALUE}")
        if line.strip() and not line.lstrip().startswith("#"):
            kept.append((number, line))
    numbers, lines = [number for number, _ in kept], [line for _, line in kept]
    if not any("," in line for line in lines):
        cells = [_BLANKS.sub(" ", line).strip(" ").split(" ") for line in lines]
        for row, number in zip(cells, numbers, strict=True):
            check_cells(row, f"{path}, line {number}", _VALUE)
        return cells, numbers
    reader, found, ends = csv.reader(io.StringIO("\n".join(lines)), strict=True), [], []
    try:
        for row in reader:
            ends.append(numbers[reader.line_num - 1])
            check_cells(row, f"{path}, line {ends[-1]}", _VALUE)
            found.append([entry.strip() for entry in row])
    except csv.Error as error:
        raise InputError(str(path), str(error), "comma-separated probabilities") from None
    return found, ends


def _json_rows(text: str, path: Path) -> list[list[Any]]:
    # Numbers stay the text they are in the file: 0.1 is one tenth.
    found = parse_json(text, path, "file", parse_float=str, parse_int=str, parse_constant=str)
    rows = found.get("rows") if isinstance(found, dict) else found
    for key in found.keys() - {"rows"} if isinstance(found, dict) else ():
        raise InputError(f"{path}: {key}", found[key], "no key other than rows")
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise InputError("file", path, "a list of rows, or an object with such a list as rows and no other key")
    return rows


def _entry(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise InputError(place, json.dumps(value), _VALUE)
    if value.strip().endswith(("%", "\u2030")):
        raise InputError(place, value, f"{_VALUE}; per cent are not read: divide by 100")
    parse_rational(value, place)
    return value
