"""The kept answers: a slice of cheap ones is compared, and the comparison itself is tried on planted changes."""

import json
import re

import pytest

from tests.frozen import runs, table
from tests.frozen.differences import differences
from tests.frozen.doors import answer

CHEAP = 0.05
"""CPU seconds of a row that takes part here; the others are compared by ``make conformance``."""
SOME = 60

KRR = "mechanism('krr').at(k=3, lam='3/2')"
BALL = f"delta({KRR}, n=50, arithmetic='ball', rtol=1e-6, eps='0.1', attained=True)"
FLOAT = f"delta({KRR}, n=50, rtol=1e-3, eps='0.1', group=2)"


def test_cheap_answers_are_the_recorded_ones():
    rows = [row for row in table.read().values() if row["seconds"] <= CHEAP]
    assert len(rows) >= SOME, "python -m tests.frozen record"
    assert list(runs.found_in(rows[:: len(rows) // SOME], table.changes())) == []
    assert table.TABLE.stat().st_size < 3e6


def test_few_rows_are_excused():
    """A row that a line of changes names is compared with nothing until it is recorded anew."""
    rows, listed = table.read().values(), table.changes()
    excused = [row["key"] for row in rows if table.reason(row, listed)]
    assert len(excused) <= len(rows) // 50, "python -m tests.frozen record"


@pytest.mark.frozen
@pytest.mark.parametrize("key", [key for key, row in table.read().items() if row["seconds"] <= 1])
def test_row(key):
    """The driver of mutants runs the rows of a line; ``make conformance`` compares all of them by the command."""
    assert list(runs.found_in([table.read()[key]], table.changes())) == []


def scaled(text, factor):
    return f"{float(text) * factor:.17g}"


@pytest.mark.parametrize(
    ("request_", "edit"),
    [
        (BALL, lambda found: {"upper": scaled(found["upper"], 1 + 1e-9)}),
        (BALL, lambda found: {"engine": "another", "upper": scaled(found["upper"], 1 + 1e-4)}),
        (
            BALL,
            lambda found: {"engine": "another", "lower": scaled(found["upper"], 2), "upper": scaled(found["upper"], 2)},
        ),
        (BALL, lambda found: {"arithmetic": "float64"}),
        (BALL, lambda found: {"attained_lower": scaled(found["attained_lower"], 1 - 1e-4)}),
        (BALL, lambda found: {"attained_lower": None}),
        (FLOAT, lambda found: {"upper": scaled(found["upper"], 1.01)}),
        (FLOAT, lambda found: {"lower": scaled(found["upper"], 1.0001), "upper": scaled(found["upper"], 1.0002)}),
        (FLOAT, lambda found: {"neighbours": found["neighbours"] | {"every_pair": False}}),
        (FLOAT, lambda found: {"neighbours": {}}),
        (FLOAT, lambda found: {"direction": "forward"}),
    ],
)
def test_a_planted_change_is_reported(request_, edit):
    found = answer(request_, 60)
    assert differences(found, json.loads(json.dumps(found)), 1e-6) == []
    changed = {"answer": {k: v for k, v in (found["answer"] | edit(found["answer"])).items() if v is not None}}
    assert differences(found, changed, 1e-6 if request_ == BALL else 1e-3)


@pytest.mark.parametrize(
    ("request_", "edit"),
    [
        (BALL, lambda found: {"engine": "another", "upper": scaled(found["upper"], 1 + 1e-9)}),
        (BALL, lambda found: {"attained_lower": scaled(found["attained_lower"], 1 + 1e-4)}),
        (FLOAT, lambda found: {"upper": scaled(found["upper"], 1 + 1e-4), "more": 3}),
        (FLOAT, lambda found: {"arithmetic": "ball"}),
    ],
)
def test_a_change_that_harms_nobody_is_not(request_, edit):
    found = answer(request_, 60)
    changed = {"answer": found["answer"] | edit(found["answer"])}
    assert differences(found, changed, 1e-6 if request_ == BALL else 1e-3) == []
    assert differences(found, changed, 1e-3, identity=True)


def test_refusals_are_kept_by_what_they_name():
    assert answer(f"delta({KRR}, n=0, eps='1')", 60) == {"refused": "InputError", "argument": "n"}
    assert answer("symshuffle delta krr -p k=3 --eps0 x --n 9 --eps 1", 60) == {"exit": 2, "argument": "--eps0"}
    assert answer("symshuffle delta krr --direction up", 60) == {"exit": 2, "argument": "--direction"}
    assert answer(f"delta({KRR}, number=0)", 60) == {"crash": "TypeError"}
    assert answer("all(True for _ in iter(int, 1))", 0.1) == {"over": 0.1}


@pytest.mark.parametrize("words", ["law krr -p k=3 --lam 2", "compare --k 3 --n 9 --budget 1 --mechanism krr"])
def test_no_sentence_is_kept(words):
    for request in (BALL, f"symshuffle {words} --json"):
        assert not re.search(':"[^"]*[a-z]{2,} [a-z]{2,}', table.written(answer(request, 60)))


def test_rows_are_added_and_changed_only_by_a_line_that_says_why(tmp_path):
    kept, part = tmp_path / "table.jsonl", ["frontiers"]
    runs.record(kept, part, 25, 0, 1)
    first = table.read(kept)
    key = next(key for key, row in first.items() if "lower" in row["answer"]["answer"])
    wrong = json.loads(json.dumps(first))
    wrong[key]["answer"]["answer"] |= {"lower": "7", "upper": "7", "exact": "7"}
    table.write({name: row for name, row in wrong.items() if name == key}, kept)
    with kept.open("a") as file:
        file.write('{"key": "cut o')  # a run that was killed
    runs.record(kept, part, 25, 0, 1)
    assert {name: row["answer"] for name, row in table.read(kept).items()} == {
        name: row["answer"] for name, row in wrong.items()
    }
    assert runs.compare(kept, part, 1, 0, 1, False) == 1
    (tmp_path / "changes.tsv").write_text(f"{key[:-4]}*\tthe answer was seven before\n")
    assert runs.compare(kept, part, 1, 0, 1, False) == 0
    runs.record(kept, part, 1000, 0, 1)
    runs.record(kept, part, 25, 0, 1)
    assert table.read(kept)[key]["answer"] == first[key]["answer"]
    table.write(wrong, kept)
    table.write(table.read(kept) | {key: wrong[key] | {"lines": 1}}, kept)
    assert runs.compare(kept, part, 1, 0, 1, False) == 1  # a line explains one change only
