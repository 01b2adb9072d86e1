"""Section 4: the largest chi-square of two rows, who attains it, and the Gaussian scale."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._extremes import half_block_channel
from proofs_checks.alphabets import _cases as cases
from symshuffle.base.lp import LinearProgram
from symshuffle.base.numbers import less
from symshuffle.channels.geometry.linprog import Solution, solve
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
    serving,
)
from symshuffle.mechanisms.registry import mechanism
from symshuffle.mechanisms.symbolic import LAM, nonnegative
from symshuffle.utility.likelihood.extremes import (
    bhatia_davis_bound,
    endpoint_ratio,
    gaussian_scale,
    largest_chi_square,
)
from symshuffle.utility.likelihood.law import LikelihoodRatio

ONE: Final = Fraction(1)


def _variance_bound(mean: Any, low: Any, high: Any) -> Any:
    return (high - mean) * (mean - low)


def _largest_variance(mean: Fraction, low: Fraction, high: Fraction) -> Solution:
    """The largest variance among laws on a grid, negated: by linear programming, solved exactly."""
    grid = [low + (high - low) * Fraction(j, 12) for j in range(13)]
    rows: list[tuple[list[Fraction], str, Fraction]] = [([ONE] * 13, "==", ONE), (grid, "==", mean)]
    return solve(LinearProgram.from_rows([-((x - mean) ** 2) for x in grid], rows))


def _check_variance(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Any law by its moments, open mean and range: bound less variance is the mean of (M-X)(X-m); symbolic.

    At every point that is at least 0, and 0 at the ends only; two-point laws attain it. Three linear programs over laws
    on a grid, solved over Q.
    """
    mean, low, high, second, s, t = sp.symbols("mu m M E2 s t", positive=True)
    slack = high * mean - high * low - second + low * mean  # E (M - X)(X - m), at least 0
    variance = second - mean**2
    # E (M - X)(X - m) is linear in the law, and no point of the interval makes it negative.
    at = "every law: bound minus variance is the mean of (M - X)(X - m)"
    yield from serving("laws", [identity(statement(mean, low, high) - variance, slack, at=at)])
    between = (low + s, low + s + t)  # a point of the interval, and its upper end
    product = (between[1] - between[0]) * (between[0] - low)
    yield decide(nonnegative(product, {}), at="every point", claimed="(M - x)(x - m) >= 0", symbolic=True)
    yield decide(
        sp.solve(sp.Eq(product, 0), s, t, dict=True) == [], at="inside", claimed="0 only at an end", symbolic=True
    )
    yield identity(statement(mean, low, high), bhatia_davis_bound(mean, low, high), at="the library")
    share = (mean - low) / (high - low)
    ends = share * (high - mean) ** 2 + (1 - share) * (low - mean) ** 2
    yield identity(ends, statement(mean, low, high), at="every mean: attained on the two ends")
    for mean_, low_, high_ in (
        (ONE, ONE / 3, Fraction(3)),
        (Fraction(1, 2), Fraction(0), ONE),
        (ONE, Fraction(0), Fraction(5)),
    ):
        best = _largest_variance(mean_, low_, high_)
        at = f"linear program, mean {mean_} on [{low_}, {high_}]"
        yield compare(-best.value.upper, statement(mean_, low_, high_), at=at, solution=best)


def _room(claimed: Any, what: str) -> Comparison:
    """The claimed bound less the variance of any law of mean 1 on [1/lam, lam]: the mean of (lam - g)(g - 1/lam)."""
    second = sp.Symbol("E2", positive=True)
    slack = LAM - second - 1 + 1 / LAM
    return identity(claimed - (second - 1), slack, at=f"every law of mean 1 on [1/lam, lam]: {what}, by Lemma 4.1")


def _universal(lam: Any) -> tuple[Any, Any]:
    """Bound on the chi-square, and the mass that attains it at the ratio lam."""
    return (lam - 1) ** 2 / lam, 1 / (1 + lam)


def _check_universal(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Any law of mean 1 on [1/lam, lam], open lam: Lemma 4.1 gives the bound, the stated two atoms attain it; symbolic.

    Over Q: 24 random laws with the case of equality, half-blocks, subset selection strictly below, and a linear program
    over laws at three lam.
    """
    claimed, mass = statement(LAM)
    yield identity(bhatia_davis_bound(1, 1 / LAM, LAM), claimed, at="every lam: Lemma 4.1 at mean 1")
    yield identity(mass * LAM + (1 - mass) / LAM, 1, at="every lam: the end points have mean 1 with this mass")
    yield from serving("laws", [_room(claimed, "chi-square")])
    yield identity(mass * (LAM - 1) ** 2 + (1 - mass) * (1 - 1 / LAM) ** 2, claimed, at="every lam: and attain it")
    yield identity(mass * LAM, LAM / (1 + LAM), at="every lam: mass of the high outputs under the other row")
    half = sp.Symbol("h", positive=True)  # eps0 = 2 log h
    yield identity(claimed.subs(LAM, half**2), (half - 1 / half) ** 2, at="every eps0: 4 sinh(eps0/2)^2")
    for lam, ratio in cases.ratios(rng, 24):
        bound, _ = statement(lam)
        yield compare(ratio.chi_square, bound, "<=", at=f"random law, lam={lam}")
        yield compare(
            ratio.chi_square == bound, ratio == endpoint_ratio(lam), at=f"random law, lam={lam}: equality case"
        )
    for lam in (Fraction(3, 2), Fraction(2), Fraction(5)):
        bound, mass_ = statement(lam)
        yield compare(dict(endpoint_ratio(lam).atoms()), {lam: mass_, 1 / lam: 1 - mass_}, at=f"lam={lam}: end points")
        for k in (2, 4, 6):
            ratio = LikelihoodRatio.of(half_block_channel(k, lam), 0, k // 2)
            yield compare(ratio.chi_square, bound, at=f"half-block, k={k}, lam={lam}: attained")
        for k in (3, 5, 7):
            for s in range(1, k):
                subset = LikelihoodRatio.of_mechanism(mechanism("subset-selection").at(k=k, s=s, lam=lam))
                yield compare(subset.chi_square, bound, "<", at=f"subsets of {s} in {k}, lam={lam}: below")
        best = _largest_variance(ONE, 1 / lam, lam)
        at = f"linear program over laws, lam={lam}"
        yield compare(-best.value.upper, bound, at=at, solution=best)


def _scale(lam: Any, n: Any) -> Any:
    """Square of the bound on the Gaussian parameter."""
    return (lam - 1) ** 2 / (lam * n)


def _check_scale(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Open lam and n: n times the squared scale bounds the variance of any law, by Lemma 4.1; symbolic.

    Twelve random laws at n = 1, 10, 1000 over Q and the library's scale in balls; half-blocks up to k = 10^9 attain it.
    """
    n = sp.Symbol("n", positive=True, integer=True)
    yield identity(largest_chi_square(LAM) / n, statement(LAM, n), at="every lam, n: square of the largest scale")
    yield from serving("laws", [_room(n * statement(LAM, n), "n times the square of the scale")])
    half = sp.Symbol("h", positive=True)
    yield identity(statement(half**2, n), (half - 1 / half) ** 2 / n, at="every eps0, n: 4 sinh(eps0/2)^2 / n")
    for lam, ratio in cases.ratios(rng, 12):
        for users in (1, 10, 1000):
            yield compare(ratio.chi_square / users, statement(lam, users), "<=", at=f"random law, lam={lam}, n={users}")
            square = gaussian_scale(ratio.chi_square, users)
            above = less(statement(lam, users), square.lower**2)
            yield decide(~above, at=f"random law, lam={lam}, n={users}", claimed="the library's scale is below")
    for k in (2, 8, 10**9):
        ratio = LikelihoodRatio.of_mechanism(mechanism("half-block").at(k=k, d=k // 2, lam=4))
        yield compare(ratio.chi_square / 7, statement(Fraction(4), 7), at=f"half-block, k={k}: attained")


CLAIMS: Final = (
    Claim(
        id="alphabets.lem-4.1",
        kind="statement",
        title="variance from mean and range",
        text=(
            Clause("bound", r"$\operatorname{Var}X\le(M-\mu)(\mu-m)$ for $m\le X\le M$."),
            Clause("equality", "Equality exactly on the two ends."),
        ),
        source="alphabets, Lemma 4.1",
        assumptions=("finite second moment",),
        scope="every law symbolically; three linear programs over laws, exactly",
        grade="proved",
        printed=_variance_bound,
        check=_check_variance,
        controls=(
            Control("Popoviciu, whatever the mean", lambda mean, low, high: (high - low) ** 2 / 4),
            Control("1 % smaller", lambda mean, low, high: (high - mean) * (mean - low) * Fraction(99, 100)),
        ),
        expected="holds",
        obligations=(
            *for_all("mean", "low", "high", clause="bound"),
            *for_all("laws", clause=("bound", "equality")),
        ),
    ),
    Claim(
        id="alphabets.thm-4.2",
        kind="statement",
        title="universal chi-square bound",
        text=(
            Clause("bound", r"$\chi^2_{ab}\le(\lambda-1)^2/\lambda$."),
            Clause(
                "equality",
                r"Equality exactly for mass $1/(1+\lambda)$ at $\lambda$, the rest at $1/\lambda$.",
            ),
        ),
        source="alphabets, Theorem 4.2",
        assumptions=(r"an $\varepsilon_0$-LDP channel, $\lambda=e^{\varepsilon_0}$",),
        scope="every lam symbolically, through Lemma 4.1; 24 random laws with the equality case, "
        "half-block, subset selection",
        grade="proved",
        printed=_universal,
        check=_check_universal,
        controls=(
            Control(
                "ratios up to lam^1.01 allowed", lambda lam: ((lam - 1) ** 2 / lam * Fraction(99, 100), 1 / (1 + lam))
            ),
            Control("masses exchanged", lambda lam: ((lam - 1) ** 2 / lam, lam / (1 + lam))),
        ),
        expected="holds",
        obligations=for_all("lam", "laws", clause=("bound", "equality")),
    ),
    Claim(
        id="alphabets.cor-4.3",
        kind="statement",
        title="universal Gaussian scale",
        text=r"$\mu_n=\sqrt{\chi^2_{ab}/n}\le(\lambda-1)/\sqrt{\lambda n}=2\sinh(\varepsilon_0/2)/\sqrt n$.",
        source="alphabets, Corollary 4.3",
        assumptions=(r"an $\varepsilon_0$-LDP channel",),
        scope="every lam and n symbolically (squares); 12 random laws; attained by half-blocks up to k = 10^9",
        grade="proved",
        printed=_scale,
        check=_check_scale,
        controls=(
            Control("without the square root of lam", lambda lam, n: (lam - 1) ** 2 / n),
            Control("1 % smaller", lambda lam, n: _scale(lam, n) * Fraction(99, 100)),
        ),
        expected="holds",
        obligations=for_all("lam", "n", "laws"),
    ),
)
