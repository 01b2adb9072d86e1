"""What the reader of a deployment sees: batches of shuffled messages, each by its laws, and how often each is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, final

from symshuffle.accountants.deployment.adjacency import check_one_user
from symshuffle.accountants.deployment.assumptions import Assumption
from symshuffle.accountants.deployment.group import check_n
from symshuffle.accountants.deployment.model import Deployment
from symshuffle.accountants.deployment.neighbours import Neighbours
from symshuffle.accountants.deployment.reduced import Reduction
from symshuffle.accountants.deployment.reduction import reduction_of
from symshuffle.accountants.deployment.subjects import Subject, read_deployment
from symshuffle.base.choices import Question
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import counted


@final
@dataclass(frozen=True, slots=True)
class Experiment:
    """All batches of a deployment, in any order: no bound depends on it.

    - ``parts``: the laws of each kind of batch, with the number of its users and how many are alike.
    - ``deployment``: what they are the batches of; None where laws were derived before.
    """

    parts: tuple[Reduction, ...]
    deployment: Deployment | None = None

    @property
    def times(self) -> int:
        """Number of batches."""
        return sum(map(attrgetter("times"), self.parts))

    @property
    def several(self) -> bool:
        """Whether there is more than one batch."""
        return len(self.parts) > 1 or self.parts[0].times > 1

    @property
    def coarse(self) -> bool:
        """Whether every value is made of many, so that few are looked at."""
        return self.several or any(part.cases for part in self.parts)

    def with_users(self, n: object) -> Experiment:
        """Return the same batches, each of n users where its number is open."""
        given = check_n(n)
        parts = tuple(part if part.n is not None else replace(part, n=given) for part in self.parts)
        return replace(self, parts=parts)

    def check_users(self) -> None:
        """Refuse a batch whose number of users is open, and fields that do not go with the number."""
        for part in self.parts:
            part.check(part.users)

    def check_open(self) -> None:
        """Refuse a number of users where one, the same in all batches, is asked for."""
        for part in self.parts:
            if part.n is not None:
                raise InputError("n", part.n, "none: the number of users is asked for, the same in all periods")

    def neighbours(self, question: Question) -> Neighbours:
        """Return what a bound on all batches together covers."""
        found = [(part.times, part.neighbours(question, part.n)) for part in self.parts]
        return Neighbours.joined(found) if self.several else found[0][1]

    def width(self, rtol: float | None, one: float, several: float) -> float:
        """Relative width to aim at: what is asked for, or the usual one, of one batch and of several."""
        if rtol is not None:
            return rtol
        return several if self.several else self.parts[0].width(one)


def experiment(subject: Subject, fields: Mapping[str, Any]) -> Experiment:
    """Return what the reader of a deployment sees; an experiment is returned as it is, and takes no fields but n."""
    if isinstance(subject, Experiment):
        given = {name: value for name, value in fields.items() if value is not None}
        for name in given.keys() - {"n"}:
            raise InputError(name, given[name], "none: the laws were derived already")
        if not given:
            return subject
        asked = None if subject.deployment is None else subject.deployment.with_(n=given["n"])
        return replace(subject.with_users(given["n"]), deployment=asked)
    return experiment_of(read_deployment(subject, fields))


def experiment_of(deployment: Deployment) -> Experiment:
    """Return the batches of a deployment that was read already."""
    if deployment.adjacency.datasets is not None:
        raise Unsupported("two given datasets: ask for delta, epsilon or total_variation, which enumerate them")
    parts = []
    for one in deployment.kinds:
        counts = list(map(attrgetter("count"), one.users))
        n = None if None in counts else sum(counts)
        if len(counts) > 1 and n is not None:
            n = check_n(n)
        parts.append(replace(single_batch(one), n=n, times=one.batches))
    found = Experiment(tuple(parts), deployment)
    if found.several:
        later = ", without later periods" if deployment.later_periods else ""
        batch = f"reports = 1 and periods = 1{later}"
        check_one_user(deployment.adjacency.group_size, f"1 with several batches of messages; or ask for {batch}")
    return found


def single_batch(deployment: Deployment) -> Reduction:
    """Return the laws of one batch, with what the fields about all batches assume and say."""
    reduced = reduction_of(deployment)
    assumed, notes = list(reduced.assumed), list(reduced.notes)
    if deployment.reports > 1:
        sent = counted(deployment.reports, "report")
        assumed.append((Assumption.SAME_NUMBER, f"{sent} of every user in a period, in one batch"))
        notes.append(
            f"all {sent} of every user in a period are one batch, a function of {deployment.reports} separate batches, "
            "whose composition bounds it (claim symshuffle.reports)"
        )
    if deployment.memoised and deployment.periods > 1:
        periods = counted(deployment.periods, "period")
        assumed.append((Assumption.MEMOISED, f"sent in each of {periods}"))
        notes.append(
            f"all {periods} are a function of the first, whose messages are sent again (claim "
            "symshuffle.memoised-reports)"
        )
    classes = reduced.classes
    if deployment.reports > 1 or deployment.threshold is not None:  # a reader sees less than separate, full batches
        classes = tuple(replace(one, datasets=tuple) for one in classes)
    if deployment.threshold is not None:
        notes += published(deployment)
    return replace(
        reduced, classes=classes, assumed=tuple(assumed), notes=tuple(notes), num_messages=deployment.reports
    )


def published(deployment: Deployment) -> tuple[str, ...]:
    """Return what is to be said about counts that are not published, a clause at most."""
    if deployment.threshold is None:
        return ()
    said = f"counts below {deployment.threshold} are not published, which is post-processing"
    return (f"{said}: the bound does not use it (claim symshuffle.threshold)",)
