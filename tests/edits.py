"""All small edits of the library that may change a value: what the driver of mutants draws from.

Constants, comparisons, operators, a term or factor dropped, the other end of a ball or bracket, min for max, one of the
two, ``abs`` or a rounding dropped, a condition negated. Words for readers and what the type checker reads are left
alone, and so are functions and constants that only guide (:mod:`tests.guides`).
"""

import ast
import difflib
import random
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.guides import GUIDES, KNOBS

ROOT: Final = Path(__file__).resolve().parent.parent
WORDS: Final = re.compile(r"__(repr|str)__|_repr_\w+_|.*latex|how|about(_\w+)?|_?describe\w*|\w*in_words|display|words")
"""Names of functions that return words for readers."""
ERRORS: Final = {"InputError", "Unsupported", "NotDecided", "SolverFailure", "CertificateError", "TypeVar", "cast"}

_SIGNS: Final[dict[type[ast.AST], str]] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Add: "+", ast.Sub: "-",
    ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Pow: "**",
}  # fmt: skip
_OTHERS: Final = {
    "<": ("<=", ">"), "<=": ("<", ">"), ">": (">=", "<"), ">=": (">", "<"), "==": ("!=",), "!=": ("==",), "+": ("-",),
    "-": ("+",), "*": ("/",), "/": ("*",), "//": ("/",), "**": ("*",),
}  # fmt: skip
_PAIRS: Final = (("min", "max"), ("minimum", "maximum"), ("Min", "Max"), ("lower", "upper"), ("lower_end", "upper_end"),
                 ("floor", "ceil"), ("abs_lower", "abs_upper"), ("_lower", "_upper"), ("all", "any"))  # fmt: skip
_TOWARDS: Final = {"math.inf": "-math.inf", "-math.inf": "math.inf"}
_SIDES: Final = {frozenset(pair) for pair in (*_PAIRS[3:-1], ("True", "False"))}
"""Both ends of a number, and both sides to which one is rounded."""
_ENDS_OF_RANGES: Final = {"0", "1", "0.0", "1.0", "Fraction(0)", "Fraction(1)"}
_ERROR_TERM: Final = re.compile(
    r"_?(error|errors|missed|missing|off|lost|slack|margin|tails?|unsure|rest|radius|allowance|beyond|neglected|noise|spare)"
    r"(_\w+)?",
    re.IGNORECASE,
)
"""Names of what is added to, or subtracted from, a value because the value is not known better."""

_OTHER: Final = dict(_PAIRS) | {b: a for a, b in _PAIRS}
_DROPPED: Final = {"min", "max", "minimum", "maximum", "Min", "Max", "abs", "floor", "ceil", "fabs", "absolute", "sqrt"}


@dataclass(frozen=True, order=True)
class Mutant:
    """One edit: in ``file``, the bytes between two offsets become ``new``."""

    file: str
    line: int
    start: int
    end: int
    new: str

    def applied(self, text: str) -> str:
        """The source with the edit made."""
        raw = text.encode()
        return (raw[: self.start] + self.new.encode() + raw[self.end :]).decode()

    def outward(self, text: str) -> bool:
        """Whether the edit takes the other end of a number or rounds it to the other side, drops an error or a clip."""
        old = text.encode()[self.start : self.end].decode()
        if {old, self.new} == set(_TOWARDS) or {_last(old), _last(self.new)} in _SIDES:
            return True
        return _drops_an_error(old, self.new) or _drops_a_clip(old, self.new)

    def diff(self, text: str) -> str:
        """What the edit changes, without the lines around it."""
        lines = difflib.unified_diff(text.splitlines(), self.applied(text).splitlines(), lineterm="", n=0)
        return "\n".join(line for line in list(lines)[2:] if not line.startswith("@@"))


def _last(text: str) -> str:
    return text.rpartition(".")[2]


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None


def _drops_an_error(old: str, new: str) -> bool:
    """Whether of a sum or difference only the first term is left, and the second one is an error by its name."""
    node = _parsed(old)
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub)) or isinstance(
        node.right, ast.Tuple | ast.List
    ):
        return False
    parts = list(ast.walk(node.right))
    names = [
        one.id if isinstance(one, ast.Name) else one.attr for one in parts if isinstance(one, ast.Name | ast.Attribute)
    ]
    return new == ast.get_source_segment(old, node.left) and any(map(_ERROR_TERM.fullmatch, names))


def _drops_a_clip(old: str, new: str) -> bool:
    """Whether ``max(x, 0)`` becomes ``x``, or ``min(x, 1)``."""
    node, left = _parsed(old), _parsed(new)
    if left is None or not (isinstance(node, ast.Call) and len(node.args) == 2):
        return False
    names = (getattr(node.func, "id", ""), getattr(node.func, "attr", ""))
    return (
        bool(_DROPPED.intersection(names))
        and [ast.unparse(one) in _ENDS_OF_RANGES for one in node.args].count(True) == 1
        and ast.unparse(left) not in _ENDS_OF_RANGES
    )


_TUNED = {f"{module}.{name}" for module, names in KNOBS.items() for name in names}
"""Constants and default arguments that only tune, by their full names."""


class _Places(ast.NodeVisitor):
    """All mutants of one module."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.raw, self.found = file, text.encode(), list[Mutant]()
        self.inside = file.removesuffix(".py").replace("/", ".")
        self.starts = [0]
        for line in self.raw.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def span(self, node: Any) -> tuple[int, int]:
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.raw[start:end].decode()

    def add(self, node: Any, *texts: str) -> None:
        self.found += [Mutant(self.file, node.lineno, *self.span(node), new) for new in texts]

    def operator(self, start: int, end: int, sign: str) -> None:
        """Replace an operator that stands between two operands (and their brackets)."""
        between = self.raw[start:end].decode()
        at = between.find(sign)
        if at >= 0 and "#" not in between:
            line = self.raw[: start + at].count(b"\n") + 1
            place = start + at, start + at + len(sign)
            self.found += [Mutant(self.file, line, *place, new) for new in _OTHERS[sign]]

    # What is written for readers, or for the type checker, has no value to change.
    def visit_Raise(self, node: ast.Raise) -> None: ...
    def visit_Assert(self, node: ast.Assert) -> None: ...
    def visit_JoinedStr(self, node: ast.JoinedStr) -> None: ...
    def visit_Import(self, node: ast.Import) -> None: ...
    def visit_ImportFrom(self, node: ast.ImportFrom) -> None: ...

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if WORDS.fullmatch(node.name) or f"{self.inside}.{node.name}" in GUIDES:
            return
        named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        kept = [value for one, value in named if value and f"{self.inside}.{node.name}.{one.arg}" not in _TUNED]
        for child in (*node.args.defaults, *kept, *node.body):
            self.visit(child)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        guides = getattr(node.target, "id", "") in KNOBS.get(self.inside, ())
        if node.value is not None and not guides and "TypeAlias" not in ast.dump(node.annotation):
            self.visit(node.value)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        outer, self.inside = self.inside, f"{self.inside}.{node.name}"
        for child in node.body:
            self.visit(child)
        self.inside = outer

    def visit_If(self, node: ast.If) -> None:
        if not (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            self.add(node.test, f"not ({self.text(node.test)})", "False")
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in ERRORS:
            return
        if name in _DROPPED and not any(isinstance(one, ast.Starred) for one in node.args):
            self.add(node, *(f"({self.text(one)})" for one in node.args))
        if isinstance(node.func, ast.Name) and name in _OTHER:
            self.add(node.func, _OTHER[name])
        if name == "nextafter" and (old := self.text(node.args[1])) in _TOWARDS:
            self.add(node.args[1], _TOWARDS[old])
        for given in node.keywords:
            if given.arg == "up" and isinstance(given.value, ast.Constant):
                self.add(given.value, str(not given.value.value))
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr in _OTHER:
            self.add(node, f"{self.text(node.value)}.{_OTHER[node.attr]}")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if type(node.value) is int:
            self.add(node, str(node.value + 1), *([str(node.value - 1)] if node.value > 1 else []))
        elif type(node.value) is float:
            self.add(node, repr(node.value * 2), repr(node.value / 2))

    def visit_Compare(self, node: ast.Compare) -> None:
        left: ast.expr = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            if type(operator) in _SIGNS:
                self.operator(self.span(left)[1], self.span(right)[0], _SIGNS[type(operator)])
            left = right
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        texts = (node.left, node.right)
        if any(isinstance(x, ast.JoinedStr) or isinstance(getattr(x, "value", None), str) for x in texts):
            return
        if type(node.op) in _SIGNS:
            self.operator(self.span(node.left)[1], self.span(node.right)[0], _SIGNS[type(node.op)])
            self.add(node, self.text(node.left))
            if isinstance(node.op, ast.Add | ast.Mult):
                self.add(node, self.text(node.right))
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if type(node.op) in _SIGNS:
            self.operator(self.span(node.target)[1], self.span(node.value)[0], _SIGNS[type(node.op)])
            self.add(node, f"{self.text(node.target)} = {self.text(node.value)}", "pass")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.USub | ast.Not):
            self.add(node, f"({self.text(node.operand)})")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        word = " and " if isinstance(node.op, ast.And) else " or "
        for left_out in node.values:
            rest = [f"({self.text(value)})" for value in node.values if value is not left_out]
            self.add(node, f"({word.join(rest)})")
        self.generic_visit(node)


def mutants(text: str, file: str) -> list[Mutant]:
    """All edits of a source; a few do not compile, or change nothing: see :func:`changes`."""
    places = _Places(file, text)
    places.visit(ast.parse(text))
    return sorted(set(places.found))


def changes(mutant: Mutant, text: str) -> bool:
    """Whether the source compiles with the edit, and is another program."""
    try:
        return ast.dump(ast.parse(mutant.applied(text))) != ast.dump(ast.parse(text))
    except SyntaxError:
        return False


def drawn(seed: str, root: Path = ROOT, *, outward: bool = False, files: Collection[str] = ()) -> Iterator[Mutant]:
    """Mutants in an order drawn by seed: lines evenly over the library, and one edit of each.

    With ``outward`` all edits that take the other end of a number, round it to the other side, drop an error term or a
    clip. With ``files`` those of these modules only.
    """
    rng, texts = random.Random(seed), dict[str, str]()
    by_line: dict[tuple[str, int], list[Mutant]] = {}
    for path in sorted((root / "symshuffle").rglob("*.py")):
        file = str(path.relative_to(root))
        if files and file not in files:
            continue
        texts[file] = path.read_text(encoding="utf-8")
        for one in mutants(texts[file], file):
            if outward and not one.outward(texts[file]):
                continue
            by_line.setdefault((file, one.line), []).append(one)
    for line in rng.sample(sorted(by_line), len(by_line)):
        for one in by_line[line] if outward else [rng.choice(by_line[line])]:
            if changes(one, texts[one.file]):
                yield one
