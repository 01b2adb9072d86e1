"""The programs in doubles that propose columns reach the optimum that is proved over the rationals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from symshuffle.base.choices import Criterion
from symshuffle.design.decision import programs
from symshuffle.design.decision.invariant import InvariantProblem
from symshuffle.design.decision.problems import DecisionProblem, smoothed_point_masses
from symshuffle.design.decision.tradeoff import bayes_tradeoff, minimax_tradeoff
from symshuffle.geometry.groups import symmetric_group

LAM = Fraction(3)
PROBLEM = DecisionProblem.of(
    [["1/2", "1/3", "1/6"], ["1/5", "1/5", "3/5"]], [[0, 2, "1/2"], [3, -1, "1/4"]], ["1/4", "3/4"]
)


@pytest.mark.parametrize("propose", [programs.polytope, programs.compact])
@pytest.mark.parametrize("criterion", list(Criterion))
def test_proposals_hold_the_columns_of_the_optimum(propose, criterion):
    """Their value is the optimum; the program over their columns, with a singleton each, has it over the rationals."""
    from symshuffle.design.decision.exact_programs import restricted_program
    from symshuffle.geometry.linprog import solve

    exact = {Criterion.BAYES: bayes_tradeoff, Criterion.MINIMAX: minimax_tradeoff}[criterion](PROBLEM, LAM).value.exact
    found = propose(PROBLEM, LAM, criterion=criterion)
    assert found.value == pytest.approx(float(exact), abs=1e-8)
    program = restricted_program(PROBLEM, LAM, sorted(found.columns), criterion=criterion)
    assert solve(program).value.exact == exact
    if propose is programs.compact:
        assert found.bound.sum() == pytest.approx(float(exact), abs=1e-7)
        assert found.rows.sum(axis=0) == pytest.approx(np.ones(3), abs=1e-9)


def test_generated_multipliers_are_shared_by_an_orbit():
    """Guessing one of 3 at lam = 3 risks 2/5: 2/15 an input, the three singletons as one orbit."""
    reduced = InvariantProblem.of(smoothed_point_masses(3, 1), symmetric_group(3), criterion=Criterion.BAYES)
    found = programs.generate(reduced, LAM)
    assert found.value == pytest.approx(0.4, abs=1e-9)
    assert found.bound == pytest.approx([2 / 15] * 3, abs=1e-9)
    assert all(subset.bit_count() == 1 and place == 0 for subset, place in found.columns)
