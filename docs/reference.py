"""The reference of the site: a page for every package and its modules, read off the tree so that none is missed.

Of a module it shows what it says of itself, and the names that are promised, have an example, or are shown richly.
Commands are no part of it: `symshuffle COMMAND --help` says what they take.
"""

import importlib
from collections.abc import Iterator
from inspect import isclass, ismodule, isroutine
from pathlib import Path

import api

import symshuffle

PACKAGE = Path(symshuffle.__file__).parent
COMMANDS = "symshuffle.cli"

INDEX = """# Reference

Every package has a page, with all of its public modules and their names that are promised, have an example, or are
shown richly in a notebook; the tests run all examples. What `import symshuffle` offers directly:

| name | what it is |
|---|---|
{names}

## Packages

```{{toctree}}
:maxdepth: 1

{packages}
```
"""

MODULE = """{level} {name}

```{{eval-rst}}
.. automodule:: {name}
   {members}
```
"""


def modules() -> dict[str, str]:
    """The public modules, each with the package on whose page it is."""
    names = sorted({name for name in _names() if not f"{name}.".startswith(f"{COMMANDS}.")})
    return {name: name if _is_package(name) else name.rpartition(".")[0] for name in names}


def _names() -> Iterator[str]:
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        public = parts[:-1] if parts[-1] == "__init__" else parts
        if not any(part.startswith("_") for part in public):
            yield ".".join(public)


def _is_package(name: str) -> bool:
    return PACKAGE.parent.joinpath(*name.split("."), "__init__.py").is_file()


def pages() -> dict[str, str]:
    """The text of each page by its name: ``index``, and the dotted name of each package."""
    found: dict[str, str] = {}
    for name, page in modules().items():  # a package comes before its modules
        level = "#" if name == page else "##"
        names_shown = shown(name)
        members = f":members: {', '.join(names_shown)}" if names_shown else ":no-members:"
        found[page] = found.get(page, "") + MODULE.format(level=level, name=name, members=members) + "\n"
    names = "\n".join(f"| {{py:obj}}`~{_home(n)}.{n}` | {api.what(getattr(symshuffle, n))} |" for n in _named())
    return {"index": INDEX.format(names=names, packages="\n".join(found)), **found}


def shown(module: str) -> list[str]:
    """The names of a module that are promised, that have an example, or that are shown richly in a notebook."""
    promised = {value for _, _, value in api.public() if isclass(value) or isroutine(value)}
    found = []
    for name, value in vars(importlib.import_module(module)).items():
        if isclass(value) or isroutine(value):
            own = getattr(value, "__module__", "") == module and value.__name__ == name and not name.startswith("_")
            if own and (value in promised or hasattr(value, "_repr_html_") or any(map(_has_example, _parts(value)))):
                found.append(name)
        elif name in symshuffle.__all__ and not ismodule(value) and _home(name) == module:
            found.append(name)
    return found


def _parts(value: object) -> list[object]:
    """A function, or a class with its methods and properties."""
    own = list(vars(value).values()) if isclass(value) else []
    return [value, *(getattr(one, "__func__", one) for one in own if not isclass(one))]


def _has_example(value: object) -> bool:
    return ">>> " in (getattr(value, "__doc__", None) or "")


def _named() -> list[str]:
    """The names of the top level that are no modules."""
    found = (name for name in symshuffle.__all__ if not ismodule(getattr(symshuffle, name)))
    return sorted(found, key=str.lower)


def _home(name: str) -> str:
    """The module that defines a name of the top level; a value that cannot tell is where the longest path has it."""
    home = getattr(getattr(symshuffle, name), "__module__", "")
    if home.startswith(PACKAGE.name):
        return str(home)
    holders = (m for m in modules() if name in vars(importlib.import_module(m)))
    return next(m for m in holders if f"\n{name}:" in Path(str(importlib.import_module(m).__file__)).read_text())
