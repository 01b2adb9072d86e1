"""What a bound is about: groups of users, in what neighbours differ, how often messages are sent."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from itertools import filterfalse
from operator import attrgetter
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from symshuffle.accountants.deployment.adjacency import USUAL, Adjacency, check_one_user
from symshuffle.accountants.deployment.group import Group, check_n
from symshuffle.base.artifacts import write_atomically
from symshuffle.base.choices import Relation
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import as_integer, as_truth, counted
from symshuffle.channels.channel import Channel

MOST_PERIODS: Final = 10**6
"""Batches of all periods together."""

_MOST_GROUPS: Final = 1000


@final
@dataclass(frozen=True, slots=True)
class Deployment:
    """Groups whose messages are shuffled in each period, and what is to be covered.

    Parameters
    ----------
    groups : sequence of Group
        The users, by what they run; a single group needs no list, and a randomizer is a group of users.
    adjacency : Adjacency
        In what neighbouring datasets differ.
    reports : int
        Number of messages that every user sends in a period, each with fresh randomness; default 1. All messages of a
        period are shuffled together, in one batch; reports in separate batches count as periods.
    periods : int
        Number of periods, fixed before the first; default 1.
    memoised : bool
        Whether every user draws one message per report at the beginning and sends it in every period. All periods
        then are one, as long as the same users hold the same inputs and nothing else is drawn.
    threshold : int, optional
        Counts below it are not published. The bound holds without it, and does not use it.
    later_periods : sequence of Deployment
        Further periods of another kind, with the same adjacency.

    Raises
    ------
    InputError
        If a field is out of its range, or fields exclude each other; the message names the nearest deployment that has
        a bound.

    Examples
    --------
    >>> rr = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> Deployment(Group(rr, 1000), periods=7)
    <deployment of 1,000 users with a channel of 2 inputs, 7 periods>
    """

    groups: tuple[Group, ...]
    adjacency: Adjacency = USUAL
    reports: int = field(
        default=1,
        metadata={
            "metavar": "R",
            "help": "Messages of every user in a period, shuffled together, each with fresh randomness (default 1).",
            "effect": "the messages of a period are one batch, bounded by the composition of so many separate batches",
            "enumerated": "the messages of a period are one batch, whose histograms are enumerated",
            "nearest": "1 here; for several reports, ask epsilon or delta about the result",
            "absent": ("survey",),
        },
    )
    periods: int = field(
        default=1,
        metadata={
            "metavar": "T",
            "help": "Number of periods, fixed before the first (default 1).",
            "effect": "the composition of the batches of all periods",
            "memoised": "none: the messages of every period are those of the first",
            "nearest": "1 here, or memoised = true; for several periods, ask epsilon or delta about the result",
            "read": ("audit",),
        },
    )
    memoised: bool = field(
        default=False,
        metadata={
            "help": "Every user draws a message once and sends it in every period: same users, same inputs.",
            "effect": "all periods are one, since their messages are those of the first",
        },
    )
    threshold: int | None = field(
        default=None,
        metadata={
            "metavar": "K",
            "help": "Counts below K are not published; the bound holds and does not use it.",
            "effect": "none: what is not published is post-processing",
        },
    )
    later_periods: tuple[Deployment, ...] = ()

    if TYPE_CHECKING:

        def __init__(
            self,
            groups: object,
            adjacency: Adjacency | Relation = USUAL,
            reports: object = 1,
            periods: object = 1,
            memoised: bool = False,
            threshold: object = None,
            later_periods: Deployment | Sequence[Deployment] = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", _read_groups(self.groups))
        given: Any = self.adjacency
        if not isinstance(given, Adjacency):
            object.__setattr__(self, "adjacency", Adjacency(given))
        for name in ("reports", "periods"):
            number = getattr(self, name)
            if type(number) is not int or number != 1:
                object.__setattr__(self, name, as_integer(number, name, 1, MOST_PERIODS))
        memoised: object = self.memoised
        if not isinstance(memoised, bool):
            object.__setattr__(self, "memoised", as_truth(memoised, "memoised"))
        if self.threshold is not None:
            object.__setattr__(self, "threshold", as_integer(self.threshold, "threshold", 1))
        if type(self.later_periods) is not tuple or self.later_periods:
            object.__setattr__(self, "later_periods", _read_periods(self.later_periods))
        separate = (self.reports, self.periods, self.memoised, self.later_periods) == (1, 1, False, ())
        if not separate or len(self.groups) > 1 or self.adjacency.datasets is not None:
            self._check_together()

    def _check_together(self) -> None:
        """Refuse what has no proved bound together, with the nearest deployment that has one."""
        if self.batches > MOST_PERIODS:
            raise InputError("periods", self.batches, f"at most {MOST_PERIODS} batches in all periods together")
        if self.memoised:
            self._check_memoised()
        if len(self.groups) > 1:
            self._check_groups()
        if self.reports > 1:
            self._check_reports()
        for one in self.later_periods:
            if one.adjacency != self.adjacency:
                raise InputError("later_periods", one.adjacency, "the adjacency of the first period")
            if one.later_periods:
                raise InputError("later_periods", "a deployment with later periods", "one list of periods")
        if self.adjacency.datasets is not None:
            self._check_datasets()

    def _check_memoised(self) -> None:
        if self.later_periods:
            raise InputError("memoised", True, "false with later periods of another kind, which add fresh messages")
        for group in self.groups:
            if group.dummies:
                raise InputError("memoised", True, "false with dummies, drawn anew in every period; leave these out")
            group.check_all_send(
                "none with memoised reports, which the same users send in every period; give the smallest number of "
                "users as their number"
            )

    def _check_reports(self) -> None:
        """A user who drops out leaves out all reports together: separate batches would draw anew for each."""
        for group in self.groups:
            reason = "with several reports in a period, of which a user who drops out sends none"
            group.check_fixed_number(reason, "reports = 1 in more periods")

    def _check_groups(self) -> None:
        if self.adjacency.relation == "zero-out":
            raise InputError("adjacency", "zero-out", "replace-one with several groups or dummies")
        if self.adjacency.blanket is not None:
            raise InputError("blanket", self.adjacency.blanket, "none with several groups or dummies")
        check_one_user(
            self.adjacency.group_size, "1 with several groups or dummies, of which the bound for one user is known"
        )
        for place, group in enumerate(self.groups if len(self.users) > 1 else ()):
            expected = "none where several groups share a batch: who sends is not said; give each its count"
            group.check_all_send(expected, f"group[{place}].", at_random=True)

    def _check_datasets(self) -> None:
        datasets = self.adjacency.datasets
        assert datasets is not None
        for name, value, usual in (
            ("periods", self.periods, 1),
            ("reports", self.reports, 1),
            ("memoised", self.memoised, False),
            ("later_periods", self.later_periods, ()),
        ):
            if value != usual:
                raise InputError(name, value, f"{usual} with two given datasets")
        group, *others = self.groups
        if others or not group.everybody:
            raise InputError(
                "datasets", self.adjacency.shown("datasets"), "one group of users who all send and do not collude"
            )
        if group.count not in (None, len(datasets[0])):
            raise InputError("count", group.count, f"{len(datasets[0])}, the number of users of the datasets")

    @property
    def users(self) -> tuple[Group, ...]:
        """The groups that are not dummies."""
        return tuple(filterfalse(attrgetter("dummies"), self.groups))

    @property
    def batches(self) -> int:
        """Number of batches of messages that are composed: those of all periods, of one where reports are memoised."""
        found = self.reports * (1 if self.memoised else self.periods)
        for one in self.later_periods:
            found += one.batches
        return found

    @property
    def kinds(self) -> tuple[Deployment, ...]:
        """The periods by their kind: this deployment without its later periods, and each of these."""
        return (replace(self, later_periods=()), *self.later_periods) if self.later_periods else (self,)

    def effects(self, *, enumerated: bool = False) -> list[tuple[str, str]]:
        """Return the fields that are set, as text with their values, each with what it does to an answer.

        - ``enumerated``: whether the answer is an enumeration of all histograms, and no bound.
        """
        from symshuffle.accountants.deployment.reduced import Reducible

        found: dict[str, str] = {}
        one_blanket = not isinstance(self.groups[0].randomizer, Reducible)
        kinds = ["enumerated"] * enumerated + ["memoised"] * self.memoised + ["one_blanket"] * one_blanket + ["effect"]
        places: list[tuple[str, Any]] = [("", self), ("", self.adjacency)]
        for i, group in enumerate(self.groups):
            places.append((f"group[{i}]." if len(self.groups) > 1 and len(self.users) > 1 else "", group))
        for place, holder in places:
            for one in fields(holder):
                value = getattr(holder, one.name)
                if "effect" in one.metadata and value != one.default:
                    shown = holder.shown(one.name) if isinstance(holder, Adjacency) else str(value)
                    words = next(one.metadata[kind] for kind in kinds if kind in one.metadata)
                    found[f"{place}{one.metadata.get('keyword', one.name)} = {shown}"] = words
        return list(found.items())

    def with_(self, **changes: Any) -> Deployment:
        """Return a copy with some fields changed, by the keywords of a question (``n`` is the count of the one group).

        Raises
        ------
        InputError
            If a field of a group is named and there are several groups, or a value is out of its range.
        """
        given: dict[type | None, dict[str, Any]] = {Group: {}, Adjacency: {}, Deployment: {}, None: {}}
        for name, value in changes.items():
            if value is not None:
                given[OWNERS.get(name)][name] = value
        of_group, near, own, unknown = given.values()
        if unknown:
            name = min(unknown)
            raise InputError(name, unknown[name], f"a field: {', '.join(OWNERS)}")
        for name, value in own.items() if self.later_periods else ():
            if any(getattr(one, name) != value for one in self.kinds):
                raise InputError(name, value, "none with periods of several kinds: each has its own")
        if isinstance(near.get("adjacency"), Adjacency):
            own["adjacency"] = replace(near.pop("adjacency"), **near)
        elif near:
            relation = near.pop("adjacency", self.adjacency.relation)
            own["adjacency"] = replace(self.adjacency, relation=relation, **near)
        if of_group:
            own |= self._changed_groups(of_group)
        if "adjacency" in own and self.later_periods:
            later = own.get("later_periods", self.later_periods)
            own["later_periods"] = tuple(replace(one, adjacency=own["adjacency"]) for one in later)
        return replace(self, **own) if own else self

    def _changed_groups(self, of_group: dict[str, Any]) -> dict[str, Any]:
        """The groups, and the later periods where there are some, with other fields of the one group of users."""
        if len(self.users) != 1:
            name = next(iter(of_group))
            raise InputError(name, of_group[name], "none: every group has its own")
        if self.later_periods:
            first, *later = self._changed_kinds(of_group)
            return {"groups": first.groups, "later_periods": tuple(later)}
        if "n" in of_group:
            of_group["count"] = check_n(of_group.pop("n"))
        return {"groups": tuple(g if g.dummies else replace(g, **of_group) for g in self.groups)}

    def _changed_kinds(self, of_group: Mapping[str, Any]) -> list[Deployment]:
        """The periods with other fields of their groups; a number of users is for those that have none."""
        kinds = self.kinds
        counted_already = [len(one.users) > 1 or one.users[0].count is not None for one in kinds]
        if "n" in of_group and all(counted_already):
            raise InputError("n", of_group["n"], "none: every period has its own number of users")
        without = {name: value for name, value in of_group.items() if name != "n"}
        return [
            one.with_(**(without if known else of_group)) for one, known in zip(kinds, counted_already, strict=True)
        ]

    def with_randomizers(self, made: Callable[[Any], Any]) -> Deployment:
        """Return the same deployment, each randomizer replaced by what a function makes of it; dummies are kept."""
        groups = tuple(g if g.dummies else replace(g, randomizer=made(g.randomizer)) for g in self.groups)
        later = tuple(one.with_randomizers(made) for one in self.later_periods)
        return replace(self, groups=groups, later_periods=later)

    @classmethod
    def read(cls, file: PathLike[str] | str) -> Deployment:
        """Return the deployment that a TOML or JSON file describes.

        Raises
        ------
        InputError
            If the file cannot be read, a key is unknown or a value out of its range.
        """
        found: Deployment = importlib.import_module(FILES).read_deployment_file(file, "file").deployment
        return found

    def to_toml(self) -> str:
        """Return the text of a TOML file that :meth:`read` reads back to a deployment with the same answers.

        Raises
        ------
        InputError
            If a randomizer has no name, as a symbolic mechanism of one's own, or its matrix was rounded.
        """
        text: str = importlib.import_module(_TABLES).deployment_text(self)
        return text

    def save(self, file: PathLike[str] | str) -> None:
        """Write :meth:`to_toml` to a file, whole or not at all; an earlier deployment is replaced.

        Raises
        ------
        InputError
            As :meth:`to_toml`, and if the file cannot be written.
        """
        write_atomically(path := Path(file), self.to_toml(), alike=_is_deployment(path))

    def __repr__(self) -> str:
        groups = " and ".join(_group_in_words(group) for group in self.groups)
        numbers = ((self.reports, "report"), (self.periods, "period"))
        more = [counted(value, word) for value, word in numbers if value > 1]
        more += ["memoised"] if self.memoised else []
        more += [f"threshold {self.threshold}"] if self.threshold is not None else []
        more += self.adjacency.words
        more += [f"then {one!r}" for one in self.later_periods]
        return f"<deployment of {', '.join([groups, *more])}>"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<code>{escape(repr(self))}</code>"


def fields_set(deployment: Deployment) -> dict[str, Any]:
    """Return the fields of :func:`field_values` that differ from their default."""
    usual = field_values(UNSAID)
    return {name: value for name, value in field_values(deployment).items() if value != usual[name]}


def fields_that_change(deployment: Deployment) -> dict[str, Any]:
    """Return the fields of :func:`fields_set` whose value asks for something else than the default does.

    A dropout of 0 and the adjacency replace-one are what holds where nothing is said.
    """
    return {name: value for name, value in fields_set(deployment).items() if value not in (0, "replace-one")}


def field_values(deployment: Deployment) -> dict[str, Any]:
    """Return the value of every field of a deployment of one group, by the keywords of :func:`symshuffle.delta`.

    The randomizer and the later periods are left out.
    """
    holders: dict[type, Any] = {Group: deployment.users[0], Adjacency: deployment.adjacency, Deployment: deployment}
    return {name: getattr(holders[owner], FIELD_NAMES.get(name, name)) for name, owner in OWNERS.items()}


def _is_deployment(path: Path) -> bool:
    """Whether a file describes a deployment, whatever its first key."""
    with suppress(InputError):
        return path.is_file() and bool(Deployment.read(path))
    return False


def _group_in_words(group: Group) -> str:
    many = "n" if group.count is None else f"{group.count:,}"
    if group.dummies:
        return f"{many} dummies"
    what = getattr(group.randomizer, "name", None)
    if isinstance(group.randomizer, Channel):
        what = f"a channel of {group.randomizer.num_inputs} inputs"
    said = f"{many} user{'' if group.count == 1 else 's'} with {what or type(group.randomizer).__name__}"
    shown = (f"{name} {value}" for name, value in group.to_dict().items() if name != "count")
    return " ".join([said, *(f"({one})" for one in shown)])


def _read_periods(given: object) -> tuple[Deployment, ...]:
    later = (given,) if isinstance(given, Deployment) else given
    if not isinstance(later, Sequence) or not all(isinstance(one, Deployment) for one in later):
        raise InputError("later_periods", later, "a list of deployments")
    return tuple(later)


def _read_groups(given: object) -> tuple[Group, ...]:
    if isinstance(given, Group):
        return (given,)
    groups: tuple[Any, ...] = tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else ()
    if Group not in map(type, groups):
        return (Group(given),)
    for place, one in enumerate(groups):
        if not isinstance(one, Group):
            raise InputError(f"group[{place}]", type(one).__name__, "a group, as Group(randomizer, 100)")
    if len(groups) > _MOST_GROUPS:
        raise InputError("groups", len(groups), f"at most {_MOST_GROUPS} groups")
    if all(map(attrgetter("dummies"), groups)):
        raise InputError("groups", "dummies alone", "at least one group of users")
    return groups


FIELD_NAMES: Final = {"n": "count", "adjacency": "relation"}
"""Keywords of questions that are the field of another name."""

OWNERS: Final[dict[str, type]] = {}
"""Keywords of questions that are fields of a deployment, and the class of each."""

NEAREST: Final[dict[str, str]] = {}
"""What is expected of fields that change more than the number of messages where one number of users is asked about."""

for _owner in (Group, Adjacency, Deployment):
    for _field in fields(_owner):
        if _field.metadata:
            _keyword = _field.metadata.get("keyword", _field.name)
            OWNERS[_keyword] = _owner
            if "nearest" in _field.metadata:
                NEAREST[_keyword] = _field.metadata["nearest"]

FILES: Final = "symshuffle.configuration.files"
_TABLES: Final = "symshuffle.configuration.tables"
"""Modules that read and write files, above all others that describe deployments: loaded where a file is named."""

KEYWORDS: Final = tuple(OWNERS)


def named_fields(key: str, question: str) -> tuple[str, ...]:
    """Return the keywords of the fields that a question does not take, or reads although they change a batch.

    - ``key``: ``absent`` or ``read``; ``question``: its name in the metadata of fields.
    """
    said: dict[tuple[type, str], Any] = {
        (owner, one.name): one.metadata for owner in (Group, Adjacency, Deployment) for one in fields(owner)
    }
    at = ((name, said[owner, FIELD_NAMES.get(name, name)]) for name, owner in OWNERS.items())
    return tuple(name for name, metadata in at if question in metadata.get(key, ()))


UNSAID: Final = Deployment((Group(),))
"""One group of users of whom nothing is said but that they all send; its randomizer and their number are left open."""
