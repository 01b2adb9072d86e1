r"""Rational coefficients behind the doubles of a model, and the effect of those that no rule recognises.

A solver interface hands over doubles. Each is read by one rule: a decimal of at most 12 digits; ``lam`` times a ratio,
or such a product plus a ratio; a ratio of two integers; otherwise the shortest decimal, which is then *rounded*. A form
counts only if it is within 4 units in the last place, which is what a few operations in doubles cost, and its integers
are so small that at most one of the kind is that near.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import TypeAlias

from symshuffle.base.errors import InputError
from symshuffle.base.lp import LinearProgram
from symshuffle.base.numbers import parse_rational

CoefficientPlace: TypeAlias = "tuple[int | None, int | None]"
"""Row and column of a coefficient: row None for costs, column None for right-hand sides."""


def tolerance(value: float, *, ulps: int = 4) -> Fraction:
    """How far from its double a coefficient may be: 4 units in the last place."""
    return ulps * Fraction(math.ulp(value))


def read_coefficient(
    lam: Fraction, rounded: dict[CoefficientPlace, Fraction], value: float, row: int | None, column: int | None
) -> Fraction:
    """Return the rational behind a double, given ``lam``.

    - ``rounded``: tolerance by entry of the program; the entry is added if no rule recognises the double.
    """
    number = float(value)
    if not math.isfinite(number):
        at = "of costs" if row is None else row, "of right-hand sides" if column is None else column
        raise InputError(f"coefficient in row {at[0]}, column {at[1]}", number, "a finite number")
    found = recognise(number, lam)
    if found is None:
        rounded[row, column] = tolerance(number)
        return parse_rational(repr(number), "coefficient")
    return found


@cache
def recognise(number: float, lam: Fraction, *, digits: int = 12) -> Fraction | None:
    """Return the exact coefficient that a double stands for by the rule of this module; None if there is none.

    Examples
    --------
    >>> print(recognise((5 / 3) / 3, Fraction(5, 3)), recognise(0.125, Fraction(2)), recognise(2**0.5, Fraction(2)))
    5/9 1/8 None
    """
    if number < 0:
        positive = recognise(-number, lam)
        return None if positive is None else -positive
    decimal = parse_rational(repr(number), "coefficient")
    if number == float(lam):
        return lam
    if _digits(number) <= digits:
        return decimal
    exact, near = Fraction(number), tolerance(number)
    for candidate in _candidates(exact, near, lam):
        if abs(candidate - exact) <= near:
            return candidate
    return None


def _candidates(
    exact: Fraction,
    near: Fraction,
    lam: Fraction,
    *,
    denominator: int = 1 << 16,
    multiple: int = 1 << 10,
    constant: int = 144,
) -> Iterator[Fraction]:
    yield (exact / lam).limit_denominator(multiple) * lam
    unique = math.isqrt(int(1 / (2 * near))) or 1  # two ratios with smaller denominators are further apart
    yield exact.limit_denominator(min(denominator, unique))
    yield 1 / (1 / exact).limit_denominator(multiple)
    for share in _shares():
        yield (exact - share * lam).limit_denominator(constant) + share * lam


@cache
def _shares(*, largest: int = 12) -> tuple[Fraction, ...]:
    shares = {Fraction(p, q) for q in range(1, largest + 1) for p in range(-q, q + 1)} - {Fraction(0)}
    return tuple(sorted(shares, key=lambda b: (b.denominator, abs(b))))


def _digits(number: float) -> int:
    """Significant digits of the shortest decimal."""
    return len(repr(number).split("e")[0].replace(".", "").strip("0"))


def largest_values(program: LinearProgram, rounded: Mapping[CoefficientPlace, Fraction]) -> dict[int, Fraction]:
    """Upper bounds on variables at least 0, from rows of coefficients at least 0 in which nothing is rounded."""
    doubtful = {row for row, _ in rounded}
    entries: dict[int, list[tuple[int, Fraction]]] = {}
    for j, column in enumerate(program.columns):
        for i, entry in column:
            entries.setdefault(i, []).append((j, entry))
    bounds: dict[int, Fraction] = {}
    for i, row in entries.items():
        if i in doubtful or program.senses[i] == ">=":
            continue
        if all(entry >= 0 and j not in program.free for j, entry in row):
            for j, entry in row:
                bound = program.rhs[i] / entry
                bounds[j] = min(bound, bounds.get(j, bound))
    return bounds


def relaxed_programs(
    program: LinearProgram, rounded: Mapping[CoefficientPlace, Fraction]
) -> tuple[LinearProgram, LinearProgram, Fraction] | None:
    """Programs whose optima enclose that of every program within the tolerances; None where there are none.

    Returns
    -------
    tuple of (LinearProgram, LinearProgram, Fraction), or None
        With rows relaxed and rows tightened by what their rounded coefficients change at most, and the largest change
        of the cost: the optimum is at least that of the first less it, at most that of the second plus it. None where a
        rounded coefficient belongs to an equation, or to a variable without a known bound.
    """
    bounds = largest_values(program, rounded)
    slack: dict[int | None, Fraction] = {}
    for (row, column), error in rounded.items():
        if row is not None and program.senses[row] == "==":
            return None
        if column is not None and column not in bounds:
            return None
        change = error * (1 if column is None else bounds[column])
        slack[row] = slack.get(row, Fraction(0)) + change
    sides = []
    for sign in (1, -1):
        rhs = tuple(
            b + sign * slack.get(i, Fraction(0)) * (1 if sense == "<=" else -1)
            for i, (b, sense) in enumerate(zip(program.rhs, program.senses, strict=True))
        )
        sides.append(replace(program, rhs=rhs))
    return sides[0], sides[1], slack.get(None, Fraction(0))
