"""A histogram from support counts: unbiased estimates, standard errors, exact intervals and a simultaneous band."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, final

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import counted, parse_rational, shortest
from symshuffle.base.results import FirstLines
from symshuffle.collect.intervals import SMALLEST_ALPHA, Support
from symshuffle.collect.randomness import Integers
from symshuffle.collect.scheme import Scheme

if TYPE_CHECKING:
    from rich.table import Table

_SHOWN: Final = 12


@final
@dataclass(frozen=True, slots=True)
class Category:
    """What is known about one category, in users.

    - ``estimate``: unbiased estimate; it may be negative or above n.
    """

    label: str
    supports: int
    estimate: Fraction
    error: float
    largest_error: float
    low: int
    high: int
    band_low: int
    band_high: int
    projected: Fraction


@final
@dataclass(frozen=True, slots=True, repr=False)
class Histogram:
    """Estimated histogram of a population, with intervals.

    Parameters
    ----------
    scheme : Scheme
        The mechanism that sent the messages.
    n : int
        Number of messages.
    confidence : Fraction
        Guaranteed probability of coverage.
    rows : tuple of Category
        In the order of the plan.
    private : str
        What the plan promises, and what it does not cover.
    truth : tuple of int or None
        Users in each category, of a simulation.
    planned : FirstLines or None
        The first lines of the plan.
    """

    scheme: Scheme
    n: int
    confidence: Fraction
    rows: tuple[Category, ...]
    private: str = ""
    truth: tuple[int, ...] | None = None
    planned: FirstLines | None = None

    @property
    def lines(self) -> FirstLines:
        """First lines of the histogram: coverage, what the plan protects and assumes, evidence of both."""
        k, plan = counted(self.scheme.k, "category", "categories"), self.planned
        number = (
            f"of {counted(self.n, 'message')}: the interval of each of {k} covers with probability >= "
            f"{shortest(self.confidence)}, the band covers all at once with it (both ends, rounded outward)"
        )
        sure = (
            "coverage is a theorem for every fixed population (exact inversion of a binomial test, Bonferroni); "
            "the privacy is that of the plan, which was certified when it was made"
        )
        if self.truth is not None or plan is None or not plan.protects:
            simulated, _, _ = self.private.partition("; ")
            kind = simulated if self.truth is not None else "an estimate without a certified plan"
            alone, _, _ = sure.partition("; ")
            return FirstLines("histogram", number, about=f"{kind}; it protects nobody", sure=alone)
        protects = f"{plan.protects}: {plan.name} {plan.number}"
        return FirstLines("histogram", number, protects=protects, assumes=plan.assumes, sure=sure)

    @property
    def about(self) -> str:
        """What is covered and what is not."""
        share, k = f"{float(self.confidence):.10g}", self.scheme.k
        return (
            f"{self.n} messages of {self.scheme.name}, k = {k}; low to high covers the number of users in a "
            f"category with probability at least {share} for every fixed population; the band covers all {k} "
            f"at once with that probability (Bonferroni); intervals do not cover the column projected; {self.private}"
        )

    def to_dict(self) -> dict[str, Any]:
        """A form that ``json.dumps`` accepts."""
        return {
            "n": self.n,
            "confidence": str(self.confidence),
            "about": self.about,
            "categories": list(self._records()),
        }

    def _records(self) -> Iterator[dict[str, Any]]:
        """The cells of each category, with the truth where it is known."""
        for j, row in enumerate(self.rows):
            yield _cells(row) | ({} if self.truth is None else {"truth": self.truth[j]})

    def to_csv(self) -> str:
        """CSV text with one line per category."""
        text = io.StringIO()
        columns = COLUMNS if self.truth is None else (*COLUMNS, "truth")
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self._records())
        return text.getvalue()

    def table(self, most: int = _SHOWN) -> Table:
        """A table for a terminal: the categories with the largest estimates."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        drawn = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        told = () if self.truth is None else ("truth",)
        for name in ("category", "users", "std. error", "low", "high", "band low", "band high", *told):
            drawn.add_column(name, justify="left" if name == "category" else "right")
        for j in sorted(range(len(self.rows)), key=lambda j: self.rows[j].estimate, reverse=True)[:most]:
            row, held = self.rows[j], () if self.truth is None else (self.truth[j],)
            cells = (row.low, row.high, row.band_low, row.band_high, *held)
            drawn.add_row(row.label, f"{float(row.estimate):.1f}", f"{row.error:.4g}", *map(str, cells))
        return drawn

    def __repr__(self) -> str:
        return f"<Histogram of {self.n} messages, {self.scheme.k} categories, confidence {float(self.confidence):g}>"


COLUMNS: Final = (
    "category",
    "supports",
    "estimate",
    "standard_error",
    "largest_standard_error",
    "low",
    "high",
    "band_low",
    "band_high",
    "projected_not_covered",
)
"""Columns of a histogram's file."""


def _cells(row: Category) -> dict[str, Any]:
    cells = (
        row.label,
        row.supports,
        float(row.estimate),
        row.error,
        row.largest_error,
        row.low,
        row.high,
        row.band_low,
        row.band_high,
        float(row.projected),
    )
    return dict(zip(COLUMNS, cells, strict=True))


def read_confidence(confidence: object) -> Fraction:
    """A confidence as a fraction."""
    level = parse_rational(confidence, "confidence")
    if not 0 < level < 1:
        raise InputError("confidence", confidence, "a number in (0, 1)")
    if 1 - level < SMALLEST_ALPHA * 10**10:
        raise InputError("confidence", confidence, "a number at most 1 - 1e-90")
    return level


def estimated(
    made: Scheme, labels: Sequence[str], tally: Integers, n: int, level: Fraction, private: str, planned: FirstLines
) -> Histogram:
    """The histogram of a tally of n messages, with intervals of a confidence."""
    supports = [int(count) for count in made.supports(tally)]
    p, q = made.p, made.q
    estimates = [(count - n * q) / (p - q) for count in supports]
    law = Support(n, p, q)
    alone, at_once = _once(law, 1 - level), _once(law, (1 - level) / made.k)
    projected = _projected(estimates, n)
    rows = []
    for j, count in enumerate(supports):
        low, high = alone(count)
        band = at_once(count)
        middle = min(max(estimates[j], Fraction(0)), Fraction(n))
        errors = [_error(m, n, p, q) for m in (middle, Fraction(low), Fraction(high))]
        rows.append(
            Category(labels[j], count, estimates[j], errors[0], max(errors[1:]), low, high, *band, projected[j])
        )
    return Histogram(made, n, level, tuple(rows), private, planned=planned)


def _once(law: Support, alpha: Fraction) -> Callable[[int], tuple[int, int]]:
    """The interval of each count, made once."""
    known: dict[int, tuple[int, int]] = {}

    def interval(count: int) -> tuple[int, int]:
        if count not in known:
            known[count] = law.interval(count, alpha)
        return known[count]

    return interval


def _error(m: Fraction, n: int, p: Fraction, q: Fraction) -> float:
    """Standard error of an estimate if m users hold the category, rounded up."""
    variance = (m * p * (1 - p) + (n - m) * q * (1 - q)) / (p - q) ** 2
    return math.nextafter(math.sqrt(math.nextafter(float(variance), math.inf)), math.inf)


def _projected(estimates: list[Fraction], n: int) -> list[Fraction]:
    """The nearest histogram with entries of at least 0 and sum n."""
    from symshuffle.utility.estimation.canonical import project_on_simplex

    return [n * share for share in project_on_simplex([estimate / n for estimate in estimates])]
