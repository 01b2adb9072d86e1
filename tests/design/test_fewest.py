"""Block designs: fewest outputs at the same optimum."""

from __future__ import annotations

from fractions import Fraction

import pytest

from symshuffle.base.errors import InputError, SolverFailure, Unsupported
from symshuffle.design.decision.fewest import fewest_outputs, optimal_face
from symshuffle.design.decision.problems import DecisionProblem, smoothed_point_masses
from symshuffle.design.decision.tradeoff import bayes_tradeoff
from symshuffle.design.information.maximum import maximise
from symshuffle.design.information.measures import mutual_information
from symshuffle.geometry.extremal import MaximalPolytope, proper_subsets

LAM = Fraction(3)


def ring(m: int) -> DecisionProblem:
    near = {0: Fraction(1, 2), 1: Fraction(1, 4)}
    gap = [[min((x - t) % m, (t - x) % m) for x in range(m)] for t in range(m)]
    return DecisionProblem.of([[near.get(d, 0) for d in row] for row in gap], gap, [Fraction(1, m)] * m)


def sized(m: int, k: int) -> list[int]:
    return [y for y in proper_subsets(m) if y.bit_count() == k]


@pytest.mark.parametrize(("m", "k", "outputs"), [(4, 2, 2), (6, 3, 2), (6, 2, 3), (5, 2, 4), (7, 3, 5)])
def test_smallest_balanced_families(m, k, outputs):
    small = fewest_outputs(sized(m, k), m, LAM)
    assert len(small.weights) == outputs
    assert small.proved_fewest
    assert MaximalPolytope(m, LAM).contains(small.weights)


def test_information_is_kept_with_two_outputs():
    measure = mutual_information([Fraction(1, 4)] * 4)
    lam = Fraction(3, 2)  # subset size 2 is optimal below exp(0.822)
    small = fewest_outputs(sized(4, 2), 4, lam)
    best = maximise(measure, lam).value
    value = measure.of(small.channel(4, lam))
    assert value.lower <= best.upper
    assert best.lower <= value.upper


def test_face_of_a_ring():
    problem = ring(6)
    design = bayes_tradeoff(problem, LAM)
    face = optimal_face(problem, LAM, design.certificates[0].bound)
    small = fewest_outputs(face, 6, LAM)
    assert len(small.weights) == 2
    assert problem.bayes_risk(small.channel(6, LAM))[0] == design.value.exact


def test_refusals():
    problem = smoothed_point_masses(4, 1)
    bound = bayes_tradeoff(problem, LAM).certificates[0].bound
    with pytest.raises(InputError, match="bound"):
        optimal_face(problem, LAM, [2 * u for u in bound])
    with pytest.raises(Unsupported, match="m = 13"):
        optimal_face(smoothed_point_masses(13, 1), LAM, bound)
    with pytest.raises(SolverFailure, match="balanced family"):
        fewest_outputs([1, 2], 3, LAM)
