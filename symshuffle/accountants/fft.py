r"""The FFT accountant: Algorithm 7 of the paper `decomposition`, with every error term accounted for.

The atoms of G are moved to a lattice of step ``l``, up for an upper bound and down for a lower bound; the n-fold
convolution is the n-th power of the discrete Fourier transform; the bound is the sum over the positive lattice points.
Three things stand between that sentence and a bound:

- *Rounding to the lattice.* It is done in exact arithmetic on the ends of each atom, in the direction of the bound.
- *Wrap-around.* The transform is long enough for the full range of the sum, so nothing wraps.
- *Floating point.* The transform of one copy is evaluated directly at each frequency (there are few atoms), where its
  absolute error is a small multiple ``EVALUATION`` of the unit round-off; the n-th power multiplies it by n; Parseval
  carries it to the convolution, and Cauchy-Schwarz to the sum. The resulting allowance is subtracted below and added
  above. It is absolute: values of H below about 1e-13 drown in it, and the bracket says so by its width.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

import numpy as np
import numpy.typing as npt
from scipy import fft

from symshuffle.errors import InputError, Unsupported
from symshuffle.law import Law
from symshuffle.numbers import format_decimal, lower_end, to_float, upper_end
from symshuffle.results import Bracket, Rigour

_UNIT: Final = 2.0**-53
_EVALUATION: Final = 16 * _UNIT
"""Absolute error of one directly evaluated value of a characteristic function (sines, products and sums of a pmf)."""

_BEYOND_ANY: Final = 2**40
"""Points that no memory holds; SciPy refuses to round such a length up."""

_PER_STAGE: Final = 8 * _UNIT
"""Relative error in the 2-norm per stage of a fast Fourier transform."""


@final
@dataclass(frozen=True, slots=True)
class FFT:
    """Algorithm 7 with a stated error.

    Parameters
    ----------
    step : Fraction, optional
        Lattice step ``l``. Default: the law's own lattice where it is rational and fits, otherwise the smallest step
        for which the transform fits into ``largest`` points.
    largest : int
        Longest transform.
    """

    step: Fraction | None = None
    largest: int = 2**22

    def __post_init__(self) -> None:
        if self.step is not None and self.step <= 0:
            raise InputError("step", self.step, "a positive rational")

    @property
    def name(self) -> str:
        """Name of the engine."""
        return "fft"

    def refusal(self, law: Law, n: int) -> str | None:
        """Why this engine cannot answer, or None if it can."""
        if self.step is None:
            return None if n < self.largest // 8 else f"n = {n} needs more than {self.largest} lattice points"
        points = _length(law, n, self.step)
        return None if points <= self.largest else f"step {self.step} needs {points} points, above {self.largest}"

    def bracket(self, law: Law, n: int) -> Bracket:
        """A bracket around H(n): rounded down and up, minus and plus the floating-point allowance.

        Raises
        ------
        Unsupported
            If :meth:`refusal` gives a reason.
        """
        reason = self.refusal(law, n)
        if reason is not None:
            raise Unsupported(f"engine fft at n = {n}: {reason}; use engine contour")
        if law.never_positive:
            ends = lower_end(law.singular), upper_end(law.singular)
            return Bracket(*ends, Rigour.FLOAT64, self.name, "G is never positive")
        step = self.step if self.step is not None else self._default_step(law, n)
        weights = np.array([to_float(weight) for weight in law.weights])
        below, low_error = _positive_part([math.floor(lower_end(v) / step) for v in law.values], weights, n)
        above, high_error = _positive_part([math.ceil(upper_end(v) / step) for v in law.values], weights, n)
        # H is never below E[G] nor below 0: both are bounds in their own right, not repairs of this one.
        floor = max(Fraction(0), lower_end(law.mean))
        lower = max(step * (Fraction(below) - Fraction(low_error)) / n, floor)
        upper = step * (Fraction(above) + Fraction(high_error)) / n
        spacing, allowance = (format_decimal(x, digits=2, up=True) for x in (step, step * Fraction(high_error) / n))
        how = (
            f"Algorithm 7, step {spacing}, transform of {_length(law, n, step)} points, no wrap-around, "
            f"floating-point allowance {allowance}"
        )
        return Bracket(lower + lower_end(law.singular), upper + upper_end(law.singular), Rigour.FLOAT64, self.name, how)

    def _default_step(self, law: Law, n: int) -> Fraction:
        natural = law.lattice
        if natural is not None and _length(law, n, natural) <= self.largest:
            return natural
        low, high = law.support
        spread = upper_end(high) - lower_end(low)
        coarse = n * spread / (self.largest - 4 * n - 4)
        if coarse == 0:  # one atom: any lattice will do that holds it nearly
            return max(abs(lower_end(low)), Fraction(1)) / 2**20
        # A short dyadic step keeps the rational arithmetic on atoms short; rounding it up keeps the length.
        exponent = coarse.numerator.bit_length() - coarse.denominator.bit_length() - 21
        return Fraction(math.ceil(coarse / Fraction(2) ** exponent)) * Fraction(2) ** exponent


def _length(law: Law, n: int, step: Fraction) -> int:
    """A transform length that holds the sum of n rounded copies without wrap-around, whichever way they are rounded."""
    low, high = law.support
    points = n * (math.ceil(upper_end(high) / step) - math.floor(lower_end(low) / step)) + 1
    return points if points > _BEYOND_ANY else int(fft.next_fast_len(points, real=True))


def _positive_part(places: Sequence[int], weights: npt.NDArray[np.float64], n: int) -> tuple[float, float]:
    """The sum of positive part over n copies in lattice units, and a bound on its floating-point error."""
    origin, span = min(places), max(places) - min(places)
    length = int(fft.next_fast_len(n * span + 1, real=True))
    spectrum = np.zeros(length // 2 + 1, dtype=np.complex128)
    frequencies = np.arange(length // 2 + 1, dtype=np.int64)
    for place, weight in zip(places, weights, strict=True):
        turns = (frequencies * (place - origin)) % length  # exact: the angle is reduced before it is rounded
        spectrum += weight * np.exp(turns * (-2j * np.pi / length))
    size = np.abs(spectrum)
    power = _integer_power(spectrum, n)
    mass = fft.irfft(power, length)
    positions = n * origin + np.arange(length, dtype=np.float64)
    ramp = np.maximum(positions, 0.0)
    value = float((ramp * mass).sum())  # NumPy sums pairwise, a dot product does not
    # Each frequency but the first (and the last of an even length) stands for a conjugate pair.
    drift = n * (len(places) + 4) * _EVALUATION * np.minimum(size + (len(places) + 4) * _EVALUATION, 1.0) ** (n - 1)
    spectral = math.sqrt(2.0 / length) * float(np.linalg.norm(drift))
    transform = _PER_STAGE * math.log2(max(length, 2)) * float(np.linalg.norm(mass))
    summation = 2 * _UNIT * (math.log2(max(length, 2)) + 20) * float((ramp * np.abs(mass)).sum())
    error = float(np.linalg.norm(ramp)) * (spectral + transform) + summation
    return value, error


def _integer_power(base: npt.NDArray[np.complex128], n: int) -> npt.NDArray[np.complex128]:
    """Repeated squaring: its relative error is a few n round-offs (a library power goes through a logarithm)."""
    result = np.ones_like(base)
    square = base.copy()
    while n:
        if n & 1:
            result *= square
        n >>= 1
        if n:
            square *= square
    return result
