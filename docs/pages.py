"""Gather the pages of the site in one folder, and let Sphinx build it: `make docs` does both in one process.

    python docs/pages.py FOLDER [HTML]

The pages of `docs`, the notebooks with their outputs, what contributors read at the top of the checkout, and a page for
every package. On the site a link to a file of the checkout leads to the page made from it, or shows its path.
"""

import re
import shutil
import sys
from pathlib import Path

import reference

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
TOP = {"README.md": "overview.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}

PICTURES = DOCS / "pictures"

_PICTURE = re.compile(r"(!\[[^\]]+\])\((?:docs/)?(pictures/[^)\s]+)\)")
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")


def sources() -> dict[str, Path]:
    """The files that become pages as they are, by their place on the site."""
    pages = {path.name: path for path in sorted(DOCS.glob("*.md"))}
    notebooks = {f"tutorials/{path.name}": path for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
    return pages | {place: ROOT / name for name, place in TOP.items()} | notebooks


def gathered() -> dict[str, str]:
    """The text of every page by its place on the site."""
    places = {path: place for place, path in sources().items()}
    texts = {place: path.read_text(encoding="utf-8") for path, place in places.items()}
    pages = {place: linked(texts[place], path, places) for path, place in places.items() if path.suffix == ".md"}
    return texts | pages | {f"reference/{name}.md": text for name, text in reference.pages().items()}


def linked(text: str, page: Path, places: dict[Path, str]) -> str:
    """The text of a page of the checkout with its links as they are on the site."""

    def link(match: re.Match[str]) -> str:
        words, target, anchor = match[1], (page.parent / match[2]).resolve(), match[3] or ""
        if (place := places.get(target) or _module(target)) is not None:
            return f"[{words}]({place}{anchor})"
        path = target.relative_to(ROOT).as_posix()
        return f"`{path}`" if words.strip("`") == path else f"{words} (`{path}`)"

    return _PICTURE.sub(r"\1(\2)", _LINK.sub(link, text))


def _module(target: Path) -> str | None:
    """The page of a module or package of the library."""
    if not target.is_relative_to(reference.PACKAGE):
        return None
    name = ".".join(target.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    page = "index" if name == reference.PACKAGE.name else reference.modules().get(name)
    return None if page is None else f"reference/{page}.md"


def write(folder: Path) -> None:
    """Write all pages and the configuration into a folder that is new, or was written by this before."""
    if folder.exists() and not (folder / "conf.py").is_file():
        raise SystemExit(f"{folder} exists and holds no pages of the site: choose another folder")
    shutil.rmtree(folder, ignore_errors=True)
    for place, text in gathered().items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for beside in (PICTURES, DOCS / "static"):
        shutil.copytree(beside, folder / beside.name)
    shutil.copy(DOCS / "conf.py", folder)


def build(folder: Path, html: Path) -> int:
    """Build the site from the folder, and return an exit code: any warning is an error."""
    from sphinx.cmd.build import build_main

    return build_main(["--fail-on-warning", "--keep-going", "--fresh-env", "--quiet", str(folder), str(html)])


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        raise SystemExit("usage: python docs/pages.py FOLDER [HTML]: the folder is written anew")
    folders = [Path(name) for name in sys.argv[1:]]
    write(folders[0])
    sys.exit(build(*folders) if len(folders) == 2 else 0)
