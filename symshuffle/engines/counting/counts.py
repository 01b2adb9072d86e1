r"""Counts engine: a sum over the counts of the atoms, for few atoms and moderately many users.

The counts :math:`(N_1,\dots,N_d)` of the atoms among n copies of G are multinomial, and :math:`S=\sum_i v_iN_i`. All
but two of the counts are enumerated; given them, S is affine in the last free count, and what is left of
:math:`E[S_+]` is a first moment of a binomial tail. Tails and moments are cumulative sums of non-negative terms,

.. math:: \sum_{j\le p}b_j\,\bigl(s+(p-j)w\bigr)=s\,B_p+w\sum_{j<p}B_j,\qquad B_p=\sum_{j\le p}b_j,

with p the last count at which S is not negative and :math:`s\in[0,w)` its value there: nothing cancels.

Three errors stand between that sum and H(n), each with a bound:

- *Windows.* Only counts in a window of each atom are visited (:mod:`symshuffle.engines.counting.count_windows`).
- *Factors.* A table holds :math:`(\rho w_i)^k/k!` relative to its value at one count, made in balls and rounded once.
  All terms are non-negative, so relative errors of factors and sums add up to one relative error of the total.
- *Values.* Atoms and S are rounded. Where S is off by at most :math:`\eta`, so is its positive part, and only where
  :math:`S\ge-\eta`: the last count above and the next one bound that mass.

The tables are integers of a fixed point, on which everything is exact, or doubles.

Evidence: with integers all of it is proved. With doubles it is proved if additions, products and quotients of doubles
are rounded to nearest, in whatever order NumPy adds them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, TypeAlias, final

import flint
import numpy as np
import numpy.typing as npt

from symshuffle.base.choices import Rigour
from symshuffle.base.doubles import UNIT
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Ball, lower_end, to_arb, upper_end, working_precision
from symshuffle.base.results import Bracket
from symshuffle.channels.law import Law
from symshuffle.engines.counting.count_windows import Windows, steps_of

Numbers: TypeAlias = "npt.NDArray[Any]"
"""Doubles, or Python's integers."""

_LARGEST: Final = 3_000_000
_CHEAP: Final = 120_000
"""Steps that are cheaper than a contour for a relative width of 1e-6, whose cost grows with the root of its inverse."""

_MOST_USERS: Final = 200_000
_TABLE_BITS: Final = 96
"""Precision of the tables before they are rounded to doubles."""

_FINEST: Final = 1e-11
"""Relative width below which doubles will not do."""

_FEW: Final = 20_000
"""Steps up to which integers follow where doubles turn out not to do: they cost less than what other engines would."""

_LEAST: Final = Fraction(1, 10**300)
_WIDER: Final = 8
"""The smallest share of Chernoff's bound that windows are chosen to leave out, and how often they are chosen again."""

_SPARE_BITS: Final = 64
"""Bits of these integers beyond those of the width asked for."""

_RANGE: Final = 500.0
"""Logarithm of what products of doubles from the tables may reach: far from where doubles lose digits."""


@final
@dataclass(frozen=True, slots=True)
class Counts:
    """Engine that sums over count vectors, with binomial tails for the last count.

    Parameters
    ----------
    rel : float
        Relative width to aim at, in (0, 1).
    bits : int or None
        Precision of the integers; None computes in doubles, and in integers where these do not do and steps are few.
    largest : int
        Limit on the number of steps: entries of the table of tails, and counts to enumerate.
    """

    least: ClassVar[Rigour] = Rigour.FLOAT64
    continuous: ClassVar[bool] = False

    rel: float = 1e-10
    bits: int | None = None
    largest: int = _LARGEST

    def __post_init__(self) -> None:
        if not 0 < self.rel < 1:
            raise InputError("rel", self.rel, "a relative width in (0, 1)")

    @classmethod
    def aiming(cls, rel: float, bits: int) -> Counts:
        """Engine with default limits, a relative width and integers of ``bits`` bits."""
        return cls(rel=rel, bits=bits)

    @classmethod
    def offered(cls, law: Law, rigour: Rigour | None, rel: float) -> Counts | None:
        """Engine limited to cheap sums for the automatic choice; None at rigour ``exact``.

        It computes in doubles where they reach the width asked for, and in integers otherwise.
        """
        if rigour is Rigour.EXACT:
            return None
        cheap = min(_LARGEST, round(_CHEAP * max(math.sqrt(1e-6 / rel), 0.1)))
        return cls(rel=rel, bits=_bits(rel) if rigour is Rigour.BALL or rel < _FINEST else None, largest=cheap)

    @classmethod
    def trials(cls, law: Law) -> tuple[Counts, ...]:
        """Settings under which a bracket takes about a second, for tests."""
        return (
            cls(rel=1e-10, bits=128, largest=300_000),
            cls(rel=0.5, bits=64, largest=300_000),
            cls(rel=1e-10),
            cls(rel=0.1),
        )

    @property
    def name(self) -> str:
        """Name of the engine."""
        return "counts"

    def refusal(self, law: Law, n: int) -> str | None:
        """Reason why this engine cannot answer, known before it starts, or None."""
        if not law.enclosed:
            return "a law of doubles encloses nothing"
        if law.never_positive or len(law.values) == 1:
            return None
        if n > _MOST_USERS:
            return f"more than {_MOST_USERS} users"
        if any(lower_end(weight) <= 0 for weight in law.weights):
            return "a weight that may be 0"
        spread = math.sqrt(-8 * math.log(self.rel))
        weights = (float(upper_end(weight)) for weight in law.weights)
        sizes = sorted(min(n, 4 + spread * math.sqrt(n * w * max(1 - w, 0.0))) for w in weights)
        steps = steps_of(sizes)
        return None if steps <= self.largest else f"about {steps:.1e} steps, more than {self.largest}"

    def bracket(self, law: Law, n: int) -> Bracket:
        """A bracket around H(n).

        Raises
        ------
        Unsupported
            If :meth:`refusal` gives a reason, or the windows turn out much larger than it took them for.
        """
        reason = self.refusal(law, n)
        if reason is not None:
            raise Unsupported(f"engine counts at n = {n}: {reason}; use engine contour")
        known = Rigour.FLOAT64 if self.bits is None else Rigour.BALL
        if law.never_positive or len(law.values) == 1:
            low = law.floor + lower_end(law.singular)
            high = max(upper_end(law.mean), Fraction(0)) + upper_end(law.singular)
            return Bracket(low, high, known, self.name, "G has one atom, or is never positive")
        # Chernoff's bound, which windows are chosen by, may be far above the sum, where atoms weigh hardly anything:
        # then they are chosen again, by the sum, or by a square where nothing of it is seen yet.
        aimed, windows = Fraction(self.rel), self._windows(law, n, self.rel)
        found, rest = self._in_numbers(windows)
        share = aimed
        for _ in range(_WIDER):
            low = found.lower - lower_end(law.singular)
            if rest <= aimed * low or windows.steps > _FEW or share <= _LEAST:
                break
            share = max(share * min(aimed * low / rest / 2 if low > 0 else share, Fraction(1, 2)), _LEAST)
            windows = self._windows(law, n, float(share))
            found, rest = self._in_numbers(windows)
        return found

    def _windows(self, law: Law, n: int, rel: float) -> Windows:
        windows = Windows.choose(law, n, rel)
        if windows.steps > 4 * self.largest:
            raise Unsupported(f"engine counts at n = {n}: {windows.steps:.1e} steps; use engine contour")
        return windows

    def _in_numbers(self, windows: Windows) -> tuple[Bracket, Fraction]:
        """As :meth:`_summed` in doubles, where they do, or in integers."""
        if self.bits is not None or windows.steps > _FEW:
            return self._summed(windows, self.bits)
        try:
            found, rest = self._summed(windows, None)
        except Unsupported:
            return self._summed(windows, _bits(self.rel))
        narrow = found.width - rest <= Fraction(self.rel) * found.upper
        return (found, rest) if narrow else self._summed(windows, _bits(self.rel))

    def _summed(self, windows: Windows, bits: int | None) -> tuple[Bracket, Fraction]:
        """The sum over the windows, in doubles or in integers, and the bound on what is outside, which it contains."""
        law, n = windows.law, windows.n
        known = Rigour.FLOAT64 if self.bits is None else Rigour.BALL
        precision = _TABLE_BITS if bits is None else bits
        with working_precision(precision + 2 * n.bit_length() + 16):
            tables = [_Table.of(windows, i, bits) for i in windows.order]
            if bits is None and sum(table.range for table in tables) > _RANGE:
                raise Unsupported(f"engine counts at n = {n}: beyond the range of doubles; use engine contour")
            total, error = (_scale(windows, tables) * to_arb(part) for part in _visited(n, tables, bits))
            singular, rest = to_arb(law.singular), windows.rest()
            low = Ball.from_arb((total - error) / n + singular).lower
            high = Ball.from_arb((total + error + rest) / n + singular).upper
            beyond = Ball.from_arb(rest / n).upper
        # H is never below E[G] nor below 0, beyond its singular part: both are bounds in their own right.
        floor = law.floor + lower_end(law.singular)
        where = "doubles" if bits is None else f"integers of {bits} bits"
        how = f"{windows.steps:.0f} steps over counts with binomial tails, in {where}; windows and rounding bounded"
        return Bracket(max(low, floor), high, known, self.name, how), beyond


def _bits(rel: float) -> int:
    """Bits of integers that reach a relative width."""
    return _SPARE_BITS - math.floor(math.log2(rel))


@final
@dataclass(frozen=True, slots=True)
class _Table:
    """The factor of one atom in the probability of a count vector, over its window, relative to that at one count.

    Parameters
    ----------
    factors : array
        For each count of the window, in doubles or in units of ``2**-point``.
    point : int
        0 for doubles.
    noise : Fraction
        Bound on their relative errors.
    value : float or int
        The atom, in doubles or in units of ``2**-bits``.
    error : Fraction
        Bound on the absolute error of the atom.
    first, peak : int
        The first count of the window, and the one at which the factor is 1.
    range : float
        Largest size of the logarithm of a factor.
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
    def of(cls, windows: Windows, i: int, bits: int | None) -> _Table:
        """Of one atom; in doubles where no number of bits is given."""
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


def _scale(windows: Windows, tables: list[_Table]) -> flint.arb:
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


def _visited(n: int, tables: list[_Table], bits: int | None) -> tuple[Fraction, Fraction]:
    """The sum over the counts in the windows, and a bound on its error, both relative to the scale of the tables.

    Raises
    ------
    Unsupported
        If two atoms are so close that rounding decides which of them is larger.
    """
    *others, one, two = tables
    below, above = sorted((one, two), key=lambda table: table.value)
    # Only counts in the windows are visited: an atom of which there are few there may be known less well.
    off = min(n * max(table.error for table in tables), sum(table.last * table.error for table in tables))
    if bits is None:
        off += 8 * (len(tables) + 2) * n * Fraction(UNIT) * Fraction(max(abs(table.value) for table in tables))
    unit = 1 if bits is None else 2**bits
    if Fraction(above.value - below.value) / unit <= 4 * off:
        raise Unsupported(f"engine counts at n = {n}: two atoms are too close; use engine contour")
    tails = _Tails.of(n, others, below, above)
    entries = [_entries(table) for table in others[:-2]]
    planes = [tails.plane(n, chosen, others[-2:]) for chosen in _chosen(entries, n)] or [(0, 0, 0)]
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


def _entries(table: _Table) -> list[tuple[int, Any, Any]]:
    """Count, its share in S, and its factor."""
    return [(count, count * table.value, f) for count, f in zip(table.counts.tolist(), table.factors, strict=True)]


@final
@dataclass(frozen=True, slots=True)
class _Tails:
    """Cumulative sums over the split of m copies between two atoms, a row for each m.

    Parameters
    ----------
    first : int
        The first m.
    masses : array
        Shape ``(rows, window + 1)``: the sum of the factors up to a count of the lower atom, from the empty sum on.
    moments : array
        Cumulative sums of ``masses``.
    below, above : _Table
        The two atoms.
    """

    first: int
    masses: Numbers
    moments: Numbers
    below: _Table
    above: _Table

    @classmethod
    def of(cls, n: int, others: list[_Table], below: _Table, above: _Table) -> _Tails:
        """For all m that the other counts leave."""
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
        return cls(first, masses, np.cumsum(masses, axis=1), below, above)

    def plane(self, n: int, chosen: tuple[tuple[int, Any, Any], ...], free: list[_Table]) -> tuple[Any, Any, int]:
        """The sum over the counts of at most two atoms, those of all others but the last two given.

        Also the mass on which S is at least about 0, and how many terms either sum has.
        """
        kind, start = self.masses.dtype, np.zeros(1, dtype=np.int64)
        used, sums, factors = start, start.astype(kind), start.astype(kind) + 1
        for count, share, factor in chosen:
            used, sums, factors = used + count, sums + share, factors * factor
        for table in free:
            used = (used[:, None] + table.counts).ravel()
            sums = (sums[:, None] + table.counts.astype(kind) * table.value).ravel()
            factors = (factors[:, None] * table.factors).ravel()
        left = n - used
        inside = np.flatnonzero((left >= self.first) & (left < self.first + len(self.masses)))
        left, sums, factors = left[inside], sums[inside], factors[inside]
        gap, size = self.above.value - self.below.value, len(self.below.factors)
        all_above = sums + left.astype(kind) * self.above.value
        # Up to which count of the lower atom S is not negative; -1 stands for none in the window. A quotient of doubles
        # may round up to a whole number: S is then negative by a round-off of itself, which its error has room for.
        whole = all_above // gap if kind.hasobject else np.floor(all_above / gap)
        last = np.minimum(np.maximum(whole - self.below.first, -1), size - 1).astype(np.int64)
        there = all_above - (last + self.below.first).astype(kind) * gap
        row = (left - self.first) * (size + 1)  # where it begins, the tables being read as one line
        masses, moments = self.masses.take(row + last + 1), self.moments.take(row + np.maximum(last, 0))
        total = (factors * (there * masses + gap * moments)).sum()
        return total, (factors * self.masses.take(row + np.minimum(last + 2, size))).sum(), len(left)
