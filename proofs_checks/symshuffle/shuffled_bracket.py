"""The best channel after shuffling: a bracket around the best trace at one point."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Final

import numpy as np

from symshuffle.accountants.questions.solve import delta
from symshuffle.base.numbers import Exp
from symshuffle.design.shuffled.upper import trace_proof
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    by_cases,
    serving,
)
from symshuffle.mechanisms.registry import mechanism
from symshuffle.utility.frontiers.orbit import subset_orbit

RATIO: Final = Fraction(57, 4)
CAP: Final = Fraction(93, 5)
TRACE: Final = Fraction(249, 8)
ENDS: Final = (Fraction(65, 2), Fraction(67, 2), Fraction(69, 2), Fraction(141, 4))
"""Second moments of G that divide the channels into five cells."""

TARGET: Final = Fraction(1, 10**6)


def _factor() -> Fraction:
    """The best trace is within this factor of that of k-ary response."""
    return Fraction(16, 15)


@cache
def _proved() -> bool:
    order = Exp(Fraction(1, 2))
    return trace_proof(10, n=1000, exp_eps=order, delta=TARGET, lam_cap=CAP, trace=TRACE, ends=ENDS).holds()


def _check(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """In balls, 10-ary response of ratio 57/4 meets the target; no channel of trace 249/8 does, by a certificate.

    The cap is 1.3 times the ratio.
    """
    found = delta(mechanism("krr").at(k=10, lam=RATIO), n=1000, eps=Fraction(1, 2), arithmetic="ball")
    meets = compare(found.bracket.upper, TARGET, "<=", at="10-ary response of ratio 57/4: delta")
    yield from serving("target", [meets])
    yield compare(Fraction(13, 10) * RATIO, CAP, "<=", at="the cap: at least 1.3 times the ratio")
    most = decide(_proved(), at="ratios at most 93/5: the certificate", claimed="no trace of 249/8 or more")
    ends = compare(TRACE, statement() * subset_orbit(10, 1, RATIO).signal, "<=", at="both ends of the bracket")
    yield from serving("largest trace", [most, ends])


CLAIMS: Final = (
    Claim(
        id="symshuffle.shuffled-bracket",
        kind="statement",
        title="at 10 inputs, 1000 users, eps 1/2, delta 1e-6 k-ary response is within a fifteenth of the best trace",
        text=(
            Clause(
                "at most",
                r"Among exchangeable channels with likelihood ratios at most $93/5$ that meet $(1/2,10^{-6})$ after "
                "shuffling 1000 users by the certified bound, with 10 inputs, the largest trace is at most 16/15 "
                "times that of 10-ary randomized response of ratio $57/4$.",
            ),
            Clause("response", "That response meets the target."),
        ),
        source="symshuffle.design.shuffled.minorant",
        assumptions=("exchangeable channels", "likelihood ratios at most 93/5", "certified bound"),
        scope="one point, in rationals and balls",
        grade="exact-cases",
        printed=_factor,
        check=_check,
        controls=(Control("within 1.05", lambda: Fraction(21, 20)),),
        expected="holds",
        obligations=(*by_cases("largest trace", clause="at most"), *by_cases("target", clause="response")),
    ),
)
