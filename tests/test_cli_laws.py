from fractions import Fraction as F

import pytest
import sympy as sp

from symshuffle import InputError, randomizer
from symshuffle.mechanisms import LAM
from symshuffle.mechanisms.symbolic import evaluate
from symshuffle.utility import Contamination, binary_envelope
from symshuffle.utility.frontiers.formulas import USERS, chi_square_envelope, hockey_stick_envelope, law_formulas
from symshuffle.utility.frontiers.leakage import convex_envelope, leakage
from tests.shell import answer, refused, run

EXAMPLE = "3/5,1/5,1/5\n1/4,1/2,1/4\n1/6,1/3,1/2\n"


@pytest.fixture
def channel(tmp_path):
    path = tmp_path / "W.csv"
    path.write_text(EXAMPLE)
    return str(path)


def test_numbers_of_a_channel(channel, capsys):
    found = answer(capsys, "law", channel, "--n", "2", "--eps", "0")
    assert found["trace"] == "21786/35929"
    assert found["budget"] == "34/25"
    assert found["ratio_cap"] == "18/5"
    assert found["extreme"] is True
    assert found["fixed_risk"]["exact"] == "131/25"
    pair = next(one for one in found["leakage"] if (one["i"], one["j"]) == (0, 2))
    assert pair["exact"] == "13/36"
    assert pair["envelope"]["exact"] == "234/529"
    assert len(found["leakage"]) == 6


def test_tables(channel, capsys):
    shown = run(capsys, "law", channel, "--eps", "0.1")[1]
    for word in ("templates", "trace", "18/5", "extreme", "envelope"):
        assert word in shown
    status, shown, _ = run(capsys, "law", channel)
    assert status == 0 and "envelope" not in shown


def test_infinite_values(tmp_path, capsys):
    path = tmp_path / "erased.csv"
    path.write_text("1/2,1/2,0\n1/2,0,1/2\n1/2,1/4,1/4\n")
    found = answer(capsys, "law", path, "--eps", "1")
    assert found["iid_risk"] is None
    assert found["ratio_cap"] == "inf"
    assert all(one["envelope"] is None for one in found["leakage"])
    assert "infinite" in run(capsys, "law", path, "--eps", "1")[1]


@pytest.mark.parametrize("extra", [("--n", "0"), ("--eps", "-1"), ("--lam", "2")])
def test_refusals(channel, capsys, extra):
    assert extra[0] in refused(capsys, "law", channel, *extra)


def test_a_mechanism_with_open_parameters_is_answered_by_formulas(capsys):
    """What is printed, read again by SymPy, at a level against the numbers that the same command prints there."""
    found = answer(capsys, "law", "krr", "-p", "k=3", "--n", "2", "--eps", "0")
    numbers = answer(capsys, "law", "krr", "-p", "k=3", "--lam", "4", "--n", "2", "--eps", "0")
    read = {name: sp.sympify(text, {"lambda_": sp.Integer(4)}) for name, text in formulas(found).items()}
    assert found["refused"] == {}
    assert {name: str(read[name]) for name in ("trace", "budget", "ratio_cap")} == {
        name: numbers[name] for name in ("trace", "budget", "ratio_cap")
    }
    for risk in ("iid_risk", "fixed_risk"):
        assert str(read[risk]) == numbers[risk]["exact"]
    assert str(read["hockey_stick_envelope"].doit()) == numbers["leakage"][0]["envelope"]["exact"]
    channel = randomizer("krr").at(k=3, lam=4).channel()
    worst = leakage(channel, 0, 1, n=2, divergence="chi-square")
    assert evaluate(read["chi_square"]) == worst.bracket.exact
    assert evaluate(read["chi_square_envelope"]) == worst.envelope.bracket.exact


def formulas(found):
    """The formulas of the command, with a name for lam that Python can read."""
    return {name: text.replace("lambda", "lambda_") for name, text in found.items() if isinstance(text, str)}


def test_the_hockey_stick_envelope_is_that_of_numbers():
    for cap, n, gamma in ((F(3), 5, F(6, 5)), (F(5, 4), 7, F(1)), (F(3), 4, F(3)), (F(2), 3, F(7, 2))):
        formula = hockey_stick_envelope(LAM, USERS, gamma=gamma)
        at = formula.subs({LAM: sp.Rational(cap.numerator, cap.denominator), USERS: n}).doit()
        truth = binary_envelope(Contamination(n), lam=cap, gamma=gamma).bracket.exact
        assert evaluate(at) == truth


def test_the_chi_square_envelope_is_that_of_numbers():
    assert (
        evaluate(chi_square_envelope(F(7, 2), 6))
        == convex_envelope(6, lam=F(7, 2), function="chi-square").bracket.exact
    )
    assert chi_square_envelope(sp.oo) is sp.oo
    assert hockey_stick_envelope(sp.oo) == 1


def test_randomized_response_leaks_its_envelope():
    found = law_formulas(randomizer("rr")).formulas
    assert found["chi_square"] == found["chi_square_envelope"]


def test_what_has_no_formula_says_why(capsys):
    found = answer(capsys, "law", "rappor")
    assert found["trace"] is None
    assert "2**D" in found["refused"]["trace"]
    shown = run(capsys, "law", "half-block", "-p", "k=4")[1]
    assert "no formula: mechanism = half-block" in shown
    assert "d: an integer in [1, 2]" in shown


def test_an_irrational_level_is_answered_in_balls(capsys):
    found = answer(capsys, "law", "krr", "-p", "k=3", "--eps0", "1", "--n", "2")
    assert found["extreme"] is None
    assert found["iid_risk"]["arithmetic"] == "ball"
    assert "templates in balls" in run(capsys, "law", "krr", "-p", "k=3", "--eps0", "1", "--eps", "0.1")[1]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((), "MECH"),
        (("channel",), "MECH = channel"),
        (("laplace",), "finitely many"),
        (("joint(krr(k=3),2)",), "MECH"),
        (("krr", "--n", "0"), "--n"),
        (("krr", "--eps", "-1"), "--eps"),
        (("krr", "-p", "k=1"), "k = 1"),
        (("identity", "--lam", "2"), "no budget"),
    ],
)
def test_refusals_of_mechanisms(capsys, arguments, named):
    assert named in refused(capsys, "law", *arguments)


@pytest.mark.parametrize(
    "call",
    [
        lambda: chi_square_envelope(F(1, 2)),
        lambda: chi_square_envelope(2, 0),
        lambda: chi_square_envelope(2, F(3, 2)),
        lambda: hockey_stick_envelope(2, gamma=F(1, 2)),
        lambda: hockey_stick_envelope(2, sp.oo),
        lambda: hockey_stick_envelope(sp.I),
        lambda: chi_square_envelope(0.5),
        lambda: chi_square_envelope(True),
    ],
)
def test_refusals_of_envelopes(call):
    with pytest.raises(InputError):
        call()
