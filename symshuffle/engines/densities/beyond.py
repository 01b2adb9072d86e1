r"""What lies beyond the last node of a line that is evaluated: stretches under a coarse rule, then all heights at once.

*A coarse rule.* The sum over the nodes wants a rule that errs by next to nothing, but only up to the last of them. From
there up to the height at which all is bounded at once (:func:`far`), often a hundred times as high, it is enough to
know that the transform is small: a rule may err by a share of its total there, and leaves out the tails whose values
turn the fastest. With :math:`\hat w` its weights, a the bound on its error up to the height, both relative to the same
number, and :math:`\sigma^2=\sum\hat w\sum\hat w(G-\mu)^2` for any :math:`\mu`,

.. math:: |M(c+it)|\le|\hat M(c+it_0)|+|t-t_0|\,\sigma+a

on every stretch below the height, as :math:`|\frac d{dt}e^{-i\mu t}\hat M(c+it)|\le\sum\hat w|G-\mu|\le\sigma`.

*Stretches.* The nodes from j to 2j are cut into intervals of as many nodes each; what bounds the integrand at the
middle of a stretch and how fast it moves bounds it at all of its nodes. Where that is too much there are four times as
many stretches, until each is one node. The middles are evenly spaced, so that a rule is taken at all of them at once.

*All heights from some height on.* The path of integration is moved to :math:`u+i\eta` on the side on which
:math:`\Im G\ge0`: there :math:`|e^{sG}|=e^{c\Re G-t\Im G}` falls with t, so that a bound at one height holds at all
heights above it. On the line :math:`\Im G=0`, and above it :math:`\Im G(x+iy)=\int_0^y\Re G'(x+ir)\,dr`: the path may
be moved where G certainly rises or falls: neighbouring cells share an end, so that where both are moved it is to the
same side. A run of cells is moved together, so that legs up and down are paid at its ends alone. Then
:math:`|M(c+it)|` is at most what the cells that rest have on the line, and what those moved and the legs have. What
rests is summed in two ways, and the smaller serves:

- cell by cell, each from above: where nearly all is moved, that falls without end;
- M(c) less what the cells moved had on the line, each from below. Of n users a line is left at the height at which the
  bound is some 1/n less than M(c): this way what rests has no excess, however little is moved.

Evidence: *proved* throughout, in balls, at whatever error the rule has, given that the bound of a stretch holds at each
of its nodes, and whichever cells are moved and how far. How coarse a rule is, stretches and runs are choices.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final, TypeAlias, TypeVar

import flint
import numpy as np
import numpy.typing as npt

from symshuffle.base import cost
from symshuffle.base.errors import NotDecided, Unsupported
from symshuffle.base.numbers import to_arb, working_precision
from symshuffle.channels.continuous_law import ContinuousLaw, Piece
from symshuffle.engines.densities import gauss


def coarse(
    law: ContinuousLaw,
    c: flint.arb,
    *,
    n: int,
    size: float,
    tolerance: float,
    top: float,
    plenty: int = 1_500,
    share: float = 0.1,
) -> gauss.QuadratureRule | None:
    """A coarse rule up to a height; None where a fine one takes few nodes.

    - ``plenty``: nodes of a rule up to the greatest height, from which on a coarse one is made.
    - ``share``: n times what a coarse rule may err by, as a share of M(c).
    """
    if gauss.least_nodes(law, c, height=top, tolerance=tolerance) <= plenty:
        return None
    found = gauss.rule(law, c, height=top, tolerance=max(tolerance, share * size / n))
    return on_line(law, c, found).over(to_arb(Fraction(size)))


def on_line(law: ContinuousLaw, c: flint.arb, rule: gauss.QuadratureRule) -> gauss.QuadratureRule:
    """A rule for a law, at a line: relative to 1."""
    grown = tuple(w * (c * v).exp() for v, w in zip(rule.values, rule.weights, strict=True))
    return gauss.QuadratureRule(rule.values, grown, to_arb(law.zero).max(flint.arb(0)), rule.error)


def over(
    values: Callable[[flint.arb, flint.arb, int], list[flint.acb]],
    bound: Callable[[flint.acb, flint.arb, flint.arb], flint.arb],
    *,
    step: flint.arb,
    start: int,
    last: int,
    allowed: float,
    terms: int,
    first_runs: int = 48,
    finer: int = 4,
    max_terms: int = 40_000_000,
) -> flint.arb:
    """An upper bound on the sum over the nodes from ``start`` to ``last``, without the factor step/pi.

    Nodes are taken in runs, ``finer`` times as many where they are too long; beyond ``max_terms`` values it refuses.

    - ``bound``: from the transform at the middle of a stretch, half its length and its lower end to a bound on the
      integrand at each of its nodes.
    - ``start``, ``last``: the first, at least 1, and the last of them.
    - ``terms``: what a value costs, at least 1.
    - ``first_runs``: intervals of a run to begin with.
    - ``finer``: how many times as many there are where they were too long.
    - ``max_terms``: values that are taken in all.
    """
    total, index, taken = flint.arb(0), start, 0
    share = allowed / max(last + 1 - start, 1)
    while index <= last:
        stop, runs = min(2 * index, last + 1), first_runs
        while True:
            size = -(-(stop - index) // runs)
            count = -(-(stop - index) // size)
            taken += count * terms
            if taken > max_terms:
                raise Unsupported(f"more than {taken // terms} intervals of the contour; ask for a larger rtol")
            half = step * (size - 1) / 2
            part = flint.arb(0)
            for j, value in enumerate(values(step * index + half, step * size, count)):
                first = index + j * size
                part += bound(value, half, step * first) * min(size, stop - first)
            if size == 1 or float(part * step) <= share * (stop - index):
                break
            runs *= finer
        total += part
        index = stop
    return flint.arb(total.upper())


_FAR: Final = 10_000
_SHIFTED: Final = 230_000
"""Terms of a contour in doubles that take as long as a bound on a piece at a height, and what is known of it: cost
only."""

_RUNGS: Final = 10
"""The rungs of a leg, each a quarter of the next: cost only."""

_SHIFTS: Final = 3
"""The highest rungs are those to which it may be moved."""


_Seen = TypeVar("_Seen")

Terms = list[list[tuple[flint.arb, flint.arb]]]
"""Pairs (a, b) that bound a part of a path by ``a exp(-b t)``: a row for each cell or end."""


CellShifts: TypeAlias = tuple[tuple[tuple[flint.arb, flint.arb], ...], Terms, Terms]
"""What a piece has on the line, of every cell from below and above, and bounds on what it has where it is moved and on
the legs up and down."""


def cell_shifts(law: ContinuousLaw, c: flint.arb) -> tuple[CellShifts, ...]:
    """What is known of every piece of a law at a line."""
    cost.add(_SHIFTED * len(law.pieces))
    with working_precision(gauss.COVER_BITS):
        return tuple(_shifts_of(piece, c) for piece in law.pieces)


def far(known: tuple[CellShifts, ...], size: flint.arb, height: float) -> flint.arb:
    """A bound on the share of the pieces in ``|M(c + it)|`` for every ``t >= height``.

    - ``size``: that share at t = 0.
    """
    cost.add(_FAR * len(known))
    with working_precision(gauss.COVER_BITS):
        top, none = to_arb(Fraction(height)), flint.arb(0)
        moved, had, rests = none, none, none
        for one in known:
            (resting, cells, all_legs), shifts = one, _chosen(one, height)
            for (least, most), paths, shift in zip(resting, cells, shifts, strict=True):
                if shift:
                    had += least
                    moved += _at(paths[shift - 1], top)
                else:
                    rests += most
            for legs, (before, after) in zip(all_legs, itertools.pairwise((0, *shifts, 0)), strict=True):
                for shift in {before, after} - {0} if before != after else ():
                    moved += sum((_at(leg, top) for leg in legs[: _rungs(shift)]), start=none)
        return flint.arb((rests.upper().min((size - had).upper()) + moved).upper())


def aliases(
    value: flint.arb, *, c: flint.arb, theta: flint.arb, step: flint.arb, still: flint.arb, steep: flint.arb
) -> flint.arb:
    """Bound on the aliases of a sum of this step over the nodes of the line at c.

    - ``value``: bounds the sum from above; ``still`` and ``steep`` the transform at 0 and at ``theta`` above c, all
      relative to one number.
    """
    reach = 2 * flint.arb.pi() / step
    q, ratio = (-c * reach).exp(), (-(theta - c) * reach).exp()
    if not (q < 1 and ratio < 1):
        raise NotDecided(f"aliases are bounded for lines at c > 0 and slopes above c, not {theta}")
    right = value.upper() * q / (1 - q) + reach * q / (1 - q) ** 2 * still
    left = ratio / (1 - ratio) * steep / (flint.arb(1).exp() * theta)
    if not (left.is_finite() and right.is_finite()):
        raise NotDecided("the bound on the aliases could not be evaluated; raise bits")
    return flint.arb((left + right).upper())


def height_for(
    first: float, n: int, seen: Callable[[float], _Seen | None], *, least: float = 3.0, attempts: int = 45
) -> tuple[_Seen, float]:
    """What ``seen`` tells of the first height that is high enough, and that height; it tells None of a lower one.

    - ``least``: a height below which the sum of n terms has not fallen, as a share of that for one and times their
      root.
    - ``attempts``: heights that are tried, each half as much again as the one before.
    """
    height = first * min(1.0, least / math.sqrt(n))
    for _ in range(attempts):
        found = seen(height)
        if found is not None:
            return found, height
        height *= 1.5
    raise Unsupported("the transform of the density falls too slowly for the width asked for; ask for a larger rtol")


def _at(term: tuple[flint.arb, flint.arb], top: flint.arb) -> flint.arb:
    return term[0] * (-top * term[1]).exp()


def _rungs(shift: int) -> int:
    """How many parts of a leg there are up to a shift, of which the first is the highest."""
    return _RUNGS - shift + 1


def _shifts_of(piece: Piece, c: flint.arb, *, highest: float = 0.6, cells: int = 100, every: int = 4) -> CellShifts:
    width = (piece.high - piece.low) / cells
    places = [to_arb(piece.low + width * k) for k in range(cells + 1)]
    long, zero = to_arb(width), flint.arb(0)
    rungs = [zero, *(to_arb(Fraction(highest)) / 4**k for k in reversed(range(_RUNGS)))]
    resting, moved, sides = [], [], []
    for cell in (a.union(b) for a, b in itertools.pairwise(places)):
        resting.append(_on_the_line(piece, cell, c, long))
        slope = gauss.slope(piece, flint.acb(cell))
        side = 1 if slope > 0 else -1 if slope < 0 else 0
        sides.append(side)
        ups = (
            [gauss.decay(piece, cell, eta * side, eta * side, c) for eta in reversed(rungs[-_SHIFTS:])] if side else []
        )
        moved.append([(a * long, b) for a, b in ups] or [(flint.arb("inf"), zero)] * _SHIFTS)
    legs = []
    never = [(flint.arb("inf"), zero)] * _RUNGS
    for j, place in enumerate(places):
        if j % every:
            legs.append(never)
            continue
        side = sides[max(j - 1, 0)] or sides[min(j, cells - 1)]
        parts = [(*gauss.decay(piece, place, a * side, b * side, c), b - a) for a, b in itertools.pairwise(rungs)]
        legs.append([(size * length, fall) for size, fall, length in parts])
    return tuple(resting), moved, legs


def _on_the_line(piece: Piece, cell: flint.arb, c: flint.arb, width: flint.arb) -> tuple[flint.arb, flint.arb]:
    """Bounds on the integral of ``exp(cG) p`` over a cell."""
    u = flint.acb(cell)
    found = (c * piece.value(u).real).exp() * piece.density(u).real * width
    if not found.is_finite():
        return flint.arb(0), flint.arb("inf")
    return flint.arb(found.lower()).max(flint.arb(0)), flint.arb(found.upper())


def _chosen(one: CellShifts, height: float) -> list[int]:
    """Of every cell its shift, from 1 for the farthest on, or 0: the cheapest path, in doubles, as a choice."""
    still = np.array([float(least) for least, _ in one[0]])
    across, legs = _at_height(one[1], height), np.cumsum(_at_height(one[2], height), axis=1)
    costs = np.column_stack([still, across])
    ends = np.column_stack([np.zeros(len(legs)), *(legs[:, _rungs(s) - 1] for s in range(1, _SHIFTS + 1))])
    total, back = ends[0], []
    for k, here in enumerate(costs):
        if k:
            change = np.add.outer(ends[k], ends[k])
            np.fill_diagonal(change, 0.0)
            steps = total[:, None] + change
            back.append(steps.argmin(axis=0))
            total = steps.min(axis=0)
        total = total + here
    state = int((total + ends[-1]).argmin())
    path = [state]
    for row in reversed(back):
        path.append(int(row[path[-1]]))
    return path[::-1]


def _at_height(terms: Terms, height: float, *, least_exponent: float = -700.0) -> npt.NDArray[np.float64]:
    """Terms at a height, about.

    - ``least_exponent``: exponent below which an exponential counts as that.
    """

    def value(a: flint.arb, b: flint.arb) -> float:
        return float(a.mid()) * math.exp(max(-height * float(b.mid()), least_exponent)) if a.is_finite() else math.inf

    return np.array([[value(*term) for term in row] for row in terms])
