"""Section 10: the phase set, and how the two design problems compare."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

import numpy as np

from symshuffle.anchored import AnchoredLaw, orbit_law
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
    identity,
)
from symshuffle.design.frontier import trace_frontier
from symshuffle.design.raw_cap import (
    optimal_subset_sizes,
    raw_cap_trace,
    subset_template,
    tie_ratio,
)
from symshuffle.mechanisms.finite import K, S, augmented_randomized_response


def _not_augmented(k: int, lam: Fraction, p: Fraction) -> bool:
    """Whether augmented randomized response with these parameters attains the largest trace under the cap."""
    return False


def _augmented_optimal(k: int, lam: Fraction, p: Fraction) -> bool:
    return p == 1 and 2 * lam * lam >= (k - 1) * (k - 2)


def _check_discussion(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    for k in (3, 4, 5, 10):
        for lam in map(Fraction, ("3/2", "2", "6", "9")):
            for p in map(Fraction, ("1/2", "1")):
                law = AnchoredLaw.from_channel(augmented_randomized_response().at(k=k, lam=lam, p=p).channel())
                yield compare(law.trace() == raw_cap_trace(k, lam), statement(k, lam, p), at=f"k={k}, lam={lam}, p={p}")
            sizes = optimal_subset_sizes(k, lam)
            near = k / (lam + 1)
            yield decide(
                all(abs(s - near) < 1 or s == 1 for s in sizes),
                at=f"k={k}, lam={lam}: size {sizes}",
                claimed="next to k/(lam+1)",
            )
    lam = Fraction(3, 2)
    spent = Fraction(orbit_law(subset_template(5, 2, lam)).pairwise_budget())
    yield compare(
        trace_frontier(5, spent).trace.lower, raw_cap_trace(5, lam), ">", at="k=5, lam=3/2: the two problems differ"
    )
    yield identity(
        tie_ratio().subs(S, 1) ** 2, (K - 1) * (K - 2) / 2, at="every k: where one high coordinate becomes best"
    )


CLAIMS: Final = (
    Claim(
        id="anchored.sec-10.phase",
        kind=Kind.STATEMENT,
        title="phase set and comparisons",
        text=(
            r"Augmented randomized response is not the raw-cap optimiser; the two design problems differ; the best "
            r"size is next to $k/(\lambda+1)$."
        ),
        source="anchored, Section 10",
        assumptions=("augmented response as in Definition 7.3, activation probability $p\\le1$",),
        scope="k = 3, 4, 5, 10, four caps, p = 1/2 and 1",
        grade=Grade.EXACT_CASES,
        printed=_not_augmented,
        check=_check_discussion,
        controls=(Control("it always is at p = 1", lambda k, lam, p: p == 1),),
        expected=ClaimVerdict.REFUTED,
        corrected=Correction(
            text=(
                r"With $p<1$ it never is. With $p=1$ it is plain $k$-ary response, and that is the optimiser exactly "
                r"for $\lambda^2\ge\frac{(k-1)(k-2)}2$; at $k=3$ always. The other two statements hold."
            ),
            statement=_augmented_optimal,
            grade=Grade.EXACT_CASES,
        ),
    ),
)
