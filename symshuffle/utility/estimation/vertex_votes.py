r"""The noise of votes where it depends on who holds what: any exact channel, and joint compositions of alike parts.

An unbiased estimate of shares is the mean of one vote per user. For a fixed composition its squared error is a mean of
variances over the users, so that it is largest where all users hold the same input: the worst composition is a vertex.

- *Channel*: the canonical vote :math:`\frac1k1+A(u-1)` of a message with template ``u``
  (:mod:`symshuffle.utility.estimation.canonical`), with one variance for every input held and every coordinate.
- *Joint composition*: the vote for a tuple of inputs is the product of the votes of the parts, which are independent.
  Its second moment is a product: :math:`1+V_0` of a part that matches, :math:`V_1` of one that does not.
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
from symshuffle.base.numbers import DEFAULT_BITS, Ball, Number, maximum, to_arb, working_precision
from symshuffle.channels.channel import Channel, exact_columns
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.canonical import canonical_estimator, check_users, inverse_trace, vote_sizes
from symshuffle.utility.estimation.votes import VoteNoise
from symshuffle.utility.estimation.worst_risk import worst_risk

_MOST_INPUTS: Final = 64
"""Inputs of an explicit channel up to which its covariance is inverted."""


@final
@dataclass(frozen=True, slots=True)
class VertexNoise:
    """What one message adds to an estimate, at the composition that is worst for each loss.

    - ``losses``: the losses of one user by name; that of ``test`` is a sum of two standard errors.
    """

    losses: Mapping[str, Number]
    worst_at: Mapping[str, str]
    iid: Number
    estimator: str

    def risk(self, n: int) -> Number:
        """The largest expected squared error for ``n`` users of a fixed composition."""
        return self.loss(Loss.L2, n)

    def iid_risk(self, n: int) -> Number:
        """The largest expected squared error for ``n`` users who draw their inputs."""
        iid: Any = self.iid
        value: Number = iid / check_users(n)
        return value

    def coordinate_variance(self, n: int) -> Number:
        """The largest variance of a coordinate over all fixed compositions."""
        return self.loss(Loss.MAX, n)

    def loss(self, loss: Loss | str, n: int) -> Number:
        """The error of ``n`` users that a loss looks at, at the fixed composition that is worst for it."""
        kind, n = choice(Loss, loss, "loss"), check_users(n)
        alone: Any = self.losses[kind]
        if kind is not Loss.TEST:
            value: Number = alone / n
            return value
        with working_precision(DEFAULT_BITS):
            return Ball.from_arb(to_arb(alone) / to_arb(n).sqrt(), DEFAULT_BITS)

    def worst(self, loss: Loss | str) -> str:
        """Composition at which a loss is largest, in words."""
        return self.worst_at[choice(Loss, loss, "loss")]


def channel_noise(channel: Channel) -> VertexNoise:
    """The noise of the canonical votes of an exact channel.

    Examples
    --------
    >>> from symshuffle import mechanism
    >>> found = channel_noise(mechanism("krr").channel(k=3, lam=4))
    >>> [str(found.loss(kind, 1)) for kind in ("l2", "max", "absent")]
    ['2', '8/9', '5/9']
    """
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
    pairs = ((_deviations(table[b][b], table[a][b]), a, b) for a, b in itertools.permutations(range(k), 2))
    both, a, b = max(pairs, key=lambda entry: entry[0].upper)
    iid = worst_risk(law, n=1, population=Population.IID).bracket.upper
    return VertexNoise(
        {
            Loss.L2.value: sum(table[held], start=Fraction(0)),
            Loss.MAX.value: table[x][i],
            Loss.ABSENT.value: table[z][j],
            Loss.TEST.value: both,
        },
        {
            Loss.L2.value: f"all users hold input {held}",
            Loss.MAX.value: f"all users hold input {x}, category {i} is looked at",
            Loss.ABSENT.value: f"all users hold input {z}, category {j} is looked at",
            Loss.TEST.value: f"all users hold input {b}, and all hold input {a}; category {b} is looked at",
        },
        iid,
        "canonical unbiased",
    )


def joint_noise(parts: Sequence[VoteNoise]) -> VertexNoise:
    """The noise of products of the canonical votes of parts that each treat all pairs of inputs alike.

    The sum of squares is the same at every composition of the tuples.

    Examples
    --------
    >>> from symshuffle import mechanism
    >>> from symshuffle.utility.estimation.votes import canonical_votes
    >>> part = canonical_votes(mechanism("rr").at(lam=3))
    >>> str(joint_noise([part, part]).loss("l2", 1))
    '21/4'
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
    larger = maximum([own, absent])
    return VertexNoise(
        {
            Loss.L2.value: sums - 1,
            Loss.MAX.value: larger,
            Loss.ABSENT.value: absent,
            Loss.TEST.value: _deviations(own, absent),
        },
        {
            Loss.L2.value: "every composition alike",
            Loss.MAX.value: "all users hold one tuple: the one that is looked at, or one that differs from it",
            Loss.ABSENT.value: "all users hold one tuple that differs from the one that is looked at",
            Loss.TEST.value: "all users hold the tuple that is looked at, and all hold one that differs from it",
        },
        sums - Fraction(1, size),
        "product of canonical unbiased ones",
    )


def _deviations(own: Number, absent: Number) -> Ball:
    """The sum of two standard deviations."""
    with working_precision(DEFAULT_BITS):
        return Ball.from_arb(to_arb(own).sqrt() + to_arb(absent).sqrt(), DEFAULT_BITS)
