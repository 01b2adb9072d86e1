"""A picture of a claim as data: curves with names, and what they show in words. The faces draw it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias, final

from symshuffle.base.choices import replace_choice
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import to_float


@final
class CurveRole(StrEnum):
    """What a curve stands for; curves of one role look alike on every page."""

    FOUND = "found"
    PRINTED = "printed"
    CORRECTED = "corrected"
    OTHER = "other"


@final
@dataclass(frozen=True, slots=True)
class PlottedCurve:
    """One curve: its name, its role, and its points in order."""

    name: str
    role: CurveRole
    points: tuple[tuple[float, float], ...]
    joined: bool = True

    def __post_init__(self) -> None:
        replace_choice(CurveRole, self, "role")
        if not self.points:
            raise InputError("points", self.points, "at least one point")


def curve(name: str, role: CurveRole, points: Iterable[tuple[Any, Any]], *, joined: bool = True) -> PlottedCurve:
    """A curve of exact numbers or balls, rounded for a picture."""
    return PlottedCurve(name, role, tuple((to_float(x), to_float(y)) for x, y in points), joined)


@final
@dataclass(frozen=True, slots=True)
class Picture:
    """What a claim looks like.

    - ``shows``: what there is to see, in a sentence: it is the text for those who do not see the picture.
    - ``curves``: at most six.
    - ``logarithmic``: whether the horizontal and the vertical axis are logarithmic.
    """

    shows: str
    x: str
    y: str
    curves: tuple[PlottedCurve, ...]
    logarithmic: tuple[bool, bool] = (False, False)

    def __post_init__(self) -> None:
        if not self.shows.strip():
            raise InputError("shows", self.shows, "a sentence that describes the picture")
        if not 1 <= len(self.curves) <= 6:
            raise InputError("curves", len(self.curves), "one to six curves")
        for axis, wanted in enumerate(self.logarithmic):
            if wanted and any(point[axis] <= 0 for one in self.curves for point in one.points):
                raise InputError("logarithmic", self.logarithmic, "positive values only")


Plot: TypeAlias = Callable[[], Picture]
"""Computes the picture of a claim from the formulas of the library, within a few seconds."""
