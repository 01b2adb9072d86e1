"""Certificates of claims: written, checked again by little code, and refused once anything in them is changed."""

import copy
import json
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_ledger.first import claim
from typer.testing import CliRunner

from symshuffle import Ball, CertificateError, Exp, InputError
from symshuffle.base.lp import LinearProgram
from symshuffle.channels.geometry.linprog import solve
from symshuffle.cli import app
from symshuffle.ledger import Claim, load, run_claim, verify_claims
from symshuffle.ledger.claims.certify import encode
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import Control, Correction, Statement
from symshuffle.ledger.recheck.checker import digest, read, recheck
from symshuffle.ledger.recheck.values import decide as decide_again
from symshuffle.ledger.recheck.values import file_reads, part_reads
from tests.slices import some

ROOT = Path(__file__).parents[2]
F = Fraction


def every_kind(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """A comparison of every kind of value, and a linear program with every kind of row."""
    for n in (1, 2):
        yield compare(F(n, 3), statement(n, Exp(F(1, 2))), "<=", at=f"n={n}")
    third = Ball(F(1, 4), F(1, 2))
    yield compare(third, F(2), "<", at="a ball below")
    yield compare(F(7, 2), third, ">", at="a ball above")
    yield compare(third, F(1, 4), ">=", at="a ball and its end")
    yield compare(Ball(F(1, 4), F(1, 4)), F(1, 4), at="a point")
    yield compare((F(1, 2), {"a": None, "b": True}), (F(1, 2), {"b": True, "a": None}), at="what is made of them")
    yield compare({F(1), F(3, 2)}, {F(3, 2), F(1)}, at="a set")
    yield decide(True, at="a question", claimed="yes", symbolic=True)
    rows = [([1, 1, 1], "==", F(3)), ([1, 0, -1], ">=", F(1, 2)), ([0, 1, 1], "<=", F(5, 2))]
    program = LinearProgram.from_rows([F(-2), F(-3), F(-29, 7)], rows, free=[2])  # type: ignore[arg-type]
    solution = solve(program)
    yield compare(-solution.value.upper, F(10**6), "<=", at="an optimum", solution=solution)


def kinds(**changes: Any) -> Claim:
    facts = {"check": every_kind, "printed": lambda n, x: F(n, 2), "controls": (Control("less", lambda n, x: F(n, 4)),)}
    return claim("kinds", **(facts | changes))


def wrong() -> Claim:
    """Refuted as printed, with a correction."""
    correction = Correction("half of n", lambda n, x: F(n, 2), "exact-cases")
    return kinds(printed=lambda n, x: F(n, 4), expected="refuted", corrected=correction)


def content(found: Claim) -> dict[str, Any]:
    made = run_claim(found, certified=True).certificate
    assert made is not None
    return json.loads(json.dumps(made))


@pytest.fixture(scope="module")
def certificates() -> list[dict[str, Any]]:
    """What is tampered with: every kind of value by hand, and three claims of the ledger."""
    ours = ["alphabets.lem-4.1", "decomposition.eq-1", "anchored.table-1"]
    return [content(kinds()), content(wrong()), *(content(load().claim(name)) for name in ours)]


def refusal(file: Any) -> str | None:
    """The place at which a certificate is refused; None if it is accepted."""
    try:
        recheck(file)
    except CertificateError as error:
        return error.place
    return None


def test_certificates_are_accepted(certificates: list[dict[str, Any]]) -> None:
    assert [refusal(file) for file in certificates] == [None] * len(certificates)
    checked = recheck(certificates[1])
    assert [checked[name] for name in ("claim", "verdict", "grade", "comparisons", "programs")] == [
        "symshuffle.kinds",
        "refuted",
        "refuted",
        18,
        2,
    ]
    assert certificates[1]["parts"][0]["beside"] == {"symbolic true": 1}


def test_certificates_of_definitions_are_accepted() -> None:
    assert recheck(content(load().claim("decomposition.def-1")))["verdict"] == "definition"


def test_a_verdict_needs_a_comparison(certificates: list[dict[str, Any]]) -> None:
    for beside, place in (({}, "parts[0].comparisons"), ({"symbolic true": 1}, "parts")):
        file = copy.deepcopy(certificates[0])
        part = file["parts"][0]
        part["comparisons"], part["beside"] = [], beside
        part["reads"] = part_reads(part)
        file["reads"] = file_reads(file)
        file["digest"] = digest(file)
        assert refusal(file) == place


def test_inputs_are_those_of_the_statement(certificates: list[dict[str, Any]]) -> None:
    first, second, third = certificates[0]["parts"][0]["comparisons"][:3]
    assert first["inputs"] == [{"n": "1", "x": {"exp": "1/2"}}]
    assert second["inputs"] == third["inputs"] == [{"n": "2", "x": {"exp": "1/2"}}]


def test_certificates_do_not_depend_on_time_or_processes() -> None:
    ledger = load("fake_ledger")
    here, there = (
        [
            outcome.certificate and outcome.certificate["digest"]
            for outcome in verify_claims(ledger, jobs=jobs, certified=True)
        ]
        for jobs in (1, 2)
    )
    assert here == there and sum(found is not None for found in here) == 3


def test_no_certificate_of_a_run_with_faults_or_unasked() -> None:
    assert run_claim(kinds(controls=()), certified=True).certificate is None
    assert run_claim(kinds()).certificate is None


def test_what_cannot_be_written_exactly_is_counted_beside() -> None:
    def loose(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
        yield compare(F(1), statement(1, 1), "<", at="exact")
        yield compare(0.5, 0.5, at="doubles", slack=1e-9)
        yield compare((0.5,), (0.5,), at="doubles in a tuple")
        yield compare(1, np.int64(1), at="an integer of NumPy")

    part = content(kinds(check=loose, printed=lambda n, x: F(2), controls=(Control("less", lambda n, x: F(0)),),
                         grade="sampled"))["parts"][0]  # fmt: skip
    assert part["beside"] == {"exact true": 1, "float true": 1}
    assert len(part["comparisons"]) == 2
    for value in ({"x": [0.5]}, F(1, 10**5000), object()):
        with pytest.raises(ValueError):
            encode(value)


def test_a_solution_belongs_to_its_value() -> None:
    solution = solve(LinearProgram.from_rows([1], [([1], ">=", 1)]))
    with pytest.raises(InputError, match="solution"):
        compare(F(2), F(3), "<=", at="", solution=solution)


VALUES: list[tuple[Any, str, Any, str]] = [
    ("1/2", "<", "2/3", "true"),
    ("1/2", "<", "1/2", "false"),
    ("1/2", "<=", "1/2", "true"),
    ("2/3", "<=", "1/2", "false"),
    ("2/3", ">", "1/2", "true"),
    ("1/2", ">", "1/2", "false"),
    ("1/2", ">=", "1/2", "true"),
    ("1/2", ">=", "2/3", "false"),
    ({"ball": ["0", "1"]}, "<", "1", "undecided"),
    ({"ball": ["0", "1"]}, "<=", "1", "true"),
    ({"ball": ["0", "1"]}, ">", "-1", "true"),
    ({"ball": ["0", "1"]}, ">=", "0", "true"),
    ({"ball": ["0", "1"]}, ">=", "1/2", "undecided"),
    ({"ball": ["0", "1"]}, "==", {"ball": ["0", "1"]}, "undecided"),
    ({"ball": ["0", "1"]}, "==", "2", "false"),
    (True, "==", True, "true"),
    (["1", None], "==", ["1", False], "false"),
]


@pytest.mark.parametrize(("computed", "relation", "claimed", "verdict"), VALUES)
def test_relations(computed: Any, relation: str, claimed: Any, verdict: str) -> None:
    assert decide_again(computed, relation, claimed) == verdict


# Tampering

Path_ = tuple[str | int, ...]


def leaves(file: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Every place that holds a text, a number, a truth or nothing."""
    if isinstance(file, dict):
        for name, entry in file.items():
            yield from leaves(entry, (*path, name))
    elif isinstance(file, list):
        for i, entry in enumerate(file):
            yield from leaves(entry, (*path, i))
    else:
        yield path


def containers(file: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Every place that holds an object or a list with something in it."""
    if isinstance(file, dict | list) and file:
        yield path
        for name, entry in file.items() if isinstance(file, dict) else enumerate(file):
            yield from containers(entry, (*path, name))


def at(file: Any, path: Path_) -> Any:
    for step in path:
        file = file[step]
    return file


RATIONAL = re.compile(r"-?\d+(/\d+)?")
WORDS = ("<", "<=", ">", ">=", "==", "true", "false", "holds", "refuted", "undecided", "certified", "proved", "")


def changed(value: Any, rng: random.Random) -> Any:
    """Something else of the same kind, or of another."""
    kind = rng.random()
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice((-2, -1, 1, 2, 100))
    if isinstance(value, str) and RATIONAL.fullmatch(value) and kind < 0.9:
        number = F(value)
        step = rng.choice(
            (F(1), F(-1), F(1, 10**9), -F(1, 10**9), number or F(1), -number / 100 or F(1), -2 * number or F(2))
        )
        return str(number + step)
    if isinstance(value, str) and kind < 0.6:
        return rng.choice([word for word in WORDS if word != value])
    if isinstance(value, str) and value and kind < 0.9:
        place = rng.randrange(len(value))
        return value[:place] + chr((ord(value[place]) + 1) % 0x250 or 65) + value[place + 1 :]
    return rng.choice([other for other in (None, 0, [], {}, "x", {"ball": ["0", "0"]}) if other != value])


def tampered(file: dict[str, Any], rng: random.Random) -> tuple[dict[str, Any], Path_]:
    """A copy with one change anywhere and a digest that fits it, and where the change is."""
    copied = json.loads(json.dumps(file))
    if rng.random() < 0.8:
        path = rng.choice([path for path in leaves(file) if path != ("digest",)])
        at(copied, path[:-1])[path[-1]] = changed(at(file, path), rng)
    else:
        path = rng.choice(list(containers(file)))
        holder = at(copied, path)
        match rng.randrange(3):
            case 0 if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[rng.randrange(len(holder))]))
            case 1 if isinstance(holder, dict):
                holder["added"] = "1"
            case _:
                del holder[rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))]
    if "digest" in copied:
        copied["digest"] = digest(copied)
    return copied, path


def pattern(path: Path_) -> str:
    """A place with its indices left out."""
    return ".".join("*" if isinstance(step, int) else step for step in path)


def small(file: dict[str, Any], most: int = 6) -> dict[str, Any]:
    """The same certificate with fewer comparisons, consistent: each tampering then takes a millisecond."""
    from symshuffle.ledger.recheck.values import part_reads

    copied = json.loads(json.dumps(file))
    for part in copied["parts"]:
        kept = [one for one in part["comparisons"] if one["program"] or one["verdict"] == "false"][:4]
        part["comparisons"] = kept + [one for one in part["comparisons"] if one not in kept][: most - len(kept)]
        part["reads"] = part_reads(part)
    copied["digest"] = digest(copied)
    assert refusal(copied) is None
    return copied


@pytest.mark.parametrize("seed", some(range(10), 3))
def test_none_of_ten_thousand_tamperings_is_accepted(certificates: list[dict[str, Any]], seed: int) -> None:
    """A thousand for each seed. What changes nothing (an entry put back) is not counted as a tampering."""
    rng, files = random.Random(seed), [small(file) for file in certificates]
    done = 0
    while done < 1000:
        file = rng.choice(files)
        copied, path = tampered(file, rng)
        if copied == file:
            continue
        done += 1
        place = refusal(copied)
        assert place is not None, (path, at(file, path), copied)
        shown = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
        changed_part = UNIT.match(shown)
        assert changed_part is not None and place.startswith(changed_part[0]), (place, shown)


UNIT = re.compile(r"(parts\[\d+\](\.comparisons\[\d+\])?)?")
"""The comparison in which a place is; or else the part; or else the file."""


def test_every_field_of_a_certificate_is_bound(certificates: list[dict[str, Any]]) -> None:
    """One by one: no leaf can be changed, none left out, none added to."""
    rng, hit = random.Random(0), Counter[str]()
    for file in map(small, certificates):
        for path in leaves(file):
            if path == ("digest",):
                continue
            for _ in range(2):
                copied = json.loads(json.dumps(file))
                at(copied, path[:-1])[path[-1]] = changed(at(file, path), rng)
                copied["digest"] = digest(copied)
                assert copied == file or refusal(copied) is not None, path
                hit[pattern(path)] += 1
    numeric = {
        *(f"parts.*.comparisons.*.{side}" for side in ("computed", "claimed", "computed.ball.*", "claimed.ball.*")),
        *(f"parts.*.comparisons.*.program.{name}.*" for name in ("costs", "rhs", "dual", "free")),
        *(f"parts.*.comparisons.*.program.{name}" for name in ("optimum", "sign", "primal.*.*", "columns.*.*.*")),
        "parts.*.comparisons.*.inputs.*.n",
        "parts.*.beside.symbolic true",
    }
    assert numeric <= set(hit)


def test_a_lie_that_was_told_again_in_its_sentence_is_found_by_arithmetic(certificates: list[dict[str, Any]]) -> None:
    """With every sentence composed anew, what is false is still refused, at the number itself."""
    from symshuffle.ledger.recheck.values import comparison_reads, program_reads

    def lie(change: Callable[[dict[str, Any]], None]) -> str | None:
        file = small(certificates[0])
        one = next(one for one in file["parts"][0]["comparisons"] if one["program"])
        change(one)
        one["program"]["reads"] = program_reads(one["program"])
        one["reads"] = comparison_reads(one)
        file["digest"] = digest(file)
        return refusal(file)

    assert lie(lambda one: None) is None
    start = r"parts\[0\]\.comparisons\[\d+\]\."
    lies: list[tuple[Callable[[dict[str, Any]], None], str]] = [
        (lambda one: one.update(relation=">="), "verdict"),
        (lambda one: one.update(computed="99"), r"program\.optimum"),
        (lambda one: one["program"].update(optimum="99"), r"program\.optimum"),
        (lambda one: one["program"].update(sign=1), r"program\.optimum"),
        (lambda one: one["program"]["dual"].__setitem__(1, "-5"), r"program\.(dual|reduced_costs)\[\d\]"),
        (lambda one: one["program"]["rhs"].__setitem__(0, "4"), r"program\.rows\[0\]"),
        (lambda one: one["program"]["primal"].pop(), r"program\.rows\[\d\]"),
        (lambda one: one["program"]["costs"].__setitem__(0, "-9"), r"program\.reduced_costs\[0\]"),
        (lambda one: one["program"].update(free=[7]), r"program\.free"),
    ]
    for change, place in lies:
        found = lie(change)
        assert found is not None and re.fullmatch(start + place, found), (found, place)


def test_files(tmp_path: Path) -> None:
    runner = CliRunner()
    done = runner.invoke(
        app, ["verify", "decomposition.ex-4.1", "alphabets.lem-4.1", "--certificates", str(tmp_path / "c")]
    )
    assert done.exit_code == 0, done.output
    good = tmp_path / "c" / "alphabets.lem-4.1.json"
    done = runner.invoke(app, ["check", *map(str, (tmp_path / "c").iterdir())])
    assert done.exit_code == 0
    assert "alphabets.lem-4.1: holds, proved" in done.stdout
    assert "linear programs" in done.stdout
    text = good.read_text(encoding="utf-8")
    bad = tmp_path / "bad.json"
    bad.write_text(text.replace('"claim": "alphabets.lem-4.1"', '"claim": "alphabets.lem-4.2"'))
    done = runner.invoke(app, ["check", str(bad), str(good)])
    assert done.exit_code == 1
    assert f"REJECTED: {bad}: the certificate fails at reads" in done.stdout
    assert done.stdout.endswith("2 files: 1 as they say, 1 not\n")
    listed = json.loads(runner.invoke(app, ["check", str(bad), str(good), "--json"]).stdout)
    assert [entry["accepted"] for entry in listed] == [False, True] and listed[0]["place"] == "reads"
    bad.write_text('{"claim": 1, "claim": 2}')
    with pytest.raises(InputError, match="names a key twice"):
        read(bad)
    with pytest.raises(InputError, match="can be read"):
        read(tmp_path / "nosuch.json")


def test_the_checker_loads_neither_solvers_nor_computer_algebra_nor_the_ledger(tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps(content(kinds())), encoding="utf-8")
    heavy = ("sympy", "highspy", "cvxpy", "scipy", "numpy", "mpmath", "proofs_checks", "symshuffle.ledger.claims")
    code = f"""
import sys
from symshuffle.cli import main
assert main(["check", {str(file)!r}]) == 0
print([name for name in {heavy} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stdout + done.stderr


def test_little_code() -> None:
    """What is trusted of claims: two modules, beside the one for bounds."""
    folder = ROOT / "symshuffle" / "ledger" / "recheck"
    lines = [line for name in ("checker", "values") for line in (folder / f"{name}.py").read_text("utf-8").splitlines()]
    assert 0 < sum(bool(line.strip()) for line in lines) < 450
