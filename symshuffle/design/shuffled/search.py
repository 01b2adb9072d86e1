r"""Channels for a central target: laws of mixtures of orbits, the best subset size, and an improvement by mixing.

A mixture moves from :math:`\mu` to :math:`(1-t)\mu+t\nu`. The derivative of the certified bound at t = 0 prices the
orbit :math:`\nu`, a small linear program within a trust region picks the best change of weights, and all ratios are
scaled together until the target is met again. A step is kept only if the trace, which is exact, has grown: a **local**
search, which proves nothing about other channels.

Of channels that meet a target at few users the most accurate ones are often *thinned*: a client sends the message of a
subset orbit, of a large ratio, with a small probability w, else a constant (blank). The trace is w times that of the
orbit. Thinning is a post-processing of the message, so that the bound grows with w.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from math import inf
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

from symshuffle.accountants.bounds.evaluate import evaluate_law
from symshuffle.base.crossings import first_positive
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Number, natural_log
from symshuffle.channels.law import Law
from symshuffle.utility.frontiers.orbit import Orbit, centre_orbit, subset_orbit, tuple_orbit

STEP: Final = 1 << 16
"""Ratios are multiples of 1/STEP."""


def blanket_law(orbits: Sequence[Orbit], exp_eps: Number) -> Law:
    r"""Law of G of a mixture of orbits, for every pair of different inputs: linear in the law of the template u.

    :math:`G=(u_0-e^\varepsilon u_1)/\min u` has mass :math:`\min u`; the rest is at 0.
    """
    return Law.from_atoms(_atoms(orbits, exp_eps))


def _atoms(orbits: Sequence[Orbit], exp_eps: Any) -> Iterator[tuple[Any, Fraction]]:
    rest = Fraction(1)
    for orbit in orbits:
        low = min(value for _, value in orbit.levels)
        if low == 0:
            continue  # such outputs are outside the blanket; no search meets them at a finite ratio
        k = sum(count for count, _ in orbit.levels)
        rest -= orbit.weight * low
        for i, (count, high) in enumerate(orbit.levels):
            for j, (others, value) in enumerate(orbit.levels):
                pairs = count * (others - (i == j))
                if pairs:
                    yield high / low - exp_eps * (value / low), orbit.weight * low * Fraction(pairs, k * (k - 1))
    yield Fraction(0), rest


def ratio_of(orbits: Sequence[Orbit]) -> Fraction | float:
    """Largest likelihood ratio of a mixture of orbits; infinite if a level is 0."""
    return max((orbit.ratio for orbit in orbits), default=inf)


def trace_of(orbits: Sequence[Orbit]) -> Fraction:
    """Trace of a mixture of orbits."""
    return sum((orbit.weight * orbit.signal for orbit in orbits), start=Fraction(0))


_ALL_SIZES: Final = 24
"""Numbers of inputs up to which every subset size is tried; above, a grid of sizes and the neighbours of the best."""


@final
@dataclass(frozen=True, slots=True)
class ExactTarget:
    """What a channel has to meet.

    - ``exp_eps``: the target ratio, rounded down: what meets it meets the true one.
    - ``cap``: largest likelihood ratio allowed, above 1; None for no cap.
    - ``rtol``: relative width of bounds.
    """

    k: int
    n: int
    exp_eps: Fraction
    delta: Fraction
    cap: Fraction | None
    rtol: float = 1e-4

    def meets(self, orbits: Sequence[Orbit]) -> bool:
        """Whether a mixture meets the target and the cap."""
        return not self.excess(orbits) > 0

    def excess(self, orbits: Sequence[Orbit]) -> float:
        """Logarithm of the bound over delta, above 0 where the target is missed; infinite beyond the cap."""
        if self.cap is not None and ratio_of(orbits) > self.cap:
            return inf
        found = self.bound(orbits)
        distance = natural_log(found / self.delta) if found else -inf
        return max(distance, sys.float_info.min) if found > self.delta else min(distance, 0.0)

    def bound(self, orbits: Sequence[Orbit]) -> Fraction:
        """Upper end of the certified delta H(n) of a mixture, in doubles with error bounds."""
        law = blanket_law(orbits, self.exp_eps)
        return evaluate_law(law, self.n, arithmetic="float64", rtol=self.rtol).upper

    def ratio(self, s: int, *, largest: int = 1 << 40) -> Fraction:
        """Largest ratio, a multiple of 1/STEP, at which subsets of size s meet the target; 1 if none above 1 does."""
        if self.cap is not None and self.meets((subset_orbit(self.k, s, self.cap),)):
            return self.cap
        top = largest if self.cap is None else self.cap

        @cache
        def excess(steps: int) -> float:
            ratio = 1 + Fraction(steps, STEP)
            return inf if ratio >= top else self.excess((subset_orbit(self.k, s, ratio),))

        low = math.floor((self.exp_eps - 1) * STEP)  # up to exp(eps) the bound is 0
        high = max(STEP, 2 * low)
        while excess(high) <= 0:
            low, high = high, 2 * high
        first = first_positive(excess, low, high)
        return 1 + Fraction(first - 1, STEP) if first else Fraction(1)


def sizes_tried(k: int) -> Iterator[int]:
    """Subset sizes of ``k`` inputs, ascending: all of them at few inputs, otherwise a grid of factor 5/4."""
    s = 1
    while s < k:
        yield s
        s = s + 1 if k <= _ALL_SIZES else max(s + 1, s * 5 // 4)


def ratios_by_size(target: ExactTarget) -> dict[int, Fraction]:
    """Largest ratio that meets the target, by subset size; sizes that cannot beat the best one tried are left out.

    Such a size misses the target at the ratio at which it would have the best trace so far: both grow with the ratio.
    """
    found: dict[int, Fraction] = {}
    best = Fraction(0)

    def consider(s: int) -> None:
        nonlocal best
        if not 1 <= s < target.k or s in found:
            return
        if best and not _can_beat(target, s, best):
            return
        ratio = target.ratio(s)
        if ratio > 1:
            found[s] = ratio
            best = max(best, subset_orbit(target.k, s, ratio).signal)

    for s in sizes_tried(target.k):
        consider(s)
    while found and target.k > _ALL_SIZES:
        s = max(found, key=lambda size: subset_orbit(target.k, size, found[size]).signal)
        before = len(found)
        gap = max(1, s // 8)
        for near in (s - gap, s + gap, s - 1, s + 1):
            consider(near)
        if len(found) == before:
            break
    return found


def _can_beat(target: ExactTarget, s: int, trace: Fraction) -> bool:
    k = target.k
    share = trace / k  # trace = k * (lam-1)^2 s (k-s) / (s lam + k - s)^2
    root = math.sqrt(float(share) / (s * (k - s)))
    if root * s >= 1:
        return False  # the trace of this size is below (k - s) k / s at every ratio
    ratio = Fraction((1 + root * (k - s)) / (1 - root * s)).limit_denominator(STEP)
    return ratio > 1 and target.meets((subset_orbit(k, s, ratio),))


MOST_STEPS: Final = 6
"""Steps of a local search: cost only, since its result is certified."""


def improve(
    start: Sequence[Orbit],
    target: ExactTarget,
    progress: Callable[[int], None],
    *,
    radius: float = 0.2,
    least: float = 0.01,
) -> tuple[Orbit, ...]:
    """A mixture of orbits that meets the target, with at least the trace of the one given; a local search.

    - ``progress``: called before every step with its number.
    - ``radius``, ``least``: of the trust region, first and at least.
    """
    current = tuple(start)
    for step in range(MOST_STEPS):
        progress(step)
        columns, worth = _priced_columns(current, target)
        found = None
        while columns and found is None and radius >= least:
            found = _step(current, target, columns, worth, radius)
            radius = radius if found is not None else radius / 4
        if found is None:
            break
        current = found
    return current


def _columns(current: Sequence[Orbit], target: ExactTarget) -> list[Orbit]:
    """Orbits to be priced: the null output, subsets near the sizes and ratios in use, ordered pairs."""
    k = target.k
    made: dict[tuple[tuple[int, Fraction], ...], Orbit] = {}
    for orbit in current:
        ratio, s = orbit.ratio, max(orbit.levels, key=lambda level: level[1])[0]
        if isinstance(ratio, float) or s == k:
            continue
        sizes = {s, s - 1, s + 1, s + 2, 2 * s, s // 2, k - s} & set(range(1, k))
        for stretch in (Fraction(4, 5), Fraction(1), Fraction(5, 4)):
            scaled = 1 + (ratio - 1) * stretch
            if target.cap is not None:
                scaled = min(scaled, target.cap)
            for size in sizes:
                made.setdefault((one := subset_orbit(k, size, scaled)).levels, one)
            for part in (Fraction(1, 3), Fraction(2, 3)):
                made.setdefault((one := tuple_orbit(k, [scaled, 1 + (scaled - 1) * part][:k])).levels, one)
    made.setdefault((one := centre_orbit(k)).levels, one)
    return list(made.values())


def _priced_columns(
    current: Sequence[Orbit], target: ExactTarget, *, probe: Fraction = Fraction(1, 64)
) -> tuple[list[Orbit], npt.NDArray[np.float64]]:
    """Orbits to mix in, and what a unit of each adds to the trace once its price is paid; none at a bound of 0.

    A price is paid by scaling all ratios, which costs trace.

    - ``probe``: share of a new orbit at which the derivative of the bound is read off.
    """
    sharper = replace(target, rtol=target.rtol / 10)  # prices are differences of bounds
    base = sharper.bound(current)
    if base <= 0:
        return [], np.empty(0)
    columns = _columns(current, target)
    prices = []
    for column in columns:
        mixed = (*(replace(o, weight=o.weight * (1 - probe)) for o in current), replace(column, weight=probe))
        prices.append((math.log(sharper.bound(mixed)) - math.log(base)) / float(probe))
    gains = np.array([float(column.signal - trace_of(current)) for column in columns])
    # What one unit of log H is worth in trace, along the scaling of all ratios.
    less = _scaled(current, Fraction(63, 64))
    bound = sharper.bound(less)
    fall = math.log(base) - (math.log(bound) if bound else math.log(base) - 1.0)
    slope = float(trace_of(current) - trace_of(less)) / max(fall, 1e-9)
    return columns, gains - slope * np.array(prices)


def _step(
    current: Sequence[Orbit],
    target: ExactTarget,
    columns: Sequence[Orbit],
    worth: npt.NDArray[np.float64],
    radius: float,
    *,
    unit: int = 4096,
) -> tuple[Orbit, ...] | None:
    """One improvement within a trust region, or None.

    - ``unit``: shares of new orbits are multiples of 1/unit.
    """
    from symshuffle.base.solvers import linprog

    solved = linprog(-worth, A_ub=[np.ones(len(columns))], b_ub=[radius], bounds=(0, radius))
    if solved.status != 0 or -solved.fun <= 0:
        return None
    shares = [Fraction(round(share * unit), unit) for share in solved.x]
    kept = 1 - sum(shares, start=Fraction(0))
    merged: dict[tuple[tuple[int, Fraction], ...], Fraction] = {}
    for orbit in (
        *(replace(o, weight=o.weight * kept) for o in current),
        *(replace(c, weight=share) for c, share in zip(columns, shares, strict=True) if share),
    ):
        merged[orbit.levels] = merged.get(orbit.levels, Fraction(0)) + orbit.weight
    mixture = tuple(Orbit(weight, levels) for levels, weight in merged.items() if weight)
    if not target.meets(_scaled(mixture, Fraction(1, 2))):
        return None
    first = first_positive(lambda factor: target.excess(_scaled(mixture, Fraction(factor, 1024))), 512, 1536)
    restored = _scaled(mixture, Fraction(first - 1, 1024))  # the ratios are scaled so that the target is met
    return restored if trace_of(restored) > trace_of(current) else None


def _scaled(orbits: Sequence[Orbit], factor: Fraction) -> tuple[Orbit, ...]:
    """The same mixture with every excess of a ratio over 1 multiplied by a factor."""
    made = []
    for orbit in orbits:
        k = sum(count for count, _ in orbit.levels)
        low = min(value for _, value in orbit.levels)
        levels = [
            (count, Fraction(math.floor((1 + (value / low - 1) * factor) * STEP), STEP))
            for count, value in orbit.levels
        ]
        total = sum((count * value for count, value in levels), start=Fraction(0))
        made.append(Orbit(orbit.weight, tuple((count, value * k / total) for count, value in levels)))
    return tuple(made)


def thin(orbit: Orbit, weight: Fraction) -> tuple[Orbit, ...]:
    """Return the mixture of an orbit, with probability ``weight``, and a constant message otherwise."""
    k = sum(count for count, _ in orbit.levels)
    return (replace(orbit, weight=weight), *((centre_orbit(k, 1 - weight),) if weight < 1 else ()))


def best_thinned(target: ExactTarget, least: Fraction, ratio: Fraction) -> tuple[Orbit, ...] | None:
    """Thinned subset orbit of the largest trace that meets the target, above ``least``; None if there is none.

    All subset sizes are tried up to 24 inputs (beyond, a grid), at the cap and at smaller ratios by factors of 4.
    ``ratio`` is the largest one at which an orbit meets the target without thinning: where there is no cap, ratios are
    tried from 1024 times its excess over 1 on.
    """
    best, found = least, None
    for tried in _ratios(target, ratio):
        for s in sizes_tried(target.k):
            orbit = subset_orbit(target.k, s, tried)
            weight = largest_weight(orbit, target, best / orbit.signal)
            if weight is not None:
                found = thin(orbit, weight)
                best = trace_of(found)
    return found


def _ratios(target: ExactTarget, ratio: Fraction, *, factor: int = 4, uncapped: int = 1024) -> Iterator[Fraction]:
    """Ratios to try, in decreasing order, all above exp(eps): up to it an orbit meets the target unthinned.

    - ``factor``: of the excess of a ratio over 1, between two of them.
    - ``uncapped``: without a cap, the largest excess in units of that of the best unthinned orbit.
    """
    now = 1 + (max(ratio, target.exp_eps, Fraction(2)) - 1) * uncapped if target.cap is None else target.cap
    while now > max(target.exp_eps, 1 + Fraction(1, STEP)):
        yield now
        now = 1 + (now - 1) / factor


def largest_weight(orbit: Orbit, target: ExactTarget, least: Fraction, *, unit: int = 1 << 40) -> Fraction | None:
    """Largest weight at most 1, above ``least``, at which a thinned orbit meets the target; None if there is none.

    - ``unit``: weights are multiples of 1/unit, or shorter rationals between two of them.
    """
    sharper = replace(target, rtol=target.rtol / 100)

    def excess(steps: int, target: ExactTarget = sharper) -> float:
        with suppress(Unsupported):
            return target.excess(thin(orbit, Fraction(steps, unit)))
        return inf

    low = int(least * unit) + 1
    if low > unit or excess(low, target) > 0:
        return None
    if excess(unit) <= 0:
        return Fraction(1)
    first = first_positive(excess, low - 1, unit)
    weight, above = Fraction(first - 1, unit), Fraction(first, unit)
    short = weight.limit_denominator(math.isqrt(unit))
    return short if weight < short < above and sharper.meets(thin(orbit, short)) else weight
