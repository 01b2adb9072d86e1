r"""Mechanisms for vectors that say less: of each message only the cell in which it falls.

A blanket-mixed Gaussian, PrivUnit and a clipped linear density send a message that no input shapes with probability
:math:`\gamma`, and otherwise one of a law with a single parameter: the noise, the height of the cap, the height of the
clip. Against the null symbol and the opposite input, its cells are rows of masses at any :math:`\gamma`.

The blanket of a cell may be given too large: whoever reads can add blanket messages, so that the divergence of the
cells stays below the bound. That is how the largest blanket of a Gaussian,
:math:`\inf_xR_x=\gamma+(1-\gamma)e^{-b|y|-b^2/2}` relative to :math:`N(0,I)`, gets cells from dimension 2 on: with u
along the input and V the length across it, :math:`e^{-b\sqrt{u^2+V^2}}` is convex in :math:`u^2` and in :math:`V^2`,
hence below its interpolation from the corners of a rectangle, whose mean needs second moments only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final, TypeAlias

import flint

from symshuffle.base.choices import Blanket, Relation, choice
from symshuffle.base.errors import NotDecided, Unsupported
from symshuffle.base.numbers import Ball, to_arb, working_precision
from symshuffle.vectors.privacy.pairs import FinitePair
from symshuffle.vectors.randomizers.mechanisms import (
    BlanketMixedGaussian,
    ClippedLinear,
    LocalGaussian,
    PrivUnit,
    SphereLinear,
)
from symshuffle.vectors.randomizers.sphere import cap_complement, clipped_numbers, partial_moments, ramp_moments

Mixed: TypeAlias = BlanketMixedGaussian | LocalGaussian | PrivUnit | ClippedLinear | SphereLinear
"""What sends, with some probability, a message that no input shapes (LocalGaussian: never)."""

_BITS: Final = 128
"""Cells of the line begin so far below 0, in units of sigma0; the rest of it is one cell more."""


_GRID: Final = 2**40

_Masses: TypeAlias = tuple[flint.arb, ...]


Cells: TypeAlias = tuple[_Masses, _Masses, _Masses, _Masses]
"""Masses of cells of the messages, without the part that no input shapes: of the null symbol, of both inputs, and at
least what the blanket has beside the shared part, of sum at most 1."""


def mixed_pair(rows: Cells, gamma: flint.arb) -> FinitePair:
    """The pair with the shared part of probability ``gamma`` mixed in, and its blanket."""
    null, *others = rows
    with working_precision(_BITS):
        rest = 1 - gamma
        first, second, least = (
            tuple(Ball.from_arb(gamma * p + rest * q, 96) for p, q in zip(null, masses, strict=True))
            for masses in others
        )
    return FinitePair(first, second, least, f"{len(null)} cells of the messages")


def share(mechanism: Mixed) -> flint.arb:
    """The probability of a message that no input shapes, at the working precision."""
    match mechanism:
        case BlanketMixedGaussian():
            return to_arb(mechanism.gamma)
        case LocalGaussian():
            return flint.arb(0)
        case SphereLinear():
            return to_arb(1 - mechanism.c)
        case ClippedLinear():
            return to_arb(clipped_numbers(mechanism, bits=flint.ctx.prec)[0])
        case PrivUnit():
            gamma = to_arb(1 - mechanism.p) / cap_complement(to_arb(mechanism.theta), mechanism.dimension)
            if not gamma < 1:
                raise Unsupported(
                    f"{mechanism} is not certified to prefer its cap: 1 - p is not below the uniform mass outside it"
                )
            return gamma


def spread(mechanism: Mixed) -> Fraction:
    """What else there is to choose: the noise, the height of the cap, the height of the clip (-1 where none is)."""
    match mechanism:
        case BlanketMixedGaussian() | LocalGaussian():
            return mechanism.sigma0
        case PrivUnit():
            return mechanism.theta
        case ClippedLinear():
            return mechanism.clip
        case SphereLinear():
            return Fraction(-1)


def cells(mechanism: Mixed, at: Fraction, adjacency: Relation, blanket: Blanket) -> Cells:
    """Cells of a mechanism with another :func:`spread`, whatever its share."""
    adjacency, blanket = choice(Relation, adjacency, "adjacency"), choice(Blanket, blanket, "blanket")
    with working_precision(_BITS):
        match mechanism:
            case PrivUnit():
                return _caps(at, mechanism.dimension, adjacency)
            case ClippedLinear() | SphereLinear():
                return _ramp(at, mechanism.dimension, adjacency)
        mixes = isinstance(mechanism, BlanketMixedGaussian)
        shift = (mechanism.norm if isinstance(mechanism, BlanketMixedGaussian) else Fraction(1)) / at
        if blanket == "largest":
            return _largest(shift, mechanism.dimension, adjacency)
        if not mixes:
            raise Unsupported("the Gaussian randomizer has no blanket of its own; use blanket='largest'")
        null, along, opposite = _on_the_line(_ends(shift, adjacency), shift)
        second = opposite if adjacency == "replace-one" else null
        return null, along, second, (flint.arb(0),) * len(null)


@lru_cache(maxsize=8)
def cells_of(mechanism: Mixed, adjacency: Relation, blanket: Blanket = "mechanism") -> FinitePair:
    """A longest input against another, of each message only its cell.

    The inputs are those of :func:`symshuffle.vectors.privacy.pairs.worst_pair`.
    """
    with working_precision(_BITS):
        gamma = share(mechanism)
    return mixed_pair(cells(mechanism, spread(mechanism), adjacency, blanket), gamma)


def _ends(shift: Fraction, adjacency: Relation, count: int = 120, *, below_zero: int = 5) -> list[Fraction]:
    """Where cells end, 0 among them; fewer are far out where the input is: likelihood ratios there make laws slow."""
    b = float(shift)
    high = b + min(4.0, max(1.5, 5 - b))
    low = -high if adjacency == "replace-one" else -float(below_zero)
    above = max(1, round(count * high / (high - low)))
    below = max(1, count - above)
    ends = [low * (below - k) / below for k in range(below)] + [high * k / above for k in range(above + 1)]
    return [Fraction(round(end * _GRID), _GRID) for end in ends]


def _on_the_line(ends: Sequence[Fraction], shift: Fraction) -> tuple[_Masses, _Masses, _Masses]:
    """Masses of N(0, 1), N(shift, 1) and N(-shift, 1)."""
    first, second, third = (_normal_cells(ends, at) for at in (Fraction(0), shift, -shift))
    return first, second, third


def _normal_cells(ends: Sequence[Fraction], shift: Fraction) -> _Masses:
    """Masses of a normal law around ``shift`` between neighbouring ends and beyond them."""
    half = flint.arb(1) / 2
    scaled = [to_arb(end - shift) * half.sqrt() for end in ends]
    inner = [_between(low, high) for low, high in pairwise(scaled)]
    return ((-scaled[0]).erfc() * half, *inner, scaled[-1].erfc() * half)


def _between(low: flint.arb, high: flint.arb) -> flint.arb:
    """Half the difference of erf, from the side on which it does not cancel."""
    if high < 0:
        low, high = -high, -low
    return (low.erfc() - high.erfc()) / 2


def _largest(shift: Fraction, dimension: int, adjacency: Relation, *, line_cells: int = 60) -> Cells:
    """Against the largest blanket: on the line that of the farther end, otherwise interpolated from corners."""
    if dimension == 1:
        null, along, opposite = _on_the_line(_ends(shift, adjacency), shift)
        second = opposite if adjacency == "replace-one" else null
        return null, along, second, tuple(p.min(q) for p, q in zip(along, opposite, strict=True))
    ends = _ends(shift, adjacency, line_cells)
    null, along, opposite = _on_the_line(ends, shift)
    second = opposite if adjacency == "replace-one" else null
    slope = to_arb(shift)
    squares = [to_arb(end * end) for end in ends]
    densities = [(-square / 2).exp() * to_arb(end) for end, square in zip(ends, squares, strict=True)]
    # of each cell of the line: nearer and farther square, and the share of the farther one in the mean of the square
    line = [(squares[0], squares[0], flint.arb(0))]
    root = (2 * flint.arb.pi()).sqrt()
    for k in range(len(ends) - 1):
        mean = 1 + (densities[k] - densities[k + 1]) / root / null[k + 1]
        near, far = sorted((ends[k] ** 2, ends[k + 1] ** 2))
        line.append(_weighed(near, far, mean))
    line.append((squares[-1], squares[-1], flint.arb(0)))
    rows: tuple[list[flint.arb], ...] = ([], [], [], [])
    for mass, short, long, part in _across(dimension):
        for k, (low, high, weight) in enumerate(line):
            corners = [
                (1 - weight) * (1 - part) * _fall(low + short, slope),
                weight * (1 - part) * _fall(high + short, slope),
                (1 - weight) * part * _fall(low + long, slope),
                weight * part * _fall(high + long, slope),
            ]
            blanket = sum(corners, start=flint.arb(0))
            for row, value in zip(rows, (null[k], along[k], second[k], null[k] * blanket), strict=True):
                row.append(value * mass)
    null_row, first_row, second_row, least_row = (tuple(row) for row in rows)
    return null_row, first_row, second_row, least_row


def _fall(square: flint.arb, slope: flint.arb) -> flint.arb:
    """The smallest density of all inputs relative to N(0, I), at a squared length."""
    return (-slope * square.max(flint.arb(0)).sqrt() - slope * slope / 2).exp()


def _weighed(low: Fraction, high: Fraction, mean: flint.arb) -> tuple[flint.arb, flint.arb, flint.arb]:
    """Two squares, and the share of the larger one where their mean is given."""
    return to_arb(low), to_arb(high), (mean - to_arb(low)) / to_arb(high - low)


def _across(
    dimension: int, *, classes: int = 12, bulk: int = 3
) -> list[tuple[flint.arb, flint.arb, flint.arb, flint.arb]]:
    """Of each class of the length across: its mass, two squares, the share of the larger one in the mean square."""
    degrees = dimension - 1
    middle = math.sqrt(degrees)
    start = max(middle - bulk, 0.0)
    step = (middle + bulk - start) / classes
    ends = [Fraction(round((start + step * k) * 2**12), 2**12) for k in range(classes + 1)]
    squares = [end * end for end in ends]
    if squares[0] > 0:
        squares.insert(0, Fraction(0))

    def below(square: Fraction, more: int) -> flint.arb:
        return to_arb(square / 2).gamma_lower(to_arb(Fraction(degrees + more, 2)), 1)

    found = []
    for low, high in pairwise(squares):
        mass = below(high, 0) - below(low, 0)
        mean = degrees * (below(high, 2) - below(low, 2)) / mass
        found.append((mass, *_weighed(low, high, mean)))
    last = to_arb(squares[-1])
    beyond = to_arb(squares[-1] / 2).gamma_upper(to_arb(Fraction(degrees, 2)), 1)
    found.append((beyond, last, last, flint.arb(0)))
    return found


def _caps(theta: Fraction, dimension: int, adjacency: Relation) -> Cells:
    """The cap of x, that of -x, and the rest; of caps above half the sphere only whether the message avoids that of x.

    Of larger caps, cells that said more would not be ordered: see claim ``symshuffle.vecmean-cap-order``.
    """
    height, zero = to_arb(theta), flint.arb(0)
    inside, outside = cap_complement(-height, dimension), cap_complement(height, dimension)
    if not (inside > 0 and outside > 0):
        raise NotDecided(f"the cap at theta = {float(theta):.6g} in dimension {dimension} is too small")
    one = flint.arb(1)
    if adjacency == "zero-out" or theta == 0:
        if theta == 0:
            inside = outside = one / 2
        null = inside, outside
        return null, (one, zero), null if adjacency == "zero-out" else (zero, one), (zero, zero)
    if theta > 0:
        three = inside, inside, outside - inside
        return three, (one, zero, zero), (zero, one, zero), (zero,) * 3
    return (outside, inside), (zero, one), (outside / inside, 1 - outside / inside), (zero, zero)


def _ramp(
    clip: Fraction, dimension: int, adjacency: Relation, *, heights_of_ramp: int = 120, deviations: int = 8
) -> Cells:
    """Cells of the height, of a density proportional to what the height exceeds the clip by."""
    half, top = heights_of_ramp // 2, min(1.0, deviations / math.sqrt(dimension))
    heights = {Fraction(round(top * math.sin(math.pi * k / (2 * half)) * _GRID), _GRID) for k in range(half + 1)}
    below = sorted({-height for height in heights | {abs(clip), Fraction(1)}})  # from -1 to 0, the clip among them
    moments = [partial_moments(to_arb(end), dimension)[:2] for end in below]
    parts = [(high[0] - low[0], high[1] - low[1]) for low, high in pairwise(moments)]
    # above 0 the masses are the same and the means have the other sign: nothing cancels there
    parts += [(mass, -mean) for mass, mean in reversed(parts)]
    ends = below[:-1] + [-end for end in reversed(below)]
    total, height = ramp_moments(to_arb(clip), dimension)[0], to_arb(clip)
    null = tuple(mass for mass, _ in parts)
    along = tuple(
        (mean - height * mass) / total if low >= clip else flint.arb(0)
        for low, (mass, mean) in zip(ends, parts, strict=False)
    )
    second = tuple(reversed(along)) if adjacency == "replace-one" else null
    return null, along, second, (flint.arb(0),) * len(null)


Error: TypeAlias = Callable[[flint.arb, Fraction | None], flint.arb]


def error_of(mechanism: Mixed) -> Error:
    """The worst squared error of one user by share and :func:`spread`, which may be None: at the end of its range."""
    d = mechanism.dimension
    norm = mechanism.norm if isinstance(mechanism, BlanketMixedGaussian) else Fraction(1)

    def gaussian(gamma: flint.arb, at: Fraction | None) -> flint.arb:
        noise = to_arb(at) if at is not None else flint.arb(0)
        return d * (noise / (1 - gamma)) ** 2 + gamma / (1 - gamma) * to_arb(norm * norm)

    def height(at: Fraction) -> flint.arb:
        """The mean height of the part of the message that the input shapes."""
        if isinstance(mechanism, PrivUnit):
            return -partial_moments(to_arb(at), d)[1] / cap_complement(-to_arb(at), d)
        if at == -1:
            return flint.arb(1) / d
        mean, _, cross = ramp_moments(to_arb(at), d)
        return cross / mean

    def on_the_sphere(gamma: flint.arb, at: Fraction | None) -> flint.arb:
        mean = (1 - gamma) * (height(at) if at is not None else flint.arb(1))
        return 1 / (mean * mean)

    return gaussian if isinstance(mechanism, BlanketMixedGaussian | LocalGaussian) else on_the_sphere
