"""The blurred ring with a symbolic blur, and the figures."""

from fractions import Fraction

import pytest
import sympy as sp

from proofs_checks.ldp_tradeoff._named import blurred_costs, candidate_risks, ring_distance
from proofs_checks.ldp_tradeoff.beyond import REPRODUCE
from symshuffle import Problem
from symshuffle.design.decision.tradeoff import smallest_risk
from symshuffle.mechanisms import LAM


@pytest.mark.parametrize(("m", "blur"), [(5, Fraction(1, 5)), (6, Fraction(1, 4)), (5, Fraction(2, 5))])
def test_smallest_candidate_is_the_certified_optimum(m, blur):
    near = {0: 1 - 2 * blur, 1: blur}
    gap = [[ring_distance(m, x, t) for x in range(m)] for t in range(m)]
    problem = Problem.of([[near.get(d, 0) for d in row] for row in gap], gap, [Fraction(1, m)] * m)
    b = sp.Symbol("b")
    for lam in (Fraction(3, 2), Fraction(4), Fraction(30)):
        point = {b: sp.Rational(blur.numerator, blur.denominator), LAM: sp.Rational(lam.numerator, lam.denominator)}
        smallest = min(risk.subs(point) for _, _, risk in candidate_risks(m, b, LAM))
        assert smallest_risk(problem, lam).value.exact == Fraction(int(smallest.p), int(smallest.q))


def test_costs_sum_to_the_distances():
    assert sp.expand(sum(blurred_costs(5, sp.Symbol("b"), 2))) == 6


@pytest.mark.parametrize(
    "name", ["ldp_tradeoff.fig-2", "ldp_tradeoff.information-curves", "ldp_tradeoff.divergence-curves"]
)
def test_figures_are_written(name, tmp_path):
    (path,) = REPRODUCE[name](tmp_path)
    assert path.parent == tmp_path
    assert path.read_text().rstrip().endswith("</svg>")
