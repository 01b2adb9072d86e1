"""What sums over counts would take, as closed formulas: where it is too much, no engine is loaded or made.

Evidence: none is needed. Nothing here enters a bracket; its ends are proved by the engine that makes it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from symshuffle.base.choices import Arithmetic
    from symshuffle.channels.law import Law

CHEAP_VECTORS: Final = 20_000
"""Count vectors that the automatic choice enumerates at most where a law is not rational: cost only."""

LARGEST_STEPS: Final = 3_000_000
"""Steps over counts beyond which a sum is refused by default, after some seconds: cost only."""

DEEPEST: Final = 200
"""Copies off the heaviest atom beyond which no engine enumerates them, however few atoms there are: cost only."""


def too_long(label: str, law: Law, n: int, arithmetic: Arithmetic | None, rtol: float) -> bool:
    """Whether the automatic choice would be refused by the engine of this label, whatever else it looks at."""
    if law.never_positive or len(law.values) == 1:
        return False
    match label:
        case "exact":
            if arithmetic == "exact" or law.exact:
                return False
            return n >= CHEAP_VECTORS or count_vectors(law, n) > CHEAP_VECTORS  # of two atoms they are n + 1
        case "sparse":
            return copies_elsewhere(law, n) > DEEPEST
        case "counts":
            return steps_over_counts(law, n, rtol) > cheap_steps(rtol)
    return False


def count_vectors(law: Law, n: int, *, max_counted: int = 10_000_000) -> float:
    """Number of ways to draw the atoms n times.

    - ``max_counted``: users times atoms beyond which they are not even counted: their number is then infinite.
    """
    atoms = len(law.values)
    return math.comb(n + atoms - 1, n) if n * atoms < max_counted else math.inf


def copies_elsewhere(law: Law, n: int) -> float:
    """Expected number of copies that are not at the heaviest atom."""
    _, (least, most) = law.ends
    heaviest = least.index(max(least))
    return n * float(sum(most) - most[heaviest])


def steps_over_counts(law: Law, n: int, rtol: float) -> float:
    """About what a sum over counts in windows takes, at a relative width."""
    spread, sizes = math.sqrt(-8 * math.log(rtol)), list[float]()
    for weight in map(float, law.ends[1][1]):
        sizes.append(min(n, 4 + spread * math.sqrt(n * weight * max(1 - weight, 0.0))))
    return steps_of(sorted(sizes), n)


def cheap_steps(rtol: float, *, cheap: int = 120_000) -> int:
    """Steps over counts that are cheaper than a contour, whose cost grows with the root of the inverse of its width.

    - ``cheap``: their number at a relative width of 1e-6.
    """
    return min(LARGEST_STEPS, round(cheap * max(math.sqrt(1e-6 / rtol), 0.1)))


def steps_of(sizes: list[float], n: int) -> float:
    """Entries of the table of tails of the two longest windows, and count vectors of the others.

    All of the others but two are chosen one by one, so that their counts sum to at most n.
    """
    *others, first, second = sizes
    chosen, free = others[:-2], others[-2:]
    ways = math.lgamma(n + len(chosen) + 1) - math.lgamma(n + 1) - math.lgamma(len(chosen) + 1)
    vectors = min(math.prod(chosen), math.exp(min(ways, 700.0))) * math.prod(free)
    return min(sum(others) + 1, first + second) * second + vectors
