"""Extreme likelihood-ratio laws of the claims: half-block channels, dilution, a dual certificate of chi-square."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final

from symshuffle.accountants.deployment.group import check_n
from symshuffle.base.choices import CertificateForm, Direction, choice
from symshuffle.base.errors import InputError
from symshuffle.base.levels import takes_eps0
from symshuffle.base.numbers import (
    Ball,
    Number,
    Verdict,
    as_integer,
    enclose,
    less,
    working_precision,
)
from symshuffle.channels.channel import Channel, direct_sum
from symshuffle.utility.likelihood.extremes import check_attainable, hinge, hinge_range
from symshuffle.utility.likelihood.law import check_share

_BITS: Final = 128


def dilute(channel: Channel, eta: Fraction) -> Channel:
    """Run the channel with probability ``eta`` and send one common symbol otherwise (alphabets, Corollary 7.3)."""
    check_share("eta", eta)
    null = Channel(((Fraction(1),),) * channel.num_inputs)
    return direct_sum([channel, null], [eta, 1 - eta]).without_null_outputs()[0]


def _even(k: int) -> int:
    k = as_integer(k, "k", 2)
    if k % 2:
        raise InputError("k", k, "an even number of inputs, at least 2")
    return k


def half_block_channel(k: int, lam: Fraction) -> Channel:
    """The half-block channel as a matrix, input 0 opposite to input ``k/2`` (alphabets, Definition 5.1)."""
    from symshuffle.mechanisms.finite import half_block

    return half_block().at(k=_even(k), lam=lam).channel()


def identifiable_obstruction(k: int, lam: Fraction) -> Channel:
    """A channel of rank ``k`` and ratio cap ``lam`` whose pair (0, 1) has the endpoint law: nothing is lost.

    Row 0 favours the second half of the outputs, row 1 the first, both uniform inside a half with the endpoint ratios
    between them. Every other row is the mean of the two, with some mass moved from one output to the next inside a
    half: these moves sum to 0 on each half, so all rows are independent. ``k`` is even.

    Answers what alphabets leaves open after Theorem 5.2, whose channel has rank ``k/2 + 1``.
    """
    k = _even(k)
    if not isinstance(lam, Fraction | int) or lam <= 1:
        raise InputError("lam", lam, "a rational number > 1 (at lam = 1 all rows agree)")
    half, cap = k // 2, Fraction(lam)
    high, low = cap / (half * (1 + cap)), 1 / (half * (1 + cap))
    middle, move = Fraction(1, k), (high - low) / 2
    rows = [[low] * half + [high] * half, [high] * half + [low] * half]
    for first in (*range(half - 1), *range(half, k - 1)):
        rows.append([middle + move * ((y == first) - (y == first + 1)) for y in range(k)])
    return Channel(tuple(map(tuple, rows)))


def identifiable_half_block(k: int, lam: Fraction, tau: Fraction) -> Channel:
    """Half-block with probability ``1 - tau``, else k-ary response, published with which of them: rank ``k``."""
    from symshuffle.mechanisms.finite import krr

    check_share("tau", tau)
    block = half_block_channel(k, lam)
    return direct_sum([block, krr().at(k=k, lam=lam).channel()], [1 - tau, tau]).without_null_outputs()[0]


def mixing_loss(k: Any, lam: Any, tau: Any) -> Any:
    """Chi-square of the opposite pair that :func:`identifiable_half_block` loses; takes symbols."""
    return tau * (lam - 1) ** 2 * (k - 2) / (lam * (lam + k - 1))


def quarter_bound(variance: Any, kink: Any) -> Any:
    """``variance / (4 kink)``, since ``(x - 2c)^2 >= 0``."""
    return variance / (4 * kink)


def two_moment_bound(variance: Any, kink: Any) -> Any:
    """The supremum of ``E(U - kink)_+`` over all laws of mean 0 and this variance; attained by two atoms."""
    return (square_root(variance + kink * kink) - kink) / 2


def range_bound(variance: Any, kink: Any, below: Any, above: Any) -> Any:
    """The supremum of ``E(U - kink)_+`` over laws of mean 0 and this variance on ``[-below, above]``."""
    if kink >= above:
        return Fraction(0)
    if variance > below * below + 2 * kink * below:
        return below * (variance - kink * below) / (below * below + variance)
    if variance > above * above - 2 * kink * above:
        return variance * (above - kink) / (variance + above * above)
    return two_moment_bound(variance, kink)


_BOUNDS: Final = {
    "elementary": lambda variance, kink: variance / kink,  # x - c <= x^2/c beyond c
    "quarter": quarter_bound,
    "two-moment": two_moment_bound,
}


@takes_eps0()
def chi_square_certificate(
    chi_square: Number,
    n: int,
    *,
    exp_eps: object = None,
    eps: object = None,
    direction: Direction,
    form: CertificateForm = "two-moment",
    lam: Fraction | None = None,
) -> Number:
    """An upper bound on one direction of the privacy curve of every canonical pair of this chi-square.

    - ``exp_eps``, ``eps``: level; above 0 for the forms ``elementary`` and ``quarter``.
    - ``form``: each is at most the one before it in the order of the module; ``lam`` is for ``range``.

    It bounds no other backgrounds (alphabets, Theorem 6.2 (v) and Corollary 6.6, with better constants).
    """
    n = check_n(n)
    form = choice(CertificateForm, form, "form")
    if isinstance(chi_square, float) or less(chi_square, 0) is Verdict.TRUE:
        raise InputError("chi_square", chi_square, "a rational or a ball of at least 0")
    scale, kink = hinge(direction, exp_eps=exp_eps, eps=eps)
    variance: Any = chi_square / Fraction(n)
    if form in ("elementary", "quarter") and less(0, kink) is Verdict.FALSE:
        raise InputError("eps", 0, f"a level above 0 for the form {form} (two-moment takes 0)")
    if form == "range":
        if lam is None:
            raise InputError("lam", None, "the ratio cap, for the form range")
        check_attainable(chi_square, lam)
        below, above = hinge_range(direction, lam)
        if not all(isinstance(x, Fraction) for x in (variance, kink, below, above)):
            raise InputError("form", form, "rational chi_square, exp_eps and lam (cases are told apart exactly)")
        found: Number = scale * range_bound(variance, kink, below, above)
        return found
    result: Number = scale * _BOUNDS[form](variance, kink)
    return result


def square_root(value: Any) -> Any:
    """The square root of a rational or a ball, rational where it is; of a SymPy expression, SymPy's."""
    if isinstance(value, int | Fraction):
        exact = Fraction(value)
        top, bottom = math.isqrt(exact.numerator), math.isqrt(exact.denominator)
        if top * top == exact.numerator and bottom * bottom == exact.denominator:
            return Fraction(top, bottom)
        value = enclose(exact, _BITS)
    if isinstance(value, Ball):
        with working_precision(value.bits + 16):
            return Ball.from_arb(value.arb().nonnegative_part().sqrt(), value.bits)
    import sympy as sp

    return sp.sqrt(value)
