"""The best randomizer for a problem: arguments that do not belong to its kind are refused by name."""

import pytest

from symshuffle import InputError, Problem, Unsupported, optimal, worst_datasets
from symshuffle.accountants.questions.sweeps import pairs_by_distance, sweep
from symshuffle.design.decision.tradeoff import smallest_risk


def test_a_problem_has_the_risk_of_its_program():
    problem = Problem.guessing(3)
    assert optimal(problem, lam=2).value == smallest_risk(problem, 2).value
    assert optimal(problem, lam=2, criterion="minimax").value == smallest_risk(problem, 2, criterion="minimax").value


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, "n"),
        ({"n": 10, "eps": 1}, "delta"),
        ({"n": 10, "eps": 1, "delta": "1/10", "criterion": "minimax"}, "criterion"),
        ({"n": 10, "eps": 1, "delta": "1/10", "foo": 2}, "foo"),
        ({"eps0": 1}, "eps0"),
    ],
)
def test_arguments_of_a_central_target_are_named(given, named):
    with pytest.raises(InputError) as refusal:
        optimal(3, **given)
    assert refusal.value.argument == named


def test_a_problem_has_no_central_target():
    with pytest.raises(Unsupported, match="n: a central target"):
        optimal(Problem.guessing(3), eps0=1, n=4)


def test_pairs_and_distances_out_of_range_are_named():
    rows = [["3/4", "1/4"], ["1/4", "3/4"]]
    with pytest.raises(InputError, match=r"^pairs = "):
        worst_datasets(rows, n=3, eps=1, pairs=[(0, 5)])
    with pytest.raises(InputError, match=r"^distances = "):
        pairs_by_distance([[0, 0], [0, 0]])
    with pytest.raises(InputError, match=r"^distance = "):
        sweep("delta", rows, n=3, eps=1, distance=[1])


def test_a_table_is_written_into_a_folder_that_exists(tmp_path):
    with pytest.raises(InputError, match=r"^path = "):
        sweep("delta", [["3/4", "1/4"], ["1/4", "3/4"]], n=3, eps=1).to_csv(tmp_path / "no" / "a.csv")
    assert not list(tmp_path.iterdir())
