"""Searching for the worst datasets: planted ones are found, and none exceeds the bound."""

import itertools
import json
from fractions import Fraction
from pathlib import Path

import pytest

from symshuffle import Channel, InputError, Unsupported, delta, randomizer
from symshuffle.accountants.questions.adversary import (
    WEIGHTS,
    count_families,
    gap,
    worst_datasets,
    worst_of_all,
    worst_of_channel,
    worst_of_two_types,
)
from symshuffle.channels import shuffled_divergence
from symshuffle.channels.shuffled import histogram_law, law_divergence
from symshuffle.cli import main

X = Fraction(6, 5)

PLANTED = Channel.from_rows(
    [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/3", "1/3", "1/3"], ["1/4", "1/4", "1/2"]]
)
"""Three nearly alike inputs, and input 3 in front of which the pair (0, 1) stands out most."""


def test_planted_background_is_found() -> None:
    found = worst_of_all(PLANTED, 3, X)
    assert "3, 3" in found.datasets
    assert found.searched == 12 * 10
    assert found.bracket.exact == shuffled_divergence(PLANTED, (0, 3, 3), (1, 3, 3), X)


def test_repeating_the_first_input_beats_the_third_close_to_the_local_budget() -> None:
    channel = randomizer("krr").channel(k=3, lam=3)
    close = Fraction(29, 10)
    found = worst_of_all(channel, 3, close).bracket.lower
    assert found == shuffled_divergence(channel, (0, 0, 0), (1, 0, 0), close)
    assert found > shuffled_divergence(channel, (0, 2, 2), (1, 2, 2), close)


@pytest.mark.parametrize("fields", [{"pairs": "0-1"}, {"graph": "0-1"}])
@pytest.mark.parametrize("order", [1, -1])
def test_both_orders_of_the_pairs_compared_are_searched(fields: dict[str, str], order: int) -> None:
    leaning = Channel.from_rows([["99/100", "1/100"], ["1/2", "1/2"]][::order])
    for n in (1, 3, 40):
        one, every = (worst_datasets(leaning, n=n, exp_eps="3/2", **asked).bracket for asked in (fields, {}))
        assert one.lower == pytest.approx(every.lower, rel=1e-5)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_two_type_search_stays_below_the_worst_and_the_bound(n: int) -> None:
    all_datasets = worst_of_all(PLANTED, n, X).bracket.lower
    two_types = worst_of_two_types(PLANTED, n, X, arithmetic="exact").bracket.lower
    bound = delta(PLANTED, n=n, exp_eps=X, arithmetic="exact").bracket
    assert two_types <= all_datasets <= bound.upper
    assert 0 <= gap(worst_of_all(PLANTED, n, X), bound) < 1


def test_many_users_fall_back_to_two_types() -> None:
    found = worst_of_channel(randomizer("rr").channel(lam=3), 500, Fraction(11, 10))
    assert "not all datasets" in found.space


def test_doubles_are_refused() -> None:
    with pytest.raises(ValueError, match="rational entries"):
        worst_of_all(Channel(((0.5, 0.5), (0.25, 0.75))), 2, X)


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["worst-datasets", "krr", "-p", "k=3", "--lam", "3", "--n", "3", "--exp-eps", "6/5", "--json"]
    assert main(arguments) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["exact"] == "142/625"
    assert answer["adjacency"] == "replace-one"
    assert answer["gap"] == "0"


@pytest.mark.parametrize("n", [2, 3])
def test_alike_families_are_evaluated_once_and_none_is_lost(n: int) -> None:
    """Against the plain loop over all pairs, all two types and all weights."""
    inputs = range(PLANTED.num_inputs)
    values = []
    for first, second in itertools.permutations(inputs, 2):
        rows = [PLANTED.rows[x] for x in inputs]
        mixed = [
            tuple((1 - weight) * p + weight * q for p, q in zip(rows[u], rows[v], strict=True))
            for u, v in itertools.combinations(inputs, 2)
            for weight in WEIGHTS
        ]
        for others in (*rows, *mixed):
            laws = [histogram_law([rows[x], *[others] * (n - 1)]) for x in (first, second)]
            values.append(law_divergence(*laws, X))
    found = worst_of_two_types(PLANTED, n, X, arithmetic="exact")
    assert found.bracket.exact == max(values)
    assert found.searched == len(values)


def test_symmetric_channels_take_few_evaluations() -> None:
    calls: list[tuple[int, int]] = []
    channel = randomizer("krr").channel(k=12, lam=3)
    found = worst_of_two_types(channel, 40, X, progress=lambda done, total: calls.append((done, total)))
    assert found.searched == 12 * 11 * (12 + 66 * len(WEIGHTS))
    assert calls[-1][0] == calls[-1][1] <= 60


def test_explosive_searches_fall_back_to_constant_backgrounds(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Unsupported, match="1000 inputs and 1000 outputs has too many families"):
        count_families(1000, 1000, 5)
    for which in (["krr", "-p", "k=1000"], ["rappor"], ["laplace"]):
        assert (
            main(["worst-datasets", *which, "--lam", "3", "--n", "50", "--eps", "0.1", "--rtol", "0.01", "--json"]) == 0
        )
        answer = json.loads(capsys.readouterr().out)
        assert "constant backgrounds at" in answer["space"]
        assert 0 < float(answer["attained_lower"]) <= float(answer["upper"])


def test_a_channel_from_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "planted.csv"
    file.write_text("\n".join(",".join(map(str, row)) for row in PLANTED.rows))
    assert main(["worst-datasets", str(file), "--n", "3", "--exp-eps", "6/5", "--json"]) == 0
    exact = Fraction(json.loads(capsys.readouterr().out)["exact"])
    assert exact == worst_of_all(PLANTED, 3, X).bracket.exact


def test_fields_that_say_what_holds_anyway_are_no_reason_to_refuse(capsys):
    plain = worst_datasets(PLANTED, n=3, exp_eps=X)
    assert worst_datasets(PLANTED, n=3, exp_eps=X, dropout=0, adjacency="replace-one", group_size=1) == plain
    for wrong in ({"dropout": "1/10"}, {"adjacency": "zero-out"}, {"group_size": 2}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            worst_datasets(PLANTED, n=3, exp_eps=X, **wrong)
    pair = ["audit", "shuffled", "--program", "cat", "--x0", "0,1", "--x1", "1,1", "--eps", "1", "--runs", "200"]
    assert main([*pair, "--group-size", "1"]) != 2
    assert main([*pair, "--group-size", "2"]) == 2
    assert "--group-size = 2: expected nothing" in capsys.readouterr().err


def test_a_search_over_some_pairs_counts_those():
    every = worst_of_two_types(PLANTED, 10, X)
    one = worst_of_two_types(PLANTED, 10, X, pairs=[(0, 1)])
    assert one.searched * 12 == every.searched and "between the inputs compared" in one.space
    assert "between the inputs compared" not in every.space
