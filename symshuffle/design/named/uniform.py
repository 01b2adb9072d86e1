"""Mutual information of a uniform input: subset selection, in closed form (ldp_tradeoff, Remark 3.19)."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from symshuffle.base.errors import NotDecided
from symshuffle.base.numbers import Ball, Exp, to_arb, working_precision
from symshuffle.geometry.extremal import check_inputs

_BITS: Final = 160


def uniform_information(m: int, k: int, eps0: Fraction) -> Ball:
    r"""Mutual information of subset selection at a uniform input.

    It is :math:`\varepsilon_0 k\lambda/K - \log(K/m)` nats with :math:`K = k\lambda + m - k`.
    """
    with working_precision(_BITS):
        lam = to_arb(Exp(eps0))
        total = k * lam + m - k
        return Ball.from_arb(to_arb(eps0) * k * lam / total - (total / m).log(), _BITS)


def best_uniform_size(m: int, eps0: Fraction) -> tuple[Ball, int]:
    """The largest mutual information at a uniform input, and the size of the subsets that attain it.

    ldp_tradeoff, Remark 3.19. The size is a neighbour of the continuous maximiser
    ``m (eps0 lam - lam + 1) / (lam - 1)**2``; all sizes are compared here.
    """
    values = [(uniform_information(m, k, eps0), k) for k in range(1, check_inputs(m))]
    best = max(values, key=lambda pair: pair[0].midpoint)
    if any(other.upper > best[0].lower for other, k in values if k != best[1]):
        raise NotDecided(f"two subset sizes tie at m = {m}, eps0 = {eps0}")
    return best
