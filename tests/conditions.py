"""Delete every condition of the certificate checkers, one at a time, and see which false certificates then pass.

A condition is an ``if`` whose body raises ``CertificateError`` (each operand of an ``or`` is one of its own), or a
``with within(...)`` that names the part. The catalogue of false certificates (tests/soundness/false_*.py)
says where each has to be refused. A condition is watched if, without it, at least one false certificate is accepted,
refused elsewhere, or ends in a bare error; and only certificates that it refused itself may change.

    python -m tests.conditions            # the table; exit status 1 if a condition is not watched
"""

import ast
import importlib
import inspect
import signal
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from symshuffle.base.errors import CertificateError
from tests.soundness.catalogue import CASES
from tests.soundness.false_certificates import Case

MODULES = (
    "symshuffle.accountants.rounds.dominating",
    "symshuffle.base.lp",
    "symshuffle.design.shuffled.minorant",
    "symshuffle.base.results",
    "symshuffle.ledger.recheck.bound",
    "symshuffle.ledger.recheck.checker",
    "symshuffle.ledger.recheck.values",
    "symshuffle.design.decision.certificate",
    "symshuffle.design.decision.problems",
    "proofs_checks._convex_order",
    "symshuffle.design.information.maximum",
    "symshuffle.design.information.formulas",
    "symshuffle.utility.estimation.lower_bounds",
    "symshuffle.utility.likelihood.law",
    "symshuffle.utility.likelihood.worst",
    "symshuffle.design.decision.modelling",
    "symshuffle.utility.frontiers.orbit",
    "symshuffle.utility.frontiers.certificate",
    "symshuffle.design.parametric.program",
    "symshuffle.design.decision.designs",
    "symshuffle.channels.geometry.linprog",
    "symshuffle.channels.geometry.orders",
    "symshuffle.vectors.privacy.dominance",
    "symshuffle.vectors.error.minimal_risk",
    "symshuffle.vectors.error.optimal",
)
UNDRIVEN = {
    "symshuffle.utility.frontiers.convex_order": "a kernel that the library itself has just made",
    "symshuffle.vectors.calibration.search": "half a minute for each false one: tests/vectors/test_calibration.py has them",
    "symshuffle.vectors.calibration.floor": "the floor of a calibration: tests/vectors/test_calibration.py has them",
    "symshuffle.vectors.privacy.conjecture": "searches of seconds: tests/vectors/test_conjecture.py has them",
}
"""Modules whose conditions are not deleted one by one, and why."""

SECONDS = 20
"""Of computing, for one certificate: not of waiting for a machine that is busy."""


@dataclass(frozen=True)
class Condition:
    """A place in a module, the operand of its test (None for all of it), and the function around it."""

    module: str
    function: str
    line: int
    operand: int | None
    text: str
    raises: int
    """The line of its ``raise``; 0 for a ``with within``."""


def conditions(module: str) -> Iterator[Condition]:
    """Every condition of a module, in order."""
    source = inspect.getsource(importlib.import_module(module))
    for function, node in _statements(ast.parse(source)):
        if isinstance(node, ast.With):
            yield Condition(module, function, node.lineno, None, ast.unparse(node.items[0]), 0)
        else:
            last = node.body[-1].lineno
            parts = node.test.values if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.Or) else ()
            for i, part in enumerate(parts):
                yield Condition(module, function, node.lineno, i, ast.unparse(part), last)
            if not parts:
                yield Condition(module, function, node.lineno, None, ast.unparse(node.test), last)


def _statements(tree: ast.Module) -> Iterator[tuple[str, Any]]:
    def walk(node: ast.AST, names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        for child in ast.iter_child_nodes(node):
            inner = (*names, child.name) if isinstance(child, ast.FunctionDef | ast.ClassDef) else names
            if _is_condition(child):
                yield ".".join(names), child
            yield from walk(child, inner)

    return walk(tree, ())


def _is_condition(node: ast.AST) -> bool:
    if isinstance(node, ast.With):
        call = node.items[0].context_expr
        return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "within"
    if not isinstance(node, ast.If) or not isinstance(node.body[-1], ast.Raise):
        return False
    raised = node.body[-1].exc
    return isinstance(raised, ast.Call) and isinstance(raised.func, ast.Name) and raised.func.id == "CertificateError"


class _Deletion(ast.NodeTransformer):
    def __init__(self, condition: Condition) -> None:
        self.condition = condition

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        if node.lineno == self.condition.line and _is_condition(node):
            if self.condition.operand is not None and isinstance(node.test, ast.BoolOp):
                node.test.values[self.condition.operand] = ast.Constant(value=False)
            else:
                node.test = ast.BoolOp(ast.And(), [node.test, ast.Constant(value=False)])  # keeps what := binds
        return node

    def visit_With(self, node: ast.With) -> Any:
        self.generic_visit(node)
        return node.body if node.lineno == self.condition.line and _is_condition(node) else node


def code_without(condition: Condition) -> types.CodeType:
    """The code of the function around a condition, without it."""
    module = importlib.import_module(condition.module)
    tree = ast.fix_missing_locations(_Deletion(condition).visit(ast.parse(inspect.getsource(module))))
    code = compile(tree, module.__file__ or "", "exec", dont_inherit=True)
    for name in condition.function.split("."):
        code = next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name)
    return code


def function_around(condition: Condition) -> types.FunctionType:
    """The live function around a condition."""
    found: Any = importlib.import_module(condition.module)
    for name in condition.function.split("."):
        found = found.__dict__[name]
    found = inspect.unwrap(found)
    assert isinstance(found, types.FunctionType)
    return found


def outcome(case: Case) -> tuple[str, tuple[tuple[str, int], ...]]:
    """What becomes of a false certificate, and the lines through which its refusal passed."""

    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        case.check()
    except CertificateError as error:
        return error.place, tuple(_lines(error))
    except Exception as error:
        return f"bare {type(error).__name__}", ()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "accepted", ()


def _lines(error: BaseException | None) -> Iterator[tuple[str, int]]:
    while error is not None:
        traceback = error.__traceback__
        while traceback is not None:
            yield traceback.tb_frame.f_globals.get("__name__", ""), traceback.tb_lineno
            traceback = traceback.tb_next
        error = error.__context__


def fallen(condition: Condition, cases: dict[str, Case]) -> dict[str, str]:
    """The false certificates that are no longer refused at their place without a condition."""
    function = function_around(condition)
    kept = function.__code__
    function.__code__ = code_without(condition)
    _forget()
    try:
        found = {name: outcome(case)[0] for name, case in cases.items()}
    finally:
        function.__code__ = kept
        _forget()
    return {name: now for name, now in found.items() if now != cases[name].place}


def _forget() -> None:
    """Clear what the modules have kept: it was found with other conditions."""
    for module in MODULES:
        for value in vars(importlib.import_module(module)).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


def main(show: Callable[[str], object] = print) -> int:
    """Print the table; the number of conditions that nothing watches, or that change what they did not refuse."""
    refused: dict[str, tuple[tuple[str, int], ...]] = {}
    for name, case in CASES.items():
        place, refused[name] = outcome(case)
        if place != case.place:
            show(f"{name}: expected at {case.place}, found {place}")
            return 1
    found = [condition for module in MODULES for condition in conditions(module)]
    bad = 0
    for condition in found:
        falls = fallen(condition, CASES)
        foreign = [n for n in falls if condition.raises and (condition.module, condition.raises) not in refused[n]]
        bad += not falls or bool(foreign)
        what = "; ".join(f"{name} ({now})" for name, now in falls.items()) or "NOTHING FALLS"
        where = f"{condition.module.removeprefix('symshuffle.')}:{condition.line} {condition.function.split('.')[-1]}"
        show(f"{where} | {condition.text[:70]} | {what}" + (f" | FOREIGN {foreign}" if foreign else ""))
    show(f"{len(found)} conditions, {len(CASES)} false certificates, {bad} conditions that are not watched")
    return bad


if __name__ == "__main__":
    sys.exit(bool(main()))
