"""The Helmert gauge and the radius of the range of a fiber: what claims alone need of coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from symshuffle.base.numbers import as_integer
from symshuffle.utility.anchored.law import check_composition


def helmert(k: int) -> Any:
    """The Helmert gauge as a SymPy matrix with entries in square roots, for every ``k >= 2``."""
    import sympy as sp

    k = as_integer(k, "k", 2)

    def entry(i: int, j: int) -> Any:
        scale = sp.sqrt((j + 1) * (j + 2))
        return 1 / scale if i <= j else (-(j + 1) / scale if i == j + 1 else sp.Integer(0))

    return sp.Matrix(k, k - 1, entry)


def range_radius_squared(composition: Sequence[Fraction]) -> Fraction | None:
    r"""Squared radius :math:`(1-1/k)/\min_iw_i^2` of the range of :math:`T_w` (Proposition 3.4); None if unbounded."""
    w = check_composition(composition, len(composition))
    least = min(w)
    return (1 - Fraction(1, len(w))) / (least * least) if least else None
