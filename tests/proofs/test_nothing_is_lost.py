"""A claim that loses its check, or a check that loses its claim, is noticed; catalogue entries are in test_registry."""

import ast
import importlib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import proofs_checks
from symshuffle.ledger.claims.model import Claim
from symshuffle.ledger.claims.registry import load

ROOT = Path(proofs_checks.__file__).parent
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(ROOT.rglob("*.py"))}
OTHERS = [
    ast.parse(path.read_text(encoding="utf-8"))
    for folder in ("tests", "notebooks", "examples", "benchmarks", "docs")
    for path in (ROOT.parent / folder).rglob("*.py")
]


def unused(trees: dict[Path, ast.Module], others: list[ast.Module]) -> set[str]:
    """Functions at the top of a module that nothing speaks of: no claim, no other function, no test, no notebook."""
    defined = {
        (path, node.name) for path, tree in trees.items() for node in tree.body if isinstance(node, ast.FunctionDef)
    }
    spoken = Counter(name for tree in (*trees.values(), *others) for name in names(tree))
    own = Counter(
        node.name
        for tree in trees.values()
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        for name in names(node)
        if name == node.name
    )
    return {f"{path.name}: {name}" for path, name in defined if spoken[name] <= own[name]}


@cache
def names(tree: ast.AST) -> list[str]:
    """Kept for each tree, which no test changes: all are walked once."""
    found = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    found += [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return found + [alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names]


def test_every_function_of_the_checks_is_part_of_one() -> None:
    assert unused(TREES, OTHERS) == set()


def test_a_claim_that_goes_leaves_its_check_behind() -> None:
    path = ROOT / "ldp_tradeoff" / "errata.py"
    place, many = 0, 1
    while place < many:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        (claims,) = (
            node for node in tree.body if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "CLAIMS"
        )
        assert isinstance(claims.value, ast.Tuple)
        many = len(claims.value.elts)
        lost = claims.value.elts.pop(place)
        assert unused({**TREES, path: tree}, OTHERS), ast.unparse(lost)[:80]
        place += 1
    assert many > 1


@pytest.mark.parametrize("path", TREES, ids=lambda path: path.stem)
def test_a_claim_that_is_written_is_registered(path: Path) -> None:
    name = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
    written = [value for value in vars(importlib.import_module(name)).values() if isinstance(value, Claim)]
    known = {claim.id for claim in load().claims}
    assert {claim.id for claim in written} <= known


def test_every_claim_brings_a_check_of_its_own_package() -> None:
    for claim in load().claims:
        assert callable(claim.check) and callable(claim.printed), claim.id
