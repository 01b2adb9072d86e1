"""Equivariant design beyond the paper: all budgets, a ratio cap, and what the canonical pair does not see."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._templates import REAL_SIZES
from proofs_checks.alphabets._equivariant import capped_vertices, two_level_reciprocals
from proofs_checks.anchored import _cases as cases
from symshuffle.base.numbers import lower_end
from symshuffle.base.results import passes
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import shuffled_divergence, worst_shuffled_divergence
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
from symshuffle.mechanisms.finite import K, S, augmented_randomized_response, krr, subset_selection
from symshuffle.mechanisms.symbolic import LAM, nonnegative
from symshuffle.utility.anchored.law import AnchoredLaw, template_budget, template_signal
from symshuffle.utility.frontiers.equivariant import SPREAD, largest_budget, optimal_equivariant_risk
from symshuffle.utility.frontiers.formulas import at, subset_budget
from symshuffle.utility.frontiers.frontier import trace_frontier

_SKEW: Final = sp.Symbol("t", real=True)


def _reciprocals(k: Any, spread: Any, skew: Any) -> tuple[Any, Any]:
    """Sum of reciprocals of a two-level template, by spread and skewness, and its derivative in the skewness."""
    low = 1 + spread * skew - spread**2
    return k * (1 + spread * skew) / low, -k * spread**3 / low**2


def _check_all_budgets(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The library's reciprocal sum of a two-level template, any k, s and V, against the stated one by skewness.

    Symbolic; its stated derivative in the skewness is right and negative (signs), and singletons are the most skewed.
    Then 60 random templates: signal at most the frontier at their budget; five (k, B): certificates over Q, and the one
    orbit's reciprocal sum to 15 digits of the stated.
    """
    value, slope = statement(K, SPREAD, _SKEW)
    q = sp.Symbol("q", positive=True)  # q^2 = (k - s)/s
    size = S * (1 + q**2)
    mine = sp.simplify(two_level_reciprocals().subs(K, size))
    yield identity(mine, value.subs({K: size, _SKEW: q - 1 / q}), at="every k, s, V: reciprocals by skewness")
    fall = identity(sp.diff(value, _SKEW), slope, at="every k, V: they fall as the skewness grows")
    yield from serving("templates", [fall])
    yield decide(
        nonnegative(-slope * (1 + SPREAD * _SKEW - SPREAD**2) ** 2, {K: K, SPREAD: SPREAD}),
        at="every k, V",
        claimed="the derivative is below 0",
        symbolic=True,
    )
    # Skewness q - 1/q grows with q = sqrt((k-s)/s), so it falls as s grows: one high coordinate has the most.
    yield identity(sp.diff(sp.sqrt((K - S) / S) ** 2, S), -K / S**2, at="every k, s: (k-s)/s falls in s")
    # So at every square sum, that is every signal, singletons have the smallest budget: they alone make the frontier.
    for trial in range(60):
        k = 3 + trial % 6
        u = tuple(k * entry for entry in cases.distribution(rng, k))
        if len(set(u)) > 1:
            budget = template_budget(u)
            cap = trace_frontier(k, Fraction(budget)).trace.upper
            yield compare(template_signal(u), cap, "<=", at=f"template {trial}, k={k}")
    for k, budget in (
        (3, Fraction(1, 2)),
        (5, Fraction(1)),
        (10, Fraction(3)),
        (50, Fraction(2)),
        (10**6, Fraction(5)),
    ):
        found = trace_frontier(k, budget)
        yield decide(passes(found.verify), at=f"k={k}, B={budget}", claimed="k-ary response below a line")
        (orbit,) = found.orbits
        spread = sp.sqrt(sp.Rational(str(found.trace.lower / k)))
        claimed = value.subs({K: k, SPREAD: spread, _SKEW: (sp.Integer(k) - 2) / sp.sqrt(k - 1)})
        exact = sum((count / level for count, level in orbit.levels), start=Fraction(0))
        near = abs(Fraction(str(sp.N(claimed, 40))) / exact - 1) < Fraction(1, 10**15)
        yield decide(near, at=f"k={k}, B={budget}", claimed="its sum of reciprocals, to 15 digits")


def _largest(k: Any, s: Any, lam: Any) -> tuple[Any, Any]:
    """The universal bound less the budget of size s at the cap; and the sign of the budget's derivative in s."""
    factor = (s * lam * (s - 1) + (k - s) * (k - s - 1)) / ((k - 1) * (s * lam + k - s))
    return (lam - 1) ** 2 / lam * factor, (k - s) ** 2 - lam * s**2


def _check_largest(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The library's budget of size s at the cap, any real k, s and lam: distance from the universal bound, and turning.

    Against the stated gap and sign of the derivative, symbolic; a pair's budget is convex by its Hessian. Then five (k,
    lam): the library's largest budget is that of all sizes and its gap the stated one, random templates spend no more,
    and the certificate at it holds; in rationals.
    """
    gap, turning = statement(K, S, LAM)
    yield identity((LAM - 1) ** 2 / LAM - subset_budget(), gap, at="every k, s, lam: distance from the universal bound")
    yield decide(nonnegative(gap, REAL_SIZES), at="every real k, s, lam", claimed="at least 0", symbolic=True)
    moved = sp.diff(subset_budget(), S) / subset_budget() * S * (K - S) * (S * LAM + K - S)
    yield identity(moved, turning, at="every real k, s, lam: the derivative in s, up to positive factors")
    x, y = sp.symbols("x y", positive=True)
    hessian = sp.hessian((x - y) ** 2 / y, (x, y))
    yield identity(hessian.det(), 0, at="budget of a pair: Hessian is singular")
    yield identity(sp.trace(hessian), 2 / y + 2 * x**2 / y**3, at="and of positive trace: convex")
    for k, lam in ((3, Fraction(2)), (5, Fraction(3, 2)), (8, Fraction(8, 5)), (10, Fraction(2)), (20, Fraction(9))):
        best, size = largest_budget(k, lam)
        spent = [lower_end(at(subset_budget(), k=k, s=s, lam=lam)) for s in range(1, k)]
        yield compare(best, max(spent), at=f"k={k}, lam={lam}: largest of all sizes")
        universal = (lam - 1) ** 2 / lam
        yield compare(
            universal - best, statement(Fraction(k), Fraction(size), lam)[0], at=f"k={k}, lam={lam}: below the bound"
        )
        for trial in range(6):
            u = [1 + (lam - 1) * Fraction(int(v), 6) for v in rng.integers(0, 7, size=k)]
            scaled = [k * entry / sum(u) for entry in u]
            yield compare(template_budget(scaled), best, "<=", at=f"k={k}, lam={lam}, template {trial}")
        _, found = optimal_equivariant_risk(k, best, n=1, population="fixed", lam_cap=lam)
        yield decide(passes(found.verify), at=f"k={k}, lam={lam}", claimed="certificate at the largest budget")
    yield compare(largest_budget(2, Fraction(3))[0], Fraction(4, 3), at="k=2, lam=3: the universal bound is reached")


def _corners(k: int, lam: Fraction) -> tuple[tuple[int, Fraction, Fraction], ...]:
    """Sizes at the cap up to the one of largest signal, with budget and signal coefficient."""
    found: list[tuple[int, Fraction, Fraction]] = []
    for s in range(1, k):
        total = s * lam + k - s
        budget = s * (k - s) * (lam - 1) ** 2 * (lam + 1) / ((k - 1) * lam * total)
        signal = s * (k - s) * (lam - 1) ** 2 / ((k - 1) * total**2)
        if found and signal <= found[-1][2]:
            break
        found.append((s, budget, signal))
    return tuple(found)


CAPPED: Final = (
    (3, Fraction(7, 5)),
    (5, Fraction(2)),
    (8, Fraction(8, 5)),
    (10, Fraction(2)),
    (10, Fraction(3)),
    (12, Fraction(11, 10)),
    (20, Fraction(3, 2)),
)


THREE: Final = ((8, Fraction(8, 5)), (10, Fraction(2)))
"""The cases of which the text says that they have three corners."""


def _check_corners(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Seven (k, lam): the library's hull of capped sizes is the list of stated corners.

    At each corner and a third along each edge the certified frontier has the value on the line, over Q; beyond the last
    corner it stays.
    """
    for k, lam in CAPPED:
        corners = statement(k, lam)
        yield compare(capped_vertices(k, lam), corners, at=f"k={k}, lam={lam}: the library's hull")
        origin = (0, Fraction(0), Fraction(0))
        for (_s, b0, a0), (s, b1, a1) in itertools.pairwise((origin, *corners)):
            for share in (Fraction(1, 3), Fraction(1)):
                budget, signal = b0 + share * (b1 - b0), a0 + share * (a1 - a0)
                found = trace_frontier(k, budget, lam_cap=lam)
                where = f"k={k}, lam={lam}, towards size {s}, share {share}"
                yield compare(found.trace.exact, k * (k - 1) * signal, at=where)
                yield decide(passes(found.verify), at=where, claimed="law and line above all capped templates, over Q")
        beyond = trace_frontier(k, 2 * corners[-1][1], lam_cap=lam)
        yield compare(beyond.trace.exact, k * (k - 1) * corners[-1][2], at=f"k={k}, lam={lam}: flat after the last")
        if (k, lam) in THREE:
            yield compare(len(corners), 3, at=f"k={k}, lam={lam}: the number of the text")


def _third(k: Any, s: Any, lam: Any) -> Any:
    """Divergence weighted by a third input's row over that of the canonical pair, for subset selection."""
    return 2 * ((s - 1) + lam * (k - s - 1)) / ((k - 2) * (1 + lam))


def _check_third(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Subset selection, any k, s and C: the divergence weighted by a third input's row, counted, over the budget.

    Against the stated factor, which is above 1 exactly if 2s < k: symbolic. Then four explicit channels, template by
    template, in rationals.
    """
    (subsets,) = subset_selection().classes
    hit, miss = (state.probability for state in subsets.states)
    with_third, without = sp.binomial(K - 3, S - 2), sp.binomial(K - 3, S - 1)
    weighted = 2 * (hit - miss) ** 2 * (with_third / hit + without / miss)
    yield identity(weighted / subset_budget(), statement(K, S, LAM), at="every k, s, C: a third input as background")
    yield identity(
        (statement(K, S, LAM) - 1) * (K - 2) * (1 + LAM),
        (K - 2 * S) * (LAM - 1),
        at="every k, s, C: above 1 exactly if 2s < k",
    )
    for k, s, lam in ((3, 1, Fraction(3)), (3, 2, Fraction(3)), (5, 2, Fraction(2)), (4, 2, Fraction(5))):
        law = AnchoredLaw.from_channel(subset_selection().at(k=k, s=s, lam=lam).channel())
        seen = sum((m * (u[0] - u[1]) ** 2 / u[2] for u, m in law.template.atoms()), start=Fraction(0))
        claimed = statement(Fraction(k), Fraction(s), lam)
        yield compare(
            seen / Fraction(law.pairwise_budget()), claimed, at=f"k={k}, s={s}, C={lam}: template by template"
        )


ORDERS: Final = (Fraction(1), Fraction(11, 10), Fraction(3, 2))

BACKGROUNDS: Final[tuple[tuple[str, Channel, int], ...]] = (
    ("3-ary response, C=2", krr().at(k=3, lam=2).channel(), 8),
    ("3-ary response, C=4", krr().at(k=3, lam=4).channel(), 8),
    ("augmented response, C=2, share 1/2", augmented_randomized_response().at(k=3, lam=2, p="1/2").channel(), 8),
    ("pairs of 3, C=3", subset_selection().at(k=3, s=2, lam=3).channel(), 8),
)
"""Exchangeable channels of three inputs, and the largest number of users."""


@cache
def _worst_and_canonical(index: int) -> tuple[tuple[Fraction, Fraction], ...]:
    """For every n >= 2 and order: the worst divergence of a pair over all backgrounds, and of the canonical pair."""
    _, channel, users = BACKGROUNDS[index]
    found = []
    for n, gamma in itertools.product(range(2, users + 1), ORDERS):
        worst, _background = worst_shuffled_divergence(channel, (0, 1), n, gamma)
        others = (0,) * (n - 1)
        first = shuffled_divergence(channel, (0, *others), (1, *others), gamma)
        second = shuffled_divergence(channel, (1, *others), (0, *others), gamma)
        found.append((Fraction(worst), Fraction(max(first, second))))
    return tuple(found)


def _attained(index: int) -> tuple[int, int]:
    """In how many cases the canonical pair is a worst one, and the number of cases."""
    return ((3, 21), (1, 21), (2, 21), (21, 21))[index]


def _check_backgrounds(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Four channels of three inputs, n = 2 to 8, three orders: how often the canonical pair is a worst one.

    Counted over all backgrounds in rationals, against the stated counts; it is always between 45 % of the worst and the
    worst.
    """
    for index, (name, _channel, users) in enumerate(BACKGROUNDS):
        values = _worst_and_canonical(index)
        hits = sum(worst == canonical for worst, canonical in values)
        yield compare((hits, len(values)), statement(index), at=f"{name}, n = 2..{users}, three orders")
        for worst, canonical in values:
            yield compare(canonical, worst, "<=", at=name)
            yield compare(canonical, worst * Fraction(9, 20), ">=", at=f"{name}: no less than 45 % of it")


CLAIMS: Final = (
    Claim(
        id="symshuffle.alphabets-frontier",
        kind="statement",
        title="the equivariant frontier at every budget",
        text=(
            Clause(
                "reciprocals",
                r"At every square sum the reciprocals of a template sum to at least $k\frac{1+\sigma t}{1+\sigma "
                r"t-\sigma^2}$ with $t=(k-2)/\sqrt{k-1}$, that of one high coordinate.",
            ),
            Clause(
                "best",
                "So mixtures of k-ary response and null symbols are best among all equivariant channels at "
                "every budget.",
            ),
        ),
        source="answers alphabets, Section 13 and Remark 10.6; second proof of symshuffle.anchored-frontier",
        assumptions=(r"$k\ge3$; alphabets.lem-11.2 and the concavity in alphabets.thm-10.2",),
        scope="every k, s, V; 60 random templates; certificates over Q at five (k, B) above the threshold, k to 10^6",
        grade="proved",
        printed=_reciprocals,
        check=_check_all_budgets,
        controls=(
            Control(
                "sigma squared added",
                lambda k, d, t: (k * (1 + d * t) / (1 + d * t + d**2), k * d**3 / (1 + d * t + d**2) ** 2),
            ),
            Control(
                "one per cent more", lambda k, d, t: (_reciprocals(k, d, t)[0] * 101 / 100, _reciprocals(k, d, t)[1])
            ),
        ),
        expected="holds",
        obligations=for_all("k", "spread", "skew", "templates", clause=("reciprocals", "best")),
    ),
    Claim(
        id="symshuffle.alphabets-largest-budget",
        kind="statement",
        title="the largest budget under a ratio cap",
        text=(
            Clause(
                "largest",
                r"Equivariant channels of ratio at most $\lambda$ have budgets up to "
                r"$\max_s\chi_{k,s}(\lambda)$.",
            ),
            Clause("grows", r"It grows in $s$ while $\lambda s^2<(k-s)^2$."),
            Clause(
                "share",
                r"Of $(\lambda-1)^2/\lambda$ it misses the share "
                r"$\frac{s\lambda(s-1)+(k-s)(k-s-1)}{(k-1)(s\lambda+k-s)}$, so only $k=2$ reaches it.",
            ),
        ),
        source="completes alphabets, Section 10 (ambient bound) and Theorem 4.2",
        assumptions=(r"$\lambda>1$",),
        scope="every real k, s, lam; convexity of a template's budget; templates and certificates at five (k, lam)",
        grade="proved",
        printed=_largest,
        check=_check_largest,
        controls=(
            Control(
                "turning at (k-s)^2 = lam^2 s^2", lambda k, s, c: (_largest(k, s, c)[0], (k - s) ** 2 - c**2 * s**2)
            ),
            Control("the bound is reached", lambda k, s, c: (0 * k, _largest(k, s, c)[1])),
        ),
        expected="holds",
        obligations=for_all("k", "s", "lam", clause=("largest", "grows", "share")),
    ),
    Claim(
        id="symshuffle.alphabets-capped-vertices",
        kind="statement",
        title="the frontier under a small ratio cap, corner by corner",
        text=(
            Clause(
                "corners",
                r"For $\lambda\le\sqrt{k-1}$ the frontier under the cap is piecewise linear with corners "
                r"$(\chi_{k,s},A_{k,s})(\lambda)$ at $s=1,\dots,s^*$, the size of largest signal.",
            ),
            Clause("flat", "It is flat after it."),
            Clause("three", r"For $k=8$, $\lambda=8/5$ and for $k=10$, $\lambda=2$ these are three."),
        ),
        source="answers alphabets, Section 13, with a local cap",
        assumptions=(r"$k\ge3$, $1<\lambda\le\sqrt{k-1}$",),
        scope="seven (k, lam), each corner and each edge with a certificate over Q",
        grade="exact-cases",
        printed=_corners,
        check=_check_corners,
        controls=(
            Control("only k-ary response", lambda k, lam: _corners(k, lam)[:1]),
            Control("all sizes", lambda k, lam: (*_corners(k, lam), (k - 1, Fraction(1), Fraction(1)))),
        ),
        expected="holds",
        obligations=for_all("k", "lam", clause=("corners", "flat", "three")),
    ),
    Claim(
        id="symshuffle.alphabets-third-background",
        kind="statement",
        title="a background of third inputs shows more than the canonical pair",
        text=(
            Clause(
                "divergence",
                "With all other users at a third input, subset selection has divergence "
                r"$\sum(W_a-W_b)^2/W_c=\frac{2(s-1+C(k-s-1))}{(k-2)(1+C)}\chi_{k,s}(C)$.",
            ),
            Clause("more", "It is more than the canonical pair exactly if $2s<k$."),
            Clause("response", "For k-ary response by the factor $2C/(C+1)$."),
        ),
        source="beyond alphabets, Section 1 (scope)",
        assumptions=(r"$k\ge3$",),
        scope="every k, s, C; four channels template by template",
        grade="proved",
        printed=_third,
        check=_check_third,
        controls=(
            Control("C and 1 exchanged", lambda k, s, c: 2 * (c * (s - 1) + (k - s - 1)) / ((k - 2) * (1 + c))),
            Control("never more", lambda k, s, c: 1 + 0 * k * s * c),
        ),
        expected="holds",
        obligations=for_all("k", "s", "lam", clause=("divergence", "more", "response")),
    ),
    Claim(
        id="symshuffle.alphabets-backgrounds",
        kind="statement",
        title="how often the canonical pair is the worst one, three inputs",
        text=(
            Clause(
                "worst",
                "Over n users and orders 1, 11/10, 3/2, all backgrounds enumerated: the canonical pair is a "
                "worst one in 3 of 21 cases for 3-ary response at C = 2, 1 of 21 at C = 4, 2 of 21 for "
                "augmented response, and in all 21 for pairs at C = 3.",
            ),
            Clause("at least", "It shows at least 45 % of the worst divergence."),
        ),
        source="beyond alphabets, Section 1 (scope)",
        assumptions=("k = 3, n = 2..8",),
        scope="84 cases in exact arithmetic, all backgrounds of a pair of exchangeable inputs",
        grade="exact-cases",
        printed=_attained,
        check=_check_backgrounds,
        controls=(
            Control("always the worst", lambda index: (_attained(index)[1],) * 2),
            Control("one case more", lambda index: (_attained(index)[0] + (index == 1), _attained(index)[1])),
        ),
        expected="holds",
        obligations=for_all("index", clause=("worst", "at least")),
    ),
)
