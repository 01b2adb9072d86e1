"""Appendix C: guessing one of m values, and estimating an angle on a discrete circle."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from symshuffle.claims.model import (
    Claim,
    ClaimVerdict,
    Comparison,
    Control,
    Grade,
    Kind,
    Statement,
    compare,
    decide,
    identity,
)
from symshuffle.design import Method, bayes_tradeoff, minimax_tradeoff, smoothed_point_masses
from symshuffle.design.symmetric import guessing_bound_slacks, guessing_risk

M, K, GAMMA, LAM = sp.symbols("m k gamma lambda", positive=True)

_CASES: Final = (
    (2, Fraction(1), Fraction(3)),
    (3, Fraction(1, 2), Fraction(3)),
    (4, Fraction(1), Fraction(2)),
    (4, Fraction(1, 5), Fraction(101, 100)),
    (5, Fraction(3, 10), Fraction(20)),
)


def _guessing(m: Any, k: Any, gamma: Any, lam: Any) -> tuple[Any, Any, Any]:
    """Equations (90), (94) and (91): risk of size k, the same at every parameter, and the optimum."""
    size = k * lam + m - k
    weight = m / (sp.binomial(m, k) * size)
    inside = sp.binomial(m - 1, k - 1) * (1 - 1 / k) * ((1 - gamma) / m * size + gamma * lam)
    outside = sp.binomial(m - 1, k) * ((1 - gamma) / m * size + gamma)
    bayes = 1 - (1 - gamma) / m - gamma * lam / size
    return bayes, weight * (inside + outside), 1 - (1 - gamma) / m - gamma * lam / (lam + m - 1)


def _check_guessing(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    bayes, equalised, optimum = statement(M, K, GAMMA, LAM)
    counted = guessing_risk(M, K, GAMMA, LAM)
    yield identity(counted, bayes, at="risk of size k by counting classes, against (90)")
    yield identity(counted, equalised, at="risk of size k by counting classes, against (94)")
    yield identity(counted.subs(K, 1), optimum, at="size 1 attains (91)")
    inside, outside, worst = guessing_bound_slacks(M, GAMMA, LAM, optimum)
    yield identity(worst, 0, at="the bound (91) is tight at the worst column, for all m, gamma, lam")
    # With m = 2 + a, lam = 1 + b and a >= 0 < b the two gaps have one sign: all coefficients agree in sign.
    yield decide(_one_sign(-inside), at="gap at the guess is negative", claimed="<= 0", symbolic=True)
    yield decide(_one_sign(outside), at="gap elsewhere is positive", claimed=">= 0", symbolic=True)
    for m, gamma, lam in _CASES:
        problem, at = smoothed_point_masses(m, gamma), f"m={m}, gamma={gamma}, lam={lam}"
        values = statement(sp.Integer(m), sp.Integer(1), sp.Rational(gamma), sp.Rational(lam))
        claimed = Fraction(int(values[2].p), int(values[2].q))
        for method in Method:
            yield compare(
                bayes_tradeoff(problem, lam, method=method).value.exact, claimed, at=f"{at}, Bayes, {method.value}"
            )
            yield compare(minimax_tradeoff(problem, lam, method=method).value.exact, claimed, at=f"{at}, minimax")


def _one_sign(expression: Any) -> bool:
    """Whether a rational function is non-negative at m >= 2, lam > 1, gamma > 0, by the signs of all coefficients."""
    a, b = sp.symbols("a b", positive=True)
    numerator, denominator = sp.fraction(sp.together(expression.subs({M: 2 + a, LAM: 1 + b})))
    signs = {sp.sign(c) for part in (numerator, denominator) for c in sp.Poly(part, a, b, GAMMA).coeffs()}
    return signs == {sp.Integer(1)} or signs == {sp.Integer(-1)}


def _printed_with(change: str) -> Statement:
    def perturbed(m: Any, k: Any, gamma: Any, lam: Any) -> tuple[Any, Any, Any]:
        bayes, equalised, optimum = _guessing(m, k, gamma, lam)
        match change:
            case "size two":
                return bayes, equalised, 1 - (1 - gamma) / m - gamma * lam / (2 * lam + m - 2)
            case "no binomial":
                return bayes, equalised * sp.binomial(m, k), optimum
            case _:
                return bayes - gamma / (k * lam + m - k), equalised, optimum

    return perturbed


CLAIMS: Final[tuple[Claim, ...]] = (
    Claim(
        id="ldp_tradeoff.app-C.1",
        kind=Kind.STATEMENT,
        title="guessing one of m values: best loss in closed form",
        text=(
            r"Guessing $\theta\in[m]$ from $P(x|\theta)=(1-\gamma)/m+\gamma 1[x=\theta]$ under 0-1 loss: "
            r"subset selection of size $k$ has risk $1-(1-\gamma)/m-\gamma\lambda/(k\lambda+m-k)$ at every $\theta$; "
            r"the best LDP channel has $k=1$, for the uniform prior and in the worst case."
        ),
        source="ldp_tradeoff, Appendix C.1, equations (80)-(94)",
        assumptions=("m >= 2", "0 < gamma <= 1", "lam > 1"),
        scope="all m, k, gamma, lam: risk by counting, optimality by a dual vector; rational programs at m = 2..5",
        grade=Grade.PROVED,
        printed=_guessing,
        check=_check_guessing,
        controls=(
            Control("the optimal size is 2", _printed_with("size two")),
            Control("the number of subsets is forgotten", _printed_with("no binomial")),
            Control("numerator lam + 1", _printed_with("numerator")),
        ),
        expected=ClaimVerdict.HOLDS,
    ),
)
