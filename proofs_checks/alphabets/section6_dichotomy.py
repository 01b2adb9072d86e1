"""Section 6: diluting and persistent families, and what tells them apart."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.alphabets import _cases as cases
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
from symshuffle.mechanisms.finite import K
from symshuffle.mechanisms.symbolic import LAM, nonnegative, normal_form
from symshuffle.utility.likelihood import families
from symshuffle.utility.likelihood.extremes import largest_chi_square
from symshuffle.utility.likelihood.families import ChannelFamily

CAP: Final = 1 + sp.Symbol("r", nonnegative=True)


def _diluting(limit: Any) -> str:
    """The kind of a family, by the limit of its largest chi-square."""
    return "diluting" if limit == 0 else "persistent"


def _members() -> tuple[tuple[ChannelFamily, Any], ...]:
    """Families with the limit of their chi-square, written down by hand."""
    full = (LAM - 1) ** 2 / LAM
    return (
        (families.GRR, sp.Integer(0)),
        (families.HALF_BLOCK, full),
        (families.HALF_SUBSETS, full / 2),
        (families.HALF_BLOCK.diluted(1 / K), sp.Integer(0)),
        (families.HALF_BLOCK.diluted(1 / sp.log(K)), sp.Integer(0)),
        (families.HALF_BLOCK.diluted(sp.Rational(1, 3)), full / 3),
    )


def _check_kinds(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Six families, open lam: the limit of chi-square against one written by hand, and the kind against the stated one.

    k-ary response at lam = 3, three k up to 10^9: chi-square over Q.
    """
    for family, limit in _members():
        yield identity(family.limit_chi_square, limit, at=f"{family.name}: limit of the chi-square")
        yield compare(family.kind, statement(limit), at=f"{family.name}: kind")
    for exponent in (2, 4, 9):  # the limit is approached
        found = families.GRR.at(lam=3).size(10**exponent).chi_square
        yield compare(found, Fraction(16, 3 * (10**exponent + 2)), at=f"GRR, lam=3, k=10^{exponent}")


def _collapse(lam: Any, distance: Any, chi: Any) -> tuple[Any, Any]:
    """Bounds on the chi-square by the distance to 1, and on the square of the distance by the chi-square."""
    return (lam - 1) * distance, chi


def _check_collapse(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Any law on [1/lam, lam]: (x-1)^2 within the stated multiple of |x-1| at each point, by sign.

    The other bound by the variance of |g-1|, two values for all. k-ary response for every k, which at lam = sqrt(k)
    collapses while chi-square tends to 1. 24 random laws over Q.
    """
    distance, chi, u, x, w = sp.symbols("D v u x w", nonnegative=True)
    claimed = statement(CAP, distance, chi)
    # One point of the range at a time, the point x of weight w contributing |x - 1| w: above 1, x = 1 + t(lam - 1).
    inside = (CAP - 1) * u / (1 + u)
    per_point = claimed[0].subs(distance, inside) - inside**2
    yield from serving("laws", [_within(per_point, "points above 1")])
    lower = (1 - 1 / CAP) * u / (1 + u)  # 1 - x below 1
    per_point = claimed[0].subs(distance, lower) - lower**2
    yield from serving("laws", [_within(per_point, "points below 1")])
    spread = w * (1 - w) * (x - u) ** 2  # variance of |g - 1| for two values; for more it is a sum of such terms
    second, first = w * x**2 + (1 - w) * u**2, w * x + (1 - w) * u
    yield identity(
        statement(CAP, first, second)[1] - first**2, spread, at="every law: squares of means below means of squares"
    )
    grr = families.GRR
    w1 = normal_form(sum(_size(r) * m for r, m in grr.atoms))
    yield identity(w1, 2 * (LAM - 1) / (K + LAM - 1), at="GRR, every k: distance to the point mass at 1")
    off = normal_form(sum(m for r, m in grr.atoms if r != 1))
    yield identity(off, (LAM + 1) / (K + LAM - 1), at="GRR, every k: mass off 1")
    for lam, ratio in cases.ratios(rng, 24):
        claimed = statement(lam, ratio.wasserstein_to_one, ratio.chi_square)
        yield compare(ratio.chi_square, claimed[0], "<=", at=f"random law, lam={lam}: chi-square")
        yield compare(
            ratio.wasserstein_to_one**2, claimed[1], "<=", at=f"random law, lam={lam}: square of the distance"
        )
    # Without a common ratio cap the theorem fails: k-ary response at lam = sqrt(k).
    root = sp.Symbol("q", positive=True)
    grown = {LAM: root, K: root**2}
    yield decide(
        sp.limit(w1.subs(grown), root, sp.oo) == 0, at="lam = sqrt(k)", claimed="the law collapses", symbolic=True
    )
    limit = sp.limit(normal_form(grr.chi_square.subs(grown)), root, sp.oo)
    yield decide(limit == 1, at="lam = sqrt(k)", claimed="while its chi-square tends to 1", symbolic=True)


def _within(slack: Any, where: str) -> Comparison:
    """Both sides are linear in the law: a bound at every point of its range is one for every law."""
    return decide(nonnegative(slack, {}), at=f"every lam, {where}", claimed="(x-1)^2 within the bound", symbolic=True)


def _size(ratio: sp.Expr) -> sp.Expr:
    """The number |r - 1| for the ratios lam, 1 and 1/lam, at lam above 1."""
    return {LAM: LAM - 1, sp.Integer(1): sp.Integer(0), 1 / LAM: 1 - 1 / LAM}[ratio]


def _continuity(lam: Any, distance: Any, spread: Any) -> tuple[Any, Any]:
    """How far apart the chi-squares of two laws are at most, and how small one is at least.

    By the Wasserstein distance of the laws, and by that of the one from the point mass at 1.
    """
    return 2 * (lam - 1) * distance, spread**2


def _check_limits(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Any two laws on [1/lam, lam], a pair of points at a time: (x-1)^2 changes by at most the stated slope, by sign.

    Symbolic; so chi-square is continuous. It is at least the squared distance to the point mass, two values for all.
    Limit laws of three families; 12 random laws over Q.
    """
    # Two laws are a mean of pairs of points x, y at mean distance D; so their chi-squares are at most the bound apart,
    # which tends to 0 with D: the chi-square of a weak limit is the limit of the chi-squares.
    s, t = sp.symbols("s t", nonnegative=True)
    low = 1 / CAP
    x, y = (low + (CAP - low) * u / (1 + u) for u in (s, t))
    difference, distance = sp.Symbol("e", positive=True), sp.Symbol("D", nonnegative=True)
    slope = statement(CAP, difference, distance)[0] / difference
    found = [
        decide(nonnegative(slope - sign * (x + y - 2), {}), at=f"every lam, {way}", claimed="slope", symbolic=True)
        for sign, way in ((1, "rising pairs"), (-1, "falling pairs"))
    ]
    yield from serving("laws", found)
    yield identity(slope, sp.limit(sp.limit(x + y - 2, s, sp.oo), t, sp.oo), at="every lam: no smaller slope will do")
    yield identity(statement(CAP, 0, distance)[0], 0, at="every lam: equal limits")
    # If the limit is no point mass its distance to 1 is positive, and so is its chi-square; if it is, both are 0.
    w, u, v = sp.symbols("w u v", nonnegative=True)
    second, first = w * u**2 + (1 - w) * v**2, w * u + (1 - w) * v
    gap = second - statement(CAP, distance, first)[1]
    yield from serving("limits", [identity(gap, w * (1 - w) * (u - v) ** 2, at="every law: squares of means")])
    least = statement(CAP, distance, difference)[1]
    yield decide(bool(least.is_positive), at="a spread limit", claimed="chi-square above 0", symbolic=True)
    full = (LAM - 1) ** 2 / LAM
    for family, limit in (
        (families.HALF_BLOCK, full),
        (families.HALF_SUBSETS, full / 2),
        (families.GRR, sp.Integer(0)),
    ):
        ends = family.limit_atoms
        yield identity(sum((r - 1) ** 2 * m for r, m in ends), limit, at=f"{family.name}: chi-square of the limit law")
        yield identity(family.limit_chi_square, limit, at=f"{family.name}: limit of the chi-square")
        yield identity(sum(m for _, m in ends), 1, at=f"{family.name}: no mass escapes")
    for lam, ratio in cases.ratios(rng, 12):
        at = f"random law, lam={lam}, from the point mass at 1"
        apart, least = statement(lam, ratio.wasserstein_to_one, ratio.wasserstein_to_one)
        yield compare(ratio.chi_square, apart, "<=", at=at)
        yield compare(ratio.chi_square, least, ">=", at=at)


def _scales(lam: Any, n: Any) -> tuple[Any, Any]:
    """Squares of the ends between which the Gaussian parameter of half-size subsets lies."""
    return (lam - 1) ** 2 / (2 * lam * n), (lam - 1) ** 2 / (lam * n)


def _check_scales(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Half-block and half-size subsets, open k >= 2, lam, n: chi-square over n between the stated ends, by sign.

    The upper end is Theorem 4.2 for any family, the lower one the limit of half-size subsets; symbolic. Six (k, n) over
    Q.
    """
    n = sp.Symbol("n", positive=True, integer=True)
    low, high = statement(LAM, n)
    size, cap = sp.symbols("j r", nonnegative=True)
    chart = {K: 2 + size, LAM: 1 + cap}
    for family, name in ((families.HALF_SUBSETS, "half-size subsets"), (families.HALF_BLOCK, "half-block")):
        square = family.chi_square / n
        for gap, what in ((square - low, "above the lower end"), (high - square, "below the upper end")):
            yield decide(
                nonnegative(gap.subs(chart), {}), at=f"{name}, every k >= 2, lam, n", claimed=what, symbolic=True
            )
    upper = identity(largest_chi_square(LAM) / n, high, at="every lam, n, family: the upper end is that of Theorem 4.2")
    yield from serving("families", [upper])
    yield identity(families.HALF_SUBSETS.limit_chi_square / n, low, at="half-size subsets: the lower end is the limit")
    for k in (2, 10, 10**9):
        for users in (1, 100):
            square = families.HALF_SUBSETS.at(lam=3).size(k).chi_square / users
            ends = statement(Fraction(3), users)
            yield decide(ends[0] <= square <= ends[1], at=f"lam=3, k={k}, n={users}", claimed="between the ends")


CLAIMS: Final = (
    Claim(
        id="alphabets.def-6.1",
        kind="definition",
        title="diluting and persistent families",
        text=(
            Clause("diluting", r"Diluting: $\chi_*(W^{(k)})\to0$."),
            Clause("persistent", r"Persistent: $\limsup\chi_*(W^{(k)})>0$."),
        ),
        source="alphabets, Definition 6.1",
        assumptions=(r"one $\varepsilon_0$ for the family",),
        scope="six families, limits symbolically in lam; k-ary response to k = 10^9",
        grade="exact-cases",
        printed=_diluting,
        check=_check_kinds,
        controls=(
            Control(
                "persistent from chi-square 2 on",
                lambda limit: "diluting" if limit != (LAM - 1) ** 2 / LAM else "persistent",
            ),
            Control("exchanged", lambda limit: "persistent" if limit == 0 else "diluting"),
        ),
        expected="definition",
        obligations=for_all("limit", clause=("diluting", "persistent")),
    ),
    Claim(
        id="alphabets.thm-6.2i",
        kind="statement",
        title="dilution is collapse of the ratio law",
        text=(
            Clause("limit", r"Diluting if and only if $\nu_{a_kb_k}\to\delta_1$ for all pairs."),
            Clause("bounds", r"Quantitatively $\chi^2\le(\lambda-1)E|g-1|$ and $(E|g-1|)^2\le\chi^2$."),
        ),
        source="alphabets, Theorem 6.2 (i)",
        assumptions=(r"one $\varepsilon_0$ for the family: at $\lambda=\sqrt k$ it fails",),
        scope="both inequalities for every law and lam (compactness is not needed: on a bounded range weak "
        "convergence to a "
        "point is convergence of E|g-1|); 24 random laws; the case lam = sqrt(k)",
        grade="proved",
        printed=_collapse,
        check=_check_collapse,
        controls=(
            Control("chi-square by (lam - 1) D / 2", lambda lam, d, chi: ((lam - 1) * d / 2, chi)),
            Control(
                "square of the distance below 0.99 chi-square",
                lambda lam, d, chi: ((lam - 1) * d, chi * Fraction(99, 100)),
            ),
        ),
        expected="holds",
        obligations=(
            *for_all("lam", "distance", "chi", clause="bounds"),
            *for_all("laws", clause=("limit", "bounds")),
        ),
    ),
    Claim(
        id="alphabets.thm-6.2ii",
        kind="statement",
        title="persistence is a spread limit along a subsequence",
        text=(
            Clause(
                "limit", r"Persistent if and only if some subsequence and pairs have $\nu\to\nu_\infty\ne\delta_1$."
            ),
            Clause("chi-square", r"Chi-squares differ by at most $2(\lambda-1)W_1(\nu,\nu')$."),
            Clause("distance", r"$W_1(\nu,\delta_1)^2\le\chi^2$."),
        ),
        source="alphabets, Theorem 6.2 (ii)",
        assumptions=(
            r"one $\varepsilon_0$ for the family",
            "quoted: laws on one bounded interval have a convergent subsequence (Prokhorov), where weak convergence is "
            "convergence of the Wasserstein distance",
        ),
        scope="both inequalities for every two laws and lam; limit laws of three families; 12 random laws",
        grade="proved",
        printed=_continuity,
        check=_check_limits,
        controls=(
            Control("1 % less of the slope", lambda lam, d, w: (2 * (lam - 1) * d * Fraction(99, 100), w**2)),
            Control("1 % more than the square", lambda lam, d, w: (2 * (lam - 1) * d, w**2 * Fraction(101, 100))),
        ),
        expected="holds",
        obligations=(
            *for_all("lam", "distance", clause=("limit", "chi-square")),
            *for_all("spread", "limits", clause=("limit", "distance")),
            *for_all("laws", clause="chi-square"),
        ),
    ),
    Claim(
        id="alphabets.thm-6.2iv",
        kind="statement",
        title="persistent families keep the ordinary scale",
        text=(
            Clause("lower", r"There is $c>0$ with $\sqrt{c/n}\le\mu_n$."),
            Clause("upper", r"$\mu_n\le(\lambda-1)/\sqrt{\lambda n}$ along a subsequence."),
        ),
        source="alphabets, Theorem 6.2 (iv)",
        assumptions=(r"one $\varepsilon_0$ for the family",),
        scope="half-block and half-size subsets, every k, lam, n symbolically; that c exists is Definition 6.1",
        grade="proved",
        printed=_scales,
        check=_check_scales,
        controls=(
            Control(
                "lower end 1 % higher", lambda lam, n: (_scales(lam, n)[0] * Fraction(101, 100), _scales(lam, n)[1])
            ),
            Control("upper end 1 % lower", lambda lam, n: (_scales(lam, n)[0], _scales(lam, n)[1] * Fraction(99, 100))),
        ),
        expected="holds",
        obligations=for_all("lam", "n", "families", clause=("lower", "upper")),
    ),
)
