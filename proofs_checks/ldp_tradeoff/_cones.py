r"""Polyhedral cones over the rationals: active constraints, the kernel criterion, extreme rays.

General and small: this module knows nothing of privacy, so that it is an independent witness of the closed forms of
:mod:`symshuffle.channels.geometry.extremal`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.channels.channel import Channel, exact_columns
from symshuffle.channels.geometry.extremal import _total, check_lam, staircase_weights
from symshuffle.channels.geometry.linear import Vector, dot, rank, row_dependence, transpose

_MAX_CHOICES = 200_000


@final
@dataclass(frozen=True, slots=True)
class PolyhedralCone:
    r"""The cone :math:`\{v : t \cdot v \ge 0 \text{ for every row } t\}`.

    Parameters
    ----------
    rows : tuple of tuple of Fraction
        The constraints; at least one, all of one length.

    Notes
    -----
    ldp_tradeoff, Definitions A.1, A.2 and A.4.
    """

    rows: tuple[tuple[Fraction, ...], ...]

    def __post_init__(self) -> None:
        if not self.rows or len({len(row) for row in self.rows}) != 1 or not self.rows[0]:
            raise InputError("rows", [len(row) for row in self.rows], "at least one row, all of one length")

    @property
    def ambient_dimension(self) -> int:
        """Length of the vectors."""
        return len(self.rows[0])

    def contains(self, vector: Sequence[Fraction]) -> bool:
        """Whether every constraint holds."""
        return all(dot(row, vector) >= 0 for row in self.rows)

    def active(self, vector: Sequence[Fraction]) -> tuple[int, ...]:
        """Indices of the constraints that are tight at a vector."""
        return tuple(i for i, row in enumerate(self.rows) if dot(row, vector) == 0)

    def is_pointed(self) -> bool:
        """Whether the cone contains no line: its constraints have full rank."""
        return rank(self.rows) == self.ambient_dimension

    def is_extreme(self, vector: Sequence[Fraction]) -> bool:
        """Whether a non-zero vector of the cone spans an extreme ray, by the kernel of its active constraints.

        Notes
        -----
        ldp_tradeoff, Proposition A.5; for pointed cones.
        """
        if not any(vector) or not self.contains(vector):
            return False
        tight = [self.rows[i] for i in self.active(vector)]
        return rank(tight) == self.ambient_dimension - 1

    def extreme_rays(self) -> tuple[tuple[Fraction, ...], ...]:
        """One vector on each extreme ray of a pointed cone, largest entry in absolute value 1, sorted.

        Every extreme ray is the kernel of some ``d - 1`` independent constraints; all of them are tried.

        Raises
        ------
        Unsupported
            If there are more than 200 000 choices.
        """
        size = self.ambient_dimension
        if not self.is_pointed():
            raise InputError("cone", f"{len(self.rows)} constraints of rank {rank(self.rows)}", "a pointed cone")
        choices = math.comb(len(self.rows), size - 1)
        if choices > _MAX_CHOICES:
            raise Unsupported(f"{choices} choices of tight constraints; use a double description library (pplpy)")
        found = set()
        for chosen in itertools.combinations(self.rows, size - 1):
            direction = _kernel_line(chosen, size)
            if direction is None:
                continue
            for sign in (1, -1):
                ray = tuple(sign * entry for entry in direction)
                if self.contains(ray):
                    found.add(ray)
        return tuple(sorted(found))


def _kernel_line(rows: Sequence[Vector], size: int) -> Vector | None:
    """The kernel of the rows where it is a line, scaled to largest entry 1 in absolute value; otherwise None."""
    if not rows:
        return (Fraction(1),) if size == 1 else None
    if rank(rows) != size - 1:
        return None
    kernel = row_dependence(transpose(rows))
    assert kernel is not None
    scale = max(abs(entry) for entry in kernel)
    return tuple(entry / scale for entry in kernel)


def is_extreme_ray(vector: Sequence[Fraction], lam: Fraction) -> bool:
    """Whether a vector spans an extreme ray: two levels, at ratio exactly ``lam`` (ldp_tradeoff, Lemma B.5)."""
    low, high = min(vector), max(vector)
    return low > 0 and high == lam * low and all(v in (low, high) for v in vector)


def maximal_weights(channel: Channel, lam: Fraction | int) -> dict[int, Fraction]:
    """The point of the polytope that a maximal channel belongs to."""
    level = check_lam(lam)
    offender = non_extreme_output(channel, lam)
    if offender is not None:
        raise InputError("channel", f"output {offender}", f"columns on extreme rays of the LDP cone at lam = {lam}")
    return _total(staircase_weights(column, level) for column in exact_columns(channel))


def non_extreme_output(channel: Channel, lam: Fraction | int) -> int | None:
    """First output whose non-zero column is no extreme direction; None if maximal (ldp_tradeoff, Proposition B.3)."""
    level = check_lam(lam)
    for y, column in enumerate(exact_columns(channel)):
        if any(column) and not is_extreme_ray(column, level):
            return y
    return None
