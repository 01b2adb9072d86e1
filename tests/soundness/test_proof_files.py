"""Files that prove bounds: no other spelling is accepted, and what is printed for an accepted file is true."""

import copy
import itertools
import json
import random
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction as F
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from symshuffle import Channel, any_ldp, delta, epsilon, prove, randomizer
from symshuffle.cli import app
from symshuffle.ledger.recheck import bound
from symshuffle.mechanisms import registry
from tests.soundness.false_bound_files import signed

File = dict[str, Any]
Path_ = tuple[str | int, ...]
THREE = Channel.from_rows([["1/2", "1/2", "0"], ["1/4", "1/2", "1/4"], ["1/3", "1/3", "1/3"]])
ASKED: dict[str, tuple[Any, dict[str, Any]]] = {
    "any-ldp": (any_ldp(lam=3), {"exp_eps": "6/5", "n": 4}),
    "many users": (randomizer("krr").at(k=3, lam=3), {"exp_eps": "101/100", "n": 10_000}),
    "channel": (THREE, {"eps": "1/10", "n": 3}),
    "channel and null": (THREE, {"exp_eps": "1", "n": 3, "adjacency": "zero-out", "null": ("1/2", "1/2", "0")}),
    "channel of one input": (THREE, {"exp_eps": "6/5", "n": 3, "adjacency": "zero-out"}),
    "irrational cap": (randomizer("krr").at(k=4, eps0=1), {"eps": "1/3", "n": 3, "group_size": 2, "min_batch_size": 2}),
    "rappor of any size": (randomizer("rappor").at(lam=2), {"exp_eps": "6/5", "n": 3}),
    "one distance": (randomizer("half-block").at(k=4, d=1, lam=4), {"exp_eps": "6/5", "n": 3}),
}
for _name in registry.MECHANISMS:
    if _name not in ("identity", "constant", "erasure"):
        _fixed = randomizer(_name).at(lam=4, **registry.EXAMPLES[_name][0])
        ASKED[_name] = (_fixed, {"exp_eps": "6/5", "n": 3})
        ASKED[f"{_name}, zero-out"] = (_fixed, {"exp_eps": "6/5", "n": 3, "adjacency": "zero-out"})


@cache
def _honest(name: str) -> File:
    source, asked = ASKED[name]
    return prove(delta(source, **asked)).content


def honest(name: str) -> File:
    """A file as the program writes it."""
    if name == "epsilon":
        return prove(epsilon(randomizer("krr").at(k=3, eps0=1), n=20, delta="1e-2")).content
    return copy.deepcopy(_honest(name))


def refused(content: Any, *expected: Any) -> bool:
    """Whether a file is refused, by the error of certificates and no other."""
    try:
        bound.check(content, *expected)
    except bound.CertificateError as error:
        assert all(type(part) is str for part in error.args), error
        return True
    return False


def nodes(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Every place of a file."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from nodes(value[key], (*path, key))


def at(value: Any, path: Path_) -> Any:
    for key in path:
        value = value[key]
    return value


def replaced(content: File, path: Path_, value: Any) -> Any:
    """The file with another value at a place, and a digest that fits where one can be made."""
    if not path:
        return value
    changed = copy.deepcopy(content)
    at(changed, path[:-1])[path[-1]] = value
    return changed if path == ("digest",) else signed(changed)


WIDE = str.maketrans("0123456789", "".join(chr(0xFF10 + digit) for digit in range(10)))
FRACTION = re.compile(r"(exp\()?([0-9]+)(?:/([0-9]+))?\)?")


def other_types(value: Any) -> Iterator[Any]:
    """Values of other types, or empty."""
    yield from (None, True, False, 0.5, [], {}, "", [value], {"0": value}, (), (value,))
    if type(value) is int:
        yield from (str(value), float(value) if value < 2**53 else 1e300, [value, value], -(10**4001))
    if type(value) is list:
        yield from (json.dumps(value), tuple(value), dict(enumerate(map(str, value))), [*value, None], [None, *value])
    if type(value) is dict:
        yield from (json.dumps(value), list(value.values()), list(value), {**value, "extra": "1"}, {**value, "": None})
        yield from ({key: value[key] for key in value if key != left} for left in value)


def other_spellings(text: str) -> Iterator[str]:
    """Spellings of a text that mean the same to some reader."""
    yield from (f" {text}", f"{text} ", f"{text}\n", f"\n{text}", f"{text}\x00", f"\ufeff{text}", text.upper() + "\t")
    yield from (text.translate(WIDE) if text.translate(WIDE) != text else f"{text}\u200b", f"'{text}'", f"[{text}]")
    if found := FRACTION.fullmatch(text):
        form, p, q = found[1] or "", found[2], found[3]
        end, over = ")" * bool(form), "" if q is None else f"/{q}"
        for numerator in (f"+{p}", f"0{p}", f"{p}_0", f"{p[0]}_{p}", f"{p}.0", f"{p}e0", f"-{p}", f" {p}", f"{p} ", ""):
            yield f"{form}{numerator}{over}{end}"
        yield from (f"{form}{p}{over}{end}".replace("/", other) for other in (" / ", "//", "/+", "/0", "\u2044") if q)
        yield f"{form}{2 * int(p)}/{2 * int(q or 1)}{end}"
        yield from (f"exp({p}{over}", f"{p}{over})", f"exp{p}{over}", f"EXP({p}{over})", f"exp(exp({p}{over}))")
        yield f"{form}{p}/0{end}"
        if q in (None, "1"):
            yield f"{form}{p}/1{end}" if q is None else p
        yield f"{form}{p}{'0' * 4000}/{q or 1}{'0' * 4000}{end}"


def malformed(content: File) -> Iterator[tuple[Path_, Any]]:
    """Single changes of form, at every node: what each makes is no file of the format."""
    for path in nodes(content):
        value = at(content, path)
        for other in other_types(value):
            if type(other) is type(value) and other == value:
                continue
            if other is None and path[-1:] == ("D",):  # of any size
                continue
            if path == ("lines",) and other == [] and content["statement"]["users"] < bound.FEW_USERS:
                continue
            yield path, other
        if type(value) is str:
            for other in other_spellings(value):
                numeric = path[:1] == ("statement",) and FRACTION.fullmatch(value)
                if other != value and (numeric or not FRACTION.fullmatch(value)):
                    yield path, other


NAMES = [*ASKED, "epsilon"]
MOST_CHANGES = 600
"""Of one file in the ordinary suite."""


@pytest.mark.parametrize("name", NAMES)
def test_no_other_form_of_a_file_is_accepted(name: str) -> None:
    content = honest(name)
    assert not refused(content)
    count, rng = 0, random.Random(name)
    changes = list(malformed(content))
    for path, other in rng.sample(changes, min(MOST_CHANGES, len(changes))):
        if path and path[0] == "versions" and isinstance(other, str) and re.fullmatch("[0-9][0-9A-Za-z.+-]*", other):
            continue  # another version
        try:
            changed = replaced(content, path, other)
        except (TypeError, ValueError):  # no digest can be made of it
            changed = copy.deepcopy(content)
            at(changed, path[:-1])[path[-1]] = other
        count += 1
        assert refused(changed), (path, other)
    assert count > 200


def other_values(content: File) -> Iterator[Any]:
    """Files of the format with other values in the statement: neighbours of numbers, parts exchanged or repeated."""
    for path in nodes(content["statement"], ("statement",)):
        value = at(content, path)
        match value:
            case int():
                yield from (replaced(content, path, value + step) for step in (-1, 1))
            case str():
                rest = ("1/1", "2", "exp(2)", "rr", "rows", "any-ldp", "blanket", "all", "replace-one", "zero-out")
                yield from (replaced(content, path, other) for other in rest if other != value)
            case list() if value:
                yield from (replaced(content, path, other) for other in (value[::-1], [*value, value[-1]], value[1:]))
            case dict() if value:
                for one, other in itertools.combinations(value, 2):
                    yield replaced(content, path, {**value, one: value[other], other: value[one]})


WORDS = re.compile(
    r"delta <= (?P<delta>\S+) at exp\(eps\) = (?P<exp_eps>\S+); (?P<users>\d+) users, "
    r"at least (?P<min_users>\d+) send; (?P<group>\d+) differ\nby (?P<adjacency>\S+); "
    r"mechanism (?P<name>[a-z-]+), (?P<parts>.*?)"
    r"(?:in powers of t, t\^2|exp\(eps0\)) = (?P<exp_eps0>\S+); null symbol (?P<null>.+); ordered pairs (?P<pairs>.+)",
    re.ASCII,
)


def told(sentence: str) -> File:
    """The statement that a sentence makes, with the fields of the file."""
    found = WORDS.fullmatch(sentence)
    assert found is not None, sentence
    parts = re.findall(r"(\w+) (\[.*?\](?=, [a-z]|, $)|\w+), ", found["parts"])
    values = {key: None if text == "any" else json.loads(text) for key, text in parts}
    null, pairs = found["null"], found["pairs"]
    return {
        **{name: found[name] for name in ("delta", "exp_eps", "adjacency", "exp_eps0")},
        **{name: int(found[name]) for name in ("users", "min_users", "group")},
        "mechanism": {"name": found["name"]} | values,
        "null": None if null == "none" else json.loads(null) if null.startswith("[") else null,
        "pairs": pairs if pairs == "all" else json.loads(pairs),
    }


@pytest.mark.parametrize("name", NAMES)
def test_the_sentence_tells_all_of_the_statement(name: str) -> None:
    content = honest(name)
    assert told(bound.check(content)) == content["statement"]
    accepted = 0
    found = list(other_values(content)) if content["statement"]["users"] < 20 else []
    for changed in random.Random(name).sample(found, min(60, len(found))):
        if changed != content and not refused(changed):
            accepted += 1
            assert told(bound.check(changed)) == changed["statement"] != content["statement"]
            assert refused(changed, content["statement"])
    assert accepted or not found


# The truth of sentences, by enumeration in rationals


def power_sum(p: list[int], t: F) -> F:
    return sum((c * t**i for i, c in enumerate(p)), start=F(0))


def kept(k: int, size: int, lam: F) -> list[list[F]]:
    """Rows of subset selection: a subset that holds the input is lam times as likely as another."""
    subsets = list(itertools.combinations(range(k), size))
    rows = [[lam if x in subset else F(1) for subset in subsets] for x in range(k)]
    return [[weight / sum(row) for weight in row] for row in rows]


def bits(size: int, own: tuple[F, F], other: tuple[F, F]) -> list[list[F]]:
    """Rows of unary encodings: independent bits with laws (of 0, of 1), the one of the input with its own."""
    outputs = list(itertools.product((0, 1), repeat=size))
    rows = []
    for x in range(size):
        row = []
        for y in outputs:
            mass = F(1)
            for i, bit in enumerate(y):
                mass *= (own if i == x else other)[bit]
            row.append(mass)
        rows.append(row)
    return rows


def rows_of(said: File) -> list[list[F]]:
    """Laws of the messages of each input; the null symbol is the last where there is one."""
    part, lam = said["mechanism"], F(said["exp_eps0"])
    root = next(F(p, q) for q in range(1, 30) for p in range(1, 200) if F(p, q) ** 2 == lam)
    makers: dict[str, Callable[[], list[list[F]]]] = {
        "rows": lambda: [
            [power_sum(p, root) / power_sum(part["denominator"], root) for p in row] for row in part["rows"]
        ],
        "rr": lambda: kept(2, 1, lam),
        "krr": lambda: kept(part["k"], 1, lam),
        "subset-selection": lambda: kept(part["k"], part["s"], lam),
        "rappor": lambda: bits(part["D"], (1 / (1 + root), root / (1 + root)), (root / (1 + root), 1 / (1 + root))),
        "oue": lambda: bits(part["D"], (F(1, 2), F(1, 2)), (lam / (1 + lam), 1 / (1 + lam))),
    }
    rows = makers[part["name"]]()
    if said["null"] == "blanket":
        common = [min(column) for column in zip(*rows, strict=True)]
        rows.append([c / sum(common) for c in common])
    elif said["null"] is not None:
        rows.append([power_sum(p, root) / power_sum(part["denominator"], root) for p in said["null"]])
    assert all(sum(row) == 1 for row in rows)
    return rows


def counts_of(rows: list[list[F]]) -> dict[tuple[int, ...], F]:
    """Law of the histogram of one message from each row."""
    law = {(0,) * len(rows[0]): F(1)}
    for row in rows:
        grown: dict[tuple[int, ...], F] = defaultdict(F)
        for counts, mass in law.items():
            for y, probability in enumerate(row):
                grown[*counts[:y], counts[y] + 1, *counts[y + 1 :]] += mass * probability
        law = grown
    return law


def largest_delta(said: File) -> F:
    """The largest divergence of the shuffled messages, over all datasets that differ as said."""
    rows, ratio, group = rows_of(said), F(said["exp_eps"]), said["group"]
    inputs, zero_out = range(len(rows)), said["null"] is not None
    pairs = [(x, z) for x in inputs for z in inputs if x != z and (not zero_out or inputs[-1] in (x, z))]
    pairs = pairs if said["pairs"] == "all" else [pair for pair in pairs if list(pair) in said["pairs"]]
    found = F(0)
    for messages in range(said["min_users"], said["users"] + 1):
        differing = min(group, messages)
        for changes in itertools.combinations_with_replacement(pairs, differing):
            for others in itertools.combinations_with_replacement(inputs, messages - differing):
                first, second = (counts_of([rows[x] for x in (*(c[i] for c in changes), *others)]) for i in (0, 1))
                found = max(found, sum(max(F(0), mass - ratio * second.get(y, F(0))) for y, mass in first.items()))
    return found


def drawn(rng: random.Random) -> tuple[Any, dict[str, Any]]:
    """A small source and a question, in rationals."""
    asked: dict[str, Any] = {"n": rng.randint(1, 3), "exp_eps": F(rng.randint(4, 9), 4)}
    if rng.random() < 0.2:
        asked["min_batch_size"] = rng.randint(1, asked["n"])
    if rng.random() < 0.2 and asked["n"] > 1:
        asked["group_size"] = 2
    if rng.random() < 0.4:
        asked["adjacency"] = "zero-out"
    lam, k = F(rng.choice((4, F(9, 4), F(25, 16)))), rng.randint(2, 3)
    sizes = {"rr": {}, "krr": {"k": k}, "subset-selection": {"k": k, "s": rng.randint(1, k - 1)}}
    sizes |= {"rappor": {"D": 2}, "oue": {"D": 2}, "half-block": {"k": 2, "d": 1}}
    name = rng.choice(("channel", "channel", *sizes))
    if name != "channel":
        return randomizer(name).at(lam=lam, **sizes[name]), asked
    width = rng.randint(2, 3)
    weights = [[rng.choice((0, 1, 1, 2, 3, 5)) for _ in range(width)] for _ in range(k + 1)]
    rows = [[F(w, sum(row)) if sum(row) else F(y == 0) for y, w in enumerate(row)] for row in weights]
    if "adjacency" in asked and (rng.random() < 0.6 or not any(map(min, zip(*rows[:k], strict=True)))):
        asked["null"] = tuple(rows[k])
    return Channel.from_rows(rows[:k]), asked


def true_sentence(seed: int) -> bool:
    """Whether what is printed for a drawn file is true; a smaller delta than the truth is refused as well."""
    source, asked = drawn(random.Random(seed))
    content = prove(delta(source, **asked)).content
    said = told(bound.check(content))
    truth = largest_delta(said)
    assert (said["users"], said["group"], F(said["exp_eps"])) == (
        asked["n"],
        asked.get("group_size", 1),
        asked["exp_eps"],
    )
    assert truth <= F(said["delta"])
    less = truth * F(999, 1000)
    forged = replaced(content, ("statement", "delta"), f"{less.numerator}/{less.denominator}")
    assert not truth or refused(forged)
    return truth > 0


def test_sentences_are_true() -> None:
    assert sum(true_sentence(seed) for seed in range(15)) > 6


@pytest.mark.conformance
def test_many_sentences_are_true() -> None:
    assert sum(true_sentence(seed) for seed in range(1000, 1300)) > 120


def test_a_null_symbol_as_text_proves_nothing() -> None:
    """It was ignored, the last row taken for it, and the sentence showed the text as if it were the row."""
    half = [["1/2", "1/2"], ["1/2", "1/2"]]
    asked: dict[str, Any] = {"n": 2, "exp_eps": 1, "adjacency": "zero-out", "null": (1, 0)}
    content = prove(delta(Channel.from_rows(half), **asked)).content
    assert F(content["statement"]["delta"]) >= largest_delta(told(bound.check(content))) == F(1, 2)
    text = json.dumps(content["statement"]["null"])
    assert refused(replaced(replaced(content, ("statement", "delta"), "0/1"), ("statement", "null"), text))


# Both routes, and limits


def alone(*files: Path) -> tuple[int, str]:
    command = [sys.executable, "-I", "-S", bound.__file__, *map(str, files)]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return found.returncode, (found.stdout + found.stderr).strip()


def by_command(file: Path, *expected: Path) -> tuple[int, str]:
    options = [part for one in expected for part in ("--expect", str(one))]
    found = CliRunner().invoke(app, ["check", str(file), *options])
    return found.exit_code if not isinstance(found.exception, ValueError) else 2, found.output.strip()


@pytest.mark.parametrize(
    "words",
    [(), ("--help",), ("-",), ("missing.json",), (".",), ("honest.json", "missing.json"), ("a\nb",), ("list.csv",)],
)
def test_wrong_words_are_refused_in_one_line(tmp_path: Path, words: tuple[str, ...]) -> None:
    """By the checker alone, which says how it is called."""
    (tmp_path / "honest.json").write_text(json.dumps(honest("channel")))
    (tmp_path / "list.csv").write_text("1/2,1/2\n")
    code, shown = alone(*(tmp_path / word if "." in word else Path(word) for word in words))
    assert code == 2 and "\n" not in shown and shown.startswith("NOT READ: [")
    assert shown.endswith("(usage: bound.py bound.json [statement.json])") and all(word[:1] in shown for word in words)


TEXTS: dict[str, Callable[[str], bytes]] = {
    "no change": str.encode,
    "a key twice": lambda text: text.replace('"group": 1', '"group": 1, "group": 1').encode(),
    "a mark of byte order": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "UTF-16": lambda text: text.encode("utf-16"),
    "Latin-1": lambda text: text.replace("symshuffle bound", "symshuffle b\xf6und").encode("latin-1"),
    "no JSON": lambda text: text[:-1].encode(),
    "not a number": lambda text: text.replace('"users": 3', '"users": NaN').encode(),
    "infinity": lambda text: text.replace('"users": 3', '"users": Infinity').encode(),
    "a decimal": lambda text: text.replace('"users": 3', '"users": 3.0').encode(),
    "nested": lambda text: text.replace('"users": 3', '"users": ' + "[" * 10**5 + "]" * 10**5).encode(),
    "a long number": lambda text: text.replace('"users": 3', '"users": 3' + "0" * 5000).encode(),
    "rows beside": lambda text: text.replace('"lines"', '"rows": [["1/2", "1/2"], ["1/2", "1/2"]], "lines"').encode(),
    "another digest": lambda text: text.replace("sha256:", "sha256:0").encode(),
}


@pytest.mark.parametrize("name", TEXTS)
def test_both_routes_answer_alike(tmp_path: Path, name: str) -> None:
    file = tmp_path / "bound.json"
    text = TEXTS[name](json.dumps(honest("channel")))
    assert name == "no change" or text != json.dumps(honest("channel")).encode()
    file.write_bytes(text)
    (code, shown), (other, said) = alone(file), by_command(file)
    assert code == other and (code == 0) == (name in ("no change", "a mark of byte order"))
    assert "Traceback" not in shown + said
    assert code == 2 or shown == said
    assert len(shown.splitlines()) <= 2


def test_another_format_is_refused_by_the_one_that_is_read(tmp_path: Path) -> None:
    file = tmp_path / "bound.json"
    file.write_text(json.dumps(honest("channel") | {"format": "symshuffle bound 0"}))
    (code, shown), (other, said) = alone(file), by_command(file)
    assert code == other and all(f"expected {bound.FORMAT}\n" in f"{one.strip()}\n" for one in (shown, said))


def test_both_routes_compare_what_is_expected(tmp_path: Path) -> None:
    file, expected = tmp_path / "bound.json", tmp_path / "statement.json"
    content = honest("channel")
    file.write_text(json.dumps(content))
    said = content["statement"]
    for other in (said, None, [], "", False, {}, said | {"users": 3.0}, said | {"group": True}, said | {"users": 4}):
        expected.write_text(json.dumps(other))
        found = alone(file, expected)
        assert found == by_command(file, expected)
        assert found[0] == (0 if other is said else 1)


@pytest.mark.parametrize("n", [60, 10**18])
def test_work_is_bounded(n: int) -> None:
    """Lines whose nodes are so near to each other that none is small, with as many of them as the format allows."""
    content = copy.deepcopy(honest("many users"))
    content["statement"] |= {"users": n, "min_users": n}
    content["lines"] = [{"c": 1 << 230, "step": 1, "smoothing": 1, "last": 1 << 40}]
    assert refused(signed(content))
    content["lines"][0]["last"] = 50_000
    assert refused(signed(content) | {"digest": ""})
    large = {"exp_eps": "exp(65536)", "exp_eps0": "exp(65536)", "delta": "0/1"}
    for group in (1, 2, 1000):
        content = copy.deepcopy(honest("rappor"))
        content["statement"] |= {**large, "users": 1000, "min_users": 5, "group": group, "mechanism": {"name": "rr"}}
        assert isinstance(refused(signed(content)), bool)
    content["statement"]["mechanism"] = {"name": "oue", "D": 64}
    assert refused(signed(content))


def test_one_user_and_a_thousand_outputs() -> None:
    content = honest("channel")
    rows = [[[y + 1 if x else 1500 - y] for y in range(1500)] for x in range(2)]
    content["statement"] |= {"mechanism": {"name": "rows", "denominator": [1500 * 1501 // 2], "rows": rows}}
    content["statement"] |= {"users": 1, "min_users": 1, "delta": "1/1"}
    assert not refused(signed(content))
