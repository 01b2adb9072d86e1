"""Files that a run leaves behind: whole or not at all, at places looked at before the work began; what made them."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryFile

from symshuffle.base.errors import InputError


def write_atomically(path: Path, content: str | bytes, *, argument: str = "file") -> None:
    """Write a file so that nobody ever sees a part of it; missing directories are made."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            draft.write_bytes(content.encode() if isinstance(content, str) else content)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(argument, path, f"a file that can be written ({error.strerror})") from error


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
