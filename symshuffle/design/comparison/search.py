"""Good values of the free parameters, found in doubles: they propose, and the exact match decides.

Integers are tried on a grid that is refined around its best point, shares ``p`` on a logarithmic grid and by golden
section. Both searches are local where a risk has several minima; every proposal is a valid mechanism all the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias, final

from symshuffle.base.crossings import least_between
from symshuffle.base.errors import Unsupported
from symshuffle.design.comparison.families import Family

_Value: TypeAlias = "int | Fraction"
Parameters: TypeAlias = "tuple[tuple[str, _Value], ...]"

LARGEST_FREE: Final = 1 << 20
"""Integers beyond this are not tried for a parameter without an upper end."""

_ALL: Final = 48
"""Values up to which a range of integers is tried whole."""

_SMALLEST_SHARE: Final = 1e-15
_LOOKS: Final = (0.97, 0.7, 0.3, 0.05, 1e-3, 1e-6, 1e-9, 1e-12)
"""Shares one of which has to pay before the best one is looked for."""


@final
@dataclass(frozen=True, slots=True)
class Proposal:
    """Parameters, and the risk that doubles give them."""

    values: Parameters
    risk: float


def proposals(
    family: Family, risk: Callable[[dict[str, float]], float], *, thin: bool, most: int
) -> tuple[Proposal, ...]:
    """The best parameters found, the best first.

    - ``family``: at most one of its free parameters is an integer, and at most one a share in [0, 1].
    - ``risk``: of the free parameters; infinity where they cannot be matched.
    - ``thin``: whether a share below 1 may pay at all.
    - ``most``: how many proposals, at different integers.
    """
    integers = [p for p in family.free if p.integer]
    shares = [p for p in family.free if not p.integer]
    if len(integers) > 1 or len(shares) > 1:
        raise Unsupported(f"{family.name}: the search knows one free integer and one free share")

    def tuned(integer: int | None) -> Proposal:
        chosen: dict[str, float] = {} if integer is None else {integers[0].name: integer}
        fixed: Parameters = () if integer is None else ((integers[0].name, integer),)
        if not shares:
            return Proposal(fixed, risk(chosen))
        name = shares[0].name
        share = _best_share(lambda p: risk({**chosen, name: p})) if thin else Fraction(1)
        return Proposal((*fixed, (name, share)), risk({**chosen, name: float(share)}))

    found = [tuned(None)] if not integers else _searched(tuned, *family.free_range(integers[0]))
    ranked = sorted((one for one in found if math.isfinite(one.risk)), key=lambda one: one.risk)
    if not ranked:
        raise Unsupported(f"no parameters of {family.name} can be matched")
    return tuple(ranked[:most])


def _searched(tuned: Callable[[int], Proposal], lower: float, upper: float) -> list[Proposal]:
    low, high = int(lower), int(min(upper, LARGEST_FREE))
    found: dict[int, Proposal] = {}
    for points in _grids(low, high, found):
        found |= {point: tuned(point) for point in points if point not in found}
    return list(found.values())


def _grids(low: int, high: int, found: dict[int, Proposal]) -> Iterable[list[int]]:
    """Ever finer grids around the best point so far."""
    while True:
        if high - low < _ALL:
            yield list(range(low, high + 1))
            return
        ratio = (high / low) ** (1 / (_ALL // 2))
        points = sorted({low, high, *(round(low * ratio**i) for i in range(_ALL // 2 + 1))})
        yield points
        best = min(points, key=lambda point: found[point].risk)
        at = points.index(best)
        before = low, high
        low, high = points[max(at - 1, 0)], points[min(at + 1, len(points) - 1)]
        if (low, high) == before:
            return


def _best_share(risk: Callable[[float], float]) -> Fraction:
    if all(risk(share) >= risk(1.0) for share in _LOOKS):
        return Fraction(1)
    low, high = math.log(_SMALLEST_SHARE), 0.0
    grid = [low + (high - low) * i / 24 for i in range(25)]
    values = [risk(math.exp(t)) for t in grid]
    at = min(range(len(grid)), key=lambda i: (values[i], -i))
    if not math.isfinite(values[at]):
        return Fraction(1)
    low, high = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
    share = math.exp(least_between(lambda t: risk(math.exp(t)), low, high, steps=40))
    return Fraction(1) if risk(1.0) <= risk(share) * (1 + 1e-9) else Fraction(f"{share:.6g}")
