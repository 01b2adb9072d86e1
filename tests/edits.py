"""All small edits of the library that change a value: what the driver of mutants draws from.

Constants, comparisons, the sign between two terms, a term or factor dropped, min for max, a condition negated. What is
written for readers or for the type checker is left alone, and so are the limits of how much work is done and the
functions and constants that only guide (:mod:`tests.guides`), which a test of their own shows to break no promise.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.guides import GUIDES, KNOBS

ROOT: Final = Path(__file__).resolve().parent.parent
TARGETS: Final = (
    "engines", "accountants", "lp.py", "geometry", "design", "frontiers", "estimation", "decompositions", "likelihood",
    "vectors", "divergences.py", "law.py",
)  # fmt: skip
SHOWN: Final = re.compile(
    r"__(repr|str)__|_repr_\w+_|.*latex|how|about(_\w+)?|_?describe(d|_subset)?|\w*in_words|display"
)
"""Names of functions that write for readers and return words only; what gives numbers, as ``to_dict`` does, is not."""

LIMITS: Final = ("MOST", "LARGEST", "LONGEST", "MAX", "LIMIT", "ROUNDS", "BITS", "PRECISIONS", "SECONDS", "DENOMINATOR",
                 "CHEAP")  # fmt: skip
"""Constants with such words in their names say how much work is done before it is refused or begun anew, or at what
precision balls start: no value depends on them, for which there is a test of its own wherever a value might."""

NO_LIMITS: Final = ("_LOST_BITS", "_LARGEST_MULTIPLE", "_LARGEST_RATIO", "_LARGEST_EPS0")
"""Constants that only sound like one of those: what they bound decides which formula, or which answer, is returned."""

SETTINGS: Final = ("rel", "bits", "largest", "digits")
"""Arguments whose defaults are such limits, or the width of a bracket that is true at any width."""

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
        self.inside = file.removesuffix(".py").replace("/", ".")
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
        if SHOWN.fullmatch(node.name) or f"{self.inside}.{node.name}" in GUIDES:
            return
        given = node.args
        positional = [*given.posonlyargs, *given.args]
        named = [
            *zip(positional[len(positional) - len(given.defaults) :], given.defaults, strict=True),
            *zip(given.kwonlyargs, given.kw_defaults, strict=True),
        ]
        for argument, default in named:
            if default is not None and argument.arg not in SETTINGS:
                self.visit(default)
        for child in node.body:
            self.visit(child)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        name = getattr(node.target, "id", "")
        limit = name not in NO_LIMITS and name.isupper() and any(word in name for word in LIMITS)
        tuned = name in KNOBS.get(self.inside, ())
        if node.value is not None and not limit and not tuned and "TypeAlias" not in ast.dump(node.annotation):
            self.visit(node.value)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        outer, self.inside = self.inside, f"{self.inside}.{node.name}"
        for child in node.body:
            self.visit(child)
        self.inside = outer

    def visit_If(self, node: ast.If) -> None:
        if not (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            self.add(node.test, "condition", f"not ({self.text(node.test)})", "False")
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in {"InputError", "Unsupported", "NotDecided", "SolverFailure", "CertificateError", "TypeVar", "cast"}:
            return
        if name == "working_precision":  # balls enclose at any
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
    """Mutants drawn by seed: first the place, evenly over all lines, then what happens there.

    A place is its file and its text, so that an edit elsewhere leaves the draw as it is.
    """
    texts = {file: (root / file).read_text(encoding="utf-8") for file in sources(root)}
    lines: dict[tuple[str, int], list[Mutant]] = {}
    for file, text in texts.items():
        for mutant in mutants(text, file):
            lines.setdefault((file, mutant.line), []).append(mutant)
    seen, places = Counter[tuple[str, str]](), list[tuple[str, list[Mutant]]]()
    for (file, line), found in sorted(lines.items()):
        text = texts[file].splitlines()[line - 1].strip()
        seen[file, text] += 1
        place = f"{seed} {file} {text} {seen[file, text]}"
        places.append((hashlib.sha256(place.encode()).hexdigest(), found))
    chosen = list[Mutant]()
    for place, found in sorted(places):
        mutant = random.Random(place).choice(found)
        if changes(mutant, texts[mutant.file]):
            chosen.append(mutant)
        if len(chosen) == count:
            break
    return chosen


def kept(rows: Iterable[Mapping[str, str]], root: Path = ROOT) -> Iterator[Mutant]:
    """Mutants of an earlier draw, by file and difference, where the lines that they change are still there."""
    for row in rows:
        path = root / row["file"]
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        old, new = ("".join(f"{x[1:]}\n" for x in row["diff"].splitlines() if x[0] == sign) for sign in "-+")
        at = f"\n{text}".find(f"\n{old}")
        if at >= 0:
            start = len(text[:at].encode())
            yield Mutant(row["file"], text[:at].count("\n") + 1, start, start + len(old.encode()), "kept", new)
