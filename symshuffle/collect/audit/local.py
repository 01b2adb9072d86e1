"""Audit of a client: whether its messages keep the claimed local budget, and are those of the claimed channel."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from symshuffle.base.errors import InputError, Progress, Unsupported
from symshuffle.base.numbers import (
    Verdict,
    as_integer,
    enclose_log,
    format_decimal,
    less,
    lower_end,
    natural_log,
    to_float,
    upper_end,
)
from symshuffle.channels.channel import Channel
from symshuffle.collect.audit.claims import Claim, claim
from symshuffle.collect.audit.runs import MOST_MESSAGES, Program, answers, hint
from symshuffle.collect.audit.shares import CAUGHT, Power, about_runs, check_runs
from symshuffle.collect.audit.verdicts import Audit, Event, cells_outside, is_short
from symshuffle.collect.estimate import read_confidence
from symshuffle.collect.scheme import Integers


@final
@dataclass(frozen=True)
class LocalAudit:
    """Audit of a client, with its events fixed: nothing has run yet.

    Parameters
    ----------
    claim : Claim
        The claimed channel.
    runs : int
        Runs of each input.
    confidence : Fraction
        An honest client is accused of anything with probability at most one minus this.
    """

    claim: Claim
    runs: int
    confidence: Fraction

    @cached_property
    def pairs(self) -> tuple[tuple[int, int, frozenset[int]], ...]:
        """Two inputs, and the columns at which the ratio of their rows is the largest: one event per ordered pair."""
        found = []
        for a, b in itertools.permutations(range(self.claim.channel.num_inputs), 2):
            ratios = {y: r for y, r in enumerate(self.claim.channel.likelihood_ratios(a, b)) if r is not None}
            top = max(ratios.values(), key=lower_end)
            if less(1, top) is Verdict.TRUE:
                found.append((a, b, frozenset(y for y, r in ratios.items() if less(r, top) is not Verdict.TRUE)))
        return tuple(found)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The events, each with the claim that it tests: (log cap, 0)-DP."""
        cap, rows, made = upper_end(self.claim.cap), self.claim.channel.rows, []
        for a, b, columns in self.pairs:
            some = [self.claim.messages[y] for y in sorted(columns)]
            shown = some[:4]
            words = "message " + " or ".join(shown) + f" or {len(some) - len(shown)} more" * (len(some) > len(shown))
            p0, p1 = (math.fsum(to_float(rows[x][y]) for y in columns) for x in (a, b))
            made.append(Event(words, self._input(a), self._input(b), cap, Fraction(0), (p0, p1)))
        return tuple(made)

    def _input(self, x: int) -> str:
        return f"input {self.claim.inputs[x]}"

    @property
    def level(self) -> Fraction:
        """Error of each end of each event: a quarter of the error, over the events."""
        return (1 - self.confidence) / (4 * len(self.events))

    @property
    def cell_level(self) -> Fraction:
        """Error of each end of each claimed probability: a quarter of the error, over inputs times messages."""
        return (1 - self.confidence) / (4 * self.claim.channel.num_inputs * self.claim.channel.num_outputs)

    @property
    def price(self) -> str:
        """What will be run and tested."""
        inputs, outputs = self.claim.channel.num_inputs, self.claim.channel.num_outputs
        return (
            f"{inputs * self.runs} runs, {self.runs} of each of {inputs} inputs; {len(self.events)} events and "
            f"{inputs * outputs} claimed probabilities"
        )

    @property
    def _test(self) -> Power:
        return Power(float(upper_end(self.claim.cap)), 0.0, float(self.level))

    @cached_property
    def caught(self) -> str:
        """What so many runs would have caught."""
        ratios = [self._test.caught(self.runs, p0) for p0, _ in self._shares]
        known = [ratio for ratio in ratios if ratio is not None]
        if len(known) < len(ratios):
            return f"no leak of every event with probability {CAUGHT}: take more runs"
        return (
            f"eps0 >= {math.log(max(known)) + 5e-6:.5f} with probability {CAUGHT} (of a client that shows an event at "
            "its first input at least as often as claimed, and exp(eps0) times less often at its second one)"
        )

    @property
    def _shares(self) -> set[tuple[float, float]]:
        """Different pairs of claimed probabilities of events."""
        return {(round(p0, 12), round(p1, 12)) for p0, p1 in (event.shares or (0, 0) for event in self.events)}

    @cached_property
    def beside(self) -> tuple[str, ...]:
        """What is certified of the claim, and how many runs would refute half of it."""
        cap = self.claim.cap
        eps = natural_log(upper_end(cap))
        if isinstance(cap, Fraction):
            known = f"{f'log({cap}) = ' if is_short(cap) else 'about '}{eps:.10g}"
        else:
            ends = enclose_log(lower_end(cap)).lower, enclose_log(upper_end(cap)).upper
            low, high = (format_decimal(end, digits=13, up=up) for end, up in zip(ends, (False, True), strict=True))
            known = f"between {low} and {high}"
        half = Power(math.exp(eps / 2), 0.0, float(self.level))
        fewest = min((runs for p0, p1 in self._shares if (runs := half.runs(p0, p1))), default=None)
        return (
            f"certified: eps0 of the claimed channel is {known}",
            f"a claim of half of it, eps0 = {eps / 2:.6g}, would be refuted by {about_runs(fewest)} of each input",
        )

    def power(self, channel: Channel) -> float:
        """Probability that privacy is refuted if the client is this channel, by its best event alone (in doubles)."""
        rows = self.claim.doubles(channel).tolist()
        shares = ([math.fsum(rows[x][y] for y in columns) for x in (a, b)] for a, b, columns in self.pairs)
        return max(self._test.at(self.runs, p0, p1) for p0, p1 in shares)

    def run(self, program: Callable[[Any], Any] | Program, *, progress: Progress | None = None) -> Audit:
        """Audit of what the client does, with ``outcome``, ``about`` and the counts of each event.

        - ``program``: returns the message for an input: one of the words of the claim, or what prints as one. Another
          message, or a program that fails, is an InputError.
        - ``progress``: called with the numbers of runs done and of all.
        """
        inputs = self.claim.inputs * self.runs
        replies = [str(reply).strip() for reply in answers(program, inputs, progress)]
        counts = np.zeros((len(self.claim.inputs), len(self.claim.messages)), dtype=np.int64)
        for i, reply in enumerate(replies):
            x = i % len(self.claim.inputs)
            counts[x, self.claim.column(reply, f"message {i + 1} (input {self.claim.inputs[x]})")] += 1
        return self.judge(counts, hint=hint(inputs, replies, program))

    def judge(self, counts: Integers, *, hint: str = "") -> Audit:
        """What follows from counts of messages.

        - ``counts``: row: input; column: message; each row of sum ``runs``.
        - ``hint``: a guess at the cause of what is found.
        """
        shape = (len(self.claim.inputs), len(self.claim.messages))
        counts = np.asarray(counts)
        if counts.shape != shape or np.any(counts < 0) or np.any(counts.sum(axis=1) != self.runs):
            raise InputError("counts", f"shape {counts.shape}", f"shape {shape}, each row of sum {self.runs}")
        sums = ((sorted(columns), a, b) for a, b, columns in self.pairs)
        hits = [(int(counts[a, columns].sum()), int(counts[b, columns].sum())) for columns, a, b in sums]
        cells = (
            (f"{self._input(x)}, message {self.claim.messages[y]}", self.claim.channel.rows[x][y], int(counts[x, y]))
            for x, y in itertools.product(*map(range, shape))
        )
        return Audit(
            claim=f"{self.claim.title}: {self.events[0].claimed}",
            runs=f"{self.runs} runs of each of {shape[0]} inputs",
            confidence=self.confidence,
            findings=tuple(
                event.counted(seen, (self.runs, self.runs), self.level)
                for event, seen in zip(self.events, hits, strict=True)
            ),
            cells=cells_outside(cells, self.runs, self.cell_level),
            checked=shape[0] * shape[1],
            caught=self.caught,
            beside=self.beside,
            hint=hint,
        )


def audit_local(source: Any, *, runs: object, confidence: object = "0.99") -> LocalAudit:
    """Audit of a client that is said to be a channel, with its events fixed.

    Nothing has run yet: ``run(program)`` of the audit does.

    Parameters
    ----------
    source : Claim, Channel, Mechanism, SurveyPlan, Deployment, Group or path
        What the client is said to be, as in :func:`symshuffle.collect.claim`.
    runs : int
        Runs of each input.
    confidence : number or text
        In (0, 1): a client that keeps the claim is accused of anything with probability at most one minus this.

    Returns
    -------
    LocalAudit
        With ``price``, ``events``, ``run`` and ``judge``.

    Raises
    ------
    InputError
        If there are fewer runs than any outcome needs to refute the claim, or an argument is out of its range.
    Unsupported
        If the rows of the claim are irrational and so near to each other that they are not told apart.

    Examples
    --------
    >>> from symshuffle import Channel
    >>> audit = audit_local(Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]]), runs=100)
    >>> audit.run(lambda x: x).about[:15]
    'privacy refuted'
    """
    said = claim(source)
    number = as_integer(runs, "runs", 1, MOST_MESSAGES // len(said.inputs))
    found = LocalAudit(said, number, read_confidence(confidence))
    if not found.events:
        raise Unsupported(
            "whether two rows of the claimed channel, in balls, are equal is not decided: claim rational rows"
        )
    check_runs(found.runs, upper_end(found.claim.cap), Fraction(0), found.level)
    return found
