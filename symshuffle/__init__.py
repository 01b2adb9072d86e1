"""Symbolic and certified numerics for shuffle and local differential privacy.

The names below load on first use, so that ``import symshuffle`` stays light: SymPy, cvxpy and matplotlib are imported
by the functions that need them.

Where a docstring says *number*, any kind is read exactly: a number of any type by its value, text such as
``6/5``, and a double by its shortest decimal form, so that ``0.1`` means one tenth; a truth value is no number. Where
it says ``Fraction``, a double is refused. Matrices and laws keep doubles as doubles, and nothing exact comes of them.
"""

from symshuffle.base.kinds import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
