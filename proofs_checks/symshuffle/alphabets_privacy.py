"""What the chi-square budget and the exact delta of the canonical pair each prefer."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

import numpy as np

from symshuffle.base.choices import Rigour
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import shuffled_divergence
from symshuffle.ledger.claims.model import Claim, ClaimVerdict, Comparison, Control, Grade, Kind, Statement, compare
from symshuffle.utility.frontiers.equivariant import response_mixture
from symshuffle.utility.frontiers.private_response import PricedResponse, canonical_delta

CASES: Final = (
    (5, 20, (Fraction(4), Fraction(1)), (Fraction(6), Fraction(19, 32))),
    (10, 20, (Fraction(2), Fraction(1)), (Fraction(3), Fraction(27, 88))),
)
"""Inputs, users, and two thinned responses (ratio, share); the order is 3/2."""

ORDER: Final = Fraction(3, 2)


def _orders(index: int) -> tuple[str, str, str]:
    """How the second response compares with the first: its chi-square, its delta, its signal."""
    return ((">", "<", ">"), ("==", ">", ">"))[index]


def _priced(k: int, n: int, lam: Fraction, share: Fraction) -> PricedResponse:
    bracket = canonical_delta(k, n, lam=lam, share=share, gamma=ORDER, rigour=Rigour.EXACT)
    return PricedResponse(k, n, ORDER, Fraction(1), lam, share, bracket)


def _check_orders(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Two pairs of thinned responses, 20 users: chi-square, exact delta and signal compared in the stated direction.

    In rationals. The exact delta for 3 users against both directions of the canonical pair, by all histograms.
    """
    for index, (k, n, *responses) in enumerate(CASES):
        first, second = (_priced(k, n, lam, share) for lam, share in responses)
        budget, delta, signal = statement(index)
        where = f"k={k}, n={n}, exp(eps)=3/2"
        yield compare(second.budget, first.budget, budget, at=f"{where}: chi-square")
        yield compare(second.bracket.lower, first.bracket.lower, delta, at=f"{where}: delta of the canonical pair")
        yield compare(second.signal, first.signal, signal, at=f"{where}: signal")
        for lam, share in responses:  # the engine against histograms, for few users
            nulls = (1 - share,) if share < 1 else ()
            channel: Channel = response_mixture(k, ((share, lam),), nulls).restrict((0, 1))
            found = max(
                shuffled_divergence(channel, (0, 0, 0), (1, 0, 0), ORDER),
                shuffled_divergence(channel, (1, 0, 0), (0, 0, 0), ORDER),
            )
            exact = canonical_delta(k, 3, lam=lam, share=share, gamma=ORDER, rigour=Rigour.EXACT)
            yield compare(exact.exact, found, at=f"k={k}, n=3, C={lam}: by all histograms")


CLAIMS: Final = (
    Claim(
        id="symshuffle.alphabets-exact-delta",
        kind=Kind.STATEMENT,
        title="chi-square and exact delta rank thinning differently, both ways",
        text=(
            r"20 users, $e^\varepsilon=3/2$. Five inputs, above the threshold: response at $C=6$ thinned to 19/32 has "
            r"more signal and a smaller delta than plain response at $C=4$, although its chi-square is larger. Ten "
            r"inputs, below it: at equal chi-square $C=3$ thinned to 27/88 has more signal than plain $C=2$, and a "
            r"larger delta."
        ),
        source="beyond alphabets, Theorem 10.2 (finite n)",
        assumptions=("the canonical pair, both directions",),
        scope="two exact rational instances; the engine against all histograms at 3 users",
        grade=Grade.EXACT_CASES,
        printed=_orders,
        check=_check_orders,
        controls=(
            Control("delta follows chi-square", lambda index: ((">", ">", ">"), ("==", "==", ">"))[index]),
            Control("plain response has more signal", lambda index: (*_orders(index)[:2], "<")),
        ),
        expected=ClaimVerdict.HOLDS,
    ),
)
