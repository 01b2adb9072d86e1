"""Break the library on purpose, one operator at a time, and list what no test and no claim noticed.

    python -m tests.mutants [--count 250] [--seed 2026] [--out out/mutants.jsonl] [--seconds 40] [--no-ledger | --again]
    python -m tests.mutants --report

Mutants are drawn by seed from all places where a value can change (:mod:`tests.edits`). Each is run against the tests
that touch its line, the quick ones first, to the first failure, and what survives them against the claims of the ledger
that touch it. Which those are is measured once (:mod:`tests.touched`) and kept beside the results; both files are
appended to, so that an interrupted run goes on where it stopped. ``--again`` runs the survivors on file once more.

About a fifth changes no value: 250 are drawn, so that 200 do. A survivor that changes no value is recorded, with
the reason, in ``tests/equivalent_mutants.toml``. The exit status is 1 if another one survived.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import sys
import time
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any, Final

from tests.edits import ROOT, Mutant, drawn
from tests.touched import append, claims_of, copied, finding, forked, read, touched

EQUIVALENT: Final = ROOT / "tests" / "equivalent_mutants.toml"
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


def outcome(root: Path, mutant: Mutant, entries: list[dict[str, Any]], seconds: float) -> dict[str, Any]:
    """``killed``, ``by the ledger``, ``time`` (no end), ``survived``, ``untouched``; how many tests and claims ran."""
    tests = chosen(mutant, [e for e in entries if e["file"].startswith("tests")], seconds)
    claims = chosen(mutant, [e for e in entries if not e["file"].startswith("tests")], seconds)
    path = root / mutant.file
    sound = path.read_text(encoding="utf-8")

    def of_tests() -> int:
        import pytest

        return int(pytest.main([*(name for _, name, _ in tests), "-x", "-q", "-p", "no:cacheprovider"]))

    def of_claims() -> int:
        for file, name, found in claims:
            (claim,) = (claim for claim in claims_of(file) if claim.id == name)
            if finding(claim) != found:
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
    return {"outcome": result, "tests": len(tests), "claims": len(claims)}


def tried(root: Path, mutant: Mutant, entries: list[dict[str, Any]], seconds: float) -> dict[str, Any]:
    """The result of one mutant, as it is kept."""
    start = time.monotonic()
    found = outcome(root, mutant, entries, seconds)
    text = (root / mutant.file).read_text(encoding="utf-8")
    place = {"key": mutant.key, "file": mutant.file, "line": mutant.line, "kind": mutant.kind}
    return {**place, **found, "took": round(time.monotonic() - start, 2), "diff": mutant.diff(text)}


def equivalent(path: Path = EQUIVALENT) -> dict[tuple[str, str], str]:
    """Why a survivor changes no value that is promised, by its file and what it changes."""
    listed = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", []) if path.exists() else []
    return {(entry["file"], entry["diff"].strip("\n")): entry["reason"] for entry in listed}


def report(results: list[dict[str, Any]], excused: dict[tuple[str, str], str]) -> tuple[str, int]:
    """How many were noticed, the survivors with what they change; how many of those are not shown equivalent."""
    lines, same, left = list[str](), 0, 0
    for result in results:
        if result["outcome"] not in CAUGHT:
            reason = excused.get((result["file"], result["diff"]))
            same, left = same + (reason is not None), left + (reason is None)
            word = result["outcome"] if reason is None else f"equivalent ({reason})"
            lines.append(f"{word}: {result['file']}:{result['line']} ({result['kind']})\n{result['diff']}")
    counted = Counter(result["outcome"] for result in results)
    caught = len(results) - same - left
    words = ", ".join(f"{number} {word}" for word, number in counted.items())
    share = f"{caught / max(caught + left, 1):.1%}"
    lines.append(f"{len(results)} mutants ({words}); {same} equivalent; {caught} of the other {caught + left}, {share}")
    return "\n".join(lines), left


def main(arguments: list[str] | None = None) -> int:
    """Run the mutants that have no result yet, and print the report."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("--count", type=int, default=250)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "mutants.jsonl")
    parser.add_argument("--seconds", type=float, default=40, help="for the tests of one mutant, and for its claims")
    parser.add_argument("--no-ledger", action="store_true", help="tests only; later, with --again, the survivors")
    parser.add_argument("--again", action="store_true", help="run the survivors on file again")
    parser.add_argument("--report", action="store_true", help="print all results on file, run nothing")
    options = parser.parse_args(arguments)
    done = {result["key"]: result for result in read(options.out)}
    if not options.report:
        for name in WARM:
            importlib.import_module(name)
        known = {key for key, one in done.items() if not options.again or one["outcome"] in CAUGHT}
        known |= {key for key, one in done.items() if (one["file"], one["diff"]) in equivalent()}
        with copied() as root:  # drawn, traced and broken is one and the same copy, whatever happens to the project
            map_of_tests = options.out.with_suffix(".touched.jsonl")
            entries = list(touched(map_of_tests, root, 3 * options.seconds, options.no_ledger))
            for mutant in drawn(options.count, options.seed, root):
                if mutant.key not in known:
                    done[mutant.key] = tried(root, mutant, entries, options.seconds)
                    append(options.out, done[mutant.key])
    results = [done[mutant.key] for mutant in drawn(options.count, options.seed) if mutant.key in done]
    text, left = report(results, equivalent())
    print(text)  # noqa: T201
    return int(left > 0)


if __name__ == "__main__":
    sys.exit(main())
