"""Parameters of mechanisms with the ranges that they may take."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias, final

import sympy as sp

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Exp, Number, Real, Verdict, less, parse_rational
from symshuffle.base.numbers.readers import KINDS, LARGEST_PARAMETER
from symshuffle.mechanisms.symbolic.constants import LAM, constant_of, evaluate

_SEARCHED: Final = 10_000
"""Integers among which the smallest values of a parameter are looked for."""


IntegerKind: TypeAlias = tuple[str, Callable[[int], bool]]
"""A kind of integers: what a value must be, as ``an even integer``, and whether an integer is of the kind."""

EVEN, POWER_OF_TWO, PRIME = KINDS.items()


@final
@dataclass(frozen=True, slots=True)
class Parameter:
    """Parameter of a mechanism, with a range that may depend on earlier parameters.

    Parameters
    ----------
    symbol : sympy.Symbol
        The symbol that stands for it; its name is the parameter's name.
    lower : sympy.Expr
        Smallest value.
    upper : sympy.Expr or None
        Largest value; None if there is none.
    integer : bool
        Whether only integers are allowed.
    meaning : str
        A few words.
    default : sympy.Expr or None
        Value where the user gives none; may depend on the parameters before it. Infinity stands for the limit, which
        is taken of the derived decomposition.
    kind : IntegerKind, optional
        What an integer value must be besides: :data:`EVEN`, :data:`POWER_OF_TWO`, :data:`PRIME`, or one of your own.
    """

    symbol: sp.Symbol
    lower: sp.Expr
    upper: sp.Expr | None
    integer: bool
    meaning: str
    default: sp.Expr | None = None
    kind: IntegerKind | None = None

    @property
    def name(self) -> str:
        """Name of the parameter, as on the command line."""
        return "lam" if self.symbol == LAM else str(self.symbol)

    @property
    def has_limit(self) -> bool:
        """Whether the open parameter means its limit at infinity."""
        return self.default is not None and self.default == sp.oo

    @property
    def range(self) -> str:
        """The allowed range in words."""
        kind = self.kind[0] if self.kind is not None else "an integer" if self.integer else "a number"
        return f"{kind} >= {self.lower}" if self.upper is None else f"{kind} in [{self.lower}, {self.upper}]"

    def read(self, value: object, known: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
        """Value as a SymPy constant, checked against the range.

        ``known`` holds the values of the earlier parameters.

        Raises
        ------
        InputError
            If the value is no number, or outside the range.
        """
        try:
            real = value if isinstance(value, Exp) else parse_rational(value, self.name)
        except InputError as error:
            raise InputError(self.name, error.value, self.range if self.integer else error.expected) from None
        if self.integer and not isinstance(real, Exp) and abs(real) > LARGEST_PARAMETER:
            raise InputError(self.name, value, f"{self.range}, at most {LARGEST_PARAMETER}")
        if self.integer and not self._admits(real):
            raise InputError(self.name, value, self.range)
        constant = constant_of(real)
        for bound, outside in ((self.lower, less(real, _bound(self.lower, known))),) + (
            () if self.upper is None else ((self.upper, less(_bound(self.upper, known), real)),)
        ):
            if outside is Verdict.TRUE:
                limit = bound.subs(dict(known))
                detail = "" if limit == bound else f" (here {limit})"
                raise InputError(self.name, value, self.range + detail)
        return constant

    def smallest(self, number: int, known: Mapping[sp.Symbol, sp.Expr]) -> Iterator[int]:
        """Smallest admissible values of an integer parameter, at most ``number`` of them."""
        low = int(sp.ceiling(self.lower.subs(dict(known))))
        high = None if self.upper is None else int(sp.floor(self.upper.subs(dict(known))))
        window = itertools.count(low) if high is None else iter(range(low, high + 1))
        admitted = (value for value in itertools.islice(window, _SEARCHED) if self._admits(Fraction(value)))
        return itertools.islice(admitted, number)

    def _admits(self, real: Real) -> bool:
        if isinstance(real, Exp) or real.denominator != 1:
            return False
        return self.kind is None or self.kind[1](real.numerator)


def _bound(expression: sp.Expr, known: Mapping[sp.Symbol, sp.Expr]) -> Number:
    return evaluate(expression.subs(dict(known)))
