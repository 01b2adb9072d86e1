"""Algorithm 7 of the paper `decomposition` as printed: round up, transform, power, sum. One side, no error bound."""

from __future__ import annotations

import math

import numpy as np
from scipy import fft

from symshuffle import Law
from symshuffle.numbers import to_float


def algorithm7(law: Law, n: int, step: float) -> float:
    """The upper estimate of H(n) with every atom rounded up to a multiple of ``step``."""
    places = [math.ceil(to_float(value) / step) for value in law.values]
    origin = min(places)
    mass = np.zeros(max(places) - origin + 1)
    for place, weight in zip(places, law.weights, strict=True):
        mass[place - origin] += to_float(weight)
    size = n * (len(mass) - 1) + 1
    length = fft.next_fast_len(size, real=True)
    total = fft.irfft(fft.rfft(mass, length) ** n, length)[:size]
    first = max(0, -n * origin)  # below it the sum is not positive
    return float(step * (np.arange(first, size) + n * origin) @ total[first:]) / n
