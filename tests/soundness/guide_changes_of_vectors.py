"""Bad versions of what guides vectors."""

import random
from fractions import Fraction


def stuck(found):
    return lambda old, draw: lambda *given, **named: found


def changed(change):
    """The value after a change that may draw."""
    return lambda old, draw: lambda *given, **named: change(old(*given, **named), draw)


def corner_moved(found, draw: random.Random):
    return None if found is None else max(Fraction(-9, 10), min(Fraction(9, 10), found + Fraction(draw.gauss(0, 0.1))))


def share_moved(found, draw: random.Random):
    return None if found is None else found * draw.uniform(0.5, 2)


C = "symshuffle.vectors.calibration.staircase."
BAD_OF_VECTORS = {
    C + "_corner": ("under_caps", (stuck(None), stuck(Fraction(1, 2)), *2 * (changed(corner_moved),))),
    C + "_crossing": ("under_caps", (stuck(0.3), stuck(-0.9), changed(lambda found, draw: found - 0.1))),
    C + "_farthest": ("under_caps", (stuck(None), stuck(-1.0), *2 * (changed(share_moved),))),
    C + "_estimate": ("under_caps", (stuck(0.0), stuck(1.0), changed(lambda found, draw: found * 3))),
    "symshuffle.vectors.randomizers.gaussian_integrals._margin": (
        "upper_index largest_index",
        (stuck(0), stuck(1), stuck(3), stuck(40)),
    ),
    "symshuffle.vectors.privacy.dominance._finer": (
        "ahead",
        (
            stuck([]),
            stuck([Fraction(1, 2), Fraction(41, 40), Fraction(2)]),
            changed(lambda found, draw: [Fraction(draw.randrange(1000, 1050), 1000)]),
            changed(lambda found, draw: found[::-1][:1]),
        ),
    ),
}
"""The doors through which each guide is reached, and its bad versions."""
