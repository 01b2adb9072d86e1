"""What the README and docs/how-to-choose.md show is what happens: every output is compared to the letter."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CHOOSING = (ROOT / "docs" / "how-to-choose.md").read_text(encoding="utf-8")
PAGES = README + CHOOSING
PYTHON = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGES, flags=re.DOTALL)
CONSOLE = re.findall(r"```console\n\$ (.*?)\n(.*?)```", PAGES, flags=re.DOTALL)
WIDTH = 100


def lines(text):
    return [line.rstrip() for line in text.strip().splitlines()]


def test_every_block_of_code_is_shown_with_its_output():
    assert len(PYTHON) == PAGES.count("```python") == PAGES.count("```text") >= 2
    assert len(CONSOLE) == PAGES.count("```console") >= 1


@pytest.mark.parametrize(("code", "shown"), PYTHON)
def test_python(code, shown):
    assert len(lines(code)) <= 13
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "README.md", "exec"), {})
    assert lines(printed.getvalue()) == lines(shown)


@pytest.mark.parametrize(("command", "shown"), CONSOLE)
def test_console(command, shown):
    program, *arguments = shlex.split(command)
    assert program == "symshuffle"
    finished = subprocess.run(
        [sys.executable, "-m", program, *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "COLUMNS": str(WIDTH)},
        check=False,
    )
    assert lines(finished.stdout + finished.stderr) == lines(shown)


@pytest.mark.parametrize("target", ["run", "test"])
def test_the_two_commands_exist(target):
    assert f"    make {target} " in README
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)


def test_every_paper_has_its_row():
    from symshuffle.claims.registry import papers

    rows = re.findall(r"^\| .+? \| `(\w+)` \|.*\[proofs_checks/(\w+)\]", README, flags=re.MULTILINE)
    assert sorted(rows) == sorted((paper, paper) for paper in papers())


def test_what_is_missing_is_really_missing():
    from symshuffle.mechanisms.registry import MECHANISMS

    implemented = any(make().source.startswith("vecmean") for make in MECHANISMS.values())
    assert ("its mechanisms are continuous and not here yet" in README) is not implemented
