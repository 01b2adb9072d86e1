r"""The two ends of the number of users: second moments that remain for many, and the largest trace for one.

For n users, :math:`\varepsilon` of order :math:`n^{-1/2}` and a fixed exchangeable law of the template :math:`u`, only
a second moment of a privacy measure matters. At n = 1 the certified bound is linear on cells on which the order of
every :math:`u_i` and :math:`e^\varepsilon u_j` is fixed, and the trace is convex: it is decided at their vertices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from symshuffle.base.errors import InputError
from symshuffle.channels.geometry.linear import Vector
from symshuffle.utility.frontiers.caps import check_inputs
from symshuffle.utility.frontiers.orbit import subset_orbit


def blanket_moment(k: Any, signal: Any, least: Any) -> Any:
    r"""Average of :math:`(u_i-u_j)^2/\min u` over pairs, of the bound: :math:`2S/((k-1)\min u)`, S the signal."""
    return 2 * signal / ((k - 1) * least)


def least_blanket_moment(k: Any, x: Any) -> Any:
    """Smallest mean of :func:`blanket_moment` at trace :math:`k(k-1)x^2`, x in [0, 1): that of k-ary response."""
    return 2 * k * x**2 / (1 - x)


def third_input_moment(k: Any, signal: Any, reciprocals: Any) -> Any:
    """Average of :math:`(u_i-u_j)^2/u_l` over triples, k >= 3, from S and the sum of :math:`1/u_i`."""
    if k == 2:
        raise InputError("k", k, "at least 3 inputs: a pair and a third input")
    return 2 * (reciprocals * ((k - 1) * signal - k) + k**2) / (k * (k - 1) * (k - 2))


def one_user_loss(u: Sequence[Fraction], exp_eps: Fraction) -> Fraction:
    r"""Mean of :math:`(u_i-e^\varepsilon u_j)_+` over ordered pairs of a template, the certified bound at n = 1."""
    k = len(u)
    gains = (max(u[i] - exp_eps * u[j], Fraction(0)) for i in range(k) for j in range(k) if i != j)
    return sum(gains, start=Fraction(0)) / (k * (k - 1))


def chain_templates(k: int, exp_eps: Fraction) -> Iterator[Vector]:
    r"""Templates at the vertices, one of each orbit: zeros, and consecutive powers of :math:`e^\varepsilon`, scaled."""

    def chains(length: int, level: Fraction) -> Iterator[tuple[Fraction, ...]]:
        for same in range(1, length + 1):
            if same == length:
                yield (level,) * same
            else:
                for rest in chains(length - same, level * exp_eps):
                    yield (level,) * same + rest

    for support in range(1, k + 1):
        for values in chains(support, Fraction(1)):
            scale = k / sum(values, start=Fraction(0))
            yield tuple(value * scale for value in values) + (Fraction(0),) * (k - support)


def one_user_line(k: int, exp_eps: Fraction, delta: Fraction) -> Fraction:
    r"""Trace of the best subset selection of ratio :math:`e^\varepsilon`, or with probability delta the true value.

    It is the largest trace of an exchangeable channel with certified bound at most delta at n = 1, for k up to 7 at the
    levels of claim ``symshuffle.shuffled-one-user``; for others that is open.
    """
    k = check_inputs(k)
    start = max(subset_orbit(k, s, exp_eps).signal for s in range(1, k))
    return (1 - delta) * start + delta * k * (k - 1)
