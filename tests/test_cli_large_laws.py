"""The law of k-ary response at many inputs and an irrational ratio: closed formulas, in little time."""

import json
import time

import pytest

from symshuffle import cli
from symshuffle.cli import laws


def answer(capsys, *arguments):
    assert cli.main(["law", "krr", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def middle(text):
    return float(text.strip("[]").split(" ")[0])


@pytest.mark.parametrize("n", [[], ["--n", "7"]])
def test_formulas_and_enumeration_agree(capsys, monkeypatch, n):
    listed = answer(capsys, "-p", "k=9", "--eps0", "2", *n)
    monkeypatch.setattr(laws, "_MOST_TEMPLATES", 8)
    closed = answer(capsys, "-p", "k=9", "--eps0", "2", *n)
    for name in ("trace", "budget", "ratio_cap"):
        assert middle(closed[name]) == pytest.approx(middle(listed[name]), rel=1e-14)
    for name in ("iid_risk", "fixed_risk"):
        assert closed[name].keys() == listed[name].keys()
        assert closed[name]["composition"].count("0") == listed[name]["composition"].count("0")
        assert closed[name]["about"] == listed[name]["about"]
        assert float(closed[name]["lower"]) == pytest.approx(float(listed[name]["upper"]), rel=1e-14)
    levels = {level["coordinates"]: middle(level["value"]) for level in closed["law"][0]["levels"]}
    template = sorted(map(middle, listed["law"][0]["template"]))
    assert template == pytest.approx([levels[8]] * 8 + [levels[1]], rel=1e-14)


def test_many_inputs_are_answered_by_formulas(capsys):
    start = time.process_time()
    found = answer(capsys, "-p", "k=165", "--eps0", "14")
    assert time.process_time() - start < 10
    assert middle(found["ratio_cap"]) == pytest.approx(1202604.2841647767)
    assert cli.main(["law", "krr", "-p", "k=165", "--eps0", "14"]) == 0


def test_an_irrational_ratio_costs_at_most_three_times_a_rational_one(capsys):
    spent = {}
    for level in (["--lam", "1000"], ["--eps0", "3"]):
        answer(capsys, "-p", "k=20", *level)
        start = time.process_time()
        answer(capsys, "-p", "k=20", *level)
        spent[level[0]] = time.process_time() - start
    assert spent["--eps0"] <= 3 * spent["--lam"] + 0.1
