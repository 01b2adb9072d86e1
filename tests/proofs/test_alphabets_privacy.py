"""Sections 2 to 7 of the paper, what goes beyond them, and figures 4 to 6."""

import csv
import re

import pytest
from typer.testing import CliRunner

from symshuffle.claims.registry import catalogue, load
from symshuffle.claims.run import run
from symshuffle.cli import app

EARLY = re.compile(r"alphabets\.(def|lem|thm|cor|prop|rem)-[2-7]\.\w+")
CLAIMS = [c for c in load().claims if EARLY.fullmatch(c.id) or c.id.startswith("symshuffle.alphabets-")]
OURS = {
    "normal-profile", "poisson-window", "worst-curve", "identifiable-obstruction", "worst-background",
}  # fmt: skip


def test_the_sections_are_covered():
    ids = {claim.id for claim in CLAIMS}
    assert {entry for entry in catalogue() if EARLY.fullmatch(entry)} <= ids
    assert {f"symshuffle.alphabets-{name}" for name in OURS} <= ids


@pytest.mark.parametrize(
    "claim",
    [c for c in CLAIMS if not c.id.startswith("symshuffle.") or c.id.removeprefix("symshuffle.alphabets-") in OURS],
    ids=lambda claim: claim.id,
)
def test_claim_comes_out_as_recorded(claim):
    outcome = run(claim)
    assert outcome.faults == ()
    assert outcome.verdict is claim.expected, outcome.counterexample
    assert outcome.controls_rejected == len(claim.controls)
    assert outcome.symbolic_rejection is not False


@pytest.mark.parametrize(("number", "lines"), [(4, 350), (5, 20), (6, 100)])
def test_figures_come_with_their_numbers(number, lines, tmp_path):
    result = CliRunner().invoke(app, ["reproduce", f"alphabets.fig-{number}", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    text = (tmp_path / f"alphabets.fig-{number}.csv").read_text(encoding="utf-8")
    assert len(list(csv.reader(text.splitlines()[2:]))) >= lines
