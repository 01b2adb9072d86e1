r"""The sum of many independent losses on one lattice: its profile, from tilted discrete Fourier transforms.

For laws of masses :math:`p^{(t)}` on a lattice of step :math:`\ell` (:mod:`symshuffle.accountants.rounds.dominating`)
the loss of all rounds is the sum L of the losses, on the same lattice, and

.. math:: \delta(\varepsilon)=P_\infty+E\bigl[(1-e^{\varepsilon-L})_+\bigr],\qquad
   P_\infty=\prod_t\Bigl(p^{(t)}_\infty+\sum_i p^{(t)}_i\Bigr)-\prod_t\sum_i p^{(t)}_i .

No rounding of losses is needed. Between two points of the lattice :math:`\delta` is linear in
:math:`e^\varepsilon`, exactly: a root is one division.

The masses are tilted by :math:`e^{cL}`, folded into a window, transformed, raised to integer powers and transformed
back. *Every mass counts with a positive sign*, so that masses are rounded up for an upper value and down for a lower
one. What remains is stated and added, or taken off: what lies outside of the window (Chernoff) and the round-off of
the transforms in the 2-norm (as in :mod:`symshuffle.engines.transforms.tilted`, whose constant per stage is
heuristic).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

import flint
import numpy as np
import numpy.typing as npt
from numpy import fft

from symshuffle.accountants.rounds.dominating import LatticeLaw
from symshuffle.accountants.rounds.losses import Losses, law_logarithms
from symshuffle.base.crossings import least_between, smooth_integer
from symshuffle.base.doubles import UNIT, Array, integer_power
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Ball, to_arb, working_precision
from symshuffle.engines.transforms.tilted import PER_STAGE

_STEPS: Final = 13
"""Of golden section, for the tilt at which a window is shortest."""

_OUTSIDE: Final = 60.0
"""Exponent at which a window is cut on either side."""

_SLACK: Final = 1.0
"""What doubles may cost that exponent."""

_LONGEST: Final = 2**24
_TINY: Final = 1e-290
_FEWEST_DOUBLINGS: Final = 1 << 17
"""Binary exponent, far beyond those of all targets, from which on a value is rounded to its side: cost only."""

_BITS: Final = 192


@final
@dataclass(frozen=True, slots=True)
class Tilted:
    """The sum of all losses under a tilt, in a window.

    - ``first``: the window starts at ``first * step``.
    - ``scale``: logarithm of the factor that was taken out of all masses.
    """

    losses: Losses
    tilt: float
    first: int
    masses: Array
    error: float
    scale: Fraction

    @classmethod
    def at(cls, losses: Losses, tilt: float) -> Tilted:
        """Law of the sum of all losses under a tilt: each law is transformed and raised to its number of rounds."""
        first, length = _window(losses, tilt)
        up = losses.side == "upper"
        stage = PER_STAGE * math.log2(length)
        spectrum: npt.NDArray[np.complex128] | None = None
        drift, growth, scale, rounds, origin = 0.0, 0.0, Fraction(0), 0, 0
        for law, times in losses.parts:
            folded, log_scale = _folded(law, tilt, length, up=up)
            norm = float(np.linalg.norm(folded))
            one = fft.rfft(folded)
            power = integer_power(one, times)
            spectrum = power if spectrum is None else spectrum * power
            drift += times * stage * norm
            growth += times * max(math.log(float(folded.sum()) + stage * math.sqrt(length) * norm + 4 * UNIT), 0.0)
            scale += times * Fraction(log_scale)
            rounds, origin = rounds + times, origin + times * law.first
        assert spectrum is not None
        found = fft.irfft(spectrum, length)
        found = np.roll(found, (origin - first) % length)
        norm = float(np.linalg.norm(found))
        error = math.exp(growth) * drift + (stage + 8 * UNIT * (rounds + len(losses.parts))) * norm
        return cls(losses, tilt, first, found, error * (1 + 1e-6), scale)

    def value(self, level: int) -> Fraction:
        """The profile at ``level * step``, on the side asked for."""
        up, c = self.losses.side == "upper", self.tilt
        step = float(self.losses.step)
        start = max(level + 1 - self.first, 0)
        masses = self.masses[start:]
        y = (np.arange(len(masses), dtype=np.float64) + (start + self.first - level)) * step
        kernel = np.exp(-c * y) * -np.expm1(-y)
        blur = 4 * UNIT * (c * y + 8)
        kernel = kernel * (1 + blur if up else 1 - blur)
        most = 1 / (math.e * c) if c > 0 else 1.0
        total = float((kernel * masses).sum())
        error = (
            float(np.linalg.norm(kernel)) * self.error * (1 + 1e-9)
            + 2 * UNIT * (math.log2(max(len(masses), 2)) + 20) * float((kernel * np.abs(masses)).sum())
            + 2 * math.exp(_SLACK - _OUTSIDE) * most
        )
        with working_precision(_BITS):
            lead = (to_arb(self.scale) - flint.arb(c) * to_arb(self.losses.step) * level).exp()
            found = lead * flint.arb(max(total + error if up else total - error, 0.0))
            if found < flint.arb(2) ** -_FEWEST_DOUBLINGS:  # sums of rationals of more digits take seconds
                return self.losses.revealed + Fraction(up, 1 << _FEWEST_DOUBLINGS)
            ball = Ball.from_arb(found, _BITS)
        return self.losses.revealed + (ball.upper if up else ball.lower)


def _folded(law: LatticeLaw, tilt: float, length: int, *, up: bool) -> tuple[Array, float]:
    """Tilted masses by residue, rounded to one side, and the logarithm of the factor taken out of them."""
    places, logs = law_logarithms(law)
    at = logs + tilt * places
    peak = float(at.max())
    scale = peak + math.log(float(np.exp(at - peak).sum()))
    blur = 4 * UNIT * (np.abs(logs) + np.abs(tilt * places) + abs(scale) + 8)
    masses = np.exp(at - scale) * (1 + blur if up else 1 - blur)
    masses = np.maximum(masses, _TINY) if up else np.where(masses > _TINY, masses, 0.0)
    residues = np.flatnonzero(law.array) % length
    folded = np.bincount(residues, weights=masses, minlength=length).astype(np.float64)
    folded *= 1 + 64 * UNIT if up else 1 - 64 * UNIT
    return folded, scale


def _window(losses: Losses, tilt: float) -> tuple[int, int]:
    """First place and length of a window outside of which the tilted sum has mass at most ``2 exp(1 - 60)``."""
    base, _, curve = losses.cumulant(tilt)
    step, ends = float(losses.step), []
    for sign in (1.0, -1.0):

        def reach(log_by: float, sign: float = sign) -> float:
            by = math.exp(log_by)
            return (losses.cumulant(tilt + sign * by)[0] - base + _OUTSIDE) / by

        guess = math.log(math.sqrt(2 * _OUTSIDE / max(curve, 1e-300)))
        ends.append(sign * reach(least_between(reach, guess - 4, guess + 4, steps=_STEPS)))
    least = sum(times * law.first for law, times in losses.parts)
    most = sum(times * (law.first + len(law.masses) - 1) for law, times in losses.parts)
    first, last = max(math.floor(ends[1] / step) - 1, least), min(math.ceil(ends[0] / step) + 1, most)
    length = smooth_integer(max(last - first + 1, 16))
    if length > _LONGEST:
        raise Unsupported(f"the window of the sum has {length} points, above {_LONGEST}; ask for a larger rtol")
    return first, length
