"""The registry of engines is the only list of them: whatever keeps another is compared with it."""

import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

from symshuffle import InputError, Law
from symshuffle.accountants.bounds.evaluate import Method
from symshuffle.base import Arithmetic
from symshuffle.base.choices import STRENGTH, members
from symshuffle.cli.arguments import EngineName, engine_and_rigour
from symshuffle.engines.registry import ENGINES, Engine, engine_class, engine_classes
from tests.conformance import grid

ROOT = Path(__file__).parents[2]
MODULES = {location.split(":")[0] for location in ENGINES.values()}
LAW = Law((Fraction(1), Fraction(-1)), (Fraction(1, 3), Fraction(2, 3)))


def contract(name):
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    return next(one for one in contracts if one["name"].startswith(name))


def test_import_contracts_name_every_engine():
    # Neither sees a `Law` that the others could see: one is the witness in mpmath, one takes densities.
    others = {"symshuffle.engines.confirm", "symshuffle.engines.densities.bromwich"}
    wrong = set(contract("engines are independent")["modules"]) ^ (MODULES | others)
    assert not wrong, f"pyproject.toml, contract of independent engines, lacks or has too much: {wrong}"
    assert set(contract("engines know laws")["source_modules"]) == {"symshuffle.engines"}


def test_modules_that_have_the_shape_of_an_engine_are_registered():
    for path in (ROOT / "symshuffle").rglob("*.py"):
        shaped = "(Engine):" in path.read_text(encoding="utf-8")
        assert shaped == (".".join(path.relative_to(ROOT).with_suffix("").parts) in MODULES), path


def test_the_command_line_and_the_grid_know_them():
    assert [*members(EngineName)] == ["auto", *ENGINES]
    assert set(grid.LABELS) == set(ENGINES) == {label for label, _ in grid.engines(LAW)}


def test_the_page_lists_them():
    page = (ROOT / "docs" / "how-to-choose.md").read_text(encoding="utf-8")
    for label in ENGINES:
        name = engine_class(label).with_tolerance(1e-6, 128).name
        assert f"| `{name}` |" in page, f"{label} has no row in docs/how-to-choose.md"


@pytest.mark.parametrize("label", ENGINES)
def test_each_keeps_the_protocol(label):
    kind = engine_class(label)
    for engine in (kind.with_tolerance(1e-4, 128), *kind.trials(LAW)):
        assert isinstance(engine, Engine)
        bracket = engine.bracket(LAW, 5)
        assert bracket.engine == engine.name
        assert STRENGTH[bracket.arithmetic] >= STRENGTH[kind.least]


@pytest.mark.parametrize("label", ENGINES)
def test_the_command_line_makes_them(label):
    for arithmetic in (None, *members(Arithmetic)):
        engine, level = engine_and_rigour(label, 1e-4, arithmetic)
        assert engine.name == engine_class(label).with_tolerance(1e-4, 128).name
        assert arithmetic is None or level == arithmetic
    assert engine_and_rigour("contour", 1e-4, "ball")[0].least == "ball"


def test_a_request_is_checked_when_it_is_made():
    assert Method().engine is None
    for kind in (kind for _, kind in engine_classes()):
        with pytest.raises(InputError, match="engine"):
            Method.of(engine=kind)
    with pytest.raises(InputError, match="rtol"):
        Method.of(rtol=2)


def test_a_point_of_the_grid_is_answered_by_two_engines_without_a_contradiction():
    """What `make conformance` does for thousands of points."""
    one = grid.Family("krr", (("k", 3),), "1")
    found = grid.answer(one, grid.reduction(one.source()), 10, "1e-3")
    assert found.disagreements == [] and len(found.engines) > 1
