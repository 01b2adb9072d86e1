"""Divergences between two finite distributions given as aligned sequences of masses.

All of them accept fractions, balls or doubles (text such as ``1/3`` too), refuse masses that are no probabilities of
sum 1, are directed (the second argument is the reference), and are ``math.inf`` where the first argument puts mass on a
point that the second one misses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import flint

from symshuffle.base.errors import InputError, check_list
from symshuffle.base.numbers import (
    DEFAULT_BITS,
    Ball,
    Number,
    Verdict,
    as_distribution,
    as_number,
    equal,
    is_enclosed,
    less,
    positive_part,
    to_arb,
    working_precision,
)


def _aligned(p: Sequence[Number], q: Sequence[Number]) -> Iterator[tuple[Any, Any]]:
    for name, masses in (("p", p), ("q", q)):
        check_list(masses, name, "a list of probabilities")
    if len(p) != len(q):
        raise InputError("p, q", f"{len(p)} and {len(q)} masses", "two distributions on the same points")
    return zip(as_distribution(p, "p"), as_distribution(q, "q"), strict=True)


def hockey_stick(p: Sequence[Number], q: Sequence[Number], gamma: Number | int) -> Any:
    r"""Hockey-stick divergence of two distributions at order ``gamma``.

    It is :math:`D_\gamma(P\Vert Q)=\sum_y (p_y-\gamma q_y)_+`. At ``gamma = 1`` it is the total variation distance; at
    ``gamma = exp(eps)`` it is the smallest delta for which the pair is (eps, delta)-indistinguishable in this
    direction.

    Parameters
    ----------
    p, q : sequence of Number
        Masses on the same points.
    gamma : Number
        Order, at least 0.

    Returns
    -------
    Number
        The divergence, a probability, of the kind of the masses.

    Raises
    ------
    InputError
        If ``gamma`` is negative, the lengths differ, or an argument is no distribution.

    Notes
    -----
    decomposition, Definition 1.

    Examples
    --------
    >>> hockey_stick([Fraction(2, 3), Fraction(1, 3)], [Fraction(1, 3), Fraction(2, 3)], 1)
    Fraction(1, 3)
    """
    order: Any = as_number(gamma, "gamma")
    if less(order, 0) is Verdict.TRUE:
        raise InputError("gamma", gamma, "a number of at least 0")
    return sum((positive_part(a - order * b) for a, b in _aligned(p, q)), start=Fraction(0))


def total_variation(p: Sequence[Number], q: Sequence[Number]) -> Any:
    """Total variation distance, the hockey-stick divergence of order 1."""
    return hockey_stick(p, q, 1)


def chi_square(p: Sequence[Number], q: Sequence[Number]) -> Any:
    r"""Chi-square divergence of two distributions, with 0/0 = 0.

    It is :math:`\chi^2(P\Vert Q)=\sum_y (p_y-q_y)^2/q_y`.

    Parameters
    ----------
    p, q : sequence of Number
        Masses on the same points, each of sum 1.

    Returns
    -------
    Number
        The divergence, of the kind of the masses; the double ``inf`` if ``p`` has mass where ``q`` has none.

    Raises
    ------
    InputError
        If the lengths differ, or an argument is no distribution.

    Examples
    --------
    >>> chi_square([Fraction(2, 3), Fraction(1, 3)], [Fraction(1, 3), Fraction(2, 3)])
    Fraction(1, 2)
    """
    return _sum_over_support(p, q, lambda a, b: (a - b) * (a - b) / b)


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


def _sum_over_support(p: Sequence[Number], q: Sequence[Number], term: Callable[[Any, Any], Any]) -> Any:
    total: Any = Fraction(0)
    for a, b in _aligned(p, q):
        if equal(b, 0):
            if not equal(a, 0):
                return math.inf
            continue
        total = total + term(a, b)
    return total


def _enclosed_sum(
    p: Sequence[Number], q: Sequence[Number], term: Callable[[flint.arb, flint.arb], flint.arb], bits: int
) -> Any:
    total = flint.arb(0)
    with working_precision(bits):
        for a, b in _aligned(p, q):
            if equal(a, 0):
                continue
            if equal(b, 0):
                return math.inf
            total += term(to_arb(a), to_arb(b))
        return Ball.from_arb(total, bits)
