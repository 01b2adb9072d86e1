"""The staircase columns that compete for an information measure, and what the measure is worth on each.

The program that maximises and the check of its answer share these definitions, and nothing else.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Ball, working_precision
from symshuffle.design.information.measures import Column, Measure
from symshuffle.geometry.extremal import proper_subsets
from symshuffle.geometry.groups import SymmetryGroup
from symshuffle.geometry.subset_orbits import SubsetOrbit

COLUMN_BITS: Final = 160
"""Bits of the balls at first; the levels of precision that are tried in turn follow from it."""

PRECISIONS: Final = (COLUMN_BITS, 2 * COLUMN_BITS, 4 * COLUMN_BITS, 8 * COLUMN_BITS)


def check_exchangeable(measure: Measure, group: SymmetryGroup) -> None:
    """Check that a group only exchanges inputs that a measure cannot tell apart."""
    if group.m != measure.num_inputs or not measure.data:
        raise InputError("group", f"acts on {group.m} inputs", f"{measure.num_inputs} inputs of a measure with data")
    for i, generator in enumerate(group.generators):
        for vector in measure.data:
            moved = next((x for x, y in enumerate(generator) if vector[x] != vector[y]), None)
            if moved is not None:
                raise InputError(
                    f"generators[{i}]", list(generator), f"equal data at inputs {moved}, {generator[moved]}"
                )


def columns_up_to(m: int, group: SymmetryGroup | None) -> tuple[tuple[tuple[int, ...], ...], list[SubsetOrbit]]:
    """Orbits of inputs and of subsets; one by one where there is no group."""
    if group is not None:
        return group.input_orbits(), list(group.subset_orbits())
    singles = [SubsetOrbit(y, 1, tuple(y >> x & 1 for x in range(m))) for y in proper_subsets(m)]
    return tuple((x,) for x in range(m)), singles


def column_of(subset: int, m: int, lam: Fraction) -> tuple[Fraction, ...]:
    """The staircase column of a subset."""
    return tuple(lam if subset >> x & 1 else Fraction(1) for x in range(m))


def enclosed(measure: Measure, column: Column, bits: int) -> Ball:
    """The value of a column: a point where the measure is rational, otherwise a ball."""
    if measure.rational is not None:
        value = measure.rational(column)
        return Ball(value, value)
    with working_precision(bits):
        return Ball.from_arb(measure.column_ball(column), bits)


def check_homogeneous(measure: Measure) -> None:
    """Refuse a functional with an offset or a normalisation: phi(3v) must be 3 phi(v)."""
    column = [Fraction(3 + (x * x) % 5, 7) for x in range(measure.num_inputs)]
    tripled = [3 * v for v in column]
    if measure.rational is not None:
        agree = measure.rational(tripled) == 3 * measure.rational(column)
    else:
        with working_precision(COLUMN_BITS):
            agree = (measure.column_ball(tripled) - 3 * measure.column_ball(column)).contains(0)
    if not agree:
        raise InputError("measure", measure.name, "a column function with phi(3v) = 3 phi(v)")
