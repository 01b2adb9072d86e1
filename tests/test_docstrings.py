"""Every public docstring, read as the site reads it: napoleon, docutils and the settings of docs/conf.py.

`make docs` builds the site, in minutes; what would stop it in a docstring stops here.
"""

import ast
import copy
import inspect
import pkgutil
import re
from enum import Enum
from pathlib import Path

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from docutils.frontend import get_default_settings
from docutils.parsers import rst
from docutils.parsers.rst import roles
from docutils.readers import standalone
from docutils.utils import Reporter
from docutils.writers import pseudoxml
from latex2mathml.converter import convert
from sphinx.ext.napoleon import Config, NumpyDocstring
from sphinx.util.docstrings import prepare_docstring

import symshuffle
from symshuffle.accountants.deployment.model import KEYWORDS
from tests.shell import script

ROOT = Path(__file__).parents[1]
PACKAGE = Path(symshuffle.__file__).parent
REFERENCES = ("attr", "class", "data", "exc", "func", "meth", "mod", "obj")


def settings():
    """The settings of the site that napoleon reads."""
    return Config(**{name: value for name, value in vars(script("conf")).items() if name.startswith("napoleon_")})


def public(name):
    return not name.startswith("_")


def docstrings(path):
    """Dotted name, kind and text of what is documented in a module: itself, its names, and those of its classes."""
    module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield module, "module", ast.get_docstring(tree, clean=False)
    yield from _inside(module, tree)


def _inside(place, tree):
    named = None
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name) if public(name):
                yield f"{place}.{name}", "class", ast.get_docstring(node, clean=False)
                yield from _inside(f"{place}.{name}", node)
            case ast.FunctionDef(name=name) if public(name):
                yield f"{place}.{name}", "function", ast.get_docstring(node, clean=False)
            case ast.Expr(value=ast.Constant(value=str(text))) if named is not None:
                yield f"{place}.{named}", "data", text
        target = getattr(node, "target", None) or next(iter(getattr(node, "targets", ())), None)
        named = target.id if isinstance(target, ast.Name) and public(target.id) else None


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if public(path.stem) or path.stem == "__init__")


@pytest.fixture(scope="module")
def read():
    """A function from a docstring to its document, and a list of all the names that it refers to."""
    config, referred = settings(), []
    reading = get_default_settings(rst.Parser, standalone.Reader, pseudoxml.Writer)
    reading.report_level = reading.halt_level = Reporter.WARNING_LEVEL
    reading.traceback = True  # errors are raised

    def reference(name, raw, text, line, inliner, options=None, content=None):
        referred.append((name, text.removesuffix(">").rpartition("<")[2].removeprefix("~")))
        return [nodes.literal(raw, text)], []

    for role in REFERENCES:
        roles.register_local_role(role, reference)

    def document(text, kind):
        referred.clear()
        source = "\n".join(NumpyDocstring(prepare_docstring(text), config, what=kind).lines())
        return publish_doctree(source, settings=copy.copy(reading)), list(referred)

    return document


def exists(name):
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError, ValueError):
        return False
    return all(map(public, name.split(".")))


def leads_somewhere(role, target, place):
    """Whether a reference has a target, from the module or the class that makes it; conf.py leaves types in words."""
    if role == "class" or (role not in ("func", "meth") and not target.startswith("symshuffle")):
        return True
    parts = place.split(".")
    return any(exists(".".join([*parts[:i], target])) for i in range(len(parts) + 1))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_docstrings_are_read_without_a_warning(read, path):
    for place, kind, text in docstrings(path):
        if text is not None:
            tree, referred = read(text, kind)
            assert all(leads_somewhere(*one, place) for one in referred), (place, referred)
            for formula in tree.findall(lambda node: isinstance(node, nodes.math | nodes.math_block)):
                assert convert(formula.astext()).startswith("<math"), place


def test_what_stops_the_site_is_seen(read):
    for text in ("|M(c + it)| is small.", "Bound on E[S_-; d >= d_1].", "A\n\n  block\nthat ends.", "``open"):
        with pytest.raises(Exception, match=r"WARNING|ERROR"):
            read(text, "function")
    assert not leads_somewhere("func", "symshuffle.no_such", "symshuffle.channels.law")
    assert leads_somewhere("func", "delta", "symshuffle.channels.law.Law")


def test_every_kind_of_docstring_is_found():
    found = {place: kind for path in MODULES for place, kind, text in docstrings(path) if text}
    assert found["symshuffle"] == found["symshuffle.engines.densities.beyond"] == "module"
    assert found["symshuffle.design.comparison.compare.compare"] == "function"
    assert found["symshuffle.channels.law.Law"] == "class"
    assert found["symshuffle.design.decision.certificate.REL"] == "data"
    assert len(found) > 2000


PUBLIC = {
    f"{address}.{name}": value
    for address, name, value in script("api").public()
    if inspect.isclass(value) or inspect.isroutine(value)
}
LONGEST_FIRST_LINE = 80


def sections(text):
    """From the headings of a docstring to what stands below them."""
    _, *parts = re.split(r"^(\w+)\n-+$", text, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


FIELDS = re.compile(r"(and )?the (other )?fields of a deployment")
"""What a docstring calls all keywords of a question that it does not list."""


def named(section):
    """Names that a section lists; several may share a line, and a phrase stands for the fields of a deployment."""
    heads = [line.partition(" : ")[0] for line in section.splitlines() if line and not line[0].isspace()]
    found = [name.strip().lstrip("*") for head in heads for name in head.split(",")]
    names = [one for one in found if not FIELDS.fullmatch(one)]
    return sorted(names if names == found else {*KEYWORDS, *names})


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_are_documented_in_full(name):
    """One short first line; every parameter; of a function what it returns."""
    value, text = PUBLIC[name], inspect.getdoc(PUBLIC[name])
    first, *rest = text.splitlines()
    assert len(first) <= LONGEST_FIRST_LINE and not (rest and rest[0]), first
    if inspect.isclass(value) and issubclass(value, Enum | BaseException):
        return
    found = sections(text)
    assert named(found.get("Parameters", "")) == sorted(inspect.signature(value).parameters)
    assert inspect.isclass(value) or found.keys() & {"Returns", "Yields"}
