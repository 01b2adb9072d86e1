"""Edits of searches, sums and expressions that `python -m tests.mutants` drew, each with what notices it now."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from scipy import stats

from symshuffle import Channel, InputError
from symshuffle.accountants import adversary, baselines, evaluate
from symshuffle.accountants.confirm import sums
from symshuffle.decompositions.expression import parse
from symshuffle.errors import Unsupported
from symshuffle.law import Law
from symshuffle.likelihood import worst
from symshuffle.likelihood.quotient import likelihood_quotient
from symshuffle.mechanisms.continuous import LARGEST_CELLS
from symshuffle.numbers import Exp

F = Fraction


@pytest.mark.parametrize(("gap", "base", "start"), [(1, -3, 4), (1, -6, 7), (7, -21, 4)])
def test_a_sum_of_exactly_0_is_not_positive(gap, base, start):
    """Nor is one that doubles do not tell from 0; one that is positive by as little counts."""
    context = mpmath.MPContext()
    context.prec = 200
    none = np.zeros((1, 0), dtype=np.int64)
    assert sums._starts(context, context.mpf(gap), context.mpf(base), [], none)[0] == start
    closer = context.mpf(base) * (1 - context.mpf(2) ** -80)
    assert sums._starts(context, context.mpf(gap), closer, [], none)[0] == start - 1


def test_a_number_of_coordinates_stands_behind_one_part():
    assert len(parse("joint(rr,3)").parts) == 3
    with pytest.raises(InputError):
        parse("joint(rr,krr(k=3),3)")


def test_the_quadratic_of_a_law_is_the_hinge_at_its_atoms():
    grid = [F(j, 4) for j in range(-4, 9)]
    law, quadratic = worst._best_law(grid, [float(abs(u) in (0, 1)) for u in grid], F(1, 2), F(1, 2))
    assert len(law) > 1
    assert sum(w for _, w in law) == 1
    assert all(quadratic.alpha + u * (quadratic.beta + u * quadratic.gamma) == max(u - F(1, 2), 0) for u, _ in law)


@pytest.mark.parametrize("n", [200, 1000])
def test_the_hoeffding_bound_is_a_mean_over_the_number_of_blankets(n):
    """Of Hoeffding's bound for a fixed number, and not more than a few percent above it for many users."""
    gamma, drift, low, high = 0.5, -0.02, -1.0, 1.0
    variable = SimpleNamespace(never_positive=False, gamma=F(gamma), drift=F(drift), smallest=F(low), largest=F(high))
    shrink = math.exp(-2 * drift**2 / (high - low) ** 2)
    counts = np.arange(1, n + 1)
    mean = stats.binom.pmf(counts, n, gamma) @ ((high - low) * np.sqrt(math.pi * counts / 8) * shrink**counts)
    bound = float(baselines.blanket_hoeffding(variable, n).upper)
    assert mean / (gamma * n) <= bound <= 1.02 * mean / (gamma * n)


def test_outputs_that_no_row_charges_are_left_out_and_certain_ones_are_not():
    certain = likelihood_quotient(Channel.from_rows([["1", "0"], ["1", "0"]]), 0, 1)
    assert (certain.blocks, certain.ratios) == (((0,),), (1,))
    certain.verify()


def test_without_any_engine_the_last_refusal_is_told(monkeypatch):
    class Refusing:
        def bracket(self, law, n):
            raise Unsupported("not this one")

    monkeypatch.setattr(evaluate, "_offers", lambda *_: iter([Refusing()]))
    law = Law.from_atoms([(F(1), F(1, 2)), (F(-1), F(1, 2))])
    with pytest.raises(Unsupported, match="not this one"):
        evaluate._answer(law, 10, evaluate.Request())


def test_bounds_at_irrational_budgets_are_as_precise_as_asked():
    found = baselines._comparable(Exp(F(1)), Exp(F(1, 10)), 200)
    assert all(ball.radius < ball.midpoint / 2**190 for ball in found)


def test_no_two_datasets_of_one_input_differ():
    with pytest.raises(InputError, match="at least 2 inputs"):
        adversary.worst_of_two_types(Channel.from_rows([["1/2", "1/2"]]), 3, F(6, 5))


@pytest.mark.parametrize(("part", "most"), [("joint(rr,{})", 64), ("laplace(cells={})", LARGEST_CELLS)])
def test_the_largest_number_in_an_expression_is_taken(part, most):
    parse(part.format(most))
    for number in (most + 1, 0):
        with pytest.raises(InputError, match=f"an integer from 1 to {most}"):
            parse(part.format(number))
