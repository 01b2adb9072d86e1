"""The reference of the site: a page for every package and its modules, read off the tree so that none is missed.

Commands are no part of it: `symshuffle COMMAND --help` says what they take.
"""

import importlib
from collections.abc import Iterator
from inspect import ismodule
from pathlib import Path

import symshuffle

PACKAGE = Path(symshuffle.__file__).parent
COMMANDS = "symshuffle.cli"

INDEX = """# Reference

Every package has a page, with all of its public modules; the examples there are run by the tests. What
`import symshuffle` offers directly:

```{{eval-rst}}
.. autosummary::
   :nosignatures:

{names}
```

## Packages

```{{toctree}}
:maxdepth: 1

{packages}
```
"""

MODULE = """{level} {name}

```{{eval-rst}}
.. automodule:: {name}
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
        found[page] = found.get(page, "") + MODULE.format(level=level, name=name) + "\n"
    names = "\n".join(f"   ~{_home(name)}.{name}" for name in _named())
    return {"index": INDEX.format(names=names, packages="\n".join(found)), **found}


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
