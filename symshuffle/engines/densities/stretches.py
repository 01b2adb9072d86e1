r"""Nodes of a line that are not evaluated, stretch by stretch.

The nodes from j to 2j are cut into stretches of as many nodes each; what bounds the integrand at the middle of a
stretch and how fast it moves bounds it at all of its nodes. Where that is too much there are four times as many
stretches, until each is one node. The middles are evenly spaced, so that a rule is taken at all of them at once.

Evidence: *proved*, in balls, given that the bound of a stretch holds at each of its nodes; stretches are choices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import flint

from symshuffle.base.errors import Unsupported

_FIRST: Final = 48
_FINER: Final = 4
"""Stretches of a run to begin with, and how many times as many there are where they were too long."""

_MOST: Final = 40_000_000
"""Values of waves that are taken in all."""


def over(
    values: Callable[[flint.arb, flint.arb, int], list[flint.acb]],
    bound: Callable[[flint.acb, flint.arb, flint.arb], flint.arb],
    *,
    step: flint.arb,
    start: int,
    last: int,
    allowed: float,
    terms: int,
) -> flint.arb:
    """A bound on the sum over the nodes from ``start`` to ``last``, without the factor step/pi.

    - ``bound``: from the transform at the middle of a stretch, half its length and its lower end to a bound on the
      integrand at each of its nodes.
    - ``start``, ``last``: the first, at least 1, and the last of them.
    - ``terms``: what a value costs, at least 1.
    """
    total, index, taken = flint.arb(0), start, 0
    share = allowed / max(last + 1 - start, 1)
    while index <= last:
        stop, runs = min(2 * index, last + 1), _FIRST
        while True:
            size = -(-(stop - index) // runs)
            count = -(-(stop - index) // size)
            taken += count * terms
            if taken > _MOST:
                raise Unsupported(f"over {taken // terms} stretches of the line; ask for a larger rel")
            half = step * (size - 1) / 2
            part = flint.arb(0)
            for j, value in enumerate(values(step * index + half, step * size, count)):
                first = index + j * size
                part += bound(value, half, step * first) * min(size, stop - first)
            if size == 1 or float(part * step) <= share * (stop - index):
                break
            runs *= _FINER
        total += part
        index = stop
    return flint.arb(total.upper())


__all__ = ["over"]
