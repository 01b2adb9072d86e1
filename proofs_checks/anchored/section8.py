"""Section 8: minimax optimality at low budgets, as a sandwich at every finite n."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._estimation import shrunken_iid_risk
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, serving
from symshuffle.ledger.claims.model import (
    Claim,
    Control,
    Correction,
    Statement,
    for_all,
    identity,
    in_the_limit,
)
from symshuffle.ledger.claims.parts import Erratum
from symshuffle.mechanisms.finite import krr
from symshuffle.mechanisms.symbolic import nonnegative
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.canonical import isotropic_risk, worst_canonical_risk
from symshuffle.utility.estimation.lower_bounds import minimax_sandwich
from symshuffle.utility.frontiers.frontier import trace_frontier


def _low_budget_constant(root: Any) -> Any:
    """The limit of n C_n times the minimax risk, at k = root^2 + 1."""
    return root**2 * (1 + root) ** 2 / (root**2 + 1)


def within_rate(claimed: Any, k: Any, per_budget: Any) -> Iterator[Comparison]:
    """Two-sided bounds on n B times the minimax risk under a trace of at most ``per_budget`` B, with their rate.

    Above, the canonical estimator of an exchangeable law that has this trace: (k - 1)^2/(n ``per_budget`` B), the
    limit. Below, van Trees with the cosine prior on a cube of squared radius x, x^2 = 1/(n ``per_budget`` B): with
    c = k (k - 1)^2 and b = (k - 1) pi^2 it is the limit times at least 1 - (b + c) x, as soon as c x < 1.
    """
    x, rest = sp.symbols("x r", positive=True)
    c, b = k * (k - 1) ** 2, (k - 1) * sp.pi**2
    limit = (k - 1) ** 2 / per_budget
    yield identity(limit, claimed, at="every n: n B times the canonical risk, an upper bound")
    tilt = sp.Symbol("s", positive=True)  # <b, x> at a parameter of the cube, its square at most c x; the prior is even
    even = (1 / (1 + tilt) + 1 / (1 - tilt)) / 2
    yield identity(even, 1 / (1 - tilt**2), at="information at opposite parameters, averaged")
    information, prior = (1 / x**2) / (1 - c * x), b / x  # n T and x^-2 are the same
    lower = (k - 1) ** 2 / (information + prior) / x**2 / per_budget
    u, v = sp.symbols("b c", positive=True)
    share = sp.cancel((lower / limit).subs(sp.pi, sp.sqrt(u / (k - 1))))
    plain = 1 / (1 / (1 - v * x) + u * x)
    same = sp.simplify(share - plain.subs(v, c)) == 0
    yield decide(bool(same), at="every n: the van Trees bound over the limit", claimed=str(plain), symbolic=True)
    # At x = 1/(c + r), which is every x with c x < 1, the excess over 1 - (b + c) x is positive.
    excess = sp.factor(sp.together((plain - (1 - (u + v) * x)).subs(x, 1 / (v + rest))))
    positive = all(sp.expand(part).is_positive for part in sp.fraction(excess))
    at = "every n: so it is at least 1 - (b + c)/sqrt(n T), which tends to 1"
    yield decide(positive, at=at, claimed="rate", symbolic=True)
    yield identity(claimed * plain.subs(x, 0), limit, at="the limit of the lower bound is that of the upper bound")


def _check_low_budget(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """For every k and n: canonical risk above and van Trees below, with a rate, at the stated limit; symbolic.

    Then k = 5 and 10 with C = 1e-2 to 1e-12 and n = C^-2: certified sides of the stated value that close to 0.2
    percent.
    """
    root = sp.Symbol("rho", positive=True)  # the square root of k - 1
    k = root**2 + 1
    per_budget = k * (k - 1) / (1 + root) ** 2  # Theorem 7.5: the trace that one unit of budget buys, and no more
    yield from serving("n", within_rate(statement(root), k, per_budget))
    for size in (2, 3):
        k, claimed = size**2 + 1, statement(Fraction(size))
        previous = Fraction(0)
        for exponent in (2, 4, 6, 8, 10, 12):
            n, budget = 10 ** (2 * exponent), Fraction(1, 10**exponent)  # C_n -> 0 and n C_n -> oo
            trace = trace_frontier(k, budget).trace
            found = minimax_sandwich(k, trace.upper, n)
            scale = n * budget
            where = f"k={k}, C=1e-{exponent}, n=1e{2 * exponent}"
            yield decide(found.lower.upper <= found.upper.lower, at=where, claimed="lower bound below the best risk")
            yield compare(scale * found.lower.lower, claimed, "<=", at=f"{where}: lower side")
            yield compare(
                scale * found.canonical.upper, claimed * (1 - Fraction(1, 10**15)), ">=", at=f"{where}: upper side"
            )
            yield compare(found.ratio, previous, ">", at=f"{where}: the sandwich narrows")
            previous = found.ratio
        yield compare(previous, Fraction(999, 1000), ">", at=f"k={k}: lower over canonical at the last step")
        yield decide(
            scale * found.lower.lower > claimed * Fraction(998, 1000),
            at=f"k={k}",
            claimed="lower side within 0.2 percent",
        )


def _check_bounded(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """With n C_n bounded the uniform composition as an estimate is better than the claimed limit."""
    n, budget = 10**6, Fraction(1, 10**6)
    found = minimax_sandwich(5, trace_frontier(5, budget).trace.upper, n)
    yield compare(n * budget * found.upper.upper, statement(Fraction(2)) * Fraction(99, 100), ">=", at="k=5, n C = 1")


def _shrinkage(constant: Any, n: Any) -> Any:
    """Is the canonical risk the smallest worst-case risk? What the paper asks."""
    return constant / n


def _shrunken(constant: Any, n: Any) -> Any:
    """The worst risk of the estimate shrunk towards uniform."""
    return constant / (1 + sp.sqrt(n)) ** 2


def _check_shrinkage(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """A minimax value is at most the worst risk of any estimator; here of the shrunken one."""
    constant, bias, root = sp.symbols("K b r", positive=True)  # r = sqrt(n), b = |w - 1/k|^2
    factor = root / (1 + root)
    risk = factor**2 * (constant - bias) / root**2 + (1 - factor) ** 2 * bias
    yield identity(sp.diff(risk, bias), 0, at="every law and n: the shrunken risk does not depend on the composition")
    gap = sp.simplify(risk - statement(constant, root**2))
    slacks = {constant: constant, root: root}
    at = "every law and n: the shrunken risk less the value"
    yield decide(nonnegative(gap, slacks), at=at, claimed=">= 0", computed=str(gap), symbolic=True)


VERTEX: Final = (Fraction(1), *(Fraction(0),) * 4)
MIDDLE: Final = (*(Fraction(1, 2),) * 2, *(Fraction(0),) * 3)


def _check_global(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any law and n: the shrunken risk is the same at all compositions, and at least the stated; symbolic.

    Then 5-ary response at n = 1, 4, 9, 25 and three compositions: the library's risk is the stated one, and the
    canonical one is larger.
    """
    yield from _check_shrinkage(statement, rng)
    law = AnchoredLaw.from_channel(krr().at(k=5, lam=2).channel())
    for n in (1, 4, 9, 25):
        root = int(n**0.5)
        constant = isotropic_risk(5, law.trace(), population="iid")
        claimed = Fraction(str(statement(sp.Rational(str(constant)), sp.Integer(n))))
        for w in (VERTEX, (Fraction(1, 5),) * 5, MIDDLE):
            value = shrunken_iid_risk(law, w, n=n, factor=Fraction(root, 1 + root))
            yield compare(value, claimed, at=f"5-ary response, lam=2, n={n}, w={tuple(map(str, w))}")
        yield compare(worst_canonical_risk(law, n=n, population="iid")[0], claimed, ">", at=f"n={n}: canonical")


CLAIMS: Final = (
    Claim(
        id="anchored.thm-8.1",
        kind="statement",
        title="universal low-budget minimax optimality",
        text=(
            r"If $C_n\to0$ and $nC_n\to\infty$, then $nC_n$ times the minimax risk over channels of budget $C_n$ and "
            r"all estimators tends to $\frac{(k-1)(1+\sqrt{k-1})^2}k$."
        ),
        source="anchored, Theorem 8.1",
        assumptions=(r"$k\ge3$ fixed, i.i.d. users", "Theorem 7.5 and Lemma A.1"),
        scope=(
            "every k and n, within 1 - O((n C)^-1/2); k = 5 and 10, C = 1e-2..1e-12, n = C^-2: certified sides that "
            "close to 0.2 percent"
        ),
        grade="proved",
        printed=_low_budget_constant,
        check=_check_low_budget,
        controls=(
            Control("the constant (k-1)^2/k^2", lambda root: root**4 / (root**2 + 1) ** 2),
            Control("a constant larger by 1 percent", lambda root: Fraction(101, 100) * _low_budget_constant(root)),
            Control("n C_n bounded", _low_budget_constant, _check_bounded),
        ),
        expected="holds",
        obligations=(*for_all("root"), *in_the_limit("n")),
    ),
    Claim(
        id="symshuffle.anchored-open-3",
        kind="statement",
        title="is the canonical value the global minimax value at finite n?",
        text=(
            r"Open question (3) of the paper: the smallest worst-case i.i.d. risk over all estimators equals the "
            r"canonical $K/n$, $K=(k-1)^2/\operatorname{tr}\Sigma$."
        ),
        source="anchored, Section 10, question (3)",
        assumptions=("an exchangeable law with $K<\\infty$",),
        scope="every law, n and composition; 5-ary response at n = 1, 4, 9, 25",
        grade="refuted",
        printed=_shrinkage,
        check=_check_shrinkage,
        controls=(
            Control("one percent above the canonical value", lambda constant, n: sp.Rational(101, 100) * constant / n),
        ),
        expected="refuted",
        erratum=Erratum(
            "question",
            None,
            "An open question of the paper, answered.",
        ),
        obligations=for_all("constant", "n"),
        corrected=Correction(
            text=(
                r"No: shrinking the canonical estimate towards the uniform composition by $\sqrt n/(1+\sqrt n)$ has "
                r"risk $K/(1+\sqrt n)^2<K/n$ at every composition."
            ),
            statement=_shrunken,
            grade="proved",
            check=_check_global,
        ),
    ),
)
