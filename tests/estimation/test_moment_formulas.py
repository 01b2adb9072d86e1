"""Signal, budget and the worst class of pairs, by hand on mechanisms made for each case."""

from dataclasses import replace
from fractions import Fraction as F

import pytest
import sympy as sp

from symshuffle import InputError, Unsupported, mechanism
from symshuffle.estimation.moments import (
    largest_pairwise_budget,
    levels_budget,
    levels_signal,
    template_classes,
    trace,
)
from symshuffle.estimation.symbolic_law import SymbolicLaw
from symshuffle.mechanisms.finite import K, half_block, krr
from symshuffle.mechanisms.symbolic import LAM

DISTANCE = half_block().pair.by


def told_apart(differ, **limits):
    """Half-block with another number of outputs that differ in each direction, as a function of d in 1..k/2."""
    whole = half_block()
    (points,) = whole.classes
    pairs = ((0, 0, K / 2 - differ), (0, 1, differ), (1, 0, differ), (1, 1, K / 2 - differ))
    points = replace(points, pair_counts=pairs, members=lambda *_: ())
    parameters = tuple(replace(p, **limits) if p.symbol == DISTANCE else p for p in whole.parameters)
    return replace(whole, classes=(points,), parameters=parameters)


def budget_of(differ):
    """Each of so many outputs in either direction adds (high - low)^2 times 1/low or 1/high."""
    high, low = 2 * LAM / (K * (LAM + 1)), 2 / (K * (LAM + 1))
    return differ * (high - low) ** 2 * (1 / low + 1 / high)


def test_the_worst_distance_is_an_end_of_its_range():
    """Where more outputs differ at larger distances it is k/2, otherwise 1."""
    assert sp.simplify(largest_pairwise_budget(told_apart(DISTANCE)) - budget_of(K / 2)) == 0
    assert sp.simplify(largest_pairwise_budget(told_apart(K / 2 - DISTANCE)) - budget_of(K / 2 - 1)) == 0


@pytest.mark.parametrize(
    ("differ", "limits"),
    [
        (2 * DISTANCE**2 / K, {}),  # not affine, though rising
        (DISTANCE * (K - 3) / K, {}),  # rising from k = 3 on only
        (DISTANCE, {"upper": None}),
    ],
)
def test_worst_distances_that_are_not_decided(differ, limits):
    with pytest.raises(Unsupported, match="not decided"):
        largest_pairwise_budget(told_apart(differ, **limits))


def test_budgets_without_classes_of_pairs():
    """k-ary response: 2 outputs differ, (lam - 1)^2/(lam + k - 1) (1 + 1/lam); the identity has no finite one."""
    expected = (LAM - 1) ** 2 * (1 + 1 / LAM) / (LAM + K - 1)
    assert sp.simplify(largest_pairwise_budget(krr()) - expected) == 0
    assert largest_pairwise_budget(mechanism("identity")) == sp.oo
    assert largest_pairwise_budget(mechanism("constant")) == 0


def test_levels_by_hand():
    """Template (2, 1/2, 1/2): 1 + 1/4 + 1/4; squares 9/2 times reciprocals 9/2 less 9, over 6."""
    levels = ((sp.Integer(1), sp.Integer(2)), (sp.Integer(2), sp.Rational(1, 2)))
    assert levels_signal(levels) == sp.Rational(3, 2)
    assert levels_budget(levels, sp.Integer(3)) == (sp.Rational(81, 4) - 9) / 6
    zero = ((sp.Integer(1), sp.Integer(0)), (sp.Integer(1), sp.Integer(2)))
    assert levels_budget(zero, sp.Integer(2)) == sp.oo


def test_template_classes_of_a_response_with_values():
    """lam = 4, k = 3: hit 2/3 and miss 1/6 over their average 1/3."""
    (found,) = template_classes(krr().at(k=3, lam=4))
    assert found.mass == 1
    assert found.levels == ((1, 2), (2, sp.Rational(1, 2)))
    assert trace(krr().at(k=3, lam=4)) == sp.Rational(3, 2)


RR = SymbolicLaw(mechanism("krr").at(k=3, lam=4))


def test_symbolic_votes_and_risks_by_hand():
    """Trace 3/2 at k = 3: votes of size 4/(3/2) = 8/3; less 2/3 for a fixed composition."""
    assert RR.vote_sizes() == (sp.Rational(8, 3),) * 3
    assert RR.risk_constant("iid") == sp.Rational(8, 3)
    assert RR.risk_constant("fixed") == 2
    third = ["1/3"] * 3
    assert RR.canonical_risk(third, n=6, population="fixed") == sp.Rational(1, 3)
    assert RR.canonical_risk(third, n=6, population="iid") == sp.Rational(8, 18)
    assert RR.canonical_risk([1, 0, 0], n=2, population="iid") == (sp.Rational(8, 3) - sp.Rational(2, 3)) / 2
    with pytest.raises(InputError, match=r"^composition"):
        RR.canonical_risk(third, n=4, population="fixed")
    for n in (0, sp.Rational(1, 2)):
        with pytest.raises(InputError, match=r"^n = "):
            RR.canonical_risk(third, n=n, population="iid")
    with pytest.raises(InputError, match="sum 1"):
        RR.canonical_risk(["1/2", "1/2", "1/3"], n=6, population="iid")
    with pytest.raises(InputError, match="sum 1"):
        RR.canonical_risk(["-1", "1", "1"], n=6, population="iid")


def test_rows_that_say_nothing_have_no_risk():
    """One template of signal 0 for all inputs alike."""
    nothing = SymbolicLaw(mechanism("constant").at(k=3))
    with pytest.raises(InputError, match="span all contrasts"):
        nothing.vote_sizes()
    with pytest.raises(InputError, match="span all contrasts"):
        nothing.risk_constant("iid")
    assert nothing.trace() == 0 and nothing.pairwise_budget() == 0 and nothing.ratio_cap() == 1


def test_symbolic_facts_of_one_pair():
    """Rows (2/3, 1/6, 1/6): (1/2)^2 (6 + 3/2); information at the uniform composition is the covariance."""
    assert RR.pairwise_divergence(0, 1) == RR.pairwise_budget() == sp.Rational(15, 8)
    assert RR.ratio_cap() == 4
    information = RR.fisher_information(["1/3"] * 3)
    assert information == RR.covariance()
    assert sum(information[i][i] for i in range(3)) == RR.trace() == sp.Rational(3, 2)
    ratios, mass = RR.fiber(["1/2", "1/4", "1/4"])[0]
    assert mass == sp.Rational(2, 3) / 2 + sp.Rational(1, 12)
    assert ratios == tuple(sp.Rational(x) / mass for x in (F(2, 3), F(1, 6), F(1, 6)))
    for i, j in ((0, 3), (-1, 0)):
        with pytest.raises(InputError):
            RR.pairwise_divergence(i, j)
