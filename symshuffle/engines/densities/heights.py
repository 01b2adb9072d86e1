r"""A bound on the transform of a law with densities at all heights from some height on.

The path of integration is moved to :math:`u+i\eta` on the side on which :math:`\Im G\ge0`: there
:math:`|e^{sG}|=e^{c\Re G-t\Im G}` falls with t, so that a bound at one height holds at all heights above it. On the
line :math:`\Im G=0`, and above it :math:`\Im G(x+iy)=\int_0^y\Re G'(x+ir)\,dr`: the path may be moved where G
certainly rises or falls: neighbouring cells share an end, so that where both are moved it is to the same side. A run
of cells is moved together, so that legs up and down are paid at its ends alone. Then :math:`|M(c+it)|` is at most what
the cells that rest have on the line, and what those moved and the legs have. What rests is summed in two ways, and the
smaller serves:

- cell by cell, each from above: where nearly all is moved, that falls without end;
- M(c) less what the cells moved had on the line, each from below. Of n users a line is left at the height at which the
  bound is some 1/n less than M(c): this way what rests has no excess, however little is moved.

Evidence: *proved* throughout, in balls, whichever cells are moved and how far: runs are chosen by doubles.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

import flint
import numpy as np
import numpy.typing as npt

from symshuffle.base.numbers import to_arb, working_precision
from symshuffle.channels.continuous_law import ContinuousLaw, Piece
from symshuffle.engines.densities import gauss

_HIGHEST: Final = 0.6
_RUNGS: Final = 10
"""How far the path may be moved off the line, and the rungs of a leg, each a quarter of the next."""

_SHIFTS: Final = 3
"""The highest rungs are those to which it may be moved."""

_CELLS: Final = 100
"""Cells of a piece, which are moved or not."""

_EVERY: Final = 4
"""Cells of a run are some times as many: at other ends the path is not moved up or down."""

_COVER_BITS: Final = 53
_LEAST_EXPONENT: Final = -700.0

Terms = list[list[tuple[flint.arb, flint.arb]]]
"""Pairs (a, b) that bound a part of a path by ``a exp(-b t)``: a row for each cell or end."""


@final
@dataclass(frozen=True, slots=True)
class Ladder:
    """What a piece has on the line, and bounds on what it has where its path is moved.

    - ``resting``: from below and from above, of every cell.
    """

    resting: tuple[tuple[flint.arb, flint.arb], ...]
    moved: Terms
    legs: Terms


def ladders(law: ContinuousLaw, c: flint.arb) -> tuple[Ladder, ...]:
    """What is known of every piece of a law at a line."""
    with working_precision(_COVER_BITS):
        return tuple(_ladder(piece, c) for piece in law.pieces)


def far(known: tuple[Ladder, ...], size: flint.arb, height: float) -> flint.arb:
    """A bound on the share of the pieces in ``|M(c + it)|`` for every ``t >= height``.

    - ``size``: that share at t = 0.
    - ``height``: above 0.
    """
    with working_precision(_COVER_BITS):
        top, none = to_arb(Fraction(height)), flint.arb(0)
        moved, had, rests = none, none, none
        for one in known:
            shifts = _chosen(one, height)
            for (least, most), paths, shift in zip(one.resting, one.moved, shifts, strict=True):
                if shift:
                    had += least
                    moved += _at(paths[shift - 1], top)
                else:
                    rests += most
            for legs, (before, after) in zip(one.legs, itertools.pairwise((0, *shifts, 0)), strict=True):
                for shift in {before, after} - {0} if before != after else ():
                    moved += sum((_at(leg, top) for leg in legs[: _rungs(shift)]), start=none)
        return flint.arb((rests.upper().min((size - had).upper()) + moved).upper())


def _at(term: tuple[flint.arb, flint.arb], top: flint.arb) -> flint.arb:
    return term[0] * (-top * term[1]).exp()


def _rungs(shift: int) -> int:
    """How many parts of a leg there are up to a shift, of which the first is the highest."""
    return _RUNGS - shift + 1


def _ladder(piece: Piece, c: flint.arb) -> Ladder:
    width = (piece.high - piece.low) / _CELLS
    places = [to_arb(piece.low + width * k) for k in range(_CELLS + 1)]
    long, zero = to_arb(width), flint.arb(0)
    rungs = [zero, *(to_arb(Fraction(_HIGHEST)) / 4**k for k in reversed(range(_RUNGS)))]
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
        if j % _EVERY:
            legs.append(never)
            continue
        side = sides[max(j - 1, 0)] or sides[min(j, _CELLS - 1)]
        parts = [(*gauss.decay(piece, place, a * side, b * side, c), b - a) for a, b in itertools.pairwise(rungs)]
        legs.append([(size * length, fall) for size, fall, length in parts])
    return Ladder(tuple(resting), moved, legs)


def _on_the_line(piece: Piece, cell: flint.arb, c: flint.arb, width: flint.arb) -> tuple[flint.arb, flint.arb]:
    """Bounds on the integral of ``exp(cG) p`` over a cell."""
    u = flint.acb(cell)
    found = (c * piece.value(u).real).exp() * piece.density(u).real * width
    if not found.is_finite():
        return flint.arb(0), flint.arb("inf")
    return flint.arb(found.lower()).max(flint.arb(0)), flint.arb(found.upper())


def _chosen(one: Ladder, height: float) -> list[int]:
    """Of every cell its shift, from 1 for the farthest on, or 0: the cheapest path, in doubles, as a choice."""
    still = np.array([float(least) for least, _ in one.resting])
    across, legs = _doubles(one.moved, height), np.cumsum(_doubles(one.legs, height), axis=1)
    costs = np.column_stack([still, across])
    ends = np.column_stack([np.zeros(len(legs)), *(legs[:, _rungs(s) - 1] for s in range(1, _SHIFTS + 1))])
    total, back = ends[0], []
    for k, cost in enumerate(costs):
        if k:
            change = np.add.outer(ends[k], ends[k])
            np.fill_diagonal(change, 0.0)
            steps = total[:, None] + change
            back.append(steps.argmin(axis=0))
            total = steps.min(axis=0)
        total = total + cost
    state = int((total + ends[-1]).argmin())
    path = [state]
    for row in reversed(back):
        path.append(int(row[path[-1]]))
    return path[::-1]


def _doubles(terms: Terms, height: float) -> npt.NDArray[np.float64]:
    """Terms at a height, about."""

    def value(a: flint.arb, b: flint.arb) -> float:
        return float(a.mid()) * math.exp(max(-height * float(b.mid()), _LEAST_EXPONENT)) if a.is_finite() else math.inf

    return np.array([[value(*term) for term in row] for row in terms])


__all__ = ["Ladder", "far", "ladders"]
