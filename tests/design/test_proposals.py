"""What proposes columns and what rounds them: level sets, tight columns, repaired vectors, prices; symmetries too."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from symshuffle.design import DecisionProblem, smoothed_point_masses
from symshuffle.design.decision import programs, tradeoff
from symshuffle.design.decision.certificate import check_bound, worst_columns
from symshuffle.design.decision.invariant import InvariantProblem
from symshuffle.design.decision.symmetries import (
    _matched,
    check_symmetry,
    detect_symmetry,
    induced_action,
    parameter_permutation,
)
from symshuffle.errors import InputError, NotDecided, Unsupported
from symshuffle.geometry.groups import SymmetryGroup, symmetric_group, trivial_group

F = Fraction
LAM = F(3)


def test_subsets_in_the_order_of_their_masks():
    assert programs.indicator_matrix(2).tolist() == [[1, 0], [0, 1]]
    rows = programs.indicator_matrix(3).tolist()
    assert [int(sum(b * 2**x for x, b in enumerate(row))) for row in rows] == [1, 2, 3, 4, 5, 6]


def test_level_sets_of_rows():
    """Row 0 is 3, 2, 1: above 2 lies {0}, above 1 lies {0, 1}; a flat row has a first and a last proper subset."""
    rows = np.array([[0.3, 0.2, 0.1], [0.2, 0.2, 0.2], [0.1, 0.3, 0.1], [0.0, 0.0, 0.0], [1e-10, 0.0, 0.0]])
    assert programs._levels(rows, 3.0) == {(0b001, 0), (0b011, 0), (0b001, 1), (0b110, 1), (0b010, 2)}
    assert programs._levels(np.array([[0.1, 0.1 + 1e-12]]), 2.0) == {(0b01, 0), (0b10, 0)}


def test_columns_near_the_optimum():
    """At lam = 3 with bound 0: action 0 has gaps -1, 3, 0 (slack 3 * (-1) + 3), action 1 a slack far above 0."""
    costs = np.array([[-1.0, 3.0, 0.0], [1.0, 1.0, 1.0], [-2.0, 3.0, 2.0]])
    found = programs.tight_columns(costs, np.zeros(3), 3.0)
    assert found == {(0b001, 0), (0b101, 0), (0b001, 2)}
    # Three open entries: all off and all on are improper, each alone and each left out are there.
    flat = programs.tight_columns(np.zeros((1, 3)), np.zeros(3), 3.0)
    assert flat == {(subset, 0) for subset in range(1, 7)}
    assert programs.tight_columns(np.array([[-1.0, -1.0]]), np.zeros(2), 3.0) == set()


def test_near_columns_use_the_prior_and_the_loss():
    problem = DecisionProblem.of([[1, 0], ["1/2", "1/2"]], [[-2, 1], [1, 1]])
    # Costs at the prior (1/2, 1/2): action 0 has -1 + 1/4 and 1/4, action 1 has 3/4 and 1/4; at (0, 1) all are 1/2.
    assert programs.columns_near(problem, np.array([0.5, 0.5]), np.zeros(2), F(4)) == {(0b01, 0)}
    assert programs.columns_near(problem, np.array([0.5, 0.5]), np.array([0.75, 0.0]), F(4)) == {(0b01, 0)}
    assert programs.columns_near(problem, np.array([0.0, 1.0]), np.zeros(2), F(4)) == set()


@pytest.mark.parametrize("noise", [0.0, 1e-9, -1e-9])
def test_repaired_rows_are_a_channel(noise):
    rows = np.array([[0.6 + noise, 0.2, 0.2 - noise], [0.2, 0.6, 0.2], [0.2, 0.2 + noise, 0.6 + 2 * noise]])
    exact = programs.repaired_rows(rows, LAM)
    assert [sum(column) for column in zip(*exact, strict=True)] == [1, 1, 1]
    assert all(max(row) <= LAM * min(row) for row in exact)
    assert np.abs(np.array(exact, dtype=float) - rows).max() < 1e-7
    negative = programs.repaired_rows(np.array([[1.0, 1.0], [-1e-12, 0.0]]), LAM)
    assert min(min(row) for row in negative) >= 0
    assert [sum(column) for column in zip(*negative, strict=True)] == [1, 1]


def test_repaired_priors_are_distributions():
    assert programs.repaired_prior(np.array([0.5, 0.25, 0.25])) == (F(1, 2), F(1, 4), F(1, 4))
    assert programs.repaired_prior(np.array([0.5, -0.1, 1.0])) == (F(1, 3), 0, F(2, 3))
    assert programs.repaired_prior(None) == ()


def test_a_lowered_bound_holds_and_a_good_one_stays():
    costs = ((F(1, 4), F(1, 2)), (F(1), F(1)))
    good = (F(1, 4), F(1, 2))
    assert programs.lowered(costs, good, LAM) == good
    # At (1/2, 1/2) the slack is -3/4 (see the bound by hand): lowered by 3/8 each.
    low = programs.lowered(costs, (F(1, 2), F(1, 2)), LAM)
    assert low == (F(1, 8), F(1, 8))
    check_bound(costs, low, LAM)
    assert programs.repaired_bound(costs, np.array([0.5, 0.5]), LAM) == low


def test_priced_columns_are_the_worst_ones_that_fail():
    costs, bound = [[F(0), F(2), F(3)], [F(2), F(2), F(2)], [F(0), F(0), F(0)], [F(0), F(9), F(9)]], [F(1)] * 3
    # Slacks at lam = 3: 3 * (-1) + 1 + 2 = 0; 3; -9 with all inputs (the first is left out); -3 + 16.
    assert [slack for slack, _ in worst_columns(costs, bound, LAM)] == [0, 3, -9, 13]
    assert list(tradeoff._priced_columns(costs, bound, LAM)) == [(0b110, 2)]
    assert list(tradeoff._priced_columns([[F(0), F(2), F(2)]], bound, LAM)) == [(0b001, 0)]
    assert list(tradeoff._priced_columns([[F(0), F(2), F(2) + F(1)]], bound, LAM)) == []


def test_starting_columns_are_singletons_with_their_best_action():
    problem = DecisionProblem.of([[1, 0, 0], [0, "1/2", "1/2"]], [[0, 1], [1, 0]], ["1/2", "1/2"])
    assert tradeoff._starting_columns(problem) == {(1, 0), (2, 1), (4, 1)}
    uniform = DecisionProblem.of([[1, 0, 0], [0, "1/2", "1/2"]], [[0, 1], [1, 0]])
    assert tradeoff._starting_columns(uniform) == {(1, 0), (2, 1), (4, 1)}
    skew = uniform.with_prior((F(0), F(1)))
    assert tradeoff._starting_columns(skew) == {(1, 0), (2, 1), (4, 1)}  # input 0 never occurs: both cost 0


@pytest.mark.parametrize("rows", [((F(1, 2), F(1, 6), F(1, 3)), (F(1, 2), F(5, 6), F(2, 3)))])
def test_rows_fall_apart_into_their_columns(rows):
    weights = tradeoff._columns_of(rows, LAM)
    for a, x in itertools.product(range(2), range(3)):
        assert sum(w * (LAM if y >> x & 1 else 1) for y, b, w in weights if a == b) == rows[a][x]
    assert list(weights) == sorted(weights)


@pytest.mark.parametrize("criterion", ["bayes", "minimax"])
def test_generated_columns_reach_the_optimum_in_doubles(criterion):
    problem = DecisionProblem.of(
        [["1/2", "1/3", "1/6"], ["1/5", "1/5", "3/5"]], [[0, 2, "1/2"], [3, -1, "1/4"]], ["1/4", "3/4"]
    )
    reduced = InvariantProblem.of(problem, trivial_group(3), criterion=criterion)
    found = programs.generate(reduced, LAM)
    exact = getattr(tradeoff, f"{criterion}_tradeoff")(problem, LAM, method="polytope").value.exact
    assert found.value == pytest.approx(float(exact), abs=1e-9)
    assert found.bound.sum() == pytest.approx(found.value, abs=1e-8)
    assert found.rows is None
    assert (found.prior is None) == (criterion == "bayes")
    if found.prior is not None:
        assert found.prior.sum() == pytest.approx(1, abs=1e-8)
    symmetric = InvariantProblem.of(smoothed_point_masses(4, 1), symmetric_group(4), criterion="bayes")
    # Guessing one of 4 at lam = 3: 1 - 3/6.
    assert programs.generate(symmetric, LAM).value == pytest.approx(0.5, abs=1e-9)


PAIRED = DecisionProblem.of(
    [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/8", "1/8", "3/4"]],
    [[0, 1, 1], [1, 0, 1], [2, 2, 0]],
    ["1/4", "1/4", "1/2"],
)
SWAP, CYCLE = SymmetryGroup(3, ((1, 0, 2),)), SymmetryGroup(3, ((1, 2, 0),))


def test_rows_are_matched_with_their_images():
    known = np.array([[1, 2], [2, 1], [1, 2], [3, 3]])
    assert _matched(known, known) == (0, 1, 0, 3)  # equal rows have the first of them as image
    assert _matched(known, known[[3, 2, 0, 1]]) == (3, 0, 0, 1)
    assert _matched(known, np.array([[1, 2], [1, 2], [1, 2], [3, 3]])) == 2
    assert _matched(known, np.array([[4, 4], [1, 2], [2, 1], [1, 2]])) == 0


def test_how_a_group_acts():
    bayes = induced_action(PAIRED, SWAP)
    assert (bayes.parameters, bayes.actions) == ((), ((1, 0, 2),))
    worst = induced_action(PAIRED, SWAP, criterion="minimax")
    assert (worst.parameters, worst.actions) == (((1, 0, 2),), ((1, 0, 2),))
    assert worst.parameter_orbits(3) == worst.action_orbits(3) == ((0, 1), (2,))
    none = induced_action(PAIRED, trivial_group(3))
    assert (none.parameters, none.actions) == ((), ())
    assert parameter_permutation(PAIRED, (1, 0, 2), "swap") == (1, 0, 2)


@pytest.mark.parametrize("criterion", ["bayes", "minimax"])
def test_groups_that_do_not_act(criterion):
    check_symmetry(PAIRED, SWAP, criterion=criterion)
    with pytest.raises(InputError, match=r"generators\[0\] = \[1, 2, 0\]"):
        check_symmetry(PAIRED, CYCLE, criterion=criterion)
    with pytest.raises(InputError, match=r"generators\[1\]"):
        check_symmetry(PAIRED, SymmetryGroup(3, ((1, 0, 2), (0, 2, 1))), criterion=criterion)
    with pytest.raises(InputError, match="group = acts on 4 inputs"):
        check_symmetry(PAIRED, symmetric_group(4), criterion=criterion)
    odd = DecisionProblem(PAIRED.model, ((F(0), F(1), F(1)), (F(1), F(0), F(2)), PAIRED.loss[2]), PAIRED.prior)
    with pytest.raises(InputError, match="symmetry"):
        check_symmetry(odd, SWAP, criterion=criterion)


def test_an_entry_that_does_not_occur_is_named():
    """Costs of action a are the model of parameter a over 2 with a cycle: row 0 moves to (z, x, y)."""
    problem = DecisionProblem.of([["1/2", "1/3", "1/6"], ["1/6", "1/3", "1/2"]], [[1, 0], [0, 1]], ["1/2", "1/2"])
    with pytest.raises(InputError, match=r"costs of action 0 .*\(entry 1 would be 1/4\)"):
        check_symmetry(problem, CYCLE)


@pytest.mark.parametrize("criterion", ["bayes", "minimax"])
def test_detected_groups_are_the_full_ones(criterion):
    """Of all 6 permutations of three inputs those that map the problem onto itself."""
    full = [p for p in itertools.permutations(range(3)) if not isinstance(_accepted(PAIRED, p, criterion), InputError)]
    assert detect_symmetry(PAIRED, criterion=criterion).order() == len(full) == 2
    everything = smoothed_point_masses(4, F(1, 2))
    assert detect_symmetry(everything, criterion=criterion).order() == 24


def _accepted(problem, permutation, criterion):
    try:
        check_symmetry(problem, SymmetryGroup(3, (permutation,)), criterion=criterion)
    except InputError as error:
        return error
    return None


def test_parameters_with_one_model_are_ambiguous():
    twice = DecisionProblem.of([["1/2", "1/2"], ["1/2", "1/2"]], [[0, 1], [1, 0]], ["1/2", "1/2"])
    assert not detect_symmetry(twice, criterion="minimax").generators
    with pytest.raises(Unsupported, match="same model"):
        check_symmetry(twice, symmetric_group(2), criterion="minimax")
    assert detect_symmetry(twice).order() == 2


def test_a_program_without_vectors_cannot_be_rounded():
    empty = programs.Proposal(frozenset(), 0.0, None, None)
    with pytest.raises(NotDecided, match="no vectors"):
        tradeoff._weak_duality(PAIRED, LAM, tradeoff.Criterion.BAYES, empty, tradeoff.Method.COMPACT)
    alone = DecisionProblem.of([["1/2", "1/3", "1/6"]], [[0, 1]])
    assert (alone.num_inputs, alone.num_actions, alone.num_parameters) == (3, 2, 1)
    assert programs.describe_subset(0b101) == "{0,2}"
