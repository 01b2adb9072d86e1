"""What the chi-square budget and the exact delta of the canonical pair each prefer."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

import numpy as np

from proofs_checks.alphabets._equivariant import response_mixture
from symshuffle.base.choices import Direction, members
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import shuffled_divergence
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
)
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.frontiers.contamination import Contamination, ratio_law, shuffled_leakage

CASES: Final = (
    (5, 20, (Fraction(4), Fraction(1)), (Fraction(6), Fraction(19, 32))),
    (10, 20, (Fraction(2), Fraction(1)), (Fraction(3), Fraction(27, 88))),
)
"""Inputs, users, and two thinned responses (ratio, share); the order is 3/2."""

ORDER: Final = Fraction(3, 2)


def _orders(index: int) -> tuple[str, str, str]:
    """How the second response compares with the first: its chi-square, its delta, its signal."""
    return ((">", "<", ">"), ("==", ">", ">"))[index]


def _response(k: int, lam: Fraction, share: Fraction) -> Channel:
    return response_mixture(k, ((share, lam),), (1 - share,) if share < 1 else ())


def _delta(channel: Channel, n: int) -> Fraction:
    """Delta of the canonical pair, the larger of both directions."""
    ratio = ratio_law(channel, 1, 0)
    found = (
        shuffled_leakage(ratio, Contamination(n, direction), gamma=ORDER, arithmetic="exact").bracket
        for direction in members(Direction)
    )
    return max(bracket.lower for bracket in found)


def _check_orders(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Two pairs of thinned responses, 20 users: chi-square, exact delta and signal compared in the stated direction.

    In rationals. The exact delta for 3 users against both directions of the canonical pair, by all histograms.
    """
    for index, (k, n, *responses) in enumerate(CASES):
        channels = [_response(k, lam, share) for lam, share in responses]
        first, second = map(AnchoredLaw.from_channel, channels)
        before, after = (_delta(channel, n) for channel in channels)
        budget, delta, signal = statement(index)
        where = f"k={k}, n={n}, exp(eps)=3/2"
        yield compare(second.pairwise_budget(), first.pairwise_budget(), budget, at=f"{where}: chi-square")
        yield compare(after, before, delta, at=f"{where}: delta of the canonical pair")
        yield compare(second.trace(), first.trace(), signal, at=f"{where}: signal")
        for (lam, *_rest), response in zip(responses, channels, strict=True):
            pair = response.restrict((0, 1))
            found = max(
                shuffled_divergence(pair, (0, 0, 0), (1, 0, 0), ORDER),
                shuffled_divergence(pair, (1, 0, 0), (0, 0, 0), ORDER),
            )
            yield compare(_delta(response, 3), found, at=f"k={k}, n=3, C={lam}: by all histograms")


CLAIMS: Final = (
    Claim(
        id="symshuffle.alphabets-exact-delta",
        kind="statement",
        title="chi-square and exact delta rank thinning differently, both ways",
        text=(
            Clause("setting", r"20 users, $e^\varepsilon=3/2$.", "definition"),
            Clause(
                "five inputs",
                "Five inputs, above the threshold: response at $C=6$ thinned to 19/32 has more signal and a "
                "smaller delta than plain response at $C=4$, although its chi-square is larger.",
            ),
            Clause(
                "ten inputs",
                "Ten inputs, below it: at equal chi-square $C=3$ thinned to 27/88 has more signal than plain "
                "$C=2$, and a larger delta.",
            ),
        ),
        source="beyond alphabets, Theorem 10.2 (finite n)",
        assumptions=("the canonical pair, both directions",),
        scope="two exact rational instances; the engine against all histograms at 3 users",
        grade="exact-cases",
        printed=_orders,
        check=_check_orders,
        controls=(
            Control("delta follows chi-square", lambda index: ((">", ">", ">"), ("==", "==", ">"))[index]),
            Control("plain response has more signal", lambda index: (*_orders(index)[:2], "<")),
        ),
        expected="holds",
        obligations=for_all("index", clause=("five inputs", "ten inputs")),
    ),
)
