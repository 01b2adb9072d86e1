"""Section 4.2: the endpoint law, the largest in convex order, and couplings."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._convex_order import convex_order
from proofs_checks.anchored import _cases as cases
from symshuffle.channels.law import Law
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)
from symshuffle.mechanisms.finite import rr
from symshuffle.utility.frontiers.convex_order import average_law, endpoint_law, exact_atoms, stop_loss

ZERO: Final = Fraction(0)


def _endpoint(lam: Any) -> list[tuple[Any, Any]]:
    """Atoms and weights of the endpoint law."""
    return [(lam, 1 / (1 + lam)), (1 / lam, lam / (1 + lam))]


def _check_endpoint(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """For every lam: mass, mean and variance of the stated atoms, and the ratios of binary response; symbolic.

    The library's law at three rational lam.
    """
    lam = sp.Symbol("lambda", positive=True)
    atoms = statement(lam)
    yield identity(sum(w for _, w in atoms), 1, at="every lam: total mass")
    yield identity(sum(v * w for v, w in atoms), 1, at="every lam: mean")
    yield identity(sum(w * (v - 1) ** 2 for v, w in atoms), (lam - 1) ** 2 / lam, at="every lam: variance")
    high, low = rr().symbolic_rows()
    matrix = [[entry.subs(rr().parameters[0].symbol, lam) for entry in row] for row in (high, low)]
    for y, (value, weight) in enumerate(atoms):
        yield identity(matrix[0][y] / matrix[1][y], value, at=f"binary randomized response, output {y}: ratio")
        yield identity(matrix[1][y], weight, at=f"binary randomized response, output {y}: mass under the reference")
    for ratio in map(Fraction, ("1", "3/2", "7")):
        claimed = Law.from_atoms(statement(ratio))
        yield decide(cases.same_law(endpoint_law(ratio), claimed), at=f"lam={ratio}", claimed="the library's law")


def _chord(value: Any, lam: Any) -> Any:
    """The weight at lam that a point of [1/lam, lam] is split with."""
    return (value - 1 / lam) / (lam - 1 / lam)


def _check_maximum(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every l and lam: the stated split keeps the mean and has weights 1 and 0 at the ends; symbolic.

    Then 20 random laws are below the endpoint law by certified convex order, and their stated splits add up to its
    mass; exact rationals.
    """
    value, lam = sp.symbols("l lambda", positive=True)
    weight = statement(value, lam)
    yield identity(weight * lam + (1 - weight) / lam, value, at="every l, lam: the split keeps the mean")
    yield identity(weight.subs(value, lam), 1, at="weight at the upper end")
    yield identity(weight.subs(value, 1 / lam), 0, at="weight at the lower end")
    for trial in range(20):
        cap = (Fraction(3, 2), Fraction(3), Fraction(9))[trial % 3]
        ratio = cases.random_ratio(rng, cap, 2 + trial % 4)
        yield decide(
            convex_order(ratio, endpoint_law(cap)).holds, at=f"law {trial}, lam={cap}", claimed="below the endpoint law"
        )
        mass = sum((w * statement(v, cap) for v, w in exact_atoms(ratio)), start=ZERO)
        yield compare(mass, 1 / (1 + cap), at=f"law {trial}: the splits add up to the endpoint law")


def _coupled(value: Any, lam: Any) -> Any:
    """The conditional probability of lam given l in the martingale coupling with the endpoint law."""
    return _chord(value, lam)


def _check_coupling(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every l and lam: the stated weight makes a martingale, is affine, and has its mean at l = 1; symbolic.

    Then 10 random laws: the weight in a coupling by linear program, the reversed order refused with a threshold, and
    couplings of averages of 2 and 3; exact rationals.
    """
    level, cap, step = sp.symbols("l lambda h", positive=True)
    up = statement(level, cap)
    yield identity(up * cap + (1 - up) / cap, level, at="every l, lam: a martingale")
    yield identity(
        statement(level + step, cap) - up, step * sp.diff(up, level), at="every l, lam: the weight is affine in l"
    )
    yield identity(statement(sp.Integer(1), cap), 1 / (1 + cap), at="every lam: hence its mean, that of l being 1")
    for trial in range(10):
        lam = (Fraction(2), Fraction(5))[trial % 2]
        ratio, end = cases.random_ratio(rng, lam, 2 + trial % 3), endpoint_law(lam)
        found = convex_order(ratio, end)
        yield decide(found.holds, at=f"law {trial}", claimed="a coupling exists")
        for (value, weight), row in zip(exact_atoms(ratio), found.coupling or (), strict=False):
            yield compare(row[-1] / weight, statement(value, lam), at=f"law {trial}, l={value}: weight at lam")
        reverse = convex_order(end, ratio)
        yield decide(
            not reverse.holds and reverse.threshold is not None,
            at=f"law {trial}",
            claimed="reversed order refused with a threshold",
        )
        for n in (2, 3):
            spread = convex_order(average_law(ratio, n), average_law(end, n))
            yield decide(spread.holds, at=f"law {trial}, averages of {n}", claimed="a coupling exists")


def _averages(n: Any) -> tuple[Any, Any]:
    """Factors of the sums of n copies of X and of Y that convex order passes to."""
    return 1 / n, 1 / n


def _coupled_averages(n: Any, factors: tuple[Any, Any]) -> Any:
    """Mean of the second scaled sum given all X_r, less the first scaled sum, in a martingale coupling of each pair.

    In the coupling (Remark 4.7, Strassen) Y_r has mean X_r given X_r; of a finite law this is made of steps to two
    values, up by u and down by d, with the chances that keep the mean.
    """
    r = sp.Symbol("r", integer=True, positive=True)
    lower, up, down = sp.IndexedBase("x"), sp.Symbol("u", positive=True), sp.Symbol("d", positive=True)
    chance = down / (up + down)
    given = sp.simplify(chance * (lower[r] + up) + (1 - chance) * (lower[r] - down))
    return sp.simplify(factors[1] * sp.Sum(given, (r, 1, n)) - factors[0] * sp.Sum(lower[r], (r, 1, n)))


def _jensen(mean: Any, values: tuple[Any, Any], share: Any) -> Any:
    """What a convex function loses at ``mean`` against its average over two values, by its supporting line at ``mean``.

    It is the line plus a gap of at least 0, which vanishes at ``mean``; more values by induction.
    """
    height, slope = sp.symbols("h s", real=True)
    gaps = sp.symbols("g_a g_b", nonnegative=True)
    above = [height + slope * (value - mean) + gap for value, gap in zip(values, gaps, strict=True)]
    return sp.expand(sp.simplify(share * above[0] + (1 - share) * above[1] - height))


def _check_averages(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every n: the coupled sums with the stated factors have the same conditional mean; symbolic.

    Jensen's inequality for an arbitrary convex function, by its supporting line. Then 12 random mean-preserving
    spreads, n <= 4: stop-loss values at all thresholds, in exact rationals.
    """
    count = sp.Symbol("n", integer=True, positive=True)
    factors = statement(count)
    yield identity(count * factors[0], 1, at="every n: the first is an average")
    same = _coupled_averages(count, factors) == 0
    at = "every n, any law: mean of the coupled average of Y given the X_r, less that of X"
    yield decide(bool(same), at=at, claimed="0", symbolic=True)
    first, second = sp.symbols("a b", real=True)
    share = 1 / (1 + sp.Symbol("o", positive=True))
    loss = _jensen(share * first + (1 - share) * second, (first, second), share)
    yield decide(
        sp.factor(loss).is_nonnegative is True, at="any convex function: Jensen", claimed="not negative", symbolic=True
    )
    for trial in range(12):
        lower = Law.from_atoms(
            zip(map(Fraction, cases.integers(rng, 3, 0, 9)), cases.distribution(rng, 3), strict=True)
        )
        upper = Law.from_atoms(
            (v + step, w / 2)
            for v, w in exact_atoms(lower)
            for d in [Fraction(int(rng.integers(0, 4)))]
            for step in (d, -d)
        )
        for n in (1, 2, 3, 4):
            x, y = (
                Law.from_atoms((v * factor * n, w) for v, w in exact_atoms(average_law(law, n)))
                for law, factor in zip((lower, upper), statement(Fraction(n)), strict=True)
            )
            thresholds = [v for v, _ in (*exact_atoms(x), *exact_atoms(y))]
            below = all(stop_loss(x, t) <= stop_loss(y, t) for t in thresholds)
            yield decide(below and _mean(x) == _mean(y), at=f"spread {trial}, n={n}", claimed="below in convex order")


def _mean(law: Law) -> Fraction:
    return sum((v * w for v, w in exact_atoms(law)), start=ZERO)


CLAIMS: Final = (
    Claim(
        id="anchored.def-4.5",
        kind="definition",
        title="the endpoint law",
        text=(
            Clause(
                "atoms",
                r"$\kappa$: mass $\frac1{1+\lambda}$ at $\lambda$ and $\frac\lambda{1+\lambda}$ at $1/\lambda$.",
            ),
            Clause("moments", r"Mean 1, variance $(\lambda-1)^2/\lambda$."),
        ),
        source="anchored, Definition 4.5",
        assumptions=(r"$\lambda\ge1$",),
        scope="every lam, and against binary randomized response",
        grade="proved",
        printed=_endpoint,
        check=_check_endpoint,
        controls=(Control("weights exchanged", lambda lam: [(lam, lam / (1 + lam)), (1 / lam, 1 / (1 + lam))]),),
        expected="definition",
        obligations=for_all("lam", clause=("atoms", "moments")),
    ),
    Claim(
        id="anchored.lem-4.6",
        kind="statement",
        title="the endpoint law is largest in convex order",
        text=(
            Clause("largest", r"Every law of mean 1 on $[1/\lambda,\lambda]$ is below $\kappa$."),
            Clause(
                "split",
                r"Split $l$ into $\lambda$ with weight $a(l)=\frac{l-1/\lambda}{\lambda-1/\lambda}$, and "
                r"$1/\lambda$.",
            ),
        ),
        source="anchored, Lemma 4.6",
        assumptions=(r"$\lambda>1$",),
        scope="the split for every l and lam; 20 random laws by stop-loss and coupling",
        grade="proved",
        printed=_chord,
        check=_check_maximum,
        controls=(Control("weight l/lam", lambda value, lam: value / lam),),
        expected="holds",
        obligations=for_all("value", "lam", clause=("largest", "split")),
    ),
    Claim(
        id="anchored.rem-4.7",
        kind="statement",
        title="Strassen coupling",
        text=(
            Clause("coupling", "Convex order is a martingale coupling (quoted).", "quoted"),
            Clause(
                "kernel",
                r"For a law of mean 1 on $[1/\lambda,\lambda]$ and $\kappa$ it is $P(\lambda\mid l)=a(l)$.",
            ),
        ),
        source="anchored, Remark 4.7",
        assumptions=("finite laws", "Strassen's theorem, quoted"),
        scope=(
            "the coupling for every law, l and lam; 10 laws and their averages of 2 and 3, couplings from certified "
            "linear programs; reversed orders refused"
        ),
        grade="proved",
        printed=_coupled,
        check=_check_coupling,
        controls=(
            Control("one percent more", lambda value, lam: _coupled(value, lam) * Fraction(101, 100)),
            Control("the complementary weight", lambda value, lam: 1 - _coupled(value, lam)),
        ),
        expected="holds",
        obligations=for_all("value", "lam", clause="kernel"),
    ),
    Claim(
        id="anchored.lem-4.8",
        kind="statement",
        title="convex order passes to averages",
        text=r"$X\le_{cx}Y$ implies $\bar X_n\le_{cx}\bar Y_n$.",
        source="anchored, Lemma 4.8",
        assumptions=("integrable", "Strassen's theorem, quoted"),
        scope="every n, by the coupling; 12 random mean-preserving spreads, n <= 4, all thresholds",
        grade="proved",
        printed=_averages,
        check=_check_averages,
        controls=(
            Control("the second sum scaled one percent less", lambda n: (1 / n, Fraction(99, 100) / n)),
            Control("averages of n against sums over n + 1", lambda n: (1 / n, 1 / (n + 1))),
            Control("both divided by n + 1", lambda n: (1 / (n + 1), 1 / (n + 1))),
        ),
        expected="holds",
        obligations=for_all("n"),
    ),
)
