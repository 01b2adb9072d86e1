"""Templates of the claims: vertices under a cap, and laws of block designs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Final

import sympy as sp

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import as_integer
from symshuffle.channels.geometry.groups import symmetric_group
from symshuffle.channels.geometry.linear import Vector, row_dependence
from symshuffle.mechanisms.finite import K, S
from symshuffle.mechanisms.symbolic import LAM, normal_form
from symshuffle.utility.anchored.law import AnchoredLaw, check_template, template_budget, template_signal
from symshuffle.utility.frontiers.caps import check_cap, check_inputs
from symshuffle.utility.frontiers.formulas import subset_slope
from symshuffle.utility.frontiers.orbit import _relabelled, arrangements

LARGEST_VERTEX_INPUTS: Final = 16
"""Inputs beyond which the 2^k - 2 vertices are not listed (their k - 1 orbits always are)."""

REAL_SIZES: Final = {
    LAM: 1 + sp.Symbol("c", nonnegative=True),
    S: 1 + sp.Symbol("u", nonnegative=True),
    K: 2 + sp.Symbol("u", nonnegative=True) + sp.Symbol("w", nonnegative=True),
}
"""The admissible reals: ``C >= 1``, ``1 <= s <= k - 1``."""


def is_exchangeable(law: AnchoredLaw) -> bool:
    """Whether every permutation of the inputs leaves the law as it is."""
    return all(_relabelled(law, g) == law for g in symmetric_group(law.num_inputs).generators)


def subset_template(k: int, s: int, lam: Fraction) -> Vector:
    r"""The template with ``s`` coordinates :math:`k\lambda/(s\lambda+k-s)` and the others lower by :math:`\lambda`."""
    k = check_inputs(k)
    s = as_integer(s, "s", 1, k - 1)
    if lam <= 0:
        raise InputError("lam", lam, "a ratio > 0")
    low = k / (s * Fraction(lam) + k - s)
    return (low * lam,) * s + (low,) * (k - s)


def extreme_templates(k: int, lam: Fraction) -> tuple[Vector, ...]:
    """The two-level templates of ratio ``lam``: vertices of all of ratio at most ``lam`` (anchored, Lemma 9.2)."""
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
    """The law uniform on the two-level templates whose high coordinates are the blocks of a design."""
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


def signal_and_budget(u: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
    """Signal and budget of a template, refused where one of them is 0 or infinite."""
    check_template(u)
    signal, budget = template_signal(u), template_budget(u)
    if signal == 0 or not isinstance(budget, Fraction):
        raise InputError("template", tuple(map(str, u)), "a template other than 1 with positive coordinates")
    return signal, budget


def slope_certificate(u: Sequence[Fraction]) -> tuple[Fraction, bool]:
    r"""Exact margin of :math:`S(u)\le\kappa_kB(u)` for one template, and whether it holds (anchored, Lemma 7.2).

    With :math:`m=k-1` the inequality is equivalent to :math:`x>0` and :math:`x^2\ge m` for
    :math:`x=\frac12(kmB/S-k)`; the margin is :math:`x^2-m`, zero exactly at the extremal template.
    """
    signal, budget = signal_and_budget(u)
    k = len(u)
    x = (k * (k - 1) * budget / signal - k) / 2
    margin = x * x - (k - 1)
    return margin, x > 0 and margin >= 0


def reduce_mixture(
    points: Sequence[tuple[Fraction, Fraction]], weights: Sequence[Fraction]
) -> tuple[tuple[int, Fraction], ...]:
    """Indices and weights of at most three of the points with the same mean in the plane (anchored, Lemma 7.8)."""
    if len(points) != len(weights) or not points:
        raise InputError("weights", f"{len(weights)} weights", f"one per point, of which there are {len(points)}")
    left = [(i, weight) for i, weight in enumerate(weights) if weight]
    while (relation := row_dependence([(Fraction(1), *points[i]) for i, _ in left])) is not None:
        step = min(weight / c for (_, weight), c in zip(left, relation, strict=True) if c > 0)
        shifted = ((i, weight - step * c) for (i, weight), c in zip(left, relation, strict=True))
        left = [(i, weight) for i, weight in shifted if weight]
    return tuple(left)


@cache
def critical_ratio() -> sp.Expr:
    r"""The ratio where the slope of the ``s``-subset template is largest: the critical point :math:`\sqrt{(k-s)/s}`."""
    square = sp.Symbol("q", positive=True)
    numerator = sp.fraction(normal_form(sp.diff(subset_slope(), LAM)))[0]
    factor = next(f for f, _ in sp.factor_list(numerator)[1] if f.has(LAM))
    (root,) = sp.solve(factor.subs(LAM, sp.sqrt(square)), square)
    return sp.sqrt(sp.factor(root))
