"""Lemma A.1 of vecmean: the profile of the central Gaussian."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import flint
import numpy as np

from proofs_checks.vecmean._templates import leading_template, mills_bracket
from symshuffle.base.numbers import Ball, to_arb, working_precision
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)
from symshuffle.vectors.privacy.correspondence import central_profile

BITS: Final = 192
TINY: Final = Fraction(1, 10**25)


def _tail_slope(t: Any) -> tuple[Any, Any]:
    """Bounds of -m'(t) for the tail ratio m, and so of the bracket in (11)."""
    return 1 / t**2 - 3 / t**4, 1 / t**2


def _check_profile(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Every t: the stated bounds of -m', from bounds of m that keep a sign in its differential equation; symbolic.

    (12) and (13) as identities. Four (sigma, n) in balls: the profile is between the integrated bounds, and is the
    hockey-stick integral by quadrature.
    """
    import sympy as sp

    from symshuffle.mechanisms.symbolic import nonnegative

    t = sp.Symbol("t", positive=True)
    lower, upper = statement(t)
    # m' = t m - 1. Between 1/t - 1/t^3 + 3/t^5 and 1/t - 1/t^3, m gives -m' = 1 - t m between the two bounds; a bound b
    # of m is one where b' - (t b - 1) keeps its sign, since m - b tends to 0.
    over, under = 1 / t - 1 / t**3 + 3 / t**5, 1 / t - 1 / t**3
    yield identity(1 - t * over, lower, at="every t: slope at the upper bound of m")
    yield identity(1 - t * under, upper, at="every t: slope at the lower bound of m")
    yield decide(nonnegative(-(sp.diff(over, t) - t * over + 1), {}), at="every t", claimed="m <= over", symbolic=True)
    yield decide(nonnegative(sp.diff(under, t) - t * under + 1, {}), at="every t", claimed="m >= under", symbolic=True)
    a, b = sp.symbols("a b", positive=True)
    inner = sp.integrate(upper, t).subs(t, a + b) - sp.integrate(upper, t).subs(t, a - b)
    yield identity(inner, 2 * b / (a**2 - b**2), at="(12): integral of 1/t^2 over [a - b, a + b]")
    chi, eps, n = sp.symbols("chi epsilon n", positive=True)
    density = sp.exp(-((chi * eps) ** 2) * n / 2) / sp.sqrt(2 * sp.pi)
    leading = density * 2 * (1 / (2 * chi * sp.sqrt(n))) * upper.subs(t, chi * eps * sp.sqrt(n))
    yield identity(sp.simplify(leading / leading_template(chi, eps, n)), 1, at="(13): the template")
    for users in (10**6, 10**24):
        for scale in (Fraction(1), Fraction(4)):
            with working_precision(BITS):
                level = Ball.from_arb((flint.arb(users).log() / users).sqrt(), BITS)
            delta = central_profile(scale, level, users, bits=BITS)
            low, high = mills_bracket(scale, level, users, bits=BITS)
            yield compare(low, delta, "<=", at=f"sigma = {scale}, n = {users:.0e}: lower bound")
            yield compare(delta, high, "<=", at=f"sigma = {scale}, n = {users:.0e}: upper bound")
            # The profile by quadrature of the hockey-stick integral, against (8).
            gap: Any = delta - _stick_integral(scale, level, users)
            yield compare(gap * gap, TINY * TINY, "<=", at=f"sigma = {scale}, n = {users:.0e}: integral")


def _stick_integral(scale: Fraction, level: Ball, users: int) -> Ball:
    """The divergence of N(2b, 1) from N(0, 1) at e^eps, integrated from where the ratio is e^eps."""
    with working_precision(2 * BITS):
        b = 1 / (2 * to_arb(scale) * flint.arb(users).sqrt())
        eps = to_arb(level)
        start = eps / (2 * b) + b

        def gain(y: flint.acb, _: bool) -> flint.acb:
            return (-((y - 2 * b) ** 2) / 2).exp() - eps.exp() * (-y * y / 2).exp()

        value = flint.acb.integral(gain, flint.acb(start), flint.acb(start + 40)).real
        tail = (-((start + 40 - 2 * b) ** 2) / 2).exp()
        return Ball.from_arb((value + tail.union(0)) / (2 * flint.arb.pi()).sqrt(), BITS)


CLAIMS: Final = (
    Claim(
        id="vecmean.lem-A.1",
        kind="statement",
        title="the Gaussian profile by tail ratios",
        text=(
            Clause("tails", r"$\delta=\bar\Phi(a-b)-e^\varepsilon\bar\Phi(a+b)=f(1+o(1))$."),
            Clause(
                "remainder",
                "The remainder $O(a^{-5})$ on each tail in (11) is larger than $2b/a^2$ once n is large, so "
                "(13) does not follow from it (erratum symshuffle.vecmean-tail-remainders).",
            ),
            Clause("follows", r"(13) follows from $t^{-2}-3t^{-4}\le-m'(t)\le t^{-2}$, integrated."),
        ),
        source="vecmean, Lemma A.1 and equations (8) to (13)",
        assumptions=("a > b",),
        scope="the bounds for all t; (12), (13) as identities; four cases in balls against quadrature",
        grade="proved",
        printed=_tail_slope,
        check=_check_profile,
        controls=(
            Control("2 in place of 3", lambda t: (1 / t**2 - 2 / t**4, 1 / t**2)),
            Control("upper bound 1 % short", lambda t: (_tail_slope(t)[0], Fraction(99, 100) / t**2)),
        ),
        expected="holds",
        obligations=for_all("t", clause=("tails", "remainder", "follows")),
    ),
)
