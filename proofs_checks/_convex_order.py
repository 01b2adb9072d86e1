"""Convex order of two laws of averages, proved by a coupling or refuted by a function."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from symshuffle.base.errors import CertificateError
from symshuffle.base.lp import LinearProgram
from symshuffle.base.numbers import as_integer
from symshuffle.base.results import well_formed
from symshuffle.channels.channel import Channel
from symshuffle.channels.geometry.linprog import solve
from symshuffle.channels.geometry.orders import blackwell
from symshuffle.channels.law import Law
from symshuffle.utility.frontiers.convex_order import exact_atoms, stop_loss


@final
@dataclass(frozen=True, slots=True)
class ConvexOrder:
    """The answer to whether one law is below another in convex order.

    - ``coupling``: joint masses (rows: atoms of the lower law, columns: of the upper) under which the upper variable
      has the lower one as its conditional mean; None where the order fails.
    - ``threshold``: A ``t`` with ``E(X-t)_+ > E(Y-t)_+``; None where the order holds, or already the means differ.
    """

    coupling: tuple[tuple[Fraction, ...], ...] | None
    threshold: Fraction | None

    @property
    def holds(self) -> bool:
        """Whether the order holds."""
        return self.coupling is not None

    @well_formed()
    def verify(self, lower: Law, upper: Law) -> None:
        """Check the witness on the two laws."""
        x, y = exact_atoms(lower), exact_atoms(upper)
        if self.coupling is None:
            if self.threshold is None:
                if lower.mean == upper.mean:
                    raise CertificateError("means", f"both are {lower.mean}, and no threshold is named")
            elif stop_loss(lower, self.threshold) <= stop_loss(upper, self.threshold):
                raise CertificateError("threshold", f"at {self.threshold} the lower law is not above the upper one")
            return
        if [len(row) for row in self.coupling] != [len(y)] * len(x):
            raise CertificateError("coupling", f"no {len(x)} rows of {len(y)}")
        if any(mass < 0 for row in self.coupling for mass in row):
            raise CertificateError("coupling", "a negative mass")
        for (value, weight), row in zip(x, self.coupling, strict=True):
            if sum(row) != weight:
                raise CertificateError("coupling", f"mass {sum(row)} at {value} of the lower law, not {weight}")
            mean = sum(mass * above for mass, (above, _) in zip(row, y, strict=True))
            if mean != weight * value:
                raise CertificateError("coupling", f"the conditional mean at {value} is {mean / weight}")
        for (value, weight), column in zip(y, zip(*self.coupling, strict=True), strict=True):
            if sum(column) != weight:
                raise CertificateError("coupling", f"mass {sum(column)} at {value} of the upper law, not {weight}")


def convex_order(lower: Law, upper: Law) -> ConvexOrder:
    """Whether ``lower`` is below ``upper`` in convex order, with a coupling or a threshold (anchored, Remark 4.7)."""
    x, y = exact_atoms(lower), exact_atoms(upper)
    if lower.mean != upper.mean:
        return ConvexOrder(None, None)
    for threshold in sorted({value for value, _ in (*x, *y)}):
        if stop_loss(lower, threshold) > stop_loss(upper, threshold):
            return ConvexOrder(None, threshold)
    return ConvexOrder(_coupling(x, y), None)


def _coupling(
    x: Sequence[tuple[Fraction, Fraction]], y: Sequence[tuple[Fraction, Fraction]]
) -> tuple[tuple[Fraction, ...], ...]:
    cells = list(itertools.product(range(len(x)), range(len(y))))
    rows: list[tuple[list[Fraction], str, Fraction]] = []
    for i, (value, weight) in enumerate(x):
        rows.append(([Fraction(a == i) for a, _ in cells], "==", weight))
        rows.append(([(y[b][0] - value) * (a == i) for a, b in cells], "==", Fraction(0)))
    # The masses of the last atom of y follow from the others.
    rows.extend(([Fraction(b == j) for _, b in cells], "==", y[j][1]) for j in range(len(y) - 1))
    solution = solve(LinearProgram.from_rows([Fraction(0)] * len(cells), rows)).primal()
    return tuple(tuple(solution[i * len(y) : (i + 1) * len(y)]) for i in range(len(x)))


def moments_from_average(moments: Sequence[Fraction], n: int) -> tuple[Fraction, ...]:
    """Moments of :math:`L` from those of the average of ``n`` copies (orders 1, 2, ...; anchored, Remark 4.11)."""
    n = as_integer(n, "n", 1)
    found: list[Fraction] = []
    for order, moment in enumerate(moments, start=1):
        known = _sum_moment([*found, Fraction(0)], n, order)
        found.append((moment * n**order - known) / n)
    return tuple(found)


def _sum_moment(moments: Sequence[Fraction], n: int, order: int) -> Fraction:
    """Moment of a sum of n copies from the moments of one, by adding one copy at a time."""
    single = [Fraction(1), *moments[:order]]
    total = [Fraction(1)] + [Fraction(0)] * order
    for _ in range(n):
        total = [
            sum((math.comb(m, a) * single[a] * total[m - a] for a in range(m + 1)), start=Fraction(0))
            for m in range(order + 1)
        ]
    return total[order]


def equivalent(first: Channel, second: Channel) -> bool:
    """Whether each channel dominates the other."""
    return blackwell(first, second).dominates and blackwell(second, first).dominates
