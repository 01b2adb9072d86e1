r"""Readers of probabilities: tables with one distribution in each row, and single distributions, which may be rounded.

A table is *rounded* if it has decimals (``0.333``, ``3.33e-1``, doubles; a fraction ``1/3`` is exact) or numbers of
another binary format (NumPy's ``float32``, ``mpf`` of mpmath, ``Float`` of SymPy), and some row does not sum to 1. Its
*unit* u is the coarsest last digit among the decimals that are written with the most significant digits, and at least
the distance of numbers next to 1 in each binary format. From 16 digits on, which is what a double has, it is at least
:math:`2^{-52}`, and as much as the sums show that arithmetic lost, if they are off by at most 1e-12 (for another binary
format by 64 times the distance of its numbers next to 1). A row with m entries that are not fractions may be off by
:math:`m u/2`, which is what the last digits of its entries can hide together: up to there a distribution that rounds to
the row exists. It is then divided by its sum S.

For every distribution q whose entries are within u/2 of the written ones v, the normalised row p = v/S has

.. math:: TV(p, q) \le \tfrac12\bigl(\lVert v/S-v\rVert_1+\lVert v-q\rVert_1\bigr)
          \le \tfrac12\bigl(\lvert S-1\rvert+m u/2\bigr),

by the triangle inequality, since :math:`\lVert v/S-v\rVert_1=\lvert 1/S-1\rvert S`; for one entry in the same way
:math:`\lvert p_y-q_y\rvert\le p_y\lvert S-1\rvert+u/2`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from numbers import Integral
from typing import Any, Final, final

from symshuffle.base.errors import InputError
from symshuffle.base.numbers.balls import FLOAT_SUM_SLACK, Ball, Number, Verdict, less, sums_to_one
from symshuffle.base.numbers.readers import (
    as_number,
    binary_parts,
    is_numpy_float,
    parse_number,
    parse_rational,
    scalar,
)
from symshuffle.base.numbers.texts import brief, format_decimal

_DECIMAL: Final = re.compile(r"[+-]?(\d*)(?:(\.)(\d*))?(?:([eE])([+-]?\d+))?", re.ASCII)
_DIGITS_OF_DOUBLES: Final = 16
_SPACING_OF_DOUBLES: Final = Fraction(sys.float_info.epsilon)
"""Distance of doubles next to 1: what was computed in doubles is known no better, with however many digits."""

_SPACINGS_LOST: Final = 64
"""Distances of numbers of another binary format that sums of rows may have lost."""

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


def coarser(*roundings: Rounding | None) -> Rounding | None:
    """Rounding of several rows, of which each user sends one; None if all of them are as written."""
    found = [one for one in roundings if one is not None]
    if not found:
        return None
    return Rounding(max(one.entry for one in found), max(one.row for one in found))


def summed(*roundings: Rounding | None) -> Rounding | None:
    """Rounding of what is made of several rows: total variation adds up at most, and no output differs by more."""
    rows = [one.row for one in roundings if one is not None]
    return Rounding(sum(rows, start=Fraction(0)), sum(rows, start=Fraction(0))) if rows else None


@final
@dataclass(frozen=True, slots=True)
class _Form:
    """How an entry is written that is not exact, as p/q is.

    - ``digits``, ``decimals``: significant digits and decimals; both 0 of an integer, which has no last digit.
    - ``bits``: of the mantissa of a binary format, else None; ``spacing``: the distance of its numbers next to 1.
    """

    digits: int = 0
    decimals: int = 0
    bits: int | None = None
    spacing: Fraction | None = None


def read_rows(rows: Sequence[Sequence[object]]) -> tuple[tuple[tuple[Number, ...], ...], Rounding | None]:
    """Numbers of a matrix, doubles by their shortest decimal form, and how it was rounded; None if it is as written."""
    return _read_table(rows, [f"rows[{x}]" for x in range(len(rows))])


def read_law(masses: object, argument: str) -> tuple[tuple[Number, ...], Rounding | None]:
    """One distribution, read as a row of a matrix is, and how it was rounded; None if it is as written.

    Raises
    ------
    InputError
        If it is no list, an entry is no number or negative, or the sum is not 1 and no rounding explains it.
    """
    given = listed(masses, argument)
    (law,), rounding = _read_table([given], [argument])
    check_law(law, argument)
    return law, rounding


def parse_rationals(values: object, argument: str) -> tuple[Fraction, ...]:
    """Read a list of rational numbers."""
    return tuple(parse_rational(value, f"{argument}[{i}]") for i, value in enumerate(listed(values, argument)))


def parse_law(masses: object, argument: str) -> tuple[Fraction, ...]:
    """Read a distribution of rational numbers whose sum is exactly 1."""
    law = parse_rationals(masses, argument)
    check_law(law, argument)
    return law


def listed(masses: object, argument: str) -> list[Any]:
    """Entries of a distribution in their order; a text, a mapping and a set have none."""
    if isinstance(masses, str | bytes | Mapping | Set) or not isinstance(masses, Iterable):
        raise InputError(argument, masses, "a list of numbers")
    return list(masses)


def check_law(law: Sequence[Number], argument: str) -> None:
    """Refuse what is no distribution."""
    for y, mass in enumerate(law):
        if less(mass, 0) is Verdict.TRUE:
            raise InputError(f"{argument}[{y}]", mass, "a probability of at least 0")
    if not law or not sums_to_one(law):
        total: Any = sum(law, start=Fraction(0))
        short = "" if isinstance(total, Ball) else f", which is {brief(total - 1)} off"
        raise InputError(argument, f"sum {brief(total)}{short}", "probabilities of sum 1")


def as_distribution(masses: object, argument: str) -> tuple[Number, ...]:
    """Read probabilities for arithmetic of their own kind: doubles stay doubles, numbers of at least 0, of sum 1."""
    given = listed(masses, argument)
    read = tuple(as_number(mass, f"{argument}[{y}]") for y, mass in enumerate(given))
    forms = [_form(scalar(mass)) for mass in given]
    if any(form and form.bits is not None for form in forms) or any(isinstance(mass, Decimal) for mass in given):
        doubles = tuple(float(mass) for mass in read)
        read = doubles if sums_to_one(doubles) and not sums_to_one(read) else read
    check_law(read, argument)
    return read


def _read_table(
    rows: Sequence[Sequence[object]], places: Sequence[str]
) -> tuple[tuple[tuple[Number, ...], ...], Rounding | None]:
    values: tuple[tuple[Any, ...], ...] = tuple(
        tuple(parse_number(entry, f"{place}[{y}]") for y, entry in enumerate(row))
        for place, row in zip(places, rows, strict=True)
    )
    forms = [[_form(scalar(entry)) for entry in row] for row in rows]
    free = [sum(form is not None for form in row) for row in forms]
    written = [form for row in forms for form in row if form is not None and form != _Form()]
    sums: list[Any] = [sum(row, start=Fraction(0)) for row in values]
    if not written or any(isinstance(total, Ball) for total in sums) or all(total == 1 for total in sums):
        return values, None
    unit = _unit(written, sums, free)
    off, distance = Fraction(0), Fraction(0)
    for place, total, many in zip(places, sums, free, strict=True):
        hidden = many * unit / 2 if unit <= _COARSEST else Fraction(0)
        if abs(total - 1) > hidden:
            allowed = "rounded entries need 2 decimals" if unit > _COARSEST else f"its digits can hide {brief(hidden)}"
            expected = f"probabilities that sum to 1 (off by {brief(total - 1)}; {allowed})"
            raise InputError(place, f"sum {brief(total)}", expected)
        off, distance = max(off, abs(total - 1)), max(distance, (abs(total - 1) + hidden) / 2)
    normal = tuple(tuple(value / total for value in row) for row, total in zip(values, sums, strict=True))
    return normal, Rounding(off + unit / 2, distance)


def _form(entry: Any) -> _Form | None:
    """How an entry that was read is written; None if it is exact."""
    if isinstance(entry, Integral):
        return _Form()
    if isinstance(entry, str | float | Decimal):
        text = repr(float(entry)) if isinstance(entry, float) else str(entry).strip()
        form = _DECIMAL.fullmatch(text)
        if form is None:
            return None  # p/q
        whole, point, decimals, exponent, shift = form.groups()
        if point is None and exponent is None:
            return _Form()
        digits = f"{whole}{decimals or ''}".lstrip("0")
        return _Form(len(digits), len(decimals or "") - int(shift or 0))
    if is_numpy_float(entry):
        kind: Any = type(entry)
        bits = _mantissa_bits(kind)
        return _Form(bits=bits, spacing=Fraction(2) ** (1 - bits))
    parts = binary_parts(entry)
    return None if parts is None else _Form(bits=abs(parts[0]).bit_length())


@cache
def _mantissa_bits(kind: Any) -> int:
    """Bits of a binary format, found by arithmetic in it."""
    one, bits = kind(1), 1
    while one + kind(2) ** -bits != one:
        bits += 1
    return bits


def _unit(written: Sequence[_Form], sums: Sequence[Fraction], free: Sequence[int]) -> Fraction:
    decimals = [form for form in written if form.bits is None]
    binaries = [(form.bits, form.spacing) for form in written if form.bits is not None]
    units, slack = [], Fraction(0)
    if decimals:
        most = max(form.digits for form in decimals)
        units.append(max(Fraction(10) ** -form.decimals for form in decimals if form.digits == most))
        if most >= _DIGITS_OF_DOUBLES:
            units.append(_SPACING_OF_DOUBLES)
            slack = Fraction(FLOAT_SUM_SLACK)
    if binaries:
        units += [spacing for _, spacing in binaries if spacing is not None]
        free_formats = [bits for bits, spacing in binaries if spacing is None]
        if free_formats:
            units.append(Fraction(2) ** (1 - max(free_formats)))
        slack = max(Fraction(FLOAT_SUM_SLACK), _SPACINGS_LOST * max(units))
    off = ((abs(total - 1), many) for total, many in zip(sums, free, strict=True))
    return max(*units, *(2 * far / many for far, many in off if many and far <= slack), Fraction(0))
