"""What a client is said to be: a channel, with words for its inputs and messages."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from symshuffle.accountants.deployment.group import Group
from symshuffle.accountants.deployment.model import Deployment
from symshuffle.accountants.deployment.subjects import Subject, read_deployment
from symshuffle.accountants.questions import solve
from symshuffle.base.doubles import Array
from symshuffle.base.errors import InputError, Unsupported, check_kind, check_list
from symshuffle.base.levels import read_budget, read_target
from symshuffle.base.numbers import Exp, Number, Real, as_integer, enclose, parse_inside, shortest, to_float, upper_end
from symshuffle.channels.channel import Channel
from symshuffle.collect.guarantee import rounded_up
from symshuffle.collect.mechanisms import SCHEMES, root_of
from symshuffle.collect.messages import lines, pack
from symshuffle.collect.plan import SurveyPlan
from symshuffle.collect.plan_file import read_plan_or_deployment
from symshuffle.collect.scheme import INTEGERS, Scheme
from symshuffle.decompositions.closed_forms import ClosedForm, closed_form
from symshuffle.mechanisms.names import mechanism_name, named_parameters, source_name, unknown_parameter

LARGEST_CLAIM: Final = 1 << 18
"""Inputs times messages beyond which no channel is written down."""


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
            check_list(words, name, "a tuple of words")
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

    def doubles(self, channel: Channel) -> Array:
        """Rows in doubles of a channel of the shape of the claimed one."""
        check_kind(channel, Channel, "channel", "a channel")
        sizes = [(one.num_inputs, one.num_outputs) for one in (channel, self.channel)]
        if sizes[0] != sizes[1]:
            raise InputError("channel", f"shape {sizes[0]}", f"shape {sizes[1]}, that of the claim")
        return np.array([[to_float(entry) for entry in row] for row in channel.rows])

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


def claimed_level(
    claim: Subject, fields: Mapping[str, Any], *, eps: object, exp_eps: object, delta: object
) -> tuple[Real | None, Fraction]:
    """exp(eps), if one is claimed, and delta: as they are given, or one of them as it is certified of a deployment."""
    target = None if eps is None and exp_eps is None else read_target(eps=eps, exp_eps=exp_eps)
    if claim is None:
        for name, value in fields.items():
            if value is not None:
                raise InputError(name, value, "none, unless claim is a deployment")
        return target, parse_inside(0 if delta is None else delta, "delta", "[0, 1)")
    known = claim_subject(claim)
    deployment = read_deployment(known.deployment if isinstance(known, SurveyPlan) else known, fields)
    if (target is None) is (delta is None):
        raise InputError("delta", delta, "one of eps and delta with a claim: the other is that of the deployment")
    if target is None:
        target = Exp(Fraction(rounded_up(solve.epsilon(deployment, delta=delta).bracket.upper)))
    else:
        delta = rounded_up(solve.delta(deployment, exp_eps=target).bracket.upper)
    return target, parse_inside(delta, "delta", "[0, 1)")


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
        raise Unsupported(f"the number of inputs times the number of messages may be at most {LARGEST_CLAIM}")
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
    ratio = made.ratio if made.ratio.denominator < 10**6 else shortest(made.ratio)
    title = f"{made.name}, k = {made.k}{named}, lam = {ratio}"
    return Claim(title, Channel.from_rows(channel), tuple(inputs), tuple(texts), made)
