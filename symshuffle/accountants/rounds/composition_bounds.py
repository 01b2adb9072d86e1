r"""What simpler theorems of composition say: of rounds known by single points (eps, delta) of their profiles.

*Basic*: rounds of :math:`(\varepsilon_t,\delta_t)` are together :math:`(\sum\varepsilon_t,\sum\delta_t)`-private
(Dwork, Kenthapadi, McSherry, Mironov, Naor 2006). *Advanced*, in the form of Kairouz, Oh and Viswanath (2015,
Theorem 3.5): for every :math:`\tilde\delta` they are

.. math:: \Bigl(\sum_t\varepsilon_t\tanh\frac{\varepsilon_t}2+\sqrt{2\ln(1/\tilde\delta)\sum_t\varepsilon_t^2},\;
   \tilde\delta+\sum_t\delta_t\Bigr)\text{-private}.

Both hold for adaptive rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import flint

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Ball, to_arb, working_precision

_BITS: Final = 128


def basic_epsilon(levels: Sequence[tuple[Fraction, int]]) -> Fraction:
    """The sum of the levels, each as often as it occurs."""
    return sum((eps * times for eps, times in levels), start=Fraction(0))


def advanced_epsilon(levels: Sequence[tuple[Fraction, int]], slack: Fraction) -> Fraction:
    """The eps of all rounds, rounded up, where ``slack`` is added to the sum of their deltas.

    - ``levels``: levels eps >= 0 of single rounds, and how many rounds have each.
    - ``slack``: in (0, 1).
    """
    if not 0 < slack < 1:
        raise InputError("slack", slack, "a probability in (0, 1)")
    with working_precision(_BITS):
        drift, square = _drift(levels)
        return Ball.from_arb(drift + (-2 * to_arb(slack).log() * square).sqrt(), _BITS).upper


def advanced_slack(levels: Sequence[tuple[Fraction, int]], eps: Fraction) -> Fraction:
    """What has to be added to the sum of the deltas for the rounds to have this eps together, rounded up; at most 1."""
    with working_precision(_BITS):
        drift, square = _drift(levels)
        room = to_arb(eps) - drift
        if not room > 0 or not square > 0:
            return Fraction(0) if eps >= basic_epsilon(levels) else Fraction(1)
        return Ball.from_arb((-room * room / (2 * square)).exp(), _BITS).upper


def _drift(levels: Sequence[tuple[Fraction, int]]) -> tuple[flint.arb, flint.arb]:
    drift = square = flint.arb(0)
    for eps, times in levels:
        one = to_arb(eps)
        drift, square = drift + times * one * (one / 2).tanh(), square + times * one * one
    return drift, square
