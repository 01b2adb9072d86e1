"""Which pairs of inputs the counts of a mechanism speak about, as data."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, final

import sympy as sp

from symshuffle.base.errors import InputError
from symshuffle.mechanisms.members import ANY_TWO
from symshuffle.mechanisms.symbolic import Parameter

ClassOf: TypeAlias = Callable[[Mapping[str, int], int, int], int]
"""From the integer parameters and two inputs to the value that tells their class: for half-block their distance."""


@final
@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs of inputs that the pair counts of a mechanism speak about.

    - ``words``: the pairs in words; where a parameter tells the classes apart, ``{}`` stands for its value.
    - ``class_of``: from the parameters and a pair of inputs to the value of ``by``.
    - ``value``: the value of the parameter ``by``, once it has one.
    """

    words: str = ANY_TWO
    every: bool = True
    by: sp.Symbol | None = None
    class_of: ClassOf | None = None
    listed: tuple[tuple[int, int], ...] = ()
    value: sp.Expr | None = None

    @classmethod
    def among(cls, inputs: int) -> Pairs:
        """All pairs of so many inputs, the smaller number first."""
        listed = tuple((x, y) for x in range(inputs) for y in range(x + 1, inputs))
        return cls("any two inputs, each pair by itself", True, listed=listed)

    @classmethod
    def only(cls, first: int, second: int, inputs: int) -> Pairs:
        """One pair of so many inputs."""
        return cls(f"inputs {first} and {second}", inputs == 2, listed=((first, second),))

    def at(self, value: Any, *, alone: bool) -> Pairs:
        """The class that ``by`` tells apart by a value; ``alone``, where there is no other value."""
        return replace(self, words=self.words.format(value), every=alone, by=None, value=value)

    @property
    def chosen(self) -> bool:
        """Whether one class of pairs is meant, so that pair counts have a meaning."""
        return len(self.listed) <= 1

    def kinds(self, parameters: Sequence[Parameter], inputs: sp.Expr) -> tuple[Pairs, ...]:
        """The classes that these pairs fall into, for a mechanism with such parameters and so many inputs."""
        if self.listed:
            return tuple(Pairs.only(*pair, int(inputs)) for pair in self.listed)
        if self.by is None:
            return (self,)
        (told,) = (p for p in parameters if p.symbol == self.by)
        if told.upper is None or told.lower.free_symbols | told.upper.free_symbols:
            raise InputError("parameters", f"{told.name} {told.range}", "values that fix its range")
        values = range(int(told.upper), int(told.lower) - 1, -1)
        return tuple(self.at(sp.Integer(d), alone=len(values) == 1) for d in values)

    def ordered(self, inputs: int, integers: Mapping[str, int]) -> tuple[tuple[int, int], ...]:
        """The ordered pairs of so many inputs that are meant, at these values of the integer parameters."""
        if self.listed:
            return tuple(pair for x, y in self.listed for pair in ((x, y), (y, x)))
        every = itertools.permutations(range(inputs), 2)
        if self.class_of is None or self.value is None:
            return tuple(every)
        return tuple((x, y) for x, y in every if self.class_of(integers, x, y) == self.value)

    def __str__(self) -> str:
        return self.words if self.by is None else self.words.format(self.by)


ALIKE: Final = Pairs()
"""All pairs of inputs, treated alike."""
