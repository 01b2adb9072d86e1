"""Runs of somebody's program, or rows of their samples: how it is started, and what is refused of what it writes.

A program is started by the words of its command line, never by a shell. It is given some inputs on its standard input,
and has to write as many lines and end with status 0.
"""

from __future__ import annotations

import csv
import os
import re
import shlex
import shutil
import signal
import subprocess
import unicodedata
from collections.abc import Callable, Hashable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, TypeAlias, final

from symshuffle.base.documents import SIGNS_OF_NUMBERS, folded, is_name, split_lines
from symshuffle.base.errors import InputError, Progress, check_kind, check_progress, echo
from symshuffle.base.numbers import as_integer, counted, parse_rational

MOST_MESSAGES: Final = 50_000_000
"""Messages of an audit beyond which nothing is run: they are held in memory."""

Run: TypeAlias = tuple[str, ...]
"""Messages of one run."""


@final
@dataclass(frozen=True, slots=True)
class Program:
    """Command line of a client or a pipeline.

    Parameters
    ----------
    command : str
        The program and its arguments, divided into words as a shell divides them; no shell runs.
    per_process : int
        Inputs that each process is given, at least 1. With 1, a client that is seeded when it starts gives itself away:
        it repeats its answers.
    timeout : number or text
        Seconds that a process may take, above 0.

    Raises
    ------
    InputError
        If there is no word, a quotation does not end, or a number is out of its range.
    """

    command: str
    per_process: Any = 10_000
    timeout: Any = 600

    def __post_init__(self) -> None:
        check_kind(self.command, str, "command", "a program and its arguments")
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise InputError("command", self.command, f"words as a shell divides them ({error})") from None
        if not words:
            raise InputError("command", repr(self.command), "a program and its arguments")
        object.__setattr__(self, "per_process", as_integer(self.per_process, "per_process", 1))
        object.__setattr__(self, "timeout", parse_rational(self.timeout, "timeout"))
        if not self.timeout > 0:
            raise InputError("timeout", self.timeout, "seconds above 0")
        if shutil.which(words[0]) is None:
            raise InputError("command", words[0], "a program that starts (no such program)")

    def __call__(self, inputs: Sequence[str]) -> list[str]:
        """The lines that one process writes for these inputs."""
        words, seconds = shlex.split(self.command), float(self.timeout)
        try:
            process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # so that what the program starts ends with it
            )
        except OSError as error:
            raise InputError("command", words[0], f"a program that starts ({error.strerror or error})") from None
        try:
            out, said = process.communicate("".join(f"{x}\n" for x in inputs).encode(), timeout=seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            _, said = process.communicate()
            wanted = f"an answer to {len(inputs)} inputs within {seconds:g} s (timeout){_last_line(said)}"
            raise InputError("command", self.command, wanted) from None
        except BaseException:
            _end(process)
            raise
        if process.returncode:
            raise InputError("command", self.command, f"exit status 0, not {process.returncode}{_last_line(said)}")
        found = split_lines(out.decode(errors="backslashreplace"))
        if len(found) != len(inputs):
            wanted = f"a line for each of {len(inputs)} inputs, not {len(found)} lines{_last_line(said)}"
            raise InputError("command", self.command, wanted)
        return found


def _end(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def _last_line(said: bytes) -> str:
    """The last line of standard error that says something."""
    lines = (text.strip() for text in said.decode(errors="backslashreplace").splitlines())
    last = next((text for text in reversed([*lines]) if text), "")
    return f"; it says: {last}" if last else ""


def answers(
    program: Callable[[Any], Any] | Program,
    inputs: Sequence[Any],
    progress: Progress | None = None,
    step: int = 1000,
) -> list[Any]:
    """What a program returns for each input or dataset: the lines of a command, or the values of a function.

    - ``step``: inputs of a function between two calls of ``progress``.
    """
    check_progress(progress)
    if not callable(program):
        raise InputError("program", program, "a function of an input, or a Program")
    found: list[Any] = []
    step = program.per_process if isinstance(program, Program) else step
    for i in range(0, len(inputs), step):
        some = inputs[i : i + step]
        found += program([line(x) for x in some]) if isinstance(program, Program) else map(program, some)
        if progress is not None:
            progress(len(found), len(inputs))
    return found


def hint(
    inputs: Sequence[Hashable],
    replies: Sequence[Hashable],
    program: Callable[[Any], Any] | Program,
    enough: int = 20,
) -> str:
    """A guess at the cause if all processes with the same inputs gave the same answers; nothing else changes.

    - ``enough``: equal answers that are no coincidence.
    """
    per_process = program.per_process if isinstance(program, Program) else 1
    groups: dict[Hashable, set[Hashable]] = {}
    for i in range(0, len(inputs), per_process):
        part = slice(i, i + per_process)
        groups.setdefault(tuple(inputs[part]), set()).add(tuple(replies[part]))
    repeated = len(inputs) - per_process * len(groups)
    if repeated < enough or any(len(different) > 1 for different in groups.values()):
        return ""
    return "runs with the same inputs gave the same messages: seeded?"


def line(given: Any) -> str:
    """An input as a program reads it, or the inputs of a dataset, a tuple, with commas between them."""
    return ",".join(map(str, given)) if isinstance(given, tuple) else str(given)


def as_run(reply: Any) -> Run:
    """The messages of a run as text: of a sequence, of a text with commas, or a single one."""
    several = hasattr(reply, "__iter__") and getattr(reply, "ndim", None) != 0
    parts = reply.split(",") if isinstance(reply, str) else reply if several else (reply,)
    return tuple(str(part).strip() for part in parts)


_MANY: Final = 100
"""Rows of a sample beyond which numbers 0, 1, ... that stand in its first row alone are refused."""


def check_names(first: Sequence[Any], second: Sequence[Any], *samples: Sequence[Run]) -> None:
    """Refuse a first row of names, or a comment, of which nothing is a message of another row.

    Counted as a run, a line of names that both files have would be a message that the samples have in common. So would
    the numbers 0, 1, 2, ... of columns, which are refused where both files begin with them and have them only there,
    which is no chance among many rows.
    """
    numbers = tuple(map(str, range(len(samples[0][0]))))
    begun = isinstance(first[0], str) and samples[0][0] == samples[1][0] == numbers
    if begun and min(map(len, samples)) > _MANY and not any(numbers in runs[1:] for runs in samples):
        expected = "a run that occurs again; if these are names of columns, header=True, or else header=False"
        raise InputError("first[0]", first[0], expected)
    others = {message for runs in samples for run in runs[1:] for message in run}
    for name, rows, runs in (("first", first, samples[0]), ("second", second, samples[1])):
        named = isinstance(rows[0], str) and (all(map(is_name, runs[0])) or rows[0].lstrip().startswith("#"))
        if named and not others & {*runs[0]}:
            expected = "a message of another row; if these are names of columns, header=True, or else header=False"
            raise InputError(f"{name}[0]", rows[0], expected)


def check_widths(first: Sequence[Any], second: Sequence[Any], *samples: Sequence[Run], skipped: int) -> None:
    """Refuse an empty message beside others, as a last comma or a blank line leaves one, and runs of unlike sizes.

    - ``skipped``: rows before the first run.
    """
    width, some_say_more = len(samples[0][0]), any(run != ("",) for runs in samples for run in runs)
    sizes = f"{counted(width, 'cell')}, as in the first run of the first sample"
    for name, rows, runs in (("first", first, samples[0]), ("second", second, samples[1])):
        for i, run in enumerate(runs):
            has_empty = some_say_more and "" in run
            if has_empty or len(run) != width:
                expected = "a message in every cell" if has_empty else sizes
                expected += "; if both samples have the same notation, disjoint=True"
                raise InputError(f"{name}[{i + skipped}]", rows[i + skipped], expected)


def check_spellings(first: Sequence[Run], second: Sequence[Run]) -> None:
    """Refuse samples without a common message, and a message of both that is written differently in each.

    So are two messages that may be one number in different notations, as ``50%`` and ``0.5``.
    """
    seen = [{message for run in runs for message in run} for runs in (first, second)]
    if not seen[0] & seen[1]:
        shown = " and ".join(", ".join(map(repr, sorted(some)[:3])) for some in seen)
        expected = "a message that is in both samples; if both have the same notation, disjoint=True"
        raise InputError("second", shown, expected)
    common = {folded(message) for message in seen[0] & seen[1]}
    alike = {folded(message): message for message in seen[0]}
    for message in sorted(seen[1] - seen[0]):
        key = folded(message)
        if key in alike and key not in common:
            expected = (
                f"the spelling of the first sample, {echo(ascii(alike[key]))}: they differ in case, blanks or "
                "invisible characters only; if these are two messages, disjoint=True"
            )
            raise InputError("second", ascii(message), expected)
    _check_notations(seen[0] - seen[1], seen[1] - seen[0])


def _check_notations(first: AbstractSet[str], second: AbstractSet[str]) -> None:
    """Refuse a message of one sample only where the other has the same number in another notation only."""
    alike = {value: message for message in sorted(first) for value in _notations(message)} if second else {}
    for message in sorted(second) if alike else ():
        other = next((alike[value] for value in _notations(message) if value in alike), None)
        if other is not None:
            expected = (
                f"the notation of the first sample, {echo(ascii(other))}: they may be one number; if these "
                "are two messages, disjoint=True"
            )
            raise InputError("second", ascii(message), expected)


def _notations(message: str) -> set[Fraction | float]:
    """Return the numbers that a message may stand for, also in notations that are not read: 50%, 1,000, 1_0, 0x1."""
    text = unicodedata.normalize("NFKC", message).translate(SIGNS_OF_NUMBERS).casefold().replace(" ", "")
    unit, digits = Fraction(1, 100) if text.endswith("%") else Fraction(1), text.removesuffix("%")
    found = set[Fraction | float]()
    for written in {digits.replace(",", "."), re.sub("[,;_']", "", digits)}:
        with suppress(ValueError):
            found.add(unit * _number(written))
    return found


def _number(text: str) -> Fraction | float:
    """Return the number of a text, also in another base, or infinite."""
    if "inf" in text:
        return float(text)
    if re.match("[+-]?0[xob]", text):
        return Fraction(int(text, 0))
    return Fraction(parse_rational(text, "message"))


def read_row(row: Any, place: str) -> Run:
    """Return the messages of a row: a text is split as CSV, and equal numbers become equal texts.

    To merge messages is to process them, so that no lower bound on eps becomes false.
    """
    try:
        parts = next(csv.reader([row], strict=True)) or [""] if isinstance(row, str) else as_run(row)
    except csv.Error as error:
        raise InputError(place, row, f"a row of a CSV file ({error})") from None
    return tuple(_value(part.strip()) for part in parts)


@lru_cache(maxsize=1 << 12)
def _value(message: str) -> str:
    """Return a number in lowest terms as text, and any other text unchanged."""
    try:
        return str(parse_rational(message, "message"))
    except ValueError:
        return message
