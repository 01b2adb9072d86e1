"""Audit without a claimed channel: an event is learned on every second run, and tested on the others.

A run is a message, or several with commas between them. Its score is the sum over its messages, or the value at one
place, of the logarithm of how much more often a message occurs in one sample than in the other; the event is that the
score is at least a threshold. Weights, place and threshold come from the runs that are held out for them alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, final

import numpy as np

from symshuffle.accountants.deployment.subjects import Subject, with_fields
from symshuffle.base.errors import InputError, Progress, check_list
from symshuffle.base.numbers import Real, as_header, as_integer, enclose, natural_log, upper_end
from symshuffle.collect.audit.claims import claimed_level
from symshuffle.collect.audit.runs import (
    MOST_MESSAGES,
    Program,
    Run,
    answers,
    as_run,
    check_names,
    check_spellings,
    check_widths,
    hint,
    line,
    read_row,
)
from symshuffle.collect.audit.shares import CAUGHT, Power, about_runs, check_runs
from symshuffle.collect.audit.verdicts import Audit, Event
from symshuffle.collect.estimate import read_confidence

_NAMES: Final = ("the first sample", "the second sample")


@final
@dataclass(frozen=True, slots=True)
class _Learned:
    """Event learned from runs.

    - ``threshold``: runs with at least this score are in the event.
    - ``place``: index of the only message that is scored; None if all are.
    """

    weights: dict[str, float]
    threshold: float
    swapped: bool
    place: int | None = None

    def hits(self, runs: Sequence[Run]) -> int:
        """Runs in the event."""
        return sum(self.score(run) >= self.threshold for run in runs)

    def score(self, run: Run) -> float:
        """Score of a run."""
        scored = run if self.place is None else run[self.place : self.place + 1]
        return math.fsum(self.weights.get(message, 0.0) for message in scored)

    @property
    def words(self) -> str:
        """The event in words."""
        scored = "score" if self.place is None else f"score of the message at place {self.place + 1}"
        return f"{scored} of at least {self.threshold:.6g}, learned on the other half"


def _learn(first: Sequence[Run], second: Sequence[Run], ratio: float | None, delta: float, level: float) -> _Learned:
    """Event with the best bound on these runs, in either direction: on exp(eps), or the excess over a claim of it."""
    widths = {len(run) for run in (*first, *second)}
    width = max(widths) if len(widths) == 1 else 1
    forms: list[int | None] = [None, *(range(width) if width > 1 else ())]
    found = (
        _learn_one(*some, ratio, delta, level, swapped=swapped, place=place)
        for place in forms  # None first: max takes the first of equal bounds
        for swapped, some in ((False, (first, second)), (True, (second, first)))
    )
    return max(found, key=lambda pair: pair[0])[1]


def _learn_one(
    runs: Sequence[Run],
    others: Sequence[Run],
    ratio: float | None,
    delta: float,
    level: float,
    *,
    swapped: bool,
    place: int | None,
) -> tuple[float, _Learned]:
    """Return the largest bound and its event, scored on all messages or, if ``place`` is given, on the one there."""
    from scipy.special import betaincinv

    scored = slice(None) if place is None else slice(place, place + 1)
    counts = [Counter(message for run in some for message in run[scored]) for some in (runs, others)]
    sizes = [sum(count.values()) + len(counts[0] | counts[1]) / 2 for count in counts]
    weights = {
        message: math.log((counts[0][message] + 0.5) / sizes[0]) - math.log((counts[1][message] + 0.5) / sizes[1])
        for message in counts[0] | counts[1]
    }
    made = _Learned(weights, 0.0, swapped, place)
    scores = [np.sort([made.score(run) for run in some]) for some in (runs, others)]
    thresholds = np.unique(scores[0])
    c, d = (len(some) - np.searchsorted(some, thresholds, side="left") for some in scores)
    low = betaincinv(c, len(runs) - c + 1, level)
    up = np.where(d < len(others), betaincinv(d + 1, np.maximum(len(others) - d, 1), 1 - level), 1.0)
    value = (low - delta) / up if ratio is None else low - ratio * up
    i = int(np.argmax(value))
    return float(value[i]), replace(made, threshold=float(thresholds[i]))


@final
@dataclass(frozen=True)
class PairAudit:
    """Audit of two inputs or neighbouring datasets, of which (eps, delta) is claimed.

    Parameters
    ----------
    first, second : object
        What a program is given: an input, or a tuple of inputs for a dataset.
    target : Fraction or Exp or None
        exp(eps) of the claim; None if nothing is claimed.
    delta : Fraction
        delta of the claim.
    runs : int
        Runs of each of the two; one half is held out.
    confidence : Fraction
        A program that keeps the claim is accused with probability at most one minus this.
    """

    first: Any
    second: Any
    target: Real | None
    delta: Fraction
    runs: int
    confidence: Fraction

    @property
    def level(self) -> Fraction:
        """Error of each of the two ends."""
        return (1 - self.confidence) / 2

    @cached_property
    def ratio(self) -> Fraction:
        """exp(eps) of the claim, or a rational above; 1 if nothing is claimed."""
        if self.target is None:
            return Fraction(1)
        return self.target if isinstance(self.target, Fraction) else upper_end(enclose(self.target, 128))

    @property
    def price(self) -> str:
        """What will be run and tested."""
        least = f"; nothing refutes with fewer than {2 * self.least} of each" if self.target is not None else ""
        return (
            f"{2 * self.runs} runs, {self.runs} of each of {_written(self.first)} and {_written(self.second)}: an "
            f"event is learned on one half and tested on the other{least}"
        )

    @cached_property
    def least(self) -> int:
        """The least number of tested runs of each."""
        return check_runs(self.runs // 2, self.ratio, self.delta, self.level)

    def run(self, program: Callable[[Any], Any] | Program, *, progress: Progress | None = None) -> Audit:
        """What a program is found to be.

        - ``program``: as of ``LocalAudit.run`` for inputs, and of ``ShuffledAudit.run`` for datasets.
        - ``progress``: called with the numbers of runs done and of all.
        """
        inputs = (self.first, self.second) * self.runs
        seen = [as_run(reply) for reply in answers(program, inputs, progress)]
        return self.judge(seen[::2], seen[1::2], hint=hint(inputs, seen, program))

    def judge(self, first: Sequence[Run], second: Sequence[Run], *, hint: str = "") -> Audit:
        """What follows from runs, each a tuple of messages; every second one, from the first on, is held out."""
        for name, some in (("first", first), ("second", second)):
            check_list(some, name, "a list of tuples of messages, one for each run", tuple)
            if len(some) < 2:
                raise InputError(name, f"{len(some)} runs", "at least 2 runs, because half of them are held out")
        ratio, delta, claimed = float(self.ratio), float(self.delta), self.target is not None
        event = _learn(first[::2], second[::2], ratio if claimed else None, delta, float(self.level))
        tested = [first[1::2], second[1::2]]
        names = [_written(self.first), _written(self.second)]
        if event.swapped:
            tested, names = tested[::-1], names[::-1]
        hits, sizes = (event.hits(tested[0]), event.hits(tested[1])), (len(tested[0]), len(tested[1]))
        found = Event(event.words, names[0], names[1], self.ratio, self.delta).counted(hits, sizes, self.level)
        runs = f"{min(map(len, tested))} runs of each"
        p0 = max(found.hits[0], 1) / found.runs[0]
        caught = Power(ratio, delta, float(self.level)).caught(min(found.runs), p0)
        half = Power(math.exp(natural_log(self.ratio) / 2), delta, float(self.level))
        fewest = half.runs(p0, found.hits[1] / found.runs[1])
        beside = (f"a claim of half of eps would be refuted by {about_runs(fewest)} of each, if the event is as often",)
        return Audit(
            claim=f"{found.claimed} of {names[0]} and {names[1]}" if claimed else "nothing",
            runs=runs,
            confidence=self.confidence,
            findings=(found,),
            caught=(
                f"no leak of this event with probability {CAUGHT}"
                if caught is None
                else f"eps >= {math.log(caught) + 5e-6:.5f} of an event that is as often with probability {CAUGHT}"
            ),
            beside=beside if claimed else (),
            hint=hint,
            claimed=claimed,
        )


def _users(given: Any, argument: str) -> tuple[Any, ...]:
    """The inputs of the users of a dataset, or an input as that of one user."""
    users = given if isinstance(given, tuple) else (given,)
    plain = (isinstance(x, str) or (isinstance(x, Hashable) and not hasattr(x, "__iter__")) for x in users)
    if not users or not all(plain):
        raise InputError(argument, given, "an input (a text or a number), or a tuple with the input of each user")
    return users


def _written(given: Any) -> str:
    if given in _NAMES:
        return str(given)
    text = line(given)
    kind = "dataset" if isinstance(given, tuple) else "input"
    return f"{kind} {text if len(text) <= 40 else text[:37] + '...'}"


@with_fields
def audit_pair(
    first: Any,
    second: Any,
    *,
    runs: object,
    eps: object = None,
    exp_eps: object = None,
    delta: object = None,
    confidence: object = "0.99",
    claim: Subject = None,
    **fields: Any,
) -> PairAudit:
    """Audit of two inputs or neighbouring datasets, of which (eps, delta) is claimed.

    Parameters
    ----------
    first, second : object
        Two inputs; or two datasets, as tuples of inputs of which exactly one differs.
    runs : int
        Runs of each of the two: an event is learned on one half of them and tested on the other half.
    eps, exp_eps : number, text or Exp
        The claimed eps in nats, or its exponential; one of the two.
    delta : number or text, optional
        delta of the claim, in [0, 1); default 0, or the certified one of ``claim`` at eps.
    claim : Deployment, Group, randomizer or path, optional
        A deployment; its certified delta at eps, or its certified eps at delta, is the claim.
    the fields of a deployment
        Of ``claim``, as in :func:`symshuffle.delta`.
    confidence : number or text
        In (0, 1): a program that keeps the claim is accused with probability at most one minus this.

    Returns
    -------
    PairAudit
        With ``price``, ``least``, ``run`` and ``judge``.

    Raises
    ------
    InputError
        If the datasets are no neighbours, there are fewer runs than any outcome needs to refute the claim, or an
        argument is out of its range.

    Examples
    --------
    >>> audit = audit_pair("a", "b", runs=200, eps=1)
    >>> audit.run(lambda x: x).outcome
    'refuted'
    """
    users = [_users(given, name) for name, given in (("first", first), ("second", second))]
    if not isinstance(first, tuple) and first == second:
        raise InputError("second", second, f"another input than {first}")
    if len(users[0]) != len(users[1]) or isinstance(first, tuple) is not isinstance(second, tuple):
        raise InputError("datasets", f"{len(users[0])} and {len(users[1])} users", "two datasets of the same size")
    if (differ := sum(a != b for a, b in zip(*users, strict=True))) != 1:
        raise InputError("datasets", f"{differ} users differ", "neighbours, which differ in the input of one user")
    target, excess = claimed_level(claim, fields, eps=eps, exp_eps=exp_eps, delta=delta)
    if target is None:
        raise InputError("eps", None, "the level that is claimed, or a claim with delta")
    number = as_integer(runs, "runs", 2, MOST_MESSAGES // (2 * len(as_run(first))))
    found = PairAudit(first, second, target, excess, number, read_confidence(confidence))
    _ = found.least
    return found


@with_fields
def audit_samples(
    first: Sequence[Any],
    second: Sequence[Any],
    *,
    eps: object = None,
    exp_eps: object = None,
    delta: object = None,
    confidence: object = "0.99",
    disjoint: bool = False,
    header: bool | None = None,
    claim: Subject = None,
    **fields: Any,
) -> Audit:
    """What two samples show, one of each of two inputs or neighbouring datasets.

    Every second row, from the first on, is used to learn an event, which the other rows test. Rows are taken as
    independent.

    Parameters
    ----------
    first, second : sequence
        A row for each run: a message, a sequence of messages, or a row of a CSV file. Numbers are compared by value.
    eps, exp_eps : number, text or Exp, optional
        The claim, or its exponential; without one nothing is refuted, and eps is bounded from below.
    delta : number or text, optional
        delta of the claim, in [0, 1); default 0, or the certified one of ``claim`` at eps.
    claim : Deployment, Group, randomizer or path, optional
        As in :func:`audit_pair`.
    the fields of a deployment
        Of ``claim``, as in :func:`symshuffle.delta`.
    confidence : number or text
        In (0, 1): each statement is wrong with probability at most one minus this.
    disjoint : bool
        Whether samples are taken as they are although they have no message in common, or a message occurs in each of
        them in a spelling that the other does not have (yes and Yes): each names its sample, or the two are written in
        different ways. So are runs of different numbers of messages, and empty messages beside others.
    header : bool, optional
        Whether the first row of each sample has names of columns, and is no run. By default there are no names, and a
        first row of names that do not occur in other rows is refused.

    Returns
    -------
    Audit
        With ``outcome``, ``about`` and the counts of the event.

    Raises
    ------
    InputError
        If there are fewer rows than any outcome needs to refute the claim, the samples have no message in common or
        write it differently, runs have different numbers of messages or an empty one beside others, a first row may be
        a line of names, or an argument is out of its range.

    Examples
    --------
    >>> audit_samples([0] * 600 + [1] * 200, [1] * 800, confidence="0.95").about
    'eps >= 4.34056 at delta = 0 at confidence 0.95, by 400 runs of each; nothing is claimed'
    """
    header = as_header(header)
    samples = []
    for name, rows in (("first", first), ("second", second)):
        check_list(rows, name, "a list of rows, one for each run")
        runs = [read_row(row, f"{name}[{i}]") for i, row in enumerate(rows)]
        if len(runs) - bool(header) < 2:
            raise InputError(name, f"{len(runs)} rows", "at least 2 runs, because half of them are held out")
        samples.append(runs[1:] if header else runs)
    if header is None:
        check_names(first, second, *samples)
    target, excess = claimed_level(claim, fields, eps=eps, exp_eps=exp_eps, delta=delta)
    found = PairAudit(*_NAMES, target, excess, min(map(len, samples)), read_confidence(confidence))
    if target is not None:
        try:
            _ = found.least
        except InputError as error:
            raise InputError(
                "first, second", f"{found.runs // 2} runs in the half that is tested", error.expected
            ) from None
    if not disjoint:
        check_widths(first, second, *samples, skipped=int(bool(header)))
        check_spellings(*samples)
    return found.judge(*samples)
