"""Where the code of a check is, and the same code as a page."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, final

from markupsafe import Markup

_CLASS: Final = "source"


@final
@dataclass(frozen=True, slots=True)
class Definition:
    """The definition of a function."""

    module: str
    line: int

    def __str__(self) -> str:
        return f"{self.module}, line {self.line}"

    @property
    def page(self) -> str:
        """Its page and line, from the root of the site."""
        return f"source/{self.module}.html#L-{self.line}"


def place_of(function: Callable[..., Any]) -> Definition | None:
    """Where a function is defined; None if it is not written in Python."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    return None if code is None else Definition(function.__module__, code.co_firstlineno)


def modules(places: Iterable[Definition | None]) -> tuple[str, ...]:
    """The modules of some places, each once."""
    return tuple(sorted({place.module for place in places if place is not None}))


def listing(module: str) -> Markup:
    """The source of a module with numbered, addressable lines."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    formatter = HtmlFormatter(linenos="inline", linespans="L", cssclass=_CLASS, wrapcode=True)
    return Markup(highlight(inspect.getsource(import_module(module)), PythonLexer(), formatter))


def colours() -> str:
    """The style of listings, light and dark."""
    from pygments.formatters import HtmlFormatter

    light, dark = (HtmlFormatter(style=style, cssclass=_CLASS) for style in ("default", "github-dark"))
    rules = dark.get_style_defs(f".{_CLASS}")
    return f"{light.get_style_defs(f'.{_CLASS}')}\n@media (prefers-color-scheme: dark) {{\n{rules}\n}}\n"
