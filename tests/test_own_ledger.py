"""docs/own-ledger.md does what it says: its file is a ledger, and every output on the page is what is printed."""

import contextlib
import io
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from symshuffle import InputError
from symshuffle.cli import main
from symshuffle.ledger import run_claim
from symshuffle.ledger.claims.registry import load, load_named

PAGE = Path(__file__).parents[1] / "docs" / "own-ledger.md"
TEXT = PAGE.read_text(encoding="utf-8")
TEMPLATE, CORRECTION = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
CONSOLE = re.compile(r"```console\n\$ symshuffle (.*?)\n(.*?)```", flags=re.DOTALL)


@pytest.fixture
def conjectures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory with the file of the page; forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "conjectures.py").write_text(TEMPLATE, encoding="utf-8")
    load.cache_clear()
    sys.modules.pop("conjectures", None)
    yield tmp_path
    sys.modules.pop("conjectures", None)
    load.cache_clear()


def printed(command: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
        main(shlex.split(command))
    return masked(out.getvalue())


def masked(text: str) -> str:
    """The text without seconds and trailing blanks."""
    return "".join(re.sub(r"\d+\.\d\d$", "0.00", line.rstrip()) + "\n" for line in text.strip("\n").splitlines())


def test_the_template_is_short() -> None:
    assert len([line for line in TEMPLATE.splitlines() if line.strip()]) <= 20


@pytest.mark.usefixtures("conjectures")
@pytest.mark.parametrize("command", [command for command, _ in CONSOLE.findall(TEXT)])
def test_outputs_on_the_page(command: str) -> None:
    assert dict(CONSOLE.findall(TEXT))[command] == printed(command), "run `python -m tests.test_own_ledger`"


@pytest.mark.usefixtures("conjectures")
def test_the_conjecture_is_refuted_by_a_smallest_counterexample() -> None:
    (claim,) = load_named("conjectures").claims
    outcome = run_claim(claim)
    assert (outcome.verdict, outcome.faults) == ("refuted", ())
    assert outcome.counterexample == "at n=2, lam=3/2, all others 0: 3/25 <= 1/10 is false (exact)"
    assert outcome.true == 2  # both instances with one user, the only smaller ones


def test_the_correction_of_the_page_holds(conjectures: Path) -> None:
    learnt = f"{TEMPLATE}\n{CORRECTION}"
    (conjectures / "conjectures.py").write_text(learnt, encoding="utf-8")
    (claim,) = load_named("conjectures").claims
    outcome = run_claim(claim)
    assert outcome.agrees_with_record
    assert outcome.corrected is not None and outcome.corrected.grade == "exact-cases"


@pytest.mark.usefixtures("conjectures")
@pytest.mark.parametrize(
    ("package", "content", "words"),
    [
        ("nosuchpackage", None, "ModuleNotFoundError"),
        ("../conjectures", None, "by its dotted name"),
        ("empty", "", "defines no tuple CLAIMS"),
        ("broken", "1 / 0", "ZeroDivisionError: division by zero"),
        ("none", "CLAIMS = ()", "declares CLAIMS"),
        ("json", None, "defines no tuple CLAIMS"),
    ],
)
def test_a_ledger_that_is_none(
    package: str, content: str | None, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        Path(f"{package}.py").write_text(content)
    for command in (["verify"], ["claims"], ["errata"], ["show", "a.b"], ["report"], ["cite", "a.b"]):
        assert main([*command, "--ledger", package]) == 2
    capsys.readouterr()
    assert main(["claims", "--ledger", package]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1
    assert words in captured.err
    sys.modules.pop(package, None)


@pytest.mark.usefixtures("conjectures")
def test_ids_of_a_ledger_have_a_form() -> None:
    for bad in ("plain", "notes.a/b", "anchored.thm-99"):
        Path("named.py").write_text(TEMPLATE.replace("notes.divided-by-n", bad))
        sys.modules.pop("named", None)
        load.cache_clear()
        with pytest.raises(Exception, match=re.escape(bad)) as caught:
            load_named("named")
        assert not isinstance(caught.value, InputError)
    sys.modules.pop("named", None)


@pytest.mark.usefixtures("conjectures")
def test_processes_find_the_ledger_too(capsys: pytest.CaptureFixture[str]) -> None:
    text = TEMPLATE + '\nfrom dataclasses import replace\nCLAIMS += (replace(CLAIMS[0], id="notes.again"),)\n'
    Path("conjectures.py").write_text(text)
    assert main(["verify", "--ledger", "conjectures", "--jobs", "2"]) == 1
    assert "2 claims: 2 refuted" in capsys.readouterr().out


def test_a_site_of_ones_own(conjectures: Path) -> None:
    assert main(["report", "--ledger", "conjectures", "--html", "site", "--jobs", "1"]) == 1
    page = (conjectures / "site" / "claims" / "notes.divided-by-n.html").read_text(encoding="utf-8")
    assert "symshuffle verify notes.divided-by-n --ledger conjectures" in page
    assert "≤ 1/10" in page and "3/25" in page
    assert (conjectures / "site" / "source" / "conjectures.html").is_file()


def refreshed() -> str:
    """The page with every output written anew; run where conjectures.py is."""
    return CONSOLE.sub(lambda found: f"```console\n$ symshuffle {found[1]}\n{printed(found[1])}```", TEXT)


if __name__ == "__main__":
    import os
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        os.environ["COLUMNS"] = "100"
        Path("conjectures.py").write_text(TEMPLATE, encoding="utf-8")
        PAGE.write_text(refreshed(), encoding="utf-8")
