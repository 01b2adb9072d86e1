"""Notebooks are built from their percent scripts, and run."""

import ast
import contextlib
import io
from pathlib import Path

import jupytext
import matplotlib.pyplot as plt
import nbformat
import pytest
from IPython.core.formatters import DisplayFormatter

from proofs_checks.anchored import figures

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
def test_notebook_runs_and_prints_what_is_committed(script, monkeypatch):
    """Its cells in this process, one after the other: a kernel would load every library anew for each.

    Pictures are not compared: those of the papers are drawn through a tenth of their points.
    """
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(plt, "show", lambda: None)
    monkeypatch.setattr(figures, "range", thinned, raising=False)
    committed = nbformat.read(script.with_suffix(".ipynb"), as_version=4)
    names, shown = {"__name__": script.stem}, []
    for cell in committed.cells:
        shown.append(run(cell.source, names) if cell.cell_type == "code" else ("", []))
        plt.close("all")
    assert shown == [printed(cell) for cell in committed.cells], "run `make notebooks`"
    assert any(shown)


def thinned(*ends):
    return range(*ends)[:: 10 if len(range(*ends)) > 10 else 1]


def run(source, names):
    """What a cell prints, and how a notebook shows its last value."""
    tree = ast.parse(source)
    if isinstance(tree.body[-1], ast.Expr):
        tree.body[-1] = ast.Assign([ast.Name("_shown", ast.Store())], tree.body[-1].value)
    with contextlib.redirect_stdout(io.StringIO()) as stream:
        exec(compile(ast.fix_missing_locations(tree), "cell", "exec"), names)
    value = names.pop("_shown", None)
    results = [] if value is None else [text(DisplayFormatter().format(value)[0])]
    return stream.getvalue(), [result for result in results if "Figure" not in result]


def text(data):
    return data.get("text/latex", data.get("text/plain", ""))


def printed(cell):
    """What a cell prints or returns as text; figures differ between versions of matplotlib."""
    outputs = cell.get("outputs", ())
    streams = "".join(output.text for output in outputs if output.output_type == "stream" and output.name == "stdout")
    results = [text(output.data) for output in outputs if "data" in output]
    return streams, [result for result in results if "Figure" not in result]
