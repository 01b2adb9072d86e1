r"""Second moments that remain of the privacy measures for many users, and where k-ary response is best.

For n users, :math:`\varepsilon` of order :math:`n^{-1/2}` and a fixed exchangeable law of the template :math:`u`, only
a second moment matters. With :math:`S=\sum(u_i-1)^2` and :math:`R=\sum1/u_i` it is, averaged over pairs of inputs,

* of the certified bound: :math:`E[(u_0-u_1)^2/\min u]`;
* of a true pair whose other users all hold a third input: :math:`E[(u_0-u_1)^2/u_2]`;
* of a true pair whose other users all hold an input of the pair: the pairwise chi-square divergence.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from symshuffle.base.errors import InputError


def blanket_moment(k: Any, signal: Any, least: Any) -> Any:
    r"""Average of :math:`(u_i-u_j)^2/\min u` over ordered pairs of coordinates of a template.

    - ``k``: number of inputs, at least 2.
    - ``least``: its smallest coordinate, above 0.
    - returned: :math:`2S/((k-1)\min u)`.

    Examples
    --------
    >>> from fractions import Fraction
    >>> blanket_moment(2, Fraction(1, 2), Fraction(1, 2))
    Fraction(2, 1)
    """
    return 2 * signal / ((k - 1) * least)


def least_blanket_moment(k: Any, x: Any) -> Any:
    r"""Smallest mean of :func:`blanket_moment` among exchangeable laws of trace :math:`k(k-1)x^2`.

    K-ary randomized response attains it.

    - ``k``: number of inputs, at least 2.
    - ``x``: in [0, 1): of k-ary randomized response of ratio :math:`\lambda` it is :math:`(\lambda-1)/(\lambda+k-1)`.
    - returned: :math:`2kx^2/(1-x)`.

    Claim ``symshuffle.shuffled-gaussian-blanket``.
    """
    return 2 * k * x**2 / (1 - x)


def third_input_moment(k: Any, signal: Any, reciprocals: Any) -> Any:
    r"""Average of :math:`(u_i-u_j)^2/u_l` over ordered triples of different coordinates of a template.

    - ``k``: number of inputs, at least 3.
    - returned: :math:`2(R((k-1)S-k)+k^2)/(k(k-1)(k-2))`.
    """
    if k == 2:
        raise InputError("k", k, "at least 3 inputs: a pair and a third input")
    return 2 * (reciprocals * ((k - 1) * signal - k) + k**2) / (k * (k - 1) * (k - 2))


def threshold_moment(k: Any) -> Any:
    r"""Limit budget from which on k-ary response has the largest trace, for true pairs.

    - ``k``: number of inputs, at least 3.
    - returned: :math:`8/(k-2)`, which k-ary response has at the ratio :math:`(3k-2)/(k-2)`. At every smaller budget a
      mixture of k-ary response and of subsets of size k - 1 has a larger trace.

    Claim ``symshuffle.shuffled-gaussian-pairs``.

    Examples
    --------
    >>> threshold_moment(4)
    Fraction(4, 1)
    """
    if k == 2:
        raise InputError("k", k, "at least 3 inputs: a pair and a third input")
    return Fraction(8, k - 2) if isinstance(k, int) else 8 / (k - 2)
