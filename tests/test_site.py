"""The pages of the site, before Sphinx sees them: every module, every page and every link (`make docs` builds it)."""

import importlib
import inspect
import pkgutil
import re
import sys
from pathlib import Path, PurePosixPath

import pytest

import symshuffle
from tests.shell import script

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def pages():
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        return script("pages")
    finally:
        sys.path.remove(str(ROOT / "docs"))


@pytest.fixture(scope="module")
def gathered(pages):
    return pages.gathered()


def entries(text, place):
    """What the toctrees of a page list, as places on the site; patterns stay patterns."""
    for block in re.findall(r"```\{toctree\}\n(.*?)```", text, flags=re.DOTALL):
        for line in block.splitlines():
            if line and not line.startswith(":"):
                yield str(PurePosixPath(place).parent / line.rpartition("<")[2].rstrip(">"))


def reached(gathered):
    """The pages that a reader can come to from the first one, by tables of contents."""
    stems = {place.rsplit(".", 1)[0] if place.startswith("tutorials/") else place[:-3]: place for place in gathered}
    found, waiting = set(), ["index"]
    while waiting:
        page = waiting.pop()
        if page not in found:
            found.add(page)
            text, place = gathered[stems[page]], stems[page]
            for entry in entries(text, place):
                matching = [
                    stem for stem in stems if PurePosixPath(stem).match(entry) and stem.count("/") == entry.count("/")
                ]
                assert matching, f"{place} lists {entry}"
                waiting += matching
    return {stems[page] for page in found}


def test_every_public_module_has_its_page(gathered):
    walked = [symshuffle.__name__, *(m.name for m in pkgutil.walk_packages(symshuffle.__path__, "symshuffle."))]
    public = {name for name in walked if not any(part.startswith("_") for part in name.split("."))}
    assert {"symshuffle.accountants.literature.baselines", "symshuffle.decompositions.clones"} <= public
    documented = {
        name: text
        for place, text in gathered.items()
        if place.startswith("reference/")
        for name in re.findall(r"^\.\. automodule:: (\S+)$", text, flags=re.MULTILINE)
    }
    assert documented.keys() == {name for name in public if not f"{name}.".startswith("symshuffle.cli.")}
    assert all(re.search(rf"^#+ {re.escape(name)}$", text, flags=re.MULTILINE) for name, text in documented.items())


def test_every_page_is_in_a_table_of_contents(gathered):
    assert reached(gathered) == set(gathered)


def test_every_page_of_the_checkout_is_on_the_site(gathered):
    assert {path.name for path in (ROOT / "docs").glob("*.md")} <= set(gathered)
    assert {f"tutorials/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb")} <= set(gathered)


def test_links_of_the_site_lead_to_its_pages(gathered):
    seen = 0
    for place, text in gathered.items():
        if place.endswith(".md"):
            for target in re.findall(r"(?<!!)\[[^\]]*\]\((?![a-z]+:|#)([^)#\s]+)(?:#[^)]*)?\)", text):
                assert target in gathered, f"{place} links to {target}"
                seen += 1
    assert seen > 50


def test_links_are_turned_to_pages_or_shown_as_paths(pages):
    places = {path: place for place, path in pages.sources().items()}
    text = "[a](notation.md#b) [c](../CONTRIBUTING.md) [d](../symshuffle/channels/law.py) [e](../pyproject.toml) [f](https://g.h)"
    assert pages.linked(text, ROOT / "docs" / "x.md", places) == (
        "[a](notation.md#b) [c](contributing.md) [d](reference/symshuffle.channels.md) e (`pyproject.toml`) [f](https://g.h)"
    )
    assert (
        pages.linked("[tests](tests) [l](symshuffle)", ROOT / "README.md", places) == "`tests` [l](reference/index.md)"
    )


def test_names_of_the_top_level_are_listed_where_they_are_defined(gathered):
    listed = re.findall(
        r"^\| {py:obj}`~(symshuffle[\w.]*)\.(\w+)` \|", gathered["reference/index.md"], flags=re.MULTILINE
    )
    packages = {name for name in symshuffle.__all__ if inspect.ismodule(getattr(symshuffle, name))}
    assert {name for _, name in listed} == set(symshuffle.__all__) - packages
    assert all(f"reference/symshuffle.{name}.md" in gathered for name in packages)
    for home, name in listed:
        assert getattr(importlib.import_module(home), name) is getattr(symshuffle, name)
        assert re.search(rf"^(class {name}|def {name}|{name}:)", source(home), flags=re.MULTILINE), (home, name)


def source(module):
    return Path(importlib.import_module(module).__file__).read_text(encoding="utf-8")


def test_a_folder_that_holds_something_else_is_left_alone(pages, tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(SystemExit, match="choose another"):
        pages.write(tmp_path)
    assert (tmp_path / "letter.txt").read_text() == "dear"


def test_the_pages_are_written_with_their_configuration(pages, tmp_path):
    for _ in range(2):
        pages.write(tmp_path / "site")
    assert (tmp_path / "site" / "conf.py").is_file()
    for page in ("overview.md", "deployment.md"):
        (picture,) = re.findall(
            r"!\[[^\]]*\]\((\S+)\)", (tmp_path / "site" / page).read_text(encoding="utf-8"), flags=re.DOTALL
        )
        assert (tmp_path / "site" / picture).is_file()
    assert (tmp_path / "site" / "reference" / "symshuffle.channels.md").is_file()
