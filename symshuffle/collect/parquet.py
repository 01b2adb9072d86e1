"""Parquet files of values and messages, with pyarrow: the same lines of text as in CSV, in a column."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from symshuffle.base.errors import InputError, Unsupported

SUFFIX: Final = ".parquet"
_KEY: Final = b"symshuffle"
_ROWS: Final = 1 << 16


def is_parquet(path: Path) -> bool:
    """Whether a file is to be read or written as Parquet, by its name."""
    return path.suffix.lower() == SUFFIX


def check_installed(path: Path) -> None:
    """Refuse a Parquet file where pyarrow is missing."""
    from importlib.util import find_spec

    if is_parquet(path) and find_spec("pyarrow") is None:
        raise Unsupported(f"{path} needs pyarrow, which is not installed (pip install 'symshuffle[parquet]'); use CSV")


def rows(path: Path, columns: list[str], options: list[str]) -> Iterator[tuple[Any, ...]]:
    """Cells of some columns, row by row; an absent cell is an empty text."""
    with _opened(path, "--values") as file:
        known = file.schema_arrow.names
        for column, option in zip(columns, options, strict=True):
            if known.count(column) != 1:
                raise InputError(option, column, "one of the columns " + ", ".join(known[:20]))
        for batch in file.iter_batches(batch_size=_ROWS, columns=columns):
            lists = [batch.column(column).to_pylist() for column in columns]
            yield from (tuple("" if cell is None else str(cell) for cell in row) for row in zip(*lists, strict=True))


def write(stream: BinaryIO, head: dict[str, Any], blocks: Iterable[bytes], *, counts: bool) -> None:
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


def read(path: Path) -> tuple[Any, list[str], Iterator[bytes]]:
    """What a file of messages says of itself, its columns, and its lines of text in blocks."""
    with _opened(path, "messages") as file:
        told = (file.schema_arrow.metadata or {}).get(_KEY, b"null")
        names = file.schema_arrow.names

    def blocks() -> Iterator[bytes]:
        with _opened(path, "messages") as again:
            for batch in again.iter_batches(batch_size=_ROWS):
                lists = [batch.column(name).to_pylist() for name in names]
                yield "".join(",".join(map(str, row)) + "\n" for row in zip(*lists, strict=True)).encode()

    try:
        return json.loads(told), names, blocks()
    except ValueError:
        return None, names, blocks()


def _opened(path: Path, argument: str) -> Any:
    check_installed(path)
    import pyarrow.parquet

    try:
        return pyarrow.parquet.ParquetFile(path)
    except (OSError, pyarrow.ArrowInvalid) as error:
        raise InputError(argument, path, "a Parquet file that can be read") from error
