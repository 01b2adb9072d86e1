r"""Walk engine: laws of two to four atoms, by binomial tails that are updated from count to count, in balls.

The counts of the atoms among n copies of G are multinomial and :math:`S=\sum_iv_iN_i`. On a *line* of count vectors all
counts but two are given as a step t is; those two, of N copies, are N - X and X with X binomial, and S is affine:
:math:`S=\alpha_t+uX`, u > 0. So :math:`E[S_+]` on the line is

.. math:: \sum_tP(t)\,\bigl((\alpha_t+uNr)\,T+u\kappa(1-r)\,b\bigr),\qquad T=P(X\ge\kappa),\quad b=P(X=\kappa),

with :math:`\kappa` the first count above :math:`-\alpha_t/u`. From one t to the next N and :math:`\kappa` change by a
few units, and T follows by as many ball products (:mod:`symshuffle.engines.counting.tails`).

*Three atoms* are one line: t counts the middle one. So the cost is a window of it, about sqrt(n) steps.

*Four atoms* :math:`v_1<v_a<v_b<v_4` (two inputs that are told apart, and what does not tell them apart) are cut by
:math:`d=N_4-N_1`. With :math:`m=N_1+N_4`,

.. math:: S=nv_a+\tfrac12(v_4-v_1)\,d+R,\qquad R=\bigl(\tfrac12(v_4+v_1)-v_a\bigr)m+(v_b-v_a)N_b .

While R stays in a window, S is at most 0 up to some :math:`d_0`, and at least 0 from some :math:`d_1` on.

- Between them each d is a line: t counts with m, in steps of 2, and X is :math:`N_b` of the n - m copies on a and b.
- From :math:`d_1` on all of S counts, :math:`E[S;\,d\ge d_1]`: given m this is a tail of :math:`N_4\ge(d_1+m)/2` among
  m copies, the others having the mean of the atoms a and b. One line more.

Near eps = 0, for mechanisms whose two inputs mirror each other, R varies little beside :math:`v_4-v_1`, and few d lie
between: about sqrt(n) steps each.

Four errors stand between that sum C and :math:`E[S_+]`, each with a bound; the first three only add to C. Let Q be a
sum over copies of a function of the atom, and Y another. For every :math:`\phi\ge0`,
:math:`E[e^Y;\,Q\ge q]\le e^{-\phi q}E[e^{Y+\phi Q}]`, a power of one copy's (and so below q, with :math:`\phi\le0`).

- *Windows.* :math:`E[S_+]` where t leaves its window, by :math:`x_+\le e^{cx}/(ec)`, c > 0.
- *Positive parts.* :math:`E[S_+;\,d\le d_0]`, which takes R above its window, by the same.
- *Negative parts.* C also holds S < 0 where :math:`d\ge d_1`, which takes R below its window:
  :math:`E[S_-;\,d\ge d_1]\le n(v_1)_-e^{-\theta d_1}E[e^{\theta d};\,R\text{ below}]` for every :math:`\theta\ge0`.
- *Thresholds.* :math:`-\alpha_t/u` is followed in integers, off by at most w < 1/2. Where a whole number is within w,
  the mass there may be on the wrong side; S is at most uw on it.

Evidence: all of it is proved, in ball arithmetic; doubles only choose windows, c, theta and phi.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, final

from symshuffle.base.choices import Rigour
from symshuffle.base.errors import InputError, NotDecided, Unsupported
from symshuffle.base.numbers import Ball, lower_end, to_arb, upper_end, working_precision
from symshuffle.base.results import Bracket
from symshuffle.channels.law import Law
from symshuffle.engines.counting.tails import NONE
from symshuffle.engines.counting.walk_plan import Plan

_LARGEST: Final = 3_000_000
"""Steps that take some seconds: what a contour in balls takes for a relative width of 1e-10."""

_FINEST: Final = 1e-9
"""Relative width from which on a contour in doubles answers sooner."""


@final
@dataclass(frozen=True, slots=True)
class Walk:
    """Engine that sums binomial tails along lines of count vectors, in balls.

    Parameters
    ----------
    rel : float
        Relative width to aim at, in (0, 1).
    bits : int
        Working precision, to which the engine adds what the number of users costs.
    largest : int
        Limit on the number of steps: units by which counts change on all lines together.
    """

    least: ClassVar[Rigour] = Rigour.BALL
    continuous: ClassVar[bool] = False

    rel: float = 1e-10
    bits: int = 128
    largest: int = _LARGEST

    def __post_init__(self) -> None:
        if not 0 < self.rel < 1:
            raise InputError("rel", self.rel, "a relative width in (0, 1)")

    @classmethod
    def aiming(cls, rel: float, bits: int) -> Walk:
        """Engine with default limits, a relative width and a working precision."""
        return cls(rel=rel, bits=bits)

    @classmethod
    def offered(cls, law: Law, rigour: Rigour | None, rel: float) -> Walk | None:
        """Engine for the automatic choice in balls or at narrow widths, otherwise None."""
        if rigour is Rigour.EXACT or (rigour is not Rigour.BALL and rel >= _FINEST):
            return None
        return cls(rel=rel, bits=64 - math.floor(math.log2(rel)))

    @classmethod
    def trials(cls, law: Law) -> tuple[Walk, ...]:
        """Settings under which a bracket takes about a second, for tests."""
        return cls(rel=1e-12, largest=100_000), cls(rel=0.5, bits=16, largest=100_000)

    @property
    def name(self) -> str:
        """Name of the engine."""
        return "walk"

    def refusal(self, law: Law, n: int) -> str | None:
        """Reason why this engine cannot answer, known before it starts, or None."""
        if not law.enclosed:
            return "a law of doubles encloses nothing"
        if law.never_positive or len(law.values) == 1:
            return None
        if len(law.values) > 4:
            return f"{len(law.values)} atoms, more than 4"
        if any(lower_end(weight) <= 0 for weight in law.weights):
            return "a weight that may be 0"
        return None

    def bracket(self, law: Law, n: int) -> Bracket:
        """A certified bracket around H(n).

        Raises
        ------
        Unsupported
            If :meth:`refusal` gives a reason, it takes too many steps, or the balls of the law are so wide that two
            atoms, or thresholds, cannot be told apart.
        """
        reason = self.refusal(law, n)
        if reason is not None:
            raise Unsupported(f"engine walk at n = {n}: {reason}; use engine ball")
        if law.never_positive or len(law.values) == 1:
            low = law.floor + lower_end(law.singular)
            high = max(upper_end(law.mean), Fraction(0)) + upper_end(law.singular)
            return Bracket(low, high, Rigour.BALL, self.name, "G has one atom, or is never positive")
        try:
            with working_precision(self.bits + 4 * n.bit_length() + 16):
                low, high, how = self._ends(law, n)
        except NotDecided as reason:
            raise Unsupported(f"engine walk at n = {n}: {reason}; use engine ball") from reason
        # H is never below E[G] nor below 0, beyond its singular part: both are bounds in their own right.
        floor = law.floor + lower_end(law.singular)
        return Bracket(max(low, floor), high, Rigour.BALL, self.name, how)

    def _ends(self, law: Law, n: int) -> tuple[Fraction, Fraction, str]:
        """Both ends, and how they were found."""
        plan = Plan.of(law, n, self.rel)
        if plan.steps > self.largest:
            raise Unsupported(f"engine walk at n = {n}: about {plan.steps:.1e} steps; use engine ball")
        total = sum((line.expected() for line in plan.lines()), start=NONE)
        singular = to_arb(law.singular)
        low = Ball.from_arb(total / n + singular).lower
        high = Ball.from_arb((total + plan.outside() + plan.above() + plan.below()) / n + singular).upper
        found = "1 line" if plan.count == 1 else f"{plan.count} lines"
        how = f"binomial tails along {found} of counts in balls of {self.bits} bits, about {plan.steps:.0f} steps"
        return low, high, f"{how}; windows bounded"
