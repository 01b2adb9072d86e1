"""Changes of the source of a transcribed statement, each compiled in the namespace of its module."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from copy import deepcopy
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from textwrap import indent
from types import FunctionType
from typing import Any, Final, TypeAlias

from symshuffle.ledger.claims.model import Statement

CHANGES: Final = {
    "constant": "a constant, or the whole value, 1 % larger or smaller",
    "min-max": "min for max, or max for min",
    "strictness": "a strict comparison for a weak one, or a weak one for a strict one",
    "sign": "minus for plus, plus for minus, or the whole value negated",
    "shift": "an integer, or an argument such as n or k, larger or smaller by 1",
    "beyond": "true for arguments up to 50, false beyond",
    "roles": "two arguments, two names or two entries of the value exchanged",
}
"""Kinds of perturbations, and what is changed."""

Perturbation: TypeAlias = tuple[str, int, str, Statement]
"""A wrong statement after its kind, the line of the source, and what becomes of that."""


def bare(statement: Statement) -> Any:
    """The function that a statement with some arguments given, or a decorated one, was made of."""
    while isinstance(statement, partial):
        statement = statement.func
    return inspect.unwrap(statement)


_PAIRS: Final = (("min", "max"), ("Min", "Max"), ("minimum", "maximum"))
_OTHER: Final = dict(_PAIRS) | {b: a for a, b in _PAIRS}
EXTREMES: Final[dict[Any, Any]] = {min: max, max: min}
_STRICT: Final = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
_UNREAD: Final = (ast.JoinedStr, ast.Raise, ast.Assert, ast.arguments, ast.arg)
_FRACTION: Final = "_fraction_"
"""The name under which changed statements find rationals."""

_Edit: TypeAlias = tuple[str, ast.AST]


def changed_sources(statement: Statement) -> Iterator[Perturbation]:
    """Changes of the syntax tree."""
    if statement in EXTREMES:
        yield "min-max", 0, f"{statement} -> {EXTREMES[statement]}", EXTREMES[statement]
    function = bare(statement)
    tree = deepcopy(_tree(function))
    if tree is None:
        return
    if isinstance(tree, ast.FunctionDef):
        tree.decorator_list = []
    nodes = list(_read(tree))
    for place, (node, parent) in enumerate(nodes):
        for kind, new in _edits(node, parent):
            copy = deepcopy(tree)
            target = list(_read(copy))[place][0]
            made = _compiled(function, _Replaced(target, new).visit(copy))
            if made is not None and isinstance(statement, partial):
                made = partial(made, *statement.args, **statement.keywords)
            if made is not None:
                text = f"{ast.unparse(node)} -> {ast.unparse(ast.fix_missing_locations(new))}"
                yield kind, getattr(node, "lineno", 0), text, made


def _edits(node: ast.AST, parent: ast.AST) -> Iterator[_Edit]:
    """What becomes of a node, by kind."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            counts = isinstance(parent, ast.Subscript) or _is_call(parent, "range") or _exponent(parent, node)
            if isinstance(value, int):
                yield from (("shift", ast.Constant(value + by)) for by in (1, -1))
                if not counts:
                    top = ast.Constant(101 * value if value else 1)
                    yield "constant", ast.Call(ast.Name(_FRACTION, ast.Load()), [top, ast.Constant(100)], [])
            elif not counts:
                yield "constant", ast.Constant(value * 1.01)
        case ast.Name(id=name, ctx=ast.Load()) if name in _OTHER:
            yield "min-max", ast.Name(_OTHER[name], ast.Load())
        case ast.Attribute(attr=name) if name in _OTHER:
            yield "min-max", ast.Attribute(node.value, _OTHER[name], node.ctx)
        case ast.Compare(ops=operators):
            for i, operator in enumerate(operators):
                if type(operator) in _STRICT:
                    others = [*operators[:i], _STRICT[type(operator)](), *operators[i + 1 :]]
                    yield "strictness", ast.Compare(node.left, others, node.comparators)
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            other = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
            yield "sign", ast.BinOp(node.left, other, node.right)
        case ast.UnaryOp(op=ast.USub()):
            yield "sign", node.operand
        case ast.Tuple(elts=[first, second, *rest]) if isinstance(parent, ast.Return) or isinstance(
            node.ctx, ast.Store
        ):
            yield "roles", ast.Tuple([second, first, *rest], node.ctx)


def _is_call(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _exponent(parent: ast.AST, node: ast.AST) -> bool:
    return isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Pow) and parent.right is node


def _read(tree: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """The nodes of a function that decide its value, each with its parent, in the order of the source."""
    for child in ast.iter_child_nodes(tree):
        documents = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
        if not isinstance(child, _UNREAD) and not documents and not _is_annotation(tree, child):
            yield child, tree
            yield from _read(child)


def _is_annotation(parent: ast.AST, child: ast.AST) -> bool:
    if isinstance(parent, ast.FunctionDef):
        return child is parent.returns
    return isinstance(parent, ast.AnnAssign) and child is parent.annotation


class _Replaced(ast.NodeTransformer):
    """A tree with one node replaced."""

    def __init__(self, target: ast.AST, new: ast.AST) -> None:
        self.target, self.new = target, new

    def visit(self, node: ast.AST) -> Any:
        return self.new if node is self.target else self.generic_visit(node)


@cache
def _module(file: str) -> ast.Module:
    return ast.parse(Path(file).read_text(encoding="utf-8"), filename=file)


def _tree(function: Any) -> ast.FunctionDef | ast.Lambda | None:
    """The definition of a function in its file; None for a function of C, or one without a file."""
    code = getattr(function, "__code__", None)
    if code is None or not Path(code.co_filename).is_file():
        return None
    for node in ast.walk(_module(code.co_filename)):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            if code.co_firstlineno in {node.lineno, *(one.lineno for one in node.decorator_list)}:
                return node
        elif isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno:
            made = getattr(_compiled(function, node), "__code__", code)
            if (made.co_code, made.co_names, made.co_varnames) == (code.co_code, code.co_names, code.co_varnames):
                return node
    return None


def _compiled(function: FunctionType, tree: ast.FunctionDef | ast.Lambda) -> Any:
    """A definition in the namespace of a function, with what that function closes over; None if it does not compile."""
    code = function.__code__
    name = tree.name if isinstance(tree, ast.FunctionDef) else "_made_"
    cells = (cell.cell_contents for cell in function.__closure__ or ())
    given = {**dict(zip(code.co_freevars, cells, strict=True)), _FRACTION: Fraction}
    text = ast.unparse(tree) if isinstance(tree, ast.FunctionDef) else f"{name} = {ast.unparse(tree)}"
    scope: dict[str, Any] = {}
    try:
        text = f"def _outer_({', '.join(given)}):\n{indent(text, '    ')}\n    return {name}"
        exec(compile(text, code.co_filename, "exec"), function.__globals__, scope)
        return scope["_outer_"](**given)
    except (SyntaxError, ValueError):
        return None
