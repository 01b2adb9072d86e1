"""The terms that segments of a mixed law add to a contour sum in ball arithmetic; bounds are those of ``mixed_law``.

Evidence: *proved*, in balls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

import flint

from symshuffle.base.numbers import to_arb
from symshuffle.channels.mixed_law import MixedLaw, SegmentTransform
from symshuffle.engines.contours import saddle

_SHARE_OF_GAUSS: Final = 1e-4
"""Share of the relative width aimed at that the errors of the Gauss nodes may take."""

_CELLS: Final = 64
"""Cells of the law above, in convex order, where an upper bound on the real line is enough."""


def dyadic(value: float) -> flint.arb:
    """A double as the rational that it is."""
    exact = Fraction(value)
    return flint.arb(flint.fmpq(exact.numerator, exact.denominator))


@final
@dataclass(frozen=True, slots=True)
class Segments:
    """How the segments of a law enter: as Gauss nodes up to the node ``last`` of the line, beyond it as transforms.

    Where the moment generating function is needed on the real line, an upper bound will do: a finite law above, in
    convex order, gives one.
    """

    order: int
    last: int
    atoms: int
    height: flint.arb
    transforms: tuple[SegmentTransform, ...]
    above: tuple[tuple[flint.arb, flint.arb], ...]

    @classmethod
    def of(cls, law: MixedLaw, n: int, plan: saddle.ContourPlan, rtol: float) -> Segments:
        """What a plan needs of a law."""
        order, height = law.rule(plan.c, end=plan.end, tolerance=_SHARE_OF_GAUSS * rtol / n)
        last = min(math.floor(height / plan.step), plan.nodes)
        transforms = tuple(SegmentTransform.of(segment) for segment in law.segments)
        above = tuple((to_arb(v), to_arb(w)) for v, w in law.finite("upper", _CELLS, flint.ctx.prec).atoms())
        return cls(order, last, len(law.values), dyadic(height), transforms, above)

    def error(self, c: flint.arb) -> flint.arb:
        """Bound on the error of the Gauss nodes on the line at ``c``, up to the height."""
        return sum((t.quadrature_error(self.order, c, self.height) for t in self.transforms), start=flint.arb(0))

    def decay(self, c: flint.arb) -> flint.arb:
        """A constant C such that the segments are at most ``C/|t|`` at ``c + it``."""
        return sum((t.decay(c) for t in self.transforms), start=flint.arb(0))
