"""Section 6: normal approximation of the likelihood ratio, with its lemmas."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import flint
import numpy as np
import sympy as sp

from proofs_checks._limits import BERRY_ESSEEN, berry_esseen_bound, kolmogorov_distance, normal_profile
from proofs_checks.alphabets import _cases as cases
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
from symshuffle.mechanisms.registry import mechanism
from symshuffle.mechanisms.symbolic import nonnegative
from symshuffle.utility.likelihood.extremes import endpoint_ratio
from symshuffle.utility.likelihood.law import LikelihoodRatio

USERS: Final = (1, 2, 5, 20, 100)
HALF: Final = Fraction(1, 2)


def _formula(top: Any, chi: Any, n: Any, constant: Any, two_pi: Any, e: Any) -> tuple[Any, Any]:
    """Bounds on the Kolmogorov distance of the score from the normal law, under P and under Q (there n >= 2)."""
    null = constant * top / (chi * n) ** HALF
    other = constant * top / (chi * (n - 1)) ** HALF + 1 / (2 * (n - 1) * (two_pi * e) ** HALF)
    return null, other + top / (two_pi * n * chi) ** HALF


def _distances(lam: Any, v: Any, n: Any) -> tuple[Any, Any]:
    """The formula in symbols where a symbol is given, otherwise in balls."""
    if isinstance(n, sp.Expr):
        constant = sp.Rational(BERRY_ESSEEN.numerator, BERRY_ESSEEN.denominator)
        return _formula(lam - 1, v, n, constant, 2 * sp.pi, sp.E)
    with working_precision(160):
        numbers = to_arb(lam - 1), to_arb(v), flint.arb(max(n, 2)), to_arb(BERRY_ESSEEN)
        second = _formula(*numbers, 2 * flint.arb.pi(), flint.arb.const_e())[1]
        first = _formula(*numbers[:2], flint.arb(n), numbers[3], 2 * flint.arb.pi(), flint.arb.const_e())[0]
        return Ball.from_arb(first, 128), Ball.from_arb(second, 128)


def _scaled(factor: Any) -> Statement:
    """Both bounds times a factor of lam and v."""

    def perturbed(lam: Any, v: Any, n: Any) -> tuple[Any, Any]:
        both = _distances(lam, v, n)
        return both[0] * factor(lam, v), both[1] * factor(lam, v)

    return perturbed


def _laws() -> Iterator[tuple[str, Fraction, LikelihoodRatio]]:
    """Twelve laws: end points and k-ary response, k = 4 and 16, under four caps."""
    for lam in (Fraction(6, 5), Fraction(2), Fraction(8), Fraction(50)):
        yield f"end points, lam={lam}", lam, endpoint_ratio(lam)
        for k in (4, 16):
            yield f"{k}-ary, lam={lam}", lam, LikelihoodRatio.of_mechanism(mechanism("krr").at(k=k, lam=lam))


def _check_steps(statement: Statement) -> Iterator[Comparison]:
    """Both bounds from the classical inequality, for all ratio laws within the cap."""
    r, v, m, t = sp.symbols("r v m t", positive=True)
    n = m + 1
    null, other = statement(1 + r, v, n)
    classical = sp.Rational(BERRY_ESSEEN.numerator, BERRY_ESSEEN.denominator) / v ** sp.Rational(3, 2)
    third = r * v  # E|g-1|^3 is at most (lam-1) E(g-1)^2
    yield identity(classical * third / sp.sqrt(n), null, at="every lam, v, n: under P")
    # Under Q one message is another: n-1 users of P, rescaled, plus a shift by at most (lam-1)/sqrt(nv).
    turned = sp.diff(t * sp.exp(-(t**2) / 2), t)
    yield identity(turned.subs(t, 1), 0, at="t phi(t) is largest at t = 1")
    slow = nonnegative((1 + 1 / (2 * m)) ** 2 - n / m, {})
    yield decide(slow, at="every n", claimed="rescaled by 1 + 1/(2(n-1)) at most", symbolic=True)
    rescaled = 1 / (2 * m) * sp.exp(-sp.Rational(1, 2)) / sp.sqrt(2 * sp.pi)
    shifted = r / sp.sqrt(n * v) / sp.sqrt(2 * sp.pi)
    yield identity(classical * third / sp.sqrt(m) + rescaled + shifted, other, at="every lam, v, n >= 2: under Q")


def _check_distances(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Open lam, v, n: both bounds from the classical inequality, by `_check_steps`.

    Twelve laws at five sizes, in balls: Kolmogorov distances under P and Q below the stated and the library's bounds.
    lam = 3: the curve within the certified error of the normal one, which is within 3/(2n) of the Gaussian one; four
    times the users halve the distance, no more.
    """
    yield from _check_steps(statement)
    for name, lam, ratio in _laws():
        for n in USERS:
            null, other = statement(lam, ratio.chi_square, n)
            found = kolmogorov_distance(ratio, n)
            yield compare(found, null, "<=", at=f"{name}, n={n}, under P")
            yield compare(found, berry_esseen_bound(ratio, n), "<=", at=f"{name}, n={n}, under P: third moment")
            seen = kolmogorov_distance(ratio, n, under="Q")
            if n > 1:
                yield compare(seen, other, "<=", at=f"{name}, n={n}, under Q")
            yield compare(seen, berry_esseen_bound(ratio, n, under="Q"), "<=", at=f"{name}, n={n}, under Q: ours")
    ratio = endpoint_ratio(Fraction(3))
    for n in (100, 1000):  # what the theorem calls Gaussian: both curves, in absolute terms, at a fixed level
        for eps in ("1/100", "1/10"):
            near = normal_profile(ratio, n, direction="forward", eps=eps)
            curve = ratio.profile(n, eps=eps, direction="forward", arithmetic="ball")
            inside = near.bracket.lower <= curve.upper and curve.lower <= near.bracket.upper
            yield decide(inside, at=f"lam=3, n={n}, eps={eps}", claimed="the curve is within the certified error")
        distance = near.gaussian_error
        yield compare(distance, Fraction(3, 2 * n), "<=", at=f"lam=3, n={n}: distance to the Gaussian curve")
    # The claim "no faster than the third moment allows": distances fall like 1/sqrt(n), not faster.
    pair = [kolmogorov_distance(ratio, n) for n in (100, 400)]
    yield compare(pair[0] * Fraction(45, 100), pair[1], "<=", at="lam=3: four times the users, about half the distance")


def _berry_esseen(third: Any, v: Any, n: int) -> Ball:
    """The classical bound with an admissible constant."""
    with working_precision(160):
        chi = to_arb(v)
        return Ball.from_arb(to_arb(BERRY_ESSEEN) * to_arb(third) / (chi * (chi * n).sqrt()), 128)


def _skew() -> LikelihoodRatio:
    """Nearly the two-point law that no constant below 0.4097 survives."""
    p = Fraction(4189, 10000)
    return LikelihoodRatio.from_atoms([(1 + (1 - p) / 2, p), (1 - p / 2, 1 - p)])


def _check_berry_esseen(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """A skew two-point law at four sizes, six random laws at n = 1, 4: distance below the bound, in balls."""
    laws = [("skew two-point", _skew()), *((f"random {i}", law) for i, (_, law) in enumerate(cases.ratios(rng, 6)))]
    for name, ratio in laws:
        for n in (1, 4, 16, 50):
            if n > 4 and name != "skew two-point":
                continue
            bound = statement(ratio.third_absolute_moment, ratio.chi_square, n)
            yield compare(kolmogorov_distance(ratio, n), bound, "<=", at=f"{name}, n={n}")


def _perturbed(distance: Any, density: Any, eta: Any) -> Any:
    """Bound on the distance after a shift by at most eta, from that before and the largest density."""
    return distance + density * eta


def _check_perturbation(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Any two variables within eta: by inclusion of events the distance is at most D + M eta, covered by the statement.

    Symbolic, both sides, by sign. Two lattices against the uniform law over Q: shifted by two amounts, to the right, to
    the left and every point by its own amount.
    """
    d, density, eta, at_t, at_shift, cdf = sp.symbols("D M eta F_t F_s P", nonnegative=True)
    # {X <= t} lies in {Y <= t + eta}: P(X<=t) - F(t) <= [P(Y<=t+eta) - F(t+eta)] + [F(t+eta) - F(t)] <= D + M eta.
    yield identity((cdf - at_shift) + (at_shift - at_t), cdf - at_t, at="every law: the step in between")
    # {Y <= t - eta} lies in {X <= t}: F(t) - P(X<=t) <= [F(t-eta) - P(Y<=t-eta)] + [F(t) - F(t-eta)], no more either.
    yield identity((at_shift - cdf) + (at_t - at_shift), at_t - cdf, at="every law: the step below")
    worst = statement(d, density, eta) - d - density * eta
    covered = decide(nonnegative(worst, {}), at="every D, M, eta", claimed="D and M eta are covered", symbolic=True)
    yield from serving("laws", [covered])
    yield identity(
        statement(0, density, eta), density * eta, at="attained: X = Y + eta, Y uniform on length 1/M >= eta"
    )
    for size in (3, 10):  # Y on a lattice, X = Y + eta; F uniform on [0, 1]: M = 1
        for eta_ in (Fraction(1, 7), Fraction(1, 3)):
            places = [Fraction(j, size) for j in range(1, size + 1)]
            own = [eta_ * Fraction(int(part), 5) for part in rng.integers(-5, 6, size=size)]
            claimed = statement(_uniform_distance(places), Fraction(1), eta_)
            for where, shifts in (("right", [eta_] * size), ("left", [-eta_] * size), ("each its own way", own)):
                after = _uniform_distance(sorted(p + shift for p, shift in zip(places, shifts, strict=True)))
                yield compare(after, claimed, "<=", at=f"{size} points shifted by at most {eta_}: {where}")


def _uniform_distance(places: list[Fraction]) -> Fraction:
    """Kolmogorov distance of the uniform law on some points from that on [0, 1], both one-sided limits."""
    size, best = len(places), Fraction(0)
    for j, place in enumerate(places):
        level = min(max(place, Fraction(0)), Fraction(1))
        best = max(best, abs(Fraction(j + 1, size) - level), abs(Fraction(j, size) - level))
    return best


def _remainder(y: Any) -> Any:
    """The bound on |log(1 + x) - x| at |x| = y < 1; at most y^2 up to 1/2."""
    return y**2 / (2 * (1 - y))


def _check_remainder(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Every |x| < 1 by the series, each 1/j at most 1/2: the statement covers the geometric sum, by sign; symbolic.

    At most x^2 up to 1/2. 98 points in balls, and the point beyond which x^2 does not suffice.
    """
    y, m, s = sp.Symbol("y", positive=True), sp.Symbol("m", nonnegative=True), sp.Symbol("s", nonnegative=True)
    # |log(1+x) - x| <= sum of |x|^j / j over j >= 2, term by term below |x|^j / 2.
    yield decide(
        nonnegative(sp.Rational(1, 2) - 1 / (m + 2), {}), at="every j >= 2", claimed="1/j <= 1/2", symbolic=True
    )
    geometric = y**2 / 2 / (1 - y)  # sum of y^j / 2 over j >= 2: multiplied by 1 - y only the first term is left
    gap = statement(y).subs(y, s / (1 + s)) - geometric.subs(y, s / (1 + s))
    yield decide(nonnegative(gap, {}), at="every |x| < 1", claimed="the sum of the terms is covered", symbolic=True)
    half = s / (2 * (1 + s))
    yield decide(
        nonnegative(half**2 - statement(y).subs(y, half), {}), at="|x| <= 1/2", claimed="at most x^2", symbolic=True
    )
    with working_precision(160):
        for step in range(-49, 50):
            x = Fraction(step, 50)
            if x == 0:
                continue
            left = Ball.from_arb(abs((1 + to_arb(x)).log() - to_arb(x)), 128)
            yield compare(left, statement(abs(x)), "<=", at=f"x={x}")
        root = Fraction("-0.683802623752")
        for shift, holds in ((Fraction(1, 10**11), True), (-Fraction(1, 10**11), False)):
            x = root + shift
            left = Ball.from_arb(abs((1 + to_arb(x)).log() - to_arb(x)), 128)
            yield compare(left.upper <= x * x, holds, at=f"x={float(x)}: x^2 suffices down to -0.6838 only")


CLAIMS: Final = (
    Claim(
        id="alphabets.thm-6.2iii",
        kind="statement",
        title="Berry-Esseen for the likelihood ratio, and the Gaussian curve",
        text=(
            Clause("P", r"$\sup_t|P(T\le t)-\Phi(t)|\le C(\lambda-1)/\sqrt{nv}$."),
            Clause(
                "Q",
                r"Under $Q$, for $n\ge2$, the bound of $n-1$ users plus "
                r"$\frac1{2(n-1)\sqrt{2\pi e}}+\frac{\lambda-1}{\sqrt{2\pi nv}}$.",
            ),
            Clause(
                "curves",
                r"If $nv\to\infty$ the curves approach the Gaussian ones: by symshuffle.alphabets-normal-profile the "
                r"distance is at most $\frac{\lambda-1}{2n}$.",
                "quoted",
            ),
        ),
        source="alphabets, Theorem 6.2 (iii); displays reconstructed",
        assumptions=(r"$v>0$", "C = 0.4748"),
        scope="both bounds from the classical inequality (cited) for every lam, v, n; 12 laws at 5 sizes, exact atoms "
        "and both one-sided limits, in balls; the curve at lam = 3",
        grade="certified",
        printed=_distances,
        check=_check_distances,
        controls=(
            Control("without lam - 1", _scaled(lambda lam, v: 1 / (lam - 1))),
            Control("v in place of its root", lambda lam, v, n: _distances(lam, v * v, n)),
        ),
        expected="holds",
        obligations=for_all("lam", "v", "n", clause=("P", "Q")),
    ),
    Claim(
        id="alphabets.lem-6.3",
        kind="statement",
        title="classical Berry-Esseen inequality",
        text=r"$\sup_t|\Pr[\sum X_i\le ts\sqrt n]-\Phi(t)|\le C\,E|X|^3/(s^3\sqrt n)$ with an absolute "
        r"constant, here 0.4748.",
        source="alphabets, Lemma 6.3",
        assumptions=("independent, identically distributed, centred, third moment",),
        scope="a skew two-point law (on which no constant below 0.4097 is admissible) and 6 random laws, in "
        "balls; the theorem "
        "is cited",
        grade="exact-cases",
        printed=_berry_esseen,
        check=_check_berry_esseen,
        controls=(
            Control("constant 0.40", lambda third, v, n: _berry_esseen(third, v, n) * Fraction(4000, 4748)),
            Control("of order 1/n", lambda third, v, n: _berry_esseen(third, v, n * n)),
        ),
        expected="holds",
    ),
    Claim(
        id="alphabets.lem-6.4",
        kind="statement",
        title="Kolmogorov distance under a bounded shift",
        text=r"$|X-Y|\le\eta$ and a density of $F$ at most $M$: $\sup|\Pr[X\le t]-F(t)|\le\sup|\Pr[Y\le "
        r"t]-F(t)|+M\eta$.",
        source="alphabets, Lemma 6.4",
        assumptions=(),
        scope="every law, by inclusion of events; attained by a uniform law; two lattices",
        grade="proved",
        printed=_perturbed,
        check=_check_perturbation,
        controls=(
            Control("the shift less 1 %", lambda d, density, eta: d + density * eta * Fraction(99, 100)),
            Control("the larger of the two", lambda d, density, eta: density * eta),
        ),
        expected="holds",
        obligations=for_all("distance", "density", "eta", "laws"),
    ),
    Claim(
        id="alphabets.lem-6.5",
        kind="statement",
        title="quadratic remainder of the logarithm",
        text=(
            Clause("bound", r"$|\log(1+x)-x|\le\frac{x^2}{2(1-|x|)}$ for $|x|<1$."),
            Clause("half", r"It is at most $x^2$ for $|x|\le\frac12$."),
        ),
        source="alphabets, Lemma 6.5",
        assumptions=(),
        scope="every |x| < 1, term by term of the series; 98 points in balls",
        grade="proved",
        printed=_remainder,
        check=_check_remainder,
        controls=(
            Control("1 % smaller", lambda y: _remainder(y) * Fraction(99, 100)),
            Control("without the factor 1 - |x|", lambda y: y**2 / 2),
        ),
        expected="holds",
        obligations=for_all("y", clause=("bound", "half")),
    ),
)
