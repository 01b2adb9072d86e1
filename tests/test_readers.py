"""Every reader of a file of the user refuses unknown, repeated and missing keys and wrong types, by file and place.

Documents are changed node by node. A reader that is not in the table is found in the syntax of the library.
"""

import ast
import hashlib
import json
import random
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import symshuffle
from symshuffle import delta, prove
from symshuffle.cli import main
from symshuffle.collect import plan_survey
from tests.shell import refused, run
from tests.soundness.test_wrong_arguments import CLIENT, KRR, soon
from tests.words import words

LIBRARY = Path(symshuffle.__file__).parent
AT_MOST = 60
"""Changes of one document; of more they are drawn."""


def pairs(value):
    """The entries of an object, some of which may be written twice."""
    return value.items() if isinstance(value, dict) else value


class Twice(list):
    """Entries of an object with a key that stands there twice."""


def as_json(value):
    """JSON text, with repeated keys where an object is written as entries."""
    if isinstance(value, dict | Twice):
        return "{" + ", ".join(f"{json.dumps(key)}: {as_json(inner)}" for key, inner in pairs(value)) + "}"
    return f"[{', '.join(map(as_json, value))}]" if isinstance(value, list) else json.dumps(value)


def as_toml(value, top=True):
    """TOML text of the same."""
    if isinstance(value, dict | Twice):
        written = [f"{key} = {as_toml(inner, False)}" for key, inner in pairs(value)]
        return "\n".join(written) if top else "{ " + ", ".join(written) + " }"
    return f"[{', '.join(as_toml(one, False) for one in value)}]" if isinstance(value, list) else json.dumps(value)


def with_digest(value):
    """The content of a plan with the digest that belongs to it; as it is where a key stands twice."""
    if not isinstance(value, dict) or "Twice" in repr([type(one) for one in value.values()]):
        return as_json(value)
    older = "kind" in value
    rest = json.loads(json.dumps({key: inner for key, inner in value.items() if key != "digest" or not older}))
    holder = rest if older else rest.get("certificate")
    if not isinstance(holder, dict):
        return as_json(rest)
    holder.pop("digest", None)
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return as_json(
        put(rest, () if older else ("certificate",), holder | {"digest": hashlib.sha256(text.encode()).hexdigest()})
    )


@dataclass(frozen=True)
class Document:
    """A document of the user, and the command that reads it.

    - ``optional``: keys that may be missing.
    - ``free``: keys whose value, or what is inside, may be anything of its kind.
    - ``judged``: whether a wrong file is judged (exit status 1) where another one is refused (2).
    """

    words: str
    file: str
    content: object
    text: object = as_json
    optional: frozenset = frozenset()
    free: frozenset = frozenset()
    judged: bool = False


ROUNDS = {"rounds": [{"mechanism": "krr", "params": {"k": 3}, "eps0": 1, "n": 9, "times": 2, "reports": "fresh"}]}
USERS = {"users": [{"count": 2, "mechanism": "krr", "params": {"k": 3}, "lam": 2}]}
GRID = {"mechanism": "krr", "param": {"k": [3]}, "eps0": [1], "n": {"from": 3, "to": 5, "points": 2}, "eps": [1]}
DECISION = {
    "kind": "decision", "title": "guess", "model": [["1/2", "1/2"], [0, 1]], "loss": [[0, 1], [1, 0]],
    "prior": ["1/2", "1/2"], "symmetry": {"blocks": [[0], [1]]},
}  # fmt: skip
SOURCE = {"kind": "mutual-information", "title": "bit", "source": ["1/2", "1/2"]}
TWO = {
    "kind": "f-divergence",
    "title": "bits",
    "p": ["1/2", "1/2"],
    "q": ["1/3", "2/3"],
    "divergence": "renyi",
    "order": 2,
}


@cache
def documents():
    """The documents by name; some are written by the commands that make them."""
    plan = plan_survey(3, n=9, eps=1, delta="1/10", mechanism="krr", periods=2).to_dict()
    older = json.loads((Path(__file__).parent / "collect" / "older" / "krr-periods.json").read_text())
    older["certified"] |= {"delta_at_eps": "1e-06", "rigour": "ball", "engine": "counts", "meaning": "a bound"}
    proof = prove(delta(KRR, n=3, exp_eps="6/5")).content
    unread = frozenset({"labels", "table", "loss", "digest"})
    return {
        "matrix": Document("check x.json", "x.json", {"rows": [["1/2", "1/2"], ["1/4", "3/4"]]}),
        "matrix of delta": Document(
            "delta x.json --n 3 --eps 1", "x.json", {"rows": [["1/2", "1/2"], ["1/4", "3/4"]]}
        ),
        "list of rows": Document("check x.json", "x.json", [["1/2", "1/2"], ["1/4", "3/4"]]),
        "decision": Document("design bayes x.json --lam 3", "x.json", DECISION,
                             optional=frozenset({"title", "prior", "symmetry"})),
        "source": Document("design mutual-information x.json --lam 3", "x.json", SOURCE,
                           optional=frozenset({"title"})),
        "divergence": Document("design f-divergence x.json --lam 3", "x.json", TWO,
                               optional=frozenset({"title"})),
        "rounds": Document("delta x.json --eps 1", "x.json", ROUNDS,
                           optional=frozenset({"times", "reports"})),
        "rounds in TOML": Document("delta x.toml --eps 1", "x.toml", ROUNDS, as_toml,
                                   optional=frozenset({"times", "reports"})),
        "users": Document("epsilon x.toml --delta 1/10", "x.toml", USERS, as_toml,
                          optional=frozenset({"count", "mechanism"})),
        "sweep": Document("sweep x.toml --out swept --jobs 1", "x.toml",
                          {"command": "delta", "columns": ["upper"], "grid": GRID}, as_toml,
                          optional=frozenset({"columns", "mechanism", "param", "eps0", "n", "eps", "k"}),
                          free=frozenset({"mechanism", "param", "eps0", "n", "eps"})),
        "plan": Document("check x.json", "x.json", plan, with_digest,
                         optional=frozenset({"digest", "periods", "epsilon_at_delta"}), free=unread, judged=True),
        "older plan": Document("check x.json", "x.json", older, with_digest,
                               optional=frozenset({"digest", "rounds", "colluding"}),
                               free=unread, judged=True),
        "proof": Document("check x.json", "x.json", proof, judged=True),
        "statement": Document("check proof.json --expect x.json", "x.json", proof["statement"], judged=True),
    }  # fmt: skip


WRITTEN = {
    "privacy loss": ("pld krr -p k=3 --eps0 1 --n 9 --step 0.1 --beyond 1/100 --out loss.json", True, ("inputs",)),
    "trace bound": ("design shuffled --k 3 --n 4 --eps 1/4 --delta 1/1000 --lam-cap 4 --proof trace.json", True, ()),
}
"""Documents that a command writes: the command, whether they are judged, keys that may be missing."""
FREE_IN_LOSSES = frozenset({"neighbours", "versions", "inputs"})


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("written")
    with pytest.MonkeyPatch.context() as here:
        here.chdir(folder)
        for asked, _, _ in WRITTEN.values():
            assert main(asked.split()) == 0
    return {
        name: Document("check x.json", "x.json", json.loads((folder / asked.split()[-1]).read_text()),
                       optional=frozenset(optional), free=FREE_IN_LOSSES, judged=judged)
        for name, (asked, judged, optional) in WRITTEN.items()
    }  # fmt: skip


def nodes(value, path=()):
    """Paths to all nodes, and their values."""
    yield path, value
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield from nodes(inner, (*path, key))


def put(content, path, value):
    """A copy with another value at a path."""
    if not path:
        return value
    copy = {**content} if isinstance(content, dict) else [*content]
    copy[path[0]] = put(copy[path[0]], path[1:], value)
    return copy


WRONG = ({"a": {"b": 1}}, [[[1]]], True, "no such value")


def changes(document):
    """What is changed, the key that has to be named, and the changed content."""
    for path, value in nodes(document.content):
        if document.free & {*map(str, path)}:
            continue
        if isinstance(value, dict):
            yield "unknown", "strange", put(document.content, path, value | {"strange": 1})
            for key in value:
                twice = Twice([*value.items(), (key, value[key])])
                yield "twice", key, put(document.content, path, twice)
                if key not in document.optional:
                    left = {name: inner for name, inner in value.items() if name != key}
                    yield "missing", key, put(document.content, path, left)
        for wrong in WRONG:
            if path and type(wrong) is not type(value):
                key = next((key for key in reversed(path) if isinstance(key, str)), "")
                yield "type", key, put(document.content, path, wrong)


def check_document(document, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("proof.json").write_text(json.dumps(documents()["proof"].content))
    file, asked = Path(document.file), document.words.split()
    file.write_text(document.text(document.content))
    assert main(asked) == 0, capsys.readouterr().err
    found = list(changes(document))
    kinds = {kind for kind, _, _ in found}
    drawn = random.Random(document.words).sample(found, min(AT_MOST, len(found)))
    for kind, key, content in drawn:
        file.write_text(document.text(content))
        capsys.readouterr()
        before = {*tmp_path.iterdir()}
        with soon():
            status = main(asked)
        said = capsys.readouterr()
        line = said.err or said.out
        assert status in ((1, 2) if document.judged else (2,)), (kind, key, content, line)
        assert line.count("\n") == 1 and "Traceback" not in line, (kind, key, line)
        assert document.file in line or status == 1, (kind, key, line)
        if key in ("kind", "format"):
            assert "expected" in line  # which kinds of files there are
        elif key == "params" and kind == "missing":
            assert "[0].params.k is missing: " in line  # what the mechanism needs
        else:
            assert str(key) in line or kind == "twice" or status == 1, (kind, key, content, line)
        assert {*tmp_path.iterdir()} == before
    return kinds


@pytest.mark.parametrize("name", documents())
def test_every_change_of_a_document_is_refused_by_file_and_key(name, tmp_path, monkeypatch, capsys):
    assert "type" in check_document(documents()[name], tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize("name", WRITTEN)
def test_every_change_of_a_written_document_is_refused(name, written, tmp_path, monkeypatch, capsys):
    assert {"unknown", "twice", "missing", "type"} <= check_document(written[name], tmp_path, monkeypatch, capsys)


SURVEY = words("collect randomize plan.json --values values.csv --column answer --id user --out messages.csv")
ESTIMATE = words("collect estimate plan.json messages.csv --out histogram.csv")
SAMPLES = words("audit samples a.csv b.csv")
MEAN = words("mean x.csv --mechanism sphere-linear --eps 1 --delta 1/10")
HEAD = '{"kind": "symshuffle messages", "plan": "DIGEST", "order": "sorted", "not covered": ""}'
TABLES = {
    "matrix": (words("check w.csv"), "w.csv", "# c\na,b\n0.5,0.5\n0.2,0.8\n", (
        ("0.2,0.8", "0.2,0.3,0.5", "w.csv, line 4 = 3 values: expected 2"),
        ("0.2,0.8", "0.2", "w.csv, line 4 = 1 value: expected 2"),
        ("0.2,0.8", "0.2,80%", "w.csv, line 4, column 2 = 80%: expected a probability"),
        ("0.2,0.8", "0.2,x", "w.csv, line 4, column 2 = x"),
        ("0.2,0.8", "0.2,0.9", "w.csv, line 4 = sum"),
        ("0.5,0.5", "-0.5,1.5", "w.csv, line 3, column 1 = -"),
    )),
    "columns": (words("check w.csv"), "w.csv", "\n0.5 0.5\n\n0.2 0.8\n", (
        ("0.2 0.8", "0.2 0.3 0.5", "w.csv, line 4 = 3 values: expected 2"),
    )),
    "values": (SURVEY, "values.csv", "user,answer\nu1,0\nu2,1\n", (
        ("u2,1", "u2", "values.csv, line 3 = 1 value: expected 2"),
        ("u2,1", "u2,x", "values.csv, line 3, column answer = x"),
        ("u2,1", ",1", "values.csv, line 3, column user = an empty cell"),
        ("u2,1", "u1,1", "values.csv, line 3, column user = the identity of line 2"),
        ("u1,0\nu2,1", '"u\n1",0\nu2,7', "values.csv, line 4, column answer = 7"),
        ("u1,0\nu2,1", "u  1,0\nu 1,1", "values.csv, line 3, column user = 'u 1': "
         "expected an identity that differs from 'u  1' of line 2"),
        ("user,answer", "answer,answer", "--column = answer"),
        ("user,answer", "who,answer", "--id = user"),
    )),
    "messages": (ESTIMATE, "messages.csv", f"# {HEAD}\nmessage\n0\n1\n", (
        ('"order"', '"strange"', "messages.csv, line 1: strange = sorted"),
        ('"order"', '"plan"', "MESSAGES = messages.csv: expected each key once"),
        ('"sorted"', "3", "messages.csv, line 1: order = 3"),
        ("DIGEST", "0", "MESSAGES = messages.csv: expected messages of this plan"),
        ("message\n", "messages\n", "MESSAGES = messages.csv: expected a second line"),
        ("\n1\n", "\n7\n", "messages.csv, line 4 = 7"),
        ("\n1\n", "\n1,1\n", "messages.csv, line 4 = 1,1"),
    )),
    "labels": (words("collect plan --n 9 --eps 1 --delta 1/10 --mechanism krr --labels l.txt --out new.json"), "l.txt",
               "yes\nno\n", (
        ("no", "yes", "l.txt, line 2 = yes: expected a label that no other category has"),
        ("no", "", "l.txt, line 2 = ''"),
        ("no", "no ", "l.txt, line 2 = 'no '"),
    )),
    "samples": (SAMPLES, "a.csv", "0\n1\n" * 8, (
        ("0\n1\n" * 8, "0\n" * 3 + '"0\n', "a.csv, line 4 = \"0: expected a row of a CSV file"),
        ("0\n1\n" * 8, "x\n" + "0\n1\n" * 8, "a.csv, line 1 = x: expected a message of another row"),
        ("0\n1\n" * 8, "0\n", "FILE1 = 1 rows"),
    )),
    "vectors": (MEAN, "x.csv", "a\n" + "0.5\n" * 400, (
        ("a\n0.5\n", "a\n0.5,0.5\n", "x.csv, line 3 = 1 numbers: expected 2"),
        ("a\n0.5\n", "a\n0.5\nx\n", "x.csv, line 3, column 1 = 'x'"),
    )),
}  # fmt: skip
"""A command, its file, a text that it reads; parts of the text, what replaces them, and what the refusal says."""


@pytest.mark.parametrize("name", TABLES)
def test_every_wrong_row_is_refused_by_file_line_and_column(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    plan = plan_survey(3, n=2, eps=1, delta="1/2", mechanism="krr")
    Path("plan.json").write_text(plan.to_json())
    Path("b.csv").write_text("0\n1\n" * 8)
    asked, file, good, wrong = TABLES[name]
    good = good.replace("DIGEST", plan.digest)
    Path(file).write_text(good)
    before = {*tmp_path.iterdir()}
    assert main(list(asked)) == 0, capsys.readouterr().err
    for path in {*tmp_path.iterdir()} - before:
        path.unlink()
    for part, other, said in wrong:
        left, found, right = good.rpartition(part.replace("DIGEST", plan.digest))
        assert found
        Path(file).write_text(left + other + right)
        line = refused(capsys, *asked)
        assert line.startswith(f"symshuffle: {said}"), line
        assert {*tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    "asked",
    [
        words("check plan.json"),
        SURVEY,
        ESTIMATE,
        words("collect estimate plan.json --simulate --seed 1 --out h.csv"),
        (*words("audit local --plan plan.json --runs 60"), *CLIENT[:2]),
    ],
)
def test_every_command_that_reads_a_plan_names_first_its_digest_and_then_the_key(asked, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    content = plan_survey(3, n=9, eps=1, delta="1/10", mechanism="krr").to_dict()
    for key, value in (
        ("group[0].count", 0), ("estimator.k", "3"), ("estimator.p", "1/2"), ("strange", 1), ("periods", 0),
        ("certificate.x", 1), ("target.eps", 1), ("group[0].strange", 1), ("estimator.labels", ["a"]),
    ):  # fmt: skip
        edited = json.loads(json.dumps(content))
        *place, last = key.replace("group[0]", "group.0").split(".")
        holder = edited
        for one in place:
            holder = holder[int(one)] if one == "0" else holder[one]
        holder[last] = value
        Path("plan.json").write_text(json.dumps(edited))
        finding = ("NOT CONSISTENT: plan.json", 1) if asked[0] == "check" else ("symshuffle: plan.json", 2)
        begun = f"{finding[0]}, line 1"
        assert said_of(capsys, asked, finding[1]).startswith(f"{begun}: certificate.digest = ")
        Path("plan.json").write_text(with_digest(edited))
        line = said_of(capsys, asked, finding[1])
        told = line.removeprefix(begun)
        assert key in told or key.split(".")[-1] in told, line
        assert line.startswith(begun) and "digest" not in line, line


def said_of(capsys, asked, status):
    """The line of a refusal, or of a finding of `check` about a file."""
    found, out, err = run(capsys, *asked)
    assert found == status and (out + err).count("\n") == 1 and not (out and err)
    return out + err


READERS = {
    "base/documents.py": "read_text, parse_json, parse_toml: what all others use",
    "base/sweeps.py": "table of an interrupted sweep: tests/test_sweeps.py",
    "channels/channel_file.py": "matrix",
    "cli/check.py": "first character, for the kind of a file",
    "collect/audit/runs.py": "samples",
    "collect/files.py": "values, messages",
    "ledger/recheck/checker.py": "the same by bound.py",
    "ledger/recheck/bound.py": "proof, statement, and certificates (tests/test_cli_check.py)",
    "vectors/means/rows.py": "vectors",
    # files of the package itself, or that its own process wrote
    "cli/ledger.py": "pages that were staged",
    "cli/sweep.py": "what a command of the sweep printed",
    "decompositions/closed_forms.py": "data of the package",
    "ledger/claims/edits.py": "sources of the package",
    "ledger/claims/registry.py": "data of the package",
    "ledger/report/site.py": "the ledger of the package",
}
READS = {"loads", "load", "read_text", "read_bytes", "reader", "DictReader", "loadtxt", "genfromtxt", "ParquetFile"}
OPENED = {"open_text", "open_bytes"}
"""Functions of base/documents.py whose callers read the content themselves."""


def test_every_reader_of_the_library_is_in_a_table():
    """Calls by which a file is read; those of `read_text` and `parse_json` of base/documents.py are safe."""
    found = set()
    for path in LIBRARY.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = node.func if isinstance(node, ast.Call) else None
            reads = isinstance(called, ast.Attribute) and called.attr in READS
            if reads or (isinstance(called, ast.Name) and called.id in OPENED):
                found.add(str(path.relative_to(LIBRARY)))
    assert found == set(READERS), found ^ set(READERS)
