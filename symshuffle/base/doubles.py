"""Doubles in bulk: the types of arrays, and how far rounding moves a number."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
"""An array of doubles."""

Complexes: TypeAlias = npt.NDArray[np.complex128]
"""An array of complex numbers, each two doubles."""

UNIT: Final = 2.0**-53
"""The most that rounding to the nearest double changes a number, relative to it."""


def integer_power(base: Complexes, n: int) -> Complexes:
    """Repeated squaring, at most 3 (n - 1) round-offs: a product of complex doubles costs 3 (a library power more)."""
    result, square = np.ones_like(base), base
    while n:
        if n & 1:
            result = result * square
        n >>= 1
        if n:
            square = square * square
    return result
