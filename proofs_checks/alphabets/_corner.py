"""Bounds at a corner of the claims: cubes, decoding, Cramer and Rao."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from symshuffle.base.crossings import halved
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import (
    Ball,
    Number,
    to_arb,
    working_precision,
)
from symshuffle.base.results import Bracket
from symshuffle.channels.geometry.linear import inverse
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.canonical import fisher_information
from symshuffle.utility.estimation.corner import _BITS, _check
from symshuffle.utility.estimation.lower_bounds import ball_bracket


def cramer_rao_trace(law: AnchoredLaw, composition: Sequence[Fraction], *, n: int) -> Fraction | float:
    """Trace of the inverse Fisher information of ``n`` messages on contrasts; ``inf`` where singular (Section 8)."""
    share = Fraction(1, law.num_inputs)
    information = fisher_information(law, composition, n=n)
    inverted = inverse([[entry + share for entry in row] for row in information])
    if inverted is None:
        return math.inf
    return sum((row[i] - share for i, row in enumerate(inverted)), start=Fraction(0))


def decoding_bound(coordinates: int, alpha: Any) -> Any:
    r"""Expected Hamming errors, averaged over a cube, of every decoder: at least :math:`m(1-\alpha)/2`.

    ``alpha`` bounds the total variation between the laws at the ends of every edge (alphabets, Lemma 8.3). What is
    averaged is the mean error over both ends of an edge: the larger of the two, of which the printed proof speaks,
    could not be averaged.
    """
    if coordinates < 1:
        raise InputError("coordinates", coordinates, "an integer of at least 1")
    if isinstance(alpha, Fraction | int) and not 0 <= alpha <= 1:
        raise InputError("alpha", alpha, "a total variation in [0, 1]")
    return coordinates * (1 - alpha) / 2


def cube_bound(k: int, budget: Number, *, n: int, h: Fraction) -> Bracket:
    r"""Bound :math:`\frac{(k-1)h^2}8(1-h\sqrt{n\chi_*})` by a side ``h`` in ``(0, 1/(2(k-1))]`` (Theorem 8.4)."""
    k, n = _check(k, budget, n)
    if not 0 < h <= Fraction(1, 2 * (k - 1)):
        raise InputError(
            "h", h, f"a side in (0, {Fraction(1, 2 * (k - 1))}], so that the corner keeps half of the mass"
        )
    with working_precision(_BITS):
        side = to_arb(Fraction(h))
        value = side**2 * (k - 1) / 8 * (1 - side * (n * to_arb(budget)).sqrt())
    return ball_bracket(value, f"cube of side {float(h):.3g}, Pinsker")


def best_cube_side(k: int, budget: Number, *, n: int) -> Ball:
    """The side at which :func:`sharp_cube_bound` is largest, enclosed by bisection over the rationals."""
    k, n = _check(k, budget, n)
    if not isinstance(budget, Fraction | int):
        raise InputError("budget", budget, "a rational number, so that signs are decided")

    def falls(side: Fraction) -> bool:
        return bool(cube_slope(k - 1, Fraction(budget), n, side) <= 0)

    return Ball(*halved(falls, Fraction(0), Fraction(1, k - 1), settled=60), 60)


def cube_slope(m: Any, chi: Any, n: Any, h: Any) -> Any:
    """The sign of the derivative of :func:`sharp_cube_bound` in its side, with ``m = k - 1``; takes symbols."""
    rest = 1 - m * h
    return 2 * rest**2 + 2 * chi * h**2 * rest - n * chi * h**2 * (1 + rest)
