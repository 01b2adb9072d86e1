r"""The Rényi divergence of a pair from its hockey-stick divergences: an integral over all orders, from two sides.

For a ratio :math:`r\ge0`, :math:`\;r^\alpha=1+\alpha(r-1)+\alpha(\alpha-1)\int_0^\infty
x^{\alpha-2}\bigl[(r-x)_+-(1-x)_+-(r-1)1_{x<1}\bigr]dx`. With r the likelihood ratio of a pair, and its mean under Q
(which is 1 where Q misses nothing of P, and otherwise the divergence is infinite),

.. math:: e^{(\alpha-1)D_\alpha(P\Vert Q)}=1+\alpha(\alpha-1)\int_0^\infty x^{\alpha-2}\bigl[h(x)-(1-x)_+\bigr]dx,
   \qquad h(x)=D_x(P\Vert Q),

and :math:`D_1=\int_0^\infty x^{-1}[h(x)-(1-x)_+]dx` is the relative entropy. Orders below 1 are the other direction,
:math:`h(x)-(1-x)=x\,D_{1/x}(Q\Vert P)`. The integrand is not negative and the weight positive, so that a profile above
another one gives a larger divergence: a profile that bounds many pairs in both directions bounds the divergences of all
of them. Between known values h is below its chords and above the extended ones; under each line the integral is
elementary.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias

import flint

from symshuffle.accountants.bounds.chords import Line, Node, height, line_above, line_through, lines_below, meetings
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Ball, to_arb, working_precision
from symshuffle.base.results import outward

ORDER_BITS: Final = 384
"""Precision of the integrals: under a line on a short stretch they lose the square of its length."""

_BITS_STEP: Final = 256
"""Precisions differ by so much, that stretches are looked at again few times when nodes draw near."""

_LONG: Final = 64
"""Bits of a numerator beyond which a rational below all doubles is rounded."""

_LEAST_DOUBLE: Final = Fraction(1, 10**290)


StretchBounds: TypeAlias = tuple[flint.arb, flint.arb]
"""What a stretch between two nodes adds to the integral: not less than the first, not more than the second."""


def whole_line(forward: Sequence[Node], reverse: Sequence[Node], *, ends: bool = True) -> list[Node]:
    """Profile ``D_x(P || Q)`` at rising orders x on both sides of 1; those below 1 follow from ``reverse``.

    - ``forward``, ``reverse``: lower and upper ends of ``D_x(P || Q)`` and of ``D_x(Q || P)`` at the same rising
      orders, of which the first is 1.
    - ``ends``: if false, the node at order 0, where the profile is 1, is put first.
    """
    orders = [node.x for node in forward]
    if orders != [node.x for node in reverse] or len(orders) < 2 or orders[0] != 1 or orders != sorted(set(orders)):
        raise InputError("orders", len(orders), "the same orders in both directions, at least two, rising from 1")
    ahead = [_shortened(node) for node in forward]
    behind = [_shortened(node) for node in reverse[:0:-1]]
    start = [] if ends else [Node(Fraction(0), Fraction(1), Fraction(1))]
    return start + [Node(1 / x, 1 - (1 - low) / x, 1 - (1 - high) / x) for x, low, high in behind] + ahead


def _shortened(node: Node) -> Node:
    """With ends that are probabilities, and doubles where these reach: sums of long rationals cost more."""
    low, high = max(node.low, Fraction(0)), min(node.high, Fraction(1))
    return Node(node.x, _rounded(low, up=False), _rounded(high, up=True))


def _rounded(value: Fraction, *, up: bool) -> Fraction:
    """The next double, or, below all of them, a number of a few digits."""
    if value >= _LEAST_DOUBLE:
        return Fraction(outward(value, up=up))
    if value.numerator < 1 << _LONG:
        return value
    scale = 1 << _LONG + value.denominator.bit_length() - value.numerator.bit_length()
    return Fraction(math.ceil(value * scale) if up else math.floor(value * scale), scale)


Known: TypeAlias = dict[tuple[Any, ...], Any]
"""What was computed of stretches between nodes for one order, by precision and nodes."""


def stretches(nodes: Sequence[Node], alpha: Fraction, known: Known | None = None) -> list[StretchBounds]:
    r"""The integral of :math:`x^{\alpha-2}[h(x)-(1-x)_+]` over each stretch between nodes, from two sides.

    - ``known``: those of former calls for the same order, to which those of this one are added.
    """
    known = {} if known is None else known
    shortest = min((right.x - left.x) / right.x for left, right in itertools.pairwise(nodes))
    more = 4 * max(0, math.ceil(1 / shortest).bit_length() - 32)
    bits = ORDER_BITS + -(-more // _BITS_STEP) * _BITS_STEP
    found: list[StretchBounds] = []
    with working_precision(bits):
        weight = known.get((bits,)) or known.setdefault((bits,), _Weight(alpha))
        for i in range(len(nodes) - 1):
            # The lines of a stretch are those of its two nodes and of one more on either side.
            key = bits, i > 0, *nodes[max(i - 1, 0) : i + 3]
            if key not in known:
                known[key] = _stretch(nodes, i, weight)
            found.append(known[key])
    return found


def divergence(integral: flint.arb, alpha: Fraction) -> Ball:
    """The divergence of order alpha whose integral is given."""
    with working_precision(ORDER_BITS):
        if alpha == 1:
            return Ball.from_arb(integral, ORDER_BITS)
        order = to_arb(alpha)
        if integral.lower() >= 0:
            return Ball.from_arb((order * (order - 1) * integral).log1p() / (order - 1), ORDER_BITS)
        # At large orders the radius of a small sum is that of large powers.
        above = (order * (order - 1) * integral.upper()).log1p() / (order - 1)
        return Ball.from_arb(above.union(flint.arb(0)), ORDER_BITS)


class _Weight:
    """Integrals of the weight under lines; powers of a place are computed once."""

    def __init__(self, alpha: Fraction) -> None:
        self._alpha = alpha
        self._order = to_arb(alpha)
        self._powers: dict[Fraction, tuple[flint.arb, flint.arb]] = {}

    def _power(self, x: Fraction) -> tuple[flint.arb, flint.arb]:
        """Antiderivatives of the weight and of x times the weight."""
        found = self._powers.get(x)
        if found is None:
            place = to_arb(x)
            if x == 0:  # lines that are under the weight from 0 on are 0 there, where alpha is 1
                found = flint.arb(0), flint.arb(0)
            elif self._alpha == 1:
                found = place.log(), place
            else:
                power = (place.log() * (self._order - 1)).exp()
                found = power / (self._order - 1), power * place / self._order
            self._powers[x] = found
        return found

    def under(self, line: Line, left: Fraction, right: Fraction) -> flint.arb:
        """The integral of the weight times a line."""
        (a, b), (c, d) = self._power(left), self._power(right)
        return to_arb(line[0]) * (c - a) + to_arb(line[1]) * (d - b)


def _stretch(nodes: Sequence[Node], i: int, weight: _Weight) -> StretchBounds:
    left, right = nodes[i].x, nodes[i + 1].x
    floor = line_through(Fraction(1), Fraction(0), Fraction(-1 if right <= 1 else 0))  # (1 - x)_+: no profile is below
    lines = [*lines_below(nodes, i), floor]
    low, ends = flint.arb(0), sorted({left, right, *meetings(lines, left, right)})
    for a, b in itertools.pairwise(ends):
        best = max(lines, key=lambda line: height(line, (a + b) / 2))
        low += _excess(best, floor, a, b, weight)
    return low, _excess(line_above(nodes, i), floor, left, right, weight)


def _excess(line: Line, floor: Line, left: Fraction, right: Fraction, weight: _Weight) -> flint.arb:
    """The integral of what a line has more than the floor."""
    return weight.under((line[0] - floor[0], line[1] - floor[1]), left, right)
