"""Appendices A.6 and A.7: the error of the best mixture expanded, and the correspondence assembled."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np

from proofs_checks.vecmean.section32 import upper_bound
from symshuffle.base.numbers import Ball, to_arb, working_precision
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
from symshuffle.vectors.error.optimal import bmg_error, bmg_optimal

BITS: Final = 192


def _expansion(e: Any, d: Any) -> tuple[Any, Any]:
    """The argument u at A = e, and the error over d chi^2 to second order in e."""
    return e - e**2, 1 + Fraction(3, 2) * e + (Fraction(11, 12) + 1 / d) * e**2


def _check_expansion(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open e, d, chi: u at A = e, (45), and the library's error to second order, against the stated series; symbolic.

    At A = alpha e the first coefficient exceeds the stated one by a square.
    """
    import sympy as sp

    e, d, chi, a = sp.symbols("e d chi a", positive=True)
    u, second = statement(e, d)
    share = (1 - a) / (a**2 * chi**2)
    yield identity(share.subs({a: e}).subs(chi, e ** sp.Rational(-3, 2)), u, at="(41): u at A = chi^(-2/3)")
    yield identity(1 / (a**2 * share), chi**2 / (1 - a), at="(45)")
    error = bmg_error(e, e ** sp.Rational(-3, 2), d) * e**3 / d
    series = sp.series(sp.simplify(error), e, 0, 3).removeO()
    yield identity(sp.expand(series), sp.nsimplify(sp.expand(second)), at="every d: error over d chi^2 to second order")
    # A = alpha e: the first coefficient alpha + 1/(2 alpha^2) is 3/2 + (alpha-1)^2 (2 alpha+1)/(2 alpha^2).
    alpha = sp.Symbol("alpha", positive=True)
    excess = (alpha - 1) ** 2 * (2 * alpha + 1) / (2 * alpha**2)
    first = sp.diff(sp.expand(second), e).subs(e, 0)
    yield identity(alpha + 1 / (2 * alpha**2), sp.nsimplify(first) + excess, at="every alpha: 3/2 is the least")


def _gap(r: Any) -> Any:
    """The proof's eta with slack 1 and the constant of dimension 1, at r = (sigma + 1)^(-1/3)."""
    e = r * r
    wide = 1 / (1 - r * e)  # (sigma + 1)/sigma
    return wide * wide * (1 + Fraction(3, 2) * e + (1 / (1 - e) + 1 - e) * e * e) - 1


def _check_assembly(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Every sigma > 0 and d >= 1: eta covers what Corollary 3.6 allows at index sigma + 1, by sign; limit; symbolic.

    Four sigma and three d in balls: the best mixture at sigma + 1 is within eta.
    """
    import sympy as sp

    from symshuffle.mechanisms.symbolic import nonnegative

    r, m, t = sp.symbols("r m t", positive=True)
    said, e = sp.nsimplify(statement(r)), r**2
    sigma = 1 / r**3 - 1
    # Corollary 3.6, as its own claim transcribes it, at chi = sigma + 1 and in dimension d, over d sigma^2.
    allowed = ((sigma + 1) / sigma) ** 2 * sp.nsimplify(upper_bound(e, 1 + m))
    room = nonnegative(sp.factor(sp.together(1 + said - allowed)), {r: t / (1 + t)})
    at = "every sigma > 0, d >= 1: what Corollary 3.6 allows at sigma + 1"
    yield from serving("dimensions", [decide(room, at=at, claimed="covered", symbolic=True)])
    yield identity(sp.limit(said / r**2, r, 0), sp.Rational(3, 2), at="sigma to infinity: eta over (sigma+1)^(-2/3)")
    for size in (Fraction(10), Fraction(100), Fraction(1000), Fraction(10**5)):
        with working_precision(BITS):
            root = Ball.from_arb((-(to_arb(size) + 1).log() / 3).exp(), BITS)
        eta: Any = statement(root)
        for d in (1, 10, 1000):
            found = bmg_optimal(size + 1, d).bracket.upper / (d * size**2)
            yield compare(found, 1 + eta, "<=", at=f"sigma = {size}, d = {d}: (54), best mixture at sigma + 1")
        yield compare(eta, Fraction(0), ">=", at=f"sigma = {size}: eta is positive")


CLAIMS: Final = (
    Claim(
        id="vecmean.eq-39-49",
        kind="statement",
        title="steps behind the error expansion",
        text=(
            Clause("parameters", r"$u=\chi^{-2/3}-\chi^{-4/3}$."),
            Clause("index", r"$1/(A^2u)=\chi^2/(1-A)$."),
            Clause("error", r"The error over $d\chi^2$ is $1+\frac32e+(\frac{11}{12}+\frac1d)e^2$ to second order."),
        ),
        source="vecmean, equations (39) to (49)",
        assumptions=("A = chi^(-2/3)",),
        scope="identities; the series to second order for every d; 3/2 as the least first coefficient",
        grade="proved",
        printed=_expansion,
        check=_check_expansion,
        controls=(
            Control("u without its second term", lambda e, d: (e, _expansion(e, d)[1])),
            Control("first coefficient 1", lambda e, d: (e - e**2, _expansion(e, d)[1] - e * Fraction(1, 2))),
        ),
        expected="holds",
        obligations=for_all("e", "d", clause=("parameters", "index", "error")),
    ),
    Claim(
        id="vecmean.eq-50-55",
        kind="statement",
        title="steps behind the Gaussian correspondence",
        text=r"$\eta=((\sigma+1)/\sigma)^2(1+\frac32(\sigma+1)^{-2/3}+C(\sigma+1)^{-4/3})-1=O(\sigma^{-2/3})$.",
        source="vecmean, equations (50) to (55)",
        assumptions=("C made explicit: 1/(1-e) + 1 - e, that of dimension 1", "Corollary 3.6 (vecmean.cor-3.6)"),
        scope="every sigma and d, from Corollary 3.6; four sigma and three dimensions against the best mixture",
        grade="proved",
        printed=_gap,
        check=_check_assembly,
        controls=(Control("1 % less", lambda r: _gap(r) * Fraction(99, 100)),),
        expected="holds",
        obligations=for_all("r", "dimensions"),
    ),
)
