"""Orbits of subsets by three routes, the orbit polytope, and the action on channels."""

from fractions import Fraction

import pytest

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.channels.geometry.groups import (
    SymmetryGroup,
    cyclic_group,
    dihedral_group,
    product_of_symmetric_groups,
    symmetric_group,
    trivial_group,
)
from symshuffle.channels.geometry.subset_orbits import OrbitCount

LAM = Fraction(7, 3)
SIZES = (3, 4, 5, 6, 7, 8, 9, 10)


@pytest.mark.parametrize(
    ("group", "counts"),
    [
        (symmetric_group, (2, 3, 4, 5, 6, 7, 8, 9)),
        (cyclic_group, (2, 4, 6, 12, 18, 34, 58, 106)),
        (dihedral_group, (2, 4, 6, 11, 16, 28, 44, 76)),
    ],
)
def test_orbit_counts(group, counts):
    for m, count in zip(SIZES, counts, strict=True):
        orbits = list(group(m).subset_orbits())
        assert len(orbits) == count
        assert sum(orbit.size for orbit in orbits) == 2**m - 2


@pytest.mark.parametrize(
    "group", [cyclic_group(6), symmetric_group(5), product_of_symmetric_groups([(0, 3), (1, 2, 4)]), cyclic_group(2)]
)
def test_special_forms_agree_with_listing(group):
    plain = SymmetryGroup(group.m, group.generators)
    special = {group.orbit_of(o.representative): (o.size, o.incidences) for o in group.subset_orbits()}
    listed = {plain.orbit_of(o.representative): (o.size, o.incidences) for o in plain.subset_orbits()}
    assert special == listed


def test_large_groups_are_counted_not_listed():
    assert len(list(cyclic_group(16).subset_orbits())) == 4114
    assert len(list(product_of_symmetric_groups([range(40), range(40, 90)]).subset_orbits())) == 41 * 51 - 2
    with pytest.raises(Unsupported, match="17920858 orbits"):
        list(dihedral_group(30).subset_orbits())
    with pytest.raises(Unsupported, match="4194302 kinds of subsets"):
        list(SymmetryGroup(22, symmetric_group(22).generators).subset_orbits())


def test_orbits_are_counted_before_they_are_listed():
    for group in (cyclic_group(12), cyclic_group(20), product_of_symmetric_groups([range(3), range(3, 8)])):
        assert group.subset_orbit_count().number == len(list(group.subset_orbits()))
    assert cyclic_group(20).subset_orbit_count().number == 52486
    assert product_of_symmetric_groups([range(300), range(300, 600)]).subset_orbit_count().number == 301**2 - 2
    assert dihedral_group(6).subset_orbit_count().number == len(list(dihedral_group(6).subset_orbits()))
    for group, count in (
        (cyclic_group(30), "35792566"),
        (trivial_group(20), "1048574"),
        (trivial_group(90), r"2\*\*90"),
    ):
        with pytest.raises(Unsupported, match=f"{count}.*compact form"):
            next(iter(group.subset_orbits()))


def test_blocks_that_move():
    swap = (3, 4, 5, 0, 1, 2)
    group = product_of_symmetric_groups([range(3), range(3, 6)], [swap])
    plain = SymmetryGroup(6, group.generators)
    assert group.order() == plain.order() == 72
    assert {plain.kind(o.representative) for o in group.subset_orbits()} != set()
    special = {plain.orbit_of(o.representative): (o.size, o.incidences) for o in group.subset_orbits()}
    assert special == {plain.orbit_of(o.representative): (o.size, o.incidences) for o in plain.subset_orbits()}
    # Unordered pairs of counts in 0..3: 10 of them, without the empty and the full set.
    assert group.subset_orbit_count() == OrbitCount(8, exact=True)
    assert group.subset_orbit(0b001001).size == 9
    assert group.kind(0b001011) == group.kind(0b110100)
    large = product_of_symmetric_groups([range(200), range(200, 400)], [(*range(200, 400), *range(200))])
    assert large.subset_orbit_count().number == 201 * 202 // 2 - 2
    assert large.subset_orbit(1).size == 400


def test_a_count_that_is_only_a_lower_bound_says_so():
    swaps = [tuple(x ^ 1 if x // 2 == i else x for x in range(26)) for i in range(13)]
    count = SymmetryGroup(26, tuple(swaps)).subset_orbit_count()
    assert (count.number, count.exact) == (2**13 - 2, False)
    assert str(count) == "at least 8190"
    assert str(trivial_group(70).subset_orbit_count()) == "about 2**70"


def test_refusals():
    with pytest.raises(InputError, match=r"generators\[0\]"):
        SymmetryGroup(3, ((0, 0, 1),))
    with pytest.raises(InputError, match="1 more, exchanging inputs of a block"):
        SymmetryGroup(3, (), blocks=((0, 1), (2,)))
    with pytest.raises(InputError, match="moves blocks to blocks"):
        product_of_symmetric_groups([(0, 1), (2,)], [(1, 2, 0)])
    with pytest.raises(InputError, match="partition"):
        product_of_symmetric_groups([(0, 1), (1, 2)])
    with pytest.raises(InputError, match="m = 1"):
        cyclic_group(1)
