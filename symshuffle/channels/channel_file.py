"""Reading a channel from a file: a matrix of probabilities as CSV or JSON, one row per input.

Entries are integers, fractions ``p/q`` or decimals, all read as the rationals they denote. Rows sum to 1 exactly, or
are rounded decimals that sum to 1 within their last digits; such rows are divided by their sums
(:mod:`symshuffle.channels.channel`).
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any, Final

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import parse_rational
from symshuffle.channels.channel import Channel

LARGEST_FILE: Final = 5_000_000
"""Bytes; a larger matrix would compare more pairs of inputs than anyone waits for."""

_LARGEST_INPUTS: Final = 32


def read_channel(path: Path) -> Channel:
    """Channel read from a CSV or JSON file.

    Parameters
    ----------
    path : Path
        ``*.json``: a list of rows, or an object with that list as ``rows``; anything else is read as CSV, or as columns
        separated by blanks where there is no comma. Blank lines, lines that start with ``#`` and a first line of names
        are skipped.

    Returns
    -------
    Channel
        One row per input, in the order of the file; its ``rounding`` is not None where the file holds rounded rows,
        which were divided by their sums.

    Raises
    ------
    InputError
        If the file cannot be read, an entry is not a number (file, row and column are named), rows differ in length, a
        row does not sum to 1 (the message says which and by how much), or there are no rows, or too many to compare all
        pairs. Rows and columns count from 0, without names and comments.
    """
    text = _text(path)
    rows = _json_rows(text, path) if path.suffix.lower() == ".json" else _csv_rows(text, path)
    if not rows:
        raise InputError("file", path, "at least one row of probabilities")
    if len(rows) > _LARGEST_INPUTS:
        raise InputError("file", f"{path} with {len(rows)} rows", f"at most {_LARGEST_INPUTS}: all pairs are compared")
    try:
        return Channel.from_rows(
            [[_entry(value, f"rows[{x}][{y}]") for y, value in enumerate(row)] for x, row in enumerate(rows)]
        )
    except InputError as error:
        raise InputError(f"{path}: {error.argument}", error.value, error.expected) from None


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise InputError("file", path, f"at most {LARGEST_FILE} bytes")
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError("file", path, f"a readable file ({error.strerror})") from None
    except UnicodeDecodeError:
        raise InputError("file", path, "a text file in UTF-8") from None


def _csv_rows(text: str, path: Path) -> list[list[Any]]:
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not any("," in line for line in lines):
        found = [line.split() for line in lines]
    else:
        try:
            rows = csv.reader(io.StringIO("\n".join(lines)), strict=True)
            found = [[entry.strip() for entry in row] for row in rows]
        except csv.Error as error:
            raise InputError("file", f"{path} ({error})", "comma-separated probabilities") from None
    if len(found) > 1 and found[0] == [
        str(y) for y in range(len(found[0]))
    ]:  # the numbers of columns, as pandas writes
        if len(found[0]) == 2:  # it may be a row: 0 and 1 have the sum 1
            meant = "names of columns, or a row written 0.0,1.0: the line could be the numbers of columns"
            raise InputError("file", f"{path}, first line 0,1", meant)
        return found[1:]
    return found[1:] if len(found) > 1 and not any(map(_is_number, found[0])) else found


def _is_number(text: str) -> bool:
    try:
        parse_rational(text, "entry")
    except InputError:
        return False
    return True


def _json_rows(text: str, path: Path) -> list[list[Any]]:
    try:
        # Numbers stay the text they are in the file: 0.1 is one tenth.
        found = json.loads(
            text, parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=lambda pairs: _once(pairs, path)
        )
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError("file", path, f"JSON ({error})") from None
    rows = found.get("rows") if isinstance(found, dict) else found
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise InputError("file", path, "a list of rows, or an object with such a list as rows")
    return rows


def _once(pairs: list[tuple[str, Any]], path: Path) -> dict[str, Any]:
    for name in {name for i, (name, _) in enumerate(pairs) if name in dict(pairs[:i])}:
        raise InputError("file", path, f"each key once, but {name} is there again")
    return dict(pairs)


def _entry(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise InputError(place, value, "a probability such as 0.25, 1/4 or 1")
    parse_rational(value, place)
    return value
