"""Arguments about an arbitrary group, orbit and subset, shared by the statements that rest on them."""

from __future__ import annotations

from typing import Any

import sympy as sp


def level(inside: Any, lam: Any) -> Any:
    """An entry of the staircase matrix, where ``inside`` is 1 for an input in the subset and 0 otherwise."""
    return 1 + (lam - 1) * inside


def moved_levels(lam: Any) -> tuple[Any, Any, Any, Any]:
    """The row of an arbitrary subset y after an arbitrary permutation g, in two ways, and two indicators.

    An input x is in g y exactly if its preimage is in y: some x' in y has g x' = x, and that is the preimage. So the
    level of the row of g y at x, and that of the row of y at the preimage of x (which is how g acts on a channel), are
    expressions in the indicator of y and the preimage. The indicators are those of the preimage and of the image.
    """
    x = sp.Symbol("x", integer=True)
    member, back, forth = (sp.Function(name) for name in ("in_y", "g_inverse", "g"))

    def member_of_image(point: Any) -> Any:
        return member(back(point))

    acted = level(member(x), lam).subs(x, back(x))
    before, after = sp.symbols("b a", nonnegative=True)
    names = {member(back(x)): before, member(forth(x)): after}
    return acted.xreplace(names), level(member_of_image(x), lam).xreplace(names), before, after


def incidence(m: Any, size: Any, k: Any) -> Any:
    """How many of the subsets of an orbit contain an input, under a transitive group, by counting pairs twice.

    The pairs of an input and a subset that contains it may be summed in either order. A subset contains k inputs. An
    input is in r subsets, the same for all: g carries the subsets that contain x one to one to those that contain g x.
    """
    x, y = sp.symbols("x y", integer=True, positive=True)
    inputs, subsets, r = sp.symbols("M S r", integer=True, positive=True)
    member = sp.Function("inside")(x, y)
    by_input = sp.Sum(member, (y, 1, subsets), (x, 1, inputs))
    by_subset = sp.Sum(member, (x, 1, inputs), (y, 1, subsets))
    if by_input.reorder((x, y)) != by_subset:
        return sp.nan
    pairs = sp.Sum(r, (x, 1, inputs)).doit() - sp.Sum(k, (y, 1, subsets)).doit()
    (found,) = sp.solve(pairs.subs({inputs: m, subsets: size}), r)
    return found


def column_sum(size: Any, inside: Any, lam: Any) -> Any:
    """What one unit of weight on every subset of an orbit adds to the column of an input in ``inside`` of them."""
    y, members = sp.symbols("y n", integer=True, positive=True)
    within = sp.Sum(level(1, lam), (y, 1, members)).doit().subs(members, inside)
    without = sp.Sum(level(0, lam), (y, 1, members)).doit().subs(members, size - inside)
    return within + without
