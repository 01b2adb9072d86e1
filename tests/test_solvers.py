"""Whatever a solver writes to standard output, the answer stands there alone."""

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from symshuffle.base.solvers import silent

ROOT = Path(__file__).parents[1]
PROBLEMS = ROOT / "examples" / "problems"


def run(*words):
    """A process in which every solver is noisy."""
    path = os.pathsep.join([str(ROOT / "tests" / "noisy"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


COMMANDS = [
    ("design", "bayes", PROBLEMS / "guess_one_of_four.json", "--lam", "3"),
    (
        "design",
        "bayes",
        PROBLEMS / "direction_on_a_ring.json",
        "--lam",
        "3",
        "--symmetry",
        "auto",
        "--formula",
    ),
    ("design", "minimax", PROBLEMS / "rating_on_five_steps.json", "--lam", "3"),
    ("design", "minimax", PROBLEMS / "rating_on_five_steps.json", "--lam", "2", "--symmetry", "auto"),
    ("design", "mutual-information", PROBLEMS / "survey_information.json", "--lam", "3"),
    ("doctor",),
]


def test_json_is_json_beside_a_noisy_solver():
    """One process, whose whole output is read: a banner between two answers, or after the last, is no JSON."""
    lines = [[*map(str, command), "--json"] for command in COMMANDS]
    said = run("-c", f"from symshuffle.cli import main; print([main(line) for line in {lines}])")
    for _ in COMMANDS:
        answer, end = json.JSONDecoder().raw_decode(said)
        assert isinstance(answer, dict)
        said = said[end:].lstrip()
    assert said == f"{[0] * len(COMMANDS)}\n"


def test_the_outcomes_of_claims_are_json_beside_a_noisy_solver():
    """A claim that solves programs, in a worker."""
    assert json.loads(run("-m", "symshuffle", "verify", "ldp_tradeoff.def-3.1", "--json", "-", "--jobs", "2"))


def test_the_noise_is_there():
    found = run("-c", "import highspy; highspy.Highs(); from scipy.optimize import linprog; linprog([1.0])")
    assert all(f"BANNER of {what}" in found for what in ("the import of highspy", "Highs.__init__", "linprog by puts"))


def test_solvers_are_imported_and_run_at_one_door():
    """Beside it nobody can be noisy: the sources name no other import of a solver."""
    door = ROOT / "symshuffle" / "base" / "solvers.py"
    loud = re.compile(r"^\s*(import|from) (highspy|cvxpy)\b|\bimport .*\b(linprog|milp|minimize)\b|\.solve\(.*solver=")
    own = re.compile(r"from symshuffle\.(base\.solvers|geometry\.linprog) import|>>>|\.\.\. ")
    for path in [*ROOT.glob("symshuffle/**/*.py"), *ROOT.glob("proofs_checks/**/*.py")]:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not own.search(line)]
        found = [line.strip() for line in lines if loud.search(line)]
        assert path == door or not found, (path, found)


def test_what_was_written_before_and_after_stands(capfd):
    sys.stdout.write("before\n")
    with silent():
        sys.stdout.write("lost\n")
        with silent():
            os.write(1, b"lost")
        os.write(1, b"lost")
        sys.stderr.write("shown\n")
    sys.stdout.write("after\n")
    os.write(1, b"raw\n")
    sys.stdout.flush()
    out, err = capfd.readouterr()
    assert sorted(out.split()) == ["after", "before", "raw"]
    assert err == "shown\n"


def test_an_error_opens_standard_output_again(capfd):
    with pytest.raises(KeyError), silent():
        raise KeyError
    os.write(1, b"open\n")
    sys.stdout.write("open\n")
    assert capfd.readouterr().out.split() == ["open", "open"]


def test_threads_open_standard_output_when_the_last_one_is_done(capfd):
    first, second = threading.Event(), threading.Event()

    def solve():
        with silent():
            second.set()
            first.wait(10)
            os.write(1, b"lost")

    with silent():
        thread = threading.Thread(target=solve)
        thread.start()
        second.wait(10)
    os.write(1, b"lost")  # the other one is at work
    first.set()
    thread.join()
    os.write(1, b"open\n")
    sys.stdout.write("open\n")
    assert capfd.readouterr().out.split() == ["open", "open"]


def test_without_descriptor_1_solvers_run():
    code = (
        "import os, sys; os.close(1); sys.stdout = None\n"
        "from symshuffle.base.solvers import linprog; assert linprog([1.0]).fun == 0\n"
        "try: os.fstat(1)\n"
        "except OSError: pass\n"
        "else: raise SystemExit(5)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
