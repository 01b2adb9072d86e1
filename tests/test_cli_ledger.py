import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from symshuffle import InputError, NotDecided, SolverFailure, Unsupported
from symshuffle.base.choices import members
from symshuffle.cli import app, catalogue, ledger, main
from symshuffle.ledger.claims import registry
from symshuffle.ledger.claims.parts import Severity

HERE = Path(__file__).parent


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, "fake_ledger")


def use(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.syspath_prepend(str(HERE / "claims"))
    for module in (catalogue, ledger):
        monkeypatch.setattr(module, "load", lambda _checks="": registry.load(package))


@pytest.mark.usefixtures("fakes")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_verify(jobs: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(
        app, ["verify", "--jobs", jobs, "--json", f"{tmp_path}/v.json", "--report", f"{tmp_path}/ledger.html"]
    )
    assert result.exit_code == 0
    assert "5/5" in result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["claim", "verdict", "grade", "evidence", "seconds"]
    assert lines[-2].endswith("4 of 4 controls rejected; all as recorded")
    assert lines[-1] == f"full report: {tmp_path}/ledger.html"
    assert len(json.loads((tmp_path / "v.json").read_text(encoding="utf-8"))) == 5
    assert (tmp_path / "ledger.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ledger.html", "v.json"]


@pytest.mark.usefixtures("fakes")
def test_verify_prints_json_and_nothing_else() -> None:
    result = CliRunner().invoke(app, ["verify", "*.d*", "--jobs", "1", "--json", "-"])
    assert [record["id"] for record in json.loads(result.stdout)] == ["symshuffle.drawn", "symshuffle.definition"]
    assert "2 of 2 controls rejected" in result.stderr


def test_verify_fails_if_something_is_not_as_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, "fake_deadly")
    result = CliRunner().invoke(app, ["verify", "symshuffle.wrong", "--jobs", "1"])
    assert result.exit_code == 1
    assert "NOT AS RECORDED  symshuffle.wrong: refuted (recorded: holds); at n=2: 4 == 2" in result.stdout
    assert "full report: not written (give --report DIR)" in result.stdout


def test_verifying_nothing_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "load", lambda: registry.Ledger("fake_nothing", (), {}))
    result = CliRunner().invoke(app, ["verify"])
    assert result.exit_code == 1
    assert "0 claims" in result.stdout


@pytest.mark.usefixtures("fakes")
def test_claims() -> None:
    listed = json.loads(CliRunner().invoke(app, ["claims", "--json"]).stdout)
    assert len(listed) == 5
    assert listed[1] == {
        "id": "symshuffle.drawn",
        "paper": "symshuffle",
        "kind": "statement",
        "title": "the claim drawn",
        "checked": True,
        "recorded": "refuted",
        "grade": "refuted",
    }
    assert "[bold]co[/bold]" in CliRunner().invoke(app, ["claims", "symshuffle"]).stdout


def test_claims_of_ours_are_the_catalogue_and_more() -> None:
    listed = json.loads(CliRunner().invoke(app, ["claims", "--json"]).stdout)
    known = list(registry.catalogue())
    assert [entry["id"] for entry in listed[: len(known)]] == known
    assert all(entry["paper"] == "symshuffle" for entry in listed[len(known) :])
    text = CliRunner().invoke(app, ["claims", "vecmean"]).stdout
    assert "vecmean.thm-3.5" in text and "46 entries, 46 checked" in text
    assert re.search(r"vecmean: \d+ of 38 statements proved or certified\n$", text)


@pytest.mark.usefixtures("fakes")
def test_errata() -> None:
    (found,) = json.loads(CliRunner().invoke(app, ["errata", "--json"]).stdout)
    assert (found["id"], found["severity"], found["standing"]) == ("symshuffle.drawn", "hypothesis", "granted")
    assert (found["corrected"], found["grade"]) == ("$n + n$ is $2 n$", "exact-cases")
    text = CliRunner().invoke(app, ["errata"]).stdout
    assert (
        "changes (1)\n  the authors would grant it:\n  symshuffle.drawn: symshuffle, tests\n      accuses: n\n" in text
    )
    assert main(["errata", "nobody"]) == 2


def test_errata_of_a_paper_are_also_those_without_a_number() -> None:
    listed = {one["id"] for one in json.loads(CliRunner().invoke(app, ["errata", "vecmean", "--json"]).stdout)}
    assert {"vecmean.prop-3.7", "symshuffle.vecmean-mass-range"} <= listed
    whole = json.loads(CliRunner().invoke(app, ["errata", "--json"]).stdout)
    refuted = {claim.id for claim in registry.load().claims if claim.expected == "refuted"}
    assert refuted <= {one["id"] for one in whole}
    order = [one["severity"] for one in whole]
    assert order == sorted(order, key=members(Severity).index)


def test_cite() -> None:
    assert "Theorem 3.5" in CliRunner().invoke(app, ["cite", "vecmean.thm-3.5"]).stdout
    assert main(["cite", "vecmean.thm-3.55"]) == 2


@pytest.mark.usefixtures("fakes")
def test_show() -> None:
    facts = json.loads(CliRunner().invoke(app, ["show", "symshuffle.drawn", "--json"]).stdout)
    assert facts["controls"] == ["three times"]
    assert facts["corrected"] == {"statement": "$n + n$ is $2 n$", "grade": "exact-cases"}
    text = CliRunner().invoke(app, ["show", "symshuffle.true"]).stdout
    assert "n is a natural number" in text and "one off" in text and "$" not in text


@pytest.mark.usefixtures("fakes")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_reproduce(jobs: str, tmp_path: Path) -> None:
    asked = ["reproduce", "symshuffle.fig-1", "--out", str(tmp_path / "figures"), "--jobs", jobs]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0
    assert result.stdout == f"{tmp_path}/figures/fig-1.txt\n"
    assert (tmp_path / "figures" / "fig-1.txt").read_text() == "drawn"
    assert [path.name for path in (tmp_path / "figures").iterdir()] == ["fig-1.txt"]


@pytest.mark.usefixtures("fakes")
def test_reproduction_without_files_is_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "symshuffle.fig-1", "symshuffle.fig-0", "--out", str(tmp_path / "out")]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "symshuffle: symshuffle.fig-0 was reproduced, but no file came of it\n"
    assert list(tmp_path.iterdir()) == []


def test_doctor(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, "fake_ledger")
    monkeypatch.setattr(ledger, "DOCTORED", ("symshuffle.true", "symshuffle.drawn"))
    result = CliRunner().invoke(app, ["doctor", "--json"])
    assert result.exit_code == 0
    findings = json.loads(result.stdout)
    assert set(findings["versions"]) == {"python", "symshuffle", *ledger.LIBRARIES}
    assert findings["ball_precision"] == "restored and enclosing"
    assert findings["claims"] == {"symshuffle.true": "as recorded", "symshuffle.drawn": "as recorded"}
    monkeypatch.setattr(ledger, "DOCTORED", ("symshuffle.true", "symshuffle.gone"))
    text = CliRunner().invoke(app, ["doctor"])
    assert text.exit_code == 1
    assert "symshuffle.gone: missing" in text.stdout


WRONG: list[tuple[list[str], list[str]]] = [
    (["verify", "--jobs", "0"], ["--jobs = 0:", "from 1 to 256"]),
    (["verify", "--jobs", "x"], ["--jobs = x:", "from 1 to 256"]),
    (["verify", "--jobs", "-1"], ["--jobs = -1:", "from 1 to 256"]),
    (["verify", "--jobs", "9" * 5000], ["--jobs = 999", "from 1 to 256"]),
    (["verify", "--jobs"], ["--jobs", "requires an argument"]),
    (["verify", "--jbos", "1"], ["--jbos", "--jobs, --json, --report"]),
    (["verify", "nosuch", "--json", "new.json"], ["ID = nosuch:", "an id, a paper or a pattern"]),
    (["verify", "symshuffle.tru"], ["close matches: symshuffle.true"]),
    (["verify", "--json", "."], ["--json = .:", "a file"]),
    (["verify", "--report", "plain/x"], ["--report = plain/x:", "is not writable"]),
    (["claims", "vecmaen"], ["PAPER = vecmaen:", "one of symshuffle"]),
    (["show"], ["ID", "usage: symshuffle show"]),
    (["show", "line\nbreak"], ["ID = ", "expected the id of a claim"]),
    (["show", "a", "b"], ["unexpected extra argument"]),
    (["reproduce"], ["ID"]),
    (["reproduce", "symshuffle.fig-7"], ["ID = symshuffle.fig-7:", "symshuffle.fig-1"]),
    (["reproduce", "symshuffle.fig-1", "--out", "plain"], ["--out = plain:", "a directory"]),
    (["doctor", "--json", "x"], ["unexpected extra argument"]),
    (["verfy"], ["verfy", "verify, report, perturb, reproduce, doctor, claims, errata, show, cite"]),
    (["--nonsense"], ["--nonsense"]),
]


@pytest.mark.usefixtures("fakes")
@pytest.mark.parametrize(("arguments", "words"), WRONG, ids=lambda value: " ".join(value)[:40].replace("\n", " "))
def test_wrong_input_is_one_line_and_exit_code_2(
    arguments: list[str],
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain").touch()
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("symshuffle: ")
    assert captured.err.count("\n") == 1 and captured.err.endswith("\n")
    assert all(word.lower() in captured.err.lower() for word in words), captured.err
    assert [path.name for path in tmp_path.iterdir()] == ["plain"]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InputError("k", 1, "an integer >= 2"), 2),
        (Unsupported("no engine for this;\nuse the quotient"), 2),
        (SolverFailure("HIGHS", "time limit", "a test"), 3),
        (NotDecided("balls overlap"), 3),
        (registry.LedgerError("two claims share an id"), 1),
    ],
)
def test_errors_of_the_library_end_in_one_line(
    error: Exception, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> Any:
        raise error

    monkeypatch.setattr(catalogue, "load", fail)
    assert main(["claims"]) == status
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", f"symshuffle: {' '.join(str(error).split())}\n")


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["--help"], ["design", "--help"], ["verify", "-h"], ["--version"]):
        assert main(arguments) == 0
        assert "symshuffle" in capsys.readouterr().out


def test_one_claim_alone_prints_the_verdict_of_each_part() -> None:
    result = CliRunner().invoke(app, ["verify", "vecmean.thm-4.1", "--jobs", "1"])
    assert result.exit_code == 0
    assert "the statement: holds (6 symbolic)" in result.output
    assert "attained parameters of index chi: holds (1 symbolic)" in result.output
