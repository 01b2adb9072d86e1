"""Statements of our own: which parameters of caps, clipped and linear densities and Gaussians say less."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import sympy as sp

from symshuffle.ledger.claims.comparisons import Comparison, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)
from symshuffle.mechanisms.symbolic import nonnegative


def _at_least_0(value: Any, name: str) -> Comparison:
    inside = sp.factor(sp.simplify(value))
    return decide(nonnegative(inside, {}), at=name, claimed="at least 0", symbolic=True)


def _larger_caps(cap: Any, larger: Any) -> tuple[Any, Any, Any, Any]:
    """How a message of caps of one share becomes one of a larger share.

    The chance that a message outside both caps is moved into that of x (and as often into that of -x), for shares up to
    a half; that one outside the cap of x is moved into it, against the null symbol; the chance that one outside the
    cap of x stays there, and the weight of the processed law of -x in that of the larger cap, for shares above a half.
    """
    return (larger - cap) / (1 - 2 * cap), (larger - cap) / (1 - cap), (1 - larger) / (1 - cap), cap / larger


def _check_caps(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Masses of the cells after processing are those of the larger cap; chances are chances; the mean height falls."""
    cap, larger = sp.symbols("cap larger", positive=True)
    into, inwards, stays, weight = statement(cap, larger)
    # up to a half: masses in the cap of x, that of -x, neither, under x, -x and the null symbol
    for name, (here, there, neither), wanted in (
        ("x", (1, 0, 0), (1, 0, 0)),
        ("-x", (0, 1, 0), (0, 1, 0)),
        ("the null symbol", (cap, cap, 1 - 2 * cap), (larger, larger, 1 - 2 * larger)),
    ):
        found = here + into * neither, there + into * neither, (1 - 2 * into) * neither
        for k, (one, other) in enumerate(zip(found, wanted, strict=True)):
            yield identity(sp.simplify(one), sp.sympify(other), at=f"share at most 1/2, cell {k} under {name}")
    # against the null symbol, any share
    yield identity(sp.simplify(cap + inwards * (1 - cap)), larger, at="zero-out: the cap under the null symbol")
    yield identity(sp.Integer(1) + inwards * 0, sp.Integer(1), at="zero-out: the cap under x")
    # above a half: the mass outside the cap of x, under the null symbol, x and -x
    yield identity(sp.simplify(stays * (1 - cap)), 1 - larger, at="outside the cap of x, under the null symbol")
    processed = stays * (1 - cap) / cap
    yield identity(
        sp.simplify(weight * processed + (1 - weight) * 0),
        (1 - larger) / larger,
        at="outside the cap of x, under -x: a mixture of what the processing makes of -x and of x",
    )
    u, v = sp.symbols("u v", positive=True)
    halves = {cap: 1 / (2 + u + v), larger: 1 / (2 + u)}
    whole = {cap: (u / (1 + u)), larger: (u + v) / (1 + u + v)}
    for name, value, ranges in (
        ("moved into a cap", into, halves),
        ("left outside of both", 1 - 2 * into, halves),
        ("moved into the cap", inwards, whole),
        ("left outside", 1 - inwards, whole),
        ("stays outside", stays, whole),
        ("enters", 1 - stays, whole),
        ("weight of -x", weight, whole),
        ("weight of x", 1 - weight, whole),
    ):
        yield _at_least_0(value.subs(ranges), f"chance: {name}")
    ring, above = sp.symbols(
        "ring above", positive=True
    )  # mean height of what is added, and how far the cap's is above
    height = ring + above
    mean = (cap * height + (larger - cap) * ring) / larger
    yield _at_least_0((height - mean).subs(whole), "mean height of the cap: falls with its share")


def _top(middle: Any, top: Any, low: Any, high: Any) -> Any:
    r"""E[1 - k(T + c); T > c] with k = P(T > -c)/E(T + c)_+, by masses and means of T + c on [-c, c] and above c."""
    return middle * top * (low - high) / (middle * low + top * high)


def _check_ramps(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """The slope of a difference of ramps in the clip: its upper tails are never positive.

    N = (t + c)_+ - alpha (c - t)_+ over e = E(T + c)_+ has slope (N' - k N)/e in c, of mean 0, k = P(T > -c)/e.
    It falls on each of three pieces of t and jumps up between them: the integral over T > s, 0 at both ends, is largest
    at a jump.
    """
    t, alpha, c, k = sp.symbols("t alpha c k", positive=True)
    pieces = -alpha * (c - t), t + c - alpha * (c - t), t + c
    slopes = [sp.diff(piece, c) - k * piece for piece in pieces]
    for name, slope in zip(("below -c", "between", "above c"), slopes, strict=True):
        yield _at_least_0(-sp.diff(slope, t), f"the slope falls {name}")
    for name, at, before, after in (("-c", -c, *slopes[:2]), ("c", c, *slopes[1:])):
        yield _at_least_0(sp.expand((after - before).subs(t, at)), f"and jumps up at {name}")
    middle, top, low, more = sp.symbols("middle top low more", positive=True)
    high = low + more  # above c the mean is at least 2c, on [-c, c] at most 2c
    found = statement(middle, top, low, high)
    rate = (middle + top) / (middle * low + top * high)
    yield identity(sp.simplify(top - rate * top * high), sp.simplify(found), at="tail above c, every symmetric law")
    yield _at_least_0(-found, "the tail above c is not positive")
    below = -sp.expand(slopes[0].subs(t, -t))  # T below -c, mirrored: with the mean 0 the tail above -c is minus that
    yield identity(sp.simplify(below - alpha * slopes[2]), sp.Integer(0), at="the tail above -c is alpha times it")
    p0, p1, p2, clip = sp.symbols("p0 p1 p2 clip")  # moments of T above the clip
    rise = -p1 * (p1 - clip * p0) + (p2 - clip * p1) * p0
    yield identity(sp.expand(rise), p0 * p2 - p1**2, at="rise of the mean height with the clip: a variance")


def _one_parameter(slope: Any, less: Any, sigma: Any, noise: Any) -> tuple[Any, Any]:
    """The chance that a message is replaced by a uniform one, and the variance that is added to a Gaussian one."""
    return 1 - less / slope, noise**2 - sigma**2


def _check_one_parameter(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Densities and transforms after the step are those of the other parameter, and so is the uniform blanket."""
    slope, less, sigma, noise, q, height = sp.symbols("slope less sigma noise q height", positive=True)
    replaced, added = statement(slope, less, sigma, noise)
    density = (1 - replaced) * (1 + slope * height) + replaced
    yield identity(sp.expand(density), 1 + less * height, at="density at every height")
    yield identity(sp.expand((1 - replaced) * (1 - slope) + replaced), 1 - less, at="the uniform blanket")
    yield identity(sp.expand(sigma**2 * q + added * q), noise**2 * q, at="exponent of the transform")
    u, v, w = sp.symbols("u v w", positive=True)
    ranges = {less: u / (1 + u), slope: (u + v) / (1 + u + v), noise: sp.sqrt(sigma**2 + w)}
    for name, value in (("chance", replaced), ("its complement", 1 - replaced), ("variance", added)):
        yield _at_least_0(value.subs(ranges), name)


_ASSUMPTIONS: Final = (
    "the bound is the divergence of one message among Bin(n - 1, gamma) messages of the blanket, shuffled",
    "data processing, and that the bound is convex in either law of the pair and 0 where they agree",
    "what gamma does, of any family that mixes in its null symbol: symshuffle.vecmean-mixed-gaussian-order",
)

CLAIMS: Final = (
    Claim(
        id="symshuffle.vecmean-cap-order",
        kind="statement",
        title="PrivUnit: larger caps and more uniform messages are more private and less accurate",
        text=(
            Clause(
                "mechanism",
                r"PrivUnit sends a uniform direction with probability $\gamma$, and otherwise a uniform "
                "direction of a cap around its input that covers the share $a$ of the sphere.",
                "definition",
            ),
            Clause(
                "replace-one",
                r"Replace-one, $a\le a'\le\frac12$: the masses of the caps of x and -x under x, -x and the "
                "uniform law become those of $a'$ when a message outside both caps moves into each of them with "
                r"probability $\frac{a'-a}{1-2a}$.",
            ),
            Clause("zero-out", "Against the null symbol the cap of x is enough, for every $a$."),
            Clause(
                "large caps",
                r"For $a\ge\frac12$ the mass outside the cap of x becomes $1-a'$ when a message outside enters "
                r"the cap with probability $1-\frac{1-a'}{1-a}$; the law of -x is then a mixture.",
            ),
            Clause(
                "error",
                "Therefore, if these masses miss a privacy target at some parameters, they miss it at all "
                r"smaller $\gamma$ and $a$. The error $1/((1-\gamma)^2\alpha^2)$ rises in both.",
            ),
        ),
        source="our own; vecmean, Definition A.5 and Appendix C",
        assumptions=_ASSUMPTIONS,
        scope="every share of the cap, every gamma, dimension, n, level and order",
        grade="proved",
        printed=_larger_caps,
        check=_check_caps,
        controls=(
            Control("into either cap as often as into one", lambda a, b: ((b - a) / (1 - a), *_larger_caps(a, b)[1:])),
            Control(
                "moved as if the cap were empty", lambda a, b: (_larger_caps(a, b)[0], b - a, *_larger_caps(a, b)[2:])
            ),
            Control("outside thinned by the caps", lambda a, b: (*_larger_caps(a, b)[:2], a / b, a / b)),
            Control("weight of what is outside", lambda a, b: (*_larger_caps(a, b)[:3], (1 - b) / (1 - a))),
            Control("the smaller cap from the larger", lambda a, b: _larger_caps(b, a)),
        ),
        expected="holds",
        obligations=for_all("cap", "larger", clause=("replace-one", "zero-out", "large caps", "error")),
    ),
    Claim(
        id="symshuffle.vecmean-ramp-order",
        kind="statement",
        title="clipping a linear density lower only loses",
        text=(
            Clause(
                "ramp",
                r"For a symmetric T and $\alpha\ge0$ the law of $\frac{(T-t_0)_+-\alpha(-T-t_0)_+}{E(T-t_0)_+}$ "
                "rises in convex order with $t_0$.",
            ),
            Clause(
                "kinks",
                r"For $t_0=-c\le0$ the upper tails of its slope in c are at most those at the two kinks, a "
                "nonnegative multiple of $-P(|T|<c)P(T>c)$ times $E[T|T>c]-E[T||T|<c]$.",
            ),
            Clause("disjoint", r"For $t_0\ge0$ the two ramps are disjoint, each rises ($\alpha=0$)."),
            Clause(
                "bound",
                r"A clipped density is $\gamma+(1-\gamma)$ times a ramp: at fixed $\gamma$ the bound rises with "
                r"$t_0$, and falls in $\gamma$; the error rises in $\gamma$, falls in $t_0$.",
            ),
        ),
        source="our own; vecmean, Appendix C",
        assumptions=_ASSUMPTIONS,
        scope="every symmetric law of the height, every clip, gamma, n, level, adjacency and order",
        grade="proved",
        printed=_top,
        check=_check_ramps,
        controls=(
            Control("the middle against all", lambda v, w, low, high: v * w * (low - high) / (v + w)),
            Control("the means the other way", lambda v, w, low, high: _top(v, w, high, low)),
            Control("1 % more", lambda *a: sp.Rational(101, 100) * _top(*a)),
        ),
        expected="holds",
        obligations=for_all("middle", "top", "low", "high", clause=("ramp", "kinks", "disjoint", "bound")),
    ),
    Claim(
        id="symshuffle.vecmean-one-parameter-order",
        kind="statement",
        title="smaller slopes and more noise only lose",
        text=(
            Clause(
                "slope",
                r"A message of the linear density of slope $c'\le c$ is one of slope c, replaced by a uniform "
                "one with probability $1-c'/c$, and the uniform blanket of mass $1-c$ becomes that of mass "
                "$1-c'$.",
            ),
            Clause(
                "noise",
                r"A message of $N(x,\sigma'^2I)$ is one of $N(x,\sigma^2I)$ plus noise of variance "
                r"$\sigma'^2-\sigma^2$, in every dimension.",
            ),
            Clause(
                "blanket",
                "The largest blanket before, processed, is below every processed density, hence below the "
                "largest blanket after; likewise for the steps of the blanket-mixed Gaussian.",
            ),
            Clause(
                "bounds",
                r"So both bounds rise with $c$ and fall as $\sigma$ rises, and the errors $d^2/c^2$ and "
                r"$d\sigma^2$ go the other way.",
            ),
        ),
        source="our own; vecmean, Section 4.3 and Appendix C",
        assumptions=(*_ASSUMPTIONS, "a larger blanket gives a smaller bound: symshuffle.degraded"),
        scope="every slope, noise, dimension, n, level, adjacency and order",
        grade="proved",
        printed=_one_parameter,
        check=_check_one_parameter,
        controls=(
            Control("replaced by the difference of slopes", lambda c, e, s, t: (c - e, t**2 - s**2)),
            Control("1 % less noise added", lambda c, e, s, t: (1 - e / c, sp.Rational(99, 100) * (t**2 - s**2))),
            Control("deviations subtracted", lambda c, e, s, t: (1 - e / c, (t - s) ** 2)),
        ),
        expected="holds",
        obligations=for_all("slope", "less", "sigma", "noise", clause=("slope", "noise", "blanket", "bounds")),
    ),
)
