"""Several rounds on the command line: --rounds and --rounds-file."""

import json

import pytest

from symshuffle.cli import main

PLAN = """
[[rounds]]
mechanism = "krr"
params = {{ k = 4 }}
eps0 = 1
n = 10_000
times = 2
{reports}

[[rounds]]
mechanism = "krr"
params = {{ k = 3 }}
lam = "3/2"
n = 20_000
reports = "fresh"
"""


def run(capsys, *arguments):
    status = main(arguments)
    out, err = capsys.readouterr()
    return status, out, err


def plan(folder, text=None, name="plan.toml", reports='reports = "fresh"'):
    file = folder / name
    file.write_text(PLAN.format(reports=reports) if text is None else text)
    return str(file)


def test_rounds_of_one_mechanism(capsys):
    command = ("epsilon", "krr", "-p", "k=4", "--eps0", "1", "--n", "10000", "--delta", "1e-6", "--rel", "2e-2")
    status, out, _ = run(capsys, *command, "--rounds", "5", "--json")
    answer = json.loads(out)
    assert status == 0
    assert answer["rounds"] == 5
    assert answer["inputs"]["rounds"] == 5
    assert answer["relative_width"] <= 2e-2
    assert float(answer["attained_lower"]) <= float(answer["upper"]) < float(answer["simpler"]["basic"])
    status, text, _ = run(capsys, *command, "--rounds", "5", "--explain")
    assert status == 0
    assert "basic composition" in text
    assert "not covered" in " ".join(text.split())


def test_one_round_is_the_answer_without_rounds(capsys):
    command = ("delta", "krr", "-p", "k=4", "--lam", "2", "--n", "50", "--eps", "0.1", "--json")
    _, plain, _ = run(capsys, *command)
    _, one, _ = run(capsys, *command, "--rounds", "1")
    once = json.loads(one)
    assert once["inputs"].pop("rounds") == 1
    assert once == json.loads(plain)


def test_a_file_of_rounds_in_both_formats(capsys, tmp_path):
    command = ("epsilon", "--delta", "1e-6", "--rel", "2e-2", "--json", "--rounds-file")
    status, out, err = run(capsys, *command, plan(tmp_path))
    told = json.loads(out)
    assert (status, err.replace("working ...\n", "")) == (0, "")
    assert told["parts"] == [{"rounds": 2, "n": 10000}, {"rounds": 1, "n": 20000}]
    rows = [
        {"mechanism": "krr", "params": {"k": 4}, "eps0": 1, "n": 10000, "times": 2, "reports": "fresh"},
        {"mechanism": "krr", "params": {"k": 3}, "lam": "3/2", "n": 20000, "reports": "fresh"},
    ]
    _, again, _ = run(capsys, *command, plan(tmp_path, json.dumps({"rounds": rows}), "plan.json"))
    assert json.loads(again)["upper"] == told["upper"]


def test_a_missing_key_prints_what_is_assumed(capsys, tmp_path):
    file = plan(tmp_path, reports="")
    status, _, err = run(capsys, "delta", "--eps", "0.1", "--rel", "0.1", "--rounds-file", file)
    assert status == 0
    assert 'rounds[0]: no key `reports`; assumed "fresh"' in err


ROW = '[[rounds]]\nmechanism = "krr"\nparams = { k = 4 }\neps0 = 1\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ROW + 'n = 9\nreports = "reused"', "rounds[0].reports = reused: expected fresh"),
        (ROW + 'n = 9\nparticipation = "fixed-size"', "rounds[0].participation = fixed-size: expected all"),
        (ROW + 'n = 9\nmessages = "linkable"', "rounds[0].messages = linkable: expected unlinkable"),
        (ROW + "n = 9\ntimes = 0", "rounds = 0: expected an integer from 1"),
        (ROW, "rounds[0].n = None"),
        (ROW + "n = 9\nlam = 3", "rounds[0].lam = 3: expected none where eps0 is given"),
        (ROW + "n = 9\nweight = 3", "rounds[0] = weight: expected a key of a round"),
        ("n = 3", "a list `rounds` of tables"),
        ("rounds = [", "JSON (.json) or TOML"),
        ("[[rounds]]\nn = 3", "rounds[0].mechanism = None"),
    ],
)
def test_wrong_files_are_refused_in_one_line(capsys, tmp_path, text, message):
    file = plan(tmp_path, text)
    status, out, err = run(capsys, "epsilon", "--delta", "1e-6", "--rounds-file", file)
    assert (status, out) == (2, "")
    assert message in err.splitlines()[-1]


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (("krr",), "MECH = krr: expected none with --rounds-file"),
        (("--n", "5"), "--n = 5: expected none with --rounds-file"),
        (("--eps0", "1"), "--eps0 = 1: expected none with --rounds-file"),
        (("--rounds", "3"), "--rounds = 3: expected none with --rounds-file"),
        (("--rigour", "exact"), "rigour exact"),
        (("--direction", "reverse"), "direction = reverse: expected both"),
        (("--confirm",), "--confirm recomputes one round"),
    ],
)
def test_what_does_not_go_with_a_file_is_refused(capsys, tmp_path, extra, message):
    status, out, err = run(capsys, "epsilon", "--delta", "1e-6", "--rounds-file", plan(tmp_path), *extra)
    assert (status, out) == (2, "")
    assert message in err.splitlines()[-1]


@pytest.mark.parametrize("command", ["epsilon", "solve-eps0", "solve-n"])
def test_fewer_than_one_round_is_refused(capsys, command):
    given = {"epsilon": ("--n", "9", "--eps0", "1"), "solve-eps0": ("--n", "9", "--eps", "1")}
    asked = given.get(command, ("--eps", "1", "--eps0", "1"))
    status, out, err = run(capsys, command, "krr", "-p", "k=4", "--delta", "1e-3", *asked, "--rounds", "0")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "rounds = 0: expected an integer from 1" in err


def test_one_number_of_users_is_found_for_all_rounds(capsys, tmp_path):
    status, _, err = run(capsys, "solve-n", "--delta", "1e-3", "--eps", "1", "--rounds-file", plan(tmp_path))
    assert status == 2
    assert "rounds[0].n = 10000: expected none" in err.splitlines()[-1]


def test_a_budget_that_no_round_leaves_open_is_refused(capsys, tmp_path):
    status, _, err = run(capsys, "solve-eps0", "--delta", "1e-3", "--eps", "1", "--rounds-file", plan(tmp_path))
    assert status == 2
    assert "its budget is asked for" in err.splitlines()[-1]
