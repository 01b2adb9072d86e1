"""Doors to what guides vectors, and what is true there by another road.

Profiles of few outputs are enumerated in plain doubles, integrals are trapezoids in plain doubles; the best error of
PrivUnit is bounded from above by a search on Gauss's nodes and from below by cells, which share no guide.

No public door tells on which levels an order is larger: private names are called.
"""

import math
from fractions import Fraction
from functools import cache

import numpy as np

from symshuffle import Ball, Bracket, CertificateError, NotDecided
from symshuffle.base.choices import Larger, members
from symshuffle.base.numbers import to_arb, working_precision
from symshuffle.vectors import PrivUnit, SphereLinear, calibrate, correspondence
from symshuffle.vectors.calibration.floor import Target
from symshuffle.vectors.calibration.staircase import floor_of
from symshuffle.vectors.privacy import dominance
from symshuffle.vectors.privacy.pairs import FinitePair, worst_pair
from symshuffle.vectors.randomizers.gaussian import largest_blanket_variance, upper_variance

CROSSED = FinitePair(
    (Fraction(1, 8), Fraction(7, 8)), (Fraction(1, 12), Fraction(11, 12)), (Fraction(1, 12), Fraction(7, 8)), "crossing"
)
MANY, HIGH = 200, Fraction(21, 20)
LEVEL, GOAL, USERS = Fraction(6, 5), Fraction(1, 1000), 1000
GAMMA, REACH = 0.3, 0.7
LINEAR = SphereLinear("1/2", 1)


def bracket(lower, upper):
    return Bracket(lower, upper, "ball", "guides", "by hand")


def near(value, width=1e-9):
    return Fraction(value * (1 - width)), Fraction(value * (1 + width))


def counted(pair, n, x):
    """E(mean of (p - x q)/r)_+ over all counts of two outputs and the rest, in plain doubles."""
    (p, s), (q, t), (r, v) = (tuple(map(float, row)) for row in (pair.first, pair.second, pair.reference))
    i, j, mass = counts(n, r, v)
    return float(mass @ np.maximum(i * (p - x * q) / r + j * (s - x * t) / v, 0)) / n


@cache
def counts(n, r, v):
    """All counts of two outputs, and how likely they are."""
    i, j = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    kept = (i + j <= n) if 1 - r - v > 1e-12 else (i + j == n)
    i, j = i[kept], j[kept]
    logs = np.array([math.lgamma(k + 1) for k in range(n + 1)])
    rest = (n - i - j) * (math.log(1 - r - v) if 1 - r - v > 1e-12 else 0.0)
    return i, j, np.exp(logs[n] - logs[i] - logs[j] - logs[n - i - j] + i * math.log(r) + j * math.log(v) + rest)


def share_ahead():
    """The share of levels on which the order as given is said to be the larger one, and may be."""
    found = dominance._refined(
        dominance._Profiles(CROSSED, MANY, "float64"), Fraction(1), HIGH, dominance._EVALUATIONS // 16
    )
    lengths = dict.fromkeys(members(Larger), Fraction(0))
    for low, high, verdict in zip(found[0][:-1], found[0][1:], found[1], strict=True):
        lengths[verdict] += (high - low) / (HIGH - 1)
    return bracket(lengths["forward"], 1 - lengths["reverse"])


@cache
def true_share_ahead():
    levels = 1 + float(HIGH - 1) * (np.arange(400) + 0.5) / 400
    ahead = [counted(CROSSED, MANY, x) >= counted(CROSSED.reverse, MANY, x) for x in levels]
    return Fraction(sum(ahead) - 1, 400), Fraction(sum(ahead) + 1, 400)


def of_ball(function, *given):
    with working_precision(128):
        ball = Ball.from_arb(function(*given), 100)
    return bracket(ball.lower, ball.upper)


def upper_index():
    return of_ball(lambda: upper_variance(to_arb(Fraction(GAMMA)), to_arb(Fraction(REACH))))


def largest_index():
    return of_ball(lambda: largest_blanket_variance(to_arb(Fraction(GAMMA)), to_arb(Fraction(REACH)), 1))


Z = np.linspace(-15, 15, 400_001)
NORMAL = np.exp(-Z * Z / 2) / math.sqrt(2 * math.pi) * (Z[1] - Z[0])


@cache
def true_upper_index():
    toward, away = (np.exp(sign * REACH * Z - REACH**2 / 2) for sign in (1, -1))
    return near(float(NORMAL @ ((toward - 1) ** 2 / (GAMMA + (1 - GAMMA) * away))))


@cache
def true_largest_index():
    """On the line, at the longest input; the blanket has a corner at 0, which is a point of the grid."""
    toward, blanket = np.exp(REACH * Z - REACH**2 / 2), np.exp(-REACH * abs(Z) - REACH**2 / 2)
    return near(float(NORMAL @ ((toward - 1) ** 2 / (GAMMA + (1 - GAMMA) * blanket))), 1e-7)


def slope():
    """Some slope of a linear density on two inputs that certainly meets the target: none is above the largest."""
    found = calibrate("sphere-linear", n=8, dimension=1, exp_eps=LEVEL, delta="1/50", adjacency="zero-out", gap=None)
    return bracket(found.parameters.c, Fraction(1))


@cache
def largest_slope():
    low, high = 0.05, 0.95
    while high - low > 1e-6:
        middle = (low + high) / 2
        pair = worst_pair(SphereLinear(Fraction(middle), 1), adjacency="zero-out")
        delta = max(counted(one, 8, float(LEVEL)) for one in (pair, pair.reverse))
        low, high = (middle, high) if delta <= 0.02 else (low, middle)
    return Fraction(low), Fraction(high)


def row():
    (found,) = correspondence(LINEAR, [8])
    return found


def shuffled():
    return row().shuffled


@cache
def true_shuffled():
    pair, x = worst_pair(LINEAR, adjacency="zero-out"), math.exp(row().eps)
    return near(max(counted(one, 8, x) for one in (pair, pair.reverse)))


@cache
def best_known():
    """Caps that meet the target, found on Gauss's nodes, and their certified error."""
    return calibrate("privunit", n=USERS, dimension=3, delta=GOAL, exp_eps=LEVEL, adjacency="zero-out", gap=None)


CAPS = PrivUnit("393133465263/500000000000", "11836694497/20000000000", 3)
TARGET = Target(USERS, LEVEL, GOAL, "zero-out", "mechanism")


def under_caps():
    """A floor under the error of all caps that meet the target."""
    try:
        _, rmse = floor_of(CAPS, TARGET, Fraction(1, 10))
    except CertificateError as reason:
        raise NotDecided(str(reason)) from reason
    if rmse is None:
        raise NotDecided("no floor")
    return bracket(rmse, Fraction(1))


def error_of_caps():
    rmse = Fraction(best_known().rmse)
    return rmse * Fraction(995, 1000), rmse * (1 + Fraction(1, 10**9))


DOORS_OF_VECTORS = {
    "ahead": (share_ahead, true_share_ahead),
    "upper_index": (upper_index, true_upper_index),
    "largest_index": (largest_index, true_largest_index),
    "slope": (slope, largest_slope),
    "shuffled": (shuffled, true_shuffled),
    "under_caps": (under_caps, error_of_caps),
}
