"""Beyond the paper on growing alphabets: orbits of tuples, a gap, and the best response at a central target.

Of the catalogue's items beyond the paper, 1 and 2 are in ``alphabets_design``, 3 in ``alphabets_limits``, 4, 6 and 7 in
``alphabets_extremes`` (6 also in ``alphabets_design``), 5 in ``alphabets_estimation`` and here, 8 in
``alphabets_privacy`` and here. For 8 there is a formula where to tell the truth with probability delta is best;
else the best share solves a polynomial of the degree of the number of users, and is enclosed, not named.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.alphabets._equivariant import ordered_pair_slope
from symshuffle.accountants.questions.solve import delta
from symshuffle.design.comparison.branch_and_bound import Rivals
from symshuffle.design.comparison.families import family
from symshuffle.design.comparison.matching import read_match
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity, serving
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    by_cases,
    for_all,
    in_the_limit,
)
from symshuffle.mechanisms.finite import K, augmented_randomized_response
from symshuffle.mechanisms.symbolic import LAM, nonnegative
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.canonical import worst_canonical_risk
from symshuffle.utility.estimation.moments import pairwise_budget, trace
from symshuffle.utility.estimation.votes import canonical_votes
from symshuffle.utility.frontiers.equivariant import optimal_equivariant_risk
from symshuffle.utility.frontiers.frontier import slope_constant
from symshuffle.utility.frontiers.orbit import tuple_orbit

_TOTAL, _SQUARES, _RECIPROCALS, _SLACK = sp.symbols("S Q H r", positive=True)


def _tuples(k: Any, total: Any, squares: Any, reciprocals: Any) -> tuple[Any, Any]:
    """Slope of an orbit of ordered tuples from the sums over its unscaled template, and the largest slope."""
    slope = (k * squares - total**2) / (total * (squares * reciprocals - k * total))
    return slope, 1 / (1 + sp.sqrt(k - 1)) ** 2


def _check_tuples(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The slope of an orbit from open sums of its template, and of ordered pairs from the library: symbolic.

    Two levels, any k, s and C: the reciprocal slope exceeds that of the stated largest slope by a square and a product
    of factors of at least 0. Then explicit channels of all permutations at six (k, j): budget, trace and slope,
    in rationals.
    """
    slope, cap = statement(K, _TOTAL, _SQUARES, _RECIPROCALS)
    scale = K / _TOTAL
    v, h = scale**2 * _SQUARES, _RECIPROCALS / scale
    yield identity((v - K) / (v * h - K**2), slope, at="every k, j and template: from its square and reciprocal sums")
    a, b = sp.symbols("alpha beta", positive=True)
    pair = statement(K, a + b + K - 2, a**2 + b**2 + K - 2, 1 / a + 1 / b + K - 2)[0]
    yield identity(ordered_pair_slope(), pair, at="every k, alpha, beta: ordered pairs, from the levels")
    # The best templates have two values (alphabets.lem-11.2); with s high coordinates of ratio C the reciprocal slope
    # is k + sC + (k-s)/C, at least k + 2 sqrt(s(k-s)), and s(k-s) - (k-1) = (s-1)(k-s-1).
    s, c = sp.symbols("s C", positive=True)
    low = K - s
    two = statement(K, s * c + low, s * c**2 + low, s / c + low)[0]
    yield identity(1 / two, K + s * c + low / c, at="every k, s, C: two levels")
    gap = (sp.sqrt(s * c) - sp.sqrt(low / c)) ** 2
    floor = K + 2 * sp.sqrt(s * c) * sp.sqrt(low / c)
    yield from serving("templates", [identity(1 / two - gap, floor, at="every k, s, C: above it by a square")])
    yield identity(s * low - (K - 1), (s - 1) * (K - s - 1), at="every k, s: two factors of at least 0")
    yield identity(cap.subs(K, _SLACK**2 + 1), 1 / (_SLACK**2 + 1 + 2 * _SLACK), at="every k = r^2 + 1: at s = 1")
    yield identity(cap * K * (K - 1), slope_constant(), at="every k: the library's constant, for traces")
    for k, j in ((4, 1), (4, 2), (4, 3), (5, 3), (5, 5), (6, 4)):
        values = [Fraction(int(v), 2) for v in rng.integers(1, 9, size=j)]
        orbit = tuple_orbit(k, values)
        u = orbit.template()
        if len(set(u)) == 1:
            continue
        whole = [*values, *[Fraction(1)] * (k - j)]
        sums = sum(whole), sum(x * x for x in whole), sum(1 / x for x in whole)
        claimed = statement(Fraction(k), *sums)[0]
        law = AnchoredLaw.from_atoms((point, Fraction(1, math.factorial(k))) for point in itertools.permutations(u))
        budget = Fraction(law.pairwise_budget())
        where = f"k={k}, {j}-tuples"
        yield compare(orbit.budget, budget, at=f"{where}: budget of the explicit channel")
        yield compare(orbit.signal, law.trace(), at=f"{where}: trace of the explicit channel")
        yield compare(law.trace() / (k * (k - 1)) / budget, claimed, at=f"{where}: slope")


def _gap(r: Any) -> tuple[Any, Any]:
    """Upper over lower bound at ``k = r^2 + 1`` inputs, and its distance from 2."""
    return (1 + r) ** 2 / (1 + r**2), (r - 1) ** 2 / (1 + r**2)


def _check_gap(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """The risk of augmented response over the locally unbiased bound, for k = r^2 + 1, any n and B, against the stated.

    From the library's trace and budget of the mechanism at ratio r, any share of null symbols. Distance from 2, above
    1, falling in r by signs, and the limit 1: symbolic. Then explicit channels at three k, in rationals: the worst
    i.i.d. risk, which is the least at that budget, over the bound.
    """
    r = _SLACK
    gap, below = statement(r)
    n = sp.Symbol("n", positive=True)
    k = r**2 + 1
    response = augmented_randomized_response()
    signal, budget = (found(response).subs({LAM: r, K: k}) for found in (trace, pairwise_budget))
    upper = (k - 1) ** 2 / (n * signal)  # isotropic_risk for i.i.d. users, of which the channels below are cases
    yield identity(upper / ((k - 1) / (n * budget)), gap, at="every k, n, B: augmented response over the bound")
    for root, share, users in ((2, "1/3", 1), (3, "1/2", 4), (4, "1/5", 10)):
        inputs = root**2 + 1
        law = AnchoredLaw.from_channel(response.at(k=inputs, lam=root, p=share).channel())
        spent = Fraction(law.pairwise_budget())
        risk, _w = worst_canonical_risk(law, n=users, population="iid")
        bound = Fraction(inputs - 1) / (users * spent)
        at = f"k={inputs}, n={users}, B={spent}"
        yield compare(Fraction(risk) / bound, statement(Fraction(root))[0], at=f"{at}: from the explicit channel")
        least, _frontier = optimal_equivariant_risk(inputs, spent, n=users, population="iid")
        yield compare(Fraction(risk), least.exact, at=f"{at}: the least of all equivariant channels")
    yield identity(k * (k - 1) / slope_constant().subs(K, k), (1 + r) ** 2, at="every k: the library's constant")
    yield identity(2 - gap, below, at="every k: at most 2, and 2 at k = 2 only")
    yield identity(gap - 1, 2 * r / (1 + r**2), at="every k: above 1")
    fall = sp.together(-sp.diff(gap, r) * (1 + r**2) ** 2)
    yield decide(nonnegative(fall.subs(r, 1 + _TOTAL), {}), at="every k >= 2", claimed="it falls in k", symbolic=True)
    yield from serving("k to infinity", [identity(sp.limit(gap, r, sp.oo), 1, at="k to infinity")])


RESPONSES: Final = (
    (50, 30, "3/10", "1/20", Fraction(1, 20), Fraction(10**6)),
    (10, 20, "2/5", "1/100", Fraction(1), Fraction(419, 100)),
)
"""Inputs, users, eps, delta; a share and a ratio that meet the target."""

_WITHIN: Final = Fraction(1, 50)


def _best_risk(k: Any, n: Any, share: Any, lam: Any) -> Any:
    """Risk of k-ary response at a ratio, thinned to a share."""
    return (1 - Fraction(1, k)) * ((lam + k - 1) ** 2 / (share * (lam - 1) ** 2) - 1) / n


def _check_responses(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Two targets: a stated share and ratio meet delta, and the library's risk there is the stated one.

    No other share and ratio up to exp(64) has 2 % less: all boxes of parameters are excluded in balls.
    """
    for k, n, eps, target, share, lam in RESPONSES:
        one = family("aug-rr", k)
        where = f"k={k}, n={n}, eps={eps}, delta={target}"
        at = one.at(lam=lam, p=share)
        met = delta(at, n=n, eps=eps, arithmetic="ball").bracket
        yield compare(met.upper, Fraction(target), "<=", at=f"{where}: the target is met")
        risk = statement(k, n, share, lam)
        yield compare(canonical_votes(at).risk(n), risk, at=f"{where}: its risk")
        match = read_match(budget=None, eps0=None, eps=eps, delta=target)
        others = Rivals(one, match, n, risk * (1 - _WITHIN), "ball")
        left = others.left()
        yield decide(left == (), at=where, claimed="no share and ratio has 2 % less", computed=str(left))


CLAIMS: Final = (
    Claim(
        id="symshuffle.alphabets-tuples",
        kind="statement",
        title="orbits of ordered tuples do not improve the slope",
        text=(
            Clause(
                "slope",
                r"The orbit over ordered $j$-tuples of the template $\propto(\alpha_1,\dots,\alpha_j,1,\dots,1)$ "
                r"has the slope $\frac{kQ-S^2}{S(QH-kS)}$, with $S,Q,H$ the sums of the unscaled coordinates, of "
                "their squares and of their reciprocals.",
            ),
            Clause("at most", r"It is at most $(1+\sqrt{k-1})^{-2}$."),
        ),
        source="extends alphabets, Remark 11.4",
        assumptions=("alphabets.lem-11.2",),
        scope="every k, j and template by its sums; explicit channels of all permutations at six (k, j)",
        grade="proved",
        printed=_tuples,
        check=_check_tuples,
        controls=(
            Control(
                "S in place of S^2",
                lambda k, s, q, h: ((k * q - s) / (s * (q * h - k * s)), _tuples(k, s, q, h)[1]),
            ),
            Control("k in place of k - 1", lambda k, s, q, h: (_tuples(k, s, q, h)[0], 1 / (1 + sp.sqrt(k)) ** 2)),
        ),
        expected="holds",
        obligations=for_all("k", "total", "squares", "reciprocals", "templates", clause=("slope", "at most")),
    ),
    Claim(
        id="symshuffle.alphabets-unbiased-gap",
        kind="statement",
        title="augmented response against the locally unbiased bound",
        text=(
            Clause(
                "factor",
                r"Below the threshold the i.i.d. risk of augmented response is $\frac{(1+\sqrt{k-1})^2}k$ times "
                r"the near-vertex bound $\frac{k-1}{nB}$.",
            ),
            Clause("falling", "The factor is 2 at $k=2$, falling to 1 as $k$ grows."),
        ),
        source="alphabets, Corollary 8.2 and Theorem 10.2 (Beyond, item 5)",
        assumptions=(r"$B\le B_{thr}$, i.i.d. users",),
        scope="every k, n, B, from the trace and budget of the mechanism; explicit channels at k = 5, 10, 17",
        grade="proved",
        printed=_gap,
        check=_check_gap,
        controls=(
            Control("k - 1 below", lambda r: ((1 + r) ** 2 / r**2, _gap(r)[1])),
            Control("never 2", lambda r: (_gap(r)[0], (r**2 + 1 - r) / (1 + r**2))),
        ),
        expected="holds",
        obligations=(
            *for_all("r", clause=("factor", "falling")),
            *in_the_limit("k to infinity", clause="falling"),
        ),
    ),
    Claim(
        id="symshuffle.alphabets-private-response",
        kind="statement",
        title="the best share at a central target, certified",
        text=(
            Clause(
                "risk",
                r"To tell the truth with probability $\delta$ meets every $(\varepsilon,\delta)$, with risk "
                r"$(1-\frac1k)\frac{1/\delta-1}n$.",
            ),
            Clause(
                "fifty", "For 50 inputs, 30 users, (3/10, 1/20) no share and ratio of thinned response has 2 % less."
            ),
            Clause("ten", "For 10 inputs, 20 users, (2/5, 1/100) it is plain response that none beats by 2 %."),
        ),
        source="alphabets, Section 10 at a central target (Beyond, item 8)",
        assumptions=("privacy by the bound of the optimal decomposition",),
        scope="two targets; all shares and ratios up to exp(64), box by box in balls",
        grade="certified",
        printed=_best_risk,
        check=_check_responses,
        controls=(
            Control("five per cent more", lambda k, n, p, c: _best_risk(k, n, p, c) * Fraction(21, 20)),
            Control("five per cent less", lambda k, n, p, c: _best_risk(k, n, p, c) * Fraction(19, 20)),
        ),
        expected="holds",
        obligations=by_cases("k", "n", "share", "lam", clause=("risk", "fifty", "ten")),
    ),
)
