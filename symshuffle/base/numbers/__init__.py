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

from symshuffle.base.numbers.balls import DEFAULT_BITS as DEFAULT_BITS
from symshuffle.base.numbers.balls import FLOAT_SUM_SLACK as FLOAT_SUM_SLACK
from symshuffle.base.numbers.balls import MOST_DOUBLINGS as MOST_DOUBLINGS
from symshuffle.base.numbers.balls import AllEnds as AllEnds
from symshuffle.base.numbers.balls import Ball as Ball
from symshuffle.base.numbers.balls import Exp as Exp
from symshuffle.base.numbers.balls import Number as Number
from symshuffle.base.numbers.balls import Real as Real
from symshuffle.base.numbers.balls import Verdict as Verdict
from symshuffle.base.numbers.balls import ball_arguments as ball_arguments
from symshuffle.base.numbers.balls import both_ends as both_ends
from symshuffle.base.numbers.balls import check_rational as check_rational
from symshuffle.base.numbers.balls import enclose as enclose
from symshuffle.base.numbers.balls import enclose_log as enclose_log
from symshuffle.base.numbers.balls import equal as equal
from symshuffle.base.numbers.balls import exact_sum as exact_sum
from symshuffle.base.numbers.balls import from_flint as from_flint
from symshuffle.base.numbers.balls import is_enclosed as is_enclosed
from symshuffle.base.numbers.balls import is_exact as is_exact
from symshuffle.base.numbers.balls import less as less
from symshuffle.base.numbers.balls import lower_end as lower_end
from symshuffle.base.numbers.balls import maximum as maximum
from symshuffle.base.numbers.balls import mean_and_variance as mean_and_variance
from symshuffle.base.numbers.balls import minimum as minimum
from symshuffle.base.numbers.balls import natural_log as natural_log
from symshuffle.base.numbers.balls import positive_part as positive_part
from symshuffle.base.numbers.balls import squared as squared
from symshuffle.base.numbers.balls import sums_to_one as sums_to_one
from symshuffle.base.numbers.balls import to_arb as to_arb
from symshuffle.base.numbers.balls import to_float as to_float
from symshuffle.base.numbers.balls import to_floats as to_floats
from symshuffle.base.numbers.balls import upper_end as upper_end
from symshuffle.base.numbers.balls import usual_bits as usual_bits
from symshuffle.base.numbers.balls import working_precision as working_precision
from symshuffle.base.numbers.readers import KINDS as KINDS
from symshuffle.base.numbers.readers import LARGEST_PARAMETER as LARGEST_PARAMETER
from symshuffle.base.numbers.readers import as_header as as_header
from symshuffle.base.numbers.readers import as_integer as as_integer
from symshuffle.base.numbers.readers import as_number as as_number
from symshuffle.base.numbers.readers import as_precision as as_precision
from symshuffle.base.numbers.readers import as_truth as as_truth
from symshuffle.base.numbers.readers import as_width as as_width
from symshuffle.base.numbers.readers import is_expression as is_expression
from symshuffle.base.numbers.readers import is_prime as is_prime
from symshuffle.base.numbers.readers import is_truth_value as is_truth_value
from symshuffle.base.numbers.readers import parse_constant as parse_constant
from symshuffle.base.numbers.readers import parse_inside as parse_inside
from symshuffle.base.numbers.readers import parse_number as parse_number
from symshuffle.base.numbers.readers import parse_rational as parse_rational
from symshuffle.base.numbers.readers import ungrouped as ungrouped
from symshuffle.base.numbers.tables import Rounding as Rounding
from symshuffle.base.numbers.tables import as_distribution as as_distribution
from symshuffle.base.numbers.tables import coarser as coarser
from symshuffle.base.numbers.tables import listed as listed
from symshuffle.base.numbers.tables import parse_law as parse_law
from symshuffle.base.numbers.tables import parse_rationals as parse_rationals
from symshuffle.base.numbers.tables import read_law as read_law
from symshuffle.base.numbers.tables import read_rows as read_rows
from symshuffle.base.numbers.tables import summed as summed
from symshuffle.base.numbers.texts import brief as brief
from symshuffle.base.numbers.texts import counted as counted
from symshuffle.base.numbers.texts import exact_text as exact_text
from symshuffle.base.numbers.texts import format_decimal as format_decimal
from symshuffle.base.numbers.texts import format_log10 as format_log10
from symshuffle.base.numbers.texts import shortest as shortest
from symshuffle.base.numbers.texts import target_decimal as target_decimal
