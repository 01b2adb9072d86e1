"""A search for a dataset worse than that of the conjecture behind Section 4.3, for four to eight users on the line.

    python -m proofs_checks.vecmean._backgrounds [N ...]

User 1 holds a or nothing, the others hold b_2, ..., b_n in [-1, 1], and every message has noise N(0, sigma0^2). The
conjecture says that a = 1 and all b = -1 is worst. The divergence is the mean, over standard normal Z, of the positive
part of (1/n!) sum_pi (E_a - e^eps)(Z_pi1) prod_i E_{b_i}(Z_pii), with E_u(z) = e^{uz - u^2/2} in units of sigma0.
That is a permanent, summed here over subsets. One sample of Z serves all datasets of a setting, so that differences are
known better than values. A search in doubles proves nothing; it prints the smallest margin that it found, with its
standard error.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]

NOISES: Final = (1.0, 2.0)
LEVELS: Final = (0.05, 0.2, 0.5)
SAMPLES: Final = {4: 60_000, 5: 60_000, 6: 40_000, 7: 20_000, 8: 10_000}
SEED: Final = 27


class Margin(NamedTuple):
    """How far a dataset stays below the conjectured one, as a share of its divergence, and the standard error."""

    share: float
    error: float
    noise: float
    level: float
    reverse: bool
    own: float
    others: tuple[float, ...]


def permanent(factors: Sequence[Array]) -> Array:
    """Permanent over n! of the matrix whose row i is ``factors[i]``, for every sample."""
    sums: dict[int, Array] = {0: np.ones(len(factors[0]))}
    for row in factors:
        longer: dict[int, Array] = {}
        for subset, value in sums.items():
            for column in range(len(factors)):
                if not subset >> column & 1:
                    key = subset | 1 << column
                    longer[key] = longer.get(key, 0) + value * row[:, column]
        sums = longer
    return sums[2 ** len(factors) - 1] / math.factorial(len(factors))


def backgrounds(n: int, rng: np.random.Generator) -> Iterator[tuple[float, ...]]:
    """Others' positions: some at 1 or at 0, one or all moved inward, and drawn ones."""
    for moved, place in itertools.product(range(1, n), (1.0, 0.0)):
        yield (-1.0,) * (n - 1 - moved) + (place,) * moved
    for place in (-0.9, -0.5, 0.5):
        yield (*(-1.0,) * (n - 2), place)
        yield (place,) * (n - 1)
    for _ in range(4):
        yield tuple(rng.uniform(-1, 1, n - 1).tolist())


def margins(n: int) -> Iterator[Margin]:
    """Margins of all datasets of the search at n users."""
    rng = np.random.default_rng(SEED + n)
    for noise, level, reverse in itertools.product(NOISES, LEVELS, (False, True)):
        half = rng.standard_normal((SAMPLES[n] // 2, n))
        z, order = np.vstack([half, -half]), math.exp(level)

        def part(
            own: float,
            others: Sequence[float],
            z: Array = z,
            order: float = order,
            noise: float = noise,
            turned: bool = reverse,
        ) -> Array:
            ratio, *rest = (np.exp(u / noise * z - (u / noise) ** 2 / 2) for u in (own, *others))
            first = 1 - order * ratio if turned else ratio - order
            return np.maximum(permanent([first, *rest]), 0)

        conjectured = part(1.0, (-1.0,) * (n - 1))
        mean = float(conjectured.mean())
        for others, own in itertools.product(backgrounds(n, rng), (1.0, 0.5)):
            away = (conjectured - part(own, others)) / mean
            yield Margin(float(away.mean()), float(away.std() / len(z) ** 0.5), noise, level, reverse, own, others)


def main(sizes: Sequence[str]) -> None:
    """Print the smallest margin for each number of users, and the most standard errors below 0."""
    for n in map(int, sizes or SAMPLES):
        found = list(margins(n))
        least = min(found)
        worst = min(one.share / one.error for one in found)
        line = f"n = {n}: {len(found)} datasets, smallest margin {least}, {worst:.1f} standard errors at least"
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
