"""The spellings that deployments take are accepted by mypy in the code of users, as the package says it is typed."""

import subprocess
import sys

import pytest

from tests.shell import ROOT

USES = """
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from symshuffle import Adjacency, Channel, Deployment, Group, InputError, delta, epsilon, randomizer

krr = randomizer("krr").at(k=3, eps0="1/2")
rr = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
given = [
    Deployment(krr),
    Deployment(Group(krr), "zero-out"),
    Deployment([Group(rr, 9_000), Group([[0.75, 0.25], [0.25, 0.75]], "1_000", colluding="10%")], periods="7"),
    Deployment([["3/4", "1/4"], ["1/4", "3/4"]], Adjacency(null=["1/2", Decimal("0.5")])),
    Deployment(Group(rr, 9, dropout=0.1), Adjacency("replace-one", group_size="2")),
    Deployment(Group(rr, 9, 5), Adjacency(pairs="0-1"), threshold=3.0),
    Deployment([Group(rr, 9), Group.of_dummies("9", [0.5, "1/2"])]),
    Deployment(Group(rr, Fraction(2)), Adjacency(datasets=([0, 1], (1, 1))), later_periods=[]),
]
found = [epsilon(one, n=9, delta="1e-8") for one in given] + [delta(Path("plan.toml"), eps=Decimal(1), dropout="10%")]
wrong = [Deployment(krr, memoised="yes"), Deployment(krr, later_periods=3)]
"""
"""What users write; the last line is wrong in two places."""


@pytest.mark.conformance
def test_accepted_spellings_pass_the_checker_of_types(tmp_path):
    (tmp_path / "uses.py").write_text(USES)
    words = [sys.executable, "-m", "mypy", "--strict", "--config-file", ROOT / "pyproject.toml", tmp_path / "uses.py"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, cwd=ROOT, check=False)
    wrong = [line for line in done.stdout.splitlines() if "error" in line]
    assert [f"uses.py:{len(USES.splitlines())}:" in line for line in wrong] == [True, True, False], done.stdout
