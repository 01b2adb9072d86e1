"""Whom a bound has to cover, as the keywords of a front door ask for it."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import wraps
from typing import Any, TypedDict, TypeVar, Unpack, cast, final

from symshuffle.accountants.covering.participation import Participation
from symshuffle.base.choices import Adjacency, Blanket, replace_choice
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import read_law
from symshuffle.channels.channel import Channel


class Whom(TypedDict, total=False):
    """The keywords of a front door from which a :class:`Covering` is made."""

    adjacency: object
    blanket: object
    null: Sequence[object] | None
    min_users: object
    dropout: object
    group: object


@final
@dataclass(frozen=True, slots=True)
class Covering:
    """Whom a bound has to cover, and over what: all that a source needs to know to make its reduction.

    - ``adjacency``: in what neighbours differ; None is replace-one, or zero-out where a null symbol is given.
    - ``blanket``: what stands in for the messages of the others; None is the usual one of the source.
    - ``null``: law of the null symbol, kept as a channel of one input, with its rounding.
    - ``min_users``: how many messages there are at least, whoever sends them; None is all users.
    - ``dropout``: the probability with which each other user drops out, publicly and whatever the inputs; None is 0.
    - ``group``: in how many users neighbours differ at most; None is 1.
    """

    adjacency: Adjacency | None = None
    blanket: Blanket | None = None
    null: Channel | None = None
    min_users: int | None = None
    dropout: Fraction | None = None
    group: int | None = None

    def __post_init__(self) -> None:
        if self.adjacency is not None:
            replace_choice(Adjacency, self, "adjacency")
        if self.blanket is not None:
            replace_choice(Blanket, self, "blanket")
        if self.null is not None:
            object.__setattr__(self, "null", one_law(self.null))
            if self.adjacency not in (None, Adjacency.ZERO_OUT):
                raise InputError("adjacency", self.adjacency, "zero-out, where the law of a null symbol is given")
            object.__setattr__(self, "adjacency", Adjacency.ZERO_OUT)
        who = self.participation
        for name in ("min_users", "dropout", "group"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, getattr(who, name))

    @property
    def participation(self) -> Participation:
        """Who of the users sends a message, and in how many of them datasets differ."""
        return Participation(self.min_users, self.dropout, 1 if self.group is None else self.group)

    @classmethod
    def of(cls, **whom: Unpack[Whom]) -> Covering:
        """The covering that the keywords of a front door ask for."""
        asked: dict[str, Any] = dict(whom)
        return cls(**asked)


def one_law(null: object) -> Channel:
    """Return the distribution of a null symbol as a channel of one input; such a channel is returned unchanged."""
    if isinstance(null, Channel):
        if null.num_inputs != 1:
            raise InputError("null", f"a channel of {null.num_inputs} inputs", "one distribution")
        return null
    law, rounding = read_law(null, "null")
    return Channel((law,), rounding)


Door = TypeVar("Door", bound=Callable[..., object])


def spelled_out(door: Door) -> Door:
    """Decorates a front door: ``help`` and completion show its ``**whom`` as the keywords that :class:`Covering` has.

    A further option of a covering is a field there, and no front door mentions it. An unknown keyword is refused as
    Python does it, by the name of the front door.
    """
    shown = inspect.signature(door)
    named = [one for one in shown.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    more = [
        inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation="object")
        for one in fields(Covering)
    ]
    known = {one.name for one in (*named, *more)}

    @wraps(door)
    def asked(*args: object, **given: object) -> object:
        for name in given.keys() - known:
            close = difflib.get_close_matches(name, known, 1)
            hint = f". Did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"{door.__name__}() got an unexpected keyword argument {name!r}{hint}")
        return door(*args, **given)

    asked.__signature__ = shown.replace(parameters=[*named, *more])  # type: ignore[attr-defined]  # what help() reads
    return cast("Door", asked)
