"""A search for a dataset worse than that of the conjecture behind Section 4.3, for four to eight users on the line.

    python -m proofs_checks.vecmean._backgrounds [N ...]

User 1 holds a or nothing, the others hold b_2, ..., b_n in [-1, 1], and every message has noise N(0, sigma0^2). The
conjecture says that a = 1 and all b = -1 is worst. The divergence is the mean, over standard normal Z, of the positive
part of (1/n!) sum_pi (E_a - e^eps)(Z_pi1) prod_i E_{b_i}(Z_pii), with E_u(z) = e^{uz - u^2/2} in units of sigma0.
That is a permanent, summed here over subsets. One sample of Z serves all datasets of a setting, so that differences are
known better than values. A search in doubles proves nothing; it prints the smallest margin that it found, with its
standard error, among the datasets where that error is small enough to say something.

Where all others are at one place, user 1's message is the only one of its kind, and the accountant of the library
brackets the divergence without a sample.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from symshuffle.base.numbers import Exp
from symshuffle.channels.continuous_law import ContinuousPair, Stretch
from symshuffle.vectors.privacy.accounting import pair_delta
from symshuffle.vectors.randomizers.coordinates import constant, normal, tilted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]

NOISES: Final = (1.0, 2.0)
LEVELS: Final = (0.05, 0.2, 0.5)
SAMPLES: Final = {4: 60_000, 5: 60_000, 6: 40_000, 7: 20_000, 8: 10_000}
SEED: Final = 27
TOO_NOISY: Final = 0.005
REL: Final = 1e-4


class Margin(NamedTuple):
    """How far a dataset stays below the conjectured one, as a share of its divergence, and the standard error."""

    share: float
    error: float
    noise: float
    level: float
    reverse: bool
    own: float
    others: tuple[float, ...]

    def __str__(self) -> str:
        pair = "(null, x)" if self.reverse else "(x, null)"
        places = ", ".join(f"{place:g}" for place in self.others)
        at = f"sigma0 = {self.noise:g}, eps = {self.level:g}, {pair}, x = {self.own:g}, others at {places}"
        return f"{self.share:.4%} (error {self.error:.4%}) at {at}"


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
    # Beyond six users the tails at the smaller noise are too heavy for a sample: its standard error is far too small.
    for noise, level, reverse in itertools.product(NOISES if n <= 6 else NOISES[1:], LEVELS, (False, True)):
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


def bracketed(n: int) -> Iterator[Margin]:
    """Margins where all others are at one place, at least; the error is the width of the brackets, as a share."""
    places = [(Fraction(1), Fraction(place)) for place in ("-0.99", "-0.5", "0", "1")]
    places += [(Fraction(own), Fraction(-1)) for own in ("0.99", "0.5")]
    for noise, level, reverse in itertools.product(NOISES, LEVELS, (False, True)):

        def part(own: Fraction, others: Fraction, noise: float = noise, turned: bool = reverse) -> ContinuousPair:
            sigma0 = Fraction(noise)
            densities = tilted(Fraction(0), own / sigma0), constant(Fraction(1)), tilted(Fraction(0), others / sigma0)
            pair = ContinuousPair((Stretch(None, None, normal, *densities),), "one against the null symbol")
            return pair.reverse if turned else pair

        exp_eps = Exp(Fraction(str(level)))
        most = pair_delta(part(Fraction(1), Fraction(-1)), n, exp_eps, rtol=REL)
        for own, others in places:
            found = pair_delta(part(own, others), n, exp_eps, rtol=REL)
            share = float((most.lower - found.upper) / most.lower)
            width = float((most.upper - most.lower + found.upper - found.lower) / most.lower)
            yield Margin(share, width, noise, level, reverse, float(own), (float(others),))


def main(sizes: Sequence[str]) -> None:
    """Print, for each number of users, the smallest margins of both kinds."""
    for n in map(int, sizes or SAMPLES):
        exact, sampled = list(bracketed(n)), list(margins(n))
        known = [one for one in sampled if one.error <= TOO_NOISY]
        sys.stdout.write(
            f"n = {n}: {len(exact)} datasets bracketed, smallest margin {min(exact)}\n"
            f"n = {n}: {len(known)} of {len(sampled)} sampled to {TOO_NOISY:.1%}, smallest margin {min(known)}; "
            f"{min(one.share / one.error for one in known):.1f} standard errors at least\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
