"""Tables and figures of the paper are written."""

import csv

import pytest

from symshuffle.ledger.claims.registry import load


@pytest.mark.parametrize("name", ["anchored.table-1", "anchored.table-2"])
def test_tables_are_written(name, tmp_path):
    (path,) = load().reproduction(name)(tmp_path)
    with path.open(encoding="utf-8") as stream:
        assert len(list(csv.reader(stream))) == 13


@pytest.mark.parametrize("name", ["triangle", "ranges", "profile"])
def test_figures_are_written(name, tmp_path):
    (path,) = load().reproduction(f"anchored.figure-{name}")(tmp_path)
    assert path.stat().st_size > 10_000
