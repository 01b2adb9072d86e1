"""Configuration of the site for Sphinx; `make docs` gathers its pages and builds it, and any warning is an error."""

from importlib.metadata import version as installed

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

project = "symshuffle"
author = "The symshuffle developers"
copyright = author
version = release = installed("symshuffle")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # the notebooks come with their outputs, which the tests compare

autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True, "ignore-module-all": True, "show-inheritance": True}
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
maximum_signature_line_length = 100

nitpicky = True
# Types are written in words, and those of other libraries have no page here; every explicit reference is checked.
nitpick_ignore_regex = [("py:class", r".*"), ("py:(obj|data|attr|exc)", r"(?!symshuffle\.).*")]

html_theme = "furo"
html_title = "symshuffle"
html_math_renderer = "mathml"
html_copy_source = False


def _inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _display(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Formulas become MathML when the site is built, so that it needs no network."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
