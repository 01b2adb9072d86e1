"""Real roots of a polynomial over the rationals between two places, counted exactly."""

from __future__ import annotations

from itertools import pairwise

from flint import fmpq, fmpq_poly


def roots_inside(polynomial: fmpq_poly, low: fmpq, high: fmpq | None) -> int:
    """Number of real roots of a square-free polynomial strictly between two places, by Sturm's theorem.

    - ``high``: the upper place, or None for infinity.

    Examples
    --------
    >>> squared_less_two = fmpq_poly([-2, 0, 1])
    >>> roots_inside(squared_less_two, fmpq(0), fmpq(2)), roots_inside(squared_less_two, fmpq(2), None)
    (1, 0)
    """
    chain = [polynomial, polynomial.derivative()]
    while chain[-1].degree() > 0:
        chain.append(-(chain[-2] % chain[-1]))
    ends = [part.leading_coefficient() if high is None else part(high) for part in chain]
    up_to_high = _changes([part(low) for part in chain]) - _changes(ends)  # in (low, high]
    return up_to_high - (high is not None and polynomial(high) == 0)


def _changes(values: list[fmpq]) -> int:
    """Number of changes of sign in a sequence, zeros left out."""
    signs = [value > 0 for value in values if value != 0]
    return sum(one != other for one, other in pairwise(signs))
