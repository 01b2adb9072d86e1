"""The contract of the privacy commands: names, keys, exactness, outward rounding, and how they refuse."""

import subprocess
import sys
from fractions import Fraction

import pytest

from symshuffle.channels.shuffled import worst_shuffled_divergence
from symshuffle.cli.vectors import PARAMETERS
from symshuffle.mechanisms.registry import MECHANISMS, mechanism
from tests.shell import answer, refused, run
from tests.words import words

BOUND_KEYS = set(
    words(
        "lower upper log10_lower log10_upper exact relative_width aimed safe arithmetic engine evaluation direction "
        "adjacency neighbours meaning attained_lower attained_by attained_missing gap confirmed "
        "confirmed_missing deployment inputs"
    )
)
KRR = ["delta", "krr", "-p", "k=10", "--lam", "3", "--exp-eps", "6/5", "--n", "6"]


def test_delta_has_the_keys_of_the_contract(capsys):
    found = answer(capsys, *KRR)
    assert found.keys() == BOUND_KEYS
    assert found["adjacency"] == "replace-one"
    assert found["direction"] == "both"
    assert found["arithmetic"] == "exact"  # of the engine that answered
    assert found["confirmed"] is None
    assert found["inputs"] == {"mechanism": "krr", "k": "10", "lam": "3", "n": 6, "exp_eps": "6/5"}


def test_delta_is_exact_where_asked(capsys):
    """Equal to the brute-force divergence of the shuffled reduction pair, transcribed once here."""
    found = answer(capsys, *KRR, "--arithmetic", "exact")
    assert found["exact"] == "55591/829440"
    assert found["arithmetic"] == "exact"
    exact = Fraction(55591, 829440)
    assert Fraction(found["lower"]) <= exact <= Fraction(found["upper"])
    assert 10 ** float(found["log10_upper"]) == pytest.approx(float(exact))


@pytest.mark.parametrize("engine", ["auto", "exact", "fft", "contour"])
@pytest.mark.parametrize("direction", ["forward", "reverse", "both"])
def test_decimals_are_rounded_outward(capsys, engine, direction):
    exact = Fraction(answer(capsys, *KRR, "--direction", direction, "--arithmetic", "exact")["exact"])
    found = answer(capsys, *KRR, "--direction", direction, "--engine", engine)
    assert Fraction(found["lower"]) <= exact <= Fraction(found["upper"])
    assert float(found["log10_lower"]) <= float(found["log10_upper"])
    assert found["direction"] == direction


def test_what_is_attained_is_attained(capsys):
    """The pair of datasets that is named has at least the value that is claimed, and at most the bound."""
    found = answer(capsys, "delta", "krr", "-p", "k=3", "--lam", "3", "--exp-eps", "6/5", "--n", "3")
    channel = mechanism("krr").at(k=3, lam=3).channel()
    worst, _ = worst_shuffled_divergence(channel, (0, 1), 3, Fraction(6, 5))
    assert Fraction(found["attained_lower"]) <= worst <= Fraction(found["upper"])
    assert found["attained_by"] == "X0 = (0, 2 x 2), X1 = (1, 2 x 2), inputs named 0, 1, 2"


def test_confirmation_is_inside(capsys):
    found = answer(capsys, *KRR, "--confirm")
    assert found["confirmed"].keys() == {"value", "digits", "error", "inside", "route"}
    assert found["confirmed"]["inside"] is True
    assert found["confirmed"]["digits"] == 50
    assert abs(Fraction(found["confirmed"]["value"]) - Fraction(55591, 829440)) < Fraction(1, 10**50)


def test_confirmation_of_many_users_and_of_laplace_noise(capsys):
    for named in (["krr", "-p", "k=10"], ["laplace"]):
        found = answer(capsys, "delta", *named, "--eps0", "1", "--eps", "3e-6", "--n", "1e12", "--confirm")
        assert found["confirmed"]["inside"] is True
        assert found["confirmed"]["digits"] == 14


def test_confirmation_of_epsilon_is_delta_at_the_safe_end(capsys):
    found = answer(capsys, "epsilon", "rr", "--lam", "3", "--delta", "1e-2", "--n", "30", "--confirm")
    assert found["confirmed"]["inside"] is True
    assert Fraction(found["confirmed"]["value"]) <= Fraction(1, 100)


def test_zero_is_zero(capsys):
    for levels in (["--eps0", "1", "--eps", "1"], ["--eps0", "1", "--eps", "2"], ["--lam", "3", "--exp-eps", "3"]):
        found = answer(capsys, "delta", "krr", "-p", "k=3", "--n", "5", *levels, "--arithmetic", "exact")
        assert (found["lower"], found["upper"], found["exact"]) == ("0", "0", "0")
        assert (found["log10_lower"], found["log10_upper"]) == ("-inf", "-inf")


def test_epsilon_is_on_the_safe_side(capsys):
    found = answer(capsys, "epsilon", "krr", "-p", "k=10", "--eps0", "1", "--n", "1000", "--delta", "1e-6")
    assert found.keys() == BOUND_KEYS
    assert Fraction(found["lower"]) <= Fraction("0.0801610467") <= Fraction(found["upper"])
    assert float(found["upper"]) == pytest.approx(0.0801610467, rel=2e-6)
    below = answer(capsys, "delta", "krr", "-p", "k=10", "--eps0", "1", "--n", "1000", "--eps", found["upper"])
    assert Fraction(below["upper"]) <= Fraction(1, 10**6)


def test_text_output_says_what_it_bounds(capsys):
    status, out, err = run(capsys, *KRR)
    assert (status, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines() if not line.startswith(" ")] == [
        "delta", "protects", "assumes", "sure"
    ]  # fmt: skip
    explained = run(capsys, *KRR, "--explain")[1]
    assert explained.startswith(out.split("\n")[0].rstrip()[:5])
    for word in ("delta <=", "attained", "replace-one", "Theorems", "meaning"):
        assert word in explained


def test_decompose_and_mechanisms(capsys):
    found = answer(capsys, "decompose", "krr")
    assert {"mechanism", "cells", "beta", "gamma", "gparv", "singular", "pair", "inputs"} <= found.keys()
    assert len(found["cells"]) == 3
    assert {row["name"] for row in answer(capsys, "mechanisms")} == {*MECHANISMS, "any-ldp", "laplace", *PARAMETERS}
    status, out, _ = run(capsys, "decompose", "krr", "--latex")
    assert status == 0
    assert out.startswith(r"\begin{array}")


DELTA = ["delta", "krr", "-p", "k=3", "--lam", "3", "--exp-eps", "6/5", "--n", "5"]


def with_option(option, value):
    """The command above with one option changed (or added)."""
    arguments = list(DELTA)
    if option in arguments:
        arguments[arguments.index(option) + 1] = value
        return arguments
    return [*arguments, option, value]


def without(*options):
    arguments = list(DELTA)
    for option in options:
        i = arguments.index(option)
        del arguments[i : i + 2]
    return arguments


WRONG = [
    ([*without("--exp-eps"), "--eps", "-1"], "eps = -1: expected a number >= 0"),
    ([*without("--exp-eps"), "--eps", "nan"], "eps = nan: expected a number"),
    ([*without("--exp-eps"), "--eps", "inf"], "eps = inf: expected a number"),
    ([*without("--exp-eps"), "--eps", "1e9999999"], "eps = 1e9999999"),
    ([*without("--exp-eps"), "--eps", "1e-9000"], "eps = 1e-9000: expected an exponent"),
    ([*without("--exp-eps"), "--eps", "1e100"], "eps = 1e100: expected a number >= 0 and at most"),
    (without("--exp-eps"), "eps is missing"),
    ([*DELTA, "--eps", "1"], "--eps, --exp-eps = 1, 6/5: expected one of the two"),
    (with_option("--exp-eps", "1/2"), "--exp-eps = 1/2: expected a number >= 1"),
    (with_option("--exp-eps", "1/0"), "--exp-eps = 1/0: expected a denominator other than 0"),
    ([*without("--lam"), "--eps0", "-1"], "eps0 = -1: expected a number >= 0"),
    ([*without("--lam"), "--eps0", "1e5000"], "eps0 = 1e5000"),
    ([*DELTA, "--eps0", "1"], "--eps0, --lam = 1, 3: expected one of the two"),
    (with_option("--lam", "1/2"), "lam = 1/2: expected a number >= 1"),
    (with_option("--lam", "9" * 5000), "expected a number of at most 1000 characters"),
    (with_option("--lam", "__import__('os')"), "expected a number such as"),
    (without("--lam"), "lam is missing"),
    (with_option("-p", "k=1"), "k = 1: expected an integer >= 2"),
    (with_option("-p", "k=2.5"), "k = 2.5: expected an integer >= 2"),
    (with_option("-p", "k=1e999"), "k = 1e999: expected an integer"),
    (with_option("-p", "k=x"), "k = x: expected an integer >= 2"),
    (with_option("-p", "k"), "-p = k: expected NAME=VALUE"),
    (with_option("-p", "q=3"), "q = 3: expected a parameter of krr"),
    ([*DELTA, "-p", "k=4"], "-p = k=4: expected NAME=VALUE, each name once"),
    (without("-p"), "k is missing: expected an integer >= 2, given by -p k="),
    (with_option("--n", "0"), "n = 0: expected an integer from 1"),
    (with_option("--n", "-3"), "n = -3: expected an integer from 1"),
    (with_option("--n", "1.5"), "n = 1.5: expected an integer from 1"),
    (with_option("--n", "many"), "n = many: expected an integer from 1"),
    (with_option("--n", "1e999"), "n = 1e999: expected an integer from 1"),
    (with_option("--n", "1e999999"), "n = 1e999999: expected an integer from 1"),
    (without("--n"), "--n"),
    (with_option("--rtol", "0"), "--rtol = 0: expected a relative width, a number in (0, 1)"),
    (with_option("--rtol", "nan"), "--rtol = nan: expected a relative width, a number in (0, 1)"),
    (with_option("--engine", "magic"), "--engine = magic: expected one of auto, exact, sparse, counts, contour"),
    (with_option("--arithmetic", "some"), "--arithmetic = some: expected one of exact, ball, float64"),
    (with_option("--direction", "up"), "--direction = up: expected one of forward, reverse, both"),
    ([*with_option("--engine", "fft"), "--arithmetic", "exact"], "engine fft answers at arithmetic float64, not exact"),
    ([*with_option("--n", "1e9"), "--arithmetic", "exact"], "arithmetic exact at n = 1000000000"),
    ([*without("--lam"), "--eps0", "1", "--arithmetic", "exact"], "arithmetic exact needs rational lam"),
    (["delta", "kr", *DELTA[2:]], "MECH = kr: expected a known name; did you mean krr"),
    (["delta", "identity", "-p", "k=3", "--lam", "3", "--eps", "1", "--n", "2"], "no budget: identity has none"),
    (["delta", "half-block", "-p", "k=3", "--lam", "3", "--eps", "1", "--n", "2"], "k = 3: expected an even integer"),
    (["delta", "subset-selection", "-p", "k=3", "-p", "s=3", "--lam", "3", "--eps", "1", "--n", "2"], "s = 3"),
    (
        ["delta", "erasure", "-p", "k=3", "-p", "p=4/3", "--eps", "1", "--n", "2"],
        "p = 4/3: expected a number in [0, 1]",
    ),
    *(
        (["epsilon", "krr", "-p", "k=3", "--lam", "3", "--n", "5", "--delta", delta], f"delta = {delta}")
        for delta in ("0", "1", "-1", "2", "nan")
    ),
    (
        ["epsilon", "identity", "-p", "k=3", "--n", "5", "--delta", "0.1"],
        "no eps up to 5000 has delta <= 0.1: delta is about 1 at eps = 5000",
    ),
    (["delta"], "MECH"),
    (["nonsense"], "commands:"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[message for _, message in WRONG])
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_wrong_input_is_one_line_and_nothing_else(capsys, tmp_path, monkeypatch, arguments, message, as_json):
    monkeypatch.chdir(tmp_path)
    assert message in refused(capsys, *arguments, *(["--json"] if as_json and arguments != ["nonsense"] else []))
    assert list(tmp_path.iterdir()) == []


def test_the_process_says_the_same():
    """Once through a real process: exit code, empty standard output, one line on standard error."""
    arguments = [
        sys.executable,
        "-m",
        "symshuffle",
        "delta",
        "krr",
        "--eps0",
        "-1",
        "--eps",
        "1",
        "--n",
        "2",
        "-p",
        "k=2",
    ]
    found = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == "symshuffle: --eps0 = -1: expected a number >= 0 and at most 5000\n"


def test_an_answer_without_explanation_looks_for_no_datasets(monkeypatch, capsys):
    from symshuffle.accountants.questions import solve
    from symshuffle.cli import main

    asked, epsilon = [], solve.epsilon
    monkeypatch.setattr(solve, "epsilon", lambda *a, **k: asked.append(k["attained"]) or epsilon(*a, **k))
    line = ["epsilon", "krr", "-p", "k=3", "--eps0", "1", "--n", "100", "--delta", "1e-6"]
    for more in ([], ["--explain"], ["--json"]):
        assert main([*line, *more]) == 0
    assert asked == [False, True, True]


@pytest.mark.parametrize(
    "asked",
    [
        ("decompose", "oue", "-p", "D=3"),
        ("frontier", "--k", "5", "--budget", "1/2"),
        ("subset-size", "--k", "5", "--eps0", "1"),
    ],
)
def test_latex_with_json_is_one_object(capsys, asked):
    assert answer(capsys, *asked, "--latex") == answer(capsys, *asked)
