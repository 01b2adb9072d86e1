"""Appendix A.2: problems of many users are problems of one."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np

from proofs_checks.vecmean import _cases as cases
from proofs_checks.vecmean._errors import product_weights
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
    serving,
)
from symshuffle.vectors.error.minimal_risk import minimal_unbiased_risk, shuffled_problem, weighted_minimum


def _one_of_n(n: Any) -> Any:
    """Least error of n users over that of one."""
    return Fraction(1) / n


def _every_analyzer(statement: Statement) -> Iterator[Comparison]:
    """No unbiased analyzer beats the average, where all inputs are drawn from one prior of mean m.

    Given a user's message y, the analyzer has mean g(y) over everything else. One user stands for all, one coordinate
    for all.
    """
    import sympy as sp

    n, m, x, f, p, q, u, w, v = sp.symbols("n m x f p q u w v", positive=True)
    share = statement(n)
    # The analyzer is unbiased at every dataset, so g has mean (x + (n-1) m)/n at the user's input x, and n g - (n-1) m
    # is an unbiased estimator of one user, of error f, say: g = (f + x + (n-1) m)/n.
    mean_g = (x + (n - 1) * m) / n
    yield identity(n * mean_g - (n - 1) * m, x, at="every analyzer and n: an estimator of one user, unbiased")
    # Its error times f: the mean of the analyzer given the user's input and message is g, and f has mean 0 at x.
    product = (f + x + (n - 1) * m) / n * f
    found = [identity(product, share * f**2 + mean_g * f, at="every n: mean product with f is E f^2/n; E f = 0 at x")]
    # Errors f of two users, of mean 0 at their inputs, two outputs for all: no cross term.
    one, two = ((p, u), (1 - p, -p * u / (1 - p))), ((q, w), (1 - q, -q * w / (1 - q)))
    cross = sum(a * b * y * z for a, y in one for b, z in two)
    found += [identity(cross, 0, at="any two users: uncorrelated")]
    # Less the sum of all f/n, the error keeps a square: n products v/n and n squares v, v = E f^2.
    taken = 2 * n * share * (share * v) - n * share**2 * v
    found += [identity(taken, v / n, at="every n: what the square of the error exceeds")]
    yield from serving("analyzers", found)


def _check_one_user(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Every analyzer and n by its projection on one user (`_every_analyzer`); symbolic.

    Five random channels, n = 2, 3: exact least mean error of n users under product weights, against the stated share of
    one user's. RR(3/4): the cone program of three users.
    """
    yield from _every_analyzer(statement)
    for trial in range(5):
        inputs, outputs = (2, 3) if trial % 2 else (3, 4)
        channel = cases.channel(rng, inputs, outputs)
        targets = [[Fraction(-1)], [Fraction(1)]] if inputs == 2 else [[Fraction(-1)], [Fraction(1, 5)], [Fraction(1)]]
        single = minimal_unbiased_risk(channel, targets)
        where = f"random channel {trial}, {inputs} inputs"
        gap = single.bracket.width / single.bracket.upper
        yield compare(gap, Fraction(1, 10**4), "<=", at=f"{where}: one user, certified to 1e-4")
        for n in (2, 3):
            several, means = shuffled_problem(channel, targets, n)
            least = weighted_minimum(several, means, product_weights(single.weights, n))[0]
            # Inputs drawn from the weights: no analyzer of the histogram beats the average, to the last digit.
            yield compare(least, single.bracket.lower * statement(n), at=f"{where}, n = {n}: below every analyzer")
    tight = minimal_unbiased_risk(cases.response(Fraction(3, 4)).channel, [[1], [-1]])
    several, means = shuffled_problem(tight.channel, [[Fraction(1)], [Fraction(-1)]], 3)
    yield compare(tight.bracket.exact or Fraction(0), Fraction(3), at="RR(3/4): one user, exactly")
    found = minimal_unbiased_risk(several, means).bracket
    yield compare(found.lower, tight.bracket.upper * statement(3), "<=", at="RR(3/4), n = 3: cone program of n users")
    yield compare(found.upper * (1 + Fraction(1, 10**4)), 3 * statement(3), ">=", at="RR(3/4), n = 3: its upper end")


def _projection(n: Any, mean: Any) -> tuple[Any, Any]:
    """Slope and offset of the additive analyzer made of an analyzer's projection g: z = n (g - E A) + mean of x."""
    return n, mean


def _projected(statement: Statement) -> Iterator[Comparison]:
    """Under every prior the projection of an analyzer is unbiased, and its average has no larger mean error.

    So the least mean error of averages is at most the worst error of the analyzer for every prior; by the minimax
    theorem one average is at most that for all. One user stands for all, one coordinate for all.
    """
    import sympy as sp

    n, m, x, g, p, q, u, w, v = sp.symbols("n m x g p q u w v", positive=True)
    slope, offset = statement(n, m)
    mean_g = (x + (n - 1) * m) / n  # of the analyzer, given one user's input x, where all others follow the prior
    found = [identity(slope * (mean_g - m) + offset, x, at="every n, prior and input: unbiased")]
    error = slope * (g - m) + offset - x
    found += [identity(error / n, g - mean_g, at="every n: a user's share in the average is what the projection has")]
    one, two = ((p, u), (1 - p, -p * u / (1 - p))), ((q, w), (1 - q, -q * w / (1 - q)))
    cross = sum(a * b * y * z for a, y in one for b, z in two)
    found += [identity(cross, 0, at="any two users: uncorrelated")]
    # The analyzer's error a has mean product v with g - mean_g, v its mean square; the average's is e, the sum of all
    # slope (g - mean_g)/n. Where E a e = E e^2, E a^2 = E e^2 + E (a - e)^2.
    both = [n * (slope / n) ** power * v for power in (1, 2)]
    found += [identity(*both, at="every n: mean product of both errors, and mean square of the average's")]
    yield from serving("analyzers", found)


def _check_additive(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Every analyzer, n and mean of a prior by its projection (`_projected`); symbolic.

    Six random channels over Q, n = 2, with an unbiased analyzer that is no average: its projection under the least
    favourable weights is unbiased, with no larger worst error.
    """
    yield from _projected(statement)
    for trial in range(6):
        n, channel = 2, cases.channel(rng, 2, 3)
        rows: Any = channel.rows
        values = (Fraction(-1), Fraction(1))
        single = minimal_unbiased_risk(channel, [[value] for value in values])
        weights = single.weights
        mixture = [sum((w * row[y] for w, row in zip(weights, rows, strict=True)), Fraction(0)) for y in range(3)]
        mean = sum((w * v for w, v in zip(weights, values, strict=True)), Fraction(0))
        one = [row[0] for row in single.estimator]
        # An unbiased analyzer that is not an average: the average plus a function without mean under every dataset.
        blind = _blind(rows)
        analyzer = [[(one[y] + one[z]) / n + blind[y] * blind[z] for z in range(3)] for y in range(3)]
        projected = [sum((mixture[z] * analyzer[y][z] for z in range(3)), Fraction(0)) for y in range(3)]
        slope, offset = statement(n, mean)
        additive = [slope * (g - mean) + offset for g in projected]
        for x, value in enumerate(values):
            found = sum((rows[x][y] * additive[y] for y in range(3)), Fraction(0))
            yield compare(found, value, at=f"trial {trial}: the additive analyzer is unbiased at {value}")
        before, after = (max(_errors(rows, values, f)) for f in (analyzer, _average(additive, n)))
        yield compare(after, before, "<=", at=f"trial {trial}: its worst error is no larger")


def _blind(rows: Any) -> list[Fraction]:
    """A function of an output with mean 0 under both inputs."""
    (a, b, c), (d, e, f) = rows
    return [b * f - c * e, c * d - a * f, a * e - b * d]


def _average(values: list[Fraction], n: int) -> list[list[Fraction]]:
    return [[(y + z) / n for z in values] for y in values]


def _errors(rows: Any, values: tuple[Fraction, ...], analyzer: list[list[Fraction]]) -> Iterator[Fraction]:
    """Mean squared error of an analyzer at every dataset of two users."""
    for x, first in zip(values, rows, strict=True):
        for x2, second in zip(values, rows, strict=True):
            mean = (x + x2) / 2
            yield sum(
                (first[y] * second[z] * (analyzer[y][z] - mean) ** 2 for y in range(3) for z in range(3)), Fraction(0)
            )


def _without_mean(n: Any, mean: Any) -> tuple[Any, Any]:
    """The projection, as if the prior had mean 0."""
    return n, Fraction(0)


CLAIMS: Final = (
    Claim(
        id="vecmean.lem-A.2",
        kind="statement",
        title="n-user problems reduce to one user",
        text=r"The least $n\,Err_n$ over unbiased analyzers of the histogram is the least $Err_1$.",
        source="vecmean, Lemma A.2",
        assumptions=(
            "finite channels and finitely many inputs",
            "quoted: the least worst error of one user is the largest least mean error over priors (minimax theorem); "
            "averages attain it (equation (3))",
        ),
        scope=(
            "every analyzer and n, by its projection on one user (Bessel's inequality); 5 random channels, n = 2, 3: "
            "exact lower bounds agree; the cone program of n users for RR(3/4)"
        ),
        grade="proved",
        printed=_one_of_n,
        check=_check_one_user,
        controls=(
            Control("1 % less", lambda n: _one_of_n(n) * Fraction(99, 100)),
            Control("1/n^2", lambda n: _one_of_n(n) / n),
        ),
        expected="holds",
        obligations=for_all("n", "analyzers"),
    ),
    Claim(
        id="vecmean.lem-A.4",
        kind="statement",
        title="an unbiased analyzer can be replaced by an average",
        text=(
            Clause("unbiased", "A kernel on single messages makes the average unbiased."),
            Clause("error", "Its worst error is no larger."),
        ),
        source="vecmean, Lemma A.4",
        assumptions=(
            "finite channels",
            "the minimax theorem: worst errors of unbiased estimators are convex, mean errors linear in the prior",
        ),
        scope=(
            "every analyzer, n and prior, two users for many; 6 random channels with analyzers that are no averages, "
            "n = 2, where the projection under least favourable weights is the kernel"
        ),
        grade="proved",
        printed=_projection,
        check=_check_additive,
        controls=(
            Control("without the mean", _without_mean),
            Control("slope n - 1", lambda n, m: (_projection(n, m)[0] - 1, m)),
        ),
        expected="holds",
        obligations=for_all("n", "mean", "analyzers", clause=("unbiased", "error")),
    ),
)
