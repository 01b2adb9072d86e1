"""Rational gauges, the Helmert gauge and the radius of the range of a fiber: what claims alone need of coordinates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import as_integer
from symshuffle.channels.geometry.linear import Matrix, Vector, dot, transpose
from symshuffle.utility.anchored.law import check_composition


@final
@dataclass(frozen=True, slots=True)
class Gauge:
    r"""A rational :math:`k\times(k-1)` matrix with :math:`V^TV=I` and :math:`V^T1=0` (anchored, equation (1.2))."""

    rows: Matrix

    def __post_init__(self) -> None:
        k = len(self.rows)
        if any(len(row) != k - 1 for row in self.rows):
            raise InputError("gauge", f"{k} rows", f"rows of {k - 1} entries")
        columns = transpose(self.rows)
        for i, column in enumerate(columns):
            if sum(column) != 0:
                raise InputError(f"gauge column {i}", f"sum {sum(column)}", "a contrast, of sum 0")
            for j, other in enumerate(columns[: i + 1]):
                if dot(column, other) != (i == j):
                    raise InputError(f"gauge columns {j}, {i}", dot(column, other), f"inner product {int(i == j)}")

    def point(self, u: Sequence[Fraction]) -> Vector:
        """The point :math:`V^Tu` of a template, a ratio vector or a composition.

        >>> u = (Fraction(2), Fraction(2, 3), Fraction(2, 3), Fraction(2, 3))
        >>> sum(entry * entry for entry in householder(4).point(u)) == dot(u, u) - 4
        True
        """
        return tuple(dot(column, u) for column in transpose(self.rows))

    def lift(self, x: Sequence[Fraction]) -> Vector:
        """The contrast :math:`Vx` of a point; the template of an anchored point is this plus 1."""
        return tuple(dot(row, x) for row in self.rows)


def householder(k: int) -> Gauge:
    r"""Rational gauge at a square ``k``: the reflection of :math:`e_1` to :math:`1/\sqrt k`, less its first column."""
    k = as_integer(k, "k", 4)
    root = math.isqrt(k)
    if root * root != k:
        raise InputError("k", k, "a square of an integer above 1")
    normal = [Fraction(int(i == 0)) - Fraction(1, root) for i in range(k)]
    length = dot(normal, normal)
    return Gauge(tuple(tuple(int(i == j) - 2 * normal[i] * normal[j] / length for j in range(1, k)) for i in range(k)))


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
