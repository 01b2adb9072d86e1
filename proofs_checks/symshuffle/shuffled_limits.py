"""The best channel after shuffling, for many users: the certified bound, true pairs, and what a null output does."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.symshuffle._shuffled_limits import blanket_moment, least_blanket_moment, third_input_moment
from symshuffle.design.comparison.proposals import blanket_variance
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
)
from symshuffle.mechanisms.registry import mechanism
from symshuffle.mechanisms.symbolic import LAM, nonnegative
from symshuffle.utility.anchored.law import template_budget, template_signal
from symshuffle.utility.frontiers.frontier import trace_frontier
from symshuffle.utility.frontiers.orbit import subset_orbit

_K, _X, _Y, _M, _T = sp.symbols("k x y m t", positive=True)
_W, _Z = sp.symbols("w z", nonnegative=True)

MIXTURES: Final = (
    (3, Fraction(4), Fraction(23, 5), Fraction(10), Fraction(3, 10)),
    (3, Fraction(6), Fraction(25, 4), Fraction(20), Fraction(3, 40)),
    (4, Fraction(3), Fraction(69, 20), Fraction(6), Fraction(3, 8)),
    (10, Fraction(2), Fraction(17, 8), Fraction(3), Fraction(7, 20)),
)
"""Inputs, ratio of k-ary response; of a mixture that beats it: ratios of k-ary response and (k-1)-subsets, share."""


def _templates(rng: np.random.Generator, k: int, number: int) -> Iterator[tuple[Fraction, ...]]:
    """Random templates without zeros: of all kinds, near a corner, near uniform."""
    for trial in range(number):
        raw = [int(v) for v in rng.integers(1, 40, size=k)]
        if trial % 3 == 1:
            raw[0] *= 2000
        if trial % 3 == 2:
            raw = [1000 + v for v in raw]
        yield tuple(Fraction(v * k, sum(raw)) for v in raw)


def _reciprocals(u: tuple[Fraction, ...]) -> Fraction:
    return sum((1 / v for v in u), start=Fraction(0))


def _least(k: Any, x: Any) -> Any:
    """Least second moment of the certified bound at trace k (k - 1) x^2."""
    return 2 * k * x**2 / (1 - x)


def _least_squared(k: Any, x: Any) -> Any:
    return 2 * k * x**2 / (1 - x**2)


def _check_blanket(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For all k and x, symbolic: the largest trace at a given minimum, convexity in the trace, k-ary response attains.

    With y = u - m >= 0 of sum k(1-m): S = sum y^2 + 2 m sum y + k m^2 - k, and sum y^2 <= (sum y)^2. So m <= 1 - x at
    S = k(k-1)x^2, and the moment 2S/((k-1)m) is at least a convex function of S; Jensen's inequality does the rest.
    Then random templates, in rationals: the moment by pairs, and never below the statement.
    """
    total = _K * (1 - _M)
    largest = total**2 + 2 * _M * total + _K * _M**2 - _K
    yield identity(largest, _K * (_K - 1) * (1 - _M) ** 2, at="every k, m: largest S at the minimum m")
    least = blanket_moment(_K, _K * (_K - 1) * _X**2, 1 - _X)
    yield identity(least, statement(_K, _X), at="every k, x: the moment at m = 1 - x")
    slope = sp.diff(statement(_K, _X), _X) / (2 * _X)  # in t = x^2
    bend = sp.simplify(sp.diff(slope, _X))
    yield identity(bend, _K * (3 - _X) / (1 - _X) ** 3, at="every k, x: the slope in the trace grows")
    response = blanket_variance(mechanism("krr"))
    (size,) = response.free_symbols - {LAM}
    attained = statement(size, (LAM - 1) / (LAM + size - 1))
    yield identity(response, attained, at="every k, lam: k-ary response, from its decomposition")
    for k in (2, 3, 5, 8):
        for u in _templates(rng, k, 9):
            pairs = [(u[i] - u[j]) ** 2 / min(u) for i, j in itertools.permutations(range(k), 2)]
            mean, signal = sum(pairs, start=Fraction(0)) / len(pairs), template_signal(u)
            yield compare(blanket_moment(k, signal, min(u)), mean, at=f"k={k}, a template: the moment by pairs")
            # 2S/((k-1)m) >= statement(k, x) at k(k-1)x^2 = S: for x rational, from below
            x = Fraction(int(10**6 * float(signal / (k * (k - 1))) ** 0.5), 10**6)
            if k * (k - 1) * x**2 <= signal:
                yield compare(statement(k, x), mean, "<=", at=f"k={k}, a template: no smaller")


def _threshold(k: Any) -> Any:
    """Limit budget of true pairs from which on k-ary response is best."""
    return Fraction(8, k - 2) if isinstance(k, int) else 8 / (k - 2)


def _below_line() -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Slope and intercept of the line that touches the curve of k-ary response, and the bound on small traces.

    With y = (lam - 1)/k: S = k(k-1)y^2/(1+y)^2 and B = 2ky^2/(1+y). For every template B >= bound(S).
    """
    slope = (_K - 1) / ((1 + _Y) * (2 + _Y))
    intercept = _K * (_K - 1) * _Y**3 / ((1 + _Y) ** 2 * (2 + _Y))
    bound = 2 * _T / _K * ((_K - 3) / (_K - 2) + (_T + _K) * (_K - 1) / (_K**2 * (_K - 2)))
    return slope, intercept, bound


def _check_pairs(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For all k >= 3, symbolic: the line that touches k-ary response is above all templates exactly from the threshold.

    S >= k/(k-1): B falls with R in no case, and R is least at a singleton (interpolation of 1/u at its two levels).
    S <= k/(k-1): 1/(k-u_i-u_j) is above a tangent and sum u^3 >= Q^2/k, so B is at least a quadratic function of S.
    Then four mixtures in rationals that beat k-ary response below the threshold, and random templates under the line.
    """
    yield from _check_curve()
    yield from _check_two_ranges()
    slope, intercept, bound = _below_line()
    edge = _K / (_K - 1)
    excess = sp.factor(sp.together(intercept - (edge - slope * bound.subs(_T, edge))))
    roots = [root for root in sp.roots(sp.numer(excess), _Y) if sp.simplify(root - 2 / (_K - 2)) == 0]
    yield decide(len(roots) == 1, at="every k: where the line meets the point", claimed="at one y", symbolic=True)
    turn = roots[0]
    yield identity(2 * _K * turn**2 / (1 + turn), statement(_K), at="every k: the budget at which it does")
    for sign, y in ((1, turn + _Z), (-1, turn / (1 + _Z))):
        shown = sign * excess.subs(_Y, y).subs(_K, 3 + _W)
        truth = nonnegative(sp.factor(sp.together(shown)), {})
        side = "above" if sign > 0 else "below"
        yield decide(truth, at=f"every k >= 3, {side} it", claimed=f"the line is {side} the point", symbolic=True)
    gain = 1 - slope.subs(_Y, turn) * sp.diff(bound, _T).subs(_T, edge)
    truth = nonnegative(sp.factor(sp.together(gain.subs(_K, 3 + _W))), {})
    yield decide(truth, at="every k >= 3: small traces", claimed="worst at S = k/(k-1)", symbolic=True)
    yield from _check_templates(statement, rng)


def _check_curve() -> Iterator[Comparison]:
    """The curve of k-ary response, its tangent, and that the slope falls."""
    slope, intercept, _ = _below_line()
    low = 1 / (1 + _Y)  # the levels are low and (1 + k y) low
    signal = (_K - 1) * (low - 1) ** 2 + ((1 + _K * _Y) * low - 1) ** 2
    reciprocals = (_K - 1) / low + 1 / ((1 + _K * _Y) * low)
    budget = third_input_moment(_K, signal, reciprocals)
    yield identity(budget, 2 * _K * _Y**2 / (1 + _Y), at="every k, y: B of k-ary response")
    yield identity(sp.diff(signal, _Y) / sp.diff(budget, _Y), slope, at="every k, y: slope of the tangent")
    yield identity(signal - slope * budget, intercept, at="every k, y: its intercept")
    falls = nonnegative(-sp.diff(slope, _Y).subs(_K, 3 + _W), {})
    yield decide(falls, at="every k, y", claimed="the slope falls along the curve", symbolic=True)
    pair = (_K * _Y) ** 2 / (_K * (1 + _Y)) * (1 + 1 / (1 + _K * _Y))
    slack = nonnegative(sp.factor(sp.together(budget - pair)), {})
    yield decide(slack, at="every k, y", claimed="a constant background in the pair leaks less", symbolic=True)


def _check_two_ranges() -> Iterator[Comparison]:
    """The two inequalities that hold for every template."""
    a, b, u, t = sp.symbols("a b u t", positive=True)
    parabola = 1 / u - (u - b) ** 2 * (a - u) / (a * b**2 * u)
    yield identity(sp.diff(parabola, u, 3), 0, at="every u <= a: 1/u is above a parabola that meets it at a and b")
    spread = (_K - t) ** 2 / (_K - 1) + t**2  # least Q at a coordinate t; grows for t >= 1
    yield identity(sp.diff(spread, t), 2 * _K * (t - 1) / (_K - 1), at="every k: no coordinate exceeds the singleton's")
    at = _K / (_K - 1)
    tangent = 1 / (_K - at) + (t - at) / (_K - at) ** 2
    yield identity(
        1 / (_K - t) - tangent, (t - at) ** 2 / ((_K - t) * (_K - at) ** 2), at="every t < k: above the tangent"
    )
    square = _T + _K  # Q; the averages of (u_i-u_j)^2 and of (u_i-u_j)^2 (u_i+u_j) over pairs, with sum u^3 >= Q^2/k
    plain, weighted = 2 * _T / (_K - 1), 2 * (square**2 / _K - square) / (_K - 1)
    mixed = (_K - 2) * (tangent.subs(t, 0) * plain + weighted / (_K - at) ** 2)
    yield identity(sp.factor(mixed), _below_line()[2], at="every k, S: the bound on B")


def _check_templates(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    slope, intercept, bound = _below_line()
    for k in (3, 4, 7):
        turn = Fraction(2, k - 2)
        at = {_K: sp.Integer(k), _Y: sp.Rational(2, k - 2)}
        eta, rest = (Fraction(str(part.subs(at))) for part in (slope, intercept))
        edge = (rest + eta * statement(k)) / (k * (k - 1) * turn**2 / (1 + turn) ** 2)
        yield compare(edge, Fraction(1), at=f"k={k}: the line at the threshold passes through k-ary response")
        for u in _templates(rng, k, 9):
            triples = [(u[i] - u[j]) ** 2 / u[m] for i, j, m in itertools.permutations(range(k), 3)]
            budget, signal = sum(triples, start=Fraction(0)) / len(triples), template_signal(u)
            yield compare(third_input_moment(k, signal, _reciprocals(u)), budget, at=f"k={k}: by triples")
            yield compare(signal, eta * budget + rest, "<=", at=f"k={k}, a template: under the line")
            below = Fraction(
                str(bound.subs({_K: sp.Integer(k), _T: sp.Rational(signal.numerator, signal.denominator)}))
            )
            yield compare(below, budget, "<=", at=f"k={k}, a template: the bound on B")
    for k, lam, near, other, share in MIXTURES:
        alone = subset_orbit(k, 1, lam).template()
        parts = ((subset_orbit(k, 1, near).template(), 1 - share), (subset_orbit(k, k - 1, other).template(), share))
        budget = third_input_moment(k, template_signal(alone), _reciprocals(alone))
        yield compare(budget, statement(k), "<", at=f"k={k}, lam={lam}: below the threshold")
        third = sum(w * third_input_moment(k, template_signal(u), _reciprocals(u)) for u, w in parts)
        pair = sum(w * Fraction(template_budget(u)) for u, w in parts)
        trace = sum(w * template_signal(u) for u, w in parts)
        yield compare(max(third, pair), budget, "<=", at=f"k={k}, lam={lam}: a mixture leaks no more")
        yield compare(trace, template_signal(alone), ">", at=f"k={k}, lam={lam}: and has a larger trace")


def _loss_by_null(k: Any, x: Any, r: Any) -> Any:
    """Excess moment of the certified bound if a share r^2 is sent and the rest is null, at equal trace."""
    return 2 * k * r**2 * x**3 * (1 - r) / ((1 - x) * (1 - r * x))


def _check_null(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Every k, x, r, symbolic: thinned k-ary response against plain k-ary response of the same trace.

    Then the pairwise chi-square measure at two budgets, exact: the best law has a null output there, and a larger trace
    than k-ary response.
    """
    r = sp.Symbol("r", positive=True)
    excess = r**2 * least_blanket_moment(_K, _X) - least_blanket_moment(_K, r * _X)
    yield identity(excess, statement(_K, _X, r), at="every k, x, r: moments at the trace k(k-1)(rx)^2")
    s, v = sp.symbols("s v", nonnegative=True)
    sign = nonnegative(sp.factor(statement(_K, 1 / (1 + s), 1 / (1 + v))), {})
    yield decide(sign, at="every k, x, r in (0, 1]", claimed="a null output costs", symbolic=True)
    for k, lam in ((10, Fraction(3, 2)), (6, Fraction(2))):
        alone = subset_orbit(k, 1, lam)
        best = trace_frontier(k, Fraction(alone.budget))
        null = any(len(orbit.levels) == 1 for orbit in best.orbits)
        yield decide(null, at=f"k={k}: chi-square {alone.budget}", claimed="the best law has a null output")
        yield compare(best.trace.lower, alone.signal, ">", at=f"k={k}: chi-square {alone.budget}, the trace")


CLAIMS: Final = (
    Claim(
        id="symshuffle.shuffled-gaussian-blanket",
        kind="statement",
        title="for many users k-ary response is best under the certified bound, for every k and budget",
        text=(
            Clause(
                "moment",
                r"For an exchangeable law of templates of trace $k(k-1)x^2$, $E[(u_0-u_1)^2/\min "
                r"u]\ge2kx^2/(1-x)$, with equality for k-ary randomized response.",
            ),
            Clause(
                "limit",
                r"This second moment is what remains of the certified bound for $n\to\infty$ and $\varepsilon$ "
                "of order $n^{-1/2}$.",
                "quoted",
            ),
        ),
        source="proofs_checks.symshuffle._shuffled_limits",
        assumptions=("exchangeable channels", "templates without zeros"),
        scope="every k and x; the moment of random templates by enumeration of pairs",
        grade="proved",
        printed=_least,
        check=_check_blanket,
        controls=(
            Control("1 - x^2 in the denominator", _least_squared),
            Control("k - 1 for k", lambda k, x: _least(k - 1, x)),
        ),
        expected="holds",
        obligations=for_all("k", "x", clause="moment"),
    ),
    Claim(
        id="symshuffle.shuffled-gaussian-pairs",
        kind="statement",
        title="for true pairs and many users k-ary response is best from the budget 8/(k-2) on",
        text=(
            Clause(
                "limit",
                r"For $k\ge3$ the largest over constant backgrounds of $E[(u_0-u_1)^2/u_w]$ is what remains of "
                "the true worst pair.",
                "quoted",
            ),
            Clause(
                "threshold",
                "Among exchangeable laws with at most the budget $B$, k-ary randomized response has the largest "
                r"trace exactly if $B\ge8/(k-2)$, its ratio then being at least $(3k-2)/(k-2)$.",
            ),
            Clause("below", "At smaller budgets a mixture with subsets of size $k-1$ has a larger one."),
        ),
        source="proofs_checks.symshuffle._shuffled_limits",
        assumptions=("exchangeable channels", "k >= 3"),
        scope="every k; four mixtures below the threshold and random templates, in rationals",
        grade="proved",
        printed=_threshold,
        check=_check_pairs,
        controls=(
            Control("half of it", lambda k: _threshold(k) / 2),
            Control("k - 1 for k - 2", lambda k: _threshold(k + 1)),
        ),
        expected="holds",
        obligations=for_all("k", clause=("threshold", "below")),
    ),
    Claim(
        id="symshuffle.shuffled-null",
        kind="statement",
        title="a null output helps under the pairwise chi-square and costs under the certified bound",
        text=(
            Clause(
                "certified",
                "For many users, k-ary response sent with probability $r^2$, and a null output otherwise, has a "
                "certified second moment that exceeds that of plain k-ary response of equal trace by "
                "$2kr^2x^3(1-r)/((1-x)(1-rx))$.",
            ),
            Clause(
                "chi-square",
                "Under the pairwise chi-square divergence, where the other users hold the partner's input, the "
                "best law has a null output at small budgets.",
            ),
            Clause(
                "reason",
                "The two do not contradict each other: a null output scales trace and moment by one factor, "
                "which pays only where the least moment is not convex in the trace. The certified one is "
                "convex, the chi-square of k-ary response is not.",
                "quoted",
            ),
        ),
        source="proofs_checks.symshuffle._shuffled_limits; symshuffle.utility.frontiers.frontier",
        assumptions=("exchangeable channels",),
        scope="every k, x, r; two budgets of the chi-square frontier, certified",
        grade="proved",
        printed=_loss_by_null,
        check=_check_null,
        controls=(
            Control("x^2 for x^3", lambda k, x, r: _loss_by_null(k, x, r) / x),
            Control("a gain", lambda k, x, r: -_loss_by_null(k, x, r)),
        ),
        expected="holds",
        obligations=for_all("k", "x", "r", clause=("certified", "chi-square")),
    ),
)
