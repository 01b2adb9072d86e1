"""Public names: those of the top level, and those of the packages below it."""

import importlib
from pathlib import Path
from types import ModuleType

import symshuffle

PACKAGES = sorted(path.parent.name for path in Path(symshuffle.__file__).parent.glob("*/__init__.pyi"))
BELOW = {name: importlib.import_module(f"symshuffle.{name}") for name in PACKAGES}
TOP = {
    name: value
    for name in symshuffle.__all__
    if not isinstance(value := getattr(symshuffle, name), ModuleType) or name not in PACKAGES
}
PUBLIC = {name: getattr(package, name) for package in BELOW.values() for name in package.__all__} | TOP
"""By their names alone; where two packages have one name, the last, and always that of the top level."""
