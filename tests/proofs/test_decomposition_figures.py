"""Figures and tables of the paper, from the command line: numbers, and a picture or a page beside them."""

import csv
import itertools
from fractions import Fraction

import pytest
from typer.testing import CliRunner

from proofs_checks.decomposition import _curves as curves
from proofs_checks.decomposition import section6_frequencies as frequencies
from symshuffle import randomizer
from symshuffle.accountants.questions import solve
from symshuffle.cli import app


def reproduced(name, tmp_path):
    result = CliRunner().invoke(app, ["reproduce", name, "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    text = (tmp_path / f"{name}.csv").read_text(encoding="utf-8")
    assert text.startswith(f"# {name}: ")
    return list(csv.DictReader(text.splitlines()[1:]))


@pytest.mark.parametrize(("name", "panels"), [("decomposition.fig-4", 6), ("decomposition.fig-8", 1)])
def test_a_figure_comes_with_its_numbers(name, panels, tmp_path):
    rows = reproduced(name, tmp_path)
    assert len({(row["panel"], row["x name"]) for row in rows}) == panels
    assert all(float(row["y"]) >= 0 for row in rows)
    assert (tmp_path / f"{name}.png").stat().st_size > 10_000


def test_every_curve_of_a_profile_falls(tmp_path):
    """The closed forms included, which alone need not; and none lies below the pair of datasets that is real."""
    heights = {}
    for row in reproduced("decomposition.fig-6", tmp_path):
        heights.setdefault((row["panel"], row["curve"]), []).append((float(row["x"]), float(row["y"])))
    for (panel, curve), points in heights.items():
        values = [y for _, y in points]
        assert values == sorted(values, reverse=True)
        if (panel, f"{curve}, lower bound") in heights:
            for (_, upper), (_, lower) in zip(points, heights[panel, f"{curve}, lower bound"], strict=True):
                assert lower <= upper and (upper < 1e-10 or upper < 1.2 * lower)


@pytest.mark.parametrize("bound", [curves.hoeffding, curves.bennett])
def test_closed_forms_do_not_jump_at_zero_and_never_rise(bound):
    for eps0 in (Fraction(1, 10), Fraction(4)):
        levels = [eps0 * j / 200 for j in range(200)]
        for n in (10, 1000):
            profile = bound("", randomizer("krr").at(k=10), eps0).profile(n, levels)
            assert all(after <= before for before, after in itertools.pairwise(profile))
            start, near = bound("", randomizer("krr").at(k=10), eps0).profile(n, [Fraction(0), eps0 / 10**6])
            assert start * Fraction(999, 1000) < near <= start


@pytest.mark.parametrize(("of", "eps0"), [("laplace", "1/10"), ("laplace", "4"), ("krr", "4")])
def test_curves_in_doubles_contain_what_the_accountant_certifies(of, eps0):
    eps0 = Fraction(eps0)
    source = curves.Laplace(curves.Exp(eps0), cells=200) if of == "laplace" else randomizer("krr").at(k=10, eps0=eps0)
    drawn = "laplace" if of == "laplace" else randomizer("krr").at(k=10)
    eps = curves.optimal("", drawn, eps0).amplification([1000])[0]
    found = solve.delta(source, n=1000, eps=eps, arithmetic="ball", rtol=1e-3).bracket
    assert Fraction(80, 100) * curves.TARGET < found.upper <= curves.TARGET
    (real,) = curves.attained("", drawn, eps0).profile(1000, [eps])
    assert real <= found.upper


def test_a_table_of_formulas_says_which_entries_are_right(tmp_path):
    rows = reproduced("decomposition.table-2", tmp_path)
    assert {(row["mechanism"], row["entry"]) for row in rows if row["agree"] == "no"} == {("HR", "q"), ("HR", "r")}
    page = (tmp_path / "decomposition.table-2.md").read_text(encoding="utf-8")
    assert page.count("printed: ") == 2 and "| RAPPOR |" in page


def test_table_4(tmp_path, monkeypatch):
    """The claim of that name has the budgets and errors of all six levels; this is how two of them are written."""
    monkeypatch.setattr(frequencies, "EPSILONS", frequencies.EPSILONS[:2])
    rows = reproduced("decomposition.table-4", tmp_path)
    assert len(rows) == 4 and [row["eps0"] for row in rows[:2]] == ["0.171118", "0.209802"]
    for row in rows:
        root, mean = float(row["root mean square (closed form)"]), float(row["mean l2 error"])
        assert 0.95 * root < mean + 5 * float(row["standard error"]) and mean < root
    assert {path.suffix for path in tmp_path.iterdir()} == {".csv", ".md", ".png"}
