"""Break one line of the library at a time, and count what tests notice and what public answers change.

    python -m tests.mutants [--count 300] [--seconds 40] [--jobs 2] [--outward] [--module FILE] [--tests FILE]

Which mutants are drawn depends on the commit alone: its hash is the seed, so that no test can have been written for
them. Each is tried in a copy of the commit against the tests that run its line, the quick ones first. One that they
pass is tried against the frozen requests that run its line (:mod:`tests.frozen`). So there are three counts: *noticed*
by a test, *changed an answer unnoticed*, and *changed no public answer*. The second ones are listed: each belongs to a
class that the generators of tests/soundness/test_exaggerated.py lack. There is no target, and nothing is kept but a map
of tests and lines below ``out``, by commit, which takes as long as all tests do with a tracer beside them.

With ``--outward`` the edits are those that take the other end of a number, round it to the other side, or drop an error
term or a clip. What no test notices is listed whether or not a kept answer changes: a certified end may move by less
than a kept answer shows. An edit that makes no end unsafe stands in ``tests/mutants.tsv`` with the reason, and is not
tried.

    python -m tests.mutants --outward --module symshuffle/collect/audit/shares.py

tries all edits of a module (the option may be repeated) against the tests of its packages and of tests/soundness, or
against those that ``--tests`` names. The map is then made by these tests only.
"""

import argparse
import ast
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

from tests.edits import ROOT, Mutant, drawn

NOTICED: Final = "noticed"
UNNOTICED: Final = "changed an answer unnoticed"
NOTHING: Final = "changed no public answer"
EQUIVALENT: Final = "harmless for a reason that is written down"
UNTRIED: Final = "not tried for lack of time"
WORDS: Final = (NOTICED, UNNOTICED, NOTHING, EQUIVALENT, UNTRIED)
REASONS: Final = ROOT / "tests" / "mutants.tsv"
"""Lines ``module, function, line, reason``: the line as it is (all its outward edits), or as one edit makes it."""
FROZEN: Final = "tests/frozen/test_frozen.py::test_row["
WITHOUT: Final = ("test_notebooks", "test_readme", "test_packaging", "test_benchmarks", "test_cli_progress")
"""Files of tests that start processes of their own, or say nothing about an answer."""
MOST: Final = 200
"""Tests, and requests, that one mutant is tried against."""
_SECONDS: Final = "SYMSHUFFLE_SECONDS_OF_TESTS"
_seconds: dict[str, float] = {}
_failed = set[str]()


def pytest_runtest_logreport(report: Any) -> None:
    """Keep how long a test took: this module is a plugin of the run that makes the map."""
    _seconds[report.nodeid] = _seconds.get(report.nodeid, 0) + report.duration
    if report.failed:
        _failed.add(report.nodeid)


def pytest_sessionfinish(session: Any) -> None:
    """Write down how long the tests that pass took, in the process that has collected them."""
    if not hasattr(session.config, "workerinput"):
        passed = {name: took for name, took in _seconds.items() if name not in _failed}
        Path(os.environ[_SECONDS]).write_text(json.dumps(passed), encoding="utf-8")


@dataclass(frozen=True)
class Map:
    """Which tests run a line, and how long each takes."""

    lines: dict[str, dict[int, list[str]]]
    seconds: dict[str, float]

    def quickest(self, mutant: Mutant, *, frozen: bool, most: float) -> list[str]:
        """The quick tests of a line; of its file, where the line runs at import only."""
        by_line = self.lines.get(mutant.file, {})
        found = by_line.get(mutant.line) or sorted({one for tests in by_line.values() for one in tests})
        passed = (one for one in found if one in self.seconds and one.startswith(FROZEN) is frozen)
        ranked = sorted((self.seconds[one], one) for one in passed)
        chosen, total = list[str](), 0.0
        for took, one in ranked[:MOST]:
            total += took
            if chosen and total > most:
                break
            chosen.append(one)
        return chosen


def reasons() -> dict[tuple[str, str, str], str]:
    """Why an edit is harmless, by module, function and line."""
    rows = (line.split("\t") for line in REASONS.read_text(encoding="utf-8").splitlines() if line)
    return {(file, function, line): why for file, function, line, why in rows}


def places(mutant: Mutant, text: str) -> list[tuple[str, str, str]]:
    """What may stand in the list of reasons for an edit: its line as it is, and as the edit makes it."""
    function = ""
    for node in ast.walk(ast.parse(text)):  # from the outside to the inside
        if isinstance(node, ast.FunctionDef) and node.lineno <= mutant.line <= (node.end_lineno or node.lineno):
            function = node.name
    changed = mutant.diff(text).splitlines()
    return [
        (mutant.file, function, " ".join(line[1:].strip() for line in changed if line.startswith(sign)))
        for sign in "-+"
    ]


def likely_tests(files: Sequence[str], root: Path = ROOT) -> list[str]:
    """Tests that are likely to run modules: those of their packages, and those of soundness."""
    parts = {part for file in files for part in Path(file).with_suffix("").parts[1:]}
    named = [path for path in sorted((root / "tests").iterdir()) if path.is_dir() and path.name in parts]
    named += [path for path in sorted((root / "tests").glob("test_*.py")) if parts.intersection(path.stem.split("_"))]
    return [str(path.relative_to(root)) for path in (*named, root / "tests" / "soundness")]


def made(root: Path, folder: Path, jobs: int, files: Sequence[str] = (), tests: Sequence[str] = ()) -> Map:
    """The map of a commit, made by one traced run of tests (all, and the frozen requests that are quick)."""
    if files:
        folder /= hashlib.sha256(" ".join([*sorted(files), "", *tests]).encode()).hexdigest()[:12]
    folder.mkdir(parents=True, exist_ok=True)
    seconds, data = folder / "seconds.json", folder / "coverage"
    if not seconds.exists():
        without = [f"--ignore-glob=*{name}*" for name in WITHOUT]
        packages = sorted({str(Path(file).parent) for file in files}) or ["symshuffle"]
        measured = [*(f"--cov={package}" for package in packages), "--cov-context=test", "--cov-report="]
        traced = [*measured, "-n", str(jobs), "-p", "tests.mutants"]
        chosen = ["-m", "not conformance", *without, *tests]
        environment = {_SECONDS: str(seconds), "COVERAGE_FILE": str(data)}
        _pytest(root, [*traced, *chosen], environment, limit=None)
    from coverage import CoverageData

    found, lines = CoverageData(str(data)), dict[str, dict[int, list[str]]]()
    found.read()
    for file in found.measured_files():
        names = {
            line: sorted({context.partition("|")[0] for context in contexts if context})
            for line, contexts in found.contexts_by_lineno(file).items()
        }
        lines[str(Path(file).relative_to(root))] = {line: tests for line, tests in names.items() if tests}
    return Map(lines, json.loads(seconds.read_text(encoding="utf-8")))


def _pytest(root: Path, arguments: list[str], more: dict[str, str], limit: float | None) -> int | None:
    """Exit status of pytest in a copy; None where it does not end in time."""
    environment = os.environ | {"PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"} | more
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    try:
        done = subprocess.run(command, check=False, cwd=root, env=environment, capture_output=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode not in (0, 1, 2):  # 1: a test fails; 2: a module cannot be loaded
        raise RuntimeError(done.stdout.decode()[-2000:] + done.stderr.decode()[-2000:])
    return done.returncode


def outcome(root: Path, mutant: Mutant, known: Map, seconds: float) -> str:
    """What becomes of a mutant in a copy; the copy is whole again afterwards."""
    path = root / mutant.file
    sound = path.read_text(encoding="utf-8")
    path.write_text(mutant.applied(sound), encoding="utf-8")
    try:
        for frozen, word in ((False, NOTICED), (True, UNNOTICED)):
            tests = known.quickest(mutant, frozen=frozen, most=seconds)
            selected = ["-x", "-m", "not conformance", *tests]
            if tests and _pytest(root, selected, {}, limit=60 + 6 * seconds) != 0:
                return word
    finally:
        path.write_text(sound, encoding="utf-8")
    return NOTHING


def tried(commit: str, options: argparse.Namespace) -> Iterator[tuple[Mutant, str, str]]:
    """Mutants of a commit with what each changes and what becomes of it, as they are known."""
    files, jobs, known_harmless = options.module, options.jobs, reasons() if options.outward else {}
    until = time.monotonic() + 60 * options.minutes if options.minutes else None
    with tempfile.TemporaryDirectory(prefix="mutants-") as directory:
        copies: SimpleQueue[Path] = SimpleQueue()
        roots = [Path(directory, str(i)) for i in range(jobs)]
        for root in roots:
            _git("worktree", "add", "--detach", "--force", str(root), commit)
            copies.put(root)
        try:
            first = roots[0]
            found = drawn(commit, first, outward=options.outward, files=files)
            chosen = sorted(found) if files else list(islice(found, options.count))
            texts = {one: (first / one.file).read_text("utf-8") for one in chosen}
            tests = options.tests or (likely_tests(files, first) if files else [])
            known = made(first, ROOT / "out" / "mutants" / commit, jobs, files, tests)

            def one(mutant: Mutant) -> str:
                if any(place in known_harmless for place in places(mutant, texts[mutant])):
                    return EQUIVALENT
                if until is not None and time.monotonic() > until:
                    return UNTRIED
                root = copies.get()
                try:
                    return outcome(root, mutant, known, options.seconds)
                finally:
                    copies.put(root)

            with ThreadPoolExecutor(jobs) as pool:
                for mutant, word in zip(texts, pool.map(one, texts), strict=True):
                    yield mutant, mutant.diff(texts[mutant]), word
        finally:
            for root in roots:
                _git("worktree", "remove", "--force", str(root))


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def main(arguments: list[str] | None = None) -> int:
    """Print mutants that no test noticed, and how many there are of each kind."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=300, help="of mutants where no module is named")
    parser.add_argument("--seconds", type=float, default=40, help="of the tests of one mutant, and of its requests")
    parser.add_argument("--minutes", type=float, help="after which no further mutant is tried")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--outward", action="store_true", help="only edits of ends, sides of rounding, errors and clips"
    )
    parser.add_argument("--module", action="append", default=[], metavar="FILE", help="all mutants of this module")
    parser.add_argument("--tests", action="append", default=[], metavar="FILE", help="only these tests, with --module")
    parser.add_argument("--list", action="store_true", help="print the mutants of --module, and try none")
    options = parser.parse_args(arguments)
    if missing := [file for file in (*options.module, *options.tests) if not (ROOT / file).exists()]:
        parser.error(f"{missing[0]}: expected a path from {ROOT}")
    commit, counts = _git("rev-parse", "HEAD"), Counter[tuple[str, str]]()
    if options.list:
        for mutant in sorted(drawn(commit, outward=options.outward, files=options.module)):
            print(f"{mutant.file}:{mutant.line}\n{mutant.diff((ROOT / mutant.file).read_text('utf-8'))}")
        return 0
    for mutant, diff, word in tried(commit, options):
        counts[mutant.file, word] += 1
        if word == UNNOTICED or (options.outward and word == NOTHING):
            print(f"{mutant.file}:{mutant.line}  {word}\n{diff}", flush=True)
    for file in options.module:
        print(f"{file}: {_in_words(Counter({word: counts[file, word] for word in WORDS}))}")
    total = Counter[str]()
    for (_, word), number in counts.items():
        total[word] += number
    print(f"{commit[:12]}, {total.total()} mutants: {_in_words(total)}")
    return 0


def _in_words(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[word]} {word}" for word in WORDS if counts[word] or word in WORDS[:3])


if __name__ == "__main__":
    sys.exit(main())
