r"""The bound of a clipped linear density between two finite laws: few messages of the blanket suffice.

On a cell of heights between its corners G is linear. With a and b the ends of the cell and t the mean height of a
uniform point in it, the atom G(t) is below the law of G on the cell in convex order, and atoms at G(a) and G(b) of that
mean are above it. H(n) rises in that order, so that each finite law gives an end. They approach each other as the
square of the width of the cells; where G is constant both are the law itself.

Evidence: *proved*, in balls; the rest is that of the engine that evaluates the finite laws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist
from typing import Final

import flint

from symshuffle.accountants.bounds.evaluate import Method, evaluate
from symshuffle.base.choices import Arithmetic, Relation
from symshuffle.base.errors import NotDecided, Unsupported
from symshuffle.base.numbers import Ball, Real, to_arb, working_precision
from symshuffle.base.results import Bracket
from symshuffle.channels.law import Law
from symshuffle.vectors.randomizers.clipped import clipped_numbers
from symshuffle.vectors.randomizers.mechanisms import ClippedLinear
from symshuffle.vectors.randomizers.sphere import partial_moments

_BITS: Final = 160
_GRID: Final = 2**40
_CELLS: Final = (120, 480, 1920)
"""Cells of the heights: the next number where the laws are too far apart."""

_WIDER: Final = 3.0
_BEYOND: Final = 24
"""Cells have equal masses by a normal law whose variance is so many times that of a height; so many are beyond."""


def larger_between(
    mechanism: ClippedLinear,
    n: int,
    *,
    exp_eps: Real,
    adjacency: Relation,
    rtol: float,
    arithmetic: Arithmetic = "float64",
) -> Bracket:
    """The larger H(n) of the two orders of the worst pair."""
    glance, request = (Method.of(arithmetic=arithmetic, rtol=width) for width in (0.1, rtol / 4))
    # With opposite inputs both directions have one law.
    orders = (False,) if adjacency == "replace-one" else (False, True)
    few = {reverse: _laws(mechanism, exp_eps, adjacency, _CELLS[0], reverse=reverse) for reverse in orders}
    most = {reverse: evaluate(above, n, glance) for reverse, (_, above) in few.items()}
    one = max(most, key=lambda reverse: most[reverse].upper)
    for count in _CELLS:
        below, above = _laws(mechanism, exp_eps, adjacency, count, reverse=one)
        low, high = evaluate(below, n, request), evaluate(above, n, request)
        # The other order is below what is certain of this one, or its upper end counts.
        upper = max([high.upper, *(most[k].upper for k in orders if k is not one and most[k].upper > low.lower)])
        if upper - low.lower <= Fraction(rtol) * upper:
            evaluation = f"laws on either side in convex order, {count} cells of a height: {high.evaluation}"
            return replace(high, lower=low.lower, upper=upper, evaluation=evaluation)
    raise Unsupported(f"laws on either side of a clipped density are farther apart than {rtol:.1e}")


def _laws(
    mechanism: ClippedLinear, exp_eps: Real, adjacency: Relation, count: int, *, reverse: bool
) -> tuple[Law, Law]:
    """Laws of G below and above in convex order."""
    d, clip = mechanism.dimension, mechanism.clip
    corners = [clip] if adjacency == "zero-out" else [clip, -clip]
    ends = _ends(d, corners, count)
    with working_precision(_BITS):
        (gamma, slope, _), ratio = map(to_arb, clipped_numbers(mechanism, bits=_BITS)), to_arb(exp_eps)

        def gain(height: flint.arb, side: Fraction) -> flint.arb:
            """G at a height, by the formulas that hold around another one."""
            first = gamma + slope * (height - to_arb(clip)) if side > clip else gamma
            other = flint.arb(1)
            if adjacency == "replace-one":
                other = gamma + slope * (-height - to_arb(clip)) if -side > clip else gamma
            return (other - ratio * first if reverse else first - ratio * other) / gamma

        below, above = [], []
        for low, high, mass, mean in _cells(ends, d):
            side, weight = (low + high) / 2, gamma * mass
            left, right = to_arb(low), to_arb(high)
            below.append((gain(mean, side), weight))
            if adjacency == "zero-out" and side < clip:
                above.append((gain(left, side), weight))
                continue
            share = (mean - left) / (right - left)
            above += [(gain(left, side), weight * (1 - share)), (gain(right, side), weight * share)]
        return _law(below), _law(above)


def _law(atoms: Sequence[tuple[flint.arb, flint.arb]]) -> Law:
    """A law of balls; G is 0 with what probability is left."""
    rest = 1 - sum((w for _, w in atoms), start=flint.arb(0))
    if not all(w > 0 for _, w in atoms):
        raise NotDecided("the mass of a cell of heights is not told from 0")
    balls = [(Ball.from_arb(v, _BITS), Ball.from_arb(w, _BITS)) for v, w in atoms]
    return Law.from_atoms([(Fraction(0), Ball.from_arb(rest, _BITS)), *balls])


def _ends(dimension: int, corners: Sequence[Fraction], count: int) -> list[Fraction]:
    """Ends of cells from -1 to 1, corners among them: below the only one there is one cell, as G is constant there."""
    wide = NormalDist(0, math.sqrt(_WIDER / dimension))
    low = corners[0] if len(corners) == 1 else Fraction(-1)
    start, stop = wide.cdf(float(low)), wide.cdf(1.0)
    inner = [wide.inv_cdf(start + (stop - start) * k / count) for k in range(1, count)]
    step = 1 / math.sqrt(dimension) / 4
    beyond = [inner[-1] + step * k for k in range(1, _BEYOND)]
    beyond += [] if len(corners) == 1 else [-end for end in beyond]
    grid = {Fraction(round(end * _GRID), _GRID) for end in (*inner, *beyond)}
    return sorted({end for end in grid if low < end < 1} | {Fraction(-1), Fraction(1), *corners})


def _cells(ends: Sequence[Fraction], dimension: int) -> list[tuple[Fraction, Fraction, flint.arb, flint.arb]]:
    """Cells with their masses and mean heights, of a uniform point: from the side on which nothing cancels."""
    found = []
    moments = {end: partial_moments(to_arb(-abs(end)), dimension)[:2] for end in ends}
    for low, high in pairwise(ends):
        if low < 0 < high:
            mass = 1 - moments[low][0] - moments[high][0]
            part = moments[high][1] - moments[low][1]
        else:
            near, far = (low, high) if low >= 0 else (high, low)
            mass, part = (moments[near][k] - moments[far][k] for k in (0, 1))
            part = -part if low >= 0 else part
        found.append((low, high, mass, part / mass))
    return found
