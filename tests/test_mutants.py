"""The driver that breaks the library: what it draws, and that it tells a noticed mutant from one that is not."""

from __future__ import annotations

import ast

import pytest

from tests import edits, touched
from tests.edits import ROOT, Mutant, changes, drawn, kept
from tests.mutants import DRAWN, HELD_OUT, Excuse, chosen, excused, identity, outcome, report, still_noticed
from tests.touched import about, append, read, sections, touch

SOURCE = '''"""A module of 1 docstring."""

def larger(x: int = 1, y: float = 0.5) -> float:
    """Not 3."""
    if x < 2 and y:
        raise ValueError(f"{x + 1} is 4")
    return max(x, -y) + 5 * y
'''


def test_what_can_be_broken_and_what_cannot():
    found = edits.mutants(SOURCE, "module.py")
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


def test_what_only_guides_is_not_drawn_and_what_stands_beside_it_is(monkeypatch):
    source = f"class Plan:\n    def larger(self):\n        return 1 + 2\n\n\n{SOURCE}"
    monkeypatch.setattr(edits, "GUIDES", {"module.larger": "", "module.Plan.other": ""})
    assert {mutant.line for mutant in edits.mutants(source, "module.py")} == {3}
    monkeypatch.setattr(edits, "GUIDES", {"module.Plan.larger": ""})
    assert {mutant.line for mutant in edits.mutants(source, "module.py")} == {8, 10, 12}


def test_what_only_tunes_is_not_drawn_and_neither_is_the_precision_of_balls(monkeypatch):
    source = "_FEW: Final = 3\n_UNIT: Final = 4\nwith working_precision(bits + 32):\n    x = bits + 32\n"
    assert {mutant.line for mutant in edits.mutants(source, "module.py")} == {1, 2, 4}
    monkeypatch.setattr(edits, "KNOBS", {"module": ("_FEW",), "other": ("_UNIT",)})
    assert {mutant.line for mutant in edits.mutants(source, "module.py")} == {2, 4}


def test_the_draw_is_by_seed_and_every_mutant_compiles():
    chosen = drawn(60, 2026)
    assert [mutant.key for mutant in chosen] == [mutant.key for mutant in drawn(60, 2026)]
    assert chosen != drawn(60, 2027)
    assert len({(mutant.file, mutant.line) for mutant in chosen}) == 60
    for mutant in chosen:
        ast.parse(mutant.applied((ROOT / mutant.file).read_text(encoding="utf-8")))
    assert set(edits.sources()) >= {"symshuffle/lp.py", "symshuffle/engines/contour.py", "symshuffle/law.py"}


def test_tests_of_a_line_the_quick_and_the_narrow_ones_first():
    entry = {
        "file": "t.py",
        "tests": ["a", "b", "c", "d"],
        "took": [3.0, 1.0, 9.0, 0.5],
        "breadth": [5, 50, 9, 90],
        "found": [None] * 4,
        "lines": {"m.py": {"7": [0, 1, 2, 3], "9": [2]}},
    }

    def names(line, seconds, file="m.py"):
        return [name for _, name, _ in chosen(Mutant(file, line, 0, 1, "constant", "2"), [entry], seconds)]

    assert names(7, 5.0) == ["d", "a", "b"]
    assert names(9, 5.0) == ["c"]  # at least one, however long it takes
    assert names(9, 20.0) == ["c", "d", "a", "b"]  # what was evaluated once, by another test, may show it
    assert names(8, 5.0) == ["d", "a", "b"]  # no test runs the line: those of its file
    assert names(1, 5.0, "other.py") == []


@pytest.fixture
def project(tmp_path):
    (tmp_path / "module.py").write_text("def double(x):\n    return 2 * x\n\n\ndef unseen(x):\n    return x + 1\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_module.py").write_text(
        "import module\n\n"
        "def test_double():\n    assert module.double(3) == 6\n\ndef test_weak():\n    module.unseen(3)\n"
    )
    return tmp_path


def test_a_mutant_is_killed_survives_or_runs_out_of_time(project, monkeypatch):
    monkeypatch.setattr(touched, "sources", lambda root: ["module.py"])
    entry = touch(project, "tests/test_module.py", 20)
    assert entry is not None
    assert entry["tests"] == ["tests/test_module.py::test_double", "tests/test_module.py::test_weak"]
    assert entry["lines"]["module.py"] == {"2": [0], "6": [1]}
    entry |= {"file": "tests/test_module.py", "breadth": [1, 1]}
    text = (project / "module.py").read_text()
    of = {(one.line, one.new): one for one in edits.mutants(text, "module.py")}
    found = {key: outcome(project, one, [entry], 5)["outcome"] for key, one in of.items()}
    assert found[2, "/"] == found[2, "3"] == "killed"
    assert found[6, "-"] == "survived"
    assert outcome(project, of[2, "3"], [], 20)["outcome"] == "untouched"
    start = text.index("2 * x")
    endless = Mutant("module.py", 2, start, start + 5, "constant", "[0 for _ in iter(int, 1)]")
    monkeypatch.setattr("tests.mutants.MARGIN", 2)
    assert outcome(project, endless, [entry], 0)["outcome"] == "time"
    assert (project / "module.py").read_text() == text
    row = {"file": "module.py", "diff": "", "outcome": "killed", "by": "tests/test_module.py::test_double"}
    assert still_noticed(project, row, of[2, "3"]) == row
    assert still_noticed(project, row, of[6, "-"]) == {**row, "outcome": "survived"}
    lost = {**row, "by": "tests/test_module.py::test_renamed"}
    assert still_noticed(project, lost, of[2, "3"])["outcome"] == "gone"


def test_files_about_a_source_are_those_that_import_it():
    files = ["tests/test_law.py", "tests/test_lp.py", "tests/engines/test_sparse.py", "tests/test_readme.py"]
    assert about(files, "symshuffle/lp.py") == ["tests/test_lp.py"]
    assert about(files, "symshuffle/law.py") == ["tests/test_law.py", "tests/engines/test_sparse.py"]


def test_a_claim_falls_if_anything_but_its_time_differs(project, monkeypatch):
    monkeypatch.setattr(touched, "sources", lambda root: ["module.py"])
    monkeypatch.setattr(touched, "ROOT", project)
    (project / "proofs_checks").mkdir()
    (project / "proofs_checks" / "__init__.py").write_text("")
    (project / "proofs_checks" / "section.py").write_text(CLAIMS)
    assert sections() == ["proofs_checks/section.py"]  # those of shared code begin with an underscore
    entry = touch(project, "proofs_checks/section.py", 20)
    assert entry is not None
    assert entry["tests"] == ["made-up.twice"]
    assert entry["found"] == [["holds", "exact-cases", 1, None, []]]
    entry |= {"file": "proofs_checks/section.py", "breadth": [1]}
    of = {(one.line, one.new): one for one in edits.mutants((project / "module.py").read_text(), "module.py")}
    assert outcome(project, of[2, "3"], [entry], 5)["outcome"] == "by the ledger"
    assert outcome(project, of[6, "-"], [entry], 5)["outcome"] == "survived"


CLAIMS = """
import module
from symshuffle.claims.model import Claim, ClaimVerdict, Control, Grade, Kind, by_cases, compare


def check(statement, draw):
    yield compare(module.double(3), statement(3), at="x = 3")


CLAIMS = (
    Claim(
        id="made-up.twice", kind=Kind.STATEMENT, title="twice", text="twice", source="", assumptions=(), scope="",
        grade=Grade.EXACT_CASES, printed=lambda x: 6, check=check, controls=(Control("more", lambda x: 7),),
        expected=ClaimVerdict.HOLDS, obligations=by_cases("x"),
    ),
)
"""


def test_results_are_appended_and_reported(tmp_path):
    path = tmp_path / "out" / "mutants.jsonl"
    assert read(path) == []
    for result in ("killed", "time", "survived", "survived", "by the ledger"):
        diff = f"-a\n+{len(read(path))}"
        append(path, {"key": "", "file": "m.py", "outcome": result, "line": 1, "kind": "constant", "diff": diff})
    text, left = report(read(path), {("m.py", "-a\n+3"): Excuse("same", "no value")})
    assert left == 1
    assert text.endswith(
        "5 mutants (1 killed, 1 time, 2 survived, 1 by the ledger): 60.0% noticed, 75.0% of the 4 that change a value; "
        "of the others 1 compute the same, 0 break no promise, 1 are open"
    )
    assert "survived: m.py\n-a\n+2" in text
    assert "same (no value): m.py\n-a\n+3" in text
    assert "60.0% of the 5 that change a value" in report(read(path), {("m.py", "-a\n+3"): Excuse("free", "")})[0]


def test_what_is_excused_was_drawn_survived_and_still_fits_the_code():
    survived = {identity(row) for row in (*read(DRAWN), *read(HELD_OUT)) if row["outcome"] == "survived"}
    for (file, diff), excuse in excused().items():
        assert (file, diff) in survived
        assert excuse.kind in ("same", "free")
        assert len(excuse.reason) > 10
        old = [line[1:] for line in diff.splitlines() if line.startswith("-")]
        assert all(line in (ROOT / file).read_text(encoding="utf-8").splitlines() for line in old), (file, diff)


def test_the_draw_on_file_is_found_again_in_the_code():
    rows = read(DRAWN)
    assert len({identity(row) for row in rows}) == 250
    found = list(kept(rows))
    assert len(found) > 200
    for mutant in found:
        text = (ROOT / mutant.file).read_text(encoding="utf-8")
        assert (mutant.file, mutant.diff(text)) in {identity(row) for row in rows}
        ast.parse(mutant.applied(text))


def test_the_draw_held_out_has_a_test_or_a_reason_for_every_mutant():
    rows = read(HELD_OUT)
    assert len({identity(row) for row in rows}) == len(rows) == 129
    assert report(rows, excused())[1] == 0
    for row in rows:
        if row["outcome"] == "killed" and row["first"] == "survived":
            file, _, name = row["by"].partition("::")
            assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")
    assert sum(row["first"] == "killed" for row in rows) == 92  # before any of them had a test of its own


def test_a_draw_is_the_same_after_an_edit_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr(edits, "sources", lambda root: ["module.py"])
    (tmp_path / "module.py").write_text(SOURCE)
    before = {(mutant.kind, mutant.new) for mutant in drawn(3, 7, tmp_path)}
    (tmp_path / "module.py").write_text(f"import math\n\n\n{SOURCE}")
    assert {(mutant.kind, mutant.new) for mutant in drawn(3, 7, tmp_path)} == before
