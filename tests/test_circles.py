"""No circle of imports, whenever they happen: those inside functions and those for the type checker count too."""

from graphlib import CycleError, TopologicalSorter

import grimp
import pytest


def order(imports: dict[str, set[str]]) -> list[str]:
    return list(TopologicalSorter(imports).static_order())


def test_no_module_imports_what_imports_it():
    graph = grimp.build_graph("symshuffle", "proofs_checks")
    assert order({module: graph.find_modules_directly_imported_by(module) for module in graph.modules})


def test_a_circle_is_noticed():
    with pytest.raises(CycleError, match="cycle"):
        order({"channel": {"law"}, "law": {"bracket"}, "bracket": {"channel"}})
