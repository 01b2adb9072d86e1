"""A slip in a proof of `decomposition` that no numbered statement carries."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np

from proofs_checks.alphabets import _cases as cases
from symshuffle.channels.shuffled import shuffled_law
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Correction,
    Statement,
    for_all,
)
from symshuffle.ledger.claims.parts import Erratum


def _over_all_orders(counts: tuple[int, ...]) -> Fraction:
    """Appendix C: what the sum over the permutations of a tuple is divided by, to give the law of its multiset."""
    return Fraction(math.factorial(sum(counts)))


def _over_repetitions(counts: tuple[int, ...]) -> Fraction:
    """A permutation that exchanges equal entries gives the same tuple again."""
    return Fraction(math.prod(math.factorial(count) for count in counts))


def _check_multisets(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Three random channels, user 1 at input 1 and the others at 0, n = 2 and 3: every multiset of messages.

    The library's law against the sum over all permutations divided by the stated number, in rationals; and the
    conclusion of the proof, by the mean of likelihood ratios.
    """
    for outputs, n in ((2, 2), (2, 3), (3, 3)):
        channel = cases.channel(rng, 2, outputs)
        rows: Any = channel.rows
        library, blanket = shuffled_law(channel, (1,) + (0,) * (n - 1)), shuffled_law(channel, (0,) * n)
        for counts, mass in library.items():
            entries = [y for y, count in enumerate(counts) for _ in range(count)]
            orders = Fraction(0)
            for said in itertools.permutations(entries):
                orders += rows[1][said[0]] * math.prod((rows[0][y] for y in said[1:]), start=Fraction(1))
            where = f"{outputs} outputs, n = {n}, multiset {counts}"
            yield compare(mass, orders / statement(counts), at=where)
            ratios = sum((rows[1][y] / rows[0][y] for y in entries), Fraction(0))
            yield compare(mass, blanket[counts] * ratios / n, at=f"{where}: the conclusion")


CLAIMS: Final = (
    Claim(
        id="symshuffle.decomposition-multisets",
        kind="statement",
        title="the law of a multiset from that of its orders",
        text=(
            Clause(
                "said",
                r"Appendix C: $\Pr[\{Y_1^b\}\cup W_{n-1}=Y]=\frac1{n!}\sum_\sigma\Pr[(Y_1^b,W_1,\dots)=\vec "
                r"y_\sigma]$ over all permutations.",
            ),
            Clause(
                "orders",
                "That divides by too much, as each order of Y is one event: with two outputs of probability 1/2 "
                r"and $n=2$, $\{a,b\}$ has probability 1/2 and the right-hand side is 1/4.",
            ),
            Clause(
                "product",
                r"The product $\prod A_2(y_i)$ is then called $\Pr[W_n=Y]$, which is short of the same factor, "
                "so that the two slips cancel and Theorem 12 stands. (Both are right for the reports in one "
                "random order. A matter of reading.)",
            ),
        ),
        source="decomposition, Appendix C",
        assumptions=(),
        scope="three random channels with 2 and 3 outputs, all multisets of 2 and 3 reports",
        grade="refuted",
        printed=_over_all_orders,
        check=_check_multisets,
        controls=(Control("once", lambda counts: Fraction(1)),),
        expected="refuted",
        erratum=Erratum(
            "wording",
            "reading",
            "Right for reports in a random order; as an identity of multisets two factors are missing, and cancel.",
            quote="over all permutations of [n]",
        ),
        corrected=Correction(
            text=(
                r"Divided by $\prod_ym_y!$ with the multiplicities $m_y$ of Y, and "
                r"$\Pr[W_n=Y]=\frac{n!}{\prod_ym_y!}\prod_iA_2(y_i)$."
            ),
            statement=_over_repetitions,
            grade="exact-cases",
        ),
        obligations=for_all("counts", clause=("said", "orders", "product")),
    ),
)
