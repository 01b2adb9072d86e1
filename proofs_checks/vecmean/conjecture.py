"""The conjecture behind Section 4.3 for two and three users, and how close the profiles are to their templates."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Final

import numpy as np

from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import Claim, Clause, Control, Statement, by_cases
from symshuffle.vectors.privacy.conjecture import WorstBackground, worst_background_on_the_line
from symshuffle.vectors.privacy.correspondence import Correspondence, correspondence
from symshuffle.vectors.randomizers.mechanisms import BlanketMixedGaussian

SETTINGS: Final = (
    (2, Fraction(1), Fraction(1, 5), Fraction(1, 100)),
    (2, Fraction(2), Fraction(1, 5), Fraction(1, 100)),
    (3, Fraction(1), Fraction(1, 5), Fraction(1, 10)),
    (3, Fraction(2), Fraction(1, 10), Fraction(1, 10)),
)
"""Users, noise, level, and the tolerance that the grid affords."""

USERS: Final = (100, 1000, 10_000, 100_000, 1_000_000)


def _opposite(n: int, sigma0: Fraction, eps: Fraction, reverse: bool) -> Fraction:
    """Where all other users are, the differing one being at 1 or absent."""
    return Fraction(-1)


@cache
def _search(
    n: int, sigma0: Fraction, eps: Fraction, share: Fraction, reverse: bool, others: Fraction
) -> WorstBackground:
    """Branch and bound over the inputs of all users, against the others at one place."""
    return worst_background_on_the_line(n=n, sigma0=sigma0, eps=eps, tolerance=share, reverse=reverse, others=others)


def _check_small(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Four (n, sigma0, eps), both orders: a certified bound over all inputs against the others at the stated place."""
    for n, sigma0, eps, share in SETTINGS:
        for reverse in (False, True):
            others = statement(n, sigma0, eps, reverse)
            found = _search(n, sigma0, eps, share, reverse, others)
            at = f"n = {n}, sigma0 = {sigma0}, eps = {eps}, {'(null, x)' if reverse else '(x, null)'}"
            yield compare(found.bracket.upper, found.conjectured.lower * (1 + share), "<=", at=at)


def _templates(n: int) -> tuple[Fraction, Fraction]:
    """Shares of g, of the lower index and of the upper one, between which the profile lies."""
    table = {100: "1.1735", 1000: "1.0887", 10_000: "1.0399", 100_000: "1.0168", 1_000_000: "1.0068"}
    return Fraction(table[n]), Fraction(1)


@cache
def _rows() -> tuple[Correspondence, ...]:
    """Profiles and templates of BMG(0.95, 4.6) at five numbers of users."""
    return correspondence(BlanketMixedGaussian(Fraction(19, 20), Fraction(23, 5)), USERS)


def _check_templates(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Five n: bound and real pair over templates and central profile, as brackets, against the stated shares."""
    for row in _rows():
        most, least = statement(row.n)
        yield compare(row.mills_constant, most, "<=", at=f"n = {row.n}: bound over g at the lower index")
        yield compare(row.lower_constant, least, ">=", at=f"n = {row.n}: real pair over g at the upper index")
        yield compare(row.to_central, most, "<=", at=f"n = {row.n}: bound over the central profile")


CLAIMS: Final = (
    Claim(
        id="symshuffle.vecmean-chua-small-n",
        kind="statement",
        title="opposite background is worst for two and three Gaussian messages, up to a tolerance",
        text=(
            Clause(
                "two",
                "On [-1, 1], in both orders of the pair, no inputs of all users exceed the divergence of x = 1 "
                r"against the null symbol with all others at -1: by more than 1 % for n = 2, $\varepsilon=1/5$, "
                r"$\sigma_0\in\{1,2\}$.",
            ),
            Clause(
                "three",
                r"None exceeds it by more than 10 % for n = 3, $(\sigma_0,\varepsilon)\in\{(1,1/5),(2,1/10)\}$.",
            ),
        ),
        source="our own; vecmean, Section 4.3, on Conjecture 3.2 of Chua et al. (2024)",
        assumptions=("dimension 1; these settings only: the conjecture itself stays open",),
        scope="all inputs, by branch and bound over boxes; the settings named",
        grade="certified",
        printed=_opposite,
        check=_check_small,
        controls=(
            Control("all others at -0.9", lambda n, sigma0, eps, reverse: Fraction(-9, 10)),
            Control("all others at x", lambda n, sigma0, eps, reverse: Fraction(1)),
        ),
        expected="holds",
        obligations=by_cases("n", "sigma0", "eps", clause=("two", "three")),
    ),
    Claim(
        id="symshuffle.vecmean-correspondence",
        kind="statement",
        title="how close the shuffled profile is to its Mills template and to the central profile",
        text=(
            Clause(
                "at most",
                r"BMG(0.95, 4.6) at $\varepsilon_n=\sqrt{\log n/n}/\chi_{lo}$ (to nine digits): the profile is "
                r"at most c_n times $g(\chi_{lo})$ and c_n times the central profile of $\sigma=\chi_{lo}$.",
            ),
            Clause(
                "at least",
                r"It is at least $g(\chi_{up})$, with c_n = 1.1735, 1.0887, 1.0399, 1.0168, 1.0068 at "
                r"$n=10^2,\dots,10^6$.",
            ),
        ),
        source="our own; vecmean, Lemma 2.6 and Proposition 3.2",
        assumptions=("zero-out adjacency",),
        scope="five numbers of users; brackets in doubles with an allowance",
        grade="sampled",
        printed=_templates,
        check=_check_templates,
        controls=(
            Control("c_n smaller by 0.1 %", lambda n: (_templates(n)[0] * Fraction(999, 1000), Fraction(1))),
            Control("at least 1.01 g", lambda n: (_templates(n)[0], Fraction(101, 100))),
        ),
        expected="holds",
        obligations=by_cases("n", clause=("at most", "at least")),
    ),
)
