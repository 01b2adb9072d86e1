"""The central Gaussian mechanism: its privacy profile, and its calibration."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import flint

from symshuffle.accountants.bounds.search import smallest_meeting
from symshuffle.base.errors import InputError, NotDecided
from symshuffle.base.levels import LARGEST_LEVEL, read_target
from symshuffle.base.numbers import DEFAULT_BITS, Ball, Exp, Number, Real, parse_inside, to_arb, working_precision
from symshuffle.base.results import Bracket

_MOST_BITS: Final = 1 << 16
_SCALE: Final = 1 << 24
"""Unit in which a noise multiplier is searched: the search was made for levels, which are smaller."""


def gaussian_profile(
    noise_multiplier: Number, *, eps: object = None, exp_eps: object = None, bits: int = DEFAULT_BITS
) -> Ball:
    r"""delta(eps) of Gaussian noise: :math:`\bar\Phi(a-b)-e^\varepsilon\bar\Phi(a+b)`, known to about ``bits`` bits.

    With s the noise multiplier (standard deviation over sensitivity), :math:`a=\varepsilon s` and
    :math:`b=1/(2s)`. The two terms agree in most digits where b is small, and both are tiny where a is large:
    precision is raised until the difference is known to a relative error of :math:`2^{-\text{bits}/2}`.

    - ``noise_multiplier``: positive; ``sigma * sqrt(n)`` for the mechanism of the paper under zero-out adjacency,
      half of that under replace-one.

    vecmean, Lemma A.1, equations (8) and (9).

    Examples
    --------
    >>> round(float(gaussian_profile(Fraction(1), eps=1)), 15)
    0.126936737506644
    """
    order = read_target(eps=eps, exp_eps=exp_eps)
    precision = 2 * bits
    while precision <= _MOST_BITS:
        with working_precision(precision):
            value = _profile(to_arb(noise_multiplier), order)
            if value > 0 and value.rad() < value.mid() * flint.arb(2) ** (-bits // 2):
                return Ball.from_arb(value, bits)
        precision *= 2
    raise NotDecided(f"delta of Gaussian noise is below 2^-{_MOST_BITS}, or the noise multiplier is not known well")


def _profile(s: flint.arb, order: Real) -> flint.arb:
    if not s > 0:
        raise InputError("noise_multiplier", s, "a positive number")
    ratio = to_arb(order)
    a, b = ratio.log() * s, 1 / (2 * s)
    root = flint.arb(2).sqrt()
    return (((a - b) / root).erfc() - ratio * ((a + b) / root).erfc()) / 2


def calibrate_gaussian(*, delta: object, eps: object = None, exp_eps: object = None, rtol: float = 1e-12) -> Bracket:
    """The smallest noise multiplier at which Gaussian noise is (eps, delta)-private; ``upper`` is the safe end.

    Examples
    --------
    >>> found = calibrate_gaussian(eps=1, delta="1e-5")
    >>> round(float(found.upper), 9)
    3.730631635
    """
    goal = parse_inside(delta, "delta", "(0, 1)")
    if not 0 < rtol < 1:
        raise InputError("rtol", rtol, "a number in (0, 1)")
    order = read_target(eps=eps, exp_eps=exp_eps)

    unit = Fraction(_SCALE if _is_met(order, goal) else 1 << math.ceil(1 / goal).bit_length())

    def bound(share: Fraction, _: float) -> Bracket:
        s = unit * share
        if s == 0:
            return Bracket(Fraction(1), Fraction(1), "ball", "closed form", "no noise")
        try:
            value = gaussian_profile(s, exp_eps=order)
        except NotDecided:
            value = _first_term(s, order)
        return Bracket(value.lower, value.upper, "ball", "closed form", "difference of two normal tails in balls")

    found = smallest_meeting(bound, goal, rtol, what="noise multiplier")
    return found.bracket("bisection on the profile, in balls", rtol).scaled(unit)


def _first_term(s: Fraction, order: Real) -> Ball:
    """Enclosure of delta by 0 and its first term, where the difference of both terms is too small to be known."""
    with working_precision(DEFAULT_BITS):
        level = to_arb(order.exponent) if isinstance(order, Exp) else to_arb(order - 1).log1p()
        excess = level * to_arb(s) - 1 / (2 * to_arb(s))
        return Ball(Fraction(0), Ball.from_arb((excess / flint.arb(2).sqrt()).erfc() / 2, DEFAULT_BITS).upper)


def _is_met(order: Real, goal: Fraction) -> bool:
    """True if the largest noise multiplier of the usual search meets the target; 1/goal always does.

    At level 0 delta is at most ``1 / (s sqrt(2 pi))`` for a noise multiplier s.
    """
    try:
        return gaussian_profile(Fraction(_SCALE * LARGEST_LEVEL), exp_eps=order).upper <= goal
    except NotDecided:  # far below every target
        return True
