"""Programs as they are run, and the commands: exit status, what is said, and one line for each wrong input."""

import json
import re
import sys
from fractions import Fraction as F

import pytest

from symshuffle.base.errors import InputError
from symshuffle.collect import Program, audit_local
from tests.collect.cases import small
from tests.shell import run

RESPONSE = """
import random, sys
k, lam = int(sys.argv[1]), float(sys.argv[2])
draw = random.Random(sys.argv[3])
for line in sys.stdin:
    data = [int(x) for x in line.split(",")]
    sent = [x if draw.random() * (lam + k - 1) < lam else draw.choice([y for y in range(k) if y != x]) for x in data]
    draw.shuffle(sent)
    print(*sent, sep=",")
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Command line of a pipeline with a fixed seed; of one user it is a client."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "with blank.py").write_text(RESPONSE)
    return lambda *words: f"{sys.executable} 'with blank.py' {' '.join(map(str, words))}"


def test_words_are_divided_and_no_shell_runs(program):
    (line,) = Program(f"{sys.executable} -c 'print(\"$HOME; `id`\")'")(["x"])
    assert line == "$HOME; `id`"


def test_a_client_seeded_in_each_process_is_caught_at_the_least_number_of_runs(program):
    """With one input to a process its messages are fixed: the least number of runs that could refute does."""
    said = small("krr", k=2)
    with pytest.raises(InputError) as refused:
        audit_local(said, runs=1)
    runs = int(str(refused.value).split("at least ")[1].split(" ")[0])
    audit = audit_local(said, runs=runs)
    found = audit.run(Program(program(2, 3, 5), per_process=1))
    assert found.outcome == "refuted"
    assert found.hint == "runs with the same inputs gave the same messages: seeded?"
    assert [one.hits for one in found.findings] == [(runs, 0), (runs, 0)]
    whole = audit.run(Program(program(2, 3, 5)))
    assert whole.outcome == "not-refuted"
    assert whole.hint == ""


CLAIM = ("--claim", "krr", "-p", "k=3", "--lam", "3")


def test_audit_local(program, capsys):
    status, out, err = run(capsys, "audit", "local", "--program", program(3, 3, 1), *CLAIM, "--runs", "500")
    assert status == 0
    assert out.startswith("price: 1500 runs, 500 of each of 3 inputs; 6 events and 9 claimed probabilities")
    words = " ".join(out.split())
    assert "verdict not refuted; this is no proof of privacy about krr, k = 3, lam = 3" in words
    assert "these runs would have caught eps0 >= " in words
    status, out, err = run(capsys, "audit", "local", "--program", program(3, 9, 1), *CLAIM, "--runs", "500", "--json")
    found = json.loads(out)
    assert status == found["exit_status"] == 1
    assert err.startswith("price: ")
    assert (found["outcome"], found["price"]) == ("refuted", err.split("; at most")[0].removeprefix("price: "))
    assert any(event["refuted"] for event in found["events"])
    shown = " ".join(run(capsys, "audit", "local", "--program", program(3, 9, 1), *CLAIM, "--runs", "500")[1].split())
    eps = re.search(r"verdict privacy refuted: eps >= (\S+) \(lower end, rounded down\) at delta = 0, where", shown)
    most = F(max(event["eps"] for event in found["events"]))
    assert F("1.0987") < F(eps[1]) <= most < F(eps[1]) * F(1001, 1000)  # log(3) is claimed
    sure = re.search(r"assumes independent runs sure confidence (\S+): .* with probability at most (\S+), by", shown)
    assert F(sure[1]) == F(found["confidence"]) == 1 - F(sure[2])
    status, out, err = run(capsys, "audit", "local", "--program", program(3, 1.5, 1), *CLAIM, "--runs", "500")
    assert status == 3
    assert "input 0, message 0" in out


def test_audit_shuffled(program, capsys):
    words = ("--n", "6", "--runs", "300")
    status, out, _ = run(capsys, "audit", "shuffled", "--program", program(3, 3, 1), *CLAIM, *words)
    assert status == 0
    assert "certified: delta(" in out
    assert run(capsys, "audit", "shuffled", "--program", program(3, 100, 1), *CLAIM, *words)[0] == 1
    pair = ("--x0", "0,2,2,2", "--x1", "1,2,2,2", "--eps", "0.1", "--delta", "0.01", "--runs", "1000")
    assert run(capsys, "audit", "shuffled", "--program", program(3, 100, 1), *pair)[0] == 1
    assert run(capsys, "audit", "shuffled", "--program", program(3, 1.1, 1), *pair)[0] == 0


def test_audit_samples(program, capsys, tmp_path):
    for x in (0, 1):
        lines = Program(program(3, 20, x))([str(x)] * 800)
        (tmp_path / f"{x}.csv").write_text("\n".join(lines))
    status, out, _ = run(capsys, "audit", "samples", "0.csv", "1.csv")
    assert status == 0
    words = " ".join(out.split())
    assert "at delta = 0; nothing was claimed that could be refuted about 400 runs of each assumes independent" in words
    assert "confidence 0.99: the bound exceeds the true eps with probability at most 0.01" in words
    assert run(capsys, "audit", "samples", "0.csv", "1.csv", "--eps", "1")[0] == 1
    assert run(capsys, "audit", "samples", "0.csv", "1.csv", "--eps", "4")[0] == 0


@pytest.mark.parametrize("name", ["krr", "rappor"])
def test_plans_of_collect_are_claims(name, capsys, tmp_path, monkeypatch):
    from symshuffle.collect import plan_survey

    monkeypatch.chdir(tmp_path)
    plan = plan_survey(3, n=1000, eps=1, delta="1e-6", mechanism=name, labels=("red", "green", "blue"))
    (tmp_path / "plan.json").write_text(plan.to_json())
    (tmp_path / "client.py").write_text(
        "import sys\nimport numpy\nfrom symshuffle.collect import Client, read_plan\n"
        "from symshuffle.collect.scheme import uniform\nplan = read_plan(open('plan.json').read())\n"
        "client = Client(plan.scheme, plan.places, uniform(numpy.random.default_rng(1).bytes))\n"
        "for line in sys.stdin:\n    print(client(line.strip()))\n"
    )
    asked = ("--program", f"{sys.executable} client.py", "--plan", "plan.json", "--runs", "400", "--json")
    status, out, _ = run(capsys, "audit", "local", *asked)
    assert json.loads(out)["claim"].startswith(f"{name}, k = 3")
    assert status == 0


CODE = f"{sys.executable} -c "
LOCAL = ("local", "--runs", "100", *CLAIM, "--program")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*LOCAL, CODE + "'import sys; sys.exit(\"\\n no such key \")'"), "exit status 0, not 1; it says: no such key"),
        ((*LOCAL, CODE + "'raise KeyError(5)'"), "exit status 0, not 1; it says: KeyError: 5"),
        ((*LOCAL, CODE + "'import time; time.sleep(60)'", "--timeout", "0.2"), "within 0.2 s (--timeout)"),
        ((*LOCAL, CODE + "'print(1)'"), "a line for each of 300 inputs, not 1 lines"),
        ((*LOCAL, "no-such-program-here"), "--program = no-such-program-here: expected a program that starts"),
        ((*LOCAL, CODE + "'[print(7) for _ in range(300)]'"), "message 1 (input 0) = '7': expected one of the 3"),
        ((*LOCAL, "x", "--runs", "9"), "runs = 9: expected at least"),
        ((*LOCAL, "x", "--inputs", "0,1"), "--inputs = 0,1: expected nothing"),
        (("local", "--runs", "100", "--program", "x"), "--inputs is missing: expected two inputs as A,B"),
        (("local", "--runs", "100", "--program", "x", "--claim", "channel"), "--claim = channel"),
        (("local", "--runs", "9", "--program", "x", "--inputs", "0,1", "--eps0", "1"), "runs = 4: expected at least"),
        (("shuffled", "--runs", "100", "--program", "x", *CLAIM), "--n is missing"),
        (("shuffled", "--runs", "100", "--program", "x", "--x0", "0,1", "--eps", "1"), "--x0, --x1 = 0,1, none"),
        (
            ("shuffled", "--runs", "100", "--program", "x", "--x0", "0,1", "--x1", "1,0", "--eps", "1"),
            "2 users differ: expected neighbours",
        ),
        (("samples", "none.csv", "none.csv"), "FILE1 = none.csv: expected a readable file"),
    ],
)
def test_wrong_input_is_one_line_and_exit_status_2(words, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, _, err = run(capsys, "audit", *words)  # the price may have been printed before
    assert status == 2 and message in err and err.count("\n") == 1
