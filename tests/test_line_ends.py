"""Rows of files end in line feeds or carriage returns; other ends of lines are refused in a cell, by row and column."""

import ast
import sys
from pathlib import Path

import numpy as np
import pytest

import symshuffle
from symshuffle import InputError
from symshuffle.base.documents import split_lines
from symshuffle.channels import read_channel
from symshuffle.collect import Program, plan_survey
from symshuffle.vectors.means.rows import file_rows
from tests.shell import refused

OTHERS = "\v\f\x1c\x1d\x1e\x85\u2028\u2029"
"""Characters at which `str.splitlines` ends a line."""


@pytest.mark.parametrize("char", OTHERS)
@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        ("1/2,1/2\n1/4,3/4", "1/4,3/4\n", "line 2, column 2"),
        ("1/2,1/2\n1/4,", "3/4\n", "line 2, column 2"),
        ("1/2,1/2\n1/4,3/4", "", "line 2, column 2"),
        ('1/2,1/2\n"1/4', '",3/4', "line 2, column 1"),
        ("1/2 1/2\n1/4", "3/4", "line 2, column 1"),
        ("a,b", "\n1/2,1/2\n1/4,3/4", "line 1, column 2"),
        ("# a comment\n1/4", ",3/4\n1/2,1/2", "line 2, column 1"),
    ],
)
def test_a_matrix_is_refused_by_line_and_column(char, before, after, place, tmp_path, capsys):
    file = tmp_path / "w.csv"
    file.write_text(before + char + after, encoding="utf-8", newline="")
    with pytest.raises(InputError, match="rows end in line feeds") as refusal:
        read_channel(file)
    assert refusal.value.argument == f"{file}, {place}"
    assert f", {place} = " in refused(capsys, "check", file)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_end_of_a_row_is_read(end, tmp_path):
    for rows in (["1/2,1/2", "1/4,3/4"], ["# of \x85 and \v", "1/2 1/2", "1/4\t3/4"], ["a,b", "1/2,1/2", "1/4,3/4"]):
        for closing in ("", end):
            (tmp_path / "w.csv").write_text(end.join(rows) + closing, encoding="utf-8", newline="")
            assert read_channel(tmp_path / "w.csv").num_inputs == 2
    assert split_lines(f"a{end}{end}b{OTHERS}c{end}") == ["a", "", f"b{OTHERS}c"]
    assert split_lines("") == [] and split_lines(end) == [""]


@pytest.mark.parametrize("char", OTHERS)
def test_vectors_and_values_are_refused_by_line_and_column(char, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    vectors = tmp_path / "x.csv"
    for text, place in (
        (f"0.1,0.2\n0.3{char},0.1\n", "line 2, column 1"),
        (f"0.1,0.2\n0.3,0.1{char}", "line 2, column 2"),
        (f"0.1,0.2{char}0.3,0.1\n", "line 1, column 2"),
    ):
        vectors.write_text(text, encoding="utf-8")
        with pytest.raises(InputError) as refusal:
            list(file_rows(vectors).blocks())
        assert refusal.value.argument == f"{vectors}, {place}"
    plan_survey(3, n=4, eps=1, delta="1/2", mechanism="krr").save("plan.toml")
    Path("v.csv").write_text(f"value,note\n0,a\n1{char},b\n", encoding="utf-8")
    asked = ("collect", "randomize", "plan.toml", "--values", "v.csv", "--column", "value", "--out", "m.csv")
    assert "v.csv, line 3, column value = " in refused(capsys, *asked)


def test_a_program_may_write_them_in_a_message():
    echo = "import sys; sys.stdin.reconfigure(encoding='utf-8'); sys.stdout.buffer.write(sys.stdin.read().encode())"
    sent = [f"a{char}b" for char in OTHERS]
    assert Program(f'{sys.executable} -c "{echo}"')(sent) == sent


def test_vectors_without_them_are_read_as_before(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n0.1,0.2\n0.3,0.1", encoding="utf-8")
    (block,) = file_rows(tmp_path / "x.csv").blocks()
    assert np.array_equal(block, [[0.1, 0.2], [0.3, 0.1]])


NOT_OF_USERS = {
    "base/solvers.py": "first line of a message",
    "design/decision/modelling.py": "first line of a message",
    "cli/__init__.py": "a message in one line",
    "ledger/claims/registry.py": "a table of the package",
    "collect/files.py": "bytes, which end at line feeds and carriage returns only, and digits",
    "collect/audit/runs.py": "first line of standard error",
    "vectors/means/rows.py": "finds the characters that are refused",
}


def test_no_other_reader_splits_lines_as_python_does():
    root = Path(symshuffle.__file__).parent
    calls = {
        str(path.relative_to(root)): sum(
            isinstance(node, ast.Attribute) and node.attr == "splitlines"
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        )
        for path in root.rglob("*.py")
    }
    assert {path for path, number in calls.items() if number} == {*NOT_OF_USERS}
