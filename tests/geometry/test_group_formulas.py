"""Groups and orbits of subsets against brute force over all permutations and all subsets."""

import itertools
import math
from collections import Counter
from fractions import Fraction as F

import numpy as np
import pytest

from symshuffle import InputError, Unsupported
from symshuffle.geometry import automorphisms, groups, subset_orbits
from symshuffle.geometry.automorphisms import column_automorphisms, encode
from symshuffle.geometry.groups import (
    SymmetryGroup,
    cyclic_group,
    dihedral_group,
    product_of_symmetric_groups,
    symmetric_group,
    trivial_group,
)
from symshuffle.geometry.permutations import cycle_of, cycles, exchanges, orbits_of_points
from symshuffle.geometry.subset_orbits import OrbitCount, SubsetOrbit

TWO_BLOCKS = product_of_symmetric_groups([(0, 2), (1, 3, 4)])
SWAPPED = product_of_symmetric_groups([(0, 1), (2, 3)], [(2, 3, 0, 1)])
GROUPS = {
    "cyclic 6": cyclic_group(6),
    "dihedral 5": dihedral_group(5),
    "symmetric 4": symmetric_group(4),
    "trivial 3": trivial_group(3),
    "two blocks": TWO_BLOCKS,
    "swapped blocks": SWAPPED,
    "one swap": SymmetryGroup(4, ((1, 0, 2, 3),)),
}


def generated(group):
    """All elements, by closure."""
    found = {tuple(range(group.m))}
    while True:
        more = {tuple(g[x] for x in h) for g in group.generators for h in found} - found
        if not more:
            return found
        found |= more


def image(g, subset):
    return sum(1 << g[x] for x in range(len(g)) if subset >> x & 1)


@pytest.mark.parametrize("name", GROUPS)
def test_groups_and_their_orbits_by_brute_force(name):
    group = GROUPS[name]
    elements = generated(group)
    assert group.order() == len(elements)
    assert set(group.listed()) == elements and list(group.listed()) == sorted(elements)
    points = {tuple(sorted({g[x] for g in elements})) for x in range(group.m)}
    assert set(group.input_orbits()) == points and list(group.input_orbits()) == sorted(points)
    assert group.is_transitive() == (len(points) == 1)
    pairs = {(g[0], g[1]) for g in elements}
    assert group.is_two_transitive() == (len(pairs) == group.m * (group.m - 1))
    by_hand = {frozenset(image(g, s) for g in elements) for s in range(1, (1 << group.m) - 1)}
    count = group.subset_orbit_count()
    assert (count.number, count.exact) == (len(by_hand), True)
    listed = list(group.subset_orbits())
    assert {group.orbit_of(orbit.representative) for orbit in listed} == by_hand and len(listed) == len(by_hand)
    for orbit in listed:
        members = next(found for found in by_hand if orbit.representative in found)
        assert orbit.size == len(members)
        inside = tuple(sum(s >> block[0] & 1 for s in members) for block in group.input_orbits())
        assert orbit.incidences == inside
        assert group.subset_orbit(orbit.representative) == orbit
        kinds = {group.kind(s) for s in members}
        assert len(kinds) == 1


def test_kinds_tell_orbits_apart():
    for group in (TWO_BLOCKS, SWAPPED):
        kinds = {group.kind(s): group.orbit_of(s) for s in range(1 << group.m)}
        assert len(kinds) == len({group.orbit_of(s) for s in range(1 << group.m)})
    with pytest.raises(InputError, match=r"^subset = "):
        SWAPPED.subset_orbit(16)
    with pytest.raises(InputError, match=r"^subset = "):
        SWAPPED.subset_orbit(-1)
    assert SWAPPED.subset_orbit(15).size == SWAPPED.subset_orbit(0).size == 1


def test_what_one_orbit_adds_to_a_column():
    """Three members, two of which contain the input: 2 lam + 1."""
    assert SubsetOrbit(1, 3, (2, 0)).column_sum(0, F(5)) == 11
    assert SubsetOrbit(1, 3, (2, 0)).column_sum(1, F(5)) == 3
    assert str(OrbitCount(10**18 - 1, True)) == "9" * 18
    assert str(OrbitCount(2**70 - 2, True)) == "about 2**70" and str(OrbitCount(5, False)) == "at least 5"


def test_permutations_by_hand():
    assert cycle_of(5, (3, 0, 2)) == (2, 1, 3, 0, 4)
    assert list(cycles((2, 1, 3, 0, 4))) == [[0, 2, 3], [1], [4]]
    assert list(exchanges(5, [(0,), (4, 1, 2)])) == [(0, 4, 2, 3, 1), (0, 2, 4, 3, 1)]
    assert orbits_of_points(6, [(1, 0, 2, 3, 4, 5), (0, 4, 2, 5, 1, 3)]) == ((0, 1, 4), (2,), (3, 5))
    assert orbits_of_points(3, []) == ((0,), (1,), (2,))


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"m": 3, "generators": ((0, 1, 1),)}, r"generators\[0\]"),
        ({"m": 3, "generators": ((1, 2, 0), (0, 1))}, r"generators\[1\]"),
        ({"m": 3, "generators": ((2, 0, 1),), "rotation": True}, "rotation"),
        ({"m": 3, "generators": (), "blocks": ((0,), (1,))}, "blocks"),
        ({"m": 3, "generators": (), "blocks": ((0, 1), (1, 2))}, "blocks"),
        ({"m": 3, "generators": (), "blocks": ((0, 1), (2,))}, "generators"),
        ({"m": 4, "generators": ((1, 0, 2, 3), (0, 2, 1, 3)), "blocks": ((0, 1), (2,), (3,))}, r"generators\[1\]"),
        ({"m": 1, "generators": ()}, "m"),
    ],
)
def test_what_is_no_group(given, named):
    with pytest.raises(InputError, match=f"^{named} = "):
        SymmetryGroup(**given)


def test_blocks_that_are_no_partition():
    for blocks in ([(0, 1), (1, 2)], [(0,), (2,)]):
        with pytest.raises(InputError, match=r"^blocks = "):
            product_of_symmetric_groups(blocks)


def test_limits_of_lists(monkeypatch):
    monkeypatch.setattr(groups, "LARGEST_GROUP", 24)
    assert len(symmetric_group(4).listed()) == 24
    monkeypatch.setattr(groups, "LARGEST_GROUP", 23)
    with pytest.raises(Unsupported, match="24 permutations"):
        symmetric_group(4).listed()
    monkeypatch.setattr(groups, "ORBIT_LIMIT", 6)
    assert len(list(dihedral_group(5).subset_orbits())) == 6
    monkeypatch.setattr(groups, "ORBIT_LIMIT", 5)
    with pytest.raises(Unsupported, match="6 orbits"):
        dihedral_group(5).subset_orbits()


def test_a_bound_where_arrangements_are_not_listed(monkeypatch):
    """Ten rotations and reflections of five: 32/10 rounded up, less the empty and the full set; 6 in truth."""
    monkeypatch.setattr(groups, "_BURNSIDE_LIMIT", 10)
    assert dihedral_group(5).subset_orbit_count() == OrbitCount(6, True)
    monkeypatch.setattr(groups, "_BURNSIDE_LIMIT", 9)
    assert dihedral_group(5).subset_orbit_count() == OrbitCount(2, False)
    # all 24 arrangements of four inputs: 16/24 rounds up to 1, and at least one orbit is left
    monkeypatch.setattr(groups, "_BURNSIDE_LIMIT", 3)
    whole = SymmetryGroup(4, ((1, 0, 2, 3), (1, 2, 3, 0)))
    assert whole.subset_orbit_count() == OrbitCount(1, False)


def test_kinds_that_are_not_visited(monkeypatch):
    monkeypatch.setattr(subset_orbits, "LISTING_LIMIT", 9)
    assert len(list(subset_orbits.kinds_by_orbit((2, 2), [(1, 0)]))) == 4
    monkeypatch.setattr(subset_orbits, "LISTING_LIMIT", 8)
    with pytest.raises(Unsupported, match="7 kinds"):
        next(subset_orbits.kinds_by_orbit((2, 2), [(1, 0)]))


def preserved(rows, g):
    back = np.argsort(g)
    return Counter(tuple(row[x] for x in back) for row in rows) == Counter(map(tuple, rows))


def circle(m):
    return [[min((x - t) % m, (t - x) % m) for x in range(m)] for t in range(m)]


@pytest.mark.parametrize(
    ("rows", "known"),
    [
        ([[(x - t) % 5 for x in range(5)] for t in range(5)], cyclic_group(5)),
        ([[1, 1, 1], [2, 2, 2]], symmetric_group(3)),
        ([[1, 2, 3]], product_of_symmetric_groups([(0,), (1,), (2,)])),
        ([[1, 1, 3, 3], [0, 0, 1, 1]], product_of_symmetric_groups([(0, 1), (2, 3)])),
    ],
)
def test_groups_that_are_recognised(rows, known):
    codes = np.array(rows, dtype=np.int64)
    assert column_automorphisms(codes, len(rows[0]), lambda g: preserved(rows, g), advice="") == known


@pytest.mark.parametrize("rows", [circle(5), [[0, 0, 1, 1], [1, 1, 0, 0]], [[0, 1, 2], [2, 0, 1], [2, 2, 2]]])
def test_the_number_of_ways_that_blocks_move(rows):
    """All permutations of the columns are tried; those inside the blocks are divided out."""
    m = len(rows[0])
    brute = sum(preserved(rows, g) for g in itertools.permutations(range(m)))
    search = automorphisms._Search(np.array(rows, dtype=np.int64), m, lambda g: preserved(rows, g))
    blocks = list(search.blocks())
    _, order = search.moves(blocks)
    assert order * math.prod(math.factorial(len(block)) for block in blocks) == brute


def test_values_are_numbered_by_first_sight():
    found = encode([[F(1, 2), F(3)], [F(3), F(2, 4)]], [[F(7)], [F(1, 2)]])
    assert found.tolist() == [[0, 1, 2], [1, 0, 0]]


def test_matrices_beyond_the_work_of_a_search(monkeypatch):
    """Four passes over 9 entries."""
    rows = circle(3)
    codes = np.array(rows, dtype=np.int64)
    monkeypatch.setattr(automorphisms, "SEARCH_WORK", 36)
    column_automorphisms(codes, 3, lambda g: preserved(rows, g), advice="")
    monkeypatch.setattr(automorphisms, "SEARCH_WORK", 35)
    with pytest.raises(Unsupported, match="3 x 3"):
        column_automorphisms(codes, 3, lambda g: preserved(rows, g), advice="")
