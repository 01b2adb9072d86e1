"""Every engine says of its error terms which are proved, which rest on an assumption, and which are heuristic."""

import importlib
import pkgutil

import pytest

import symshuffle.engines

MODULES = sorted({m.name for m in pkgutil.iter_modules(symshuffle.engines.__path__)} - {"registry"})


@pytest.mark.parametrize("name", MODULES)
def test_a_module_of_an_engine_states_its_evidence(name):
    text = importlib.import_module(f"symshuffle.engines.{name}").__doc__
    said = text.partition("Evidence")[2].lower()
    assert said
    if name != "saddle":  # which only chooses, and lends its constants
        assert "proved" in said or "integer, rational or ball arithmetic" in said
    if "in doubles" in text and name not in {"ball", "sparse", "counts", "gauss", "segments", "densities"}:
        assert "assum" in said
