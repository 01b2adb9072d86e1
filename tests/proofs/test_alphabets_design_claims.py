"""Sections 8 to 12 of the paper, and what goes beyond them, come out as recorded."""

import csv

import pytest

from symshuffle.claims.registry import catalogue, load
from symshuffle.claims.run import run

SECTIONS = ("8.", "9.", "10.", "11.", "12.", "12chi", "12risk", "12incl")
IDS = {entry for entry in catalogue() if entry.startswith("alphabets.") and entry.split("-")[1].startswith(SECTIONS)}
OWN = [
    f"symshuffle.alphabets-{name}"
    for name in (
        "frontier",
        "largest-budget",
        "capped-vertices",
        "third-background",
        "backgrounds",
        "cube",
        "van-trees",
        "minimax",
        "ratios",
        "exact-delta",
    )
]


def test_the_sections_are_covered():
    assert len(IDS) == 25
    assert IDS | {"alphabets.tab-1"} <= {claim.id for claim in load().claims}


@pytest.mark.parametrize("name", [*sorted(IDS), "alphabets.tab-1", *OWN])
def test_claim_comes_out_as_recorded(name):
    claim = load().claim(name)
    outcome = run(claim)
    assert outcome.faults == ()
    assert outcome.verdict is claim.expected, outcome.counterexample
    assert outcome.controls_rejected == len(claim.controls)
    assert outcome.symbolic_rejection is not False
    if claim.corrected is not None:
        assert outcome.corrected is not None
        assert outcome.corrected.grade is claim.corrected.grade


@pytest.mark.parametrize("name", ["fig-3", "fig-8"])
def test_figures_come_with_their_numbers(name, tmp_path):
    table, picture = load().reproduction(f"alphabets.{name}")(tmp_path)
    assert picture.stat().st_size > 10_000
    with table.open(encoding="utf-8") as stream:
        assert len(list(csv.reader(stream))) > 50


def test_the_example_is_written(tmp_path):
    (table,) = load().reproduction("alphabets.ex-10.4")(tmp_path)
    assert "10,2,0.136363636363636,0.306818181818182,104.7,108,1.0315" in table.read_text(encoding="utf-8")
