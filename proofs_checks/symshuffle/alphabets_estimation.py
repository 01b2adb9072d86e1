"""Estimation beyond the paper: sharper constants for all estimators, and exact minimax risks of few users."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._estimation import (
    best_cube_side,
    cosine_prior,
    cube_slope,
    fisher_information,
    prior_information,
)
from proofs_checks._minimax import Minimax, estimator_risk, grid, minimax_risk, prior_risk
from proofs_checks._simplex import dirichlet_bayes_risk
from proofs_checks.anchored import _cases as cases
from symshuffle.base.choices import Population, members
from symshuffle.base.numbers import lower_end, upper_end
from symshuffle.base.results import passes
from symshuffle.channels.channel import Channel, exact_columns
from symshuffle.channels.geometry.linear import dot
from symshuffle.channels.shuffled import histogram_law
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    by_cases,
    for_all,
)
from symshuffle.mechanisms.finite import krr
from symshuffle.mechanisms.symbolic import nonnegative
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.lower_bounds import (
    best_shrinkage_risk,
    corner_van_trees,
    minimax_sandwich,
    sharp_cube_bound,
    two_regime_bound,
)
from symshuffle.utility.frontiers.frontier import trace_frontier

_CHI, _H, _M, _N, _P, _Q = sp.symbols("chi h m n p q", positive=True)


@cache
def _solved(k: int, lam: int, n: int, population: Population) -> Minimax:
    return minimax_risk(krr().at(k=k, lam=lam).channel(), n=n, population=population)


def _budget(channel: Channel) -> Fraction:
    return Fraction(AnchoredLaw.from_channel(channel).pairwise_budget())


def _sharp_cube(m: Any, chi: Any, n: Any, h: Any) -> tuple[Any, Any]:
    """Share of an edge's affinity in its risk, over h^2; and the whole bound, m = k - 1."""
    share = Fraction(1, 4) if isinstance(h, Fraction) else sp.Rational(1, 4)
    return share, share * m * h**2 * (1 + h**2 * chi / (1 - m * h)) ** (-n)


def _check_cube(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """One edge of the cube, open output masses, side, k and n: Cauchy-Schwarz gives the stated share and bound.

    Symbolic; one best side, by the sign of the derivative. The library's side against one percent less and more, in
    balls. Then three settings of 3-ary response in rationals: the exact posterior variance of two edges is no less, and
    the bound is below the minimax risk and above the printed one.
    """
    share, bound = statement(_M, _CHI, _N, _H)
    # Posterior variance of a fair bit, summed: h^2/2 sum pq/(p+q) >= h^2/4 (sum sqrt(pq))^2, by Cauchy-Schwarz with
    # sum (p+q) = 2: for each output, (a x + b)^2-type slack pq/(p+q) - c sqrt(pq) + c^2 (p+q)/4 is a square over p+q.
    c = sp.Symbol("c", positive=True)
    slack = _P**2 * _Q**2 / (_P**2 + _Q**2) - c * _P * _Q + c**2 * (_P**2 + _Q**2) / 4
    square = (_P * _Q - c * (_P**2 + _Q**2) / 2) ** 2 / (_P**2 + _Q**2)
    yield identity(slack, square, at="every output: Cauchy-Schwarz, with p and q squared")
    # Summed at c = affinity: sum pq/(p+q) >= c^2 - c^2/2.
    yield identity(
        (c**2 - c**2 / 2) * _H**2 / 2, share * c**2 * _H**2, at="every edge: h^2/4 times the affinity squared"
    )
    affinity = (1 + _H**2 * _CHI / (1 - _M * _H)) ** (-_N)
    yield identity(_M * share * _H**2, bound / affinity, at="every k, n, h: all edges")
    # The best side: the derivative has the sign of a number that falls in h, from 2 to below 0.
    rest, u, more = 1 - _M * _H, sp.Symbol("u", positive=True), sp.Symbol("t", nonnegative=True)
    sign = cube_slope(_M, _CHI, _N, _H)
    yield identity(
        sp.diff(sp.log(bound), _H), sign / (_H * rest * (rest + _H**2 * _CHI)), at="every k, n, h: the derivative"
    )
    falls = -sp.diff(sign, _H).subs(_H, u / (1 + u) / _M).subs(_N, 1 + more)
    yield decide(nonnegative(falls, {}), at="every k, n, h", claimed="one best side", symbolic=True)
    for k, chi, n in ((3, Fraction(1), 1), (3, Fraction(1), 100), (10, Fraction(1, 10), 10**6), (1000, Fraction(1), 7)):
        side = best_cube_side(k, chi, n=n)
        for h in (side.lower * Fraction(99, 100), side.upper * Fraction(101, 100)):
            if h < Fraction(1, k - 1):
                other, top = sharp_cube_bound(k, chi, n=n, h=h), sharp_cube_bound(k, chi, n=n, h=side.lower)
                yield compare(other.upper, top.lower, "<", at=f"k={k}, n={n}: a side that is not the best")
        chosen, room = sharp_cube_bound(k, chi, n=n).upper, Fraction(10**9 - 1, 10**9)
        yield compare(chosen, top.lower * room, ">=", at=f"k={k}, n={n}: the library's side, to nine digits")
    for lam, n, h in ((4, 1, Fraction(1, 4)), (4, 3, Fraction(1, 5)), (2, 4, Fraction(2, 5))):
        channel = krr().at(k=3, lam=lam).channel()
        chi = _budget(channel)
        columns = exact_columns(channel)
        for tau in ((0,), (1,)):
            ends = []
            for bit in (0, 1):
                w = (1 - h * (bit + tau[0]), h * bit, h * tau[0])
                ends.append(histogram_law([tuple(dot(w, column) for column in columns)] * n))
            variance = (
                h**2 / 2 * sum((p * ends[1][y] / (p + ends[1][y]) for y, p in ends[0].items()), start=Fraction(0))
            )
            claimed = statement(Fraction(1), chi, n, h)[1] * (1 + h**2 * chi / (1 - h)) ** n
            claimed *= (1 + h**2 * chi / (1 - 2 * h)) ** (-n)
            yield compare(variance, claimed, ">=", at=f"C={lam}, n={n}, h={h}, other bit {tau[0]}: one edge")
        found = sharp_cube_bound(3, chi, n=n, h=h)
        yield decide(found.contains(statement(Fraction(2), chi, n, h)[1]), at=f"C={lam}, n={n}", claimed="the library")
        exact = _solved(3, lam, n, "iid").bracket
        best = sharp_cube_bound(3, chi, n=n)
        yield compare(best.upper, exact.lower, "<=", at=f"C={lam}, n={n}: below the minimax risk")
        yield compare(best.lower, found.lower * Fraction(999, 1000), ">=", at=f"C={lam}, n={n}: the side is a good one")
        yield compare(best.lower, two_regime_bound(3, chi, n=n), ">", at=f"C={lam}, n={n}: above the printed bound")
    many = sharp_cube_bound(10, Fraction(1, 10), n=10**13).lower * 10**12 / 9
    yield compare(abs(many * Fraction("10.87312731") - 1), Fraction(1, 1000), "<=", at="k=10, n=10^13: 1/(4e)")


def _corner(m: Any, chi: Any, n: Any, h: Any) -> tuple[Any, Any, Any]:
    """Information of one message about one coordinate, of its prior, and the bound, m = k - 1."""
    message, prior = chi / (1 - m * h), 4 * sp.pi**2 / h**2
    return message, prior, m / (n * message + prior)


def _corner_without_mass(m: Any, chi: Any, n: Any, h: Any) -> tuple[Any, Any, Any]:
    """The same if the corner kept all mass."""
    prior = 4 * sp.pi**2 / h**2
    return chi, prior, m / (n * chi + prior)


def _check_corner(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Prior information, van Trees in k - 1 coordinates and the limit n to infinity, for open k, n and h: symbolic.

    So is that no output has more information than stated, and where it has as much. The stated information of a message
    covers that of twelve random channels near the corner, in rationals. Three settings below the minimax risk; at 10^13
    users above the cube bound and within three percent of the unbiased one, in balls.
    """
    message, prior, bound = statement(_M, _CHI, _N, _H)
    t = sp.Symbol("t", positive=True)
    yield identity(prior_information(cosine_prior(t, _H / 2), t, -_H / 2, _H / 2), prior, at="every h: cosine prior")
    yield identity(_M**2 / (_M * _N * message + _M * prior), bound, at="every k, n, h: van Trees in k - 1 coordinates")
    # An output with difference d of an edge's rows adds d^2/W(y), where W(y) is at least its mass p under the corner
    # times what the corner keeps, 1 - (k-1)h + r; the budget of the edge adds d^2/p.
    d, p, keeps, rest = sp.symbols("d p r s", positive=True)
    u = sp.Symbol("u", positive=True)
    inside = {_CHI: d**2 / p, _H: u / (1 + u) / _M}
    kept = 1 - _M * _H + keeps
    room = (message - d**2 / (kept * p + rest)).subs(inside)
    yield decide(
        nonnegative(sp.cancel(room), {}), at="every k, h, output", claimed="no more information", symbolic=True
    )
    i, number = sp.symbols("i m", integer=True, positive=True)
    least = (1 - sp.summation(_H, (i, 1, number))).subs(number, _M)  # all k - 1 coordinates at the side h
    yield identity(message.subs(_CHI, d**2 / p), d**2 / (least * p), at="every k, h: attained at the far vertex")
    yield identity(
        sp.limit(bound.subs(_H, _N ** sp.Rational(-1, 3)) * _N, _N, sp.oo), _M / _CHI, at="n large, h = n^(-1/3)"
    )
    for trial in range(12):
        channel = cases.channel(rng, 3, 4)
        law = AnchoredLaw.from_channel(channel)
        h = Fraction(1, 5)
        w = (
            1 - h * Fraction(trial % 5, 4) - h * Fraction(trial % 3, 2),
            h * Fraction(trial % 5, 4),
            h * Fraction(trial % 3, 2),
        )
        information = fisher_information(law, w)
        for j in (1, 2):
            edge = information[j][j] + information[0][0] - 2 * information[0][j]
            claimed = statement(Fraction(2), _budget(channel), 1, h)[0]
            yield compare(edge, claimed, "<=", at=f"channel {trial}, coordinate {j}")
    for lam, n in ((4, 1), (4, 3), (2, 4)):
        chi = _budget(krr().at(k=3, lam=lam).channel())
        found = corner_van_trees(3, chi, n=n)
        yield compare(found.upper, _solved(3, lam, n, "iid").bracket.lower, "<=", at=f"C={lam}, n={n}: minimax")
    # For many users it beats every cube, and comes within three per cent of the locally unbiased bound.
    for k, chi in ((3, Fraction(1)), (10, Fraction(1, 10)), (100, Fraction(1, 10))):
        n = 10**13
        found = corner_van_trees(k, chi, n=n)
        yield compare(found.lower, (k - 1) / (n * chi) * Fraction(97, 100), ">=", at=f"k={k}, n=10^13")
        yield compare(found.lower, sharp_cube_bound(k, chi, n=n).upper, ">", at=f"k={k}, n=10^13: against the cube")


MINIMAX: Final = (
    (2, 4, 1, ("0.3200000", "0.3200000")),
    (2, 4, 4, ("0.1345479", "0.1453829")),
    (3, 4, 1, ("0.5000000", "0.5000000")),
    (3, 4, 3, ("0.3143939", "0.3143939")),
    (3, 4, 4, ("0.2530368", "0.2559518")),
    (5, 4, 2, ("0.5980114", "0.5980114")),
    (6, 4, 2, ("0.6613757", "0.6613757")),
)
"""Inputs, ratio of k-ary response, users; minimax risks of a fixed composition and of i.i.d. users, to 7 digits."""


def _minimax(k: int, lam: int, n: int) -> tuple[Fraction, Fraction]:
    (found,) = (values for a, b, c, values in MINIMAX if (a, b, c) == (k, lam, n))
    return Fraction(found[0]), Fraction(found[1])


def _check_minimax(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Seven (k, n), fixed and i.i.d. users: brackets of the minimax risk hold the stated value to 7 digits.

    The lower end is the Bayes risk of a rational prior, computed again; the upper end bounds the risk of a rational
    estimator, certified on the simplex and evaluated at grid points. A Dirichlet prior gives no more.
    """
    digit = Fraction(1, 10**7)
    for k, lam, n, _values in MINIMAX:
        channel = krr().at(k=k, lam=lam).channel()
        for population, claimed in zip(members(Population), statement(k, lam, n), strict=True):
            found = _solved(k, lam, n, population)
            found.verify()
            where = f"k={k}, C={lam}, n={n}, {population}"
            yield compare(found.bracket.lower, claimed + digit, "<=", at=f"{where}: a prior, over Q")
            yield compare(found.bracket.upper, claimed - digit, ">=", at=f"{where}: an estimator, over Q")
            lower = prior_risk(channel, found.prior, n=n, population=population)
            yield compare(lower, found.bracket.lower, ">=", at=f"{where}: its Bayes risk again")
            for w in grid(k, n if population == "fixed" else 6):
                risk = estimator_risk(channel, dict(found.estimator), w, n=n, population=population)
                yield compare(risk, found.bracket.upper, "<=", at=f"{where}: its risk at {w}")
        flat = dirichlet_bayes_risk(channel, [Fraction(1, 2)] * k, n=n)
        yield compare(flat, claimed + digit, "<=", at=f"k={k}, C={lam}, n={n}: Bayes risk of a Dirichlet prior")


def _check_forged_minimax(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """A prior that is said to guarantee one percent more than it does."""
    for k, lam, n, _values in MINIMAX[:3]:
        found = _solved(k, lam, n, "iid")
        more = found.bracket.lower * Fraction(101, 100)
        forged = replace(found, bracket=replace(found.bracket, lower=more, upper=max(more, found.bracket.upper)))
        yield decide(passes(forged.verify), at=f"k={k}, C={lam}, n={n}", claimed="a prior, over Q")


RATIOS: Final = (*itertools.product((3, 10), (10**2, 10**4, 10**6, 10**8)), (100, 10**6), (1000, 10**9))
"""Ten (k, n) at budget 1/10."""


def _bounds(k: int, n: int) -> dict[str, Fraction]:
    """Bounds on the minimax risk at budget 1/10: for one channel of it, and for the best channel within it."""
    budget = Fraction(1, 10)
    trace = trace_frontier(k, budget).trace
    return {
        "printed": lower_end(two_regime_bound(k, budget, n=n)),
        "cube": sharp_cube_bound(k, budget, n=n).lower,
        "corner": corner_van_trees(k, budget, n=n).lower,
        "uniform": minimax_sandwich(k, trace.upper, n).lower.lower,
        "upper": upper_end(best_shrinkage_risk(k, trace.lower, n)),
    }


def ratio_row(k: int, n: int) -> dict[str, Fraction]:
    """The upper bound over each lower bound, at budget 1/10."""
    found = _bounds(k, n)
    return {name: found["upper"] / value for name, value in found.items() if name != "upper"}


def _best_gap(k: int, n: int) -> Fraction:
    """What the upper bound over the best lower bound stays below."""
    table = {
        (3, 10**2): "22",
        (3, 10**4): "2.2",
        (3, 10**6): "1.1",
        (3, 10**8): "1.01",
        (10, 10**2): "46",
        (10, 10**4): "15.2",
        (10, 10**6): "1.85",
        (10, 10**8): "1.08",
        (100, 10**6): "13.1",
        (1000, 10**9): "3.8",
    }
    return Fraction(table[k, n])


def _check_ratios(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Ten (k, n) at budget 1/10: the upper bound over the best of four lower bounds, by ends of balls.

    At least 1, at most the stated factor, and smaller than with the printed bound.
    """
    for k, n in RATIOS:
        found = ratio_row(k, n)
        best = min(found.values())
        yield compare(best, Fraction(1), ">=", at=f"k={k}, n={n}: the bounds are consistent")
        yield compare(best, statement(k, n), "<=", at=f"k={k}, n={n}: best ratio")
        yield compare(best, found["printed"], "<", at=f"k={k}, n={n}: better than the printed one")


CLAIMS: Final = (
    Claim(
        id="symshuffle.alphabets-cube",
        kind="statement",
        title="a sharper cube bound for all estimators",
        text=(
            Clause(
                "bound",
                r"For $0<h<\frac1{k-1}$: $\sup_\theta "
                r"E|\hat\theta-\theta|^2\ge\frac{(k-1)h^2}4\big(1+\frac{h^2\chi_*}{1-(k-1)h}\big)^{-n}$.",
            ),
            Clause(
                "best h",
                r"At the best $h$ this is $(k-1)/(4en\chi_*)$ for many users, where the printed constant is 64.",
            ),
        ),
        source="sharpens alphabets, Theorem 8.4",
        assumptions=(r"i.i.d. users; $-2\log\sum\sqrt{pq}\le KL\le\log(1+\chi^2)$",),
        scope=(
            "every k, n, h by Cauchy-Schwarz; the best side by its derivative; six edges with exact laws; below the "
            "minimax risk at three settings"
        ),
        grade="proved",
        printed=_sharp_cube,
        check=_check_cube,
        controls=(
            Control("1 % more than a quarter", lambda m, c, n, h: (sp.Rational(101, 400), _sharp_cube(m, c, n, h)[1])),
            Control(
                "half the exponent",
                lambda m, c, n, h: (
                    _sharp_cube(m, c, n, h)[0],
                    m * h**2 / 4 * (1 + h**2 * c / (1 - m * h)) ** (-n / 2 if isinstance(n, sp.Basic) else -(n // 2)),
                ),
            ),
        ),
        expected="holds",
        obligations=for_all("m", "chi", "n", "h", clause=("bound", "best h")),
    ),
    Claim(
        id="symshuffle.alphabets-van-trees",
        kind="statement",
        title="the near-vertex bound without unbiasedness",
        text=(
            Clause(
                "bound",
                r"For $0<h<\frac1{k-1}$ and every estimator: $\sup_\theta "
                r"E|\hat\theta-\theta|^2\ge(k-1)\big/\big(\frac{n\chi_*}{1-(k-1)h}+\frac{4\pi^2}{h^2}\big)$.",
            ),
            Clause(
                "limit", r"With $h\to0$ slowly this is $(1-o(1))(k-1)/(n\chi_*)$: Corollary 8.2 for all estimators."
            ),
        ),
        source="sharpens alphabets, Corollary 8.2 and Theorem 8.4",
        assumptions=("i.i.d. users; the van Trees inequality (anchored, Lemma A.1)",),
        scope="every k, n, h, and the limit; information of 12 channels; below the minimax risk at three settings",
        grade="proved",
        printed=_corner,
        check=_check_corner,
        controls=(
            Control("the corner keeps all mass", _corner_without_mass),
            Control(
                "information pi^2/h^2 of the prior",
                lambda m, c, n, h: (
                    _corner(m, c, n, h)[0],
                    sp.pi**2 / h**2,
                    m / (n * c / (1 - m * h) + sp.pi**2 / h**2),
                ),
            ),
        ),
        expected="holds",
        obligations=for_all("m", "chi", "n", "h", clause=("bound", "limit")),
    ),
    Claim(
        id="symshuffle.alphabets-minimax",
        kind="statement",
        title="exact minimax risks of few users",
        text=(
            Clause(
                "binary",
                "Over all estimators: for binary response (C = 4) and 4 users 0.1345 for a fixed composition "
                "and 0.1454 for i.i.d. users.",
            ),
            Clause("ternary", "For 3-ary response and 4 users 0.2530 and 0.2560."),
            Clause("one user", "With one user the two are equal."),
        ),
        source="beyond alphabets, Section 8",
        assumptions=("k-ary response at C = 4",),
        scope=(
            "seven (k, n), both populations: a rational prior and a rational estimator whose risk is bounded on the "
            "whole simplex by Bernstein coefficients"
        ),
        grade="certified",
        printed=_minimax,
        check=_check_minimax,
        controls=(
            Control("the two populations exchanged", lambda k, lam, n: _minimax(k, lam, n)[::-1]),
            Control(
                "one per mille less", lambda k, lam, n: tuple(v * Fraction(999, 1000) for v in _minimax(k, lam, n))
            ),
            Control("a prior of one percent more", _minimax, _check_forged_minimax),
        ),
        expected="holds",
        obligations=by_cases("k", "lam", "n", clause=("binary", "ternary", "one user")),
    ),
    Claim(
        id="symshuffle.alphabets-ratios",
        kind="statement",
        title="risk of the best channel over a lower bound for all, at ten (k, n)",
        text="At budget 1/10 and ten pairs (k, n), the risk of the shrunken estimator of the best channel is at most "
        "a stated factor times a lower bound that holds for all channels and estimators.",
        source="beyond alphabets, Section 8",
        assumptions=("i.i.d. users",),
        scope="k = 3, 10, 100, 1000 and n = 10^2..10^9, in balls",
        grade="certified",
        printed=_best_gap,
        check=_check_ratios,
        controls=(Control("within one per mille", lambda k, n: Fraction(1001, 1000)),),
        expected="holds",
        obligations=by_cases("k", "n"),
    ),
)
