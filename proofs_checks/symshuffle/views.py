"""Rényi divergences of shuffled messages: the integral over the profile, the bound's two sides, a second road."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any, Final

import flint
import numpy as np
import sympy as sp

from proofs_checks._divergences import kl_divergence, renyi_divergence
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.accountants.renyi.front import renyi
from symshuffle.base.numbers import Ball, working_precision
from symshuffle.base.results import Bracket
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import backgrounds, histogram_law, hockey_stick, shuffled_law
from symshuffle.decompositions.model import ReductionPair, simplified_decomposition
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)

_CHANNELS: Final[dict[str, Channel]] = {
    "2-RR, lam = 3": Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]]),
    "two unequal inputs": Channel.from_rows([["1/2", "1/2"], ["1/10", "9/10"]]),
    "three unequal inputs": Channel.from_rows([["3/8", "1/4", "3/8"], ["1/4", "1/2", "1/4"], ["3/7", "2/7", "2/7"]]),
}
_CASES: Final = tuple(itertools.product(_CHANNELS, (1, 2, 3), (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(8))))
_BITS: Final = 200


def _masses(one: Any, other: Any) -> tuple[list[Fraction], list[Fraction]]:
    """Two laws on their common outcomes, in one order."""
    outcomes = sorted(one.keys() | other.keys())
    return [one.get(y, Fraction(0)) for y in outcomes], [other.get(y, Fraction(0)) for y in outcomes]


def _by_outcomes(masses: tuple[list[Fraction], list[Fraction]], alpha: Fraction) -> Ball:
    """The divergence from its definition."""
    found = kl_divergence(*masses, bits=_BITS) if alpha == 1 else renyi_divergence(*masses, alpha, bits=_BITS)
    assert isinstance(found, Ball)
    return found


# -- symshuffle.renyi-integral


def _weight(alpha: Any, x: Any) -> Any:
    """How much the divergence of order x counts."""
    return alpha * (alpha - 1) * x ** (alpha - 2)


def _integral(weight: Statement, masses: tuple[list[Fraction], list[Fraction]], alpha: int) -> Fraction:
    """The integral of the weight times what a profile has above that of equal laws, exactly, between its kinks."""
    x = sp.Symbol("x", positive=True)
    kinks = sorted({Fraction(0), Fraction(1), *(p / q for p, q in zip(*masses, strict=True))})
    total = Fraction(0)
    for a, b in itertools.pairwise(kinks):
        heights = [hockey_stick(*masses, y) - max(1 - y, Fraction(0)) for y in (a, b)]
        slope = (heights[1] - heights[0]) / (b - a)
        line = sp.Rational(str(heights[0])) + sp.Rational(str(slope)) * (x - sp.Rational(str(a)))
        part = sp.expand(weight(sp.Integer(alpha), x) * line)
        total += _rational(sp.integrate(part, (x, sp.Rational(str(a)), sp.Rational(str(b)))))
    return total


def _check_integral(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """The stated weight is the second derivative of the power, any order and ratio: symbolic.

    Taylor's remainder at six (alpha, ratio). Then three channels, n = 1 and 2, alpha = 2 and 5: 1 and the integral of
    the weight over the exact profile, kink by kink, against the moment of the ratio; in rationals.
    """
    r, alpha = sp.symbols("r alpha", positive=True)
    # Taylor at 1 with the integral as remainder: the weight is the second derivative of r^alpha, at any ratio.
    second = sp.simplify(sp.diff(r**alpha, r, 2) / r**alpha)
    yield identity(sp.simplify(statement(alpha, r) / r**alpha), second, at="the second derivative, any alpha and ratio")
    x = sp.Symbol("x", positive=True)
    for order, ratio in itertools.product((2, 3, 7), (sp.Rational(1, 3), sp.Rational(5, 2))):
        left_over = ratio**order - 1 - order * (ratio - 1)
        found = sp.integrate(sp.expand(statement(sp.Integer(order), x) * (ratio - x)), (x, 1, ratio))
        yield compare(_rational(found), _rational(left_over), at=f"alpha = {order}, ratio {ratio}")
    for (name, channel), n, order in itertools.product(_CHANNELS.items(), (1, 2), (2, 5)):
        one, other = _masses(*(shuffled_law(channel, (i, *[0] * (n - 1))) for i in (0, 1)))
        moment = sum((p**order / q ** (order - 1) for p, q in zip(one, other, strict=True)), start=Fraction(0))
        at = f"{name}, n = {n}, alpha = {order}, inputs 0 and 1, others hold 0"
        yield compare(1 + _integral(statement, (one, other), order), moment, at=at)


def _rational(value: Any) -> Fraction:
    found = sp.Rational(value)
    return Fraction(int(found.p), int(found.q))


# -- symshuffle.renyi-two-sides


def _of_the_bound(name: str, n: int, alpha: Fraction) -> Ball:
    """The largest divergence of the pairs whose profiles are the bound, over all pairs of inputs in both orders."""
    channel, found = _CHANNELS[name], []
    for inputs in itertools.permutations(range(channel.num_inputs), 2):
        pair = simplified_decomposition(channel, inputs).reduction_pair()
        laws = [histogram_law([first, *[pair.a2] * (n - 1)]) for first in (pair.a0, pair.a1)]
        found.append(_by_outcomes(_masses(*laws), alpha))
    return max(found, key=lambda ball: ball.midpoint)


def _real(name: str, n: int, alpha: Fraction) -> Ball:
    """The largest divergence of two neighbouring datasets, by enumeration."""
    channel, found = _CHANNELS[name], []
    for others in backgrounds(channel.num_inputs, n - 1):
        laws = [shuffled_law(channel, (x, *others)) for x in range(channel.num_inputs)]
        found += [_by_outcomes(_masses(*pair), alpha) for pair in itertools.permutations(laws, 2)]
    return max(found, key=lambda ball: ball.midpoint)


@cache
def _bracket(name: str, n: int, alpha: Fraction) -> Bracket:
    return renyi(reduction(_CHANNELS[name]), n=n, order=alpha, rtol=5e-3).bracket


def _two_sides(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Three channels, n = 1 to 3, four orders: the library's bracket around the stated divergence, a ball.

    The upper end is also above all neighbouring datasets, by enumeration; the lower end is compared where one pair of
    inputs leads at all orders.
    """
    for name, n, alpha in _CASES:
        bracket, claimed = _bracket(name, n, alpha), statement(name, n, alpha)
        at = f"{name}, n = {n}, alpha = {alpha}"
        # Where one pair of inputs does not lead at all orders, the profile of all is that of none: above them all.
        yield compare(bracket.upper, claimed, ">=", at=f"upper end, {at}")
        if name != "three unequal inputs":
            yield compare(bracket.lower, claimed, "<=", at=f"lower end, {at}")
        yield compare(bracket.upper, _real(name, n, alpha), ">=", at=f"above all datasets, {at}")


# -- symshuffle.renyi-moments


def _moment(ratios: tuple[tuple[Fraction, Fraction], ...], n: int, alpha: int) -> Fraction:
    """The mean of the power alpha of a mean of n independent ratios, from their first moments.

    Exponential generating functions multiply: alpha! times a coefficient of the n-th power.
    """
    base = [
        sum((weight * ratio**i for ratio, weight in ratios), start=Fraction(0)) / math.factorial(i)
        for i in range(alpha + 1)
    ]
    power, left = [Fraction(1), *[Fraction(0)] * alpha], n
    while left:
        if left % 2:
            power = _product(power, base)
        base, left = _product(base, base), left // 2
    return power[alpha] * math.factorial(alpha) / Fraction(n) ** alpha


def _product(one: list[Fraction], other: list[Fraction]) -> list[Fraction]:
    return [sum((one[i] * other[k - i] for i in range(k + 1)), start=Fraction(0)) for k in range(len(one))]


def _by_moments(name: str, n: int, alpha: int) -> Ball:
    """One user holds input 0 or 1, all others hold 1: the likelihood ratio is a mean of n independent ones."""
    first, second = ([Fraction(p) for p in row] for row in _CHANNELS[name].rows[:2])  # type: ignore[arg-type]  # as read
    ratios = tuple((p / q, q) for p, q in zip(first, second, strict=True))
    with working_precision(_BITS):
        found = _moment(ratios, n, alpha)
        return Ball.from_arb(flint.arb(flint.fmpq(found.numerator, found.denominator)).log() / (alpha - 1), _BITS)


@cache
def _of_datasets(name: str, n: int, alpha: int) -> Bracket:
    """The library's bracket for the pair of datasets in which all others hold input 1."""
    first, second = _CHANNELS[name].rows[:2]
    pair = ReductionPair(first, second, second)
    return renyi(reduction(pair), n=n, order=alpha, direction="forward", rtol=2e-3).bracket


def _check_moments(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Four settings of up to 100,000 users: the library's bracket for a pair holds the stated logarithm of moments."""
    for name, n, alpha in (
        ("2-RR, lam = 3", 5, 2),
        ("2-RR, lam = 3", 1_000, 3),
        ("two unequal inputs", 200, 6),
        ("three unequal inputs", 100_000, 12),
    ):
        bracket, claimed = _of_datasets(name, n, alpha), statement(name, n, alpha)
        at = f"{name}, n = {n}, alpha = {alpha}"
        yield compare(bracket.lower, claimed, "<=", at=f"lower end, {at}")
        yield compare(bracket.upper, claimed, ">=", at=f"upper end, {at}")


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="symshuffle.renyi-integral",
        kind="statement",
        title="a Rényi divergence is an integral of the profile",
        text=(
            Clause(
                "integral",
                r"For laws with $P\ll Q$, $e^{(\alpha-1)D_\alpha(P\Vert "
                r"Q)}=1+\int_0^\infty\alpha(\alpha-1)x^{\alpha-2}\bigl[D_x(P\Vert Q)-(1-x)_+\bigr]dx$.",
            ),
            Clause(
                "weight",
                r"It follows from Taylor's formula of $r^\alpha$ at 1, whose remainder has the second derivative "
                "as weight, and the mean under $Q$.",
            ),
            Clause("larger", "The weight is positive, so larger profiles have larger divergences."),
        ),
        source="symshuffle.accountants.renyi.orders",
        assumptions=("P is dominated by Q; otherwise both sides are infinite",),
        scope="the weight symbolic in alpha and ratio; laws of three channels at n = 1, 2, alpha = 2, 5 in rationals",
        grade="proved",
        printed=_weight,
        check=_check_integral,
        controls=(
            Control("one percent less", lambda alpha, x: _weight(alpha, x) * sp.Rational(99, 100)),
            Control("the power alpha - 1", lambda alpha, x: _weight(alpha, x) * x),
            Control("the factor alpha^2", lambda alpha, x: alpha**2 * x ** (alpha - 2)),
        ),
        expected="holds",
        obligations=for_all("alpha", "x", clause=("integral", "weight", "larger")),
    ),
    Claim(
        id="symshuffle.renyi-two-sides",
        kind="statement",
        title="both sides of the bound on a Rényi divergence",
        text=(
            Clause(
                "lower",
                r"The bracket around $D_\alpha$ of shuffled messages holds the divergence of the pair whose "
                "profile is the bound on one round.",
            ),
            Clause("upper", "Its upper end is above the divergence of all neighbouring datasets."),
        ),
        source="symshuffle.accountants.renyi.front",
        assumptions=("rational channels with few outputs",),
        scope="2-RR and two asymmetric channels, n = 1, 2, 3, alpha = 1, 3/2, 2, 8; all datasets by enumeration; where "
        "three pairs of inputs compete, the upper end only",
        grade="exact-cases",
        printed=_of_the_bound,
        check=_two_sides,
        controls=(
            Control("one percent more", lambda *at: _of_the_bound(*at) * Fraction(101, 100)),
            Control("one percent less", lambda *at: _of_the_bound(*at) * Fraction(99, 100)),
            Control("one user more", lambda name, n, alpha: _of_the_bound(name, n + 1, alpha)),
            Control("an order of 2 % more", lambda name, n, alpha: _of_the_bound(name, n, alpha * Fraction(51, 50))),
        ),
        expected="holds",
        obligations=for_all("name", "n", "alpha", clause=("lower", "upper")),
    ),
    Claim(
        id="symshuffle.renyi-moments",
        kind="statement",
        title="a Rényi divergence of integer order, by moments",
        text=(
            Clause(
                "moments",
                "If all others hold the input that the differing user holds in the second dataset, the "
                "likelihood ratio is a mean of $n$ independent copies of $r=W_{x_0}/W_{x_1}$, and "
                r"$e^{(\alpha-1)D_\alpha}=E\bigl[(\tfrac1n\sum r_i)^\alpha\bigr]$ is a polynomial in moments of "
                "$r$.",
            ),
            Clause("bracket", "The bracket that comes from profiles holds it."),
        ),
        source="symshuffle.accountants.renyi.front",
        assumptions=("integer alpha", "rational channels"),
        scope="three channels, n = 5, 1,000, 200 and 100,000, alpha = 2, 3, 6, 12",
        grade="exact-cases",
        printed=_by_moments,
        check=_check_moments,
        controls=(
            Control("one percent more", lambda *at: _by_moments(*at) * Fraction(101, 100)),
            Control("one percent less", lambda *at: _by_moments(*at) * Fraction(99, 100)),
            Control("the next order", lambda name, n, alpha: _by_moments(name, n, alpha + 1)),
            Control("two percent of the users fewer", lambda name, n, alpha: _by_moments(name, n - n // 50 - 1, alpha)),
        ),
        expected="holds",
        obligations=for_all("name", "n", "alpha", clause=("moments", "bracket")),
    ),
)
