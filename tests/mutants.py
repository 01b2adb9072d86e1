"""Break the library on purpose, one operator at a time, and list what no test noticed.

    python -m tests.mutants [--count 200] [--seed 2026] [--out out/mutants.jsonl] [--seconds 60]
    python -m tests.mutants --report

Mutants are drawn by seed from all places of the targets where a value can change: constants, comparisons, the sign
between two terms, a term or factor dropped, min for max, a condition negated. Each is run against the tests that touch
its line, the quick ones first. Which tests those are is measured once, by a trace of the targets' lines, and kept
beside the results; both files are appended to, so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import importlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
TARGETS: Final = (
    "engines", "accountants", "lp.py", "geometry", "design", "frontiers", "estimation", "decompositions", "likelihood",
    "vectors", "divergences.py", "law.py",
)  # fmt: skip
COPIED: Final = ("symshuffle", "proofs_checks", "tests", "benchmarks", "examples", "docs", "pyproject.toml")
WITHOUT: Final = ("test_notebooks", "test_docs", "test_readme", "test_packaging", "test_mutat", "test_mutants",
                  "test_cli_ledger", "test_benchmarks", "test_import_light", "claims", "conformance")  # fmt: skip
"""Test files that say nothing about a formula, or run for minutes."""

MOST_TESTS: Final = 300
WARM: Final = ("numpy", "scipy.stats", "scipy.fft", "scipy.optimize", "sympy", "mpmath", "flint", "hypothesis",
               "pytest", "cvxpy", "highspy", "pydantic", "typer", "rich")  # fmt: skip
"""Imported once, before the process forks for each mutant; nothing of the project is."""

SHOWN: Final = ("__repr__", "__str__", "_repr_", "latex", "how", "describe", "words", "about", "to_dict", "display")
"""Functions whose name says that they write for readers."""

LIMITS: Final = ("MOST", "LARGEST", "LONGEST", "MAX", "LIMIT", "ROUNDS", "BITS", "PRECISIONS", "SECONDS", "DENOMINATOR",
                 "CHEAP", "rel", "bits", "largest", "digits")  # fmt: skip
"""Constants and defaults with such names say how much work is done before it is refused or begun anew, and change no
value that is returned: they are not mutated."""

_COMPARED: Final[dict[type[ast.cmpop], tuple[str, ...]]] = {
    ast.Lt: ("<=", ">"), ast.LtE: ("<", ">"), ast.Gt: (">=", "<"), ast.GtE: (">", "<"), ast.Eq: ("!=",),
    ast.NotEq: ("==",),
}  # fmt: skip
_SWAPPED: Final = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "Min": "Max", "Max": "Min"}


@dataclass(frozen=True, order=True)
class Mutant:
    """One edit: in ``file``, the text between two offsets becomes ``new``."""

    file: str
    line: int
    start: int
    end: int
    kind: str
    new: str

    @property
    def key(self) -> str:
        """Names the mutant in the file of results."""
        return f"{self.file}:{self.line}:{self.start}:{self.kind}:{self.new}"

    def applied(self, text: str) -> str:
        """The source with the edit made."""
        raw = text.encode()
        return (raw[: self.start] + self.new.encode() + raw[self.end :]).decode()

    def diff(self, text: str) -> str:
        """What the edit changes, in two lines."""
        lines = difflib.unified_diff(text.splitlines(), self.applied(text).splitlines(), lineterm="", n=0)
        return "\n".join(line for line in list(lines)[2:] if not line.startswith("@@"))


class _Places(ast.NodeVisitor):
    """All mutants of one module."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.raw, self.found = file, text.encode(), list[Mutant]()
        self.starts = [0]
        for line in self.raw.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def span(self, node: Any) -> tuple[int, int]:
        """Offsets of a node in the bytes of the source."""
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.raw[start:end].decode()

    def add(self, node: Any, kind: str, *texts: str) -> None:
        start, end = self.span(node)
        self.found += [Mutant(self.file, node.lineno, start, end, kind, new) for new in texts]

    def between(self, left: ast.AST, right: ast.AST, old: str, kind: str, *texts: str) -> None:
        """Replace an operator that stands between two operands (and their brackets)."""
        start, end = self.span(left)[1], self.span(right)[0]
        at = self.raw[start:end].decode().find(old)
        if at >= 0 and "#" not in self.raw[start:end].decode():
            line = self.raw[: start + at].count(b"\n") + 1
            self.found += [Mutant(self.file, line, start + at, start + at + len(old), kind, new) for new in texts]

    # What is written for readers, or for the type checker, has no value to change.
    def visit_Raise(self, node: ast.Raise) -> None: ...
    def visit_Assert(self, node: ast.Assert) -> None: ...
    def visit_JoinedStr(self, node: ast.JoinedStr) -> None: ...
    def visit_Import(self, node: ast.Import) -> None: ...

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if any(word in node.name for word in SHOWN):
            return
        given = node.args
        positional = [*given.posonlyargs, *given.args]
        named = [
            *zip(positional[len(positional) - len(given.defaults) :], given.defaults, strict=True),
            *zip(given.kwonlyargs, given.kw_defaults, strict=True),
        ]
        for argument, default in named:
            if default is not None and argument.arg not in LIMITS:
                self.visit(default)
        for child in node.body:
            self.visit(child)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        name = getattr(node.target, "id", "")
        limit = name in LIMITS or (name.isupper() and any(word in name for word in LIMITS))
        if node.value is not None and not limit and "TypeAlias" not in ast.dump(node.annotation):
            self.visit(node.value)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for child in node.body:
            self.visit(child)

    def visit_If(self, node: ast.If) -> None:
        if not (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            self.add(node.test, "condition", f"not ({self.text(node.test)})", "False")
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in {"InputError", "Unsupported", "NotDecided", "SolverFailure", "CertificateError", "TypeVar", "cast"}:
            return
        if name in _SWAPPED:
            self.add(node.func, "min for max", self.text(node.func).removesuffix(name) + _SWAPPED[name])
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if type(node.value) is int:
            self.add(node, "constant", str(node.value + 1), *([str(node.value - 1)] if node.value > 1 else []))
        elif type(node.value) is float:
            self.add(node, "constant", repr(node.value * 2), repr(node.value / 2))

    def visit_Compare(self, node: ast.Compare) -> None:
        left: ast.expr = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            if type(operator) in _COMPARED:
                sign = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
                self.between(left, right, sign[type(operator)], "comparison", *_COMPARED[type(operator)])
            left = right
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        texts = (node.left, node.right)
        if any(isinstance(x, ast.JoinedStr) or isinstance(getattr(x, "value", None), str) for x in texts):
            return
        swaps = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
                 ast.FloorDiv: ("//", "/"), ast.Pow: ("**", "*")}  # fmt: skip
        if type(node.op) in swaps:
            old, new = swaps[type(node.op)]
            self.between(node.left, node.right, old, "operator", new)
            self.add(node, "dropped", self.text(node.left))
            if isinstance(node.op, ast.Add | ast.Mult):
                self.add(node, "dropped", self.text(node.right))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.USub | ast.Not):
            self.add(node, "sign" if isinstance(node.op, ast.USub) else "negation", f"({self.text(node.operand)})")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for i in range(len(node.values)):
            rest = [self.text(value) for j, value in enumerate(node.values) if j != i]
            word = " and " if isinstance(node.op, ast.And) else " or "
            self.add(node, "dropped", "(" + word.join(f"({text})" for text in rest) + ")")
        self.generic_visit(node)


def mutants(text: str, file: str) -> list[Mutant]:
    """All edits of a source; some do not compile, or change nothing: see :func:`changes`."""
    places = _Places(file, text)
    places.visit(ast.parse(text))
    return sorted(set(places.found))


def changes(mutant: Mutant, text: str) -> bool:
    """Whether the source compiles with the edit, and is another program."""
    try:
        return ast.dump(ast.parse(mutant.applied(text))) != ast.dump(ast.parse(text))
    except SyntaxError:
        return False


def sources(root: Path = ROOT) -> list[str]:
    """The files that are mutated."""
    package = root / "symshuffle"
    paths = (path for t in TARGETS for path in ([package / t] if t.endswith(".py") else (package / t).rglob("*.py")))
    return sorted(str(path.relative_to(root)) for path in paths)


def drawn(count: int, seed: int, root: Path = ROOT) -> list[Mutant]:
    """Mutants drawn by seed: first the place, evenly over all lines, then what happens there."""
    texts = {file: (root / file).read_text(encoding="utf-8") for file in sources(root)}
    lines: dict[tuple[str, int], list[Mutant]] = {}
    for file, text in texts.items():
        for mutant in mutants(text, file):
            lines.setdefault((file, mutant.line), []).append(mutant)
    chance, found = random.Random(seed), list[Mutant]()
    order = sorted(lines)
    chance.shuffle(order)
    for place in order:
        mutant = chance.choice(lines[place])
        if changes(mutant, texts[mutant.file]):
            found.append(mutant)
        if len(found) == count:
            break
    return found


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


class _Recorder:
    """A plugin of pytest: which lines of the targets each test runs, how long it takes, and an end after some seconds.

    Lines are traced in the targets only, and in each function only for its first calls and events of a test: a loop
    shows all of its lines early.
    """

    CALLS: Final = 30
    EVENTS: Final = 20_000

    def __init__(self, files: set[str], seconds: float) -> None:
        self.files, self.end, self.took = files, time.monotonic() + seconds, Counter[str]()
        self.failed, self.lines = set[str](), dict[str, set[tuple[str, int]]]()
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

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.now = self.lines[nodeid] = set()
        self.calls.clear()
        self.events.clear()
        sys.settrace(self.called)

    def pytest_runtest_logfinish(self) -> None:
        sys.settrace(None)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.took[report.nodeid] += report.duration
        if report.failed:
            self.failed.add(report.nodeid)

    def pytest_runtest_teardown(self, item: Any) -> None:
        if time.monotonic() > self.end:
            item.session.shouldstop = "enough"


def touch(root: Path, file: str, seconds: float) -> dict[str, Any] | None:
    """Which lines of the targets each test of a file touches, and how long it takes."""
    answer = root / "touched.json"

    def work() -> int:
        import pytest

        recorder = _Recorder({str(root / source) for source in sources(root)}, seconds)
        pytest.main([file, "-q", "-p", "no:cacheprovider", "-p", "no:xdist"], plugins=[recorder])
        names = [name for name in recorder.took if name not in recorder.failed]
        lines: dict[str, dict[int, list[int]]] = {}
        for number, name in enumerate(names):
            for path, line in sorted(recorder.lines.get(name, ())):
                lines.setdefault(str(Path(path).relative_to(root)), {}).setdefault(line, []).append(number)
        answer.write_text(json.dumps({"tests": names, "took": [recorder.took[name] for name in names], "lines": lines}))
        return 0

    answer.unlink(missing_ok=True)
    forked(root, work, 3 * seconds + 60)
    return json.loads(answer.read_text(encoding="utf-8")) if answer.exists() else None


def files_of_tests() -> list[str]:
    """The tests that may notice a wrong formula."""
    files = (str(path.relative_to(ROOT)) for path in sorted((ROOT / "tests").rglob("test_*.py")))
    return [file for file in files if not any(word in file for word in WITHOUT)]


def touched(path: Path, root: Path, seconds: float) -> Iterator[dict[str, Any]]:
    """What every test file touches: read where it was measured before, else measured and appended."""
    known = {entry["file"]: entry for entry in read(path)}
    for file in files_of_tests():
        if file not in known:
            entry = {"file": file, **(touch(root, file, seconds) or {"tests": [], "took": [], "lines": {}})}
            append(path, entry)
            known[file] = entry
        yield known[file]


def chosen_tests(mutant: Mutant, entries: list[dict[str, Any]], seconds: float) -> list[str]:
    """The tests that touch the line, the quick ones first; of a line that runs at import, those of its file."""
    at_line: dict[str, float] = {}
    in_file: dict[str, float] = {}
    for entry in entries:
        for line, tests in entry["lines"].get(mutant.file, {}).items():
            found = {entry["tests"][i]: entry["took"][i] for i in tests}
            in_file |= found
            if int(line) == mutant.line:
                at_line |= found
    chosen, total = list[str](), 0.0
    for test, took in sorted((at_line or in_file).items(), key=lambda pair: pair[1])[:MOST_TESTS]:
        total += took
        if chosen and total > seconds:
            break
        chosen.append(test)
    return chosen


def outcome(root: Path, mutant: Mutant, tests: list[str], limit: float) -> str:
    """``killed``, ``time`` (the tests ran out of time), ``survived`` or ``untouched`` (no test sees the line)."""
    if not tests:
        return "untouched"
    path = root / mutant.file
    sound = path.read_text(encoding="utf-8")

    def work() -> int:
        import pytest

        return int(pytest.main([*tests, "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]))

    try:
        path.write_text(mutant.applied(sound), encoding="utf-8")
        status = forked(root, work, limit)
    finally:
        path.write_text(sound, encoding="utf-8")
    return "time" if status is None else "survived" if status == 0 else "killed"


def tried(root: Path, mutant: Mutant, entries: list[dict[str, Any]], seconds: float) -> dict[str, Any]:
    """The result of one mutant, as it is kept."""
    tests = chosen_tests(mutant, entries, seconds)
    start = time.monotonic()
    found = outcome(root, mutant, tests, 2 * seconds + 30)
    text = (root / mutant.file).read_text(encoding="utf-8")
    return {
        "key": mutant.key,
        "outcome": found,
        "line": mutant.line,
        "kind": mutant.kind,
        "tests": len(tests),
        "took": round(time.monotonic() - start, 2),
        "diff": mutant.diff(text),
    }


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of a file of results; none if there is no file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def append(path: Path, entry: dict[str, Any]) -> None:
    """One more line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def report(results: list[dict[str, Any]]) -> str:
    """How many were noticed, and the survivors with what they change."""
    counted = Counter(result["outcome"] for result in results)
    caught = counted["killed"] + counted["time"]
    left = [r for r in results if r["outcome"] in {"survived", "untouched"}]
    lines = [f"{r['outcome']:9} {r['key'].split(':')[0]}:{r['line']} ({r['kind']})\n{r['diff']}" for r in left]
    head = f"{caught} of {len(results)} mutants killed ({', '.join(f'{n} {word}' for word, n in counted.items())})"
    return "\n".join([*lines, head])


def main(arguments: list[str] | None = None) -> int:
    """Run the mutants that have no result yet, and print the report."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "mutants.jsonl")
    parser.add_argument("--seconds", type=float, default=60, help="for the tests of one mutant, and of one test file")
    parser.add_argument("--report", action="store_true", help="print all results on file, run nothing")
    options = parser.parse_args(arguments)
    done = {result["key"]: result for result in read(options.out)}
    if not options.report:
        for name in WARM:
            importlib.import_module(name)
        with copied() as root:  # drawn, traced and broken is one and the same copy, whatever happens to the project
            entries = list(touched(options.out.with_suffix(".touched.jsonl"), root, options.seconds))
            for mutant in drawn(options.count, options.seed, root):
                if mutant.key not in done:
                    done[mutant.key] = tried(root, mutant, entries, options.seconds)
                    append(options.out, done[mutant.key])
    results = list(done.values())
    print(report(results))  # noqa: T201
    return int(any(result["outcome"] in {"survived", "untouched"} for result in results))


if __name__ == "__main__":
    sys.exit(main())
