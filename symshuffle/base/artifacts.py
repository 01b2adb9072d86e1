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
def whole_or_not(path: Path, *, argument: str) -> Iterator[BinaryIO]:
    """A file that appears at its place when it is whole, in place of another."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        try:
            with draft.open("wb") as stream:
                yield stream
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(argument, path, f"a file that can be written ({error.strerror})") from error


@contextmanager
def published_once(path: Path, draft: Path, *, argument: str) -> Iterator[BinaryIO]:
    """A new file that appears at its place when it is whole and on disk; never in place of another.

    Until then it is ``draft``, in the same directory, which its owner alone can read, and which is locked as long as
    this process lives: a draft without a lock was left by one that was killed.
    """
    try:
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as stream:
                _lock(descriptor)
                yield stream
                stream.flush()
                os.fsync(descriptor)
                os.link(draft, path)  # fails where another run was faster
        finally:
            draft.unlink(missing_ok=True)
        path.chmod(0o666 & ~_umask())
    except OSError as error:
        raise InputError(argument, path, f"a new file that can be written ({error.strerror})") from error


def is_abandoned(draft: Path) -> bool:
    """Whether no process holds the lock of a draft; False if the draft is gone."""
    try:
        with draft.open("rb") as stream:
            return _lock(stream.fileno())
    except FileNotFoundError:
        return False
    except OSError:
        return True  # it cannot be opened, so that nobody is known to write it


def _lock(descriptor: int) -> bool:
    """Lock a file until it is closed; False if another process did, True where there are no locks."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks
    return True


def _umask() -> int:
    """Mode bits that new files do not get."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


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
