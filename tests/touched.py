"""Which tests and which claims of the ledger touch which lines: measured once, by a trace, and kept.

Everything runs in a copy of the project, in a process of its own. Lines are traced in the files that are mutated, and
in each function only for its first calls and events: a loop shows all of its lines early.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, TypeVar

from tests.edits import ROOT, sources

T = TypeVar("T")
R = TypeVar("R")

COPIED: Final = ("symshuffle", "proofs_checks", "tests", "benchmarks", "examples", "docs", "pyproject.toml")
WITHOUT: Final = ("test_notebooks", "test_readme", "test_packaging", "test_mutat", "test_mutants",
                  "test_cli_ledger", "test_benchmarks", "test_import_light", "claims", "conformance")  # fmt: skip
"""Test files that say nothing about a formula, or run for minutes."""


@contextmanager
def copied() -> Iterator[Path]:
    """A copy of the project in which files may be broken."""
    with tempfile.TemporaryDirectory(prefix="symshuffle-mutants-") as directory:
        root = Path(directory)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, root / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, root / name)
        yield root


def shared(roots: Sequence[Path], work: Callable[[Path, T], R], things: Iterable[T]) -> Iterator[R]:
    """The results of some work on each thing, as they come: as many at once as there are copies, each in its own."""
    free: SimpleQueue[Path] = SimpleQueue()
    for root in roots:
        free.put(root)

    def one(thing: T) -> R:
        root = free.get()
        try:
            return work(root, thing)
        finally:
            free.put(root)

    with ThreadPoolExecutor(len(roots)) as pool:
        for done in as_completed([pool.submit(one, thing) for thing in things]):
            yield done.result()


def forked(root: Path, work: Callable[[], int], limit: float) -> int | None:
    """Exit code of some work in a process of its own that sees the copy; None if it ran out of time."""
    child = os.fork()
    if child == 0:
        os.setsid()
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        os.chdir(root)
        sys.path[:] = [str(root), *(path for path in sys.path if path not in {"", str(ROOT)})]
        os.environ["PYTHONPATH"], sys.dont_write_bytecode = str(root), True
        for name in [m for m in sys.modules if m.split(".")[0] in {"tests", "symshuffle", "proofs_checks"}]:
            del sys.modules[name]
        status = 70
        try:
            status = work()
        finally:
            os._exit(status)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


class Lines:
    """The lines of some files that run while it watches."""

    CALLS: Final = 30
    EVENTS: Final = 20_000

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = {str(root / source) for source in sources(root)}
        self.now: set[tuple[str, int]] = set()
        self.calls, self.events = Counter[Any](), Counter[Any]()

    def called(self, frame: Any, event: str, argument: Any) -> Any:
        code = frame.f_code
        if code.co_filename not in self.files:
            return None
        self.calls[code] += 1
        return self.line if self.calls[code] <= self.CALLS else None

    def line(self, frame: Any, event: str, argument: Any) -> Any:
        code = frame.f_code
        self.events[code] += 1
        self.now.add((code.co_filename, frame.f_lineno))
        if self.events[code] > self.EVENTS:
            frame.f_trace_lines = False
        return self.line

    def watch(self) -> None:
        """Begin with no lines."""
        self.now = set()
        self.calls.clear()
        self.events.clear()
        sys.settrace(self.called)

    def seen(self) -> set[tuple[str, int]]:
        """End, and the lines since the beginning."""
        sys.settrace(None)
        return {(str(Path(path).relative_to(self.root)), line) for path, line in self.now}


class _Tests:
    """A plugin of pytest: the lines that each test runs, how long it takes, and an end after some seconds."""

    def __init__(self, lines: Lines, seconds: float) -> None:
        self.lines, self.end, self.took = lines, time.monotonic() + seconds, Counter[str]()
        self.failed, self.touched = set[str](), dict[str, set[tuple[str, int]]]()

    def pytest_runtest_logstart(self) -> None:
        self.lines.watch()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.touched[nodeid] = self.lines.seen()

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.took[report.nodeid] += report.duration
        if report.failed:
            self.failed.add(report.nodeid)

    def pytest_runtest_teardown(self, item: Any) -> None:
        if time.monotonic() > self.end:
            item.session.shouldstop = "enough"


def _of_tests(file: str, lines: Lines, seconds: float) -> Iterator[tuple[str, float, set[tuple[str, int]], Any]]:
    """Names of the tests of a file that pass, seconds, lines; nothing to compare."""
    import pytest

    plugin = _Tests(lines, seconds)
    pytest.main([file, "-q", "-p", "no:cacheprovider", "-p", "no:xdist"], plugins=[plugin])
    for name, touched in plugin.touched.items():
        if name not in plugin.failed:
            yield name, plugin.took[name], touched, None


def _of_claims(file: str, lines: Lines, seconds: float) -> Iterator[tuple[str, float, set[tuple[str, int]], Any]]:
    """The claims of a section, seconds, lines, and what is found about each."""
    end = time.monotonic() + seconds
    for claim in claims_of(file):
        start = time.monotonic()
        if start < end:
            lines.watch()
            found = finding(claim)
            touched = lines.seen()
            yield claim.id, time.monotonic() - start, touched, found


def claims_of(file: str) -> tuple[Any, ...]:
    """What a section of the ledger declares."""
    module = importlib.import_module(file.removesuffix(".py").replace("/", "."))
    return tuple(module.CLAIMS)


def finding(claim: Any) -> list[Any]:
    """What the ledger says of a claim, as it is compared."""
    from symshuffle.claims.run import run

    found = run(claim)
    corrected = None if found.corrected is None else found.corrected.verdict.value
    grade = None if found.grade is None else found.grade.value
    return [found.verdict.value, grade, found.controls_rejected, corrected, list(found.faults)]


def touch(root: Path, file: str, seconds: float) -> dict[str, Any] | None:
    """Which lines each test of a file, or each claim of a section, touches, and how long it takes."""
    answer = root / "touched.json"

    def work() -> int:
        measure = _of_claims if file.startswith("proofs_checks") else _of_tests
        rows = list(measure(file, Lines(root), seconds))
        lines: dict[str, dict[int, list[int]]] = {}
        for number, (_, _, touched, _) in enumerate(rows):
            for path, line in sorted(touched):
                lines.setdefault(path, {}).setdefault(line, []).append(number)
        names, took, found = [row[0] for row in rows], [round(row[1], 3) for row in rows], [row[3] for row in rows]
        answer.write_text(json.dumps({"tests": names, "took": took, "found": found, "lines": lines}))
        return 0

    answer.unlink(missing_ok=True)
    forked(root, work, 3 * seconds + 60)
    return json.loads(answer.read_text(encoding="utf-8")) if answer.exists() else None


def files_of_tests() -> list[str]:
    """The tests that may notice a wrong formula."""
    files = (str(path.relative_to(ROOT)) for path in sorted((ROOT / "tests").rglob("test_*.py")))
    return [file for file in files if not any(word in file for word in WITHOUT)]


def about(files: Iterable[str], source: str) -> list[str]:
    """Those of some files of tests that import a source, or something of it."""
    module = source.removesuffix(".py").replace("/", ".")
    package, _, name = module.rpartition(".")

    def imports(node: ast.AST) -> bool:
        if isinstance(node, ast.ImportFrom):
            return node.module == module or (node.module == package and any(one.name == name for one in node.names))
        return isinstance(node, ast.Import) and any(one.name == module for one in node.names)

    return [file for file in files if any(map(imports, ast.walk(_parsed(file))))]


@cache
def _parsed(file: str) -> ast.Module:
    return ast.parse((ROOT / file).read_text(encoding="utf-8"))


def sections() -> list[str]:
    """The sections of the ledger."""
    files = (path for path in sorted((ROOT / "proofs_checks").rglob("*.py")) if not path.name.startswith("_"))
    return [str(path.relative_to(ROOT)) for path in files]


def digest(path: Path) -> str:
    """Tells one version of a file from another."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def touched(path: Path, roots: Sequence[Path], seconds: float, asked: Sequence[str]) -> Iterator[dict[str, Any]]:
    """What files of tests and sections touch: read where it was measured before, else measured and kept.

    A file that changed is measured again. Of a source that changed since, the lines are not known any more: any test
    that touched it counts for all of them.
    """
    known = {(entry["file"], entry["digest"]): entry for entry in read(path)}
    now = {source: digest(roots[0] / source) for source in sources(roots[0])}
    wanted = [(file, digest(roots[0] / file)) for file in asked]

    def measured(root: Path, key: tuple[str, str]) -> dict[str, Any]:
        empty: dict[str, Any] = {"tests": [], "took": [], "found": [], "lines": {}}
        found = touch(root, key[0], seconds) or empty
        of = {source: now[source] for source in found["lines"]}
        return {"file": key[0], "digest": key[1], **found, "sources": of}

    for entry in shared(roots, measured, [key for key in wanted if key not in known]):
        known[entry["file"], entry["digest"]] = entry
        append(path, entry)
    for entry in map(known.__getitem__, wanted):
        for source in entry["lines"]:
            if entry["sources"][source] != now.get(source):
                every = sorted({test for tests in entry["lines"][source].values() for test in tests})
                entry["lines"][source] = {"0": every}
        entry["breadth"] = [0] * len(entry["tests"])
        for tests in (tests for lines in entry["lines"].values() for tests in lines.values()):
            for test in tests:
                entry["breadth"][test] += 1
        yield entry


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of a file of results; none if there is no file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def append(path: Path, entry: dict[str, Any]) -> None:
    """One more line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")
