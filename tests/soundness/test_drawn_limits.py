"""Limits of work are where they are said to be, and no more work is done than need be: mutants drawn in their lines."""

import math
import re
from fractions import Fraction as F

import numpy as np
import pytest

import symshuffle as ss
from symshuffle.accountants import bounds, inverses
from symshuffle.accountants.evaluate import Request, evaluate_law, evaluate_mixed
from symshuffle.accountants.reduction import reduction
from symshuffle.decompositions.composition import parallel
from symshuffle.decompositions.composition.laws import components
from symshuffle.decompositions.composition.ways import patterns
from symshuffle.design import DecisionProblem, bayes_tradeoff
from symshuffle.design.decision import programs
from symshuffle.engines import counts
from symshuffle.engines.ball import BallContour
from symshuffle.engines.counts import Counts
from symshuffle.engines.exact import _Lattice
from symshuffle.errors import Unsupported
from symshuffle.frontiers import convex_order
from symshuffle.law import Law
from symshuffle.likelihood import poisson
from symshuffle.mechanisms.continuous import Laplace
from symshuffle.results import Bracket, Rigour

COIN = Law.from_atoms([(F(1), F(1, 2)), (F(-1), F(1, 2))])


def test_averages_are_written_out_up_to_the_limit_and_not_beyond(monkeypatch):
    for limit, refused in ((11, False), (10, True)):
        monkeypatch.setattr(convex_order, "LARGEST_AVERAGE", limit)
        if refused:
            with pytest.raises(Unsupported, match="up to 11 atoms"):
                convex_order.average_law(COIN, 10)
        else:
            assert len(convex_order.average_law(COIN, 10).values) == 11


def test_counts_take_as_many_users_as_they_say(monkeypatch):
    monkeypatch.setattr(counts, "_MOST_USERS", 100)
    assert Counts().refusal(COIN, 100) is None
    assert "more than 100 users" in str(Counts().refusal(COIN, 101))


def test_poisson_counts_are_summed_up_to_the_limit_and_not_beyond(monkeypatch):
    law = poisson.CompoundPoisson((F(1),), (F(1, 2),))
    terms = poisson._last_count(F(1, 2), 64) + 1
    for limit, refused in ((terms, False), (terms - 1, True)):
        monkeypatch.setattr(poisson, "MOST_TERMS", limit)
        if refused:
            with pytest.raises(Unsupported, match=f"{terms} vectors"):
                law.hinge(F(1, 2), bits=64)
        else:
            assert law.hinge(F(1, 2), bits=64).lower > 0


def test_parts_of_which_one_is_run_add_their_components():
    """And do not multiply them, which would refuse what is small."""
    part = ss.mechanism("krr").at(k=3)
    tree = parallel((part, ss.mechanism("krr").at(k=3, lam=F(2))), (F(1, 2), F(1, 2)))
    way = next(iter(patterns(tree)))
    first, second = (components(p, q) for p, q in zip(tree.parts, way, strict=True))
    assert components(tree, way) == first + second != first * second
    noise = Laplace()
    assert components(noise, next(iter(patterns(noise)))) == 2


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("masses", [(F(1, 3), F(2, 3)), (F(1, 5), F(4, 5)), (F(2, 7), F(5, 7))])
def test_an_exact_power_takes_no_more_bits_than_its_price(masses, n):
    found = _Lattice.of(Law.from_atoms(zip((F(0), F(1)), masses, strict=True)))
    a, b = (int(mass * found.scale) for mass in masses)
    power = [math.comb(n, j) * a ** (n - j) * b**j for j in range(n + 1)]
    assert sum(coefficient.bit_length() for coefficient in power) <= found.size(n)


def test_laws_that_a_first_look_excludes_are_not_looked_at_again(monkeypatch):
    """Nor are those kept that only reach above the smallest of the lower ends."""
    ends = {F(1): (0, 1), F(2): (2, 3), F(3): (F(5, 2), 4)}
    looked = []

    def evaluate(law, n, request):
        looked.append((law.values[-1], request.rel))
        return Bracket(*map(F, ends[law.values[-1]]), Rigour.BALL, "told", "")

    monkeypatch.setattr(bounds, "evaluate", evaluate)
    laws = [Law.from_atoms([(-value, F(1, 2)), (value, F(1, 2))]) for value in ends]
    bounds._of_finite(laws, 5, Request.of(rel=1e-6))
    assert [value for value, rel in looked if rel == 1e-6] == [2, 3]


def test_users_are_searched_for_from_a_guide(monkeypatch):
    """From one user upward it takes twice as many values."""
    asked = []
    honest = inverses.bound_of

    def counted(*arguments, **options):
        asked.append(arguments[1])
        return honest(*arguments, **options)

    monkeypatch.setattr(inverses, "bound_of", counted)
    found = ss.solve_n(ss.mechanism("krr").at(k=10, eps0=1), eps="0.0802", delta="1e-6")
    assert found.bracket.upper == 1000
    assert len(asked) <= 8
    assert min(asked) > 100


def test_all_doors_aim_at_the_same_width():
    """A relative width of 1e-6 where none is asked for, 1e-10 of the contour in balls."""
    assert Request().rel == Request.of().rel == 1e-6
    assert evaluate_law.__kwdefaults__["rel"] == evaluate_mixed.__kwdefaults__["rel"] == 1e-6
    assert BallContour().rel == 1e-10


ORDERED = DecisionProblem.of(
    [[int(x == t) for x in range(3)] for t in range(3)],
    [[(t - a) ** 2 for a in range(3)] for t in range(3)],
    [F(1, 2), F(1, 3), F(1, 6)],
)


def test_the_columns_of_an_optimum_are_among_those_next_to_its_bound():
    """A proposal that misses them is priced anew, which is slow and still right."""
    design = bayes_tradeoff(ORDERED, F(3))
    prior, bound = (np.array([float(x) for x in values]) for values in (ORDERED.prior, design.certificates[0].bound))
    used = {(subset, action) for subset, action, weight in design.weights if weight}
    assert used <= programs.columns_near(ORDERED, prior, bound, F(3))


def test_a_row_that_is_flat_is_a_mixture_of_two_proper_subsets():
    found = programs._levels(np.array([[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]]), 3.0)
    assert found == {(1, 0), (6, 0), (1, 1), (6, 1)}


def test_the_contour_in_balls_evaluates_no_more_nodes_than_it_may():
    (law,) = reduction(ss.mechanism("krr").at(k=5, lam=3)).laws(F(6, 5), ss.Question.FORWARD, None)
    how = BallContour(rel=1e-3).bracket(law, 30).how
    nodes, silent = map(int, re.findall(r"(\d+) (?:nodes evaluated|stretches)", how))
    assert nodes > 40
    with pytest.raises(Unsupported, match="waves for this width"):
        BallContour(rel=1e-3, largest=(nodes + silent) // 2).bracket(law, 30)
