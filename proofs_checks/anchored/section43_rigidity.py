"""Section 4.3: who meets the envelope."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.anchored import _cases as cases
from symshuffle.claims.model import (
    Claim,
    ClaimVerdict,
    Comparison,
    Control,
    Grade,
    Kind,
    Statement,
    compare,
    decide,
    identity,
)
from symshuffle.frontiers.convex_order import (
    average_law,
    exact_atoms,
    moments_from_average,
    profile_gap,
    rigidity_gap,
)
from symshuffle.frontiers.envelope import (
    Contamination,
    Direction,
    endpoint_law,
)
from symshuffle.law import Law

ZERO: Final = Fraction(0)


def _saturates(ratio: Law, lam: Fraction) -> bool:
    """Whether the law meets the envelope at every order in both directions: only the endpoint law does."""
    return cases.same_law(ratio, endpoint_law(lam))


def _check_rigidity(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    for trial in range(24):
        lam, n = (Fraction(3, 2), Fraction(3))[trial % 2], 1 + trial % 3
        ratio = endpoint_law(lam) if trial < 4 else cases.random_ratio(rng, lam, 1 + trial % 3)
        gaps = [rigidity_gap(ratio, Contamination(n, direction), lam=lam)[0] for direction in Direction]
        yield compare(max(gaps) == 0, statement(ratio, lam), at=f"law {trial}, lam={lam}, n={n}")
    lam = Fraction(3)
    nearly = Law.from_atoms(
        [
            (lam - Fraction(1, 10**6), Fraction(1, 4)),
            (1 / lam, Fraction(1, 2)),
            (1 / lam + Fraction(1, 10**6), Fraction(1, 4)),
        ]
    )
    gap, order = rigidity_gap(nearly, Contamination(2), lam=lam)
    yield compare(
        gap == 0,
        statement(nearly, lam),
        at=f"an atom moved inside by 1e-6: gap {float(gap):.1e} at order {float(order):.3f}",
    )


def _one_order(ratio: Law, lam: Fraction) -> bool:
    """Whether meeting the envelope at a single order in [1, lam), in one direction, happens for this law."""
    return cases.same_law(ratio, endpoint_law(lam))


def _check_one_order(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    for trial in range(24):
        lam, n = (Fraction(3, 2), Fraction(3))[trial % 2], 1 + trial % 3
        ratio = endpoint_law(lam) if trial < 4 else cases.random_ratio(rng, lam, 1 + trial % 3)
        for direction in Direction:
            for step in (0, 3, 7):
                gamma = 1 + (lam - 1) * Fraction(step, 8)
                gap = profile_gap(ratio, Contamination(n, direction), lam=lam, gamma=gamma)
                where = f"law {trial}, lam={lam}, n={n}, order {gamma}, {direction.value}"
                yield compare(gap == 0, statement(ratio, lam), at=where)


def _moment(law: Law, order: int) -> Fraction:
    total = ZERO
    for value, weight in exact_atoms(law):
        power = Fraction(1)
        for _ in range(order):
            power *= value
        total += weight * power
    return total


def _moment_recursion(order: int, n: int) -> Any:
    """Coefficient of the moment of that order of one variable in the same moment of the average."""
    return sp.Rational(1, n ** (order - 1))


def _check_moments(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    symbols = sp.symbols("m1:7")
    t = sp.Symbol("t")
    for n in (2, 3, 4):
        series = 1 + sum(m * t**order / sp.factorial(order) for order, m in enumerate(symbols, start=1))
        power = sp.Poly(sp.expand(series**n), t)
        for order in range(1, 7):
            moment = sp.expand(power.coeff_monomial(t**order) * sp.factorial(order) / n**order)
            yield identity(moment.coeff(symbols[order - 1]), statement(order, n), at=f"n={n}, order {order}")
            higher = moment.free_symbols - set(symbols[:order])
            yield decide(not higher, at=f"n={n}, order {order}", claimed="no higher moment enters", symbolic=True)
    for trial in range(6):
        law, n = cases.random_ratio(rng, Fraction(4), 3), 2 + trial % 3
        average = average_law(law, n)
        moments = [[_moment(x, m) for m in range(1, 7)] for x in (law, average)]
        yield compare(moments_from_average(moments[1], n), tuple(moments[0]), at=f"law {trial}, n={n}: recovered")


CLAIMS: Final = (
    Claim(
        id="anchored.thm-4.10",
        kind=Kind.STATEMENT,
        title="rigidity",
        text="A pair that meets the envelope at every order in both directions merges to binary randomized response.",
        source="anchored, Theorem 4.10",
        assumptions=(r"cap $\lambda$",),
        scope="24 laws, n <= 3, largest gap over all orders exactly; one atom moved by 1e-6",
        grade=Grade.EXACT_CASES,
        printed=_saturates,
        check=_check_rigidity,
        controls=(Control("every law meets it", lambda ratio, lam: True),),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="symshuffle.anchored-rigidity-one-order",
        kind=Kind.STATEMENT,
        title="one order in one direction is enough for rigidity",
        text=(
            r"Meeting the envelope at a single $\gamma\in[1,\lambda)$ in a single direction already forces the "
            r"endpoint law: on the event that all $n$ ratios are interior, the coupled average takes values on both "
            r"sides of the threshold, so Jensen is strict."
        ),
        source="ours; sharpens anchored, Theorem 4.10",
        assumptions=(r"cap $\lambda>1$",),
        scope="24 laws, n <= 3, 3 orders, both directions",
        grade=Grade.EXACT_CASES,
        printed=_one_order,
        check=_check_one_order,
        controls=(Control("a law of mean one meets it too", lambda ratio, lam: True),),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="anchored.rem-4.11",
        kind=Kind.STATEMENT,
        title="the average determines a bounded law",
        text=r"Moment $m$ of $\bar L_n$ is $n^{1-m}$ times moment $m$ of $L$ plus a polynomial in lower moments.",
        source="anchored, Remark 4.11",
        assumptions=("compact support",),
        scope="orders 1..6, n = 2, 3, 4 with symbolic moments; 6 laws recovered",
        grade=Grade.EXACT_CASES,
        printed=_moment_recursion,
        check=_check_moments,
        controls=(Control("coefficient n^-m", lambda order, n: sp.Rational(1, n**order)),),
        expected=ClaimVerdict.HOLDS,
    ),
)
