r"""Every input of a Gaussian under zero-out, against its largest blanket: cells of lengths, each below one pair.

Let :math:`b_v=\inf_{|z|\le v}R_z` and F(x, v) the bound for an input of length x against the null symbol with that
blanket, in either order. The kernel K that sends y to :math:`\rho y` plus noise of covariance
:math:`\sigma_0^2(1-\rho^2)I` leaves :math:`R_\bot` alone and turns :math:`R_z` into :math:`R_{\rho z}` for every z at
once, mixed or not. Hence :math:`Kb_w\le\inf_{|z|\le w}KR_z=b_{\rho w}`, and by data processing, and because a larger
blanket has a smaller bound,

.. math:: F(x,v)\le F(\ell,\,v\,\ell/k)\qquad(0<k\le x\le\ell),

in every dimension, for every level, n and order. Cells [k, l] that follow one another down to a length whose messages
alone tell as little as asked for cover all inputs; as the first gets short its bound tends to F at the end of the ball.
Against this blanket itself, short inputs do not rise in convex order; against the same one rounded around 0 all do
(:mod:`symshuffle.vectors.privacy.rounded`), which is what the front doors answer by.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import flint

from symshuffle.accountants.bounds.evaluate import check_n
from symshuffle.base.errors import InputError
from symshuffle.base.levels import read_target
from symshuffle.base.numbers import Ball, parse_rational, to_arb, working_precision
from symshuffle.base.results import Bracket
from symshuffle.vectors.privacy.accounting import larger_order
from symshuffle.vectors.privacy.pairs import short_input
from symshuffle.vectors.privacy.templates import upper_normal
from symshuffle.vectors.randomizers.mechanisms import BlanketMixedGaussian, LocalGaussian

_BITS: Final = 160


def cell_delta(
    mechanism: BlanketMixedGaussian | LocalGaussian,
    *,
    n: int,
    low: object,
    high: object,
    eps: object = None,
    exp_eps: object = None,
    rel: float = 1e-6,
) -> Bracket:
    """The bound of the pair that no input with a length from ``low`` to ``high`` exceeds under zero-out.

    Parameters
    ----------
    mechanism : BlanketMixedGaussian or LocalGaussian
        What every user runs; the blanket is the largest of its ball.
    n : int
        Number of users.
    low, high : number
        Lengths, ``0 < low <= high``, up to the radius of the ball.
    eps, exp_eps : number, text or Exp
        Target level.
    rel : float
        Relative width to aim at.

    Returns
    -------
    Bracket
        Of the larger order of the pair: its upper end bounds delta for every input of the cell.

    Raises
    ------
    InputError
        If an argument is out of range.
    Unsupported
        If no engine brackets the pair; next to nothing, for short inputs, one may take minutes.
    """
    n, order = check_n(n), read_target(eps=eps, exp_eps=exp_eps)
    end = mechanism.norm if isinstance(mechanism, BlanketMixedGaussian) else Fraction(1)
    inner, outer = parse_rational(low, "low"), parse_rational(high, "high")
    if not 0 < outer <= end:
        raise InputError("high", high, f"a length in (0, {end}]")
    if not 0 < inner <= outer:
        raise InputError("low", low, f"a length in (0, high = {outer}]")
    pair = short_input(mechanism, length=outer, reach=end * outer / inner)
    return larger_order(pair, n, order, rel=rel)


def alone(
    mechanism: BlanketMixedGaussian | LocalGaussian, length: object, *, eps: object = None, exp_eps: object = None
) -> Ball:
    """What one message tells at most of an input up to this length, and n messages never exceed, in either order.

    A mixture with the null law is below the pair that it is made of.

    Raises
    ------
    InputError
        If the length is not above 0.
    """
    order, far = read_target(eps=eps, exp_eps=exp_eps), parse_rational(length, "length")
    if not far > 0:
        raise InputError("length", length, "a number > 0")
    with working_precision(_BITS):
        ratio, shift = to_arb(order), to_arb(far / mechanism.sigma0)
        a = ratio.log() / shift
        found = upper_normal(a - shift / 2) - ratio * upper_normal(a + shift / 2)
        return Ball.from_arb(found.max(flint.arb(0)), _BITS)
