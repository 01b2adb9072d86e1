r"""A law with densities as the atoms of Gauss rules, with a proved error of its moment generating function.

On a panel of half length h the rule of order m errs at :math:`s=c+it`, :math:`|t|\le T`, by at most
:math:`8hV\rho^{-2m}/(1-\rho^{-2})`, where V bounds :math:`|e^{sG(u)}p(u)|` on the ellipse with foci at the ends and sum
of semi-axes :math:`\rho h`: Chebyshev coefficients are at most :math:`2V\rho^{-k}`, those of order below 2m and the odd
ones cost nothing, the others at most :math:`|\int T_k|+\sum w_j|T_k(x_j)|\le4` each. V is read off balls that cover the
ellipse, so that a new mechanism brings no estimate of its own.

*Far up the line* the path of integration is moved to :math:`u+i\eta` on the side on which :math:`\Im G\ge0`: there
:math:`|e^{sG}|=e^{c\Re G-t\Im G}` falls with t, so that a bound at one height holds at all heights above it.

Evidence: *proved* throughout, in balls; orders of rules, panels and the path's shift are choices.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Final, final

import flint

from symshuffle.continuous_law import ContinuousLaw, Piece
from symshuffle.errors import NotDecided, Unsupported
from symshuffle.numbers import to_arb, working_precision

_ORDERS: Final = (12, 20, 32, 48, 72, 104, 144)
_ELLIPSES: Final = (1.3, 1.7, 2.5, 4.0, 6.5, 10.0)
_ARCS: Final = 20
_GLANCES: Final = 7
"""Arcs that cover half an ellipse, and points of it by which ellipses are ranked before one is covered."""

_PANEL: Final = Fraction(3, 2)
"""Length of a panel to begin with."""

_SHORTEST: Final = Fraction(1, 2**14)
_MOST_NODES: Final = 20_000
_GRAIN: Final = 8
"""Parts of a panel on which the range of G is taken when a rule is priced."""

_SHIFTS: Final = (0.6, 0.15, 0.03)
"""How far the path of integration may be moved off the real line."""

_WORTH: Final = 0.8
"""Share of the integrand that a move leaves in the middle of a stretch, above which it is not tried on the whole."""

_CELLS: Final = 100
"""Cells of a piece, on which it is bounded far up the line, to begin with."""

_CHUNK: Final = 10
"""Cells of a stretch, whose path is moved as one, to begin with: both its ends cost."""

_FINEST: Final = 16
"""How many times narrower cells may become where the density is steep."""

_EXCESS: Final = 0.03
"""What sums over cells may have too much, as a share of the law's."""

_STEPS: Final = 9
_COVER_BITS: Final = 53


@final
@dataclass(frozen=True, slots=True)
class Rule:
    """Atoms of positive weight in place of the pieces of a law.

    Parameters
    ----------
    values, weights : tuple of arb
        G at the nodes, and the weights.
    error : arb
        Bound on the error of the moment generating function at ``c + it`` for ``|t| <= height``.
    """

    values: tuple[flint.arb, ...]
    weights: tuple[flint.arb, ...]
    error: flint.arb


def rule(law: ContinuousLaw, c: flint.arb, *, height: float, tolerance: float) -> Rule:
    """Nodes whose moment generating function errs by at most a tolerance on the line at c, up to a height.

    Raises
    ------
    Unsupported
        If panels would have to be too short, or the price is too high: that is known before the first node.
    """
    stack = [(piece, low, high) for piece in law.pieces for low, high in _panels(piece)][::-1]
    share = tolerance / (2 * len(stack))
    least = price(stack, c, height=height, share=share)
    if least > _MOST_NODES:
        raise Unsupported(
            f"at least {least:.2g} Gauss nodes, where {_MOST_NODES} are the most: the transform falls slowly and G has "
            "a long tail; ask for a larger rel"
        )
    values: list[flint.arb] = []
    weights: list[flint.arb] = []
    total = flint.arb(0)
    top = to_arb(Fraction(height))
    while stack:
        piece, low, high = stack.pop()
        left_out = _mass(piece, low, high, c)
        if left_out < flint.arb(share):  # too little to matter: its size is its error
            total += left_out
            continue
        found = _order(piece, low, high, c, top, share)
        if found is None:
            if high - low < _SHORTEST or len(values) > _MOST_NODES:
                raise Unsupported("a density that no Gauss rule on short panels resolves at this height of the line")
            middle = (low + high) / 2
            stack += [(piece, middle, high), (piece, low, middle)]
            continue
        order, error = found
        total += error
        centre, half = to_arb((low + high) / 2), to_arb((high - low) / 2)
        for root, weight in gauss(order, flint.ctx.prec):
            u = flint.acb(centre + half * root)
            values.append(piece.value(u).real)
            weights.append(half * weight * piece.density(u).real)
    return Rule(tuple(values), tuple(weights), total.upper())


def price(panels: list[tuple[Piece, Fraction, Fraction]], c: flint.arb, *, height: float, share: float) -> float:
    r"""Fewer nodes than a rule takes: one for each turn by 4 of :math:`e^{itG}` at the greatest height.

    m nodes are exact to degree 2m - 1, and :math:`e^{ikx}` on [-1, 1], which turns by 2k, is a polynomial of no smaller
    degree than about k.
    Panels that hold less than ``share`` of M(c) are left out, as they are by :func:`rule`. No claim: a choice.
    """
    turns = 0.0
    with working_precision(_COVER_BITS):
        for piece, low, high in panels:
            width = (high - low) / _GRAIN
            ends = [low + width * k for k in range(_GRAIN + 1)]
            for start, stop in itertools.pairwise(ends):
                if not _mass(piece, start, stop, c, cells=1) < flint.arb(share / _GRAIN):
                    first, last = (piece.value(flint.acb(to_arb(u))).real.mid() for u in (start, stop))
                    turns += abs(float(last - first))
    return turns * height / 4


@cache
def gauss(order: int, bits: int) -> tuple[tuple[flint.arb, flint.arb], ...]:
    """Nodes and weights of Gauss's rule on [-1, 1]."""
    with working_precision(bits):
        return tuple(flint.arb.legendre_p_root(order, k, weight=True) for k in range(order))


def far(law: ContinuousLaw, c: flint.arb, height: float, size: flint.arb) -> flint.arb:
    """A bound on the share of the pieces in ``|M(c + it)|`` for every ``t >= height``.

    Cells are as narrow as M(c), of about this size, takes: a steep density is not known on wide ones.
    """
    with working_precision(_COVER_BITS):
        top = to_arb(Fraction(height))
        allowed = size * _EXCESS * _CHUNK / (_CELLS * len(law.pieces))
        return flint.arb(sum((_shifted(piece, c, top, allowed) for piece in law.pieces), start=flint.arb(0)).upper())


def expectation(law: ContinuousLaw, slope: flint.arb, power: int = 0, centre: flint.arb | None = None) -> flint.arb:
    """The expectation of ``(G - centre)^power exp(slope G)``, by certified integrals."""
    middle = flint.arb(0) if centre is None else centre
    total = to_arb(law.zero) * (-middle) ** power
    for piece in law.pieces:

        def function(u: flint.acb, piece: Piece = piece) -> flint.acb:
            value = piece.value(u)
            return (value - middle) ** power * (slope * value).exp()

        total += piece.integral(function).real
    return total


def range_of(piece: Piece) -> tuple[flint.arb, flint.arb]:
    """Bounds on G over a piece: by its derivative where that is tighter than the formula on a ball."""
    low, high = to_arb(piece.low), to_arb(piece.high)
    cell = low.union(high)
    middle = (low + high) / 2
    direct = piece.value(flint.acb(cell)).real
    around = piece.value(flint.acb(middle)).real + _slope(piece, flint.acb(cell)) * (cell - middle)
    ends = [(x.lower(), x.upper()) for x in (direct, around) if x.is_finite()]
    if not ends:
        raise NotDecided("G is not bounded on a cell at this precision")
    least, most = max(e[0] for e in ends), min(e[1] for e in ends)
    return flint.arb(least), flint.arb(most)


def _panels(piece: Piece) -> Iterator[tuple[Fraction, Fraction]]:
    count = max(1, -(-(piece.high - piece.low) // _PANEL))
    ends = [piece.low + (piece.high - piece.low) * k / count for k in range(count + 1)]
    yield from itertools.pairwise(ends)


def _mass(piece: Piece, low: Fraction, high: Fraction, c: flint.arb, cells: int = 4) -> flint.arb:
    """A bound on the share of a panel in M(c), hence at every point of the line."""
    with working_precision(_COVER_BITS):
        start, width = to_arb(low), to_arb((high - low) / cells)
        columns = ((start + width * k).union(start + width * (k + 1)) for k in range(cells))
        zero = flint.arb(0)
        return sum((_modulus(piece, x, zero, zero, c, zero) * width for x in columns), start=zero).upper()


def _order(
    piece: Piece, low: Fraction, high: Fraction, c: flint.arb, top: flint.arb, allowed: float
) -> tuple[int, flint.arb] | None:
    """An order for a panel and its error, or None if no order will do."""
    found: tuple[int, flint.arb] | None = None
    with working_precision(_COVER_BITS):
        for least, size in _ranked(piece, low, high, c, top, allowed):
            if found is not None and found[0] <= least:
                break
            most = _on_ellipse(piece, low, high, c, top, size)
            if most is None:
                continue
            order = _least_order(most, low, high, size, allowed)
            if order is not None and (found is None or order[0] < found[0]) and _on_boxes(piece, low, high, size):
                found = order
    return found


def _least_order(
    most: flint.arb, low: Fraction, high: Fraction, size: float, allowed: float
) -> tuple[int, flint.arb] | None:
    """The least order whose error is below what is allowed, and that error, for a bound on one ellipse."""
    rho = to_arb(Fraction(size))
    bound = 8 * to_arb((high - low) / 2) * most / (1 - rho**-2)
    for order in _ORDERS:
        error = (bound * rho ** (-2 * order)).upper()
        if error < flint.arb(allowed):
            return order, error
    return None


def _ranked(
    piece: Piece, low: Fraction, high: Fraction, c: flint.arb, top: flint.arb, allowed: float
) -> list[tuple[int, float]]:
    """Ellipses on which some order may do, the least order first: by a few points of each. No claim: a choice."""
    ranked = []
    for size in _ELLIPSES:
        most = _on_ellipse(piece, low, high, c, top, size, points=_GLANCES)
        order = None if most is None else _least_order(most, low, high, size, allowed)
        if order is not None:
            ranked.append((order[0], float(order[1]), size))
    return [(order, size) for order, _, size in sorted(ranked)]


def _axes(low: Fraction, high: Fraction, size: float) -> tuple[flint.arb, flint.arb, flint.arb]:
    """The centre of an ellipse around a panel, and its semi-axes."""
    rho, half = to_arb(Fraction(size)), to_arb((high - low) / 2)
    return to_arb((low + high) / 2), half * (rho + 1 / rho) / 2, half * (rho - 1 / rho) / 2


def _on_boxes(piece: Piece, low: Fraction, high: Fraction, size: float) -> bool:
    """Whether value and density have no pole in an ellipse."""
    return _analytic(piece, *_axes(low, high, size))


def _on_ellipse(
    piece: Piece, low: Fraction, high: Fraction, c: flint.arb, top: flint.arb, size: float, *, points: int | None = None
) -> flint.arb | None:
    """A bound on ``|exp(sG) p|`` on an ellipse around a panel, or its largest value at some points of it.

    None where balls give none.
    """
    centre, wide, tall = _axes(low, high, size)
    if points is None:
        angles = [(flint.arb(k).union(flint.arb(k + 1)) * flint.arb.pi()) / _ARCS for k in range(_ARCS)]
    else:
        angles = [flint.arb.pi() * k / (points - 1) for k in range(points)]
    most: flint.arb | None = None
    for angle in angles:  # the upper half: functions that are real on the line have conjugate values below it
        sine, cosine = angle.sin_cos()
        u = flint.acb(centre + wide * cosine, tall * sine)
        value, density = piece.value(u), piece.density(u)
        size_here = (c * value.real + top * abs(value.imag)).exp() * abs(density)
        if not size_here.is_finite():
            return None
        here = size_here.upper()
        most = here if most is None or here > most else most
    return most


def _analytic(piece: Piece, centre: flint.arb, wide: flint.arb, tall: flint.arb) -> bool:
    """Whether value and density have no pole on a box, hence none in the ellipse: finite on cells that cover half."""
    cells = 6
    left, bottom = centre - wide, -tall
    for k in range(cells):
        for j in range(cells // 2):
            x = (left + 2 * wide * k / cells).union(left + 2 * wide * (k + 1) / cells)
            y = (bottom * j / (cells // 2)).union(bottom * (j + 1) / (cells // 2))
            u = flint.acb(x, y)
            if not (piece.value(u).is_finite() and piece.density(u).is_finite()):
                return False
    return True


def _shifted(piece: Piece, c: flint.arb, top: flint.arb, allowed: flint.arb) -> flint.arb:
    """Bound on the share of one piece at all heights from ``top`` on.

    The path moves up where G certainly rises and down where it certainly falls; elsewhere it stays on the line,
    and that part of the bound does not fall with the height.
    """
    low, width = to_arb(piece.low), to_arb((piece.high - piece.low) / _CELLS)
    groups: list[tuple[int, int, int]] = []  # direction, first cell, end
    for k in range(_CELLS):
        cell = (low + width * k).union(low + width * (k + 1))
        slope = _slope(piece, flint.acb(cell))
        direction = 1 if slope > 0 else -1 if slope < 0 else 0
        if groups and groups[-1][0] == direction:
            groups[-1] = (direction, groups[-1][1], k + 1)
        else:
            groups.append((direction, k, k + 1))
    total = flint.arb(0)
    for direction, first, end in groups:
        for start in range(first, end, _CHUNK):
            stop = min(start + _CHUNK, end)
            ends = low + width * start, low + width * stop
            best, cells = _still(piece, ends, c, stop - start, allowed)
            total += _moved(piece, direction, ends, c, top, cells, best)
    return flint.arb(total.upper())


def _columns(ends: tuple[flint.arb, flint.arb], cells: int) -> tuple[list[flint.arb], flint.arb]:
    """Cells of the same width that cover a stretch, and that width."""
    width = (ends[1] - ends[0]) / cells
    return [(ends[0] + width * k).union(ends[0] + width * (k + 1)) for k in range(cells)], width


def _still(
    piece: Piece, ends: tuple[flint.arb, flint.arb], c: flint.arb, cells: int, allowed: flint.arb
) -> tuple[flint.arb, int]:
    """A bound on the share of a stretch at any height, and its cells, halved while that gains more than is allowed."""
    zero, most = flint.arb(0), cells * _FINEST
    best: flint.arb | None = None
    while True:
        columns, width = _columns(ends, cells)
        bound = sum((_modulus(piece, x, zero, zero, c, zero) * width for x in columns), start=zero).upper()
        if best is not None and bound.is_finite() and not best - bound > allowed:
            return min(best, bound), cells // 2
        if cells >= most or bound <= allowed:  # halving would not gain more than all of it
            return bound, cells
        best, cells = bound, 2 * cells


def _moved(
    piece: Piece,
    direction: int,
    ends: tuple[flint.arb, flint.arb],
    c: flint.arb,
    top: flint.arb,
    cells: int,
    best: flint.arb,
) -> flint.arb:
    """The best bound on the share of a stretch on which G rises or falls, given that of the path that is not moved."""
    columns, width = _columns(ends, cells)
    zero, middle = flint.arb(0), columns[cells // 2]
    resting = _modulus(piece, middle, zero, zero, c, zero)
    for shift in _SHIFTS if direction else ():
        eta = to_arb(Fraction(shift)) * direction
        if not _modulus(piece, middle, eta, eta, c, top) < _WORTH * resting:  # most of the work is spared: a choice
            continue
        rungs = [flint.arb(0), *(eta / 4**k for k in reversed(range(_STEPS)))]
        along = ((x, eta, eta, width) for x in columns)
        up = ((end, a, b, abs(b - a)) for end, (a, b) in itertools.product(ends, itertools.pairwise(rungs)))
        bound = flint.arb(0)
        for x, start, stop, length in itertools.chain(along, up):
            bound += _modulus(piece, x, start, stop, c, top) * length
            if not bound.upper() < best.upper():  # no term is negative
                break
        else:
            best = bound
    return flint.arb(best.upper())


def _slope(piece: Piece, u: flint.acb) -> flint.arb:
    """The real part of the derivative of G: the formulas are evaluated on a series of two terms; nan at a pole."""
    value: Any = piece.value
    try:
        slope: flint.arb = value(flint.acb_series([u, 1], prec=2))[1].real
    except ValueError:  # a series is not divided by one whose leading ball contains 0
        return flint.arb("nan")
    return slope


def _modulus(piece: Piece, x: flint.arb, y: flint.arb, beyond: flint.arb, c: flint.arb, top: flint.arb) -> flint.arb:
    """Upper end of ``|exp(sG) p|`` for imaginary parts from y to ``beyond``, at every height from ``top`` on.

    On the line Im G = 0, and above it ``Im G(x + iy) = int_0^y Re G'(x + ir) dr``: the sign of the derivative between
    the line and the path decides. Infinite where it does not.
    """
    u = flint.acb(x, y.union(beyond))
    value, density = piece.value(u), piece.density(u)
    size = (c * value.real).exp() * abs(density)
    if not size.is_finite():
        return flint.arb("inf")
    if beyond != 0:
        column = flint.acb(x, flint.arb(0).union(beyond))
        slope = _slope(piece, column) * (1 if beyond > 0 else -1)
        if not slope >= 0:
            return flint.arb("inf")
        lift = flint.arb((slope.lower() * abs(y)).lower())
        seen = (value.imag if beyond > 0 else -value.imag).lower()
        size *= (-top * (seen if seen > lift else lift)).exp()
    return flint.arb(size.upper())


__all__ = ["Rule", "expectation", "far", "gauss", "price", "range_of", "rule"]
