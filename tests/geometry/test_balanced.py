"""Minimal balanced collections against an enumeration of all bases, counts in the literature, and exact checks."""

import itertools
import math
from fractions import Fraction

import flint
import numpy as np
import pytest

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.channels.geometry import balanced
from symshuffle.channels.geometry.balanced import (
    balanced_orbits,
    each_balanced_collection,
    minimal_balanced_collections,
)
from symshuffle.channels.geometry.extremal import MaximalPolytope, proper_subsets

COUNTS = {2: 1, 3: 5, 4: 41, 5: 1291, 6: 200_213}
"""One less than the published numbers, which count the grand coalition as well."""


def by_cramer(m):
    """The basic feasible solutions of the system, over all bases: another road, without orbits or sizes."""
    subsets = np.array(list(proper_subsets(m)))
    incidence = (subsets[:, None] >> np.arange(m) & 1).astype(float)
    bases = np.array(list(itertools.combinations(range(len(subsets)), m)))
    matrices = incidence[bases].transpose(0, 2, 1)
    denominators = np.rint(np.linalg.det(matrices)).astype(int)
    regular = denominators != 0
    bases, matrices, denominators = bases[regular], matrices[regular], denominators[regular]
    numerators = np.empty((len(bases), m), dtype=int)
    for i in range(m):
        replaced = matrices.copy()
        replaced[:, :, i] = 1
        numerators[:, i] = np.rint(np.linalg.det(replaced)).astype(int)
    numerators *= np.sign(denominators)[:, None]
    found = set()
    for k in np.flatnonzero((numerators >= 0).all(axis=1)):
        size = int(abs(denominators[k]))
        pairs = zip(bases[k], numerators[k], strict=True)
        found.add(frozenset((int(subsets[j]), Fraction(int(top), size)) for j, top in pairs if top))
    return found


def renamed(collection, renaming):
    return frozenset(
        (sum(1 << image for x, image in enumerate(renaming) if subset >> x & 1), weight)
        for subset, weight in collection
    )


@pytest.mark.parametrize("m", [2, 3, 4, 5])
def test_all_collections_are_those_of_all_bases(m):
    expected = by_cramer(m)
    found = [frozenset(one.items()) for one in each_balanced_collection(m)]
    assert len(found) == len(expected) == COUNTS[m]
    assert set(found) == expected
    assert minimal_balanced_collections(m) == tuple(dict(one) for one in sorted(map(sorted, expected)))


@pytest.mark.parametrize("m", [3, 4])
def test_orbits_are_those_of_all_renamings(m):
    left, orbits = by_cramer(m), []
    while left:
        one = next(iter(left))
        orbit = {renamed(one, renaming) for renaming in itertools.permutations(range(m))}
        assert orbit <= left
        left -= orbit
        orbits.append(orbit)
    found = balanced_orbits(m)
    assert sorted(map(len, orbits)) == sorted(size for _, size in found)
    for weights, _ in found:
        members = {frozenset(one.items()) for one in balanced.renamed(m, weights)}
        assert members in orbits


def test_six_players():
    orbits = balanced_orbits(6)
    assert sum(size for _, size in orbits) == COUNTS[6]
    assert all(math.factorial(6) % size == 0 for _, size in orbits)
    for weights, _ in orbits:
        subsets = [subset for subset, _ in weights]
        matrix = flint.fmpq_mat(6, len(subsets), [subset >> x & 1 for x in range(6) for subset in subsets])
        assert matrix.rank() == len(subsets)
        assert all(weight > 0 for _, weight in weights)
        assert all(sum(weight for subset, weight in weights if subset >> x & 1) == 1 for x in range(6))
    # Complementary partitions into two: 31 of them, in three orbits.
    pairs = [size for weights, size in orbits if len(weights) == 2]
    assert (len(pairs), sum(pairs)) == (3, 31)


def test_six_inputs_are_streamed():
    polytope = MaximalPolytope(6, Fraction(3))
    stream = polytope.each_vertex()
    first = [next(stream) for _ in range(300)]
    assert all(polytope.contains(vertex) for vertex in first)
    assert len({tuple(sorted(vertex.items())) for vertex in first}) == 300
    with pytest.raises(Unsupported, match="m = 6: 200213 vertices are streamed"):
        polytope.vertices()


def test_refusals():
    with pytest.raises(Unsupported, match="m = 7"):
        balanced_orbits(7)
    with pytest.raises(InputError, match="m"):
        balanced_orbits(1)
