"""The noise of votes where it depends on who holds what: any exact channel, and joint compositions of alike parts.

For a fixed composition the squared error of a mean of unbiased votes is a mean of variances over the users, so that it
is largest at a vertex, where all users hold the same input.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, Final, final

from symshuffle.base.choices import Loss, Population, choice
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Number, maximum
from symshuffle.channels.channel import Channel, exact_columns
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.canonical import (
    canonical_estimator,
    inverse_trace,
    vote_sizes,
    worst_risk,
)
from symshuffle.utility.estimation.votes import Noise, VoteNoise, deviations

_MOST_INPUTS: Final = 64
"""Inputs of an explicit channel up to which its covariance is inverted."""


@final
@dataclass(frozen=True, slots=True)
class VertexNoise(Noise):
    """The noise of votes whose losses depend on who holds what: each loss of one user, and where it is largest."""

    losses: Mapping[str, tuple[Number, str]]
    iid: Number
    estimator: str

    def alone(self, kind: Loss) -> Any:
        """The loss of one user, as :meth:`Noise.alone`."""
        return self.losses[kind][0]

    def worst(self, loss: Loss | str) -> str:
        """Composition at which a loss is largest, in words."""
        return self.losses[choice(Loss, loss, "loss")][1]


def channel_noise(channel: Channel) -> VertexNoise:
    """The noise of the canonical votes of an exact channel, by input held and coordinate."""
    k = channel.num_inputs
    if k > _MOST_INPUTS or not channel.exact:
        limit = f"{k} inputs (limit {_MOST_INPUTS})" if channel.exact else "entries that are not rational"
        raise Unsupported(f"the canonical estimator of an explicit channel: {limit}")
    law = AnchoredLaw.from_channel(channel)
    sizes = vote_sizes(law)
    if sizes is None or inverse_trace(law) == float("inf"):
        raise Unsupported("no estimator is unbiased: some compositions send messages of the same law")
    votes, columns = canonical_estimator(law).votes(channel), exact_columns(channel)

    def variance(x: int, i: int) -> Fraction:
        second = sum((column[x] * vote[i] ** 2 for column, vote in zip(columns, votes, strict=True)), start=Fraction(0))
        return second - (Fraction(int(i == x)) - Fraction(1, k)) ** 2

    table = [[variance(x, i) for i in range(k)] for x in range(k)]
    held = max(range(k), key=lambda x: sum(table[x]))
    x, i = max(itertools.product(range(k), repeat=2), key=lambda place: table[place[0]][place[1]])
    z, j = max(itertools.permutations(range(k), 2), key=lambda place: table[place[0]][place[1]])
    pairs = ((deviations(table[b][b], table[a][b]), a, b) for a, b in itertools.permutations(range(k), 2))
    both, a, b = max(pairs, key=lambda entry: entry[0].upper)
    iid = worst_risk(law, n=1, population=Population.IID).bracket.upper
    found: dict[str, tuple[Number, str]] = {
        Loss.L2: (sum(table[held], start=Fraction(0)), f"all users hold input {held}"),
        Loss.MAX: (table[x][i], f"all users hold input {x}, category {i} is looked at"),
        Loss.ABSENT: (table[z][j], f"all users hold input {z}, category {j} is looked at"),
        Loss.TEST: (both, f"all users hold input {b}, and all hold input {a}; category {b} is looked at"),
    }
    return VertexNoise(found, iid, "canonical unbiased")


def joint_noise(parts: Sequence[VoteNoise]) -> VertexNoise:
    """The noise of products of the canonical votes of parts that each treat all pairs of inputs alike.

    The second moment of a product is a product: :math:`1+V_0` of a part that matches, :math:`V_1` of one that does not.
    The sum of squares is the same at every composition of the tuples.
    """
    size = reduce(lambda total, part: total * part.inputs, parts, 1)
    # Second moments of a coordinate of the product by whether any part differs: equal products are kept once.
    moments: list[tuple[Any, bool]] = [(Fraction(1), False)]
    for part in parts:
        own: Any = part.own
        steps = ((1 + own, False), (part.absent, True))
        moments = list({(str(v * w), d or e): (v * w, d or e) for v, d in moments for w, e in steps}.values())
    (matching,) = (value for value, differs in moments if not differs)
    own, absent = matching - 1, maximum([value for value, differs in moments if differs])
    sums: Any = Fraction(1)
    for part in parts:
        sums = sums * (1 + part.risk(1))
    both, differing = deviations(own, absent), "one that differs from it"
    found: dict[str, tuple[Number, str]] = {
        Loss.L2: (sums - 1, "every composition alike"),
        Loss.MAX: (maximum([own, absent]), f"all users hold one tuple: the one that is looked at, or {differing}"),
        Loss.ABSENT: (absent, "all users hold one tuple that differs from the one that is looked at"),
        Loss.TEST: (both, f"all users hold the tuple that is looked at, and all hold {differing}"),
    }
    return VertexNoise(found, sums - Fraction(1, size), "product of canonical unbiased ones")
