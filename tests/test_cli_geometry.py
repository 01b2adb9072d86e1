import json
from fractions import Fraction

import pytest

from symshuffle.cli import main


def run(capsys, *arguments):
    status = main(list(arguments))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_both_sizes_at_an_exact_tie(capsys):
    status, out, _ = run(capsys, "subset-size", "--k", "10", "--lam", "6", "--json")
    data = json.loads(out)
    assert status == 0
    assert data["maximisers"] == [1, 2]
    assert (data["trace"], data["iid_constant"], data["fixed_constant"]) == ("10", "81/10", "36/5")


@pytest.mark.parametrize(("lam", "size"), [("5999999999999/1000000000000", 2), ("6000000000001/1000000000000", 1)])
def test_one_size_on_either_side_of_the_tie(capsys, lam, size):
    _, out, _ = run(capsys, "subset-size", "--k", "10", "--lam", lam, "--json")
    assert json.loads(out)["maximisers"] == [size]


def test_a_million_inputs(capsys):
    _, out, _ = run(capsys, "subset-size", "--k", "1000000", "--eps0", "1", "--json")
    data = json.loads(out)
    assert data["maximisers"] == [268941]
    low, high = map(Fraction, data["trace_bracket"])
    assert low < high < low * (1 + Fraction(1, 10**15))


def test_subset_size_for_people(capsys):
    status, out, _ = run(capsys, "subset-size", "--k", "10", "--lam", "6")
    assert status == 0
    words = " ".join(out.split())
    assert words.startswith(
        "subset size 1 and 2 (tied, exact) at exp(eps0) = 6 about the largest trace, so the smallest"
    )
    assert "sure a theorem (anchored, Theorem 9.3), decided in rationals" in words
    _, out, _ = run(capsys, "subset-size", "--k", "10", "--eps0", "1", "--explain")
    assert out.startswith("subset size  3 (exact) at eps0 = 1") and "never a matter of rounding" in " ".join(
        out.split()
    )


def test_frontier_of_ten_inputs(capsys):
    status, out, _ = run(capsys, "frontier", "--k", "10", "--budget", "1/2", "--json")
    data = json.loads(out)
    assert status == 0
    assert {"lower", "upper", "law", "certificate", "iid_constant", "fixed_constant"} <= data.keys()
    low, high = Fraction(data["lower"]), Fraction(data["upper"])
    assert low <= high < low * (1 + Fraction(1, 10**18))
    total = sum(Fraction(orbit["weight"]) for orbit in data["law"])
    assert total == 1
    assert data["certificate"]["verified"] is True


def test_the_cap_binds(capsys):
    _, out, _ = run(capsys, "frontier", "--k", "10", "--budget", "1/2", "--lam-cap", "3", "--json")
    data = json.loads(out)
    assert Fraction(data["exact"]) == Fraction("3305/1232")
    assert [[count for count, _ in orbit["levels"]] for orbit in data["law"]] == [[1, 9], [2, 8]]
    for orbit in data["law"]:
        values = [Fraction(value) for _, value in orbit["levels"]]
        assert max(values) <= 3 * min(values)


def test_limits(capsys):
    _, out, _ = run(capsys, "frontier", "--k", "10", "--budget", "0", "--json")
    assert json.loads(out)["iid_constant"] == "inf"
    _, out, _ = run(capsys, "frontier", "--k", "10", "--budget", "inf", "--json")
    assert json.loads(out)["exact"] == "90"
    assert json.loads(out)["fixed_constant"] == "0"


def test_frontier_for_people(capsys):
    for budget in ("1/3", "1/2", "0"):
        status, out, _ = run(capsys, "frontier", "--k", "10", "--budget", budget)
        assert status == 0
        assert "certificate" in out


def test_closed_forms_as_latex(capsys):
    _, out, _ = run(capsys, "frontier", "--k", "10", "--budget", "1", "--latex")
    assert out.startswith(r"\kappa_k = \frac{k")
    assert r"\lambda^{3}" in out
    _, out, _ = run(capsys, "subset-size", "--k", "10", "--lam", "2", "--latex")
    assert r"\lambda_s = \frac{\sqrt" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ("subset-size", "--k", "10", "--lam", "1"),
        ("subset-size", "--k", "1", "--lam", "2"),
        ("subset-size", "--k", "5/2", "--lam", "2"),
        ("subset-size", "--k", "10"),
        ("subset-size", "--k", "10", "--lam", "2", "--eps0", "1"),
        ("frontier", "--k", "1", "--budget", "1"),
        ("frontier", "--k", "10", "--budget", "-1"),
        ("frontier", "--k", "10", "--budget", "nan"),
        ("frontier", "--k", "10", "--budget", "1", "--lam-cap", "1/2"),
        ("frontier", "--k", "5000", "--budget", "1", "--lam-cap", "2"),
        ("frontier", "--k", "10"),
        ("frontier", "--k", "10", "--budget", "-inf"),
        ("frontier", "--k", "10", "--budget", "x"),
        ("frontier", "--k", "10", "--budget", "1", "--lam-cap", "1"),
        ("frontier", "--k", "10", "--budget", "1", "--eps0", "0"),
        ("frontier", "--k", "10", "--budget", "1", "--lam-cap", "inf", "--eps0", "1"),
        ("subset-size", "--k", "10", "--lam", "inf"),
        ("subset-size", "--k", "10", "--eps0", "0"),
        ("subset-size", "--k", "10000000000000000", "--lam", "2"),
    ],
)
def test_wrong_input_is_one_line(capsys, arguments):
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert out == ""
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize("cap", [("--lam-cap", "inf"), ("--eps0", "inf")])
def test_an_infinite_local_budget_is_no_cap(capsys, cap):
    status, out, _ = run(capsys, "frontier", "--k", "10", "--budget", "1/2", *cap, "--json")
    _, free, _ = run(capsys, "frontier", "--k", "10", "--budget", "1/2", "--json")
    assert status == 0
    assert json.loads(out)["lower"] == json.loads(free)["lower"]


def test_no_formula_of_another_loss(capsys):
    status, out, err = run(capsys, "subset-size", "--k", "10", "--lam", "6", "--loss", "max", "--latex")
    assert (status, out) == (2, "") and err.startswith("symshuffle: --latex = with --loss max: expected --loss l2")
