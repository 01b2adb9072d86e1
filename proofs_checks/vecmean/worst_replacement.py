r"""A statement of our own: which pair of inputs is worst under replacement, against the largest blanket of a Gaussian.

Noise is in units of sigma0 and :math:`b=\inf_xR_x` over inputs of length up to v. Hinges are enough, because every
convex function is a mixture of them, and the mass that is no blanket message stays at G = 0 for all inputs.
"""

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
    serving,
)
from symshuffle.mechanisms.symbolic import nonnegative


def _likelihood(x: Any, y: Any) -> Any:
    """Density of an input x at the output y, relative to that of the null symbol."""
    return sp.exp(x * y - x**2 / 2)


def _slopes(
    p: Any, r: Any, alpha: Any, y: Any, k: Any, least: Any, steep: Any, ratio: Any, across: Any
) -> tuple[Any, ...]:
    r"""Of :math:`g=(R_p-\alpha R_{-r}-kb)/(1-\gamma)` at y > 0 and at -y, where b is ``least`` and as ``steep``.

    How far g(y) exceeds g(-y); the slope at y; the slope at -y; the slope less p times g at -y. ``least`` and ``steep``
    speak of the noise's part of b, ``ratio`` is gamma / (1 - gamma). Then the mixed slope of f(g) in the two heights
    of an output over f'', both heights at y; the logarithmic slope at y of the noise's part of b at a length across;
    and the ratio and the weight of b in the other order.
    """
    toward, away = _likelihood(p, y), _likelihood(-r, y)
    back, aside = _likelihood(p, -y), _likelihood(-r, -y)
    return (
        toward - back + alpha * (aside - away),
        p * toward + alpha * r * away + k * steep,
        p * back + alpha * r * aside - k * steep,
        alpha * (p + r) * aside + k * (p * least - steep) + p * ratio * (alpha + k - 1),
        -alpha * p * r * toward * _likelihood(r, y),
        -p * y / sp.sqrt(y**2 + across**2),
        1 / alpha,
        k / alpha,
    )


def _check(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Derive every slope of the statement by SymPy, and show the signs that order the ends of the set g > 0.

    Takes symbols for all arguments. Signs are shown by coefficients after the ranges have been written into the
    symbols: b at -y is E_v(-y) / (1 + u), its slope at most v times it.
    """
    symbols = sp.symbols("p r alpha y k m s t w", positive=True)
    p, r, alpha, y, k, least, steep, ratio, across = symbols
    u, z, j = sp.symbols("u z j", positive=True)
    excess, right, left, scaled, mixed, logarithmic, inverse, weight = statement(*symbols)
    yield from serving("any angle", _one_line(mixed, p, r, alpha, y))
    yield from serving("any length across", _the_blanket(logarithmic, p, across, y))
    # g on the line, the noise's part of b an even function that falls on either side of 0.
    part = sp.Function("M")
    coordinate = sp.Symbol("c", real=True)
    g = (
        ratio * (1 - alpha - k)
        + _likelihood(p, coordinate)
        - alpha * _likelihood(-r, coordinate)
        - k * part(coordinate)
    )
    slope = sp.diff(g, coordinate)
    derivative = sp.diff(part(coordinate), coordinate)
    yield identity(
        sp.expand((g.subs(coordinate, y) - g.subs(coordinate, -y)).subs(part(-y), part(y))),
        sp.expand(excess),
        at="g(y) - g(-y)",
    )
    yield identity(slope.subs(derivative, -steep).subs(coordinate, y), right, at="slope of g at y > 0")
    at_left = slope.subs(derivative, steep).subs(coordinate, -y)
    yield identity(at_left, left, at="slope of g at -y < 0")
    value = g.subs(coordinate, -y).subs(part(-y), least)
    yield identity(sp.expand(at_left - p * value), sp.expand(scaled), at="slope less p g at -y < 0")
    # Rising with p: right of 0 the set g > 0 has one end, and it is met no later than every end left of 0.
    wide = (excess * sp.exp(p**2 / 2) * sp.exp(p * y)).expand()
    other = (excess * sp.exp(r**2 / 2) * sp.exp(r * y)).expand()
    toward = wide.coeff(alpha, 0).subs(sp.exp(2 * p * y), 1 + u)
    away = other.coeff(alpha, 1).subs(sp.exp(2 * r * y), 1 + z)
    found = [
        decide(nonnegative(sp.simplify(one), {}), at=f"g(y) - g(-y), {name}", claimed="at least 0", symbolic=True)
        for name, one in (("part of x", toward), ("part of x'", away))
    ]
    found.append(
        decide(nonnegative(right, {}), at="slope at y > 0", claimed="one end there, a left one", symbolic=True)
    )
    found += [
        decide(nonnegative(sp.expand(far), {}), at=f"a right end at -(c + u), the next {name}", claimed=claimed)
        for name, far, claimed in (
            ("left end at c >= 0", (y + u + p) ** 2 - (y - p) ** 2, "phi(c - p) is not smaller"),
            ("left end at -c", (y + u + p) ** 2 - (y + p) ** 2, "phi(-c - p) is not smaller"),
        )
    ]
    yield from serving("rises with p", found)
    # Falling with q = -r at p = v: the set is a half line. b at -y is E_v / (1 + u), and as steep as v b / (1 + z).
    lowest = _likelihood(p, -y) / (1 + u)
    least_steep = p * lowest / (1 + z)
    small = left.subs(steep, least_steep).subs(k, 1 / (1 + j))
    large = scaled.subs(steep, p * least / (1 + z)).subs(k, 1 + j)
    yield from serving(
        "falls with q",
        [
            decide(nonnegative(small, {}), at="k <= 1", claimed="g rises left of 0", symbolic=True),
            decide(
                nonnegative(large, {}),
                at="k >= 1",
                claimed="g exp(-v y) rises left of 0: where g > 0 it stays so",
                symbolic=True,
            ),
        ],
    )
    # k < 0 is k > 0 for the other order, mirrored: the integral of g does not depend on the inputs.
    first, second, b = sp.symbols("R_p R_q b", positive=True)
    turned = -alpha * (second - inverse * first - weight * b)
    yield from serving(
        "k below 0", [identity(sp.expand(turned), first - alpha * second + k * b, at="(-h)_+ = h_+ - h")]
    )
    yield from serving(
        "k below 0",
        [identity(_likelihood(p, y).subs(p, -p), _likelihood(p, -y), at="mirror: x at y is -x at -y")],
    )


def _one_line(claimed: Any, p: Any, r: Any, alpha: Any, y: Any) -> Iterator[Comparison]:
    """On a sphere of outputs b is constant: f of a difference of rising functions of the two heights is submodular."""
    a, c = sp.symbols("a c", real=True)
    inner = _likelihood(p, a) - alpha * _likelihood(r, c)
    found = sp.diff(inner, a) * sp.diff(inner, c)  # f' has the factor of the next line
    yield identity(sp.diff(inner, a, c), 0, at="no term of f'")
    yield identity(found.subs({a: y, c: y}), claimed, at="every f: mixed slope in the two heights, over f''")
    yield decide(nonnegative(-claimed, {}), at="every convex f", claimed="opposite heights are worst", symbolic=True)


def _the_blanket(claimed: Any, v: Any, w: Any, y: Any) -> Iterator[Comparison]:
    """The noise's part of b at the length w across: even, below that on the line, and no steeper than v times it."""
    exponent = -v * sp.sqrt(y**2 + w**2) - v**2 / 2
    yield identity(sp.diff(exponent, y) ** 2, claimed**2, at="logarithmic slope, squared")
    yield identity(v**2 - claimed**2, v**2 * w**2 / (y**2 + w**2), at="it is at most v")
    root = sp.Symbol("root", positive=True)  # sqrt(y^2 + w^2) = y + root
    yield identity((y + root) ** 2 - y**2, root * (2 * y + root), at="the length is at least y")


CLAIMS: Final = (
    Claim(
        id="symshuffle.vecmean-worst-pair-largest-replace",
        kind="statement",
        title="worst pair under replacement against the largest blanket of a Gaussian",
        text=(
            Clause(
                "opposite",
                r"For $b=\inf_{|x|\le v}R_x$, every convex f and $\alpha>0$, $E f(G)$ with $G=(R_x-\alpha "
                "R_{x'})/b$ is largest at $x=-x'$, $|x|=v$.",
            ),
            Clause(
                "lengths",
                r"There $\int(R_p-\alpha R_q-kb)_+$, $p\ge0\ge q$, rises with p and, at p = v, falls with q.",
            ),
            Clause(
                "whom", "This is so for the mixed and the unmixed Gaussian, in every dimension, both orders, every n."
            ),
        ),
        source="our own; vecmean, Appendix C takes |x| = 1",
        assumptions=(
            "a submodular function of two variables of given laws is largest where one falls as the other rises",
            "slope in an input of a hinge: the sum of phi over left ends of the set g > 0 less that over right ends",
        ),
        scope="every p, q, alpha, k, gamma, length across, angle",
        grade="proved",
        printed=_slopes,
        check=_check,
        controls=(
            Control("1 % off", lambda *given: tuple(value * sp.Rational(101, 100) for value in _slopes(*given))),
            Control("two inputs on one side", lambda p, r, *rest: _slopes(p, -r, *rest)),
            Control(
                "a blanket that rises with the length",
                lambda p, r, a, y, k, m, s, *rest: _slopes(p, r, a, y, k, m, -s, *rest),
            ),
        ),
        expected="holds",
        obligations=(
            *for_all("p", "r", "alpha", "y", "k", "least", "steep", "ratio", clause=("opposite", "lengths")),
            *for_all("across", "any angle", clause=("opposite", "whom")),
            *for_all("any length across", clause="whom"),
            *for_all("rises with p", "falls with q", "k below 0", clause="lengths"),
        ),
    ),
)
