r"""Two finite laws around a law of G with a density, and the means of their sums by doubling.

On a cell of the line with mass w, mean m and G in [a, b], the atom m is below the law of G in convex order, and the law
on {a, b} of mean m is above it. :math:`H(n)=\frac1nE[(\sum G_i)_+]` rises in that order, so that each finite law gives
an end. The ends approach each other as the square of the width of the cells.

Laws of sums come by doubling, kept small by merging the atoms of a bin into their mean below and spreading each to the
ends of its bin above: sums of independent numbers keep the order. All numbers that are added are positive, so that
rounding is bounded by counting terms.

Evidence. *Proved*: the order of the finite laws, in balls. *Proved under an assumption*: the rounding, if additions and
products of doubles are rounded to nearest, in whatever order NumPy adds them. Edges of bins and ends of cells are
choices, whose accuracy does not matter. *Heuristic*: the constants 16, 32 and 8 of the few operations per step, and the
factors 1.01 and 1 + 10^-9 for bounds that are themselves computed in doubles.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Final, final

import flint
import numpy as np

from symshuffle.base import cost
from symshuffle.base.doubles import UNIT, Array
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import to_arb, working_precision
from symshuffle.base.results import Bracket
from symshuffle.channels.continuous_law import ContinuousLaw, Piece
from symshuffle.engines.densities import gauss
from symshuffle.engines.densities.bromwich_plan import rough

_PLACES: Final = 4
"""Places by which each end of a cell or bin is chosen: cost only."""


@final
@dataclass(frozen=True, slots=True)
class Atoms:
    """A law in doubles: values are off by at most ``shift`` in the mean, no weight by more than a share ``share``.

    - ``values``, ``weights``: atoms, shape ``(m,)``, in rising order of the values.
    """

    values: Array
    weights: Array
    shift: float
    share: float

    @property
    def size(self) -> float:
        """A bound on the mean of the absolute value."""
        return float(self.weights @ np.abs(self.values)) * (1 + 2 * self.share + 1e-9) + self.shift

    def plus(self, other: Atoms, bins: int, *, spread: bool) -> Atoms:
        """The sum with an independent number of another law, binned."""
        cost.add(3 * len(self.values) * len(other.values))
        values = np.add.outer(self.values, other.values).ravel()
        weights = np.multiply.outer(self.weights, other.weights).ravel()
        low, high = float(values.min()), float(values.max())
        with np.errstate(over="ignore", invalid="ignore"):
            scale = max(float(weights @ np.abs(values - float(weights @ values))), 1e-15 * (high - low), 1e-300)
        if not math.isfinite(scale) or not math.isfinite(high - low):
            raise Unsupported("values of G beyond those that doubles hold, because it has a long tail")
        edges = np.append(_edges(values, weights, scale, bins), values[weights.argmax()])
        edges = np.unique(np.append(np.clip(edges, low, high), [low, high]))  # most of the mass is not spread at all
        if len(edges) < 2:
            return Atoms(np.array([low]), np.array([weights.sum()]), self.shift + other.shift, 1.0)
        place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
        left, width = edges[:-1], np.diff(edges)
        inside = np.clip((values - left[place]) / width[place], 0.0, 1.0)
        count = len(edges) - 1
        terms = np.bincount(place, minlength=count)
        top = np.bincount(place, weights * inside, minlength=count)
        total = np.bincount(place, weights, minlength=count)
        # What is rounded of a value counts with its mass: a long tail has next to none.
        reach = 16 * np.maximum(np.abs(left), np.abs(edges[1:])) + (2 * terms + 32) * width
        shift = self.shift + other.shift + 1.01 * UNIT * float(total @ reach)
        share = (self.share + other.share + (2 * float(terms.max()) + 8) * UNIT) * 1.01
        if spread:
            bottom = np.bincount(place, weights * (1 - inside), minlength=count)
            found, mass = edges, np.concatenate([bottom, [0.0]]) + np.concatenate([[0.0], top])
        else:
            kept = total > 0
            found, mass = left[kept] + width[kept] * (top[kept] / total[kept]), total[kept]
        keep = mass > 0
        return Atoms(found[keep], mass[keep], shift, share)

    def positive_mean(self, other: Atoms) -> tuple[float, float]:
        """The mean of the positive part of the sum with an independent number, and a bound on the error."""
        order = np.argsort(other.values)
        values, weights = other.values[order], other.weights[order]
        mass = np.concatenate([np.cumsum(weights[::-1])[::-1], [0.0]])
        mean = np.concatenate([np.cumsum((weights * values)[::-1])[::-1], [0.0]])
        first = np.searchsorted(values, -self.values, side="right")
        total = math.fsum(self.weights * (mean[first] + self.values * mass[first]))
        noise = self.share + other.share + UNIT * (4 * len(values) + 64)
        return total, 1.01 * noise * (self.size + other.size) + self.shift + other.shift


def positive_part(atoms: Atoms, n: int, bins: int, *, spread: bool) -> tuple[float, float]:
    """``E[(G_1 + ... + G_n)_+]`` of the law, or of one on the given side of it, and a bound on the rounding."""
    if n == 1:
        return atoms.positive_mean(Atoms(np.array([0.0]), np.array([1.0]), 0.0, 0.0))
    half = _sum(atoms, n // 2, bins, spread=spread)
    other = half if n % 2 == 0 else half.plus(atoms, bins, spread=spread)
    return half.positive_mean(other)


def _sum(atoms: Atoms, n: int, bins: int, *, spread: bool) -> Atoms:
    if n == 1:
        return atoms
    half = _sum(atoms, n // 2, bins, spread=spread)
    double = half.plus(half, bins, spread=spread)
    return double if n % 2 == 0 else double.plus(atoms, bins, spread=spread)


def two_sided(law: ContinuousLaw, n: int, *, cells: int) -> Bracket:
    """H(n) between the values of two finite laws, one below and one above in convex order; tails are added."""
    below, above = merged_and_spread(law, cells)
    with np.errstate(over="ignore", invalid="ignore"):
        (low, lost), (high, gained) = (
            positive_part(atoms, n, 2 * cells, spread=spread) for atoms, spread in ((below, False), (above, True))
        )
    if not all(map(math.isfinite, (low, lost, high, gained))):
        raise Unsupported("values of G beyond what doubles hold, because it has a long tail")
    missing = law.missing
    lower = Fraction(low) - Fraction(lost)
    return Bracket(
        max(lower / n - missing[0], Fraction(0)),
        (Fraction(high) + Fraction(gained)) / n + missing[1],
        "float64",
        "doubling",
        f"laws on either side in convex order, {cells} cells, tails cut at {float(sum(missing)):.1e}, "
        f"rounding allowance {max(lost, gained):.1e}",
    )


def _edges(values: Array, weights: Array, scale: float, bins: int, *, sample: int = 20_000) -> Array:
    """Ends of bins, close together where the mass is: choices, from a part of the atoms.

    - ``sample``: atoms by which ends are chosen.
    """
    some = slice(None, None, len(values) // sample + 1)
    turned = np.arcsinh(values[some] / scale)
    places = np.linspace(turned.min(), turned.max(), _PLACES * bins + 1)
    known = np.histogram(turned, places, weights=weights[some] * (1 + np.abs(values[some]) / scale))[0]
    found: Array = scale * np.sinh(_shared(places, np.cbrt(known), bins))
    return found


def _shared(places: Array, sizes: Array, count: int, *, even_share: float = 0.5) -> Array:
    """Places between which there are equal shares of sizes that stand between given places: a choice.

    - ``even_share``: share that is spread evenly.
    """
    sizes = np.nan_to_num(sizes, nan=0.0, posinf=0.0, neginf=0.0)
    evenly = np.diff(places) / (places[-1] - places[0]) if places[-1] > places[0] else 1 / len(sizes)
    total = np.append(0.0, np.cumsum(sizes / (sizes.sum() or 1.0) + even_share * evenly))
    found: Array = np.interp(np.linspace(0, total[-1], count + 1), total, places)
    return found


def _cells(law: ContinuousLaw, count: int, *, least: int = 8) -> Iterator[tuple[Piece, list[Fraction]]]:
    """Ends of cells of every piece, close together where there is mass and G changes: choices.

    - ``least``: fewest places of a piece.
    """
    about, known = rough(law), []
    scale = float(about.weights @ np.abs(about.values)) or 1.0
    for piece in law.pieces:
        width = (piece.high - piece.low) / max(least, math.ceil(_PLACES * (piece.high - piece.low)))
        places = np.arange(0, float((piece.high - piece.low) / width) + 0.5) * float(width)
        points = [flint.acb(to_arb(piece.low + Fraction(place))) for place in places]
        value = np.array([float(piece.value(u).real.mid()) for u in points])
        density = np.array([abs(float(piece.density(u).real.mid())) for u in points])
        with np.errstate(all="ignore"):
            mass = (density[1:] + density[:-1]) * np.diff(places)
            mass *= 1 + np.maximum(np.abs(value[1:]), np.abs(value[:-1])) / scale
            known.append((piece, places, np.cbrt(mass * np.diff(np.arcsinh(value / scale)) ** 2)))
    whole = sum(float(np.nan_to_num(sizes).sum()) for _, _, sizes in known) or 1.0
    for piece, places, sizes in known:
        share = float(np.nan_to_num(sizes).sum()) / whole
        ends = _shared(places, sizes, max(2, math.ceil(count * share)))[1:-1]
        inner = {end for end in (piece.low + Fraction(float(x)) for x in ends) if piece.low < end < piece.high}
        yield piece, [piece.low, *sorted(inner), piece.high]


def merged_and_spread(law: ContinuousLaw, cells: int, *, bits: int = 96, per_cell: int = 6_000) -> tuple[Atoms, Atoms]:
    """Two finite laws in doubles, below and above in convex order.

    - ``bits``: precision of masses and means.
    - ``per_cell``: terms of a contour in doubles that take as long as a cell: cost only.
    """
    cost.add(per_cell * cells)
    below: list[tuple[float, float]] = []
    above: list[tuple[float, float]] = []
    with working_precision(bits):
        total, blur, widest = flint.arb(0), flint.arb(0), 0.0
        for piece, ends in _cells(law, cells):
            for low, high in pairwise(ends):
                part = replace(piece, low=low, high=high)
                mass = part.integral(lambda u: u * 0 + 1).real
                least, most = gauss.range_of(part)
                if not mass > 0:  # too little for this precision: its messages count as values 0
                    blur += abs(mass).upper() * (abs(most) + abs(least)).upper()
                    continue
                mean = part.integral(piece.value).real / mass
                blur += mass.rad() * (abs(most) + abs(least)).upper() + mass.upper() * mean.rad()
                total += mass
                below.append((float(mean.mid()), float(mass.mid())))
                share = ((mean - least) / (most - least)).mid() if most > least else flint.arb(1)
                above += [(float(most), float((mass * share).mid())), (float(least), float((mass * (1 - share)).mid()))]
                widest = max(widest, abs(float(most)), abs(float(least)), 1.0)
        rest = float((1 - total).mid().max(flint.arb(0)))
        shift = 8 * UNIT * widest + 4 * float(blur.upper())
    return _atoms([*below, (0.0, rest)], shift), _atoms([*above, (0.0, rest)], shift)


def _atoms(pairs: list[tuple[float, float]], shift: float) -> Atoms:
    """Sorted; a double next to the middle of a ball is off by a share of 2^-49 at the most."""
    ordered = sorted(pair for pair in pairs if pair[1] > 0)
    return Atoms(np.array([v for v, _ in ordered]), np.array([w for _, w in ordered]), shift, 2.0**-49)
