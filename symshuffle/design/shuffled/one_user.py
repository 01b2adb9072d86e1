r"""One user: the largest trace under the certified bound at n = 1, which is linear in the law of the template.

At n = 1 the bound is the mean of :math:`(u_i-e^\varepsilon u_j)_+` over ordered pairs. On a cell where the order of
every :math:`u_i` and :math:`e^\varepsilon u_j` is fixed it is linear, and the trace is convex: a line that is above the
trace at all vertices of the cells is above it everywhere. At a vertex the coordinates that are not 0 are, up to a
factor, consecutive powers of :math:`e^\varepsilon`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from symshuffle.geometry.linear import Vector
from symshuffle.utility.frontiers.caps import check_inputs
from symshuffle.utility.frontiers.orbit import subset_orbit


def one_user_loss(u: Sequence[Fraction], exp_eps: Fraction) -> Fraction:
    r"""Mean of :math:`(u_i-e^\varepsilon u_j)_+` over ordered pairs of coordinates of a template.

    - ``u``: A template: k entries of at least 0 that sum to k.
    - ``exp_eps``: at least 1.

    Examples
    --------
    >>> one_user_loss([Fraction(3, 2), Fraction(1, 2)], Fraction(2))
    Fraction(1, 4)
    """
    k = len(u)
    gains = (max(u[i] - exp_eps * u[j], Fraction(0)) for i in range(k) for j in range(k) if i != j)
    return sum(gains, start=Fraction(0)) / (k * (k - 1))


def chain_templates(k: int, exp_eps: Fraction) -> Iterator[Vector]:
    r"""Templates at the vertices, one of each orbit: zeros, and consecutive powers of :math:`e^\varepsilon`.

    - ``exp_eps``: at least 1.
    """

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

    - ``k``: number of inputs, at least 2.
    - ``exp_eps``: at least 1.
    - ``delta``: in [0, 1].

    Examples
    --------
    >>> one_user_line(3, Fraction(2), Fraction(1, 2))
    Fraction(51, 16)
    """
    k = check_inputs(k)
    start = max(subset_orbit(k, s, exp_eps).signal for s in range(1, k))
    return (1 - delta) * start + delta * k * (k - 1)
