"""What is said of a file of messages is certified again, or refused: edited plans, numbers of messages, counts."""

import hashlib
import itertools
import json
import re
from dataclasses import replace
from fractions import Fraction as F
from functools import cache
from math import prod
from pathlib import Path

import pytest

from symshuffle import Exp, InputError, SymshuffleError, delta
from symshuffle.collect import plan_survey, read_plan
from symshuffle.collect.plan import falling
from tests.collect.cases import PARAMETERS, law_of, small, supported
from tests.shell import answer, refused, run
from tests.words import words

ESTIMATE = words("collect estimate plan.json messages.csv --out histogram.csv")


@cache
def plan_text(mechanism="krr", **given):
    return plan_survey(3, **{"n": 200, "eps": 1, "delta": "1e-3", "mechanism": mechanism, **given}).to_json()


def older_text(name):
    """A plan of the earlier kind, as it was written then."""
    return (Path(__file__).parent / "older" / f"{name}.json").read_text()


def with_digest(content):
    """The text of a plan's file with the digest that belongs to its content."""
    rest = json.loads(json.dumps(content))
    holder = rest if "kind" in rest else rest.get("certificate", {})
    if not isinstance(holder, dict):
        return json.dumps(content)
    holder.pop("digest", None)
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    holder["digest"] = hashlib.sha256(text.encode()).hexdigest()
    return json.dumps(rest)


def nodes(content, path=()):
    """Paths to all nodes of a JSON value."""
    yield path
    inner = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in inner:
        yield from nodes(value, (*path, key))


def changed(content, path, change):
    """A copy in which ``change`` was made to the parent and key of a node."""
    copy = json.loads(json.dumps(content))
    parent = copy
    for key in path[:-1]:
        parent = parent[key]
    change(parent, path[-1])
    return copy


def spellings(value):
    """Other types and spellings of a node."""
    yield from (None, [], {}, True, -1, 0.5, "", "changed", [value])
    if isinstance(value, str):
        yield from (f"{value} ", f" {value}", f"+{value}", value.upper() + "_", f"{value}\n", [*value])
        yield from (value.translate({48 + i: 0xFF10 + i for i in range(10)}), value.replace("0", "0_0", 1), f"0{value}")
    if isinstance(value, int):
        yield from (str(value), float(value), value + 1, value == 1, 10**30, -value)


def edits(content):
    """Every single change of every node: its type, its spelling, a missing key, an extra one."""
    for path in nodes(content):
        if path in ((), ("digest",), ("certificate", "digest")):
            continue
        value = content
        for key in path:
            value = value[key]
        for other in spellings(value):
            if json.dumps(other) != json.dumps(value):
                yield path, changed(content, path, lambda parent, key, other=other: parent.__setitem__(key, other))
        yield path, changed(content, path, lambda parent, key: parent.pop(key))
        if isinstance(value, dict):
            yield path, changed(content, path, lambda parent, key: parent[key].__setitem__("extra", 1))
    yield (), content | {"extra": 1}


def true_level(plan):
    """Whether the level that a plan's first lines name holds, by the accountant alone; True if it names none."""
    lines = plan.lines
    if not lines.protects:
        return lines.sure == "not at all"
    level = F(lines.number.split(" ")[1])
    assert "any one of" in lines.protects and lines.protects.endswith("may change their value")
    users = int(lines.protects.split(" ")[3].replace(",", ""))
    least = {"min_batch_size": plan.min_batch_size} if plan.min_batch_size < users else {}
    assert ("enough users" in lines.assumes) is bool(least)
    found = delta(plan.scheme.mechanism(), n=users, exp_eps=Exp(level), arithmetic="ball", **least)
    return found.bracket.upper <= plan.delta


TEXTS = {  # of today, and of the earlier kind
    "krr": lambda: plan_text(min_batch_size=150),
    "subset-selection": lambda: plan_text("subset-selection", min_batch_size=150),
    "older krr": lambda: older_text("krr-fewer"),
    "older subset-selection": lambda: older_text("subset-selection"),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_a_plan_with_one_node_changed_is_refused_or_true(kind):
    """With the digest of the changed content: read if it is written as the planner writes it, said if it is true."""
    text, read, seen = TEXTS[kind](), 0, set()
    content = json.loads(text)
    assert read_plan(with_digest(content)).lines == read_plan(text).lines
    for path, edited in edits(content):
        with pytest.raises(SymshuffleError):  # with the digest as it was
            read_plan(json.dumps(edited))
        try:
            plan = read_plan(with_digest(edited))
        except SymshuffleError as error:
            assert "\n" not in str(error)
            continue
        if "kind" not in content:
            assert plan.to_dict() == json.loads(with_digest(edited))
            assert json.dumps(plan.to_dict(), sort_keys=True) == json.dumps(
                json.loads(with_digest(edited)), sort_keys=True
            )
        read += 1
        seen.add(path[:2] if path[0] in ("certified", "certificate", "estimator") else path[:1])
        try:
            assert true_level(plan), path
        except InputError as error:
            assert error.argument == "plan"
    # Texts and numbers that no printed sentence is made from may be changed into others of the same grammar.
    free = {
        ("n",), ("labels",), ("table",), ("loss",), ("certified",), ("certified", "epsilon_at_delta"), ("group",),
        ("certificate",),
        ("estimator", "loss"), ("certificate", "epsilon_at_delta"),
    }  # fmt: skip
    assert seen <= free and read < 60


@pytest.mark.parametrize(
    "change",
    [
        {"eps": "1/100", "certified_eps": "0.01"},
        {"certified_eps": "0.01"},
        {"certified_eps": "0.9"},
        {"delta": "1/1000000000"},
        {"root": "100"},
        {"min_batch_size": 20},
        {"n": 20},
    ],
)
def test_numbers_edited_with_the_digest_are_not_printed(change, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    plan = read_plan(plan_text())
    users = {name: value for name, value in change.items() if name in ("n", "min_batch_size")}
    rest = {name: F(value) for name, value in change.items() if name not in users}
    made = replace(plan, deployment=plan.deployment.with_(**users), **rest)
    Path("plan.json").write_text(made.to_json())
    assert read_plan(made.to_json()) == read_plan(made.to_toml()) == made
    Path("values.csv").write_text("x\n" + "0\n1\n" * (made.n // 2))
    head = json.dumps({"kind": "symshuffle messages", "plan": made.digest})
    Path("messages.csv").write_text(f"# {head}\nmessage\n" + "0\n1\n" * (made.n // 2))
    for command in (
        ESTIMATE,
        words("collect randomize plan.json --values values.csv --column x --out m.csv"),
    ):
        assert "expected a certified level, at least " in refused(capsys, *command)
    status, out, err = run(capsys, "check", "plan.json")
    assert (status, err) == (1, "")
    line = 1 + Path("plan.json").read_text().partition("epsilon_at_delta")[0].count("\n")
    found = re.fullmatch(
        rf"NOT CONSISTENT: plan.json, line {line}: certificate.epsilon_at_delta = (\S+): expected a certified level, "
        rf"at least (\S+), for {made.n} users and delta = \S+\n",
        out,
    )
    assert found and F(found[1]) == made.certified_eps < F(found[2])
    mended = replace(made, eps=max(F(found[2]), made.eps), certified_eps=F(found[2]))  # what is expected is certified
    assert mended.guarantee().bound.bracket.upper <= made.delta
    with pytest.raises(InputError, match="expected a certified level"):
        made.estimate(["0"] * made.n)
    assert not Path("m.csv").exists() and not Path("histogram.csv").exists()


NOW = {
    "krr": {}, "krr-fewer": {"min_batch_size": 150},
    "subset-selection": {"mechanism": "subset-selection", "min_batch_size": 150},
    "olh-dropout": {"mechanism": "olh", "dropout": "1/10", "delta": "1/10", "n": 20},
    "krr-periods": {"periods": 6, "n": 2000, "delta": "1e-6", "colluding": "1/10"},
    "rappor-memoised": {"mechanism": "rappor", "memoised": True, "labels": ("a", "b", "c")},
}  # fmt: skip


@pytest.mark.parametrize("name", NOW)
def test_plans_of_the_earlier_kind_are_read_as_those_of_today(name):
    older, now = read_plan(older_text(name)), read_plan(plan_text(**NOW[name]))
    if older.root != now.root:  # a bound with dropout is narrower than it was, so that the search finds a larger ratio
        (then,), (found,) = older.deployment.groups, now.deployment.groups
        assert 0 < now.root - older.root < F(1, 100)
        assert (then.count, then.dropout) == (found.count, found.dropout)
        now = replace(now, root=older.root, deployment=older.deployment, certified_eps=older.certified_eps)
    assert older == now and older.lines == now.lines and older.notices and not now.notices
    assert older.digest == json.loads(older_text(name))["digest"] != now.digest
    assert read_plan(older.to_toml()) == older and read_plan(older.to_toml()).digest == now.digest


OLDER = {
    "delta_at_eps": "0.0009999999",
    "rigour": "float64",
    "engine": "exact",
    "meaning": "nobody learns anything",
}
"""Keys of certificates that still older versions wrote beside the others."""


def test_texts_of_plans_of_older_versions_are_not_repeated(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    content = json.loads(older_text("krr"))
    older = content | {"certified": content["certified"] | OLDER}
    Path("plan.json").write_text(with_digest(older))
    plan = read_plan(with_digest(older))
    assert plan.lines == read_plan(plan_text()).lines and plan.digest == json.loads(with_digest(older))["digest"]
    assert plan.bound.bracket.arithmetic == "ball"
    Path("values.csv").write_text("x\n" + "0\n1\n" * 100)
    for command in (
        ("check", "plan.json"),
        words("collect randomize plan.json --values values.csv --column x --out messages.csv"),
        ESTIMATE,
    ):
        status, out, said = run(capsys, *command)
        assert status == 0 and not {*OLDER.values()} & {*out.replace(";", " ").split()}
        assert OLDER["meaning"] not in " ".join(out.split()) and "earlier kind" in said


@pytest.mark.parametrize("value", ["1e-300", "0", "0.0009"])
def test_a_smaller_delta_in_a_plan_of_an_older_version_is_refused(value, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    content = json.loads(older_text("krr"))
    content["certified"] |= OLDER | {"delta_at_eps": value}
    Path("plan.json").write_text(with_digest(content))
    Path("values.csv").write_text("x\n" + "0\n1\n" * 100)
    for command in (
        words("collect randomize plan.json --values values.csv --column x --out m.csv"),
        ESTIMATE,
    ):
        assert f"certified.delta_at_eps = {value}: expected at least 0.0009" in refused(capsys, *command)
    status, out, _ = run(capsys, "check", "plan.json")
    assert status == 1 and f"certified.delta_at_eps = {value}: expected at least 0.0009" in out


def test_what_a_plan_prints_is_calculated_and_not_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    made = answer(capsys, *words("collect plan --k 3 --n 200 --eps 1 --delta 1e-3 --mechanism krr --out plan.json"))
    kept = json.loads(Path("plan.json").read_text())
    assert kept["certificate"].keys() == {"epsilon_at_delta", "digest"}
    bound = delta(read_plan(plan_text()).scheme.mechanism(), n=200, exp_eps=Exp(F(1)), arithmetic="ball").bracket
    assert made["bound"]["arithmetic"] == "ball" and made["bound"].keys() == OLDER.keys() - {"rigour"} | {"arithmetic"}
    assert 0 <= F(made["bound"]["delta_at_eps"]) - bound.upper < F(1, 10**8)


def test_a_key_that_stands_twice_and_deep_files_are_refused():
    text = plan_text()
    for edited in (text.replace('"k": 3', '"k": 3,\n  "k": 3'), "[" * 10**5, text.replace('"k": 3', '"k": NaN'),
                   "{" * 10**5, text.replace('"k": 3', f'"k": {"9" * 5000}'),
                   read_plan(text).to_toml().replace("k = 3", f"k = {'9' * 5000}")):  # fmt: skip
        with pytest.raises(InputError):
            read_plan(edited)


def files(plan, lines, columns="message"):
    """A plan's file, and one of messages."""
    Path("plan.json").write_text(plan.to_json())
    head = json.dumps({"kind": "symshuffle messages", "plan": plan.digest})
    Path("messages.csv").write_text(f"# {head}\n{columns}\n" + "".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize("sent", [200, 201, 400])
def test_more_messages_than_users_are_refused_unless_users_are_stated(sent, tmp_path, monkeypatch, capsys):
    """If every one of 200 users sends twice, eps is larger than the plan's; of 400 users it is not."""
    monkeypatch.chdir(tmp_path)
    plan = read_plan(plan_text())
    files(plan, [str(j % 3) for j in range(sent)])
    if sent == 200:
        assert answer(capsys, *ESTIMATE)["privacy"]["users"] == 200
        return
    assert f"MESSAGES = {sent} messages: expected at most n = 200" in refused(capsys, *ESTIMATE)
    with pytest.raises(InputError, match=f"messages = {sent} messages: expected at most n = 200"):
        plan.estimate([str(j % 3) for j in range(sent)])
    assert f"users = {sent - 1}: expected at least {sent}" in refused(capsys, *ESTIMATE, "--users", sent - 1)
    assert not Path("histogram.csv").exists()
    status, out, _ = run(capsys, *ESTIMATE, "--users", sent)
    assert status == 0 and f"any one of {sent} users" in out and "at least 200 send" in " ".join(out.split())
    found = plan.estimate([str(j % 3) for j in range(sent)], users=sent).guarantee
    assert (found.users, found.messages, found.planned) == (sent, sent, 200) and found.eps <= 1
    twice = delta(plan.scheme.mechanism(), n=400, exp_eps=Exp(F(1)), group_size=2).bracket
    assert twice.lower > plan.delta >= found.bound.bracket.upper


def test_fewer_messages_than_users_are_covered_down_to_min_users():
    plan = read_plan(plan_text(min_batch_size=150))
    assert plan.guarantee(150).lines == plan.guarantee(200).lines == plan.lines
    assert plan.guarantee(160, 160).users == 160 and plan.guarantee(150, 150).eps <= 1
    for few in (149, 0):
        with pytest.raises(InputError, match=f"messages = {few} messages: expected at least 150"):
            plan.guarantee(few)


def test_with_dropout_any_number_of_messages_is_covered():
    plan = read_plan(plan_text(dropout="1/10", n=20, delta="1/10"))
    assert "dropout" in plan.estimate(["0"] * 12 + ["1"] * 4).lines.assumes
    assert plan.content["group"][0]["dropout"] == "1/10"


def test_options_of_a_covering_have_one_spelling():
    plan = plan_survey(3, n=20, eps=1, delta="1/10", mechanism="krr", dropout=0.125, group_size=2)
    assert plan.content["group"][0]["dropout"] == "1/8" and plan.content["adjacency"] == {"group_size": 2}
    assert read_plan(plan.to_json()).lines == plan.lines


def test_a_plan_with_earlier_names_of_fields_is_read():
    content = json.loads(older_text("krr-fewer"))
    content["certified"]["covering"] = {"min_users": "150"}
    assert read_plan(with_digest(content)).lines == read_plan(plan_text(min_batch_size=150)).lines


@pytest.mark.parametrize("name", ["krr", "oue"])
def test_counts_are_summed_as_integers(name, tmp_path, monkeypatch, capsys):
    """Of category 0 the counts sum to 2^64, which a sum in 64 bits takes for 0."""
    monkeypatch.chdir(tmp_path)
    first, second = ("0", "1") if name == "krr" else ("1000", "0100")
    counts = [999999999999999999] * 18 + [446744073709551634]
    assert sum(counts) == 2**64
    plan = small(name, n=2000, min_batch_size=2000)
    files(plan, [*(f"{first},{count}" for count in counts), f"{second},2000"], "message,count")
    assert f"MESSAGES = {2**64 + 2000} messages: expected at most n = 2000" in refused(capsys, *ESTIMATE)
    assert "users" in refused(capsys, *ESTIMATE, "--users", 2**64 + 2000)
    files(plan, [f"{first},1999", f"{second},1"], "message,count")
    assert run(capsys, *ESTIMATE)[0] == 0


@pytest.mark.parametrize("name", ["krr", "olh", "subset-selection"])
def test_wrong_counts_are_named_by_line(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    plan = small(name, n=10)
    (message,) = plan.client().messages([0])
    wrong = [
        "-1",
        "+2",
        "1_0",
        "1e3",
        "\uff11",
        "2.0",
        "",
        " ",
        "0",
        "1,1",
        "9" * 19,
        "1 2",
        "\ufeff1",
        "x",
        "0x1",
        "1\t",
    ]
    lines = [f"{message},{count}" for count in wrong] + [message, f",{message}", f"{message} 1,"]
    if " " in message:
        lines.append(message.replace(" ", ",") + " 1")  # the last number of the message as its count
    for line in lines:
        files(plan, [f"{message},1", line], "message,count")
        assert "messages.csv, line 4 = " in refused(capsys, *ESTIMATE), line
    for line in (f"{message},5\r", f"{message} , 5", f"{message},05"):
        files(plan, [f"{message},1", line], "message,count")
        assert answer(capsys, *ESTIMATE)["n"] == 6
        Path("histogram.csv").unlink()


def test_wrong_counts_of_bits_are_named_by_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for line in ("0110,0", "0110,-1", "0110,1\r0110,1", "0110", "011,1", "0110,1_0"):
        files(small("oue", n=10), ["0110,1", line], "message,count")
        assert "messages.csv, line 4 = " in refused(capsys, *ESTIMATE), line


@pytest.mark.parametrize("name", ["olh", "hadamard", "oue", "krr"])
def test_counts_that_no_population_has_are_named(name):
    """The same message 2,000 times supports its categories more often than any users would."""
    plan = small(name, n=2000, min_batch_size=2000)
    (message,) = plan.client().messages([0])
    found = plan.estimate([message] * 2000)
    assert found.impossible and "WARNING" in found.lines.about and found.to_dict()["impossible"] == found.impossible
    assert not plan.estimate(plan.client().messages(falling(plan).tolist()), confidence="0.999999999").impossible


def test_bands_that_sum_to_too_many_users_are_named():
    """Each category alone could have its count, all of them together could not: bits of four different users."""
    plan = small("oue", n=2000, min_batch_size=2000, root=F(20))
    found = plan.estimate(["1111"] * 700 + ["0000"] * 1300)
    assert all(row.band_low < row.band_high for row in found.rows) and "together" in found.impossible


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_possible_population_is_named_impossible_with_at_most_the_error(name):
    """Exact probability of the warning, for every population of up to three users of three categories."""
    plan = small(name, 3)
    laws = [law_of(plan, value) for value in range(3)]
    for n in (1, 2, 3):
        for confidence in (F(1, 2), F(9, 10)):

            @cache
            def warned(messages, confidence=confidence):
                return bool(plan.estimate(messages, confidence=confidence).impossible)

            for users in itertools.combinations_with_replacement(range(3), n):
                wrong = F(0)
                for messages in itertools.product(*(laws[value] for value in users)):
                    if warned(tuple(sorted(messages))):
                        wrong += prod(laws[value][m] for value, m in zip(users, messages, strict=True))
                assert wrong <= 1 - confidence, (users, confidence)


def test_supports_of_the_definition_are_those_of_the_warning():
    plan = small("olh", n=30, min_batch_size=30)
    (message,) = plan.client().messages([2])
    found = plan.estimate([message] * 30)
    inside = {plan.labels[j] for j in supported(plan, message)}
    assert {row.label for row in found.rows if row.supports == 30} == inside


@pytest.mark.parametrize(
    "text", ["x = " + "[" * 10**5, "x = 1979-05-27\n", f"x = {'9' * 5000}", "periods = 1979-05-27"]
)
def test_toml_that_is_no_plan_is_refused(text, tmp_path, capsys):
    tables = "\n[target]\nd = 1979-05-27\n[estimator]\n[certificate]\n"
    for written in (text, text + tables):
        with pytest.raises(InputError):
            read_plan(written)
        (tmp_path / "plan.toml").write_text(written)
        status, out, err = run(capsys, "check", tmp_path / "plan.toml")
        assert (status, out) == (2, "") or (out.startswith("NOT CONSISTENT: ") and written != text)
        assert (out + err).count("\n") == 1
        refused(capsys, "epsilon", tmp_path / "plan.toml", "--delta", "1e-6")
