"""Words of the abstract, the introduction and the discussion that go beyond the theorems they report."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np

from proofs_checks._errata import finding, refuted
from symshuffle.base.results import passes
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import Clause, Control, Statement, for_all
from symshuffle.ledger.claims.parts import Erratum
from symshuffle.utility.anchored.law import template_budget, template_signal
from symshuffle.utility.frontiers.frontier import trace_frontier


def _budget(root: int, lam: Fraction) -> Fraction:
    """Budget of k-ary response of ratio lam, k = root^2 + 1."""
    return (lam - 1) ** 2 * (lam + 1) / (lam * (lam + root**2))


def _explicit(root: int, lam: Fraction) -> Fraction:
    """Theorem 7.6: users times the least worst i.i.d. risk, at the budget of k-ary response of ratio lam."""
    return root**2 * (1 + root) ** 2 / ((root**2 + 1) * _budget(root, lam))


def _explicit_and_beyond(root: int, lam: Fraction) -> Fraction:
    """The same up to the ratio sqrt(k - 1), where the budget is B_*; from there on, what k-ary response has."""
    if lam <= root:
        return _explicit(root, lam)
    return root**2 * (lam + root**2) ** 2 / ((root**2 + 1) * (lam - 1) ** 2)


def _check_explicit(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Six budgets at k = 5 and 10, over Q: the least risk, by a verified frontier law, against that stated."""
    for root, ratios in ((2, ("3/2", "2", "3")), (3, ("2", "4", "5"))):
        for lam in map(Fraction, ratios):
            k, budget = root**2 + 1, _budget(root, lam)
            found = trace_frontier(k, budget)
            at = f"k = {k}, C = {budget}"
            yield decide(passes(found.verify), at=at, claimed="law and line check over Q")
            yield compare(found.risk_constant("iid").exact, statement(root, lam), at=f"{at}: n times the risk")


def _in_every_low_budget(rate: Fraction) -> bool:
    """The abstract, for budgets n^-rate: augmented response with its canonical estimator is minimax."""
    return True


def _check_users(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Five inputs, budgets n^-rate along n = 4^m, over Q: the least canonical risk against that of a constant guess.

    The guess is the uniform composition, at most 4/5 wrong. Where it is the smaller one, nothing is minimax.
    """
    guess = max(sum((Fraction(int(i == j)) - Fraction(1, 5)) ** 2 for i in range(5)) for j in range(5))
    for rate in (Fraction(1, 2), Fraction(1), Fraction(2)):
        for m in (5, 8, 12):
            n, budget = 4**m, Fraction(1, 2 ** int(2 * m * rate))
            found: Any = trace_frontier(5, budget).risk_constant("iid").exact
            at = f"n = 4^{m}, C = {budget}: canonical risk against that of a guess"
            yield compare(found / n, guess, "<" if statement(rate) else ">", at=at)


def _curve(k: int) -> int:
    """Dimension of the set of budgets and traces of orbit laws: that of a curve."""
    return 1


def _region(k: int) -> int:
    """One parameter at two inputs; from three inputs on there are interior points."""
    return min(k - 1, 2)


def _check_curve(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Two to six inputs: rank of the derivative of budget and trace along the templates, at one template, over Q.

    The derivative is of two expressions that have the library's values there.
    """
    import sympy as sp

    for k in (2, 3, 4, 5, 6):
        symbols = sp.symbols(f"u0:{k}", positive=True)
        squares, reciprocals = sum(u**2 for u in symbols), sum(1 / u for u in symbols)
        point = [Fraction(2 * (i + 1), k + 1) for i in range(k)]  # it adds up to k
        values = dict(zip(symbols, map(sp.Rational, point), strict=True))
        pair = sp.Matrix([(squares * reciprocals - k**2) / (k * (k - 1)), squares - k])
        library = [Fraction(template_budget(point)), template_signal(point)]
        here = [Fraction(str(entry)) for entry in pair.subs(values)]
        yield compare(here, library, at=f"k = {k}, template {tuple(map(str, point))}: budget and trace")
        # Along the templates one coordinate is lowered for another.
        slopes = sp.Matrix([[sp.diff(entry, u) - sp.diff(entry, symbols[-1]) for u in symbols[:-1]] for entry in pair])
        yield compare(slopes.subs(values).rank(), statement(k), at=f"k = {k}: rank of the derivative")


CLAIMS: Final = (
    finding(
        "anchored-explicit-optimum",
        "least risk at budgets above the low ones",
        (
            Clause(
                "low",
                r"Theorem 7.6 gives the least canonical risk up to the budget $B_*=(1-1/\sqrt{k-1})^2$.",
                "quoted",
            ),
            Clause(
                "above",
                "Above it the formula of the theorem is no longer the least risk: in the cases checked k-ary "
                r"response of that budget is best, with $\frac{(k-1)(\lambda+k-1)^2}{k(\lambda-1)^2}/n$.",
            ),
            Clause(
                "instance",
                r"At k = 5, $C=\frac{16}{21}$ that is $\frac{49}5/n$, where the formula has $\frac{189}{20}/n$.",
            ),
            Clause("question", "(Open question (1) of Section 10 asks for all higher budgets.)", "quoted"),
        ),
        _explicit_and_beyond,
        _explicit,
        source="anchored, Section 10, before the open questions, with Theorem 7.6",
        assumptions=("i.i.d. users",),
        scope="k = 5 and 10 at three budgets each, with a law and a line as certificate",
        check=_check_explicit,
        controls=(
            Control("1 % more beyond", lambda r, x: _explicit_and_beyond(r, x) * (Fraction(101, 100) if x > r else 1)),
            Control(
                "k-ary response at every budget", lambda r, x: r**2 * (x + r**2) ** 2 / ((r**2 + 1) * (x - 1) ** 2)
            ),
        ),
        obligations=for_all("root", "lam", clause=("above", "instance")),
    ),
    refuted(
        "anchored-low-budget-users",
        "is augmented randomized response minimax at every low budget?",
        (
            Clause(
                "said",
                "Abstract: in the low-budget regime, augmented randomized response is asymptotically "
                "minimax-optimal, to the leading constant, over all channels and estimators.",
            ),
            Clause(
                "instance",
                r"Theorem 8.1 has $nC_n\to\infty$, too: at k = 5, $C_n=1/n$ its canonical risk is $\frac{36}5$ "
                r"for every n, and guessing the uniform composition is never more than $\frac45$ wrong.",
            ),
        ),
        _in_every_low_budget,
        lambda rate: rate < 1,
        erratum=Erratum(
            "wording",
            "reading",
            "The abstract leaves out a condition that the theorem has: the budget falls slower than 1/n.",
            quote="In the low-budget regime ... asymptotically minimax-optimal",
        ),
        correction=r"Where $C_n\to0$ and $nC_n\to\infty$, as Theorem 8.1 says.",
        source="anchored, abstract",
        assumptions=("i.i.d. users", "budgets that are powers of n"),
        scope="k = 5, rates 1/2, 1, 2 at three n each; where the rate is below 1 Theorem 8.1 has the constant",
        check=_check_users,
        controls=(
            Control("at no rate", lambda rate: False),
            Control("up to and with 1", lambda rate: rate <= 1),
        ),
        obligations=for_all("rate", clause=("said", "instance")),
    ),
    finding(
        "anchored-orbit-curve",
        "dimension of the set that the frontier is the envelope of",
        (
            Clause(
                "said",
                "Corollary 7.10 takes the upper concave envelope of the pairs (budget, trace) of orbit laws.",
                "quoted",
            ),
            Clause("two", "At two inputs these pairs form a curve."),
            Clause(
                "three",
                "From three inputs on they fill a set with interior points: a template has $k-1$ parameters, "
                r"and at $(\frac12,1,\frac32)$ budget and trace change independently.",
            ),
        ),
        _region,
        _curve,
        source="anchored, Introduction, (4); Corollary 7.10; Section 10",
        assumptions=(),
        scope="2 to 6 inputs, the rank at one template",
        check=_check_curve,
        controls=(
            Control("a curve at three inputs, too", lambda k: 1 if k <= 3 else 2),
            Control("of full dimension", lambda k: k - 1),
        ),
        obligations=for_all("k", clause=("two", "three")),
    ),
)
