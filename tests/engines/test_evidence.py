"""Every engine says of its error terms which are proved, which rest on an assumption, and which are heuristic.

The page on how to choose repeats that in a row per engine; it is compared here with what the modules say.
"""

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import symshuffle.engines
from symshuffle.engines.registry import ENGINES

WALKED = pkgutil.walk_packages(symshuffle.engines.__path__, "symshuffle.engines.")
FOUND = {m.name.rpartition(".")[2]: m.name for m in WALKED if not m.ispkg and not m.name.endswith(".registry")}
TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "how-to-choose.md").read_text()


def evidence(name):
    """The statement of evidence of a module, without line breaks."""
    return " ".join(importlib.import_module(FOUND[name]).__doc__.partition("Evidence")[2].split())


def clauses(text):
    """What a statement says is proved, assumed and heuristic: the text after each word in italics."""
    parts = re.split(r"\*([A-Z][^*]*)\*", text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def row(label):
    found = [line for line in PAGE.splitlines() if line.startswith(f"| `{label}` |")]
    return found[0].split("|")[2] if found else None


@pytest.mark.parametrize("name", sorted(FOUND))
def test_a_module_of_an_engine_states_its_evidence(name):
    text = importlib.import_module(FOUND[name]).__doc__
    said = evidence(name).lower()
    assert said, f"the docstring of {FOUND[name]} ends with no paragraph `Evidence:`"
    if name != "saddle":  # which only chooses, and lends its constants
        assert "proved" in said or "integer, rational or ball arithmetic" in said
    if "in doubles" in text and name not in {"ball", "sparse", "counts", "gauss", "segments", "densities"}:
        assert "assum" in said


@pytest.mark.parametrize("label", ENGINES)
def test_an_engine_that_neglects_something_has_cases_of_its_terms(label):
    module, kind = ENGINES[label].split(":")
    cases = re.search(rf"\b{kind}\(", (TESTS / "soundness" / "test_engine_terms.py").read_text())
    assert cases or "nothing is neglected" in evidence(module.rpartition(".")[2]), "no case in test_engine_terms.py"


@pytest.mark.parametrize("label", [label for label in ENGINES if label != "ball"])
def test_the_page_says_of_an_engine_what_its_module_says(label):
    """No heuristic passes for a bound, no assumption for a proof, and what is called proved is proved there."""
    said, shown = evidence(ENGINES[label].split(":")[0].rpartition(".")[2]), row(label)
    assert shown is not None, f"no row of {label} in docs/how-to-choose.md"
    assert ("heuristic" in shown) == ("Heuristic" in clauses(said))
    assert ("assum" in shown or " if sums" in shown) == ("assum" in said or "proved if" in said)
    if "Heuristic" in clauses(said):
        assert "bounded" not in shown
    for named in re.findall(r"([a-z ,]+?) have proved bounds", shown):
        for term in re.split(r",| and ", named):
            assert term.strip() in clauses(said)["Proved"]


def test_balls_have_no_heuristic_and_the_page_says_so():
    assert "No assumption about NumPy and no heuristic constant enters an end" in evidence("ball")
    assert "balls with `--arithmetic ball` (`--engine ball`), where all is proved" in row("contour")


def test_nothing_else_on_the_page_is_called_bounded():
    """The word stands in rows of engines without a heuristic only."""
    for line in PAGE.splitlines():
        if re.search(r"\bbounded\b", line):
            label = re.match(r"\| `(\w+)` \|", line)
            assert label, line
            assert "Heuristic" not in clauses(evidence(label[1])), line


def test_sums_for_densities_rest_on_no_heuristic():
    """The sum over the nodes is formed in a known order, so that no constant of it had to be guessed."""
    said = clauses(evidence("bromwich"))
    assert "Heuristic" not in said
    assert "rounded to nearest" in said["Proved under an assumption"]
