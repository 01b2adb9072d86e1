r"""What is decided from counts, with half of the error each: whether privacy is refuted, and whether it is the channel.

An event E that was fixed before the runs, and a pair of inputs or datasets, refute (eps, delta) where
:math:`\mathrm{low}(P_0(E))-e^{\varepsilon}\,\mathrm{up}(P_1(E))>\delta`. If the claim holds, some end is then on the
wrong side, which happens to any of all ends with probability at most half of the error. The other half goes to cells,
probabilities that the claim fixes: one that is outside of its interval shows another channel, which may be a better
one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias, final

from symshuffle.accountants.deployment.assumptions import Assumption
from symshuffle.base.numbers import (
    Number,
    counted,
    enclose_log,
    format_decimal,
    lower_end,
    shortest,
    target_decimal,
    upper_end,
)
from symshuffle.base.results import FirstLines, outward
from symshuffle.collect.audit.shares import at_least, at_most, claim_words, level_words, lower_share, upper_share

NO_PROOF: Final = "this is no proof of privacy"
"""What goes with every result that refutes nothing."""

MORE_NOISE: Final = "more noise is no leak, less noise may be one"
"""What goes with every other channel."""


Outcome: TypeAlias = Literal["not-refuted", "refuted", "other-channel"]
"""What an audit found."""

_EXIT_STATUS: Final[Mapping[Outcome, int]] = {"not-refuted": 0, "refuted": 1, "other-channel": 3}
"""Exit status of the command, by what an audit found."""


@final
@dataclass(frozen=True, slots=True)
class Event:
    """Event, the claim that is tested with it, and, after the runs, how often it occurred and what follows.

    - ``ratio``, ``delta``: exp(eps) of the claim, or a rational above it, and its delta.
    - ``shares``: claimed probabilities for the first and the second input or dataset, in doubles.
    - ``low``, ``up``: lower end of the first probability and upper end of the second, from the runs.
    """

    words: str
    first: str
    second: str
    ratio: Fraction
    delta: Fraction
    shares: tuple[float, float] | None = None
    hits: tuple[int, int] = (0, 0)
    runs: tuple[int, int] = (0, 0)
    low: Fraction = Fraction(0)
    up: Fraction = Fraction(1)

    def counted(self, hits: tuple[int, int], runs: tuple[int, int], level: Fraction) -> Event:
        """The event with its hits, and ends of this level."""
        ends = lower_share(hits[0], runs[0], level), upper_share(hits[1], runs[1], level)
        return replace(self, hits=hits, runs=runs, low=ends[0], up=ends[1])

    @property
    def claimed(self) -> str:
        """The claim, in words."""
        return claim_words(self.ratio, self.delta)

    @property
    def least_delta(self) -> Fraction:
        """Certified lower bound on delta at the claimed eps."""
        return max(self.low - self.ratio * self.up, Fraction(0))

    @property
    def least_ratio(self) -> Fraction:
        """Certified lower bound on exp(eps) at the claimed delta, at least 1."""
        return max((self.low - self.delta) / self.up, Fraction(1))

    @property
    def eps(self) -> float:
        """Certified lower bound on eps at the claimed delta, rounded down."""
        return max(0.0, outward(enclose_log(self.least_ratio).lower, up=False))

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted."""
        return self.low - self.ratio * self.up > self.delta

    @property
    def bounds(self) -> str:
        """Both lower bounds in words."""
        eps, delta = _rounded(Fraction(self.eps), up=False), _rounded(self.least_delta, up=False)
        at, level = target_decimal(self.delta, up=False), level_words(self.ratio, up=False)
        return f"eps >= {eps} at delta = {at}, or delta >= {delta} at eps = {level}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {
            "event": self.words,
            "first": self.first,
            "second": self.second,
            "hits": list(self.hits),
            "runs": list(self.runs),
            "claimed": self.claimed,
            "lower_end": outward(self.low, up=False),
            "upper_end": outward(self.up, up=True),
            "eps": self.eps,
            "delta": outward(self.least_delta, up=False),
            "refuted": self.refuted,
        }

    def __str__(self) -> str:
        (a, b), (m, n) = self.hits, self.runs
        return f"{self.words}: {a} of {m} times for {self.first}, {b} of {n} times for {self.second}"


def _rounded(value: Fraction, *, up: bool) -> str:
    return format_decimal(value, digits=6, up=up)


def is_short(value: Number) -> bool:
    """Whether a number is a fraction that is written as it is, with a denominator below a million."""
    return isinstance(value, Fraction) and value.denominator < 10**6


def cell_outside(claimed: Number, seen: int, runs: int, level: Fraction) -> bool:
    """Whether a probability that the claim fixes is outside of the interval with ends of this level.

    - ``seen``: how often its message was seen in so many runs.
    """
    return at_least(seen, runs, level, upper_end(claimed)) or at_most(seen, runs, level, lower_end(claimed))


def cell_words(cell: str, claimed: Number, seen: int, runs: int, level: Fraction) -> str:
    """A claimed probability and its interval in words; arguments as of :func:`cell_outside`."""
    ends = _rounded(lower_share(seen, runs, level), up=False), _rounded(upper_share(seen, runs, level), up=True)
    told = str(claimed) if is_short(claimed) else f"about {float(lower_end(claimed)):.6g}"
    return f"{cell}: {seen} of {runs}, so in [{ends[0]}, {ends[1]}], and {told} is claimed"


def cells_outside(cells: Iterable[tuple[str, Number, int]], runs: int, level: Fraction) -> tuple[str, ...]:
    """Claimed probabilities outside of their intervals, in words: of cells with what is claimed, and hits."""
    return tuple(cell_words(*cell, runs, level) for cell in cells if cell_outside(*cell[1:], runs, level))


@final
@dataclass(frozen=True, repr=False)
class Audit:
    """What an audit found out about a program.

    Parameters
    ----------
    claim : str
        What was claimed.
    runs : str
        What was run.
    confidence : Fraction
        Whoever keeps the claim is accused of anything with probability at most one minus this.
    findings : tuple of Event
        How often each event occurred.
    cells : tuple of str
        Claimed probabilities outside of their intervals, in words.
    checked : int
        Number of claimed probabilities that were checked.
    caught : str
        What so many runs would have caught.
    beside : tuple of str
        What is certified of the claim, and how many runs would refute a stronger one.
    hint : str
        A guess at the cause, or nothing.
    claimed : bool
        Whether anything was claimed; if not, nothing is refuted.
    """

    claim: str
    runs: str
    confidence: Fraction
    findings: tuple[Event, ...]
    cells: tuple[str, ...] = ()
    checked: int = 0
    caught: str = "nothing that was forecast"
    beside: tuple[str, ...] = ()
    hint: str = ""
    claimed: bool = True

    @property
    def worst(self) -> Event:
        """The event that is furthest from the claim, or closest to it."""
        return max(self.findings, key=lambda one: one.low - one.ratio * one.up - one.delta)

    @property
    def outcome(self) -> Outcome:
        """Whether privacy is refuted, the channel is another one, or neither."""
        if self.claimed and any(one.refuted for one in self.findings):
            return "refuted"
        return "other-channel" if self.cells else "not-refuted"

    @property
    def exit_status(self) -> int:
        """Exit status of the command: 0, 1 where privacy is refuted, 3 for another channel."""
        return _EXIT_STATUS[self.outcome]

    @property
    def lines(self) -> FirstLines:
        """First lines of the audit: verdict, runs and claim, assumptions, evidence."""
        worst = self.worst
        delta, claimed = shortest(worst.delta), worst.claimed
        eps = f"eps >= {_rounded(Fraction(worst.eps), up=False)} (lower end, rounded down)"
        outside = f"{len(self.cells)} of {counted(self.checked, 'claimed probability', 'claimed probabilities')}"
        if not self.claimed:
            said = f"{eps} at delta = {delta}; nothing was claimed that could be refuted"
        elif self.outcome == "refuted":
            said = f"privacy refuted: {eps} at delta = {delta}, where {claimed} is claimed"
        elif self.outcome == "other-channel":
            said = f"not the claimed channel: {outside} are outside of their intervals; privacy is not refuted"
        else:
            said = f"not refuted; {NO_PROOF}"
        wrong = "a program that is as claimed is accused" if self.claimed else "the bound exceeds the true eps"
        return FirstLines(
            "verdict",
            said,
            about=f"{self.claim}; {self.runs}" if self.claimed else self.runs,
            assumes=str(Assumption.INDEPENDENT_RUNS),
            sure=f"confidence {shortest(self.confidence)}: {wrong} with probability at most "
            f"{shortest(1 - self.confidence)}, by exact ends (claim symshuffle.audit-error)",
        )

    @property
    def about(self) -> str:
        """The outcome in words."""
        worst, sure = self.worst, f"at confidence {shortest(self.confidence)}"
        if not self.claimed:
            eps, at = _rounded(Fraction(worst.eps), up=False), target_decimal(worst.delta, up=False)
            return f"eps >= {eps} at delta = {at} {sure}, by {self.runs}; nothing is claimed"
        if self.outcome == "refuted":
            return f"privacy refuted {sure}: {worst.claimed} is claimed, and {worst.bounds}"
        if self.outcome == "other-channel":
            return f"not the claimed channel {sure}; privacy is not refuted by {self.runs}: {MORE_NOISE}"
        return f"not refuted by {self.runs}, which would have caught {self.caught}; {NO_PROOF}"

    def rows(self) -> list[tuple[str, str]]:
        """Names and values of what was counted, which stand below :attr:`lines`."""
        worst = self.worst
        found = [("event", str(worst))]
        if self.claimed and self.outcome != "refuted":
            found.append(("shown", worst.bounds))
        if self.claimed and self.outcome == "not-refuted":
            found.append(("caught", f"these runs would have caught {self.caught}"))
        shown = self.cells[:5]
        found += [("cell", cell) for cell in shown]
        if len(self.cells) > len(shown):
            found.append(("", f"and {len(self.cells) - len(shown)} more of {self.checked} claimed probabilities"))
        found += [("beside" if i == 0 else "", text) for i, text in enumerate(self.beside)]
        if self.hint:
            found.append(("hint", self.hint))
        return found

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {
            "outcome": self.outcome,
            "exit_status": self.exit_status,
            "about": self.about,
            "claim": self.claim,
            "runs": self.runs,
            "confidence": str(self.confidence),
            "events": [one.to_dict() for one in self.findings],
            "checked_cells": self.checked,
            "cells": list(self.cells),
            "caught": self.caught,
            "beside": list(self.beside),
            "assumed": Assumption.INDEPENDENT_RUNS.meaning,
            "hint": self.hint,
        }

    def explained(self) -> list[tuple[str, str]]:
        """The outcome and what it rests on, in full sentences."""
        return [("outcome", self.about), ("assumed", Assumption.INDEPENDENT_RUNS.meaning)]

    def _repr_html_(self) -> str:
        return self.lines.to_html(*self.rows())

    def __repr__(self) -> str:
        return f"<{self.about}>"
