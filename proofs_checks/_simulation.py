"""Monte Carlo runs of the canonical estimator."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from symshuffle.base.choices import Population
from symshuffle.channels.channel import Channel
from symshuffle.utility.estimation.canonical import output_votes


def simulated_errors(
    channel: Channel,
    composition: Sequence[Fraction],
    *,
    n: int,
    population: Population,
    rng: np.random.Generator,
    repetitions: int,
) -> npt.NDArray[np.float64]:
    r"""Euclidean errors :math:`|\hat w-w|` of independent runs of the canonical estimator, unclipped."""
    votes = np.array(output_votes(channel), dtype=float)
    rows = np.array(channel.rows, dtype=float)
    truth = np.array(composition, dtype=float)
    if population == "iid":
        counts = rng.multinomial(n, truth @ rows, size=repetitions)
    else:
        held = [int(entry * n) for entry in composition]
        counts = np.sum([rng.multinomial(m, row, size=repetitions) for m, row in zip(held, rows, strict=True)], axis=0)
    errors: npt.NDArray[np.float64] = np.linalg.norm(counts @ votes / n + 1 / len(truth) - truth, axis=1)
    return errors
