"""The n-fold cyclic convolution of a few masses by the discrete Fourier transform, with a bound on the error.

The transform of one copy is evaluated directly at each frequency (there are few atoms), where its absolute error is a
small multiple of the unit round-off; the n-th power multiplies it by n; Parseval carries it to the convolution. What is
bounded is the 2-norm of the error, so that Cauchy-Schwarz gives the error of any linear functional.

Evidence. *Proved*: the propagation by powers, Parseval and Cauchy-Schwarz. *Proved under what the module fft assumes
about NumPy*: the direct evaluation (16 round-offs a term), the n-th power, the final sum. *Heuristic*: eight round-offs
per stage of NumPy's inverse transform, and the factor 1 + 10^-9 for norms that are themselves computed in doubles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy import fft

from symshuffle.base.doubles import UNIT, Array, integer_power

_EVALUATION: Final = 16 * UNIT
"""Absolute error of one directly evaluated value of a characteristic function (sines, products and sums of a pmf)."""

PER_STAGE: Final = 8 * UNIT
"""Relative error in the 2-norm per stage of a fast Fourier transform."""


@final
@dataclass(frozen=True, slots=True)
class Convolution:
    """Masses of an n-fold cyclic convolution.

    - ``masses``: computed masses by residue, shape ``(length,)``; those of true value 0 may be slightly negative.
    """

    masses: Array
    error: float

    def integral(self, values: Array) -> tuple[float, float]:
        """The sum of non-negative values times the masses, and a bound on its floating-point error."""
        summation = 2 * UNIT * (math.log2(max(len(values), 2)) + 20) * float((values * np.abs(self.masses)).sum())
        # NumPy sums pairwise, a dot product does not.
        total = float((values * self.masses).sum())
        return total, float(np.linalg.norm(values)) * self.error * (1 + 1e-9) + summation


def convolve(places: Sequence[int], masses: Array, n: int, length: int) -> Convolution:
    """The n-fold convolution of point masses at integer places, which all sums wrap around modulo ``length``.

    - ``places``: non-negative.
    - ``masses``: non-negative, of sum at most 1 up to rounding, shape ``(len(places),)``.
    - ``length``: length of the transform.
    """
    spectrum = np.zeros(length // 2 + 1, dtype=np.complex128)
    frequencies = np.arange(length // 2 + 1, dtype=np.int64)
    for place, mass in zip(places, masses, strict=True):
        turns = (frequencies * (place % length)) % length  # exact: the angle is reduced before it is rounded
        spectrum += mass * np.exp(turns * (-2j * np.pi / length))
    size, each = np.abs(spectrum), (len(places) + 4) * _EVALUATION
    found = fft.irfft(integer_power(spectrum, n), length)
    most = max(1.0, float(masses.sum()) * (1 + each)) ** n  # the masses may sum to slightly more than 1
    drift = most * n * each * np.minimum(size + each, 1.0) ** (n - 1)
    # Each frequency but the first (and the last of an even length) stands for a conjugate pair.
    spectral = math.sqrt(2.0 / length) * float(np.linalg.norm(drift))
    transform = PER_STAGE * math.log2(max(length, 2)) * float(np.linalg.norm(found))
    return Convolution(found, spectral + transform)
