"""Users of unequal budgets on the command line."""

import json
from fractions import Fraction

import pytest

from symshuffle import mechanism
from symshuffle.accountants.questions.unequal import Users, unequal_delta, unequal_epsilon
from symshuffle.cli import main

TWO = """
[[users]]
count = "2"
params = { k = 3 }
lam = 2
[[users]]
params = { k = 3 }
lam = "5/2"
"""


def run(capsys, tmp_path, text, *options):
    file = tmp_path / "users.toml"
    file.write_text(text)
    status = main(["unequal", str(file), *options])
    return status, *capsys.readouterr()


def test_the_file_says_what_the_library_is_asked(capsys, tmp_path):
    status, out, _ = run(capsys, tmp_path, TWO, "--eps", "0.1", "--json")
    answer = json.loads(out)
    assert status == 0 and answer["inputs"]["users"][1] == {"count": "1", "exp_eps0": "5/2"}
    krr = mechanism("krr")
    users = [Users(count, krr.at(k=3, lam=lam).channel()) for count, lam in ((2, "2"), (1, "5/2"))]
    found = unequal_delta(users, eps="0.1").bracket
    assert (answer["lower"], answer["upper"]) == (found.decimals()["lower"], found.decimals()["upper"])
    status, out, _ = run(capsys, tmp_path, TWO, "--eps", "0", "--rigour", "exact")
    assert status == 0 and str(unequal_delta(users, eps=0, rigour="exact").bracket.exact) in out
    status, out, _ = run(capsys, tmp_path, TWO, "--delta", "1/10", "--json")
    assert status == 0 and float(json.loads(out)["upper"]) == pytest.approx(
        float(unequal_epsilon(users, delta="1/10").bracket.upper)
    )


def test_a_level_in_nats_is_rounded_up_by_hardly_anything(capsys, tmp_path):
    levels = []
    for text in ("eps0 = 1", "lam = '2.7182818284'", "lam = '2.7182818285'"):
        _, out, _ = run(
            capsys, tmp_path, f"[[users]]\ncount = 4\n{text}\nparams = {{ k = 3 }}", "--eps", "0.1", "--json"
        )
        answer = json.loads(out)
        levels.append((Fraction(answer["inputs"]["users"][0]["exp_eps0"]), float(answer["upper"])))
    (least, low), (most, high) = levels[1], levels[2]
    assert least < levels[0][0] < most and Fraction("2.718281828459045") < levels[0][0] < Fraction("2.718281828460046")
    assert low * (1 - 1e-9) <= levels[0][1] <= high * (1 + 1e-9)


def test_a_matrix_is_read(capsys, tmp_path):
    (tmp_path / "W.csv").write_text("3/4,1/4\n1/4,3/4\n")
    text = f"[[users]]\ncount = 3\nmechanism = 'channel'\nfile = '{tmp_path / 'W.csv'}'\n"
    status, out, _ = run(capsys, tmp_path, text, "--eps", "0", "--rigour", "exact", "--json")
    assert status == 0 and json.loads(out)["inputs"]["users"][0]["exp_eps0"] == "3"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[users]]\nmechanism = 'oue'\neps0 = 1", "users[0].eps0 = 1: expected lam, a rational exp(eps0)"),
        ("[[users]]\nlam = 2\neps0 = 1\nparams = { k = 3 }", "users[0].lam = 2: expected none where eps0 is given"),
        ("[[users]]\nbudget = 2", "users[0] = budget: expected a key of some users"),
        ("[[users]]\ncount = 0\nlam = 2\nparams = { k = 3 }", "users[0].count = 0"),
        ("[[users]]\nmechanism = 'krrr'\neps0 = 1", "users[0].mechanism = krrr"),
        (TWO.replace("k = 3 }\nlam = 2", "k = 4 }\nlam = 2"), "as in users[0]"),
        ("[[users]]\nmechanism = 'laplace'\nlam = 2", "users[0]"),
        ("users = 3", "tables [[users]], and nothing beside them"),
        ("[[users", "a TOML file that can be read"),
    ],
)
def test_wrong_files_are_one_line(capsys, tmp_path, text, message):
    status, out, err = run(capsys, tmp_path, text, "--eps", "0.1")
    assert status == 2 and out == "" and message in err and err.count("\n") == 1


def test_one_question_at_a_time(capsys, tmp_path):
    for options in ((), ("--eps", "1", "--delta", "0.1")):
        status, _, err = run(capsys, tmp_path, TWO, *options)
        assert status == 2 and "one of the two" in err and err.count("\n") == 1
