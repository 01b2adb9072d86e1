"""That the error one looks at decides which mechanism is best."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np

from symshuffle.base.choices import Loss
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, serving
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    by_cases,
)
from symshuffle.mechanisms.registry import mechanism
from symshuffle.utility.estimation.votes import canonical_votes

_INPUTS: Final = 8
_LAM: Final = 4
_BEST: Final = {"l2": 2, "max": 3, "absent": 1, "test": 2}


def _best(loss: Loss) -> int:
    """Best size of the subsets, k = 8 and exp(eps0) = 4."""
    return _BEST[loss]


def _variances(size: int) -> tuple[Fraction, Fraction]:
    """Variance of an estimated share, for a user who holds the input and one who does not, from all messages.

    The estimate of input 0 is linear in whether the message contains 0, and unbiased.
    """
    messages = list(itertools.combinations(range(_INPUTS), size))
    laws = []
    for held in (0, 1):
        weights = [Fraction(_LAM if held in message else 1) for message in messages]
        laws.append([weight / sum(weights) for weight in weights])
    shown = [sum(p for p, message in zip(law, messages, strict=True) if 0 in message) for law in laws]
    votes = [((0 in message) - shown[1]) / (shown[0] - shown[1]) for message in messages]
    means = [sum(p * vote for p, vote in zip(law, votes, strict=True)) for law in laws]
    assert means == [1, 0]
    own, absent = (
        sum(p * (vote - mean) ** 2 for p, vote in zip(law, votes, strict=True))
        for law, mean in zip(laws, means, strict=True)
    )
    return Fraction(own), Fraction(absent)


def _smaller_sum_of_roots(one: tuple[Fraction, Fraction], other: tuple[Fraction, Fraction]) -> bool:
    """Whether sqrt(a) + sqrt(b) < sqrt(c) + sqrt(d), in rationals: by squares, twice."""
    gap = other[0] + other[1] - one[0] - one[1]  # 2 sqrt(ab) < 2 sqrt(cd) + gap
    left, right = 4 * one[0] * one[1], 4 * other[0] * other[1]
    if gap < 0:
        return right > left and _squares_decide(right, left, -gap)
    return left < right or not _squares_decide(left, right, gap)


def _squares_decide(larger: Fraction, smaller: Fraction, gap: Fraction) -> bool:
    """Whether sqrt(larger) >= sqrt(smaller) + gap, for gap >= 0."""
    rest = larger - smaller - gap**2
    return rest >= 0 and rest**2 >= 4 * gap**2 * smaller


def _check_losses(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """The errors against the library's, and the best size of each loss, in ``_compared``: all that there are."""
    yield from serving("loss", _compared(statement))


def _compared(statement: Statement) -> Iterator[Comparison]:
    """All subset sizes at k = 8, lam = 4: errors summed over all messages, in rationals, against the library's.

    The sums of two standard errors are ordered by squares of rationals.
    """
    variances = {size: _variances(size) for size in range(1, _INPUTS)}
    errors: dict[Loss, dict[int, Any]] = {
        "l2": {size: own + (_INPUTS - 1) * absent for size, (own, absent) in variances.items()},
        "max": {size: max(both) for size, both in variances.items()},
        "absent": {size: absent for size, (_own, absent) in variances.items()},
    }
    for size in variances:
        noise = canonical_votes(mechanism("subset-selection").at(k=_INPUTS, s=size, lam=_LAM))
        for loss, found in errors.items():
            yield compare(noise.loss(loss, 1), found[size], at=f"{loss}, s={size}: the library's, one user")
    for loss in (*errors, "test"):
        claimed = statement(loss)
        for size, both in variances.items():
            if size != claimed:
                better = (
                    _smaller_sum_of_roots(variances[claimed], both)
                    if loss == "test"
                    else errors[loss][claimed] < errors[loss][size]
                )
                yield decide(better, at=f"{loss}: s={claimed} against s={size}", claimed="a smaller error")


CLAIMS: Final = (
    Claim(
        id="symshuffle.losses-disagree",
        kind="statement",
        title="the best subset size depends on the error that is looked at",
        text=(
            Clause(
                "squared",
                r"Among all subset sizes at $k=8$, $e^{\varepsilon_0}=4$ and any $n$, with the canonical "
                "estimator, $s=2$ alone has the smallest sum of squared errors.",
            ),
            Clause(
                "worst category", "$s=3$ alone has the smallest error of the worst category of the worst composition."
            ),
            Clause("absent", "$s=1$ ($k$-ary response) alone has the smallest error of a category that nobody holds."),
            Clause(
                "test",
                "$s=2$ alone has the smallest sum of the standard errors of a category held by all and of one "
                "held by none.",
            ),
        ),
        source="symshuffle.compare, option loss",
        assumptions=("a fixed composition", "one local level"),
        scope="k = 8, exp(eps0) = 4, all six sizes and all four losses, summed over all messages in rationals",
        grade="exact-cases",
        printed=_best,
        check=_check_losses,
        controls=(
            Control("one size for all losses", lambda loss: 2),
            Control("a larger set if nobody holds it", lambda loss: 2 if loss == "absent" else _best(loss)),
            Control("the test by the worst category", lambda loss: 3 if loss == "test" else _best(loss)),
        ),
        expected="holds",
        obligations=by_cases("loss", clause=("squared", "worst category", "absent", "test")),
    ),
)
