"""Divergences of two laws that claims alone compare."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import flint

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import (
    DEFAULT_BITS,
    Ball,
    Number,
    equal,
    is_enclosed,
    to_arb,
    working_precision,
)
from symshuffle.channels.shuffled import _sum_over_support, hockey_stick


def total_variation(p: Sequence[Number], q: Sequence[Number]) -> Any:
    """Total variation distance, the hockey-stick divergence of order 1."""
    return hockey_stick(p, q, 1)


def kl_divergence(p: Sequence[Number], q: Sequence[Number], *, bits: int = DEFAULT_BITS) -> Any:
    r"""Kullback-Leibler divergence :math:`\sum_y p_y\log(p_y/q_y)` in nats: a ball, or a double for doubles."""
    if is_enclosed((*p, *q)):
        return _enclosed_sum(p, q, lambda a, b: a * (a / b).log(), bits)
    return _sum_over_support(p, q, lambda a, b: a * math.log(a / b) if a else 0.0)


def renyi_divergence(
    p: Sequence[Number], q: Sequence[Number], alpha: Fraction | int, *, bits: int = DEFAULT_BITS
) -> Any:
    r"""Rényi divergence :math:`\frac1{\alpha-1}\log\sum_y p_y^\alpha q_y^{1-\alpha}` of order ``alpha > 1`` (nats)."""
    order = Fraction(alpha)
    if order <= 1:
        raise InputError("alpha", alpha, "an order above 1 (order 1 is kl_divergence)")
    if not is_enclosed((*p, *q)):
        power = float(order)
        total = _sum_over_support(p, q, lambda a, b: (a / b) ** power * b)
        return math.inf if total == math.inf else math.log(total) / (power - 1)
    total = _enclosed_sum(p, q, lambda a, b: (a / b) ** to_arb(order) * b, bits)
    if total == math.inf:
        return math.inf
    with working_precision(bits):
        return Ball.from_arb(to_arb(total).log() / to_arb(order - 1), bits)


def _enclosed_sum(
    p: Sequence[Number], q: Sequence[Number], term: Callable[[flint.arb, flint.arb], flint.arb], bits: int
) -> Any:
    def enclosed(a: Any, b: Any) -> flint.arb:
        return flint.arb(0) if equal(a, 0) else term(to_arb(a), to_arb(b))

    with working_precision(bits):
        total = _sum_over_support(p, q, enclosed, flint.arb(0))
        return total if isinstance(total, float) else Ball.from_arb(total, bits)
