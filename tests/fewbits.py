"""Balls of a few bits: an end that is taken on the wrong side is off by percents, and not by 2^-128."""

from __future__ import annotations

import types
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from unittest import mock

import flint

from symshuffle.base.numbers import Exp, balls, enclose

FINE = 5000
"""Bits at which a number is known for comparison."""


@contextmanager
def few_bits(most: int) -> Iterator[None]:
    """Run the body with at most so many bits of ball arithmetic, whatever the library asks for."""

    names = {name: getattr(flint, name) for name in dir(flint) if not name.startswith("__")}
    seen = types.SimpleNamespace(**names | {"ctx": _Context(most)})
    with mock.patch.object(balls, "flint", seen), flint.ctx.workprec(most):
        yield


class _Context:
    """The context of python-flint with a limit on the precision that is set."""

    def __init__(self, most: int) -> None:
        self.most = most

    @property
    def prec(self) -> int:
        return int(flint.ctx.prec)

    def workprec(self, bits: int) -> AbstractContextManager[object]:
        return flint.ctx.workprec(min(bits, self.most))


def just_below(value: Exp, bits: int) -> Fraction:
    """A rational below the value that a ball of so many bits does not tell from it."""
    return (enclose(value, bits).lower + enclose(value, FINE).lower) / 2


def just_above(value: Exp, bits: int) -> Fraction:
    """A rational above the value that a ball of so many bits does not tell from it."""
    return (enclose(value, bits).upper + enclose(value, FINE).upper) / 2
