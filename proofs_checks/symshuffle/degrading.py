"""That noise which knows no input lowers what comparisons are made of: the argument behind excluded parameters."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.anchored import _cases as cases
from symshuffle.accountants.questions.solve import delta
from symshuffle.channels.channel import Channel, exact_columns
from symshuffle.channels.geometry.linear import dot
from symshuffle.design.comparison.families import family
from symshuffle.design.comparison.monotonicity import DegradationOrder
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity, serving
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
)
from symshuffle.mechanisms.symbolic import LAM
from symshuffle.mechanisms.unary import G, olh
from symshuffle.utility.anchored.law import AnchoredLaw

_G, _RHO, _H, _SIGMA = sp.symbols("g rho h sigma", positive=True)

ORDERS: Final = (Fraction(1), Fraction(6, 5), Fraction(2))


def _noisy(channel: Channel, kernel: Channel) -> Channel:
    """The messages of a channel, each passed through a kernel that does not know the input."""
    before, after = exact_columns(channel), exact_columns(kernel)
    rows = tuple(zip(*before, strict=True))
    return Channel(tuple(tuple(dot(row, column) for column in after) for row in rows))


def _stop_loss(d: Any, c: Any, t: Any) -> Any:
    """The share of an output in E(G - t)_+, where the pair differs by d and the blanket is c; the rest adds (-t)_+."""
    return sp.Max(d - t * c, 0)


def _without_blanket(d: Any, c: Any, t: Any) -> Any:
    """The same with the square of the blanket."""
    return sp.Max(d - t * c**2, 0)


def _check_degraded(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Two outputs with open masses and level: the stated share is subadditive and homogeneous, for all signs.

    Symbolic, in ``_check_shares``. Then six random channels with random kernels in rationals: trace, every pairwise
    chi-square and, for n = 1, 2, 5 at three orders, the bound are no larger after the noise.
    """
    yield from serving("noise", _check_shares(statement))
    for trial in range(6):
        k = 2 + trial % 2
        channel, kernel = cases.channel(rng, k, 3), cases.channel(rng, 3, 3)
        worse = _noisy(channel, kernel)
        laws = [AnchoredLaw.from_channel(one) for one in (worse, channel)]
        at = f"channel {trial}, k={k}"
        yield compare(laws[0].trace(), laws[1].trace(), "<=", at=f"{at}: trace")
        for x, y in itertools.permutations(range(k), 2):
            found = [law.pairwise_divergence(x, y) for law in laws]
            yield compare(found[0], found[1], "<=", at=f"{at}: chi-square of {x}, {y}")
        for n, order in itertools.product((1, 2, 5), ORDERS):
            bounds = [delta(one, n=n, exp_eps=order, arithmetic="exact").bracket.exact for one in (worse, channel)]
            yield compare(bounds[0], bounds[1], "<=", at=f"{at}, n={n}, exp(eps)={order}: bound")


def _check_shares(statement: Statement) -> Iterator[Comparison]:
    """Stop-loss shares are subadditive and homogeneous: merging outputs lowers them, and so does a larger blanket.

    A larger blanket is merging with an output of rest, e = 0. E(G - t)_+ falls at every t, and the means agree: G falls
    in convex order, and so does the sum over users, one user after the other, at fixed values of the rest.
    """
    d, e, c, w, t = sp.symbols("d e c w t", real=True)
    s = sp.Symbol("s", nonnegative=True)
    for first, second in itertools.product((1, -1), repeat=2):  # signs of both shares
        x, y = sp.symbols("x y", positive=True)
        one = sp.solve(sp.Eq(d - t * c, first * x), d)[0]
        other = sp.solve(sp.Eq(e - t * w, second * y), e)[0]
        apart = statement(one, c, t) + statement(other, w, t)
        merged = statement(one + other, c + w, t)
        sides = {(1, 1): x + y, (1, -1): sp.Max(x - y, 0), (-1, 1): sp.Max(y - x, 0), (-1, -1): sp.Integer(0)}
        alone = (x if first > 0 else 0) + (y if second > 0 else 0)
        where = f"every output, shares {'+' if first > 0 else '-'}{'+' if second > 0 else '-'}"
        yield identity(merged, sides[first, second], at=f"{where}: merged")
        yield identity(apart, alone, at=f"{where}: apart, which is no less")
    for sign in (1, -1):
        x = sp.Symbol("x", positive=True)
        share, value = statement(t * c + sign * x, c, t), x if sign > 0 else sp.Integer(0)
        part = statement(sp.expand(s * (t * c + sign * x)), s * c, t)
        yield identity(part, s * value, at="every output: a part of it sent on")
        yield identity(share, value, at="every output: all of it")


def _hashing(g: Any, rho: Any) -> tuple[Any, Any]:
    """Likelihood ratios of a bit of local hashing, where it is 1 and where it is 0."""
    return (1 + rho * g) / (1 + rho), 1 / (1 + rho)


def _check_hashing(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """One bit of local hashing, any g and rho: the library's likelihood ratios against the stated ones, symbolic.

    A one says more at larger g, a zero the same. Then three pairs of thinned mechanisms at one noise level: trace,
    budget and bound at n = 3 rise in the stated order; in rationals.
    """
    high, low = statement(_G, _RHO)
    one, zero = (
        state.probability.subs({LAM: 1 + _RHO * G}).subs(G, _G) for state in olh().classes[0].states
    )  # relative to a string of noise
    own = one / _G
    yield identity(one, high, at="every g, rho: a one, from the mechanism")
    yield identity(zero, low, at="every g, rho: a zero, from the mechanism")
    shown = _RHO / (1 + _RHO)
    yield identity(shown + (1 - shown) / _G, own, at="every g, rho: the own bit is set, or noise")
    yield identity(high - (1 - shown), shown * _G, at="every g, rho: a one, from how often it is set")
    # Two numbers around 1 are ratios of a binary experiment, which makes every one with ratios between them.
    slack = sp.Symbol("t", positive=True)
    yield identity(
        statement(_G + slack, _RHO)[0] - high, shown * slack, at="every g: a one says more with more hash values"
    )
    yield identity(statement(_G + slack, _RHO)[1], low, at="every g: a zero says the same")
    # A share sigma/p at p, against null symbols replaced by strings of noise: the own bit is set as often.
    yield identity(shown * _SIGMA, _SIGMA * (1 - low), at="every sigma: how often the own bit is set")
    order = DegradationOrder(family("thinned olh", 3))
    for (g, p), (more, less), level in (
        ((2, Fraction(1)), (5, Fraction(1, 2)), Fraction(1, 5)),
        ((3, Fraction(4, 5)), (3, Fraction(2, 5)), Fraction(1, 4)),
        ((2, Fraction(1, 2)), (7, Fraction(1, 2)), Fraction(2, 5)),
    ):
        found = []
        for point in ((g, p), (more, less)):
            excess = order.excess(point, level)
            assert excess is not None
            at = order.family.at(lam=1 + excess, **dict(order.parameters(point)))
            law = AnchoredLaw.from_channel(at.channel())
            bound = delta(at, n=3, exp_eps=Fraction(11, 10), arithmetic="exact").bracket.exact
            found.append((law.trace(), law.pairwise_budget(), bound))
        for name, below, above in zip(("trace", "budget", "bound"), *found, strict=True):
            yield decide(below <= above, at=f"sigma={level}, {(g, p)} under {(more, less)}", claimed=f"less {name}")


CLAIMS: Final = (
    Claim(
        id="symshuffle.degraded",
        kind="statement",
        title="noise that knows no input lowers trace, chi-square and the certified bound",
        text=(
            Clause(
                "smaller",
                r"If $W'=WN$ with a kernel $N$, then trace, every $\chi_{ab}$ and, at every $n$ and "
                r"$\varepsilon$, the bound of the optimal decomposition are at most those of $W$.",
            ),
            Clause(
                "shares",
                r"With $d=W_a-e^\varepsilon W_b$ and the blanket $c$, $E(G-t)_+=\sum_y(d-tc)_++(1-\sum c)(-t)_+$ "
                "is a sum of subadditive shares.",
            ),
            Clause(
                "blanket", "Outputs are merged, and the noisy blanket is dominated by the blanket of the noisy channel."
            ),
        ),
        source="symshuffle.design.comparison.monotonicity (excluded parameters of compare)",
        assumptions=("finitely many outputs",),
        scope="every output and share by cases of signs; six random channels and kernels, with exact bounds at n <= 5",
        grade="proved",
        printed=_stop_loss,
        check=_check_degraded,
        controls=(Control("the blanket squared", _without_blanket),),
        expected="holds",
        obligations=for_all("d", "c", "t", "noise", clause=("smaller", "shares", "blanket")),
    ),
    Claim(
        id="symshuffle.degraded-hashing",
        kind="statement",
        title="local hashing with fewer hash values is made by adding noise to each bit",
        text=(
            Clause(
                "ratios",
                r"One bit of local hashing with $g$ hash values and $\rho=(\lambda-1)/g$ has the likelihood "
                r"ratios $\frac{1+\rho g}{1+\rho}$ (bit one) and $\frac1{1+\rho}$ (bit zero).",
            ),
            Clause(
                "hash values",
                r"At a fixed $\rho$ the report with fewer hash values is made from the one with more by adding "
                "noise to each bit.",
            ),
            Clause(
                "thinned",
                r"With $\tau=\rho/(1+\rho)$, and where a report is sent with probability $p$ and a null symbol "
                r"otherwise, the same holds at a fixed product $p\tau$: the mechanism with the larger $p$ is "
                "made from the other by adding noise to each bit.",
            ),
        ),
        source="symshuffle.design.comparison.monotonicity (excluded parameters of compare)",
        assumptions=("hash functions drawn from all functions",),
        scope="every g and rho; three pairs of thinned mechanisms with exact traces, budgets and bounds",
        grade="proved",
        printed=_hashing,
        check=_check_hashing,
        controls=(
            Control("a one as at g + 1", lambda g, rho: (_hashing(g + 1, rho)[0], _hashing(g, rho)[1])),
            Control("a zero as at 2 rho", lambda g, rho: (_hashing(g, rho)[0], _hashing(g, 2 * rho)[1])),
        ),
        expected="holds",
        obligations=for_all("g", "rho", clause=("ratios", "hash values", "thinned")),
    ),
)
