"""Permutations in image form (input ``x`` goes to ``g[x]``): cycles, exchanges, and the orbits of points."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any


def orbits_of_points(size: int, permutations: Iterable[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """The orbits of ``0..size-1`` under some permutations, each ascending, ordered by their smallest element."""
    parent = list(range(size))

    def root(x: int) -> int:
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    for permutation in permutations:
        for x, image in enumerate(permutation):
            parent[root(x)] = root(image)
    orbits: dict[int, list[int]] = {}
    for x in range(size):
        orbits.setdefault(root(x), []).append(x)
    return tuple(sorted(tuple(orbit) for orbit in orbits.values()))


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


def cycles(permutation: Sequence[int]) -> Iterator[list[int]]:
    """The cycles of a permutation, fixed points included."""
    seen: set[int] = set()
    for start in range(len(permutation)):
        if start not in seen:
            cycle, point = [], start
            while point not in seen:
                seen.add(point)
                cycle.append(point)
                point = permutation[point]
            yield cycle


def sympy_group_of(generators: Iterable[Sequence[int]], size: int) -> Any:
    """The group that some permutations generate, as SymPy knows it."""
    from sympy.combinatorics import Permutation, PermutationGroup

    return PermutationGroup([Permutation(list(g)) for g in generators] or [Permutation(list(range(size)))])
