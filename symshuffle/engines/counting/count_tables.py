r"""Tables of the factors of count vectors, and sums over them, for :mod:`symshuffle.engines.counting.counts`.

Windows say which counts are visited. As :math:`x_+\le e^{cx}/(ec)`, all others contribute to :math:`E[S_+]` at most
:math:`\frac1{ec}E[e^{cS};N_i\ge k]\le\frac1{ec}e^{-\theta k}(M(c)+(e^{\theta}-1)w_ie^{cv_i})^n` for every side of
every window (c, theta > 0 free; on the lower side theta < 0). Where the windows end is a choice, and so is theta: the
bound is true at any.

Evidence: *proved*, what is outside of the windows in balls, and with integers all of it; with doubles the sums are
proved under the assumption of that module. Doubles choose windows and theta as well.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, final

import flint
import numpy as np
import numpy.typing as npt

from symshuffle.base.doubles import UNIT
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Ball, ball_arguments, lower_end, to_arb, upper_end
from symshuffle.channels.law import Law
from symshuffle.engines.contours import saddle
from symshuffle.engines.estimates import steps_of


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
    def choose(cls, law: Law, n: int, rtol: float) -> Windows:
        """Windows outside of which hardly any of E[S_+] lies, as Chernoff's bound on each count tells."""
        tilt = saddle.tilt(law)
        c = saddle.saddle_point(tilt, n)
        tilted = tilt.at(c)
        spread = c * math.sqrt(n * max(tilted.variance, 0.0))
        quiet = 4 - math.log(rtol) + math.log(2 * len(law.values) * (1 + spread))
        shares = tilted.weights
        if not np.isfinite(shares).all():
            raise Unsupported(f"engine counts at n = {n}: beyond the range of doubles; use engine exact")
        ends = [_window(n, float(share), quiet) for share in shares]
        try:  # at this scale tables are flat but for the tilt
            rho = Fraction(n * math.exp(-tilted.cumulant))
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
        sizes = sorted(float(high - low + 1) for low, high in zip(self.low, self.high, strict=True))
        return steps_of(sizes, self.n)

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


Numbers: TypeAlias = "npt.NDArray[Any]"
"""Doubles, or Python's integers."""


@final
@dataclass(frozen=True, slots=True)
class FactorTable:
    """The factor of one atom in the probability of a count vector, over its window, relative to that at one count.

    - ``factors``: for each count of the window, in doubles or in units of ``2**-point``.
    - ``noise``: bound on their relative errors.
    - ``value``: the atom, in doubles or in units of ``2**-bits``.
    - ``error``: bound on the absolute error of the atom.
    - ``range``: largest size of the logarithm of a factor.
    """

    factors: Numbers
    point: int
    noise: Fraction
    value: Any
    error: Fraction
    first: int
    peak: int
    range: float

    @classmethod
    def of(cls, windows: Windows, i: int, bits: int | None) -> FactorTable:
        """The table of one atom, in fixed point of ``bits`` bits, or in doubles if None."""
        first, last = windows.low[i], windows.high[i]
        peak = (first + last) // 2
        base = to_arb(windows.rho) * to_arb(windows.law.weights[i])
        up = itertools.accumulate(range(peak + 1, last + 1), lambda f, k: f * base / k, initial=flint.arb(1))
        down = list(itertools.accumulate(range(peak, first, -1), lambda f, k: f * k / base, initial=flint.arb(1)))
        balls = [*down[:0:-1], *up]
        # Every step widens the ball: the widest ones are at the ends.
        wide = max(upper_end(Ball.from_arb(end.rad() / end.mid())) for end in (balls[0], balls[-1]))
        # Factors rise to one count and fall from there on.
        middle = min(max(float(base.mid()), first), last) if base < last + 1 else last
        extremes = (balls[0], balls[-1], balls[int(middle) - first])
        steep = max(abs(float(ball.log().mid())) for ball in extremes)
        if not math.isfinite(steep):  # a factor that may be 0
            raise Unsupported(f"engine counts at n = {windows.n}: probabilities are known too coarsely")
        low, high = lower_end(windows.law.values[i]), upper_end(windows.law.values[i])
        if bits is None:
            value, point = float((low + high) / 2), 0
            factors: Numbers = np.array([float(ball.mid()) for ball in balls])
            rounded, atom = Fraction(2 * UNIT), Fraction(value)
        else:
            value, point = round((low + high) / 2 * 2**bits), bits + math.ceil(steep / math.log(2))
            factors = np.array([_fixed(ball, point) for ball in balls], dtype=object)
            rounded, atom = Fraction(2, 1 + min(factors[0], factors[-1])), Fraction(value, 2**bits)
        error = max(atom - low, high - atom)
        return cls(factors, point, rounded + 2 * wide, value, error, first, peak, steep)

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """The counts of the window."""
        return np.arange(self.first, self.last + 1)

    @property
    def last(self) -> int:
        """The last count of the window."""
        return self.first + len(self.factors) - 1


def scale_of(windows: Windows, tables: list[FactorTable]) -> flint.arb:
    """What the product of the tables is to be multiplied with, to be the probability of the counts."""
    found, left = flint.arb(windows.n).fac(), windows.n
    for i, table in zip(windows.order, tables, strict=True):
        found *= to_arb(windows.law.weights[i]) ** table.peak / flint.arb(table.peak).fac()
        left -= table.peak
    return found * to_arb(windows.rho) ** (-left)


def _fixed(ball: flint.arb, point: int) -> int:
    """The midpoint in units of ``2**-point``, rounded down."""
    mantissa, exponent = ball.mid().man_exp()
    shift = int(exponent) + point
    return int(mantissa) << shift if shift >= 0 else int(mantissa) >> -shift


def visited(n: int, tables: list[FactorTable], bits: int | None) -> tuple[Fraction, Fraction]:
    """The sum over the counts in the windows, and a bound on its error, both relative to the scale of the tables."""
    *others, one, two = tables
    below, above = sorted((one, two), key=lambda table: table.value)
    # Bound on the error of S at any counts in the windows. The counts sum to n, and that of an atom is at most the last
    # one of its window: an atom with low counts there may have a larger error.
    off = min(n * max(table.error for table in tables), sum(table.last * table.error for table in tables))
    if bits is None:
        off += 8 * (len(tables) + 2) * n * Fraction(UNIT) * Fraction(max(abs(table.value) for table in tables))
    unit = 1 if bits is None else 2**bits
    if Fraction(above.value - below.value) / unit <= 4 * off:
        raise Unsupported(f"engine counts at n = {n}: two atoms are too close; use engine contour")
    tails = _tails(n, others, below, above)
    entries = [  # of each count its share in S, and its factor
        [(count, count * table.value, f) for count, f in zip(table.counts.tolist(), table.factors, strict=True)]
        for table in others[:-2]
    ]
    planes = [_plane(n, tails, (below, above), chosen, others[-2:]) for chosen in _chosen(entries, n)] or [(0, 0, 0)]
    # In integers sums are exact; in doubles fsum rounds once.
    total, mass = (Fraction(sum(part) if bits else math.fsum(part)) for part in list(zip(*planes, strict=True))[:2])
    noise = sum((table.noise for table in tables), start=Fraction(0))
    if bits is None:
        most = max(terms for *_, terms in planes)
        noise += (2 * len(below.factors) + most + 4 * len(tables) + 40) * Fraction(UNIT)
    noise *= Fraction(101, 100)  # of first order so far
    point = sum(table.point for table in tables)
    total, mass = total / unit / 2**point, mass / 2**point
    return total, noise * total + (1 + noise) * off * mass


def _chosen(entries: list[list[tuple[int, Any, Any]]], left: int) -> Iterator[tuple[tuple[int, Any, Any], ...]]:
    """One entry of each list, in all ways in which the counts sum to at most ``left``."""
    if not entries:
        yield ()
        return
    for entry in entries[0]:
        if entry[0] > left:
            return
        for others in _chosen(entries[1:], left - entry[0]):
            yield (entry, *others)


def _tails(n: int, others: list[FactorTable], below: FactorTable, above: FactorTable) -> tuple[int, Numbers, Numbers]:
    """Cumulative sums over the split of m copies between two atoms, a row for each m that the other counts leave.

    Returned are the first m, the sum of the factors up to a count of the lower atom, from the empty sum on, shape
    ``(rows, window + 1)``, and cumulative sums of these.
    """
    first = max(n - sum(table.last for table in others), below.first + above.first)
    last = min(n - sum(table.first for table in others), below.last + above.last)
    size, start = len(below.factors), first - below.first - above.first
    around = np.zeros(size - 1, dtype=above.factors.dtype)  # no copies outside of the window of the upper atom
    padded = np.concatenate([around, above.factors, around])
    # In row m the upper atom has what the lower one leaves: its factors backwards, one place further in each row.
    left = np.lib.stride_tricks.sliding_window_view(padded, size)[start : start + last + 1 - first, ::-1]
    masses = np.zeros((len(left), size + 1), dtype=padded.dtype)
    np.multiply(left, below.factors, out=masses[:, 1:])
    np.cumsum(masses[:, 1:], axis=1, out=masses[:, 1:])
    return first, masses, np.cumsum(masses, axis=1)


def _plane(
    n: int,
    tails: tuple[int, Numbers, Numbers],
    pair: tuple[FactorTable, FactorTable],
    chosen: tuple[tuple[int, Any, Any], ...],
    free: list[FactorTable],
) -> tuple[Any, Any, int]:
    """The sum over the counts of two atoms and those free, the others chosen; the mass of S >= 0; the terms.

    - ``pair``: the lower and the upper atom of the tails.
    """
    (first, masses, moments), (below, above) = tails, pair
    kind, start = masses.dtype, np.zeros(1, dtype=np.int64)
    used, sums, factors = start, start.astype(kind), start.astype(kind) + 1
    for count, share, factor in chosen:
        used, sums, factors = used + count, sums + share, factors * factor
    for table in free:
        used = (used[:, None] + table.counts).ravel()
        sums = (sums[:, None] + table.counts.astype(kind) * table.value).ravel()
        factors = (factors[:, None] * table.factors).ravel()
    left = n - used
    inside = np.flatnonzero((left >= first) & (left < first + len(masses)))
    left, sums, factors = left[inside], sums[inside], factors[inside]
    gap, size = above.value - below.value, len(below.factors)
    all_above = sums + left.astype(kind) * above.value
    # Up to which count of the lower atom S is not negative; -1 stands for none in the window. A quotient of doubles
    # may round up to a whole number: S is then negative by a round-off of itself, which its error has room for.
    whole = all_above // gap if kind.hasobject else np.floor(all_above / gap)
    last = np.minimum(np.maximum(whole - below.first, -1), size - 1).astype(np.int64)
    there = all_above - (last + below.first).astype(kind) * gap
    row = (left - first) * (size + 1)  # where it begins, the tables being read as one line
    mass_below, moment_below = masses.take(row + last + 1), moments.take(row + np.maximum(last, 0))
    total = (factors * (there * mass_below + gap * moment_below)).sum()
    return total, (factors * masses.take(row + np.minimum(last + 2, size))).sum(), len(left)
