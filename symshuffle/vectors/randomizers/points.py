"""Many points of a line at once, in doubles, for the functions that are made for balls: estimates without any claim."""

from __future__ import annotations

from typing import Any, final

import flint
import numpy as np
from numpy.typing import NDArray


@final
class Points:
    """An array of doubles, real or complex, that takes the operations of a ball; balls beside it count as midpoints."""

    __slots__ = ("values",)

    def __init__(self, values: NDArray[Any]) -> None:
        self.values = values

    def __add__(self, other: Any) -> Points:
        return Points(self.values + _plain(other))

    def __sub__(self, other: Any) -> Points:
        return Points(self.values - _plain(other))

    def __rsub__(self, other: Any) -> Points:
        return Points(_plain(other) - self.values)

    def __mul__(self, other: Any) -> Points:
        return Points(self.values * _plain(other))

    def __truediv__(self, other: Any) -> Points:
        return Points(self.values / _plain(other))

    def __rtruediv__(self, other: Any) -> Points:
        return Points(_plain(other) / self.values)

    def __pow__(self, power: int) -> Points:
        return Points(self.values**power)

    def __neg__(self) -> Points:
        return Points(-self.values)

    __radd__, __rmul__ = __add__, __mul__

    def exp(self) -> Points:
        """The exponential of each."""
        return Points(np.exp(self.values))

    def sqrt(self) -> Points:
        """The root of each."""
        return Points(np.sqrt(self.values))


def _plain(other: Any) -> Any:
    if isinstance(other, Points):
        return other.values
    if isinstance(other, flint.arb):
        return float(other.mid())
    return complex(other) if isinstance(other, flint.acb) else other


__all__ = ["Points"]
