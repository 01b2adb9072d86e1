"""Text files that callers name: their text, JSON in them, and whether a first line of a table has names of columns."""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from codecs import BOM_UTF8
from collections.abc import Iterable, Sequence
from io import BufferedReader, TextIOWrapper
from os import PathLike
from pathlib import Path
from typing import Any, Final

from symshuffle.base.errors import InputError, echo
from symshuffle.base.numbers import parse_rational

LARGEST_LIST: Final = 20_000_000
"""Bytes of a list of users or rounds beyond which nobody waits for an answer."""

_NO_NAME: Final = re.compile(
    r"[%\u2030/=<>~^*;,?!\u00b1\u2212]|[eE][+-]\d|(?:nan|inf|infinity|null|none|na|true|false)\Z"
    r"|(?:exp|ln|log|log2|log10|sqrt|frac)\W|\A[oli_]+\.\d|(?<![\w.])\d*\.\d",
    re.IGNORECASE,
)
"""What a number with a sign, per cent, a fraction or an exponent has, and words that stand for a value."""

SIGNS_OF_NUMBERS: Final = str.maketrans("\N{MINUS SIGN}\N{FRACTION SLASH}", "-/")
"""Signs of numbers that are no ASCII."""

_FAULTY: Final = re.compile(r"#(?:N/A|DIV/0!|REF!|VALUE!|NAME\?|NUM!|NULL!)")
"""What spreadsheets write in place of a number that they do not have: no comment."""

_INTEGER: Final = re.compile(r"([+-]?)0*(\d{1,18})", re.ASCII)

_MESSAGES: Final = re.compile(r"\s*#\s*\{\s*\"kind\":\s*\"symshuffle messages\"")

_SEPARATORS: Final = re.compile(r"[\s,;|&\"']+")
"""What stands between or around the cells of a row, in whatever notation."""

_NAMES: Final = "or names only: a letter or _ first, no sign, per cent, fraction or exponent"


def open_bytes(path: Path) -> BufferedReader:
    """Return a file opened for reading, behind the byte order mark of UTF-8 where it begins with one."""
    stream = path.open("rb")
    if stream.peek(len(BOM_UTF8))[: len(BOM_UTF8)] == BOM_UTF8:
        stream.read(len(BOM_UTF8))
    return stream


def open_text(path: Path, newline: str | None = None) -> TextIOWrapper:
    """Return a text file in UTF-8 opened for reading, as :func:`open_bytes`; ``newline`` is that of ``open``."""
    return TextIOWrapper(open_bytes(path), encoding="utf-8", newline=newline)


def read_text(path: object, argument: str, largest: int) -> tuple[Path, str]:
    """Return the path that a caller names, by a text or a path, and the text of the file."""
    if not isinstance(path, str | PathLike):
        raise InputError(argument, path, "the path of a file")
    try:
        path = file = Path(path)
        if file.stat().st_size > largest:
            raise InputError(argument, file, f"at most {largest} bytes")
        with open_text(file) as stream:
            return file, stream.read()
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
            raise InputError(argument, path, f"each key once, but {echo(name)} is there again")
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


def line_of_key(place: str, text: str, *, missing: bool = False) -> int | None:
    """Return the line of a key of a TOML or JSON text by its place, as ``group[1].count``.

    - ``missing``: whether the key is not there; the line of the table that should have it is returned.

    None is returned where more than one line may be meant.
    """
    steps = re.findall(r"\w+", place)
    while len(steps) > 1 and steps[-1].isdigit():  # the entry of a list
        steps.pop()
    if text.lstrip().startswith("{"):
        at = _json_place(steps[: len(steps) - missing], text)
        return None if at is None else text.count("\n", 0, at) + 1
    return _toml_line(steps, text, missing=missing)


def _toml_line(steps: Sequence[str], text: str, *, missing: bool) -> int | None:
    """Line of a key: in the part of the text that begins with the header of its table, or in the whole text."""
    lines = dict(enumerate(re.split(r"\r?\n", text), start=1))
    heads = {i: head[1] for i, line in lines.items() if (head := _HEAD.match(line))}
    start, end, name, inline = 0, len(lines) + 1, "", list(steps[:-1])
    for place, word in enumerate(steps[:-1]):
        if word.isdigit():
            continue
        name, number = f"{name}.{word}".lstrip("."), next(iter(steps[place + 1 : -1]), "")
        inside = [i for i, head in heads.items() if head == name and start < i < end]
        inside = inside[int(number) if number.isdigit() else 0 :]
        if inside:
            start, inline = inside[0], [one for one in steps[place + 1 : -1] if not one.isdigit()]
            end = next((i for i, head in heads.items() if i > start and not head.startswith(f"{name}.")), end)
    last = next((i for i in heads if i > start), end)
    own = {i: line for i, line in lines.items() if start <= i < last}
    if missing:
        table = [i for i, line in own.items() if inline and _has_key(inline[0], line)]
        return table[0] if table else start or None
    found = [i for i, line in own.items() if all(_has_key(key, line) for key in (*inline, steps[-1]))]
    found = found or [i for i, line in lines.items() if _has_key(steps[-1], line)]
    return found[0] if len(found) == 1 else None


_HEAD: Final = re.compile(r"\s*\[\[?\s*([\w.-]+)\s*\]")
"""Header of a table in TOML."""


def _has_key(key: str, line: str) -> bool:
    """Whether a line of TOML has a key, maybe a part of a dotted one, or one of an inline table."""
    return re.search(rf"(?:^|[{{,])\s*(?:[\w-]+\s*\.\s*)*[\"']?{re.escape(key)}[\"']?\s*[.=]", line) is not None


def _json_place(steps: Sequence[str], text: str) -> int | None:
    """Place in a JSON text at which the key of the last step begins; None where a step is not there."""
    read, at, found = json.JSONDecoder().raw_decode, 0, 0
    blank = re.compile(r"[\s,:]*")

    def after(place: int) -> int:
        return blank.match(text, place).end()  # type: ignore[union-attr]  # it matches an empty text

    for step in steps:
        at, number = after(at), 0
        if text[at] not in "{[":
            return None
        keyed, at = text[at] == "{", after(at + 1)
        while text[at] not in "}]":
            found = at
            key, at = read(text, at) if keyed else (str(number), at)
            if key == step:
                at = after(at)
                break
            at, number = after(read(text, after(at))[1]), number + 1
        else:
            return None
    return found


def check_comment(line: str, where: str, expected: str) -> None:
    """Refuse a comment that is an error value of a spreadsheet, as #N/A, or a row of numbers behind its sign."""
    if _FAULTY.match(line.lstrip()):
        raise InputError(where, line.strip(), expected)
    cells = [cell for cell in _SEPARATORS.split(line.strip().lstrip("#")) if cell]
    if line.lstrip().startswith("#") and len(cells) > 1 and all(map(_is_number, cells)):
        raise InputError(where, line.strip(), f"{expected}; a comment has words")


def check_no_messages(first: str, argument: str, file: object, expected: str) -> None:
    """Refuse a file of messages of a survey, which its first line tells, where another table is expected."""
    if _MESSAGES.match(first):
        raise InputError(argument, file, f"{expected}, not messages of a survey, which `collect estimate` reads")


def check_cells(cells: Iterable[str], where: str, expected: str) -> None:
    """Refuse a character in a cell that is an end of a line elsewhere, as VT, NEL and U+2028 (not in CSV)."""
    for y, cell in enumerate(cells, start=1):
        if _LINE_END.search(cell):
            raise InputError(f"{where}, column {y}", ascii(cell), f"{expected}; rows end in line feeds")


def split_lines(text: str) -> list[str]:
    """Return the lines of a text, which end in a line feed, a carriage return or both, as in CSV."""
    lines = re.split("\r\n|\r|\n", text)
    return lines if lines[-1] else lines[:-1]


_LINE_END: Final = re.compile("[\v\f\x1c-\x1e\x85\u2028\u2029]")
"""Characters at which :meth:`str.splitlines` ends a line beside the ends of lines in CSV."""


def has_names(
    first: Sequence[str], second: Sequence[str] | None, where: str, expected: str, remedy: str, rows: Iterable[int]
) -> bool:
    """Return whether a first line has names of columns: names, or the integers 0, 1, 2, ..., written without a point.

    - ``second``: cells of the next line, or None where there is none: then numbers are a row.
    - ``where``, ``expected``, ``remedy``: as of :func:`is_header`.
    - ``rows``: widths at which 0, 1, ... may be a row of data as well, and is refused.
    """
    numbered = second is not None and [_integer(cell) for cell in first] == [*range(len(second))]
    if numbered and len(first) in rows:
        decimals = ",".join(f"{y}.0" for y in range(len(first)))
        meant = f"names of columns, or a row written {decimals} (or header=True or header=False)"
        raise InputError(where, ",".join(first), meant)
    return numbered or is_header(first, where, expected, remedy)


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
    """Return a text without differences of case, blanks, invisible and compatible characters (NFKC)."""
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "".join(char for char in text if not (char.isspace() or _is_invisible(char)))


def folded_value(text: str) -> str:
    """Return the value of a number in lowest terms, alike for 1, 01, +1, 1.0 and 1e0; of any other text its folding."""
    text = folded(text)
    digits = (char if (digit := unicodedata.decimal(char, None)) is None else str(digit) for char in text)
    try:
        return str(parse_rational("".join(digits).translate(SIGNS_OF_NUMBERS), "text"))
    except InputError:
        return text


def _is_invisible(char: str) -> bool:
    """Whether a character is shown as nothing: a control, a format character, a filler or a variation selector."""
    return unicodedata.category(char) in ("Cc", "Cf") or char in _FILLERS or "\ufe00" <= char <= "\ufe0f"


_FILLERS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
"""Letters and marks without a shape."""


def is_name(text: str) -> bool:
    """Return whether a text is the name of a column, and not a number in a notation that is not read (1,5; 2e-3)."""
    if not (text[:1].isalpha() or text[:1] == "_") or _NO_NAME.search(text):
        return False
    # Fractions, and digits of other scripts, are numbers to a reader.
    return all(char.isascii() or unicodedata.numeric(char, None) is None for char in text)


def _integer(text: str) -> int | None:
    """The integer that a text of digits is, maybe with a sign or leading zeros; None for any other text."""
    found = _INTEGER.fullmatch(text)
    return None if found is None else int(found[1] + found[2])


def _is_number(text: str) -> bool:
    try:
        parse_rational(text, "entry")
    except InputError:
        return False
    return True
