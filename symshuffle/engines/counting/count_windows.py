r"""Windows of counts: which of them a sum over multinomial counts visits, and what all others contribute at most.

As :math:`x_+\le e^{cx}/(ec)`, counts outside of the windows contribute to :math:`E[S_+]` at most
:math:`\frac1{ec}E[e^{cS};N_i\ge k]\le\frac1{ec}e^{-\theta k}(M(c)+(e^{\theta}-1)w_ie^{cv_i})^n` for every side of
every window (c, theta > 0 free; on the lower side theta < 0). Where the windows end is a choice, and so is theta: the
bound is true at any.

Evidence: *proved*, in balls; doubles choose windows and theta only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import flint
import numpy as np

from symshuffle.base.doubles import UNIT
from symshuffle.base.numbers import ball_arguments, to_arb
from symshuffle.channels.law import Law
from symshuffle.engines.contours import saddle


def steps_of(sizes: list[float]) -> float:
    """Entries of the table of tails of the two longest windows, and count vectors of the others."""
    *others, first, second = sizes
    return min(sum(others) + 1, first + second) * second + math.prod(others)


@final
@dataclass(frozen=True, slots=True)
class Windows:
    """Which counts are visited, and a line and a scale that suit them; any choice of them gives a true bound.

    The two atoms whose windows are longest come last in ``order``.

    - ``c``: the exponent in the bound on what is left out, above 0.
    - ``rho``: A scale of the weights at which tables of factors are nearly flat, above 0.
    """

    law: Law
    n: int
    c: float
    rho: Fraction
    low: list[int]
    high: list[int]

    @classmethod
    def choose(cls, law: Law, n: int, rel: float) -> Windows:
        """Windows outside of which hardly any of E[S_+] lies, as Chernoff's bound on each count tells."""
        tilt = saddle.tilt(law)
        c = saddle.saddle_point(tilt, n)
        spread = c * math.sqrt(n * max(tilt.curvature(c), 0.0))
        quiet = 4 - math.log(rel) + math.log(2 * len(law.values) * (1 + spread))
        ends = [_window(n, float(share), quiet) for share in tilt.tilted(c)]
        try:  # at this scale tables are flat but for the tilt
            rho = Fraction(n * math.exp(-tilt.cumulant(c)))
        except OverflowError:
            rho = Fraction(n)
        return cls(law, n, c, rho or Fraction(n), [first for first, _ in ends], [last for _, last in ends])

    @property
    def order(self) -> list[int]:
        """The atoms, those of longer windows later."""
        return sorted(range(len(self.low)), key=lambda i: self.high[i] - self.low[i])

    @property
    def steps(self) -> float:
        """What the sum costs."""
        return steps_of(sorted(float(high - low + 1) for low, high in zip(self.low, self.high, strict=True)))

    def rest(self) -> flint.arb:
        """Bound on what all counts outside of the windows contribute to E[S_+], with 0 as its lower end."""
        c, bound = to_arb(Fraction(self.c)), flint.arb(0)
        values, weights = ball_arguments(self.law.values), ball_arguments(self.law.weights)
        parts = [weight * (c * value).exp() for value, weight in zip(values, weights, strict=True)]
        whole = sum(parts, start=flint.arb(0))
        for low, high, part in zip(self.low, self.high, parts, strict=True):
            share = float((part / whole).mid())
            for count, above in ((low - 1, False), (high + 1, True)):
                if 0 <= count <= self.n:
                    # The side is that of the window, not of the mean: a window need not hold it.
                    slope = _slope(self.n, share, count)
                    slope = max(slope, 0.0) if above else min(slope, 0.0)
                    bound += _chernoff(self.n, whole, part, count, slope)
        return (bound / (c * flint.arb(1).exp())).union(flint.arb(0))


def _window(n: int, share: float, quiet: float) -> tuple[int, int]:
    """Counts at which Chernoff's exponent of a binomial count is at most ``quiet``."""
    counts, share = np.arange(n + 1, dtype=np.float64), min(max(share, 1e-300), 1 - UNIT)
    with np.errstate(divide="ignore", invalid="ignore"):
        up = np.where(counts > 0, counts * np.log(counts / (n * share)), 0.0)
        down = np.where(counts < n, (n - counts) * np.log((n - counts) / (n * (1 - share))), 0.0)
    inside = np.flatnonzero(up + down <= quiet)
    middle = min(max(round(n * share), 0), n)
    return (int(inside[0]), int(inside[-1])) if len(inside) else (middle, middle)


def _slope(n: int, share: float, count: int) -> float:
    """The slope that is best for a bound on a binomial count; any other of the sign of its side is as true."""
    share, inner = min(max(share, 1e-300), 1 - UNIT), min(max(count, 0.01), n - 0.01)
    return math.log(inner / (n - inner)) - math.log(share) + math.log1p(-share)


def _chernoff(n: int, whole: flint.arb, part: flint.arb, count: int, slope: float) -> flint.arb:
    """Bound on E[exp(cS)] where a count is at least (slope > 0) or at most (slope < 0) the one given."""
    theta = to_arb(Fraction(slope))
    return (-theta * count).exp() * (whole + (theta.exp() - 1) * part) ** n
