"""A histogram from support counts: unbiased estimates, exact intervals, a simultaneous band; and its picture."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Final, final

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import counted, parse_inside, shortest
from symshuffle.base.results import FirstLines
from symshuffle.base.rows import csv_text
from symshuffle.collect.guarantee import Guarantee
from symshuffle.collect.intervals import SMALLEST_ALPHA, Support
from symshuffle.collect.scheme import Integers, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table


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
    guarantee : Guarantee or None
        Privacy of the messages; None for a simulation.
    truth : tuple of int or None
        Users in each category, of a simulation.
    seed : int or None
        Seed of the simulation.
    impossible : str
        Why no population has such counts at this confidence; empty if one has.
    """

    scheme: Scheme
    n: int
    confidence: Fraction
    rows: tuple[Category, ...]
    guarantee: Guarantee | None = None
    truth: tuple[int, ...] | None = None
    seed: int | None = None
    impossible: str = ""

    @property
    def lines(self) -> FirstLines:
        """First lines of the histogram: coverage, what the plan protects and assumes, evidence of both."""
        k, held = counted(self.scheme.k, "category", "categories"), self.guarantee
        number = (
            f"of {counted(self.n, 'message')}: the interval of each of {k} covers with probability >= "
            f"{shortest(self.confidence)}, the band covers all at once with it (both ends, rounded outward)"
        )
        sure = "coverage is a theorem for every fixed population (exact inversion of a binomial test, Bonferroni)"
        if held is None or held.bound is None:
            about = f"{self._kind}; it protects nobody"
            return FirstLines("histogram", number, about=self._with_warning(about), sure=sure)
        plan = held.lines
        protects = f"{plan.protects}: {plan.name} {plan.number}"
        return FirstLines(
            "histogram",
            number,
            protects=protects,
            about=self._with_warning(""),
            assumes=plan.assumes,
            sure=f"{sure}; privacy, certified again: {plan.sure}",
        )

    @property
    def _kind(self) -> str:
        if self.seed is not None:
            return f"SIMULATED with seed {self.seed}, which is not private"
        return "an estimate without a certified plan"

    def _with_warning(self, about: str) -> str:
        return "; ".join(text for text in (self.impossible and f"WARNING: {self.impossible}", about) if text)

    @property
    def about(self) -> str:
        """What is covered and what is not."""
        share, k = shortest(self.confidence), self.scheme.k
        about = (
            f"{self.n} messages of {self.scheme.name}, k = {k}; low to high covers the number of users in a "
            f"category with probability at least {share} for every fixed population; the band covers all {k} "
            "at once with that probability (Bonferroni); intervals do not cover the column projected; "
            + (self._kind if self.guarantee is None else self.guarantee.sentence)
        )
        return self._with_warning(about)

    def to_dict(self) -> dict[str, Any]:
        """A form that ``json.dumps`` accepts."""
        return {
            "n": self.n,
            "confidence": str(self.confidence),
            "about": self.about,
            "impossible": self.impossible,
            "privacy": None if self.guarantee is None else self.guarantee.to_dict(),
            "categories": list(self._records()),
        }

    def _records(self) -> Iterator[dict[str, Any]]:
        """The cells of each category, with the truth where it is known."""
        for j, row in enumerate(self.rows):
            values = (getattr(row, field.name) for field in fields(row))
            cells = (float(value) if isinstance(value, Fraction) else value for value in values)
            yield dict(zip(COLUMNS, cells, strict=True)) | ({} if self.truth is None else {"truth": self.truth[j]})

    def to_csv(self) -> str:
        """CSV text with one line per category."""
        return csv_text(COLUMNS if self.truth is None else (*COLUMNS, "truth"), self._records())

    def table(self, most: int = 12) -> Table:
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
        return f"<Histogram of {self.n} messages, {self.scheme.k} categories, confidence {shortest(self.confidence)}>"


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


def read_confidence(confidence: object) -> Fraction:
    """A confidence as a fraction."""
    level = parse_inside(confidence, "confidence", "(0, 1)")
    if 1 - level < SMALLEST_ALPHA * 10**10:
        raise InputError("confidence", confidence, "a number at most 1 - 1e-90")
    return level


def estimated(
    made: Scheme,
    labels: Sequence[str],
    tally: Integers,
    n: int,
    level: Fraction,
    *,
    guarantee: Guarantee | None = None,
    truth: tuple[int, ...] | None = None,
    seed: int | None = None,
) -> Histogram:
    """The histogram of a tally of n messages, with intervals of a confidence."""
    from symshuffle.utility.estimation.canonical import project_on_simplex

    supports = [int(count) for count in made.supports(tally)]
    p, q = made.p, made.q
    estimates = [(count - n * q) / (p - q) for count in supports]
    law = Support(n, p, q)
    interval = cache(law.interval)
    projected = project_on_simplex([estimate / n for estimate in estimates])  # the nearest with entries of at least 0
    rows = []
    for j, count in enumerate(supports):
        low, high = interval(count, 1 - level)
        band = interval(count, (1 - level) / made.k)
        middle = min(max(estimates[j], Fraction(0)), Fraction(n))
        errors = [_error(m, n, p, q) for m in (middle, Fraction(low), Fraction(high))]
        shown = labels[j], count, estimates[j], errors[0], max(errors[1:])
        rows.append(Category(*shown, low, high, *band, n * projected[j]))
    impossible = _impossible(law, rows, level)
    return Histogram(made, n, level, tuple(rows), guarantee, truth, seed, impossible)


def _impossible(law: Support, rows: Sequence[Category], level: Fraction) -> str:
    """Why no histogram of n users lies in the band; empty if one does.

    The band misses the histogram of the population with probability at most 1 - level, whatever it is. So a band
    without any histogram occurs at most as often.
    """
    possible = cache(law.possible)
    outside = (row for row in rows if not possible(row.supports, (1 - level) / len(rows)))
    wrong = max(outside, key=lambda row: abs(row.estimate - Fraction(law.n, 2)), default=None)
    least, most = sum(row.band_low for row in rows), sum(row.band_high for row in rows)
    if wrong is not None:
        what = f"{wrong.supports} supports of category {wrong.label}, an estimate of {float(wrong.estimate):.0f} users"
    elif not least <= law.n <= most:
        what = f"a band with {least} to {most} users together"
    else:
        return ""
    return (
        f"no population of {law.n} users gives such counts at confidence {shortest(level)} ({what}): some messages are "
        "not of the plan's clients"
    )


def _error(m: Fraction, n: int, p: Fraction, q: Fraction) -> float:
    """Standard error of an estimate if m users hold the category, rounded up."""
    variance = (m * p * (1 - p) + (n - m) * q * (1 - q)) / (p - q) ** 2
    return math.nextafter(math.sqrt(math.nextafter(float(variance), math.inf)), math.inf)


def draw(found: Histogram, most: int = 60) -> Figure:
    """Estimated users in each category, with the interval (thick), the band (thin), and the truth where it is known.

    - ``most``: categories that are drawn; of more the largest estimates.
    """
    from matplotlib.figure import Figure

    ranked = sorted(range(len(found.rows)), key=lambda j: found.rows[j].estimate, reverse=True)[:most]
    chosen = sorted(ranked) if len(found.rows) <= most else ranked
    rows, places = [found.rows[j] for j in chosen], range(len(chosen))
    figure = Figure(figsize=(max(6.0, 2 + 0.19 * len(rows)), 4.5), layout="constrained")
    axis: Any = figure.subplots()
    share = f"{shortest(100 * found.confidence)} %"
    estimates = [float(row.estimate) for row in rows]
    axis.bar(places, estimates, color="#c9d7e8", width=0.8, label="unbiased estimate")
    bands = [row.band_low for row in rows], [row.band_high for row in rows]
    axis.vlines(places, *bands, color="#1f4e79", linewidth=0.9, label=f"{share} band, all categories at once")
    for side in bands:
        axis.plot(places, side, "_", color="#1f4e79", markersize=5, markeredgewidth=0.9)
    ends = [row.low for row in rows], [row.high for row in rows]
    axis.vlines(places, *ends, color="#1f4e79", linewidth=3.2, label=f"{share} interval of a category")
    if found.truth is not None:
        held = [found.truth[j] for j in chosen]
        axis.plot(places, held, "x", color="#c0392b", markersize=5, label="truth (simulated)")
    axis.set_xticks(list(places), [row.label for row in rows], rotation=90 if len(rows) > 8 else 0, fontsize=8)
    axis.set_ylabel("users")
    axis.set_xlabel("category" if len(found.rows) <= most else f"the {most} categories with the largest estimates")
    axis.axhline(0, color="black", linewidth=0.6)
    axis.margins(x=0.01)
    axis.spines[["top", "right"]].set_visible(False)
    axis.set_title(f"{found.n} messages of {found.scheme.name}, k = {found.scheme.k}", fontsize=10)
    axis.legend(fontsize=8, frameon=False)
    return figure


def drawn(found: Histogram, suffix: str) -> bytes:
    """Picture of a histogram as the bytes of a file.

    Parameters
    ----------
    found : Histogram
        Estimates with their intervals.
    suffix : {".png", ".svg", ".pdf"}
        Format of the file.

    Returns
    -------
    bytes
        The content of the file.

    Raises
    ------
    InputError
        If the format is another one.
    """
    from symshuffle.design.comparison.table import picture

    return picture(draw(found), suffix, dpi=150)
