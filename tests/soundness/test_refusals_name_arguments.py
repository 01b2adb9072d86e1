"""Refusals of Python functions name arguments; the command line says the same with its options."""

import ast
import pickle
import random
import re
from pathlib import Path

import pytest

import symshuffle
from symshuffle import InputError, SymshuffleError, cli, collect, randomizer
from symshuffle.accountants.deployment.assumptions import Assumption
from symshuffle.channels.geometry.groups import SymmetryGroup
from symshuffle.collect import files
from symshuffle.design.comparison.table import check_picture
from tests.shell import refused
from tests.soundness.test_wrong_arguments import VALID, refusals, soon

KRR = randomizer("krr").at(k=3, lam=2)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
LIBRARY = Path(symshuffle.__file__).parent


def test_no_text_of_the_library_that_is_raised_has_an_option():
    """The strings inside of every `raise`, and those that are an option alone, outside the command line."""
    found = []
    for path in sorted(LIBRARY.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if path.is_relative_to(LIBRARY / "cli") or path.name == "site.py" or not OPTION.search(text):
            continue  # site.py: names of colours
        for node in ast.walk(ast.parse(text)):
            strings = (
                [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
                if isinstance(node, ast.Raise)
                else ()
            )
            found += [(path.name, text) for text in map(str, strings) if OPTION.search(text)]
            if isinstance(node, ast.Constant) and OPTION.fullmatch(str(node.value)):
                found.append((path.name, node.value))
    assert not found


@pytest.mark.parametrize("name", random.Random("arguments").sample(sorted(VALID), 12))
def test_no_refusal_of_a_wrong_argument_has_an_option(name):
    for argument, value, error in refusals(name, each=3, seed="options"):
        assert not OPTION.search(str(error).replace(str(value), "")), (argument, value, error)


CALLS = {
    "arithmetic": lambda: symshuffle.delta(KRR, n=10**7, eps="1/10", arithmetic="exact"),
    "arithmetic of doubles": lambda: symshuffle.renyi(KRR, n=3, order=2, arithmetic="exact"),
    "arithmetic of rounds": lambda: symshuffle.delta(KRR, n=9, periods=2, eps=1, arithmetic="exact"),
    "arithmetic of losses": lambda: symshuffle.privacy_loss_distribution(
        KRR, n=3, step=0.25, beyond="1/100", arithmetic="exact"
    ),
    "dropout": lambda: symshuffle.renyi(KRR, n=3, order=2, dropout="1/2"),
    "direction": lambda: symshuffle.prove(symshuffle.delta(KRR, n=3, eps=1, direction="reverse")).content,
    "dropout of a proof": lambda: symshuffle.prove(symshuffle.delta(KRR, n=3, eps=1, dropout="1/2")).content,
    "source of a proof": lambda: symshuffle.prove(symshuffle.delta(KRR, n=3, periods=2, eps=1)).content,
    "command": lambda: collect.Program("'"),
    "no command": lambda: collect.Program(""),
    "timeout": lambda: collect.Program("a", timeout=0),
    "name": lambda: collect.named_claim("laplace", {}, eps0=1),
    "budget": lambda: collect.named_claim("krr", {"k": "3"}),
    "labels": lambda: files.read_labels(Path("no-such-file")),
    "suffix": lambda: check_picture(".txt"),
    "orbits": lambda: tuple(SymmetryGroup(30, ()).subset_orbits()),
}


@pytest.mark.parametrize("call", CALLS)
def test_no_refusal_has_an_option(call):
    with pytest.raises(SymshuffleError) as refusal:
        CALLS[call]()
    assert not OPTION.search(str(refusal.value))


def test_the_command_line_names_its_options(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = ("delta", "krr", "-p", "k=3", "--lam", 2, "--n", 10**7, "--eps", "1/10")
    assert "--arithmetic ball" in refused(capsys, *asked, "--arithmetic", "exact")
    claim = ("--claim", "krr", "-p", "k=3", "--lam", "3", "--runs", "60")
    assert "--program" in refused(capsys, "audit", "local", "--program", "'", *claim)
    assert "--timeout" in refused(capsys, "audit", "local", "--program", "a", *claim, "--timeout", "0")
    rounds_ = ("delta", "krr", "-p", "k=3", "--lam", 2, "--n", 9, "--eps", 1, "--periods", 2)
    assert "--proof" in refused(capsys, *rounds_, "--proof", "p.json")
    plan = (
        "collect",
        "plan",
        "--k",
        3,
        "--n",
        9,
        "--eps",
        1,
        "--delta",
        "1/10",
        "--mechanism",
        "krr",
        "--out",
        "p.json",
    )
    assert "--labels" in refused(capsys, *plan, "--labels", "no-such-file")


@pytest.mark.parametrize(
    "pair", [("a b", "a  b"), ("a b", "a\u00a0b"), ("ab", "ab "), ("a b", "a\tb"), ("a b", "a\nb"), ("'a b'", "'a  b'")]
)
def test_two_texts_are_never_written_alike(pair):
    lines = [str(InputError("x", text, "y")) for text in pair]
    assert lines[0] != lines[1] and all(line.isprintable() for line in lines)
    copies = [str(pickle.loads(pickle.dumps(InputError("x", text, "y")))) for text in pair]
    assert copies == lines


def test_every_argument_and_phrase_is_translated_once():
    for argument, options in cli.OPTIONS.items():
        for option in options:
            known = {name: name for name in option.split(", ")}
            said = cli.in_options(str(InputError(argument, 0, "x")), known)
            assert said.startswith(f"{option} = 0") and cli.in_options(said, known) == said
        assert cli.in_options(f"{argument} = 0: expected x") == f"{argument} = 0: expected x"
    known = {
        "min_batch_size": "--min-batch-size",
        "identity": "--id",
        "mech": "MECH",
        "eps": "--eps",
        "exp_eps": "--exp-eps",
    }
    for argument, option in known.items():
        assert cli.in_options(f"{argument} = 0: expected x", known) == f"{option} = 0: expected x"
    for said, option in (("eps, exp_eps", "--eps, --exp-eps"), ("eps[3]", "--eps[3]"), ("eps, x", "eps, x"),
                         ("eps[0].n", "eps[0].n"), ("a.csv, line 1", "a.csv, line 1")):  # fmt: skip
        assert cli.in_options(f"{said} = 0: expected x", known) == f"{option} = 0: expected x"
    for phrase, option in cli.PHRASES.items():
        assert OPTION.search(option) and not OPTION.search(phrase)
        assert cli.in_options(f"use {phrase}") == f"use {option}"


EPS = ("--n", "20", "--eps", "1/2")
ASKED = {
    "delta, null": (*EPS, "--null", "1/2,1/2"),
    "delta, proof": (*EPS, "--proof", "p.json"),
    "law": (),
}
SOURCES = {
    "joint(krr(k=3),2)": "--eps0 1",
    "parallel(1/2:krr(k=3),1/2:krr(k=3))": "--eps0 1",
    "laplace": "--eps0 1",
    "gaussian": "-p sigma0=1 -p d=2",
    "bmg": "-p d=2 -p gamma=1/5 -p sigma0=1",
    "privunit": "-p d=3 -p theta=0 -p p=4/5",
    "sphere-linear": "-p d=3 -p c=1/2",
    "any-ldp": "--eps0 1",
    "krr": "-p k=3 --eps0 1",
    "rappor": "--eps0 1",
}


def classes():
    """Names of all classes of the library."""
    for path in LIBRARY.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield node.name


@pytest.mark.parametrize("command", ASKED)
def test_no_command_names_a_class(command, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known, refusals_ = set(classes()), []
    for source, given in SOURCES.items():
        with soon():
            status = cli.main([command.partition(",")[0], source, *ASKED[command], *given.split()])
        said = capsys.readouterr().err
        if status:
            refusals_.append(said)
            assert not known & set(re.findall(r"\w+", said)), (source, said)
    assert refusals_


TYPES = re.compile(r"type\(\w+\)\.__(?:name|qualname)__|__class__")
LISTED = {
    "mechanisms/names.py": "names of randomizers of vectors by their classes",
    "cli/vectors.py": "the same",
    "configuration/randomizers.py": "the same",
    "accountants/questions/proof.py": "what is a mechanism, without algebra",
    "decompositions/closed_forms.py": "the same",
    "base/results.py": "the text of an object in Python",
    "base/sweeps.py": "the name of a function, and the kind of an error in a row",
    "base/numbers/readers.py": "what is an array or a truth value, without NumPy",
    "cli/sweep.py": "a number of the same type",
    "ledger/claims/certify.py": "the kind of a record in a file",
}
"""Modules that name classes where no message does, each with the reason."""


def test_a_class_is_named_only_for_an_argument_of_a_wrong_kind():
    """Elsewhere it is an exception that is named, or a value of JSON in a file."""
    for path in sorted(LIBRARY.rglob("*.py")):
        name = path.relative_to(LIBRARY).as_posix()
        for line in path.read_text(encoding="utf-8").splitlines() if name not in LISTED else ():
            if TYPES.search(line):
                of_kind = re.search(r'InputError\(f?"?[\w.\[\]{}]+"?, type\(\w+\)\.__name__, ', line)
                of_error = re.search(r"type\((error|reason|value|content|executor|computed)\)", line)
                assert of_kind or of_error, f"{name}: {line.strip()}: source_name of mechanisms/names.py"


def test_no_assumption_has_an_option():
    """Their meanings are shown in Python as well."""
    assert not [one for one in Assumption if OPTION.search(one.meaning)]


UNPROVABLE = {
    "source": ("gaussian", "-p", "sigma0=1", "-p", "d=2", "--n", "20"),
    "rounds": ("krr", "-p", "k=3", "--lam", "2", "--n", "9", "--periods", "2"),
    "dropout": ("krr", "-p", "k=3", "--lam", "2", "--n", "9", "--dropout", "1/2"),
    "group": ("krr", "-p", "k=3", "--lam", "2", "--n", "2000", "--group-size", "1001"),
    "direction": ("krr", "-p", "k=3", "--lam", "2", "--n", "9", "--direction", "reverse"),
}


@pytest.mark.parametrize("asked", UNPROVABLE.values(), ids=list(UNPROVABLE))
@pytest.mark.parametrize("quantity", [("delta", "--eps", "1/2"), ("epsilon", "--delta", "1/100")], ids=lambda q: q[0])
def test_a_proof_is_refused_before_the_bound_is_computed(capsys, tmp_path, monkeypatch, asked, quantity):
    monkeypatch.chdir(tmp_path)
    command, *target = quantity
    monkeypatch.setattr(f"symshuffle.accountants.questions.solve.{command}", None)  # a call would be a TypeError
    assert "--proof" in refused(capsys, command, *asked, *target, "--proof", "p.json")
    assert not any(tmp_path.iterdir())
