"""dp-accounting on the two quantities that both libraries define: a shuffled pair given as two pmfs, and compositions.

It composes privacy loss distributions and knows nothing of shuffling, so the histograms of a shuffled pair have to be
enumerated for it. Both its estimates are taken: rounded up (pessimistic) and rounded down (optimistic).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from importlib.metadata import version
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from benchmarks.clone import LAM, USERS
from benchmarks.measure import MILLIONTH, Section, duration, power, seconds, table, timed
from symshuffle import delta, epsilon, randomizer
from symshuffle.accountants.bounds.answers import Answer
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.base.results import Bracket
from symshuffle.decompositions.composition import Composed, hamming, joint
from symshuffle.decompositions.model import Decomposition
from symshuffle.engines import BallContour, Contour

Array = npt.NDArray[np.float64]

INTERVALS: Final = (1e-4, 1e-6)
"""Grids of the privacy loss: the default of dp-accounting, and a finer one."""


class Estimate(NamedTuple):
    """What dp-accounting says of one delta, and the time of both estimates."""

    lower: float
    upper: float
    took: float


def binary_pair() -> Decomposition:
    """Binary randomized response at eps0 = 1 where all other users hold 1: a pair of datasets, exactly."""
    first, second = randomizer("rr", lam=LAM).channel().rows
    return Decomposition(first, second, second, Fraction(0))


def binary_histograms(n: int) -> tuple[Array, Array]:
    """The laws of the number of ones of that pair: user 1 holds 0, or 1 like everybody else."""
    kept = float(LAM / (LAM + 1))
    others = binom(n - 1, kept).pmf(np.arange(n + 1))
    shifted = np.concatenate([[0.0], others[:-1]])
    return kept * others + (1 - kept) * shifted, (1 - kept) * others + kept * shifted


def pair_estimate(first: Array, second: Array, eps: float, interval: float) -> Estimate:
    """The divergence of two pmfs at order exp(eps) through a privacy loss distribution."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    both = (first > 0) & (second > 0)  # elsewhere a mass is below the range of doubles
    upper, lower = (dict(enumerate(np.log(side[both]).tolist())) for side in (first, second))

    def value(pessimistic: bool) -> float:
        loss = pld.from_two_probability_mass_functions(
            lower, upper, pessimistic_estimate=pessimistic, value_discretization_interval=interval
        )
        return float(loss.get_delta_for_epsilon(eps))

    return _estimate(value)


def composed_estimate(lam: float, k: int, times: int, eps: float, interval: float) -> Estimate:
    """The divergence of k-ary randomized response, run several times by one user."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    def value(pessimistic: bool) -> float:
        once = pld.from_randomized_response(
            k / (lam + k - 1), k, pessimistic_estimate=pessimistic, value_discretization_interval=interval
        )
        return float(once.self_compose(times).get_delta_for_epsilon(eps))

    return _estimate(value)


def _estimate(value: Callable[[bool], float]) -> Estimate:
    (upper, first), (lower, second) = timed(lambda: value(True)), timed(lambda: value(False))
    return Estimate(lower, upper, first + second)


def _cells(found: Estimate, truth: Bracket) -> str:
    low, high = (value / float(truth.midpoint) - 1 for value in (found.lower, found.upper))
    return f"{low:+.1e} to {high:+.1e}, {duration(found.took)}"


def _shown(quick: Callable[[], Answer]) -> str:
    """Relative width and time of a bracket in doubles."""
    return f"{float(quick().bracket.relative_width or 0):.0e}, {duration(seconds(quick))}"


def shuffled_pairs() -> str:
    """The binary pair at each number of users."""
    source, rows = reduction(binary_pair()), []
    for n in USERS:
        found = epsilon(source, n=n, delta=MILLIONTH, direction="forward", engine=Contour(rtol=1e-4), rtol=1e-4)
        eps = float(found.bracket.upper)
        ask = partial(delta, source, n=n, eps=Fraction(eps), direction="forward")
        (first, second), made = timed(partial(binary_histograms, n))
        certified = ask(engine=BallContour(rtol=1e-10), arithmetic="ball").bracket
        ours = _shown(partial(ask, engine=Contour(rtol=1e-6)))
        theirs = [_cells(pair_estimate(first, second, eps, interval), certified) for interval in INTERVALS]
        rows.append((power(n), f"{float(certified.midpoint):.7e}", ours, *theirs, duration(made)))
    head = ("n", "delta", "contour", *(f"dp-accounting, interval {i:g}" for i in INTERVALS), "making its pmfs")
    return table(head, rows)


def compositions() -> str:
    """10-ary randomized response m times at n = 1, at a level with a common delta and at one near the total budget."""
    rows, lam = [], Fraction(11, 10)
    for times in (1, 4, 12):
        krr = randomizer("krr", k=10)
        several = hamming(joint(*[krr] * times), times)
        source = reduction(Composed(several, lam**times))
        for share in (0.5, 0.98):
            eps = round(times * math.log(lam) * share, 4)
            ask = partial(delta, source, n=1, eps=str(eps), direction="forward")
            certified, ours = ask(arithmetic="ball").bracket, _shown(ask)
            theirs = [
                _cells(composed_estimate(float(lam), 10, times, eps, interval), certified) for interval in (1e-4, 1e-5)
            ]
            rows.append((str(times), str(eps), f"{float(certified.midpoint):.7e}", ours, *theirs))
    head = ("m", "eps", "delta", "auto", "dp-accounting, interval 0.0001", "dp-accounting, interval 1e-05")
    return table(head, rows)


def section() -> Section:
    return Section(f"""## Against dp-accounting

dp-accounting {version("dp-accounting")} has no bound for the shuffle model: it composes privacy loss distributions.
Two quantities are the same in both libraries. Its entries are the relative errors of its optimistic and its pessimistic
estimate against a certified bracket, and the time of both; those of the engine `contour` and of `auto` are the relative
width of a bracket, asked for at 1e-6, and its time.

A pair of shuffled datasets: binary randomized response at eps0 = 1, one user against n - 1 who hold 1. For
dp-accounting the laws of the number of ones are written out, n + 1 outcomes (time on the right: by SciPy). The pair
that bounds all datasets of 10-ary randomized response would need about n^3/6 outcomes.

{shuffled_pairs()}

One user, no shuffling: 10-ary randomized response at e^eps0 = 1.1, m times on inputs that all differ, which here is the
joint composition at n = 1 and there a self-composition. It adds 1e-15 for the tails it cuts off, to both estimates, so
that for small deltas its optimistic estimate is above the truth.

{compositions()}

What dp-accounting does and symshuffle does not: compose shuffled rounds with mechanisms that are not shuffled, such as
Gaussian noise of a trusted curator.""")
