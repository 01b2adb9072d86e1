"""Section 4.3: how far apart the two indices are, and the conjecture on the plain Gaussian randomizer."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.vecmean import _cases as cases
from symshuffle.base.numbers import Ball, Verdict, to_arb, working_precision
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import shuffled_divergence
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
    in_the_limit,
    serving,
)
from symshuffle.mechanisms.symbolic import nonnegative
from symshuffle.vectors.error.indices import shuffle_index
from symshuffle.vectors.randomizers.mechanisms import BlanketMixedGaussian, LocalGaussian

_W, _T = sp.symbols("w t", positive=True)
"""exp(1/sigma0^2) and its logarithm."""

MECHANISMS: Final = (("0.95", "4.6"), ("0.5", "1"), ("0.1", "0.7"), ("0.9", "0.5"))


def _between(gamma: Any, w: Any) -> tuple[Any, Any]:
    """Bounds of the squared upper over the squared lower index of the mixed Gaussian."""
    rest = 1 - gamma
    return 1 / (gamma * (gamma + rest * w * (w * w + w - 1))), 1 + rest / (gamma * w)


@cache
def _spread(power: int) -> Any:
    """E[(E_e - 1)^2 E_-e^power] under N(0, 1), E_x = exp(xz/sigma0 - x^2/(2 sigma0^2)), integrated."""
    z, b = sp.Symbol("z", real=True), sp.sqrt(_T)
    total = sp.Integer(0)
    for times, sign in ((2, 1), (1, -2), (0, 1)):
        exponent = times * (b * z - _T / 2) + power * (-b * z - _T / 2) - z**2 / 2
        total += sign * sp.integrate(sp.exp(sp.expand(exponent)) / sp.sqrt(2 * sp.pi), (z, -sp.oo, sp.oo))
    return sp.simplify(total).subs(_T, sp.log(_W))


def _check_gap(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open gamma and w: both stated bounds, by tangents and by means, from integrated moments; symbolic.

    Their limits at fixed gamma, and value and slope along Theorem 4.1. Four mechanisms in balls: the library's squared
    ratio is between them and above 1.
    """
    gamma, v, c, r, s, e = sp.symbols("gamma v c r s e", positive=True)
    low, high = statement(gamma, _W)
    plain, times, over = (sp.simplify(_spread(power)) for power in (0, 1, -1))
    rest = 1 - gamma
    # chi_up^-2 = A^2 E[(E_e - 1)^2/R], R = gamma + A E_-e (symshuffle.vecmean-bmg-upper-index), and
    # chi_lo^-2 = A^2 E[(E_e - 1)^2]/gamma. By tangents, 1/R >= 2/c - R/c^2; with c the weighted mean of R:
    yield identity(1 / r - 2 / c + r / c**2, (r - c) ** 2 / (r * c**2), at="every R, c: 1/R is above its tangents")
    mean = (gamma * plain + rest * times) / plain
    yield identity(sp.simplify(mean / gamma), high, at="every gamma, sigma0: squared ratio at most mean R over gamma")
    # The harmonic mean of 1 and v is at most the arithmetic one: 1/R <= gamma + A/v.
    slack = (gamma + rest / v) * (gamma + rest * v) - 1
    yield identity(slack, gamma * rest * (v - 1) ** 2 / v, at="every v: 1/(gamma + A v) is at most gamma + A/v")
    most = gamma * plain + rest * over
    yield identity(sp.simplify(plain / (gamma * most)), low, at="every gamma, sigma0: squared ratio at least this")
    apart = nonnegative((1 / gamma - 1 / (gamma + rest * v)).subs(gamma, s / (1 + s)), {})
    yield decide(
        apart, at="every output", claimed="the reference of chi_up is above gamma: chi_up > chi_lo", symbolic=True
    )
    for name, end in (("lower", low), ("upper", high)):
        at = f"gamma fixed, sigma0 to infinity: the {name} bound"
        yield from serving("gamma fixed", [identity(end.subs(_W, 1), 1 / gamma, at=at)])
        # The path of Theorem 4.1: A = e = chi^(-2/3), exp(1/sigma0^2) - 1 = (1 - A)/(A^2 chi^2) = e - e^2.
        path = end.subs(_W, 1 + e - e**2).subs(gamma, 1 - e)
        at = f"A = chi^(-2/3): the {name} bound"
        found = [
            identity(path.subs(e, 0), 1, at=f"{at} tends to 1"),
            identity(sp.diff(path, e).subs(e, 0), 1, at=f"{at} by A: the absolute gap grows like chi^(1/3)/2"),
        ]
        yield from serving("gamma to 1", found)
    for mass, scale in MECHANISMS:
        mechanism = BlanketMixedGaussian(Fraction(mass), Fraction(scale))
        lower, upper = (shuffle_index(mechanism, side).inverse_square for side in ("lower", "upper"))
        ratio: Any = lower / upper
        with working_precision(128):
            w = Ball.from_arb((1 / to_arb(mechanism.sigma0**2)).exp(), 128)
        ends = statement(mechanism.gamma, w)
        at = f"gamma = {mass}, sigma0 = {scale}"
        yield compare(ratio, Fraction(1), ">", at=f"{at}: chi_up > chi_lo")
        yield compare(ratio, ends[0], ">=", at=f"{at}: squared ratio, from below")
        yield compare(ratio, ends[1], "<=", at=f"{at}: squared ratio, from above")


def _variance(same: Any, own: Any, other: Any) -> Any:
    """Variance of the privacy variable under R_x, for opposite x1 and x.

    In w to the powers |x1||x|, |x1|^2 and |x|^2; the index of the conjecture is 1 over its root at unit inputs.
    """
    return other * (own * same**2 - 2 * same + 1)


def _check_conjecture(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Open powers of w: the variance rises in both lengths and is largest for opposite inputs, by sign; symbolic.

    The library's index at two sigma0, in balls; three random channels whose other users agree, over Q. The conjecture
    itself is recorded as undecided.
    """
    x, y, z, p, q, r = sp.symbols("X Y Z p q r", positive=True)
    found = statement(x, y, z)
    chart = {x: 1 + p, y: 1 + q, z: 1 + r}
    # All three powers rise with both lengths, and the variance with all three: unit vectors are worst.
    for name in (x, y, z):
        yield decide(
            nonnegative(sp.diff(found, name), chart), at=f"rising in {name}", claimed="chi_chua = chi_up", symbolic=True
        )
    # At a positive inner product X is to be inverted, which is smaller; between -|x1||x| and 0 X falls with it.
    turned = found - statement(1 / x, y, z)
    yield decide(nonnegative(turned, chart), at="every angle", claimed="opposite inputs are worse", symbolic=True)
    yield identity(statement(_W, _W, _W), _W**4 - 2 * _W**2 + _W, at="unit inputs: the number of Proposition 4.2")
    for scale in (Fraction(1), Fraction(5)):
        index: Any = shuffle_index(LocalGaussian(scale), "upper").inverse_square
        with working_precision(128):
            w = Ball.from_arb((1 / to_arb(scale * scale)).exp(), 128)
        value: Any = w * (w * w * w - 2 * w + 1)
        gap = index / value - 1
        yield compare(gap * gap, Fraction(1, 10**40), "<=", at=f"sigma0 = {scale}: the library's upper index")
    # What the conjecture speaks about: if all others hold x, the divergence is one expectation under R_x.
    alpha = Fraction(11, 10)
    for trial, n in enumerate((2, 3, 3)):
        channel = cases.channel(rng, 3, 3)
        others = (2,) * (n - 1)
        exact = shuffled_divergence(channel, (0, *others), (1, *others), alpha)
        yield compare(exact, _expectation(channel, n, alpha), at=f"random channel {trial}, n = {n}: others agree")
    yield decide(Verdict.UNDECIDED, at="every n, all datasets of the others", claimed="none is worse than all at -e")


def _expectation(channel: Channel, n: int, alpha: Fraction) -> Fraction:
    """Divergence of rows 0 and 1 where all others hold row 2: a mean of sums drawn from that row."""
    rows: Any = channel.rows
    values = [(a - alpha * b) / c for a, b, c in zip(*rows, strict=True)]
    total = Fraction(0)
    for drawn in itertools.product(range(len(values)), repeat=n):
        mass = math.prod((rows[2][y] for y in drawn), start=Fraction(1))
        total += mass * max(sum((values[y] for y in drawn), Fraction(0)), Fraction(0))
    return total / n


CLAIMS: Final = (
    Claim(
        id="vecmean.sec-4.3-gap",
        kind="statement",
        title="distance of the two indices for the mixed Gaussian",
        text=(
            Clause(
                "bounds",
                r"$\chi_{up}>\chi_{lo}$, with $w=e^{1/\sigma_0^2}$: "
                r"$\frac1{\gamma(\gamma+(1-\gamma)(w^3+w^2-w))}\le\chi_{up}^2/\chi_{lo}^2\le1+\frac{1-\gamma}{\gamma "
                "w}$.",
            ),
            Clause(
                "vanishes",
                r"The relative gap can vanish: the quotient tends to 1 as $\gamma\to1$. At $1-\gamma=\chi^{-2/3}$ the "
                r"absolute gap grows like $\chi^{1/3}/2$.",
            ),
            Clause(
                "fixed",
                r"At fixed $\gamma$ and $\sigma_0\to\infty$ the quotient tends to $1/\gamma$ (see "
                "symshuffle.vecmean-relative-gap).",
            ),
        ),
        source="vecmean, Section 4.3; the bounds are ours",
        assumptions=("blanket $N(0,\\sigma_0^2I)$ of mass $\\gamma$",),
        scope="both bounds for every gamma and sigma0, both paths; four mechanisms in balls",
        grade="proved",
        printed=_between,
        check=_check_gap,
        controls=(
            Control("upper bound 1 % less", lambda g, w: (_between(g, w)[0], _between(g, w)[1] * Fraction(99, 100))),
            Control("lower bound 1 % more", lambda g, w: (_between(g, w)[0] * Fraction(101, 100), _between(g, w)[1])),
        ),
        expected="holds",
        obligations=(
            *for_all("gamma", "w", clause="bounds"),
            *in_the_limit("gamma fixed", clause="fixed"),
            *in_the_limit("gamma to 1", clause="vanishes"),
        ),
    ),
    Claim(
        id="vecmean.sec-4.3-chua",
        kind="statement",
        title="conjectured profile of the plain Gaussian randomizer",
        text=(
            Clause(
                "conjecture",
                "CONJECTURE, open: for the Gaussian randomizer no dataset is worse than all others at $-e$, and "
                r"then $\delta(\varepsilon_n)\le f(\chi_{chua})(1+o(1))$.",
                "quoted",
            ),
            Clause("equal index", r"$\chi_{chua}=\chi_{up}$."),
            Clause("other direction", "So Lemma 2.6 gives the other direction: the conjecture would make it tight."),
        ),
        source="vecmean, Section 4.3, from Conjecture 3.2 of Chua et al. (2024)",
        assumptions=(),
        scope="the index for all inputs; profiles of others that agree, exactly; the conjecture is undecided",
        grade=None,
        printed=_variance,
        check=_check_conjecture,
        controls=(
            Control("reference at e", lambda same, own, other: _variance(1 / same, own, other)),
            Control("w^3 for w^4", lambda same, own, other: other * (same**2 - 2 * same + 1)),
        ),
        expected="undecided",
        obligations=for_all("same", "own", "other", clause=("equal index", "other direction")),
    ),
)
