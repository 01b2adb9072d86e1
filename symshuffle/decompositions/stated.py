"""Whether a channel is what somebody says of it: its local level and its blanket, for an auditor.

Both are compared exactly, and where they are not as claimed the place is named: for the level two inputs and an output
whose ratio exceeds it, for the blanket the outputs at which its mass is another one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Ball, Real, enclose, format_decimal
from symshuffle.channels.channel import Channel, check_channel

_FIRST_BITS: Final = 64


@final
@dataclass(frozen=True, slots=True)
class _Place:
    """Where a channel has a likelihood ratio."""

    first: int
    second: int
    output: int
    ratio: Fraction | None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        ratio = "infinite" if self.ratio is None else str(self.ratio)
        return {"pair": [self.first, self.second], "output": self.output, "ratio": ratio}

    def __str__(self) -> str:
        ratio = "infinite" if self.ratio is None else format_decimal(self.ratio, digits=6, up=True)
        return f"inputs {self.first} and {self.second} at output {self.output}: ratio {ratio}"


@final
@dataclass(frozen=True, slots=True)
class LevelAudit:
    """The local level of a channel, beside a claimed one.

    - ``every_matrix``: ends of the largest ratio of a matrix that rounds to a normalised one, the upper one None where
      it may be infinite; None where the matrix was taken as it is written.
    """

    claimed: Real | None
    largest: _Place
    above: tuple[_Place, ...]
    every_matrix: tuple[Fraction, Fraction | None] | None = None

    @property
    def as_claimed(self) -> bool | None:
        """Whether the channel is LDP at the claimed level; None without a claim."""
        return None if self.claimed is None else not self.above

    @property
    def eps0(self) -> Ball | None:
        """The level itself, in nats; None where it is infinite."""
        if self.largest.ratio is None:
            return None
        return Ball.from_arb(enclose(self.largest.ratio).arb().log())

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        level, every = self.eps0, self.every_matrix
        ends = _outward(None, None) if level is None else _outward(level.lower, level.upper)
        return {
            "claimed": None if self.claimed is None else str(self.claimed),
            "as_claimed": self.as_claimed,
            "largest": self.largest.to_dict(),
            "eps0": dict(zip(("lower", "upper"), ends, strict=True)),
            "above": [place.to_dict() for place in self.above],
            **({} if every is None else {"every_matrix": dict(zip(("least", "most"), _outward(*every), strict=True))}),
        }


def _outward(low: Fraction | None, high: Fraction | None) -> list[str | None]:
    """Two ends as decimals, rounded outward."""
    return [None if end is None else format_decimal(end, up=up) for end, up in ((low, False), (high, True))]


@final
@dataclass(frozen=True, slots=True)
class BlanketAudit:
    """The largest blanket of a channel, beside a claimed one."""

    mass: Fraction
    masses: tuple[Fraction, ...]
    claimed_mass: Fraction | None
    claimed_masses: tuple[Fraction, ...] | None

    @property
    def differs(self) -> tuple[int, ...]:
        """The outputs at which another mass was claimed."""
        claimed = self.claimed_masses
        return () if claimed is None else tuple(y for y, mass in enumerate(self.masses) if claimed[y] != mass)

    @property
    def as_claimed(self) -> bool | None:
        """Whether it is the claimed one, exactly; None without a claim."""
        if self.claimed_mass is None and self.claimed_masses is None:
            return None
        return not self.differs and self.claimed_mass in (None, self.mass)

    @property
    def safe(self) -> bool:
        """Whether nothing larger was claimed, anywhere: bounds made with the claim then hold, if not tightly."""
        pairs = zip(self.claimed_masses or self.masses, self.masses, strict=True)
        return (self.claimed_mass or Fraction(0)) <= self.mass and all(claimed <= mass for claimed, mass in pairs)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        claimed = self.claimed_masses
        return {
            "mass": str(self.mass),
            "masses": [str(mass) for mass in self.masses],
            "claimed_mass": None if self.claimed_mass is None else str(self.claimed_mass),
            "claimed_masses": None if claimed is None else [str(mass) for mass in claimed],
            "as_claimed": self.as_claimed,
            "safe": self.safe,
            "differs_at": list(self.differs),
        }


def check_level(channel: Channel, claimed: Real | None = None) -> LevelAudit:
    """Where the likelihood ratios of a channel are largest, and where above a claimed cap."""
    check_channel(channel)
    _check(channel)
    places = [_worst(column, y) for y, column in enumerate(channel.columns()) if any(column)]
    largest = max(places, key=lambda place: math.inf if place.ratio is None else place.ratio)
    above = () if claimed is None else tuple(place for place in places if _exceeds(place.ratio, claimed))
    return LevelAudit(claimed, largest, above, _of_every_matrix(channel))


def _of_every_matrix(channel: Channel) -> tuple[Fraction, Fraction | None] | None:
    """Both ends of the largest ratio over the matrices that round to a normalised one; no upper end if one may be 0."""
    if channel.rounding is None:
        return None
    far = channel.rounding.entry
    columns: list[tuple[Any, ...]] = list(channel.columns())
    ends = [(max(column), min(column)) for column in columns]
    least = max((top - far) / (bottom + far) for top, bottom in ends)
    possible = all(bottom > far for _, bottom in ends)
    return max(least, Fraction(1)), max((top + far) / (bottom - far) for top, bottom in ends) if possible else None


def check_blanket(
    channel: Channel, *, mass: Fraction | None = None, masses: Sequence[Fraction] | None = None
) -> BlanketAudit:
    """The largest blanket of a channel, beside what is claimed of it."""
    _check(channel)
    for one in (*(() if mass is None else (mass,)), *(masses or ())):
        if not 0 <= one <= 1:
            raise InputError("blanket_mass", one, "a number in [0, 1]")
    if masses is not None and len(masses) != channel.num_outputs:
        raise InputError("blanket", f"{len(masses)} masses", f"{channel.num_outputs}, one per output")
    floor: tuple[Any, ...] = channel.blanket()
    return BlanketAudit(sum(floor), floor, mass, None if masses is None else tuple(masses))


def _check(channel: Channel) -> None:
    check_channel(channel)
    if not channel.exact:
        raise InputError("channel", "not rational", "rational entries, for an exact comparison")
    if channel.num_inputs < 2:
        raise InputError("channel", f"{channel.num_inputs} input", "at least 2 inputs: a level compares two")


def _worst(column: Sequence[Any], output: int) -> _Place:
    first, second = (pick(range(len(column)), key=column.__getitem__) for pick in (max, min))
    if first == second:  # all entries are equal
        second = next(x for x in range(len(column)) if x != first)
    return _Place(first, second, output, column[first] / column[second] if column[second] else None)


def _exceeds(ratio: Fraction | None, cap: Real) -> bool:
    """Whether a ratio is above a cap: a rational is no exponential of another, except 1, so that balls tell at last."""
    if ratio is None:
        return True
    if isinstance(cap, Fraction) or not cap.exponent:
        return ratio > (cap if isinstance(cap, Fraction) else 1)
    bits = _FIRST_BITS
    while True:
        ball = enclose(cap, bits)
        if ratio > ball.upper or ratio < ball.lower:
            return ratio > ball.upper
        bits *= 2
