"""The command `design`: the keys that are promised, every example file, and one line on wrong input."""

import json
import math
import re
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
import sympy as sp

from symshuffle import Channel, Exp, SolverFailure
from symshuffle.base.numbers import less
from symshuffle.design import TradeoffCertificate
from symshuffle.design.files import DecisionFile, problem_schema, read_problem
from tests.shell import answer, refused, run

EXAMPLES = sorted((Path(__file__).parent.parent / "examples" / "problems").glob("*.json"))
RATING = next(path for path in EXAMPLES if path.name == "rating_on_five_steps.json")
GUESS = next(path for path in EXAMPLES if path.name == "guess_one_of_four.json")


def test_there_are_examples_and_the_schema_accepts_them():
    assert len(EXAMPLES) >= 5
    for path in EXAMPLES:
        jsonschema.validate(json.loads(path.read_text()), problem_schema())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_at_a_rational_level_and_at_an_exponential(path, capsys):
    kind = json.loads(path.read_text())["kind"]
    for command in ["bayes", "minimax"] if kind == "decision" else [kind]:
        for level in (("--lam", "3"), ("--eps0", "1")):
            found = answer(capsys, "design", command, path, *level)
            assert {"lower", "upper", "channel", "certificate", "formula", "interval"} <= set(found)
            assert float(found["lower"]) <= float(found["upper"])
            Channel.from_rows(found["channel"]["rows"])


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"losses": [1]}, "losses = [1]: expected one of the keys kind, model, loss, prior, symmetry, title"),
        ({"symmetry": {"foo": 1}}, "symmetry.foo = 1: expected one of the keys generators, blocks, form"),
        ({"loss": None}, "loss is missing: expected a key of every file of the kind decision"),
        ({"kind": None}, "kind is missing: expected one of decision, mutual-information, f-divergence"),
        ({"kind": "choice"}, "kind = choice: expected one of decision, mutual-information, f-divergence"),
        ({"prior": None}, "prior is missing: expected 2 weights"),
    ],
)
def test_keys_of_a_problem_file_are_named_with_the_file(changed, told, tmp_path, capsys):
    path = tmp_path / "p.json"
    data = {"kind": "decision", "model": [["1/2", "1/2"], ["1/3", "2/3"]], "loss": [[0, 1], [1, 0]]} | changed
    path.write_text(json.dumps({key: value for key, value in data.items() if value is not None}))
    assert f"symshuffle: {path}: {told}" in refused(capsys, "design", "bayes", path, "--lam", "3")


def test_certificate_and_formula(capsys):
    found = answer(capsys, "design", "bayes", RATING, "--lam", "3", "--formula")
    assert found["exact"] == "24/25"
    assert (found["formula"], found["interval"]) == ("2*(lambda + 9)/(5*(lambda + 2))", ["3/2", "7/2 + sqrt(65)/2"])
    file = read_problem(RATING)
    assert isinstance(file, DecisionFile)
    assert str(TradeoffCertificate.from_json(found["certificate"]).prove(file.problem()).exact) == "24/25"


@pytest.mark.parametrize("symmetry", ["auto", "file"])
def test_symmetry_reduces_and_agrees(symmetry, capsys):
    for command in ("bayes", "minimax"):
        found = answer(capsys, "design", command, GUESS, "--lam", "3", "--symmetry", symmetry)
        assert found["exact"] == "5/8"


def test_measures_take_symmetry_and_some_a_formula(tmp_path, capsys):
    path = tmp_path / "pair.json"
    data = {"kind": "f-divergence", "p": ["1/2", "1/4", "1/4"], "q": ["1/5", "2/5", "2/5"], "divergence": "tv"}
    path.write_text(json.dumps(data))
    asked = ("design", "f-divergence", path, "--lam", "3", "--formula")
    found = answer(capsys, *asked, "--symmetry", "auto")
    # Total variation 3/10 times (lam - 1)/(lam + 1).
    assert (found["exact"], found["formula"]) == ("3/20", "3*(lambda - 1)/(10*(lambda + 1))")
    assert found["interval"] == ["1", "oo"]
    assert found["formula_rigour"] == "exact"
    path.write_text(json.dumps({**data, "divergence": "kl"}))
    found = answer(capsys, *asked)
    assert found["formula_rigour"] == "ball"
    assert float(found["interval"][0]) < 3 < float(found["interval"][1])
    value = sp.sympify(found["formula"].replace("lambda", "3")).evalf(20)
    assert float(found["lower"]) == pytest.approx(float(value), rel=1e-12)
    status, out, _ = run(capsys, "design", "f-divergence", path, "--eps0", "1", "--formula")
    assert status == 0 and "certified in balls" in " ".join(out.split())


def test_text_output(capsys):
    status, out, _ = run(capsys, "design", "minimax", GUESS, "--lam", "3", "--formula")
    assert status == 0
    assert re.match(r"minimax optimum +exactly 5/8", out)
    assert "3*(lambda + 7)/(8*(lambda + 3))" in out
    status, out, _ = run(capsys, "design", "schema")
    assert json.loads(out) == problem_schema()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("bayes", GUESS), "exactly one"),
        (("bayes", GUESS, "--lam", "1"), "--lam = 1"),
        (("bayes", GUESS, "--eps0", "0"), "--eps0 = 0"),
        (("bayes", "missing.json", "--lam", "2"), "missing.json"),
        (("f-divergence", GUESS, "--lam", "2"), "kind = decision"),
        (("bayes", GUESS, "--lam", "2", "--symmetry", "maybe"), "--symmetry = maybe"),
    ],
)
def test_wrong_input_is_one_line(arguments, word, capsys):
    assert word in refused(capsys, "design", *arguments)


KEYS = {"lower", "upper", "channel", "certificate", "formula", "interval"}
DECISION = {
    "kind": "decision",
    "model": [["3/4", "1/4"], ["1/3", "2/3"]],
    "loss": [[0, 1], [2, 0]],
    "prior": ["1/2", "1/2"],
}
PAIR = {"kind": "f-divergence", "p": ["1/2", "1/2"], "q": ["1/3", "2/3"], "divergence": "tv"}
RING = {  # a rotation of three that the losses break
    "kind": "decision",
    "model": [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]],
    "loss": [[0, 1, 2], [1, 0, 1], [2, 1, 0]],
    "prior": ["1/3", "1/3", "1/3"],
    "symmetry": {"form": "cyclic"},
}


def refused_problem(capsys, tmp_path, data, command, *arguments, status=2):
    """The line of a refusal of a problem in an empty folder, in which no file is written."""
    path = tmp_path / "problem.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    err = refused(capsys, "design", command, path, *arguments, status=status)
    assert "nan" not in err.lower().split()
    assert [entry.name for entry in tmp_path.iterdir()] == ["problem.json"]
    return err


@pytest.mark.parametrize(
    ("data", "word"),
    [
        ("{", "JSON"),
        ("", "JSON"),
        ("[1]", "a JSON object"),
        ({}, "kind"),
        ({**DECISION, "loss": [[0, float("inf")], [1, 0]]}, r"loss\[0\]\[1\] = inf"),
        ({**DECISION, "loss": [[0, float("nan")], [1, 0]]}, r"loss\[0\]\[1\] = nan"),
        ({**DECISION, "loss": [[0, "Infinity"], [1, 0]]}, r"loss\[0\]\[1\] = Infinity"),
        ({**DECISION, "loss": [[0, "1e400"], [1, 0]]}, r"loss\[0\]\[1\] = about 1e400: expected at most 1e\+15"),
        ({**DECISION, "loss": [[0, 1], [1]]}, r"loss\[1\] = 1 entries: expected 2"),
        ({**DECISION, "loss": []}, "loss"),
        ({**DECISION, "prior": ["1/2", "1/3"]}, r"prior = sum 5/6: .*off by -1/6"),
        ({**DECISION, "prior": ["3/2", "-1/2"]}, r"prior\[1\] = -1/2"),
        ({**DECISION, "prior": ["1/3", "1/3", "1/3"]}, "prior = 3 entries: expected 2"),
        ({**DECISION, "prior": []}, "prior"),
        ({**DECISION, "model": [["1/2", "1/2"], ["1/3", "1/3"]]}, r"model\[1\] = sum 2/3: .*off by -1/3"),
        ({**DECISION, "model": [[1], [1]]}, "model = 1 inputs: expected at least 2 inputs"),
        ({**DECISION, "model": []}, "model"),
        ({**DECISION, "model": "many"}, "model = many"),
        ({**DECISION, "model": [["1/2", 0.5], ["1/2", "1/2"]]}, r"model\[0\]\[1\] = 0.5"),
        ({**DECISION, "surprise": 1}, "surprise"),
        ({key: DECISION[key] for key in ("kind", "model", "prior")}, "loss"),
    ],
)
def test_matrix_of_malformed_problems(data, word, capsys, tmp_path):
    for command in ("bayes", "minimax"):
        assert re.search(word, refused_problem(capsys, tmp_path, data, command, "--lam", "2", "--json"))


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (RING, r"generators\[0\] = \[1, 2, 0\]: .*action 0 .*\(entry \d would be"),
        ({**RING, "symmetry": {"blocks": [[0, 1], [2]]}}, r"generators\[0\] = \[1, 0, 2\]"),
        ({**RING, "symmetry": {"blocks": [[0, 1]]}}, "partition of the inputs 0..2"),
        ({**RING, "symmetry": {"generators": [[1, 0, 2, 3]]}}, r"generators\[0\] = .*permutation of 0..2"),
        ({**RING, "symmetry": {"generators": [[2, 1, 0], [1, 2, 0]]}}, r"generators\[1\] = \[1, 2, 0\]"),
        ({**RING, "symmetry": {}}, "exactly one of generators, blocks, form"),
        ({**RING, "symmetry": None}, "a field in the problem file"),
    ],
)
def test_groups_that_do_not_act(data, word, capsys, tmp_path):
    assert re.search(word, refused_problem(capsys, tmp_path, data, "bayes", "--lam", "2", "--symmetry", "file"))


@pytest.mark.parametrize(
    ("level", "word"),
    [
        (("--lam", "1"), "--lam = 1: expected a number above 1"),
        (("--lam", "-3"), "--lam = -3"),
        (("--lam", "inf"), "--lam = inf"),
        (("--eps0", "0"), "--eps0 = 0: expected a number above 0"),
        (("--eps0", "-1"), "--eps0 = -1: expected a number above 0"),
        (("--eps0", "nan"), "--eps0 = nan"),
        (("--eps0", "1", "--lam", "3"), "exactly one of the two"),
        (("--eps0", "1000"), "--eps0 = 1000: expected at most 100"),
        (("--lam", "1e400"), "--lam = 1e400: expected at most 1e+43"),
    ],
)
def test_levels_out_of_range(level, word, capsys, tmp_path):
    for command, data in (("bayes", DECISION), ("minimax", DECISION), ("f-divergence", PAIR)):
        assert word in refused_problem(capsys, tmp_path, data, command, *level)


@pytest.mark.parametrize(
    ("data", "word"),
    [
        ({**PAIR, "p": ["1/2", "1/3"]}, "P0"),
        ({**PAIR, "p": [1], "q": [1]}, "m = 1: expected an integer of at least 2"),
        ({**PAIR, "q": ["1/3", "1/3", "1/3"]}, "P1 = 3 entries"),
        ({**PAIR, "divergence": "total"}, "divergence = total"),
        ({**PAIR, "divergence": "renyi", "order": 1}, "alpha = 1"),
        ({**PAIR, "divergence": "hockey-stick"}, "order"),
    ],
)
def test_matrix_of_malformed_measures(data, word, capsys, tmp_path):
    assert word in refused_problem(capsys, tmp_path, data, "f-divergence", "--lam", "2")


def test_formula_where_there_is_none(capsys, tmp_path):
    unsupported = [
        ("f-divergence", {**PAIR, "divergence": "renyi", "order": 2}, "Renyi power of order 2"),
        ("bayes", large(9), "510 orbits of subsets, at most 300"),
    ]
    for command, data, word in unsupported:
        path = tmp_path / "problem.json"
        path.write_text(json.dumps(data))
        for evaluation in ((), ("--json",)):
            status, out, _ = run(capsys, "design", command, path, "--lam", "2", "--formula", *evaluation)
            assert status == 0 and word in " ".join(out.split())


def large(m):
    """A problem without symmetries."""
    total = m * (m + 1) // 2
    row = [f"{x + 1}/{total}" for x in range(m)]
    return {**DECISION, "model": [row, [f"1/{m}"] * m]}


def test_beyond_scale_names_the_cost_and_the_form(capsys, tmp_path):
    rotations = {**large(30), "symmetry": {"generators": [list(range(30))]}}
    (tmp_path / "problem.json").write_text(json.dumps(rotations))
    asked = ("design", "bayes", tmp_path / "problem.json", "--lam", "2", "--symmetry", "file", "--formula")
    missing = answer(capsys, *asked)["formula_missing"]  # the design itself is answered
    assert "about 2**30 orbits" in missing or "1073741822 orbits" in missing
    source = {"kind": "mutual-information", "source": large(18)["model"][0]}
    err = refused_problem(capsys, tmp_path, source, "mutual-information", "--lam", "2")
    assert "262142 staircase columns" in err
    assert "--symmetry auto" in err
    err = refused_problem(capsys, tmp_path, source, "mutual-information", "--lam", "2", "--symmetry", "auto")
    assert "262142 orbits of columns" in err


def test_automatic_symmetry_is_used_only_where_it_helps(capsys, tmp_path):
    path = tmp_path / "problem.json"
    path.write_text(json.dumps(large(60)))
    reduced = answer(capsys, "design", "bayes", path, "--lam", "2", "--symmetry", "auto")
    plain = answer(capsys, "design", "bayes", path, "--lam", "2")
    assert reduced["exact"] == plain["exact"] is not None
    assert "orbits" not in reduced["certificate"]


def test_minimax_formula_over_orbits_of_parameters(capsys, tmp_path):
    path = tmp_path / "problem.json"
    path.write_text(json.dumps(DECISION))
    found = answer(capsys, "design", "minimax", path, "--lam", "2", "--formula")
    assert found["formula"] is not None
    assert found["exact"] is not None
    assert Fraction(str(sp.sympify(found["formula"].replace("lambda", "2")))) == Fraction(found["exact"])


def _stopped(*_, **__):
    raise SolverFailure("HiGHS", "Time limit reached", "a restricted program of 4 columns")


def test_a_solver_without_an_answer_is_status_3(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("symshuffle.design.decision.invariant.solve", _stopped)
    err = refused_problem(capsys, tmp_path, DECISION, "bayes", "--lam", "2", "--json", status=3)
    assert "HiGHS ended with status 'Time limit reached'" in err


@pytest.mark.parametrize("command", ["bayes", "minimax"])
def test_a_solver_that_proposes_nothing_is_not_needed(command, capsys, monkeypatch):
    """Columns are then generated over the rationals from the start, and bases found by pivots."""
    expected = answer(capsys, "design", command, GUESS, "--lam", "3")["exact"]
    for name in ("design.decision.programs.generate", "channels.geometry.linprog._highs_basis"):
        monkeypatch.setattr(f"symshuffle.{name}", _stopped)
    assert answer(capsys, "design", command, GUESS, "--lam", "3")["exact"] == expected


@pytest.mark.parametrize("command", ["bayes", "minimax"])
@pytest.mark.parametrize("extra", [(), ("--symmetry", "auto"), ("--formula",)])
def test_keys_are_always_there(command, extra, capsys):
    for level, exact in ((("--lam", "3"), True), (("--eps0", "1"), False)):
        found = answer(capsys, "design", command, GUESS, *level, *extra)
        assert set(found) >= KEYS
        assert (found["exact"] is not None) == exact
        assert found["arithmetic"] == ("exact" if exact else "ball")
        # One certificate at a rational level; two at rational levels around exp(eps0), whose values bracket.
        assert isinstance(found["certificate"], dict) == exact
        if not exact:
            above, below = (float(Fraction(certificate["lam"])) for certificate in found["certificate"])
            assert above == pytest.approx(math.e) == below
            assert Fraction(found["lower"]) < Fraction(found["upper"])
        assert (found["formula"] is None) == (found["interval"] is None) == ("--formula" not in extra)


def test_certificate_of_a_measure_can_be_checked_at_its_two_levels(capsys, tmp_path):
    path = tmp_path / "pair.json"
    path.write_text(json.dumps(PAIR))
    found = answer(capsys, "design", "f-divergence", path, "--eps0", "1")
    certificate = found["certificate"]
    low, high = Fraction(certificate["lam"]), Fraction(certificate["bound_lam"])
    assert less(low, Exp(Fraction(1)))
    assert less(Exp(Fraction(1)), high)
    u = [Fraction(value) for value in certificate["bound"]]
    for column in ((high, 1), (1, high)):
        # A column adds the positive part of v . (p - q), where p - q = (1/6, -1/6).
        assert max(Fraction(0), Fraction(column[0] - column[1]) / 6) <= u[0] * column[0] + u[1] * column[1]
    assert sum(u) <= Fraction(found["upper"])


def test_rationals_of_more_digits_than_python_writes_are_written(capsys):
    told = answer(capsys, "design", "shuffled", "--k", "2", "--n", "2", "--delta", "1e-2", "--eps", "5000")
    assert len(told["trace"]) > 4300 and "/" in told["trace"]
