"""Section 12: which size of the subsets is best at a matched budget, and that thinning gains beyond it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.alphabets._cases import ROOT
from proofs_checks.alphabets._equivariant import (
    is_positive,
    ratio_derivative,
    risk_derivative,
    thinned_subset_selection,
)
from proofs_checks.alphabets.section12_selection import subset_risk
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
from symshuffle.mechanisms.finite import K, S
from symshuffle.mechanisms.symbolic import LAM, nonnegative
from symshuffle.utility.estimation.canonical import canonical_risk
from symshuffle.utility.frontiers.certificate import orbit_mixture
from symshuffle.utility.frontiers.equivariant import matched_risk
from symshuffle.utility.frontiers.formulas import subset_budget, subset_slope


def _monotone(k: Any, s: Any, ratio: Any) -> tuple[Any, Any]:
    """Derivatives in s of the matched ratio, and of n times the matched-budget risk."""
    bracket = s * ratio**3 + (2 * k - s) * ratio**2 + (k + s) * ratio + k - s
    moved = ratio * (ratio**2 - 1) * (ratio * s**2 - (k - s) ** 2) / (s * (k - s) * bracket)
    grown = (
        (k - 1) ** 2 * (s * ratio + k - s) ** 2 * (s * ratio**2 + k - s) / (s**2 * (k - s) ** 2 * (ratio - 1) * bracket)
    )
    return moved, grown


def _with_k_minus_s(k: Any, s: Any, ratio: Any) -> tuple[Any, Any]:
    """The derivatives with k - s for 2k - s in their bracket."""
    right = s * ratio**3 + (2 * k - s) * ratio**2 + (k + s) * ratio + k - s
    wrong = s * ratio**3 + (k - s) * ratio**2 + (k + s) * ratio + k - s
    moved, grown = _monotone(k, s, ratio)
    return moved * right / wrong, grown * right / wrong


def _check_monotone(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open real k, s, C: both derivatives by implicit differentiation and the chain rule, their sign by coefficients.

    Chi-square grows in C from 0 without bound, so every budget has its ratio. Exact brackets of the risk at
    neighbouring sizes are in order, at five (k, B) and for four sizes at k = 10^9.
    """
    moved, grown = statement(K, S, LAM)
    yield decide(
        is_positive(sp.diff(subset_budget(), LAM)), at="every k, s, C", claimed="chi grows in C", symbolic=True
    )
    yield identity(subset_budget().subs(LAM, 1), 0, at="every k, s: chi is 0 at C = 1")
    yield identity(sp.limit(subset_budget() / LAM, LAM, sp.oo), (K - S) / (K - 1), at="every k, s: and grows like C")
    yield identity(ratio_derivative(), moved, at="every k, s, C: implicit differentiation of chi")
    yield identity(risk_derivative(), grown, at="every k, s, C: the chain rule")
    above = decide(is_positive(grown), at="every real C > 1, 1 < s < k - 1", claimed="above 0", symbolic=True)
    yield from serving("sign", [above])
    for k, budget in (
        (3, Fraction(1, 100)),
        (3, Fraction(10)),
        (6, Fraction(3, 10)),
        (9, Fraction(1)),
        (12, Fraction(5)),
    ):
        risks = [matched_risk(k, s, budget, n=1) for s in range(1, k)]
        sign = 1 if float(grown.subs({K: k, S: 1, LAM: 2})) > 0 else -1
        for s, (left, right) in enumerate(itertools.pairwise(risks), start=1):
            less, more = (left, right) if sign > 0 else (right, left)
            yield compare(less.upper, more.lower, "<", at=f"k={k}, B={budget}: sizes {s} and {s + 1}")
    far = [matched_risk(10**9, s, Fraction(1, 10), n=1) for s in (1, 2, 10**6, 10**9 - 1)]
    for left, right in itertools.pairwise(far):
        yield compare(left.upper, right.lower, "<", at="k=10^9, B=1/10")


def _thinned(least: int) -> Statement:
    """The statement from a smallest k on."""

    def statement(k: Any, s: Any, ratio: Any) -> tuple[int, Any, Any]:
        """Smallest k, slope, and the number whose sign is that of the derivative of the slope."""
        return least, ratio / ((ratio + 1) * (s * ratio + k - s)), k - s - s * ratio**2

    return statement


def _check_thinned(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open k = r^2 + 1, s, C: slope, derivative, and the distance of its inverse from the best one; symbolic.

    From the stated smallest k to 8: is the best ratio sqrt(k-1) above 1 (at k = 2 it is 1). Two thinned channels over
    Q: risk and slope. For every k >= 3 the slope at C = 1 is below the best one, by sign.
    """
    least, slope, numerator = statement(K, S, LAM)
    yield identity(subset_slope() / (K * (K - 1)), slope, at="every k, s, C: slope")
    yield identity(
        sp.diff(slope, LAM) * (LAM + 1) ** 2 * (S * LAM + K - S) ** 2, numerator, at="every k, s, C: its derivative"
    )
    # 1/slope = (1 + r)^2 + (C - r)^2/C + (s - 1)(C - 1/C): the last two terms are 0 only at s = 1, C = r.
    above = (LAM - ROOT) ** 2 / LAM + (S - 1) * (LAM - 1 / LAM)
    yield identity(
        (1 / slope).subs(K, ROOT**2 + 1), ((1 + ROOT) ** 2 + above), at="every k, s, C: how far from the maximum"
    )
    for k in range(least, 9):
        best = sp.sqrt(k - 1)
        claimed = "a ratio above 1 at which the slope is largest"
        yield decide(bool(best > 1), at=f"k={k}, s=1, C=sqrt(k - 1)", claimed=claimed, computed=f"C = {best}")
    for k, s, ratio, share in ((5, 2, Fraction(2), Fraction(1, 3)), (4, 1, Fraction(3), Fraction(1, 2))):
        law = orbit_mixture(thinned_subset_selection(k, s, ratio, share))
        signal = share * subset_risk(Fraction(k), Fraction(s), ratio)[2]
        w = (Fraction(1), *(Fraction(0),) * (k - 1))
        found = canonical_risk(law, w, n=1, population="fixed")
        where = f"k={k}, s={s}, C={ratio}, share {share}"
        yield compare(found, Fraction(k - 1, k) * (1 / signal - 1), at=f"{where}: risk")
        yield compare(signal / Fraction(law.pairwise_budget()), statement(Fraction(k), Fraction(s), ratio)[1], at=where)
    t = sp.Symbol("t", nonnegative=True)
    yield decide(
        nonnegative((K**2 - 4 * (K - 1)).subs(K, 3 + t) - 1, {t: t}),
        at="every k >= 3",
        claimed="1/(2k), the limit at C = 1, is below the maximum",
        symbolic=True,
    )


CLAIMS: Final = (
    Claim(
        id="alphabets.thm-12.1",
        kind="statement",
        title="k-ary response is the only matched-budget optimum of the family",
        text=(
            Clause(
                "derivative",
                "At $C=C_s(B)$: "
                r"$n\,dR_s/ds=\frac{(k-1)^2D^2(sC^2+k-s)}{s^2(k-s)^2(C-1)[sC^3+(2k-s)C^2+(k+s)C+k-s]}>0$ for "
                "real $1<s<k-1$.",
            ),
            Clause("increases", "The risk strictly increases in $s$ at every budget."),
        ),
        source="alphabets, Theorem 12.1",
        assumptions=(r"$B>0$; for $k=2$ there is one size",),
        scope=(
            "derivative and sign for all real admissible k, s, C by coefficients of one sign; all sizes of five (k, B) "
            "and k = 10^9 over Q"
        ),
        grade="proved",
        printed=_monotone,
        check=_check_monotone,
        controls=(
            Control("k - s for 2k - s", _with_k_minus_s),
            Control("decreasing", lambda k, s, ratio: (_monotone(k, s, ratio)[0], -_monotone(k, s, ratio)[1])),
        ),
        expected="holds",
        obligations=for_all("k", "s", "ratio", "sign", clause=("derivative", "increases")),
    ),
    Claim(
        id="alphabets.rem-12.2",
        kind="statement",
        title="thinned subset selection",
        text=(
            Clause(
                "thinned",
                r"Mass $\zeta$ on subset selection: risk $\frac{k-1}{kn}(\frac1{\zeta A}-1)$, budget "
                r"$\zeta\chi$.",
            ),
            Clause(
                "best",
                r"For $k\ge3$ the slope $\frac C{(C+1)(sC+k-s)}$ is largest at $s=1$ and $C=r=\sqrt{k-1}$ and "
                r"nowhere else, as its inverse is $(1+r)^2+\frac{(C-r)^2}C+(s-1)(C-\frac1C)$. (At $k=2$ the "
                "named ratio would be 1, where signal and budget vanish.)",
            ),
        ),
        source="alphabets, Remark 12.2",
        assumptions=(r"$k\ge3$; which range the remark has is not legible",),
        scope="every k, s, C by an identity; two explicit channels",
        grade="proved",
        printed=_thinned(3),
        check=_check_thinned,
        controls=(
            Control("from two inputs on", _thinned(2)),
            Control(
                "slope without the factor C + 1", lambda k, s, ratio: (3, 1 / (s * ratio + k - s), k - s - s * ratio**2)
            ),
            Control(
                "largest at the critical point of s = 2",
                lambda k, s, ratio: (3, _thinned(3)(k, s, ratio)[1], (k - 2 - 2 * ratio**2)),
            ),
        ),
        expected="holds",
        obligations=for_all("k", "s", "ratio", clause=("thinned", "best")),
    ),
)
