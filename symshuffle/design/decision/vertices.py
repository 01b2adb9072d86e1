"""Concave risks over all LDP channels, by the vertices of the maximal polytope."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from symshuffle.base.errors import InputError
from symshuffle.channels.channel import Channel
from symshuffle.geometry.extremal import MaximalPolytope
from symshuffle.geometry.groups import SymmetryGroup
from symshuffle.geometry.symmetry import OrbitPolytope


def minimise_concave(
    risk: Callable[[Channel], Fraction],
    m: int,
    lam: Fraction,
    *,
    group: SymmetryGroup | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[Fraction, Channel]:
    """The smallest value of a risk over all LDP channels, if it is concave and satisfies data processing.

    A concave function on a polytope is smallest at a vertex, so the answer is exact whatever the risk is made of. That
    it has these properties is the caller's promise; :func:`symshuffle.design.decision.properties.examine` looks for
    violations.

    Parameters
    ----------
    risk : callable
        From rational channels to rationals.
    m : int
        Number of inputs: at most 6 without a group. At 6 the risk is evaluated 200 213 times.
    lam : Fraction
        ``exp(eps0)``, above 1.
    group : SymmetryGroup, optional
        Symmetries under which the risk is invariant (also quasi-convex on direct sums): vertices of the orbit polytope.
    progress : callable, optional
        Called with the number of vertices done before each of them.

    Returns
    -------
    value, channel
        The minimum, and a channel that attains it.

    Raises
    ------
    Unsupported
        If there are too many vertices to list.

    Notes
    -----
    ldp_tradeoff, Remarks 3.11 and 3.16.
    """
    polytope = MaximalPolytope(m, lam)
    if group is None:
        candidates = polytope.each_vertex()
    elif group.m != m:
        raise InputError("group", f"acts on {group.m} inputs", f"a group on {m} inputs")
    else:
        orbits = OrbitPolytope(group, lam)
        candidates = map(orbits.lift, orbits.vertices())
    best: tuple[Fraction, Channel] | None = None
    for i, weights in enumerate(candidates):
        if progress is not None:
            progress(i)
        channel = polytope.channel(weights)
        value = risk(channel)
        if best is None or value < best[0]:
            best = value, channel
    assert best is not None  # a polytope that is not empty has a vertex
    return best
