"""The reference of the site: a page for every public module, read off the package tree so that none can be missed."""

import importlib
from collections.abc import Iterator
from inspect import ismodule
from pathlib import Path

import symshuffle

PACKAGE = Path(symshuffle.__file__).parent

INDEX = """# Reference

Every public module has a page; the examples on them are run by the tests. What `import symshuffle` offers directly:

```{{eval-rst}}
.. autosummary::
   :nosignatures:

{names}
```

## Modules

```{{toctree}}
:maxdepth: 1

{modules}
```
"""

MODULE = """# {name}

```{{eval-rst}}
.. automodule:: {name}
```
"""

BELOW = """
## Modules below it

```{{toctree}}
:maxdepth: 1

{modules}
```
"""


def modules() -> dict[str, list[str]]:
    """The public modules of the package, each with those one level below it."""
    names = sorted(set(_names()))
    return {name: [other for other in names if other.rpartition(".")[0] == name] for name in names}


def _names() -> Iterator[str]:
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        public = parts[:-1] if parts[-1] == "__init__" else parts
        if not any(part.startswith("_") for part in public):
            yield ".".join(public)


def pages() -> dict[str, str]:
    """The text of each page by its name: ``index``, and the dotted name of each module."""
    tree = modules()
    names = "\n".join(f"   ~{_home(name)}.{name}" for name in _named())
    first = "\n".join([PACKAGE.name, *tree.pop(PACKAGE.name)])
    rest = {name: MODULE.format(name=name) + _below(below) for name, below in tree.items()}
    top = {PACKAGE.name: MODULE.format(name=PACKAGE.name)}
    return {"index": INDEX.format(names=names, modules=first), **top, **rest}


def _named() -> list[str]:
    """The names of the top level that are no modules."""
    found = (name for name in symshuffle.__all__ if not ismodule(getattr(symshuffle, name)))
    return sorted(found, key=str.lower)


def _below(modules: list[str]) -> str:
    return BELOW.format(modules="\n".join(modules)) if modules else ""


def _home(name: str) -> str:
    """The module that defines a name of the top level; a value that cannot tell is where the longest path has it."""
    home = getattr(getattr(symshuffle, name), "__module__", "")
    if home.startswith(PACKAGE.name):
        return str(home)
    holders = (m for m in modules() if name in vars(importlib.import_module(m)))
    return next(m for m in holders if f"\n{name}:" in Path(str(importlib.import_module(m).__file__)).read_text())
