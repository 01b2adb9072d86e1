"""Searching for the worst datasets: planted ones are found, and none exceeds the bound."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from symshuffle import Channel, Rigour, delta, mechanism, shuffled_divergence
from symshuffle.accountants.adversary import gap, worst_background, worst_of_all, worst_of_two_types
from symshuffle.cli import main

X = Fraction(6, 5)

PLANTED = Channel.from_rows(
    [
        ["1/2", "1/4", "1/4"],
        ["1/4", "1/2", "1/4"],
        ["1/3", "1/3", "1/3"],
        ["1/4", "1/4", "1/2"],
    ]
)
"""Three nearly alike inputs, and input 3 in front of which the pair (0, 1) stands out most."""


def test_planted_background_is_found() -> None:
    found = worst_of_all(PLANTED, 3, X)
    assert "3, 3" in found.datasets
    assert found.searched == 12 * 10
    assert found.bracket.exact == shuffled_divergence(PLANTED, (0, 3, 3), (1, 3, 3), X)


def test_repeating_the_first_input_beats_the_third_close_to_the_local_budget() -> None:
    channel = mechanism("krr").channel(k=3, lam=3)
    close = Fraction(29, 10)
    found = worst_of_all(channel, 3, close).bracket.lower
    assert found == shuffled_divergence(channel, (0, 0, 0), (1, 0, 0), close)
    assert found > shuffled_divergence(channel, (0, 2, 2), (1, 2, 2), close)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_two_type_search_stays_below_the_worst_and_the_bound(n: int) -> None:
    all_datasets = worst_of_all(PLANTED, n, X).bracket.lower
    two_types = worst_of_two_types(PLANTED, n, X, rigour=Rigour.EXACT).bracket.lower
    bound = delta(PLANTED, n=n, exp_eps=X, rigour=Rigour.EXACT).bracket
    assert two_types <= all_datasets <= bound.upper
    assert 0 <= gap(worst_of_all(PLANTED, n, X), bound) < 1


def test_many_users_fall_back_to_two_types() -> None:
    found = worst_background(mechanism("rr").channel(lam=3), 500, Fraction(11, 10))
    assert "not all datasets" in found.space


def test_doubles_are_refused() -> None:
    with pytest.raises(ValueError, match="rational entries"):
        worst_of_all(Channel.from_rows([[0.5, 0.5], [0.25, 0.75]]), 2, X)


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["worst-background", "krr", "-p", "k=3", "--lam", "3", "--n", "3", "--exp-eps", "6/5", "--json"]
    assert main(arguments) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["exact"] == "142/625"
    assert answer["gap"] == "0"
    assert main(["worst-background", "laplace", "--lam", "3", "--n", "3", "--eps", "1"]) == 2
    assert "finitely many outputs" in capsys.readouterr().err
