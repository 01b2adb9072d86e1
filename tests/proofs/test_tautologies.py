"""No comparison of a check has the same thing on both sides, as written and with local names put in."""

import ast
import copy
from pathlib import Path

import proofs_checks

COMPARING = {"compare", "identity", "same_law"}
SOURCES = sorted(Path(proofs_checks.__file__).parent.rglob("*.py"))


def assigned(function):
    """Local names that are given a value once, with it."""
    found = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append(node.value)
    return {name: values[0] for name, values in found.items() if len(values) == 1}


class Spelled(ast.NodeTransformer):
    """Puts values in for names, some levels deep."""

    def __init__(self, values, levels=3):
        self.values, self.levels = values, levels

    def visit_Name(self, node):  # named by ast
        if not isinstance(node.ctx, ast.Load) or node.id not in self.values or not self.levels:
            return node
        return Spelled(self.values, self.levels - 1).visit(copy.deepcopy(self.values[node.id]))


def spelled(node, values):
    return ast.unparse(Spelled(values).visit(copy.deepcopy(node)))


def tautologies(source):
    """Lines of comparisons whose two sides are written alike."""
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef):
            values = assigned(function)
            for call in ast.walk(function):
                named = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in COMPARING
                if named and len(call.args) > 1 and spelled(call.args[0], values) == spelled(call.args[1], values):
                    yield call.lineno


def test_no_comparison_has_one_thing_on_both_sides():
    seen = 0
    for path in SOURCES:
        source = path.read_text()
        seen += source.count("compare(") + source.count("identity(")
        assert not list(tautologies(source)), path
    assert seen > 1000


def test_a_tautology_is_found_also_behind_names():
    check = "def check(statement, rng):\n    a = f(x)\n    b = f(x)\n    yield compare(a + 1, b + 1, at='')\n"
    assert list(tautologies(check)) == [4]
    assert not list(tautologies(check.replace("b = f(x)", "b = f(y)")))
