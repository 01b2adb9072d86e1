r"""A statement of our own: the worst input against the null symbol, for the largest blanket of a Gaussian.

It is rounded at 0; noise is in units of sigma0. The argument is in
:mod:`symshuffle.vectors.privacy.gaussian_blanket`; here every step of it is derived.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)
from symshuffle.mechanisms.symbolic import nonnegative
from symshuffle.vectors.privacy.gaussian_blanket import rounding_radius

_LESS: Final = sp.Rational(99, 100)
_MORE: Final = sp.Rational(101, 200)


def _rounding(a: Any, growth: Any, tau: Any, v: Any, u: Any) -> tuple[Any, Any, Any]:
    """The two numbers of which tau is the larger, growth being exp(v^2/2) - 1; and L at u up to v tau."""
    return a - 1, (a - 1) / 2 + a * growth / 8, u**2 / (2 * tau) + v**2 * tau / 2


def _changed(change: Any) -> Any:
    """The statement with its three terms changed."""
    return lambda *given: change(*_rounding(*given))


def _same(left: Any, right: Any, *, at: str) -> Comparison:
    """Whether two expressions are one after expansion, which is enough for these and takes no time."""
    return decide(sp.expand(left - right) == 0, at=at, claimed=str(right), computed=str(left), symbolic=True)


def _check(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Ends of the set of gain, midpoint of an interval, both cases of tau, the rounded blanket; symbolic.

    The library's radius at three levels, in balls.
    """
    a, growth, tau, v, u = sp.symbols("a g tau v u", positive=True)
    x, y, t, m, h = sp.symbols("x y t m h", positive=True)  # theta is t
    far, near, exponent = statement(a, growth, tau, v, u)
    yield from _hinge(x, y, m, h)
    yield from _even_blanket(x, y, m)
    yield from _interval(x, t, tau, m, h)
    # theta from 1/2 on: the exponential is at most 1. Before it: it is below its chord.
    late = far - t * (a - 1)
    yield _same(late, (a - 1) * (1 - t), at="theta >= 1/2: room of tau")
    yield decide(
        nonnegative(sp.cancel(late.subs({a: 1 + h, t: 1 / (1 + m)})), {}),
        at="every theta < 1",
        claimed="tau is at least the left side",
        symbolic=True,
    )
    early = near - t * (a * (1 + (1 - 2 * t) * growth) - 1)
    square = sp.Symbol("s", nonnegative=True)  # (1 - 4 theta)^2
    room = (a - 1) * (sp.Rational(1, 2) - t) + a * growth * (1 - 4 * t) ** 2 / 8
    yield _same(early, room, at="theta < 1/2: room of tau")
    yield decide(
        nonnegative(sp.expand(h * m + (1 + h) * growth * square / 8), {}),
        at="every theta = 1/2 - m",
        claimed="tau is at least the left side",
        symbolic=True,
    )
    # The rounded exponent meets v|u| with its slope at v tau, is above it before, and bends as it may.
    yield _same(exponent - v * u, (u - v * tau) ** 2 / (2 * tau), at="L above v|u|")
    yield _same(sp.diff(exponent, u), u / tau, at="slope of L up to v tau")
    yield _same(sp.diff(exponent, u).subs(u, v * tau), v, at="slope of L at v tau")
    yield from _across(tau, v, u, m)
    for level, reach, gamma in (("1.004", "10/46", "0"), ("3", "1", "0"), ("1.5", "1/2", "1/2")):
        ratio, length, share = Fraction(level), Fraction(reach), Fraction(gamma)
        tight = (ratio - share) / (1 - share)
        grown = sp.exp(sp.Rational(length.numerator, length.denominator) ** 2 / 2) - 1
        claimed = statement(sp.Rational(str(tight)), grown, sp.Integer(1), sp.Integer(1), sp.Integer(1))[:2]
        least = Fraction(str(sp.N(sp.Max(*(sp.N(one, 30) for one in claimed)), 25))) * length
        found = rounding_radius(ratio, reach=length, gamma=share)
        yield compare(found, least, ">=", at=f"level {level}, v = {reach}, gamma = {gamma}: the library's radius")
        yield compare(found, least * Fraction(100001, 100000), "<=", at=f"level {level}: and little more")


def _hinge(x: Any, y: Any, m: Any, h: Any) -> Iterator[Comparison]:
    """Its slope in x by its ends; what stands for alpha once the part of all messages is taken off, in both orders."""
    density = sp.exp(-((y - x) ** 2) / 2)
    own = sp.exp(x * y - x**2 / 2) * sp.exp(-(y**2) / 2)
    yield identity(sp.simplify(own - density), 0, at="every x, y: E_x phi is phi(y - x)")
    yield identity(sp.diff(density, x), -sp.diff(density, y), at="every x, y: slope in x is minus that in y")
    part, alpha, k, least = sp.symbols("gamma alpha k b", positive=True)
    beta = (alpha - part - k * part) / (1 - part)
    hinge = part + (1 - part) * y - alpha + k * (part + (1 - part) * least)
    yield identity(sp.expand(hinge), sp.expand(sp.cancel((1 - part) * (y - beta + k * least))), at="weight -k of b")
    for name, level in (("(x, null)", 1 + h), ("(null, x)", 1 / (1 + h))):
        room = sp.cancel(((1 + h - part) / (1 - part) - beta).subs(alpha, level).subs(part, m / (1 + m)))
        yield decide(nonnegative(room, {}), at=f"order {name}", claimed="beta is at most a", symbolic=True)


def _even_blanket(x: Any, y: Any, m: Any) -> Iterator[Comparison]:
    """A right end -(y + m), or -y, left of 0: the next left end is nearer to x."""
    right, left = (sp.exp(sign * x * y - x**2 / 2) for sign in (1, -1))
    excess = sp.expand((right - left) * sp.exp(x**2 / 2) * sp.exp(x * y)).subs(sp.exp(2 * x * y), 1 + m)
    yield decide(nonnegative(sp.simplify(excess), {}), at="k >= 0, y > 0", claimed="E_x(y) > E_x(-y)", symbolic=True)
    for at, gap in (
        ("a left end at -y", (y + m + x) ** 2 - (y + x) ** 2),
        ("the half line from y on", (y + m + x) ** 2 - (y - x) ** 2),
    ):
        yield decide(nonnegative(sp.expand(gap), {}), at=at, claimed="phi is not smaller there", symbolic=True)


def _interval(x: Any, theta: Any, tau: Any, m: Any, h: Any) -> Iterator[Comparison]:
    """Ends p < r with midpoint theta x: what the bend of L gives, what Hadamard gives, and what they say of theta."""
    p, r, place = sp.symbols("p r c", real=True)
    beta, own = sp.symbols("beta E", positive=True)
    density = sp.exp(x * place - x**2 / 2)
    yield identity(sp.cancel(sp.diff(density, place) / density), x, at="logarithmic slope of E_x")

    def along(function: Any) -> Any:
        """The slope in the place of a function of E_x."""
        return sp.cancel(x * own * sp.diff(function, own))

    slope = along(-sp.log(beta - own))
    yield identity(slope, x * own / (beta - own), at="slope of psi")
    yield decide(
        nonnegative(sp.cancel(along(along(slope)).subs(own, beta / (1 + m))), {}),
        at="E_x below beta",
        claimed="the slope of psi is convex",
        symbolic=True,
    )
    yield identity(
        ((r**2 - p**2) / (2 * tau)).subs(r, 2 * theta * x - p).expand(),
        ((r - p) * theta * x / tau).subs(r, 2 * theta * x - p).expand(),
        at="L rises by this at most from |p| to r",
    )
    both = theta * x / tau - x * own / (beta - own)
    factor = x * own / (tau * (beta - own))
    yield identity(sp.cancel(both / factor), theta * (beta / own - 1) - tau, at="the inequality at the midpoint")
    exponent = x * place - x**2 / 2
    yield identity(exponent.subs(place, theta * x), -(x**2) * (sp.Rational(1, 2) - theta), at="ln E_x there")
    nearer = ((r - x) ** 2 - (p - x) ** 2).subs({r: (1 + m) * x + h, p: (1 + m) * x - h})
    yield decide(nonnegative(sp.expand(nearer), {}), at="theta = 1 + m", claimed="p is as near to x", symbolic=True)


def _across(tau: Any, v: Any, u: Any, m: Any) -> Iterator[Comparison]:
    """On a length w = v tau + m across, L = v sqrt(u^2 + w^2): its slope, squared, below (u/tau)^2; concave."""
    w = v * tau + m
    exponent = v * sp.sqrt(u**2 + w**2)
    slope = sp.diff(exponent, u)
    yield decide(
        nonnegative(sp.cancel((u / tau) ** 2 - slope**2), {}), at="w >= v tau", claimed="no steeper", symbolic=True
    )
    bend = sp.cancel(sp.simplify(-sp.diff(exponent, u, 3) * (u**2 + w**2) ** sp.Rational(5, 2)))
    yield decide(nonnegative(sp.expand(bend), {}), at="w >= v tau", claimed="the slope is concave", symbolic=True)


CLAIMS: Final = (
    Claim(
        id="symshuffle.vecmean-worst-pair-largest-null",
        kind="statement",
        title="worst input against the null symbol, largest blanket of a Gaussian rounded at 0",
        text=(
            Clause(
                "hinges",
                r"For a blanket $\gamma+(1-\gamma)e^{-L-v^2/2}$ with even L that rises with |u|, $L\ge v|u|$, "
                r"and a concave slope of at most $u/\tau$, where $\tau$ is the larger of $a-1$ and "
                r"$(a-1)/2+a(e^{v^2/2}-1)/8$, $a=(e^\varepsilon-\gamma)/(1-\gamma)$, every hinge of G rises with "
                "$|x|$ up to v, in both orders.",
            ),
            Clause(
                "worst",
                "The longest input is worst, in every dimension, for every n, of the mixed and the unmixed Gaussian.",
            ),
        ),
        source="our own; vecmean, Appendix C takes |x| = 1",
        assumptions=(
            "a smaller blanket has a larger bound (symshuffle.vecmean-largest-blanket-bound)",
            "slope in an input of a hinge: the sum of phi over left ends of the set of gain less that over right ends",
            "Hadamard's inequality; a convex function is below its chord",
        ),
        scope="every level, length, gamma, weight of the blanket and length across; the library's radius in balls",
        grade="proved",
        printed=_rounding,
        check=_check,
        controls=(
            Control("1 % less", _changed(lambda far, near, bend: (far * _LESS, near * _LESS, bend))),
            Control("a smaller second number", _changed(lambda far, near, bend: (far, near - far / 100, bend))),
            Control(
                "1 % more bend",
                lambda a, g, tau, v, u: (*_rounding(a, g, tau, v, u)[:2], u**2 * _MORE / tau + v**2 * tau / 2),
            ),
            Control("no lower at 0", lambda a, g, tau, v, u: (*_rounding(a, g, tau, v, u)[:2], u**2 / (2 * tau))),
        ),
        expected="holds",
        obligations=for_all("a", "growth", "tau", "v", "u", clause=("hinges", "worst")),
    ),
)
