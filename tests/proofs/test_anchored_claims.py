"""Every claim of the paper comes out as recorded, with its corrections, and rejects its controls."""

import csv

import pytest

from symshuffle.claims.registry import catalogue, load
from symshuffle.claims.run import run

CLAIMS = [claim for claim in load().claims if claim.id.startswith(("anchored.", "symshuffle.anchored"))]


def test_the_paper_is_covered():
    assert {entry for entry in catalogue() if entry.startswith("anchored.")} <= {claim.id for claim in CLAIMS}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_claim_comes_out_as_recorded(claim):
    outcome = run(claim)
    assert outcome.faults == ()
    assert outcome.verdict is claim.expected, outcome.counterexample
    assert outcome.controls_rejected == len(claim.controls)
    assert outcome.symbolic_rejection is not False
    if claim.corrected is not None:
        assert outcome.corrected is not None
        assert outcome.corrected.grade is claim.corrected.grade


@pytest.mark.parametrize("name", ["anchored.table-1", "anchored.table-2"])
def test_tables_are_written(name, tmp_path):
    (path,) = load().reproduction(name)(tmp_path)
    with path.open(encoding="utf-8") as stream:
        assert len(list(csv.reader(stream))) == 13


@pytest.mark.parametrize("name", ["triangle", "ranges", "profile"])
def test_figures_are_written(name, tmp_path):
    (path,) = load().reproduction(f"anchored.figure-{name}")(tmp_path)
    assert path.stat().st_size > 10_000
