"""`import symshuffle` loads no heavy library; the names load on first use."""

import importlib
import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

import symshuffle
from tests.shell import run
from tests.slices import some
from tests.words import words

HEAVY = (
    *("sympy", "cvxpy", "matplotlib", "scipy.stats", "scipy", "numpy", "flint", "highspy", "mpmath", "pydantic"),
    *("hypothesis", "typer"),
)


def modules_after(statement):
    program = f"import sys, json\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(found.stdout))


def test_import_loads_nothing_heavy():
    assert not modules_after("import symshuffle") & set(HEAVY)


@pytest.mark.parametrize(
    "statement",
    [
        "from symshuffle import Channel, Law",
        "from symshuffle.channels import hockey_stick, shuffled_divergence",
        "from symshuffle.decompositions import privacy_blanket",
        "from symshuffle.engines import Exact, FFT, Contour, BallContour, recompute",
        "import symshuffle.cli",
    ],
)
def test_numbers_channels_and_engines_need_no_algebra(statement):
    assert not modules_after(statement) & {"sympy", "cvxpy", "matplotlib", "scipy.stats", "highspy", "hypothesis"}


def test_every_public_name_exists():
    for name in symshuffle.__all__:
        assert getattr(symshuffle, name) is not None
    assert set(symshuffle.__all__) <= set(dir(symshuffle))
    with pytest.raises(AttributeError, match="attribute nonsense"):
        symshuffle.nonsense


NUMBERS = (
    "delta krr -p k=10 --eps 0.02 --eps0 1",
    "epsilon rappor --delta 1e-6 --eps0 1",
    "largest-eps0 rappor --delta 1e-6 --eps 0.5",
    "epsilon bmg -p gamma=0.9 -p sigma0=3 --delta 1e-2 --adjacency zero-out",
    "delta krr -p k=10 --eps 0.02 --eps0 1 --adjacency zero-out",
    "epsilon rappor -p D=10 --delta 1e-6 --eps0 1 --adjacency zero-out",
    "epsilon half-block -p k=10 --delta 1e-6 --eps0 1 --adjacency zero-out",
)
ON_FILE = (
    "mechanisms",
    "example",
    "delta krr -p k=10 --eps0 1 --n 1000 --eps 0.02 --proof proof.json",
    "epsilon any-ldp --eps0 1 --n 1000 --delta 1e-6",
    "epsilon laplace --eps0 1 --n 1000 --delta 1e-6 --rtol 1e-2",
    "epsilon krr -p k=10 --eps0 1 --n 1000 --delta 1e-6 --periods 3",
    "amplification-curve krr -p k=3 --eps0 1 --delta 1e-3 --points 2 --to 2000",
    "tradeoff krr -p k=3 --eps0 1 --n 100 --points 2",
    "profile krr -p k=3 --eps0 1 --n 100 --to 1 --points 3",
    "renyi krr -p k=3 --eps0 1 --n 100 --order 2 --rtol 1e-2",
    "pld krr -p k=3 --eps0 1 --n 100 --out pld.json",
    "epsilon users.toml --delta 1e-2",
    "frontier --k 4 --budget 1/2",
    "frontier --k 6 --budget 1/2 --eps0 1",
    "frontier --k 6 --budget 1/2 --latex",
    "subset-size --k 6 --eps0 1",
    "subset-size --k 10 --lam 6 --loss max",
    "subset-size --k 6 --eps0 1 --latex",
    "compare --k 6 --n 100 --eps0 1 --delta 1e-4",
    "compare --k 4 --n 100 --budget 1/2",
    "compare --k 10 --n 100 --eps 60 --delta 1e-9",
    "calibrate sphere-linear --n 1000 --d 3 --eps 1 --delta 1e-3",
    "mean x.csv --mechanism sphere-linear --eps 1 --delta 1e-4",
    "collect plan --k 3 --n 100 --eps 1 --delta 1e-3 --mechanism krr --out plan.json",
    "collect randomize plan.json --values v.csv --column x --out m.txt",
    "collect estimate plan.json --simulate --seed 1 --out histogram.csv",
    "audit samples v.csv v.csv --header",
    "sweep sweep.toml --out swept --jobs 1",
    "check plan.json",
)
"""One everyday line at least of each command that answers about mechanisms on file."""

FILES = {
    "users.toml": '[[users]]\ncount = 9\nparams = { k = 3 }\nlam = "3/2"\n',
    "v.csv": "x\n" + "0\n1\n" * 50,
    "x.csv": "0.1,0.2\n0.3,-0.1\n" * 2000,
    "sweep.toml": 'command = "delta"\n[grid]\nmechanism = "krr"\nparam.k = 3\neps0 = [1, 2]\neps = 1\nn = 100\n',
}
"""What these lines read."""

ALGEBRA = {
    "verify": "the ledger, whose claims are proved by algebra",
    "report": "the ledger",
    "perturb": "the ledger",
    "reproduce": "the ledger",
    "doctor": "five claims of the ledger",
    "claims": "the ledger",
    "errata": "the ledger",
    "show": "the ledger",
    "cite": "the ledger",
    "design": "channels that a search finds, or of a problem file",
}
"""Commands that are not about a named mechanism, and what they answer about."""

EACH = """
import io, contextlib, json, sys
from symshuffle.cli import main
for command in {commands}:
    with contextlib.redirect_stdout(io.StringIO()):
        status = main(command.split())
    print(json.dumps([command, status, sorted(sys.modules)]))
"""


@pytest.mark.parametrize(
    ("commands", "unasked"),
    [
        (
            tuple(f"{command} --n 10000 --json" for command in NUMBERS),
            {"sympy", "scipy", "cvxpy", "matplotlib", "symshuffle.ledger.claims.run", "hypothesis"},
        ),
        (ON_FILE, {"sympy", "cvxpy", "matplotlib", "hypothesis"}),
    ],
    ids=["a number from the shell", "what is on file"],
)
def test_these_commands_need_no_algebra(commands, unasked, tmp_path):
    """One process runs them one after the other: what one of them loads is there after it."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    program = EACH.format(commands=commands)
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    told = [json.loads(line) for line in found.stdout.splitlines()]
    assert [command for command, _, _ in told] == list(commands)
    for command, status, modules in told:
        assert (command, status, unasked & set(modules)) == (command, 0, set())


BLOCKED = """
import contextlib, io, json, sys

class Loaded(BaseException):
    pass

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name == "sympy":
            raise Loaded(name)

sys.meta_path.insert(0, Refuse())
from symshuffle.cli import main
found = []
for line in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            status = main(line)
        except Loaded:
            status = "SymPy"
    found.append(status)
print(json.dumps(found))
"""
"""Runs lines one after the other in a process that cannot import SymPy."""

ABOUT_ONE = (
    "delta --n 9 --eps 1/3 --engine exact",
    "delta --n 9 --eps 1/3 --adjacency zero-out --json",
    "delta --n 9 --eps 1/2 --adjacency zero-out",
    "smallest-n --delta 1/2 --eps 1",
    "gdp --n 100",
    "worst-datasets --n 3 --eps 1/3",
    "decompose --json",
    "decompose --latex",
    "law --json",
    "law --n 9 --eps 1/3",
    "largest-eps0 --n 9 --delta 1e-2 --eps 1",
)
"""What is asked about one mechanism, whose name and values come after the first word."""

NEEDED = {
    "rappor": "D=3", "oue": "D=3", "blh": "D=3", "olh": "g=4 D=3", "hadamard": "D=4", "half-block": "k=4 d=2",
    "subset-selection": "k=4 s=2", "aug-rr": "k=3 p=1/2", "erasure": "k=3 p=1/3", "laplace": "cells=4",
    "bmg": "gamma=0.9 sigma0=3", "privunit": "p=0.9 theta=0.1 d=3", "sphere-linear": "c=1/2",
    "clipped-linear": "clip=0 chi=1 d=3", "gaussian": "sigma0=3",
}  # fmt: skip
"""Values of every parameter but the budget; those of a mechanism that is not here are ``k=3``, if it has one."""

DEAR = ("bmg", "gaussian", "clipped-linear")
"""Mechanisms of vectors whose bounds take a second each; one line above asks for one of them."""


def values_of(name, parameters):
    """No value, all values, and every other choice of values, the budget among them."""
    named = words(NEEDED.get(name, "k=3" if "k" in parameters else ""))
    given = [("-p", value) for value in named] + ([("--eps0", "1")] if "lam" in parameters else [])
    for size in range(len(given) + 1):
        for chosen in itertools.combinations(given, size):
            yield tuple(part for pair in chosen for part in pair), len(chosen) == len(given)


def lines_about_every_mechanism(listed):
    """Every command about one mechanism, for every mechanism of the catalogue, with no, some, and all values."""
    for one in listed:
        for values, whole in values_of(one["name"], one["parameters"]):
            for command in ABOUT_ONE:
                word, *options = command.split()
                if not (
                    (word == "largest-eps0" and "--eps0" in values)
                    or (word == "delta" and whole and one["name"] in DEAR)
                ):
                    yield [word, one["name"], *values, *options]
            if whole and one["name"] not in DEAR:
                yield ["delta", one["name"], *values, *words("--n 2 --eps 1/3 --proof"), f"{one['name']}-proof.json"]


@pytest.mark.parametrize("third", some(range(3), 1))
def test_no_question_about_a_named_mechanism_needs_algebra(third, tmp_path, capsys):
    from symshuffle.collect.mechanisms import SCHEMES
    from symshuffle.design.comparison.families import names_on_file

    listed = json.loads(run(capsys, "mechanisms", "--json")[1])
    lines = list(lines_about_every_mechanism(listed))
    assert {line[1] for line in lines} == {one["name"] for one in listed} and len(lines) > 500
    target, level = words("--n 100 --eps 1 --delta 1e-2"), words("--n 100 --eps0 1 --delta 1e-2")
    lines += [[*words("collect plan --k 4 --out"), f"{name}.json", "--mechanism", name, *target] for name in SCHEMES]
    lines += [["compare", "--k", "4", "--mechanism", name, *level] for name in names_on_file()]
    lines = [*lines[third::3], ["design", "shuffled", "--k", "3", *target]]
    asked = {"input": json.dumps(lines), "capture_output": True, "text": True, "cwd": tmp_path}
    found = subprocess.run([sys.executable, "-c", BLOCKED], check=True, **asked)
    told = dict(zip(map(" ".join, lines), json.loads(found.stdout), strict=True))
    derived = {f"decompose {name}" for name in ("constant", "rappor", "oue", "blh", "olh", "hadamard")}  # all is open
    loaded = [line for line, status in told.items() if status == "SymPy"]
    assert [line for line in loaded if line.removesuffix(" --latex").removesuffix(" --json") not in derived] == []
    assert set(told.values()) <= {0, 2, 3, "SymPy"} and sum(status == 0 for status in told.values()) > len(told) / 4


def test_every_command_is_asked_whether_it_needs_algebra():
    from symshuffle import cli

    asked = {command.split()[0] for command in (*NUMBERS, *ON_FILE, *ABOUT_ONE)}
    every = {word for family, commands in cli.FAMILIES.items() for word in commands or (family,)}
    assert asked.isdisjoint(ALGEBRA)
    assert asked | set(ALGEBRA) == every


def test_every_command_is_found_in_the_module_that_the_table_names():
    from symshuffle import cli

    listed = {}
    for family, commands in cli.FAMILIES.items():
        module = importlib.import_module(f"symshuffle.cli.{family}")
        known = [c.name or c.callback.__name__.replace("_", "-") for c in module.app.registered_commands]
        assert not commands or sorted(commands) == sorted(known), family
        listed |= dict.fromkeys(commands or (family,), family)
    shared = set(words("__init__ arguments deployments options progress shuffled vectors"))
    modules = {path.stem for path in Path(cli.__file__).parent.glob("*.py")} - shared
    assert modules == set(cli.FAMILIES)
    assert {word: cli.family_of(word) for word in listed} == listed
    assert cli.family_of("--help") is cli.family_of(None) is cli.family_of("nonsense") is None
