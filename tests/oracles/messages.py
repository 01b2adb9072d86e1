"""The laws of the histograms of shuffled messages and their divergences, counted out from rows of probabilities."""

import itertools
import math
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction as F
from typing import Any

Row = tuple[F, ...]
Law = dict[tuple[int, ...], F]


def messages(sender: Row, others: list[Row], dropout: F = F(0)) -> Law:
    """The law of the histogram of the message of one user and those of others, each of whom may drop out."""
    law: Law = {tuple(int(y == z) for z in range(len(sender))): p for y, p in enumerate(sender)}
    for row in others:
        grown: Law = {}
        for counts, mass in law.items():
            if dropout:
                grown[counts] = grown.get(counts, F(0)) + mass * dropout
            for y, p in enumerate(row):
                more = (*counts[:y], counts[y] + 1, *counts[y + 1 :])
                grown[more] = grown.get(more, F(0)) + mass * (1 - dropout) * p
        law = grown
    return law


def product(*laws: Law) -> Law:
    """The law of the messages of several rounds."""
    return {
        tuple(counts for counts, _ in each): math.prod((p for _, p in each), start=F(1))
        for each in itertools.product(*(law.items() for law in laws))
    }


def hockey_stick(one: Law, other: Law, x: F) -> F:
    return sum((max(p - x * other[counts], F(0)) for counts, p in one.items()), start=F(0))


def renyi_divergence(one: Law, other: Law, alpha: int) -> float:
    return math.log(sum(p**alpha * other[counts] ** (1 - alpha) for counts, p in one.items())) / (alpha - 1)


def largest(divergence: Callable[..., Any], one: Any, other: Any, direction: str, at: Any) -> Any:
    """Of two datasets, in the directions asked for: of one pair, whose direction is one throughout."""
    ordered = {"forward": [(one, other)], "reverse": [(other, one)], "both": [(one, other), (other, one)]}
    return max(divergence(*way, at) for way in ordered[direction])


def exponential(level: F) -> F:
    """A rational above exp(level), by a share of 1e-25."""
    return F(Context(prec=50).exp(Decimal(level.numerator) / Decimal(level.denominator))) * (1 + F(1, 10**25))
