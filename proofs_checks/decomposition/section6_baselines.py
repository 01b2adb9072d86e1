"""Section 6: the bounds of earlier work that serve as baselines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from proofs_checks.decomposition._cases import PAIR, binomial_mass, named_channels, never_negative
from symshuffle.accountants.literature.baselines import BlanketVariable, blanket_bennett, blanket_hoeffding
from symshuffle.base.numbers import Ball
from symshuffle.channels.law import Law
from symshuffle.decompositions.clones import standard_clone_pair
from symshuffle.decompositions.model import simplified_decomposition
from symshuffle.decompositions.symbolic import optimal_decomposition
from symshuffle.engines.counting.exact import Exact
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)
from symshuffle.mechanisms.finite import K, krr
from symshuffle.mechanisms.symbolic import EXP_EPS, LAM, evaluate

TINY = Fraction(1, 10**25)
"""Two enclosures of one number agree to this distance."""

MANY = 10**4
"""Users enough for the published form to be the smaller one of those that the library takes the minimum of."""

MECHANISMS = (
    ("krr", {"lam": 3, "k": 10}),
    ("subset-selection", {"lam": 2, "k": 4, "s": 2}),
    ("half-block", {"lam": 3, "k": 4}),
)


def _rational(value: Any) -> sp.Rational:
    return sp.Rational(value.numerator, value.denominator)


def _variables() -> Iterator[tuple[str, BlanketVariable, Any, Fraction, Any, int]]:
    """Explicit mechanisms: label, blanket variable, law of G, target, ratio cap and number of inputs."""
    for label, channel in named_channels(*MECHANISMS):
        cap: Any = channel.ratio_cap()
        whole = simplified_decomposition(channel, PAIR)
        for exp_eps in (Fraction(11, 10), 1 + (cap - 1) / 2):
            law = whole.reduction_pair().gparv(exp_eps)
            of = BlanketVariable.of(whole, exp_eps)
            yield f"{label}, exp(eps)={exp_eps}", of, law, exp_eps, cap, channel.num_inputs


def _random_users(mean: Callable[[Any], Any], gamma: Any, z: Any) -> Iterator[Comparison]:
    """The mean of z^M for M ~ Bin(n, gamma), as a statement has it, for any n: one more coin multiplies by its mean."""
    n = sp.Symbol("n", integer=True, positive=True)
    coin = 1 - gamma + gamma * z
    yield identity(mean(sp.Integer(1)), coin, at="average over one user, any gamma")
    yield identity(sp.powsimp(mean(n + 1)), coin * mean(n), at="average over one more user, any gamma and n")
    for users in (2, 3, 4):
        summed = sum(binomial_mass(users, m, gamma) * z**m for m in range(users + 1))
        yield identity(mean(sp.Integer(users)), summed, at=f"average over {users} users, summed")


def _against_the_library(
    bound: Callable[[BlanketVariable, int], Ball],
    variable: BlanketVariable,
    law: Law,
    published: Callable[[int], Any],
    label: str,
) -> Iterator[Comparison]:
    """Exact value, library and published form in this order; the last two are equal once there are users enough."""
    for n in (1, 5, 40):
        claimed: Any = evaluate(published(n))
        exact = Exact().bracket(law, n).exact
        yield compare(exact, claimed, "<=", at=f"{label}, n={n}")
        yield compare(exact, bound(variable, n), "<=", at=f"library, {label}, n={n}")
        yield compare(bound(variable, n) - claimed, TINY, "<=", at=f"library, {label}, n={n}")
    gap: Any = bound(variable, MANY) / evaluate(published(MANY)) - 1
    yield compare(gap * gap, TINY, "<=", at=f"library, {label}, n={MANY}")


# -- decomposition.baseline-hoeffding


def _hoeffding(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The tail of Hoeffding's inequality integrated for open a, b and m; averaged over users for open gamma and n.

    Symbolic, the average by induction on n. Range of L for k-RR, any lam and k, as stated. Then three mechanisms at two
    orders, n <= 40: exact divergence at most the stated bound, and the library's bound no larger than that; in balls.
    """
    a, b, t, m = sp.symbols("a b t m", positive=True)
    yield never_negative(
        sp.expand((m * a + t) ** 2 / m - (m * a**2 + 2 * a * t)), at="exponent of the tail at t, any m"
    )
    yield identity(sp.integrate(sp.exp(-4 * a * t / b**2), (t, 0, sp.oo)), b**2 / (4 * a), at="integral of the tail")
    gamma, z, n = sp.symbols("gamma z n", positive=True)
    tail = b**2 / (4 * a)  # times z^m, for m users of the blanket

    def mean(users: Any) -> Any:
        bound, _ = statement(gamma, a, b, users, K)
        return bound.subs(sp.exp(-2 * a**2 / b**2), z) * gamma * users / tail

    yield from _random_users(mean, gamma, z)
    bottom, top = _ends(_blanket_values())
    _, stated = statement(_similarity(), EXP_EPS - 1, b, n, K)
    yield identity(top - bottom, stated, at="range of L for k-RR, any lam and k")
    for label, variable, exact_law, _, _, inputs in _variables():
        width: Any = variable.largest - variable.smallest
        published = _published(statement, inputs, variable.gamma, variable.drift, width)
        yield from _against_the_library(blanket_hoeffding, variable, exact_law, published, label)


def _published(statement: Statement, inputs: int, *parts: Any) -> Callable[[int], Any]:
    """The stated bound of so many users, for a blanket variable with these parts."""
    known = tuple(map(_rational, parts))
    return lambda n: statement(*known, n, sp.Integer(inputs))[0]


def _similarity() -> Any:
    """Weight of the blanket of k-RR, by the library."""
    return optimal_decomposition(krr()).gamma


def _blanket_values() -> list[Any]:
    """The values of L for k-RR, by the library; 0 is between the ends."""
    return [_similarity() * value for value, _ in optimal_decomposition(krr()).gparv() if value != 0]


def _ends(values: list[Any]) -> tuple[Any, Any]:
    """Smallest and largest of some expressions, told at one point inside the range of the parameters."""
    point = {LAM: 4, EXP_EPS: 2, krr().inputs: 5}
    ordered = sorted(values, key=lambda value: value.subs(point))
    return ordered[0], ordered[-1]


def _hoeffding_bound(gamma: Any, a: Any, b: Any, n: Any, k: Any, *, sharper: Any = 1) -> tuple[Any, Any]:
    """The bound as printed, ``b`` the range of L; and that range for k-RR."""
    bound = b**2 / (4 * a * gamma * n) * (1 - gamma * (1 - sp.exp(-2 * sharper * a**2 / b**2))) ** n
    return bound, (1 - gamma) * k * (a + 2)


BASELINE_HOEFFDING = Claim(
    id="decomposition.baseline-hoeffding",
    kind="statement",
    title="blanket bound by Hoeffding",
    text=(
        Clause(
            "bound",
            r"With $a=e^\varepsilon-1$ and $b$ the range of $L$: $E[\sum_{i\le "
            r"m}L_i]_+\le\frac{b^2}{4a}e^{-2ma^2/b^2}$, so $\delta\le\frac{b^2}{4a\gamma "
            r"n}(1-\gamma(1-e^{-2a^2/b^2}))^n$.",
        ),
        Clause("k-RR", r"For k-RR $b=(1-\gamma)k(e^\varepsilon+1)$."),
    ),
    source="decomposition, Section 6 (Balle et al., Section 5)",
    assumptions=("eps > 0", "Hoeffding's inequality"),
    scope="tail integral for all a, b, m; k-RR for all lam, k; three mechanisms, n <= 40, against exact values",
    grade="proved",
    printed=_hoeffding_bound,
    check=_hoeffding,
    controls=(
        Control(
            "exponent one percent larger",
            lambda gamma, a, b, n, k: _hoeffding_bound(gamma, a, b, n, k, sharper=sp.Rational(101, 100)),
        ),
        Control(
            "one percent of the range missing",
            lambda gamma, a, b, n, k: _hoeffding_bound(gamma, a, b * sp.Rational(99, 100), n, k),
        ),
        Control(
            "the range of k-RR with k - 1",
            lambda gamma, a, b, n, k: (_hoeffding_bound(gamma, a, b, n, k)[0], (1 - gamma) * (k - 1) * (a + 2)),
        ),
    ),
    expected="holds",
    obligations=(
        *for_all("gamma", "a", "n", clause="bound"),
        *for_all("b", clause=("bound", "k-RR")),
        *for_all("k", clause="k-RR"),
    ),
)


# -- decomposition.baseline-bennett


def _bennett(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The exponent at the best s is the stated decay, and the stated bound its average, for open a, b, c, gamma and n.

    Symbolic: 1/s is the integral of exp(-s t), the average by induction on n. E[L^2] and largest L for k-RR, any lam
    and k, as stated. Then three mechanisms at two
    orders, n <= 40: exact divergence at most the stated bound, and the library's bound no larger; in balls.
    """
    a, b, c, s = sp.symbols("a b c s", positive=True)
    exponent = -s * a + c / b**2 * (sp.exp(s * b) - 1 - s * b)
    best = sp.log(1 + a * b / c) / b
    u = a * b / c
    kappa = c / b**2 * ((1 + u) * sp.log(1 + u) - u)
    yield identity(sp.expand(exponent.subs(s, best)), sp.expand(-kappa), at="exponent at the best s, any a, b, c")
    yield identity(sp.diff(exponent, s).subs(s, best), 0, at="no better s")
    gamma, z, t = sp.symbols("gamma z t", positive=True)
    # Beyond t the tail of m users is at most exp(-s t) times the mean of exp(s sum L), that is exp(-m kappa).
    prefactor = sp.integrate(sp.exp(-s * t), (t, 0, sp.oo)).subs(s, best)

    def mean(users: Any) -> Any:
        bound, _ = statement(gamma, a, b, c, users, K)
        (decay,) = bound.atoms(sp.exp)
        without = (1 - gamma) ** users  # nobody takes the blanket: no term of the sum
        return bound.subs(decay, z) * gamma * users / prefactor + without

    (decay,) = statement(gamma, a, b, c, sp.Symbol("n", positive=True), K)[0].atoms(sp.exp)
    yield identity(sp.expand(decay.args[0]), sp.expand(-kappa), at="decay of a term, any a, b, c")
    yield from _random_users(mean, gamma, z)
    second = sum(_similarity() * value**2 * mass for value, mass in optimal_decomposition(krr()).gparv())
    _, (largest, squared) = statement(_similarity(), EXP_EPS - 1, b, c, sp.Symbol("n", positive=True), K)
    yield identity(second, squared, at="E[L^2] for k-RR, any lam, k and exp(eps)")
    _, top = _ends(_blanket_values())
    yield identity(top, largest, at="largest L for k-RR, any lam, k and exp(eps)")
    for label, variable, exact_law, _, _, inputs in _variables():
        known = (variable.gamma, variable.drift, variable.largest, variable.second_moment)
        published = _published(statement, inputs, *known)
        yield from _against_the_library(blanket_bennett, variable, exact_law, published, label)


def _bennett_bound(gamma: Any, a: Any, top: Any, second: Any, n: Any, k: Any) -> tuple[Any, tuple[Any, Any]]:
    """The bound as printed, ``top`` the largest L and ``second`` a bound on E[L^2]; and these two for k-RR."""
    u = a * top / second
    s = sp.log(1 + u) / top
    kappa = second / top**2 * ((1 + u) * sp.log(1 + u) - u)
    bound = ((1 - gamma + gamma * sp.exp(-kappa)) ** n - (1 - gamma) ** n) / (s * gamma * n)
    lam, x = 1 + k * (1 - gamma) / gamma, a + 1  # of k-RR with this weight of the blanket
    return bound, (gamma * (lam - x), gamma * (2 - gamma) * a**2 + (1 - gamma) ** 2 * k * (x**2 + 1))


def _times(stated: tuple[Any, tuple[Any, Any]], bound: Any, moment: Any) -> tuple[Any, tuple[Any, Any]]:
    """Such a statement with its bound, and the second moment of k-RR, times a factor each."""
    published, (largest, squared) = stated
    return published * bound, (largest, squared * moment)


BASELINE_BENNETT = Claim(
    id="decomposition.baseline-bennett",
    kind="statement",
    title="blanket bound by Bennett",
    text=(
        Clause(
            "bound",
            r"With $a=e^\varepsilon-1$, $L\le b_+$, $E[L^2]\le c$ and $s=\frac1{b_+}\log(1+\frac{ab_+}c)$, "
            r"$\kappa=\frac c{b_+^2}\varphi(\frac{ab_+}c)$, $\varphi(u)=(1+u)\log(1+u)-u$: $E[\sum_{i\le "
            r"m}L_i]_+\le\frac1se^{-m\kappa}$, so $\delta\le\frac1{s\gamma n}[(1-\gamma+\gamma "
            r"e^{-\kappa})^n-(1-\gamma)^n]$.",
        ),
        Clause(
            "k-RR",
            r"For k-RR $b_+=\gamma(e^{\varepsilon_0}-e^\varepsilon)$, "
            r"$c=\gamma(2-\gamma)(e^\varepsilon-1)^2+(1-\gamma)^2k(e^{2\varepsilon}+1)$.",
        ),
    ),
    source="decomposition, Section 6 (Balle et al., Section 5)",
    assumptions=("0 < eps < eps0", "Bennett's inequality for the moment generating function"),
    scope="best exponent for all a, b, c; k-RR for all lam, k; three mechanisms, n <= 40, against exact values",
    grade="proved",
    printed=_bennett_bound,
    check=_bennett,
    controls=(
        Control(
            "second moment less 1 %",
            lambda gamma, a, top, c, n, k: _bennett_bound(gamma, a, top, c * sp.Rational(99, 100), n, k),
        ),
        Control(
            "1/n instead of 1/(gamma n)",
            lambda gamma, a, top, c, n, k: _times(_bennett_bound(gamma, a, top, c, n, k), gamma, 1),
        ),
        Control(
            "second moment of k-RR one percent smaller",
            lambda gamma, a, top, c, n, k: _times(_bennett_bound(gamma, a, top, c, n, k), 1, sp.Rational(99, 100)),
        ),
    ),
    expected="holds",
    obligations=(
        *for_all("gamma", "a", "n", clause="bound"),
        *for_all("top", "second", clause=("bound", "k-RR")),
        *for_all("k", clause="k-RR"),
    ),
)


# -- decomposition.baseline-clone


def _clone(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Three budgets with n in the stated range: the standard clone's exact divergence at the stated exp(eps).

    It is at most delta even at the fiftieth just below that; in rationals.
    """
    for lam, delta, n in (
        (Fraction(3, 2), Fraction(1, 1000), 200),
        (Fraction(2), Fraction(1, 10**4), 320),
        (Fraction(3), Fraction(1, 10**4), 480),
    ):
        yield compare(evaluate(16 * sp.log(2 / _rational(delta)) * _rational(lam)), Fraction(n), "<=", at="range of n")
        ball: Any = evaluate(statement(_rational(lam), _rational(delta), n))
        exp_eps = Fraction(int(ball.lower * 50), 50)  # a little below the claimed target
        height = Exact().bracket(standard_clone_pair(lam).gparv(exp_eps), n).exact
        yield compare(height, delta, "<=", at=f"lam={lam}, delta={delta}, n={n}, exp(eps)={exp_eps}")


def _clone_target(lam: Any, delta: Any, n: int) -> Any:
    """The claimed exp(eps)."""
    return 1 + (lam - 1) / (lam + 1) * (8 * sp.sqrt(lam * sp.log(4 / delta) / n) + 8 * lam / n)


BASELINE_CLONE = Claim(
    id="decomposition.baseline-clone",
    kind="statement",
    title="standard-clone bound, numerically",
    text=(
        Clause(
            "closed form",
            r"Closed form of the standard clone: for $\varepsilon_0\le\log\frac n{16\log(2/\delta)}$ the "
            r"shuffled mechanism is $(\varepsilon,\delta)$-DP with "
            r"$e^\varepsilon-1=\frac{e^{\varepsilon_0}-1}{e^{\varepsilon_0}+1} "
            r"(8\sqrt{e^{\varepsilon_0}\log(4/\delta)/n}+8e^{\varepsilon_0}/n)$.",
        ),
        Clause("pair", "Numerically, the exact divergence of its pair."),
    ),
    source="decomposition, Section 6 (Feldman et al., Theorem 3.1)",
    assumptions=("eps0 <= log(n / (16 log(2/delta)))",),
    scope="exact divergence of the clone pair at three settings, n <= 480",
    grade="exact-cases",
    printed=_clone_target,
    check=_clone,
    controls=(
        Control("prefactors 8 replaced by 8/5", lambda lam, delta, n: 1 + (_clone_target(lam, delta, n) - 1) / 5),
    ),
    expected="holds",
    obligations=for_all("lam", "delta", "n", clause=("closed form", "pair")),
)


# -- decomposition.baseline-generic


def _generic(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Similarity and ratios open within the budget: L lies between the stated ends, at either end of gamma, by signs.

    The bound falls in gamma and grows with the range, any number of users. Then three mechanisms at two orders, n <=
    40: gamma and L within the stated ends, and the exact divergence below Hoeffding's bound with these; in balls.
    """
    w, x = sp.symbols("w x", nonnegative=True)
    lam, target = 1 + w, 1 + x
    low, high = statement(lam, target)
    share, s, t = sp.symbols("share s t", nonnegative=True)
    # LDP: lam inf R exceeds R(x) at an output by some s >= 0; summed over the outputs, gamma >= 1/lam.
    yield never_negative(sp.cancel((t + s) / lam - t / lam), at="inf R at least R(x)/lam, output by output")
    gamma = (1 + share / lam) / (1 + share)  # any similarity from 1/lam to 1
    first, second = (1 + lam * s) / (1 + s), (1 + lam * t) / (1 + t)  # any two ratios from 1 to lam
    # L is gamma times a difference of ratios, and the difference can have either sign: the ends of gamma decide.
    for end in (1 / lam, sp.Integer(1)):
        value = end * (first - target * second)
        yield never_negative(sp.cancel(high - value), at=f"L below its upper end, any ratios, gamma={end}")
        yield never_negative(sp.cancel(value - low), at=f"L above its lower end, any ratios, gamma={end}")
    yield identity(high - low, (target + 1) * (lam - 1 / lam), at="the range of the text, any budget and x")
    # (1/gamma) (1 - gamma (1 - z))^n falls in gamma for every n >= 1, so 1/lam is the worst similarity; z = 1/(1 + w).
    users = 1 + sp.Symbol("m", nonnegative=True)
    factor = 1 - gamma * (1 - 1 / (1 + w))
    falls = 1 / gamma + users * (1 - 1 / (1 + w)) / factor
    yield never_negative(sp.cancel(falls), at="minus the logarithmic slope in gamma, any number of users")
    a, b = sp.symbols("a b", positive=True)
    # b^2 exp(-2 m a^2/b^2) grows with the range b: its logarithmic slope is 2/b + 4 m a^2/b^3.
    yield identity(
        sp.diff(sp.log(b**2) - 2 * users * a**2 / b**2, b), 2 / b + 4 * users * a**2 / b**3, at="grows with the range"
    )
    for label, variable, exact_law, exp_eps, cap, _ in _variables():
        yield compare(variable.gamma, 1 / cap, ">=", at=f"gamma, {label}")
        low, high = statement(cap, exp_eps)
        yield compare(variable.smallest, low, ">=", at=f"smallest L, {label}")
        yield compare(variable.largest, high, "<=", at=f"largest L, {label}")
        for n in (1, 5, 40):
            similarity, drift, width = map(_rational, (1 / cap, variable.drift, high - low))
            bound = evaluate(_hoeffding_bound(similarity, drift, width, n, K)[0])
            yield compare(Exact().bracket(exact_law, n).exact, bound, "<=", at=f"{label}, n={n}")


BASELINE_GENERIC = Claim(
    id="decomposition.baseline-generic",
    kind="statement",
    title="bounds knowing only the local budget",
    text=(
        Clause(
            "range",
            r"For every $\varepsilon_0$-LDP randomizer $\gamma\ge e^{-\varepsilon_0}$ and $L$ lies between "
            r"$e^{-\varepsilon_0}-e^{\varepsilon+\varepsilon_0}$ and "
            r"$e^{\varepsilon_0}-e^{\varepsilon-\varepsilon_0}$, a range of "
            r"$b=(e^\varepsilon+1)(e^{\varepsilon_0}-e^{-\varepsilon_0})$.",
        ),
        Clause(
            "bound",
            "Hoeffding's bound with these is generic. (Claim symshuffle.generic-bound is a better generic bound.)",
        ),
    ),
    source="decomposition, Section 6 and Remark 6 (Balle et al., Section 5)",
    assumptions=("eps > 0", "Hoeffding's bound (claim baseline-hoeffding)"),
    scope="ends, and monotone in gamma and the range, for all parameters; three mechanisms, n <= 40",
    grade="proved",
    printed=lambda lam, x: (1 / lam - lam * x, lam - x / lam),
    check=_generic,
    controls=(
        Control("ends divided by lam", lambda lam, x: (1 / lam**2 - x, 1 - x / lam**2)),
        Control("lower end 1 - x", lambda lam, x: (1 - x, lam - x / lam)),
    ),
    expected="holds",
    obligations=for_all("lam", "x", clause=("range", "bound")),
)

CLAIMS: tuple[Claim, ...] = (BASELINE_HOEFFDING, BASELINE_BENNETT, BASELINE_CLONE, BASELINE_GENERIC)
