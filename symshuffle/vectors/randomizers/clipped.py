r"""A density on the sphere that is linear above a height and constant below it, in balls.

Its optimality among all densities :math:`h(\langle u,v\rangle)` is in :mod:`symshuffle.vectors.error.optimal`. Vectors
of the ball are rounded to the sphere first, which mixes two laws and so raises no index.
"""

from __future__ import annotations

import flint

from symshuffle.base.numbers import DEFAULT_BITS, Ball, to_arb, working_precision
from symshuffle.vectors.randomizers.mechanisms import ClippedLinear
from symshuffle.vectors.randomizers.sphere import partial_moments


def clipped_numbers(mechanism: ClippedLinear, *, bits: int = DEFAULT_BITS) -> tuple[Ball, Ball, Ball]:
    r"""The mass gamma, the slope beta and the shrinkage m of :math:`h(t)=\gamma+\beta(t-t_0)_+`, in balls.

    With :math:`e_j=E[((T-t_0)_+)^j]` the unit mass gives :math:`\gamma=1-\beta e_1`, and the index
    :math:`\beta^2(e_2-e_1^2)=\gamma/\chi^2`: a quadratic equation for the slope.
    """
    with working_precision(bits + 32):
        first, second, cross = ramp_moments(to_arb(mechanism.clip), mechanism.dimension)
        spread = (second - first * first) * to_arb(mechanism.chi) ** 2
        slope = 2 / (first + (first * first + 4 * spread).sqrt())
        gamma, beta, m = (Ball.from_arb(v, bits) for v in (1 - slope * first, slope, slope * cross))
        return gamma, beta, m


def ramp_moments(clip: flint.arb, dimension: int) -> tuple[flint.arb, flint.arb, flint.arb]:
    r"""The numbers :math:`E(T-t_0)_+`, :math:`E((T-t_0)_+)^2` and :math:`E[T(T-t_0)_+]`."""
    mass, mean, square = partial_moments(-clip, dimension)  # of -T below -t0
    mean = -mean
    return mean - clip * mass, square - 2 * clip * mean + clip * clip * mass, square - clip * mean
