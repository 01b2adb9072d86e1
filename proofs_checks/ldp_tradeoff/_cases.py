"""Problems and channels shared by the sections: small, rational, reproducible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from proofs_checks import _strategies as strategies
from proofs_checks._strategies import capped_channel as capped_channel
from proofs_checks._strategies import distribution as distribution
from proofs_checks.ldp_tradeoff._minimax_risk import minimax_risk
from symshuffle.channels.channel import Channel, exact_columns
from symshuffle.channels.geometry.extremal import MaximalPolytope
from symshuffle.design.decision.problems import Problem, smoothed_point_masses

LAM: Final = Fraction(3)
LEVELS: Final = (Fraction(11, 10), Fraction(7, 3), Fraction(10))
P0: Final = tuple(Fraction(v, 10) for v in (5, 3, 1, 1))
P1: Final = tuple(Fraction(v, 10) for v in (1, 2, 3, 4))
SLOPE: Final = tuple(Fraction(v, 10) for v in (-3, -1, 1, 3))

SINGLES: Final = MaximalPolytope(3, LAM).channel(dict.fromkeys((1, 2, 4), Fraction(1, 5)))
PAIRS: Final = MaximalPolytope(3, LAM).channel(dict.fromkeys((3, 5, 6), Fraction(1, 7)))
PROBLEM: Final = smoothed_point_masses(3, Fraction(3, 4))


def bayes(channel: Channel) -> Fraction:
    """Bayes risk of a channel in ``PROBLEM``."""
    return PROBLEM.bayes_risk(channel)[0]


def minimax(channel: Channel) -> Fraction:
    """Minimax risk of a channel in ``PROBLEM``."""
    return minimax_risk(PROBLEM, channel).value.lower


def problem(rng: np.random.Generator, *, m: int, parameters: int = 3, actions: int = 3) -> Problem:
    """A random rational decision problem with a prior, in which the data matter: action t suits parameter t."""
    model = []
    for t in range(parameters):
        draws = [int(v) + 14 * (x == t % m) for x, v in enumerate(rng.integers(1, 8, size=m))]
        model.append(tuple(Fraction(v, sum(draws)) for v in draws))
    loss = tuple(
        tuple(Fraction(0 if a == t else int(v)) for a, v in enumerate(rng.integers(3, 8, size=actions)))
        for t in range(parameters)
    )
    prior = [int(v) for v in rng.integers(8, 12, size=parameters)]
    return Problem(tuple(model), loss, tuple(Fraction(v, sum(prior)) for v in prior))


def ring(m: int) -> Problem:
    """Estimate a position on a circle from a blurred reading, at the loss of the distance along the circle."""
    near = {0: Fraction(1, 2), 1: Fraction(1, 4)}
    gap = [[min((x - t) % m, (t - x) % m) for x in range(m)] for t in range(m)]
    model = tuple(tuple(near.get(d, Fraction(0)) * (1 if m > 2 else 2) for d in row) for row in gap)
    return Problem(model, tuple(tuple(Fraction(d) for d in row) for row in gap), (Fraction(1, m),) * m)


def weights(rng: np.random.Generator, m: int, lam: Fraction, parts: int = 3) -> dict[int, Fraction]:
    """A random point of the maximal polytope: a mixture of a few of its vertices."""
    vertices = MaximalPolytope(m, lam).vertices()
    chosen = [vertices[int(i)] for i in rng.integers(0, len(vertices), size=parts)]
    point: dict[int, Fraction] = {}
    for share, vertex in zip(distribution(rng, parts), chosen, strict=True):
        for subset, weight in vertex.items():
            point[subset] = point.get(subset, Fraction(0)) + share * weight
    return point


def channels(rng: np.random.Generator, count: int, inputs: int) -> Iterator[Channel]:
    """Random rational channels with two to four outputs, some entries 0."""
    return strategies.channels(rng, count, [(inputs, 2), (inputs, 3), (inputs, 4)], zeros=1 / 7)


def product(kernel: Sequence[Sequence[Fraction]], columns: Sequence[Sequence[Fraction]]) -> list[list[Fraction]]:
    """A matrix product, written out."""
    return [[sum((a * b for a, b in zip(row, col, strict=True)), Fraction(0)) for col in zip(*columns, strict=True)]
            for row in kernel]  # fmt: skip


def gather(channel: Channel) -> Channel:
    """The canonical form of a channel: proportional columns added up, null ones dropped, columns sorted.

    Two exact channels have the same canonical form if they differ by relabelling outputs, null outputs, and
    splitting outputs (ldp_tradeoff, Lemma B.4).
    """
    pooled: dict[tuple[Fraction, ...], list[Fraction]] = {}
    for column in exact_columns(channel):
        total = sum(column, start=Fraction(0))
        if total:
            direction = tuple(entry / total for entry in column)
            kept = pooled.setdefault(direction, [Fraction(0)] * len(column))
            pooled[direction] = [a + b for a, b in zip(kept, column, strict=True)]
    columns = [tuple(pooled[direction]) for direction in sorted(pooled, reverse=True)]
    return Channel(tuple(zip(*columns, strict=True)))
