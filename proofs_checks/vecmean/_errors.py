"""What claims alone need of errors: the best factor on an unbiased estimate, probabilities of datasets up to order."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from symshuffle.base.numbers import (
    DEFAULT_BITS,
    Ball,
    Number,
    Verdict,
    less,
    to_arb,
    working_precision,
)


@final
@dataclass(frozen=True, slots=True)
class Shrinkage:
    r"""The best factor on an unbiased estimate of a mean of vectors of the ball.

    - ``factor``: the factor :math:`\lambda` in (0, 1).
    - ``risk``: largest :math:`E|\lambda\hat x-\bar x|^2`, every user holding a vector of the ball.
    """

    factor: Number
    risk: Number


def best_shrinkage(a: Number, b: Number, *, n: int = 1, bits: int = DEFAULT_BITS) -> Shrinkage:
    r"""Minimax factor where the unbiased error of one user is ``a + b |x|^2`` on the unit ball.

    The error of :math:`\lambda` times the mean of n estimates is at most
    :math:`\lambda^2(a+bs)/n+(1-\lambda)^2s` where s is the mean squared length (Jensen's inequality for the bias), and
    equals it where all users agree: a convex function of :math:`\lambda` for each s, affine in s.

    - ``a``, ``b``: as in :func:`affine_risk`; ``a + b > 0``.
    """
    first: Any = a
    slope: Any = b
    noise, growth = first / n, slope / n
    factor = 1 / (1 + noise + growth)
    tilt = factor * factor * growth + (1 - factor) * (1 - factor)
    if less(tilt, 0) is not Verdict.TRUE:
        return Shrinkage(factor, factor * factor * (noise + growth) + (1 - factor) * (1 - factor))
    with working_precision(bits + 16):  # both ends are equally bad where (1 - f)^2 = -growth f^2
        root = Ball.from_arb(1 / (1 + (-to_arb(growth)).sqrt()), bits)
    return Shrinkage(root, root * root * noise)


def product_weights(weights: Sequence[Fraction], n: int) -> tuple[Fraction, ...]:
    """Probability of each dataset up to order where users draw their inputs independently from the weights."""
    import math

    found = []
    for dataset in itertools.combinations_with_replacement(range(len(weights)), n):
        ways = math.factorial(n)
        for x in set(dataset):
            ways //= math.factorial(dataset.count(x))
        found.append(ways * math.prod((weights[x] for x in dataset), start=Fraction(1)))
    return tuple(found)
