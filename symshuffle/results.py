"""What a computation returns: a number together with how it is known."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

from symshuffle.errors import InputError
from symshuffle.numbers import format_decimal, format_log10


@final
class Rigour(enum.Enum):
    """How far a bracket can be trusted.

    ``EXACT``: a rational number. ``BALL``: both ends are theorems, by ball arithmetic. ``FLOAT64``: both ends are
    computed in double precision with a stated error allowance.
    """

    EXACT = "exact"
    BALL = "ball"
    FLOAT64 = "float64"

    @property
    def strength(self) -> int:
        """Order of the levels, the strongest highest."""
        return ("float64", "ball", "exact").index(self.value)


@final
@dataclass(frozen=True, slots=True)
class Bracket:
    """Two rationals with a real number between them.

    Parameters
    ----------
    lower, upper : Fraction
        End points, ``lower <= upper``.
    rigour : Rigour
        How the end points are known.
    engine : str
        Name of the engine that produced them.
    how : str
        In words: the method, its size, and the error terms it accounts for.
    aimed : float, optional
        The relative width that was asked for, where the bracket is wider than that.
    """

    lower: Fraction
    upper: Fraction
    rigour: Rigour
    engine: str
    how: str
    aimed: float | None = None

    def __post_init__(self) -> None:
        if self.lower > self.upper:
            raise InputError("bracket", f"[{float(self.lower)}, {float(self.upper)}]", "lower <= upper")

    @property
    def exact(self) -> Fraction | None:
        """The value itself, where both ends are the same exact rational; otherwise None."""
        return self.lower if self.rigour is Rigour.EXACT and self.lower == self.upper else None

    @property
    def midpoint(self) -> Fraction:
        """Centre of the bracket."""
        return (self.lower + self.upper) / 2

    @property
    def width(self) -> Fraction:
        """Distance of the end points."""
        return self.upper - self.lower

    @property
    def relative_width(self) -> Fraction | None:
        """Width divided by the upper end; None where the upper end is zero."""
        return self.width / self.upper if self.upper else None

    def contains(self, value: Fraction) -> bool:
        """Whether a rational lies in the bracket."""
        return self.lower <= value <= self.upper

    def shifted(self, amount: Fraction) -> Bracket:
        """The bracket of the number plus a rational."""
        return replace(self, lower=self.lower + amount, upper=self.upper + amount)

    def scaled(self, factor: Fraction) -> Bracket:
        """The bracket of the number times a non-negative rational."""
        if factor < 0:
            raise InputError("factor", factor, "a non-negative rational (a negative one swaps the directions)")
        return replace(self, lower=self.lower * factor, upper=self.upper * factor)

    def decimals(self, digits: int = 17) -> dict[str, str]:
        """Decimal strings of both ends and of their logarithms, rounded outward."""
        return {
            "lower": format_decimal(self.lower, digits=digits, up=False),
            "upper": format_decimal(self.upper, digits=digits, up=True),
            "log10_lower": format_log10(self.lower, up=False),
            "log10_upper": format_log10(self.upper, up=True),
        }

    def __str__(self) -> str:
        if self.exact is not None and self.exact.denominator < 10**12:
            return f"{self.exact} ({self.rigour.value}, {self.engine})"
        ends = self.decimals(10)
        return f"[{ends['lower']}, {ends['upper']}] ({self.rigour.value}, {self.engine})"

    def _repr_html_(self) -> str:
        ends = self.decimals(10)
        rows = (("lower", ends["lower"]), ("upper", ends["upper"]), ("rigour", self.rigour.value))
        body = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in rows)
        return f"<table>{body}<tr><th>engine</th><td>{self.engine}</td></tr></table>"
