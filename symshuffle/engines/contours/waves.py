r"""Sums of waves :math:`\sum_iw_ie^{ijhv_i}` for j = 0, 1, ..., in balls, as one product of matrices.

With :math:`j=qB+r`, :math:`e^{ijhv}=e^{iqBhv}\,e^{irhv}`: about :math:`2\sqrt N` sines and cosines per atom in place
of N, and all that is left is a matrix product, for which Arb is some thirty times faster than term by term.

Evidence: *proved*, in balls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import flint


def waves(
    values: Sequence[flint.arb], weights: Sequence[flint.arb | flint.acb], step: flint.arb, count: int
) -> list[flint.acb]:
    """The sums for j = 0 to ``count - 1``, at the working precision.

    Parameters
    ----------
    values, weights : sequence of arb
        Atoms, shape ``(m,)`` each; none makes every sum 0. Weights may be complex.
    step : arb
        Distance h of neighbouring points of the line.
    count : int
        How many points, at least 1.
    """
    if not values:
        return [flint.acb(0)] * count
    short = math.isqrt(count - 1) + 1
    long = -(-count // short)
    atoms = [(v, flint.acb(w)) for v, w in zip(values, weights, strict=True)]
    near = [[_turn(v, step, r) * w for v, w in atoms] for r in range(short)]
    far = [[_turn(v, step, q * short) for q in range(long)] for v, _ in atoms]
    product = flint.acb_mat(near) * flint.acb_mat(far)
    return [product[j % short, j // short] for j in range(count)]


def _turn(value: flint.arb, step: flint.arb, index: int) -> flint.acb:
    """One wave at one point."""
    sine, cosine = (step * index * value).sin_cos()
    return flint.acb(cosine, sine)


__all__ = ["waves"]
