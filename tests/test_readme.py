"""What the README and pages of docs show is what happens: every output is compared to the letter.

Numbers are compared to twelve digits: further ones of doubles differ from one processor to the next.
"""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from symshuffle import epsilon, randomizer
from symshuffle.ledger.claims import registry
from tests.shell import script

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


outputs = script("outputs")
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


DEPLOYMENT = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")


def test_a_file_that_is_shown_is_the_example_that_is_run():
    shown = re.findall(
        r"```toml\n(.*?)```\n\n```(?:console\n\$|sh\n)[^\n]*(examples/\S+\.toml)", DEPLOYMENT, flags=re.DOTALL
    )
    assert len(shown) == DEPLOYMENT.count("```toml") == 3
    assert all((ROOT / path).read_text(encoding="utf-8") == text for text, path in shown)


def test_the_table_of_a_sweep_is_what_it_writes(tmp_path):
    (command,) = re.findall(r"^symshuffle (sweep .*) --out sweep$", DEPLOYMENT, flags=re.MULTILINE)
    (shown,) = re.findall(r"```none\n(.*?)```", DEPLOYMENT, flags=re.DOTALL)
    assert outputs.output("console", f"symshuffle {command} --out {tmp_path}").startswith("12 points, 0 of them from")
    written = (tmp_path / "table.csv").read_text(encoding="utf-8")
    rows = [[line.rpartition(",")[0] for line in text.splitlines()] for text in (shown, written)]
    assert rows[0] == rows[1][: len(rows[0])]


def test_what_the_first_page_says_shuffling_buys():
    found = epsilon(randomizer("krr").at(k=10, eps0=4), n=10**6, delta="1e-6")
    assert "leaks eps0 = 4" in README and "eps = 0.032" in README
    assert found.bracket.upper <= Fraction("0.032")


PICTURES = script("pictures")


def test_pictures_are_small_and_come_from_commands_that_pages_show():
    shown = {}
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text):
            shown[(page.parent / target).name] = text
            assert 0 < (page.parent / target).stat().st_size < 60_000
    there = {path.name for path in PICTURES.FOLDER.iterdir()}
    assert set(shown) == there
    there -= {"growth.svg"}  # `make performance` draws that one
    assert there == {"amplification.svg", "best-sizes.svg", *PICTURES.COMMANDS}
    assert all(f"```sh\n{command}\n```" in shown[name] for name, command in PICTURES.COMMANDS.items())


def test_the_picture_of_the_first_page_is_drawn_again():
    assert PICTURES.amplification().startswith(b"<?xml")


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
    rows = re.findall(r"^\| .+? \| `(\w+)` \|", README, flags=re.MULTILINE)
    assert sorted(rows) == sorted(registry.papers())
    assert all((ROOT / "proofs_checks" / paper).is_dir() for paper in rows)


def test_what_is_wrong_as_printed_has_a_correction():
    refuted = [claim for claim in registry.load().claims if claim.expected == "refuted"]
    assert refuted
    assert [claim.id for claim in refuted if claim.corrected is None] == []
