"""SymPy expressions as functions of parameters: equality, sign, and the two doors to numbers.

Expressions become numbers here and nowhere else. The exact door answers with a ``Fraction`` or says that the value
is irrational; the ball door answers with an enclosure. Neither ever goes through a double: SymPy's default printer
writes ``Rational(1, 3)`` as the Python expression ``1/3``, and a ball made from that excludes the truth.
"""

from symshuffle.base.numbers.readers import LARGEST_PARAMETER
from symshuffle.mechanisms.symbolic.agreement import check_expression, proportional, same_function, vanishes
from symshuffle.mechanisms.symbolic.constants import (
    EXP_EPS,
    LAM,
    Exponential,
    constant_of,
    evaluate,
    expression_of,
    normal_form,
    rebuilt,
    value_of,
    written,
)
from symshuffle.mechanisms.symbolic.ranges import EVEN, POWER_OF_TWO, PRIME, IntegerKind, Parameter
from symshuffle.mechanisms.symbolic.signs import (
    chart,
    large_limit,
    nonnegative,
    positive,
    sign_factor,
    smallest,
)

__all__ = [
    "EVEN",
    "EXP_EPS",
    "LAM",
    "LARGEST_PARAMETER",
    "POWER_OF_TWO",
    "PRIME",
    "Exponential",
    "IntegerKind",
    "Parameter",
    "chart",
    "check_expression",
    "constant_of",
    "evaluate",
    "expression_of",
    "large_limit",
    "nonnegative",
    "normal_form",
    "positive",
    "proportional",
    "rebuilt",
    "same_function",
    "sign_factor",
    "smallest",
    "value_of",
    "vanishes",
    "written",
]
