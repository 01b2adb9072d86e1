"""Exact linear algebra over Q: python-flint matrices at the boundary, tuples of fractions outside."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import flint

Vector: TypeAlias = tuple[Fraction, ...]
Matrix: TypeAlias = tuple[Vector, ...]


def to_fmpq(value: Fraction) -> flint.fmpq:
    """A fraction as a rational of python-flint."""
    return flint.fmpq(value.numerator, value.denominator)


def from_fmpq(value: flint.fmpq) -> Fraction:
    """The same back."""
    return Fraction(int(value.p), int(value.q))


def _flint(matrix: Sequence[Sequence[Fraction]]) -> flint.fmpq_mat:
    return flint.fmpq_mat([[to_fmpq(entry) for entry in row] for row in matrix])


def _matrix(matrix: flint.fmpq_mat) -> Matrix:
    return tuple(tuple(from_fmpq(entry) for entry in row) for row in matrix.tolist())


def rank(matrix: Sequence[Sequence[Fraction]]) -> int:
    """Rank of a rational matrix, given by its rows."""
    return int(_flint(matrix).rref()[1]) if matrix else 0


def inverse(matrix: Sequence[Sequence[Fraction]]) -> Matrix | None:
    """Inverse of a square rational matrix; None if it is singular."""
    square = _flint(matrix)
    return None if square.det() == 0 else _matrix(square.inv())


def product(left: Sequence[Sequence[Fraction]], right: Sequence[Sequence[Fraction]]) -> Matrix:
    """Product of two rational matrices."""
    return _matrix(_flint(left) * _flint(right))


def transpose(matrix: Sequence[Sequence[Fraction]]) -> Matrix:
    """Rows become columns."""
    return tuple(zip(*matrix, strict=True))


def dot(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    """Inner product of two rational vectors."""
    return sum((a * b for a, b in zip(left, right, strict=True)), start=Fraction(0))


def second_moment(points: Sequence[Sequence[Any]], weights: Sequence[Any]) -> tuple[tuple[Any, ...], ...]:
    """Matrix of the weighted sums of products of two coordinates, over the rationals or in balls."""
    coordinates = range(len(points[0]))
    return tuple(
        tuple(
            sum((weight * p[i] * p[j] for weight, p in zip(weights, points, strict=True)), start=Fraction(0))
            for j in coordinates
        )
        for i in coordinates
    )


def row_dependence(rows: Sequence[Sequence[Fraction]]) -> Vector | None:
    """A non-zero vector ``c`` with ``sum_j c_j rows[j] = 0``; None if the rows are independent."""
    reduced, pivots = _flint(transpose(rows)).rref()
    if pivots == len(rows):
        return None
    matrix = _matrix(reduced)
    leading = [next(j for j, entry in enumerate(row) if entry) for row in matrix[:pivots]]
    free = next(j for j in range(len(rows)) if j not in leading)
    relation = [Fraction(0)] * len(rows)
    relation[free] = Fraction(1)
    for i, j in enumerate(leading):
        relation[j] = -matrix[i][free]
    return tuple(relation)
