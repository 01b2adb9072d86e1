"""Public names: what is promised is there as promised, the page lists it, and pages import nothing deeper."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))

import api  # noqa: E402

PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "notebooks").glob("*.py")),
    *sorted((ROOT / "examples").rglob("*.md")),
]
IMPORT = re.compile(r"^ *(?:from|import) (symshuffle[\w.]*)(?: import (?:\(([^)]*)\)|([\w, ]+)))?", re.MULTILINE)


def test_names_and_signatures_are_those_promised():
    """Whoever changes one on purpose runs ``python docs/api.py --accept`` and adds a line to the changelog."""
    assert api.signatures() == api.PROMISED.read_text(encoding="utf-8")


def test_the_page_is_up_to_date():
    assert api.page() == api.PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_pages_import_public_names_only(page):
    listed = {(address, name) for address, name, _ in api.public()} | {("symshuffle.base", "choices")}
    for address, *lists in IMPORT.findall(page.read_text(encoding="utf-8")):
        names = "".join(lists)
        for name in re.findall(r"(\w+)(?: as \w+)?,?", names):
            known = (address, name) in listed or f"{address}.{name}" in api.addresses()
            assert known, f"{page.name}: from {address} import {name}"
        assert names or address in api.addresses(), f"{page.name}: import {address}"
