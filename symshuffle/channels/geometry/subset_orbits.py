"""Permutations in image form (input ``x`` goes to ``g[x]``), and the orbits of points and of subsets under them.

Subsets are bit masks. Up to exchanges inside blocks a subset is its *kind*, the numbers of inputs that it has in every
block.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeVar, final

import numpy as np

from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import as_integer

LISTING_LIMIT: Final = 1 << 20
"""Most kinds of subsets (numbers of inputs by block) that are visited to find the orbits of an arbitrary group."""


_T = TypeVar("_T")


def reached(start: _T, images: Callable[[_T], Iterable[_T]], most: float = math.inf) -> set[_T] | None:
    """All that images of images of a start are, itself among them; None if these are more than ``most``."""
    seen, frontier = {start}, [start]
    while frontier:
        new = set(images(frontier.pop())) - seen
        seen |= new
        frontier += new
        if len(seen) > most:
            return None
    return seen


def orbits_of_points(size: int, permutations: Iterable[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """The orbits of ``0..size-1`` under some permutations, each ascending, ordered by their smallest element."""
    listed = list(permutations)
    orbits: dict[int, tuple[int, ...]] = {}
    for x in range(size):
        if x not in orbits:
            orbit = tuple(sorted(reached(x, lambda y: (image[y] for image in listed)) or ()))
            orbits.update(dict.fromkeys(orbit, orbit))
    return tuple(dict.fromkeys(orbits.values()))


def exchanges(m: int, blocks: Iterable[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """Generators of the symmetric groups on blocks: a swap and a cycle each."""
    for block in blocks:
        if len(block) > 1:
            yield cycle_of(m, block[:2])
            yield cycle_of(m, block)


def cycle_of(m: int, points: Sequence[int]) -> tuple[int, ...]:
    """The cycle through some of ``m`` points, which leaves all others where they are."""
    image = list(range(m))
    for x, y in itertools.pairwise([*points, points[0]]):
        image[x] = y
    return tuple(image)


def sympy_group_of(generators: Iterable[Sequence[int]], size: int) -> Any:
    """The group that some permutations generate, as SymPy knows it."""
    from sympy.combinatorics import Permutation, PermutationGroup

    return PermutationGroup([Permutation(list(g)) for g in generators] or [Permutation(list(range(size)))])


@final
@dataclass(frozen=True, slots=True)
class SubsetOrbit:
    """Orbit of subsets of the inputs under a group of permutations.

    Parameters
    ----------
    representative : int
        One of its subsets, as a bit mask.
    size : int
        Number of subsets in it.
    incidences : tuple of int
        For every orbit of inputs, how many of the subsets contain any one fixed input of it.
    """

    representative: int
    size: int
    incidences: tuple[int, ...]

    def column_sum(self, input_orbit: int, lam: Fraction) -> Fraction:
        r"""Contribution :math:`\tilde r = \lambda r + (|O| - r)` of the orbit to the equation of an input."""
        inside = self.incidences[as_integer(input_orbit, "input_orbit", 0, len(self.incidences) - 1)]
        return lam * inside + (self.size - inside)


@final
@dataclass(frozen=True, slots=True)
class OrbitCount:
    """How many orbits of non-empty proper subsets a group has: a number, or a lower bound on it."""

    number: int
    exact: bool

    def __str__(self) -> str:
        shown = str(self.number) if self.number < 10**18 else f"about 2**{(self.number + 2).bit_length() - 1}"
        return shown if self.exact else f"at least {shown}"


def necklaces(m: int) -> Iterator[SubsetOrbit]:
    """All binary necklaces of length ``m``, each with its period (Fredricksen, Kessler and Maiorana)."""
    word = [0] * (m + 1)

    def extend(t: int, period: int) -> Iterator[SubsetOrbit]:
        if t > m:
            if m % period == 0:
                subset = sum(1 << (i - 1) for i in range(1, m + 1) if word[i])
                if 0 < subset < (1 << m) - 1:
                    yield SubsetOrbit(subset, period, (subset.bit_count() * period // m,))
            return
        word[t] = word[t - period]
        yield from extend(t + 1, period)
        if word[t - period] == 0:
            word[t] = 1
            yield from extend(t + 1, t)

    return extend(1, 1)


def kinds_by_orbit(sizes: Sequence[int], moves: Sequence[Sequence[int]]) -> Iterator[tuple[list[int], int]]:
    """One kind of each orbit under permutations of the blocks, a digit per block, with the number of kinds in it."""
    radices = [size + 1 for size in sizes]
    kinds = math.prod(radices)
    if kinds > LISTING_LIMIT:
        visited = str(kinds - 2) if kinds < 2**64 else f"about 2**{kinds.bit_length() - 1}"
        raise Unsupported(
            f"finding the orbits of this group would visit {visited} kinds of subsets (m = {sum(sizes)}), at most "
            f"{LISTING_LIMIT}; products of symmetric groups on blocks and cyclic groups are counted without "
            "listing, and a decision problem has the compact form (optimal)"
        )
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    strides = [math.prod(radices[:i]) for i in range(len(radices))]
    kind = np.arange(kinds)
    digits = [kind // stride % radix for stride, radix in zip(strides, radices, strict=True)]
    images = [sum(d * strides[i] for d, i in zip(digits, move, strict=True)) for move in moves]
    edges = (np.tile(kind, len(images)), np.concatenate(images))
    graph = coo_array((np.ones(len(edges[0]), dtype=np.int8), edges), shape=(kinds, kinds))
    _, labels = connected_components(graph, directed=False)
    _, first, members = np.unique(labels, return_index=True, return_counts=True)
    for where in np.argsort(first):
        if 0 < (index := int(first[where])) < kinds - 1:
            yield [index // stride % radix for stride, radix in zip(strides, radices, strict=True)], int(members[where])
