"""Statements of our own: which pair of inputs is worst, for every dimension, length and order.

The bound is an expectation of a convex function of a sum of independent terms, hence rises with each term in convex
order; and hinges, that is f'' at a point, are enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from symshuffle.base.numbers import Exp
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
from symshuffle.vectors.privacy.accounting import pair_delta
from symshuffle.vectors.privacy.pairs import ADJACENCIES, worst_pair
from symshuffle.vectors.randomizers.mechanisms import BlanketMixedGaussian, PrivUnit, SphereLinear

USERS: Final = 50
LEVEL: Final = Exp(Fraction(1, 10))


def _interpolation(a: Any, c: Any, b: Any, first: Any, second: Any) -> tuple[Any, Any]:
    """What multiplies f'' in the slopes of E f: in the squared length, and in the inner product of two inputs.

    The former of E f(a E_x) at noise 1 and time b^2; the latter of E f(a E_x - c E_x').
    """
    return a**2 * first**2 / 2, -a * c * first * second


def _check_mixed(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Any convex f by f' and f'': its mean's slopes in squared length and inner product are the stated ones; symbolic.

    Their signs, by parts in the Gaussian coordinates; shorter inputs as a contraction, by a determinant. Lengths 1/2
    and 1 in balls, both adjacencies.
    """
    a, b, c, s, r = sp.symbols("a b c s r", positive=True)
    u, v, z = sp.symbols("u v z", real=True)
    f1, f2 = sp.symbols("f1 f2", real=True)  # f' and f'' at the point, of any convex f
    first, second = sp.exp(b * u - b**2 / 2), sp.exp(b * v - b**2 / 2)
    length, angle = statement(a, c, b, first, second)
    # Length: E_x is exp(tau Z - tau^2/2) at tau = |x|/sigma0. By parts in Z, the slope in tau^2 is E[(aE)^2 f'']/2.
    tau = sp.Symbol("tau", positive=True)
    factor = sp.exp(tau * z - tau**2 / 2)
    moved = f1 * a * sp.diff(factor, tau) / (2 * tau)
    part = (f1 * a + a**2 * factor * f2) * sp.diff(factor, z) - z * factor * a * f1
    claimed = length.subs(u, z).subs(b, tau) * f2
    yield identity(
        sp.simplify(moved - claimed + part / (2 * tau)), 0, at="every f: slope in the squared length, by parts"
    )
    yield decide(nonnegative(length, {}), at="every convex f", claimed="longer inputs are worse", symbolic=True)
    # Angle: d/drho E f = E of the mixed derivative in the two Gaussian coordinates, over b^2.
    inner = a * first - c * second
    mixed = f2 * sp.diff(inner, u) * sp.diff(inner, v) + f1 * sp.diff(inner, u, v)
    yield identity(sp.simplify(mixed / b**2), f2 * angle, at="every f: slope in the inner product")
    yield decide(nonnegative(-angle, {}), at="every convex f", claimed="opposite inputs are worst", symbolic=True)
    # At one inner product: a linear map that sends unit vectors to shorter ones is a contraction if the difference of
    # the Gram matrices, which is diagonal, has no negative entry; noise of covariance I - C C^T does the rest.
    gram = sp.Matrix([[1, r], [r, 1]]) - sp.Matrix([[s**2, r], [r, v**2]])
    yield identity(gram.det(), (1 - s**2) * (1 - v**2), at="every pair of lengths at most 1: the longest at one angle")
    for adjacency in ADJACENCIES:
        values = []
        for length_ in (Fraction(1, 2), Fraction(1)):
            mechanism = BlanketMixedGaussian(Fraction(1, 2), Fraction(2), length_)
            pair = worst_pair(mechanism, adjacency=adjacency)
            values.append(pair_delta(pair, USERS, LEVEL, arithmetic="ball", rtol=1e-6))
        yield compare(values[0].upper, values[1].lower, "<", at=f"{adjacency}, n = {USERS}: length 1/2 against 1")


def _longest(alpha: Any) -> tuple[Any, Any]:
    """Largest squared length of w: zero-out, w = x; replace-one, w = x - alpha x'."""
    return 1 + 0 * alpha, (1 + alpha) ** 2


def _check_sphere(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open alpha, lengths and angle: the stated length of w is the largest, by sign and as a loss; symbolic.

    A dilation spreads in convex order. Half against whole length at two c, both adjacencies, in balls.
    """
    alpha, p, q, t, more = sp.symbols("alpha p q t m", positive=True)
    zero, one = statement(alpha)
    # <u, w> is |w| times a symmetric variable: at a smaller length either value is a mean of the two at a larger one.
    z, big = sp.Symbol("z", real=True), t + more
    share = (1 + t / big) / 2
    yield identity(share * big * z - (1 - share) * big * z, t * z, at="a dilation spreads in convex order")
    # |x - alpha x'|^2 at lengths x = 1/(1+p), 1/(1+q) and any angle, whose cosine is at least -1.
    short, other = 1 / (1 + p), 1 / (1 + q)
    room = nonnegative(one - (short + alpha * other) ** 2, {})
    yield decide(room, at="every pair of the ball: cosine -1", claimed="opposite unit vectors are worst", symbolic=True)
    loss = (short + alpha * other) ** 2 - (short**2 + alpha**2 * other**2 - 2 * alpha * short * other * z)
    yield identity(loss, 2 * alpha * short * other * (1 + z), at="every angle of cosine z >= -1")
    yield decide(nonnegative(zero - short**2, {}), at="every x of the ball", claimed="unit x is worst", symbolic=True)
    yield identity((1 + alpha) ** 2, one, at="attained by x' = -x")
    yield identity(zero, 1, at="attained by unit x")
    for c in (Fraction(1, 4), Fraction(1, 2)):  # the same law at a shorter input is that of a smaller c
        for adjacency in ADJACENCIES:
            short_, long_ = (
                _sphere_bound(SphereLinear(c, 3), adjacency, factor) for factor in (Fraction(1, 2), Fraction(1))
            )
            yield compare(short_, long_, "<", at=f"c = {c}, {adjacency}: half the length against the whole")


def _sphere_bound(mechanism: SphereLinear, adjacency: Any, factor: Fraction) -> Fraction:
    """Bound at inputs of a length: the density of a smaller c, over the blanket of the mechanism."""
    from dataclasses import replace

    pair: Any = worst_pair(SphereLinear(mechanism.c * factor, mechanism.dimension), adjacency=adjacency)
    own: Any = worst_pair(mechanism, adjacency=adjacency)
    stretch = replace(pair.stretches[0], reference=own.stretches[0].reference)
    changed = replace(pair, stretches=(stretch,), transforms=None)  # the closed form is over its own blanket
    found = pair_delta(changed, USERS, LEVEL, arithmetic="ball", rtol=1e-6)
    return found.lower if factor == 1 else found.upper


def _extremes(high: Any, low: Any, alpha: Any) -> tuple[Any, Any]:
    """The largest and the smallest value of p - alpha q over the four joint values of two caps."""
    return high - alpha * low, low - alpha * high


def _check_caps(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open densities, alpha and overlap: values in both caps or neither are between the stated extremes; symbolic.

    As they have the same sum, the mean of a convex f falls with the overlap. Two mechanisms in balls: the pair of
    opposite caps is symmetric.
    """
    low, more, alpha = sp.symbols("l m alpha", positive=True)
    high = low + more
    top, bottom = statement(high, low, alpha)
    both, neither = high - alpha * high, low - alpha * low
    yield identity(top + bottom, both + neither, at="every cap, alpha: disagreement and agreement have one sum")
    for name, value in (("both", both), ("neither", neither)):
        for gap, side in ((top - value, "below the top"), (value - bottom, "above the bottom")):
            yield decide(nonnegative(gap, {}), at=f"in {name}: {side}", claimed="inside", symbolic=True)
    levels, order = (Fraction(3, 2), Fraction(1, 2)), Fraction(6, 5)
    values = [p - order * q for p in levels for q in levels]
    yield compare(statement(*levels, order), (max(values), min(values)), at="h = 3/2, l = 1/2, alpha = 6/5")
    # Two caps of mass q that share k: E f moves with k by f(both) + f(neither) - f(top) - f(bottom), at most 0 for
    # convex f, as both values lie between the extreme ones and have their sum.
    mass, shared = sp.symbols("q k", positive=True)
    f = sp.symbols("f_both f_neither f_top f_bottom")
    mean = shared * f[0] + (1 - 2 * mass + shared) * f[1] + (mass - shared) * (f[2] + f[3])
    yield identity(sp.diff(mean, shared), f[0] + f[1] - f[2] - f[3], at="every overlap: slope of E f")
    inside = (both - bottom) / (top - bottom)
    yield identity(
        inside + (neither - bottom) / (top - bottom), 1, at="weights of the top value in both: they add up to 1"
    )
    # No two subsets of mass q share less than 2q - 1 or 0, and opposite caps share exactly that.
    for chance, theta, d in ((Fraction(3, 5), Fraction(0), 3), (Fraction(3, 5), Fraction(1, 5), 4)):
        pair: Any = worst_pair(PrivUnit(chance, theta, d), adjacency="replace-one")
        law = sorted(zip(pair.first, pair.second, strict=True), key=lambda masses: float(masses[0] - masses[1]))
        total: Any = law[0][0] + law[-1][0]
        back: Any = law[0][1] + law[-1][1]
        off: Any = total - back
        yield compare(off * off, Fraction(1, 10**30), "<=", at=f"theta = {theta}, d = {d}: opposite caps, symmetric")


def _fold(slope: Any, y: Any, x: Any) -> tuple[Any, Any]:
    """In dimension 1, on either side of 0: by how much the right exceeds the left, over what does not change sign.

    First the difference of exp(xy - x^2/2) at y and -y; then the slope at 0+ where the reference is weighed with
    -slope, 0 < slope <= x, at reach 1.
    """
    return sp.exp(-(x**2) / 2) * (sp.exp(x * y) - sp.exp(-x * y)), x * sp.exp(-(x**2) / 2) - slope * sp.exp(
        -sp.Rational(1, 2)
    )


def _check_end(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Every x, y, k: the stated excess of g(y) over g(-y) for k >= 0, its slope at 0+ for k < 0, with signs."""
    y, x, k, m = sp.symbols("y x k m", positive=True)
    excess, slope = statement(k, y, x)
    # g(y) = gamma + A E_x(y) - alpha - k (gamma + A exp(-|y| - 1/2)), inputs up to 1, sigma0 = 1: its hinge moves with
    # x by A times phi(y - x) at left ends of the set g > 0 less that at right ends.
    own = sp.exp(x * y - x**2 / 2)
    density = sp.exp(-((y - x) ** 2) / 2)
    base = sp.exp(-(y**2) / 2)
    yield identity(sp.simplify(own * base - density), 0, at="every x, y: E_x phi is phi(y - x)")
    yield identity(sp.diff(density, x), -sp.diff(density, y), at="every x, y: slope in x is minus that in y")
    # k >= 0: the part with inf R is even, so g(y) - g(-y) is this, above 0: a left end b < 0 lies farther out than the
    # right-hand zero, and phi(y - x) is larger there.
    left = sp.exp(-x * y - x**2 / 2)
    found = identity(sp.expand(own - left), sp.expand(excess), at="k >= 0: g(y) - g(-y) over A")
    up = decide(
        nonnegative((excess * sp.exp(x**2 / 2) * sp.exp(x * y)).expand().subs(sp.exp(2 * x * y), 1 + m).simplify(), {}),
        at="k >= 0, y > 0",
        claimed="the right side is above",
        symbolic=True,
    )
    yield from serving("k at least 0", [found, up])
    yield identity((y + x) ** 2 - (y - x) ** 2, 4 * x * y, at="every y > 0: phi(y - x) above phi(-y - x)")
    # k < 0: left of 0 both parts rise; right of it the first slope rises and the second falls, so 0+ decides.
    steep = sp.diff(own - k * sp.exp(-y - sp.Rational(1, 2)) * (-1), y).subs(y, 0)
    at = "k < 0: slope of g over A at 0+"
    here = identity(sp.expand(steep), sp.expand(slope), at=at)
    # As x <= 1, exp((1 - x^2)/2) = 1 + e with e >= 0: the slope times exp(1/2) is at least x - |k|.
    e = sp.Symbol("e", nonnegative=True)
    scaled = sp.powsimp(sp.expand(slope * sp.exp(sp.Rational(1, 2))))
    replaced = scaled.subs(sp.exp(sp.Rational(1, 2) - x**2 / 2), 1 + e).subs(x, k + m)
    least = nonnegative(sp.expand(replaced), {})
    sign = decide(least, at="k < 0 and x >= |k|: at least exp(-1/2) (x - |k|)", claimed="rising", symbolic=True)
    yield from serving("k below 0", [here, sign])


CLAIMS: Final = (
    Claim(
        id="symshuffle.vecmean-worst-pair-mixed",
        kind="statement",
        title="worst pair of the mixed Gaussian, zero-out and replace-one",
        text=(
            Clause(
                "hinges",
                r"For every convex f, $E f(aE_x)$ rises with $|x|$ and $E f(aE_x-cE_{x'})$ falls with $\langle "
                r"x,x'\rangle$.",
            ),
            Clause(
                "worst", "So a unit vector, and two opposite ones, are worst in every dimension, for every n and order."
            ),
        ),
        source="our own; vecmean, Appendix C takes |x| = 1",
        assumptions=("Jensen's inequality; data processing for the contraction of shorter inputs",),
        scope="both slopes for every convex f; lengths 1/2 and 1 in balls, both adjacencies",
        grade="proved",
        printed=_interpolation,
        check=_check_mixed,
        controls=(
            Control("1 % off", lambda a, c, b, e, o: (a**2 * e**2 * sp.Rational(101, 200), -a * c * e * o)),
            Control("the same input twice is worst", lambda a, c, b, e, o: (a**2 * e**2 / 2, a * c * e * o)),
        ),
        expected="holds",
        obligations=for_all("a", "c", "b", "first", "second", clause=("hinges", "worst")),
    ),
    Claim(
        id="symshuffle.vecmean-worst-pair-sphere",
        kind="statement",
        title="worst pair of the linear density on the sphere",
        text=(
            Clause("affine", r"$G$ is affine in $\langle u,w\rangle$, $w=x$ or $x-e^\varepsilon x'$."),
            Clause(
                "worst",
                "It is a dilation by $|w|$ of a symmetric variable, worst at unit vectors, opposite ones for "
                r"replacement, $|w|=1+e^\varepsilon$.",
            ),
        ),
        source="our own",
        assumptions=("Jensen's inequality",),
        scope="every length, angle and alpha; half lengths in balls at two c, both adjacencies",
        grade="proved",
        printed=_longest,
        check=_check_sphere,
        controls=(
            Control("orthogonal vectors", lambda alpha: (1 + 0 * alpha, 1 + alpha**2)),
            Control("1 % less", lambda alpha: (1 + 0 * alpha, (1 + alpha) ** 2 * sp.Rational(99, 100))),
        ),
        expected="holds",
        obligations=for_all("alpha", clause=("affine", "worst")),
    ),
    Claim(
        id="symshuffle.vecmean-worst-pair-caps",
        kind="statement",
        title="worst pair of cap sampling",
        text=(
            Clause(
                "sums",
                "The four joint values of two caps of one size sum pairwise to the same, those of disagreement "
                "being extreme.",
            ),
            Clause("order", "$G$ rises in convex order as the caps share less, and opposite caps share least."),
        ),
        source="our own",
        assumptions=("$h\\ge l$, density inside and outside of the cap; otherwise exchange them",),
        scope="every h, l, alpha and overlap; two mechanisms in balls",
        grade="proved",
        printed=_extremes,
        check=_check_caps,
        controls=(
            Control("agreement is extreme", lambda h, low, alpha: (h - alpha * h, low - alpha * low)),
            Control("1 % off", lambda h, low, alpha: (h - alpha * low * Fraction(101, 100), low - alpha * h)),
        ),
        expected="holds",
        obligations=for_all("high", "low", "alpha", clause=("sums", "order")),
    ),
    Claim(
        id="symshuffle.vecmean-worst-pair-largest",
        kind="statement",
        title="worst input against the largest blanket in dimension 1",
        text=(
            Clause(
                "above",
                r"In dimension 1, for $k\ge0$, $\int(R_x-\alpha R_0-k\inf R)_+$ rises with x, because what the "
                "blanket takes away is even.",
            ),
            Clause("below", r"For $k<0$ it rises with x once $x\ge|k|$, because the set of gain is then a half line."),
        ),
        source="our own",
        assumptions=("inputs of length at most 1 in units of $\\sigma_0$, and likewise in others; order $(x,\\bot)$",),
        scope="both cases for all x, y, k; for every x and k: symshuffle.vecmean-worst-pair-largest-null",
        grade="certified",
        printed=_fold,
        check=_check_end,
        controls=(
            Control("1 % off", lambda k, y, x: tuple(v * sp.Rational(101, 100) for v in _fold(k, y, x))),
            Control("slope with the other sign of k", lambda k, y, x: (_fold(k, y, x)[0], _fold(-k, y, x)[1])),
        ),
        expected="holds",
        obligations=(
            *for_all("slope", "y", "x", clause=("above", "below")),
            *for_all("k at least 0", clause="above"),
            *for_all("k below 0", clause="below"),
        ),
    ),
)
