"""Break one line of the library at a time, and count what tests notice and what public answers change.

    python -m tests.mutants [--count 300] [--seconds 40] [--jobs 2] [--outward]

Which mutants are drawn depends on the commit alone: its hash is the seed, so that no test can have been written for
them. Each is tried in a copy of the commit against the tests that run its line, the quick ones first. One that they
pass is tried against the frozen requests that run its line (:mod:`tests.frozen`). So there are three counts: *noticed*
by a test, *changed an answer unnoticed*, and *changed no public answer*. The second ones are listed: each belongs to a
class that the generators of tests/soundness/test_exaggerated.py lack. There is no target, and nothing is kept but a map
of tests and lines below ``out``, by commit, which takes as long as all tests do with a tracer beside them.

With ``--outward`` the edits are those that take the other end of a number, or round it to the other side, and what no
test notices is listed whether or not a kept answer changes: a certified end may move by less than a kept answer shows.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
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
FROZEN: Final = "tests/frozen/test_frozen.py::test_row["
WITHOUT: Final = ("test_notebooks", "test_readme", "test_packaging", "test_benchmarks", "test_cli_progress")
"""Files of tests that start processes of their own, or say nothing about an answer."""
MOST: Final = 200
"""Tests, and requests, that one mutant is tried against."""
_SECONDS: Final = "SYMSHUFFLE_SECONDS_OF_TESTS"
_seconds: dict[str, float] = {}


def pytest_runtest_logreport(report: Any) -> None:
    """Keep how long a test took: this module is a plugin of the run that makes the map."""
    _seconds[report.nodeid] = _seconds.get(report.nodeid, 0) + report.duration


def pytest_sessionfinish(session: Any) -> None:
    """Write down how long all tests took, in the process that has collected them."""
    if not hasattr(session.config, "workerinput"):
        Path(os.environ[_SECONDS]).write_text(json.dumps(_seconds), encoding="utf-8")


@dataclass(frozen=True)
class Map:
    """Which tests run a line, and how long each takes."""

    lines: dict[str, dict[int, list[str]]]
    seconds: dict[str, float]

    def quickest(self, mutant: Mutant, *, frozen: bool, most: float) -> list[str]:
        """The quick tests of a line; of its file, where the line runs at import only."""
        by_line = self.lines.get(mutant.file, {})
        found = by_line.get(mutant.line) or sorted({one for tests in by_line.values() for one in tests})
        ranked = sorted((self.seconds.get(one, 1.0), one) for one in found if one.startswith(FROZEN) is frozen)
        chosen, total = list[str](), 0.0
        for took, one in ranked[:MOST]:
            total += took
            if chosen and total > most:
                break
            chosen.append(one)
        return chosen


def made(root: Path, folder: Path, jobs: int) -> Map:
    """The map of a commit, made by one traced run of all tests and of the frozen requests that are quick."""
    folder.mkdir(parents=True, exist_ok=True)
    seconds, data = folder / "seconds.json", folder / "coverage"
    if not seconds.exists():
        without = [f"--ignore-glob=*{name}*" for name in WITHOUT]
        traced = ["--cov=symshuffle", "--cov-context=test", "--cov-report=", "-n", str(jobs), "-p", "tests.mutants"]
        chosen = ["-m", "not conformance", *without]
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


def tried(commit: str, count: int, seconds: float, jobs: int, *, outward: bool) -> Iterator[tuple[Mutant, str, str]]:
    """Mutants of a commit with what each changes and what becomes of it, as they are known."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as directory:
        copies: SimpleQueue[Path] = SimpleQueue()
        roots = [Path(directory, str(i)) for i in range(jobs)]
        for root in roots:
            _git("worktree", "add", "--detach", "--force", str(root), commit)
            copies.put(root)
        try:
            first = roots[0]
            known = made(first, ROOT / "out" / "mutants" / commit, jobs)
            texts = {
                one: (first / one.file).read_text("utf-8")
                for one in islice(drawn(commit, first, outward=outward), count)
            }

            def one(mutant: Mutant) -> str:
                root = copies.get()
                try:
                    return outcome(root, mutant, known, seconds)
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
    """Print the mutants that changed an answer unnoticed, and the three counts."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=40, help="of the tests of one mutant, and of its requests")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--outward", action="store_true", help="only edits of ends and of the side of rounding")
    options = parser.parse_args(arguments)
    commit, counts = _git("rev-parse", "HEAD"), Counter[str]()
    for mutant, diff, word in tried(commit, options.count, options.seconds, options.jobs, outward=options.outward):
        counts[word] += 1
        if word == UNNOTICED or (options.outward and word == NOTHING):
            print(f"{mutant.file}:{mutant.line}  {word}\n{diff}", flush=True)
    words = ", ".join(f"{counts[word]} {word}" for word in (NOTICED, UNNOTICED, NOTHING))
    print(f"{commit[:12]}, {counts.total()} mutants: {words}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
