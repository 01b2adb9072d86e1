"""Exact rationals, balls and floats, and the one place where they are compared.

A *number* of this package is one of three things:

- a :class:`fractions.Fraction`: exact;
- a :class:`Ball`: a real number known to lie between two dyadic rationals;
- a ``float``: a double without any claim.

A *real constant* given by a user is a ``Fraction`` or an :class:`Exp`, the exponential of a rational; both can
be turned into a ball of any precision, so nothing is lost between the command line and the arithmetic.

Comparing balls has three outcomes. Every comparison therefore returns a :class:`Verdict`, and asking an
undecided verdict for its truth value raises instead of answering "no".
"""

from symshuffle.base.numbers.balls import (
    DEFAULT_BITS,
    MOST_DOUBLINGS,
    Ball,
    Exp,
    Number,
    Real,
    Verdict,
    check_rational,
    enclose,
    natural_log,
    squared,
    to_arb,
    to_float,
    usual_bits,
    working_precision,
)
from symshuffle.base.numbers.comparisons import (
    FLOAT_SUM_SLACK,
    ball_arguments,
    equal,
    is_enclosed,
    is_exact,
    less,
    lower_end,
    maximum,
    minimum,
    positive_part,
    sums_to_one,
    upper_end,
)
from symshuffle.base.numbers.decimals import brief, counted, exact_text, format_decimal, format_log10, shortest
from symshuffle.base.numbers.readers import (
    as_constant,
    as_distribution,
    as_integer,
    as_number,
    as_precision,
    as_width,
    parse_rational,
    ungrouped,
)

__all__ = [
    "DEFAULT_BITS",
    "FLOAT_SUM_SLACK",
    "MOST_DOUBLINGS",
    "Ball",
    "Exp",
    "Number",
    "Real",
    "Verdict",
    "as_constant",
    "as_distribution",
    "as_integer",
    "as_number",
    "as_precision",
    "as_width",
    "ball_arguments",
    "brief",
    "check_rational",
    "counted",
    "enclose",
    "equal",
    "exact_text",
    "format_decimal",
    "format_log10",
    "is_enclosed",
    "is_exact",
    "less",
    "lower_end",
    "maximum",
    "minimum",
    "natural_log",
    "parse_rational",
    "positive_part",
    "shortest",
    "squared",
    "sums_to_one",
    "to_arb",
    "to_float",
    "ungrouped",
    "upper_end",
    "usual_bits",
    "working_precision",
]
