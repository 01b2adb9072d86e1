r"""Positions on a ring, read with a symmetric blur, at the loss of the distance along the ring; symbolic in the blur.

The reading is the position with probability :math:`1-2b` and each neighbour with probability ``b``. The dihedral
group acts transitively, so the optimal Bayes risk at a uniform prior is the smallest cost per unit of weight of one
subset and one action, and a candidate value is proved by the sign of finitely many polynomials in ``lam`` and ``b``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy as sp

from symshuffle.base.errors import InputError
from symshuffle.geometry.groups import dihedral_group


def ring_distance(m: int, x: int, y: int) -> int:
    """Number of steps between two positions on a ring of ``m``."""
    return min((x - y) % m, (y - x) % m)


def blurred_costs(m: int, blur: Any, action: int) -> list[Any]:
    """The expected loss of an action given each reading, under the uniform prior, up to the factor ``1/m``."""
    if m < 3:
        raise InputError("m", m, "at least 3 positions")
    return [
        (1 - 2 * blur) * ring_distance(m, x, action)
        + blur * (ring_distance(m, x - 1, action) + ring_distance(m, x + 1, action))
        for x in range(m)
    ]


def candidate_risks(m: int, blur: Any, lam: Any) -> Iterator[tuple[int, int, Any]]:
    r"""The risk :math:`\sum_x S_{y,x} h_{a,x} / (k\lambda + m - k)` of one subset per orbit with every action."""
    for orbit in dihedral_group(m).subset_orbits():
        inside = [x for x in range(m) if orbit.representative >> x & 1]
        total = len(inside) * lam + m - len(inside)
        for action in range(m):
            costs = blurred_costs(m, blur, action)
            cost = sum(costs) + (lam - 1) * sum((costs[x] for x in inside), sp.Integer(0))
            yield orbit.representative, action, cost / total
