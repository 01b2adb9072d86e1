"""Which order of a pair has the larger bound at small levels: the criterion that claims compare with formulas."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint

from symshuffle.base.numbers import Ball, enclose, to_arb, working_precision
from symshuffle.channels.continuous_law import Stretch
from symshuffle.vectors.privacy.pairs import FinitePair, Pair


def order_margin(pair: Pair, *, bits: int = 128) -> Ball:
    r"""A number that is positive where (x, other) has the larger bound at small eps, negative where (other, x) has.

    With :math:`L_k=A_k/A_2` and :math:`D=L_0-L_1` the two orders have the same mean, variances that differ by
    :math:`-2(e^\varepsilon-1)(\operatorname{Var}L_0-\operatorname{Var}L_1)` and third cumulants :math:`\pm E[D^3]`. To
    first order of Edgeworth's expansion of :math:`E[S_+]` the difference of the orders has the sign of

    .. math:: E[D^3]-3\operatorname{Var}(D)\,(\operatorname{Var}L_0-\operatorname{Var}L_1).

    Where :math:`A_1` is proportional to :math:`A_2` on its support this is :math:`E[\ell_0^3]>3E[\ell_0^2]^2`.

    An asymptotic criterion; the integrals of a density on the whole line are taken over 40 units on either side.
    """
    if isinstance(pair, FinitePair):
        rows = list(zip(pair.first, pair.second, pair.reference, strict=True))
        cube: Any = sum(
            ((p - q) ** 3 if isinstance(p - q, Fraction) else (p - q) * (p - q) * (p - q)) / (r * r) for p, q, r in rows
        )
        square: Any = sum((p - q) * (p - q) / r for p, q, r in rows)
        spread: Any = sum((p * p - q * q) / r for p, q, r in rows)
        return enclose(cube - 3 * square * spread, bits) if isinstance(cube, Fraction) else cube - 3 * square * spread
    with working_precision(bits):
        cubes, squares, spreads = (
            sum((_moment(s, power) for s in pair.stretches), start=flint.arb(0))
            for power in ("cube", "square", "spread")
        )
        return Ball.from_arb(cubes - 3 * squares * spreads, bits)


def _moment(stretch: Stretch, power: str) -> flint.arb:
    low, high = (
        to_arb(Fraction(sign * 40) if end is None else end) for sign, end in ((-1, stretch.low), (1, stretch.high))
    )

    def function(u: flint.acb, _: bool) -> flint.acb:
        p, q, r = stretch.first(u), stretch.second(u), stretch.reference(u)
        term = {
            "cube": lambda: (p - q) ** 3 / r**2,
            "square": lambda: (p - q) ** 2 / r,
            "spread": lambda: (p * p - q * q) / r,
        }
        return stretch.base(u) * term[power]()

    return flint.acb.integral(function, flint.acb(low), flint.acb(high)).real
