"""The contract of `symshuffle compare`."""

import csv
import re
from fractions import Fraction

import pytest

from symshuffle.design.comparison.rows import BOUNDS
from tests.shell import answer, refused, run
from tests.words import words

SMALL = ["compare", "--k", "4", "--n", "10", "--mechanism", "krr", "--mechanism", "half-block"]
KEYS = set(
    words(
        "mechanism title parameters eps0 epsilon attained_lower attained_by privacy chi_square trace risk "
        "uniform_risk iid_risk largest_coordinate_variance estimator bitwise_risk reason "
        "worse_than_uniform iid_risk_over bits_per_message risk_floor choice loss loss_worst_at excess matrix"
    )
)


def test_json(capsys):
    found = answer(capsys, *SMALL, "--budget", "1/2", "--delta", "1/100")
    assert found.keys() == {"k", "n", "match", "about", "evaluation", "rows", "absent", "alike"}
    assert found["match"] == {"kind": "chi-square", "value": "1/2", "delta": "1/100", "loss": "l2"}
    best, blocks = found["rows"]
    assert best.keys() == blocks.keys() == KEYS
    assert best["mechanism"] == "krr"
    assert best["iid_risk_over"].keys() == set(BOUNDS)
    assert blocks["risk"] == "infinite"
    assert "no estimator is unbiased" in blocks["reason"]
    assert float(best["attained_lower"]) <= float(best["epsilon"]["upper"])


def test_table_csv_and_picture(capsys, tmp_path):
    rows, picture = tmp_path / "rows.csv", tmp_path / "picture.svg"
    status, out, _ = run(capsys, *SMALL, "--eps0", "1", "--csv", rows, "--plot", picture)
    assert status == 0
    assert "half-block: no estimator is unbiased" in out
    with rows.open() as stream:
        read = list(csv.DictReader(stream))
    assert [row["mechanism"] for row in read] == ["krr", "half-block"]
    assert float(read[0]["risk"]) > 0
    assert read[1]["risk"] == "infinite"
    assert read[0]["epsilon"] == ""
    assert "<svg" in picture.read_text()
    assert {path.name for path in tmp_path.iterdir()} == {"rows.csv", "picture.svg"}  # no drafts


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "exactly one of budget, eps0, and eps with delta"),
        (["--budget", "much"], "budget = much"),
        (["--eps0", "1", "--delta", "1"], "(0, 1)"),
        (["--eps0", "1", "--rtol", "0"], "--rtol = 0: expected a relative width"),
        (["--eps0", "1", "--variants", "0"], "variants = 0"),
        (["--eps0", "1", "--mechanism", "hadamar"], "hadamard"),
        (["--eps0", "1", "--plot", "picture.bmp"], ".png"),
        (["--eps0", "1", "--csv", "/"], "a directory"),
    ],
)
def test_wrong_input_is_one_line_and_exit_2(capsys, arguments, said):
    assert said in refused(capsys, *SMALL, *arguments)


def test_a_narrow_terminal_still_has_every_column(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    status, out, _ = run(capsys, *SMALL, "--budget", "1/2", "--delta", "1/100")
    assert status == 0
    for name in ("mechanism", "krr", "half-block", "eps0", "attained", "bits"):
        assert name in out


@pytest.mark.parametrize("names", [("krr", "half-block"), ("hadamard", "krr", "oue")])
def test_the_table_names_the_estimator_of_every_row(capsys, names):
    """Below the table the estimator of each row is named; `hadamard` has 7 inputs where 4 are asked for."""
    request = [*words("compare --k 4 --n 10 --eps0 1"), *(word for one in names for word in ("--mechanism", one))]
    named = {row["mechanism"]: row["estimator"] for row in answer(capsys, *request)["rows"]}
    assert set(named) == set(names)
    _, out, _ = run(capsys, *request)
    lines = [line.rstrip() for line in out.splitlines() if line.split()]
    told = " ".join(out.split())
    for name, estimator in named.items():
        (line,) = (line for line in lines if line.split()[0] == name and "local" not in line)
        assert (estimator is None) == ("infinite" in line)
        said = re.search(rf"estimator(?: of [^:]*\b{name}\b[^:]*)?: {re.escape(estimator or '')}", told)
        assert estimator is None or said


def test_the_four_lines_are_read_back(capsys):
    """The best row, its loss rounded up, its eps and whom that protects, against the JSON of the same question."""
    asked = ["compare", "--k", "4", "--n", "1000", "--eps0", "1", "--delta", "1e-3"]
    request = [*asked, "--mechanism", "krr", "--mechanism", "oue"]
    found = answer(capsys, *request)
    words = " ".join(run(capsys, *request)[1].split())
    best = found["rows"][0]
    read = re.match(
        r"best (\S+): expected sum of squared errors <= (\S+) \(upper end, rounded up\), the smallest of 2 rows "
        r"protects any one of 1,000 users may change their value, eps <= (\S+) \(upper end, rounded up\) at delta = "
        r"0.001 assumes honest users; fresh randomness; unlinkable sure loss in ball arithmetic.*; parameters: no free "
        r"parameters; eps: a theorem",
        words,
    )
    assert read and read[1] == best["mechanism"]
    for shown, end in ((read[2], best["loss"]["upper"]), (read[3], best["epsilon"]["upper"])):
        assert Fraction(end) <= Fraction(shown) <= Fraction(end) * Fraction(1001, 1000)
    local = " ".join(run(capsys, *request[:7], *request[9:])[1].split())
    assert "about at local level 1, k = 4, n = 1000; nothing is said of shuffled messages sure" in local
    assert "assumes" not in local and "protects" not in local
    explained = run(capsys, *request, "--explain")[1]
    assert "risk/bound" in explained and "meaning" in explained and "risk/bound" not in words
