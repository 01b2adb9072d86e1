"""The commands plan, randomize and estimate as a user runs them: files, orders, and one line for bad input."""

import csv
import itertools
import json
import re
from collections import Counter
from fractions import Fraction as F
from importlib.util import find_spec
from pathlib import Path

import pytest

from symshuffle.collect import read_plan
from symshuffle.ledger.recheck import bound
from tests.collect.cases import PARAMETERS, enumerated, small, supported
from tests.shell import refused, run
from tests.words import words


@pytest.fixture
def survey(tmp_path, monkeypatch):
    """A plan of krr and a file of 60 users."""
    monkeypatch.chdir(tmp_path)
    plan = small("krr", n=60, min_batch_size=50, labels=("a", "b", "c", "d"))
    Path("plan.json").write_text(plan.to_json())
    rows = [f"u{i},{'abc'[i % 3]}" for i in range(60)]
    Path("values.csv").write_text("user,answer\n" + "\n".join(rows) + "\n")
    return plan


RANDOMIZE = words("collect randomize plan.json --values values.csv --column answer --out messages.csv")
ESTIMATE = words("collect estimate plan.json messages.csv --out histogram.csv")


def test_labels_that_are_nearly_the_same_are_told(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pairs = (("Red", "red"), ("caf\u00e9", "cafe\u0301"), ("a b", "a\u00a0b"), ("x", "x\u200b"), ("1", "1.0"))
    Path("labels.txt").write_text("\n".join(label for pair in pairs for label in pair), encoding="utf-8")
    asked = ("--n", "3", "--eps", "2", "--delta", "0.1", "--mechanism", "krr", "--labels", "labels.txt")
    told = run(capsys, "collect", "plan", *asked, "--out", "plan.toml")[2].splitlines()
    assert [line.split(",")[0] for line in told] == [f"plan.toml: labels {i} and {i + 1}" for i in (1, 3, 5, 7, 9)]
    plan = read_plan(Path("plan.toml").read_text(encoding="utf-8"))
    assert plan.k == 10 and [f"plan.toml: {notice}" for notice in plan.notices] == told
    assert small("krr", labels=("a", "b", "c", "d")).notices == ()


def test_from_plan_to_histogram(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("labels.txt").write_text("red\ngreen\nblue, or so\n")
    Path("values.csv").write_text('id,c\n1,red\n2,"blue, or so"\n3,green\n' * 1)
    asked = ("--n", "3", "--eps", "2", "--delta", "0.1", "--mechanism", "krr", "--labels", "labels.txt")
    status, out, _ = run(capsys, "collect", "plan", *asked, "--out", "plan.json")
    assert status == 0 and "certified" in out and "per category" in out
    plan = read_plan(Path("plan.json").read_text())
    assert plan.labels == ("red", "green", "blue, or so") and plan.digest in out
    status, out, _ = run(
        capsys, *words("collect randomize plan.json --values values.csv --column c --id id --out m.csv")
    )
    assert status == 0 and "not covered: users who do not follow the protocol" in out
    head, column, *messages = Path("m.csv").read_text().splitlines()
    assert json.loads(head[1:])["plan"] == plan.digest and column == "message"
    status, out, _ = run(
        capsys, "collect", "estimate", "plan.json", "m.csv", "--out", "h.csv", "--confidence", "0.9", "--explain"
    )
    assert status == 0 and "intervals do not cover the column projected" in " ".join(out.split())
    found = plan.estimate(messages, confidence="0.9")
    with open("h.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["category"] for row in rows] == list(plan.labels)
    for row, told in zip(rows, found.rows, strict=True):
        ends = (told.supports, told.low, told.high, told.band_low, told.band_high)
        assert tuple(int(row[name]) for name in ("supports", "low", "high", "band_low", "band_high")) == ends
        assert float(row["estimate"]) == float(told.estimate)


@pytest.mark.parametrize("name", ["krr", "oue"])
def test_a_plan_carries_its_proof(capsys, tmp_path, monkeypatch, name):
    """The proof is about the ratio of the plan, its delta and (to a thousandth) its eps; without it no plan is left."""
    monkeypatch.chdir(tmp_path)
    asked = ("--k", "4", "--mechanism", name, "--out", "plan.json", "--proof", "bound.json")
    few = ("--n", "5", "--eps", "1", "--delta", "1/100", "--dropout", "1/10")
    status, _, err = run(capsys, "collect", "plan", *asked, *few)
    assert status == 2 and "--proof: " in err and "dropout = 1/10" in err and not any(tmp_path.iterdir())
    many = ("--n", "900", "--eps", "1/2", "--delta", "1e-6", "--min-batch-size", "800")
    assert run(capsys, "collect", "plan", *asked, *many)[0] == 0
    plan, proof = read_plan(Path("plan.json").read_text()), json.loads(Path("bound.json").read_text())
    said = proof["statement"]
    assert bound.check(proof).startswith("delta <= 1/1000000 at exp(eps) = exp(")
    assert F(1, 2) <= F(said["exp_eps"].removeprefix("exp(").removesuffix(")")) <= F(1001, 2000)
    assert (said["users"], said["min_users"], said["exp_eps0"]) == (900, 800, str(plan.scheme.ratio))


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("form", [(), ("--order", "random"), ("--counts",)])
def test_files_of_every_mechanism_are_read_back(capsys, tmp_path, monkeypatch, name, form):
    monkeypatch.chdir(tmp_path)
    plan = small(name, n=200)
    Path("plan.json").write_text(plan.to_json())
    Path("values.csv").write_text("answer\n" + "0\n1\n" * 100)
    assert run(capsys, *RANDOMIZE, *form)[0] == 0
    _, _, *lines = Path("messages.csv").read_text().splitlines()
    counted = Counter()
    for line in lines:
        message, _, count = line.partition(",")
        counted[message] += int(count or 1)
    assert sum(counted.values()) == 200
    status, out, _ = run(capsys, *ESTIMATE, "--json")
    assert status == 0
    for j, row in enumerate(json.loads(out)["categories"]):
        assert row["supports"] == sum(count for message, count in counted.items() if j in supported(plan, message))


def files(capsys, values, order, monkeypatch):
    """Law of the messages in a file: every draw, where the order is sorted."""
    import symshuffle.collect.scheme as randomness

    plan = small("krr", 2, n=3)
    Path("plan.json").write_text(plan.to_json())
    Path("values.csv").write_text("answer\n" + "".join(f"{value}\n" for value in values))

    def one(draw):
        monkeypatch.setattr(randomness, "uniform", lambda: draw)
        Path("messages.csv").unlink(missing_ok=True)
        assert run(capsys, *RANDOMIZE, "--order", order)[0] == 0
        return tuple(Path("messages.csv").read_text().splitlines()[2:])

    return enumerated(one)


def test_sorted_and_reversed_values_give_the_same_law_of_files(capsys, tmp_path, monkeypatch):
    """Whatever keeps the order of the rows makes this fail: 0 0 1 and 1 0 0 would differ."""
    monkeypatch.chdir(tmp_path)
    laws = [files(capsys, values, "sorted", monkeypatch) for values in ((0, 0, 1), (1, 0, 0), (0, 1, 0))]
    assert laws[0] == laws[1] == laws[2]
    assert all(list(file) == sorted(file) for file in laws[0])


def test_a_random_order_does_not_keep_that_of_the_rows(capsys, tmp_path, monkeypatch):
    """2,000 users with the larger half first: the messages of the first half of the file are a random half."""
    monkeypatch.chdir(tmp_path)
    plan = small("krr", 2, root=F(1000), n=2000)
    Path("plan.json").write_text(plan.to_json())
    Path("values.csv").write_text("answer\n" + "1\n" * 1000 + "0\n" * 1000)
    assert run(capsys, *RANDOMIZE, "--order", "random")[0] == 0
    messages = Path("messages.csv").read_text().splitlines()[2:]
    ones = messages[:1000].count("1")
    assert 400 < ones < 600 and messages != sorted(messages)  # 22.4 is the standard deviation of a uniform order
    changes = sum(a != b for a, b in itertools.pairwise(messages))
    assert 900 < changes < 1100


@pytest.mark.parametrize(
    "change, told",
    [
        (
            ("a\n", "e\n", 1),
            "values.csv, line 2, column answer = e: expected one of the 4 categories of the plan (a, b, c, d)",
        ),
        ((",b\n", ",\n", 1), "values.csv, line 3, column answer = an empty cell: expected one of the 4 categories"),
        ((",c\n", ",NaN\n", 1), "values.csv, line 4, column answer = NaN: expected one of the 4 categories"),
        (("u5,", "u4,", 1), "values.csv, line 7, column user = the identity of line 6: expected one row for each user"),
        (("u5,", ",", 1), "values.csv, line 7, column user = an empty cell: expected an identity"),
        (("user,answer", "user,reply", 1), "--column = answer: expected one of the columns user, reply"),
        (("user,answer", "who,answer", 1), "--id = user: expected one of the columns who, answer"),
        (("user,answer", "user,answer,answer", 1), "--column = answer: expected a column whose name stands once"),
        ((",a\n", "\n", 1), "values.csv, line 2 = 1 value: expected 2, as in the header"),
        ((",a\n", ",b\n,a\n", -1), "values.csv, line "),
    ],
)
def test_wrong_values_are_named_by_row(capsys, survey, change, told):
    text = Path("values.csv").read_text()
    Path("values.csv").write_text(text.replace(*change))
    assert told in refused(capsys, *RANDOMIZE, "--id", "user")
    assert not Path("messages.csv").exists() and not list(Path().glob(".*"))


def test_too_few_users_are_refused_at_both_ends(capsys, survey):
    text = Path("values.csv").read_text().splitlines(keepends=True)
    Path("values.csv").write_text("".join(text[:50]))
    assert "--values = 49 rows: expected at least 50" in refused(capsys, *RANDOMIZE)
    Path("values.csv").write_text("".join(text))
    assert run(capsys, *RANDOMIZE)[0] == 0
    lines = Path("messages.csv").read_text().splitlines(keepends=True)
    Path("messages.csv").write_text("".join(lines[:51]))
    assert (
        "MESSAGES = 49 messages: expected at least 50" in refused(capsys, *ESTIMATE)
        and not Path("histogram.csv").exists()
    )


def test_more_users_than_the_plan_has_are_stated_by_the_option_that_the_refusal_names(capsys, survey):
    text = Path("values.csv").read_text()
    rows = [f"v{i},{line.split(',')[1]}" for i, line in enumerate(text.splitlines()[1:])]
    Path("values.csv").write_text(text + "".join(f"{row}\n" for row in rows))
    assert run(capsys, *RANDOMIZE)[0] == 0
    (users,) = re.findall(r"--users \d+", refused(capsys, *ESTIMATE))
    assert run(capsys, *ESTIMATE, *users.split())[0] == 0


def test_a_second_run_on_the_same_file_is_refused(capsys, survey):
    assert run(capsys, *RANDOMIZE)[0] == 0
    before = Path("messages.csv").read_bytes()
    error = refused(capsys, *RANDOMIZE)
    assert "--out = messages.csv: expected a file that does not exist yet" in error
    assert "spend the budget twice" in error and Path("messages.csv").read_bytes() == before
    assert run(capsys, *ESTIMATE)[0] == 0
    refused(capsys, *ESTIMATE)


def test_messages_of_another_plan_are_refused(capsys, survey):
    assert run(capsys, *RANDOMIZE)[0] == 0
    Path("plan.json").write_text(small("krr", n=61, min_batch_size=50, labels=survey.labels).to_json())
    error = refused(capsys, *ESTIMATE)
    assert "expected messages of this plan" in error and survey.digest in error


@pytest.mark.parametrize(
    "text, told",
    [
        ("message\n1\n", "a file whose first line names its plan"),
        ("# {}\nmessage\n1\n", "a file whose first line names its plan"),
        ("HEAD\nvote\n1\n", "a second line that reads `message`"),
        ("HEAD\nmessage\n" + "1\n" * 50 + "7\n", "messages.csv, line 53 = 7: expected an integer from 0 to 3"),
        ("HEAD\nmessage,count\n1,50\n2\n", "messages.csv, line 4 = 2: expected"),
        ("HEAD\nmessage,count\n1,0\n2,50\n", "messages.csv, line 3 = 1,0: expected"),
        ("HEAD\nmessage\n", "MESSAGES = 0 messages: expected at least 50"),
    ],
)
def test_wrong_messages_are_refused(capsys, survey, text, told):
    head = "# " + json.dumps({"kind": "symshuffle messages", "plan": survey.digest})
    Path("messages.csv").write_text(text.replace("HEAD", head))
    assert told in refused(capsys, *ESTIMATE) and not Path("histogram.csv").exists()


@pytest.mark.parametrize(
    "arguments, told",
    [
        ((*ESTIMATE, "--confidence", "1"), "--confidence = 1: expected a number in (0, 1)"),
        ((*ESTIMATE, "--confidence", "95"), "--confidence = 95: expected a number in (0, 1)"),
        (words("collect estimate none.json m.csv --out h.csv"), "PLAN = none.json: expected a readable file"),
        (words("collect estimate plan.json none.csv --out h.csv"), "MESSAGES = none.csv: expected a file"),
        ((*RANDOMIZE, "--order", "input"), "--order = input: expected one of sorted, random"),
        (words("collect plan --n 9 --eps 1 --delta 0.1 --out p.json"), "--k is missing: expected the number"),
        (
            words("collect plan --k 3 --n 9 --eps 1 --delta 0.1 --min-batch-size 10 --out p.json"),
            "--min-batch-size = 10: expected an integer from 1 to 9",
        ),
    ],
)
def test_wrong_options_are_one_line(capsys, survey, arguments, told):
    assert told in refused(capsys, *arguments)


@pytest.mark.parametrize("name", ["krr", "olh", "oue"])
@pytest.mark.parametrize("form", [(), ("--counts",)])
def test_parquet_holds_what_csv_does(capsys, tmp_path, monkeypatch, name, form):
    monkeypatch.chdir(tmp_path)
    plan = small(name, n=100)
    Path("plan.json").write_text(plan.to_json())
    if find_spec("pyarrow") is None:
        asked = words("collect randomize plan.json --values v.parquet --column answer --out m.csv")
        assert "needs pyarrow, which is not installed" in refused(capsys, *asked, *form)
        return
    import pyarrow as arrow
    import pyarrow.parquet

    table = arrow.table({"answer": [str(i % 4) for i in range(100)], "user": list(range(100))})
    pyarrow.parquet.write_table(table, "values.parquet")
    asked = words("collect randomize plan.json --values values.parquet --column answer --id user")
    assert run(capsys, *asked, "--out", "m.parquet", *form)[0] == 0
    read = pyarrow.parquet.read_table("m.parquet").to_pydict()
    counts = read.get("count", [1] * len(read["message"]))
    messages = [message for message, count in zip(read["message"], counts, strict=True) for _ in range(count)]
    assert run(capsys, *words("collect estimate plan.json m.parquet --out h.csv"))[0] == 0
    assert Path("h.csv").read_text() == plan.estimate(messages).to_csv()
    pyarrow.parquet.write_table(arrow.table({"answer": ["1", None]}), "values.parquet")
    assert "row 2, column answer = an empty cell" in refused(capsys, *asked[:-2], "--out", "n.parquet")


def test_parquet_without_pyarrow_is_refused_before_the_work(capsys, survey, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "needs pyarrow, which is not installed" in refused(capsys, *RANDOMIZE[:-1], "messages.parquet")
    assert not Path("messages.parquet").exists()


def test_a_simulation_stands_beside_the_truth(capsys, survey):
    asked = words("collect estimate plan.json --simulate --seed 4 --values values.csv --column answer")
    status, out, _ = run(capsys, *asked, "--out", "h.csv", "--plot", "h.png")
    assert status == 0 and "SIMULATED with seed 4, which is not private" in out
    with open("h.csv", newline="") as stream:
        assert [int(row["truth"]) for row in csv.DictReader(stream)] == [20, 20, 20, 0]
    assert Path("h.png").read_bytes().startswith(b"\x89PNG")
    assert run(capsys, *asked, "--out", "again.csv")[0] == 0
    assert Path("again.csv").read_text() == Path("h.csv").read_text()
    for wrong in ((*ESTIMATE, "--simulate"), (*ESTIMATE, "--seed", "4"), (*ESTIMATE[:3], *ESTIMATE[4:])):
        refused(capsys, *wrong)


@pytest.mark.parametrize("form", [(), ("--counts",)])
def test_messages_behind_a_byte_order_mark_are_read(capsys, survey, form):
    assert run(capsys, *RANDOMIZE, *form)[0] == 0
    plain = run(capsys, *ESTIMATE)
    Path("messages.csv").write_bytes(b"\xef\xbb\xbf" + Path("messages.csv").read_bytes())
    Path("histogram.csv").unlink()
    assert run(capsys, *ESTIMATE) == plain and plain[0] == 0
    assert "not messages of a survey" in refused(capsys, "check", "messages.csv")


@pytest.mark.parametrize("text", ["message\n00\n", "message\n01\n", "message,count\n01,50\n"])
def test_a_number_with_leading_zeros_is_no_message(capsys, survey, text):
    head = "# " + json.dumps({"kind": "symshuffle messages", "plan": survey.digest})
    Path("messages.csv").write_text(f"{head}\n{text}")
    told = f"messages.csv, line 3 = {text.split()[1]}: expected an integer from 0 to 3 without leading zeros"
    assert told in refused(capsys, *ESTIMATE)
