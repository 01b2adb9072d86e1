"""Edits that `python -m tests.mutants` drew and no test noticed at first, each with what notices it now."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from symshuffle import InputError, mechanism
from symshuffle.choices import Criterion
from symshuffle.decompositions.expression import parse
from symshuffle.design import smoothed_point_masses
from symshuffle.design.decision.sizes import check_polytope
from symshuffle.design.information import measures
from symshuffle.design.named.symmetric import guessing_bound_slacks, guessing_risk
from symshuffle.errors import Unsupported
from symshuffle.numbers import to_arb, working_precision

F = Fraction


@pytest.mark.parametrize(("m", "k"), [(4, 1), (4, 2), (5, 2), (5, 3), (6, 4)])
def test_the_risk_of_guessing_is_that_of_the_channel(m, k):
    gamma, lam = F(2, 7), F(5, 2)
    problem = smoothed_point_masses(m, gamma)
    channel = mechanism("subset-selection").at(k=m, s=k, lam=lam).channel()
    # The subset of an output: the inputs that send it with the larger probability.
    subsets = [[x for x in range(m) if column[x] > min(column)] for column in channel.columns()]
    rule = [[F(int(a in subset), len(subset)) for a in range(m)] for subset in subsets]
    counted = guessing_risk(m, k, sp.Rational(2, 7), sp.Rational(5, 2))
    assert problem.risk(channel, rule) == (F(int(counted.p), int(counted.q)),) * m


def test_the_slacks_of_guessing_are_the_costs_less_the_bound():
    m, gamma = 5, F(2, 7)
    problem = smoothed_point_masses(m, gamma)
    costs = problem.posterior_costs([F(1, m)] * m)
    lam, optimum = sp.Rational(5, 2), sp.Rational(3, 4)
    found = guessing_bound_slacks(m, sp.Rational(2, 7), lam, optimum)
    inside, outside = (costs[0][x] - F(3, 4) / m for x in (0, 1))
    assert found == tuple(
        sp.Rational(v.numerator, v.denominator) for v in (inside, outside, F(5, 2) * inside + (m - 1) * outside)
    )


def test_a_rule_has_a_row_for_every_output():
    problem = smoothed_point_masses(3, F(1, 2))
    channel = mechanism("krr").at(k=3, lam=2).channel()
    rule = [[F(1), F(0), F(0)]] * 3
    assert len(problem.risk(channel, rule)) == 3
    for wrong in (rule[:2], [*rule, rule[0]], [row[:2] for row in rule]):
        with pytest.raises(InputError, match="rule"):
            problem.risk(channel, wrong)


@pytest.mark.parametrize("column", [[F(1), F(3), F(2)], [F(1, 5), F(1), F(4)]])
def test_measures_in_balls_are_those_in_rationals(column):
    laws = [F(1, 2), F(1, 4), F(1, 4)], [F(1, 5), F(2, 5), F(2, 5)]
    for measure in (measures.chi_square_measure(*laws), measures.hockey_stick_measure(*laws, F(6, 5))):
        with working_precision(128):
            assert measure.ball([to_arb(v) for v in column]).contains(to_arb(measure.rational(column)))
            assert measure.ball([to_arb(v) for v in column]).rad() < 1e-30


def test_the_minimax_program_over_all_subsets_is_priced():
    many = smoothed_point_masses(17, F(1, 2))
    check_polytope(many, criterion=Criterion.BAYES)
    with pytest.raises(Unsupported, match="minimax program"):
        check_polytope(many, criterion=Criterion.MINIMAX)


@pytest.mark.parametrize(
    "text", ["parallel(x:krr(k=3),1/2:rr)", "parallel(:krr(k=3),1/2:rr)", "parallel(1/2:krr(k=3),=:rr)"]
)
def test_a_number_that_is_none_is_refused_where_it_stands(text):
    with pytest.raises(InputError, match="a number at character"):
        parse(text)
