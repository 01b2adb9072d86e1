"""The commands renyi and gdp, and the Gaussian beside a trade-off curve."""

import csv
import re

import pytest

from tests.shell import answer, refused, run

KRR = ("krr", "-p", "k=4", "--eps0", "1", "--n", "10,000")


def test_renyi(capsys):
    found = answer(capsys, "renyi", *KRR, "--order", "8", "--periods", "5", "--rtol", "1e-2")
    assert found["order"] == "8"
    assert found["inputs"]["periods"] == 5
    assert found["relative_width"] <= 1e-2
    assert float(found["attained_lower"]) <= float(found["upper"])
    assert found["adjacency"] == "replace-one"
    assert "both directions" in found["meaning"]
    status, text, _ = run(capsys, "renyi", *KRR, "--order", "8", "--rtol", "1e-2")
    assert status == 0
    assert re.match(r"Rényi divergence +<= [\d.]+ \(.*\) at order = 8\s", text)
    _, text, _ = run(capsys, "renyi", *KRR, "--order", "1.00000001", "--rtol", "1e-2")
    assert re.match(
        r"Rényi divergence +<= .* at\s+order = 1.00000001\s", text.splitlines()[0] + " " + text.splitlines()[1]
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("renyi", *KRR, "--order", "2", "--periods", "0"), "--periods = 0"),
        (("renyi", "erasure", "-p", "k=3", "-p", "p=1/2", "--n", "9", "--order", "2"), "is infinite"),
        (("gdp", *KRR, "--periods", "0"), "--periods = 0"),
        (("gdp", "krr", "-p", "k=4", "--eps0", "1"), "--n"),
        (("renyi", *KRR, "--order", "4", "--group-size", "2"), "--group-size = 2: "),
        (("renyi", *KRR, "--order", "4", "--dropout", "1/10"), "--dropout = 1/10: "),
    ],
)
def test_wrong_input_is_one_line(capsys, arguments, message):
    assert message in refused(capsys, *arguments)


def test_gdp_says_that_it_guarantees_nothing(capsys):
    found = answer(capsys, "gdp", *KRR, "--periods", "4")
    assert found["certified"] is False
    assert found["mu"] == pytest.approx(0.0203, rel=1e-2)
    _, text, _ = run(capsys, "gdp", *KRR)
    assert "no guarantee" in " ".join(text.split())


def test_the_gaussian_stands_beside_the_certified_curve(capsys, tmp_path):
    table, plot = tmp_path / "f.csv", tmp_path / "f.svg"
    command = ("tradeoff", *KRR, "--points", "5", "--csv", str(table), "--plot", str(plot))
    found = answer(capsys, *command)
    assert found["gaussian"]["certified"] is False
    assert len(found["points"]) == 5
    rows = list(csv.DictReader(table.open()))
    assert all(float(row["lower"]) <= float(row["upper"]) for row in rows)
    assert "krr" in plot.read_text()
    _, text, _ = run(capsys, *command)
    assert "Gaussian, no bound" in " ".join(text.split())
    assert [line for line in text.splitlines() if line.startswith("written")] == [
        f"written: {table}",
        f"written: {plot}",
    ]


def test_renyi_with_a_least_number_of_messages_is_that_of_so_many_users(capsys):
    command = ("renyi", "krr", "-p", "k=4", "--eps0", "1", "--order", "2", "--rtol", "1e-2", "--n")
    least, all_send = answer(capsys, *command, "20", "--min-batch-size", "16"), answer(capsys, *command, "16")
    assert (least["upper"], least["attained_by"]) == (all_send["upper"], all_send["attained_by"])


def test_the_gaussian_of_a_group_is_as_far_apart_as_its_chain(capsys):
    one, two = (answer(capsys, "gdp", *KRR, "--group-size", g)["mu"] for g in ("1", "2"))
    assert two == pytest.approx(2 * one)
