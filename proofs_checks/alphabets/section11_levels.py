"""Section 11: what two-level templates reach: the largest slope, and orbits of ordered pairs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.alphabets._cases import ROOT
from proofs_checks.alphabets._equivariant import (
    orbit_slope,
    ordered_pair_slope,
    smallest_reciprocal_sum,
    two_level_reciprocals,
    two_level_template,
)
from proofs_checks.alphabets.section11_templates import sum_over_inputs
from symshuffle.base.numbers import lower_end, upper_end
from symshuffle.base.results import passes
from symshuffle.channels.geometry.linear import dot
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity, serving
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    attained,
    for_all,
)
from symshuffle.mechanisms.finite import K, S
from symshuffle.mechanisms.symbolic import LAM, nonnegative, positive
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.canonical import isotropic_risk
from symshuffle.utility.frontiers.equivariant import ALPHA, BETA, SPREAD, optimal_equivariant_risk
from symshuffle.utility.frontiers.formulas import subset_slope


def _two_levels(k: Any, s: Any, spread: Any) -> tuple[Any, Any, Any, int]:
    """High and low value, sum of reciprocals, and how many values a minimiser has at most."""
    skew = sp.sqrt((k - s) / s) - sp.sqrt(s / (k - s))
    step = spread * sp.sqrt((k - s) / s)
    low = 1 - spread * sp.sqrt(s / (k - s))
    return 1 + step, low, k * (1 + spread * skew) / (1 + spread * skew - spread**2), 2


def _wrong_skew(k: Any, s: Any, spread: Any) -> tuple[Any, Any, Any, int]:
    """The sum of reciprocals as if the skew were 0."""
    high, low, _, values = _two_levels(k, s, spread)
    return high, low, k / (1 - spread**2), values


def _check_two_levels(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Open k, s, V, with k = s + s q^2 to make roots rational: both values, the sums, at most two values; symbolic.

    Values and sums against the constraints and the library, every template by `_check_smallest`, the number of values
    by the linear coefficient of a polynomial with one root more. 40 random templates over Q: no sum of reciprocals is
    smaller than the library's least, and the stated one at s = 1 is that to 20 digits.
    """
    q = sp.Symbol("q", positive=True)
    size = S + S * q**2  # q^2 = (k - s)/s, so that all roots are rational in q
    high, low, reciprocals, values = (sp.sympify(e) for e in statement(size, S, SPREAD))
    high, low, reciprocals = (sp.simplify(e) for e in (high, low, reciprocals))
    yield identity(S * high + (size - S) * low, size, at="every k, s, V: sum")
    yield identity(S * high**2 + (size - S) * low**2, size * (1 + SPREAD**2), at="every k, s, V: square sum")
    yield identity(S / high + (size - S) / low, reciprocals, at="every k, s, V: sum of reciprocals")
    for mine, theirs in zip((*two_level_template(), two_level_reciprocals()), (high, low, reciprocals), strict=True):
        yield identity(sp.simplify(mine.subs(K, size)), theirs, at="every k, s, V: the library")
    yield from serving("templates", _check_smallest(statement))
    # What the paper looks at, a stationary point: alpha v^3 + beta v^2 - 1 = 0 at every coordinate v, and as many
    # positive roots as values would need a linear term.
    x = sp.Symbol("x")
    roots = sp.symbols(f"x1:{int(values) + 2}", positive=True)
    product = sp.Poly(sp.prod([x - root for root in roots]), x)
    linear = (-1) ** (len(roots) - 1) * product.coeff_monomial(x)
    yield decide(
        nonnegative(linear, {root: root for root in roots}) & ~_vanishes(linear),
        at="every multiplier",
        claimed=f"{len(roots)} positive roots need a linear term",
        symbolic=True,
    )
    for trial in range(40):
        k = 3 + trial % 4
        draws = [int(v) for v in rng.integers(1, 10, size=k)]
        z = [Fraction(k * v, sum(draws)) for v in draws]
        square_sum, total = dot(z, z), sum(1 / v for v in z)
        if square_sum == k:
            continue
        spread = sp.sqrt(sp.Rational(str(square_sum / k - 1)))
        found = smallest_reciprocal_sum(k, square_sum)
        yield compare(total, lower_end(found), ">=", at=f"template {trial}, k={k}")
        claimed = sp.N(statement(sp.Integer(k), sp.Integer(1), spread)[2], 40)
        near = abs(Fraction(str(claimed)) - upper_end(found)) < Fraction(1, 10**20)
        yield decide(near, at=f"template {trial}, k={k}", claimed="the same at s = 1, to 20 digits")


def _check_smallest(statement: Statement) -> Iterator[Comparison]:
    """One high coordinate is best, without existence or multipliers: a quadratic below 1/z wherever z can be."""
    size = ROOT**2 + 1
    z, x = sp.symbols("z x", positive=True)
    high, low, least, _ = (sp.simplify(e) for e in map(sp.sympify, statement(size, sp.Integer(1), SPREAD)))
    # No coordinate exceeds the high value: at 1 + x the others, of sum -x about 1, have square sum at least x^2/(k-1).
    m, q = -x / (size - 1), sp.Symbol("Q", positive=True)
    about_mean = q - 2 * m * (-x) + (size - 1) * m**2
    yield identity(about_mean, q - x**2 / (size - 1), at="every template: square sum of the others about their mean")
    full = size * SPREAD**2  # x^2 + Q, so x^2 k/(k-1) is at most that
    yield identity((high - 1) ** 2 * size / (size - 1), full, at="every k, V: the high value is that largest one")
    # 1/z = q(z) + (z - low)^2 (high - z)/(high low^2 z), and q is a quadratic whose sum the constraints fix.
    quadratic = sp.cancel(1 / z - (z - low) ** 2 * (high - z) / (high * low**2 * z))
    degree = sp.degree(sp.numer(sp.together(quadratic)), z)
    is_quadratic = degree <= 2 and not sp.denom(sp.together(quadratic)).has(z)
    yield decide(bool(is_quadratic), at="every k, V", claimed="a quadratic below 1/z on (0, high]", symbolic=True)
    powers = {0: size, 1: size, 2: size * (1 + SPREAD**2)}
    yield identity(sum_over_inputs(quadratic, (z,), powers), least, at="every template: lower bound of H, attained")


def _vanishes(expression: sp.Expr) -> Any:
    """Whether an expression is the zero function."""
    from symshuffle.mechanisms.symbolic import same_function

    return same_function(expression, 0)


def _best_slope(root: Any) -> Any:
    """The largest slope at k = root^2 + 1."""
    return 1 / (1 + root) ** 2


def _check_best_slope(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Open k = r^2 + 1, s, C: inverse slope less inverse bound is (C-r)^2/C + (s-1)(C-1/C); symbolic.

    The first is 0 at C = r only, the second is positive beyond s = 1, by sign; other templates lose to two values
    (alphabets.lem-11.2). Over Q: 60 random templates each at k = 5, 10 and 17 against the bound, the template that
    attains it, and certified smallest risks at two budgets.
    """
    size = ROOT**2 + 1
    bound = statement(ROOT)
    inverse = (K * (K - 1) / subset_slope()).subs(K, size)
    # Templates with more than two values lose to two-level ones of the same square sum (alphabets.lem-11.2).
    gap = (LAM - ROOT) ** 2 / LAM + (S - 1) * (LAM - 1 / LAM)
    # The slope falls as H grows at a given V, and the smallest H is that of two levels.
    exact = identity(inverse - 1 / bound, gap, at="every k, s, C: 1/slope - 1/bound = (C-r)^2/C + (s-1)(C-1/C)")
    yield from serving("templates", [exact])
    # Below s = 1 there is no template. At s = 1 the difference vanishes at C = r alone; for s = 1 + m it is positive.
    left = inverse - 1 / bound
    single = sp.fraction(sp.factor(left.subs(S, 1)))[0]
    alone = [identity(left.subs(S, 1), (LAM - ROOT) ** 2 / LAM, at="s = 1, every k, C: a square over C")]
    alone += [decide(sp.solve(single, LAM) == [ROOT], at="s = 1", claimed="equality at C = r only", symbolic=True)]
    more, over = sp.symbols("m c", positive=True)
    second = (left - (LAM - ROOT) ** 2 / LAM).subs({S: 1 + more, LAM: 1 + over})
    above = positive(sp.cancel(second / (more * over)), {})
    alone += [decide(above, at="every s > 1, k, C > 1", claimed="above that square", symbolic=True)]
    yield from serving("templates", alone)
    q = sp.Symbol("q", positive=True)
    at_critical = subset_slope().subs(K, S + S * q**2).subs(LAM, q) / ((S + S * q**2) * (S + S * q**2 - 1))
    yield identity(at_critical, 1 / (S + S * q**2 + 2 * S * q), at="every k, s: slope at C = sqrt((k-s)/s)")
    yield identity(
        S * (K - S) - (K - 1), (S - 1) * (K - S - 1), at="every k, s: s(k-s) - (k-1) is a product of two numbers >= 0"
    )
    for k, root in ((5, 2), (10, 3), (17, 4)):
        claimed = statement(Fraction(root))
        for trial in range(60):
            draws = [int(v) for v in rng.integers(1, 12, size=k)]
            if len(set(draws)) == 1:
                continue
            u = [Fraction(k * v, sum(draws)) for v in draws]
            yield compare(orbit_slope(u), claimed, "<=", at=f"template {trial}, k={k}")
        best = [Fraction(k * v, root + k - 1) for v in (root, *(1,) * (k - 1))]
        yield compare(orbit_slope(best), claimed, at=f"k={k}: attained by the singleton template")
        threshold = (1 - Fraction(1, root)) ** 2
        for budget in (threshold / 3, threshold):
            bracket, found = optimal_equivariant_risk(k, budget, n=7, population="fixed")
            value = Fraction(k - 1, 7 * k) * (1 / (claimed * budget) - 1)
            yield compare(bracket.exact, value, at=f"k={k}, B={budget}, n=7: smallest risk")
            yield decide(passes(found.verify), at=f"k={k}, B={budget}", claimed="law and a line above all templates")
    signal = sp.Symbol("A", positive=True)
    yield identity(
        isotropic_risk(7, 42 * signal, population="fixed"),
        sp.Rational(6, 7) * (1 / signal - 1),
        at="k=7: risk",
    )


def _pairs(k: Any, alpha: Any, beta: Any, *, letters: int = 2) -> Any:
    """The slope from the sums of the three levels, the lowest of which ``k - letters`` inputs share."""
    total, squares = alpha + beta + k - letters, alpha**2 + beta**2 + k - letters
    reciprocals = 1 / alpha + 1 / beta + k - letters
    return (k * squares - total**2) / (total * (squares * reciprocals - k * total))


def _optimal_pairs(k: Any) -> frozenset[tuple[Any, Any]]:
    """Where the slope of an ordered pair is the best one: where its template is a singleton."""
    best = sp.sqrt(k - 1)
    boundary = {(best, sp.Integer(1)), (sp.Integer(1), best)}
    return frozenset(boundary | ({(1 / best, 1 / best)} if k == 3 else set()))


def _ordered_pairs() -> tuple[Statement, Statement]:
    """The slope of an ordered pair, and where it is best."""
    return _pairs, _optimal_pairs


def _only_on_the_axes() -> tuple[Statement, Statement]:
    """The same without the point at k = 3 that is off the lines alpha = 1 and beta = 1."""
    return _pairs, lambda k: frozenset({(sp.sqrt(k - 1), sp.Integer(1)), (sp.Integer(1), sp.sqrt(k - 1))})


def _check_pairs(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Ordered pairs of two values, open k = r^2 + 1 and ratio C: the inverse slope is (1+r)^2 and terms >= 0; symbolic.

    Others lose to two values (alphabets.lem-11.2), and C = r at four places leaves six candidates: which of them attain
    the bound at k = 3 to 6 and 10, by exact algebra. Three explicit channels over Q.
    """
    slope, maximisers = statement()
    # Best templates have two values (alphabets.lem-11.2), so beta = 1 or alpha = beta. With the ratio C > 1, against
    # 1/(1+r)^2: (C-r)^2/C for one high coordinate; k-1 high ones, two, and k-2 high ones lose something more.
    size = ROOT**2 + 1
    excess = (LAM - ROOT) ** 2 / LAM
    step = LAM - 1 / LAM
    for where, alpha, beta, more in (
        ("beta = 1, alpha = C", LAM, sp.Integer(1), 0),
        ("beta = 1, alpha = 1/C", 1 / LAM, sp.Integer(1), (size - 2) * step),
        ("alpha = beta = C", LAM, LAM, step),
        ("alpha = beta = 1/C", 1 / LAM, 1 / LAM, (size - 3) * step),
    ):
        found = identity(1 / slope(size, alpha, beta), (1 + ROOT) ** 2 + excess + more, at=f"every k: {where}")
        yield from serving("templates", [found])
    yield identity(ordered_pair_slope(), slope(K, ALPHA, BETA), at="every k, alpha, beta: from the levels")
    for k in (3, 4, 5, 6, 10):
        root = sp.sqrt(k - 1)
        one, back = sp.Integer(1), 1 / root
        candidates = {(root, one), (one, root), (back, one), (one, back), (root, root), (back, back)}
        best = 1 / (1 + root) ** 2
        attained = {pair for pair in candidates if sp.simplify(slope(sp.Integer(k), *pair) - best) == 0}
        where, best_at = f"k={k}", maximisers(k)
        same = decide(attained == best_at, at=where, claimed=str(set(best_at)), computed=str(attained))
        yield from serving("boundary", [same])
    for k, alpha, beta in ((3, 2, 5), (4, 3, 2), (6, Fraction(1, 2), 3)):
        values = (Fraction(alpha), Fraction(beta), *(Fraction(1),) * (k - 2))
        u = tuple(k * v / sum(values) for v in values)
        law = AnchoredLaw.from_atoms((point, Fraction(1, math.factorial(k))) for point in itertools.permutations(u))
        found_slope = law.trace() / (k * (k - 1)) / Fraction(law.pairwise_budget())
        yield compare(found_slope, slope(k, Fraction(alpha), Fraction(beta)), at=f"k={k}: explicit channel")


CLAIMS: Final = (
    Claim(
        id="alphabets.lem-11.2",
        kind="statement",
        title="two-level reduction at a fixed second moment",
        text=(
            Clause(
                "two values",
                "Among $z>0$ with sum $k$ and square sum $V$ the sum of reciprocals is smallest at a $z$ of at "
                r"most two values: $a=1+\sigma\sqrt{(k-s)/s}$ ($s$ times), $b=1-\sigma\sqrt{s/(k-s)}$, "
                r"$\sigma^2=V/k-1$.",
            ),
            Clause("one high value", "One high value, $s=1$, is best of all."),
        ),
        source="alphabets, Lemma 11.2",
        assumptions=(r"$k\ge3$, $k<V<k^2$",),
        scope="every k, s, V: values and sum; every template by a quadratic below 1/z: s = 1 is best; 40 over Q",
        grade="proved",
        printed=_two_levels,
        check=_check_two_levels,
        controls=(
            Control("skewness left out", _wrong_skew),
            Control(
                "one per cent higher",
                lambda k, s, d: (*_two_levels(k, s, d)[:2], _two_levels(k, s, d)[2] * 101 / 100, 2),
            ),
        ),
        expected="holds",
        obligations=(
            *for_all("k", "s", "spread", clause=("two values", "one high value")),
            *for_all("templates", clause="two values"),
        ),
    ),
    Claim(
        id="alphabets.thm-11.3",
        kind="statement",
        title="low-budget optimum among all equivariant channels",
        text=(
            Clause(
                "risk",
                r"For $0<B\le B_{thr}$ the smallest risk is $\frac{k-1}{kn}\big((1+\sqrt{k-1})^2/B-1\big)$.",
            ),
            Clause(
                "slope",
                r"Every orbit has slope at most $1/(1+\sqrt{k-1})^2$, equality only at the singleton template of "
                r"ratio $\sqrt{k-1}$.",
            ),
            Clause(
                "attained",
                "Attained by augmented response: that template, the rest of the mass null.",
            ),
        ),
        source="alphabets, Theorem 11.3",
        assumptions=(r"$k\ge3$",),
        scope=(
            "every k, s, C by one identity and signs, all templates by alphabets.lem-11.2; 180 templates, certificates "
            "over Q, at k = 5, 10 and 17"
        ),
        grade="proved",
        printed=_best_slope,
        check=_check_best_slope,
        controls=(
            Control("one per cent smaller", lambda root: _best_slope(root) * 99 / 100),
            Control("the crude bound 1/k", lambda root: 1 / (root**2 + 1)),
        ),
        expected="holds",
        obligations=(
            *for_all("root", clause=("risk", "slope", "attained")),
            *for_all("templates", clause="slope"),
        ),
    ),
    Claim(
        id="alphabets.rem-11.4",
        kind="statement",
        title="ordered-pair orbits",
        text=(
            Clause(
                "slope",
                r"The template proportional to $(\alpha,\beta,1,\dots,1)$ has slope $\frac{kQ-S^2}{S(QH-kS)}$, "
                "and attains the best slope only where it is a singleton template, so that ordered pairs never "
                "improve on it.",
            ),
            Clause(
                "where",
                r"That is $\{\alpha,\beta\}=\{1,\sqrt{k-1}\}$, and at $k=3$ also $\alpha=\beta=1/\sqrt2$, off "
                r"the lines $\alpha=1$ and $\beta=1$.",
            ),
        ),
        source="alphabets, Remark 11.4",
        assumptions=(
            r"$k\ge3$; the conditions of the boundary are missing from our copy of the text, so the points are ours",
        ),
        scope="every k, alpha, beta; all maximisers at k = 3..6; three explicit channels",
        grade="proved",
        printed=_ordered_pairs,
        check=_check_pairs,
        controls=(
            Control(
                "k - 3 further letters",
                lambda: (lambda k, a, b: _pairs(k, a, b, letters=3), _optimal_pairs),
            ),
            Control("only at alpha = 1 or beta = 1, k = 3 included", _only_on_the_axes),
        ),
        expected="holds",
        obligations=(
            *for_all("templates", clause="slope"),
            *attained("boundary", clause="where"),
        ),
    ),
)
