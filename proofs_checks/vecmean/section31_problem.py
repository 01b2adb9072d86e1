"""Equations (1) to (4): errors of one and of many users; Theorem 3.3, the answer to the design problem."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np

from proofs_checks.vecmean import _cases as cases
from proofs_checks.vecmean.section32 import upper_bound
from symshuffle.base.numbers import Ball, to_arb, working_precision
from symshuffle.channels.channel import Channel
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
from symshuffle.vectors.error.minimal_risk import minimal_unbiased_risk
from symshuffle.vectors.error.optimal import bmg_optimal
from symshuffle.vectors.error.risk import central_error
from symshuffle.vectors.privacy.correspondence import central_profile

BITS: Final = 192


def _central(sigma: Any, d: Any, n: Any) -> tuple[Any, Any]:
    """Squared error and sensitivity of the central Gaussian mechanism."""
    return d * sigma**2 / n, 1 / n if hasattr(n, "free_symbols") else Fraction(1) / n


def _check_central(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open sigma, d, n: error of the noise by integration, shift of the mean by a unit vector; symbolic.

    Two cases over Q against the library's error; in balls, equation (8) at the stated shift is its profile.
    """
    import sympy as sp

    scale, size, users, length = sp.symbols("sigma d n x", positive=True)
    y = sp.Symbol("y", real=True)
    error, sensitivity = statement(scale, size, users)
    spread = scale**2 / users  # of one coordinate of the noise sigma/sqrt(n) Z
    density = sp.exp(-(y**2) / (2 * spread)) / sp.sqrt(2 * sp.pi * spread)
    moment = sp.simplify(sp.integrate(y**2 * density, (y, -sp.oo, sp.oo)))
    yield identity(size * moment, error, at="every sigma, d, n: d coordinates of the noise")
    shift = length / users  # what a vector of length x <= 1 adds to the mean
    yield identity(shift.subs(length, 1), sensitivity, at="every n: the longest vector against none")
    yield decide(sp.diff(shift, length) == 1 / users, at="every n", claimed="longer vectors move the mean more")
    for sigma, d, n in ((Fraction(2), 3, 10), (Fraction(1, 2), 7, 1000)):
        error, sensitivity = statement(sigma, d, n)
        yield compare(central_error(sigma, d, n), error, at=f"sigma = {sigma}, d = {d}, n = {n}")
        # Removing a unit vector from one user moves the mean by 1/n; equation (8) at that shift is the profile.
        yield compare(max(Fraction(length, n) for length in (0, 1)), sensitivity, at=f"n = {n}: shift of the mean")
        eps = Fraction(1, 3 * n)
        with working_precision(BITS):
            import flint

            s, shift, level = to_arb(sigma) / flint.arb(n).sqrt(), to_arb(sensitivity), to_arb(eps)
            ends = [sign * shift / (2 * s) - level * s / shift for sign in (1, -1)]
            masses = [(-end / flint.arb(2).sqrt()).erfc() / 2 for end in ends]
            curve = Ball.from_arb(
                abs(masses[0] - level.exp() * masses[1] - to_arb(central_profile(sigma, eps, n))), BITS
            )
        yield compare(curve, Fraction(1, 10**25), "<=", at=f"n = {n}: profile at that shift")


def _share(n: Any) -> Any:
    return Fraction(1) / n


def _check_mean_error(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Two users with open errors of mean 0 have no cross term; step: one user more adds one error; symbolic.

    Five random channels, n = 2, 3, over Q: worst error over all datasets, outputs enumerated, against the stated share
    of one user's.
    """
    import sympy as sp

    n, v, p, q, u, w = sp.symbols("n v p q u w", positive=True)
    # Errors of two users, each of mean 0 on two outputs: their squares add up, whatever the inputs.
    one, two = ((p, u), (1 - p, -p * u / (1 - p))), ((q, w), (1 - q, -q * w / (1 - q)))
    both = sum(a * b * (x + y) ** 2 for a, x in one for b, y in two)
    apart = sum(a * x**2 for a, x in one) + sum(b * y**2 for b, y in two)
    yield identity(both, apart, at="any two users: no cross term")
    # n users of error at most v: the mean has at most n v/n^2, and that if all hold the worst input.
    yield identity(n * v / n**2, statement(n) * v, at="every n: all users at the worst input")
    more = (n + 1) ** 2 * statement(n + 1) - n**2 * statement(n)
    yield from serving("users", [identity(more, 1, at="every n: one more user adds one error")])
    for trial in range(5):
        channel, targets = cases.channel(rng, 2, 3), [[Fraction(1)], [Fraction(-1)]]
        single = minimal_unbiased_risk(channel, targets)
        values = [row[0] for row in single.estimator]
        for n in (2, 3):
            worst = _worst_of_mean(channel, values, n)
            yield compare(worst, single.bracket.upper * statement(n), at=f"random channel {trial}, n = {n}")


def _worst_of_mean(channel: Channel, values: list[Any], n: int) -> Any:
    """Worst squared error of the mean of n estimates at inputs 1 and -1, over all datasets and outputs."""
    rows: Any = channel.rows
    worst: Any = Fraction(0)
    for dataset in itertools.product((0, 1), repeat=n):
        mean = Fraction(n - 2 * sum(dataset), n)
        error: Any = Fraction(0)
        for outputs in itertools.product(range(channel.num_outputs), repeat=n):
            mass: Any = Fraction(1)
            for x, y in zip(dataset, outputs, strict=True):
                mass *= rows[x][y]
            error += mass * (sum(values[y] for y in outputs) / n - mean) ** 2
        worst = max(worst, error)
    return worst


def _objective(n: Any, error: Any) -> Any:
    """What the problem minimises over randomizers, at n users whose worst squared error is ``error``."""
    return n * error


def _check_objective(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Any n, one user more at a time, open errors of mean 0: the objective stays the one-user error; symbolic.

    So it has a limit, and the design of one user decides it. Six channels over Q, n = 1 to 4: the objective at the
    enumerated error of n users is the least one-user error.
    """
    import sympy as sp

    n, v, s, p, u, q, w = sp.symbols("n v s p u q w", positive=True)
    # One user more: his error of mean 0 adds its square to that of the sum, whatever the sum was.
    one, two = ((p, u), (1 - p, -p * u / (1 - p))), ((q, w), (1 - q, -q * w / (1 - q)))
    both = sum(a * b * (x + y) ** 2 for a, x in one for b, y in two)
    apart = sum(a * x**2 for a, x in one) + sum(b * y**2 for b, y in two)
    # The squared error s of the sum of n for which the objective is v; n + 1 users then have s + v.
    total = sp.solve(statement(n, s / n**2) - v, s)[0]
    grown = statement(n + 1, (total + v) / (n + 1) ** 2)
    steps = [
        identity(both, apart, at="any two users: no cross term"),
        identity(statement(sp.Integer(1), v), v, at="one user"),
        identity(grown, v, at="every n: the objective is the same at n + 1 users, all at the worst input"),
    ]
    yield from serving("users", steps)
    for trial in range(6):
        channel = cases.channel(rng, 2, 2 + trial % 2)
        single = minimal_unbiased_risk(channel, [[Fraction(1)], [Fraction(-1)]])
        values = [row[0] for row in single.estimator]
        for n in range(1, 5):
            found = statement(n, _worst_of_mean(channel, values, n))
            yield compare(single.bracket.upper, found, at=f"random channel {trial}, n = {n}")


def _explicit_gap(r: Any) -> Any:
    """An upper bound of eta, with the constant that dimension 1 needs, for r = sigma^(-1/3) < 1."""
    e = r * r
    return Fraction(3, 2) * e + (1 / (1 - e) + (1 - e)) * e * e


def _check_correspondence(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Every sigma > 1 and d >= 1: eta covers the bound of Corollary 3.6 and is at least 0, by sign; limit; symbolic.

    16 pairs (sigma, d) in balls: the best mixture between the central Gaussian and 1 + eta of it.
    """
    import sympy as sp

    from symshuffle.mechanisms.symbolic import nonnegative

    r, m, t = sp.symbols("r m t", positive=True)
    gap = sp.nsimplify(statement(r))
    inside = {r: t / (1 + t)}
    room = decide(
        nonnegative(1 + gap - sp.nsimplify(upper_bound(r**2, 1 + m)), inside),
        at="every sigma > 1, d >= 1: above what Corollary 3.6 allows",
        claimed="covered",
        symbolic=True,
    )
    yield from serving("dimensions", [room])
    yield decide(nonnegative(gap, inside), at="every sigma > 1", claimed="eta is not negative", symbolic=True)
    yield identity(sp.limit(gap / r**2, r, 0), sp.Rational(3, 2), at="sigma to infinity: eta over sigma^(-2/3)")
    for sigma in (Fraction(3), Fraction(10), Fraction(100), Fraction(1000)):
        with working_precision(BITS):
            root = Ball.from_arb((-to_arb(sigma).log() / 3).exp(), BITS)
        for d in (1, 2, 10, 1000):
            found = bmg_optimal(sigma, d)
            ratio = Ball(found.bracket.lower, found.bracket.upper) / (d * sigma**2)
            where = f"sigma = {sigma}, d = {d}"
            yield compare(ratio, Fraction(1), ">=", at=f"{where}: not below the central Gaussian")
            yield compare(ratio, 1 + statement(root), "<=", at=f"{where}: within eta of it")


CLAIMS: Final = (
    Claim(
        id="vecmean.eq-1-2",
        kind="statement",
        title="error and sensitivity of the central Gaussian mechanism",
        text=(
            Clause("error", r"$E|GM(\sigma)-\bar x|^2=d\sigma^2/n$."),
            Clause("sensitivity", "The mean has zero-out sensitivity 1/n."),
        ),
        source="vecmean, equations (1) and (2)",
        assumptions=(),
        scope="every sigma, d, n; equation (8) at the shift 1/n is the profile in two cases, in balls",
        grade="proved",
        printed=_central,
        check=_check_central,
        controls=(
            Control("sensitivity 2/n", lambda s, d, n: (_central(s, d, n)[0], 2 * _central(s, d, n)[1])),
            Control("error without d", lambda s, d, n: (s**2 / n, _central(s, d, n)[1])),
        ),
        expected="holds",
        obligations=(
            *for_all("sigma", "d", clause="error"),
            *for_all("n", clause=("error", "sensitivity")),
        ),
    ),
    Claim(
        id="vecmean.eq-3",
        kind="statement",
        title="worst squared error of n users",
        text=r"For averages of unbiased estimates $Err_n=Err_1/n$.",
        source="vecmean, equation (3)",
        assumptions=("finite channels",),
        scope="every n, two users for many; 5 random channels, all datasets and outputs of 2 and 3 users",
        grade="proved",
        printed=_share,
        check=_check_mean_error,
        controls=(Control("1 % more", lambda n: _share(n) * Fraction(101, 100)),),
        expected="holds",
        obligations=for_all("n", "users"),
    ),
    Claim(
        id="vecmean.eq-4",
        kind="statement",
        title="the minimax design problem",
        text=(
            Clause(
                "problem",
                r"$\inf\limsup_nn\,Err_n$ over channels and unbiased analyzers under the profile constraint.",
                "definition",
            ),
            Clause(
                "objective",
                "A problem, not a fact; what is checked: for averages of unbiased estimates the objective "
                r"$n\,Err_n$ is $Err_1$ at every n.",
            ),
        ),
        source="vecmean, equation (4)",
        assumptions=(),
        scope="every n, one user more at a time; six random channels with one to four users, all datasets and outputs",
        grade="proved",
        printed=_objective,
        check=_check_objective,
        controls=(
            Control("1 % more", lambda n, error: _objective(n, error) * Fraction(101, 100)),
            Control("n^2 Err_n", lambda n, error: n * n * error),
        ),
        expected="holds",
        obligations=for_all("n", "error", "users", clause="objective"),
    ),
    Claim(
        id="vecmean.thm-3.3",
        kind="statement",
        title="the Gaussian limit correspondence",
        text=(
            Clause("lower", r"$d\sigma^2\le Err^*_{DP}$, by Lemma 2.6 and Theorem 3.5.", "quoted"),
            Clause(
                "upper", r"$Err^*_{DP}\le d\sigma^2(1+\eta(\sigma))$, $\eta=O(\sigma^{-2/3})$ the same for every d."
            ),
        ),
        source="vecmean, Theorem 3.3",
        assumptions=("Lemmas 2.6 and A.2, Theorem 3.5 and Corollary 3.6, which have claims of their own",),
        scope="eta = 3/2 e + (1/(1-e) + 1 - e) e^2, e = sigma^(-2/3), all sigma, d; the best mixture in 16 cases",
        grade="certified",
        printed=_explicit_gap,
        check=_check_correspondence,
        controls=(
            Control("eta of order 1/sigma", lambda r: Fraction(3, 2) * r * r * r),
            Control("1 % less", lambda r: _explicit_gap(r) * Fraction(99, 100)),
        ),
        expected="holds",
        obligations=for_all("r", "dimensions", clause="upper"),
    ),
)
