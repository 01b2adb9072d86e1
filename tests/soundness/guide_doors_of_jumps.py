"""Doors to sums told apart by their jumps."""

# No public door cuts this law in two: one private name is called.
from fractions import Fraction
from functools import cache

import flint

from symshuffle.base.numbers import Ball, Exp, working_precision
from symshuffle.channels.continuous_law import ContinuousLaw, Piece
from symshuffle.engines.densities.bromwich import bromwich_bracket
from symshuffle.engines.densities.engine import _of_cut
from symshuffle.vectors import BlanketMixedGaussian
from symshuffle.vectors.privacy.accounting import pair_delta
from symshuffle.vectors.privacy.pairs import worst_pair

USERS, ERROR = 20, 1e-3


@cache
def law():
    """G = e^u - 3 with u normal, cut at 4: its upper tail is that of a log-normal law."""
    with working_precision(128):
        mass = 1 - (4 / flint.arb(2).sqrt()).erfc()
        density = (2 * flint.arb.pi()).sqrt()
        piece = Piece(Fraction(-4), Fraction(4), lambda u: u.exp() - 3, lambda u: (-u * u / 2).exp() / density)
        return ContinuousLaw((piece,), Ball.from_arb(1 - mass, 128))


def by_jumps():
    return _of_cut(law(), USERS, "float64", 1e-2, error=ERROR, bits=128)


@cache
def by_one_line():
    found = bromwich_bracket(law(), USERS, 1e-8, "float64")
    return found.lower, found.upper


PAIR, LEVEL = worst_pair(BlanketMixedGaussian("0.9", "4"), adjacency="zero-out"), Exp(Fraction(1, 200))


def by_passes():
    return pair_delta(PAIR, 200, LEVEL, rtol=1e-2)


@cache
def by_one_pass():
    found = bromwich_bracket(PAIR.law(LEVEL, tail=Fraction(1, 10**25), bits=192), 200, 1e-8)
    return found.lower, found.upper


DOORS_OF_JUMPS = {"jumps": (by_jumps, by_one_line), "passes": (by_passes, by_one_pass)}
