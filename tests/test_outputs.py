"""Files that commands write: replaced whole, never in place of an input or of a file of another kind.

Which options name them is read off the parsers.
"""

import ast
from pathlib import Path

import pytest
import typer

import symshuffle
from symshuffle import cli
from tests.shell import refused, run
from tests.soundness.test_wrong_arguments import FILES, LINES

FOREIGN = '[[rounds]]\nmechanism = "krr"\n'
MORE = {
    "verify": ("decomposition.def-1", "--jobs", "1"),
    "report": ("decomposition.def-1", "--jobs", "1"),
    "perturb": ("decomposition.thm-13", "--kind", "constant", "--jobs", "1"),
    "reproduce": ("alphabets.fig-1",),
}
"""Lines of commands about the ledger."""
WITH = {
    ("design shuffled", "--proof"): ("--lam-cap", "20", "--n", "20"),
    ("mean", "--out"): ("--seed", "1"),
    ("collect randomize", "--out"): ("--values", "nine.csv"),
}
"""What an option asks for."""
SUFFIXES = {"--plot": ".svg", "--html": ".html", "--report": ".html", "mean --out": ".csv", "collect --out": ".csv"}
READ = ("--channel", "--claim", "--labels", "--plan", "--values", "FILE1", "FILE2",
        "--expect", "FILE", "MECH", "MECH|FILE", "[FILE]...", "PLAN", "[MESSAGES]", "SPEC.toml")  # fmt: skip
"""Options and arguments that name a file that is read."""


def parsers(command=None, words=()):
    command = command or typer.main.get_command(cli.application())
    inner = getattr(command, "commands", {})
    for name, one in inner.items():
        yield from parsers(one, (*words, name))
    if not inner:
        yield " ".join(words), command


COMMANDS = dict(parsers())
WRITERS = [
    (name, option)
    for name, command in COMMANDS.items()
    for one in command.params
    if one.param_type_name == "option" and not one.is_flag
    for option in one.opts
    if option in cli.OUTPUTS
]


ONCE = [one for one in WRITERS if one != ("verify", "--report")]  # as report --html


def target(name, option):
    """A name that the option takes."""
    suffix = next((SUFFIXES[key] for key in (f"{name.split()[0]} {option}", option) if key in SUFFIXES), ".json")
    return "made.json" if (name, option) == ("collect plan", "--out") else f"kept{suffix}"


def line(name, option, path):
    """A valid line of a command that writes to a path."""
    given = list((LINES | MORE)[name])
    if option in given:
        del given[given.index(option) : given.index(option) + 2]
    return [*name.split(), *given, *WITH.get((name, option), ()), option, str(path)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "nine.csv").write_text("value\n" + "0\n1\n2\n" * 3)
    return tmp_path


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_option_that_takes_a_path_is_read_or_written():
    for name, command in COMMANDS.items():
        for one in command.params:
            kind, shown = str(one.type_descriptor.annotation), str(one.metavar)
            if "Path" in kind or "FILE" in shown or "DIR" in shown:
                known = {*one.opts} if one.param_type_name == "option" else {shown}
                assert bool(known & cli.OUTPUTS) != bool(known & {*READ}), (name, one.opts)


@pytest.mark.parametrize(("name", "option"), ONCE, ids=map(" ".join, ONCE))
def test_a_file_of_another_kind_is_not_replaced(name, option, folder, capsys):
    path = folder / target(name, option)
    path.write_text(FOREIGN)
    before = content(folder)
    status, _, err = run(capsys, *line(name, option, path.name))
    err = err[err.rindex("symshuffle: ") :]  # below bars of progress
    assert status == 2 and err.startswith(f"symshuffle: {option} = {path.name}: expected")
    assert content(folder) == before


@pytest.mark.parametrize(("name", "option"), WRITERS, ids=map(" ".join, WRITERS))
def test_no_input_and_no_other_output_is_replaced(name, option, folder, capsys):
    words = line(name, option, "")[:-1]
    others = [word for word in words if word in FILES]
    if not others:
        kept = next((one for one in COMMANDS[name].params if {*one.opts} & {"--labels", "--plan"}), None)
        other = next((two for one, two in WRITERS if one == name and two != option), None)
        if kept is None and other is None:
            return  # nothing is read, and nothing else is written
        others = ["w.csv"]
        words = [*words[:-1], other or kept.opts[0], "w.csv", option]
    (folder / "hard").hardlink_to(folder / others[0])
    before = content(folder)
    for path in (others[0], f"../{folder.name}/{others[0]}", "hard"):
        assert ": expected another file than that of " in refused(capsys, *words, path)
    assert content(folder) == before


@pytest.mark.parametrize(("name", "option"), ONCE, ids=map(" ".join, ONCE))
def test_an_earlier_output_is_replaced_whole_or_refused(name, option, folder, capsys):
    """Outputs of a survey are new files."""
    path = folder / target(name, option)
    words = line(name, option, path.name)
    assert run(capsys, *words)[0] in (0, 1)
    if not path.is_file():
        return  # a folder
    first = path.read_bytes()
    path.write_bytes(first + b"\n")
    path.chmod(0o640)
    status, _, err = run(capsys, *words)
    if status == 2:
        assert name.split()[0] == "collect" and "does not exist yet" in err
        return
    assert not path.read_bytes().endswith(b"\n\n") and path.read_bytes()[:20] == first[:20]


def test_nothing_is_written_but_by_the_writer():
    """A file opened for writing elsewhere would be partial when a run is killed, and replace any other."""
    listed = {"artifacts.py", "sweeps.py"}  # a journal of a sweep is extended by whole lines
    for path in Path(symshuffle.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and path.name not in listed:
                called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                modes = [
                    one.value
                    for one in (*node.args, *(key.value for key in node.keywords))
                    if isinstance(one, ast.Constant)
                ]
                opened = called in ("open", "fdopen") and any(str(one)[:1] in "wax" for one in modes if one)
                null = "devnull" in ast.dump(node)
                assert called not in ("write_text", "write_bytes") and (null or not opened), (path.name, node.lineno)
