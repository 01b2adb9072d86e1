"""Help is shown as it is written, brackets included, and the keys of files that it names are read."""

import inspect
import re

import pytest
import typer

from symshuffle.cli import application, main
from symshuffle.cli.catalogue import claims
from tests import fresh


def commands(command, words=()):
    inner = getattr(command, "commands", None)
    if inner is None:
        yield words, command
    for name, one in (inner or {}).items():
        yield from commands(one, (*words, name))


def helped(capsys, *words):
    """Help as printed on a wide terminal, without frames, in one line."""
    assert main([*words, "--help"]) == 0
    return " ".join(re.sub("[│╭╮╰╯─]", " ", capsys.readouterr().out).split())


COMMANDS = [words for words, _ in commands(typer.main.get_command(application()))]


def listed(group, words):
    for info in group.typer_instance.registered_commands:
        name = info.name or info.callback.__name__.replace("_", "-")
        yield (name,) if group.name is None else (group.name, name), info


def texts(info):
    """The docstring and the help of every parameter of a command."""
    yield info.help or info.callback.__doc__
    yield info.epilog
    for parameter in inspect.signature(info.callback, eval_str=True).parameters.values():
        for note in getattr(parameter.annotation, "__metadata__", ()):
            yield getattr(note, "help", None)


SOURCES = {words: info for group in application().registered_groups for words, info in listed(group, ())}


def test_every_command_is_found():
    assert set(SOURCES) == set(COMMANDS)
    assert sum("[" in text for info in SOURCES.values() for text in texts(info) if text) >= 4
    assert claims in {info.callback for info in SOURCES.values()}


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_is_shown_as_it_is_written(words, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")
    shown = helped(capsys, *words)
    for text in texts(SOURCES[words]):
        for paragraph in (text or "").split("\n\n"):
            assert " ".join(paragraph.split()) in shown


def test_the_smoke_set_has_every_command_with_json():
    """`make fresh` parses what each of them prints."""
    parser = typer.main.get_command(application())
    speaking = {words for words, one in commands(parser) if any("--json" in option.opts for option in one.params)}
    silent = {words for words in speaking if not any(one[: len(words)] == words for one in fresh.COMMANDS)}
    assert not silent, f"no line in COMMANDS of tests/fresh.py: {silent}"
    assert all("--json" in one for one in fresh.COMMANDS)


KEYS = {
    "group": {
        "randomizer": '"krr"',
        "parameters": '{ k = 3, lam = "3/2" }',
        "rows": '[["2/3", "1/3"], ["1/3", "2/3"]]',
        "header": "false",
        "count": "100",
        "min_batch_size": "90",
        "dropout": '"1/10"',
        "colluding": "1",
    },
    "rounds": {
        "mechanism": '"krr"',
        "params": "{ k = 3 }",
        "eps0": "1",
        "lam": '"3/2"',
        "n": "100",
        "times": "1",
        "reports": '"fresh"',
        "participation": '"all"',
        "messages": '"unlinkable"',
        "file": '"w.csv"',
        "header": "false",
    },
    "users": {
        "count": "3",
        "mechanism": '"krr"',
        "params": "{ k = 3 }",
        "eps0": "1",
        "lam": '"3/2"',
        "file": '"w.csv"',
        "header": "false",
    },
}
NEEDED = {
    "group": ("randomizer", "parameters", "count"),
    "rounds": ("mechanism", "params", "lam", "n", "reports"),
    "users": ("params", "lam"),
}
ASKED = {
    "group": ("epsilon", "--delta", "1/1000", "--rtol", "0.1"),
    "rounds": ("epsilon", "--delta", "1/1000", "--rtol", "0.1"),
    "users": ("epsilon", "--delta", "1/1000"),
}


def lines(table, key):
    """A table with a key, beside what every table needs."""
    values = {name: KEYS[table][name] for name in NEEDED[table]}
    if key == "eps0":
        del values["lam"]
    if key == "rows":
        del values["randomizer"], values["parameters"]
    elif (table, key) == ("group", "header"):
        del values["parameters"]
        values["randomizer"] = '"w.csv"'
    elif key in ("file", "header"):
        del values["params"], values["lam"]
        values |= {"mechanism": '"channel"', "file": KEYS[table]["file"]}
    return f"[[{table}]]\n" + "".join(
        f"{name} = {value}\n" for name, value in (values | {key: KEYS[table][key]}).items()
    )


@pytest.mark.parametrize("table", KEYS)
def test_the_keys_that_a_refusal_names_are_those_that_are_read(table, capsys, monkeypatch, tmp_path):
    """Of today's kind of file, and of the earlier ones."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w.csv").write_text("1/3,2/3\n2/3,1/3\n")
    (tmp_path / "plan.toml").write_text(lines(table, NEEDED[table][0]) + "level = 1\n")
    assert main([*ASKED[table], "plan.toml"]) == 2
    refusal = " ".join(capsys.readouterr().err.split())
    found = re.search(rf"plan\.toml, line \d+ = level: expected a key of {table}\[0\]: (\w+(?:, \w+)*)", refusal)
    assert found, refusal
    assert sorted(found[1].split(", ")) == sorted(KEYS[table])
    for key in KEYS[table]:
        (tmp_path / "plan.toml").write_text(lines(table, key))
        status = main([*ASKED[table], "plan.toml"])
        assert status == 0, (key, capsys.readouterr().err)
