"""Several rounds on the command line: --rounds and --rounds-file."""

import json

import pytest

from tests.shell import answer, refused, run

PLAN = """
[[rounds]]
mechanism = "krr"
params = { k = 4 }
eps0 = 1
n = 10_000
times = 2
reports = "fresh"

[[rounds]]
mechanism = "krr"
params = { k = 3 }
lam = "3/2"
n = 20_000
reports = "fresh"
"""


ROW = '[[rounds]]\nmechanism = "krr"\nparams = { k = 4 }\neps0 = 1\n'


def plan(folder, text=None, name="plan.toml"):
    file = folder / name
    file.write_text(PLAN if text is None else text)
    return str(file)


def test_rounds_of_one_mechanism(capsys):
    command = ("epsilon", "krr", "-p", "k=4", "--eps0", "1", "--n", "10000", "--delta", "1e-6", "--rel", "2e-2")
    found = answer(capsys, *command, "--rounds", "5")
    assert found["rounds"] == 5
    assert found["inputs"]["rounds"] == 5
    assert found["relative_width"] <= 2e-2
    assert float(found["attained_lower"]) <= float(found["upper"]) < float(found["simpler"]["basic"])
    status, text, _ = run(capsys, *command, "--rounds", "5", "--explain")
    assert status == 0
    assert "basic composition" in text
    assert "not covered" in " ".join(text.split())


def test_one_round_is_the_answer_without_rounds(capsys):
    command = ("delta", "krr", "-p", "k=4", "--lam", "2", "--n", "50", "--eps", "0.1")
    once = answer(capsys, *command, "--rounds", "1")
    assert once["inputs"].pop("rounds") == 1
    assert once == answer(capsys, *command)


def test_a_file_of_rounds_in_both_formats(capsys, tmp_path):
    command = ("epsilon", "--delta", "1e-6", "--rel", "2e-2", "--rounds-file")
    told = answer(capsys, *command, plan(tmp_path))
    assert told["parts"] == [{"rounds": 2, "n": 10000}, {"rounds": 1, "n": 20000}]
    rows = [
        {"mechanism": "krr", "params": {"k": 4}, "eps0": 1, "n": 10000, "times": 2, "reports": "fresh"},
        {"mechanism": "krr", "params": {"k": 3}, "lam": "3/2", "n": 20000, "reports": "fresh"},
    ]
    again = answer(capsys, *command, plan(tmp_path, json.dumps({"rounds": rows}), "plan.json"))
    assert again["upper"] == told["upper"]


def test_a_missing_key_prints_what_is_assumed(capsys, tmp_path):
    file = plan(tmp_path, ROW + "n = 9")
    status, _, err = run(capsys, "delta", "--eps", "0.1", "--rel", "0.1", "--rounds-file", file)
    assert status == 0
    assert 'rounds[0]: no key `reports`; assumed "fresh"' in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ROW + 'n = 9\nreports = "reused"', "rounds[0].reports = reused: expected fresh"),
        (ROW + 'n = 9\nparticipation = "fixed-size"', "rounds[0].participation = fixed-size: expected all"),
        (ROW + 'n = 9\nmessages = "linkable"', "rounds[0].messages = linkable: expected unlinkable"),
        (ROW + "n = 9\ntimes = 0", "rounds[0].times = 0: expected an integer from 1"),
        (ROW, "rounds[0].n = None"),
        (ROW + "n = 9\nlam = 3", "rounds[0].lam = 3: expected none where eps0 is given"),
        (ROW + "n = 9\nweight = 3", "rounds[0].weight = 3: expected only keys of a round"),
        ("n = 3", "a list `rounds` of tables"),
        ("rounds = [", "TOML"),
        ("[[rounds]]\nn = 3", "rounds[0].mechanism = None"),
    ],
)
def test_wrong_files_are_refused_in_one_line(capsys, tmp_path, text, message):
    status, out, err = run(capsys, "epsilon", "--delta", "1e-6", "--rounds-file", plan(tmp_path, text))
    assert (status, out) == (2, "")
    assert message in err.splitlines()[-1]  # what is assumed of other keys may stand before it


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (("krr",), "MECH = krr: expected none with --rounds-file"),
        (("--n", "5"), "--n = 5: expected none with --rounds-file"),
        (("--eps0", "1"), "--eps0 = 1: expected none with --rounds-file"),
        (("--rounds", "3"), "--rounds = 3: expected none with --rounds-file"),
        (("--rigour", "exact"), "rigour exact"),
        (("--direction", "reverse"), "direction = reverse: expected both"),
    ],
)
def test_what_does_not_go_with_a_file_is_refused(capsys, tmp_path, extra, message):
    assert message in refused(capsys, "epsilon", "--delta", "1e-6", "--rounds-file", plan(tmp_path), *extra)


@pytest.mark.parametrize("command", ["epsilon", "solve-eps0", "solve-n"])
def test_fewer_than_one_round_is_refused(capsys, command):
    given = {"epsilon": ("--n", "9", "--eps0", "1"), "solve-eps0": ("--n", "9", "--eps", "1")}
    asked = given.get(command, ("--eps", "1", "--eps0", "1"))
    said = refused(capsys, command, "krr", "-p", "k=4", "--delta", "1e-3", *asked, "--rounds", "0")
    assert "--rounds = 0: expected an integer from 1" in said


@pytest.mark.parametrize(
    ("command", "message"),
    [("solve-n", "rounds[0].n = 10000: expected none"), ("solve-eps0", "its budget is asked for")],
)
def test_what_is_asked_for_is_left_open_by_all_rounds(capsys, tmp_path, command, message):
    assert message in refused(capsys, command, "--delta", "1e-3", "--eps", "1", "--rounds-file", plan(tmp_path))
