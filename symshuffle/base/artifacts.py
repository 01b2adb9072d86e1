"""Files that a run leaves behind: whole or not at all, at places looked at before the work began; what made them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, Final

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
        return True  # it cannot be opened, so that its lock cannot be tested: counted as abandoned


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


def write_atomically(path: Path, content: str | bytes, *, argument: str = "file", alike: bool = False) -> None:
    """Write a file so that nobody ever sees a part of it; missing directories are made.

    A file that is there is replaced if it is empty or begins as the content does: with the same name of a first column,
    the same first key, the same mark of a picture; or if it is known to be of the same kind, ``alike``.

    Raises
    ------
    InputError
        If the file cannot be written, or one of another kind would be lost.
    """
    data = content.encode() if isinstance(content, str) else content
    with suppress(OSError):  # a directory that cannot be made is refused when the file is opened
        path.parent.mkdir(parents=True, exist_ok=True)
    if not alike:
        check_replaced(path, data, argument=argument)
    with whole_or_not(Path(os.path.realpath(path)), argument=argument) as stream:
        stream.write(data)


def check_replaced(path: Path, data: bytes, *, argument: str, beginning: int = 1000) -> None:
    """Refuse to replace what is no file, or a file that begins in another way than these data.

    - ``beginning``: bytes of a file that say of which kind it is.
    """
    if not path.exists():
        return
    if not path.is_file():
        raise InputError(argument, path, "a regular file")
    try:
        with path.open("rb") as stream:
            old = stream.read(beginning)
    except OSError as error:
        raise InputError(argument, path, f"a file that can be read before it is replaced ({error.strerror})") from error
    if old.strip() and _first_words(old) != _first_words(data[:beginning]):
        begins = _first_words(data[:beginning]).decode("ascii", "backslashreplace")
        raise InputError(argument, path, f"a new file, or an earlier one of the same kind, which begins with {begins}")


def _first_words(data: bytes) -> bytes:
    """Return the beginning of a file up to the end of its first word, and the name of a format, without blanks."""
    found = _FIRST.match(data.removeprefix(b"\xef\xbb\xbf"))
    return b"".join(found[0].split()) if found else b""


_FIRST: Final = re.compile(rb'\W{0,99}\w{0,99}(?:": *"symshuffle [a-z ]*)?')


PICTURES: Final = {".png": b"\x89PNG", ".pdf": b"%PDF-1", ".svg": b"<?xml"}
"""How pictures begin, by the ends of their names."""


def check_destination(path: Path, *, argument: str, directory: bool = False, beginning: bytes = b"") -> None:
    """Refuse a place where no file (or directory of files) can be written, before anything is computed for it.

    - ``beginning``: how the file will begin, where that is known: one of another kind is not replaced. Pictures have it
      by their name.
    """
    expected = "a directory" if directory else "a file"
    if path.exists() and not (path.is_dir() if directory else path.is_file()):
        found = "a directory" if path.is_dir() else "a file" if path.is_file() else "a device or a pipe"
        raise InputError(argument, path, f"{expected}, and this is {found}")
    parent = path if directory and path.exists() else path.absolute().parent
    if not parent.exists():
        raise InputError(argument, path, f"{expected} in a directory that exists ({parent} does not)")
    try:
        with TemporaryFile(dir=parent):  # a permission says nothing of a file system that takes no files
            pass
    except OSError as error:
        raise InputError(argument, path, f"{expected} that can be written: {parent} is not writable") from error
    if beginning := beginning or PICTURES.get(path.suffix.lower(), b""):
        check_replaced(path, beginning, argument=argument)


def installed(distribution: str) -> str:
    """Version of an installed distribution, or ``not installed``."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"
