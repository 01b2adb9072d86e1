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
