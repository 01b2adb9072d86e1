"""What the README and pages of docs show is what happens: every output is compared to the letter.

Numbers are compared to twelve digits: further ones of doubles differ from one processor to the next.
"""

import importlib.util
import re
from pathlib import Path

import pytest

from symshuffle.ledger.claims import registry
from symshuffle.ledger.claims.model import ClaimVerdict

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def script(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


outputs = script(ROOT / "docs" / "outputs.py")
SHOWN = [block for page in outputs.PAGES for block in outputs.blocks(page.read_text(encoding="utf-8"))]


def test_every_program_is_shown_with_its_output():
    text = "".join(page.read_text(encoding="utf-8") for page in outputs.PAGES)
    kinds = [kind for kind, _, _ in SHOWN]
    assert kinds.count("python") == text.count("```python") == text.count("```text") >= 2
    assert kinds.count("console") == text.count("```console") >= 1
    assert all(output.strip() for _, _, output in SHOWN)


@pytest.mark.parametrize(("kind", "program", "shown"), SHOWN, ids=range(len(SHOWN)))
def test_output_is_what_is_printed(kind, program, shown):
    assert outputs.to_twelve(outputs.output(kind, program)) == outputs.to_twelve(shown), "run `make pages`"


def test_a_file_that_is_shown_is_the_example_that_is_run():
    page = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    shown = re.findall(r"```toml\n(.*?)```\n\n```console\n[^\n]* --rounds-file (\S+)\n", page, flags=re.DOTALL)
    assert shown
    assert all((ROOT / path).read_text(encoding="utf-8") == text for text, path in shown)


def test_numbers_are_told_apart_to_twelve_digits():
    to_twelve = outputs.to_twelve
    assert to_twelve("a 0.0664547765665391 b") == to_twelve("a  0.066454776566539104\nb")
    assert to_twelve("0.0664547765665") != to_twelve("0.0664547765655") and to_twelve("3.00000000001") != to_twelve(
        "3.0"
    )


def test_examples_are_short():
    for kind, program, _ in SHOWN:
        assert len(program.strip().splitlines()) <= (13 if kind == "python" else 1)


def test_refreshing_writes_outputs_and_nothing_else():
    page = "a\n```python\nprint(1 + 1)\n```\n\n```text\nwrong\n```\nb"
    assert outputs.refresh(page) == page.replace("wrong", "2")


@pytest.mark.parametrize("target", ["run", "test"])
def test_the_two_commands_exist(target):
    assert f"    make {target} " in README
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)


def test_every_paper_has_its_row():
    rows = re.findall(r"^\| .+? \| `(\w+)` \|.*\[proofs_checks/(\w+)\]", README, flags=re.MULTILINE)
    assert sorted(rows) == sorted((paper, paper) for paper in registry.papers())


def test_what_is_wrong_as_printed_has_a_correction():
    refuted = [claim for claim in registry.load().claims if claim.expected is ClaimVerdict.REFUTED]
    assert refuted
    assert [claim.id for claim in refuted if claim.corrected is None] == []
