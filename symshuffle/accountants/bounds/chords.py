"""What two-sided values of a convex falling function say between the places where it is known.

A convex function is below each of its chords on the stretch between their ends, and above the chords of the stretches
before and after, extended to this one. With a lower and an upper value at every place each line takes the ends that
only move it away from the function.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias, final


@final
class Node(NamedTuple):
    """A place x, and two ends between which the function is there."""

    x: Fraction
    low: Fraction
    high: Fraction


Line: TypeAlias = tuple[Fraction, Fraction]
"""Height at 0 and slope of a line."""


def height(line: Line, x: Fraction) -> Fraction:
    """Return the height of a line at x."""
    return line[0] + line[1] * x


def line_through(x: Fraction, y: Fraction, slope: Fraction) -> Line:
    """Return the line through a point, of a slope."""
    return y - slope * x, slope


def line_above(nodes: Sequence[Node], i: int) -> Line:
    """The chord that the function is certainly not above on the stretch from node i to node i + 1.

    - ``nodes``: places in rising order with values from two sides, of a convex falling function.
    """
    left, right = nodes[i], nodes[i + 1]
    return line_through(left.x, left.high, (right.high - left.high) / (right.x - left.x))


def lines_below(nodes: Sequence[Node], i: int) -> list[Line]:
    """Lines that the function is certainly not below on the stretch from node i to node i + 1.

    It is above two chords, extended: that of the nodes before, to the right, and that of the nodes after, to the left.
    Each line starts at the lower end of the near node and takes the upper end of the far one, which only lowers it on
    the stretch; no slope is above 0.
    """
    left, right = nodes[i], nodes[i + 1]
    slope = Fraction(0)
    if i + 2 < len(nodes):
        after = nodes[i + 2]
        slope = min((after.high - right.low) / (after.x - right.x), slope)
    lines = [line_through(right.x, right.low, slope)]
    if i > 0:
        before = nodes[i - 1]
        steepest = (left.low - before.high) / (left.x - before.x)
        lines.append(line_through(left.x, left.low, min(steepest, Fraction(0))))
    return lines


def meetings(lines: Sequence[Line], low: Fraction, high: Fraction) -> Iterator[Fraction]:
    """Where pairs of lines meet, inside an interval.

    - ``low``, ``high``: ends of the interval, which do not count.
    """
    for one, other in itertools.combinations(lines, 2):
        if one[1] != other[1]:
            x = (other[0] - one[0]) / (one[1] - other[1])
            if low < x < high:
                yield x
