"""Sizes of messages of local hashing, for plans that are run and for comparisons: one family of functions.

A client names a vector over the field of g elements and a value: a hyperplane, see :mod:`symshuffle.mechanisms.affine`.
"""

from __future__ import annotations

import itertools

import flint


def vector_length(k: int, g: int) -> int:
    """Return the length of the vectors that stand for k categories: the digits of k - 1 to base g."""
    length, size = 1, g
    while size < k:
        length, size = length + 1, size * g
    return length


def hyperplanes(k: int, g: int) -> int:
    """Return the number of hyperplanes that a client can name.

    - ``k``: number of categories.
    - ``g``: number of hash values; where it is no prime, the nearest prime is taken, as a client has to.
    """
    away = itertools.count()
    g = next(near for step in away for near in (g + step, g - step) if near > 1 and flint.fmpz(near).is_prime())
    return int(g ** (vector_length(k, g) + 1))


def hyperplane_bits(k: int, g: int, *, more: int = 0) -> int:
    """Return the bits that name a hyperplane, or one of ``more`` other messages; arguments of :func:`hyperplanes`.

    Examples
    --------
    >>> hyperplane_bits(300, 2), hyperplane_bits(300, 885)
    (10, 20)
    """
    return (hyperplanes(k, g) + more - 1).bit_length()
