from fractions import Fraction

import pytest

from tests.shell import answer, refused, run


def test_both_sizes_at_an_exact_tie(capsys):
    data = answer(capsys, "subset-size", "--k", "10", "--lam", "6")
    assert data["maximisers"] == [1, 2]
    assert (data["trace"], data["iid_constant"], data["fixed_constant"]) == ("10", "81/10", "36/5")


@pytest.mark.parametrize(("lam", "size"), [("5999999999999/1000000000000", 2), ("6000000000001/1000000000000", 1)])
def test_one_size_on_either_side_of_the_tie(capsys, lam, size):
    assert answer(capsys, "subset-size", "--k", "10", "--lam", lam)["maximisers"] == [size]


def test_a_million_inputs(capsys):
    data = answer(capsys, "subset-size", "--k", "1000000", "--eps0", "1")
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
    data = answer(capsys, "frontier", "--k", "10", "--budget", "1/2")
    assert {"lower", "upper", "law", "certificate", "iid_constant", "fixed_constant"} <= data.keys()
    low, high = Fraction(data["lower"]), Fraction(data["upper"])
    assert low <= high < low * (1 + Fraction(1, 10**18))
    total = sum(Fraction(orbit["weight"]) for orbit in data["law"])
    assert total == 1
    assert data["certificate"]["verified"] is True


def test_the_cap_binds(capsys):
    data = answer(capsys, "frontier", "--k", "10", "--budget", "1/2", "--lam-cap", "3")
    assert Fraction(data["exact"]) == Fraction("3305/1232")
    assert [[count for count, _ in orbit["levels"]] for orbit in data["law"]] == [[1, 9], [2, 8]]
    for orbit in data["law"]:
        values = [Fraction(value) for _, value in orbit["levels"]]
        assert max(values) <= 3 * min(values)


def test_limits(capsys):
    assert answer(capsys, "frontier", "--k", "10", "--budget", "0")["iid_constant"] == "inf"
    free = answer(capsys, "frontier", "--k", "10", "--budget", "inf")
    assert (free["exact"], free["fixed_constant"]) == ("90", "0")


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
        ("subset-size", "--k", "10"),
        ("subset-size", "--k", "10", "--lam", "2", "--eps0", "1"),
        ("frontier", "--k", "10", "--budget", "-1"),
        ("frontier", "--k", "10", "--budget", "1", "--lam-cap", "1/2"),
        ("frontier", "--k", "5000", "--budget", "1", "--lam-cap", "2"),
        ("frontier", "--k", "10"),
        ("frontier", "--k", "10", "--budget", "1", "--lam-cap", "1"),
        ("frontier", "--k", "10", "--budget", "1", "--eps0", "0"),
        ("frontier", "--k", "10", "--budget", "1", "--lam-cap", "inf", "--eps0", "1"),
        ("subset-size", "--k", "10", "--lam", "inf"),
        ("subset-size", "--k", "10", "--eps0", "0"),
        ("subset-size", "--k", "10000000000000000", "--lam", "2"),
    ],
)
def test_wrong_input_is_one_line(capsys, arguments):
    assert refused(capsys, *arguments)


@pytest.mark.parametrize("cap", [("--lam-cap", "inf"), ("--eps0", "inf")])
def test_an_infinite_local_budget_is_no_cap(capsys, cap):
    asked = ("frontier", "--k", "10", "--budget", "1/2")
    assert answer(capsys, *asked, *cap)["lower"] == answer(capsys, *asked)["lower"]


def test_no_formula_of_another_loss(capsys):
    said = refused(capsys, "subset-size", "--k", "10", "--lam", "6", "--loss", "max", "--latex")
    assert said.startswith("symshuffle: --latex = with --loss max: expected --loss l2")
