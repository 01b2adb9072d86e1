"""Good values of the free parameters, found by closed forms in doubles: they propose, and the exact match decides.

Integers are tried on a grid that is refined around its best point, shares ``p`` on a logarithmic grid and by golden
section. Both searches are local where a risk has several minima; every proposal is a valid mechanism all the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from symshuffle.accountants.bounds.gaussian_limit import level
from symshuffle.base.choices import Loss
from symshuffle.base.crossings import least_between, zero_between
from symshuffle.base.errors import Unsupported
from symshuffle.decompositions.calculated import compiled
from symshuffle.design.comparison.families import Family, Parameters
from symshuffle.utility.estimation.votes import string_terms

if TYPE_CHECKING:
    import sympy as sp

    from symshuffle.mechanisms.model import Mechanism


Values: TypeAlias = Mapping[str, float]
"""Free parameters by name."""

LARGEST_EPS0: Final = 64
"""Local levels beyond this are not tried."""


@cache
def blanket_variance(mechanism: Mechanism) -> sp.Expr:
    r"""The second moment :math:`\sum(a-b)^2/c` over the cells of the optimal decomposition, at the worst pair.

    Divided by ``n`` it is all that is left of the certified bound for many users and small eps. It ranks parameters
    before they are matched; no privacy number is read off it.
    """
    import sympy as sp

    from symshuffle.decompositions.counting import count_cells

    told = mechanism.pair.by
    cells = [(cell.a, cell.b, cell.c) for cell in count_cells(mechanism, (0, 1))[0]]
    total = sp.Add(*((a - b) ** 2 / c for a, b, c in cells if c != 0 and a != b))
    if told is None:
        return total
    (parameter,) = (p for p in mechanism.parameters if p.symbol == told)
    return total.subs(told, parameter.upper)


@cache
def moment(family: Family, name: str) -> Callable[[float, Values], float]:
    """A moment of a family, in doubles, as a function of ``lam`` and the free parameters.

    - ``name``: "chi square" or "variance", the blanket's; a null symbol scales both by the share of other messages.
    """
    return _function(family.form["moments"][name], family)


@cache
def loss_of(family: Family, loss: Loss = "l2") -> Callable[[float, Values], float] | None:
    """The loss of one user in the same way; None where no unbiased estimator is known."""
    return _risk(family, loss) if family.alike else None


def _function(text: str, family: Family, *, scaled: bool = True) -> Callable[[float, Values], float]:
    names = [p.name for p in family.free if not (family.thin and p.name == "p")]
    sized = {name: float(value) for name, value in family.sized.items()}
    raw = compiled(text, ("lam", *sized, *names), float, math.sqrt)
    size, thin = tuple(sized.values()), scaled and family.thin

    def value(lam: float, values: Values) -> float:
        try:
            found = float(raw(lam, *size, *(values[name] for name in names)))
        except (OverflowError, ZeroDivisionError):
            return math.inf
        return found * values["p"] if thin else found

    return value


def _risk(family: Family, loss: Loss) -> Callable[[float, Values], float]:
    import numpy as np

    texts = family.form["moments"]
    parts = [_function(part, family) for part in texts["sums"]]
    shown = [tuple(_function(part, family, scaled=False) for part in string) for string in texts["strings"]]
    size, used = family.all_inputs, family.inputs

    def value(lam: float, values: Values) -> float:
        sums: list[Any] = [part(lam, values) for part in parts]
        for of in shown:
            hit, miss, other = (part(lam, values) for part in of)
            middle, wide = size * other, 40 + 12 * math.sqrt(size * other * (1 - other))
            ones = np.arange(max(1, int(middle - wide)), min(size - 1, int(middle + wide)) + 1)
            first, odds = int(ones[0]), math.log(other) - math.log1p(-other)
            lead = math.lgamma(size + 1) - math.lgamma(first + 1) - math.lgamma(size - first + 1)
            steps = np.log((size - ones[:-1]) / (ones[:-1] + 1)) + odds
            start = lead + first * math.log(other) + (size - first) * math.log1p(-other)
            likely = np.exp(start + np.concatenate(([0.0], np.cumsum(steps))))
            terms = string_terms(ones, size, likely, hit, miss)
            share = values["p"] if family.thin else 1
            sums = [total + share * float(term.sum()) for total, term in zip(sums, terms, strict=True)]
        if not sums[0] > 0:
            return math.inf
        scale = ((size - 1) / sums[0]) ** 2
        own = scale * sums[1] - ((size - 1) / size) ** 2
        absent = scale * sums[2] - 1 / size**2
        match loss:
            case "l2":
                return float(own + (used - 1) * absent)
            case "max":
                return float(max(own, absent))
            case "absent":
                return float(absent)
        return math.sqrt(own) + math.sqrt(absent)

    return value


def matched_log(measure: Callable[[float, Values], float], goal: float, values: Values, *, far: float = 700.0) -> float:
    """The local level at which a rising measure takes a value."""
    if not measure(math.exp(LARGEST_EPS0), values) >= goal:
        raise Unsupported(f"at every local level up to {LARGEST_EPS0} it spends less")

    def off(log: float) -> float:
        found = measure(math.exp(math.exp(log)), values) / goal
        return min(max(math.log(found), -far), far) if found > 0 else -far

    return math.exp(zero_between(off, math.log(1e-13), math.log(LARGEST_EPS0), xtol=1e-16, rtol=1e-15))


def gaussian_epsilon(variance: float, n: int, delta: float) -> float:
    """The eps of a Gaussian shift whose second moment is that of the bound: a guess where to look for the true one."""
    return level(math.sqrt(variance / n), math.log(delta))


LARGEST_FREE: Final = 1 << 20
"""Integers beyond this are not tried for a parameter without an upper end."""


_Proposal: TypeAlias = "tuple[float, Parameters]"
"""The risk that doubles give, and parameters."""


def proposals(family: Family, risk: Callable[[dict[str, float]], float], *, thin: bool, most: int) -> list[Parameters]:
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

    def tuned(integer: int | None) -> _Proposal:
        chosen: dict[str, float] = {} if integer is None else {integers[0].name: integer}
        fixed: Parameters = () if integer is None else ((integers[0].name, integer),)
        if not shares:
            return risk(chosen), fixed
        name = shares[0].name
        share = _best_share(lambda p: risk({**chosen, name: p})) if thin else Fraction(1)
        return risk({**chosen, name: float(share)}), (*fixed, (name, share))

    found = [tuned(None)] if not integers else _searched(tuned, *family.free_range(integers[0]))
    ranked = sorted((one for one in found if math.isfinite(one[0])), key=lambda one: one[0])
    if not ranked:
        raise Unsupported(f"no parameters of {family.name} can be matched")
    return [values for _, values in ranked[:most]]


def _searched(tuned: Callable[[int], _Proposal], lower: float, upper: float) -> list[_Proposal]:
    low, high = int(lower), int(min(upper, LARGEST_FREE))
    found: dict[int, _Proposal] = {}
    for points in _grids(low, high, found):
        found |= {point: tuned(point) for point in points if point not in found}
    return list(found.values())


def _grids(low: int, high: int, found: dict[int, _Proposal], *, most: int = 48) -> Iterable[list[int]]:
    """Ever finer grids around the best point so far.

    - ``most``: values up to which a range of integers is tried whole.
    """
    while True:
        if high - low < most:
            yield list(range(low, high + 1))
            return
        ratio = (high / low) ** (1 / (most // 2))
        points = sorted({low, high, *(round(low * ratio**i) for i in range(most // 2 + 1))})
        yield points
        best = min(points, key=lambda point: found[point][0])
        at = points.index(best)
        before = low, high
        low, high = points[max(at - 1, 0)], points[min(at + 1, len(points) - 1)]
        if (low, high) == before:
            return


def _best_share(
    risk: Callable[[float], float],
    *,
    smallest: float = 1e-15,
    looks: tuple[float, ...] = (0.97, 0.7, 0.3, 0.05, 0.001, 1e-06, 1e-09, 1e-12),
) -> Fraction:
    if all(risk(share) >= risk(1.0) for share in looks):
        return Fraction(1)
    low, high = math.log(smallest), 0.0
    grid = [low + (high - low) * i / 24 for i in range(25)]
    values = [risk(math.exp(t)) for t in grid]
    at = min(range(len(grid)), key=lambda i: (values[i], -i))
    if not math.isfinite(values[at]):
        return Fraction(1)
    low, high = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
    share = math.exp(least_between(lambda t: risk(math.exp(t)), low, high, steps=40))
    return Fraction(1) if risk(1.0) <= risk(share) * (1 + 1e-9) else Fraction(f"{share:.6g}")
