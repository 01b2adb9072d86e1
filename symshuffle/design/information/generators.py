"""Generators of f-divergences as their authors write them, called with balls."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, final

import flint


def called(generator: Callable[[Any], Any], ratio: flint.arb) -> Any:
    """Return the value of a generator at a ball.

    In python-flint a power of a ball whose middle is 0, as ``(t - 1)**2`` at 1, is no number. Where a generator gives
    none, it is called again with whole powers as products.
    """
    found = generator(ratio)
    if isinstance(found, flint.arb) and not found.is_finite():
        with suppress(TypeError, AttributeError, ValueError):  # what takes a ball of python-flint only
            found = _plain(generator(_Ratio(ratio)))
    return found


@final
class _Ratio:
    """A ball with the arithmetic and the methods of ``flint.arb``, of which whole powers are products."""

    __slots__ = ("value",)

    def __init__(self, value: flint.arb) -> None:
        self.value = value

    def __pow__(self, exponent: Any) -> Any:
        if type(exponent) is not int:
            return _wrapped(self.value ** _plain(exponent))
        power = flint.arb(1)
        for _ in range(abs(exponent)):
            power = power * self.value
        return _Ratio(power if exponent >= 0 else 1 / power)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.value, name)
        return lambda *given: _wrapped(method(*map(_plain, given)))

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < _plain(other))

    def __le__(self, other: Any) -> bool:
        return bool(self.value <= _plain(other))

    def __gt__(self, other: Any) -> bool:
        return bool(self.value > _plain(other))

    def __ge__(self, other: Any) -> bool:
        return bool(self.value >= _plain(other))

    def __add__(self, other: Any) -> Any:
        return _Ratio(self.value + _plain(other))

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        return _Ratio(self.value * _plain(other))

    __rmul__ = __mul__

    def __sub__(self, other: Any) -> Any:
        return _Ratio(self.value - _plain(other))

    def __rsub__(self, other: Any) -> Any:
        return _Ratio(_plain(other) - self.value)

    def __truediv__(self, other: Any) -> Any:
        return _Ratio(self.value / _plain(other))

    def __rtruediv__(self, other: Any) -> Any:
        return _Ratio(_plain(other) / self.value)

    def __neg__(self) -> Any:
        return _Ratio(-self.value)

    def __abs__(self) -> Any:
        return _Ratio(abs(self.value))


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, _Ratio) else value


def _wrapped(value: Any) -> Any:
    return _Ratio(value) if isinstance(value, flint.arb) else value
