"""Users of unequal budgets on the command line."""

from fractions import Fraction

import pytest

from symshuffle import Users, mechanism, unequal_delta, unequal_epsilon
from tests.shell import answer, refused, run

TWO = """
[[users]]
count = "2"
params = { k = 3 }
lam = 2
[[users]]
params = { k = 3 }
lam = "5/2"
"""


def asked(tmp_path, text, *options):
    """A command with a file of users."""
    file = tmp_path / "users.toml"
    file.write_text(text)
    return "unequal", file, *options


def test_the_file_says_what_the_library_is_asked(capsys, tmp_path):
    told = answer(capsys, *asked(tmp_path, TWO, "--eps", "0.1"))
    assert told["inputs"]["users"][1] == {"count": "1", "exp_eps0": "5/2"}
    krr = mechanism("krr")
    users = [Users(count, krr.at(k=3, lam=lam).channel()) for count, lam in ((2, "2"), (1, "5/2"))]
    found = unequal_delta(users, eps="0.1").bracket
    assert (told["lower"], told["upper"]) == (found.decimals()["lower"], found.decimals()["upper"])
    status, out, _ = run(capsys, *asked(tmp_path, TWO, "--eps", "0", "--rigour", "exact"))
    assert status == 0 and str(unequal_delta(users, eps=0, rigour="exact").bracket.exact) in out
    upper = float(answer(capsys, *asked(tmp_path, TWO, "--delta", "1/10"))["upper"])
    assert upper == pytest.approx(float(unequal_epsilon(users, delta="1/10").bracket.upper))


def test_a_level_in_nats_is_rounded_up_by_hardly_anything(capsys, tmp_path):
    levels = []
    for text in ("eps0 = 1", "lam = '2.7182818284'", "lam = '2.7182818285'"):
        users = f"[[users]]\ncount = 4\n{text}\nparams = {{ k = 3 }}"
        told = answer(capsys, *asked(tmp_path, users, "--eps", "0.1"))
        levels.append((Fraction(told["inputs"]["users"][0]["exp_eps0"]), float(told["upper"])))
    (least, low), (most, high) = levels[1], levels[2]
    assert least < levels[0][0] < most and Fraction("2.718281828459045") < levels[0][0] < Fraction("2.718281828460046")
    assert low * (1 - 1e-9) <= levels[0][1] <= high * (1 + 1e-9)


def test_a_matrix_is_read(capsys, tmp_path):
    (tmp_path / "W.csv").write_text("3/4,1/4\n1/4,3/4\n")
    text = f"[[users]]\ncount = 3\nmechanism = 'channel'\nfile = '{tmp_path / 'W.csv'}'\n"
    told = answer(capsys, *asked(tmp_path, text, "--eps", "0", "--rigour", "exact"))
    assert told["inputs"]["users"][0]["exp_eps0"] == "3"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[users]]\nmechanism = 'oue'\neps0 = 1", "users[0].eps0 = 1: expected lam, a rational exp(eps0)"),
        ("[[users]]\nlam = 2\neps0 = 1\nparams = { k = 3 }", "users[0].lam = 2: expected none where eps0 is given"),
        ("[[users]]\nbudget = 2", "users[0].budget = 2: expected only keys of some users"),
        ("[[users]]\ncount = 0\nlam = 2\nparams = { k = 3 }", "users[0].count = 0"),
        ("[[users]]\nmechanism = 'krrr'\neps0 = 1", "users[0].mechanism = krrr"),
        (TWO.replace("k = 3 }\nlam = 2", "k = 4 }\nlam = 2"), "as in users[0]"),
        ("[[users]]\nmechanism = 'laplace'\nlam = 2", "users[0]"),
        ("users = 3", "users.toml: expected tables [[users]]"),
        ("[[users", "TOML"),
    ],
)
def test_wrong_files_are_one_line(capsys, tmp_path, text, message):
    assert message in refused(capsys, *asked(tmp_path, text, "--eps", "0.1"))


def test_one_question_at_a_time(capsys, tmp_path):
    for options in ((), ("--eps", "1", "--delta", "0.1")):
        assert "one of the two" in refused(capsys, *asked(tmp_path, TWO, *options))
