"""The mean of any values over how many of some users drop out, by the library's means over numbers of messages."""

import math

from symshuffle.accountants.deployment.message_counts import mean_over_counts, partial_cdf


def mean_over_dropouts(value, users, dropout, rtol, *, exact=False):
    """As :func:`mean_over_counts`, one user sending for certain and each other one with probability 1 - dropout."""
    around = (users - 1) * float(1 - dropout), math.sqrt((users - 1) * float(dropout * (1 - dropout)))
    return mean_over_counts(value, users, partial_cdf(users, dropout, exact=exact), around, rtol, exact=exact)
