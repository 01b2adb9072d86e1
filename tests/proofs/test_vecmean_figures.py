"""The figures of the paper agree with known numbers."""

import csv

import pytest

from proofs_checks.vecmean.figures import mixed_at_index, per_coordinate
from symshuffle.ledger.claims.registry import load


def test_parameters_of_least_error():
    mechanism = mixed_at_index(100.0, 1)
    assert float(mechanism.gamma) == pytest.approx(0.9545501589393673, abs=1e-6)
    assert per_coordinate(mechanism, 1) ** 2 == pytest.approx(10737.36889311445, rel=1e-9)


def test_figure_3_is_written(tmp_path):
    paths = load().reproduction("vecmean.fig-3")(tmp_path)
    with paths[0].open(encoding="utf-8") as stream:
        rows = [row for row in csv.reader(stream) if row and row[-2:-1] == ["ε"]]
    known = (0.0022983327284277, 0.00054600349020169, 0.00010935581711961)
    assert [float(row[-1]) for row in rows] == pytest.approx(known, rel=2e-5)
