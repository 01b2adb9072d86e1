"""Drawn calls: a slice of those that ``python -m tests.fuzz`` runs, and nothing is left out of its grammar."""

import inspect
import re
import sys

import pytest

from tests.fuzz.__main__ import fuzz
from tests.fuzz.calls import ROOT, json_file, judged
from tests.fuzz.draw import (
    BUDGETS,
    apart_in_call,
    calls_in,
    commands,
    drawn,
    is_choice,
    is_switch,
    key,
    options,
    refused_beside,
    rules,
    witnesses,
)

sys.path.insert(0, str(ROOT / "docs"))

import api

SEED, CALLS = "run2", 60


def reachable(name):
    """Alternatives of a rule of the grammar and of all rules that it refers to, directly or indirectly."""
    seen, waiting = {}, [name]
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen[one] = rules()[one]
            waiting += [inner for text in seen[one] for inner in re.findall(r"{(\w+)}", text)]
    return [text for texts in seen.values() for text in texts]


def test_a_slice_of_drawn_calls_answers_or_refuses_in_one_line():
    found = fuzz(SEED, range(CALLS), jobs=2)
    assert len(found) == CALLS
    assert [one for one in found if one["class"] == "offence"] == []
    everyday = [one for one in found if one["kind"].startswith("everyday")]
    assert sum(one["class"] == "answer" for one in everyday) >= 0.95 * len(everyday)


def test_calls_are_drawn_by_seed_and_number():
    assert [drawn("a", i) for i in range(8)] == [drawn("a", i) for i in range(8)]
    assert drawn("a", 3) != drawn("b", 3)


def test_every_command_is_drawn():
    texts = reachable("command")
    named = {words for words in commands() for text in texts if f"symshuffle {' '.join(words)}" in text}
    named |= {
        (word,) for name in ("listing", "claim_command", "ask") for text in rules()[name] for word in text.split()[:1]
    }
    assert set(commands()) - named - {("design", rule.split()[0]) for rule in rules()["problem"]} == set()


def test_every_public_function_is_drawn():
    texts = " ".join(reachable("function"))
    for address, name, value in api.public():
        if inspect.isfunction(value):
            room = address.removeprefix("symshuffle").lstrip(".")
            written = f"{room}.{name}(" if room else f"{name}("
            assert written in texts or name in {*rules()["run_name"], *rules()["verify_name"]}, written


def test_every_option_has_everyday_values():
    lines = " ".join(reachable("command"))
    for words, command in commands().items():
        for option in options(words) if command else ():
            name = key(option.opts[0])
            known = is_switch(option) or is_choice(option) or f"option_{name}" in rules() or name in BUDGETS
            assert known or re.search(rf"(^| ){option.opts[0]} ", lines), (words, option.opts[0])


@pytest.mark.parametrize(
    "status, out, err, changed",
    [
        (0, "delta <= nan", "", []),
        (1, "", "symshuffle: mech = x: expected a name", []),
        (2, "", "symshuffle: n = 0: expected\nmore", []),
        (2, "", "symshuffle: n = 0: expected 1", ["half.csv"]),
        (0, "delta <= 1", "", ["half.csv"]),
        (70, "", "Traceback (most recent call last):\nKeyError: 1", []),
        (-6, "", "", []),
    ],
)
def test_what_is_wrong_is_an_offence(status, out, err, changed):
    assert judged("symshuffle delta krr --n 0", status, out, err, changed)[0] == "offence"


def test_a_json_file_is_judged_where_the_command_writes_one(tmp_path):
    (tmp_path / "out.json").write_text("{}")
    assert json_file("symshuffle perturb a.b --json out.json", tmp_path) == "{}"
    assert json_file("symshuffle perturb a.b --json -", tmp_path) is None
    assert json_file("symshuffle doctor --json", tmp_path) is None
    for line in ("symshuffle perturb a.b --json -", "symshuffle verify a.b --json -", "symshuffle doctor --json"):
        assert judged(line, 0, "no object", "", [])[1] == "no JSON"


def test_every_word_of_what_is_apart_is_drawn_somewhere():
    """A rule for a word that no line has, such as an option that was renamed, excludes nothing."""
    known = {word for command in commands().values() for one in command.params for word in one.opts}
    words = {word for text in reachable("command") for word in text.split()}
    for rule in rules()["apart"]:
        assert {word.strip("!") for word in rule.split()} <= known | words, rule
    arguments = {
        name for call in reachable("function") for name in re.findall(r"(\w+)=|^(\w+)\(", call) for name in name
    }
    for rule in rules()["apart_in_calls"]:
        for word in rule.split():
            assert word.strip("[]") in arguments | {"Group", "Deployment"} or f"keyword_{word}" in rules(), rule


def test_what_is_apart_is_not_drawn_together():
    words = ["compare", "--k", "3", "--n", "10", "--eps0", "1"]
    assert refused_beside(["--periods"], words) and not refused_beside(["--periods"], [*words, "--delta", "1/10"])
    assert refused_beside(["--graph"], ["delta", "--pairs", "0-1"]) and not refused_beside(["--graph"], ["delta"])
    _, (call, *_) = calls_in("delta([Group(w, 2)], eps=1)")
    assert apart_in_call("dropout", call) and not apart_in_call("direction", call)


def test_witnesses_leave_away_what_is_optional_and_ask_the_other_question():
    line = "symshuffle epsilon krr -p k=3 --eps0 1 --n 10 --delta 1e-3 --json"
    assert dict(witnesses(line)) == {
        "--json": line.removesuffix(" --json"),
        "delta": line.replace("epsilon", "delta").replace("--delta 1e-3", "--eps 1/2"),
    }
    assert dict(witnesses("delta(w, n=1, eps=1, attained=True)")) == {"attained": "delta(w, n=1, eps=1)"}
