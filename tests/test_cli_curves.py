"""The contract of largest-eps0, smallest-n, curve, and of channels read from a file."""

import csv
import json
from fractions import Fraction

import pytest

from symshuffle.channels.channel_file import read_channel
from symshuffle.mechanisms.registry import mechanism
from tests.shell import answer, refused, run
from tests.words import words

INVERSE_KEYS = set(
    words(
        "lower upper log10_lower log10_upper safe delta_at_safe arithmetic engine evaluation direction adjacency "
        "neighbours meaning inputs"
    )
)
EPS0 = ["largest-eps0", "krr", "-p", "k=10", "--n", "1000", "--eps", "0.1", "--delta", "1e-6"]
USERS = ["smallest-n", "krr", "-p", "k=10", "--eps0", "1", "--eps", "0.1", "--delta", "1e-6"]
CURVE = ["krr", "-p", "k=10", "--eps0", "1", "--points", "3"]


def delta_upper(capsys, *arguments):
    return Fraction(answer(capsys, "delta", "krr", "-p", "k=10", *arguments)["upper"])


def test_the_largest_budget_is_safe(capsys):
    found = answer(capsys, *EPS0)
    assert found.keys() == INVERSE_KEYS
    assert found["safe"] == "lower"
    assert found["inputs"] == {"mechanism": "krr", "k": "10", "n": 1000, "eps": "1/10", "delta": "1/1000000"}
    level = ("--n", "1000", "--eps", "0.1")
    assert delta_upper(capsys, "--eps0", found["lower"], *level) <= Fraction(1, 10**6)
    assert delta_upper(capsys, "--eps0", found["upper"], *level) > Fraction(1, 10**6)
    assert "assumed" in found["meaning"]


def test_the_fewest_users_are_safe(capsys):
    found = answer(capsys, *USERS)
    assert found.keys() == INVERSE_KEYS
    assert (found["lower"], found["upper"], found["safe"]) == ("660", "661", "upper")
    level = ("--eps0", "1", "--eps", "0.1")
    assert delta_upper(capsys, "--n", "661", *level) <= Fraction(1, 10**6) < delta_upper(capsys, "--n", "660", *level)


@pytest.mark.parametrize("command", [EPS0, USERS, ["profile", *CURVE, "--n", "100", "--to", "0.2"]])
def test_text_output_says_what_it_bounds(capsys, command):
    status, out, err = run(capsys, *command)
    assert (status, err) == (0, "")
    assert "Theorems" in out


def test_curves_in_json_csv_and_pictures(capsys, tmp_path):
    cases = {
        "profile": (["--n", "100", "--to", "0.2"], "upper", ["eps", "delta"]),
        "amplification-curve": (["--delta", "1e-6", "--to", "1e5"], "upper", ["n", "eps"]),
        "tradeoff": (["--n", "100"], "lower", ["type_i", "type_ii"]),
    }
    for kind, (options, safe, axes) in cases.items():
        table, picture = tmp_path / f"{kind}.csv", tmp_path / f"{kind}.png"
        found = answer(capsys, kind, *CURVE, *options, "--csv", table, "--plot", picture)
        assert [found["x"], found["y"]] == axes
        assert found["safe"] == safe
        assert len(found["points"]) == 3
        rows = list(csv.DictReader(table.open()))
        assert rows == found["points"]
        assert all(Fraction(row["lower"]) <= Fraction(row["upper"]) for row in rows)
        assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_channel_from_a_file_is_the_mechanism_it_writes_down(capsys, tmp_path):
    matrix = mechanism("krr").at(k=3, lam=3).channel().rows
    as_csv, as_json = tmp_path / "w.csv", tmp_path / "w.json"
    as_csv.write_text("# 3-RR\n" + "\n".join(", ".join(map(str, row)) for row in matrix) + "\n")
    as_json.write_text(json.dumps({"rows": [[str(entry) for entry in row] for row in matrix]}))
    named = answer(
        capsys, "delta", "krr", "-p", "k=3", "--lam", "3", "--n", "5", "--exp-eps", "6/5", "--arithmetic", "exact"
    )
    for file in (as_csv, as_json):
        assert read_channel(file).rows == matrix
        found = answer(capsys, "delta", file, "--n", "5", "--exp-eps", "6/5", "--arithmetic", "exact")
        assert found["exact"] == named["exact"]
        assert found["inputs"]["file"] == str(file)
    decomposed = answer(capsys, "decompose", as_csv, "-p", "first=0", "-p", "second=2")
    assert decomposed["pair"] == "inputs 0 and 2"
    assert decomposed["gamma"] == "3/5"
    assert Fraction(
        answer(capsys, "epsilon", as_csv, "--n", "5", "--delta", "0.1", "--rtol", "1e-3")["upper"]
    ) < Fraction(11, 10)


def test_numbers_in_json_are_read_as_written(tmp_path):
    file = tmp_path / "w.json"
    file.write_text("[[0.1, 0.9], [0.3, 7e-1]]")
    assert read_channel(file).rows == ((Fraction(1, 10), Fraction(9, 10)), (Fraction(3, 10), Fraction(7, 10)))


def test_a_channel_that_is_not_ldp_says_so_and_counts_its_singular_mass(capsys, tmp_path):
    file = tmp_path / "w.csv"
    file.write_text("1,0,0\n1/3,1/3,1/3\n")
    found = answer(capsys, "delta", file, "--n", "4", "--exp-eps", "1", "--arithmetic", "exact")
    assert Fraction(found["exact"]) >= Fraction(2, 3)
    assert "not LDP" in found["meaning"] and "outputs 1, 2" in found["meaning"]


WRONG_FILES = [
    ("w.csv", "1/2,1/2\n1/3,1/3\n", "w.csv, line 2 = sum 2/3: expected probabilities that sum to 1 (off by -1/3)"),
    ("w.csv", "1/2,1/2\n1\n", "w.csv, line 2 = 1 value: expected 2"),
    ("w.csv", "1/2,x\n1,0\n", "line 1, column 2 = x: expected a probability"),
    ("w.csv", "3/2,-1/2\n1,0\n", "w.csv, line 1, column 2 = -1/2: expected a probability"),
    ("w.csv", "__import__('os'),1\n1,0\n", "line 1, column 1 = __import__('os'): expected a probability"),
    ("w.csv", "", "at least one row"),
    ("w.csv", "1\n" * 40, "at most 32"),
    ("w.csv", "1/2,1/2\n", "at least 2 inputs"),
    ("w.json", "[[1, 0], [null, 1]]", "w.json: rows[1][0] = null"),
    ("w.json", "[[NaN, 0], [0, 1]]", "w.json: rows[0][0] = NaN"),
    ("w.json", "[1, 0]", "a list of rows"),
    ("w.json", '{"rows": [[1, 0], [0, 1]], "rows": [[1, 0]]}', "each key once, but rows is there again"),
    ("w.json", "{", "expected JSON"),
]


@pytest.mark.parametrize(("name", "text", "message"), WRONG_FILES, ids=[message for _, _, message in WRONG_FILES])
def test_wrong_files_say_where_and_by_how_much(capsys, tmp_path, name, text, message):
    file = tmp_path / name
    file.write_text(text)
    assert message in refused(capsys, "delta", file, "--n", "2", "--eps", "1")


WRONG = [
    ([*EPS0[:-1], "2"], "delta = 2: expected a number in (0, 1)"),
    ([*EPS0[:6], "--delta", "0.1"], "eps is missing"),
    (["largest-eps0", "krr", *EPS0[4:]], "k is missing"),
    (
        ["largest-eps0", "erasure", "-p", "k=3", "-p", "p=1/2", *EPS0[4:]],
        "MECH = erasure: expected a mechanism with a local budget",
    ),
    (["largest-eps0", "x.csv", *EPS0[4:]], "a mechanism with a local budget"),
    ([*USERS[:-1], "0"], "delta = 0"),
    ([*USERS, "--header"], "--header = True: expected none, unless a matrix file is given"),
    (["smallest-n", "channel", "--eps", "1", "--delta", "0.1"], "MECH = channel: expected a mechanism, or"),
    (["smallest-n", "missing.csv", "--eps", "1", "--delta", "0.1"], "a readable file"),
    (["delta", "x.csv", "--eps0", "1", "--n", "2", "--eps", "1"], "--eps0 = 1"),
    (["amplification-curve", *CURVE], "--delta"),
    (["amplification-curve", *CURVE, "--delta", "0.1", "--n", "10"], "--n"),
    (["tradeoff", *CURVE], "--n is missing"),
    (["tradeoff", *CURVE, "--n", "10", "--delta", "0.1"], "--delta"),
    (["tradeoff", *CURVE, "--n", "10", "--direction", "forward"], "--direction"),
    (["tradeoff", *CURVE, "--n", "10", "--to", "2"], "type_i ="),
    (["profile", *CURVE, "--n", "10"], "--to"),
    (["profile", *CURVE, "--n", "10", "--from", "1", "--to", "0"], "from < to"),
    (["tradeoff", *CURVE, "--n", "10", "--plot", "x.exe"], "--plot = x.exe"),
    (["tradeoff", *CURVE, "--n", "10", "--rtol", "2"], "--rtol = 2"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[message for _, message in WRONG])
def test_wrong_input_is_one_line_and_nothing_else(capsys, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert message in refused(capsys, *arguments)
    assert list(tmp_path.iterdir()) == []
