"""What a plain `pip install .` of today gives: every command with --json, what pages show, and the doctor.

    python tests/fresh.py

`make fresh` runs it in an environment without constraints, so that a release of a dependency is seen before users meet
it. It is a report and no gate: the exit code is 0 whatever is found.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROBLEMS = ROOT / "examples" / "problems"
LIBRARIES = ("numpy", "scipy", "sympy", "mpmath", "python-flint", "cvxpy", "highspy", "pydantic", "typer", "rich")

MOST_SECONDS = 600

KRR = ("krr", "-p", "k=3", "--eps0", "1")
FILES = {
    "w.csv": "1/3,2/3\n2/3,1/3\n",
    "x.csv": "0.1,0.2\n0.3,-0.1\n" * 2000,
    "users.toml": '[[users]]\ncount = 9\nparams = { k = 3 }\nlam = "3/2"\n',
    "sweep.toml": 'command = "delta"\n[grid]\nmechanism = "krr"\nparam.k = 3\neps0 = [1, 2]\neps = 1\nn = 100\n',
}
"""Files that commands read, in the folder where they run."""

ANSWER = f"{sys.executable} -c 'import sys; [print(0) for line in sys.stdin]'"
SURVEY = ("--k", "3", "--n", "100", "--eps", "1", "--delta", "1e-3")
COMMANDS = (
    ("verify", "decomposition.thm-12", "ldp_tradeoff.def-3.1", "--certificates", "certificates", "--json", "-"),
    ("perturb", "decomposition.def-1", "--json", "-"),
    ("claims", "--json"),
    ("errata", "--json"),
    ("show", "decomposition.thm-12", "--json"),
    ("doctor", "--json"),
    ("check", "certificates/decomposition.thm-12.json", "--json"),
    ("delta", *KRR, "--n", "100", "--eps", "1/2", "--json"),
    ("epsilon", *KRR, "--n", "100", "--delta", "1e-3", "--json"),
    ("decompose", "krr", "--json"),
    ("mechanisms", "--json"),
    ("largest-eps0", "krr", "-p", "k=3", "--n", "1000", "--delta", "1e-3", "--eps", "1/2", "--json"),
    ("smallest-n", *KRR, "--delta", "1e-3", "--eps", "1/2", "--json"),
    ("amplification-curve", *KRR, "--delta", "1e-3", "--points", "2", "--to", "2000", "--json"),
    ("tradeoff", *KRR, "--n", "100", "--points", "2", "--json"),
    ("profile", *KRR, "--n", "100", "--to", "1", "--points", "3", "--json"),
    ("renyi", *KRR, "--n", "100", "--order", "2", "--json"),
    ("gdp", *KRR, "--n", "1000", "--json"),
    ("design", "bayes", PROBLEMS / "guess_one_of_four.json", "--lam", "3", "--json"),
    ("design", "minimax", PROBLEMS / "rating_on_five_steps.json", "--lam", "3", "--json"),
    ("design", "mutual-information", PROBLEMS / "survey_information.json", "--lam", "3", "--json"),
    ("design", "f-divergence", PROBLEMS / "keep_two_populations_apart.json", "--lam", "3", "--json"),
    ("design", "shuffled", "--k", "4", "--n", "100", "--eps", "1/2", "--delta", "1e-3", "--json"),
    ("frontier", "--k", "4", "--budget", "1/2", "--json"),
    ("subset-size", "--k", "6", "--eps0", "1", "--json"),
    ("law", *KRR, "--json"),
    ("worst-datasets", *KRR, "--n", "20", "--eps", "1/2", "--json"),
    ("compare", "--k", "4", "--n", "100", "--budget", "1/2", "--mechanism", "krr", "--mechanism", "oue", "--json"),
    ("pld", *KRR, "--n", "100", "--out", "pld.json", "--json"),
    ("calibrate", "sphere-linear", "--n", "1000", "--d", "3", "--eps", "1", "--delta", "1e-3", "--json"),
    ("mean", "x.csv", "--mechanism", "sphere-linear", "--eps", "1", "--delta", "1e-4", "--json"),
    ("collect", "plan", *SURVEY, "--mechanism", "krr", "--out", "plan.json", "--json"),
    ("collect", "estimate", "plan.json", "--simulate", "--seed", "1", "--out", "histogram.csv", "--json"),
    ("audit", "local", "--program", ANSWER, "--inputs", "0,1", "--eps0", "1", "--runs", "100", "--json"),
    ("audit", "shuffled", "--program", ANSWER, "--x0", "0,1", "--x1", "1,1", "--eps", "1", "--runs", "100", "--json"),
    ("audit", "samples", "x.csv", "w.csv", "--json"),
    ("sweep", "sweep.toml", "--out", "swept", "--jobs", "1", "--json"),
    ("check", "w.csv", "--eps0", "1", "--json"),
    ("epsilon", "users.toml", "--delta", "1e-2", "--json"),
)


def smoke(command, folder):
    """What is wrong with the JSON that a command prints; empty if nothing is."""
    words = [sys.executable, "-m", "symshuffle", *map(str, command)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder, check=False, timeout=MOST_SECONDS)
    try:
        found = json.loads(done.stdout)
    except json.JSONDecodeError as error:
        return f"no JSON ({error}): {done.stdout[:60]!r} {done.stderr.strip()[-200:]}"
    if isinstance(found, dict) and found.get("healthy") is False:
        return "the doctor is not content: " + json.dumps(found)
    return "" if done.returncode == 0 else f"exit code {done.returncode}"


def shown(outputs):
    """Every program of a page, and what is wrong with its output."""
    for page in outputs.PAGES:
        for kind, program, text in outputs.blocks(page.read_text(encoding="utf-8")):
            name = f"{page.name}: {program.strip().splitlines()[-1][:60]}"

            def run(kind=kind, program=program, text=text):
                same = outputs.to_twelve(outputs.output(kind, program)) == outputs.to_twelve(text)
                return "" if same else "another output than the page shows"

            yield name, run


def main():
    os.environ["PYTHONSAFEPATH"] = "1"  # the package that is installed, not that of the checkout
    sys.path.insert(0, str(ROOT / "docs"))
    import outputs

    print(*(f"{name} {version(name)}" for name in LIBRARIES), sep=", ")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            (Path(folder) / name).write_text(text)
        tasks = [(" ".join(map(str, one[:2])), lambda one=one: smoke(one, folder)) for one in COMMANDS]
        wrong = 0
        for name, task in [*tasks, *shown(outputs)]:
            began = time.monotonic()
            try:
                found = task()
            except Exception as error:  # a report goes on
                found = f"{type(error).__name__}: {error}"
            wrong += bool(found)
            print(
                f"{'WRONG' if found else 'ok':6}{time.monotonic() - began:6.1f} s  {name}  {found}".rstrip(), flush=True
            )
    print(f"{wrong} wrong")


if __name__ == "__main__":
    main()
