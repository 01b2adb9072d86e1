r"""Exact confidence intervals for the number of users who hold a category.

With ``m`` of ``n`` users in the category its support count is :math:`C\sim\mathrm{Bin}(m,p)+\mathrm{Bin}(n-m,q)`,
:math:`p>q`, stochastically increasing in ``m``. The ends invert the two tests of size :math:`\alpha/2`: ``low`` is the
smallest ``m`` with :math:`P_m(C\ge c)>\alpha/2`, ``high`` the largest with :math:`P_m(C\le c)>\alpha/2`. Whatever the
population, each end is on the wrong side with probability at most :math:`\alpha/2`.

Tails are decided by enclosures whose centre is a double. They use additions, multiplications and divisions of IEEE 754
only, each of relative error at most :math:`u=2^{-53}`, and no other function: the radius is a theorem. Where the level
lies inside an enclosure, integers decide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Final, final

import flint
import numpy as np

from symshuffle.base.crossings import first_integer
from symshuffle.base.doubles import Array
from symshuffle.base.errors import InputError, NotDecided
from symshuffle.base.numbers import as_integer, parse_rational, to_arb, working_precision

SMALLEST_ALPHA: Final = Fraction(1, 10**100)
"""Error probabilities below are refused."""

_LARGEST_EXACT: Final = 20_000
"""Users up to which a tail is an integer over an integer."""


@final
@dataclass(frozen=True, slots=True)
class _Masses:
    """Probabilities of a binomial variable on a window: relative error ``error``, and ``left`` is outside of it."""

    start: int
    masses: Array
    above: Array
    left: float
    error: float


@lru_cache(maxsize=64)
def _masses(size: int, share: Fraction, least: float, spread: float = 9.0) -> _Masses:
    """Window of Bin(size, share) that misses at most about ``least`` of the mass.

    - ``spread``: standard deviations on each side of the mode that are summed at first.
    """
    if share == 1:
        return _Masses(size, np.ones(1), np.ones(1), 0.0, 0.0)
    odds = float(share / (1 - share))
    mode = min(int((size + 1) * share), size)
    spread += math.sqrt(max(0.0, -2 * math.log(least) - 60))
    reach = int(spread * math.sqrt(size * float(share) * (1 - float(share)))) + 40
    while True:
        start, stop = max(mode - reach, 0), min(mode + reach, size)
        up = np.arange(mode, stop, dtype=np.float64)
        down = np.arange(mode, start, -1, dtype=np.float64)
        right = np.cumprod((size - up) / (up + 1) * odds)
        left = np.cumprod(down / ((size - down + 1) * odds))
        masses = np.concatenate((left[::-1], [1.0], right))
        total = float(masses.sum())
        # Beyond the window ratios fall, so that the rest is below a geometric sum.
        outside = 0.0
        if stop < size:
            ratio = (size - stop) / (stop + 1) * odds * (1 + 1e-12)
            outside += float(masses[-1]) * ratio / (1 - ratio) if ratio < 1 else math.inf
        if start > 0:
            ratio = start / ((size - start + 1) * odds) * (1 + 1e-12)
            outside += float(masses[0]) * ratio / (1 - ratio) if ratio < 1 else math.inf
        missed = 2 * outside / total
        if missed <= least:
            break
        reach = 2 * reach
    masses /= total
    above = np.cumsum(masses[::-1])[::-1]
    # A mass is a product of at most ``len`` factors of three operations each, with odds of one rounding; so is the sum.
    return _Masses(start, masses, above, missed, 16 * (len(masses) + 4) * math.ulp(0.5))


def _enclosed_tail(c: int, m: int, n: int, p: Fraction, q: Fraction, least: float) -> tuple[float, float]:
    """Ends around P(Bin(m, p) + Bin(n - m, q) >= c)."""
    first, second = _masses(m, p, least), _masses(n - m, q, least)
    if len(first.masses) > len(second.masses):
        first, second = second, first
    # For i from the first window, all j >= c - i of the second one.
    below = c - second.start - first.start  # index into ``above`` at i = first.start; it falls by one with i
    indices = below - np.arange(len(first.masses))
    inside = np.where(
        indices <= 0,
        second.above[0],
        np.where(indices < len(second.above), second.above[np.clip(indices, 0, len(second.above) - 1)], 0.0),
    )
    value = float(first.masses @ inside)
    missed = first.left + second.left
    error = 2 * (first.error + second.error) + missed
    return value * (1 - error), value * (1 + error) + 2 * missed + 1e-300


def exact_tail(c: int, m: int, n: int, p: Fraction, q: Fraction) -> Fraction:
    """P(Bin(m, p) + Bin(n - m, q) >= c), from integers: coefficients of a product of two powers."""
    first, second = (flint.fmpz_poly([share.denominator - share.numerator, share.numerator]) for share in (p, q))
    ways = (first**m * second ** (n - m)).coeffs()
    return Fraction(int(sum(ways[max(c, 0) :])), p.denominator**m * q.denominator ** (n - m))


def exceeds(c: int, m: int, n: int, p: Fraction, q: Fraction, level: Fraction, most_bits: int = 1 << 10) -> bool:
    """Whether P(Bin(m, p) + Bin(n - m, q) >= c) is above a level.

    - ``most_bits``: beyond these a tail is not told from its level: what a window misses is a double above 0.
    """
    if c <= 0 or c > n:
        return c <= 0
    low, high = _enclosed_tail(c, m, n, p, q, float(level) * 1e-12)
    if low > float(level) * (1 + 1e-15):
        return True
    if high < float(level) * (1 - 1e-15):
        return False
    if n <= _LARGEST_EXACT:
        return exact_tail(c, m, n, p, q) > level
    bits = 128
    while bits <= most_bits:
        verdict = _by_balls(c, m, n, p, q, level, bits)
        if verdict is not None:
            return verdict
        bits *= 2
    raise NotDecided(f"whether a tail at count {c} of {n} users is above its level is not decided at {most_bits} bits")


def _by_balls(c: int, m: int, n: int, p: Fraction, q: Fraction, level: Fraction, bits: int) -> bool | None:
    """The same in balls; None where they overlap."""
    with working_precision(bits):
        missed = 2.0**-bits
        first, second = _ball_masses(m, p, missed), _ball_masses(n - m, q, missed)
        above: dict[int, Any] = {}
        total = flint.arb(0)
        for j in sorted(second, reverse=True):
            total += second[j]
            above[j] = total
        least, most = min(second), max(second)
        value = sum((mass * above[max(c - i, least)] for i, mass in first.items() if c - i <= most), flint.arb(0))
        goal = to_arb(level)
        if value > goal:
            return True
        return False if value + 4 * missed < goal else None


def _ball_masses(size: int, share: Fraction, least: float) -> dict[int, Any]:
    """Balls around the probabilities of a window that :func:`_masses` knows to miss at most ``least``."""
    window = _masses(size, share, least)
    if share == 1:
        return {size: flint.arb(1)}
    ratio = flint.fmpq(share.numerator, share.denominator)
    odds = ratio / (1 - ratio)
    start = window.start
    if size <= _LARGEST_EXACT:
        chosen = flint.arb(flint.fmpz.bin_uiui(size, start))
    else:
        logs = [flint.arb(x + 1).lgamma() for x in (size, start, size - start)]
        chosen = (logs[0] - logs[1] - logs[2]).exp()
    mass = chosen * flint.arb(ratio) ** start * flint.arb(1 - ratio) ** (size - start)
    found = {}
    for i in range(start, start + len(window.masses)):
        found[i] = mass
        mass = mass * odds * (size - i) / (i + 1)
    return found


@final
@dataclass(frozen=True, slots=True)
class Support:
    """Law of the number of messages that support a category.

    Parameters
    ----------
    n : int
        Number of messages.
    p, q : Fraction
        Probabilities with ``0 < q < p <= 1``.
    """

    n: int
    p: Fraction
    q: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", as_integer(self.n, "n", 0))
        for name in ("p", "q"):
            object.__setattr__(self, name, parse_rational(getattr(self, name), name))
        if not 0 < self.q < self.p <= 1:
            raise InputError("p, q", f"{self.p}, {self.q}", "probabilities with 0 < q < p <= 1")

    def possible(self, count: int, alpha: Fraction) -> bool:
        """Whether a number of users from 0 to n passes both tests of size ``alpha / 2`` at this count."""
        n, p, q, alpha = self.n, self.p, self.q, parse_rational(alpha, "alpha")
        count = as_integer(count, "count", 0, n)
        reached = exceeds(count, n, n, p, q, alpha / 2)  # by n users in the category
        return reached and exceeds(n - count, n, n, 1 - q, 1 - p, alpha / 2)  # and not exceeded by none

    def interval(self, count: int, alpha: Fraction) -> tuple[int, int]:
        """Ends around the number of users in the category, wrong with probability at most ``alpha``, in [1e-100, 1)."""
        alpha = parse_rational(alpha, "alpha")
        if not SMALLEST_ALPHA <= alpha < 1:
            raise InputError("alpha", alpha, "a number in (0, 1), at least 1e-100")
        count = as_integer(count, "count", 0, self.n)
        low = _lowest(count, self.n, self.p, self.q, alpha / 2)
        high = self.n - _lowest(self.n - count, self.n, 1 - self.q, 1 - self.p, alpha / 2)
        return min(low, high), max(low, high)


def _lowest(c: int, n: int, p: Fraction, q: Fraction, level: Fraction) -> int:
    """Smallest m with P_m(C >= c) > level; n where there is none."""
    if c <= 0:
        return 0
    low, high = -1, n  # at low it is not above the level, at high it is (or n is taken anyway)
    guess, step = min(max(_guess(c, n, p, q, level), 0), n), 1
    if exceeds(c, guess, n, p, q, level):
        high = guess
        while high - step > low and exceeds(c, high - step, n, p, q, level):
            high, step = high - step, 2 * step
        low = max(low, high - step)
    else:
        low = guess
        while low + step < high and not exceeds(c, low + step, n, p, q, level):
            low, step = low + step, 2 * step
        high = min(high, low + step)
    return first_integer(lambda m: exceeds(c, m, n, p, q, level), low, high)


def _guess(c: int, n: int, p: Fraction, q: Fraction, level: Fraction) -> int:
    """Where the end lies by the expansion of Cornish and Fisher."""
    a, b = float(p), float(q)
    apart = max(float(p - q), 1e-300)
    z = -NormalDist().inv_cdf(max(float(level), 1e-300))
    m = (c - n * b) / apart
    for _ in range(6):
        m = min(max(m, 0.0), float(n))
        variance = m * a * (1 - a) + (n - m) * b * (1 - b)
        third = m * a * (1 - a) * (1 - 2 * a) + (n - m) * b * (1 - b) * (1 - 2 * b)
        if variance <= 0:
            break
        m = (c - 0.5 - n * b - z * math.sqrt(variance) - (z * z - 1) / 6 * third / variance) / apart
    return math.ceil(min(max(m, 0.0), float(n)))
