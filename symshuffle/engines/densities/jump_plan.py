r"""Where a law is cut into jumps and the rest, in which bins, and where their lines run: choices in doubles.

Evidence: choices need none; that any of them gives a true bracket is proved of
:mod:`symshuffle.engines.densities.jumps`, under what it assumes. It relies on it that the calm pieces and the bins are
together the pieces of the law, each part once: :func:`cut_at` and :func:`bins` cut coordinates at rational points,
whatever G is there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Final

import flint
import numpy as np

from symshuffle.base.crossings import halved
from symshuffle.base.doubles import Array
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import to_arb, working_precision
from symshuffle.channels.continuous_law import ContinuousLaw, Piece
from symshuffle.engines.contours import saddle
from symshuffle.engines.densities.bromwich_plan import LEAST_MASS, BromwichPlan, atoms_of, rough

_Atoms = tuple[Array, Array]
"""Values and weights, for choices only."""


ERROR_SHARE: Final = 0.05
"""Share of the error allowed that each of the errors may take."""


def split(law: ContinuousLaw, n: int, error: float) -> tuple[ContinuousLaw, tuple[Piece, ...]] | None:
    """The part below a threshold above which two jumps at once are negligible, and the jumps; None if none counts."""
    threshold = None if law.transform is not None or n < 2 else _threshold(law, n, error)
    if threshold is None:
        return None
    calm, jumps = cut_at(law.pieces, threshold)
    return (replace(law, pieces=tuple(calm)), tuple(jumps)) if calm and jumps else None


def _threshold(law: ContinuousLaw, n: int, error: float, *, least_jumps: float = 1e-3) -> float | None:
    """The least value above which two jumps are negligible, if one is felt: any threshold serves.

    - ``least_jumps``: expected number of jumps under the tilt of the whole law from which on they are told apart.
    """
    about = rough(law)
    values, weights = about.values, about.weights
    if not float(values.max()) > 0:
        return None
    c = saddle.saddle_point(about, n)
    order = np.argsort(values)
    values, weights = values[order], weights[order]
    above = np.cumsum(weights[::-1])[::-1]  # mass from each atom on
    gain = float(weights @ np.maximum(values, 0))
    allowed = above * (n * above * gain + values[-1] * above) * n < ERROR_SHARE * error
    allowed &= values > 0
    if not allowed.any():
        return None
    threshold = float(values[int(np.argmax(allowed))])
    felt = n * float(about.at(c).weights[about.values >= threshold].sum())
    return threshold if felt >= least_jumps else None


def cut_at(
    pieces: tuple[Piece, ...] | list[Piece], threshold: float, *, halvings: int = 30
) -> tuple[list[Piece], list[Piece]]:
    """Pieces below and above a threshold of G, as far as ends and one crossing show: any cut is a cut.

    - ``halvings``: bisections towards the coordinate at which G passes the threshold.
    """
    calm: list[Piece] = []
    jumps: list[Piece] = []
    for piece in pieces:
        left, right = (_at(piece, u) > threshold for u in (piece.low, piece.high))
        if left == right:
            (jumps if left else calm).append(piece)
            continue

        def crossed(u: Fraction, piece: Piece = piece, left: bool = left) -> bool:
            return (_at(piece, u) > threshold) != left

        low, _ = halved(crossed, piece.low, piece.high, settled=halvings)
        if low in (piece.low, piece.high):
            (jumps if right else calm).append(piece)
            continue
        first, last = replace(piece, high=low), replace(piece, low=low)
        (jumps if left else calm).append(first)
        (jumps if right else calm).append(last)
    return calm, jumps


def _at(piece: Piece, u: Fraction) -> float:
    """G at a coordinate, about."""
    with working_precision(53):
        return float(piece.value(flint.acb(to_arb(u))).real.mid())


def bins(
    regular: ContinuousLaw, pieces: tuple[Piece, ...], n: int, error: float, *, loss: float = 25.0, most: int = 24
) -> Iterator[tuple[Piece, ...]]:
    """Jumps in bins that have a line each, halved where they span too much for one.

    - ``loss``: logarithm of what a bin may have too much on its line.
    - ``most``: number of bins at most.
    """
    calm = atoms_of(regular.pieces, regular.zero)
    stack = [pieces]
    left = most
    while stack:
        pieces = stack.pop()
        jumps = atoms_of(pieces)
        left -= 1
        low, high = float(jumps[0].min()), float(jumps[0].max())
        c, size = _steepest(calm, jumps, n)
        counts = size - 1 - math.log(c) > math.log(ERROR_SHARE * error) - 5
        if left > 0 and counts and c * (high - low) > loss:
            halves = cut_at(list(pieces), math.sqrt(low * high) if low > 0 else (low + high) / 2)
            if all(halves):
                stack += [tuple(half) for half in halves]
                continue
        yield pieces


def logs(atoms: _Atoms, slopes: Array) -> Array:
    """``log sum w exp(c v)`` at several slopes."""
    exponents = np.multiply.outer(slopes, atoms[0]) + np.log(np.maximum(atoms[1], LEAST_MASS))
    shift = exponents.max(axis=1)
    found: Array = shift + np.log(np.exp(exponents - shift[:, None]).sum(axis=1))
    return found


def _log_size(calm: _Atoms, jumps: _Atoms, n: int, slopes: Array) -> Array:
    r""":math:`\log\Phi` of one jump, the factor 1/n of H(n) and the n places of the jump included."""
    found: Array = (n - 1) * logs(calm, slopes) + logs(jumps, slopes)
    return found


def _steepest(calm: _Atoms, jumps: _Atoms, n: int) -> tuple[float, float]:
    r"""The line on which :math:`\Phi(c)/c^2` is about least, and :math:`\log\Phi` there: a choice."""
    widest = max(float(np.abs(calm[0]).max()), float(np.abs(jumps[0]).max()))
    slopes = np.geomspace(1e-3 / (n * widest), 1e4 / widest, 160)
    for _ in range(3):
        sizes = _log_size(calm, jumps, n, slopes) - 2 * np.log(slopes)
        best = int(np.argmin(sizes))
        slopes = np.geomspace(slopes[max(best - 1, 0)], slopes[min(best + 1, len(slopes) - 1)], 40)
    c = float(slopes[20])
    return c, float(_log_size(calm, jumps, n, np.array([c]))[0])


def variance(atoms: _Atoms, c: float) -> float:
    """The variance of atoms under a tilt."""
    exponents = c * atoms[0] + np.log(atoms[1])
    tilted = np.exp(exponents - exponents.max())
    tilted /= tilted.sum()
    return float(tilted @ (atoms[0] - tilted @ atoms[0]) ** 2)


def jump_plan_for(calm: _Atoms, jumps: _Atoms, n: int, error: float) -> BromwichPlan:
    """Constants for an error of what sums with one jump add to H(n); whatever they are, the bracket is true."""
    c, size = _steepest(calm, jumps, n)
    small = math.exp(min(math.log(error) - size, -2.0))
    widest = max(float(np.abs(calm[0]).max()), float(np.abs(jumps[0]).max()))
    reach = 5 / c
    mass = float(_log_size(calm, jumps, n, np.array([1e-9 / (n * widest)]))[0]) - size
    slopes = c * (1 + np.geomspace(1e-3, 30, 60))
    grown = _log_size(calm, jumps, n, slopes) - size - np.log(slopes)
    while True:
        right = -c * reach + math.log(reach) + max(mass, 0.0)
        left = grown - (slopes - c) * reach
        if max(right, float(left.min())) < math.log(small) - 1:
            far = 4 / math.sqrt(max(variance(calm, c), 1e-300))
            return BromwichPlan(c, 2 * math.pi / reach, far, float(slopes[int(np.argmin(left))]), small)
        reach *= 1.1
        if reach > 1e12 / c:
            raise Unsupported("sums with a jump have tails that no period outruns")
