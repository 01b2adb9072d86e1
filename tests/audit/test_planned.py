"""The clients of surveys as programs, alone and behind a shuffler, against the plan that they run."""

import sys
from pathlib import Path

import pytest

from symshuffle.cli import main

CLIENT = Path(__file__).parents[2] / "examples" / "clients" / "planned.py"
SURE = ("--confidence", "0.999999999")
"""An honest client is accused in one of 10^9 runs of this test: it draws from the operating system's randomness."""


@pytest.mark.parametrize("mechanism", ["krr", "oue"])
def test_a_survey_is_what_its_plan_says(mechanism, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    target = ("--k", "3", "--n", "30", "--eps", "1", "--delta", "1e-2")
    assert main(["collect", "plan", *target, "--mechanism", mechanism, "--out", "plan.json"]) == 0
    asked = ("--program", f"{sys.executable} {CLIENT} plan.json", "--plan", "plan.json", *SURE)
    assert main(["audit", "local", *asked, "--runs", "600"]) == 0
    assert main(["audit", "shuffled", *asked, "--n", "4", "--runs", "600"]) == 0
    assert capsys.readouterr().out.count("verdict  not refuted; this is no proof") == 2


def test_a_survey_that_is_claimed_to_hide_more_is_caught(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for eps, name in (("4", "loose.json"), ("1/4", "strict.json")):
        target = ("--k", "3", "--n", "2", "--eps", eps, "--delta", "1e-2", "--mechanism", "krr", "--out", name)
        assert main(["collect", "plan", *target]) == 0
    asked = ("--program", f"{sys.executable} {CLIENT} loose.json", "--plan", "strict.json", *SURE)
    assert main(["audit", "local", *asked, "--runs", "1000"]) == 1
    assert main(["audit", "shuffled", *asked, "--n", "2", "--runs", "1000"]) == 1
    assert capsys.readouterr().out.count("privacy refuted") == 2
