"""Notebooks are built from their percent scripts, and run."""

from pathlib import Path

import jupytext
import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "notebooks").glob("*.py"))


def cells(notebook):
    return [(cell.cell_type, cell.source) for cell in notebook.cells]


def test_there_is_a_notebook_and_each_has_its_script():
    assert SCRIPTS
    assert {path.with_suffix(".ipynb") for path in SCRIPTS} == set((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_built_notebook_is_up_to_date(script):
    built = nbformat.read(script.with_suffix(".ipynb"), as_version=4)
    nbformat.validate(built)
    assert cells(built) == cells(jupytext.read(script)), "run `make notebooks`"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_notebook_runs_and_prints_what_is_committed(script):
    committed = nbformat.read(script.with_suffix(".ipynb"), as_version=4)
    running = nbformat.read(script.with_suffix(".ipynb"), as_version=4)
    NotebookClient(running, timeout=300, resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = [printed(cell) for cell in running.cells]
    assert shown == [printed(cell) for cell in committed.cells], "run `make notebooks`"
    assert any(shown)


def printed(cell):
    """What a cell prints or returns as text; figures differ between versions of matplotlib."""
    outputs = cell.get("outputs", ())
    streams = "".join(output.text for output in outputs if output.output_type == "stream" and output.name == "stdout")
    results = [
        output.data.get("text/latex", output.data.get("text/plain", "")) for output in outputs if "data" in output
    ]
    return streams, [result for result in results if "Figure" not in result]
