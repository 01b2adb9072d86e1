"""Whether a law of losses is above the profiles of real datasets, by enumeration; what two suites ask."""

import itertools
from fractions import Fraction

import flint

from symshuffle.base.numbers import to_arb, working_precision
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import backgrounds, shuffled_law

BINARY = Channel([[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]])
TERNARY = Channel([[Fraction(2 if x == y else 1, 4) for y in range(3)] for x in range(3)])
ONE_SIDED = Channel([[Fraction(9, 10), Fraction(1, 10)], [Fraction(1, 2), Fraction(1, 2)]])
"""Its two orders differ: the larger one changes on the way."""

CASES = tuple(itertools.product((BINARY, TERNARY, ONE_SIDED), (2, 3)))


def neighbours(channel, n):
    """The laws of the messages of all neighbouring datasets, both orders."""
    for pair in itertools.permutations(range(channel.num_inputs), 2):
        for others in backgrounds(channel.num_inputs, n - 1):
            one, other = (shuffled_law(channel, (x, *others)) for x in pair)
            yield [(Fraction(one.get(y, 0)), Fraction(other.get(y, 0))) for y in {*one, *other}]


def profile(law, x):
    """The hockey-stick divergence of masses at losses, at order x: an enclosure."""
    found = to_arb(law.infinity)
    for k, mass in enumerate(law.masses):
        part = 1 - x / (to_arb(law.step) * (law.first + k)).exp()
        found += flint.arb(mass) * part if part > 0 else 0
    return found


def divergence(outcomes, x):
    """The same of two laws over outcomes."""
    return sum(((p - x * q).max(0) for p, q in ((to_arb(p), to_arb(q)) for p, q in outcomes)), flint.arb(0))


def violations(law, channel, n):
    """Orders at which the law is not shown to be above some neighbours: at its losses, where a gap shows if there is
    any (it is linear between them, and a true profile convex), halfway between them, at 0 and beyond the last."""
    with working_precision(200):
        levels = [to_arb(law.step) * Fraction(i, 2).numerator / Fraction(i, 2).denominator for i in _halves(law)]
        orders = [flint.arb(0), *(level.exp() for level in levels)]
        values = [(x, profile(law, x)) for x in orders]
        return [
            float(x.mid())
            for outcomes in neighbours(channel, n)
            for x, value in values
            if not value >= divergence(outcomes, x) - flint.arb("1e-60")  # f(0) = 1 is met with equality
        ]


def _halves(law):
    last = law.first + len(law.masses) - 1
    return range(2 * law.first, 2 * last + 6)
