r"""What is decided from counts, with half of the error each: whether privacy is refuted, and whether it is the channel.

An event E that was fixed before the runs, and a pair of inputs or datasets, refute (eps, delta) where
:math:`\mathrm{low}(P_0(E))-e^{\varepsilon}\,\mathrm{up}(P_1(E))>\delta`. If the claim holds, some end is then on the
wrong side, which happens to any of all ends with probability at most half of the error. The other half goes to cells,
probabilities that the claim fixes: one that is outside of its interval shows another channel, which may be a better
one.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

from symshuffle.accountants.deployment.assumptions import Assumption
from symshuffle.base.numbers import (
    Number,
    counted,
    enclose_log,
    format_decimal,
    lower_end,
    natural_log,
    shortest,
    upper_end,
)
from symshuffle.base.results import FirstLines, outward
from symshuffle.collect.audit.shares import at_least, at_most, lower_share, upper_share

NO_PROOF: Final = "this is no proof of privacy"
"""What goes with every result that refutes nothing."""

MORE_NOISE: Final = "more noise is no leak, less noise may be one"
"""What goes with every other channel."""

_SHOWN: Final = 5
_DIGITS: Final = 6
_SHORT: Final = 10**6


@final
class Outcome(enum.IntEnum):
    """What an audit found; the value is the exit status of the command."""

    NOT_REFUTED = 0
    REFUTED = 1
    OTHER_CHANNEL = 3


@final
@dataclass(frozen=True, slots=True)
class Event:
    """Event, and the claim that is tested with it.

    - ``ratio``: exp(eps) of the claim, or a rational above it.
    """

    words: str
    first: str
    second: str
    ratio: Fraction
    delta: Fraction
    shares: tuple[float, float] | None = None

    @property
    def claimed(self) -> str:
        """The claim, in words."""
        return f"({natural_log(self.ratio):.6g}, {float(self.delta):.6g})-DP"


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """How often an event occurred, and what follows."""

    event: Event
    hits: tuple[int, int]
    runs: tuple[int, int]
    low: Fraction
    up: Fraction

    @property
    def delta(self) -> Fraction:
        """Certified lower bound on delta at the claimed eps."""
        return max(self.low - self.event.ratio * self.up, Fraction(0))

    @property
    def ratio(self) -> Fraction:
        """Certified lower bound on exp(eps) at the claimed delta, at least 1."""
        return max((self.low - self.event.delta) / self.up, Fraction(1))

    @property
    def eps(self) -> float:
        """The same for eps, rounded down."""
        return max(0.0, outward(enclose_log(self.ratio).lower, up=False))

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted."""
        return self.low - self.event.ratio * self.up > self.event.delta

    @property
    def bounds(self) -> str:
        """Both lower bounds in words."""
        event = self.event
        eps, delta = (format_decimal(end, digits=_DIGITS, up=False) for end in (Fraction(self.eps), self.delta))
        at = f"{float(event.delta):.6g}"
        return f"eps >= {eps} at delta = {at}, or delta >= {delta} at eps = {natural_log(event.ratio):.6g}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form."""
        event = self.event
        return {
            "event": event.words,
            "first": event.first,
            "second": event.second,
            "hits": list(self.hits),
            "runs": list(self.runs),
            "claimed": event.claimed,
            "lower_end": outward(self.low, up=False),
            "upper_end": outward(self.up, up=True),
            "eps": self.eps,
            "delta": outward(self.delta, up=False),
            "refuted": self.refuted,
        }

    def __str__(self) -> str:
        (a, b), (m, n), event = self.hits, self.runs, self.event
        return f"{event.words}: {a} of {m} times for {event.first}, {b} of {n} times for {event.second}"


def finding(event: Event, hits: tuple[int, int], runs: tuple[int, int], level: Fraction) -> Finding:
    """What follows from hits, with ends of this level."""
    return Finding(event, hits, runs, lower_share(hits[0], runs[0], level), upper_share(hits[1], runs[1], level))


@final
@dataclass(frozen=True, slots=True)
class ClaimedCell:
    """Probability that the claim fixes, and how often its message was seen."""

    place: str
    message: str
    claimed: Number
    seen: int
    runs: int

    def outside(self, level: Fraction) -> bool:
        """Whether the claimed probability is outside of the interval with ends of this level."""
        many = at_least(self.seen, self.runs, level, upper_end(self.claimed))
        return many or at_most(self.seen, self.runs, level, lower_end(self.claimed))

    def shown(self, level: Fraction) -> str:
        """The cell in words."""
        low = format_decimal(lower_share(self.seen, self.runs, level), digits=_DIGITS, up=False)
        up = format_decimal(upper_share(self.seen, self.runs, level), digits=_DIGITS, up=True)
        exact = isinstance(self.claimed, Fraction) and self.claimed.denominator < _SHORT
        claimed = str(self.claimed) if exact else f"about {float(lower_end(self.claimed)):.6g}"
        seen = f"{self.place}, message {self.message}: {self.seen} of {self.runs}"
        return f"{seen}, so in [{low}, {up}], and {claimed} is claimed"


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
    findings : tuple of Finding
        For each event.
    cells : tuple of ClaimedCell
        Claimed probabilities outside of their intervals; ``cell_level`` is the level of their ends.
    cell_level : Fraction
        See there.
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
    findings: tuple[Finding, ...]
    cells: tuple[ClaimedCell, ...] = ()
    cell_level: Fraction = Fraction(0)
    checked: int = 0
    caught: str = "nothing that was forecast"
    beside: tuple[str, ...] = ()
    hint: str = ""
    claimed: bool = True

    @property
    def worst(self) -> Finding:
        """The event that is furthest from the claim, or closest to it."""
        return max(self.findings, key=lambda one: one.low - one.event.ratio * one.up - one.event.delta)

    @property
    def outcome(self) -> Outcome:
        """Whether privacy is refuted, the channel is another one, or neither."""
        if self.claimed and any(one.refuted for one in self.findings):
            return Outcome.REFUTED
        return Outcome.OTHER_CHANNEL if self.cells else Outcome.NOT_REFUTED

    @property
    def lines(self) -> FirstLines:
        """First lines of the audit: verdict, runs and claim, assumptions, evidence."""
        worst = self.worst
        delta, claimed = shortest(worst.event.delta), worst.event.claimed
        eps = f"eps >= {format_decimal(Fraction(worst.eps), digits=_DIGITS, up=False)} (lower end, rounded down)"
        outside = f"{len(self.cells)} of {counted(self.checked, 'claimed probability', 'claimed probabilities')}"
        if not self.claimed:
            said = f"{eps} at delta = {delta}; nothing was claimed that could be refuted"
        elif self.outcome is Outcome.REFUTED:
            said = f"privacy refuted: {eps} at delta = {delta}, where {claimed} is claimed"
        elif self.outcome is Outcome.OTHER_CHANNEL:
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
        worst, sure = self.worst, f"at confidence {float(self.confidence):g}"
        if not self.claimed:
            eps = format_decimal(Fraction(worst.eps), digits=_DIGITS, up=False)
            return f"eps >= {eps} at delta = {float(worst.event.delta):.6g} {sure}, by {self.runs}; nothing is claimed"
        if self.outcome is Outcome.REFUTED:
            return f"privacy refuted {sure}: {worst.event.claimed} is claimed, and {worst.bounds}"
        if self.outcome is Outcome.OTHER_CHANNEL:
            return f"not the claimed channel {sure}; privacy is not refuted by {self.runs}: {MORE_NOISE}"
        return f"not refuted by {self.runs}, which would have caught {self.caught}; {NO_PROOF}"

    def rows(self) -> list[tuple[str, str]]:
        """Names and values of what was counted, which stand below :attr:`lines`."""
        worst = self.worst
        found = [("event", str(worst))]
        if self.claimed and self.outcome is not Outcome.REFUTED:
            found.append(("shown", worst.bounds))
        if self.claimed and self.outcome is Outcome.NOT_REFUTED:
            found.append(("caught", f"these runs would have caught {self.caught}"))
        found += [("cell", cell.shown(self.cell_level)) for cell in self.cells[:_SHOWN]]
        if len(self.cells) > _SHOWN:
            found.append(("", f"and {len(self.cells) - _SHOWN} more of {self.checked} claimed probabilities"))
        found += [("beside" if i == 0 else "", text) for i, text in enumerate(self.beside)]
        if self.hint:
            found.append(("hint", self.hint))
        return found

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {
            "outcome": self.outcome.name.lower().replace("_", "-"),
            "exit_status": self.outcome.value,
            "about": self.about,
            "claim": self.claim,
            "runs": self.runs,
            "confidence": str(self.confidence),
            "events": [one.to_dict() for one in self.findings],
            "checked_cells": self.checked,
            "cells": [cell.shown(self.cell_level) for cell in self.cells],
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
