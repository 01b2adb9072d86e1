"""Uniform integers from random bytes, by rejection: exact, and without any double."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from symshuffle.base.errors import Unsupported

Integers: TypeAlias = npt.NDArray[Any]
"""An array of integers."""

LARGEST_BOUND: Final = 1 << 62
"""Numbers of equally likely outcomes beyond which nothing is drawn."""

_WIDTHS: Final = (1, 2, 4, 8)
_SPARE: Final = 64


class Draw(Protocol):
    """A source of independent integers, each uniform on ``0, ..., bound - 1``."""

    def __call__(self, bound: int, shape: int | tuple[int, ...]) -> Integers:
        """An array of the given shape."""


def uniform(source: Callable[[int], bytes] = os.urandom) -> Draw:
    """Uniform integers from a source of uniform bytes.

    A word of 1, 2, 4 or 8 bytes is cut into ``bound`` equal shares; words beyond the last share are drawn again.
    """

    def draw(bound: int, shape: int | tuple[int, ...]) -> Integers:
        if not 1 <= bound <= LARGEST_BOUND:
            raise Unsupported(f"{bound} equally likely outcomes are not drawn (limit 2**62)")
        if bound == 1:
            return np.zeros(shape, dtype=np.int64)
        width = next(w for w in _WIDTHS if w == 8 or 256**w >= _SPARE * bound)
        share = 256**width // bound
        kind = np.dtype(f"<u{width}")
        last = kind.type(share * bound - 1)
        size = int(np.prod(shape))
        words = np.frombuffer(source(size * width), kind)
        wrong = np.flatnonzero(words > last)
        if len(wrong):
            words = words.copy()
        while len(wrong):
            again = np.frombuffer(source(len(wrong) * width), kind)
            words[wrong] = again
            wrong = wrong[again > last]
        found: Integers = (words // kind.type(share)).astype(np.int64) if share > 1 else words.astype(np.int64)
        return found.reshape(shape)

    return draw


def random_order(size: int, draw: Draw) -> Integers:
    """A permutation of ``0, ..., size - 1``, each with the same probability: keys are drawn until all differ."""
    while True:
        keys = draw(LARGEST_BOUND, size)
        order: Integers = np.argsort(keys)
        ranked = keys[order]
        if not np.any(ranked[1:] == ranked[:-1]):
            return order
