"""Options that only change the view change neither the exit status nor a number, and no extra refuses an answer."""

import json
import random
import re
from fractions import Fraction

import pytest

from symshuffle.accountants.questions import solve, tradeoff_function
from symshuffle.accountants.renyi import front
from symshuffle.accountants.rounds import over_rounds
from symshuffle.base.errors import CertificateError, InputError, NotDecided, SolverFailure, Unsupported
from symshuffle.base.numbers import format_decimal
from symshuffle.cli import curves, design, privacy, vectors
from symshuffle.design.comparison import table
from tests.shell import ROOT, run

PROBLEM = ROOT / "examples" / "problems" / "guess_one_of_four.json"
KRR = ("krr", "-p", "k=3", "--eps0", "1")
ERRORS = (
    InputError("rtol", 2, "a number in (0, 1)"),
    Unsupported("out of reach"),
    SolverFailure("highs", "stopped", "a program"),
    NotDecided("balls overlap"),
    CertificateError("orbits[0]", "too large"),
    OverflowError("too large for a double"),
)


def drawn(seed):
    """Requests of every command with views, with drawn parameters."""
    draw = random.Random(seed)
    k, n = draw.choice((3, 4, 7)), draw.choice((3, 40, 300))
    eps0, eps, delta = (draw.choice(some) for some in (("1/2", "1", "3"), ("0", "1/10", "1"), ("1e-2", "1e-6")))
    mech = draw.choice(
        (
            ("krr", "-p", f"k={k}", "--eps0", eps0),
            ("subset-selection", "-p", f"k={k}", "-p", "s=2", "--eps0", eps0),
            ("rappor", "-p", f"D={k}", "--eps0", eps0),
            ("sphere-linear", "-p", "c=0.574", "-p", f"d={draw.choice((1, 3))}", "--adjacency", "zero-out"),
            ("bmg", "-p", "gamma=1/2", "-p", "sigma0=1"),
        )
    )
    more = draw.choice(((), (), ("--group-size", "2"), ("--min-batch-size", "2"), ("--direction", "forward")))
    finite = mech if mech[0] not in ("bmg", "sphere-linear") else KRR
    yield "delta", *mech, "--n", n, "--eps", eps, "--rtol", "1e-2", *(() if "--direction" in more else more)
    yield "delta", *finite, "--n", n, "--eps", eps, *more[: 2 if "--group-size" not in more else 0]
    yield "epsilon", *finite, "--n", n, "--delta", delta, "--rtol", "1e-2"
    yield "delta", *KRR, "--n", draw.choice((10, 40)), "--eps", "1", "--periods", 2, "--rtol", "0.3"
    yield "smallest-n", *finite, "--delta", delta, "--eps", "1/2"
    yield "largest-eps0", "krr", "-p", f"k={k}", "--n", 1000, "--delta", "1e-2", "--eps", "1/2", "--rtol", "1e-2"
    yield "renyi", *KRR, "--n", n, "--order", draw.choice((1, 2)), "--rtol", "0.1"
    kind = draw.choice(
        (("profile", "--to", "1", "--n", n), ("tradeoff", "--n", n), ("amplification-curve", "--delta", "1e-2"))
    )
    yield kind[0], *KRR, "--points", 2, *kind[1:]


OTHERS = (
    ("gdp", *KRR, "--n", 100),
    ("compare", "--k", 4, "--n", 100, "--eps0", "1", "--mechanism", "krr", "--mechanism", "oue"),
    ("check", "w.csv", "--eps0", "1"),
    ("design", "bayes", PROBLEM, "--lam", "3"),
    ("design", "minimax", PROBLEM, "--lam", "3"),
    ("design", "shuffled", "--k", 3, "--n", 100, "--eps", "1/2", "--delta", "1e-3"),
    ("calibrate", "sphere-linear", "--n", 1000, "--d", 3, "--eps", "1", "--delta", "1e-3"),
    ("mean", "x.csv", "--mechanism", "sphere-linear", "--eps", "1", "--delta", "1e-4", "--seed", 1),
    ("collect", "plan", "--k", 3, "--n", 100, "--eps", "1", "--delta", "1e-3", "--mechanism", "krr"),
    ("worst-datasets", *KRR, "--n", 5, "--eps", "1/2"),
    ("law", *KRR),
    ("frontier", "--k", 4, "--budget", "1/2"),
)


def views(capsys, request, folder, monkeypatch):
    """Plain text, explained text and JSON of one request, after checking that all have one exit status."""
    monkeypatch.chdir(folder)
    (folder / "w.csv").write_text("1/3,2/3\n2/3,1/3\n")
    (folder / "x.csv").write_text("0.1,0.2\n0.3,-0.1\n" * 2000)
    found = []
    for number, view in enumerate(((), () if request[0] == "check" else ("--explain",), ("--json",))):
        out = ("--out", folder / f"plan{number}.json") if request[:2] == ("collect", "plan") else ()
        found.append(run(capsys, *request, *out, *view))
    assert len({status for status, _, _ in found}) == 1, (request, [(status, err) for status, _, err in found])
    return found[0][0], found[0][1], found[1][1], found[2][1]


def same_numbers(plain, explained, written):
    first, *_ = plain.splitlines()
    number = re.search(r"(?:[<>]=) (?:exactly )?([0-9.e+-]+)", first)
    if number is None:
        return
    assert number.group() in explained
    found = json.loads(written)
    side = "lower" if "lower end" in plain.split("protects")[0] else "upper"
    if found.get(side) is None:
        return
    shown = number.group(1)
    digits = max(len(re.sub(r"e.*|[.]|^0\.0*", "", shown).lstrip("0")), 1)
    exact = Fraction(found[side])
    again = Fraction(format_decimal(exact, digits=digits, up=side == "upper"))
    assert abs(Fraction(shown) - again) <= abs(again) / 10 ** (digits - 1), (first, found[side])
    assert Fraction(shown) >= exact if side == "upper" else Fraction(shown) <= exact


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.conformance)])
def test_views_of_drawn_bounds_agree(seed, capsys, tmp_path, monkeypatch):
    answered = 0
    for request in drawn(seed):
        status, plain, explained, written = views(capsys, request, tmp_path, monkeypatch)
        if status == 0:
            same_numbers(plain, explained, written)
            answered += 1
    assert answered


@pytest.mark.parametrize("request_", OTHERS, ids=lambda one: "-".join(map(str, one[:2])))
def test_views_of_other_commands_agree(request_, capsys, tmp_path, monkeypatch):
    status, plain, explained, written = views(capsys, request_, tmp_path, monkeypatch)
    if request_[0] not in ("check",):
        assert status == 0 and json.loads(written) and plain
    assert explained or status


def test_attained_value_out_of_reach_is_missing(capsys, tmp_path, monkeypatch):
    asked = ("delta", "sphere-linear", "-p", "c=0.574", "-p", "d=100", "--n", 10000, "--eps", "2e-3")
    status, plain, explained, written = views(capsys, (*asked, "--adjacency", "zero-out"), tmp_path, monkeypatch)
    assert status == 0 and "3.504" in plain and "3.504" in explained
    found = json.loads(written)
    assert found["attained_lower"] is None and found["attained_missing"]
    assert 3.504e-6 < float(found["upper"]) < 3.505e-6


SMALL = ("--n", 20, "--eps", "1/2")
EXTRAS = (
    (solve, "reached_at", ("delta", *KRR, *SMALL), "attained_missing"),
    (solve, "_exceeds", ("epsilon", *KRR, "--n", 20, "--delta", "1/10", "--rtol", "0.1"), "attained_missing"),
    (over_rounds.AllRounds, "attained", ("delta", *KRR, *SMALL, "--periods", 2, "--rtol", "0.3"), "attained_missing"),
    (over_rounds, "_simpler_deltas", ("delta", *KRR, *SMALL, "--periods", 2, "--rtol", "0.3"), "simpler_missing"),
    (
        over_rounds,
        "basic_epsilon",
        ("epsilon", *KRR, "--n", 20, "--delta", "1/10", "--periods", 2, "--rtol", "0.3"),
        "simpler_missing",
    ),
    (front, "_attained", ("renyi", *KRR, "--n", 20, "--order", 2, "--rtol", "0.3"), "attained_missing"),
    (privacy, "_confirmed", ("delta", *KRR, *SMALL, "--confirm"), "confirmed_missing"),
    (
        vectors,
        "beside",
        ("delta", "bmg", "-p", "gamma=1/2", "-p", "sigma0=1", *SMALL, "--rtol", "0.1"),
        "orders_missing",
    ),
    (curves, "_drawn", ("profile", *KRR, "--n", 20, "--to", 1, "--points", 2), "plot_missing"),
    (tradeoff_function, "limit_of", ("tradeoff", *KRR, "--n", 20, "--points", 2), "gaussian_missing"),
    (table, "drawn", ("compare", "--k", 3, "--n", 20, "--eps0", 1, "--mechanism", "krr"), "plot_missing"),
    (
        design,
        "_decision_formula",
        ("design", "bayes", PROBLEM, "--lam", 3, "--formula"),
        "formula_missing",
    ),
)


@pytest.mark.parametrize(
    ("place", "name", "request_", "key"), EXTRAS, ids=lambda one: one if isinstance(one, str) else ""
)
def test_no_failure_of_an_extra_refuses_an_answer(place, name, request_, key, capsys, tmp_path, monkeypatch):
    picture_ = ("--plot", tmp_path / "picture.png") if key == "plot_missing" else ()
    monkeypatch.chdir(tmp_path)
    status, plain, _ = run(capsys, *request_)
    assert status == 0
    first = plain.splitlines()[0]
    for error in ERRORS:

        def fails(*_, error=error, **__):
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(place, name, fails)
            for view in ((), ("--explain",)):
                status, out, err = run(capsys, *request_, *picture_, *view)
                assert (status, out.splitlines()[0].split(), err) == (0, first.split(), ""), (error, view)
            status, out, err = run(capsys, *request_, *picture_, "--json")
            assert (status, err) == (0, ""), error
            assert str(error) in json.loads(out)[key]
            assert not picture_ or not picture_[1].exists()


def test_a_confirmation_that_is_not_made_is_named(capsys):
    for request in (
        ("delta", *KRR, *SMALL, "--periods", 2, "--rtol", "0.3", "--confirm"),
        ("delta", *KRR, *SMALL, "--group-size", 2, "--confirm"),
        (
            "delta",
            "gaussian",
            "-p",
            "sigma0=1",
            "--n",
            20,
            "--eps",
            2,
            "--adjacency",
            "zero-out",
            "--rtol",
            "0.1",
            "--confirm",
        ),
    ):
        status, out, _ = run(capsys, *request, "--json")
        found = json.loads(out)
        assert status == 0 and found["confirmed"] is None and found["confirmed_missing"]
