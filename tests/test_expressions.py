"""What help texts and pages offer is asked: every expression answers, every name is known, every command is read."""

import re
import shlex
from pathlib import Path

import pytest

from symshuffle.base.errors import InputError
from symshuffle.cli import main
from symshuffle.decompositions.composition.operators import parse
from tests.fuzz.draw import commands
from tests.shell import refused
from tests.test_cli_help import COMMANDS, SOURCES, texts

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md"), *ROOT.glob("examples/**/*.md")])
EXPRESSION = re.compile(r"\b(?:joint|parallel|subsample|hamming)\((?:[^()`|]|\((?:[^()]|\([^()]*\))*\))*\)")
FORMS = {"joint(A,B,...)", "joint(A,m)", "parallel(p:A,q:B,...)", "subsample(A,p)", "hamming(J,d)", "subsample(...)"}
"""Forms of the grammar, which show places for parts."""
BUDGET = ("--eps0", "1")
ENDINGS = {
    "delta": (*BUDGET, "--n", "9", "--eps", "1/2"),
    "epsilon": (*BUDGET, "--n", "9", "--delta", "1/10"),
    "largest-eps0": ("--n", "99", "--delta", "1/10", "--eps", "1/2"),
    "smallest-n": (*BUDGET, "--delta", "1/10", "--eps", "1/2"),
    "profile": (*BUDGET, "--n", "9", "--to", "1", "--points", "2"),
    "amplification-curve": (*BUDGET, "--delta", "1/10", "--from", "9", "--to", "20", "--points", "2", "--rtol", "0.1"),
    "tradeoff": (*BUDGET, "--n", "9", "--points", "3", "--rtol", "0.1"),
    "renyi": (*BUDGET, "--n", "9", "--order", "2", "--rtol", "0.1"),
    "gdp": (*BUDGET, "--n", "9"),
    "pld": (*BUDGET, "--n", "9", "--step", "0.25", "--beyond", "1/100", "--rtol", "0.1", "--out", "pld.json"),
    "worst-datasets": (*BUDGET, "--n", "2", "--eps", "1/2"),
}
"""What a command needs beside a mechanism; a command whose help shows an expression needs a line here."""


def shown(words):
    """The expressions that the help of a command shows."""
    return {one for text in texts(SOURCES[words]) if text for one in EXPRESSION.findall(text)} - FORMS


OFFERED = [(words, one) for words in COMMANDS for one in sorted(shown(words))]


@pytest.mark.parametrize(("words", "expression"), OFFERED)
def test_a_command_answers_what_its_help_offers(words, expression, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    if words == ("compare",):
        line = ["compare", "--k", "9", "--n", "9", "--eps0", "1", "--delta", "1/10", "--mechanism", expression]
    else:
        line = [*words, expression, *ENDINGS[words[0]]]
    assert main(line) == 0, capsys.readouterr().err


def test_many_commands_offer_expressions_and_one_refuses_them_by_name(capsys):
    assert len(OFFERED) >= 8 and ("delta",) in dict(OFFERED)
    assert "law" not in ENDINGS and not shown(("decompose",))
    refused(capsys, "decompose", "joint(krr(k=3),2)", *BUDGET)


def quoted(page):
    """What stands between backticks on a page, and in its shell blocks."""
    text = page.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    yield from re.findall(r"(?<!`)`([^`\n]+)`(?!`)", prose)


EXPRESSIONS = sorted({one for page in PAGES for text in quoted(page) for one in EXPRESSION.findall(text)} - FORMS)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions_on_pages_are_parsed(expression):
    assert parse(expression) is not None


def grammar_rows():
    page = (ROOT / "docs" / "expressions.md").read_text(encoding="utf-8")
    return re.findall(r"^\| (`.*`) \| .* \| `(.*)` \|$", page, flags=re.MULTILINE)


def test_the_grammar_table_has_every_operator_and_its_examples_answer(capsys):
    rows = grammar_rows()
    assert {"joint", "parallel", "subsample", "hamming"} <= {form.strip("`").partition("(")[0] for form, _ in rows}
    for _, example in rows:
        parse(example)
        assert main(["delta", example, *ENDINGS["delta"]]) == 0, (example, capsys.readouterr().err)


def test_the_forms_of_the_grammar_are_those_of_the_table():
    forms = {form.strip("`") for form, _ in grammar_rows()}
    assert FORMS - {"subsample(...)"} == {form for form in forms if EXPRESSION.match(form)}


@pytest.mark.parametrize("text", ["parallel(krr(k=3),rr)", "subsample(krr(k=3))", "joint(krr(k=3)", "hamming(rr)"])
def test_a_malformed_expression_names_the_grammar(text):
    with pytest.raises(InputError, match=r"docs/expressions\.md"):
        parse(text)
    assert (ROOT / "docs" / "expressions.md").exists()


def lines_on_pages():
    """Command lines between backticks that are complete: their first words are a command."""
    for page in PAGES:
        for text in quoted(page):
            if (
                text.startswith("symshuffle ")
                and not text.startswith("symshuffle -")
                and not re.search(r"[A-Z]{2,}|\.\.\.|[<>*]| -h", text)
            ):
                yield page.name, text


@pytest.mark.parametrize(("page", "line"), sorted(set(lines_on_pages())))
def test_commands_on_pages_are_known_with_their_options(page, line):
    words = shlex.split(line)[1:]
    heads = [key for key in (tuple(words[:2]), tuple(words[:1])) if key in commands()]
    groups = {key[0] for key in commands() if len(key) == 2}
    assert heads or words[0] in groups, line
    if heads:
        known = {word for option in commands()[heads[0]].params for word in option.opts}
        assert {word for word in words if re.fullmatch(r"--?[a-z][\w-]*", word)} <= known | {"--help"}, line


OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]+")


def test_options_that_pages_and_help_name_exist():
    known = {word for command in commands().values() for option in command.params
             for word in (*option.opts, *option.secondary_opts)}  # fmt: skip
    known |= {"--help", "--version", "--group"}  # the last of pip
    scripts = [*ROOT.glob("examples/**/*.py"), ROOT / "docs" / "api.py", *ROOT.glob("tests/*/__main__.py")]
    known |= {one for script in scripts for one in OPTION.findall(script.read_text(encoding="utf-8"))}
    for page in PAGES:
        if page.name not in ("CONTRIBUTING.md", "decisions.md", "renames.md"):
            named = {one for text in quoted(page) for one in OPTION.findall(text)}
            assert named <= known, page.name
    for words in COMMANDS:
        named = {one for text in texts(SOURCES[words]) if text for one in OPTION.findall(text)}
        assert named <= known, words
