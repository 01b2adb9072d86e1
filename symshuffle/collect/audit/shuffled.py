"""Audit of a pipeline that randomizes and shuffles: likelihood-ratio events of attained datasets, and order.

The user who differs comes first in both datasets. The event on all messages tests the local randomizer; its level
eps' has the greatest power against clients with squared probabilities, of k-ary response and its like those at twice
the level. Events on the first b messages test the shuffler: their levels have the greatest power against one that
shuffles blocks of at most b users and keeps the blocks in order. One event at each place tests whether the message of
the user who differs stands there; its level has the greatest power against a shuffler that always puts it there. At
each level the claim is the certified delta(eps') of n users. Cells are the messages at each place of the output.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, final

import numpy as np

from symshuffle.accountants.deployment.model import UNSAID, Deployment
from symshuffle.accountants.deployment.subjects import smallest_batch, with_fields
from symshuffle.accountants.questions.solve import delta
from symshuffle.base.errors import InputError, Progress, Unsupported
from symshuffle.base.numbers import as_integer, natural_log, upper_end
from symshuffle.base.results import Bracket
from symshuffle.channels.channel import Channel
from symshuffle.collect.audit.attained import ConstantDatasets, blocks, candidates, occurs, sharpened
from symshuffle.collect.audit.claims import Claim, claim, claim_subject
from symshuffle.collect.audit.runs import MOST_MESSAGES, Program, answers, as_run, hint
from symshuffle.collect.audit.shares import CAUGHT, MOST_RUNS, Power, about_runs, check_runs, least_runs, level_words
from symshuffle.collect.audit.verdicts import Audit, Event, cells_outside
from symshuffle.collect.estimate import read_confidence
from symshuffle.collect.plan import SurveyPlan
from symshuffle.collect.scheme import Integers, Scheme, random_order, uniform

_MOST_USERS: Final = 100_000
"""Users in a run beyond which nothing is run."""

ORDERS: Final = ("random", "sorted")
"""Orders in which a pipeline may write its messages."""

_SHARE_OF_PLACES: Final = Fraction(1, 4)
"""Share of the error of events that those at single places have; the events of many messages lose little power."""


@final
@dataclass(frozen=True, eq=False)
class _Test:
    """Event on the first messages of an output, and the certified point of the profile that it tests."""

    datasets: ConstantDatasets
    block: int
    ratio: Fraction
    certified: Bracket
    shares: tuple[float, float]
    level: Fraction

    def power(self, part: Fraction = Fraction(1)) -> Power:
        """Forecast of the test of a part of the certified delta."""
        return Power(float(self.ratio), float(part * self.certified.upper), float(self.level))

    def is_caught(self, runs: int) -> bool:
        """Whether so many runs catch what the level was chosen against."""
        return self.power().at(runs, *self.shares) >= CAUGHT


@final
@dataclass(frozen=True, eq=False)
class ShuffledAudit:
    """Audit of a pipeline, with its events fixed: nothing has run yet.

    Parameters
    ----------
    claim : Claim
        The claimed channel of every user.
    n : int
        Number of users.
    runs : int
        Runs of each of the two datasets.
    confidence : Fraction
        An honest pipeline is accused of anything with probability at most one minus this.
    order : {"random", "sorted"}
        Order in which the pipeline writes messages. Sorted ones are put in a random order here.
    about : str
        Of which deployment these are the users, in words.
    """

    claim: Claim
    n: int
    runs: int
    confidence: Fraction
    order: str = "random"
    about: str = ""

    @cached_property
    def _rows(self) -> Any:
        return self.claim.doubles(self.claim.channel)

    @cached_property
    def _profile(self) -> tuple[tuple[Fraction, Bracket], ...]:
        """Certified points from eps = 0 to the local level, where delta is 0."""
        cap = upper_end(self.claim.cap)
        levels, negligible = 16, Fraction(1, 10**4)  # delta times the runs that no test can tell from less
        ratios = [Fraction(math.exp(natural_log(cap) * i / levels)) for i in range(levels)]
        source = self.claim.channel if self.claim.source is None else self.claim.source
        known = source.mechanism() if isinstance(source, Scheme) else source
        points: list[tuple[Fraction, Bracket]] = []
        for x in ratios:
            least = points[-1][1] if points else None
            if least is not None and least.upper * self.runs < negligible:  # delta falls: it is no more here
                points.append((x, replace(least, lower=Fraction(0))))
                continue
            points.append((x, delta(known, n=self.n, exp_eps=x, arithmetic="ball").bracket))
        return (*points, (cap, delta(known, n=self.n, exp_eps=cap, arithmetic="ball").bracket))

    @property
    def _blocks(self) -> tuple[int, ...]:
        return blocks(self.n) if self.order == "random" else (self.n,)

    @property
    def level(self) -> Fraction:
        """Error of each end of each event on first messages: their share of a quarter of the error, over the events."""
        share = 1 - _SHARE_OF_PLACES if self._has_places else 1
        return share * (1 - self.confidence) / (4 * len(self._blocks))

    @property
    def place_level(self) -> Fraction:
        """Error of each end of the event at each place: the rest of a quarter of the error, over the places."""
        return _SHARE_OF_PLACES * (1 - self.confidence) / (4 * self.n)

    @property
    def cell_level(self) -> Fraction:
        """Error of each end of each claimed probability: a quarter of the error, over datasets, places and messages."""
        return (1 - self.confidence) / (8 * self.n * self.claim.channel.num_outputs)

    @property
    def _has_places(self) -> bool:
        """Whether places are tested: in an order that is drawn here they say nothing."""
        return self.order == "random" and self.n > 1

    @cached_property
    def place_test(self) -> _Test | None:
        """Event on the message at one place, and the level with the greatest power if the differing user's is there."""
        if not self._has_places:
            return None
        return self._best([self.best_tests[0].datasets], 1, self._rows, self.place_level)

    @cached_property
    def best_tests(self) -> tuple[_Test, ...]:
        """One for each number of first messages: of all datasets and levels the one with the greatest power."""
        known = list(candidates(self._rows, self.n))
        if not known:
            raise Unsupported(f"n = {self.n} users of this channel have too many histograms for an exact event")
        first = self._best(known, self.n, sharpened(self._rows), self.level)
        return (first, *(self._best([first.datasets], block, self._rows, self.level) for block in self._blocks[1:]))

    def _best(self, known: Iterable[ConstantDatasets], block: int, rows: Any, level: Fraction) -> _Test:
        """The most powerful test on a block of first messages, against clients with these rows."""
        found: list[tuple[tuple[float, float], _Test]] = []
        for made in known:
            shares = made.shares(block, rows[[made.a, made.b, made.c]])
            for ratio, certified in self._profile:
                p0, p1 = shares(float(ratio))
                test = _Test(made, block, ratio, certified, (p0, p1), level)
                power = test.power().at(self.runs, p0, p1)
                # Powers that are equal in two digits, near 0 or 1, are ranked by the distance in standard deviations.
                spread = math.sqrt(p0 * (1 - p0) + float(ratio) ** 2 * p1 * (1 - p1))
                key = (round(power, 2), (p0 - float(ratio) * p1 - float(certified.upper)) / max(spread, 1e-9))
                found.append((key, test))
        return max(found, key=lambda pair: pair[0])[1]

    @property
    def datasets(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The two datasets, in the words of the claim."""
        made, words = self.best_tests[0].datasets, self.claim.inputs
        others = (words[made.c],) * (self.n - 1)
        return (words[made.a], *others), (words[made.b], *others)

    def _named(self, which: int) -> str:
        data = self.datasets[which]
        return f"X{which} = ({data[0]}; {data[1]} x {self.n - 1})" if self.n > 1 else f"X{which} = ({data[0]})"

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Events on first messages, each with the point of the profile that it tests; ``place_test`` is beside."""
        made = []
        for test in self.best_tests:
            which = "all messages" if test.block == self.n else f"the first {test.block} messages"
            words = f"likelihood ratio of {which} above exp({natural_log(test.ratio):.6g})"
            made.append(Event(words, "X0", "X1", test.ratio, test.certified.upper, test.shares))
        return tuple(made)

    @property
    def price(self) -> str:
        """What will be run and tested."""
        cells = 2 * self.n * self.claim.channel.num_outputs
        return (
            f"{2 * self.runs} runs of {self.n} users, {self.runs} of each of {self._named(0)} and {self._named(1)}; "
            f"{len(self.events)} events{f', one more at each of {self.n} places,' * self._has_places} "
            f"and {cells} claimed probabilities"
        )

    def power(self, channel: Channel, *, block: int | None = None) -> float:
        """Probability that privacy is refuted, by the best event alone (in doubles), if every user runs this channel.

        - ``block``: size of the blocks that are shuffled and then kept in order; all users by default.
        """
        rows, found = self.claim.doubles(channel), []
        size = self.n if block is None else as_integer(block, "block", 1, self.n)
        for test in self.best_tests:
            made = test.datasets
            shares = made.shares(test.block, rows[[made.a, made.b, made.c]])
            found.append(test.power().at(self.runs, *shares(float(test.ratio), min(1, test.block / size))))
        return max(found)

    @cached_property
    def caught(self) -> str:
        """What so many runs would have caught."""
        first, *rest = self.best_tests
        sized = [test.block for test in rest if test.is_caught(self.runs)]
        made = []
        if first.is_caught(self.runs):
            sharp = sharpened(self._rows).T
            eps0 = math.log(max(float(max(column) / min(column)) for column in sharp if min(column) > 0))
            made.append(f"clients with squared probabilities (eps0 = {eps0:.6g})")
        if self.place_test is not None and self.place_test.is_caught(self.runs):
            made.append("a shuffler that gives one user a fixed place")
        if sized:
            made.append(f"a shuffler that keeps blocks of at most {max(sized)} users in order")
        if not made:
            return "neither squared probabilities nor a shuffler that keeps users in order: take more runs"
        return f"{'; '.join(made)}; with probability {CAUGHT} each"

    @cached_property
    def beside(self) -> tuple[str, ...]:
        """What is certified of the claim, what these datasets reach, and how many runs would refute half of it."""
        test = self.best_tests[0]
        p0, p1 = test.datasets.shares(self.n)(float(test.ratio))
        ends = test.certified.decimals(7)
        runs = test.power(Fraction(1, 2)).runs(p0, p1)
        eps = level_words(test.ratio, up=True)
        return (
            f"certified: delta({eps}) of n = {self.n} users is at most a number in [{ends['lower']}, {ends['upper']}] "
            f"({test.certified.arithmetic}, {test.certified.engine})",
            f"{self._named(0)} and {self._named(1)} reach about {p0 - float(test.ratio) * p1:.6g} of it",
            f"a claim of half of it would be refuted by {about_runs(runs)} of each",
        )

    def run(self, program: Callable[[Any], Any] | Program, *, progress: Progress | None = None) -> Audit:
        """What the pipeline is found to be.

        - ``program``: returns the messages of all users of a dataset, in the order in which they leave the shuffler: a
          sequence, or a text with commas. A Program is given one dataset in each line, with commas between inputs.
          Other than n messages, or one that is none of the claim's, is an InputError.
        - ``progress``: called with the numbers of runs done and of all.
        """
        inputs = self.datasets * self.runs
        replies = answers(program, inputs, progress)
        rows = np.empty((len(replies), self.n), dtype=np.int64)
        seen: list[tuple[str, ...]] = []
        for i, reply in enumerate(replies):
            messages = as_run(reply)
            if len(messages) != self.n:
                raise InputError(f"run {i + 1}", f"{len(messages)} messages", f"{self.n}, one of each user")
            rows[i] = [self.claim.column(message, f"run {i + 1}") for message in messages]
            seen.append(messages)
        return self.judge(rows[::2], rows[1::2], hint=hint(inputs, seen, program))

    def judge(self, first: Integers, second: Integers, *, hint: str = "") -> Audit:
        """What follows from messages, as columns of the claim.

        - ``first``, ``second``: a row for each run of the two datasets, with n messages in the order of the output.
        - ``hint``: a guess at the cause of what is found.
        """
        outputs = [np.asarray(first), np.asarray(second)]
        for rows, name in zip(outputs, ("first", "second"), strict=True):
            if rows.shape != (self.runs, self.n):
                raise InputError(name, f"shape {rows.shape}", f"shape {(self.runs, self.n)}")
            if self.order != "random" and np.any(np.diff(rows, axis=1) < 0):
                raise InputError("order", self.order, "messages in the order of the claim in every run")
        if self.order != "random":
            draw = uniform()
            outputs = [np.array([row[random_order(self.n, draw)] for row in rows]) for rows in outputs]
        findings = []
        for event, test in zip(self.events, self.best_tests, strict=True):
            scores = test.datasets.scores(float(test.ratio))
            first_hits, hits = (int(occurs(scores, rows[:, : test.block]).sum()) for rows in outputs)
            findings.append(event.counted((first_hits, hits), (self.runs, self.runs), self.level))
        if self.place_test is not None:
            findings.append(self._best_place(self.place_test, outputs))
        return Audit(
            claim=f"{self.claim.title}, shuffled for n = {self.n}{self.about}",
            runs=f"{self.runs} runs of each of two datasets",
            confidence=self.confidence,
            findings=tuple(findings),
            cells=cells_outside(self._cells(outputs), self.runs, self.cell_level),
            checked=2 * self.n * self.claim.channel.num_outputs,
            caught=self.caught,
            beside=self.beside,
            hint=hint,
        )

    def _best_place(self, test: _Test, outputs: list[Integers]) -> Event:
        """The place whose event is furthest from the claim; the ends of the events at all places hold together."""
        from scipy.special import betainccinv, betaincinv

        scores = test.datasets.scores(float(test.ratio))
        inside = occurs(scores, np.arange(len(scores))[:, None])
        first, second = (inside[rows].sum(axis=0) for rows in outputs)
        level = float(self.place_level)
        low = np.where(first > 0, betaincinv(np.maximum(first, 1), self.runs - np.maximum(first, 1) + 1, level), 0.0)
        rest = np.maximum(self.runs - second, 1)
        up = np.where(second < self.runs, betainccinv(second + 1, rest, level), 1.0)
        place = int(np.argmax(low - float(test.ratio) * up))
        words = f"likelihood ratio of the message at place {place + 1} above exp({natural_log(test.ratio):.6g})"
        event = Event(words, "X0", "X1", test.ratio, test.certified.upper, test.shares)
        return event.counted((int(first[place]), int(second[place])), (self.runs, self.runs), self.place_level)

    def _cells(self, outputs: list[Integers]) -> Iterable[tuple[str, Any, int]]:
        """Each cell, its claimed probability, and how often its message was there."""
        made, rows = self.best_tests[0].datasets, self.claim.channel.rows
        for which, x in enumerate((made.a, made.b)):
            claimed: list[Any] = [(p + (self.n - 1) * q) / self.n for p, q in zip(rows[x], rows[made.c], strict=True)]
            for place, (y, message) in itertools.product(range(self.n), enumerate(self.claim.messages)):
                cell = f"X{which}, place {place + 1}, message {message}"
                yield cell, claimed[y], int((outputs[which][:, place] == y).sum())


@with_fields
def audit_shuffled(
    source: Any, *, runs: object, n: object = None, confidence: object = "0.99", order: str = "random", **fields: Any
) -> ShuffledAudit:
    """Audit of a pipeline of n users, with its events fixed.

    Nothing has run yet: ``run(program)`` of the audit does.

    Parameters
    ----------
    source : Claim, Channel, Mechanism, SurveyPlan, Deployment, Group or path
        What every user is said to run, as in :func:`symshuffle.collect.claim`.
    runs : int
        Runs of each of the two datasets.
    n : int, optional
        Number of users, the differing one included; default that of the plan or deployment.
    confidence : number or text
        In (0, 1): a pipeline that keeps the claim is accused of anything with probability at most one minus this.
    order : {"random", "sorted"}
        Order in which the pipeline writes messages.
    and the fields of a deployment
        A run is one period of as many users as the smallest batch has honest messages, for which the deployment claims
        its bound; all of them send a message, and all messages are written. A field that changes more is refused, and
        the message names a question that supports it.

    Returns
    -------
    ShuffledAudit
        With ``price``, ``datasets``, ``events``, ``place_test``, ``run`` and ``judge``.

    Raises
    ------
    InputError
        If there are fewer runs than any outcome needs to refute the claim, or an argument is out of its range.
    Unsupported
        If there are too many histograms of messages for an exact event.

    Examples
    --------
    >>> from symshuffle import Channel
    >>> response = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> audit = audit_shuffled(response, n=10, runs=400)
    >>> audit.run(lambda data: data).outcome
    'refuted'
    """
    if order not in ORDERS:
        raise InputError("order", order, "one of " + ", ".join(ORDERS))
    known = claim_subject(source)
    # With n given, the number of users of the plan is not used.
    given = known.deployment if isinstance(known, SurveyPlan) and n is None else known
    found = (given if isinstance(given, Deployment) else UNSAID).with_(**fields, n=n)
    users = smallest_batch(found, "audit", *(["plan"] if isinstance(known, SurveyPlan) else []))
    as_integer(users, "n", 1, _MOST_USERS)
    said = f", honest users of the smallest batch of {found.groups[0].count}" * (users != found.groups[0].count)
    about = said + f", one of {found.batches} periods" * (found.batches > 1)
    number = as_integer(runs, "runs", 1, MOST_MESSAGES // (2 * users))
    audit = ShuffledAudit(claim(known), users, number, read_confidence(confidence), order, about)
    points = [(test.ratio, test.certified.upper, audit.level) for test in audit.best_tests]
    check_runs(number, *min(points, key=lambda point: least_runs(*point) or MOST_RUNS))
    return audit
