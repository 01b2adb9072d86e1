"""Extreme rays, the maximal polytope, maximality and domination, against general polyhedral code."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import flint
import pytest

from proofs_checks.ldp_tradeoff._cases import gather
from proofs_checks.ldp_tradeoff._cones import PolyhedralCone, maximal_weights, non_extreme_output
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.channels.channel import Channel
from symshuffle.channels.geometry.extremal import (
    LDPCone,
    MaximalPolytope,
    dominating_extremal,
    proper_subsets,
    staircase_matrix,
)

LEVELS = [Fraction(11, 10), Fraction(7, 3), Fraction(10)]


def random_ldp_channel(seed: int, m: int, outputs: int, lam: Fraction) -> Channel:
    rng = random.Random(seed)
    while True:
        columns = [[Fraction(rng.randint(10, int(10 * lam)), 10) for _ in range(m)] for _ in range(outputs)]
        scale = sum(max(column) for column in columns) * 2
        columns = [[v / scale for v in column] for column in columns]
        rest = [1 - sum(column[x] for column in columns) for x in range(m)]
        if max(rest) <= lam * min(rest):
            return Channel(tuple(zip(*columns, rest, strict=True)))


@pytest.mark.parametrize("lam", LEVELS)
@pytest.mark.parametrize("m", [2, 3, 4])
def test_extreme_rays_by_exhaustion(m, lam):
    cone = LDPCone(m, lam)
    general = PolyhedralCone(cone.matrix()).extreme_rays()
    closed = {tuple(v / max(ray) for v in ray) for ray in cone.extreme_rays()}
    assert set(general) == closed
    assert len(closed) == 2**m - 2


def test_all_ones_is_not_extreme():
    cone = LDPCone(3, Fraction(3))
    assert not PolyhedralCone(cone.matrix()).is_extreme((Fraction(1),) * 3)
    assert not cone.is_extreme((Fraction(3), Fraction(2), Fraction(1)))
    assert not PolyhedralCone(cone.matrix()).is_extreme((Fraction(3), Fraction(2), Fraction(1)))


@pytest.mark.parametrize(("m", "count"), [(2, 1), (3, 5), (4, 41), (5, 1291)])
@pytest.mark.parametrize("lam", LEVELS)
def test_vertex_counts(m, count, lam):
    polytope = MaximalPolytope(m, lam)
    vertices = polytope.vertices()
    assert len(vertices) == count
    assert all(polytope.contains(vertex) and len(vertex) <= m for vertex in vertices)
    sums = [sum(vertex.values()) for vertex in vertices]
    assert (min(sums), max(sums)) == (Fraction(m) / ((m - 1) * lam + 1), Fraction(m) / (lam + m - 1))


def test_vertices_against_all_basic_solutions():
    m, lam = 4, Fraction(7, 3)
    matrix = staircase_matrix(m, lam)
    found = set()
    for basis in itertools.combinations(proper_subsets(m), m):
        entries = [[matrix[y - 1][x] for y in basis] for x in range(m)]
        system = flint.fmpq_mat([[flint.fmpq(v.numerator, v.denominator) for v in row] for row in entries])
        if system.det() == 0:
            continue
        point = system.solve(flint.fmpq_mat(m, 1, [1] * m))
        if all(point[i, 0] >= 0 for i in range(m)):
            values = [Fraction(int(point[i, 0].p), int(point[i, 0].q)) for i in range(m)]
            found.add(frozenset((y, v) for y, v in zip(basis, values, strict=True) if v))
    assert found == {frozenset(vertex.items()) for vertex in MaximalPolytope(m, lam).vertices()}


def test_domination_and_kernel():
    lam = Fraction(3)
    for seed in range(20):
        channel = random_ldp_channel(seed, 3 + seed % 2, 3, lam)
        weights, kernel = dominating_extremal(channel, lam)
        above = MaximalPolytope(channel.num_inputs, lam).channel(weights)
        assert above.push_forward(kernel) == channel
        assert non_extreme_output(above, lam) is None
        assert maximal_weights(above, lam) == weights
    assert non_extreme_output(random_ldp_channel(0, 3, 3, lam), lam) is not None


def test_flat_column_is_not_maximal_and_can_be_dominated():
    flat = Channel.from_rows([["1/2", "1/2"]] * 3)
    assert non_extreme_output(flat, 2) == 0
    weights, kernel = dominating_extremal(flat, 2)
    assert MaximalPolytope(3, Fraction(2)).channel(weights).push_forward(kernel) == flat
    with pytest.raises(InputError, match="output 0"):
        maximal_weights(flat, 2)


def test_gather_forgets_labels_splits_and_null_outputs():
    channel = Channel.from_rows([["3/5", "1/5", "1/5"], ["1/5", "3/5", "1/5"]])
    split = Channel.from_rows([["1/5", "1/10", "0", "3/5", "1/10"], ["3/5", "1/10", "0", "1/5", "1/10"]])
    assert gather(channel) == gather(split)


def test_refusals():
    with pytest.raises(InputError, match="m = 1"):
        staircase_matrix(1, 2)
    with pytest.raises(InputError, match="lam"):
        LDPCone(3, Fraction(1))
    with pytest.raises(Unsupported, match="linear program"):
        MaximalPolytope(6, Fraction(2)).vertices()
    with pytest.raises(InputError, match="weights"):
        MaximalPolytope(3, Fraction(2)).channel({1: Fraction(1)})
    with pytest.raises(InputError, match="pointed"):
        PolyhedralCone(((Fraction(1), Fraction(0)),)).extreme_rays()
    with pytest.raises(InputError, match="output 0"):
        dominating_extremal(Channel.from_rows([["1/2", "1/2"], ["1/4", "3/4"]]), Fraction(3, 2))
