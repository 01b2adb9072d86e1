"""Text files that callers name: their text, JSON in them, and whether a first line of a table has names of columns."""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import parse_rational

LARGEST_LIST: Final = 20_000_000
"""Bytes of a list of users or rounds beyond which nobody waits for an answer."""

_NO_NAME: Final = re.compile(
    r"[%\u2030/=<>~^*;,?!\u00b1\u2212]|[eE][+-]\d|(?:nan|inf|infinity|null|none|na|true|false)\Z"
    r"|(?:exp|ln|log|log2|log10|sqrt|frac)\W|\A[oli_]+\.\d|(?<![\w.])\d*\.\d",
    re.IGNORECASE,
)
"""What a number with a sign, per cent, a fraction or an exponent has, and words that stand for a value."""

_FAULTY: Final = re.compile(r"#(?:N/A|DIV/0!|REF!|VALUE!|NAME\?|NUM!|NULL!)")
"""What spreadsheets write in place of a number that they do not have: no comment."""

_NAMES: Final = "or names only: a letter or _ first, no sign, per cent, fraction or exponent"


def read_text(path: object, argument: str, largest: int) -> tuple[Path, str]:
    """Return the path that a caller names, by a text or a path, and the text of the file."""
    if not isinstance(path, str | PathLike):
        raise InputError(argument, path, "the path of a file")
    try:
        file = Path(path)
        if file.stat().st_size > largest:
            raise InputError(argument, file, f"at most {largest} bytes")
        return file, file.read_text(encoding="utf-8-sig")
    except (OSError, TypeError) as error:
        raise InputError(argument, path, f"a readable file ({getattr(error, 'strerror', error)})") from None
    except UnicodeDecodeError:
        raise InputError(argument, path, "a text file in UTF-8") from None
    except ValueError as error:  # a null character in the path
        raise InputError(argument, path, f"the path of a file ({error})") from None


def parse_json(text: str, path: Path | str, argument: str, **kept: Any) -> Any:
    """Return what a JSON text holds; a key that is there twice is refused.

    - ``kept``: how numbers are kept, as :func:`json.loads` takes it.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        for name in {name for i, (name, _) in enumerate(pairs) if name in dict(pairs[:i])}:
            raise InputError(argument, path, f"each key once, but {name} is there again")
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=once, **kept)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:  # ValueError: an integer of more digits than Python reads
        raise InputError(argument, path, f"JSON ({error})") from None


def parse_toml(text: str, path: Path, argument: str) -> dict[str, Any]:
    """Return what a TOML text holds; decimals stay the text they are in the file, so that 0.1 is one tenth."""
    try:
        return tomllib.loads(text, parse_float=str)
    except (ValueError, RecursionError) as error:  # no TOML, nested too deeply, or an integer that Python does not read
        raise InputError(argument, path, f"TOML ({error})") from None


def check_comment(line: str, where: str, expected: str) -> None:
    """Refuse a comment that is an error value of a spreadsheet, as #N/A, or a row of numbers behind its sign."""
    if _FAULTY.match(line.lstrip()):
        raise InputError(where, line.strip(), expected)
    cells = line.strip().lstrip("#").replace(",", " ").split()
    if line.lstrip().startswith("#") and len(cells) > 1 and all(map(_is_number, cells)):
        raise InputError(where, line.strip(), f"{expected}; a comment has words")


def is_header(cells: Sequence[str], where: str, expected: str, remedy: str = "") -> bool:
    """Return whether a first line has names; one that has neither names nor numbers is refused at its first cell.

    - ``where``: file and line, for messages.
    - ``expected``: what a cell has to be in a line of numbers; ``remedy``: how to say that it has names.
    """
    values = [_is_number(cell) for cell in cells]
    if all(values):
        return False
    if all(map(is_name, cells)):
        return True
    if any(values):
        y = values.index(False)
        raise InputError(f"{where}, column {y + 1}", cells[y], expected)
    y = next(y for y, cell in enumerate(cells) if not is_name(cell))
    raise InputError(f"{where}, column {y + 1}", cells[y], f"{expected}, {_NAMES}{remedy}")


def folded(text: str) -> str:
    """Return a text without differences of case, blanks and compatible characters (NFKC)."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def is_name(text: str) -> bool:
    """Return whether a text is the name of a column, and not a number in a notation that is not read (1,5; 2e-3)."""
    if not (text[:1].isalpha() or text[:1] == "_") or _NO_NAME.search(text):
        return False
    # Fractions, and digits of other scripts, are numbers to a reader.
    return all(char.isascii() or unicodedata.numeric(char, None) is None for char in text)


def _is_number(text: str) -> bool:
    try:
        parse_rational(text, "entry")
    except InputError:
        return False
    return True
