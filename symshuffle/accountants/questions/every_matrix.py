r"""From the bound on a normalised matrix to a bound on every matrix that rounds to the one that was read.

Let P be the normalised matrix, Q one that rounds to what was read, and :math:`TV(P_x,Q_x)\le\eta` for every input x.
For a dataset of n users, of whom each sends at most one message, exchange the rows of P for those of Q one user after
the other: the triangle inequality gives a total variation of at most :math:`n\eta` between the messages. Shuffling them
is post-processing, which does not increase it (data processing), so :math:`TV(M_P(X),M_Q(X))\le n\eta=:t` for every X;
over rounds, which may depend on earlier messages, these numbers add up. For neighbours X0, X1 and every event E

.. math:: M_Q(X_0)(E)-e^\varepsilon M_Q(X_1)(E)\le M_P(X_0)(E)+t-e^\varepsilon(M_P(X_1)(E)-t),

and the supremum over E gives :math:`\delta_Q(\varepsilon)\le\delta_P(\varepsilon)+(1+e^\varepsilon)t` (claim
symshuffle.rounded-matrix).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Final

from symshuffle.accountants.bounds.amplification import Amplification
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Exp, Real, enclose, upper_end

_MOST_STEPS: Final = 20
_MARGIN: Final = Fraction(1, 1000)
"""Relative distance by which a level that a smaller level suggests may be missed."""


def with_every_matrix(
    found: Amplification, target: Real, solve: Callable[[Fraction], Amplification] | None = None
) -> Amplification:
    """The answer, with the bound for every matrix that rounds to the one read beside it where one was normalised.

    - ``target``: the level ``exp(eps)`` of a delta, the delta of an epsilon.
    - ``solve``: for ``epsilon``: the answer at another delta.
    """
    if found.neighbours.rounding is None:
        return found
    hidden = found.neighbours.hidden
    if solve is None:
        bound = found.bracket.upper + (1 + _upper(target)) * hidden
        return replace(found, every_matrix=bound if bound < 1 else None)
    assert isinstance(target, Fraction)  # a delta
    return replace(found, every_matrix=_smallest(lambda delta: solve(delta).bracket.upper, target, hidden))


def _upper(ratio: Real) -> Fraction:
    return ratio if isinstance(ratio, Fraction) else upper_end(enclose(ratio))


def _smallest(solve: Callable[[Fraction], Fraction], delta: Fraction, hidden: Fraction) -> Fraction | None:
    """A level E whose bound is at most ``delta - (1 + exp(E)) hidden``; None if none is found.

    Each level suggests the next one: it meets what the level before it leaves of delta. A level that is no larger than
    the one for which delta was reduced is one.
    """
    reached = Fraction(0)
    for _ in range(_MOST_STEPS):
        beyond = reached * (1 + _MARGIN)
        left = delta - (1 + (_upper(Exp(beyond)) if beyond else 1)) * hidden
        if left <= 0:
            return None
        try:
            reached = solve(left)
        except Unsupported:  # no eps meets what is left of delta
            return None
        if reached <= beyond:
            return reached
    return None
