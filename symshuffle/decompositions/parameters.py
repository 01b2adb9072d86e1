"""Parameters of named mechanisms as the file of closed forms has them: values are read and refused without SymPy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import parse_rational
from symshuffle.base.numbers.readers import KINDS, LARGEST_PARAMETER
from symshuffle.decompositions.calculated import number_at


@final
@dataclass(frozen=True, slots=True)
class FiledParameter:
    """One parameter: ends of its range as texts in the parameters before it, and what an integer has to be.

    - ``limit``: whether the parameter left open means its limit at infinity.
    """

    name: str
    lower: str
    upper: str | None
    integer: bool
    limit: bool = False
    kind: str | None = None
    default: str | None = None
    meaning: str = ""

    def range(self, known: Mapping[str, Fraction]) -> str:
        """The allowed range in words, in numbers where the parameters that it speaks about are known."""
        kind = self.kind or ("an integer" if self.integer else "a number")
        low, high = (None if end is None else _written(end, known) for end in (self.lower, self.upper))
        return f"{kind} >= {low}" if high is None else f"{kind} in [{low}, {high}]"

    def read(self, value: object, known: Mapping[str, Fraction]) -> Fraction:
        """A value, checked against the range at the values of earlier parameters."""
        try:
            real = parse_rational(value, self.name)
        except InputError as error:
            raise InputError(self.name, error.value, self.range({}) if self.integer else error.expected) from None
        if self.integer and abs(real) > LARGEST_PARAMETER:
            raise InputError(self.name, value, f"{self.range({})}, at most {LARGEST_PARAMETER}")
        if self.integer and not (real.denominator == 1 and (self.kind is None or KINDS[self.kind](real.numerator))):
            raise InputError(self.name, value, self.range({}))
        try:
            low = number_at(self.lower, known)
            high = None if self.upper is None else number_at(self.upper, known)
        except KeyError as missing:
            raise InputError(missing.args[0], None, f"a value, on which the range of {self.name} depends") from None
        for end, limit, outside in (
            (self.lower, low, real < low),
            (self.upper, high, high is not None and real > high),
        ):
            if outside:
                detail = "" if str(limit) == end else f" (here {limit})"
                raise InputError(self.name, value, self.range({}) + detail)
        return real


CAP: Final = FiledParameter("lam", "1", None, False, meaning="local ratio cap exp(eps0)")
"""The local ratio cap."""

SHARE_OF_MESSAGES: Final = FiledParameter("p", "0", "1", False)
"""With which probability a thinned mechanism runs; it sends a null symbol otherwise."""


def _written(end: str, known: Mapping[str, Fraction]) -> str:
    try:
        return str(number_at(end, known))
    except KeyError:
        return end
