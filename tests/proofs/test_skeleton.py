"""Every claim has the same skeleton, and every paper's checks draw from the same strategies."""

import ast
import importlib
import inspect
import re
from functools import partial
from pathlib import Path

import pytest

from proofs_checks import _strategies
from symshuffle.ledger import load

CHECKED = [claim for claim in load().claims if claim.kind != "no-content"]
MODULES = sorted(Path(_strategies.__file__).parent.glob("*/*.py"))
PAPERS = sorted({path.parent.name for path in MODULES})
WORDS = 8
"""Fewer say neither the setting nor what decides."""
STRATEGIES = {name for name, one in vars(_strategies).items() if inspect.isfunction(one)}


def _function(check):
    """The function that a claim's check calls in the end."""
    while isinstance(check, partial):
        check = check.func
    return check


@pytest.mark.parametrize("claim", CHECKED, ids=lambda claim: claim.id)
def test_a_claim_says_its_setting_its_statement_and_how_it_is_decided(claim):
    assert claim.words.strip() and claim.title.strip() and claim.source.strip()
    assert all(one.strip() for one in claim.assumptions)
    assert len(claim.scope.split()) >= 2  # for what it is decided, and by which means
    open_parameters = [p for p in inspect.signature(claim.check).parameters.values() if p.default is p.empty]
    assert len(open_parameters) == 2  # a statement and a random generator, whoever's paper it is
    assert (importlib.import_module(_function(claim.check).__module__).__doc__ or "").strip()


@pytest.mark.parametrize("paper", PAPERS)
def test_a_check_says_what_it_takes_what_it_compares_and_how_it_decides(paper):
    checks = {_function(claim.check) for claim in CHECKED}
    own = [check for check in checks if check.__module__.startswith(f"proofs_checks.{paper}.")]
    short = sorted(f"{c.__module__}.{c.__name__}" for c in own if len((c.__doc__ or "").split()) < WORDS)
    assert own
    assert short == [], f"docstrings of fewer than {WORDS} words"


def test_every_check_belongs_to_a_paper():
    assert {_function(claim.check).__module__.split(".")[1] for claim in CHECKED} == set(PAPERS)


def test_what_all_papers_draw_is_written_once():
    again = []
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef) and node.name in STRATEGIES:
                body = ast.get_source_segment(text, node) or ""
                again += [] if "strategies." in body else [f"{path.parent.name}/{path.name}: {node.name}"]
    assert again == []


def test_every_paper_draws_from_the_strategies():
    papers = set(PAPERS) - {"symshuffle"}
    drawing = {path.parent.name for path in MODULES if "_strategies" in path.read_text(encoding="utf-8")}
    assert drawing >= papers and len(papers) == 5


@pytest.mark.parametrize("claim", CHECKED, ids=lambda claim: claim.id)
def test_a_text_of_several_sentences_is_divided_into_clauses(claim):
    if len(claim.clauses) == 1 and not claim.words.startswith("Let "):
        prose = re.sub(r"\$[^$]*\$", "", claim.words)
        assert not re.search(r"[.;] +[A-Z(]", prose), "one assertion a clause, each named by an obligation"
