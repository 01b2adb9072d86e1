"""How far the risk of a mechanism is above every lower bound on a risk that speaks about it."""

from __future__ import annotations

from fractions import Fraction

from symshuffle.base.numbers import Number, lower_end, upper_end
from symshuffle.base.results import Bracket
from symshuffle.design.comparison.families import Family
from symshuffle.design.comparison.row import BOUNDS
from symshuffle.utility.estimation.corner import corner_van_trees, near_vertex_bound, sharp_cube_bound, two_regime_bound
from symshuffle.utility.estimation.lower_bounds import minimax_sandwich


def over_bounds(
    one: Family, iid: Bracket, chi_square: Number, trace: Number | None, n: int
) -> list[tuple[str, Bracket]]:
    """The risk over every lower bound that speaks about this mechanism."""
    k = one.inputs
    near, few = near_vertex_bound(k, chi_square, rho=Fraction(1, 10**9), n=n), two_regime_bound(k, chi_square, n=n)
    cube, corner = sharp_cube_bound(k, chi_square, n=n), corner_van_trees(k, chi_square, n=n)
    bounds: list[tuple[Fraction, Fraction]] = [
        (lower_end(near), upper_end(near)),
        (lower_end(few), upper_end(few)),
        (cube.lower, cube.upper),
        (corner.lower, corner.upper),
    ]
    if trace is not None and one.all_inputs == k:
        sandwich = minimax_sandwich(k, trace, n).lower
        bounds.append((sandwich.lower, sandwich.upper))
    return [
        (name, Bracket(iid.lower / high, iid.upper / low, iid.rigour, "closed form", "risk over lower bound"))
        for name, (low, high) in zip(BOUNDS, bounds, strict=False)
        if low > 0
    ]
