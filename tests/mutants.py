"""Break the library on purpose, one operator at a time, and list what no test and no claim noticed.

    python -m tests.mutants [--count 250] [--seed 2026] [--out out/mutants.jsonl] [--seconds 40]
                            [--jobs 2] [--no-ledger | --again]
    python -m tests.mutants --noticed
    python -m tests.mutants --report [--kept]

Mutants are drawn by seed from all places where a value can change (:mod:`tests.edits`), outside of functions that only
guide (:mod:`tests.guides`). Each is run against the tests
that touch its line, the quick ones first, to the first failure, and what survives them against the claims of the ledger
that touch it. Which those are is measured once (:mod:`tests.touched`) and kept beside the results; both files are
appended to, so that an interrupted run goes on where it stopped. ``--again`` runs the survivors on file once more,
``--near`` measures only the files of tests that import what is broken: a quick look that notices less.

``--noticed`` takes those of the draw on file that a test noticed, each against that test alone: whether they still are.

250 are drawn, so that 200 change a value. A survivor that changes none, or breaks no promise, is recorded with the
reason in ``tests/equivalent_mutants.toml``; the two are counted apart. The exit status is 1 if another one survived.
A draw depends on the lines of the library: the one of 2026-11-23 is on file with its results, and ``--kept`` goes on
from them, with those of its mutants whose lines are still there. What is on file under ``first`` is what became of a
mutant before any test was written for it; only that says how good the tests are at what they have not seen.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import os
import sys
import time
import tomllib
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.edits import ROOT, Mutant, drawn, kept
from tests.touched import (
    about,
    append,
    claims_of,
    copied,
    files_of_tests,
    finding,
    forked,
    read,
    sections,
    shared,
    touched,
)

EXCUSED: Final = ROOT / "tests" / "equivalent_mutants.toml"
DRAWN: Final = ROOT / "tests" / "drawn_mutants.jsonl"
"""The 250 of seed 2026 on 2026-11-23: what became of them, and at first where they had been drawn before."""

HELD_OUT: Final = ROOT / "tests" / "held_out_mutants.jsonl"
"""129 of seed 2027, tried once those tests were written; what survived then has a test or a reason since."""

MOST_TESTS: Final = 300
MARGIN = 60.0
"""Seconds for a process to begin, beside four times what its tests take unbroken."""

WARM: Final = ("numpy", "scipy.stats", "scipy.fft", "scipy.optimize", "sympy", "mpmath", "flint", "hypothesis",
               "pytest", "cvxpy", "highspy", "pydantic", "typer", "rich")  # fmt: skip
"""Imported once, before the process forks for each mutant; nothing of the project is."""

CAUGHT: Final = ("killed", "by the ledger", "time")


def chosen(mutant: Mutant, entries: list[dict[str, Any]], seconds: float) -> list[tuple[str, str, Any]]:
    """File, name and finding of what touches the line; then of what touches its file, as time allows.

    In turns the quickest and the one that touches the fewest lines: many tests pass by a line, those that are about it
    touch little else. A line that runs at import, or once for all tests, is touched by tests that do not show it.
    """
    at_line: dict[tuple[str, str], tuple[float, int, Any]] = {}
    in_file: dict[tuple[str, str], tuple[float, int, Any]] = {}
    for entry in entries:
        for line, tests in entry["lines"].get(mutant.file, {}).items():
            found = {(entry["file"], entry["tests"][i]): tuple(entry[k][i] for k in _RANKED) for i in tests}
            in_file |= found
            if int(line) == mutant.line:
                at_line |= found
    for key in at_line:
        del in_file[key]
    picked, total = dict[tuple[str, str], Any](), 0.0
    for some in (at_line, in_file):
        ranked = [sorted(some, key=lambda key, k=k, some=some: some[key][k]) for k in (0, 1)]
        for key in itertools.chain(*zip(*ranked, strict=True)):
            took, _, known = some[key]
            if key not in picked and (not picked or total + took <= seconds) and len(picked) < MOST_TESTS:
                total += took
                picked[key] = known
    return [(*key, known) for key, known in picked.items()]


_RANKED: Final = ("took", "breadth", "found")
_BY: Final = "noticed_by.txt"
"""What noticed a mutant first, written in the copy that holds it."""


def outcome(root: Path, mutant: Mutant, entries: list[dict[str, Any]], seconds: float) -> dict[str, Any]:
    """``killed``, ``by the ledger``, ``time`` (no end), ``survived``, ``untouched``; what noticed it, how many ran."""
    tests = chosen(mutant, [e for e in entries if e["file"].startswith("tests")], seconds)
    claims = chosen(mutant, [e for e in entries if not e["file"].startswith("tests")], seconds)
    path, by = root / mutant.file, root / _BY
    sound = path.read_text(encoding="utf-8")
    by.unlink(missing_ok=True)

    def of_tests() -> int:
        import pytest

        names = [name for _, name, _ in tests]
        return int(pytest.main([*names, "-x", "-q", "-p", "no:cacheprovider"], plugins=[_First(root / _BY)]))

    def of_claims() -> int:
        for file, name, found in claims:
            (claim,) = (claim for claim in claims_of(file) if claim.id == name)
            if finding(claim) != found:
                (root / _BY).write_text(name, encoding="utf-8")
                return 1
        return 0

    result, limit = "survived" if tests or claims else "untouched", 4 * seconds + MARGIN
    for some, work, word in ((tests, of_tests, "killed"), (claims, of_claims, "by the ledger")):
        if some and result == "survived":
            try:
                path.write_text(mutant.applied(sound), encoding="utf-8")
                status = forked(root, work, limit)
            finally:
                path.write_text(sound, encoding="utf-8")
            result = "time" if status is None else "survived" if status == 0 else word
            if status not in {0, 1, None} and forked(root, work, limit) != 0:  # no test failed: did they run at all?
                raise SystemExit(f"{mutant.key}: {[name for _, name, _ in some]} end with {status}, unbroken too")
    first = by.read_text(encoding="utf-8") if by.exists() else ""
    return {"outcome": result, "by": first, "tests": len(tests), "claims": len(claims)}


class _First:
    """A plugin of pytest: keeps the name of the first test that fails."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.path.write_text(report.nodeid, encoding="utf-8")

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.path.write_text(report.nodeid, encoding="utf-8")


def tried(root: Path, mutant: Mutant, entries: list[dict[str, Any]], seconds: float) -> dict[str, Any]:
    """The result of one mutant, as it is kept."""
    start = time.monotonic()
    found = outcome(root, mutant, entries, seconds)
    text = (root / mutant.file).read_text(encoding="utf-8")
    place = {"key": mutant.key, "file": mutant.file, "line": mutant.line, "kind": mutant.kind}
    return {**place, **found, "took": round(time.monotonic() - start, 2), "diff": mutant.diff(text)}


def still_noticed(root: Path, row: dict[str, Any], mutant: Mutant) -> dict[str, Any]:
    """A row on file, with what becomes of its mutant against the one test that noticed it; ``gone`` if that is not."""
    entry = {"file": row["by"].partition("::")[0], "tests": [row["by"]], "took": [0.0], "found": [None], "breadth": [0]}
    try:
        found = outcome(root, mutant, [{**entry, "lines": {mutant.file: {mutant.line: [0]}}}], 40)["outcome"]
    except SystemExit:
        found = "gone"
    return {**row, "outcome": found}


def identity(result: dict[str, Any]) -> tuple[str, str]:
    """A mutant by its file and what it changes, wherever the line has gone to."""
    return result["file"], result["diff"]


@dataclass(frozen=True)
class Excuse:
    """Why a survivor needs no test: it computes the ``same`` value, or is ``free`` to compute another one."""

    kind: str
    reason: str


def excused(path: Path = EXCUSED) -> dict[tuple[str, str], Excuse]:
    """The survivors on file, by their file and what they change."""
    listed = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", []) if path.exists() else []
    return {(one["file"], one["diff"].strip("\n")): Excuse(one["kind"], one["reason"]) for one in listed}


def report(results: list[dict[str, Any]], excuses: dict[tuple[str, str], Excuse]) -> tuple[str, int]:
    """How many were noticed, the survivors with what they change; how many of those have no excuse.

    Two shares are told: of all, and of those that change a value. Survivors that only break no promise count as such.
    """
    lines, kinds = list[str](), Counter[str]()
    for result in results:
        if result["outcome"] not in CAUGHT:
            excuse = excuses.get(identity(result), Excuse("", ""))
            kinds[excuse.kind] += 1
            word = f"{excuse.kind} ({excuse.reason})" if excuse.kind else result["outcome"]
            lines.append(f"{word}: {result['file']}\n{result['diff']}")
    counted = Counter(result["outcome"] for result in results)
    words = ", ".join(f"{number} {word}" for word, number in counted.items())
    caught, first = len(results) - kinds.total(), Counter(result.get("first") for result in results)
    changing = max(len(results) - kinds["same"], 1)
    lines.append(
        f"{len(results)} mutants ({words}): {caught / max(len(results), 1):.1%} noticed, {caught / changing:.1%} of "
        f"the {changing} that change a value; of the others {kinds['same']} compute the same, {kinds['free']} break no "
        f"promise, {kinds['']} are open"
    )
    if not first[None]:
        noticed = sum(first[word] for word in CAUGHT)
        lines.append(f"before any test was written for them {noticed} were noticed, {first['time']} of these by time")
    return "\n".join(lines), kinds[""]


def main(arguments: list[str] | None = None) -> int:
    """Run the mutants that have no result yet, and print the report."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("--count", type=int, default=250)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "mutants.jsonl")
    parser.add_argument("--seconds", type=float, default=40, help="for the tests of one mutant, and for its claims")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at once, each in a copy of its own")
    parser.add_argument("--no-ledger", action="store_true", help="tests only; later, with --again, the survivors")
    parser.add_argument("--again", action="store_true", help="run the survivors on file again")
    parser.add_argument("--kept", action="store_true", help="those of the draw on file, in place of a new draw")
    parser.add_argument("--near", action="store_true", help="only the files of tests that import what is broken")
    parser.add_argument("--noticed", action="store_true", help="those noticed, each against the test that noticed it")
    parser.add_argument("--report", action="store_true", help="print all results on file, run nothing")
    options = parser.parse_args(arguments)
    earlier = list(read(DRAWN)) if options.kept else []
    done = {identity(result): result for result in (*earlier, *read(options.out))}

    def asked(root: Path) -> list[tuple[tuple[str, str], Mutant]]:
        found = kept(earlier, root) if options.kept else drawn(options.count, options.seed, root)
        return [((one.file, one.diff((root / one.file).read_text(encoding="utf-8"))), one) for one in found]

    if not options.report:
        for name in WARM:
            importlib.import_module(name)
    if options.noticed:
        return _noticed(options.out.with_suffix(".noticed.jsonl"), options.jobs)
    if not options.report:
        known = {key for key, one in done.items() if not options.again or one["outcome"] in CAUGHT}
        known |= set(excused()) & set(done)
        with ExitStack() as stack:  # drawn, traced and broken is what is copied now, whatever happens to the project
            roots = [stack.enter_context(copied()) for _ in range(options.jobs)]
            map_of_tests = options.out.with_suffix(".touched.jsonl")
            missing = [mutant for key, mutant in asked(roots[0]) if key not in known]
            files = files_of_tests()
            if options.near:
                files = sorted({test for source in {one.file for one in missing} for test in about(files, source)})
            files += [] if options.no_ledger else sections()
            entries = list(touched(map_of_tests, roots, 3 * options.seconds, files))
            for result in shared(roots, lambda root, one: tried(root, one, entries, options.seconds), missing):
                done[identity(result)] = result
                append(options.out, result)
    results = [done[key] for key, _ in asked(ROOT) if key in done]
    text, left = report(results, excused())
    print(text)  # noqa: T201
    return int(left > 0)


def _noticed(path: Path, jobs: int) -> int:
    """Whether each mutant of the draw on file that a test noticed is noticed by that test still."""
    by = {identity(row): row for row in read(DRAWN) if row["outcome"] == "killed" and row["by"]}
    done = {identity(row): row for row in read(path)}
    with ExitStack() as stack:
        roots = [stack.enter_context(copied()) for _ in range(jobs)]
        texts = {one: (roots[0] / one.file).read_text(encoding="utf-8") for one in kept(by.values(), roots[0])}
        pairs = [(by[one.file, one.diff(text)], one) for one, text in texts.items()]
        left = [pair for pair in pairs if identity(pair[0]) not in done]
        for row in shared(roots, lambda root, pair: still_noticed(root, *pair), left):
            done[identity(row)] = row
            append(path, row)
    found = [done[identity(row)] for row, _ in pairs]
    lost = [row for row in found if row["outcome"] not in CAUGHT]
    for row in lost:
        print(f"{row['outcome']}, once noticed by {row['by']}: {row['file']}\n{row['diff']}")  # noqa: T201
    print(f"{len(found) - len(lost)} of {len(found)} are noticed by the tests that noticed them")  # noqa: T201
    return int(bool(lost))


if __name__ == "__main__":
    sys.exit(main())
