"""What is run: a function of Python, or a program that reads inputs and writes messages, one to a line.

A program is started by the words of its command line, never by a shell. It is given some inputs on its standard input,
and has to write as many lines and end with status 0.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, final

from symshuffle.base.errors import InputError, Progress, check_progress
from symshuffle.base.numbers import as_integer, parse_rational

MOST_MESSAGES: Final = 50_000_000
"""Messages of an audit beyond which nothing is run: they are held in memory."""

_ENOUGH: Final = 20
"""Equal answers that are no coincidence."""

_STEP: Final = 1000


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
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise InputError("--program", self.command, f"words as a shell divides them ({error})") from None
        if not words:
            raise InputError("--program", repr(self.command), "a program and its arguments")
        object.__setattr__(self, "per_process", as_integer(self.per_process, "--per-process", 1))
        if not parse_rational(self.timeout, "--timeout") > 0:
            raise InputError("--timeout", self.timeout, "seconds above 0")

    def __call__(self, inputs: Sequence[str]) -> list[str]:
        """The lines that one process writes for these inputs."""
        words, seconds = shlex.split(self.command), float(parse_rational(self.timeout, "--timeout"))
        try:
            process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # so that what the program starts ends with it
            )
        except OSError as error:
            raise InputError("--program", words[0], f"a program that starts ({error.strerror or error})") from None
        try:
            out, said = process.communicate("".join(f"{x}\n" for x in inputs).encode(), timeout=seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            _, said = process.communicate()
            wanted = f"an answer to {len(inputs)} inputs within {seconds:g} s (--timeout){_first_line(said)}"
            raise InputError("--program", self.command, wanted) from None
        except BaseException:
            _end(process)
            raise
        if process.returncode:
            raise InputError("--program", self.command, f"exit status 0, not {process.returncode}{_first_line(said)}")
        found = out.decode(errors="backslashreplace").splitlines()
        if len(found) != len(inputs):
            wanted = f"a line for each of {len(inputs)} inputs, not {len(found)} lines{_first_line(said)}"
            raise InputError("--program", self.command, wanted)
        return found


def _end(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def _first_line(said: bytes) -> str:
    """The first line of standard error that says something."""
    lines = (line.strip() for line in said.decode(errors="backslashreplace").splitlines())
    first = next((line for line in lines if line), "")
    return f"; it says: {first}" if first else ""


def answers(
    client: Callable[[Any], Any] | Program,
    inputs: Sequence[Any],
    written: Callable[[Any], str],
    progress: Progress | None = None,
) -> list[Any]:
    """What a client returns for each input: the lines of a program, or the values of a function."""
    check_progress(progress)
    found: list[Any] = []
    step = client.per_process if isinstance(client, Program) else _STEP
    for i in range(0, len(inputs), step):
        some = inputs[i : i + step]
        found += client([written(x) for x in some]) if isinstance(client, Program) else map(client, some)
        if progress is not None:
            progress(len(found), len(inputs))
    return found


def hint(inputs: Sequence[Hashable], replies: Sequence[Hashable], per_process: int) -> str:
    """A guess at the cause if all processes with the same inputs gave the same answers; nothing else changes."""
    groups: dict[Hashable, set[Hashable]] = {}
    for i in range(0, len(inputs), per_process):
        part = slice(i, i + per_process)
        groups.setdefault(tuple(inputs[part]), set()).add(tuple(replies[part]))
    repeated = len(inputs) - per_process * len(groups)
    if repeated < _ENOUGH or any(len(different) > 1 for different in groups.values()):
        return ""
    return "runs with the same inputs gave the same messages: seeded?"


def as_run(reply: Any) -> tuple[str, ...]:
    """The messages of a run as text: of a sequence, of a text with commas, or a single one."""
    parts = reply.split(",") if isinstance(reply, str) else reply if hasattr(reply, "__iter__") else (reply,)
    return tuple(str(part).strip() for part in parts)
