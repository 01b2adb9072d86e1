"""Section 4.3: who meets the envelope."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._convex_order import moments_from_average
from proofs_checks.anchored import _cases as cases
from symshuffle.base.choices import Direction, members
from symshuffle.channels.law import Law
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity
from symshuffle.ledger.claims.model import Claim, Control, Statement, for_all
from symshuffle.ledger.claims.parts import Clause
from symshuffle.utility.frontiers.contamination import Contamination
from symshuffle.utility.frontiers.convex_order import average_law, endpoint_law, exact_atoms, profile_gap, rigidity_gap

ZERO: Final = Fraction(0)


def _saturates(inner: Any) -> Any:
    """Whether a law meets the envelope at every order in both directions, from E(lam - L)(L - 1/lam).

    That is 0 for the endpoint law and no other law of mean one on [1/lam, lam].
    """
    return sp.Eq(inner, 0)


def _inner(ratio: Law, lam: Fraction) -> Fraction:
    """The mean of (lam - L)(L - 1/lam)."""
    return sum(((lam - v) * (v - 1 / lam) * w for v, w in exact_atoms(ratio)), start=ZERO)


def _rigid_for_all(statement: Statement) -> Iterator[Comparison]:
    """The gaps to the envelope, added up over all orders and both directions, are E(lam - L)(L - 1/lam)/n.

    None of them is negative (Theorem 4.9), so they vanish together exactly if that does.
    """
    x, order = sp.symbols("x g", positive=True)
    lam, n, second = sp.symbols("lambda n m2", positive=True)
    # E(x - 1)^2 is twice the integral of the profiles: x > 1 is seen by orders from 1 to x, x < 1 in the reverse.
    above = 2 * sp.integrate(x - order, (order, 1, x))
    below = 2 * sp.integrate(order - x, (order, x, 1))
    for name, part in (("above", above), ("below", below)):
        yield identity(part, (x - 1) ** 2, at=f"orders and the squared distance from 1, a ratio {name} 1")
    reverse = order * (1 / order - x) - (1 - order * x)  # where either is positive
    yield identity(reverse, 0, at="the reverse direction at an order is a stop-loss at its inverse")
    inner = sp.expand(lam * 1 - second - 1 + 1 / lam)  # E(lam - L)(L - 1/lam) for mean one and second moment m2
    endpoint = (lam - 1) ** 2 / lam
    total = endpoint / n - (second - 1) / n  # variances of averages of n
    yield identity(total, inner / n, at="twice the sum of all gaps, every n, lam and law")
    gap = sp.Symbol("d", positive=True)
    for value in (sp.Integer(0), gap):
        meets = sp.Eq(value / n, 0)
        claimed = statement(value)
        yield decide(meets == claimed, at=f"E(lam - L)(L - 1/lam) = {value}", claimed=str(claimed), symbolic=True)
    slack, rest = sp.symbols("s r", positive=True)
    inside = ((1 / lam + slack + rest) - (1 / lam + slack)) * slack  # a ratio strictly between the ends
    at = "a ratio strictly inside counts, so the law sits on the two ends"
    yield decide(sp.expand(inside).is_positive is True, at=at, claimed="> 0", symbolic=True)
    mass = sp.Symbol("w", real=True)
    (solved,) = sp.solve(lam * mass + (1 - mass) / lam - 1, mass)
    yield identity(solved, 1 / (1 + lam), at="mean one on two ends: the endpoint law")


def _check_rigidity(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every n, lam and law: all gaps to the envelope add up to E(lam - L)(L - 1/lam)/n; symbolic.

    None is negative, so they vanish together exactly where stated. Then 24 laws, n <= 3, endpoint laws among them: the
    largest gap in both directions in exact rationals; and a law with an atom moved inside by 1e-6.
    """
    yield from _rigid_for_all(statement)
    for trial in range(24):
        lam, n = (Fraction(3, 2), Fraction(3))[trial % 2], 1 + trial % 3
        ratio = endpoint_law(lam) if trial < 4 else cases.random_ratio(rng, lam, 1 + trial % 3)
        yield compare(_inner(ratio, lam) == 0, cases.same_law(ratio, endpoint_law(lam)), at=f"law {trial}, lam={lam}")
        gaps = [rigidity_gap(ratio, Contamination(n, direction), lam=lam)[0] for direction in members(Direction)]
        claimed = bool(statement(_inner(ratio, lam)))
        yield compare(max(gaps) == 0, claimed, at=f"law {trial}, lam={lam}, n={n}")
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
        bool(statement(_inner(nearly, lam))),
        at=f"an atom moved inside by 1e-6: gap {float(gap):.1e} at order {float(order):.3f}",
    )


def _one_order(ratio: Law, lam: Fraction) -> bool:
    """Whether meeting the envelope at a single order in [1, lam), in one direction, happens for this law."""
    return cases.same_law(ratio, endpoint_law(lam))


def _check_one_order(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For 24 laws, n <= 3, three orders, both directions: the gap to the envelope is 0 exactly where stated."""
    for trial in range(24):
        lam, n = (Fraction(3, 2), Fraction(3))[trial % 2], 1 + trial % 3
        ratio = endpoint_law(lam) if trial < 4 else cases.random_ratio(rng, lam, 1 + trial % 3)
        for direction in members(Direction):
            for step in (0, 3, 7):
                gamma = 1 + (lam - 1) * Fraction(step, 8)
                gap = profile_gap(ratio, Contamination(n, direction), lam=lam, gamma=gamma)
                where = f"law {trial}, lam={lam}, n={n}, order {gamma}, {direction}"
                yield compare(gap == 0, statement(ratio, lam), at=where)


def _moment(law: Law, order: int) -> Fraction:
    total = ZERO
    for value, weight in exact_atoms(law):
        power = Fraction(1)
        for _ in range(order):
            power *= value
        total += weight * power
    return total


def _moment_recursion(order: Any, n: Any) -> Any:
    """Coefficient of the moment of that order of one variable in the same moment of the average."""
    return n ** (1 - sp.sympify(order))


def _check_moments(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every order and n: derivative of the average's generating function in a moment, as stated; symbolic.

    Higher moments come with higher powers. Again for orders 1 to 6, n = 2, 3, 4 by expansion; 6 laws have their moments
    recovered from the average, in exact rationals.
    """
    order, n, extra = sp.symbols("m n d", integer=True, positive=True)
    t = sp.Symbol("t", positive=True)
    lower, moment, higher = sp.Function("S")(t), sp.symbols("m_m", real=True), sp.symbols("m_h", real=True)
    # The generating function of the average is that of one variable at t/n, to the n; S holds the moments below m.
    series = lower + moment * (t / n) ** order / sp.factorial(order) + higher * (t / n) ** (order + extra)
    slope = sp.diff(series**n, moment) * sp.factorial(order) / t**order
    at_zero = sp.simplify(slope).subs(lower, 1).subs({moment: 0, higher: 0})  # t = 0: S is 1 there
    yield identity(at_zero, statement(order, n), at="every order and n: derivative in the moment, at its power of t")
    above = sp.simplify(sp.diff(series**n, higher) / t**order / series ** (n - 1))
    power = sp.simplify(sp.diff(sp.log(above), t) * t)  # the power of t that is left
    at = "every order and n: a higher moment enters with a higher power of t"
    yield decide(bool(power == extra), at=at, claimed="no higher moment", symbolic=True)
    symbols = sp.symbols("m1:7")
    for size in (2, 3, 4):
        finite = 1 + sum(m * t**power / sp.factorial(power) for power, m in enumerate(symbols, start=1))
        polynomial = sp.Poly(sp.expand(finite**size), t)
        for degree in range(1, 7):
            found = sp.expand(polynomial.coeff_monomial(t**degree) * sp.factorial(degree) / size**degree)
            at = f"n={size}, order {degree}"
            yield identity(found.coeff(symbols[degree - 1]), statement(degree, sp.Integer(size)), at=at)
            beyond = found.free_symbols - set(symbols[:degree])
            yield decide(not beyond, at=at, claimed="no higher moment enters", symbolic=True)
    for trial in range(6):
        law, n = cases.random_ratio(rng, Fraction(4), 3), 2 + trial % 3
        average = average_law(law, n)
        moments = [[_moment(x, m) for m in range(1, 7)] for x in (law, average)]
        yield compare(moments_from_average(moments[1], n), tuple(moments[0]), at=f"law {trial}, n={n}: recovered")


CLAIMS: Final = (
    Claim(
        id="anchored.thm-4.10",
        kind="statement",
        title="rigidity",
        text="A pair that meets the envelope at every order in both directions merges to binary randomized response.",
        source="anchored, Theorem 4.10",
        assumptions=(r"cap $\lambda$",),
        scope="every n, lam and law, by the sum of all gaps; 24 laws, n <= 3, largest gap; an atom moved by 1e-6",
        grade="proved",
        printed=_saturates,
        check=_check_rigidity,
        controls=(
            Control("every law meets it", lambda inner: sp.true),
            Control("a gap of one thousandth is none", lambda inner: sp.Le(inner, sp.Rational(1, 1000))),
        ),
        expected="holds",
        obligations=for_all("inner"),
    ),
    Claim(
        id="symshuffle.anchored-rigidity-one-order",
        kind="statement",
        title="one order in one direction is enough for rigidity",
        text=(
            Clause(
                "one order",
                r"Meeting the envelope at a single $\gamma\in[1,\lambda)$ in a single direction already forces "
                "the endpoint law.",
            ),
            Clause(
                "strict",
                "(The argument: on the event that all $n$ ratios are interior, the coupled average takes values "
                "on both sides of the threshold, so Jensen is strict.)",
                "quoted",
            ),
        ),
        source="ours; sharpens anchored, Theorem 4.10",
        assumptions=(r"cap $\lambda>1$",),
        scope="24 laws, n <= 3, 3 orders, both directions",
        grade="exact-cases",
        printed=_one_order,
        check=_check_one_order,
        controls=(Control("a law of mean one meets it too", lambda ratio, lam: True),),
        expected="holds",
        obligations=for_all("ratio", "lam", clause="one order"),
    ),
    Claim(
        id="anchored.rem-4.11",
        kind="statement",
        title="the average determines a bounded law",
        text=(
            Clause("determined", r"The law of the average $\bar L_n$ determines that of $L$."),
            Clause(
                "moments",
                r"Moment $m$ of $\bar L_n$ is $n^{1-m}$ times moment $m$ of $L$ plus a polynomial in lower "
                "moments.",
            ),
        ),
        source="anchored, Remark 4.11",
        assumptions=("compact support; quoted: its moments determine such a law",),
        scope="every order and n; orders 1..6, n = 2, 3, 4 with all lower moments; 6 laws recovered",
        grade="proved",
        printed=_moment_recursion,
        check=_check_moments,
        controls=(Control("coefficient n^-m", lambda order, n: n ** (-sp.sympify(order))),),
        expected="holds",
        obligations=for_all("order", "n", clause=("determined", "moments")),
    ),
)
