"""How often an audit accuses whoever keeps the claim: exact for few runs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np

from symshuffle.collect import confidence_ends
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import Claim, Control, Statement

_BEYOND: Final = Fraction(1, 10**6)
"""Relative distance of a probability that lies just beyond an end."""


def _frequencies(count: int, runs: int, level: Any) -> tuple[Fraction, Fraction]:
    del level
    return Fraction(count, runs), Fraction(count, runs)


def _masses(runs: int, p: Fraction) -> list[Fraction]:
    return [math.comb(runs, c) * p**c * (1 - p) ** (runs - c) for c in range(runs + 1)]


def _check_error(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """One, five and nine runs at two levels, in rationals: each end, and refutations of claims that hold by equality.

    An end errs most where the true probability lies just beyond one of its values; all of these are tried. Then three
    claims (exp(eps), delta), with P1 at sevenths of its range and P0 = exp(eps) P1 + delta: a refutation has
    probability at most twice the level.
    """
    for runs, level in itertools.product((1, 5, 9), (Fraction(1, 8), Fraction(1, 100))):
        ends = [statement(c, runs, level) for c in range(runs + 1)]
        at = f"{runs} runs, level {level}"
        for c, (low, up) in enumerate(ends):
            if low > 0:
                masses = _masses(runs, low * (1 - _BEYOND))
                wrong = sum(mass for mass, (end, _up) in zip(masses, ends, strict=True) if end > low * (1 - _BEYOND))
                yield compare(wrong, level, "<=", at=f"{at}: lower end of {c} hits")
            if up < 1:
                true = up + (1 - up) * _BEYOND
                wrong = sum(mass for mass, end in zip(_masses(runs, true), ends, strict=True) if end[1] < true)
                yield compare(wrong, level, "<=", at=f"{at}: upper end of {c} hits")
        for ratio, delta in ((Fraction(1), Fraction(1, 10)), (Fraction(3), Fraction(0)), (Fraction(2), Fraction(1, 5))):
            for i in range(8):
                p1 = (1 - delta) / ratio * Fraction(i, 7)
                first, second = _masses(runs, ratio * p1 + delta), _masses(runs, p1)
                accused = sum(
                    first[c] * second[d]
                    for c, d in itertools.product(range(runs + 1), repeat=2)
                    if ends[c][0] - ratio * ends[d][1] > delta
                )
                yield compare(accused, 2 * level, "<=", at=f"{at}: exp(eps)={ratio}, delta={delta}, P1={p1}")


CLAIMS: Final = (
    Claim(
        id="symshuffle.audit-error",
        kind="statement",
        title="an audit accuses whoever keeps the claim with at most the stated probability",
        text=(
            r"If $P_0(E)\le e^\varepsilon P_1(E)+\delta$ for an event fixed before the runs, then independent runs "
            r"have $\mathrm{low}(P_0(E))-e^\varepsilon\,\mathrm{up}(P_1(E))>\delta$ with probability at most $2\beta$, "
            r"where each end of Clopper and Pearson is on the wrong side with probability at most $\beta$."
        ),
        source="symshuffle.collect.audit.verdicts",
        assumptions=("runs are independent", "the event does not depend on the runs that are counted"),
        scope="1, 5 and 9 runs, two levels: the worst probability of every end, and 24 claims that hold by equality",
        grade="exact-cases",
        printed=confidence_ends,
        check=_check_error,
        controls=(
            Control("frequencies in place of ends", _frequencies),
            Control("ends at twice the level", lambda c, runs, level: confidence_ends(c, runs, 2 * level)),
            Control(
                "ends of one hit more",
                lambda c, runs, level: confidence_ends(min(c + 1, runs), runs, level),
            ),
        ),
        expected="holds",
    ),
)
