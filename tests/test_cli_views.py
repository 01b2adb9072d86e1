"""The commands renyi and gdp, and the Gaussian beside a trade-off curve."""

import csv
import json
import re

import pytest

from symshuffle.cli import main

KRR = ("krr", "-p", "k=4", "--eps0", "1", "--n", "10,000")


def run(capsys, *arguments):
    status = main(arguments)
    out, err = capsys.readouterr()
    return status, out, err


def test_renyi(capsys):
    status, out, _ = run(capsys, "renyi", *KRR, "--alpha", "8", "--rounds", "5", "--rel", "1e-2", "--json")
    answer = json.loads(out)
    assert status == 0
    assert answer["alpha"] == "8"
    assert answer["inputs"]["rounds"] == 5
    assert answer["relative_width"] <= 1e-2
    assert float(answer["attained_lower"]) <= float(answer["upper"])
    assert answer["adjacency"] == "replace-one"
    assert "both directions" in answer["meaning"]
    status, text, _ = run(capsys, "renyi", *KRR, "--alpha", "8", "--rel", "1e-2")
    assert status == 0
    assert re.match(r"Rényi divergence of order 8 +<= ", text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("renyi", *KRR, "--alpha", "1/2"), "alpha = 1/2: expected an order in [1, 10000]"),
        (("renyi", *KRR, "--alpha", "2", "--rounds", "0"), "rounds = 0"),
        (("renyi", *KRR, "--alpha", "2", "--rel", "0"), "rel"),
        (("renyi", "erasure", "-p", "k=3", "-p", "p=1/2", "--n", "9", "--alpha", "2"), "is infinite"),
        (("gdp", *KRR, "--rounds", "0"), "rounds = 0"),
        (("gdp", "krr", "-p", "k=4", "--eps0", "1"), "--n"),
    ],
)
def test_wrong_input_is_one_line(capsys, arguments, message):
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert out == ""
    assert message in err
    assert err.count("\n") == 1


def test_gdp_says_that_it_guarantees_nothing(capsys):
    status, out, _ = run(capsys, "gdp", *KRR, "--rounds", "4", "--json")
    answer = json.loads(out)
    assert status == 0
    assert answer["certified"] is False
    assert answer["mu"] == pytest.approx(0.0203, rel=1e-2)
    _, text, _ = run(capsys, "gdp", *KRR)
    assert "no guarantee" in " ".join(text.split())


def test_the_gaussian_stands_beside_the_certified_curve(capsys, tmp_path):
    table, plot = tmp_path / "f.csv", tmp_path / "f.svg"
    command = ("curve", "--kind", "f-dp", *KRR, "--points", "5", "--csv", str(table), "--plot", str(plot))
    status, out, _ = run(capsys, *command, "--json")
    answer = json.loads(out)
    assert status == 0
    assert answer["gaussian"]["certified"] is False
    assert len(answer["points"]) == 5
    rows = list(csv.DictReader(table.open()))
    assert all(float(row["lower"]) <= float(row["upper"]) for row in rows)
    assert "krr" in plot.read_text()
    _, text, _ = run(capsys, *command)
    assert "Gaussian, no bound" in " ".join(text.split())
    assert [line for line in text.splitlines() if line.startswith("written")] == [
        f"written: {table}",
        f"written: {plot}",
    ]


@pytest.mark.parametrize(
    ("who", "message"), [(("--group", "2"), "group 2: "), (("--dropout", "1/10"), "dropout 1/10: ")]
)
def test_renyi_refuses_what_has_no_profile_at_one_order(capsys, who, message):
    status, out, err = run(capsys, "renyi", *KRR, "--alpha", "4", *who)
    assert status == 2 and out == "" and message in err and err.count("\n") == 1


def test_renyi_with_a_least_number_of_messages_is_that_of_so_many_users(capsys):
    _, fewer, _ = run(capsys, "renyi", "krr", "-p", "k=4", "--eps0", "1", "--n", "80", "--alpha", "2", "--json")
    command = ("renyi", "krr", "-p", "k=4", "--eps0", "1", "--n", "100", "--alpha", "2", "--min-users", "80", "--json")
    least, all_send = json.loads(run(capsys, *command)[1]), json.loads(fewer)
    assert (least["upper"], least["attained_by"]) == (all_send["upper"], all_send["attained_by"])


def test_the_gaussian_of_a_group_is_as_far_apart_as_its_chain(capsys):
    one, two = (json.loads(run(capsys, "gdp", *KRR, "--group", g, "--json")[1])["mu"] for g in ("1", "2"))
    assert two == pytest.approx(2 * one)
