"""Every refusal of a command names an option or an argument that this command has, or a place in a file of the line."""

import random
import re

import pytest

from symshuffle import cli
from tests.soundness.test_wrong_arguments import FILES, LINES, WRITTEN, changed, soon

WHOLE = ("audit", "collect")
"""Groups of which every option is tried; of the others some."""


def parser(command):
    """The parameters of a command by name, with all names that the command line has for each."""
    return cli.parameters_of(cli.application((cli.family_of(command.split()[0]),)), command.split())


def wrong_options(command):
    """The valid line of a command with a wrong value of one more option, or of one that it has."""
    chance = random.Random(f"options of {command}")
    options = sorted({name for name in parser(command).values() if name.startswith("--")})
    if not command.startswith(WHOLE):
        options = chance.sample(options, min(4, len(options)))
    for option in options:
        yield [*command.split(), *LINES[command], option, chance.choice(WRITTEN)]


def named(line, words):
    """Whether the line of a refusal begins with an option, an argument or a parameter given by -p, or a file."""
    begun = re.split(" = | is missing: | are missing: ", line.removeprefix("symshuffle: "))[0]
    argument = re.sub(r"\[\d+\]$", "", begun)
    command = next(one for one in LINES if words[: len(one.split())] == one.split())
    known = {*parser(command).values(), "-p", "--no-header"}
    known |= {words[i + 1].partition("=")[0] for i, word in enumerate(words) if word == "-p"}
    files = {*FILES, *(word for word in words if "/" in word)}
    return {*argument.split(", ")} <= known or any(argument.startswith((f"{f}: ", f"{f}, line ")) for f in files)


@pytest.mark.parametrize("command", LINES)
def test_a_refusal_begins_with_what_the_command_has(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    wrong = []
    for words in (*changed(command), *wrong_options(command)):
        before = {*tmp_path.iterdir()}
        with soon():
            status = cli.main(words)
        said = capsys.readouterr().err
        for path in {*tmp_path.iterdir()} - before:
            path.unlink() if path.is_file() else None
        if status == 2 and re.search(" = | missing$", said.partition(": expected")[0]) and not named(said, words):
            wrong.append((" ".join(words), said))
    assert not wrong
