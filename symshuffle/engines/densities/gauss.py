r"""A law with densities as the atoms of Gauss rules, with a proved error of its moment generating function.

On a panel of half length h the rule of order m errs at :math:`s=c+it`, :math:`|t|\le T`, by at most
:math:`8hV\rho^{-2m}/(1-\rho^{-2})`, where V bounds :math:`|e^{sG(u)}p(u)|` on the ellipse with foci at the ends and sum
of semi-axes :math:`\rho h`: Chebyshev coefficients are at most :math:`2V\rho^{-k}`, those of order below 2m and the odd
ones cost nothing, the others at most :math:`|\int T_k|+\sum w_j|T_k(x_j)|\le4` each. V is read off balls that cover the
ellipse, so that a new mechanism brings no estimate of its own.

Evidence: *proved* throughout, in balls; orders of rules and panels are choices.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias, final

import flint
import numpy as np

from symshuffle.base import cost
from symshuffle.base.doubles import Array
from symshuffle.base.errors import NotDecided, Unsupported
from symshuffle.base.numbers import squared, to_arb, working_precision
from symshuffle.channels.continuous_law import ContinuousLaw, Piece
from symshuffle.channels.mixed_law import gauss
from symshuffle.engines.densities.exponential_sums import exponential_sums

_ORDERS: Final = (12, 20, 32, 48, 72, 104, 144)
"""Orders of rules to choose from, rising: cost only, as the error of each is bounded."""


COVER_BITS: Final = 53
"""Precision of balls that cover an arc or a cell: cost only, as they are true at any."""

_Panel: TypeAlias = tuple[Piece, Fraction, Fraction]


@final
@dataclass(frozen=True, slots=True)
class QuadratureRule:
    """Atoms of positive weight whose transform, with ``zero`` added, errs by at most ``error`` up to a height.

    On a line all is relative to one number, that of the sum over the nodes.

    - ``values``, ``weights``: G at the nodes, and the weights, on a line with the factor ``exp(c G)``, shape ``(m,)``
      each.
    - ``zero``: the mass at G = 0, which has no node.
    """

    values: tuple[flint.arb, ...]
    weights: tuple[flint.arb, ...]
    zero: flint.arb
    error: flint.arb

    def along(self, first: flint.arb, distance: flint.arb, count: int) -> list[flint.acb]:
        """The rule at evenly spaced heights; its error is not in it."""
        turned = []
        for value, weight in zip(self.values, self.weights, strict=True):
            sine, cosine = (first * value).sin_cos()
            turned.append(flint.acb(cosine * weight, sine * weight))
        return [self.zero + wave for wave in exponential_sums(self.values, turned, distance, count)]

    @property
    def spread(self) -> flint.arb:
        """How fast the rule, turned back by its mean, moves with the height at most."""
        values, weights = (self.zero * 0, *self.values), (self.zero, *self.weights)
        total = sum(weights, start=flint.arb(0))
        mean = (sum((w * v for v, w in zip(values, weights, strict=True)), start=flint.arb(0)) / total).mid()
        square = sum((w * squared(v - mean) for v, w in zip(values, weights, strict=True)), start=flint.arb(0))
        return flint.arb((total * square).upper().sqrt())

    @property
    def in_doubles(self) -> tuple[Array, Array]:
        """Values and weights, about: for choices."""
        return middles(self.values), middles(self.weights)

    def over(self, number: flint.arb) -> QuadratureRule:
        """The same, relative to another number: the one it is relative to now is 1."""
        weights = tuple(w / number for w in self.weights)
        return QuadratureRule(self.values, weights, self.zero / number, flint.arb((self.error / number).upper()))


def middles(numbers: tuple[flint.arb, ...]) -> Array:
    """Middles of balls, about."""
    return np.array([float(x.mid()) for x in numbers])


def rule(
    law: ContinuousLaw,
    c: flint.arb,
    *,
    height: float,
    tolerance: float,
    shortest: Fraction = Fraction(1, 2**14),
    max_nodes: int = 60_000,
    per_panel: int = 14_000,
) -> QuadratureRule:
    """Nodes whose moment generating function errs by at most a tolerance on the line at c, up to a height.

    - ``shortest``: length of a panel that is not halved.
    - ``max_nodes``: nodes beyond which the rule is refused.
    - ``per_panel``: terms of a contour in doubles that take as long as a panel: cost only.
    """
    least = least_nodes(law, c, height=height, tolerance=tolerance)
    if least > max_nodes:
        raise Unsupported(
            f"{least:.2g} Gauss nodes or more would be needed (limit {max_nodes}), because G has a long tail; ask "
            "for a larger rtol"
        )
    stack = _stack(law)
    share = _share(stack, tolerance)
    values: list[flint.arb] = []
    weights: list[flint.arb] = []
    total, tried = flint.arb(0), 0
    top = to_arb(Fraction(height))
    while stack:
        piece, low, high = stack.pop()
        tried += 1
        cost.add(per_panel)
        left_out = mass(piece, low, high, c)
        if left_out < flint.arb(share):  # too little to matter: its size is its error
            total += left_out
            continue
        found = order_for(piece, low, high, c, top, share)
        if found is None:
            if high - low < shortest or tried > max_nodes:
                raise Unsupported("no Gauss rule on short panels integrates this density on the contour")
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
    return QuadratureRule(tuple(values), tuple(weights), flint.arb(0), flint.arb(total.upper()))


def least_nodes(law: ContinuousLaw, c: flint.arb, *, height: float, tolerance: float) -> float:
    """Fewer nodes than :func:`rule` takes, as far as is known before the first: a choice."""
    panels = _stack(law)
    return price(panels, c, height=height, share=_share(panels, tolerance))


def _stack(law: ContinuousLaw, *, length: Fraction = Fraction(3, 2)) -> list[_Panel]:
    """Panels of all pieces, the last one first.

    - ``length``: length of a panel to begin with.
    """
    panels = []
    for piece in law.pieces:
        count = max(1, -(-(piece.high - piece.low) // length))
        ends = [piece.low + (piece.high - piece.low) * k / count for k in range(count + 1)]
        panels += [(piece, low, high) for low, high in itertools.pairwise(ends)]
    return panels[::-1]


def _share(panels: list[_Panel], tolerance: float) -> float:
    """What a panel may err by."""
    return tolerance / (2 * len(panels))


def price(panels: list[_Panel], c: flint.arb, *, height: float, share: float, grain: int = 8) -> float:
    r"""Fewer nodes than a rule takes: one for each turn by 4 of :math:`e^{itG}` at the greatest height.

    m nodes are exact to degree 2m - 1, and :math:`e^{ikx}` on [-1, 1], which turns by 2k, is a polynomial of no smaller
    degree than about k.
    Panels that hold less than ``share`` of M(c) are left out, as they are by :func:`rule`. No claim: a choice.

    - ``grain``: parts of a panel on which the range of G is taken.
    """
    turns = 0.0
    with working_precision(COVER_BITS):
        for piece, low, high in panels:
            width = (high - low) / grain
            ends = [low + width * k for k in range(grain + 1)]
            counted = [
                not mass(piece, start, stop, c, cells=1) < flint.arb(share / grain)
                for start, stop in itertools.pairwise(ends)
            ]
            if any(counted):
                values = [piece.value(flint.acb(to_arb(u))).real.mid() for u in ends]
                steps = (abs(float(last - first)) for first, last in itertools.pairwise(values))
                turns += sum(step for step, counts in zip(steps, counted, strict=True) if counts)
    return turns * height / 4


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


def roughly(
    law: ContinuousLaw, slope: flint.arb, *, power: int | None = None, bits: int = 64, power_bits: int = 32
) -> flint.arb:
    """:func:`expectation` of ``exp(slope G)`` in few digits, enough for a bound; a power of it has nine or so.

    - ``bits``: precision of the expectation.
    - ``power_bits``: precision of a power of it, beyond the digits that the power loses.
    """
    with working_precision(bits if power is None else power_bits + power.bit_length()):
        return expectation(law, slope)


def range_of(piece: Piece) -> tuple[flint.arb, flint.arb]:
    """Bounds on G over a piece: by its derivative where that is tighter than the formula on a ball."""
    low, high = to_arb(piece.low), to_arb(piece.high)
    cell = low.union(high)
    middle = (low + high) / 2
    direct = piece.value(flint.acb(cell)).real
    around = piece.value(flint.acb(middle)).real + slope(piece, flint.acb(cell)) * (cell - middle)
    ends = [(x.lower(), x.upper()) for x in (direct, around) if x.is_finite()]
    if not ends:
        raise NotDecided("G could not be enclosed on a cell at this precision")
    least, most = max(e[0] for e in ends), min(e[1] for e in ends)
    return flint.arb(least), flint.arb(most)


def mass(piece: Piece, low: Fraction, high: Fraction, c: flint.arb, cells: int = 4) -> flint.arb:
    """A bound on the share of a panel in M(c), hence at every point of the line."""
    with working_precision(COVER_BITS):
        start, width = to_arb(low), to_arb((high - low) / cells)
        columns = ((start + width * k).union(start + width * (k + 1)) for k in range(cells))
        zero = flint.arb(0)
        return sum((modulus(piece, x, zero, zero, c, zero) * width for x in columns), start=zero).upper()


def order_for(
    piece: Piece, low: Fraction, high: Fraction, c: flint.arb, top: flint.arb, allowed: float, *, turns: int = 3
) -> tuple[int, flint.arb] | None:
    """An order for a panel and its error, or None if no order will do.

    - ``turns``: radians for each node that a rule resolves at most, about: where ends alone are farther apart none is
      looked for.
    """
    found: tuple[int, flint.arb] | None = None
    with working_precision(COVER_BITS):
        start, stop = (piece.value(flint.acb(to_arb(u))).real for u in (low, high))
        if abs(stop - start) * top > turns * _ORDERS[-1]:
            return None
        for least, size in _ranked(piece, low, high, c, top, allowed):
            if found is not None and found[0] <= least:
                break
            most = _on_ellipse(piece, low, high, c, top, size)
            if most is None:
                continue
            order = _least_order(most, low, high, size, allowed)
            if (
                order is not None
                and (found is None or order[0] < found[0])
                and _analytic(piece, *_axes(low, high, size))
            ):
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
    piece: Piece,
    low: Fraction,
    high: Fraction,
    c: flint.arb,
    top: flint.arb,
    allowed: float,
    *,
    sizes: tuple[float, ...] = (1.3, 1.7, 2.5, 4.0, 6.5, 10.0),
    points: int = 5,
) -> list[tuple[int, float]]:
    """Ellipses on which some order may do, the least order first: by a few points of each. No claim: a choice.

    - ``sizes``: sums of the semi-axes of the ellipses, in half panels.
    - ``points``: points of an ellipse by which ellipses are ranked before one is covered.
    """
    ranked = []
    for size in sizes:
        most = _on_ellipse(piece, low, high, c, top, size, points=points)
        order = None if most is None else _least_order(most, low, high, size, allowed)
        if order is not None:
            ranked.append((order[0], float(order[1]), size))
    return [(order, size) for order, _, size in sorted(ranked)]


def _axes(low: Fraction, high: Fraction, size: float) -> tuple[flint.arb, flint.arb, flint.arb]:
    """The centre of an ellipse around a panel, and its semi-axes."""
    rho, half = to_arb(Fraction(size)), to_arb((high - low) / 2)
    return to_arb((low + high) / 2), half * (rho + 1 / rho) / 2, half * (rho - 1 / rho) / 2


def _on_ellipse(
    piece: Piece,
    low: Fraction,
    high: Fraction,
    c: flint.arb,
    top: flint.arb,
    size: float,
    *,
    points: int | None = None,
    arcs: int = 20,
) -> flint.arb | None:
    """A bound on ``|exp(sG) p|`` on an ellipse, or its largest value at some points; None where balls give none.

    - ``arcs``: arcs that cover half an ellipse.
    """
    centre, wide, tall = _axes(low, high, size)
    if points is None:
        angles = [(flint.arb(k).union(flint.arb(k + 1)) * flint.arb.pi()) / arcs for k in range(arcs)]
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

    def finite(cells: int) -> bool:
        for k, j in itertools.product(range(cells), range(cells // 2)):
            x = centre + wide * (flint.arb(2 * k) / cells - 1).union(flint.arb(2 * k + 2) / cells - 1)
            u = flint.acb(x, -tall * (flint.arb(2 * j) / cells).union(flint.arb(2 * j + 2) / cells))
            if not (piece.value(u).is_finite() and piece.density(u).is_finite()):
                return False
        return True

    return finite(2) or finite(6)


def slope(piece: Piece, u: flint.acb) -> flint.arb:
    """The real part of the derivative of G: the formulas are evaluated on a series of two terms; nan at a pole."""
    value: Any = piece.value
    try:
        slope: flint.arb = value(flint.acb_series([u, 1], prec=2))[1].real
    except ValueError:  # a series is not divided by one whose leading ball contains 0
        return flint.arb("nan")
    return slope


def modulus(piece: Piece, x: flint.arb, y: flint.arb, beyond: flint.arb, c: flint.arb, top: flint.arb) -> flint.arb:
    """Upper end of ``|exp(sG) p|`` for imaginary parts from y to ``beyond``, at every height from ``top`` on."""
    size, fall = decay(piece, x, y, beyond, c)
    return flint.arb((size * (-top * fall).exp()).upper())


def decay(piece: Piece, x: flint.arb, y: flint.arb, beyond: flint.arb, c: flint.arb) -> tuple[flint.arb, flint.arb]:
    """Numbers a and b of which ``a exp(-b t)`` is above ``|exp(sG) p|`` for imaginary parts from y to ``beyond``.

    On the line Im G = 0, and above it ``Im G(x + iy) = int_0^y Re G'(x + ir) dr``: the sign of the derivative between
    the line and the path decides. Infinite where it does not, and where value or density may have a pole between them.
    """
    u, none = flint.acb(x, y.union(beyond)), flint.arb(0)
    value, density = piece.value(u), piece.density(u)
    size = (c * value.real).exp() * abs(density)
    if not size.is_finite():
        return flint.arb("inf"), none
    if beyond == 0:
        return flint.arb(size.upper()), none
    column = flint.acb(x, none.union(beyond))
    rising = slope(piece, column) * (1 if beyond > 0 else -1)
    if not (rising >= 0 and piece.density(column).is_finite()):  # no pole of either between the line and the path
        return flint.arb("inf"), none
    lift = flint.arb((rising.lower() * abs(y)).lower())
    seen = (value.imag if beyond > 0 else -value.imag).lower()
    return flint.arb(size.upper()), flint.arb(seen if seen > lift else lift)
