"""Figures of the paper and its example come with their numbers."""

import csv

import pytest
from typer.testing import CliRunner

from symshuffle.cli import app
from symshuffle.ledger.claims.registry import load


@pytest.mark.parametrize("name", ["fig-3", "fig-8"])
def test_figures_come_with_their_numbers(name, tmp_path):
    table, picture = load().reproduction(f"alphabets.{name}")(tmp_path)
    assert picture.stat().st_size > 10_000
    with table.open(encoding="utf-8") as stream:
        assert len(list(csv.reader(stream))) > 50


@pytest.mark.parametrize(("number", "lines"), [(4, 350), (5, 20), (6, 100)])
def test_the_command_writes_them(number, lines, tmp_path):
    result = CliRunner().invoke(app, ["reproduce", f"alphabets.fig-{number}", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    text = (tmp_path / f"alphabets.fig-{number}.csv").read_text(encoding="utf-8")
    assert len(list(csv.reader(text.splitlines()[2:]))) >= lines


def test_the_example_is_written(tmp_path):
    (table,) = load().reproduction("alphabets.ex-10.4")(tmp_path)
    assert "10,2,0.136363636363636,0.306818181818182,104.7,108,1.0315" in table.read_text(encoding="utf-8")
