r"""Both sides of H(n) by Fourier transforms of a tilted law, in a window that need not hold all of the sum.

With a tilt :math:`c>0` and :math:`q(g)\propto w(g)e^{cg}`,

.. math:: E[S_+]=M(c)^n\,E_q[e^{-cS}S_+] ,

and under q the sum is centred where it matters: errors of the transform are relative to H, however small H is. Three
errors have bounds.

- *Rounding to the lattice.* The upper side splits each atom over its two lattice neighbours, mean kept: a dilation,
  under which E of a convex function grows, in second order of the step. The lower side moves each atom to one neighbour
  and keeps the mean by merging it with some mass of another atom: a contraction, in first order of the step. The step
  divides the range of G and is chosen so that all atoms nearly fit, so that in practice either error is small.
- *Window.* What lies outside wraps around. It is bounded by Chernoff's inequality for the rounded law, and the function
  :math:`e^{-cx}x_+` is at most :math:`1/(ce)`.
- *Floating point.* Masses are rounded up for the upper side and down for the lower. The transform of one copy is
  evaluated directly at each frequency (there are few atoms), where its absolute error is a small multiple of the unit
  round-off; the n-th power multiplies it by n; Parseval carries it to the convolution. What is bounded is the 2-norm of
  the error, so that Cauchy-Schwarz gives the error of any linear functional.

Evidence. *Proved*: rounding to the lattice, in rationals, the window by Chernoff, the propagation by powers, Parseval
and Cauchy-Schwarz. *Proved under what the module fft assumes about NumPy*: tilted masses, the function over the window,
the exponent of Chernoff's bound, the direct evaluation (16 round-offs a term), the n-th power, sums. *Heuristic*: 16
round-offs for the few other operations, eight per stage of NumPy's inverse transform, and 10^-9 where a bound or a norm
is itself computed in doubles.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, final

import numpy as np
from numpy import fft

from symshuffle.base.crossings import smooth_integer
from symshuffle.base.doubles import UNIT, Array, integer_power
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Ball, lower_end, to_arb, to_float, upper_end, working_precision
from symshuffle.channels.law import Law

PER_STAGE: Final = 8 * UNIT
"""Relative error in the 2-norm per stage of a fast Fourier transform."""


def integral(masses: Array, error: float, values: Array) -> tuple[float, float]:
    """The sum of non-negative values times the masses of a convolution, and a bound on its floating-point error.

    - ``error``: bound on the 2-norm of the error of the masses.
    """
    summation = 2 * UNIT * (math.log2(max(len(values), 2)) + 20) * float((values * np.abs(masses)).sum())
    # NumPy sums pairwise, a dot product does not.
    total = float((values * masses).sum())
    return total, float(np.linalg.norm(values)) * error * (1 + 1e-9) + summation


def convolve(
    places: Sequence[int], masses: Array, n: int, length: int, *, evaluation: float = 16 * UNIT
) -> tuple[Array, float]:
    """The n-fold convolution of point masses at integer places, which all sums wrap around modulo ``length``.

    Returned are masses by residue, shape ``(length,)``, of which those of true value 0 may be negative, and a bound on
    the 2-norm of their error.

    - ``places``: non-negative.
    - ``masses``: non-negative, of sum at most 1 up to rounding, shape ``(len(places),)``.
    - ``evaluation``: absolute error of one directly evaluated value of a characteristic function (sines, products and
      sums of a pmf).
    """
    spectrum = np.zeros(length // 2 + 1, dtype=np.complex128)
    frequencies = np.arange(length // 2 + 1, dtype=np.int64)
    for place, mass in zip(places, masses, strict=True):
        turns = (frequencies * (place % length)) % length  # exact: the angle is reduced before it is rounded
        spectrum += mass * np.exp(turns * (-2j * np.pi / length))
    size, each = np.abs(spectrum), (len(places) + 4) * evaluation
    found = fft.irfft(integer_power(spectrum, n), length)
    most = max(1.0, float(masses.sum()) * (1 + each)) ** n  # the masses may sum to slightly more than 1
    drift = most * n * each * np.minimum(size + each, 1.0) ** (n - 1)
    # Each frequency but the first (and the last of an even length) stands for a conjugate pair.
    spectral = math.sqrt(2.0 / length) * float(np.linalg.norm(drift))
    transform = PER_STAGE * math.log2(max(length, 2)) * float(np.linalg.norm(found))
    return found, spectral + transform


SMALLEST: Final = 1e-290
"""Below it a double loses digits."""


_Masses = dict[int, Fraction]
"""Mass by lattice place."""


@final
@dataclass(frozen=True, slots=True)
class Window:
    """Choices, each of which gives true bounds: tilt, lattice, window.

    - ``origin``, ``step``: place j of one copy is ``origin + step j``.
    - ``first``, ``length``: places of the sum are followed from ``first`` on, ``length`` of them.
    """

    tilt: float
    origin: Fraction
    step: Fraction
    first: int
    length: int
    slopes: tuple[float, float]

    @classmethod
    def choose(cls, law: Law, n: int, largest: int, *, finest: int = 1 << 45, margin: int = 8) -> Window | None:
        """A window of at most ``largest`` places, or None if that makes the steps too coarse.

        First the tilt, then the ends between which the tilted sum stays, then the step; all three are guesses in
        doubles, and whatever they are, the bounds hold.

        - ``finest``: most steps into which the range of G is cut: places stay exact in doubles.
        - ``margin``: lattice points to spare at the ends of the window.
        """
        values, weights = _doubles(law)
        low, high = min(map(lower_end, law.values)), max(map(lower_end, law.values))
        span = high - low
        if float(values.max()) <= 0 or span == 0:
            return None
        spacing = _spacing(law, low)
        c = _best_tilt(values, weights, n, spacing)
        (fall, falling), (rise, rising) = _chernoff(values, weights, n, c)
        left, right = max(Fraction(-fall), n * low), min(Fraction(rise), n * high)
        if right <= left:
            return None
        # Where the window ends with the range, it also holds the one step by which each copy may be rounded up.
        spare = 4 * margin + (n if right == n * high else 0)
        most = min(int((largest - spare) * span / (right - left)), finest)
        steps = _steps(law, low, span, most, c)
        if steps == 0:
            return None
        step = span / steps
        first = max(math.floor((left - n * low) / step) - margin, 0)
        wanted = math.ceil((right - n * low) / step) + spare - first
        return cls(c, low, step, first, smooth_integer(wanted), (falling, rising))

    def side(
        self, masses: _Masses, n: int, side: Literal["lower", "upper"], *, largest_exponent: float = 1e6
    ) -> Fraction | None:
        """One side of E[S_+] from the masses that were rounded towards it; None if the window does not give any.

        - ``largest_exponent``: a law whose moments leave this range was rounded beyond recognition.
        """
        sign, places = (1 if side == "upper" else -1), sorted(masses)
        positions = np.array([float(self.origin + self.step * j) for j in places])
        weights = np.array([to_float(masses[j]) for j in places])
        if not weights.any():
            return None
        exponents = self.tilt * positions
        scale = _log_sum(exponents[weights > 0], weights[weights > 0])
        if n * abs(scale) > largest_exponent:
            return None
        slack = (2 * np.abs(exponents) + np.abs(exponents - scale) + 16) * UNIT
        # What a double does not hold is dropped, and for the upper side the chance that it occurs is added again.
        with np.errstate(over="ignore"):
            tilted = np.maximum(weights, SMALLEST) * np.exp(exponents - scale) * (1 + sign * slack)
        dropped = (weights < SMALLEST) | (tilted < SMALLEST)
        lost = 2.0 * n * float((tilted[dropped] + SMALLEST).sum()) if side == "upper" else 0.0
        tilted[dropped] = 0.0
        folded = convolve(places, tilted, n, self.length)
        total, error = integral(*folded, np.roll(self._ramp(n, sign), self.first % self.length))
        outside = (self._outside(places, positions, tilted, n) + lost) / (self.tilt * math.e) * (1 + 1e-9)
        value = total + sign * (error + outside)
        if not math.isfinite(value) or value <= 0:
            return None
        with working_precision(128):
            grown = Ball.from_arb((n * to_arb(Fraction(scale))).exp(), 96)
        return Fraction(value) * (grown.upper if side == "upper" else grown.lower)

    def _ramp(self, n: int, sign: int) -> Array:
        """``exp(-c x) x_+`` over the window, rounded up or down."""
        # The first positive sum is found in rationals: from there on nothing cancels.
        origin = n * self.origin
        start = max(math.floor(-origin / self.step) + 1, self.first)
        ramp = np.zeros(self.length)
        count = max(self.first + self.length - start, 0)
        if count:
            x = float(origin + self.step * start) + float(self.step) * np.arange(count, dtype=np.float64)
            ramp[-count:] = x * np.exp(-self.tilt * x) * (1 + sign * (16 + 8 * self.tilt * x) * UNIT)
        return ramp

    def _outside(self, places: list[int], positions: Array, tilted: Array, n: int) -> float:
        """Chernoff's bound on the mass of the sum outside the window."""
        ends = (self.first, self.first + self.length - 1)
        bound = 0.0
        if not tilted.any():
            return bound
        for sign, slope, end in zip((-1, 1), self.slopes, ends, strict=True):
            if n * (places[0] if sign < 0 else places[-1]) * sign <= end * sign:
                continue
            position = float(n * self.origin + self.step * end)
            exponents = (sign * slope * positions)[tilted > 0]
            cumulant = _log_sum(exponents, tilted[tilted > 0])
            each = 32 + 2 * len(exponents).bit_length()  # of an exponential, and of a sum over the atoms
            noise = UNIT * (n * each * (1 + float(np.abs(exponents).max())) + 16 * slope * abs(position))
            bound += math.exp(min(n * cumulant - sign * slope * position + noise + 1e-9, 700.0))
        return bound


def dilated(law: Law, window: Window) -> _Masses:
    """Each atom split over its lattice neighbours, its mean kept: above the law in increasing convex order."""
    masses: _Masses = {}
    for value, weight in law.atoms():
        place = (upper_end(value) - window.origin) / window.step
        below = math.floor(place)
        for j, share in ((below, below + 1 - place), (below + 1, place - below)):
            if share:
                masses[j] = masses.get(j, Fraction(0)) + share * upper_end(weight)
    return masses


def contracted(law: Law, window: Window) -> _Masses:
    """Each atom moved to a lattice neighbour, merged with mass of others so that the mean of the group is kept.

    A group is the mass that one place receives: an atom, and what others lent it as a counterweight. Below the law in
    increasing convex order, because merging a group into its mean is a contraction, and then every place is at most the
    mean of its group.

    An atom below its place *rises* and borrows its counterweight from above; one above its place *sinks* and borrows
    from below, as far as there is any. Two orders keep the invariant. Rising goes from the least atom up, so that what
    an atom lends to a lower one is gone before it rises itself; what it lends later, to one that sinks, leaves its own
    group with more counterweight than it needs. Sinking goes from the greatest atom down: an atom lends only to greater
    ones by then, so when it sinks, all that it lends has been lent.
    """
    shares = _Shares.of(law, window)
    atoms = range(len(shares.values))
    for i in [i for i in atoms if shares.place(i) > shares.values[i]]:
        if not shares.balanced(i, atoms[i + 1 :], shares.most[i]):
            shares.targets[i] -= 1  # it stays below its place, and sinks
    for i in [i for i in reversed(atoms) if shares.place(i) < shares.values[i]]:
        shares.balanced(i, reversed(range(i)), shares.least[i])
    return shares.masses()


@final
@dataclass(slots=True)
class _Shares:
    """How much mass every atom keeps and gains while a law is contracted."""

    window: Window
    values: list[Fraction]
    least: list[Fraction]
    most: list[Fraction]
    targets: list[int]
    gained: list[Fraction]

    @classmethod
    def of(cls, law: Law, window: Window) -> _Shares:
        """Each atom at the nearest point of the lattice, before any mass is lent."""
        atoms = sorted(zip(map(lower_end, law.values), law.weights, strict=True), key=lambda atom: atom[0])
        values = [value for value, _ in atoms]
        least, most = [lower_end(weight) for _, weight in atoms], [upper_end(weight) for _, weight in atoms]
        targets = [round((value - window.origin) / window.step) for value in values]
        return cls(window, values, least, most, targets, [Fraction(0)] * len(values))

    def place(self, i: int) -> Fraction:
        """Point of the lattice to which atom i is rounded."""
        return self.window.origin + self.window.step * self.targets[i]

    def balanced(self, i: int, lenders: Iterable[int], mass: Fraction) -> bool:
        """Compensate the rounding of ``mass`` of atom i with mass of ``lenders``, in this order; its mean then stays.

        Where they have too little, an atom that is rounded down takes what there is: its mean only falls. One that is
        rounded up takes nothing, as its mean would rise, and the answer is False.
        """
        place = self.place(i)
        lacking = mass * abs(self.values[i] - place)
        loans = []
        for h in lenders:
            arm = abs(self.values[h] - place)
            # An atom less than a step away would give up mass that it needs to balance its own rounding.
            if (self.values[h] - place) * (place - self.values[i]) > 0 and arm >= self.window.step:
                loan = min(lacking / arm, self.least[h] / 4)
                loans.append((h, loan))
                lacking -= loan * arm
        if place > self.values[i] and lacking > 0:
            return False
        for h, loan in loans:
            self.least[h] -= loan
            self.most[h] -= loan
            self.gained[i] += loan
        return True

    def masses(self) -> _Masses:
        """What every place has received."""
        masses: _Masses = {}
        for j, kept, extra in zip(self.targets, self.least, self.gained, strict=True):
            masses[j] = masses.get(j, Fraction(0)) + kept + extra
        return masses


def _doubles(law: Law) -> tuple[Array, Array]:
    """Atoms and weights as doubles."""
    try:
        values, weights = (np.array([to_float(x) for x in side]) for side in (law.values, law.weights))
    except OverflowError:
        raise Unsupported("an atom of G is beyond the range of doubles; use engine exact, at small n") from None
    if float(weights.min()) < SMALLEST:
        raise Unsupported("an atom of G has a weight below the range of doubles; use engine exact, at small n")
    return values, weights


def _best_tilt(values: Array, weights: Array, n: int, spacing: Fraction | None) -> float:
    """The tilt, among 600 of a geometric grid, at which ``M(c)^n`` times the transform of the positive part is least.

    That transform is ``1/c^2``, on a lattice of spacing g ``(g/2)^2 / sinh^2(g c/2)``; ``kernel`` is minus half its
    logarithm, up to a constant.
    """
    tilts = np.geomspace(1e-4 / n / float(np.abs(values).max()), 2000 / float(values.max()), 600)
    half = tilts * float(spacing or 0) / 2
    kernel = np.where(half > 0, half + np.log(-np.expm1(-2 * np.maximum(half, 1e-300))), np.log(tilts))
    return float(tilts[np.argmin(n * _cumulants(values, weights, tilts) - 2 * kernel)])


def _chernoff(
    values: Array, weights: Array, n: int, c: float, *, quiet: float = 60.0
) -> tuple[tuple[float, float], tuple[float, float]]:
    """How far the tilted sum gets below 0, and up, but for ``exp(-quiet)``; each with the slope that shows it.

    Slopes end where the farthest atom on that side leaves the range of doubles; towards below the tilt is undone first.

    - ``quiet``: Chernoff exponent of the mass outside the window.
    """
    widest = float(np.abs(values).max())
    tilted = weights * np.exp(c * values - (c * values).max())
    tilted /= tilted.sum()
    deviation = math.sqrt(float(tilted @ (values - tilted @ values) ** 2))
    spread = math.sqrt(n) * max(deviation, 1e-3 * widest / math.sqrt(n))
    down, up = (float(-values.min()) if values.min() < 0 else widest), float(values.max())
    at = _cumulants(values, weights, np.array([c]))

    def reach(sign: int, furthest: float) -> tuple[float, float]:
        slopes = np.geomspace(1e-3 / spread, furthest, 400)
        reaches = (n * (_cumulants(values, weights, c + sign * slopes) - at) + quiet) / slopes
        return float(reaches.min()), float(slopes[reaches.argmin()])

    return reach(-1, c + 700 / down), reach(1, 700 / up)


def _log_sum(exponents: Array, weights: Array) -> float:
    """``log(sum of weights * exp(exponents))`` for positive weights, however large or small the terms are."""
    logs = exponents + np.log(weights)
    return float(logs.max()) + math.log(float(np.exp(logs - logs.max()).sum()))


def _cumulants(values: Array, weights: Array, s: Array) -> Array:
    exponents = np.outer(s, values)
    shift = exponents.max(axis=1)
    found: Array = shift + np.log(np.exp(exponents - shift[:, None]) @ weights)
    return found


def _steps(
    law: Law, low: Fraction, span: Fraction, most: int, c: float, *, coarsest: int = 32, candidates: int = 1 << 14
) -> int:
    """Into how many steps, at most ``most``, to cut the range of G: as fits the atoms best; 0 if none does.

    - ``coarsest``: steps that the range of G has to be wide, for the contraction to mean anything.
    - ``candidates``: steps among which the one is chosen that fits the atoms best.
    """
    spacing = _spacing(law, low)
    if spacing is not None and span / spacing <= most:
        return int(span / spacing)
    if most < coarsest:
        return 0
    counts = np.arange(max(coarsest, most // 2, most - candidates), most + 1)
    misfit = np.zeros(len(counts))
    for value, weight in law.atoms():
        place = float((lower_end(value) - low) / span) * counts
        misfit += to_float(weight) * math.exp(min(c * to_float(value), 600.0)) * np.abs(place - np.rint(place))
    return int(counts[np.argmin(misfit / counts)])


def _spacing(law: Law, low: Fraction) -> Fraction | None:
    """Largest step of a lattice through the least atom that contains all atoms; None if some atom is not rational."""
    unit = law.lattice
    if unit is None:
        return None
    return unit * math.gcd(*(int((lower_end(value) - low) / unit) for value in law.values))
