"""Files of a survey: values, messages and counts as CSV or Parquet, each message file with the digest of its plan.

A Parquet file has the same lines of text as a CSV file, in a column; it needs pyarrow.
"""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import itertools
import json
import os
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeAlias

import numpy as np

from symshuffle.base.artifacts import check_destination, is_abandoned, published_once
from symshuffle.base.documents import (
    check_no_messages,
    folded,
    folded_value,
    open_bytes,
    open_text,
    parse_json,
    read_text,
)
from symshuffle.base.errors import InputError, Unsupported, echo
from symshuffle.base.numbers import counted as in_words
from symshuffle.collect.guarantee import LARGEST_USERS, out_of_plan
from symshuffle.collect.messages import category, counted, lines, read_lines
from symshuffle.collect.messages import read_labels as check_labels
from symshuffle.collect.plan import SurveyPlan
from symshuffle.collect.plan_file import LARGEST_PLAN, read_plan
from symshuffle.collect.scheme import Integers

if TYPE_CHECKING:
    from io import BufferedReader

_KIND: Final = "symshuffle messages"
DRAWN_ANEW: Final = (
    " (a second run draws new messages, and both together spend the budget twice: remove the file if nobody saw it)"
)
"""Why messages are not written again."""

_HEAD: Final = ("kind", "plan", "order", "not covered")
"""Keys of the first line of a file of messages."""

_KEY: Final = b"symshuffle"


def check_new(path: Path, argument: str, why: str = "") -> None:
    """Refuse an output file that exists, or that cannot be written."""
    check_destination(path, argument=argument)
    _check_installed(path)
    if path.exists():
        raise InputError(argument, path, f"a file that does not exist yet{why}")


def read_plan_file(path: Path) -> SurveyPlan:
    """Plan in a file."""
    return read_plan(read_text(path, "plan", LARGEST_PLAN)[1], str(path))


def read_labels(labels: Path) -> tuple[str, ...]:
    """Names of categories, one in each line."""
    text = read_text(labels, "labels", LARGEST_PLAN)[1]
    found = tuple(text.removesuffix("\n").split("\n")) if text else ()
    try:
        return check_labels(found)
    except InputError as error:
        raise InputError(f"{labels}, {error.argument.replace('label', 'line')}", error.value, error.expected) from None


def read_values(
    values: Path, plan: SurveyPlan, column: str, identity: str | None = None, *, exact_ids: bool = False
) -> Integers:
    """Category of each user, from a column of a CSV or Parquet file: one row is one user.

    - ``identity``: column of identities; equal ones are refused, and without ``exact_ids`` also those that differ in
      case, blanks, invisible or compatible characters (NFKC) only, and equal numbers.
    """
    found, seen, places = array("i"), bytearray(), plan.places
    rows = _parquet_rows if _is_parquet(values) else _csv_rows
    if column in places and not _is_parquet(values):
        expected = "the name of a column that is no category of the plan: the first row would be a header or a user"
        raise InputError("column", column, expected)
    where = str(values)
    try:
        for where, value, who in rows(values, column, identity):
            j = places.get(value)
            found.append(category(places, value, f"{where}, column {column}") if j is None else j)
            if who is not None:
                if not folded(who):
                    raise InputError(f"{where}, column {identity}", "an empty cell", "an identity")
                key = who if exact_ids else folded_value(who)
                seen += hashlib.blake2b(key.encode(), digest_size=16).digest()
    except csv.Error as error:
        raise InputError("values", values, f"a CSV file; after {where}: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("values", values, f"a file that can be read ({_reason(error)})") from error
    if identity is not None and seen:
        _refuse_repeats(seen, identity, rows(values, column, identity))
    return np.frombuffer(found, dtype=np.intc).astype(np.int64) if found else np.zeros(0, dtype=np.int64)


_Row: TypeAlias = tuple[str, str, str | None]
"""Where a row is, its value, and its identity."""


def _csv_rows(path: Path, column: str, identity: str | None) -> Iterator[_Row]:
    with open_text(path, newline="") as stream:
        reader = csv.reader(stream, strict=True)
        heads = next(reader, [])
        check_no_messages(",".join(heads), "values", path, "values of users")
        at = _place(heads, column, "column")
        who = None if identity is None else _place(heads, identity, "identity")
        most = max(at, at if who is None else who)
        line = reader.line_num + 1
        for row in reader:
            where, line = f"{path}, line {line}", reader.line_num + 1
            if len(row) <= most or any(row[len(heads) :]):
                raise InputError(where, in_words(len(row), "value"), f"{len(heads)}, as in the header")
            yield where, row[at], None if who is None else row[who]


def _parquet_rows(path: Path, column: str, identity: str | None) -> Iterator[_Row]:
    """An absent cell is an empty text."""
    with _opened(path, "values") as file:
        names = [column] if identity is None else [column, identity]
        for name, option in zip(names, ("column", "identity"), strict=False):
            _place(file.schema_arrow.names, name, option)
        places = (f"{path}, row {number}" for number in itertools.count(1))
        for batch in file.iter_batches(columns=names):
            cells = [["" if cell is None else str(cell) for cell in batch.column(name).to_pylist()] for name in names]
            yield from zip(places, cells[0], cells[1] if identity is not None else itertools.repeat(None), strict=False)


def _place(heads: list[str], column: str, option: str) -> int:
    found = heads.count(column)
    if found > 1:
        raise InputError(option, column, f"a column whose name stands once in the header, not {found} times")
    if not found:
        raise InputError(option, column, "one of the columns " + ", ".join(heads[:20]))
    return heads.index(column)


def _refuse_repeats(seen: bytearray, identity: str, rows: Iterator[_Row]) -> None:
    """Refuse two equal digests of 16 bytes, which are taken for equal identities; name their rows."""
    digests = np.frombuffer(bytes(seen), dtype=">u8").reshape(-1, 2)
    order = np.lexsort((digests[:, 1], digests[:, 0]))
    ranked = digests[order]
    same = np.flatnonzero(np.all(ranked[1:] == ranked[:-1], axis=1))
    if not len(same):
        return
    two = {int(order[same[0]]), int(order[same[0] + 1])}
    (first, _, name), (second, _, again) = (row for i, row in enumerate(rows) if i in two)
    there = first.rpartition(", ")[2]
    if name == again:
        raise InputError(f"{second}, column {identity}", f"the identity of {there}", "one row for each user")
    # In ASCII, as letters of other scripts and composed characters may look alike.
    raise InputError(
        f"{second}, column {identity}",
        ascii(again),
        f"an identity that differs from {echo(ascii(name))} of {there} in more than case, blanks, "
        "invisible and compatible characters, and the notation of a number; if these are two users, exact_ids=True",
    )


def check_drafts(out: Path, plan: SurveyPlan, *, discard: bool) -> None:
    """Refuse, or remove, drafts of messages of this plan that a killed run left beside an output file."""
    left = sorted(out.parent.glob(f".*.{plan.digest[:16]}.*.draft"))
    abandoned = [draft for draft in left if is_abandoned(draft)]
    for draft in abandoned:
        if not discard:
            raise InputError(
                "out",
                out,
                f"no draft of a run that was killed: {draft} has messages that were drawn already. If nobody read it, "
                "discard=True removes it and draws anew",
            )
        draft.unlink(missing_ok=True)


def write_messages(out: Path, plan: SurveyPlan, packed: Integers, order: str, *, counts: bool) -> None:
    """Write packed messages whole or not at all, never over another file."""
    check_new(out, "out", DRAWN_ANEW)
    head = {
        "kind": _KIND,
        "plan": plan.digest,
        "order": "counts" if counts else order,
        "not covered": out_of_plan(plan.rounds),
    }
    made = plan.scheme
    if counts:
        rows, numbers = counted(packed)
        texts = (line for block in lines(made, rows) for line in block.splitlines())
        body: Iterable[bytes] = (b"%s,%d\n" % pair for pair in zip(texts, numbers.tolist(), strict=True))
    else:
        body = lines(made, packed)
    draft = out.with_name(f".{out.name}.{plan.digest[:16]}.{os.getpid()}.draft")
    with published_once(out, draft, argument="out") as stream:
        if _is_parquet(out):
            _write_parquet(stream, head, body, counts=counts)
            return
        stream.write(f"# {json.dumps(head)}\n{'message,count' if counts else 'message'}\n".encode())
        for block in body:
            stream.write(block)


def read_messages(path: Path, plan: SurveyPlan, users: object = None) -> tuple[Integers, int]:
    """Tally of the messages in a file, and their number; of more than ``users``, by default n, an InputError."""
    if _is_parquet(path):
        head, columns, blocks = _read_parquet(path)
        _check_head(head, path, plan)
        return _tallied(blocks, plan, f"{path}, row", 1, users, counts=_with_counts(",".join(columns), path))
    try:
        with open_bytes(path) as stream:
            first = stream.readline(1 << 16)
            _check_head(first.removeprefix(b"#") if first.startswith(b"#") else b"null", path, plan)
            counts = _with_counts(stream.readline(1 << 16).decode(errors="replace").rstrip("\r\n"), path)
            return _tallied(_blocks(stream), plan, f"{path}, line", 3, users, counts=counts)
    except OSError as error:
        raise InputError("messages", path, f"a file that can be read ({_reason(error)})") from error


def _check_head(text: bytes, path: Path, plan: SurveyPlan) -> None:
    """Refuse messages of another plan, and files that name none."""
    head: Any = parse_json(text.decode(errors="replace"), path, "messages")
    if not isinstance(head, dict) or head.get("kind") != _KIND:
        raise InputError("messages", path, "a file whose first line names its plan, as `collect randomize` writes it")
    for key, value in head.items():
        if key not in _HEAD or not isinstance(value, str):
            raise InputError(f"{path}, line 1: {key}", value, f"texts of the keys {', '.join(_HEAD)}")
    if head.get("plan") != plan.digest:
        raise InputError(
            "messages", path, f"messages of this plan ({plan.digest[:16]}), not of {head.get('plan', 'none')}"
        )


def _with_counts(columns: str, path: Path) -> bool:
    """Whether counts follow the messages."""
    if columns not in ("message", "message,count"):
        raise InputError("messages", path, "a second line that reads `message` or `message,count`")
    return columns == "message,count"


def _blocks(stream: BufferedReader, size: int = 1 << 23) -> Iterator[bytes]:
    """Whole lines of a file, in blocks."""
    left = b""
    while block := stream.read(size):
        text = left + block
        cut = text.rfind(b"\n") + 1
        left = text[cut:]
        if cut:
            yield text[:cut]
    if left:
        yield left


def _tallied(
    blocks: Iterable[bytes], plan: SurveyPlan, where: str, first: int, users: object, *, counts: bool
) -> tuple[Integers, int]:
    """Tally of blocks of lines, numbered from ``first`` behind ``where``, and the number of messages."""
    made, total, n = plan.scheme, None, 0
    for text in blocks:
        try:
            rows, weights = read_lines(made, text, first, counts=counts)
        except InputError as error:
            place = error.argument.removeprefix("messages[").removesuffix("]")
            raise InputError(f"{where} {place}", error.value, error.expected) from None
        n += len(rows) if weights is None else sum(weights.tolist())  # as Python integers, of any size
        first += text.count(b"\n")
        if n <= LARGEST_USERS:  # more are refused below, and would not fit
            tally = made.tally(rows, weights)
            total = tally if total is None else total + tally
    plan.check_messages(n, users)
    assert total is not None
    return total, n


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet"


def _check_installed(path: Path) -> None:
    """Refuse a Parquet file where pyarrow is missing."""
    if _is_parquet(path) and importlib.util.find_spec("pyarrow") is None:
        raise Unsupported(f"{path} needs pyarrow, which is not installed (pip install 'symshuffle[parquet]'); use CSV")


def _write_parquet(stream: BinaryIO, head: dict[str, Any], blocks: Iterable[bytes], *, counts: bool) -> None:
    """Write blocks of lines as a column ``message``, and ``count`` beside it if each line ends in one."""
    import pyarrow as pa
    import pyarrow.parquet

    fields = [pa.field("message", pa.string())] + ([pa.field("count", pa.int64())] if counts else [])
    schema = pa.schema(fields, metadata={_KEY: json.dumps(head).encode()})
    with pa.parquet.ParquetWriter(stream, schema) as writer:
        for block in blocks:
            lines = block.decode().splitlines()
            if counts:
                pairs = [line.split(",") for line in lines]
                columns = [[message for message, _ in pairs], [int(count) for _, count in pairs]]
            else:
                columns = [lines]
            arrays = [pa.array(column, type=field.type) for column, field in zip(columns, fields, strict=True)]
            writer.write_batch(pa.record_batch(arrays, schema=schema))


def _read_parquet(path: Path) -> tuple[bytes, list[str], Iterator[bytes]]:
    """What a file of messages says of itself, its columns, and its lines of text in blocks."""
    with _opened(path, "messages") as file:
        told = (file.schema_arrow.metadata or {}).get(_KEY, b"null")
        names = file.schema_arrow.names

    def blocks() -> Iterator[bytes]:
        with _opened(path, "messages") as again:
            for batch in again.iter_batches():
                lists = [batch.column(name).to_pylist() for name in names]
                texts = [",".join(map(str, row)) for row in zip(*lists, strict=True)]
                if broken := next((text for text in texts if "\n" in text), ""):
                    raise InputError("messages", broken, "messages of one line each")
                yield "".join(f"{text}\n" for text in texts).encode()

    return told, names, blocks()


def _opened(path: Path, argument: str) -> Any:
    _check_installed(path)
    import pyarrow.parquet

    try:
        return pyarrow.parquet.ParquetFile(path)
    except (OSError, pyarrow.ArrowInvalid) as error:
        raise InputError(argument, path, "a Parquet file that can be read") from error


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or type(error).__name__
