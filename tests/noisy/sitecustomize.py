"""Makes solvers write to standard output: when they are imported, made and run, from Python and from C.

On the path of a process (``PYTHONPATH``) this is read before anything else; HiGHS 1.16 really is of this kind.
"""

import ctypes
import functools
import os
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import PathFinder

libc = ctypes.CDLL(None)


def shout(what):
    """Three lines: of Python, of a library in C with its own buffer, and straight to the descriptor."""
    sys.stdout.write(f"BANNER of {what} by write\n")
    libc.puts(f"BANNER of {what} by puts".encode())
    os.write(1, f"BANNER of {what} by write\n".encode())


def noisy(what, function):
    @functools.wraps(function)
    def called(*arguments, **options):
        shout(what)
        try:
            return function(*arguments, **options)
        finally:
            shout(what)

    return called


LOUD = {
    "highspy": ["Highs.__init__", "Highs.setOptionValue", "Highs.run"],
    "cvxpy": ["Problem.solve", "Problem.get_problem_data", "installed_solvers"],
    "scipy.optimize": ["linprog", "milp"],
}


class Loud(Loader):
    def __init__(self, loader):
        self.loader = loader

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        shout(f"the import of {module.__name__}")
        self.loader.exec_module(module)
        for path in LOUD[module.__name__]:
            *parts, name = path.split(".")
            owner = functools.reduce(getattr, parts, module)
            setattr(owner, name, noisy(path, getattr(owner, name)))


class Finder(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        spec = PathFinder.find_spec(name, path, target) if name in LOUD else None
        if spec is not None:
            spec.loader = Loud(spec.loader)
        return spec


sys.meta_path.insert(0, Finder())
