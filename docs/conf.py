"""Configuration of the site for Sphinx; `make docs` gathers its pages and builds it, and any warning is an error."""

import gc
import logging
import pkgutil
from functools import cache
from importlib.metadata import version as installed
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.search.en import SearchEnglish
from sphinx.writers.html5 import HTML5Translator

project = "symshuffle"
author = "The symshuffle developers"
copyright = author
version = release = installed("symshuffle")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # the notebooks come with their outputs, which the tests compare
nb_render_markdown_format = "myst"  # what a notebook shows as Markdown has formulas, too

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_use_type_comments = False  # there are none, and to look for them takes a fifteenth of a build
autodoc_default_options = {"members": True, "ignore-module-all": True, "show-inheritance": True}
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
maximum_signature_line_length = 100
viewcode_follow_imported_members = False  # a value is shown where it is defined here, not where its type is
toc_object_entries = False  # thousands of names, copied into the sidebar of every page, double the time of a build

nitpicky = True
# Types are written in words; what is not promised, and other libraries, have no entry here. That every reference in a
# docstring has a target is for tests/test_docstrings.py; those to modules are checked here as well.
nitpick_ignore_regex = [
    ("py:(class|func|meth|attr|data|exc|obj)", r".*"),
    ("py:mod", r"(?!symshuffle\b).*"),
]

html_theme = "furo"
html_title = "symshuffle"
html_math_renderer = "mathml"
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["site.css"]


def _inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _display(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def _exactly(app: Sphinx, tree: nodes.document) -> None:
    """A type in a signature is never guessed by its last name: two modules may have one of that name."""
    for reference in tree.findall(pending_xref):
        reference.attributes.pop("refspecific", None)


def _at_home(app: Sphinx, env: BuildEnvironment, node: pending_xref, shown: nodes.Element) -> nodes.Element | None:
    """A reference to a name that a package hands on leads to the module that defines it."""
    if node.get("refdomain") != "py" or not node["reftarget"].startswith(f"{project}."):
        return None  # to resolve a name of another library takes a search for its modules
    try:
        value = pkgutil.resolve_name(node["reftarget"])
    except (ImportError, AttributeError, ValueError):
        return None
    target = f"{getattr(value, '__module__', None)}.{getattr(value, '__qualname__', None)}"
    if target == node["reftarget"]:
        return None
    python = env.domains.python_domain
    return python.resolve_xref(env, node["refdoc"], app.builder, node["reftype"], target, node, shown)


_SIDEBARS: dict[int, str] = {}


def _shared_sidebar(app: Sphinx, name: str, template: str, context: dict[str, Any], tree: nodes.Node | None) -> None:
    """A page of source code has no place of its own in the sidebar: all in folders of one depth share its text."""
    if name.startswith("_modules/"):
        depth = name.count("/")
        if depth not in _SIDEBARS:
            _SIDEBARS[depth] = context["toctree"](collapse=False, titles_only=True, maxdepth=-1, includehidden=True)
        context["toctree"] = lambda **_: _SIDEBARS[depth]


def setup(app: Sphinx) -> None:
    """Formulas become MathML when the site is built, so that it needs no network."""
    gc.set_threshold(200_000, 50, 50)  # pages stay in memory: to look through them for garbage is in vain
    logging.disable(logging.DEBUG)  # tens of thousands of records that nobody reads
    SearchEnglish.stem = cache(SearchEnglish.stem)  # type: ignore[method-assign]
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    app.connect("doctree-read", _exactly)
    app.connect("html-page-context", _shared_sidebar, priority=400)  # the theme asks for the sidebar at 500
    app.connect("missing-reference", _at_home)
