r"""Matrices of rounded probabilities: rows that sum to 1 up to their last written digits, divided by their sums.

A matrix is *rounded* if it has decimals (``0.333``, ``3.33e-1``, doubles; a fraction ``1/3`` is exact) and some row
does not sum to 1. Its *unit* u is the coarsest last digit among the entries that are written with the most significant
digits. From 16 digits on, which is what a double has, it is at least :math:`2^{-52}`, and as much as the sums show that
arithmetic lost, if they are off by at most 1e-12. A row with m entries that are not
fractions may be off by :math:`m u/2`, which is what the last digits of its entries can hide together: up to there a
distribution that rounds to the row exists. It is then divided by its sum S.

For every distribution q whose entries are within u/2 of the written ones v, the normalised row p = v/S has

.. math:: TV(p, q) \le \tfrac12\bigl(\lVert v/S-v\rVert_1+\lVert v-q\rVert_1\bigr)
          \le \tfrac12\bigl(\lvert S-1\rvert+m u/2\bigr),

by the triangle inequality, since :math:`\lVert v/S-v\rVert_1=\lvert 1/S-1\rvert S`; for one entry in the same way
:math:`\lvert p_y-q_y\rvert\le p_y\lvert S-1\rvert+u/2`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any, Final, final

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import FLOAT_SUM_SLACK, Ball, Number, as_number, brief, format_decimal, parse_rational

_DECIMAL: Final = re.compile(r"[+-]?(\d*)(?:(\.)(\d*))?(?:([eE])([+-]?\d+))?", re.ASCII)
_DIGITS_OF_DOUBLES: Final = 16
_SPACING_OF_DOUBLES: Final = Fraction(1, 1 << 52)
"""Distance of doubles next to 1: what was computed in doubles is known no better, with however many digits."""

_COARSEST: Final = Fraction(1, 100)
"""A unit beyond which entries are no roundings of anything that could be bounded."""


@final
@dataclass(frozen=True, slots=True)
class Rounding:
    """How far a normalised matrix may be from the matrices that round to what was written."""

    entry: Fraction
    row: Fraction

    def __str__(self) -> str:
        far = format_decimal(self.entry, digits=3, up=True)
        return (
            "the normalised matrix (each row read is divided by its sum; "
            f"the entries of a matrix that rounds to the one read differ by at most {far})"
        )


def read_rows(rows: Sequence[Sequence[object]]) -> tuple[tuple[tuple[Number, ...], ...], Rounding | None]:
    """Numbers of a matrix, doubles by their shortest decimal form, and how it was rounded; None if it is as written."""
    found = [[_read(entry, f"rows[{x}][{y}]") for y, entry in enumerate(row)] for x, row in enumerate(rows)]
    values = tuple(tuple(value for value, _ in row) for row in found)
    forms = [written for row in found for _, written in row if written is not None]
    sums: list[Any] = [sum(row, start=Fraction(0)) for row in values]
    if not any(forms) or any(isinstance(total, Ball) for total in sums) or all(total == 1 for total in sums):
        return values, None
    unit = _unit(forms, sums, [sum(written is not None for _, written in row) for row in found])
    off, distance = Fraction(0), Fraction(0)
    for x, (row, total) in enumerate(zip(found, sums, strict=True)):
        hidden = sum(written is not None for _, written in row) * unit / 2 if unit <= _COARSEST else Fraction(0)
        if abs(total - 1) > hidden:
            allowed = "rounded entries need 2 decimals" if unit > _COARSEST else f"its digits can hide {brief(hidden)}"
            expected = f"probabilities that sum to 1 (off by {brief(total - 1)}; {allowed})"
            raise InputError(f"rows[{x}]", f"sum {brief(total)}", expected)
        off, distance = max(off, abs(total - 1)), max(distance, (abs(total - 1) + hidden) / 2)
    normal = tuple(tuple(value / total for value in row) for row, total in zip(values, sums, strict=True))
    return normal, Rounding(off + unit / 2, distance)


def _read(entry: object, place: str) -> tuple[Any, tuple[int, int] | tuple[()] | None]:
    """A number; its significant digits and decimals, of a decimal; () of an integer, None of an exact number."""
    value = as_number(entry, place)
    if isinstance(value, float):
        value = parse_rational(str(entry), place)
    elif isinstance(entry, Integral):
        return value, ()
    elif not isinstance(entry, str):
        return value, None
    form = _DECIMAL.fullmatch(str(entry).strip())
    if form is None:
        return value, None  # p/q
    whole, point, decimals, exponent, shift = form.groups()
    if point is None and exponent is None:
        return value, ()
    digits = f"{whole}{decimals or ''}".lstrip("0")
    return value, (len(digits), len(decimals or "") - int(shift or 0))


def _unit(forms: Sequence[tuple[int, int] | tuple[()]], sums: Sequence[Fraction], free: Sequence[int]) -> Fraction:
    written = [form for form in forms if form]
    most = max(digits for digits, _ in written)
    unit = max(Fraction(10) ** -decimals for digits, decimals in written if digits == most)
    if most < _DIGITS_OF_DOUBLES:
        return unit
    off = [(abs(total - 1), many) for total, many in zip(sums, free, strict=True)]
    lost = [2 * far / many for far, many in off if many and far <= FLOAT_SUM_SLACK]
    return max(unit, _SPACING_OF_DOUBLES, *lost)
