"""Maximal channels of two and three inputs by hand: canonical forms, points of the polytope, orbits and averages."""

from fractions import Fraction as F

import pytest

from symshuffle import Channel, InputError, Unsupported
from symshuffle.geometry import symmetry
from symshuffle.geometry.extremal import (
    MaximalPolytope,
    dominating_extremal,
    gather,
    mask,
    maximal_weights,
    members,
    non_extreme_output,
    staircase_matrix,
)
from symshuffle.geometry.groups import cyclic_group, product_of_symmetric_groups, symmetric_group
from symshuffle.geometry.symmetry import act_on_channel, average_weights, symmetrise

BIT = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
BLOCKS = product_of_symmetric_groups([(0,), (1, 2)])


def test_subsets_as_bit_masks():
    assert members(0b1011) == (0, 1, 3) and mask((3, 0, 1, 0)) == 0b1011
    assert staircase_matrix(2, 3) == ((3, 1), (1, 3))
    for lam in (F(1), F(1, 2), 2.0):
        with pytest.raises(InputError, match=r"^lam = "):
            staircase_matrix(2, lam)


def test_canonical_forms_by_hand():
    """Columns (3, 1)/8 twice are one; the null column goes; the direction with the larger first entry stands first."""
    split = Channel.from_rows([["1/4", "3/8", "0", "3/8"], ["3/4", "1/8", "0", "1/8"]])
    assert gather(split) == BIT
    assert gather(Channel.from_rows([["1/2", "1/2"]] * 2)).rows == ((1,), (1,))


def test_points_of_maximal_channels():
    """Binary response of ratio 3 has both single inputs at 1/4."""
    assert maximal_weights(BIT, 3) == {1: F(1, 4), 2: F(1, 4)}
    assert non_extreme_output(BIT, 3) is None and non_extreme_output(BIT, 4) == 0
    null = Channel.from_rows([["0", "3/4", "1/4"], ["0", "1/4", "3/4"]])
    assert non_extreme_output(null, 3) is None
    flat = Channel.from_rows([["3/8", "1/2", "1/8"], ["1/8", "1/2", "3/8"]])
    assert non_extreme_output(flat, 3) == 1
    with pytest.raises(InputError, match="output 1"):
        maximal_weights(flat, 3)


@pytest.mark.parametrize("lam", [F(3), F(4)])
@pytest.mark.parametrize(
    "rows",
    [
        [["3/8", "1/2", "1/8"], ["1/8", "1/2", "3/8"]],
        [["1/2", "1/2"], ["1/4", "3/4"], ["1/3", "2/3"]],
        [["0", "1"], ["0", "1"]],
    ],
)
def test_channels_below_maximal_ones(rows, lam):
    channel = Channel.from_rows(rows)
    weights, kernel = dominating_extremal(channel, lam)
    polytope = MaximalPolytope(channel.num_inputs, lam)
    assert polytope.contains(weights)
    assert polytope.channel(weights).push_forward(kernel) == channel


def test_channels_that_are_not_private_enough():
    with pytest.raises(InputError, match="output 0"):
        dominating_extremal(BIT, F(3) - F(1, 10**9))
    dominating_extremal(BIT, F(3))


def test_the_weights_of_balanced_collections():
    """c = d/(lam - 1 + sum d): the three pairs of three inputs with 1/2 each at lam = 3 are (1/2)/(2 + 3/2)."""
    polytope = MaximalPolytope(3, F(3))
    assert polytope.weights({3: F(1, 2), 5: F(1, 2), 6: F(1, 2)}) == {y: F(1, 7) for y in (3, 5, 6)}
    orbits = polytope.vertex_orbits()
    assert sorted(size for _, size in orbits) == [1, 1, 3]
    assert {tuple(v.items()) for v in polytope.each_vertex()} == {tuple(v.items()) for v in polytope.vertices()}
    with pytest.raises(Unsupported, match="m = 6"):
        MaximalPolytope(6, F(3)).vertices()
    assert len(MaximalPolytope(4, F(3)).vertices()) == 41


def test_the_polytope_of_orbits_of_all_permutations():
    """Orbits of one and of two of three inputs: an input is in one of 3 and in two of 3, so 1/5 and 1/7 at lam = 3."""
    polytope = symmetry.OrbitPolytope(symmetric_group(3), F(3))
    assert polytope.dimension == 1
    weights = sorted(polytope.single_orbit_weight(orbit) for orbit in polytope.orbits)
    assert weights == [F(1, 7), F(1, 5)]
    assert sorted(w for vertex in polytope.vertices() for w in vertex.values()) == weights
    (single,) = (o for o, orbit in enumerate(polytope.orbits) if orbit.representative.bit_count() == 1)
    assert polytope.contains({single: F(1, 5)}) and not polytope.contains({single: F(1, 5) + F(1, 10**9)})
    assert not polytope.contains({single: F(2, 5), 1 - single: F(-1, 7)})
    assert polytope.lift({single: F(1, 5), 1 - single: F(0)}) == {y: F(1, 5) for y in (1, 2, 4)}


def test_the_polytope_of_orbits_of_two_blocks(monkeypatch):
    """Every vertex lifts to a point of the polytope, with at most as many orbits as there are orbits of inputs."""
    polytope = symmetry.OrbitPolytope(BLOCKS, F(2))
    assert polytope.dimension == len(polytope.orbits) - 2 == 2
    vertices = polytope.vertices()
    assert vertices and all(polytope.contains(vertex) and 1 <= len(vertex) <= 2 for vertex in vertices)
    for vertex in vertices:
        assert MaximalPolytope(3, F(2)).contains(polytope.lift(vertex))
    with pytest.raises(InputError, match="2 orbits of inputs"):
        polytope.single_orbit_weight(polytope.orbits[0])
    monkeypatch.setattr(symmetry, "LARGEST_BASES", 6)
    assert polytope.vertices() == vertices
    monkeypatch.setattr(symmetry, "LARGEST_BASES", 5)
    with pytest.raises(Unsupported, match="6 bases"):
        polytope.vertices()


def test_actions_and_averages_by_hand():
    """The cycle 0 -> 1 -> 2 -> 0 sends row 0 to row 1, and outputs likewise."""
    channel = Channel.from_rows([["1/2", "1/2"], ["1/3", "2/3"], ["1/4", "3/4"]])
    moved = act_on_channel((1, 2, 0), channel)
    assert moved.rows == (channel.rows[2], channel.rows[0], channel.rows[1])
    both = act_on_channel((1, 2, 0), channel, (1, 0))
    assert both.rows == tuple(row[::-1] for row in moved.rows)
    assert average_weights({1: F(1, 2), 6: F(1, 4)}, cyclic_group(3)) == {
        **{y: F(1, 6) for y in (1, 2, 4)},
        **{y: F(1, 12) for y in (3, 5, 6)},
    }
    whole = symmetrise(channel, cyclic_group(3))
    assert whole.num_outputs == 6
    assert sorted(whole.rows[0]) == sorted(entry / 3 for row in channel.rows for entry in row)
