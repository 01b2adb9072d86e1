"""`import symshuffle` loads no heavy library; the names load on first use."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import symshuffle
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
        "from symshuffle import Channel, Law, hockey_stick, privacy_blanket, shuffled_divergence",
        "from symshuffle import Exact, FFT, Contour, BallContour, confirm",
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
    "solve-eps0 rappor --delta 1e-6 --eps 0.5",
    "epsilon bmg -p gamma=0.9 -p sigma0=3 --delta 1e-2 --adjacency zero-out",
    "delta krr -p k=10 --eps 0.02 --eps0 1 --adjacency zero-out",
    "epsilon rappor --delta 1e-6 --eps0 1 --adjacency zero-out",
    "epsilon half-block -p k=10 --delta 1e-6 --eps0 1 --adjacency zero-out",
)
ON_FILE = (
    "decompose krr",
    "decompose half-block --json",
    "delta constant --n 100 --eps 0.1",
    "law krr",
    "law hadamard --json",
    "mechanisms",
    "example",
    "compare --k 6 --n 100 --eps0 1 --delta 1e-4",
    "compare --k 10 --n 1000 --eps 0.5 --delta 1e-6",
    "compare --k 10 --n 100 --eps 60 --delta 1e-9",
)
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
def test_these_commands_need_no_algebra(commands, unasked):
    """One process runs them one after the other: what one of them loads is there after it."""
    program = EACH.format(commands=commands)
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    told = [json.loads(line) for line in found.stdout.splitlines()]
    assert [command for command, _, _ in told] == list(commands)
    for command, status, modules in told:
        assert (command, status, unasked & set(modules)) == (command, 0, set())


def test_every_command_is_found_in_the_module_that_the_table_names():
    from symshuffle import cli

    listed = {}
    for family, commands in cli.FAMILIES.items():
        module = importlib.import_module(f"symshuffle.cli.{family}")
        known = [c.name or c.callback.__name__.replace("_", "-") for c in module.app.registered_commands]
        assert not commands or sorted(commands) == sorted(known), family
        listed |= dict.fromkeys(commands or (family,), family)
    shared = set(words("__init__ arguments options progress rounds shuffled vectors"))
    modules = {path.stem for path in Path(cli.__file__).parent.glob("*.py")} - shared
    assert modules == set(cli.FAMILIES)
    assert {word: cli.family_of(word) for word in listed} == listed
    assert cli.family_of("--help") is cli.family_of(None) is cli.family_of("nonsense") is None
