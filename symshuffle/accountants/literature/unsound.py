r"""Reductions that were published as bounds and are none: objects of study, which no accountant accepts.

Both pool outputs that an adversary can tell apart. They are kept because a claim that something is false is worth
checking like any other: :meth:`UnsoundReduction.counterexample` searches real datasets that leak more than claimed.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Verdict, less, maximum, positive_part
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import shuffled_divergence
from symshuffle.decompositions.model import ReductionPair
from symshuffle.engines.counting.exact import Exact


@final
@dataclass(frozen=True, slots=True)
class Counterexample:
    """Two neighbouring datasets whose divergence exceeds what a reduction claims, in exact arithmetic."""

    first: tuple[int, ...]
    second: tuple[int, ...]
    exp_eps: Fraction
    claimed: Fraction
    real: Fraction


@final
@dataclass(frozen=True, slots=True)
class UnsoundReduction:
    """A pair of per-user laws that claims to bound a shuffled mechanism and does not.

    It is no source for :func:`symshuffle.accountants.questions.solve.delta` or any other accountant, which refuse it.
    """

    name: str
    pair: ReductionPair

    def value_without_guarantee(self, exp_eps: Fraction, n: int) -> Fraction:
        """The divergence of the pair, in the larger direction: a number that bounds nothing."""
        engine = Exact()
        brackets = [engine.bracket(self.pair.gparv(exp_eps, direction=d), n) for d in ("forward", "reverse")]
        return max(bracket.upper for bracket in brackets)

    def counterexample(
        self, channel: Channel, pair: tuple[int, int], *, targets: Sequence[Fraction], most_users: int
    ) -> Counterexample | None:
        """The first real pair of datasets beyond the claimed value, fewest users first; None if there is none."""
        for n in range(1, most_users + 1):
            claims = [(exp_eps, self.value_without_guarantee(exp_eps, n)) for exp_eps in targets]
            for others in itertools.combinations_with_replacement(range(channel.num_inputs), n - 1):
                first, second = (pair[0], *others), (pair[1], *others)
                for exp_eps, claimed in claims:
                    real = shuffled_divergence(channel, first, second, exp_eps)
                    if real > claimed:
                        return Counterexample(first, second, exp_eps, claimed, real)
        return None


def unsound_variation_ratio(channel: Channel, pair: tuple[int, int]) -> UnsoundReduction:
    r"""The variation-ratio reduction of a channel at a pair of inputs, which bounds nothing in general.

    With :math:`\lambda` the ratio cap, :math:`\beta` the total variation distance of the pair and q the largest ratio
    of a row of the pair to any other row, user 1 sends one of two special messages with probabilities
    :math:`\lambda\alpha` and :math:`\alpha=\beta/(\lambda-1)`, and the others with :math:`\lambda\alpha/q` each;
    whatever remains is one message. For k-ary randomized response it is the stronger clone at
    :math:`p=1/(\lambda+k-1)`, and two users exceed it from k = 3 on.
    """
    rows: Sequence[Sequence[Any]] = channel.rows
    lam = channel.ratio_cap()
    if less(1, lam) is not Verdict.TRUE:
        raise InputError("channel", f"ratio cap {lam}", "a channel that tells some inputs apart")
    first, second = (rows[x] for x in pair)
    distance = sum((positive_part(a - b) for a, b in zip(first, second, strict=True)), start=Fraction(0))
    ratios = [a / c for row in (first, second) for other in rows for a, c in zip(row, other, strict=True) if c]
    alpha, clone = distance / (lam - 1), lam * distance / (lam - 1) / maximum(ratios)
    rest = 1 - alpha - lam * alpha
    laws = ((lam * alpha, alpha, rest), (alpha, lam * alpha, rest), (clone, clone, 1 - 2 * clone))
    return UnsoundReduction("variation-ratio", ReductionPair(*laws, unsound=True))
