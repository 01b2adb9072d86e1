r"""A Gaussian randomizer that says less: of each message only the cell of the line in which it falls.

By data processing the divergence of what is left is no larger than that of the messages, whatever the blanket; and a
blanket with more mass makes it smaller still. So a finite law bounds the divergence of a density from below, against
its own blanket with the masses of that, and against the largest one with masses that are certainly no smaller: in
units of sigma0, with :math:`b=|x|/\sigma_0`, u the coordinate along x and V the length of the rest,

.. math:: \frac{\inf_xR_x}{N(0,I)}=\gamma+(1-\gamma)e^{-b\sqrt{u^2+V^2}-b^2/2},

where the root is convex in u, hence above each of its tangents, and rises with V, hence is above its value at the
lower end of a class of lengths. What is left to integrate over a cell is a normal density once more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

import flint
import numpy as np
import numpy.typing as npt

from symshuffle.choices import Adjacency, Blanket, choice
from symshuffle.errors import Unsupported
from symshuffle.numbers import Ball, to_arb, working_precision
from symshuffle.vectors.lengths import share_below
from symshuffle.vectors.mechanisms import BlanketMixedGaussian, LocalGaussian
from symshuffle.vectors.pairs import FinitePair

Array = npt.NDArray[np.float64]

_CELLS: Final = 120
_BELOW: Final = 5
"""Cells of the line begin so far below 0, in units of sigma0; the rest of it is one cell more."""

_GRID: Final = 2**40
_BITS: Final = 96
_BULK: Final = 5.0
"""Half length of the range around the middle of the chi law that is cut into classes."""

_COARSEST, _FINENESS, _FINEST = 1.0, 8.0, 8.0
"""Classes of the length in one unit: at least, times b, and at most."""


def cells_of(
    mechanism: BlanketMixedGaussian | LocalGaussian,
    adjacency: Adjacency | str,
    blanket: Blanket | str = Blanket.MECHANISM,
) -> FinitePair:
    """An input of full length against the null symbol or its opposite, by cells, and a blanket above the true one.

    Parameters
    ----------
    mechanism : BlanketMixedGaussian or LocalGaussian
        What every user runs.
    adjacency : {"zero-out", "replace-one"}
        In what neighbours differ.
    blanket : {"mechanism", "largest"}
        The blanket of the bound that is to be bounded from below.

    Raises
    ------
    Unsupported
        For a mechanism without a blanket of its own, against that.
    """
    adjacency, blanket = choice(Adjacency, adjacency, "adjacency"), choice(Blanket, blanket, "blanket")
    gamma, norm = _share_and_norm(mechanism)
    if blanket is Blanket.MECHANISM and not gamma:
        raise Unsupported("the Gaussian randomizer has no blanket of its own; use blanket='largest'")
    b, d, rest = norm / mechanism.sigma0, mechanism.dimension, 1 - gamma
    ends = [Fraction(round(end * _GRID), _GRID) for end in _ends(float(b), adjacency, blanket)]
    with working_precision(128):
        cells = range(len(ends) + 1)
        null, along, opposite = ([_ball(_mass(ends, k, to_arb(at))) for k in cells] for at in (Fraction(0), b, -b))
        shared: list[Any] = [Fraction(0)] * len(null)
        if blanket is Blanket.LARGEST:
            shared = [_ball(mass) for mass in _shared_cells(ends, b, d)]
        first, second, reference = (
            tuple(gamma * p + rest * q for p, q in zip(null, other, strict=True)) for other in (along, opposite, shared)
        )
    other = tuple(null) if adjacency is Adjacency.ZERO_OUT else second
    return FinitePair(first, other, reference, f"{len(null)} cells of the line")


def cells_in_doubles(
    shift: float, dimension: int, adjacency: Adjacency | str, blanket: Blanket | str
) -> tuple[Array, Array, Array, Array]:
    """About the masses of the cells under the null symbol, the input, its opposite, and what all inputs share.

    Parameters
    ----------
    shift : float
        Length of the input, in units of the noise.
    dimension : int
        Length of the vectors.
    adjacency, blanket
        As of :func:`cells_of`.
    """
    from scipy.special import ndtr
    from scipy.stats import chi

    adjacency, blanket = choice(Adjacency, adjacency, "adjacency"), choice(Blanket, blanket, "blanket")
    ends = _ends(shift, adjacency, blanket)
    low, high = np.append(-np.inf, ends)[:, None], np.append(ends, np.inf)[:, None]

    def masses(at: Array) -> Array:
        x, y = low - at, high - at
        cells: Array = np.where(x > 0, ndtr(-x) - ndtr(-y), ndtr(y) - ndtr(x))
        return cells

    null, along, opposite = masses(np.array([0.0, shift, -shift])).T
    if blanket is Blanket.MECHANISM:
        return null, along, opposite, np.zeros_like(null)
    near = np.array([float(length) for length in _lengths(shift, dimension)])
    chances = np.diff(np.append(chi.cdf(near, dimension - 1), 1.0)) if dimension > 1 else np.ones(1)
    place = np.array([float(at) for at in _places(ends)])[:, None]
    root = np.hypot(place, near)
    slope = place / root
    tangent = np.exp(-shift * (root - slope * place) + (slope**2 - 1) * shift**2 / 2)
    return null, along, opposite, (tangent * masses(-shift * slope)) @ chances


def _share_and_norm(mechanism: BlanketMixedGaussian | LocalGaussian) -> tuple[Fraction, Fraction]:
    """The mass of the null symbol in every message, and the length of the longest input."""
    return (
        (mechanism.gamma, mechanism.norm) if isinstance(mechanism, BlanketMixedGaussian) else (Fraction(0), Fraction(1))
    )


def _ends(shift: float, adjacency: Adjacency, blanket: Blanket) -> Array:
    """Where cells end: fewer far cells where the input is far out, as likelihood ratios there make a law slow.

    Against the largest blanket, which has a corner at 0 on the line, 0 is an end.
    """
    high = shift + min(4.0, max(1.5, 5 - shift))
    ends = np.linspace(-_BELOW if adjacency is Adjacency.ZERO_OUT else -high, high, _CELLS + 1)
    if blanket is Blanket.LARGEST:
        ends[np.argmin(np.abs(ends))] = 0.0
    return ends


def _places(ends: Any) -> list[Any]:
    """A place in each cell, not 0: where the tangent touches. Any does."""
    return [ends[0], *((low + high) / 2 for low, high in pairwise(ends)), ends[-1]]


def _lengths(shift: float, dimension: int) -> list[Fraction]:
    """Where classes of the length across the line begin: finer where the blanket falls fast, one on the line."""
    if dimension == 1:
        return [Fraction(0)]
    start = max(math.sqrt(dimension - 1) - _BULK, 0.0)
    count = math.ceil(2 * _BULK * min(max(_COARSEST, _FINENESS * shift), _FINEST))
    return [Fraction(0), *(Fraction(round((start + 2 * _BULK * k / count) * _GRID), _GRID) for k in range(1, count))]


def _shared_cells(ends: Sequence[Fraction], b: Fraction, dimension: int) -> list[flint.arb]:
    """Masses of the cells that are no smaller than those of the infimum of all inputs' laws."""
    near = _lengths(float(b), dimension)
    below = [share_below(length, dimension) if length else flint.arb(0) for length in near]
    cells = [flint.arb(0)] * (len(ends) + 1)
    for length, chance in zip(
        near, (later - before for before, later in pairwise([*below, flint.arb(1)])), strict=True
    ):
        for k, place in enumerate(_places(ends)):
            root = to_arb(place * place + length * length).sqrt()
            slope, steep = to_arb(place) / root, to_arb(b)
            tangent = (-steep * (root - slope * to_arb(place)) + (slope * slope - 1) * steep * steep / 2).exp()
            cells[k] += chance * tangent * _mass(ends, k, -steep * slope)
    return cells


def _mass(ends: Sequence[Fraction], k: int, shift: flint.arb) -> flint.arb:
    """Mass of a normal law around ``shift`` between the ends of a cell, the first and the last of which are open."""
    half = flint.arb(1) / 2
    scaled = [(to_arb(end) - shift) * half.sqrt() for end in ends[max(k - 1, 0) : k + 1]]
    if k == 0:
        return (-scaled[0]).erfc() * half
    return _between(*scaled) if len(scaled) > 1 else scaled[0].erfc() * half


def _between(low: flint.arb, high: flint.arb) -> flint.arb:
    """Half the difference of erf, from the side on which it does not cancel."""
    if high < 0:
        low, high = -high, -low
    return (low.erfc() - high.erfc()) / 2


def _ball(mass: flint.arb) -> Ball:
    return Ball.from_arb(mass, _BITS)


__all__ = ["cells_in_doubles", "cells_of"]
