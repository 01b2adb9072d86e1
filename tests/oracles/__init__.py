"""Second witnesses that only tests ask."""

from symshuffle.base.numbers import Ball, to_arb, working_precision
from symshuffle.engines.counting.exact import Exact


def enumerate_ball(law, n, bits=128):
    """H(n) as a ball by the count-vector road, also for rational laws: a second witness of the lattice road."""
    with working_precision(bits):
        return Ball.from_arb(to_arb(Exact(bits=bits)._enclosed(law, n)) + to_arb(law.singular), bits)
