"""Two cheap figures of the paper, from the command line: a table and a picture beside it."""

import csv

import pytest
from typer.testing import CliRunner

from symshuffle.cli import app


@pytest.mark.parametrize("name", ["decomposition.fig-4", "decomposition.fig-8"])
def test_a_figure_comes_with_its_numbers(name, tmp_path):
    result = CliRunner().invoke(app, ["reproduce", name, "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    text = (tmp_path / f"{name}.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()[1:]))
    assert text.startswith(f"# {name}: ")
    assert len(rows) > 20
    assert all(float(row["y"]) >= 0 for row in rows)
    assert (tmp_path / f"{name}.png").stat().st_size > 10_000
