"""Cones and polytopes of LDP channels written out for two and three inputs, and conditions one by one."""

import itertools
from fractions import Fraction as F

import pytest

from symshuffle import InputError
from symshuffle.geometry.cones import PolyhedralCone, rank
from symshuffle.geometry.extremal import LDPCone, MaximalPolytope


def rational(*rows):
    return tuple(tuple(map(F, row)) for row in rows)


QUADRANT = PolyhedralCone(rational((1, 0), (0, 1)))
WEDGE = PolyhedralCone(rational((2, -1), (-1, 3), (1, 1)))


def test_cones_by_hand():
    """2x >= y and 3y >= x: rays (1/2, 1) and (1, 1/3); the third constraint is slack but at 0."""
    assert WEDGE.ambient_dimension == 2 and WEDGE.is_pointed()
    assert set(WEDGE.extreme_rays()) == set(rational(("1/2", 1), (1, "1/3")))
    assert WEDGE.active(rational((1, 2))[0]) == (0,)
    assert WEDGE.active(rational((0, 0))[0]) == (0, 1, 2)
    assert WEDGE.contains(rational((1, 2))[0]) and not WEDGE.contains(rational((1, "21/10"))[0])
    assert WEDGE.is_extreme(rational((3, 1))[0]) and not WEDGE.is_extreme(rational((1, 1))[0])
    assert not WEDGE.is_extreme(rational((-3, -1))[0])
    assert set(QUADRANT.extreme_rays()) == set(rational((1, 0), (0, 1)))


def test_zero_spans_no_ray_even_where_the_constraints_leave_a_line():
    """In a half-plane all constraints are tight at 0, and their rank is one less than the dimension."""
    half = PolyhedralCone(rational((1, 0)))
    assert not half.is_pointed() and not half.is_extreme(rational((0, 0))[0])
    with pytest.raises(InputError, match="pointed"):
        half.extreme_rays()


def test_rays_on_the_line_and_in_space():
    assert PolyhedralCone(rational((1,))).extreme_rays() == rational((1,))
    assert PolyhedralCone(rational((-2,))).extreme_rays() == rational((-1,))
    octant = PolyhedralCone(rational((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, -1)))
    # z <= x + y: the ray e3 is cut off, and (1, 0, 1), (0, 1, 1) appear
    assert set(octant.extreme_rays()) == set(rational((1, 0, 0), (0, 1, 0), (1, 0, 1), (0, 1, 1)))
    assert rank([]) == 0 and rank(rational((1, 2), (2, 4))) == 1
    for rows in ((), ((),), rational((1, 0), (1,))):
        with pytest.raises(InputError, match=r"^rows"):
            PolyhedralCone(rows)


def test_the_inequalities_of_two_and_three_inputs():
    assert LDPCone(2, F(3)).matrix() == rational((3, -1), (-1, 3), (1, 0), (0, 1))
    three = LDPCone(3, F(2)).matrix()
    assert three[:6] == rational((2, -1, 0), (2, 0, -1), (-1, 2, 0), (0, 2, -1), (-1, 0, 2), (0, -1, 2))
    assert three[6:] == rational((1, 0, 0), (0, 1, 0), (0, 0, 1))
    assert set(LDPCone(2, F(3)).polyhedral().extreme_rays()) == set(rational((1, "1/3"), ("1/3", 1)))


@pytest.mark.parametrize(
    ("vector", "inside", "extreme"),
    [
        ((1, 3, 1), True, True),
        ((1, 3, 3), True, True),
        ((1, 2, 3), True, False),
        ((1, 2, 2), True, False),
        ((1, 1, 1), True, False),
        ((1, 3, "31/10"), False, False),
        ((0, 0, 0), True, False),
        ((-1, -3, -1), False, False),
        ((0, 1, 0), False, False),
    ],
)
def test_which_columns_are_private_and_which_are_extreme(vector, inside, extreme):
    (vector,) = rational(vector)
    cone = LDPCone(3, F(3))
    assert cone.contains(vector) == inside and cone.polyhedral().contains(vector) == inside
    assert cone.is_extreme(vector) == extreme


@pytest.mark.parametrize("vector", [(1, 1, 1), (2, 2, 5), (1, 2, 3), (3, 1, 1), (5, 6, 5), (0, 0, 0), (1, "5/2", 3)])
def test_columns_are_rebuilt_from_staircases(vector):
    """A staircase vector is lam on its subset and 1 elsewhere."""
    (vector,) = rational(vector)
    found = LDPCone(3, F(3)).decompose(vector)
    assert all(weight > 0 for weight in found.values()) and len(found) <= 4
    assert all(0 < subset < 7 for subset in found)
    rebuilt = tuple(sum(w * (3 if subset >> x & 1 else 1) for subset, w in found.items()) for x in range(3))
    assert rebuilt == vector


def test_columns_that_are_not_private_are_not_decomposed():
    for vector in ((1, 4, 1), (1, 1)):
        with pytest.raises(InputError, match=r"^vector"):
            LDPCone(3, F(3)).decompose(rational(vector)[0])


def test_points_of_the_polytope():
    """Three single inputs with weight c: c (3 + (lam - 1)) = 1, so 1/5 at lam = 3; pairs of complements 1/(lam + 1)."""
    polytope = MaximalPolytope(3, F(3))
    assert polytope.dimension == 3 and MaximalPolytope(4, F(2)).dimension == 10
    assert polytope.contains({1: F(1, 5), 2: F(1, 5), 4: F(1, 5)})
    assert polytope.contains({1: F(1, 4), 6: F(1, 4)})
    assert not polytope.contains({1: F(1, 4), 6: F(1, 4), 7: F(0)})
    assert not polytope.contains({1: F(1, 5), 2: F(1, 5), 4: F(1, 5) + F(1, 10**9)})
    assert not polytope.contains({1: F(1, 2), 6: F(1, 2), 2: F(-1, 4), 5: F(-1, 4)})
    assert polytope.contains({1: F(1, 8), 6: F(1, 8), 2: F(1, 8), 5: F(1, 8)})
    vertices = polytope.vertices()
    assert len(vertices) == 5
    channel = polytope.channel({1: F(1, 4), 6: F(1, 4)})
    assert channel.rows == rational(("3/4", "1/4"), ("1/4", "3/4"), ("1/4", "3/4"))


def test_the_vertices_of_three_inputs_are_the_minimal_balanced_collections():
    """Three pairs of complements, the three single inputs, the three pairs of inputs: weights by hand at lam = 2."""
    found = {tuple(sorted(vertex.items())) for vertex in map(dict, MaximalPolytope(3, F(2)).vertices())}
    third, quarter, fifth = F(1, 3), F(1, 4), F(1, 5)
    by_hand = {((x, third), (7 - x, third)) for x in (1, 2, 4) if x < 7 - x} | {((3, third), (4, third))}
    by_hand |= {((1, quarter), (2, quarter), (4, quarter)), ((3, fifth), (5, fifth), (6, fifth))}
    assert found == by_hand


def test_numbers_of_inputs_and_levels():
    for m, lam in ((1, F(3)), (3, F(1)), (3, F(1, 2))):
        with pytest.raises(InputError):
            LDPCone(m, lam)
        with pytest.raises(InputError):
            MaximalPolytope(m, lam)
    assert len(list(LDPCone(3, F(3)).extreme_rays())) == 6
    for ray in LDPCone(3, F(3)).extreme_rays():
        assert all(x <= 3 * y for x, y in itertools.permutations(ray, 2))
