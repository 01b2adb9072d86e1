"""What a question is about: a deployment, or what one is made of, with its fields as keywords of the question."""

from __future__ import annotations

import difflib
import importlib
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, wraps
from os import PathLike
from typing import Any, Final, TypeAlias, TypeVar, cast

from symshuffle.accountants.deployment.adjacency import read_null
from symshuffle.accountants.deployment.group import Group
from symshuffle.accountants.deployment.model import (
    FIELD_NAMES,
    FILES,
    KEYWORDS,
    NEAREST,
    OWNERS,
    Deployment,
    fields_that_change,
    named_fields,
)
from symshuffle.base.errors import InputError

Subject: TypeAlias = "Deployment | Group | Sequence[Group] | Sequence[Deployment] | PathLike[str] | str | Any"
"""What a question is about: a randomizer with fields of a deployment as keywords, or a deployment."""


def read_deployment(subject: Subject, given: Mapping[str, Any]) -> Deployment:
    """Return the deployment that a question is about.

    - ``subject``: a deployment, or a list of them, one after the other; a group, or a list of groups; a randomizer; or
      the path of a file, which :func:`symshuffle.configuration.files.read_subject_file` reads.
    - ``given``: fields by the keywords of questions, which change it.
    """
    listed: Any = subject if isinstance(subject, Sequence) and not isinstance(subject, str) else ()
    found: Deployment
    if isinstance(subject, str | PathLike):
        found = importlib.import_module(FILES).read_subject_file(subject, "subject")
    elif isinstance(subject, Deployment):
        found = subject
    elif Deployment in map(type, listed):
        found = _one_after_another(listed)
    else:
        found = Deployment(subject)
    return found.with_(**given) if given else found


def _one_after_another(listed: Sequence[Any]) -> Deployment:
    """The deployment whose later periods are those of all others."""
    for place, one in enumerate(listed):
        if not isinstance(one, Deployment):
            raise InputError(f"deployment[{place}]", type(one).__name__, "a deployment, as all others of the list")
    first: Deployment = listed[0]
    return replace(first, later_periods=(*first.later_periods, *(kind for one in listed[1:] for kind in one.kinds)))


def smallest_batch(deployment: Deployment, *programs: str) -> int:
    """Return the smallest number of honest messages in a batch, for programs that ask about one number of users.

    A bound for the deployment is that for so many users who all send, since none of its other fields changes it.

    - ``programs``: names, in the metadata of fields, of what reads further fields itself.

    Raises
    ------
    InputError
        If there are several groups or kinds of periods, the number of users is open, or a field is set that changes
        more than their number; the message names a question that supports it.
    """
    for name, several in (("group", len(deployment.groups) > 1), ("later_periods", deployment.later_periods)):
        if several:
            raise InputError(name, "several", "one here; for several, ask epsilon or delta")
    given = fields_that_change(deployment)
    known = {name for one in programs for name in named_fields("read", one)}
    for name in sorted(given, key=lambda name: name != "null"):  # null first: it also sets the adjacency
        allowed = name not in NEAREST or name in known or (name == "periods" and deployment.memoised)
        if not allowed:
            raise InputError(name, given[name], NEAREST[name])
    group = deployment.groups[0]
    if group.count is None:
        raise InputError("n", None, "a number of users")
    return group.messages(group.count)


_LISTED: Final = """\
    and the fields of a deployment
        As :class:`Group`, :class:`Adjacency` and :class:`Deployment` say.
"""
"""Where the docstring of a question lists the fields."""


@cache
def _entries() -> str:
    """The entries of all fields but ``n`` in a section Parameters, from the docstrings of the three classes."""
    text = ""
    for owner in dict.fromkeys(OWNERS.values()):
        section = (inspect.getdoc(owner) or "").partition("----------\n")[2].partition("\n\n")[0]
        said = {}
        for entry in re.split(r"\n(?=\S)", section):
            field, _, words = entry.partition(" : ")
            said[field] = words
        for name, its_owner in OWNERS.items():
            if its_owner is owner and name != "n" and FIELD_NAMES.get(name, name) in said:
                text += f"{name} : {said[FIELD_NAMES.get(name, name)]}\n"
    return textwrap.indent(text, "    ")


Q = TypeVar("Q", bound=Callable[..., object])


def with_fields(question: Q) -> Q:
    """Decorate a question: ``help`` and completion show its ``**fields`` as the keywords of a deployment.

    A further field of a deployment is a keyword of every question, which does not mention it: the line of a docstring
    that names the three classes is replaced by what these say of their fields. An unknown keyword is refused as Python
    does it, by the name of the question. A null symbol is read once: it may be an iterator.
    """
    shown = inspect.signature(question)
    *named, rest = shown.parameters.values()  # the last one stands for the fields
    more = []
    for name in KEYWORDS:
        if name not in shown.parameters:
            more.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation="object"))
    known = {*KEYWORDS, *shown.parameters} - {rest.name}

    @wraps(question)
    def asked(*args: object, **given: object) -> object:
        for name in given.keys() - known:
            close = difflib.get_close_matches(name, known, 1)
            hint = f". Did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"{question.__name__}() got an unexpected keyword argument {name!r}{hint}")
        if isinstance(given.get("null"), Iterator):
            given["null"] = read_null(given["null"])
        return question(*args, **given)

    asked.__doc__ = (question.__doc__ or "").replace(_LISTED, _entries())
    asked.__signature__ = shown.replace(parameters=[*named, *more])  # type: ignore[attr-defined]  # what help() reads
    return cast("Q", asked)
