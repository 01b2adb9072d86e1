"""Section 6, Table 4: frequency estimation by 10-RR at equal privacy under two bounds."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from symshuffle.accountants.literature.baselines import BlanketVariable, blanket_bennett
from symshuffle.base.numbers import Ball, Exp, enclose
from symshuffle.decompositions.symbolic import optimal_decomposition
from symshuffle.engines.contours.ball import BallContour
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Correction,
    Statement,
    for_all,
    identity,
)
from symshuffle.ledger.claims.parts import Erratum
from symshuffle.mechanisms.finite import K, krr
from symshuffle.mechanisms.symbolic import LAM, evaluate
from symshuffle.utility.estimation.canonical import isotropic_risk
from symshuffle.utility.estimation.moments import trace

USERS: Final = 1000
SYMBOLS: Final = 10
TARGET: Final = Fraction(1, 10**6)
BITS: Final = 192
EPSILONS: Final = tuple(Fraction(e) for e in ("1/100", "1/20", "1/10", "1/5", "1/2", "1"))


def certified_bound(name: str, eps0: Fraction, eps: Fraction) -> Ball:
    """A certified bound at a local budget, narrow enough to tell it from the target."""
    cells = optimal_decomposition(krr().at(eps0=eps0, k=SYMBOLS)).numeric(bits=BITS)
    exp_eps = enclose(Exp(eps), BITS)
    if name == "Bennett":
        return blanket_bennett(BlanketVariable.of(cells, exp_eps), USERS, bits=BITS)
    law = cells.reduction_pair().gparv(exp_eps)
    bracket = BallContour(rtol=1e-3).bracket(law, USERS)
    if bracket.contains(TARGET):
        bracket = BallContour(rtol=2e-5).bracket(law, USERS)
    return Ball(bracket.lower, bracket.upper, BITS)


def _estimation(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Twelve stated budgets of 10-RR, 1000 users: each meets delta = 1e-6, and one resolution more does not; in balls.

    The written mean squared error against the library's risk and the variances of counts, symbolic; the printed errors
    lie between 0.92 and 1.05 of its root; gains and rounding follow from the stated budgets.
    """
    for eps in EPSILONS:
        (bennett, optimal), resolution = statement(eps)
        for name, eps0 in (("Bennett", bennett), ("optimal", optimal)):
            below, above = (certified_bound(name, budget, eps) for budget in (eps0, eps0 + resolution))
            at = f"{name}, eps={eps}, eps0={eps0}"
            yield compare(below, TARGET, "<=", at=f"meets the target, {at}")
            yield compare(above, TARGET, ">", at=f"largest at a resolution of {resolution}, {at}")
    yield from _squared_error()
    yield from _errors(_printed_errors, rng)
    yield from _gain_and_rounding(statement, rng)


def _mean_square(lam: Any, k: Any, n: Any) -> Any:
    """The mean squared error as it is written in the corrected statement."""
    low = 1 / (lam + k - 1)
    high = lam * low
    return (high * (1 - high) + (k - 1) * low * (1 - low)) / (n * (high - low) ** 2)


def mean_square(lam: Any) -> Any:
    """Mean squared l2 error of 10-RR at a ratio cap, by the library: the same for all data."""
    signal = trace(krr()).subs({K: SYMBOLS, LAM: lam})
    return isotropic_risk(SYMBOLS, signal, population="fixed") / USERS


def _squared_error() -> Iterator[Comparison]:
    """The written form against the library's canonical risk, and against the variances of the counts."""
    yield identity(mean_square(LAM), _mean_square(LAM, SYMBOLS, USERS), at="canonical risk of 10-RR, any budget")
    counts = sp.symbols("n0:3", positive=True)
    total = sum(counts)
    low = 1 / (LAM + 2)
    high = LAM * low
    variances = [m * high * (1 - high) + (total - m) * low * (1 - low) for m in counts]
    summed = sum(variances) / (total * (high - low)) ** 2
    yield identity(summed, _mean_square(LAM, 3, total), at="E|f_hat - f|^2 for three symbols, any data and budget")


def _errors(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """A mean norm lies a little below the root of the mean square: by 2.7 percent for nine Gaussian coordinates."""
    for eps in EPSILONS:
        for eps0, error in statement(eps):
            root = evaluate(sp.sqrt(mean_square(sp.exp(sp.Rational(eps0.numerator, eps0.denominator)))))
            yield compare(error, root * Fraction(105, 100), "<=", at=f"mean l2 error, eps={eps}, eps0={eps0}")
            yield compare(error, root * Fraction(92, 100), ">=", at=f"mean l2 error, eps={eps}, eps0={eps0}")


def _hundredths(*digits: int) -> dict[Fraction, Fraction]:
    return {eps: Fraction(d, 100) for eps, d in zip(EPSILONS, digits, strict=True)}


PRINTED_BENNETT: Final = _hundredths(17, 62, 100, 151, 237, 306)
PRINTED_OPTIMAL: Final = _hundredths(21, 73, 115, 170, 265, 351)
PRINTED_ERRORS: Final = {
    eps: tuple(Fraction(d, 1000) for d in pair)
    for eps, pair in zip(EPSILONS, ((1598, 1285), (366, 295), (199, 163), (108, 89), (51, 42), (33, 25)), strict=True)
}


def _printed_budgets(eps: Fraction) -> tuple[tuple[Fraction, Fraction], Fraction]:
    return (PRINTED_BENNETT[eps], PRINTED_OPTIMAL[eps]), Fraction(1, 100)


def _printed_errors(eps: Fraction) -> tuple[tuple[Fraction, Fraction], ...]:
    bennett, optimal = PRINTED_ERRORS[eps]
    return (PRINTED_BENNETT[eps], bennett), (PRINTED_OPTIMAL[eps], optimal)


def _largest_budgets(eps: Fraction) -> tuple[tuple[Fraction, Fraction], Fraction]:
    """The largest budgets in thousandths that meet the target, by Bennett and by the optimal bound."""
    bennett = dict(zip(EPSILONS, (171, 624, 1003, 1512, 2367, 3060), strict=True))
    optimal = dict(zip(EPSILONS, (209, 730, 1147, 1704, 2659, 3508), strict=True))
    return (Fraction(bennett[eps], 1000), Fraction(optimal[eps], 1000)), Fraction(1, 1000)


def _gain_and_rounding(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """What follows from the stated budgets, if each largest one lies between the stated one and the next."""
    exceptions = set()
    for eps in EPSILONS:
        (bennett, optimal), resolution = statement(eps)
        yield compare(optimal / (bennett + resolution), Fraction(112, 100), ">", at=f"gain at least 12%, eps={eps}")
        yield compare((optimal + resolution) / bennett, Fraction(123, 100), "<", at=f"gain at most 23%, eps={eps}")
        for name, largest, printed in zip(
            ("Bennett", "optimal"), (bennett, optimal), _printed_budgets(eps)[0], strict=True
        ):
            below, above = printed - Fraction(1, 200), printed + Fraction(1, 200)
            if not (below <= largest and largest + resolution <= above):
                exceptions.add((name, printed))
    only = {("optimal", PRINTED_OPTIMAL[Fraction(1, 2)])}
    yield compare(exceptions, only, at="printed budgets that are not the largest one rounded to the nearest hundredth")


def _raised(eps: Fraction) -> tuple[tuple[Fraction, Fraction], Fraction]:
    """The same, the optimal one a thousandth larger."""
    (bennett, optimal), resolution = _largest_budgets(eps)
    return (bennett, optimal + resolution), resolution


def _grown(eps: Fraction) -> tuple[tuple[Fraction, Fraction], Fraction]:
    """The same, the optimal one larger by three percent."""
    (bennett, optimal), resolution = _largest_budgets(eps)
    return (bennett, optimal * Fraction(103, 100)), resolution


def _lifted(eps: Fraction) -> tuple[tuple[Fraction, Fraction], Fraction]:
    """The same, the optimal one larger by three thousandths: the gains stay between 12 and 23 percent."""
    (bennett, optimal), resolution = _largest_budgets(eps)
    return (bennett, optimal + 3 * resolution), resolution


TABLE_4 = Claim(
    id="decomposition.table-4",
    kind="table",
    title="frequency estimates at equal privacy, two accountants",
    text=(
        Clause(
            "budgets",
            r"Local budgets $\varepsilon_0$ of 10-RR that give $(\varepsilon,10^{-6})$-DP for 1000 users, by "
            "Bennett's bound (0.17, 0.62, 1.00, 1.51, 2.37, 3.06) and by the optimal one (0.21, 0.73, 1.15, "
            r"1.70, 2.65, 3.51), at $\varepsilon=0.01,0.05,0.1,0.2,0.5,1$, with mean $\ell_2$ errors; the "
            "second is said to be roughly 10% larger.",
        ),
        Clause(
            "rounding",
            "Eleven of the twelve are the largest budget rounded to the nearest hundredth, by which four "
            "exceed the target (Bennett 2.37; optimal 0.21, 1.15, 3.51); the twelfth, 2.65, stands for "
            "2.659.",
        ),
        Clause("gain", r"The gain is between 12% and 23% at every $\varepsilon$."),
        Clause("errors", "The errors agree with the closed form."),
    ),
    source="decomposition, Table 4",
    assumptions=("unbiased estimator, not clipped",),
    scope="all twelve budgets in ball arithmetic, their ratios and rounding; the errors against the root mean square",
    grade="refuted",
    printed=_printed_budgets,
    check=_estimation,
    controls=(
        Control("one thousandth more at the optimal bound", _raised),
        Control(
            "errors without the n in the estimator's variance",
            lambda eps: tuple((eps0, error * 10) for eps0, error in _printed_errors(eps)),
            _errors,
        ),
        Control("optimal budgets three percent larger: gains above 23%", _grown, _gain_and_rounding),
        Control("optimal budgets three thousandths larger: another rounding", _lifted, _gain_and_rounding),
    ),
    expected="refuted",
    erratum=Erratum(
        "hypothesis",
        "reading",
        "Budgets are rounded to the nearest hundredth, as numbers usually are; but a budget rounded up misses "
        "the target. The errors of the table are right.",
        quote="roughly 10% larger than that given by prior work",
    ),
    corrected=Correction(
        r"Largest budgets in thousandths that meet the target: Bennett 0.171, 0.624, 1.003, 1.512, 2.367, 3.060; "
        r"optimal 0.209, 0.730, 1.147, 1.704, 2.659, 3.508. Mean squared error "
        r"$\frac{P(1-P)+(k-1)q(1-q)}{n(P-q)^2}$, $P=e^{\varepsilon_0}q$, $q=\frac1{e^{\varepsilon_0}+k-1}$, for any "
        r"data.",
        _largest_budgets,
        "certified",
    ),
    obligations=for_all("eps", clause=("budgets", "rounding", "gain", "errors")),
)

CLAIMS: tuple[Claim, ...] = (TABLE_4,)
