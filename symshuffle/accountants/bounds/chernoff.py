"""Chernoff's bound: on H(n) where it is below the least number that is kept, and on the chance that a sum counts."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import (
    MOST_DOUBLINGS,
    Ball,
    ball_arguments,
    lower_end,
    to_arb,
    upper_end,
    working_precision,
)
from symshuffle.base.results import Bracket
from symshuffle.channels.law import Law

if TYPE_CHECKING:
    from symshuffle.channels.mixed_law import MixedLaw

_BITS: Final = 128

_CLEARLY: Final = 0.5
"""Share of the exponent of that number above which doubles alone say that a bound is larger."""


def below_all_numbers(law: Law, n: int) -> Bracket | None:
    """Bracket by Chernoff's bound ``E[S_+] <= M(c)^n / (e c)``, in balls, where that is below 2^-MOST_DOUBLINGS.

    A law of bare doubles encloses nothing, so that there is none.
    """
    clearly = -_CLEARLY * MOST_DOUBLINGS * math.log(2)
    with suppress(OverflowError):
        value, weight = max(zip(*law.doubles, strict=True))
        # The contribution of the largest atom alone, at its best c.
        if value > 0 and weight > 0 and n * math.log(weight) + math.log(n * value) > clearly:
            return None
    if not law.enclosed:
        return None
    from symshuffle.engines.contours import saddle  # NumPy loads when used

    try:
        tilt = saddle.tilt(law)
        c = saddle.saddle_point(tilt, n)
    except Unsupported:
        return None
    if n * tilt.at(c).cumulant - math.log(c) - 1 > clearly:
        return None  # the bound is far above the smallest double: no balls are needed
    with working_precision(128 + n.bit_length()):
        if not n * _moment(law, c).log() - to_arb(Fraction(c)).log() - 1 < -MOST_DOUBLINGS * to_arb(Fraction(2)).log():
            return None
    ends = lower_end(law.singular), upper_end(law.singular) + Fraction(1, n << MOST_DOUBLINGS)
    evaluation = f"Chernoff's bound at c = {c:.4g}, below 2^-{MOST_DOUBLINGS}, the least number that is kept"
    return Bracket(*ends, "ball", "none", evaluation)


def without_engine(law: Law | MixedLaw, n: int, reason: str) -> Bracket:
    """Bracket that takes next to no work: from the mean to Chernoff's bound or the value for one user, in balls."""
    least, top, which = max(law.floor, Fraction(0)) + lower_end(law.singular), law.ceiling, "the value for one user"
    if isinstance(law, Law) and law.enclosed:
        from symshuffle.engines.contours import saddle  # NumPy loads when used

        with suppress(Unsupported), working_precision(_BITS + n.bit_length()):
            c = saddle.saddle_point(saddle.tilt(law), n)
            if not math.isfinite(c):
                raise Unsupported(f"the saddle point of n = {n} is beyond doubles")
            bound = (n * _moment(law, c).log() - to_arb(Fraction(c)).log() - 1).exp() / n
            found = Ball.from_arb(bound, _BITS).upper + upper_end(law.singular) if bound.is_finite() else top
            top, which = min((top, which), (found, f"Chernoff's bound at c = {c:.4g}"))
    return Bracket(min(least, top), top, "ball", "none", f"at most {which} ({reason})")


def positive_at_most(law: Law, n: int) -> Fraction:
    """Bound on ``P(S_n >= 0)``, at most 1: ``M(c)^n`` at the saddle point, in balls."""
    from symshuffle.engines.contours import saddle  # NumPy loads when used

    try:
        c = saddle.saddle_point(saddle.tilt(law), n)
    except Unsupported:
        return Fraction(1)
    if not 0 < c < math.inf:
        return Fraction(1)
    with working_precision(128 + n.bit_length()):
        log = n * _moment(law, c).log()
        if not -MOST_DOUBLINGS * to_arb(Fraction(2)).log() < log < 0:
            return Fraction(1)
        return Ball.from_arb(log.exp(), 128).upper


def _moment(law: Law, c: float) -> Any:
    """``E exp(c G)`` in balls, at the working precision."""
    atoms = zip(ball_arguments(law.values), ball_arguments(law.weights), strict=True)
    line = to_arb(Fraction(c))
    return sum((weight * (line * value).exp() for value, weight in atoms), start=to_arb(Fraction(0)))
