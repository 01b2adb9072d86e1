r"""Where the lines of Bromwich's integral run, and in which steps.

Evidence: constants are choices in doubles and need none; that any of them gives a true bracket is proved of
:mod:`symshuffle.engines.densities.bromwich`, under what it assumes.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, final

import flint
import numpy as np

from symshuffle.base.crossings import first_integer
from symshuffle.base.doubles import UNIT, Array, Complexes
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Ball, to_arb, working_precision
from symshuffle.channels.continuous_law import ContinuousLaw, Piece
from symshuffle.channels.mixed_law import gauss
from symshuffle.engines.contours import saddle

_SHARE: Final = 1e-2
"""Share of the width aimed at that each of the errors may take."""

_FINEST: Final = 1e-40
_CANCELLED: Final = 1e-14
"""Relative width of an estimate to the left of 0, where the mean of the sum cancels."""


_RESOLVED: Final = 1e-15
"""Share of the integral below which errors are not distinguished in doubles."""


MOST_NODES: Final = 60_000
LEAST_MASS: Final = 1e-290
BLOCK: Final = 128
"""Nodes of a line and of an estimate, at most; the least weight of an atom of an estimate; nodes of a block."""


@final
@dataclass(frozen=True, slots=True)
class BromwichPlan:
    """Constants: the line, the step, where all is bounded at once, the slope for one tail, what is negligible.

    ``blur`` is about what roundings of doubles take from the sum, as a share of its size, where that is looked at.
    """

    c: float
    step: float
    far: float
    slope: float
    small: float
    size: float = 1.0
    blur: float = 0.0

    @property
    def period(self) -> float:
        """The period of the aliases."""
        return 2 * math.pi / self.step

    def tolerance(self, size: float, n: int) -> float:
        """The error that a rule for a transform of this size on the line aims at; the one it has is bounded."""
        return size * self.small * self.c / n / 10

    @property
    def in_doubles(self) -> bool:
        """Whether doubles tell apart what is negligible."""
        return self.small > max(_RESOLVED, _SHARE * self.blur) * self.size


def bits_enough(n: int, *, c: float, small: float, guard_bits: int = 64) -> int:
    """Bits at which roundings of a sum of n-th powers over the line at c are far below ``small``: a choice.

    - ``guard_bits``: bits beyond those of what is negligible.
    """
    return max(guard_bits, guard_bits + math.ceil(math.log2(n) - math.log2(c) - math.log2(small)))


@lru_cache(maxsize=8)
def atoms_of(pieces: tuple[Piece, ...], zero: Ball | None = None) -> tuple[Array, Array]:
    """Values and weights of a rule of low order, of their own mass: for choices only."""
    found = [] if zero is None else [(0.0, max(float(zero), 0.0))]
    with working_precision(53):
        for piece in pieces:
            count = max(1, math.ceil((piece.high - piece.low) * 2))
            width = (piece.high - piece.low) / count
            for k in range(count):
                for root, weight in gauss(8, 53):
                    u = flint.acb(to_arb(piece.low + width * k + width / 2) + to_arb(width / 2) * root)
                    mass = float((to_arb(width / 2) * weight * piece.density(u).real).mid())
                    found.append((float(piece.value(u).real.mid()), mass))
    kept = [(v, w) for v, w in found if w > LEAST_MASS] or [(v, LEAST_MASS) for v, _ in found]
    return np.array([v for v, _ in kept]), np.array([w for _, w in kept])


@lru_cache(maxsize=4)
def rough(law: ContinuousLaw) -> saddle.Tilt:
    """The cumulant function of a law by a rule of low order, for choices only."""
    values, weights = atoms_of(law.pieces, law.zero)
    return saddle.Tilt(values, weights / weights.sum())


def steepest_line(law: ContinuousLaw, n: int) -> float:
    """The c at which M(c)^n / c is about least, in doubles: a choice."""
    return saddle.saddle_point(rough(law), n)


def choose(tilt: saddle.Tilt, n: int, rtol: float, *, farther: float = 1.0) -> BromwichPlan:
    """Constants for a relative width; whatever they are, the bracket is true.

    On a line ``farther`` than the best one the period is shorter, and more digits cancel.
    """
    c = _line(tilt, n)
    tilted = tilt.at(c)
    k, variance = tilted.cumulant, tilted.variance
    size = 1 / (c * c * math.sqrt(2 * math.pi * (n * variance + 2 / c**2)))  # of the integral, relative to M(c)^n
    if farther != 1.0:
        wanted = math.log(rtol * size) + n * k
        c *= farther
        tilted = tilt.at(c)
        k, variance = tilted.cumulant, tilted.variance
        size = 1 / (c * c * math.sqrt(2 * math.pi * (n * variance + 2 / c**2)))
        rtol = math.exp(wanted - n * k) / size
        if not rtol > _FINEST:
            raise Unsupported("more digits cancel than are kept")
    quiet = -math.log(rtol * _SHARE)
    slopes = c * (1 + np.geomspace(1e-3, 30, 60))
    lost = n * (_cumulants(tilt, slopes) - k) - np.log(slopes * size)
    reach, slope = 0.0, c
    while True:
        reach = max(1.1 * reach, (quiet + 5) / c)
        right = c * reach - math.log(reach) + n * k + math.log(size)
        left: Array = (slopes - c) * reach - lost
        slope = float(slopes[int(np.argmax(left))])
        if min(right, float(left.max())) > quiet + 2:
            break
        if reach > 1e12 / c:
            raise Unsupported("the tails of the sum are too long for every period of the transform")
    return BromwichPlan(c, 2 * math.pi / reach, 4 / math.sqrt(variance), slope, rtol * _SHARE * size, size)


def _line(tilt: saddle.Tilt, n: int) -> float:
    """The saddle point, where doubles hold its square."""
    c = saddle.saddle_point(tilt, n)
    if not c * c > 0:
        raise Unsupported("values of G beyond the squares that doubles hold, because it has a long tail")
    return c


def _cumulants(tilt: saddle.Tilt, slopes: Array, *, largest: float = 600.0) -> Array:
    """``log E exp(s G)`` at several slopes.

    - ``largest``: an exponent that still fits.
    """
    exponents = np.multiply.outer(slopes, tilt.values)
    shift = np.maximum(exponents.max(axis=1) - largest, 0.0)
    grown = np.expm1(exponents - shift[:, None]) @ tilt.weights  # E exp(s G - shift) - 1
    found: Array = shift + np.log1p(grown)
    return found


def plan_for(law: ContinuousLaw, n: int, aim: float, *, per_factor: int = 20) -> tuple[BromwichPlan, ContinuousLaw]:
    """A line to the right of 0, or for the mirrored law, which is one to the left: the shorter period wins.

    ``E[S_+] = E[S] + E[(-S)_+]``: a long upper tail does no harm on the left, but the difference cancels, so that
    the width asked for is smaller there.

    - ``per_factor``: round-offs of a power, for each of its factors.
    """
    about = rough(law)
    right: BromwichPlan | None = None
    with contextlib.suppress(Unsupported):
        right = choose(about, n, aim)
    mean = float(about.weights @ about.values)
    c = _line(about, n) if right is None else right.c
    tilted = about.at(c)
    spread = math.sqrt(2 * math.pi * (n * tilted.variance + 2 / c**2))
    value = math.exp(n * tilted.cumulant) / (c * c * spread) / n
    if value > 1e-30 * abs(mean) and float(about.values.min()) < 0:
        mirrored = saddle.Tilt(-about.values, about.weights)

        def left_of(value: float) -> BromwichPlan | None:
            with contextlib.suppress(Unsupported):
                return choose(mirrored, n, max(aim * value / (value + abs(mean)), _FINEST))
            return None

        left = left_of(value)
        if left is not None and (right is None or left.period < right.period / 3):
            if not crowded(law, n):
                return left, law.mirrored
            # With a long upper tail the value at the saddle point is far above H(n).
            known = mean + _on_line(mirrored, n, choose(mirrored, n, _CANCELLED), _CANCELLED)
            if _CANCELLED * abs(mean) * 10 < known < value:
                value, left = known, left_of(known) or left
            left = _shorter(mirrored, n, max(aim * value / (value + abs(mean)), _FINEST), left)
            return replace(left, blur=per_factor * n * UNIT), law.mirrored
    if right is None:
        raise Unsupported("the tails of the sum are too long for every period of the transform")
    return right, law


def crowded(law: ContinuousLaw, n: int, *, terms: int = 12) -> bool:
    """Whether so many terms are not 0 that their sum has a transform that falls early: a choice.

    - ``terms``: expected number of terms that are not 0 from which on lines and widths are chosen by an estimate of
      H(n).
    """
    return n * (1 - float(law.zero)) > terms


def _shorter(
    tilt: saddle.Tilt,
    n: int,
    rtol: float,
    plan: BromwichPlan,
    *,
    factors: tuple[float, ...] = (2.0, 4.0, 8.0, 16.0, 32.0),
) -> BromwichPlan:
    """A plan, or one farther out with a far shorter period: for balls, in which digits may cancel.

    - ``factors``: lines that are looked at, as multiples of the one on which the fewest digits cancel.
    """
    best = plan
    for farther in factors:
        with contextlib.suppress(Unsupported):
            best = min(best, choose(tilt, n, rtol, farther=farther), key=lambda one: one.period)
    return best if best.period < plan.period / 3 else plan


def ceiling(values: Array, weights: Array, n: int) -> float:
    r"""About the least bound :math:`M(c)^n/(ecn)` on H(n), 0 where no atom is positive: no claim, next to no work."""
    if float(values.max()) <= 0:
        return 0.0
    tilt = saddle.Tilt(values, weights / weights.sum())
    c = saddle.saddle_point(tilt, n)
    return math.exp(n * tilt.at(c).cumulant) / (math.e * c * n)


def estimate(values: Array, weights: Array, n: int, *, rtol: float = 1e-9) -> float:
    """About H(n), in milliseconds and without any claim: for searches whose result is certified afterwards.

    - ``values``, ``weights``: atoms of G and their probabilities, or nodes and weights of a rule, shape ``(m,)``.
    - ``rtol``: about the relative error to aim at.
    """
    kept = weights > 1e-18 * weights.max()
    rare = float(np.maximum(values[~kept], 0) @ weights[~kept])  # one jump of them: they may be large
    if not float(values[kept].max()) > 0:
        return rare
    return rare + _estimated(saddle.Tilt(values[kept], weights[kept] / weights[kept].sum()), n, rtol)


def _estimated(tilt: saddle.Tilt, n: int, rtol: float, *, told: float = 1e-7, longer: float = 30.0) -> float:
    right: BromwichPlan | None = None
    with contextlib.suppress(Unsupported):
        right = choose(tilt, n, rtol)
    mean = float(tilt.weights @ tilt.values)
    if right is None or mean < 0:
        mirrored = saddle.Tilt(-tilt.values, tilt.weights)
        aim = max(_CANCELLED, rtol * told)
        with contextlib.suppress(Unsupported):
            left = choose(mirrored, n, aim)
            # With a long upper tail what few nodes say of it decides to the right.
            if right is None or left.period < longer * right.period:
                found = mean + _on_line(mirrored, n, left, aim)
                if right is None or found > aim / rtol * abs(mean):
                    return found
    if right is None:
        raise Unsupported("the tails of the sum are too long for every period of the transform")
    return _on_line(tilt, n, right, rtol)


def _less_one(angles: Array) -> Complexes:
    """What the waves of these angles are less 1."""
    found: Complexes = 1j * np.sin(angles) - 2 * np.sin(angles / 2) ** 2
    return found


def _on_line(
    tilt: saddle.Tilt,
    n: int,
    plan: BromwichPlan,
    rtol: float,
    *,
    faint: float = 1e-9,
    patience: int = 4,
    max_nodes: int = 8_192,
) -> float:
    """About H(n) by a line to the right of 0.

    - ``faint``: an estimate that is as small is that of atoms, not of a density, once several blocks add no less.
    - ``patience``: how many blocks.
    - ``max_nodes``: nodes of an estimate.
    """
    still = float(tilt.weights[tilt.values == 0].sum())
    tilted = tilt.at(plan.c)
    k, shifted = tilted.cumulant, tilted.weights
    zero = still * math.exp(-k)
    total = 0.0
    # Nodes are evenly spaced: a block further up is the first one, every atom turned by one angle. What the ratio is
    # less than 1 is summed, as the power takes its round-offs n times.
    waves = _less_one(np.outer(plan.step * np.arange(BLOCK), tilt.values))
    least, since = math.inf, 0
    for first in range(0, max_nodes, BLOCK):
        t = plan.step * np.arange(first, first + BLOCK)
        turned = _less_one(plan.step * first * tilt.values)
        # So small a product is not worth BLAS's threads.
        less = np.einsum("ij,j->i", waves, (1 + turned) * shifted) + np.einsum("j,j", turned, shifted)
        part = (np.exp(n * np.log1p(less)) - zero**n) / (plan.c + 1j * t) ** 2
        if first == 0:
            part[0] /= 2
        total += float(part.real.sum())
        left = float(np.abs(part[-8:]).max()) * plan.step * (first + BLOCK) / plan.size
        least, since = (left, 0) if left < least else (least, since + 1)
        if left < rtol or (least < faint and since == patience):
            break
    return total * plan.step / math.pi * math.exp(n * k) / n


def last_node(values: Array, weights: Array, zero: float, n: int, plan: BromwichPlan, height: float, least: int) -> int:
    """The last node worth evaluating: after it the integrand, if it goes on falling, is negligible."""

    def size(t: Array) -> Array:
        share = np.exp(1j * np.outer(t, values)) @ weights
        single = n * zero ** (n - 1) * share if least > 1 else 0.0
        found: Array = np.abs((zero + share) ** n - zero**n - single)
        return found

    return quiet_from(size, step=plan.step, c=plan.c, small=plan.small, end=math.ceil(height / plan.step))


def quiet_from(size: Callable[[Array], Array], *, step: float, c: float, small: float, end: int) -> int:
    """The first node, at most ``end``, from which on ``size/|s|^2`` is negligible if it goes on falling: a choice."""
    last = min(end, MOST_NODES)
    found: dict[int, int] = {}

    def falls(block: int) -> bool:
        """Whether the integrand is as small at a node of a block."""
        index = np.arange(1 + block * BLOCK, 1 + (block + 1) * BLOCK)
        t: Array = np.asarray(step * index, dtype=np.float64)
        below = np.flatnonzero(size(t) / (c * c + t * t) * step * (1 + index) < small / 40)
        if len(below):
            found[block] = int(index[below[0]])
        return block in found

    before, block = -1, 0
    while block * BLOCK + 1 < last:
        if falls(block):
            return min(found[first_integer(falls, before, block)], end)
        # the last block tells of a line that is too long
        before, block = block, max(min(2 * block + 1, (last - 2) // BLOCK), block + 1)
    if end > MOST_NODES:
        raise Unsupported(f"the integrand has not fallen after {MOST_NODES} nodes; ask for a larger rtol")
    return end
