"""Section 12: subset selection: its law, budget, risk and inclusion probability."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.alphabets._equivariant import inclusion_probabilities, risk_constant
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)
from symshuffle.mechanisms.finite import K, S, krr, subset_selection
from symshuffle.mechanisms.symbolic import LAM
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.canonical import enumerated_risk, template_votes
from symshuffle.utility.frontiers.formulas import subset_budget, subset_trace

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


def subset_risk(k: Any, s: Any, ratio: Any) -> tuple[Any, Any, Any, Any]:
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
            found, mean = enumerated_risk(channel, w, n=2, population="fixed")
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
        p, q, difference = statement(Fraction(k), Fraction(s), Fraction(ratio))
        for u, voted in zip(law.templates, template_votes(law, law.templates), strict=True):
            top = max(u)
            count = tuple((int(entry == top) - q) / difference for entry in u)
            vote = tuple(Fraction(1, k) + entry for entry in voted)
            yield compare(vote, count, at=f"k={k}, s={s}, C={ratio}: one message of the count estimator")
        inside = sum((weight * u[0] for u, weight in law.template.atoms() if u[0] == max(u)), start=Fraction(0))
        yield compare(inside, p, at=f"k={k}, s={s}, C={ratio}: inclusion, by enumeration")


CLAIMS: Final = (
    Claim(
        id="alphabets.def-12.0",
        kind="definition",
        title="subset selection",
        text=(
            Clause(
                "probabilities",
                "An $s$-subset is reported with probability $C/Z$ if it holds the input and $1/Z$ otherwise.",
            ),
            Clause("normalised", r"$Z=C\binom{k-1}{s-1}+\binom{k-1}s$."),
        ),
        source="alphabets, Section 12",
        assumptions=(r"$1\le s\le k-1$, $C>1$",),
        scope="every k, s, C, with row sums; six channels; size 1 is k-ary randomized response",
        grade="proved",
        printed=_subset_law,
        check=_check_law,
        controls=(
            Control(
                "normalised by all subsets",
                lambda k, s, ratio: (ratio / (ratio * sp.binomial(k, s)), 1 / (ratio * sp.binomial(k, s))),
            ),
        ),
        expected="definition",
        obligations=for_all("k", "s", "ratio", clause=("probabilities", "normalised")),
    ),
    Claim(
        id="alphabets.eq-12chi",
        kind="statement",
        title="pairwise divergence of subset selection",
        text=r"$\chi_{k,s}(C)=\frac{s(k-s)(C-1)^2(C+1)}{(k-1)C(sC+k-s)}$ for every pair.",
        source="alphabets, Section 12",
        assumptions=(r"$1\le s\le k-1$, $C>1$",),
        scope="every k, s, C by the count of the four types of subsets; all pairs of six channels",
        grade="proved",
        printed=_chi,
        check=_check_chi,
        controls=(
            Control("k for k - 1", lambda k, s, ratio: _chi(k, s, ratio) * (k - 1) / k),
            Control("without the factor C + 1", lambda k, s, ratio: 2 * _chi(k, s, ratio) / (ratio + 1)),
        ),
        expected="holds",
        obligations=for_all("k", "s", "ratio"),
    ),
    Claim(
        id="alphabets.eq-12risk",
        kind="statement",
        title="exact risk of subset selection",
        text=(
            Clause("templates", "Templates $kC/D$, $k/D$ with $D=sC+k-s$."),
            Clause("signal", r"$A_{k,s}=\frac{s(k-s)(C-1)^2}{(k-1)D^2}$."),
            Clause("risk", r"Risk $\frac{k-1}{kn}(1/A_{k,s}-1)$ at every fixed composition."),
        ),
        source="alphabets, Section 12",
        assumptions=(r"$1\le s\le k-1$, $C>1$", "the exact risk of Proposition 11.1"),
        scope="every k, s, C; enumeration of all histograms of 2 users at four channels and two compositions",
        grade="proved",
        printed=subset_risk,
        check=_check_risk,
        controls=(
            Control(
                "signal over k for k - 1",
                lambda k, s, ratio: (
                    *subset_risk(k, s, ratio)[:2],
                    subset_risk(k, s, ratio)[2] * (k - 1) / k,
                    subset_risk(k, s, ratio)[3],
                ),
            ),
            Control(
                "the i.i.d. risk",
                lambda k, s, ratio: (*subset_risk(k, s, ratio)[:3], (k - 1) / k / subset_risk(k, s, ratio)[2]),
            ),
        ),
        expected="holds",
        obligations=for_all("k", "s", "ratio", clause=("templates", "signal", "risk")),
    ),
    Claim(
        id="alphabets.eq-12incl",
        kind="statement",
        title="inclusion probabilities and the count estimator",
        text=(
            Clause("probabilities", r"$p=sC/D$, $q=\frac{s((s-1)C+k-s)}{(k-1)D}$, $p-q=\frac{s(k-s)(C-1)}{(k-1)D}$."),
            Clause("estimator", r"$\hat\theta=(T/n-q)/(p-q)$ is unbiased, sums to 1 and is the orbit estimator."),
        ),
        source="alphabets, Section 12",
        assumptions=(r"$1\le s\le k-1$, $C>1$",),
        scope="every k, s, C; every message of six channels",
        grade="proved",
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
        expected="holds",
        obligations=for_all("k", "s", "ratio", clause=("probabilities", "estimator")),
    ),
)
