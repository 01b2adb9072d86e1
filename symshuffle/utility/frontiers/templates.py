r"""Templates under a ratio cap: the two-level ones, which are the vertices of all, and laws on them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import as_integer
from symshuffle.geometry.linear import Vector
from symshuffle.utility.anchored.law import AnchoredLaw, check_template
from symshuffle.utility.anchored.mixtures import arrangements
from symshuffle.utility.frontiers.caps import check_cap, check_inputs

LARGEST_VERTEX_INPUTS: Final = 16
"""Inputs beyond which the 2^k - 2 vertices are not listed (their k - 1 orbits always are)."""


def subset_template(k: int, s: int, lam: Fraction) -> Vector:
    r"""The template with ``s`` coordinates :math:`k\lambda/(s\lambda+k-s)` and the others lower by :math:`\lambda`."""
    k = check_inputs(k)
    s = as_integer(s, "s", 1, k - 1)
    if lam <= 0:
        raise InputError("lam", lam, "a ratio > 0")
    low = k / (s * Fraction(lam) + k - s)
    return (low * lam,) * s + (low,) * (k - s)


def extreme_templates(k: int, lam: Fraction) -> tuple[Vector, ...]:
    """The vertices of the polytope of templates of ratio at most ``lam``: all two-level templates of ratio ``lam``.

    anchored, Lemma 9.2.
    """
    k = check_inputs(k)
    check_cap(lam)
    if k > LARGEST_VERTEX_INPUTS:
        raise Unsupported(
            f"k = {k} has 2^k - 2 extreme templates (limit k = {LARGEST_VERTEX_INPUTS}); "
            f"they form k - 1 orbits, of subset_template(k, s, lam) for s = 1..k-1"
        )
    return tuple(sorted(u for s in range(1, k) for u in arrangements(subset_template(k, s, lam))))


def split_template(u: Sequence[Fraction], lam: Fraction) -> tuple[Fraction, Vector, Vector] | None:
    """Why a template of ratio at most ``lam`` is no vertex: two others and a weight; None at a vertex."""
    check_template(u)
    low, high = min(u), max(u)
    if high > lam * low:
        raise InputError("template", tuple(map(str, u)), f"ratios of at most {lam} (largest: {high} to {low})")
    if high < lam * low:  # room everywhere: move the first coordinate either way
        step, moved = (lam * low - high) / (2 * (1 + lam)), 0
    else:
        middle = [i for i, entry in enumerate(u) if low < entry < high]
        if not middle:
            return None
        moved = middle[0]
        step = min(u[moved] - low, high - u[moved])
    up, down = (tuple(entry + sign * step * (i == moved) for i, entry in enumerate(u)) for sign in (1, -1))
    first, second = (tuple(entry * len(u) / sum(v) for entry in v) for v in (up, down))
    return sum(up) / (2 * Fraction(len(u))), first, second


def block_design_law(blocks: Sequence[Sequence[int]], k: int, lam: Fraction) -> AnchoredLaw:
    """The law uniform on the two-level templates whose high coordinates are the blocks of a design.

    A 2-design gives the same covariance and the same canonical risks as subset selection, from fewer outputs.
    """
    k = check_inputs(k)
    check_cap(lam)
    sizes = {len(set(block)) for block in blocks}
    if len(sizes) != 1 or not sizes <= set(range(1, k)):
        raise InputError("blocks", f"sizes {sorted(sizes)}", f"blocks of one size in [1, {k - 1}]")
    (s,) = sizes
    low = k / (s * lam + k - s)
    share = Fraction(1, len(blocks))
    return AnchoredLaw.from_atoms(
        (tuple(low * lam if i in set(block) else low for i in range(k)), share) for block in blocks
    )
