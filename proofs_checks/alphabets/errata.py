"""Slips in the prose of the introduction that no numbered statement of the ledger carries."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np

from proofs_checks.alphabets._equivariant import response_mixture
from symshuffle.channels.channel import Channel
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Correction,
    Statement,
    for_all,
)
from symshuffle.ledger.claims.parts import Erratum
from symshuffle.mechanisms.finite import subset_selection
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.canonical import enumerated_risk
from symshuffle.utility.frontiers.frontier import trace_frontier
from symshuffle.utility.likelihood import families

SIZE: Final = 10**9


def _persistent(upper: Any, lower: Any) -> bool:
    """Section 1 (D): a persistent family stays on the ordinary scale. By the upper and lower limit of chi-square."""
    return bool(upper > 0)


def _check_scale(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Four families and every two of them in turn, lam = 3: does chi-square at k near 10^9 stay above 1e-6.

    Exact rationals; the answer is compared with what the statement says of the upper and lower limits of chi-square,
    which the families give in closed form.
    """
    kept = (families.HALF_BLOCK, families.HALF_SUBSETS, families.GRR, families.HALF_BLOCK.diluted(Fraction(1, 3)))
    for first, second in itertools.combinations_with_replacement(kept, 2):
        # The first family at even k that 4 divides, the second at the others.
        ends = [one.at(lam=3) for one in (first, second)]
        found = [one.size(SIZE + 2 * place).chi_square for place, one in enumerate(ends)]
        limits = sorted(one.limit_chi_square for one in ends)
        remains = min(found) > Fraction(1, 10**6)
        where = f"{first.name} and {second.name} in turn, lam = 3"
        yield compare(remains, statement(limits[1], limits[0]), at=f"{where}: every size keeps its scale")


def _the_same(first: Channel, second: Channel) -> bool:
    """Section 1 (G): the optimum at a low budget is unique in the class of Theorem 10.2."""
    return first == second


def _check_unique(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Three channels at k = 5, each of budget 1/8 and least risk: does the statement call every two of them one.

    Budgets and enumerated risks of one user over Q, the least from the trace frontier; a channel of another ratio must
    not be called the same.
    """
    k, budget, two = 5, Fraction(1, 8), Fraction(2)
    quarter, half, eighth = Fraction(1, 4), Fraction(1, 2), Fraction(1, 8)
    found = (
        response_mixture(k, ((half, two),), (half,)),
        response_mixture(k, ((quarter, two), (quarter, two)), (half,)),
        response_mixture(k, ((half, two),), (quarter, eighth, eighth)),
    )
    best: Any = trace_frontier(k, budget).trace.exact
    for place, channel in enumerate(found):
        law = AnchoredLaw.from_channel(channel)
        yield compare(law.pairwise_divergence(0, 1), budget, at=f"channel {place}, k = 5: budget")
        risk, _mean = enumerated_risk(channel, (Fraction(1), *(Fraction(0),) * 4), n=1, population="fixed")
        # Trace is k (k-1) times the signal A, and n times the risk is ((k-1)/k)(1/A - 1).
        yield compare(risk, Fraction(k - 1, k) * (k * (k - 1) / best - 1), at=f"channel {place}, k = 5: least risk")
    for first, second in itertools.combinations(found, 2):
        yield decide(statement(first, second), at="two optimal channels, k = 5, B = 1/8", claimed="one optimum")
    other = response_mixture(k, ((half, Fraction(3)),), (half,))
    yield compare(statement(found[0], other), False, at="another ratio: another mechanism")


def _best_sizes(k: int, lam: Fraction) -> set[int]:
    """Section 1: k-ary response, subset selection of size 1, is the locally optimal mechanism."""
    return {1}


def _local_signal(k: int, s: int, lam: Fraction) -> Fraction:
    """Signal of subset selection, up to a factor without s."""
    return s * (k - s) / (s * lam + k - s) ** 2


def _sizes_by_signal(k: int, lam: Fraction) -> set[int]:
    values = {s: _local_signal(k, s, lam) for s in range(1, k)}
    return {s for s, value in values.items() if value == max(values.values())}


def _check_local(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Five pairs (k, lam), every size s: sizes of least risk of one user, enumerated over Q, against the stated set."""
    for k, lam in ((5, Fraction(2)), (4, Fraction(2)), (5, Fraction(4)), (6, Fraction(3, 2)), (3, Fraction(5))):
        risks = {}
        for s in range(1, k):
            channel = subset_selection().at(k=k, s=s, lam=lam).channel()
            point = (Fraction(1), *(Fraction(0),) * (k - 1))
            risks[s], _mean = enumerated_risk(channel, point, n=1, population="fixed")
        best = {s for s, risk in risks.items() if risk == min(risks.values())}
        yield compare(best, statement(k, lam), at=f"k = {k}, lam = {lam}: sizes of least risk")


def _never_best(ratio: Any, k: Any) -> bool:
    """Abstract: under a pairwise chi-square budget calibrated k-ary response is not optimal."""
    return False


def _check_calibrated(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Whether k-ary response calibrated to a budget has the least exact risk of one user, at seven (k, lam).

    The risk is counted from the channel, the least one comes from the certified frontier at the same budget; the yes or
    no is compared with the statement's.
    """
    # From small to large. The critical ratio sqrt(k-1) is 2 at k = 5 and 3 at k = 10: one case at it, on each side one.
    for k, lam in ((3, Fraction(2)), (4, Fraction(3)), (5, Fraction(3, 2)), (5, Fraction(2)),
                   (5, Fraction(3)), (10, Fraction(5, 2)), (10, Fraction(3))):  # fmt: skip
        channel = response_mixture(k, ((Fraction(1), lam),))
        best: Any = trace_frontier(k, AnchoredLaw.from_channel(channel).pairwise_divergence(0, 1)).trace.upper
        risk, _mean = enumerated_risk(channel, (Fraction(1), *(Fraction(0),) * (k - 1)), n=1, population="fixed")
        least = Fraction(k - 1, k) * (k * (k - 1) / best - 1)  # as in the check above
        optimal = risk - least < Fraction(1, 10**15)
        yield compare(optimal, statement(lam, k), at=f"k = {k}, lam = {lam}: risk of one user {risk}, least {least}")


def _claim(
    name: str, title: str, text: str | tuple[Clause, ...], printed: Statement, corrected: Statement, **other: Any
) -> Claim:
    """An erratum: what is printed, a counterexample in its text, what is true instead."""
    return Claim(
        id=f"symshuffle.alphabets-{name}",
        kind="statement",
        title=title,
        text=text,
        assumptions=(),
        grade="refuted",
        printed=printed,
        expected="refuted",
        corrected=Correction(other.pop("correction"), corrected, "exact-cases"),
        **other,
    )


CLAIMS: Final = (
    _claim(
        "persistent-everywhere",
        "does a persistent family stay on the ordinary scale?",
        (
            Clause("said", "Section 1, (D): persistent families remain on the ordinary shuffled Gaussian scale."),
            Clause(
                "definition",
                r"By Definition 6.1 a family is persistent if $\limsup\chi_*>0$, so only a subsequence remains, "
                "as Theorem 6.2 (iv) says.",
                "quoted",
            ),
            Clause(
                "instance",
                "Half-block where 4 divides k, k-ary response at the other even k is persistent, and at "
                r"$\lambda=3$ its $\chi_*$ is $4/3$ at the former, $\frac{16}{3(k+2)}$ at the latter.",
            ),
        ),
        _persistent,
        lambda upper, lower: bool(lower > 0),
        erratum=Erratum(
            "wording",
            "granted",
            "The introduction drops the subsequence that Theorem 6.2 (iv) has.",
            quote="Persistent families remain on the ordinary shuffled Gaussian/GDP scale",
        ),
        correction=r"It does along a subsequence; at every large size exactly if $\liminf\chi_*>0$.",
        source="alphabets, Section 1, (D)",
        scope="four families and their pairs in turn, lam = 3, at k of 10^9",
        check=_check_scale,
        controls=(Control("never", lambda upper, lower: False),),
        obligations=for_all("upper", "lower", clause=("said", "instance")),
    ),
    _claim(
        "unique-optimum",
        "is the optimum at a low budget one channel?",
        (
            Clause(
                "said",
                "Section 1, (G): for a low budget the unique optimum among mixtures of k-ary responses with "
                "null symbols is one augmented response.",
            ),
            Clause(
                "instance",
                "At $k=5$, $B=1/8$ it has weight 1/2 and $C=2$; two blocks of weight 1/4, or a null symbol in "
                "three parts, are in the class and have the same budget and risk.",
            ),
            Clause("theorem", "(Theorem 11.3 and Remark 10.5 say so.)", "quoted"),
        ),
        _the_same,
        lambda first, second: AnchoredLaw.from_channel(first) == AnchoredLaw.from_channel(second),
        erratum=Erratum(
            "wording",
            "reading",
            "Unique as a law of templates, as the theorem behind the sentence says.",
            quote="the unique optimum in this class is an augmented GRR channel",
        ),
        correction="Unique up to refinement: all optimal channels have one law of templates.",
        source="alphabets, Section 1, (G)",
        scope="three optimal channels at k = 5, with their risk by enumeration, and one of another ratio",
        check=_check_unique,
        controls=(Control("as many outputs", lambda first, second: first.num_outputs == second.num_outputs),),
        obligations=for_all("first", "second", clause=("said", "instance")),
    ),
    _claim(
        "locally-optimal",
        "is k-ary response the locally optimal mechanism?",
        (
            Clause("said", "Section 1 calls k-ary randomized response the locally optimal mechanism."),
            Clause("instead", "For frequencies at a given local budget that is subset selection."),
            Clause(
                "instance",
                r"At $k=5$, $\lambda=2$, subsets of two have risk $\frac{76}{3}$ for one user, k-ary response "
                "$28$.",
            ),
            Clause("meant", "(Locally calibrated is meant, as later in the section.)", "quoted"),
        ),
        _best_sizes,
        _sizes_by_signal,
        erratum=Erratum(
            "wording",
            "reading",
            "Locally calibrated is meant, the word of the same section later on.",
            quote="The locally optimal mechanism (GRR at matched budget)",
        ),
        correction=(
            r"Within subset selection the best size maximises $s(k-s)/(s\lambda+k-s)^2$, next to $k/(\lambda+1)$."
        ),
        source="alphabets, Section 1",
        scope="all sizes at five pairs (k, lam), risks of one user by enumeration",
        check=_check_local,
        controls=(Control("half the inputs", lambda k, lam: {k // 2}),),
        obligations=for_all("k", "lam", clause=("said", "instead", "instance")),
    ),
    _claim(
        "calibrated-not-optimal",
        "is calibrated k-ary response never optimal?",
        (
            Clause(
                "said",
                "Abstract and Section 1, (G): under a canonical pairwise budget calibrated k-ary response is "
                "not optimal.",
            ),
            Clause("instead", r"From $\lambda=\sqrt{k-1}$ on it is, as Theorem 10.2 says of its class."),
            Clause(
                "instance",
                r"At $k=3$, $\lambda=2$, budget $3/8$, it has risk $10$ for one user, the least of all mixtures "
                "of k-ary responses with null symbols.",
            ),
            Clause(
                "meant",
                "(Low budgets, named in the same sentence for the other mechanism, are probably meant.)",
                "quoted",
            ),
        ),
        _never_best,
        lambda ratio, k: ratio**2 >= k - 1,
        erratum=Erratum(
            "wording",
            "reading",
            "Low budgets are probably meant; the theorem behind the sentence says where it holds.",
            quote="calibrated GRR is not optimal",
        ),
        correction=r"It is not optimal below the budget of $\lambda=\sqrt{k-1}$; from there on it is, in its class.",
        source="alphabets, abstract and Section 1, (G)",
        scope="seven pairs (k, lam) below, at and above the critical ratio, risks of one user by enumeration",
        check=_check_calibrated,
        controls=(
            Control("always optimal", lambda ratio, k: True),
            Control("optimal above it only", lambda ratio, k: ratio**2 > k - 1),
        ),
        obligations=for_all("ratio", "k", clause=("said", "instead", "instance")),
    ),
)
