"""The driver that breaks the library: what it draws, and that it tells a noticed mutant from one that is not."""

from __future__ import annotations

import ast

import pytest

from tests import mutants
from tests.mutants import ROOT, Mutant, changes, chosen_tests, drawn, outcome, read, report, touch

SOURCE = '''"""A module of 1 docstring."""

def larger(x: int = 1, y: float = 0.5) -> float:
    """Not 3."""
    if x < 2 and y:
        raise ValueError(f"{x + 1} is 4")
    return max(x, -y) + 5 * y
'''


def test_what_can_be_broken_and_what_cannot():
    found = mutants.mutants(SOURCE, "module.py")
    made = {mutant.applied(SOURCE) for mutant in found if changes(mutant, SOURCE)}
    for old, new in (
        ("x: int = 1", "x: int = 2"),
        ("y: float = 0.5", "y: float = 1.0"),
        ("x < 2", "x <= 2"),
        ("x < 2", "x > 2"),
        ("x < 2 and y", "False"),
        ("x < 2 and y", "((x < 2))"),
        ("max(", "min("),
        ("-y", "(y)"),
        (") + 5", ") - 5"),
        ("5 * y", "5 / y"),
        (" + 5 * y", ""),
        ("5 * y", "6 * y"),
    ):
        assert SOURCE.replace(old, new, 1) in made, (old, new)
    assert all('"""A module of 1 docstring."""' in text and 'f"{x + 1} is 4"' in text for text in made)


def test_the_draw_is_by_seed_and_every_mutant_compiles():
    chosen = drawn(60, 2026)
    assert [mutant.key for mutant in chosen] == [mutant.key for mutant in drawn(60, 2026)]
    assert chosen != drawn(60, 2027)
    assert len({(mutant.file, mutant.line) for mutant in chosen}) == 60
    for mutant in chosen:
        ast.parse(mutant.applied((ROOT / mutant.file).read_text(encoding="utf-8")))
    assert set(mutants.sources()) >= {"symshuffle/lp.py", "symshuffle/engines/contour.py", "symshuffle/law.py"}


def test_tests_of_a_line_the_quick_ones_first():
    entry = {
        "file": "t.py",
        "tests": ["a", "b", "c"],
        "took": [3.0, 1.0, 9.0],
        "lines": {"m.py": {"7": [0, 1, 2], "9": [2]}},
    }
    at = {line: Mutant("m.py", line, 0, 1, "constant", "2") for line in (7, 8, 9)}
    assert chosen_tests(at[7], [entry], 5.0) == ["b", "a"]
    assert chosen_tests(at[9], [entry], 5.0) == ["c"]  # at least one, however long it takes
    assert chosen_tests(at[8], [entry], 5.0) == ["b", "a"]  # no test runs the line: those of its file
    assert chosen_tests(Mutant("other.py", 1, 0, 1, "constant", "2"), [entry], 5.0) == []


@pytest.fixture
def project(tmp_path):
    (tmp_path / "module.py").write_text("def double(x):\n    return 2 * x\n\n\ndef unseen(x):\n    return x + 1\n")
    (tmp_path / "test_module.py").write_text(
        "import module\n\n"
        "def test_double():\n    assert module.double(3) == 6\n\ndef test_weak():\n    module.unseen(3)\n"
    )
    return tmp_path


def test_a_mutant_is_killed_survives_or_runs_out_of_time(project, monkeypatch, tmp_path):
    monkeypatch.setattr(mutants, "sources", lambda root: ["module.py"])
    entry = touch(project, "test_module.py", 20)
    assert entry is not None
    assert entry["tests"] == ["test_module.py::test_double", "test_module.py::test_weak"]
    assert entry["lines"]["module.py"] == {"2": [0], "6": [1]}
    text = (project / "module.py").read_text()
    of = {(one.line, one.new): one for one in mutants.mutants(text, "module.py")}
    found = {key: outcome(project, one, chosen_tests(one, [entry], 5), 20) for key, one in of.items()}
    assert found[2, "/"] == found[2, "3"] == "killed"
    assert found[6, "-"] == "survived"
    assert outcome(project, of[2, "3"], [], 20) == "untouched"
    endless = Mutant(
        "module.py",
        2,
        text.index("2 * x"),
        text.index("2 * x") + 5,
        "constant",
        "double(len(iter(int, 1)) and x) if False else [0 for _ in iter(int, 1)]",
    )
    assert outcome(project, endless, ["test_module.py"], 3) == "time"
    assert (project / "module.py").read_text() == text


def test_results_are_appended_and_reported(tmp_path):
    path = tmp_path / "out" / "mutants.jsonl"
    assert read(path) == []
    for result in ("killed", "time", "survived"):
        mutants.append(
            path, {"key": f"m.py:1:{result}", "outcome": result, "line": 1, "kind": "constant", "diff": "-a\n+b"}
        )
    text = report(read(path))
    assert text.endswith("2 of 3 mutants killed (1 killed, 1 time, 1 survived)")
    assert "survived  m.py:1 (constant)\n-a\n+b" in text
