r"""Counts engine: a sum over the counts of the atoms, for few atoms and moderately many users.

The counts :math:`(N_1,\dots,N_d)` of the atoms among n copies of G are multinomial, and :math:`S=\sum_i v_iN_i`. All
but two of the counts are enumerated; given them, S is affine in the last free count, and what is left of
:math:`E[S_+]` is a first moment of a binomial tail. Tails and moments are cumulative sums of non-negative terms,

.. math:: \sum_{j\le p}b_j\,\bigl(s+(p-j)w\bigr)=s\,B_p+w\sum_{j<p}B_j,\qquad B_p=\sum_{j\le p}b_j,

with p the last count at which S is not negative and :math:`s\in[0,w)` its value there: nothing cancels.

Three errors stand between that sum and H(n), each with a bound:

- *Windows.* Only counts in a window of each atom are visited (:mod:`symshuffle.engines.counting.count_tables`).
- *Factors.* A table holds :math:`(\rho w_i)^k/k!` relative to its value at one count, made in balls and rounded once.
  All terms are non-negative, so relative errors of factors and sums add up to one relative error of the total.
- *Values.* Atoms and S are rounded. Where S is off by at most :math:`\eta`, so is its positive part, and only where
  :math:`S\ge-\eta`: the last count above and the next one bound that mass.

The tables are integers of a fixed point, on which everything is exact, or doubles.

Evidence: with integers all of it is proved. With doubles it is proved if additions, products and quotients of doubles
are rounded to nearest, in whatever order NumPy adds them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, Final, final

from symshuffle.base import cost
from symshuffle.base.choices import Arithmetic
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Ball, lower_end, to_arb, upper_end, working_precision
from symshuffle.base.results import Bracket
from symshuffle.channels.law import Law
from symshuffle.engines.counting.count_tables import FactorTable, Windows, scale_of, visited
from symshuffle.engines.estimates import LARGEST_STEPS, cheap_steps, steps_over_counts
from symshuffle.engines.registry import Engine

_FEW: Final = 20_000
"""Steps up to which integers follow where doubles turn out not to do: they cost less than what other engines would."""

_IN_INTEGERS: Final = 10
"""Terms of a contour in doubles that take as long as a step in integers: cost only."""

_LEAST: Final = Fraction(1, 10**300)
_WIDER: Final = 8
"""The smallest share of Chernoff's bound that windows are chosen to leave out, and how often they are chosen again."""


@final
@dataclass(frozen=True, slots=True)
class Counts(Engine):
    """Engine that sums over count vectors, with binomial tails for the last count.

    Parameters
    ----------
    rtol : float
        Relative width to aim at, in (0, 1).
    bits : int or None
        Precision of the integers; None computes in doubles, and in integers where these do not do and steps are few.
    largest : int
        Limit on the number of steps: entries of the table of tails, and counts to enumerate.
    """

    name: ClassVar[str] = "counts"
    least: ClassVar[Arithmetic] = "float64"

    rtol: float = 1e-10
    bits: int | None = None
    largest: int = LARGEST_STEPS

    @classmethod
    def with_tolerance(cls, rtol: float, bits: int) -> Counts:
        """Engine with default limits, a relative width and integers of ``bits`` bits."""
        return cls(rtol=rtol, bits=bits)

    @classmethod
    def for_auto(cls, law: Law, arithmetic: Arithmetic | None, rtol: float, *, finest: float = 1e-11) -> Counts | None:
        """Engine limited to cheap sums, in integers where doubles do not reach the width; None for exact arithmetic.

        - ``finest``: relative width below which doubles will not do.
        """
        if arithmetic == "exact":
            return None
        bits = _bits(rtol) if arithmetic == "ball" or rtol < finest else None
        return cls(rtol=rtol, bits=bits, largest=cheap_steps(rtol))

    @classmethod
    def trials(cls, law: Law) -> tuple[Counts, ...]:
        """Settings under which a bracket takes about a second, for tests."""
        return (
            cls(rtol=1e-10, bits=128, largest=300_000),
            cls(rtol=0.5, bits=64, largest=300_000),
            cls(rtol=1e-10),
            cls(rtol=0.1),
        )

    def refusal(self, law: Law, n: int, *, max_users: int = 200_000) -> str | None:
        """Reason why this engine cannot answer, known before it starts, or None.

        - ``max_users``: users beyond which windows are not looked for.
        """
        if not law.enclosed:
            return "a law of doubles encloses nothing"
        if law.never_positive or len(law.values) == 1:
            return None
        if n > max_users:
            return f"more than {max_users} users"
        if min(law.ends[1][0]) <= 0:
            return "a weight that may be 0"
        steps = steps_over_counts(law, n, self.rtol)
        return None if steps <= self.largest else f"about {Decimal(steps):.1e} steps, more than {self.largest}"

    def bracket(self, law: Law, n: int) -> Bracket:
        """A bracket around H(n)."""
        reason = self.refusal(law, n)
        if reason is not None:
            raise Unsupported(f"engine counts at n = {n}: {reason}; use engine contour")
        known: Arithmetic = "float64" if self.bits is None else "ball"
        if law.never_positive or len(law.values) == 1:
            low = law.floor + lower_end(law.singular)
            high = max(upper_end(law.mean), Fraction(0)) + upper_end(law.singular)
            return Bracket(low, high, known, self.name, "G has one atom, or is never positive")
        # Chernoff's bound, which windows are chosen by, may be far above the sum, where atoms weigh hardly anything:
        # then they are chosen again, by the sum, or by a square where nothing of it is seen yet.
        aimed, windows = Fraction(self.rtol), self._windows(law, n, self.rtol)
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

    def _windows(self, law: Law, n: int, rtol: float) -> Windows:
        windows = Windows.choose(law, n, rtol)
        if windows.steps > 4 * self.largest:
            raise Unsupported(f"engine counts at n = {n}: {Decimal(windows.steps):.1e} steps; use engine contour")
        return windows

    def _in_numbers(self, windows: Windows) -> tuple[Bracket, Fraction]:
        """As :meth:`_summed` in doubles, where they do, or in integers."""
        if self.bits is not None or windows.steps > _FEW:
            return self._summed(windows, self.bits)
        try:
            found, rest = self._summed(windows, None)
        except Unsupported:
            return self._summed(windows, _bits(self.rtol))
        narrow = found.width - rest <= Fraction(self.rtol) * found.upper
        return (found, rest) if narrow else self._summed(windows, _bits(self.rtol))

    def _summed(
        self, windows: Windows, bits: int | None, *, table_bits: int = 96, max_log: float = 500.0
    ) -> tuple[Bracket, Fraction]:
        """The sum over the windows, in doubles or in integers, and the bound on what is outside, which it contains.

        - ``table_bits``: precision of the tables before they are rounded to doubles.
        - ``max_log``: logarithm of what products of doubles from the tables may reach: far from where doubles lose
          digits.
        """
        law, n = windows.law, windows.n
        cost.add(windows.steps * (1 if bits is None else _IN_INTEGERS))
        known: Arithmetic = "float64" if self.bits is None else "ball"
        precision = table_bits if bits is None else bits
        with working_precision(precision + 2 * n.bit_length() + 16):
            tables = [FactorTable.of(windows, i, bits) for i in windows.order]
            if bits is None and sum(table.range for table in tables) > max_log:
                raise Unsupported(f"engine counts at n = {n}: beyond the range of doubles; use engine contour")
            total, error = (scale_of(windows, tables) * to_arb(part) for part in visited(n, tables, bits))
            singular, rest = to_arb(law.singular), windows.rest()
            low = Ball.from_arb((total - error) / n + singular).lower
            high = Ball.from_arb((total + error + rest) / n + singular).upper
            beyond = Ball.from_arb(rest / n).upper
        # H is never below E[G] nor below 0, beyond its singular part: both are bounds in their own right.
        floor = law.floor + lower_end(law.singular)
        where = "doubles" if bits is None else f"integers of {bits} bits"
        evaluation = (
            f"{windows.steps:.0f} steps over counts with binomial tails, in {where}; windows and rounding bounded"
        )
        return Bracket(max(low, floor), high, known, self.name, evaluation), beyond


def _bits(rtol: float, *, spare: int = 64) -> int:
    """Bits of integers that reach a relative width.

    - ``spare``: bits beyond those of the width.
    """
    return spare - math.floor(math.log2(rtol))
