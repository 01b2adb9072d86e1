"""Section 12: subset selection at a matched budget."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from symshuffle.anchored import AnchoredLaw
from symshuffle.claims.errata import Erratum, Severity, Standing
from symshuffle.claims.model import (
    Claim,
    ClaimVerdict,
    Comparison,
    Control,
    Correction,
    Grade,
    Kind,
    Statement,
    compare,
    decide,
    for_all,
    identity,
    serving,
)
from symshuffle.estimation.canonical import Population, canonical_estimator, canonical_risk, enumerated_risk
from symshuffle.frontiers.caps import subset_budget, subset_slope, subset_trace
from symshuffle.frontiers.equivariant import orbit_mixture
from symshuffle.frontiers.subset_family import (
    has_one_sign,
    inclusion_probabilities,
    matched_risk,
    ratio_derivative,
    risk_constant,
    risk_derivative,
    thinned_subset_selection,
)
from symshuffle.mechanisms.finite import K, S, krr, subset_selection
from symshuffle.mechanisms.symbolic import LAM, nonnegative

ROOT: Final = sp.Symbol("r", positive=True)
"""The root of k - 1."""

CASES: Final = ((3, 1, 2), (3, 2, 3), (4, 2, 2), (5, 2, 5), (5, 3, 2), (5, 4, 3))


def _subset_law(k: Any, s: Any, ratio: Any) -> tuple[Any, Any]:
    """Probability of a subset that holds the input, and of one that does not."""
    total = ratio * sp.binomial(k - 1, s - 1) + sp.binomial(k - 1, s)
    return ratio / total, 1 / total


def _check_law(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open k, s, C: both probabilities of a subset against the library's states, and the sum of a row; symbolic.

    Six channels over Q: a row against an enumeration of subsets; size 1 has the law of k-ary randomized response.
    """
    hit, miss = statement(K, S, LAM)
    (subsets,) = subset_selection().classes
    for state, claimed in zip(subsets.states, (hit, miss), strict=True):
        yield identity(state.probability, claimed, at=f"every k, s, C: {state.name}")
    yield identity(sp.binomial(K - 1, S - 1) * hit + sp.binomial(K - 1, S) * miss, 1, at="every k, s, C: row sum")
    for k, s, ratio in CASES:
        high, low = (Fraction(int(v.p), int(v.q)) for v in map(sp.nsimplify, statement(k, s, ratio)))
        rows = [
            sorted(high if x in subset else low for subset in itertools.combinations(range(k), s)) for x in range(k)
        ]
        channel = subset_selection().at(k=k, s=s, lam=ratio).channel()
        yield compare(sorted(channel.rows[0]), rows[0], at=f"k={k}, s={s}, C={ratio}: a row")
    single = subset_selection().at(k=4, s=1, lam=3).channel()
    same = AnchoredLaw.from_channel(single) == AnchoredLaw.from_channel(krr().at(k=4, lam=3).channel())
    yield decide(same, at="k=4, s=1", claimed="k-ary randomized response")


def _chi(k: Any, s: Any, ratio: Any) -> Any:
    """Chi-square of any two inputs."""
    return s * (k - s) * (ratio - 1) ** 2 * (ratio + 1) / ((k - 1) * ratio * (s * ratio + k - s))


def _check_chi(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open k, s, C: chi-square summed over subsets with just one of two inputs, against the stated; symbolic.

    Then the library's formula, and all pairs of six channels over Q.
    """
    # The four-type count of the text: only subsets holding exactly one of the pair tell the two apart.
    (subsets,) = subset_selection().classes
    hit, miss = (state.probability for state in subsets.states)
    split = sp.binomial(K - 2, S - 1)
    counted = split * ((hit - miss) ** 2 / miss + (hit - miss) ** 2 / hit)
    yield identity(counted, statement(K, S, LAM), at="every k, s, C: count of the four types")
    yield identity(subset_budget(), statement(K, S, LAM), at="every k, s, C: the library")
    for k, s, ratio in CASES:
        law = AnchoredLaw.from_channel(subset_selection().at(k=k, s=s, lam=ratio).channel())
        claimed = statement(Fraction(k), Fraction(s), Fraction(ratio))
        for i, j in itertools.permutations(range(k), 2):
            yield compare(law.pairwise_divergence(i, j), claimed, at=f"k={k}, s={s}, C={ratio}, pair {i}, {j}")


def _risk(k: Any, s: Any, ratio: Any) -> tuple[Any, Any, Any, Any]:
    """High and low value of the template, signal coefficient, and n times the risk."""
    total = s * ratio + k - s
    signal = s * (k - s) * (ratio - 1) ** 2 / ((k - 1) * total**2)
    return k * ratio / total, k / total, signal, (k - 1) / k * (1 / signal - 1)


def _check_risk(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open k, s, C: template values from the library's states, signal from them, risk from that; symbolic.

    The signal by its definition, the risk by Proposition 11.1, and both are the library's closed forms. Four channels
    over Q: risk and mean of two users by enumeration, at two compositions.
    """
    high, low, signal, constant = statement(K, S, LAM)
    (subsets,) = subset_selection().classes
    average = (S * subsets.states[0].probability + (K - S) * subsets.states[1].probability) / K
    for state, claimed in zip(subsets.states, (high, low), strict=True):
        yield identity(state.probability / average, claimed, at=f"every k, s, C: template at a {state.name}")
    # The template is high on s of k letters: its square sum over k(k-1); of isotropic information, the exact risk.
    values = [state.probability / average for state in subsets.states]
    square = S * (values[0] - 1) ** 2 + (K - S) * (values[1] - 1) ** 2
    yield identity(square / (K * (K - 1)), signal, at="every k, s, C: signal from the template")
    yield identity(
        (K - 1) ** 2 / (K * (K - 1) * signal) - (K - 1) / K, constant, at="every k, s, C: risk by Prop. 11.1"
    )
    yield identity(subset_trace() / (K * (K - 1)), signal, at="every k, s, C: signal, the library")
    yield identity(risk_constant(), constant, at="every k, s, C: risk, the library")
    for k, s, ratio in CASES[:4]:
        channel = subset_selection().at(k=k, s=s, lam=ratio).channel()
        claimed = statement(Fraction(k), Fraction(s), Fraction(ratio))[3]
        for held in ((2, *(0,) * (k - 1)), (1, 1, *(0,) * (k - 2))):
            w = tuple(Fraction(v, 2) for v in held)
            found, mean = enumerated_risk(channel, w, n=2, population=Population.FIXED)
            yield compare((2 * found, mean), (claimed, w), at=f"k={k}, s={s}, C={ratio}, composition {held}")


def _inclusion(k: Any, s: Any, ratio: Any) -> tuple[Any, Any, Any]:
    """Probability that the report holds the own symbol, another one, and the difference."""
    total = s * ratio + k - s
    return (
        s * ratio / total,
        s * ((s - 1) * ratio + k - s) / ((k - 1) * total),
        s * (k - s) * (ratio - 1) / ((k - 1) * total),
    )


def _check_inclusion(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open k, s, C: both probabilities against the library's, their difference, and the total s; symbolic.

    Six channels over Q: the count estimator of every message is the orbit estimator's vote, and the own symbol's
    probability follows from the law of templates.
    """
    own, other, gap = statement(K, S, LAM)
    counted = inclusion_probabilities()
    yield identity(counted[0], own, at="every k, s, C: the own symbol")
    yield identity(counted[1], other, at="every k, s, C: another symbol")
    yield identity(own - other, gap, at="every k, s, C: their difference")
    yield identity(own + (K - 1) * other, S, at="every k, s, C: s symbols are reported")
    for k, s, ratio in CASES:
        channel = subset_selection().at(k=k, s=s, lam=ratio).channel()
        law = AnchoredLaw.from_channel(channel)
        estimator = canonical_estimator(law)
        p, q, difference = statement(Fraction(k), Fraction(s), Fraction(ratio))
        for u in law.templates:
            top = max(u)
            count = tuple((int(entry == top) - q) / difference for entry in u)
            vote = tuple(Fraction(1, k) + entry for entry in estimator.vote(u))
            yield compare(vote, count, at=f"k={k}, s={s}, C={ratio}: one message of the count estimator")
        inside = sum((weight * u[0] for u, weight in law.template.atoms() if u[0] == max(u)), start=Fraction(0))
        yield compare(inside, p, at=f"k={k}, s={s}, C={ratio}: inclusion, by enumeration")


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
        has_one_sign(sp.diff(subset_budget(), LAM)), at="every k, s, C", claimed="chi grows in C", symbolic=True
    )
    yield identity(subset_budget().subs(LAM, 1), 0, at="every k, s: chi is 0 at C = 1")
    yield identity(sp.limit(subset_budget() / LAM, LAM, sp.oo), (K - S) / (K - 1), at="every k, s: and grows like C")
    yield identity(ratio_derivative(), moved, at="every k, s, C: implicit differentiation of chi")
    yield identity(risk_derivative(), grown, at="every k, s, C: the chain rule")
    above = decide(has_one_sign(grown), at="every real C > 1, 1 < s < k - 1", claimed="above 0", symbolic=True)
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
    Q: risk and slope.
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
        signal = share * _risk(Fraction(k), Fraction(s), ratio)[2]
        w = (Fraction(1), *(Fraction(0),) * (k - 1))
        found = canonical_risk(law, w, n=1, population=Population.FIXED)
        where = f"k={k}, s={s}, C={ratio}, share {share}"
        yield compare(found, Fraction(k - 1, k) * (1 / signal - 1), at=f"{where}: risk")
        yield compare(signal / Fraction(law.pairwise_budget()), statement(Fraction(k), Fraction(s), ratio)[1], at=where)


def _check_thinned_from_three(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """As `_check_thinned`, and for every k >= 3 the slope at C = 1 is below the best one, by sign; symbolic."""
    yield from _check_thinned(statement, rng)
    t = sp.Symbol("t", nonnegative=True)
    yield decide(
        nonnegative((K**2 - 4 * (K - 1)).subs(K, 3 + t) - 1, {t: t}),
        at="every k >= 3",
        claimed="1/(2k), the limit at C = 1, is below the maximum",
        symbolic=True,
    )


CLAIMS: Final = (
    Claim(
        id="alphabets.def-12.0",
        kind=Kind.DEFINITION,
        title="subset selection",
        text=(
            r"An $s$-subset is reported with probability $C/Z$ if it holds the input and $1/Z$ otherwise, "
            r"$Z=C\binom{k-1}{s-1}+\binom{k-1}s$."
        ),
        source="alphabets, Section 12",
        assumptions=(r"$1\le s\le k-1$, $C>1$",),
        scope="every k, s, C, with row sums; six channels; size 1 is k-ary randomized response",
        grade=Grade.PROVED,
        printed=_subset_law,
        check=_check_law,
        controls=(
            Control(
                "normalised by all subsets",
                lambda k, s, ratio: (ratio / (ratio * sp.binomial(k, s)), 1 / (ratio * sp.binomial(k, s))),
            ),
        ),
        expected=ClaimVerdict.DEFINITION,
        obligations=for_all("k", "s", "ratio"),
    ),
    Claim(
        id="alphabets.eq-12chi",
        kind=Kind.STATEMENT,
        title="pairwise divergence of subset selection",
        text=r"$\chi_{k,s}(C)=\frac{s(k-s)(C-1)^2(C+1)}{(k-1)C(sC+k-s)}$ for every pair.",
        source="alphabets, Section 12",
        assumptions=(r"$1\le s\le k-1$, $C>1$",),
        scope="every k, s, C by the count of the four types of subsets; all pairs of six channels",
        grade=Grade.PROVED,
        printed=_chi,
        check=_check_chi,
        controls=(
            Control("k for k - 1", lambda k, s, ratio: _chi(k, s, ratio) * (k - 1) / k),
            Control("without the factor C + 1", lambda k, s, ratio: 2 * _chi(k, s, ratio) / (ratio + 1)),
        ),
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("k", "s", "ratio"),
    ),
    Claim(
        id="alphabets.eq-12risk",
        kind=Kind.STATEMENT,
        title="exact risk of subset selection",
        text=(
            r"Templates $kC/D$, $k/D$ with $D=sC+k-s$; $A_{k,s}=\frac{s(k-s)(C-1)^2}{(k-1)D^2}$; risk "
            r"$\frac{k-1}{kn}(1/A_{k,s}-1)$ at every fixed composition."
        ),
        source="alphabets, Section 12",
        assumptions=(r"$1\le s\le k-1$, $C>1$", "the exact risk of Proposition 11.1"),
        scope="every k, s, C; enumeration of all histograms of 2 users at four channels and two compositions",
        grade=Grade.PROVED,
        printed=_risk,
        check=_check_risk,
        controls=(
            Control(
                "signal over k for k - 1",
                lambda k, s, ratio: (
                    *_risk(k, s, ratio)[:2],
                    _risk(k, s, ratio)[2] * (k - 1) / k,
                    _risk(k, s, ratio)[3],
                ),
            ),
            Control(
                "the i.i.d. risk", lambda k, s, ratio: (*_risk(k, s, ratio)[:3], (k - 1) / k / _risk(k, s, ratio)[2])
            ),
        ),
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("k", "s", "ratio"),
    ),
    Claim(
        id="alphabets.eq-12incl",
        kind=Kind.STATEMENT,
        title="inclusion probabilities and the count estimator",
        text=(
            r"$p=sC/D$, $q=\frac{s((s-1)C+k-s)}{(k-1)D}$, $p-q=\frac{s(k-s)(C-1)}{(k-1)D}$; "
            r"$\hat\theta=(T/n-q)/(p-q)$ is unbiased, sums to 1 and is the orbit estimator."
        ),
        source="alphabets, Section 12",
        assumptions=(r"$1\le s\le k-1$, $C>1$",),
        scope="every k, s, C; every message of six channels",
        grade=Grade.PROVED,
        printed=_inclusion,
        check=_check_inclusion,
        controls=(
            Control(
                "another symbol with k for k - 1",
                lambda k, s, ratio: (
                    _inclusion(k, s, ratio)[0],
                    _inclusion(k, s, ratio)[1] * (k - 1) / k,
                    _inclusion(k, s, ratio)[2],
                ),
            ),
        ),
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("k", "s", "ratio"),
    ),
    Claim(
        id="alphabets.thm-12.1",
        kind=Kind.STATEMENT,
        title="k-ary response is the only matched-budget optimum of the family",
        text=(
            r"At $C=C_s(B)$: $n\,dR_s/ds=\frac{(k-1)^2D^2(sC^2+k-s)}{s^2(k-s)^2(C-1)[sC^3+(2k-s)C^2+(k+s)C+k-s]}>0$ "
            r"for real $1<s<k-1$, so the risk strictly increases in $s$ at every budget."
        ),
        source="alphabets, Theorem 12.1",
        assumptions=(r"$B>0$; for $k=2$ there is one size",),
        scope=(
            "derivative and sign for all real admissible k, s, C by coefficients of one sign; all sizes of five (k, B) "
            "and k = 10^9 over Q"
        ),
        grade=Grade.PROVED,
        printed=_monotone,
        check=_check_monotone,
        controls=(
            Control("k - s for 2k - s", _with_k_minus_s),
            Control("decreasing", lambda k, s, ratio: (_monotone(k, s, ratio)[0], -_monotone(k, s, ratio)[1])),
        ),
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("k", "s", "ratio", "sign"),
    ),
    Claim(
        id="alphabets.rem-12.2",
        kind=Kind.STATEMENT,
        title="thinned subset selection",
        text=(
            r"Mass $\zeta$ on subset selection: risk $\frac{k-1}{kn}(\frac1{\zeta A}-1)$, budget $\zeta\chi$; the "
            r"slope $\frac C{(C+1)(sC+k-s)}$ is maximised, at $s=1$ and $C=\sqrt{k-1}$."
        ),
        source="alphabets, Remark 12.2",
        assumptions=("the sizes and ratios of Theorem 12.1, whose proof admits k = 2",),
        scope="every k, s, C by an identity; two explicit channels",
        grade=Grade.REFUTED,
        printed=_thinned(2),
        check=_check_thinned,
        controls=(
            Control(
                "slope without the factor C + 1", lambda k, s, ratio: (3, 1 / (s * ratio + k - s), k - s - s * ratio**2)
            ),
            Control(
                "largest at the critical point of s = 2",
                lambda k, s, ratio: (3, _thinned(3)(k, s, ratio)[1], (k - 2 - 2 * ratio**2)),
            ),
        ),
        expected=ClaimVerdict.REFUTED,
        erratum=Erratum(
            Severity.HYPOTHESIS,
            Standing.GRANTED,
            "At two inputs the named maximiser is the excluded ratio 1; from three inputs on the remark is right.",
        ),
        corrected=Correction(
            text=(
                r"For $k\ge3$: $\frac{\chi}{A}=(1+r)^2+\frac{(C-r)^2}C+(s-1)(C-\frac1C)$ with $r=\sqrt{k-1}$, so "
                r"the slope is largest at $s=1$, $C=r$ and nowhere else. For $k=2$ it rises to 1/4 as $C\to1$, where "
                r"signal and budget vanish, and no mechanism attains that."
            ),
            statement=_thinned(3),
            grade=Grade.PROVED,
            check=_check_thinned_from_three,
        ),
        obligations=for_all("k", "s", "ratio"),
    ),
)
