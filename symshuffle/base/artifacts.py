"""Files that a run leaves behind: whole or not at all, at places looked at before the work began; what made them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

from symshuffle.base.errors import InputError


@contextmanager
def whole_or_not(path: Path, *, argument: str, new: bool = False) -> Iterator[BinaryIO]:
    """A file that appears at its place when it is whole: in place of another, or only if there is none."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        try:
            with draft.open("wb") as stream:
                yield stream
            os.link(draft, path) if new else draft.replace(path)  # a link fails where another run was faster
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        kind = "a new file" if new else "a file"
        raise InputError(argument, path, f"{kind} that can be written ({error.strerror})") from error


def write_atomically(path: Path, content: str | bytes, *, argument: str = "file") -> None:
    """Write a file so that nobody ever sees a part of it; missing directories are made."""
    with suppress(OSError):  # what cannot be made is refused when it is written to
        path.parent.mkdir(parents=True, exist_ok=True)
    with whole_or_not(path, argument=argument) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


def check_destination(path: Path, *, argument: str, directory: bool = False) -> None:
    """Refuse a place where no file (or directory of files) can be written, before anything is computed for it."""
    expected = "a directory" if directory else "a file"
    if path.exists() and path.is_dir() is not directory:
        raise InputError(argument, path, f"{expected}, and this is {'a directory' if path.is_dir() else 'a file'}")
    parent = path if directory and path.exists() else path.absolute().parent
    if not parent.exists():
        raise InputError(argument, path, f"{expected} in a directory that exists ({parent} does not)")
    try:
        with TemporaryFile(dir=parent):  # a permission says nothing of a file system that takes no files
            pass
    except OSError as error:
        raise InputError(argument, path, f"{expected} in a writable directory (not below {parent})") from error


def installed(distribution: str) -> str:
    """Version of an installed distribution, or ``not installed``."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"
