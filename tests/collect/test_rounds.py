"""Plans of several rounds: certified together, again on reading, and said with every estimate."""

from dataclasses import replace
from fractions import Fraction as F
from pathlib import Path

import pytest

from symshuffle import InputError, delta, randomizer
from symshuffle.collect import plan_survey, read_plan
from tests.shell import answer, refused
from tests.words import words

ASKED = {"n": 2000, "eps": 1, "delta": "1e-6"}


def spent(plan, root):
    return delta(randomizer("krr").at(k=plan.k, lam=root), n=plan.n, periods=plan.rounds, eps=plan.eps).bracket


@pytest.fixture(scope="module")
def plan():
    return plan_survey(4, mechanism="krr", periods=6, **ASKED)


def test_all_rounds_together_meet_the_guarantee(plan):
    assert spent(plan, plan.root).upper <= F(1, 10**6)
    assert spent(plan, plan.root * F(102, 100)).lower > F(1, 10**6)
    with pytest.raises(InputError, match="certified"):
        replace(plan, deployment=plan.deployment.with_(periods=7)).guarantee()


def test_rounds_are_kept_in_the_file_and_said_of_an_estimate(plan):
    again = read_plan(plan.to_json())
    assert again == plan
    assert again.rounds == 6
    held = again.guarantee(2000)
    assert held.to_dict()["rounds"] == 6
    assert "6 rounds together" in held.sentence
    assert "a round beyond the 6" in held.sentence
    once = plan_survey(4, mechanism="krr", **ASKED)
    assert once.root > plan.root
    assert "periods" not in once.to_dict() and plan.to_dict()["periods"] == 6


@pytest.mark.parametrize("value", [0, True, 10**7, 1.5])
def test_wrong_numbers_of_rounds_are_refused_by_name(value):
    with pytest.raises(InputError, match="periods"):
        plan_survey(4, mechanism="krr", periods=value, **ASKED)


def test_fewer_messages_and_a_mechanism_with_integers():
    plan = plan_survey(6, mechanism="olh", periods=3, min_batch_size=1500, **ASKED)
    assert delta(plan.scheme.source(), n=1500, periods=3, eps=1).bracket.upper <= F(1, 10**6)
    for messages, users in ((1500, None), (1600, 2500)):
        assert plan.guarantee(messages, users).bound.bracket.upper <= F(1, 10**6)


def test_with_dropout_no_round_may_have_more_users_than_planned(plan):
    dropped = replace(plan, deployment=plan.deployment.with_(dropout="1/10"))
    with pytest.raises(InputError, match="users = 2100"):
        dropped.guarantee(2000, 2100)


def test_the_command_line(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = words("collect plan --k 4 --n 2000 --eps 1 --delta 1e-6 --mechanism krr --periods 6")
    found = answer(capsys, *line, "--out", "plan.json")
    assert found["periods"] == read_plan(Path("plan.json").read_text()).rounds == 6
    assert "--proof" in refused(capsys, *line, "--out", "other.json", "--proof", "proof.json")
    assert not Path("other.json").exists()
