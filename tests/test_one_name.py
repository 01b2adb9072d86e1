"""One name is one thing: no public class, constant or type is defined under one name in two modules."""

import ast
from collections import defaultdict
from pathlib import Path

import symshuffle

LIBRARY = Path(symshuffle.__file__).parent
ACCEPTED = {
    "app": "Typer's word for the commands of one module",
    "Claim": "of a paper, and of whoever says what a client does: each is the word of its public room",
    "Outcome": "of the check of a claim, and of an audit: each is the word of its public room",
    "Comparison": "of two numbers in a check of the ledger, and of mechanisms in `compare`: both are their users' word",
}
ALONE = "ledger/recheck/bound.py"
"""It is given away as one file, so it repeats what the library has elsewhere."""


def defined(text):
    """Public names of the classes, constants and types of a module, but for variables of types."""
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.ClassDef):
            names = [statement.name]
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            made = getattr(statement.value, "func", None)
            variable = isinstance(made, ast.Name) and made.id in ("TypeVar", "ParamSpec")
            names = [one.id for one in targets if isinstance(one, ast.Name) and not variable]
        else:
            continue
        yield from (name for name in names if not name.startswith("_"))


def twice(texts):
    """Names that are defined in several of the modules, and where."""
    homes = defaultdict(list)
    for module, text in texts.items():
        for name in defined(text):
            homes[name].append(module)
    return {name: modules for name, modules in homes.items() if len(modules) > 1}


def test_no_name_is_defined_twice():
    modules = {str(path.relative_to(LIBRARY)): path.read_text(encoding="utf-8") for path in LIBRARY.rglob("*.py")}
    del modules[ALONE]
    assert twice(modules).keys() == ACCEPTED.keys()


def test_a_name_that_is_defined_twice_is_seen():
    first = "class Plan:\n    pass\nBITS: Final = 3\n_BITS = 4\nT = TypeVar('T')\n"
    assert twice({"one.py": first, "two.py": "Plan: TypeAlias = int\n_BITS = 5\nT = TypeVar('T')\n"}).keys() == {"Plan"}
    assert twice({"one.py": first, "two.py": "BITS = 3\n"}).keys() == {"BITS"}
