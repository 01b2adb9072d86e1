"""Extreme rays, the maximal polytope, maximality and domination, against general polyhedral code."""

import itertools
from fractions import Fraction

import flint
import pytest

from proofs_checks.ldp_tradeoff._cones import PolyhedralCone, is_extreme_ray, maximal_weights, non_extreme_output
from symshuffle import Channel, InputError, Unsupported
from symshuffle.channels.geometry.extremal import (
    MaximalPolytope,
    cone_inequalities,
    dominating_extremal,
    proper_subsets,
    staircase_matrix,
)

LEVELS = [Fraction(11, 10), Fraction(7, 3), Fraction(10)]


def test_all_ones_is_not_extreme():
    cone = PolyhedralCone(cone_inequalities(3, Fraction(3)))
    assert not cone.is_extreme((Fraction(1),) * 3)
    assert not is_extreme_ray((Fraction(3), Fraction(2), Fraction(1)), Fraction(3))
    assert not cone.is_extreme((Fraction(3), Fraction(2), Fraction(1)))


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


def test_flat_column_is_not_maximal_and_can_be_dominated():
    flat = Channel.from_rows([["1/2", "1/2"]] * 3)
    assert non_extreme_output(flat, 2) == 0
    weights, kernel = dominating_extremal(flat, 2)
    assert MaximalPolytope(3, Fraction(2)).channel(weights).push_forward(kernel) == flat
    with pytest.raises(InputError, match="output 0"):
        maximal_weights(flat, 2)


def test_refusals():
    with pytest.raises(InputError, match="m = 1"):
        staircase_matrix(1, 2)
    with pytest.raises(InputError, match="lam"):
        cone_inequalities(3, Fraction(1))
    with pytest.raises(Unsupported, match="linear program"):
        MaximalPolytope(6, Fraction(2)).vertices()
    with pytest.raises(InputError, match="weights"):
        MaximalPolytope(3, Fraction(2)).channel({1: Fraction(1)})
    with pytest.raises(InputError, match="pointed"):
        PolyhedralCone(((Fraction(1), Fraction(0)),)).extreme_rays()
    with pytest.raises(InputError, match="output 0"):
        dominating_extremal(Channel.from_rows([["1/2", "1/2"], ["1/4", "3/4"]]), Fraction(3, 2))
