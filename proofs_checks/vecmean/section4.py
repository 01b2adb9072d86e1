"""Sections 4.1 and 4.2: the mixed Gaussian randomizer, its index and risk."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any, Final

import numpy as np
import sympy as sp

from symshuffle.base.numbers import Ball, Exp, to_arb, working_precision
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    attained,
    for_all,
    identity,
    serving,
)
from symshuffle.mechanisms.symbolic import nonnegative
from symshuffle.vectors.error.indices import shuffle_index
from symshuffle.vectors.error.optimal import bmg_error, bmg_optimal
from symshuffle.vectors.error.risk import mixed_gaussian_risk
from symshuffle.vectors.privacy.accounting import pair_delta
from symshuffle.vectors.privacy.pairs import worst_pair
from symshuffle.vectors.randomizers.mechanisms import BlanketMixedGaussian
from symshuffle.vectors.randomizers.sampling import shrinkage

TINY: Final = Fraction(1, 10**30)

_A, _D, _S, _W, _R = sp.symbols("A d s w r", positive=True)


@cache
def _moment(power: int, gamma: Any, x: Any, s: Any) -> Any:
    """E Y^power of a message along the input, integrated from the mixture of two normal densities."""
    y = sp.Symbol("y", real=True)
    near, far = (sp.exp(-((y - centre) ** 2) / (2 * s**2)) / sp.sqrt(2 * sp.pi * s**2) for centre in (x, 0))
    parts = [sp.integrate(sp.expand(y**power * law), (y, -sp.oo, sp.oo)) for law in (far, near)]
    return sp.simplify(gamma * parts[0] + (1 - gamma) * parts[1])


def _algorithm(gamma: Any, x: Any, y: Any) -> Any:
    """The estimator as printed."""
    return y / (1 - gamma)


def _check_algorithm(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open gamma, x, sigma0: the estimate at the mean message, integrated from the density, is x; symbolic.

    The estimator is linear; at two gamma its factor is the library's, over Q.
    """
    gamma, x, s, y = sp.symbols("gamma x s y", positive=True)
    mean = _moment(1, gamma, x, s)
    yield identity(statement(gamma, x, mean), x, at="every x, sigma0, gamma < 1: the estimate of the mean message")
    slope = sp.diff(statement(gamma, x, y), y)
    yield identity(sp.diff(slope, y), 0, at="the estimator is linear: its mean is its value at the mean message")
    for mass in (Fraction(4, 5), Fraction(19, 20)):
        factor = 1 / shrinkage(BlanketMixedGaussian(mass, Fraction(13, 10)))
        yield compare(factor, statement(mass, None, Fraction(1)), at=f"gamma = {mass}: the library's factor")


def _lower_index(gamma: Any, w: Any) -> Any:
    """The squared lower index as printed, w = exp(1/sigma0^2)."""
    return gamma / (1 - gamma) ** 2 / (w - 1)


@cache
def _factor_moment(power: int, t: Any) -> Any:
    """E[E^power] of E = exp(sqrt(t) Z - t/2), integrated."""
    z = sp.Symbol("z", real=True)
    inside = sp.exp(power * (sp.sqrt(t) * z - t / 2) - z**2 / 2) / sp.sqrt(2 * sp.pi)
    return sp.simplify(sp.integrate(sp.expand_power_exp(inside), (z, -sp.oo, sp.oo)))


def _check_lower_index(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open gamma and w: variance of the privacy variable from integrated moments against the index; symbolic.

    At an input of any length too, and the inverse of the stated index rises with it, by sign. Two mechanisms in balls:
    the library's index.
    """
    gamma, r = sp.symbols("gamma r", positive=True)

    # Against the blanket l_0 = (1 - gamma)(E - 1), whose variance is E[E^2] - 1 up to the factor.
    def variance(t: Any) -> Any:
        moments = (sp.binomial(2, k) * (-1) ** (2 - k) * _factor_moment(k, t) for k in range(3))
        return sp.simplify(sum(moments))

    at = "every gamma, sigma0"
    yield identity(gamma / ((1 - gamma) ** 2 * variance(sp.log(_W))), statement(gamma, _W), at=at)
    # An input of length r stands for t = r^2/sigma0^2.
    t = sp.Symbol("t", positive=True)
    shorter = statement(gamma, sp.exp(r**2 * t))
    at = "every gamma, sigma0, at an input of length r"
    yield identity(gamma / ((1 - gamma) ** 2 * variance(r**2 * t)), shorter, at=at)
    inverse = sp.diff(1 / shorter, r).subs(gamma, 1 / (1 + _A))
    rising = bool(sp.simplify(inverse).is_positive)
    yield decide(rising, at="every gamma < 1, sigma0, length r", claimed="1/index^2 rises", symbolic=True)
    for mass, scale in ((Fraction(19, 20), Fraction(23, 5)), (Fraction(1, 10), Fraction(7, 10))):
        index: Any = shuffle_index(BlanketMixedGaussian(mass, scale), "lower").inverse_square
        with working_precision(128):
            w = Ball.from_arb((1 / to_arb(scale * scale)).exp(), 128)
        gap: Any = index * statement(mass, w) - 1
        yield compare(gap * gap, TINY, "<=", at=f"gamma = {mass}, sigma0 = {scale}: the library's index")


def _risk(d: Any, s: Any, gamma: Any) -> Any:
    """The worst-case squared error of the estimator, at unit vectors (equation 38)."""
    return d * s**2 / (1 - gamma) ** 2 + gamma / (1 - gamma)


def _check_risk(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open d, sigma0, gamma: error of the estimate from integrated moments, along the input and across; symbolic.

    Its slope in the length of the input, and the library's formula.
    """
    gamma, r = sp.symbols("gamma r", positive=True)
    rest = 1 - gamma
    # Along the input, and in the d - 1 other coordinates, from the moments of the message.
    mean, second, other = (_moment(k, gamma, x, _S) for k, x in ((1, r), (2, r), (2, sp.Integer(0))))
    risk = (second - mean**2 + (_D - 1) * other) / rest**2
    yield identity(risk.subs(r, 1), statement(_D, _S, gamma), at="every d, sigma0, gamma at |x| = 1")
    yield identity(sp.diff(risk, r), 2 * r * gamma / rest, at="rising in |x|")
    level, slope = mixed_gaussian_risk(gamma, _S, _D)
    yield identity(level + slope, statement(_D, _S, gamma), at="every d, sigma0, gamma: the library")


def _series(e: Any, d: Any) -> tuple[Any, Any, Any]:
    """At e = chi^(-2/3), to first order, what Err_1/(d chi^2) is; the remainder's bound, besides 0; the index, chi."""
    return 1 + sp.Rational(3, 2) * e, (1 / (1 - e) + (1 - e) / d) * e**2, e ** sp.Rational(-3, 2)


def _scaled(parts: tuple[Any, ...], place: int, factor: Any) -> tuple[Any, ...]:
    return tuple(part * factor if i == place else part for i, part in enumerate(parts))


def _check_series(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Every e in (0, 1) and d >= 1: the library's error at A = e, remainder bounded from both sides by signs; symbolic.

    With bounds of u/log(1+u) by slopes; at A = a e the first coefficient exceeds 3/2 by a square.
    """
    e, d, u, t, m = sp.symbols("e d u t m", positive=True)
    first, rest, index = statement(e, d)
    # The parameters of the existence claim: gamma = 1 - e, and w = exp(1/sigma0^2) = 1 + e - e^2.
    square = sum(sp.binomial(2, k) * (-1) ** k * _factor_moment(k, sp.log(_W)) for k in range(3))
    variance = sp.simplify(square).subs(_W, 1 + e - e**2)
    equal = identity((1 - e) / (e**2 * variance), index**2, at="every e: the squared lower index, from its law")
    yield from serving("parameters of index chi", [equal])
    # A = e gives u = (1 - A)/(A^2 chi^2) = e - e^2 and Err_1/(d chi^2) = G(u)/(1-e) + e^2 (1-e)/d, G = u/log(1+u).
    ours = bmg_error(e, e ** sp.Rational(-3, 2), d) * e**3 / d
    written = (e - e**2) / sp.log(1 + e - e**2) / (1 - e) + e**2 * (1 - e) / d
    yield identity(sp.simplify(ours - written), 0, at="every e, d: the library's error at A = e")
    # 1 + u/2 - u^2/12 <= G <= 1 + u/2: slopes of log(1+u) - 2u/(2+u) and of u/(1 + u/2 - u^2/12) - log(1+u), 0 at 0.
    low = 1 + u / 2 - u**2 / 12
    for name, slope in (
        ("upper", sp.diff(sp.log(1 + u) - u / (1 + u / 2), u)),
        ("lower", sp.diff(u / low - sp.log(1 + u), u)),
    ):
        sign = nonnegative(sp.factor(slope) * (low**2 if name == "lower" else 1), {u: t / (1 + t)})
        yield decide(sign, at=f"every u in (0, 1): {name} bound of u/log(1+u)", claimed="slope >= 0", symbolic=True)
    inside = {e: t / (1 + t), d: 1 + m}
    for name, gap in (
        ("at most the remainder", first + rest - (1 + (e - e**2) / 2) / (1 - e) - e**2 * (1 - e) / d),
        ("at least 0", low.subs(u, e - e**2) / (1 - e) + e**2 * (1 - e) / d - first),
    ):
        yield decide(nonnegative(sp.together(gap), inside), at="every e in (0, 1), d", claimed=name, symbolic=True)
    a = sp.Symbol("a", positive=True)
    coefficient = a + 1 / (2 * a**2)
    yield identity(
        coefficient - sp.diff(first, e),
        (a - 1) ** 2 * (2 * a + 1) / (2 * a**2),
        at="A = a e: 3/2 is the least, at a = 1",
    )


def _fixed_index(gamma: Any, chi: Any) -> Any:
    """exp(1/sigma0^2) - 1 at a fixed lower index, which turns (38) into a function of gamma alone."""
    return gamma / ((1 - gamma) ** 2 * chi**2)


def _check_fixed_index(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open gamma, chi, d: the stated substitution has index chi, the error rises with sigma0; symbolic.

    What is left is the library's function of A. Three (chi, d): its certified minimum against recorded digits, the
    constraint tight to 1e-12.
    """
    gamma, chi, d, s = sp.symbols("gamma chi d s", positive=True)
    yield identity(_lower_index(gamma, 1 + statement(gamma, chi)), chi**2, at="every gamma, chi")
    yield identity(sp.diff(_risk(d, s, gamma), s), 2 * d * s / (1 - gamma) ** 2, at="the error rises with sigma0")
    share = sp.Symbol("A", positive=True)
    square = 1 / sp.log(1 + statement(1 - share, chi))  # sigma0^2 at this index
    left = sum(mixed_gaussian_risk(1 - share, sp.sqrt(square), d))
    yield identity(sp.simplify(left - bmg_error(share, chi, d)), 0, at="every A, chi, d: what is left to minimise")
    for index, size, least in ((1, 1, "4.384076203885"), (10, 1, "141.0797886915"), (1000, 100, "1015092.881910861")):
        found = bmg_optimal(index, size)
        gap = abs(found.bracket.midpoint / size / Fraction(least) - 1)
        yield compare(gap, Fraction(1, 10**12), "<=", at=f"chi = {index}, d = {size}: the unique minimum")
        with working_precision(128):
            w = Ball.from_arb((1 / to_arb(found.mechanism.sigma0**2)).expm1(), 128)
        said = statement(found.mechanism.gamma, Fraction(index))
        yield compare(w, said, "<=", at=f"chi = {index}, d = {size}: an index of at least chi")
        yield compare(w, said * (1 - Fraction(1, 10**12)), ">=", at=f"chi = {index}, d = {size}: no more than needed")


def _norm_monotone(mechanism: BlanketMixedGaussian) -> str:
    """How the bound at a shorter input relates to that at a longer one."""
    return "<"


def _check_norm(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """BMG(0.95, 4.6), n = 1000, both orders: bounds at lengths 1/2, 4/5, 1 in the stated relation, in balls."""
    eps = Exp(Fraction(4, 10000))
    mechanism = BlanketMixedGaussian(Fraction(19, 20), Fraction(23, 5))
    relation = statement(mechanism)
    lengths = [Fraction(1, 2), Fraction(4, 5), Fraction(1)]
    for reverse in (False, True):
        values = []
        for r in lengths:
            pair = worst_pair(BlanketMixedGaussian(Fraction(19, 20), Fraction(23, 5), r), adjacency="zero-out")
            values.append(pair_delta(pair.reverse if reverse else pair, 1000, eps, arithmetic="ball", rtol=1e-6))
        for short, long in itertools.pairwise(values):
            low, high = (short.upper, long.lower) if relation == "<" else (short.lower, long.upper)
            yield compare(low, high, relation, at=f"n = 1000, reverse = {reverse}")


def _claim(
    name: str,
    title: str,
    text: str | tuple[Clause, ...],
    source: str,
    printed: Any,
    check: Any,
    controls: tuple[Control, ...],
    **other: Any,
) -> Claim:
    """A claim of this section, proved for all parameters unless said otherwise."""
    defaults: dict[str, Any] = {
        "kind": "statement",
        "assumptions": (),
        "scope": "all parameters",
        "grade": "proved",
        "expected": "holds",
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
        assumptions=("inputs of the unit ball",),
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
        (
            Clause("constraint", r"At $\chi_{lo}=\chi$: $e^{1/\sigma_0^2}-1=\gamma/((1-\gamma)^2\chi^2)$."),
            Clause("one parameter", "This leaves one parameter to optimise."),
        ),
        "Section 4.2 and equation (39)",
        _fixed_index,
        _check_fixed_index,
        (Control("gamma dropped", lambda gamma, chi: 1 / ((1 - gamma) ** 2 * chi**2)),),
        scope=(
            "the substitution, and that the constraint is tight, for all parameters; the minimiser at three (chi, d) "
            "against recorded digits, a regression"
        ),
        obligations=for_all("gamma", "chi", clause=("constraint", "one parameter")),
    ),
    _claim(
        "vecmean.thm-4.1",
        "leading terms of the error of the mixed Gaussian randomizer",
        (
            Clause(
                "error",
                r"There are $(\gamma,\sigma_0)$ with $\chi_{lo}\ge\chi$ and "
                r"$Err_1=d\chi^2(1+\frac32\chi^{-2/3}+O(\chi^{-4/3}))$.",
            ),
            Clause("parameters", r"They are $1-\gamma=\chi^{-2/3}$, and $\sigma_0$ for which $\chi_{lo}=\chi$."),
        ),
        "Theorem 4.1",
        _series,
        _check_series,
        (
            Control("coefficient 1.49", lambda e, d: (1 + sp.Rational(149, 100) * e, *_series(e, d)[1:])),
            Control("remainder 1 % short", lambda e, d: _scaled(_series(e, d), 1, sp.Rational(99, 100))),
            Control("index 1 % more", lambda e, d: _scaled(_series(e, d), 2, sp.Rational(101, 100))),
        ),
        assumptions=("remainder made explicit: between 0 and $(1/(1-e)+(1-e)/d)e^2$, $e=\\chi^{-2/3}<1$",),
        scope="every chi > 1 and every d: the index of the parameters, both sides of the remainder",
        obligations=(
            *for_all("e", "d", clause="error"),
            *attained("parameters of index chi", clause=("error", "parameters")),
        ),
    ),
    _claim(
        "symshuffle.vecmean-worst-norm",
        "the bound of the mixed Gaussian rises with the length of the input, in both orders",
        (
            Clause("length", r"$E_x$ rises in convex order with $|x|$, hence the bound of Appendix C does."),
            Clause(
                "opposite",
                "(Opposite inputs are worst for replacement: claim symshuffle.vecmean-worst-pair-mixed.)",
                "quoted",
            ),
        ),
        "own; Appendix C takes |x| = 1",
        _norm_monotone,
        _check_norm,
        (Control("falling", lambda mechanism: ">"),),
        grade="exact-cases",
        scope="three lengths at n = 1000 in balls; the argument is symshuffle.vecmean-worst-pair-mixed",
        obligations=for_all("mechanism", clause="length"),
    ),
)
