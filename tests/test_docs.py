"""Pages keep their promises: links lead somewhere, names exist, derived pages are up to date, examples run."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest
import yaml

import symshuffle
from symshuffle import Group, delta, randomizer
from symshuffle.accountants.deployment.assumptions import Assumption
from symshuffle.configuration.files import OF_ADJACENCY, OF_DEPLOYMENT, OF_GROUP
from symshuffle.ledger.claims.registry import bibliography
from tests.shell import answer, script

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
MODULES = ["symshuffle", *(m.name for m in pkgutil.walk_packages(symshuffle.__path__, "symshuffle."))]
NOTATION = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page):
    targets = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_dotted_names_exist(page):
    for name in set(re.findall(r"`(symshuffle(?:\.\w+)+)`", page.read_text(encoding="utf-8"))):
        assert resolve(name) is not None


MAP = set(re.findall(r"`([^`]+)`", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "path", sorted(name for name in MAP if re.fullmatch(r"[a-z][\w.]*(/[\w.]+)*/?", name) and "/" in name)
)
def test_paths_of_the_map_exist(path):
    places = [root / f"{path}{ending}" for root in (ROOT, ROOT / "symshuffle") for ending in ("", ".py")]
    assert any(place.exists() for place in places)


def test_the_map_names_every_room_of_the_top_level():
    rooms = {
        path.stem for path in (ROOT / "symshuffle").iterdir() if path.suffix in {"", ".py"} and path.stem[0] != "_"
    }
    assert rooms <= MAP, f"not in docs/architecture.md: {rooms - MAP}"


def resolve(name):
    parts = name.split(".")
    for i in range(len(parts), 0, -1):
        module = ".".join(parts[:i])
        if module in MODULES:
            found = importlib.import_module(module)
            for attribute in parts[i:]:
                found = getattr(found, attribute)
            return found
    raise AssertionError(f"{name} is not in the package")


def test_the_notation_table_is_a_table():
    rows = [line for line in NOTATION.splitlines() if line.startswith("|")]
    assert len(rows) > 15
    assert {row.replace(r"\|", "").count("|") for row in rows} == {5}


def test_mechanism_page_is_up_to_date():
    page = script("mechanisms")
    assert page.PAGE.read_text(encoding="utf-8") == page.render(), "run `make pages`"


def test_make_targets_that_pages_name_exist():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    named = {name for page in PAGES for name in re.findall(r"\bmake ([a-z]+)`", page.read_text(encoding="utf-8"))}
    assert {"run", "test"} <= targets
    assert named <= targets


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_run(module):
    if module == "symshuffle.__main__":
        assert callable(importlib.import_module(module).main)
        return
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_some_docstrings_have_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    assert sum(bool(t.examples) for m in MODULES for t in finder.find(importlib.import_module(m))) >= 5


def test_citation_agrees_with_the_package():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{citation["version"]}"' in project
    assert f'license = "{citation["license"]}"' in project
    for reference in citation["references"]:
        paper = bibliography()[reference["notes"].removeprefix("key: ")]
        assert reference["title"] == paper["title"]
        assert tuple(f"{one['family-names']}, {one['given-names']}" for one in reference["authors"]) == tuple(
            paper["authors"]
        )
        assert [one["value"] for one in reference["identifiers"]] == [f"arXiv:{paper['arxiv']}"]
    assert len(citation["references"]) == len(bibliography())
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_every_named_mechanism_has_its_section(capsys):
    named = answer(capsys, "mechanisms")
    page = (ROOT / "docs" / "mechanisms.md").read_text(encoding="utf-8")
    sections = re.findall(r"^###? (\S+)$", page, flags=re.MULTILINE)
    assert sections == [row["name"] for row in named]


def test_the_page_on_assumptions_defines_each_name():
    rows = re.findall(
        r"^\| (.+?) \| (.+) \|$", (ROOT / "docs" / "assumptions.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    assert dict(rows[1:]) == {str(one): one.meaning for one in Assumption}


def test_the_table_of_keys_has_every_key_of_a_deployment_file():
    page = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    table = page.partition("| key | value |")[2].partition("\n\n")[0]
    named = set(re.findall(r"`\[*(\w+)\]*`", table))
    assert {*OF_DEPLOYMENT, *OF_ADJACENCY, *OF_GROUP} - {"relation", "null", "blanket", "group_size"} <= named
    assert {*OF_ADJACENCY} <= named


@pytest.mark.parametrize(
    "source", ["docs/renames.md", "docs/assumptions.md", "docs/deployment.md", "help", "docstring"]
)
def test_who_counts_as_sending_is_said_in_one_wording_which_is_what_is_computed(source):
    told = {"help": Group.__dataclass_fields__["min_batch_size"].metadata["help"], "docstring": Group.__doc__}
    text = told[source] if source in told else (ROOT / source).read_text(encoding="utf-8")
    assert "whoever they are, colluding ones included" in " ".join(text.split())
    krr = randomizer("krr", k=3, lam=3)
    sent = delta(krr, n=20, exp_eps=2, min_batch_size=15, colluding=5)
    assert sent.bracket == delta(krr, n=10, exp_eps=2).bracket
