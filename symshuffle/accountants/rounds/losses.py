"""Independent losses on one lattice, and where the profile of their sum is to be looked for: places, no bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias, final

import flint
import numpy as np

from symshuffle.accountants.rounds.dominating import LatticeLaw
from symshuffle.base.choices import Side
from symshuffle.base.crossings import least_between, zero_between
from symshuffle.base.doubles import Array
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Ball, format_decimal, natural_log, shortest, to_arb, working_precision

_BITS: Final = 192

_STEPS: Final = 14
"""Of golden section, for a tilt at which any bound holds."""

_READABLE: Final = 40.0
"""Largest tilt of one step under which a level is read: one step beyond it weighs far more than what errors leave."""


@final
@dataclass(frozen=True, slots=True)
class Losses:
    """Independent losses on one lattice.

    - ``parts``: laws and how many rounds have each, at least 1.
    """

    parts: tuple[tuple[LatticeLaw, int], ...]
    side: Side

    def __post_init__(self) -> None:
        if not self.parts or any(times < 1 for _, times in self.parts):
            raise InputError("parts", [times for _, times in self.parts], "at least one law, each at least once")
        if len({law.step for law, _ in self.parts}) > 1:
            raise InputError("parts", "different steps", "laws on one lattice")

    @property
    def step(self) -> Fraction:
        """Distance of the losses."""
        return self.parts[0][0].step

    @property
    def revealed(self) -> Fraction:
        """The mass at infinity after all rounds, a value on the safe side."""
        with working_precision(_BITS):
            finite, more = flint.arb(1), flint.arb(0)
            for law, times in self.parts:  # of little mass at infinity the difference of two products keeps no digit
                mass = sum((flint.arb(p) for p in law.masses), start=flint.arb(0))
                all_finite = mass**times
                if mass > 0:
                    some = all_finite * (times * (to_arb(law.infinity) / mass).log1p()).expm1()
                else:
                    some = to_arb(law.infinity) ** times
                more, finite = more * (all_finite + some) + finite * some, finite * all_finite
            found = Ball.from_arb(more, _BITS)
        if all(law.infinity == 0 for law, _ in self.parts):
            return Fraction(0)
        return found.upper if self.side == "upper" else max(found.lower, Fraction(0))

    def cumulant(self, c: float) -> tuple[float, float, float]:
        """The logarithm of the moment generating function at c, with two derivatives, in doubles."""
        total = slope = curve = 0.0
        for law, times in self.parts:
            places, logs = law_logarithms(law)
            at = logs + c * places
            peak = float(at.max())
            weights = np.exp(at - peak)
            mass = float(weights.sum())
            mean = float((weights * places).sum()) / mass
            total += times * (peak + math.log(mass))
            slope += times * mean
            curve += times * float((weights * (places - mean) ** 2).sum()) / mass
        return total, slope, curve

    @property
    def _steepest(self) -> float:
        """The logarithm of the largest tilt worth trying: one step of the lattice then weighs exp(64)."""
        return math.log(64 / float(self.step))

    def tilt(self, eps: float) -> float:
        """The saddle point at a level: the tilt under which the level is typical."""

        def off(log_c: float) -> float:
            c = math.exp(log_c)
            return self.cumulant(c)[1] - eps - 1 / c - 1 / (c + 1)

        return math.exp(self._crossed(off))

    def guess(self, log_delta: float) -> tuple[float, float]:
        """About the level at which the profile has a value, by the saddle point formula, and the tilt there."""

        def at(log_c: float) -> tuple[float, float]:
            c = math.exp(log_c)
            total, slope, curve = self.cumulant(c)
            eps = slope - 1 / c - 1 / (c + 1)
            spread = curve + 1 / c**2 + 1 / (c + 1) ** 2
            return eps, total - c * eps - math.log(c * (c + 1)) - math.log(2 * math.pi * spread) / 2

        found = self._crossed(lambda x: log_delta - at(x)[1])
        return at(found)[0], math.exp(found)

    def _crossed(self, rising: Callable[[float], float]) -> float:
        """Where a function of the logarithm of a tilt is 0."""
        high = min(5.0, self._steepest)
        while rising(high) < 0 and high < self._steepest:
            high = min(high + 2, self._steepest)
        return zero_between(rising, -20.0, high, xtol=1e-3)

    def chernoff(self, tilt: float, place: float, sign: int) -> float:
        """By how much to tilt further, for the mass of the tilted sum beyond a place on one side to look smallest."""
        base = self.cumulant(tilt)[0]

        def exponent(log_by: float) -> float:
            by = math.exp(log_by)
            return self.cumulant(tilt + sign * by)[0] - base - sign * by * place

        _, mean, curve = self.cumulant(tilt)
        guess = min(math.log(max(sign * (place - mean), 1e-300) / max(curve, 1e-300)), self._steepest)
        return math.exp(least_between(exponent, guess - 3, guess + 2, steps=_STEPS))


def law_logarithms(law: LatticeLaw) -> tuple[Array, Array]:
    """Places of positive mass and the logarithms of the masses."""
    masses = law.array
    kept = np.flatnonzero(masses)
    places = (kept + law.first).astype(np.float64) * np.float64(law.step)
    return places, np.log(masses[kept])


_Method: TypeAlias = "Callable[[Losses, float], Any]"
"""From losses and a tilt to their sum, made for levels about one place: ``value(level)`` is its profile there."""


def delta_of(losses: Losses, eps: Fraction, method: _Method) -> Fraction:
    """The profile of a sum at any level eps >= 0: linear in exp(eps) between two points of the lattice."""
    if not all(any(law.masses) for law, _ in losses.parts):  # a round reveals all: there is no finite sum
        return min(losses.revealed, Fraction(1))
    level = math.floor(eps / losses.step)
    found = method(losses, losses.tilt(float(eps)))
    value: Fraction = found.value(level)
    if level * losses.step != eps:
        with working_precision(_BITS):
            share = to_arb(eps - level * losses.step).expm1() / to_arb(losses.step).expm1()
            ball = Ball.from_arb(to_arb(value) + share * (to_arb(found.value(level + 1)) - to_arb(value)), _BITS)
        value = ball.upper if losses.side == "upper" else ball.lower
    return min(max(value, Fraction(0)), Fraction(1))


def epsilon_of(losses: Losses, delta: Fraction, method: _Method) -> Fraction:
    """Where the profile of a sum meets a target: on a line between two points of the lattice; 0 where it does at 0."""
    left = losses.revealed
    if left >= delta:
        if losses.side == "upper":  # what is at infinity may have been moved there from the largest levels
            most = format_decimal(left, digits=6, up=True)
            raise Unsupported(f"no eps is shown to have delta <= {shortest(delta)}: {most} may be revealed")
        least = format_decimal(left, digits=6, up=False)
        raise Unsupported(f"no eps has delta <= {shortest(delta)}: {least} is left, revealed for certain")
    eps, tilt = losses.guess(natural_log(delta))
    found = method(losses, min(tilt, _READABLE / float(losses.step)))
    values: dict[int, Fraction] = {}

    def over(level: int) -> bool:
        if level not in values:
            values[level] = found.value(level)
        return values[level] > delta

    if not over(0):  # computed again under the tilt of that level: next to the last one others are far from it
        values[0] = method(losses, losses.tilt(0.0)).value(0)
        if values[0] <= delta:
            return Fraction(0)
    low, high, stride = 0, max(math.ceil(eps / losses.step), 1), 1
    while over(high):
        low, high, stride = high, high + stride, 2 * stride
    stride = 1
    while high - low > 1:
        middle = max(high - stride, (low + high) // 2)
        low, high, stride = (middle, high, stride) if over(middle) else (low, middle, 2 * stride)
    with working_precision(_BITS):
        share = to_arb((values[low] - delta) / (values[low] - values[high]))
        further = (share * to_arb((high - low) * losses.step).expm1()).log1p()
        root = Ball.from_arb(to_arb(low * losses.step) + further, _BITS)
    return root.upper if losses.side == "upper" else max(root.lower, Fraction(0))
