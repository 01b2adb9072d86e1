"""Proposition 4.2: the Gaussian randomizer without a blanket, its error against the index, and both series."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from symshuffle.base.numbers import Ball, to_arb, working_precision
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)
from symshuffle.vectors.error.indices import shuffle_index
from symshuffle.vectors.error.risk import gaussian_index_series, gaussian_noise_series
from symshuffle.vectors.randomizers.mechanisms import LocalGaussian

TINY: Final = Fraction(1, 10**30)

_W: Final = sp.Symbol("w", positive=True)


def _in_balls(statement: Statement, w: Ball) -> Any:
    """A polynomial statement at a ball."""
    written = sp.Poly(statement(_W), _W)
    value: Any = Fraction(0)
    for coefficient in written.all_coeffs():
        value = value * w + Fraction(int(coefficient.p), int(coefficient.q))
    return value


def _gaussian_variance(w: Any) -> Any:
    """1/chi_chua^2 as printed, w = exp(1/sigma0^2)."""
    return w**4 - 2 * w**2 + w


def _check_gaussian_variance(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open sigma0: the integral of (R_e - R_0)^2/R_-e, term by term, against the stated number; symbolic.

    Its series, and that of its inverse. Three sigma0 in balls: the library's upper index.
    """
    # The integral of (R_e - R_0)^2/R_-e along e, term by term; the other coordinates integrate to 1.
    t, y = sp.Symbol("t", positive=True), sp.Symbol("y", real=True)
    total = sp.Integer(0)
    for one, other, sign in ((1, 1, 1), (1, 0, -2), (0, 0, 1)):
        exponent = sp.expand(-t * ((y - one) ** 2 + (y - other) ** 2 - (y + 1) ** 2) / 2)
        part = sp.integrate(sp.exp(exponent) * sp.sqrt(t / (2 * sp.pi)), (y, -sp.oo, sp.oo))
        total += sign * sp.simplify(part)
    yield identity(total.subs(t, sp.log(_W)), statement(_W), at="every sigma0: variance under N(-e, sigma0^2 I)")
    for scale in (Fraction(1), Fraction(5), Fraction(20)):
        index: Any = shuffle_index(LocalGaussian(scale), "upper").inverse_square
        with working_precision(128):
            w = Ball.from_arb((1 / to_arb(scale * scale)).exp(), 128)
        gap: Any = index / _in_balls(statement, w) - 1
        yield compare(gap * gap, TINY, "<=", at=f"sigma0 = {scale}: the library's upper index is this one")
    printed = sp.series(statement(sp.exp(t)), t, 0, 5).removeO()
    claimed = t + sp.Rational(9, 2) * t**2 + sp.Rational(49, 6) * t**3 + sp.Rational(75, 8) * t**4
    yield identity(sp.expand(printed), claimed, at="expansion (59) to fourth order")
    s = sp.Symbol("s", positive=True)
    chi2 = sp.series(1 / statement(sp.exp(1 / s)).rewrite(sp.exp).subs(s, 1 / t), t, 0, 2).removeO()
    yield identity(
        sp.expand(chi2), 1 / t - sp.Rational(9, 2) + sp.Rational(145, 12) * t, at="chi^2 = s - 9/2 + 145/(12 s)"
    )
    longer = sp.series(1 / statement(sp.exp(1 / s)).rewrite(sp.exp).subs(s, 1 / t), t, 0, 4).removeO()
    written = 1 / t + sum(sp.Rational(c) * t**m for m, c in enumerate(gaussian_index_series(4)))
    yield identity(sp.expand(longer), written, at="the library's series of chi^2 to fourth order")


def _reversion(x: Any) -> Any:
    """S = sigma0^2 as a series in X = chi_chua^2, equation (61)."""
    return x + sp.Rational(9, 2) - sp.Rational(145, 12) / x + sp.Rational(651, 8) / x**2


def _check_reversion(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """The variance at 1/S, with S the stated series, is 1/X to fourth order; its value and slope at 0; symbolic."""
    y = sp.Symbol("y", positive=True)
    # With 1/X = y and t = 1/s: V(t) = y up to O(y^5) when t = 1/s(1/y).
    t = sp.series(1 / statement(1 / y), y, 0, 5).removeO()
    z = sp.Symbol("z")
    whole = _gaussian_variance(sp.exp(z))  # entire in z, 0 at 0 with slope 1: its inverse there is a convergent series
    yield identity(whole.subs(z, 0), 0, at="V(0) = 0")
    yield identity(sp.diff(whole, z).subs(z, 0), 1, at="V'(0) = 1")
    variance = sp.series(whole, z, 0, 5).removeO().subs(z, t)
    yield identity(sp.series(sp.expand(variance), y, 0, 5).removeO(), y, at="V(1/s(X)) = 1/X to fourth order")
    written = 1 / y + sum(sp.Rational(d) * y**m for m, d in enumerate(gaussian_noise_series(3)))
    yield identity(sp.expand(statement(1 / y)), written, at="the library's coefficients are the stated ones")


CLAIMS: Final = (
    Claim(
        id="vecmean.prop-4.2",
        kind="statement",
        title="plain Gaussian randomizer: error against index",
        text=(
            Clause("index", r"$\chi_{chua}^{-2}=e^{4a}-2e^{2a}+e^a$, $a=1/\sigma_0^2$."),
            Clause("error", r"So $Err_1=d\chi_{chua}^2(1+\frac92\chi_{chua}^{-2}+\dots)$."),
        ),
        source="vecmean, Proposition 4.2, equations (56) to (58)",
        assumptions=(),
        scope="all parameters",
        grade="proved",
        printed=_gaussian_variance,
        check=_check_gaussian_variance,
        controls=(Control("e^(3a) for e^(4a)", lambda w: w**3 - 2 * w**2 + w),),
        expected="holds",
        obligations=for_all("w", clause=("index", "error")),
    ),
    Claim(
        id="vecmean.eq-59-61",
        kind="statement",
        title="power series of the plain Gaussian index and its inverse",
        text=r"$\sigma_0^2=X+\frac92-\frac{145}{12}X^{-1}+\frac{651}8X^{-2}+\dots$, $X=\chi_{chua}^2$.",
        source="vecmean, equations (59) to (61)",
        assumptions=("V is entire with V(0) = 0 and V'(0) = 1: its local inverse is the sum of this series",),
        scope="series to fourth order; remainders with constants: claim symshuffle.vecmean-gaussian-remainders",
        grade="proved",
        printed=_reversion,
        check=_check_reversion,
        controls=(Control("last coefficient 650/8", lambda x: _reversion(x) - sp.Rational(1, 8) / x**2),),
        expected="holds",
        obligations=for_all("x"),
    ),
)
