"""The page on surveys: its commands run one after another, and print what the page shows."""

import importlib.util
import re
from pathlib import Path

from symshuffle.cli import main

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "surveys.md"
BLOCK = re.compile(r"```console\n\$ symshuffle (.*?)\n(.*?)```", flags=re.DOTALL)


def to_twelve(text):
    spec = importlib.util.spec_from_file_location("outputs", ROOT / "docs" / "outputs.py")
    outputs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(outputs)
    return outputs.to_twelve(text)


def test_commands_print_what_the_page_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    Path("answers.csv").write_text("user,answer\n" + "".join(f"u{i},{i % 5}\n" for i in range(2000)))
    shown = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(shown) == 3
    for command, output in shown:
        assert main(command.split()) == 0
        assert to_twelve(capsys.readouterr().out) == to_twelve(output)


def test_files_are_as_the_page_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    from symshuffle.collect.schemes import SCHEMES

    assert all(f"`{name}`" in text for name in SCHEMES)
    from symshuffle.collect.estimate import COLUMNS

    assert all(f"`{name}`" in text for name in COLUMNS[1:])
