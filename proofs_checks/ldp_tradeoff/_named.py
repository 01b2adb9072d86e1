"""Named problems of the claims: guessing, rings and grids."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import sympy as sp

from symshuffle.base.errors import InputError, NotDecided
from symshuffle.base.numbers import Ball, Exp, to_arb, working_precision
from symshuffle.channels.geometry.extremal import check_inputs
from symshuffle.channels.geometry.groups import cyclic_group, dihedral_group
from symshuffle.design.named import cosine, cosine_field
from symshuffle.design.parametric.signs import sign_in_field


def subset_weight(m: Any, k: Any, lam: Any) -> Any:
    """The probability of a ``k``-subset without the input: it lies in C(m-1, k-1) of them, outside C(m-1, k)."""
    return 1 / (lam * sp.binomial(m - 1, k - 1) + sp.binomial(m - 1, k))


def guessing_risk(m: Any, k: Any, gamma: Any, lam: Any) -> Any:
    r"""The risk of subset selection and a uniform guess in the subset, for smoothed point masses, symbolically.

    Subsets fall into classes by whether they contain the parameter and the input; each class is counted.
    """
    w = subset_weight(m, k, lam)
    wrong_inside = 1 - sp.Integer(1) / k
    at_theta = lam * sp.binomial(m - 1, k - 1) * wrong_inside + sp.binomial(m - 1, k)
    elsewhere = (
        lam * sp.binomial(m - 2, k - 2) * wrong_inside  # contains both
        + sp.binomial(m - 2, k - 1) * wrong_inside  # contains theta only
        + lam * sp.binomial(m - 2, k - 1)  # contains x only
        + sp.binomial(m - 2, k)  # contains neither
    )
    off_diagonal = (1 - gamma) / m
    return w * ((off_diagonal + gamma) * at_theta + (m - 1) * off_diagonal * elsewhere)


def guessing_bound_slacks(m: Any, gamma: Any, lam: Any, optimum: Any) -> tuple[Any, Any, Any]:
    r"""What it takes for ``optimum`` to bound every LDP channel from below, by the vector ``optimum / m``.

    The gap :math:`(1 - P(x|a))/m - u` at ``x = a`` and elsewhere, and the smallest value over columns of the LDP cone,
    provided that the first gap is at most zero and the second at least zero.
    """
    bound = optimum / m
    inside = (1 - (1 - gamma) / m - gamma) / m - bound
    outside = (1 - (1 - gamma) / m) / m - bound
    return inside, outside, lam * inside + (m - 1) * outside


def ring_distance(m: int, x: int, y: int) -> int:
    """Number of steps between two positions on a ring of ``m``."""
    return min((x - y) % m, (y - x) % m)


def blurred_costs(m: int, blur: Any, action: int) -> list[Any]:
    """The expected loss of an action given each reading with a blur to both neighbours, times ``m``."""
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


_BITS: Final = 160


def uniform_information(m: int, k: int, eps0: Fraction) -> Ball:
    r"""Mutual information of subset selection at a uniform input, in nats (ldp_tradeoff, Remark 3.19)."""
    with working_precision(_BITS):
        lam = to_arb(Exp(eps0))
        total = k * lam + m - k
        return Ball.from_arb(to_arb(eps0) * k * lam / total - (total / m).log(), _BITS)


def best_uniform_size(m: int, eps0: Fraction) -> tuple[Ball, int]:
    """The largest mutual information at a uniform input, and the size of the subsets that attain it."""
    values = [(uniform_information(m, k, eps0), k) for k in range(1, check_inputs(m))]
    best = max(values, key=lambda pair: pair[0].midpoint)
    if any(other.upper > best[0].lower for other, k in values if k != best[1]):
        raise NotDecided(f"two subset sizes tie at m = {m}, eps0 = {eps0}")
    return best


def grid_suffices(m: int) -> bool:
    r"""Whether no action off the grid of multiples of :math:`\pi/m` can improve the optimum, decided exactly.

    The best action for a subset ``y`` earns :math:`|Z_y|`, :math:`Z_y=\sum_{x\in y} e^{2\pi i x/m}`. For every size the
    largest :math:`|Z_y|^2`, an element of the field, is compared with the square of the best earning on the grid.
    """
    domain = cosine_field(m)
    table = [cosine(j, m, domain) for j in range(2 * m)]
    largest: dict[int, Any] = {}
    on_grid: dict[int, Any] = {}
    for orbit in cyclic_group(m).subset_orbits():
        inside = [x for x in range(m) if orbit.representative >> x & 1]
        k = len(inside)
        square = sum((table[2 * (x - z) % (2 * m)] for x in inside for z in inside), start=domain.zero)
        earned = [sum((table[(2 * x - a) % (2 * m)] for x in inside), start=domain.zero) for a in range(2 * m)]
        if k not in largest or sign_in_field(square - largest[k], domain) > 0:
            largest[k] = square
        for value in earned:
            if k not in on_grid or sign_in_field(value - on_grid[k], domain) > 0:
                on_grid[k] = value
    return all(on_grid[k] * on_grid[k] == largest[k] for k in largest)
