r"""Block designs with few messages: the points and hyperplanes of a projective space over a prime field.

In the projective space of dimension d over the field of q elements there are :math:`(q^{d+1}-1)/(q-1)` points and as
many hyperplanes, each with :math:`(q^d-1)/(q-1)` points, and any two points lie in equally many hyperplanes: this is a
2-design. A user who names a hyperplane, and not one of all subsets of this size, sends :math:`\log_2` of the number of
points, in bits. Only pairs of inputs and the minimum of a template enter the trace and the law of G, so both are those
of subset selection: **the same certified bound**. Real pairs of datasets involve triples of inputs and may differ.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, final

import flint

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import as_integer

_MOST_POINTS: Final = 2000
"""Points up to which the blocks of a design are listed."""

_PADDING: Final = 4
"""At most this many times as many points as inputs."""


@final
@dataclass(frozen=True, slots=True)
class BlockDesign:
    """A projective space as a 2-design, for a channel that names hyperplanes.

    - ``q``, ``dimension``: prime order of the field, and dimension of the space, at least 2.

    Examples
    --------
    >>> fano = BlockDesign(2, 2)
    >>> fano.points, fano.size, fano.bits
    (7, 3, 3)
    """

    q: int
    dimension: int

    def __post_init__(self) -> None:
        as_integer(self.dimension, "dimension", 2)
        if not flint.fmpz(as_integer(self.q, "q", 2)).is_prime():
            raise InputError("q", self.q, "a prime")

    @property
    def points(self) -> int:
        """Number of points, which is the number of blocks as well: inputs of the channel, padded."""
        return sum(self.q**j for j in range(self.dimension + 1))

    @property
    def size(self) -> int:
        """Points of a block."""
        return sum(self.q**j for j in range(self.dimension))

    @property
    def bits(self) -> int:
        """Bits of a message, which names a block."""
        return (self.points - 1).bit_length()

    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """Points of each block, ascending; points are numbered from 0."""
        if self.points > _MOST_POINTS:
            raise Unsupported(f"{self.points} points: blocks are listed up to {_MOST_POINTS} points")
        points = list(self._points())
        return tuple(
            tuple(i for i, x in enumerate(points) if sum(a * b for a, b in zip(x, y, strict=True)) % self.q == 0)
            for y in points
        )

    def _points(self) -> Iterator[tuple[int, ...]]:
        """Vectors whose first entry that is not 0 is 1."""
        for zeros in range(self.dimension, -1, -1):
            for rest in itertools.product(range(self.q), repeat=self.dimension - zeros):
                yield (0,) * zeros + (1, *rest)


def block_designs(k: int) -> tuple[BlockDesign, ...]:
    """Projective spaces with at least k and at most 4k points, by their number of points.

    - ``k``: number of inputs, at least 2; the points beyond the first k are categories that nobody holds.

    Examples
    --------
    >>> [(one.points, one.size) for one in block_designs(10)]
    [(13, 4), (15, 7), (31, 15), (31, 6), (40, 13)]
    """
    k = as_integer(k, "k", 2)
    found = []
    q = 2
    while 1 + q + q * q <= _PADDING * k:
        if flint.fmpz(q).is_prime():
            dimension = 2
            while (one := BlockDesign(q, dimension)).points <= _PADDING * k:
                if one.points >= k:
                    found.append(one)
                dimension += 1
        q += 1
    return tuple(sorted(found, key=lambda one: (one.points, one.q)))
