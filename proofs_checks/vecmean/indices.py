"""Statements of our own: at which reference and input the indices of the other mechanisms are attained."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from symshuffle.base.numbers import Ball, maximum, to_arb, working_precision
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
from symshuffle.mechanisms.symbolic import nonnegative
from symshuffle.vectors.error.indices import shuffle_index
from symshuffle.vectors.randomizers.mechanisms import BlanketMixedGaussian, LocalGaussian, PrivUnit, SphereLinear
from symshuffle.vectors.randomizers.sphere import cap_numbers

BITS: Final = 192
TINY: Final = Fraction(1, 10**30)


def _along(c: Any, t: Any, d: Any, j: Any) -> tuple[Any, Any]:
    """Integrand of 1/chi_up^2 at the heights t and -t of a uniform point; E T^(2j+2) over E T^(2j)."""
    return (c * t) ** 2 / (1 - (c * t) ** 2), (2 * j + 1) / (d + 2 * j)


def _check_along(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """References along x1, shorter, at any angle, open c, t, d, j: the stated integrand is largest, by sign; symbolic.

    At another angle it exceeds by the mean of a square; quotients of moments are the terms of the series. Three (c, d):
    the library's index against its partial sum, to 2e-30.
    """
    c, t, d, j, k, s = sp.symbols("c t d j k s", positive=True)
    said, ratio = statement(c, t, d, j)
    both = ((c * t) ** 2 / (1 + c * t) + (c * t) ** 2 / (1 - c * t)) / 2
    yield identity(both, said, at="x = x1, |x1| = 1: mean of (R_x1 - R_bot)^2/R_x over T and -T; opposite x the same")
    # Shorter references, |x| = r: c^2 t^2/(1 - c^2 r^2 t^2) is smaller. With c t = 1/(1 + k), r = 1/(1 + s).
    inside = {c: 1 / ((1 + k) * t)}
    short = (c * t) ** 2 / (1 - (c * t / (1 + s)) ** 2)
    room = nonnegative(sp.cancel((said - short).subs(inside)), {})
    found = [decide(room, at="every |x| <= 1: the longest is worst", claimed="at least that", symbolic=True)]
    # References at another angle a: cos^2 a of this and sin^2 a of c^2 (1 - T^2)/(d - 1) at the same weight g(T^2),
    # g(s) = 1/(1 - q s). As E(d T^2 - 1) = 0, the difference is the mean of (d s - 1)(g(s) - g(1/d))/(d - 1), a square.
    q = sp.Symbol("q", positive=True)
    weight = 1 / (1 - q * s)
    turned = (s - (1 - s) / (d - 1)) * (weight - weight.subs(s, 1 / d))
    square = q * (d * s - 1) ** 2 / ((d - 1) * (1 - q * s) * (d - q))
    found += [identity(turned, square, at="every angle: along exceeds across by the mean of a square")]
    found += [identity(ratio.subs(j, 0), 1 / d, at="every d: E T^2 = 1/d")]
    yield from serving("references", found)

    def moment(power: Any) -> Any:
        return sp.gamma(power + sp.Rational(1, 2)) / sp.gamma(d / 2 + power)  # up to a constant, by the beta law of T^2

    step = sp.gammasimp(sp.expand_func(moment(j + 1) / moment(j)))
    yield identity(sp.cancel(step), ratio, at="every d, j: the series of 2F1(1, 1/2; d/2; c^2)")
    for slope, dim in ((Fraction(1, 2), 3), (Fraction(9, 10), 2), (Fraction(1, 3), 50)):
        index: Any = shuffle_index(SphereLinear(slope, dim), "upper", bits=BITS).inverse_square
        total, term = Fraction(0), Fraction(1)
        for count in range(1500):
            term *= Fraction(statement(slope, slope, dim, Fraction(count))[1]) * slope**2
            total += term
            if term < TINY / 10**3:
                break
        gap: Any = index - total
        yield compare(gap, TINY * 2, "<=", at=f"c = {slope}, d = {dim}: the library's index, its series above")
        yield compare(gap, 0, ">=", at=f"c = {slope}, d = {dim}: and all its terms are positive")


def _two_caps(high: Any, low: Any, cap: Any, common: Any) -> Any:
    """Variance for two caps of mass ``cap`` that have ``common`` of the sphere in common."""
    above, below = (high - 1) * (high - 1), (low - 1) * (low - 1)
    apart = (cap - common) * (above / low + below / high)
    return common * above / high + (1 - 2 * cap + common) * below / low + apart


def _check_caps(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Two caps of open mass and overlap: the variance, part by part of the sphere, is as stated and affine; symbolic.

    Four mechanisms in balls: the library's index is the larger of the stated values at both ends of the overlap.
    """
    h, low, cap, k = sp.symbols("h l a k", positive=True)
    value = statement(h, low, cap, k)
    # Outputs by the density at x1 and that at the reference x: the masses of the four parts of the sphere.
    parts = ((h, h, k), (h, low, cap - k), (low, h, cap - k), (low, low, 1 - 2 * cap + k))
    total = sum(mass * (one - 1) ** 2 / other for one, other, mass in parts)
    yield identity(total, value, at="every pair of caps: the variance, part by part")
    affine = identity(sp.diff(value, k, 2), 0, at="every overlap: affine, so largest at one of the ends")
    yield from serving("references", [affine, identity(value.subs(k, cap), total.subs(k, cap), at="equal caps")])
    yield identity(sum(mass for *_, mass in parts), 1, at="the four masses")
    for mechanism in (
        PrivUnit(Fraction(3, 5), Fraction(0), 2),
        PrivUnit(Fraction(7, 10), Fraction(1, 4), 3),
        PrivUnit(Fraction(3, 10), Fraction(-2, 5), 5),
        PrivUnit(Fraction(1, 5), Fraction(9, 10), 4),
    ):
        numbers = cap_numbers(mechanism, bits=BITS)
        mass: Any = 1 - numbers.q
        # Two sets of mass a share at most a, at least 2a - 1 or 0: equal and opposite caps do exactly that.
        least = 2 * mass - 1 if mechanism.theta < 0 else Fraction(0)
        ends = [statement(numbers.high, numbers.low, mass, shared) for shared in (mass, least)]
        index: Any = shuffle_index(mechanism, "upper", bits=BITS).inverse_square
        gap: Any = index - maximum(ends)
        where = f"p = {mechanism.p}, theta = {mechanism.theta}, d = {mechanism.dimension}"
        yield compare(gap * gap, TINY * TINY, "<=", at=f"{where}: the library's index")


def _log_slope(gamma: Any, u: Any) -> Any:
    """Slope of the logarithm of 1/(gamma + A u), u = exp(-b z - b^2/2), over b."""
    return (1 - gamma) * u / (gamma + (1 - gamma) * u)


def _check_lengths(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Every gamma, z: the stated slope of the log weight; every length from A'b on: the variance rises; symbolic.

    Below A'b, the identity behind the library's test. Three mechanisms at three shorter lengths each, in balls.
    """
    g, u, b, z, s, t, m = sp.symbols("gamma u b z s t m", positive=True)
    share = statement(g, u)
    weight = 1 / (g + (1 - g) * sp.exp(-b * z))
    slope = sp.diff(sp.log(weight), z) / b
    yield identity(sp.simplify(slope).subs(sp.exp(-b * z), u).subs(sp.exp(b * z), 1 / u), share, at="every z")
    yield identity(
        share, 1 - g / (g + (1 - g) * u), at="every z: 1 - gamma w, which falls as w rises: largest at z = 0"
    )
    fall = nonnegative(sp.diff(share, u), {g: s / (1 + s)})
    yield decide(fall, at="every gamma, z", claimed="largest at z = 0: A'", symbolic=True)
    # W(rho) = E w(|Z + rho e|) rises, and W' <= b A' W, because |z| moves by at most the shift. So the slope of
    # e^(rho^2) W(2 rho) - 2 W(rho) + W(0) is at least this, with W(2 rho) = W + m and rho = A' b (1 + t).
    first, growth = sp.symbols("W E", positive=True)
    rho = share * b * (1 + t)
    least = 2 * rho * (1 + growth) * (first + m) - 2 * b * share * first
    rises = nonnegative(sp.factor(least), {g: s / (1 + s)})
    shown = [decide(rises, at="every length from A'b on", claimed="the variance rises", symbolic=True)]
    # Below A'b: w <= 1/gamma and e^(p a) - 1 <= p (e^a - 1) for p <= 1, against w >= w(0) = 1/(gamma + A u0) at b.
    floor = g + (1 - g) * u
    shown += [identity((1 - share) * floor, g, at="A' = 1 - gamma w(0): the test A'^2/gamma <= w(0) in numbers")]
    yield from serving("lengths", shown)
    for name, sigma0, d in (("0.95", "4.6", 1), ("0.1", "0.7", 1), ("0.5", "1", 3)):
        mechanism = BlanketMixedGaussian(Fraction(name), Fraction(sigma0), Fraction(1), d)
        full: Any = shuffle_index(mechanism, "lower", blanket="largest").inverse_square
        for shorter in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
            value = _at_length(mechanism, shorter)
            at = f"gamma = {name}, sigma0 = {sigma0}, d = {d}: length {shorter} against the same blanket"
            yield compare(value, full, "<", at=at)


def _at_length(mechanism: BlanketMixedGaussian, length: Fraction) -> Ball:
    """The variance at an input of that length, against the least density over the unit ball."""
    from symshuffle.vectors.randomizers.gaussian import mean_weight

    with working_precision(BITS):
        gamma, b = to_arb(mechanism.gamma), 1 / to_arb(mechanism.sigma0)
        rho = to_arb(length) * b
        weights = [mean_weight(gamma, b, mechanism.dimension, rho * k) for k in (0, 1, 2)]
        value = (1 - gamma) ** 2 * ((rho * rho).exp() * weights[2] - 2 * weights[1] + weights[0])
        return Ball.from_arb(value, BITS)


def _noise(x: Any) -> tuple[Any, Any]:
    """Bounds of sigma0^2 at the squared upper index x of the plain Gaussian."""
    upper = x + Fraction(9, 2)
    return upper - Fraction(145, 12) / x, upper


def _check_noise(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Every order of V = 1/X as a series in a = 1/sigma0^2: both stated bounds, coefficient by coefficient; symbolic.

    Orders 1 to 3 by expansion, the others by signs. Four sigma0 in balls.
    """
    a, v, k, j, m = sp.symbols("a V k j m", positive=True)
    # V = 1/x = e^(4a) - 2 e^(2a) + e^a = sum of v_k a^k, v_k = (2^k - 1)^2/k!, at a = 1/sigma0^2.
    p = sp.Symbol("p", positive=True)  # 2^k
    yield identity(p**2 - 2 * p + 1, (p - 1) ** 2, at="every k: the coefficient times k! is a square")
    rest = nonnegative((9 * (p - 1) ** 2 - (2 * p - 1) ** 2).subs(p, 2 + m), {})
    yield decide(rest, at="every k >= 1: (k + 1) v_(k+1) <= 9 v_k", claimed="at most 9", symbolic=True)
    low, high = (sp.expand(a * v * end) for end in statement(1 / v))
    # The upper bound is V <= a + 9/2 a V: v_k <= 9/2 v_(k-1), as v_k <= 9/k v_(k-1) and k >= 2.
    yield identity(high, a + sp.Rational(9, 2) * a * v, at="every x: the upper bound, times a V")
    yield decide(nonnegative((sp.Rational(9, 2) - 9 / k).subs(k, 2 + m), {}), at="k >= 2", claimed="so", symbolic=True)
    # The lower one is V >= a + 9/2 a V - 145/12 a V^2. Orders 1 to 3 agree; at order k = j + 1 >= 4 it is enough that
    # 9/2 v_j <= 145/12 (V^2)_j, and (V^2)_j >= 2 v_(j-1), v_j <= 9/j v_(j-1).
    third = sp.series(sp.exp(4 * a) - 2 * sp.exp(2 * a) + sp.exp(a), a, 0, 4).removeO()
    agree = sp.series(third - low.subs(v, third), a, 0, 4).removeO()
    yield identity(sp.expand(agree), 0, at="orders 1 to 3")
    term = -low.coeff(v, 2) / a
    enough = nonnegative(2 * term - (sp.Rational(81, 2) / j).subs(j, 3 + m), {})
    yield decide(enough, at="every order from 4 on", claimed="the lower bound", symbolic=True)
    yield identity(low, a + sp.Rational(9, 2) * a * v - sp.Rational(145, 12) * a * v**2, at="every x: times a V")
    for sigma0 in (Fraction(1, 3), Fraction(1), Fraction(5), Fraction(100)):
        inverse: Any = shuffle_index(LocalGaussian(sigma0), "upper", bits=BITS).inverse_square
        ends = statement(1 / inverse)
        yield compare(ends[0], sigma0**2, "<=", at=f"sigma0 = {sigma0}: from below")
        yield compare(ends[1], sigma0**2, ">=", at=f"sigma0 = {sigma0}: from above")


CLAIMS: Final = (
    Claim(
        id="symshuffle.vecmean-gaussian-remainders",
        kind="statement",
        title="the error of the plain Gaussian by its index, with explicit remainders",
        text=(
            Clause("noise", r"$X+\frac92-\frac{145}{12X}\le\sigma_0^2\le X+\frac92$ for every $X=\chi_{chua}^2>0$."),
            Clause(
                "error",
                r"$d\chi^2(1+\frac92\chi^{-2}-\frac{145}{12}\chi^{-4})\le Err_1\le d\chi^2(1+\frac92\chi^{-2})$.",
            ),
        ),
        source="our own; vecmean, Proposition 4.2 and (61) have O-terms",
        assumptions=(),
        scope="every coefficient of the series, so every X; four values of sigma0 in balls",
        grade="proved",
        printed=_noise,
        check=_check_noise,
        controls=(
            Control("9/2 less 1 %", lambda x: tuple(end - Fraction(9, 200) for end in _noise(x))),
            Control("144/12", lambda x: (_noise(x)[0] + Fraction(1, 12) / x, _noise(x)[1])),
        ),
        expected="holds",
        obligations=for_all("x", clause=("noise", "error")),
    ),
    Claim(
        id="symshuffle.vecmean-linear-upper-index",
        kind="statement",
        title="where the upper index of the linear density is attained",
        text=(
            Clause(
                "value",
                r"For $1+c\langle u,x\rangle$ on the sphere, $\chi_{up}^{-2}={}_2F_1(1,\frac12;\frac d2;c^2)-1$ "
                "for inputs of the ball.",
            ),
            Clause("attained", "It is attained at unit $x_1$ and the reference $x=x_1$ or $x=-x_1$."),
        ),
        source="our own; the catalogue's eighth item beyond the paper",
        assumptions=(r"$d\ge2$; for $d=1$ it is randomized response",),
        scope="every reference, length, c and d; the terms of the series for every j; three indices in balls",
        grade="proved",
        printed=_along,
        check=_check_along,
        controls=(
            Control("1 % more", lambda c, t, d, j: (_along(c, t, d, j)[0] * Fraction(101, 100), _along(c, t, d, j)[1])),
            Control(
                "moments of dimension d + 1", lambda c, t, d, j: (_along(c, t, d, j)[0], _along(c, t, d + 1, j)[1])
            ),
            Control("the shortest is worst", lambda c, t, d, j: ((c * t) ** 2, _along(c, t, d, j)[1])),
        ),
        expected="holds",
        obligations=for_all("c", "t", "d", "j", "references", clause=("value", "attained")),
    ),
    Claim(
        id="symshuffle.vecmean-caps-upper-index",
        kind="statement",
        title="where the upper index of PrivUnit is attained",
        text=(
            Clause(
                "affine",
                r"The variance of $\ell_0(Y;x_1,\bot)$ under $R_x$ is affine in what the caps of $x_1$ and x "
                "share.",
            ),
            Clause("attained", "So its supremum is at $x=x_1$ or at $x=-x_1$."),
        ),
        source="our own",
        assumptions=("unit inputs",),
        scope="every overlap, mass and both densities; four mechanisms in balls",
        grade="proved",
        printed=_two_caps,
        check=_check_caps,
        controls=(
            Control("1 % more", lambda *a: _two_caps(*a) * Fraction(101, 100)),
            Control("densities exchanged", lambda high, low, cap, common: _two_caps(low, high, cap, common)),
        ),
        expected="holds",
        obligations=for_all("high", "low", "cap", "common", "references", clause=("affine", "attained")),
    ),
    Claim(
        id="symshuffle.vecmean-largest-blanket-index",
        kind="statement",
        title="which input is worst for the lower index against the largest blanket",
        text=(
            Clause(
                "rises",
                r"Against $\inf_{|x|\le b}R_x$ the variance of the mixed Gaussian (noise of unit variance) rises "
                r"with $|x|$ from $A'b$ on, $A'=1-\gamma w(0)$, w the inverse of the least density over "
                "$N(0,I)$.",
            ),
            Clause(
                "below",
                r"Below, it is under its value at b if $A'^2\le\gamma w(0)$, and otherwise the library covers "
                "$[0,A'b]$ by cells.",
            ),
        ),
        source="our own; the catalogue's first item beyond the paper",
        assumptions=("the length of a shifted normal vector rises with the shift, in law", "exp is convex"),
        scope="every gamma, b, dimension and length from A'b on; nine lengths of three mechanisms in balls",
        grade="proved",
        printed=_log_slope,
        check=_check_lengths,
        controls=(
            Control("1 % more", lambda gamma, u: _log_slope(gamma, u) * Fraction(101, 100)),
            Control("gamma and A exchanged", lambda gamma, u: _log_slope(1 - gamma, u)),
        ),
        expected="holds",
        obligations=for_all("gamma", "u", "lengths", clause=("rises", "below")),
    ),
)
