"""The command `design`: the keys that are promised, every example file, and one line on wrong input."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

from symshuffle.channel import Channel
from symshuffle.cli import main
from symshuffle.design import TradeoffCertificate
from symshuffle.design.files import DecisionFile, parse_problem, problem_schema, read_problem
from symshuffle.errors import InputError

EXAMPLES = sorted((Path(__file__).parent.parent / "examples" / "problems").glob("*.json"))
RATING = next(path for path in EXAMPLES if path.name == "rating_on_five_steps.json")
GUESS = next(path for path in EXAMPLES if path.name == "guess_one_of_four.json")


def run(capsys, *arguments):
    status = main(["design", *map(str, arguments)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_there_are_examples_and_the_schema_accepts_them():
    assert len(EXAMPLES) >= 5
    for path in EXAMPLES:
        jsonschema.validate(json.loads(path.read_text()), problem_schema())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_at_a_rational_level_and_at_an_exponential(path, capsys):
    kind = json.loads(path.read_text())["kind"]
    for command in ["bayes", "minimax"] if kind == "decision" else [kind]:
        for level in (("--lam", "3"), ("--eps0", "1")):
            status, out, err = run(capsys, command, "--problem", path, *level, "--json")
            assert (status, err) == (0, "")
            found = json.loads(out)
            assert {"lower", "upper", "channel", "certificate", "formula", "interval"} <= set(found)
            assert float(found["lower"]) <= float(found["upper"])
            Channel.from_rows(found["channel"]["rows"])


def test_certificate_and_formula(capsys):
    status, out, _ = run(capsys, "bayes", "--problem", RATING, "--lam", "3", "--formula", "--json")
    found = json.loads(out)
    assert status == 0
    assert found["exact"] == "24/25"
    assert (found["formula"], found["interval"]) == ("2*(lambda + 9)/(5*(lambda + 2))", ["3/2", "7/2 + sqrt(65)/2"])
    file = read_problem(RATING)
    assert isinstance(file, DecisionFile)
    assert str(TradeoffCertificate.from_json(found["certificate"]).verify(file.problem()).exact) == "24/25"


@pytest.mark.parametrize("symmetry", ["auto", "file"])
def test_symmetry_reduces_and_agrees(symmetry, capsys):
    for command in ("bayes", "minimax"):
        status, out, _ = run(capsys, command, "--problem", GUESS, "--lam", "3", "--symmetry", symmetry, "--json")
        assert status == 0
        assert json.loads(out)["exact"] == "5/8"


def test_measures_take_symmetry_and_some_a_formula(tmp_path, capsys):
    path = tmp_path / "pair.json"
    data = {"kind": "f-divergence", "p": ["1/2", "1/4", "1/4"], "q": ["1/5", "2/5", "2/5"], "divergence": "tv"}
    path.write_text(json.dumps(data))
    status, out, _ = run(
        capsys, "f-divergence", "--problem", path, "--lam", "3", "--symmetry", "auto", "--formula", "--json"
    )
    found = json.loads(out)
    assert status == 0
    # Total variation 3/10 times (lam - 1)/(lam + 1).
    assert (found["exact"], found["formula"]) == ("3/20", "3*(lambda - 1)/(10*(lambda + 1))")
    assert found["interval"] == ["1", "oo"]
    path.write_text(json.dumps({**data, "divergence": "chi-square"}))
    status, out, err = run(capsys, "f-divergence", "--problem", path, "--lam", "3", "--formula")
    assert (status, out) == (2, "")
    assert "tv and hockey-stick" in err


def test_text_output(capsys):
    status, out, _ = run(capsys, "minimax", "--problem", GUESS, "--lam", "3", "--formula")
    assert status == 0
    assert "5/8 (exact)" in out
    assert "3*(lambda + 7)/(8*(lambda + 3))" in out
    status, out, _ = run(capsys, "schema")
    assert json.loads(out) == problem_schema()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("bayes", "--problem", GUESS), "exactly one"),
        (("bayes", "--problem", GUESS, "--lam", "1"), "--lam = 1"),
        (("bayes", "--problem", GUESS, "--eps0", "0"), "--eps0 = 0"),
        (("bayes", "--problem", "missing.json", "--lam", "2"), "missing.json"),
        (("f-divergence", "--problem", GUESS, "--lam", "2"), "kind = decision"),
        (("bayes", "--problem", GUESS, "--lam", "2", "--symmetry", "maybe"), "--symmetry = maybe"),
    ],
)
def test_wrong_input_is_one_line(arguments, word, capsys):
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert word in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"kind": "decisions"}, "kind"),
        ({"model": [["1/2", 0.5], ["1/2", "1/2"]]}, r"model\[0\]\[1\] = 0.5"),
        ({"model": [["1/2", "1/3"], ["1/2", "1/2"]]}, r"model\[0\]"),
        ({"loss": [[0, "inf"], [1, 0]]}, r"loss\[0\]\[1\] = inf"),
        ({"loss": [[0, "1/0"], [1, 0]]}, r"loss\[0\]\[1\] = 1/0"),
        ({"loss": [[0, 1]]}, "loss"),
        ({"prior": ["1/2", "1/3"]}, "prior"),
        ({"prior": None}, "prior"),
        ({"model": [[1], [1]]}, "2 inputs"),
        ({"symmetry": {"generators": [[1, 1]]}}, r"generators\[0\]"),
        ({"symmetry": {"blocks": [[0, 1]]}}, r"generators\[0\].*row that does not occur"),
        ({"symmetry": {"blocks": [[0, 1]], "form": "cyclic"}}, "exactly one"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_malformed_files_name_the_field(change, word, tmp_path, capsys):
    data = {
        "kind": "decision",
        "model": [["3/4", "1/4"], ["1/3", "2/3"]],
        "loss": [[0, 1], [2, 0]],
        "prior": ["1/2", "1/2"],
        **change,
    }
    path = tmp_path / "problem.json"
    path.write_text(json.dumps(data))
    extra = ["--symmetry", "file"] if "symmetry" in change else []
    status, out, err = run(capsys, "bayes", "--problem", path, "--lam", "2", *extra)
    assert (status, out) == (2, "")
    assert re.search(word, err)
    assert err.count("\n") == 1


def test_files_that_are_not_problems(tmp_path, capsys):
    for text in ("{", "[1]", '{"kind": "f-divergence", "p": ["1"], "q": ["1"], "divergence": "renyi"}'):
        path = tmp_path / "problem.json"
        path.write_text(text)
        status, out, err = run(capsys, "f-divergence", "--problem", path, "--lam", "2")
        assert (status, out, err.count("\n")) == (2, "", 1)
    with pytest.raises(InputError, match="order"):
        measure = parse_problem(
            {"kind": "f-divergence", "p": ["1/2", "1/2"], "q": ["1/3", "2/3"], "divergence": "kl", "order": 2}
        )
        measure.measure()
