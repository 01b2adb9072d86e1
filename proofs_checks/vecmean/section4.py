"""Section 4: the mixed Gaussian randomizer, its index and risk, and the Gaussian one without a blanket."""

from __future__ import annotations

import itertools
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
    for_all,
    identity,
)
from symshuffle.numbers import Exp
from symshuffle.results import Rigour
from symshuffle.vectors.accounting import pair_delta
from symshuffle.vectors.mechanisms import BlanketMixedGaussian
from symshuffle.vectors.pairs import worst_pair

_A, _D, _S, _W, _R = sp.symbols("A d s w r", positive=True)


def _algorithm(gamma: Any, x: Any, y: Any) -> Any:
    """The estimator as printed."""
    return y / (1 - gamma)


def _check_algorithm(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    gamma, x = sp.symbols("gamma x", positive=True)
    # The estimator is linear: its mean is its value at the mean of the message.
    yield identity(
        statement(gamma, x, gamma * 0 + (1 - gamma) * x), x, at="mean of the estimator at every x, gamma < 1"
    )


def _lower_index(gamma: Any, w: Any) -> Any:
    """The squared lower index as printed, w = exp(1/sigma0^2)."""
    return gamma / (1 - gamma) ** 2 / (w - 1)


def _lognormal(power: int) -> Any:
    """E[E^k] of E = exp(bZ - b^2/2) with w = exp(b^2)."""
    return _W ** sp.Rational(power * (power - 1), 2)


def _check_lower_index(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    gamma = sp.Symbol("gamma", positive=True)
    square = sum(sp.binomial(2, k) * (-1) ** (2 - k) * _lognormal(k) for k in range(3))
    yield identity(gamma / ((1 - gamma) ** 2 * square), statement(gamma, _W), at="every gamma, sigma0")


def _risk(d: Any, s: Any, gamma: Any) -> Any:
    """The worst-case squared error of the estimator, at unit vectors (equation 38)."""
    return d * s**2 / (1 - gamma) ** 2 + gamma / (1 - gamma)


def _check_risk(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    gamma, r = sp.symbols("gamma r", positive=True)
    rest = 1 - gamma
    # Noise and choice of the centre are independent: the variance of a Bernoulli centre along x.
    risk = (_D * _S**2 + r**2 * rest * gamma) / rest**2
    yield identity(risk.subs(r, 1), statement(_D, _S, gamma), at="every d, sigma0, gamma at |x| = 1")
    yield identity(sp.diff(risk, r), 2 * r * gamma / rest, at="rising in |x|")


def _series(e: Any, d: Any) -> Any:
    """Err_1/(d chi^2) to first order in e = chi^(-2/3)."""
    return 1 + sp.Rational(3, 2) * e


def _check_series(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    e, d, u = sp.symbols("e d u", positive=True)
    gregory = sp.series(u / sp.log(1 + u), u, 0, 4).removeO()
    # A = e gives u = (1 - A)/(A^2 chi^2) = e - e^2 and the second term e^3 (1 - A)/(A d).
    ratio = gregory.subs(u, e - e**2) / (1 - e) + e**2 * (1 - e) / d
    expansion = sp.series(sp.expand(ratio), e, 0, 2).removeO()
    yield identity(sp.expand(expansion), sp.expand(statement(e, d)), at="A = chi^(-2/3), every d")
    a = sp.Symbol("a", positive=True)
    slope = sp.diff(a + 1 / (2 * a**2), a)
    yield identity(
        slope.subs(a, 1), 0, at="A = a chi^(-2/3): first-order coefficient a + 1/(2 a^2) is stationary at a = 1"
    )


def _gaussian_variance(w: Any) -> Any:
    """1/chi_chua^2 as printed, w = exp(1/sigma0^2)."""
    return w**4 - 2 * w**2 + w


def _check_gaussian_variance(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    # E_{R_x}[(R_e - R_0)^2/R_x^2] = w^{|e-x|^2} - 2 w^{<e-x,-x>} + w^{|x|^2}, at x = -e.
    yield identity(_W**4 - 2 * _W**2 + _W, statement(_W), at="every sigma0, reference N(-e, sigma0^2 I)")
    t = sp.Symbol("t", positive=True)
    printed = sp.series(statement(sp.exp(t)), t, 0, 5).removeO()
    claimed = t + sp.Rational(9, 2) * t**2 + sp.Rational(49, 6) * t**3 + sp.Rational(75, 8) * t**4
    yield identity(sp.expand(printed), claimed, at="expansion (59) to fourth order")
    s = sp.Symbol("s", positive=True)
    chi2 = sp.series(1 / statement(sp.exp(1 / s)).rewrite(sp.exp).subs(s, 1 / t), t, 0, 2).removeO()
    yield identity(
        sp.expand(chi2), 1 / t - sp.Rational(9, 2) + sp.Rational(145, 12) * t, at="chi^2 = s - 9/2 + 145/(12 s)"
    )


def _reversion(x: Any) -> Any:
    """S = sigma0^2 as a series in X = chi_chua^2, equation (61)."""
    return x + sp.Rational(9, 2) - sp.Rational(145, 12) / x + sp.Rational(651, 8) / x**2


def _check_reversion(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    y = sp.Symbol("y", positive=True)
    # With 1/X = y and t = 1/s: V(t) = y up to O(y^5) when t = 1/s(1/y).
    t = sp.series(1 / statement(1 / y), y, 0, 5).removeO()
    variance = sum(sp.Integer(4**k - 2 * 2**k + 1) / sp.factorial(k) * t**k for k in range(1, 5))
    yield identity(sp.series(sp.expand(variance), y, 0, 5).removeO(), y, at="V(1/s(X)) = 1/X to fourth order")


def _fixed_index(gamma: Any, chi: Any) -> Any:
    """exp(1/sigma0^2) - 1 at a fixed lower index, which turns (38) into a function of gamma alone."""
    return gamma / ((1 - gamma) ** 2 * chi**2)


def _check_fixed_index(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    gamma, chi, d, s = sp.symbols("gamma chi d s", positive=True)
    yield identity(_lower_index(gamma, 1 + statement(gamma, chi)), chi**2, at="every gamma, chi")
    yield identity(sp.diff(_risk(d, s, gamma), s), 2 * d * s / (1 - gamma) ** 2, at="the error rises with sigma0")


def _norm_monotone(mechanism: BlanketMixedGaussian) -> str:
    """How the bound at a shorter input relates to that at a longer one."""
    return "<"


def _check_norm(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    b, _rho, _f2 = sp.symbols("b rho f2", positive=True)
    u, v, a, c = sp.symbols("u v a c", real=True)
    # Gaussian interpolation: d/drho E f(a E - c E') = b^2 E[d_u d_v f] and the mixed derivative is -a c E E' f''.
    f = sp.Function("f")
    first, second = sp.exp(b * u - b**2 / 2), sp.exp(b * v - b**2 / 2)
    mixed = sp.diff(f(a * first - c * second), u, v).doit()
    y = sp.Symbol("y")
    inner = sp.Subs(sp.diff(f(y), (y, 2)), y, a * first - c * second)
    yield decide(
        sp.simplify(mixed.subs(f, sp.Lambda(y, y**2)).doit() + 2 * a * c * b**2 * first * second) == 0
        and sp.simplify(
            mixed.subs(f, sp.Lambda(y, y**4)).doit()
            + a * c * b**2 * first * second * inner.subs(f, sp.Lambda(y, y**4)).doit()
        )
        == 0,
        at="mixed derivative for f = y^2, y^4",
        claimed="-a c b^2 E E' f''",
    )
    eps = Exp(Fraction(4, 10000))
    mechanism = BlanketMixedGaussian(Fraction(19, 20), Fraction(23, 5))
    relation = statement(mechanism)
    lengths = [Fraction(1, 2), Fraction(4, 5), Fraction(1)]
    for reverse in (False, True):
        values = []
        for r in lengths:
            pair = worst_pair(BlanketMixedGaussian(Fraction(19, 20), Fraction(23, 5), r))
            values.append(pair_delta(pair.reverse if reverse else pair, 1000, eps, rigour=Rigour.BALL, rel=1e-6))
        for short, long in itertools.pairwise(values):
            low, high = (short.upper, long.lower) if relation == "<" else (short.lower, long.upper)
            yield compare(low, high, relation, at=f"n = 1000, reverse = {reverse}")


def _claim(
    name: str, title: str, text: str, source: str, printed: Any, check: Any, controls: tuple[Control, ...], **other: Any
) -> Claim:
    defaults: dict[str, Any] = {
        "kind": Kind.STATEMENT,
        "assumptions": (),
        "scope": "all parameters",
        "grade": Grade.PROVED,
        "expected": ClaimVerdict.HOLDS,
    }
    return Claim(
        id=name,
        title=title,
        text=text,
        source=f"vecmean, {source}",
        printed=printed,
        check=check,
        controls=controls,
        **(defaults | other),
    )


CLAIMS: Final = (
    _claim(
        "vecmean.alg-1",
        "Gaussian randomizer mixed with its null law, and its estimator",
        r"$\hat x(Y)=Y/(1-\gamma)$ is unbiased for $Y\sim\gamma N(0,\sigma_0^2I)+(1-\gamma)N(x,\sigma_0^2I)$.",
        "Algorithm 1 and equation (7)",
        _algorithm,
        _check_algorithm,
        (Control("the message itself as estimate", lambda gamma, x, y: y),),
        assumptions=("gamma < 1: the printed range gamma in (0, 1] includes 1, where (7) divides by zero",),
        obligations=for_all("gamma", "x", "y"),
    ),
    _claim(
        "vecmean.sec-4.2-chilo",
        "lower index of the mixed Gaussian randomizer",
        r"$\chi_{lo}^2=\frac{\gamma}{(1-\gamma)^2}\frac1{e^{1/\sigma_0^2}-1}$ with the blanket $N(0,\sigma_0^2I)$ "
        r"of mass $\gamma$.",
        "Section 4.2",
        _lower_index,
        _check_lower_index,
        (
            Control("factor gamma dropped", lambda gamma, w: _lower_index(gamma, w) / gamma),
            Control("1 % off", lambda gamma, w: _lower_index(gamma, w) * sp.Rational(101, 100)),
        ),
        assumptions=("|x| = 1, where the variance is largest",),
        obligations=for_all("gamma", "w"),
    ),
    _claim(
        "vecmean.sec-4.2-err",
        "squared error of the mixed Gaussian randomizer",
        r"$Err_1=d\sigma_0^2/(1-\gamma)^2+\gamma/(1-\gamma)$.",
        "Section 4.2 and equation (38)",
        _risk,
        _check_risk,
        (Control("gamma/(1 - gamma)^2", lambda d, s, g: _risk(d, s, g) + g / (1 - g) ** 2 - g / (1 - g)),),
        obligations=for_all("d", "s", "gamma"),
    ),
    _claim(
        "vecmean.sec-4.2-opt",
        "best mixing weight at a fixed index",
        r"At $\chi_{lo}=\chi$: $e^{1/\sigma_0^2}-1=\gamma/((1-\gamma)^2\chi^2)$, which leaves one parameter to "
        r"optimise.",
        "Section 4.2 and equation (39)",
        _fixed_index,
        _check_fixed_index,
        (Control("gamma dropped", lambda gamma, chi: 1 / ((1 - gamma) ** 2 * chi**2)),),
        scope="the substitution, and that the constraint is tight, for all parameters; not the minimiser",
        obligations=for_all("gamma", "chi"),
    ),
    _claim(
        "vecmean.thm-4.1",
        "leading terms of the error of the mixed Gaussian randomizer",
        r"With $1-\gamma=\chi^{-2/3}$: $Err_1=d\chi^2(1+\frac32\chi^{-2/3}+O(\chi^{-4/3}))$.",
        "Theorem 4.1",
        _series,
        _check_series,
        (
            Control("coefficient 1", lambda e, d: 1 + e),
            Control("coefficient 2", lambda e, d: 1 + 2 * e),
        ),
        scope="expansion as a formal series, every d; the remainder is that of a series, without explicit constant",
        obligations=for_all("e", "d"),
    ),
    _claim(
        "vecmean.prop-4.2",
        "plain Gaussian randomizer: error against index",
        r"$\chi_{chua}^{-2}=e^{4a}-2e^{2a}+e^a$, $a=1/\sigma_0^2$, so that "
        r"$Err_1=d\chi_{chua}^2(1+\frac92\chi_{chua}^{-2}+\dots)$.",
        "Proposition 4.2, equations (56) to (58)",
        _gaussian_variance,
        _check_gaussian_variance,
        (Control("e^(3a) for e^(4a)", lambda w: w**3 - 2 * w**2 + w),),
        obligations=for_all("w"),
    ),
    _claim(
        "vecmean.eq-59-61",
        "power series of the plain Gaussian index and its inverse",
        r"$\sigma_0^2=X+\frac92-\frac{145}{12}X^{-1}+\frac{651}8X^{-2}+\dots$, $X=\chi_{chua}^2$.",
        "equations (59) to (61)",
        _reversion,
        _check_reversion,
        (Control("last coefficient 650/8", lambda x: _reversion(x) - sp.Rational(1, 8) / x**2),),
        scope="formal series to fourth order",
        obligations=for_all("x"),
    ),
    _claim(
        "symshuffle.vecmean-worst-norm",
        "the bound of the mixed Gaussian rises with the length of the input, in both orders",
        r"$E_x$ rises in convex order with $|x|$, hence the bound of Appendix C does; opposite inputs are worst for "
        r"replacement.",
        "own; Appendix C takes |x| = 1",
        _norm_monotone,
        _check_norm,
        (Control("falling", lambda mechanism: ">"),),
        grade=Grade.EXACT_CASES,
        scope="mixed derivative of Gaussian interpolation for two functions f; three lengths at n = 1000 in balls",
    ),
)
