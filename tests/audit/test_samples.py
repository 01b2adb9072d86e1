"""Bare claims: an event learned on one half and tested on the other, with its exact error for few runs."""

import itertools
import json
from decimal import Decimal
from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pytest

from symshuffle.base.errors import InputError
from symshuffle.collect import audit_pair, audit_samples
from tests.audit.systems import binomial, pipeline, seeded
from tests.collect.cases import small
from tests.shell import refused, run
from tests.slices import some


def halves(learned, tested, size):
    """Rows of messages 0 and 1 with so many zeros in the half that learns, and in the other one."""
    first = ["0"] * learned + ["1"] * (size - learned)
    second = ["0"] * tested + ["1"] * (size - tested)
    return [row for pair in zip(first, second, strict=True) for row in pair]


@pytest.mark.parametrize(("p", "q", "exp_eps"), some([(F(3, 4), F(1, 4), 3), (F(1, 2), F(1, 2), 1)], 1))
def test_the_error_for_few_runs_is_exact_and_at_most_what_is_said(p, q, exp_eps):
    size, confidence = 3, "1/10"
    laws = binomial(size, p), binomial(size, q)
    wrong = F(0)
    for a, b, c, d in itertools.product(range(size + 1), repeat=4):
        rows = halves(a, b, size), halves(c, d, size)
        found = audit_samples(*rows, exp_eps=exp_eps, confidence=confidence, disjoint=True)
        wrong += laws[0][a] * laws[0][b] * laws[1][c] * laws[1][d] * (found.outcome == "refuted")
    assert 0 < wrong <= 1 - F(confidence)


def test_the_event_depends_on_the_held_out_half_alone():
    learned, found = ["0"] * 30 + ["1"] * 10, []
    for tested in (["0"] * 40, ["1"] * 40):
        rows = [row for pair in zip(learned, tested, strict=True) for row in pair]
        found.append(audit_samples(rows, ["1"] * 80, confidence="0.9").worst)
    assert found[0].words == found[1].words
    assert [one.hits for one in found] == [(40, 0), (0, 0)]
    assert [one.runs for one in found] == [(40, 40)] * 2


def test_a_leak_is_found_in_either_direction_and_bounded():
    plan = small("krr", k=4, root=F(9))
    rows = [[(client(x),) for _ in range(2000)] for x, client in (("0", seeded(plan, 1)), ("1", seeded(plan, 2)))]
    for pair in (rows, rows[::-1]):
        found = audit_samples(*pair, eps=1)
        assert found.outcome == "refuted"
        assert 1.4 < found.worst.eps < 2.1973
        assert audit_samples(*pair, exp_eps=9).outcome == "not-refuted"
    bound = audit_samples(*rows)
    assert bound.outcome == "not-refuted"
    assert bound.about.endswith("nothing is claimed")
    assert 1.4 < bound.worst.eps < 2.1973
    assert bound.lines.assumes == "independent runs" and "nothing was claimed" in bound.lines.number


def test_runs_of_many_messages_are_told_apart_by_their_scores():
    plan = small("krr", k=3, root=F(40))
    data = [("0", *["2"] * 7), ("1", *["2"] * 7)]
    audit = audit_pair(*data, runs=400, eps="1/2", delta="1/100")
    assert audit.run(pipeline(plan, 1)).outcome == "refuted"
    assert audit.run(pipeline(small("krr", k=3, root=F(2)), 1)).outcome == "not-refuted"
    assert "nothing refutes with fewer than" in audit.price


@pytest.mark.parametrize("place", [5])
def test_a_user_at_a_fixed_place_is_refuted_without_a_channel(place):
    """The same claim as of the channel krr with k = 4, lam = 3 for 12 users, (0.137, 0.081)."""
    plan, rng = small("krr", root=F(3)), np.random.default_rng(3)
    client = seeded(plan, 4)
    data = [(x, *["2"] * 11) for x in ("0", "1")]

    def moved(users):
        others = [client(x) for x in users[1:]]
        rng.shuffle(others)
        return [*others[:place], client(users[0]), *others[place:]]

    audit = audit_pair(*data, runs=1000, eps="0.137", delta="0.081")
    found = audit.run(moved)
    assert found.outcome == "refuted" and f"at place {place + 1} " in found.worst.words
    assert audit.run(pipeline(plan, 2)).outcome == "not-refuted"


def spelled():
    """The same 800 runs of 0, 1 and 2 in every spelling, as lists and as bytes of files."""
    values = [0, 1, 0, 2] * 200
    numbers = {
        "int": int, "text": str, "float": float, "numpy": np.int32, "float32": np.float32, "fraction": F,
        "decimal": Decimal, "tuple": lambda v: (v,), "list": lambda v: [str(v)],
    }  # fmt: skip
    texts = {
        "one place": "{}.0", "signed": "+{}", "power": "{}e0", "tenths": "{}0e-1", "quotient": "{}/1", "zeros": "00{}",
        "quoted": '"{}"', "quoted decimal": '"{}.00"', "blank before": " {}", "blank behind": "{} ", "plain": "{}",
    }  # fmt: skip
    lists = {name: [kind(v) for v in values] for name, kind in numbers.items()}
    lists |= {name: [form.format(v) for v in values] for name, form in texts.items()}
    files = {
        name: "".join(f"{form.format(v)}{end}" for v in values).encode(code)
        for form in texts.values()
        for end, code, name in (
            ("\n", "utf-8", f"{form}"),
            ("\r\n", "utf-8", f"{form} crlf"),
            ("\n", "utf-8-sig", f"{form} bom"),
        )
    }
    return lists, files


def test_every_spelling_of_one_sample_is_that_sample():
    lists, _ = spelled()
    other = [0, 1, 1, 2] * 200
    answers = set()
    for name, rows in lists.items():
        for against in (lists["int"], lists["quoted decimal"]):
            found = audit_samples(rows, against, eps="1/100")
            assert found.outcome == "not-refuted" and found.worst.eps == 0, name
        answers.add(json.dumps(audit_samples(rows, other, eps="1/100").to_dict()["events"][0]["hits"]))
    assert len(answers) == 1


def test_every_spelling_of_a_file_is_that_file(tmp_path, monkeypatch, capsys):
    """Against another sample too, whose event depends on every row."""
    monkeypatch.chdir(tmp_path)
    _, files = spelled()
    (tmp_path / "plain.csv").write_bytes(files["{}"])
    (tmp_path / "other.csv").write_text("0\n1\n0\n0\n" * 200)
    expected = None
    for name, content in files.items():
        (tmp_path / "a.csv").write_bytes(content)
        same = run(capsys, "audit", "samples", "a.csv", "plain.csv", "--eps", "0.01", "--json")
        assert same[0] == 0, name
        told = run(capsys, "audit", "samples", "other.csv", "a.csv", "--eps", "0.01", "--json")[1]
        expected = expected or (same[1], told)
        assert (same[1], told) == expected, name


def test_samples_without_a_common_message_are_refused_unless_that_is_stated(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("0\n0\n1\n1\n" * 150)
    (tmp_path / "b.csv").write_text("zero\nzero\none\none\n" * 150)
    asked = ("audit", "samples", "a.csv", "b.csv", "--eps", "1")
    assert "expected a message that is in both samples" in refused(capsys, *asked)
    assert run(capsys, *asked, "--disjoint")[0] == 1
    assert audit_samples([(0, 1)] * 300, ["1,2"] * 300, eps=1).outcome == "refuted"


def refused_unless_disjoint(pair, capsys):
    """The refusal of two files that share a message and have another one each, which ``--disjoint`` takes."""
    for name, message in zip(("a.csv", "b.csv"), pair, strict=True):
        Path(name).write_text(f"z\n{message}\nz\n{message}\nz\n" * 100)
    asked = ("audit", "samples", "a.csv", "b.csv", "--eps", "1")
    line = refused(capsys, *asked)
    assert "--disjoint" in line
    assert run(capsys, *asked, "--disjoint")[0] == 1
    return line


CELLS = [  # two files, and the refusal
    (("0,1\n1,0\n", "0,1,\n1,0,\n"), "b.csv, line 1 = 0,1,: expected a message in every cell"),
    (("0,1,\n1,0,\n", "0,1\n1,0\n"), "a.csv, line 1 = 0,1,: expected a message in every cell"),
    (("0\n1\n", "0,\n1,\n"), "b.csv, line 1 = 0,: expected a message in every cell"),
    (("0,\n1,\n", "0,\n1,\n"), "a.csv, line 1 = 0,: expected a message in every cell"),
    (("0,1\n,0\n", "0,1\n1,0\n"), "a.csv, line 2 = ,0: expected a message in every cell"),
    (("0\n1\n", "0,1\n1,0\n"), "b.csv, line 1 = 0,1: expected 1 cell, as in the first run of the first sample"),
    (("0,1\n1,0\n", "0\n1\n"), "b.csv, line 1 = 0: expected 2 cells, as in the first run of the first sample"),
    (("0,1\n1\n", "0,1\n1,0\n"), "a.csv, line 2 = 1: expected 2 cells"),
    (("0,1\n1,0\n", "0,1\n1,0,0\n"), "b.csv, line 2 = 1,0,0: expected 2 cells"),
]


@pytest.mark.parametrize(("pair", "told"), CELLS)
def test_lines_of_different_numbers_of_cells_are_refused_unless_stated(pair, told, tmp_path, monkeypatch, capsys):
    """A comma at the end is no leak; where every line has it too, the claim would be refuted by an empty message."""
    monkeypatch.chdir(tmp_path)
    for name, text in zip(("a.csv", "b.csv"), pair, strict=True):
        Path(name).write_text(text * 200)
    asked = ("audit", "samples", "a.csv", "b.csv", "--eps", "1")
    line = refused(capsys, *asked)
    assert told in line and "--disjoint" in line
    assert run(capsys, *asked, "--disjoint")[0] in (0, 1)
    for read in (str, lambda row: tuple(row.split(","))):
        rows = [[read(row) for row in text.split() * 200] for text in pair]
        with pytest.raises(InputError, match=r"^(first|second)\[[01]\] = .*disjoint=True"):
            audit_samples(*rows, eps=1)
    for name, text in zip(("a.csv", "b.csv"), pair, strict=True):
        Path(name).write_text("u\n" + text * 200)
    line = refused(capsys, *asked, "--header")
    assert told.replace("line 2", "line 3").replace("line 1", "line 2") in line


SPELLED = [("yes", "Yes"), ("a b", "ab"), ("A", "\uff21"), ("u  1", "u 1"), ("e\u0301", "\u00e9"), ("ab", "a\u200bb")]


@pytest.mark.parametrize("pair", SPELLED)
def test_messages_that_each_sample_spells_otherwise_are_refused_unless_stated(pair, tmp_path, monkeypatch, capsys):
    """One shared message does not make two notations one: the claim would be refuted by its spelling."""
    monkeypatch.chdir(tmp_path)
    line = refused_unless_disjoint(pair, capsys)
    assert line.startswith(f"symshuffle: FILE2 = {pair[1]!a}") and ascii(pair[0]) in line
    rows = [["0", "0", message] * 200 for message in pair]
    rows[1][0] = pair[0]  # in one notation: both samples have this spelling, one more often
    assert audit_samples(*rows, eps=1).outcome == "refuted"


NOTATIONS = [
    ("50%", "0.5"), ("inf", "Infinity"), ("\u22121", "-1"), ("\u00bd", "0.5"), ("1_0", "10"), ("0x1", "1"),
    ('"1,000"', "1000"), ('"1,0"', "1;0"), ("1e400", "1_0e399"),
]  # fmt: skip


@pytest.mark.parametrize("pair", NOTATIONS)
def test_a_number_in_two_notations_is_refused_unless_stated(pair, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert "FILE2 = " in refused_unless_disjoint(pair, capsys)


def test_numbers_that_differ_are_no_notations_of_one():
    assert audit_samples(["z", "5", "z"] * 300, ["z", "50%", "z"] * 300, eps="1/2").outcome == "refuted"


def test_a_line_of_names_is_no_run_unless_that_is_stated(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    body = "0\n0\n1\n1\n1\n0\n" * 50
    for name, head in (("a", "message"), ("b", "message"), ("c", ""), ("d", "# reply")):
        (tmp_path / f"{name}.csv").write_text(f"{head}\n{body}" if head else body)

    def asked(first, second, *more):
        return ("audit", "samples", f"{first}.csv", f"{second}.csv", "--eps", "1", *more)

    for first, second, named in (("a", "b", "a"), ("c", "b", "b"), ("d", "a", "d")):
        line = refused(capsys, *asked(first, second))
        assert line.startswith(f"symshuffle: {named}.csv, line 1 = ") and "--header" in line and "--no-header" in line
    plain = run(capsys, *asked("c", "c", "--json"))
    assert run(capsys, *asked("a", "d", "--header", "--json")) == plain and plain[0] == 0
    assert run(capsys, *asked("a", "b", "--no-header"))[0] == 0
    # Two notations with the same line of names have no message in common.
    (tmp_path / "b.csv").write_text("message\n" + body.replace("0", "zero").replace("1", "one"))
    assert refused(capsys, *asked("a", "b", "--header")).startswith("symshuffle: FILE2 = ")
    assert refused(capsys, *asked("a", "b")).startswith("symshuffle: a.csv, line 1 = ")


def test_a_first_message_that_occurs_again_is_a_run():
    rows = ["zebra", *["0", "1"] * 200]
    assert audit_samples(rows, [*rows, "zebra"], eps=1).outcome == "not-refuted"
    assert audit_samples(rows, ["0", "1"] * 200, eps=1, header=False).outcome == "not-refuted"
    assert audit_samples([("x",), *[("0",)] * 400], ["0"] * 401, eps=1).outcome == "not-refuted"
    with pytest.raises(InputError, match=r"^first\[0\] = zebra: expected a message of another row"):
        audit_samples(rows, ["0", "1"] * 200, eps=1)


def test_texts_that_are_no_numbers_stay_apart():
    rows = ["a", "A", "1_0", "10x", "\uff11", "nan", "", "0 1"] * 100
    found = audit_samples(rows, ["10", "1", *rows[2:]], disjoint=True)
    assert len(set(map(tuple, map(_values_of, rows)))) == 8 and found.outcome == "not-refuted"


def _values_of(row):
    from symshuffle.collect.audit.runs import read_row

    return read_row(row, "row")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: audit_samples([0], [1]), "first = 1 rows: expected at least 2"),
        (lambda: audit_samples("00", [1]), "first = 00: expected a list of rows"),
        (
            lambda: audit_samples([0] * 10, [1] * 10, eps=1, delta="1e-6"),
            "first, second = 5 runs in the half that is tested: expected at least",
        ),
        (lambda: audit_samples([0] * 99, [1] * 99, eps=-1), "eps = -1"),
        (lambda: audit_samples([0] * 99, [1] * 99, eps=1, delta=1), "delta = 1: expected a number in [0, 1)"),
        (lambda: audit_samples([0] * 99, [1] * 99, eps=1), "second = '0' and '1': expected a message that is in both"),
        (lambda: audit_samples(['"0'] * 99, [1] * 99, eps=1), 'first[0] = "0: expected a row of a CSV file'),
        (lambda: audit_pair("a", "a", runs=100, eps=1), "second = a: expected another input than a"),
        (lambda: audit_pair("a", "b", runs=100), "eps is missing"),
        (lambda: audit_pair(("0", "1"), ("1", "0"), runs=100, eps=1), "datasets = 2 users differ: expected neighbours"),
        (lambda: audit_pair(("0", "1"), ("1",), runs=100, eps=1), "datasets = 2 and 1 users"),
        (lambda: audit_pair("a", "b", runs=100, eps=40), "runs = 50: expected a claim that"),
    ],
)
def test_wrong_input_is_refused_in_one_line(call, message):
    with pytest.raises(InputError) as error:
        call()
    assert message in str(error.value)


def test_numbers_of_columns_that_both_files_begin_with_are_refused():
    rows = ["5", "6"] * 300
    with pytest.raises(InputError, match=r"^first\[0\] = 0: "):
        audit_samples(["0", *rows], ["0", *rows], eps=1)
    plain = audit_samples(rows, rows, eps=1)
    assert audit_samples(["0", *rows], ["0", *rows], eps=1, header=True) == plain
    assert audit_samples(["0", *rows], ["5", *rows], eps=1).outcome == "not-refuted"
    assert audit_samples(["0", *rows, "0"], ["0", *rows], eps=1).outcome == "not-refuted"
    with pytest.raises(InputError, match=r"^first\[0\] = 0,1: "):
        audit_samples(["0,1", *["1,0"] * 300], ["0,1", *["1,0"] * 300], eps=1)


@pytest.mark.parametrize("blanks", [1, 300])
def test_blank_lines_are_no_runs(blanks):
    """Every second line is held out: with blank lines between, a test would look at those alone."""
    leaking = ["1"] * 300 + ["0"] * 3, ["0"] * 300 + ["1"] * 3
    assert audit_samples(*leaking, eps=1).outcome == "refuted"
    apart = [[line for row in rows for line in (row, "")] for rows in leaking]
    for first, second in (apart, (leaking[0], [*leaking[1], *[""] * blanks])):
        with pytest.raises(InputError, match="expected a message in every cell"):
            audit_samples(first, second, eps=1)
    assert audit_samples([""] * 50, [""] * 50, eps=1).outcome == "not-refuted"
