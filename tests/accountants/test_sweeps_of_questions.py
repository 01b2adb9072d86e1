"""Questions on a grid: every row is the answer of the question alone."""

import pytest

from symshuffle import InputError, delta, epsilon, randomizer, sweep

KRR = randomizer("krr", k=4, eps0=1)
LINE = [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]]


def test_rows_are_the_answers_of_the_question():
    table = sweep("epsilon", KRR, n=[100, 1000], delta="1e-3", periods=[1, 2], rtol=1e-2)
    assert [(row["n"], row["periods"]) for row in table.rows] == [(100, 1), (100, 2), (1000, 1), (1000, 2)]
    for row in table.rows:
        alone = epsilon(KRR, n=row["n"], delta="1e-3", periods=row["periods"], rtol=1e-2)
        assert row["upper"] == pytest.approx(float(alone), rel=1e-15) and row["arithmetic"] == alone.bracket.arithmetic
    assert sweep("epsilon", KRR, n=range(5, 7), delta="1/10").columns[:3] == ["point", "n", "delta"]


def test_a_table_by_distance_has_the_bound_of_the_pairs_at_each():
    table = sweep("delta", LINE, n=6, exp_eps="6/5", arithmetic="exact", distances=[[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert [row["distance"] for row in table.rows] == [1, 2]
    for row, pairs in zip(table.rows, ([(0, 1), (1, 2)], [(0, 2)]), strict=True):
        assert row["upper"] >= delta(LINE, n=6, exp_eps="6/5", arithmetic="exact", pairs=pairs).bracket.exact


def test_a_null_symbol_is_one_value_and_a_refusal_is_a_reason():
    table = sweep("delta", LINE, n=[5], eps=[1], adjacency="zero-out", null=["1/3", "1/3", "1/3"], dropout=["2", 0])
    assert "dropout" in table.rows[0]["reason"] and table.rows[1]["reason"] is None and table.failed == 1


def test_any_question_and_any_function(tmp_path):
    table = sweep("gaussian_limit", KRR, n=[100, 400])
    assert table.rows[0]["mu"] == pytest.approx(2 * table.rows[1]["mu"])
    assert [row["value"] for row in sweep(pow, base=[2, 3], exp=2).rows] == [4, 9]
    table.to_csv(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text().startswith("point,n,")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"question": "eps", "n": 3}, "question"),
        ({"question": pow, "subject": KRR, "n": 3}, "subject"),
        ({"question": "delta", "subject": LINE, "n": 3, "eps": 1, "distances": [[0, 1], [2, 0]]}, "distances[0][1]"),
        ({"question": "delta", "subject": LINE, "n": 3, "eps": 1, "distances": [[0, 1], [1]]}, "distances"),
        ({"question": "delta", "subject": LINE, "n": 3, "eps": 1, "distances": [[1]]}, "distances[0][0]"),
    ],
)
def test_wrong_arguments_are_refused_by_name(arguments, named):
    with pytest.raises(InputError) as refusal:
        sweep(**arguments)
    assert refusal.value.argument.startswith(named)


def test_an_argument_that_no_question_has_is_refused_before_any_point():
    with pytest.raises(InputError, match="expected only arguments of epsilon"):
        sweep("epsilon", KRR, n=10, eps0=[1, 2], delta="1e-3")
