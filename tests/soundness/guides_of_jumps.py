"""A door to sums told apart by their jumps, and bad versions of what guides them."""

import random
from dataclasses import replace
from fractions import Fraction
from functools import cache

import flint
import numpy as np

from symshuffle.base.choices import Rigour
from symshuffle.base.numbers import Ball, Exp, working_precision
from symshuffle.channels.continuous_law import ContinuousLaw, Piece
from symshuffle.engines.densities.bromwich import Bromwich
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
    return _of_cut(law(), USERS, Rigour.FLOAT64, 1e-2, error=ERROR, bits=128)


@cache
def by_one_line():
    found = Bromwich(1e-8, Rigour.FLOAT64).bracket(law(), USERS)
    return found.lower, found.upper


PAIR, LEVEL = worst_pair(BlanketMixedGaussian("0.9", "4"), adjacency="zero-out"), Exp(Fraction(1, 200))


def by_passes():
    return pair_delta(PAIR, 200, LEVEL, rel=1e-2)


@cache
def by_one_pass():
    found = Bromwich(1e-8).bracket(PAIR.law(LEVEL, tail=Fraction(1, 10**25), bits=192), 200)
    return found.lower, found.upper


def stuck(found):
    return lambda old, draw: lambda *given, **named: found


def changed(change):
    """The value after a change that may draw."""
    return lambda old, draw: lambda *given, **named: change(old(*given, **named), draw)


def replanned(plan, draw: random.Random):
    """Another line, period and slope, the slope beyond its line."""
    c = plan.c * 10 ** draw.uniform(-0.3, 0.3)
    period = plan.period * 10 ** draw.uniform(-0.5, 0.3)
    return replace(plan, c=c, period=period, slope=c * draw.uniform(1.01, 3), small=plan.small * draw.uniform(0.1, 10))


def other_atoms(found, draw: random.Random):
    values, weights = found
    return values * draw.uniform(0.5, 2), weights * np.array([draw.uniform(0.1, 2) for _ in weights])


def moved(found, draw: random.Random):
    return found + draw.uniform(-0.5, 0.5)


def line_moved(found, draw: random.Random):
    return found[0] * 10 ** draw.uniform(-0.3, 0.3), found[1] + draw.uniform(-3, 3)


def rerouted(path, draw: random.Random):
    """A path that leaves the line elsewhere, in runs of four cells as the ends allow."""
    runs = [draw.randrange(4) for _ in path[::4]]
    return [runs[k // 4] if draw.random() < 0.9 else shift for k, shift in enumerate(path)]


J = "symshuffle.engines.densities.jump_plan."
BAD_OF_JUMPS = {
    "symshuffle.engines.densities.bromwich_plan.bits_enough": ("jumps", (stuck(24), stuck(53), stuck(400))),
    J + "_threshold": ("jumps", (stuck(20.0), stuck(35.0), stuck(50.0), stuck(None))),
    J + "_steepest": ("jumps", 3 * (changed(line_moved),)),
    J + "plan_for": ("jumps", 4 * (changed(replanned),)),
    J + "atoms_of": ("jumps", 2 * (changed(other_atoms),)),
    J + "logs": ("jumps", 2 * (changed(moved),)),
    J + "_log_size": ("jumps", 2 * (changed(moved),)),
    J + "variance": ("jumps", (stuck(0.1), stuck(1e3))),
    J + "_at": ("jumps", (changed(lambda found, draw: found * 1.5), changed(lambda found, draw: found - 3))),
    "symshuffle.engines.densities.jump_line._last": (
        "jumps",
        (stuck(1), changed(lambda found, draw: found // 2), changed(lambda found, draw: found + 7)),
    ),
    "symshuffle.engines.densities.heights._chosen": ("jumps", 3 * (changed(rerouted),)),
    "symshuffle.engines.densities.gauss.least_nodes": ("jumps density", (stuck(0.0), stuck(1e9))),
    "symshuffle.engines.densities.engine._likely": (
        "passes",
        (stuck(Fraction(1, 10**30)), stuck(Fraction(1, 1000)), stuck(Fraction(0))),
    ),
    "symshuffle.engines.densities.engine._left_in_doubles": ("jumps", (stuck(True), stuck(False))),
}
"""The door through which each guide is reached, and its bad versions."""

DOORS_OF_JUMPS = {"jumps": (by_jumps, by_one_line), "passes": (by_passes, by_one_pass)}
SEEN_THROUGH_OF_JUMPS = {
    f"engines.densities.{name}": "jumps" for name in ("jump_plan", "jump_line", "heights", "covers", "stretches")
}
