"""What a client is said to be, a channel with words, and how it is run: as a function, or as a program.

A program is started by the words of its command line, never by a shell. It is given some inputs on its standard input,
and has to write as many lines and end with status 0.
"""

from __future__ import annotations

import itertools
import math
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from symshuffle.accountants.deployment.group import Group
from symshuffle.accountants.deployment.model import Deployment
from symshuffle.base.errors import InputError, Progress, Unsupported, check_progress
from symshuffle.base.levels import read_budget
from symshuffle.base.numbers import Number, as_integer, enclose, parse_rational, upper_end
from symshuffle.channels.channel import Channel
from symshuffle.collect.mechanisms import SCHEMES, root_of
from symshuffle.collect.messages import lines, pack
from symshuffle.collect.plan import SurveyPlan
from symshuffle.collect.plan_file import read_plan_or_deployment
from symshuffle.collect.scheme import INTEGERS, Scheme
from symshuffle.decompositions.closed_forms import ClosedForm, closed_form
from symshuffle.mechanisms.names import mechanism_name, named_parameters, source_name, unknown_parameter

if TYPE_CHECKING:
    pass

LARGEST_CLAIM: Final = 1 << 18
"""Inputs times messages beyond which no channel is written down."""

MOST_MESSAGES: Final = 50_000_000
"""Messages of an audit beyond which nothing is run: they are held in memory."""


@final
@dataclass(frozen=True)
class Claim:
    """Claimed channel of a client, with the words for its inputs and messages.

    Parameters
    ----------
    title : str
        What is claimed, in words.
    channel : Channel
        Row: input; column: message. Of rationals or balls, with a finite ratio cap above 1.
    inputs : tuple
        What the client is given for each row; its text is what a program reads.
    messages : tuple of str
        What the client writes for each column.
    source : Mechanism, Channel or Scheme, optional
        What bounds are computed of: the same channel in a form that is accounted for faster.

    Raises
    ------
    InputError
        If there are as many words as rows or columns in neither case, a word is empty, repeated, or has a comma or a
        blank at an end, or the channel has doubles, no finite cap, or equal rows only.
    """

    title: str
    channel: Channel
    inputs: tuple[Any, ...]
    messages: tuple[str, ...]
    source: Any = None

    def __post_init__(self) -> None:
        shape = (self.channel.num_inputs, self.channel.num_outputs)
        for name, words, size in zip(("inputs", "messages"), (self.inputs, self.messages), shape, strict=True):
            texts = [str(word) for word in words]
            if len(set(texts)) != size or len(texts) != size:
                raise InputError(name, f"{len(set(texts))} different words", f"{size}, as the channel has")
            for text in texts:
                if not text or text != text.strip() or "," in text or "\n" in text:
                    raise InputError(name, repr(text), "words without commas, and without blanks at their ends")
        if any(isinstance(entry, float) for row in self.channel.rows for entry in row):
            raise InputError("channel", "doubles", "rationals such as 1/3 or 0.25, or balls")
        cap = self.channel.ratio_cap()
        if cap == math.inf or not upper_end(cap) > 1:
            raise InputError("channel", f"ratio cap {cap}", "a finite largest ratio of two rows, above 1")

    @cached_property
    def cap(self) -> Number:
        """Largest ratio of two rows at a message, exp(eps0)."""
        return self.channel.ratio_cap()

    @cached_property
    def columns(self) -> dict[str, int]:
        """Message to column."""
        return {message: y for y, message in enumerate(self.messages)}

    def column(self, message: str, place: str) -> int:
        """Column of a message; an InputError names its ``place`` if it is none of the claimed ones."""
        found = self.columns.get(message)
        if found is None:
            known = ", ".join(self.messages[:5]) + (", ..." if len(self.messages) > 5 else "")
            raise InputError(place, repr(message), f"one of the {len(self.messages)} messages of the claim ({known})")
        return found


def claim(source: Any) -> Claim:
    """Claim that a client is this channel.

    Parameters
    ----------
    source : Channel, Mechanism, SurveyPlan, Scheme, Deployment, Group or path
        A channel, or a mechanism with all parameters fixed: inputs and messages are numbers from 0. A plan of
        :func:`symshuffle.collect.plan_survey`: inputs are its labels, and messages are what ``plan.client()`` writes. A
        deployment of one group of users, or the file of one or of a plan: what its users run.

    Returns
    -------
    Claim
        The channel with its words.

    Raises
    ------
    InputError
        If it is none of these, or has no finite ratio cap above 1.
    Unsupported
        If there would be too many messages.

    Examples
    --------
    >>> found = claim(Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]]))
    >>> found.cap, found.messages
    (Fraction(3, 1), ('0', '1'))
    """
    if isinstance(source, Claim):
        return source
    source = claim_subject(source)
    if isinstance(source, Deployment):
        if len(source.groups) > 1 or source.later_periods:
            raise InputError("claim", "several groups or kinds of periods", "one group of users of one kind")
        source = source.groups[0].randomizer
    if isinstance(source, ClosedForm):
        return _of_closed_form(source)
    if isinstance(source, SurveyPlan):
        return _of_scheme(source.scheme, source.labels)
    if isinstance(source, Scheme):
        return _of_scheme(source, range(source.k))
    if isinstance(source, Channel):
        channel, title = source, f"channel with {source.num_inputs} inputs and {source.num_outputs} messages"
    elif hasattr(source, "with_defaults"):
        fixed = source.with_defaults()
        size = int(fixed.num_outputs) if fixed.num_outputs.is_Integer else 0
        if size > LARGEST_CLAIM:
            raise Unsupported(f"{fixed.name} has {size} possible messages; an audit counts at most {LARGEST_CLAIM}")
        named = [f"{name} = {value}" for name, value in fixed.values]
        channel, title = fixed.channel(), ", ".join((fixed.name, *named))
    else:
        raise InputError(
            "claim", source_name(source), "a channel, a mechanism with its parameters, a plan, or a deployment"
        )
    return _of_channel(title, channel)


def claim_subject(source: Any) -> Any:
    """Return what a claim is about: the plan or the deployment in a file, the deployment of a group, or itself."""
    if isinstance(source, str | PathLike):
        return read_plan_or_deployment(Path(source), "claim")
    return Deployment((source,)) if isinstance(source, Group) else source


def _of_closed_form(known: ClosedForm) -> Claim:
    if known.shape[1] > LARGEST_CLAIM:
        raise Unsupported(
            f"{known.name} has {known.shape[1]} possible messages; an audit counts at most {LARGEST_CLAIM}"
        )
    level = () if known.lam is None else (("lam", known.lam),)
    words = [f"{key} = {value}" for key, value in (*known.values, *level)]
    return _of_channel(", ".join((known.name, *words)), known.channel())


def _of_channel(title: str, channel: Channel) -> Claim:
    """A claim whose messages are numbers of columns."""
    if channel.num_inputs * channel.num_outputs > LARGEST_CLAIM:
        raise Unsupported(f"a claim with more than {LARGEST_CLAIM} inputs times messages is not counted")
    return Claim(title, channel, tuple(range(channel.num_inputs)), tuple(str(y) for y in range(channel.num_outputs)))


def named_claim(name: str, parameters: dict[str, str], *, eps0: object = None, lam: object = None) -> Claim:
    """Claim that a client is a named mechanism.

    Parameters
    ----------
    name : str
        A mechanism of ``symshuffle mechanisms``. Those that :mod:`symshuffle.collect` runs take its parameters (``k``;
        ``s`` of subset selection, ``g`` of ``olh``) and write its messages; others write numbers of columns.
    parameters : dict of str to str
        The parameters.
    eps0, lam : number or text
        The local budget, or its exponential. exp(eps0) is rounded up, by less than 2^-80 of itself; the level of RAPPOR
        is the square of a rational number, which is rounded down as little.

    Returns
    -------
    Claim
        The channel with its words.

    Raises
    ------
    InputError
        If the name, the budget, or a parameter is wrong.
    """
    name = mechanism_name(name)
    if name not in SCHEMES:
        known = closed_form(name, parameters, eps0=eps0, lam=lam)
        if known is not None and known.shape[1] <= LARGEST_CLAIM:
            return _of_closed_form(known)
        from symshuffle.mechanisms.registry import mechanism

        found = mechanism(name)
        if not hasattr(found, "parameters"):
            raise InputError("name", name, "a mechanism with finitely many messages")
        fixed = found.at(eps0=eps0, lam=lam, **parameters).with_defaults()
        for parameter in fixed.needed:
            raise InputError(parameter.name, None, parameter.range)
        return claim(fixed)
    needed = ("k", *INTEGERS.get(name, ()))
    given = named_parameters(parameters, needed)
    for extra in given.keys() - set(needed):
        raise unknown_parameter(extra, given[extra], name, needed)
    for missing in [one for one in needed if one not in given]:
        raise InputError(missing, None, f"an integer, given by -p {missing}=")
    budget = read_budget(eps0=eps0, lam=lam)
    if budget is None:
        raise InputError("lam", None, "a number > 1, given by eps0 or lam")
    values = {one: as_integer(given[one], one, 2 if one == "k" else 1) for one in needed}
    k = values.pop("k")
    ratio = budget if isinstance(budget, Fraction) else upper_end(enclose(budget, 128))
    return _of_scheme(SCHEMES[name](name, k, root_of(name, ratio), **values), range(k))


def _of_scheme(made: Scheme, inputs: Sequence[object]) -> Claim:
    """The channel of a mechanism that runs, from what its messages support, each of them equally likely."""
    size = made.alphabet**made.width
    if size * made.k > LARGEST_CLAIM:
        raise Unsupported(
            f"{made.name} with k = {made.k} has too many messages to count ({made.bits} bits): at most {LARGEST_CLAIM} "
            "inputs times strings"
        )
    rows = np.array(list(itertools.product(range(made.alphabet), repeat=made.width)), dtype=np.int64)
    rows = rows[~made.wrong(rows)]
    texts = b"".join(lines(made, pack(made, rows))).decode().split("\n")[:-1]
    if made.is_bits:
        ones = [[made.p if j == x else made.q for j in range(made.k)] for x in range(made.k)]
        channel = [
            [math.prod((p if bit else 1 - p for p, bit in zip(chances, row, strict=True))) for row in rows.tolist()]
            for chances in ones
        ]
    else:
        supports = np.array([made.supports(made.tally(row[None])) for row in rows])
        channel = []
        for x in range(made.k):
            inside = int(supports[:, x].sum())
            masses = (made.p / inside, (1 - made.p) / (len(rows) - inside))
            channel.append([masses[0] if held else masses[1] for held in supports[:, x]])
    named = "".join(f", {name} = {value}" for name, value in made.parameters.items())
    ratio = made.ratio if made.ratio.denominator < 10**6 else f"{float(made.ratio):.6g}"
    title = f"{made.name}, k = {made.k}{named}, lam = {ratio}"
    return Claim(title, Channel.from_rows(channel), tuple(inputs), tuple(texts), made)


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
            wanted = f"an answer to {len(inputs)} inputs within {seconds:g} s (timeout){_first_line(said)}"
            raise InputError("command", self.command, wanted) from None
        except BaseException:
            _end(process)
            raise
        if process.returncode:
            raise InputError("command", self.command, f"exit status 0, not {process.returncode}{_first_line(said)}")
        found = out.decode(errors="backslashreplace").splitlines()
        if len(found) != len(inputs):
            wanted = f"a line for each of {len(inputs)} inputs, not {len(found)} lines{_first_line(said)}"
            raise InputError("command", self.command, wanted)
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
    step: int = 1000,
) -> list[Any]:
    """What a client returns for each input: the lines of a program, or the values of a function.

    - ``step``: inputs of a function between two calls of ``progress``.
    """
    check_progress(progress)
    found: list[Any] = []
    step = client.per_process if isinstance(client, Program) else step
    for i in range(0, len(inputs), step):
        some = inputs[i : i + step]
        found += client([written(x) for x in some]) if isinstance(client, Program) else map(client, some)
        if progress is not None:
            progress(len(found), len(inputs))
    return found


def hint(
    inputs: Sequence[Hashable],
    replies: Sequence[Hashable],
    client: Callable[[Any], Any] | Program,
    enough: int = 20,
) -> str:
    """A guess at the cause if all processes with the same inputs gave the same answers; nothing else changes.

    - ``enough``: equal answers that are no coincidence.
    """
    per_process = client.per_process if isinstance(client, Program) else 1
    groups: dict[Hashable, set[Hashable]] = {}
    for i in range(0, len(inputs), per_process):
        part = slice(i, i + per_process)
        groups.setdefault(tuple(inputs[part]), set()).add(tuple(replies[part]))
    repeated = len(inputs) - per_process * len(groups)
    if repeated < enough or any(len(different) > 1 for different in groups.values()):
        return ""
    return "runs with the same inputs gave the same messages: seeded?"


def as_run(reply: Any) -> tuple[str, ...]:
    """The messages of a run as text: of a sequence, of a text with commas, or a single one."""
    parts = reply.split(",") if isinstance(reply, str) else reply if hasattr(reply, "__iter__") else (reply,)
    return tuple(str(part).strip() for part in parts)
